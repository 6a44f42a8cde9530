// The plane of points: keeps the canvas, decides what part of the plane is seen, and draws the
// scene of a moment. `createPlane(app)` gives {frame(moments), fit(), view(), scene(…), node}.

import { byId, hide, say } from "./dom.js";
import { canvasPen } from "./pen.js";
import { colours } from "./marks.js";
import { boxAround, isInside, isNearlySquare, makeView } from "./geometry.js";
import { drawScene } from "./layers.js";
import { createGround } from "./surface_view.js";
import { asSentence, count } from "./numbers.js";
import { mistakeCounts } from "./dual.js";
import { MOST_LANES } from "./state.js";
import { lineOf } from "./track.js";

export function createPlane(app) {
  const canvas = byId("plane");
  const context = canvas.getContext("2d");
  const grounds = Array.from({ length: MOST_LANES }, () =>
    createGround(
      () => app.invalidate(),
      () => app.editing,
    ),
  );
  const hand = { cursor: null, picked: -1, over: -1 };
  let box = null;
  let boxed = null; // the points of a table that it is around
  let size = [600, 500];
  let note = "";

  new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    size = [width, height];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    app.invalidate();
  }).observe(byId("plane-frame"));

  const fit = () => {
    box = boxAround(app.picture().points);
    app.invalidate();
  };
  const view = (width = size[0], height = size[1]) => {
    const { points, view: held } = app.picture();
    if (!box || (held && boxed !== points)) [box, boxed] = [boxAround(points), points];
    return makeView(box, width, height, isNearlySquare(box));
  };

  const scene = (moments, seen = view()) => {
    const picture = app.picture();
    const { state } = app.store;
    const moment = moments[state.chosen];
    const isDual = moment && !moment.parts[0].course.w;
    const isWhole = !picture.view || picture.points.length === picture.view.total;
    const samples = moment?.track.data.points ?? picture.points;
    const ground =
      isDual && isWhole && state.show.ground
        ? grounds[state.chosen].ground(moment, seen, samples)
        : null;
    note = isDual && !isWhole ? "no surface: not all rows are drawn" : "";
    return {
      view: seen,
      ink: colours(),
      points: picture.points,
      labels: picture.labels,
      features: picture.features,
      place: picture.place,
      moments,
      chosen: state.chosen,
      judgement: app.judgement,
      ground,
      borders: isWhole ? bordersOf(moments, seen, picture, ground) : [],
      hand,
      show: { ...state.show, hulls: showsHulls(app) },
      radius: picture.points.length > 400 ? 4 : picture.points.length > 120 ? 5.2 : 7,
      wrong: moment && state.show.errors ? wrongIn(moment, picture, ground) : () => false,
      counts: isDual && state.show.counts ? countsIn(moment, picture) : null,
      dropped: moment ? droppedIn(moment, picture) : null,
      note: (text) => {
        note = text;
      },
    };
  };

  // The lines on which kernel perceptrons decide, of each lane without a ground.
  const bordersOf = (moments, seen, { points }, ground) =>
    moments.map((moment, lane) => {
      if (!moment?.track.run.kernel || !points.length) return [];
      if (ground && lane === app.store.state.chosen) return [];
      return grounds[lane].borders(moment, seen, moment.track.data.points ?? points);
    });

  return {
    node: canvas,
    hand,
    fit,
    view,
    scene,
    // After other data: look at them, unless a point is being moved or all are seen already.
    look() {
      const { points } = app.picture();
      const seen = view();
      if (!box || !points.every((p) => isInside(seen, p))) fit();
    },
    forget() {
      box = null;
      app.invalidate();
    },
    frame(moments) {
      const ratio = canvas.width / size[0];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const seen = view();
      drawScene(canvasPen(context), scene(moments, seen));
      const edges = [seen.x0, seen.x1, seen.y0, seen.y1].join(" ");
      if (canvas.dataset.view !== edges) canvas.dataset.view = edges; // where in the plane the edges are
      const refused = app.refusals[app.store.state.chosen];
      byId("plane-note").toggleAttribute("data-refusal", Boolean(refused));
      const text = refused
        ? asSentence(refused)
        : [
            app.waiting,
            cycleText(moments[app.store.state.chosen]),
            note,
            isNearlySquare(box) ? "" : "axes on different scales",
          ]
            .filter(Boolean)
            .join(" · ");
      say(byId("plane-note"), text);
      hide(byId("plane-note"), !text);
    },
  };
}

// Whether the class answered for a drawn point is another than its own.
function wrongIn(moment, { points, labels, view }, ground) {
  const { parts } = moment;
  const courses = parts.map(({ course }) => course);
  const planes = ground ? null : parts.map((part) => part.w && lineOf(part));
  if (planes?.some((plane) => !plane || (plane.w.every((v) => v === 0) && plane.b === 0)))
    return () => false;
  if (moment.tick === 0 || (view?.axes && !moment.ended)) return () => false; // seen along the last w
  const values = (p) =>
    ground ? ground.valuesAt(p) : planes.map(({ w, b }) => w[0] * p[0] + w[1] * p[1] + b);
  return (i) => {
    const found = values(points[i]);
    if (found.length === 1) {
      return labels[i] !== (found[0] > 0 ? courses[0].positive : courses[0].negative);
    }
    return labels[i] !== courses[found.indexOf(Math.max(...found))].positive;
  };
}

function countsIn(moment, { points, view, place }) {
  const n = view ? view.total : points.length;
  const counts = new Int32Array(points.length);
  moment.parts.forEach(({ course, entry }) => {
    mistakeCounts(course, entry, n).forEach((count, sample) => {
      const i = place(sample);
      if (i >= 0) counts[i] += count;
    });
  });
  return counts;
}

function droppedIn(moment, { place }) {
  const gone = new Set();
  moment.parts.forEach(({ course, entry }) =>
    course.dropped.forEach(({ sample, number }) => {
      if (number <= course.number[entry]) gone.add(place(sample));
    }),
  );
  return gone;
}

function cycleText(moment) {
  const part = moment?.parts.find(
    ({ course, entry }) => course.cycle && course.epoch[entry] > course.cycle.entry,
  );
  return part ? `↻ a cycle: period ${count(part.course.cycle.period, "epoch")}` : "";
}

// Unless a person said so, hulls are shown where they prove something: a line is asked for, and
// there is none.
export function showsHulls(app) {
  const { show, lanes, chosen } = app.store.state;
  if (show.hulls !== null) return show.hulls;
  const verdicts = app.judgement?.verdicts ?? [];
  return (
    lanes[chosen].kernel === undefined &&
    verdicts.length === 1 &&
    ["inseparable", "quasi-separable"].includes(verdicts[0].verdict)
  );
}

// Weight space: a point of this plane is a pair (w₁, w₂). Each sample is a line, on whose right side
// its answer is right; where all are right (shaded) every w separates. The path is that of w. With a
// bias the picture is the slice at the b of the moment, and says so.

import { byId, say } from "./dom.js";
import { canvasPen, drawArrow } from "./pen.js";
import { classColour, colours } from "./marks.js";
import { clipped, corners, lineIn, makeView } from "./geometry.js";
import { brief, grouped, niceStep } from "./numbers.js";

const MOST_LINES = 120; // drawn; all of them bound the shaded region
const MOST_DASHED = 60; // dashes take long to draw
const MOST_PATH = 300; // the last updates

export function createWeightSpace(app) {
  const canvas = byId("weights");
  const context = canvas.getContext("2d");
  let size = [0, 0];
  new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    size = [width, height];
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    app.invalidate();
  }).observe(canvas);
  let boxes = new WeakMap();
  return {
    frame(moments) {
      if (!size[0] || canvas.offsetParent === null) return;
      const moment = moments[app.store.state.chosen];
      const picture = app.picture();
      const ratio = canvas.width / size[0];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const pen = canvasPen(context);
      const ink = colours();
      pen.polygon([[0, 0], [size[0], 0], size, [0, size[1]]], { fill: ink.paper });
      const why = whyNot(moment, picture);
      say(byId("weights-text"), why || textOf(moment, picture.points.length));
      if (why) return;
      const part = moment.act ? moment.parts[moment.act.index] : moment.parts[0];
      const { course } = part;
      if (!boxes.has(course)) boxes.set(course, boxOf(course));
      const view = makeView(boxes.get(course), ...size);
      drawSamples(pen, view, part, picture, moment.act, ink);
      drawAxes(pen, view, ink);
      drawPath(pen, view, part, moment, ink);
    },
  };
}

function whyNot(moment, picture) {
  if (!moment) return "No run yet.";
  if (!moment.parts[0].course.w)
    return "This algorithm’s weights live in the feature space of its kernel, which has more than two dimensions.";
  if (picture.view?.axes)
    return "The weights have more than two dimensions here: choose two columns to see them.";
  return "";
}

function textOf({ parts, track }, n) {
  const some =
    n > MOST_LINES ? ` Lines of ${MOST_LINES} of the ${grouped(n)} samples are drawn.` : "";
  const b = parts[0].b;
  const bias = track.settings.fit_intercept !== false;
  return `Each sample is a line here, and asks w to be on one side of it. Where all agree (shaded), w separates.${bias ? ` This is the slice at b = ${brief(b)}; the path is seen from above.` : ""}${some}`;
}

function boxOf({ w }) {
  let reach = 1e-9;
  for (const [x, y] of w) reach = Math.max(reach, Math.abs(x), Math.abs(y));
  return [-1.25 * reach, 1.25 * reach, -1.25 * reach, 1.25 * reach];
}

const sideOf = (course, label) =>
  label === course.positive ? 1 : course.negative === null || label === course.negative ? -1 : 0;

function drawSamples(pen, view, { course, b }, { points, labels, place }, act, ink) {
  let good = corners(view);
  const byClass = new Map();
  points.forEach(([x, y], i) => {
    const side = sideOf(course, labels[i]);
    if (!side) return;
    good = good.length ? clipped(good, side * x, side * y, side * b) : good;
    if (i >= MOST_LINES) return;
    const ends = lineIn(view, x, y, b);
    if (!ends) return;
    if (!byClass.has(labels[i])) byClass.set(labels[i], []);
    byClass.get(labels[i]).push(...ends.flatMap(([u, v]) => [view.x(u), view.y(v)]));
  });
  if (good.length > 2)
    pen.polygon(
      good.map(([u, v]) => [view.x(u), view.y(v)]),
      { fill: ink.good, alpha: 0.25 },
    );
  byClass.forEach((segments, k) =>
    pen.segments(segments, {
      stroke: classColour(k),
      width: k % 2 ? 0.9 : 1.4,
      alpha: 0.55,
      dash: k % 2 && points.length <= MOST_DASHED ? [5, 3] : [],
    }),
  );
  act?.samples.slice(0, 1).forEach((sample) => {
    const p = points[place(sample)];
    const ends = p && lineIn(view, p[0], p[1], b);
    if (ends)
      pen.line(
        ends.map(([u, v]) => [view.x(u), view.y(v)]),
        { stroke: ink.change, width: 2.6 },
      );
  });
}

function drawAxes(pen, view, ink) {
  pen.segments([view.x(0), 0, view.x(0), view.height, 0, view.y(0), view.width, view.y(0)], {
    stroke: ink.axis,
    width: 1.2,
  });
  const step = niceStep(view.x1 - view.x0, 5);
  for (let x = Math.ceil(view.x0 / step) * step; x < view.x1; x += step) {
    if (Math.abs(x) > step / 2 && view.x(x) > 14 && view.x(x) < view.width - 22) {
      pen.text(view.x(x), view.y(0) + 10, brief(Number(x.toPrecision(6))), {
        fill: ink.quiet,
        size: 10.5,
        align: "center",
        halo: ink.paper,
      });
    }
  }
  pen.text(view.width - 6, view.y(0) - 10, "w₁", {
    fill: ink.quiet,
    size: 12,
    weight: 650,
    align: "right",
    halo: ink.paper,
  });
  pen.text(view.x(0) + 7, 11, "w₂", { fill: ink.quiet, size: 12, weight: 650, halo: ink.paper });
}

function drawPath(pen, view, { course, entry, w, shown }, { act }, ink) {
  const at = ([u, v]) => [view.x(u), view.y(v)];
  const first = Math.max(0, entry - MOST_PATH);
  const path = course.w.slice(first, entry + 1).map(at);
  if (path.length > 1) pen.line(path, { stroke: ink.now, width: 1.6, alpha: 0.75 });
  if (path.length < 80) path.forEach(([x, y]) => pen.disc(x, y, 2.2, { fill: ink.now }));
  if (act?.before && act.course === course) {
    drawArrow(pen, ...at(act.before.w), ...at(act.progress < 1 ? w : act.after.w), {
      stroke: ink.change,
      width: 2.4,
    });
  }
  if (shown) pen.mark(3, ...at(shown.w), 6, { fill: ink.good, stroke: ink.paper, width: 1.5 });
  pen.disc(...at(w), 5, { fill: ink.now, stroke: ink.paper, width: 1.5 });
}

// Curves of the chosen run: both lemmas, mistakes, errors and loss per epoch. Drawn once for a run;
// with time only a line and a number move.

import { byId, el, say, svgEl } from "./dom.js";
import { brief } from "./numbers.js";

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [300, 118, 34, 8, 20];
const MOST = 500; // points of a curve that are drawn

export function createCurves(app) {
  let told = null;
  let charts = [];
  return {
    changed() {
      const { state } = app.store;
      const track = app.tracks[state.chosen];
      if (track === told || byId("curves").offsetParent === null) return;
      told = track;
      charts = track ? chartsOf(track.run).map(makeChart) : [];
      byId("curves").replaceChildren(
        ...(charts.length
          ? charts.map(({ node }) => node)
          : [el("p", { class: "quiet" }, "No run yet.")]),
      );
    },
    frame(moments) {
      const moment = moments[app.store.state.chosen];
      if (!moment || byId("curves").offsetParent === null) return;
      const entry = moment.parts[0].entry;
      const { number, epoch } = moment.parts[0].course;
      charts.forEach((chart) => chart.moveTo({ update: number[entry], epoch: epoch[entry] ?? 0 }));
    },
  };
}

// {title, clock, x, series: [{look, name, y}]} for what a run has. Of several problems the first.
function chartsOf(run) {
  const course = run.courses[0];
  const { lemmas, epochs, scans } = course;
  const problem = run.courses.length > 1 && !run.joint ? " (first class)" : "";
  const charts = [];
  if (lemmas) {
    charts.push({
      title: `Lemma 1: w·w* grows by γ at least${problem}`,
      clock: "update",
      x: course.number,
      series: [
        { look: "lower", name: "at least", y: lemmas.progress_least },
        { look: "main", name: "w·w*", y: lemmas.progress },
      ],
    });
    charts.push({
      title: `Lemma 2: ‖w‖ grows like R√k at most${problem}`,
      clock: "update",
      x: course.number,
      series: [
        { look: "upper", name: "at most", y: lemmas.length_most },
        { look: "main", name: "‖w‖", y: lemmas.length },
      ],
    });
  }
  if (epochs && epochs.epoch.length) {
    charts.push({
      title: "Mistakes per epoch",
      clock: "epoch",
      x: epochs.epoch,
      series: [{ look: "main", name: "", y: epochs.mistakes }],
    });
    if (epochs.errors)
      charts.push({
        title: "Training errors after each epoch",
        clock: "epoch",
        x: epochs.epoch,
        series: [{ look: "main", name: "", y: epochs.errors }],
      });
    if (epochs.loss)
      charts.push({
        title: "Loss after each epoch",
        clock: "epoch",
        x: epochs.epoch,
        series: [{ look: "main", name: "", y: epochs.loss }],
      });
  }
  if (scans)
    charts.push({
      title: "Gap between the two bounds, per scan",
      clock: "update",
      x: course.number,
      series: [{ look: "main", name: "gap", y: scans.gap }],
    });
  return charts;
}

function makeChart({ title, clock, x, series }) {
  const RIGHT = series.length > 1 ? 52 : 10; // room for the curves' names
  const shown = thinned(x, series);
  const all = shown.series.flatMap(({ y }) => y).filter(Number.isFinite);
  const low = Math.min(0, ...all);
  const high = Math.max(...all, 0) > low ? Math.max(...all, 0) : 1;
  const [first, last] = [x[0], Math.max(x.at(-1), x[0] + 1)];
  const px = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * (value - first)) / (last - first);
  const py = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / (high - low || 1);
  const path = (y) =>
    shown.x
      .map((value, i) =>
        Number.isFinite(y[i]) ? `${px(value).toFixed(1)} ${py(y[i]).toFixed(1)}` : null,
      )
      .filter(Boolean)
      .join("L");
  const line = svgEl("line", { class: "now-line", y1: TOP - 3, y2: HEIGHT - BOTTOM });
  const value = el("span", { class: "value" });
  const main = series.find(({ look }) => look === "main");
  const heights = apart(series.map(({ y }) => py(lastOf(y)) + 4));
  const names =
    series.length > 1
      ? series.map(({ name, look }, i) =>
          svgEl(
            "text",
            {
              class: `${look}-name`,
              x: WIDTH - RIGHT + 4,
              y: heights[i],
            },
            name,
          ),
        )
      : [];
  const svg = svgEl(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${title}, up to ${brief(high)}`,
    },
    svgEl("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    ...[low, high].map((v) =>
      svgEl("text", { x: LEFT - 4, y: py(v) + 4, "text-anchor": "end" }, brief(v, 2)),
    ),
    svgEl("text", { x: px(first), y: HEIGHT - 6 }, brief(first)),
    svgEl(
      "text",
      { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" },
      `${clock} ${brief(x.at(-1))}`,
    ),
    ...shown.series.map(({ look, y }) => svgEl("path", { class: look, d: `M${path(y) || "0 0"}` })),
    ...names,
    line,
  );
  const node = el("div", { class: "curve" }, el("h3", {}, title, value), svg);
  return {
    node,
    moveTo(at) {
      const t = Math.min(Math.max(at[clock], first), last);
      const i = before(x, at[clock]);
      line.setAttribute("x1", px(t));
      line.setAttribute("x2", px(t));
      say(value, i < 0 ? "" : brief(main.y[i]));
    },
  };
}

// Heights of two names, moved so that they do not lie on each other.
function apart(heights) {
  const [a, b = a] = heights;
  const near = 13 - Math.abs(a - b);
  if (heights.length < 2 || near <= 0) return heights.map((y) => Math.max(y, 10));
  const shift = a <= b ? -near / 2 : near / 2;
  const top = Math.max(0, 10 - Math.min(a + shift, b - shift));
  return [a + shift + top, b - shift + top];
}

const lastOf = (y) => y.findLast(Number.isFinite) ?? 0;

function before(x, value) {
  let [low, high] = [-1, x.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (x[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function thinned(x, series) {
  const step = Math.max(1, Math.ceil(x.length / MOST));
  const keep = (list) =>
    step === 1 ? list : list.filter((_, i) => i % step === 0 || i === list.length - 1);
  return { x: keep(x), series: series.map((one) => ({ ...one, y: keep(one.y) })) };
}

// The update in numbers: the rule, then old w, what is added and new w, column by column. The
// table's cells are made once for a number of features and only their text changes with time.

import { byId, el, say } from "./dom.js";
import { brief, count, grouped, pair, short } from "./numbers.js";

const RULES = {
  perceptron: "w ← w + η y x,   b ← b + η y",
  adaline: "w ← w + η (y − (w·x + b)) x",
  batch: "w ← w + η Σ y x,   over all mistakes",
  kernel: "f ← f + y K(x, ·)",
  scan: "the nearest points of the two hulls, on more samples",
};

export function createFormula(app) {
  const box = byId("formula");
  const rule = el("p", { class: "rule" });
  const table = el("table", { "aria-label": "The update in numbers" });
  let columns = "";
  const kernel = el("p", { class: "kernel" });
  box.append(rule, kernel, table);
  const rows = [
    ["old", "old"],
    ["added", "change"],
    ["new", "now"],
  ];
  const rebuild = (n, seen) => {
    columns = `${n} ${seen}`;
    const names = [...(seen ?? Array.from({ length: n }, (_, i) => `w${"₁₂₃₄₅₆₇₈"[i]}`)), "b"];
    table.replaceChildren(
      el(
        "thead",
        {},
        el("tr", {}, el("td", {}), ...names.map((name) => el("th", { scope: "col" }, name))),
      ),
      el(
        "tbody",
        {},
        ...rows.map(([word, look]) =>
          el("tr", { class: look }, el("th", { scope: "row" }, word), ...names.map(() => el("td"))),
        ),
      ),
    );
  };
  const fill = (values) =>
    values.forEach((numbers, r) => {
      const cells = table.tBodies[0].rows[r].cells;
      numbers.forEach((text, i) => say(cells[i + 1], text));
    });
  return {
    frame(moments) {
      const moment = moments[app.store.state.chosen];
      const act = moment?.act;
      const { run } = moment?.track ?? {};
      say(rule, run ? RULES[ruleOf(run, act)] : "");
      say(byId("update-what"), run ? whatText(moment, app.picture()) : "");
      say(byId("update-why"), run ? whyText(moment, app.picture()) : "");
      say(kernel, run?.kernel ? run.kernel.formula : "");
      const hasTable = Boolean(act?.before && act.after && run.unit !== "scan");
      table.hidden = !hasTable;
      if (!hasTable) return;
      const d = Math.min(act.after.w.length, 6);
      const seen = app.picture().view?.axes ? ["along w", "across"] : null;
      if (columns !== `${d} ${seen}`) rebuild(d, seen);
      const [old, now] = [act.before, act.after].map(({ w, b }) => [...w.slice(0, d), b]);
      const size = Math.max(...old.map(Math.abs), ...now.map(Math.abs));
      const signed = (value) => (value >= 0 ? `+${brief(value)}` : brief(value));
      fill([
        cleaned(old, size).map((value) => brief(value)),
        cleaned(
          now.map((value, i) => value - old[i]),
          size,
        ).map(signed),
        cleaned(now, size).map((value) => brief(value)),
      ]);
    },
  };
}

// What is left by rounding is nothing.
const cleaned = (list, size) =>
  list.map((value) => (Math.abs(value) < 1e-12 * size ? 0 : Number(value.toPrecision(12))));

function ruleOf(run, act) {
  if (run.unit === "scan") return "scan";
  if (run.kernel) return "kernel";
  if (run.algorithm === "adaline") return "adaline";
  return act?.course.batch ? "batch" : "perceptron";
}

function whatText({ act, track, epoch }, { labels, names, place }) {
  const { run } = track;
  if (track.end === 0) return "Nothing to learn here yet.";
  if (!act) return `${startOf(track.run)} Press Play or step on.`;
  const number = grouped(act.course.number[act.entry]);
  if (run.unit !== "update") return `${run.unit === "scan" ? "Scan" : "Epoch"} ${number}`;
  if (act.samples.length > 1)
    return `Update ${number}, epoch ${grouped(epoch)}: ${count(act.samples.length, "mistake")} at once`;
  const k = labels[place(act.sample)];
  const which = `sample ${grouped(act.sample + 1)}${k === undefined ? "" : ` (${short(names[k])})`}`;
  const problem =
    run.courses.length > 1
      ? `, ${short(names[act.course.positive])} against ${act.course.negative === null ? "the rest" : short(names[act.course.negative])}`
      : "";
  return `Update ${number}, epoch ${grouped(act.course.epoch[act.entry])}: ${which}${problem}`;
}

function startOf({ unit, courses }) {
  if (unit === "scan") return "Before the first scan of the samples.";
  const isZero = courses.every(
    ({ w, b }) => !w || (b[0] === 0 && w[0].every((value) => value === 0)),
  );
  return isZero
    ? "Before the first update: w = 0 decides nothing."
    : "Before the first update: the start vector.";
}

function whyText({ act, track }) {
  if (act && track.run.unit === "scan") return scanText(act);
  if (!act || act.value === null || act.value === undefined) return "";
  if (act.skipped) return "Updates before this one are skipped here: zoom in by stepping.";
  if (act.samples.length > 1 || track.run.unit !== "update") return "";
  const side = act.sign > 0 ? "+1" : "−1";
  const value = brief(act.value);
  if (track.run.algorithm === "adaline") return `Its value was ${value}, and should be ${side}.`;
  const f = track.run.kernel ? "f(x)" : "w·x + b";
  return `Before, ${f} = ${value} for a sample with y = ${side}: y·${track.run.kernel ? f : `(${f})`} = ${brief(act.sign * act.value)} ≤ 0, a mistake.`;
}

function scanText({ course, entry, after }) {
  const gap = course.scans?.gap[entry];
  const width = course.margin?.width;
  return [
    `w = ${pair(after.w)}, b = ${brief(after.b)}.`,
    gap === undefined || gap === null
      ? ""
      : `The answer is proved to within a gap of ${brief(gap, 2)}.`,
    entry === course.number.length - 1 && width
      ? `Half the band is 1/‖w‖ = ${brief(width)} wide.`
      : "",
  ].join(" ");
}

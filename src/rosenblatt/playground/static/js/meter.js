// Mistakes so far against the most there can be, (R/γ)², and why each run ended.

import { byId, el, say } from "./dom.js";
import { asSentence, brief, count, grouped } from "./numbers.js";
import { nameOf } from "./algorithms.js";
import { laneSwatch } from "./swatches.js";

export function createMeter(app) {
  const bar = byId("meter");
  let told = null;
  app.redraws.push(() => {
    told = null;
  });
  return {
    changed() {
      const { tracks } = app;
      const many = tracks.length > 1;
      const words = tracks.map((track, lane) =>
        track ? [`${nameOf(track.settings)}: ${headline(track.run)}`, sentences(track.run)] : null,
      );
      if (told === words.flat().join("\n")) return;
      told = words.flat().join("\n");
      byId("stop").replaceChildren(
        ...words.flatMap((one, lane) =>
          one
            ? [el("dt", {}, ...(many ? [laneSwatch(lane)] : []), one[0]), el("dd", {}, one[1])]
            : [],
        ),
      );
    },
    frame(moments) {
      const moment = moments[app.store.state.chosen];
      if (!moment) {
        say(byId("mistakes"), "–");
        return;
      }
      const { mistakes } = moment;
      const bound = boundOf(moment.track.run);
      const isMargin = moment.track.run.unit === "scan";
      say(byId("mistakes"), isMargin ? "–" : grouped(mistakes));
      say(
        byId("strip-mistakes"),
        isMargin
          ? ""
          : `${count(mistakes, "mistake")}${Number.isFinite(bound?.most ?? bound?.bound) ? ` of ≤ ${brief(Math.floor(bound.most ?? bound.bound))}` : ""}`,
      );
      const limit = bound?.most ?? bound?.bound;
      const hasBar = !isMargin && Number.isFinite(limit) && limit !== null && limit > 0;
      say(
        byId("of-bound"),
        isMargin
          ? "it solves, and makes none"
          : hasBar
            ? `of at most ${brief(Math.floor(limit))}`
            : mistakes === 1
              ? "mistake, and no bound"
              : "mistakes, and no bound",
      );
      bar.toggleAttribute("data-none", !hasBar);
      if (hasBar) {
        bar.setAttribute("aria-valuemax", String(limit));
        bar.setAttribute("aria-valuenow", String(Math.min(mistakes, limit)));
        bar.setAttribute("aria-valuetext", `${mistakes} of at most ${Math.floor(limit)}`);
        const share = (value) => Math.min(100, (100 * value) / limit).toFixed(3);
        byId("meter-now").setAttribute("width", share(mistakes));
        byId("meter-end").setAttribute("width", share(inAll(moment.track.run)));
      }
      say(byId("meter-text"), isMargin ? "" : boundText(bound, moment.track.run));
    },
  };
}

// The bound of a whole run: of its one problem, or the sum over several.
export function boundOf(run) {
  const bounds = run.courses.map(({ bound }) => bound).filter(Boolean);
  if (run.courses.length === 1 || run.joint) return bounds[0] ?? null;
  if (bounds.length < run.courses.length || bounds.some(({ most }) => most === null)) return null;
  return {
    ...bounds[0],
    R: null,
    gamma: null,
    many: true,
    most: bounds.reduce((total, { most }) => total + most, 0),
  };
}

const inAll = (run) =>
  run.joint
    ? run.courses[0].mistakes_in_all
    : run.courses.reduce((total, course) => total + course.mistakes_in_all, 0);

function boundText(bound, run) {
  if (!bound)
    return run.kernel || run.algorithm === "adaline"
      ? ""
      : "Only data that can be separated have a bound for ever.";
  if (bound.many) return "the bounds of all classes, added up";
  if (bound.R !== null && bound.gamma !== null)
    return `${bound.formula}: R = ${brief(bound.R)}, γ = ${brief(bound.gamma)}`;
  return bound.terms;
}

function headline(run) {
  const reasons = [...new Set(run.courses.map(({ stop }) => stop.reason))];
  const words = reasons.map((reason) => reason.toLowerCase().replaceAll("_", " ")).join(", ");
  return `${words}, ${count(run.errors, "error")}`;
}

function sentences(run) {
  const cycles = run.courses
    .filter(({ cycle }) => cycle)
    .map(
      ({ cycle }) =>
        `A cycle of period ${count(cycle.period, "epoch")}, entered after epoch ${grouped(cycle.entry)}.`,
    );
  const stops = [...new Set(run.courses.map(({ stop }) => stop.sentence))];
  const thinned = run.thinned ? [run.thinned.sentence] : [];
  return [...stops, ...cycles, ...thinned, ...run.notes].map(asSentence).join(" ");
}

// Mistakes so far against the most there can be, (R/γ)², and why each run ended.

import { byId, el, say } from "./dom.js";
import { asSentence, brief, count, grouped } from "./numbers.js";
import { nameOf } from "./algorithms.js";
import { laneSwatch } from "./swatches.js";

export function createMeter(app) {
  const bar = byId("meter");
  const words = memoized(wordsOf);
  let told = null;
  app.redraws.push(() => {
    told = null;
  });
  // How each run ended, once its end is reached.
  const tell = (moments) => {
    const now = moments.map((moment) => moment && words(moment.track, moment.ended));
    if (told && now.every((one, lane) => one === told[lane]) && now.length === told.length) return;
    told = now;
    byId("stop").replaceChildren(
      ...now.flatMap((one, lane) =>
        one
          ? [
              el("dt", {}, ...(now.length > 1 ? [laneSwatch(lane)] : []), one[0]),
              el("dd", {}, one[1]),
            ]
          : [],
      ),
    );
  };
  return {
    frame(moments) {
      tell(moments);
      const moment = moments[app.store.state.chosen];
      const run = moment?.track.run;
      const counts = run && run.unit !== "scan"; // a best hyperplane is solved for, without mistakes
      const bound = counts ? boundOf(run) : null;
      const limit = bound?.most ?? bound?.bound ?? 0;
      say(byId("mistakes"), counts ? grouped(moment.mistakes) : "–");
      say(byId("of-bound"), ofBound(moment, counts, limit));
      say(byId("strip-mistakes"), counts ? stripText(moment.mistakes, limit) : "");
      say(byId("meter-text"), counts ? boundText(bound, run) : "");
      bar.toggleAttribute("data-none", !(limit > 0));
      if (limit > 0) fill(bar, moment, limit);
    },
  };
}

function ofBound(moment, counts, limit) {
  if (!moment) return "";
  if (!counts) return "it solves, and makes none";
  if (limit > 0) return `of at most ${brief(Math.floor(limit))}`;
  return moment.mistakes === 1 ? "mistake, and no bound" : "mistakes, and no bound";
}

const stripText = (mistakes, limit) =>
  count(mistakes, "mistake") + (limit > 0 ? ` of ≤ ${brief(Math.floor(limit))}` : "");

// The bar: mistakes so far, and paler those of the whole run.
function fill(bar, { mistakes, track }, limit) {
  bar.setAttribute("aria-valuemax", String(limit));
  bar.setAttribute("aria-valuenow", String(Math.min(mistakes, limit)));
  bar.setAttribute("aria-valuetext", `${mistakes} of at most ${Math.floor(limit)}`);
  const share = (value) => Math.min(100, (100 * value) / limit).toFixed(3);
  byId("meter-now").setAttribute("width", share(mistakes));
  byId("meter-end").setAttribute("width", share(inAll(track.run)));
}

// The bound of a whole run: of its one problem, or the sum over several.
function boundOf(run) {
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
  if (!bound.formula.includes("γ")) return bound.formula;
  if (bound.R !== null && bound.gamma !== null)
    return `${bound.formula}: R = ${brief(bound.R)}, γ = ${brief(bound.gamma)}`;
  return bound.terms;
}

// The same words for the same track, so that `===` tells whether anything changed.
function memoized(make) {
  const kept = new WeakMap();
  return (track, ended) => {
    if (!kept.has(track)) kept.set(track, {});
    return (kept.get(track)[ended] ??= make(track, ended));
  };
}

function wordsOf({ run, settings }, ended) {
  const name = nameOf(settings);
  if (ended) return [`${name}: ${headline(run)}`, sentences(run)];
  const going = run.unit === "scan" ? "solving" : "learning";
  return [`${name}: ${going}`, aboutPicture(run).map(asSentence).join(" ")];
}

const aboutPicture = ({ thinned, notes }) => [...(thinned ? [thinned.sentence] : []), ...notes];

// Words of the library's parameters, in those of the page.
const onPage = (sentence) =>
  sentence
    .replace("max_epochs was reached", "the most epochs were run")
    .replace("max_time was reached", "the time for one run was over")
    .replace("less than tol", "less than the tolerance")
    .replace("within tol", "within the tolerance");

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
  const stops = [...new Set(run.courses.map(({ stop }) => onPage(stop.sentence)))];
  return [...stops, ...cycles, ...aboutPicture(run)].map(asSentence).join(" ");
}

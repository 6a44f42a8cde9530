// The layer of the update being made: its sample ringed, and old w + change = new w as arrows from
// the origin. Takes a pen, the scene (see layers.js) and the chosen lane's moment.

import { isInside } from "./geometry.js";
import { brief } from "./numbers.js";
import { drawArrow } from "./pen.js";

export function drawUpdate(pen, scene, moment) {
  if (!moment?.act || moment.act.skipped) return;
  const { view, points, place, ink, radius } = scene;
  const { act } = moment;
  const grown = Math.min(1, act.progress / 0.3);
  act.samples.slice(0, 60).forEach((sample) => {
    const p = points[place(sample)];
    if (p)
      pen.disc(view.x(p[0]), view.y(p[1]), radius + 6 + 10 * (1 - grown), {
        stroke: ink.change,
        width: 3,
        alpha: 0.35 + 0.65 * grown,
      });
  });
  if (scene.show.vectors && act.before && act.course.margin === null) drawVectors(pen, scene, act);
}

function drawVectors(pen, scene, { before, after, progress, step }) {
  const { view, ink } = scene;
  const change = after.w.map((value, i) => value - before.w[i]);
  const longest = Math.max(
    ...[before.w, after.w, change].map(([x, y]) => Math.hypot(x * view.kx, y * view.ky)),
  );
  if (!(longest > 0)) return;
  const origin = isInside(view, [0, 0])
    ? [0, 0]
    : [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
  const most = Math.min(
    (0.42 * Math.min(view.width, view.height)) / longest,
    ...[before.w, after.w].map((tip) => reach(view, origin, tip)),
  );
  const scale = most >= 1 && most < 8 ? 1 : rounded(most);
  const at = ([x, y]) => [view.x(origin[0] + scale * x), view.y(origin[1] + scale * y)];
  const start = at([0, 0]);
  const tip = at(before.w);
  const grown = Math.min(1, Math.max(0, (progress - 0.15) / 0.4));
  const end = at(before.w.map((value, i) => value + grown * change[i]));
  const done = Math.min(1, Math.max(0, (progress - 0.55) / 0.3));
  const fresh = before.w.every((value) => value === 0); // the first w is the first change
  drawArrow(pen, ...start, ...tip, { stroke: ink.old, width: 2.2, alpha: 1 - 0.35 * done });
  if (grown > 0) drawArrow(pen, ...tip, ...end, { stroke: ink.change, width: 3 });
  if (done > 0) drawArrow(pen, ...start, ...end, { stroke: ink.now, width: 3.2, alpha: done });
  pen.disc(...start, 3.5, { fill: ink.now });
  const label = (from, to, words, fill, alpha, side) => {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (length < 22) return;
    const [nx, ny] = [(side * (to[1] - from[1])) / length, (-side * (to[0] - from[0])) / length];
    const x = Math.min(
      Math.max((from[0] + to[0]) / 2 + (10 + 3.6 * words.length) * nx, 24),
      view.width - 24,
    );
    const y = Math.min(Math.max((from[1] + to[1]) / 2 + 14 * ny, 14), view.height - 14);
    pen.text(x, y, words, { fill, size: 13, weight: 650, align: "center", halo: ink.paper, alpha });
  };
  const turn = before.w[0] * change[1] - before.w[1] * change[0] > 0 ? -1 : 1;
  label(start, tip, "old w", ink.old, 1, turn);
  const size = Math.abs(step);
  const added = `${step < 0 ? "−" : "+"}${size === 1 ? "" : brief(size)}x`;
  if (!fresh || done < 0.5) label(tip, end, added, ink.change, grown, turn);
  label(start, end, fresh ? `new w = ${added.replace("+", "")}` : "new w", ink.now, done, -turn);
  scene.note(
    scale === 1
      ? ""
      : scale > 1
        ? `arrows ${brief(scale)} times as long`
        : `arrows 1 : ${brief(1 / scale)}`,
  );
}

// How many times `tip` there is room for from `origin`, up to the edge of the picture.
function reach(view, [ox, oy], [x, y]) {
  const room = (from, by, low, high, pixel) =>
    (by > 0 ? high - 14 / pixel - from : from - low - 14 / pixel) / Math.abs(by);
  return Math.max(
    Math.min(
      x ? room(ox, x, view.x0, view.x1, view.kx) : Infinity,
      y ? room(oy, y, view.y0, view.y1, view.ky) : Infinity,
    ),
    1e-9,
  );
}

function rounded(scale) {
  // to a whole number, or one part of a whole number
  const one = (value) => {
    const power = 10 ** Math.floor(Math.log10(value));
    return Math.ceil(value / power) * power;
  };
  return scale < 1 ? 1 / one(1 / scale) : Math.max(1, Math.floor(scale));
}

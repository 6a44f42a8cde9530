// The layers of the plane, from the ground up. Each takes a pen and the scene; none keeps anything.
//
// scene = {view, ink (colours), points, labels, names, place(sample) -> index of a point or -1,
//   moments (of each lane), chosen, judgement, show, wrong(index), counts, dropped,
//   ground: {image, levels} or null (the kernel's surface), borders (of lanes without), hand: {cursor, picked, over}}

import { classColour, classEdge, DASHES, laneColour } from "./marks.js";
import { clipped, corners, lineIn } from "./geometry.js";
import { brief, niceStep } from "./numbers.js";
import { lineOf } from "./track.js";
import { drawUpdate } from "./update_layer.js";

export function drawScene(pen, scene) {
  pen.polygon(
    [
      [0, 0],
      [scene.view.width, 0],
      [scene.view.width, scene.view.height],
      [0, scene.view.height],
    ],
    { fill: scene.ink.paper },
  );
  drawGround(pen, scene);
  drawGrid(pen, scene);
  if (scene.show.hulls) drawHulls(pen, scene);
  if (scene.show.band) drawBand(pen, scene);
  drawLines(pen, scene);
  drawPoints(pen, scene);
  drawMargins(pen, scene);
  if (scene.show.hulls) drawProof(pen, scene);
  drawUpdate(pen, scene, chosenMoment(scene));
  drawHand(pen, scene);
}

const onScreen = (view, points) => points.map(([x, y]) => [view.x(x), view.y(y)]);
const chosenMoment = ({ moments, chosen }) => moments[chosen] ?? null;

// --- ground: which class would be answered where ---------------------------------------------

function drawGround(pen, scene) {
  const moment = chosenMoment(scene);
  if (!moment || !scene.show.ground) return;
  const { view, ground } = scene;
  if (ground) {
    pen.image(ground.image, 0, 0, view.width, view.height);
    ground.levels.forEach(({ segments, bold }) =>
      pen.segments(
        segments,
        bold
          ? { stroke: laneColour(scene.chosen), width: 2.6 }
          : { stroke: scene.ink.quiet, width: 0.8, alpha: 0.55 },
      ),
    );
    return;
  }
  const planes = moment.parts
    .filter((part) => part.w)
    .map((part) => ({ ...lineOf(part), course: part.course }));
  if (planes.length === 1) {
    const { w, b, course } = planes[0];
    if (w.every((value) => value === 0)) return;
    [
      [course.positive, 1],
      [course.negative ?? 0, -1],
    ].forEach(([k, sign]) => {
      const region = clipped(corners(view), sign * w[0], sign * w[1], sign * b);
      pen.polygon(onScreen(view, region), { fill: classColour(k), alpha: 0.13 });
    });
  } else
    planes.forEach((plane) => {
      let region = corners(view);
      planes.forEach((other) => {
        if (other !== plane && region.length) {
          region = clipped(
            region,
            plane.w[0] - other.w[0],
            plane.w[1] - other.w[1],
            plane.b - other.b,
          );
        }
      });
      if (planes.some(({ w }) => w.some((value) => value !== 0))) {
        pen.polygon(onScreen(view, region), {
          fill: classColour(plane.course.positive),
          alpha: 0.16,
        });
      }
    });
}

function drawGrid(pen, { view, ink, features }) {
  const stepX = niceStep(view.x1 - view.x0, view.width / 90);
  const stepY = niceStep(view.y1 - view.y0, view.height / 90);
  const lines = [];
  for (let x = Math.ceil(view.x0 / stepX) * stepX; x <= view.x1; x += stepX) {
    lines.push(view.x(x), 0, view.x(x), view.height);
    pen.text(view.x(x), view.height - 9, brief(Number(x.toPrecision(8))), {
      fill: ink.quiet,
      size: 11,
      align: "center",
    });
  }
  for (let y = Math.ceil(view.y0 / stepY) * stepY; y <= view.y1; y += stepY) {
    lines.push(0, view.y(y), view.width, view.y(y));
    if (view.y(y) < view.height - 22 && view.y(y) > 34) {
      pen.text(5, view.y(y) - 7, brief(Number(y.toPrecision(8))), { fill: ink.quiet, size: 11 });
    }
  }
  pen.segments(lines, { stroke: ink.grid, width: 1, alpha: 0.8 });
  const axes = [];
  if (view.x0 < 0 && view.x1 > 0) axes.push(view.x(0), 0, view.x(0), view.height);
  if (view.y0 < 0 && view.y1 > 0) axes.push(0, view.y(0), view.width, view.y(0));
  pen.segments(axes, { stroke: ink.axis, width: 1.2 });
  pen.text(view.width - 8, view.height - 24, features[0], {
    fill: ink.quiet,
    size: 12,
    align: "right",
    weight: 600,
    halo: ink.paper,
  });
  pen.text(8, 13, features[1], { fill: ink.quiet, size: 12, weight: 600, halo: ink.paper });
}

// --- hulls and the proof ---------------------------------------------------------------------

function drawHulls(pen, { view, judgement, ink }) {
  if (!judgement) return;
  Object.entries(judgement.hulls).forEach(([k, hull]) => {
    if (hull.some((corner) => corner.length !== 2)) return;
    const style = { fill: classColour(Number(k)), alpha: 0.12 };
    if (hull.length > 2) pen.polygon(onScreen(view, hull), style);
    pen.polygon(onScreen(view, hull), {
      stroke: classEdge(Number(k)),
      width: 1.2,
      dash: [4, 3],
      alpha: 0.8,
    });
  });
  const { overlap } = judgement;
  if (overlap.length > 2) pen.polygon(onScreen(view, overlap), { fill: ink.glow, alpha: 0.3 });
  if (overlap.length > 1) pen.polygon(onScreen(view, overlap), { stroke: ink.glow, width: 2.2 });
  if (overlap.length === 1)
    pen.disc(view.x(overlap[0][0]), view.y(overlap[0][1]), 7, { stroke: ink.glow, width: 2.2 });
}

function drawProof(pen, scene) {
  const { view, judgement, points, place, ink } = scene;
  const verdict = judgement?.verdicts.length === 1 ? judgement.verdicts[0] : null;
  if (!verdict?.proof) return;
  const { samples, weights, point } = verdict.proof;
  samples.forEach((sample, i) => {
    const p = points[place(sample)];
    if (!p) return;
    const [x, y] = [view.x(p[0]), view.y(p[1])];
    if (point.length === 2) {
      pen.line(
        [
          [x, y],
          [view.x(point[0]), view.y(point[1])],
        ],
        { stroke: ink.glow, width: 1.2, dash: [2, 3], alpha: 0.8 },
      );
    }
    pen.disc(x, y, 12, { stroke: ink.glow, width: 2.4 });
    pen.text(x + 15, y - 10, brief(weights[i]), {
      fill: ink.glow,
      size: 12,
      weight: 700,
      halo: ink.paper,
    });
  });
  if (point.length === 2) {
    pen.mark(7, view.x(point[0]), view.y(point[1]), 8, {
      fill: ink.glow,
      stroke: ink.paper,
      width: 1.2,
    });
  }
}

// --- lines, bands ----------------------------------------------------------------------------

function drawPlaneLine(pen, view, { w, b }, style) {
  const ends = lineIn(view, w[0], w[1], b);
  if (ends) pen.line(onScreen(view, ends), style);
}

function drawLines(pen, scene) {
  const { view, moments, chosen, ink } = scene;
  const order = [...moments.keys()].sort((a, b) => (a === chosen) - (b === chosen));
  const widest = scene.show.widest
    ? scene.judgement?.verdicts.length === 1 && scene.judgement.verdicts[0].widest
    : null;
  if (widest?.w.length === 2)
    drawPlaneLine(pen, view, widest, { stroke: ink.good, width: 2, dash: [12, 5] });
  for (const lane of order) {
    const moment = moments[lane];
    if (!moment) continue;
    const many = moment.parts.length > 1;
    const { act } = moment;
    if (lane === chosen && act?.before && !many) {
      drawPlaneLine(pen, view, act.before, {
        stroke: ink.old,
        width: 1.6,
        dash: [5, 5],
        alpha: 1 - 0.55 * act.progress,
      });
    }
    scene.borders[lane]?.forEach((segments) =>
      pen.segments(segments, {
        stroke: laneColour(lane),
        width: 2.4,
        dash: DASHES[lane],
      }),
    );
    for (const part of moment.parts) {
      if (!part.w) continue;
      const stroke = many && lane === chosen ? classEdge(part.course.positive) : laneColour(lane);
      const style = { stroke, dash: DASHES[lane] };
      if (part.shown) drawPlaneLine(pen, view, part, { ...style, width: 1.1, alpha: 0.55 });
      drawPlaneLine(pen, view, lineOf(part), {
        ...style,
        width: many ? 1.8 : lane === chosen ? 3 : 2.4,
      });
    }
  }
}

// The band |w·x + b| <= 1 of a margin.
function drawBand(pen, scene) {
  const moment = chosenMoment(scene);
  if (!moment || moment.parts.length !== 1) return;
  const { course, w } = moment.parts[0];
  if (!course.margin || !w) return;
  const { view, chosen } = scene;
  const plane = moment.parts[0];
  if (plane.w.every((value) => value === 0)) return;
  const [a, c] = plane.w;
  const band = clipped(clipped(corners(view), a, c, plane.b + 1), -a, -c, 1 - plane.b);
  pen.polygon(onScreen(view, band), { fill: scene.ink.good, alpha: 0.1 });
  for (const side of [-1, 1]) {
    drawPlaneLine(
      pen,
      view,
      { w: plane.w, b: plane.b + side },
      { stroke: laneColour(chosen), width: 1.3, dash: [3, 3] },
    );
  }
}

function drawMargins(pen, scene) {
  const moment = chosenMoment(scene);
  if (!moment?.ended || !scene.show.band || moment.parts.length !== 1) return;
  const { view, points, place, ink } = scene;
  const { course } = moment.parts[0];
  const { margin } = course;
  if (!margin) return;
  const { w } = moment.parts[0];
  const square = w[0] ** 2 + w[1] ** 2;
  margin.slack.forEach((slack, i) => { // of the points drawn
    if (!points[i] || slack < 1e-9 || !square) return;
    const y = scene.labels[i] === course.positive ? 1 : -1;
    const [px, py] = points[i];
    const to = [px + (y * slack * w[0]) / square, py + (y * slack * w[1]) / square];
    pen.line(onScreen(view, [points[i], to]), { stroke: ink.change, width: 1.6, alpha: 0.85 });
  });
  margin.support.forEach((sample) => {
    const p = points[place(sample)];
    if (p) pen.disc(view.x(p[0]), view.y(p[1]), scene.radius + 5, { stroke: ink.good, width: 2.2 });
  });
  if (margin.nearest && margin.nearest.every((p) => p.length === 2) && margin.C === null) {
    pen.line(onScreen(view, margin.nearest), { stroke: ink.good, width: 2, dash: [6, 3] });
  }
}

// --- points ----------------------------------------------------------------------------------

function drawPoints(pen, scene) {
  const { view, points, labels, radius, counts, dropped, ink } = scene;
  for (let i = 0; i < points.length; i += 1) {
    const k = labels[i];
    const [x, y] = [view.x(points[i][0]), view.y(points[i][1])];
    const r = counts ? Math.min(radius * Math.sqrt(0.55 + 0.5 * counts[i]), 3.2 * radius) : radius;
    const hollow = scene.wrong(i);
    pen.stamp(
      k,
      x,
      y,
      r,
      hollow
        ? { fill: ink.paper, stroke: classColour(k), width: Math.max(2, r * 0.42) }
        : { fill: classColour(k), stroke: classEdge(k), width: 1 },
    );
    if (dropped?.has(i)) {
      const s = r + 3;
      pen.segments([x - s, y - s, x + s, y + s, x - s, y + s, x + s, y - s], {
        stroke: ink.glow,
        width: 2.4,
      });
    }
  }
}

// --- the hand: crosshair of the keyboard, point picked up or under the pointer ------------------

function drawHand(pen, { view, points, hand, ink, radius, labels }) {
  if (!hand) return;
  const ring = (i, style) => {
    const p = points[i];
    if (p) pen.mark(labels[i], view.x(p[0]), view.y(p[1]), radius + 4, style);
  };
  if (hand.over >= 0) ring(hand.over, { stroke: ink.ink, width: 1.5, alpha: 0.7 });
  if (hand.picked >= 0) ring(hand.picked, { stroke: ink.ink, width: 2.5 });
  if (hand.cursor) {
    const [x, y] = [view.x(hand.cursor[0]), view.y(hand.cursor[1])];
    for (const style of [
      { stroke: ink.paper, width: 4 },
      { stroke: ink.ink, width: 1.6 },
    ]) {
      pen.segments(
        [x - 16, y, x - 5, y, x + 5, y, x + 16, y, x, y - 16, x, y - 5, x, y + 5, x, y + 16],
        style,
      );
    }
  }
}

// The ground of a kernel perceptron: surfaces of its courses at a moment, painted, with contours.
// Takes a moment and the view; gives {image, levels, valuesAt(point)} or null. `borders` gives no more
// than the lines on which the courses decide.

import { classColour } from "./marks.js";
import { contour } from "./contours.js";
import { shownCoefficients } from "./dual.js";
import { createSurface, kernelOf, paintSurface, spread, votedSurface } from "./shading.js";

export function createGround(invalidate, isBusy) {
  const image = document.createElement("canvas");
  let surfaces = [];
  const gridsAt = (moment, view, points) => {
    const { run } = moment.track;
    while (surfaces.length < run.courses.length) surfaces.push(null);
    const name = JSON.stringify(run.kernel);
    const kernel = kernelOf(run.kernel);
    const grids = moment.parts.map(({ course, entry }, c) => {
      const votes = course.shown?.keep === "vote";
      if (!surfaces[c] || surfaces[c].votes !== votes) {
        surfaces[c] = { votes, ...(votes ? votedSurface() : createSurface()) };
      }
      if (votes) return surfaces[c].at(view, points, kernel, name, course, entry);
      return surfaces[c].at(
        view,
        points,
        kernel,
        name,
        shownCoefficients(course, entry, points.length),
      );
    });
    if (grids.some(({ done }) => !done)) invalidate();
    return grids;
  };
  const ground = (moment, view, points) => {
    const { run } = moment.track;
    if (!run.kernel || !points.length) return null;
    const grids = gridsAt(moment, view, points);
    const classes =
      grids.length === 1
        ? [run.courses[0].negative ?? 0, run.courses[0].positive]
        : run.courses.map((course) => course.positive);
    paintSurface(image, grids, classes.map(classColour));
    return {
      image,
      levels: levelsOf(grids, view, !isBusy() && !surfaces[0].votes),
      grids,
      valuesAt: (p) => grids.map((grid) => read(grid, view, p)),
    };
  };
  const borders = (moment, view, points) =>
    gridsAt(moment, view, points).map((grid) => contour(grid, 0, view.width, view.height));
  return { ground, borders };
}

function levelsOf(grids, view, all) {
  const line = (grid, level, bold) => ({
    bold,
    segments: contour(grid, level, view.width, view.height),
  });
  if (grids.length > 1) return grids.map((grid) => line(grid, 0, false));
  const unit = spread(grids[0]);
  return [
    ...(all ? [-0.75, -0.5, -0.25, 0.25, 0.5, 0.75] : []).map((share) =>
      line(grids[0], share * unit, false),
    ),
    line(grids[0], 0, true),
  ];
}

// Between the points of the grid, bilinear.
function read({ values, columns, rows }, view, [x, y]) {
  const c = Math.min(
    Math.max(((x - view.x0) / (view.x1 - view.x0)) * (columns - 1), 0),
    columns - 1.001,
  );
  const r = Math.min(Math.max(((view.y1 - y) / (view.y1 - view.y0)) * (rows - 1), 0), rows - 1.001);
  const [c0, r0] = [Math.floor(c), Math.floor(r)];
  const [s, t] = [c - c0, r - r0];
  const i = r0 * columns + c0;
  return (
    (1 - t) * ((1 - s) * values[i] + s * values[i + 1]) +
    t * ((1 - s) * values[i + columns] + s * values[i + columns + 1])
  );
}

// The small marks of classes and algorithms beside their names.

import { svgEl } from "./dom.js";
import { classColour, classEdge, DASHES, laneColour, shapePath } from "./marks.js";

export function classSwatch(k) {
  return svgEl(
    "svg",
    { class: "swatch", viewBox: "0 0 22 14", "aria-hidden": "true" },
    svgEl("path", { d: shapePath(k, 11, 7, 6), fill: classColour(k), stroke: classEdge(k) }),
  );
}

export function laneSwatch(lane) {
  return svgEl(
    "svg",
    { class: "swatch", viewBox: "0 0 22 14", "aria-hidden": "true" },
    svgEl("line", {
      x1: 0,
      x2: 22,
      y1: 7,
      y2: 7,
      stroke: laneColour(lane),
      "stroke-width": 3,
      "stroke-dasharray": DASHES[lane].map((d) => d * 0.8).join(" "),
    }),
  );
}

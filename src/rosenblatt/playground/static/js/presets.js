// What the points can start from. `options` are the sliders of /api/generate that mean something
// for a kind, with the values to begin with; `dots` a tiny picture: [x, y, class] on 46 x 34.

const n = (value, most = 500) => ({
  name: "n",
  label: "Points",
  type: "range",
  least: 6,
  most,
  step: 2,
  value,
});
const margin = (value, label = "Margin") => ({
  name: "margin",
  label,
  type: "range",
  least: 0.02,
  most: 0.9,
  step: 0.01,
  value,
});
const noise = {
  name: "noise",
  label: "Flipped labels",
  type: "range",
  least: 0,
  most: 0.5,
  step: 0.01,
  value: 0,
};
const scatter = (value) => ({
  name: "scatter",
  label: "Scatter",
  type: "range",
  least: 0,
  most: 1,
  step: 0.01,
  value,
});
const seed = { name: "seed", label: "Seed", type: "integer", least: 0, most: 4294967295, value: 1 };

const cloud = (cx, cy, k) => [
  [cx - 6, cy + 2, k],
  [cx + 5, cy - 3, k],
  [cx, cy + 5, k],
  [cx - 1, cy - 5, k],
];
const ring = (r, k, m) =>
  Array.from({ length: m }, (_, i) => [
    23 + r * 1.2 * Math.cos((2 * Math.PI * i) / m),
    17 + r * Math.sin((2 * Math.PI * i) / m),
    k,
  ]);

export const PRESETS = [
  {
    kind: "separable",
    label: "Separable",
    options: [n(40), margin(0.1), noise, seed],
    dots: [...cloud(13, 11, 0), ...cloud(33, 23, 1)],
  },
  {
    kind: "eight-points",
    label: "The lecture’s eight",
    options: [],
    dots: [
      [9, 8, 0],
      [15, 16, 0],
      [10, 24, 0],
      [20, 7, 0],
      [30, 27, 1],
      [37, 20, 1],
      [28, 15, 1],
      [39, 10, 1],
    ],
  },
  {
    kind: "dunkers",
    label: "Dunkers",
    options: [n(60), margin(0.3, "Gap"), noise, seed],
    dots: [
      [8, 27, 0],
      [14, 22, 0],
      [22, 26, 0],
      [18, 29, 0],
      [28, 24, 0],
      [30, 12, 1],
      [37, 8, 1],
      [40, 14, 1],
      [24, 8, 1],
    ],
  },
  {
    kind: "quasi-separable",
    label: "Just touching",
    options: [n(30), seed],
    dots: [...cloud(12, 17, 0), [23, 8, 0], [23, 17, 1], [23, 26, 0], ...cloud(34, 17, 1)],
  },
  {
    kind: "xor",
    label: "XOR",
    options: [n(40), scatter(0.25), seed],
    dots: [
      [13, 9, 0],
      [16, 12, 0],
      [33, 25, 0],
      [30, 22, 0],
      [33, 9, 1],
      [30, 12, 1],
      [13, 25, 1],
      [16, 22, 1],
    ],
  },
  {
    kind: "rings",
    label: "Rings",
    options: [n(80), scatter(0.1), seed],
    dots: [...ring(5, 0, 5), ...ring(14, 1, 11)],
  },
  {
    kind: "moons",
    label: "Moons",
    options: [n(80), scatter(0.15), seed],
    dots: [
      [7, 19, 0],
      [10, 11, 0],
      [17, 7, 0],
      [24, 11, 0],
      [27, 19, 0],
      [19, 16, 1],
      [22, 24, 1],
      [29, 28, 1],
      [36, 24, 1],
      [39, 16, 1],
    ],
  },
  {
    kind: "cycle",
    label: "A cycle",
    options: [],
    dots: [
      [12, 17, 0],
      [34, 17, 0],
      [23, 17, 1],
      [23, 6, 1],
    ],
  },
  {
    kind: "blobs",
    label: "More classes",
    options: [
      n(60),
      { name: "classes", label: "Classes", type: "range", least: 3, most: 6, step: 1, value: 3 },
      scatter(0.3),
      seed,
    ],
    dots: [...cloud(11, 11, 0), ...cloud(35, 11, 1), ...cloud(23, 26, 2)],
  },
];

export function requestOf({ kind, options }, values = {}) {
  return {
    kind,
    ...Object.fromEntries(options.map(({ name, value }) => [name, values[name] ?? value])),
  };
}

// Colours, shapes and dashes: every class has a colour AND a shape, every algorithm a colour AND a
// dash. The colours are those of the library's pictures (Okabe and Ito), lighter in the dark.

const LIGHT = {
  classes: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#444444"],
  edges: ["#004C78", "#8A5A00", "#00604A", "#8A3D67", "#8A3C00", "#1F6C9C", "#111111"],
  lanes: ["#1B1F24", "#B3400A", "#7A3E9D", "#00706A"],
  ink: "#1B1F24",
  quiet: "#5B6570",
  grid: "#E6EAEE",
  axis: "#B4BDC6",
  paper: "#FFFFFF",
  old: "#5B6570",
  change: "#B3400A",
  now: "#1B1F24",
  glow: "#C2185B",
  good: "#00705A",
};
const DARK = {
  classes: ["#4FA8E8", "#F2B035", "#2CC79B", "#E59BC6", "#FF8B4D", "#8CD0F7", "#C8CED4"],
  edges: ["#CDE8FB", "#FFE9BD", "#C4F5E6", "#FBE0EF", "#FFDCC7", "#E4F5FF", "#FFFFFF"],
  lanes: ["#F3F6F9", "#FF9A66", "#CFA0F0", "#5FD6CC"],
  ink: "#F3F6F9",
  quiet: "#A3AEBA",
  grid: "#232B35",
  axis: "#4A5663",
  paper: "#12171D",
  old: "#A3AEBA",
  change: "#FF9A66",
  now: "#F3F6F9",
  glow: "#FF6FA5",
  good: "#45D6B0",
};
export const DASHES = [[], [9, 5], [2, 4], [10, 4, 2, 4]];

const dark = matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

export const colours = () => (isDark() ? DARK : LIGHT);
export const classColour = (k) => colours().classes[k % 7];
export const classEdge = (k) => colours().edges[k % 7];
export const laneColour = (k) => colours().lanes[k % 4];

// Shapes of classes as corners on the unit circle's scale; the first is a disc.
const polygon = (n, turn, radius = 1) =>
  Array.from({ length: n }, (_, i) => {
    const a = turn + (2 * Math.PI * i) / n;
    return [radius * Math.cos(a), radius * Math.sin(a)];
  });
const plus = [
  [-0.38, -1],
  [0.38, -1],
  [0.38, -0.38],
  [1, -0.38],
  [1, 0.38],
  [0.38, 0.38],
  [0.38, 1],
  [-0.38, 1],
  [-0.38, 0.38],
  [-1, 0.38],
  [-1, -0.38],
  [-0.38, -0.38],
];
const turned = (corners, a) =>
  corners.map(([x, y]) => [x * Math.cos(a) - y * Math.sin(a), x * Math.sin(a) + y * Math.cos(a)]);
const star = polygon(10, -Math.PI / 2).map(([x, y], i) =>
  i % 2 ? [x * 0.5, y * 0.5] : [x * 1.2, y * 1.2],
);
const SHAPES = [
  null,
  [
    [-0.88, -0.88],
    [0.88, -0.88],
    [0.88, 0.88],
    [-0.88, 0.88],
  ],
  polygon(3, -Math.PI / 2, 1.2),
  polygon(4, 0, 1.18),
  polygon(3, Math.PI / 2, 1.2),
  plus,
  turned(plus, Math.PI / 4),
  star,
];
export const shape = (k) => SHAPES[k % SHAPES.length];

// The shape of class k as the `d` of an SVG path around (cx, cy).
export function shapePath(k, cx, cy, r) {
  const corners = shape(k);
  if (!corners) return `M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  return `M${corners.map(([x, y]) => `${(cx + r * x).toFixed(2)} ${(cy + r * y).toFixed(2)}`).join("L")}z`;
}

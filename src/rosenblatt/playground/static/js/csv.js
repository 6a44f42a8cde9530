// Points as CSV, quoted where a name needs it.

const cell = (value) => {
  const text = String(value);
  return /[",\n\r;\t]/.test(text) || text.trim() !== text
    ? `"${text.replaceAll('"', '""')}"`
    : text;
};

export function csvOf({ points, labels, names, features = ["x1", "x2"] }) {
  const plain = features.map((name) => name.replace("₁", "1").replace("₂", "2"));
  const rows = points.map(([x, y], i) => [x, y, names[labels[i]]]);
  return [[...plain, "class"], ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

// Numbers as people read them.

const MINUS = "\u2212";

// Up to `digits` significant digits, a true minus, no trailing zeros: 0.1234, 12.3, −5.
export function brief(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? `${MINUS}∞` : "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6)
    return value < 0 ? MINUS + grouped(size) : grouped(size);
  let text;
  if (size >= 1e6 || size < 1e-3) text = powers(size.toExponential(Math.max(0, digits - 1)));
  else if (size >= 10 ** digits) text = grouped(Math.round(size));
  else text = String(Number(size.toPrecision(digits)));
  return value < 0 ? MINUS + text : text;
}

function powers(text) {
  const [digits, power] = text.split("e");
  const raised = [...String(Number(power))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  return `${Number(digits)}·10${raised}`;
}

// A name that may be of any length, in a sentence.
export const short = (name, most = 24) =>
  name.length > most ? `${name.slice(0, most - 1)}…` : name;

// With a capital and a full stop.
export function asSentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return !first || /[.!?]$/.test(first) ? first : `${first}.`;
}

// 12 345 with a thin space that does not break.
export function grouped(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function pair(vector, digits = 3) {
  if (vector.length > 3) return `(${brief(vector[0], digits)}, ${brief(vector[1], digits)}, …)`;
  return `(${vector.map((value) => brief(value, digits)).join(", ")})`;
}

export function count(n, one, many = `${one}s`) {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

// A step of a grid that divides `span` into about `parts`: 1, 2 or 5 times a power of ten.
export function niceStep(span, parts) {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
}

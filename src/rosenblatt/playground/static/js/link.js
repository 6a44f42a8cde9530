// The whole state in the fragment of the address, packed: JSON, deflated, in base64url. The
// fragment never leaves the browser. `readLink` gives null for a fragment that is not ours.

const VERSION = "1";
const KEYS = ["data", "preset", "lanes", "chosen", "tool", "cls", "show", "tab", "lesson"];

export async function writeLink(state, t) {
  const kept = Object.fromEntries(KEYS.map((key) => [key, state[key]]));
  const bytes = await through(
    new CompressionStream("deflate-raw"),
    new TextEncoder().encode(JSON.stringify({ ...kept, t })),
  );
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// {state, t}, where what the link lacks is taken from `initial`.
export async function readLink(fragment, initial) {
  if (!fragment.startsWith(`#${VERSION}.`)) return null;
  try {
    const text = fragment
      .slice(VERSION.length + 2)
      .replaceAll("-", "+")
      .replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const json = new TextDecoder().decode(
      await through(new DecompressionStream("deflate-raw"), bytes),
    );
    return checked(JSON.parse(json), initial);
  } catch {
    return null;
  }
}

async function through(stream, bytes) {
  const answer = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await answer.arrayBuffer());
}

// Someone else may have written the link: only what looks like a state becomes one.
function checked({ t, ...found }, initial) {
  const state = { ...initial };
  for (const key of KEYS) if (found[key] !== undefined) state[key] = found[key];
  const { data, lanes } = state;
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  const isName = (value) => typeof value === "string";
  const holdsPoints =
    Array.isArray(data.points) &&
    data.points.length === data.labels.length &&
    data.names.length >= 2 &&
    data.names.every(isName) &&
    data.points.every((p) => p.length === 2 && p.every(isNumber)) &&
    data.labels.every((k) => Number.isInteger(k) && k >= 0 && k < data.names.length);
  const isFine =
    (holdsPoints || isName(data.table)) &&
    Array.isArray(lanes) &&
    lanes.length >= 1 &&
    lanes.length <= 4 &&
    lanes.every((lane) => isName(lane.algorithm)) &&
    Number.isInteger(state.chosen) &&
    state.chosen >= 0 &&
    state.chosen < lanes.length &&
    ["add", "switch", "erase"].includes(state.tool) &&
    Number.isInteger(state.cls) &&
    typeof state.show === "object" &&
    isName(state.tab);
  return isFine ? { state, t: isNumber(t) ? t : 0 } : null;
}

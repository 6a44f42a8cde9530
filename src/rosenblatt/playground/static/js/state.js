// The state of the page in one place. Transitions are pure: (state, …) -> state; nothing in a
// state is ever changed in place, so that undo is going back to an earlier one, and what changed
// is seen by `!==`.
//
// state = {
//   data:   {points: [[x, y], …], labels: [0, 1, …], names: ["A", "B"], features: ["x₁", "x₂"]}
//           or {table: fingerprint, columns: [name, name] | "along-w"}, a file held by the server
//   preset: {kind, …} what the points were made by, or null once they were edited
//   lanes:  settings of one to four algorithms;   chosen: which of them the panels tell about
//   tool:   "add" | "switch" | "erase";           cls: the class that a click adds
//   show:   {hulls, vectors, …} layers of the picture;   tab: the open view;   lesson: {at, done} or null
// }

export const MOST_LANES = 4;
export const MOST_CLASSES = 6;

const KEPT = ["data", "preset", "lanes", "chosen"]; // what undo brings back

export function createStore(initial) {
  let state = initial;
  let past = [];
  let future = [];
  let gesture = null;
  const listeners = [];
  const settle = (next) => {
    const before = state;
    state = next;
    listeners.forEach((listener) => listener(state, before));
  };
  const isKept = (next) => KEPT.some((name) => next[name] !== state[name]);
  return {
    get state() {
      return state;
    },
    get canUndo() {
      return past.length > 0;
    },
    get canRedo() {
      return future.length > 0;
    },
    // `apply(transition, …arguments)`: to the next state.
    apply(transition, ...args) {
      this.during(null, transition, ...args);
    },
    // The same within a gesture such as a drag: all its steps are one step for undo.
    during(name, transition, ...args) {
      const next = transition(state, ...args);
      if (next === state) return;
      if (isKept(next)) {
        if (name === null || name !== gesture) past = [...past.slice(-199), state];
        future = [];
        gesture = name;
      }
      settle(next);
    },
    endGesture() {
      gesture = null;
    },
    undo() {
      this.travel(-1);
    },
    redo() {
      this.travel(1);
    },
    travel(direction) {
      const [from, to] = direction < 0 ? [past, future] : [future, past];
      if (!from.length) return;
      const there = from.at(-1);
      const here = state;
      if (direction < 0) {
        past = past.slice(0, -1);
        future = [...to, here];
      } else {
        future = future.slice(0, -1);
        past = [...to, here];
      }
      gesture = null;
      const kept = Object.fromEntries(KEPT.map((name) => [name, there[name]]));
      settle({ ...here, ...kept, lesson: lessonBetween(here.lesson, there.lesson) });
    },
    subscribe(listener) {
      listeners.push(listener);
    },
  };
}

// An open lesson goes with its scene: undoing that closes it, or opens the lesson before.
function lessonBetween(here, there) {
  const at = there?.at ?? null;
  return (here?.at ?? null) === null || here.at === at ? here : { ...here, at };
}

// --- points -------------------------------------------------------------------------------

const edited = (state, data) => ({ ...state, data: { ...state.data, ...data }, preset: null });

export function addPoint(state, point, label = state.cls) {
  if (!state.data.points) return state;
  return edited(state, {
    points: [...state.data.points, point],
    labels: [...state.data.labels, label],
  });
}

export function movePoint(state, index, point) {
  return edited(state, { points: state.data.points.with(index, point) });
}

export function erasePoint(state, index) {
  return edited(state, {
    points: state.data.points.toSpliced(index, 1),
    labels: state.data.labels.toSpliced(index, 1),
  });
}

export function switchClass(state, index, label = null) {
  const { labels, names } = state.data;
  const next = label ?? (labels[index] + 1) % names.length;
  return edited(state, { labels: labels.with(index, next) });
}

export function addClass(state) {
  const { names } = state.data;
  if (!state.data.points || names.length >= MOST_CLASSES) return state;
  const name = "ABCDEFGH".split("").find((letter) => !names.includes(letter));
  return { ...edited(state, { names: [...names, name] }), cls: names.length, tool: "add" };
}

// The last class, if it has no points.
export function dropClass(state) {
  const { names, labels } = state.data;
  const last = names.length - 1;
  if (last < 2 || labels.includes(last)) return state;
  return { ...edited(state, { names: names.slice(0, -1) }), cls: Math.min(state.cls, last - 1) };
}

export function clearPoints(state) {
  const { names, features } = state.data;
  return { ...state, data: { points: [], labels: [], names, features }, preset: null };
}

// Moves every point by a normal deviate of size `amount`.
export function shakePoints(state, amount, random = Math.random) {
  if (!state.data.points) return state;
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const moved = (value) => Number((value + amount * normal()).toPrecision(4));
  return edited(state, { points: state.data.points.map(([x, y]) => [moved(x), moved(y)]) });
}

export function replaceData(state, data, preset = null) {
  const cls = Math.min(state.cls, (data.names?.length ?? 2) - 1);
  return { ...state, data, preset, cls };
}

// --- algorithms ---------------------------------------------------------------------------

export function setLane(state, lane, settings) {
  return { ...state, lanes: state.lanes.with(lane, settings) };
}

export function addLane(state, settings) {
  if (state.lanes.length >= MOST_LANES) return state;
  return { ...state, lanes: [...state.lanes, settings], chosen: state.lanes.length };
}

export function dropLane(state, lane) {
  if (state.lanes.length === 1) return state;
  const lanes = state.lanes.toSpliced(lane, 1);
  const chosen = state.chosen > lane ? state.chosen - 1 : state.chosen;
  return { ...state, lanes, chosen: Math.min(chosen, lanes.length - 1) };
}

// --- what is looked at --------------------------------------------------------------------

export const choose = (state, lane) => ({ ...state, chosen: lane });
export const setTool = (state, tool, cls = state.cls) => ({ ...state, tool, cls });
export const setShow = (state, name, value) => ({
  ...state,
  show: { ...state.show, [name]: value },
});
export const setTab = (state, tab) => ({ ...state, tab });

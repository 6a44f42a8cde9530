// Eight lessons. Each sets a scene, says one thing, and asks for one thing to try; `isDone` tells
// from what the page shows whether it has been done.
//
// lesson = {title, says: [paragraphs], asks, hint, because, scene: {points, labels, lanes, …},
//           isDone(now)}
// now = {state, moments, moment, run, judgement, isAtEnd}, `moment` and `run` those of the chosen lane

import { settingsOf } from "./algorithms.js";
import { lineOf } from "./track.js";

const CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const ON_A_LINE = [[-2, 0], [-1, 0], [0, 0], [1, 0], [2, 0]];
const WIDE = { // the widest band between them is two wide, and three of the points hold it
  points: [[-1, 1.5], [1, 3], [1, -1], [-1.8, 3.1], [-2.4, 0.4], [-3.2, 2.2], [-1.9, -1.2], [-2.9, -2.3],
    [1.9, 0.8], [2.6, 2.3], [3.3, -0.7], [2.2, -2.4]],
  labels: [0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1],
};

const perceptron = (more = {}) => ({ ...settingsOf("perceptron"), ...more });
const isSame = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
const areAt = (points, places) => points?.length === places.length && points.every((p, i) => isSame(p, places[i]));
const circle = (n, r) => Array.from({ length: n }, (_, i) => [Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)]
  .map((value) => Number((r * value).toFixed(2))));

export const LESSONS = [
  {
    title: "A neuron",
    says: ["A neuron takes numbers in, multiplies each by a weight, adds them up with a bias b, and fires if the sum is above zero: w₁x₁ + w₂x₂ + b > 0.",
      "Here its inputs are 0 or 1, and it is to fire (class 1) only when both are 1: it learns AND."],
    asks: "Teach it OR: it should fire when at least one input is 1. Then play to the end.",
    hint: "Choose the tool Switch and click on two of the corners; then press Play.",
    because: "The same neuron, other weights. What it computes is not built in: it is learned from examples.",
    scene: { points: CORNERS, labels: [0, 0, 0, 1], names: ["0", "1"] },
    isDone: ({ state, isAtEnd, run }) => isAtEnd && run.errors === 0 && areAt(state.data.points, CORNERS) && isSame(state.data.labels, [0, 1, 1, 1]),
  },
  {
    title: "Hyperplane and bias",
    says: ["Where the sum is exactly zero lies a line (with more inputs, a hyperplane). The weights w stand at a right angle to it and point to the side that fires.",
      "The bias b moves the line away from the origin. This neuron has none, so its line is tied to the origin, and no such line separates these points."],
    asks: "Untie the line, so that the verdict becomes Yes, and play to the end.",
    hint: "Tick “With a bias b” in the panel Algorithm.",
    because: "The bias is one more weight, of an input that is always 1. With it the line can lie anywhere.",
    scene: { points: [[1, 1.2], [1.6, 0.7], [0.7, 2], [1.7, 1.8], [3.4, 3], [4.1, 3.8], [3, 4.1], [4.4, 2.6]], labels: [0, 0, 0, 0, 1, 1, 1, 1],
      lanes: [perceptron({ fit_intercept: false })] },
    isDone: ({ state, isAtEnd, judgement, run }) => isAtEnd && state.lanes[state.chosen].fit_intercept === true && run.errors === 0 && isSeparable(judgement),
  },
  {
    title: "The update",
    says: ["A sample on the wrong side is a mistake. Then, and only then, the weights change: w ← w + η y x, where y is +1 for one class and −1 for the other. The line turns towards putting that sample right.",
      "Here the line starts the wrong way round. Step with →, and back with ←."],
    asks: "Find an update after which its own sample is still on the wrong side.",
    hint: "Step slowly and look at the ringed sample: it lies on its side of the line, or it does not. The first update will do.",
    because: "An update moves the value of its sample by η(‖x‖² + 1) in the right direction, which need not be far enough. The promise is about all updates together.",
    scene: { points: [[1, 2], [2, 1], [2, 2.5], [3, 1.5], [-1, -1], [-2, 0], [-1, -2.5], [-2.5, -1.5]], labels: [1, 1, 1, 1, 0, 0, 0, 0],
      lanes: [perceptron({ init: [-6, -4, 2] })], tab: "update" },
    isDone: ({ moment, state }) => Boolean(moment?.act) && moment.fraction === 0 && isStillWrong(moment.act, state.data.points),
  },
  {
    title: "Convergence and the bound",
    says: ["If some line separates the points with a margin γ, and none lies farther out than R, the perceptron makes at most (R/γ)² mistakes, in whatever order the points come. Then it is done.",
      "Most runs need far fewer. The meter shows both."],
    asks: "Make a run that needs every mistake it is allowed: as many as the whole part of (R/γ)². Play it to the end.",
    hint: "Few points make small bounds. Erase all but one point of each class, and drag these to opposite sides of the origin.",
    because: "So the bound cannot be improved: there are data that use it up. (R and γ count the bias as an input that is always 1.)",
    scene: { points: [[-3, 1], [3, -1], [-2, -1], [2, 1], [-3.5, -2], [1.4, -2], [-1.2, 2], [2.6, 2.4], [-2.4, 3], [3.6, 0.6]],
      labels: [0, 1, 0, 1, 0, 1, 0, 1, 0, 1], tab: "curves" },
    isDone: ({ isAtEnd, judgement, run }) => isAtEnd && isSeparable(judgement) && usesUpBound(run),
  },
  {
    title: "Data that cannot be separated",
    says: ["Where no line separates the classes, their hulls meet, and the meeting point is the proof. The perceptron then never stops making mistakes.",
      "But its weights cannot run away. With samples in a fixed order they come back to where they were, and from there everything repeats: a cycle."],
    asks: "Switch classes of these five points until the weights come back after exactly 3 epochs, and play to the end.",
    hint: "Switch the last point on the right, go to the end, and see what the meter says. Other choices give periods of 1, 2 and 4.",
    because: "A repeated state proves that this run will never end. It was found by comparing, not by losing patience.",
    scene: { points: ON_A_LINE, labels: [0, 0, 1, 1, 1], show: { hulls: true } },
    isDone: ({ isAtEnd, run }) => isAtEnd && run.courses.some(({ cycle }) => cycle?.period === 3),
  },
  {
    title: "The pocket",
    says: ["Three of these points have the wrong class, so no line gets all of them right, and the perceptron’s line keeps turning. Where it happens to stand at the end is luck.",
      "The pocket algorithm runs the same course, but keeps the best line so far in its pocket: that with the fewest errors."],
    asks: "Find a moment at which the perceptron’s line makes at least 5 errors more than the pocket’s.",
    hint: "Scrub through the second half of the run, and count hollow points, or watch the number below.",
    because: "The pocket never gets worse; the last line does, again and again.",
    scene: {
      points: [[-1.4, -0.4], [3.7, 1.5], [-3.6, 0], [-1.4, 0.3], [-3.5, 0.5], [0.5, 3.5], [0.7, 1.1], [-4.2, 2.4], [-0.7, -1.9], [-1.4, -1.5], [0, -2],
        [1.7, -4.7], [-0.8, 0.5], [-3.3, 2.2], [0.4, 2.2], [-1.8, -0.4], [1.6, 1.9], [-1.6, -1.3], [-1.8, -1.3], [-0.5, -0.3], [4.5, -1.1], [-2.1, -0.8]],
      labels: [0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0],
      lanes: [perceptron({ max_epochs: 30 }), { ...settingsOf("pocket"), max_epochs: 30 }] },
    isDone: ({ moments, state }) => {
      const [last, pocket] = errorsOf(moments, state);
      return last - pocket >= 5;
    },
    counts: ({ moments, state }) => {
      const [last, pocket] = errorsOf(moments, state);
      return Number.isNaN(last) ? "" : `Now the perceptron’s line makes ${last} errors, the pocket’s ${pocket}.`;
    },
  },
  {
    title: "Kernels",
    says: ["No line separates a ring from what is inside it. But the perceptron only ever needs products of samples, and a kernel K(x, z) is such a product in a larger space, where a plane may do it.",
      "Each mistake then adds one term, y K(x, ·), and the boundary may curve."],
    asks: "Choose a method that gets all points right, and play it to the end.",
    hint: "In the panel Algorithm choose Kernel perceptron.",
    because: "The kernel perceptron is the same algorithm. Only x·z has become K(x, z).",
    scene: { points: [...circle(8, 1), ...circle(14, 2.6)], labels: [...Array(8).fill(0), ...Array(14).fill(1)], lanes: [perceptron({ max_epochs: 30 })] },
    isDone: ({ isAtEnd, run, state }) => isAtEnd && Boolean(run.kernel) && run.errors === 0 && state.data.labels?.length >= 12,
  },
  {
    title: "Margins",
    says: ["Of all the lines that separate, one stays farthest from both classes: the maximum margin. The perceptron stops at any line; this one is proved to be the best.",
      "It is held by a few points on the edge of the band, the support vectors. All the others could as well not be there."],
    asks: "Erase points, without the band getting any wider, until only three are left.",
    hint: "Choose the tool Erase, and leave the ringed points on the edges of the band.",
    because: "The answer depends on the support vectors alone. That is why it can be found by looking at few points at a time.",
    scene: { ...WIDE, lanes: [settingsOf("max-margin")] },
    isDone: ({ state, judgement }) => state.data.points?.length === 3 && isSeparable(judgement) && Math.abs(judgement.verdicts[0].widest_margin - 1) < 1e-6
      && state.data.points.every((p) => WIDE.points.some((q) => isSame(p, q))),
  },
];

const isSeparable = (judgement) => judgement?.verdicts.length === 1 && judgement.verdicts[0].verdict === "separable";

// Whether the sample of an update is still a mistake after it.
function isStillWrong({ sample, sign, after }, points) {
  const x = points?.[sample];
  return Boolean(x && after) && sign * (after.w[0] * x[0] + after.w[1] * x[1] + after.b) <= 0;
}

function usesUpBound({ courses }) {
  const most = courses[0].bound?.most;
  return courses.length === 1 && Number.isFinite(most) && courses[0].mistakes_in_all === Math.floor(most);
}

// The errors that each lane would make if it stopped now; NaN where there is no line yet.
function errorsOf(moments, { data }) {
  return moments.map((moment) => {
    if (!moment || moment.tick === 0 || !moment.parts[0].w || !data.points) return NaN;
    const { w, b } = lineOf(moment.parts[0]);
    const { positive } = moment.parts[0].course;
    return data.points.filter(([x, y], i) => (w[0] * x + w[1] * y + b > 0) !== (data.labels[i] === positive)).length;
  });
}

// The state with the scene of a lesson.
export function openLesson(state, at) {
  const { points, labels, names = ["A", "B"], lanes = [perceptron()], tab = "update", show = {} } = LESSONS[at].scene;
  return {
    ...state, preset: null, lanes, chosen: 0, tool: "add", cls: 0, tab,
    data: { points, labels, names, features: ["x₁", "x₂"] },
    show: { ...state.show, hulls: null, widest: false, ...show },
    lesson: { at, done: doneOf(state) },
  };
}

export const closeLesson = (state) => ({ ...state, lesson: { at: null, done: doneOf(state) } });
export const noteDone = (state) => ({ ...state, lesson: { ...state.lesson, done: [...doneOf(state), state.lesson.at] } });

// A link may hold anything.
export const lessonOf = ({ lesson }) => (Number.isInteger(lesson?.at) ? LESSONS[lesson.at] ?? null : null);
export const doneOf = ({ lesson }) => (Array.isArray(lesson?.done) ? lesson.done.filter((at) => LESSONS[at]) : []);

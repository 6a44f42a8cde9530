// The algorithms and their settings as the page offers them: a table, in the words and with the
// defaults of the estimators. `first` are seen at once, the `others` behind "More".

const ORDERS = [
  ["cyclic", "in turn"],
  ["shuffled", "shuffled"],
  ["sampled", "at random"],
  ["random-mistake", "random mistake"],
  ["worst-mistake", "worst mistake"],
];
const KERNELS = [
  ["rbf", "RBF  exp(−γ‖x−z‖²)"],
  ["gaussian", "Gaussian with σ"],
  ["poly", "polynomial  (γ x·z + c)ᵈ"],
  ["linear", "linear  x·z"],
  ["sigmoid", "sigmoid  tanh(γ x·z + c)"],
];

const is =
  (name, ...values) =>
  (settings) =>
    values.includes(settings[name]);

// Fields: {name, label, type, of, when}. Types: choice, number, integer, check, start.
const update = {
  name: "update",
  label: "Updates",
  type: "choice",
  value: "online",
  of: [
    ["online", "each mistake"],
    ["batch", "each epoch"],
    ["minibatch", "mini-batches"],
  ],
};
const batchSize = {
  name: "batch_size",
  label: "Batch size",
  type: "integer",
  value: 8,
  least: 1,
  most: 2000,
  when: is("update", "minibatch"),
};
const order = { name: "order", label: "Order", type: "choice", value: "cyclic", of: ORDERS };
const shortOrder = { ...order, of: ORDERS.slice(0, 3) };
const eta = {
  name: "eta0",
  label: "Learning rate η",
  type: "number",
  value: 1,
  least: 1e-6,
  most: 1e6,
  step: "any",
};
const autoEta = { ...eta, value: "auto", blank: "auto" };
const bias = { name: "fit_intercept", label: "With a bias b", type: "check", value: true };
const start = { name: "init", label: "Start vector", type: "start", value: "zeros" };
const epochs = {
  name: "max_epochs",
  label: "At most (epochs)",
  type: "integer",
  value: 100,
  least: 1,
  most: 100000,
};
const fewEpochs = { ...epochs, value: 30 };
const tol = {
  name: "tol",
  label: "Stop below a change of",
  type: "number",
  value: null,
  blank: "never",
  least: 1e-12,
  most: 1e6,
  step: "any",
};
const seed = {
  name: "random_state",
  label: "Seed",
  type: "integer",
  value: 0,
  least: 0,
  most: 4294967295,
};
const balanced = {
  name: "class_weight",
  label: "Weigh classes evenly",
  type: "check",
  value: null,
  on: "balanced",
  off: null,
};
const classes = {
  name: "multiclass",
  label: "More than two classes",
  type: "choice",
  value: "ovr",
  wide: true,
  of: [
    ["ovr", "each against the rest"],
    ["joint", "as one problem"],
  ],
};
const kernel = {
  name: "kernel",
  label: "Kernel",
  type: "choice",
  value: "rbf",
  of: KERNELS,
  wide: true,
};
const degree = {
  name: "degree",
  label: "Degree d",
  type: "integer",
  value: 3,
  least: 1,
  most: 20,
  when: is("kernel", "poly"),
};
const gamma = {
  name: "gamma",
  label: "γ",
  type: "number",
  value: "scale",
  blank: "scale",
  least: 1e-6,
  most: 1e6,
  step: "any",
  when: is("kernel", "rbf", "poly", "sigmoid"),
};
const sigma = {
  name: "sigma",
  label: "σ",
  type: "number",
  value: 1,
  least: 1e-6,
  most: 1e6,
  step: "any",
  when: is("kernel", "gaussian"),
};
const coef0 = {
  name: "coef0",
  label: "c",
  type: "number",
  value: 1,
  least: -1e6,
  most: 1e6,
  step: "any",
  when: is("kernel", "poly", "sigmoid"),
};

const linear = {
  first: [update, order, batchSize, bias],
  others: [eta, start, epochs, tol, classes, seed, balanced],
};
const curved = [kernel, degree, gamma, sigma, coef0];

export const ALGORITHMS = {
  perceptron: {
    name: "Perceptron",
    tells: "At each mistake the line turns towards the sample: w ← w + η y x.",
    ...linear,
  },
  pocket: {
    name: "Pocket",
    tells: "The perceptron, keeping the vector that made the fewest errors.",
    ...linear,
  },
  average: {
    name: "Average",
    tells: "The mean of all the perceptron’s vectors, counted visit by visit.",
    ...linear,
  },
  vote: {
    name: "Vote",
    tells: "All vectors of a run vote, each as often as it survived a visit.",
    first: [{ ...kernel, value: "linear" }, ...curved.slice(1), { ...bias, value: true }],
    others: [order, fewEpochs, tol, seed, balanced],
  },
  adaline: {
    name: "Delta rule",
    tells: "Every sample pulls by how far its value is from ±1, right or wrong.",
    first: [update, shortOrder, batchSize, autoEta, bias],
    others: [start, epochs, { ...tol, value: 1e-6 }, seed, balanced],
  },
  kernel: {
    name: "Kernel perceptron",
    tells: "Each mistake adds the kernel around its sample: the boundary may curve.",
    first: [
      ...curved,
      {
        name: "keep",
        label: "Keep",
        type: "choice",
        value: "last",
        wide: true,
        of: [
          ["last", "the last"],
          ["pocket", "the pocket"],
          ["average", "the average"],
          ["auto", "the last if it separates, else the average"],
        ],
      },
      {
        name: "drop_after",
        label: "Drop after mistakes",
        type: "integer",
        value: null,
        blank: "never",
        least: 2,
        most: 1000000,
      },
    ],
    others: [
      { ...bias, value: false, label: "With a bias" },
      order,
      fewEpochs,
      {
        name: "budget",
        label: "Most support vectors",
        type: "integer",
        value: null,
        blank: "any",
        least: 1,
        most: 1000000,
      },
      tol,
      seed,
      balanced,
    ],
  },
  "max-margin": {
    name: "Maximum margin",
    tells: "The line farthest from both classes, proved to be the best.",
    first: [],
    others: [
      {
        name: "tol",
        label: "Relative gap",
        type: "number",
        value: 1e-8,
        least: 1e-14,
        most: 1,
        step: "any",
      },
    ],
  },
  "soft-margin": {
    name: "Soft margin",
    tells: "The widest band that pays C/N for each unit of slack inside it.",
    first: [
      { name: "C", label: "C, the price of slack", type: "power", value: 1, least: -3, most: 6 },
    ],
    others: [
      {
        name: "tol",
        label: "Relative gap",
        type: "number",
        value: 1e-6,
        least: 1e-14,
        most: 1,
        step: "any",
      },
      balanced,
    ],
  },
};

const fieldsOf = (algorithm) => [...ALGORITHMS[algorithm].first, ...ALGORITHMS[algorithm].others];

const OWN = ["tol", "eta0", "keep", "C"]; // mean other things elsewhere

// The settings of an algorithm: its defaults, and what it shares with `before`.
export function settingsOf(algorithm, before = {}) {
  const settings = { algorithm };
  for (const { name, value, of, type } of fieldsOf(algorithm)) {
    const shared = before[name];
    const fits =
      shared !== undefined &&
      type !== "power" &&
      (!of || of.some(([choice]) => choice === shared)) &&
      !(name === "fit_intercept" && before.algorithm === "kernel") &&
      !OWN.includes(name);
    settings[name] = fits ? shared : value;
  }
  return settings;
}

// What is sent: without what has no meaning for these settings.
export function asked(settings) {
  const sent = { algorithm: settings.algorithm };
  for (const { name, when } of fieldsOf(settings.algorithm)) {
    if (settings[name] !== undefined && (!when || when(settings))) sent[name] = settings[name];
  }
  return sent;
}

// A few words that tell lanes apart.
export function nameOf(settings) {
  const { name } = ALGORITHMS[settings.algorithm];
  const words = [];
  if (settings.kernel && settings.kernel !== "linear") words.push(settings.kernel);
  if (settings.update && settings.update !== "online")
    words.push(settings.update === "batch" ? "batch" : "mini-batch");
  if (settings.C !== undefined) words.push(`C = ${Number(settings.C.toPrecision(2))}`);
  return words.length ? `${name}, ${words.join(", ")}` : name;
}

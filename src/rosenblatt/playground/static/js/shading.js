// The surface of a kernel perceptron, f(x) = Σ c_i K(x_i, x), on a grid over the picture.
// One more update changes one coefficient, so the grid is kept and only what changed is added;
// a jump is computed anew, a slice of it per frame, so that no frame waits for it.
//
// A surface's `at(view, samples, kernel, name of the kernel, …)` gives {values, columns, rows,
// done}; while `done` is false, ask again in the next frame.

const COLUMNS = 72;
const SLICE = 3; // milliseconds per frame

// {kind, gamma, coef0, degree, bias} -> K(squared distance, product)
export function kernelOf({ kind, gamma, coef0, degree, bias }) {
  if (kind === "linear") return (distance, product) => product + bias;
  if (kind === "poly") return (distance, product) => (gamma * product + coef0) ** degree + bias;
  if (kind === "sigmoid") return (distance, product) => Math.tanh(gamma * product + coef0) + bias;
  return (distance) => Math.exp(-gamma * distance) + bias;
}

function gridOf(view) {
  const rows = Math.max(2, Math.round((COLUMNS * view.height) / view.width));
  return { columns: COLUMNS, rows, values: new Float64Array(COLUMNS * rows) };
}

function addTo({ values, columns, rows }, view, [sx, sy], kernel, factor) {
  for (let r = 0, i = 0; r < rows; r += 1) {
    const y = view.y1 - ((view.y1 - view.y0) * r) / (rows - 1);
    for (let c = 0; c < columns; c += 1, i += 1) {
      const x = view.x0 + ((view.x1 - view.x0) * c) / (columns - 1);
      values[i] += factor * kernel((x - sx) ** 2 + (y - sy) ** 2, x * sx + y * sy);
    }
  }
}

const placeOf = (view, name) =>
  [view.x0, view.x1, view.y0, view.y1, view.width, view.height, name].join();

export function createSurface() {
  let grid = null;
  let place = "";
  let samples = null;
  let held = []; // the coefficients that are in the grid
  return {
    at(view, points, kernel, name, coefficients) {
      const here = placeOf(view, name);
      const isNew = samples !== points || place !== here;
      if (isNew || differing(held, coefficients) > nonzero(coefficients)) {
        grid = gridOf(view);
        held = new Float64Array(coefficients.length);
        [place, samples] = [here, points];
      }
      const until = performance.now() + SLICE;
      let i = 0;
      for (; i < coefficients.length && performance.now() < until; i += 1) {
        if (held[i] === coefficients[i]) continue;
        addTo(grid, view, points[i], kernel, coefficients[i] - held[i]);
        held[i] = coefficients[i];
      }
      return { ...grid, done: i === coefficients.length };
    },
  };
}

const nonzero = (list) => list.reduce((n, value) => n + (value !== 0), 0);
const differing = (a, b) => b.reduce((n, value, i) => n + (value !== a[i]), 0);

// The vote: each vector of a course says +1 or -1 everywhere, and counts as often as it was visited.
export function votedSurface() {
  let [last, votes] = [null, null]; // the last vector's values, the sum of the votes before it
  let [place, samples, told, done] = ["", null, null, 0];
  const restart = (view) => {
    last = gridOf(view);
    votes = gridOf(view);
    done = 0;
  };
  const vote = (into, life) => {
    for (let i = 0; i < into.length; i += 1) into[i] += last.values[i] > 0 ? life : -life;
  };
  return {
    at(view, points, kernel, name, course, entry) {
      const here = placeOf(view, name);
      if (samples !== points || place !== here || told !== course || entry < done) {
        restart(view);
        [place, samples, told] = [here, points, course];
      }
      const until = performance.now() + SLICE;
      while (done < entry && performance.now() < until) {
        vote(votes.values, course.visit[done + 1] - course.visit[done]);
        done += 1;
        addTo(last, view, points[course.sample[done]], kernel, course.step[done]);
      }
      const values = votes.values.slice();
      vote(values, 1);
      return { ...votes, values, done: done === entry };
    },
  };
}

// Paints surfaces into a small canvas that is drawn enlarged: one surface, sign and size; several,
// the class of the largest.
export function paintSurface(canvas, surfaces, classColours) {
  const { columns, rows } = surfaces[0];
  if (canvas.width !== columns || canvas.height !== rows)
    Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const rgb = classColours.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  const scale = surfaces.length === 1 ? spread(surfaces[0]) : 1;
  for (let i = 0; i < columns * rows; i += 1) {
    const [k, strength] =
      surfaces.length === 1 ? signed(surfaces[0].values[i] / scale) : [largest(surfaces, i), 0.24];
    const [r, g, b] = rgb[k];
    image.data[4 * i] = r;
    image.data[4 * i + 1] = g;
    image.data[4 * i + 2] = b;
    image.data[4 * i + 3] = Math.round(255 * strength);
  }
  context.putImageData(image, 0, 0);
}

const signed = (value) => [
  value > 0 ? 1 : 0,
  value === 0 ? 0 : 0.08 + 0.36 * Math.min(1, Math.abs(value)),
];

function largest(surfaces, i) {
  let k = 0;
  for (let j = 1; j < surfaces.length; j += 1)
    if (surfaces[j].values[i] > surfaces[k].values[i]) k = j;
  return k;
}

// The largest size of a surface, to shade and to space the contours by.
export function spread({ values }) {
  let most = 0;
  for (let i = 0; i < values.length; i += 1) most = Math.max(most, Math.abs(values[i]));
  return most || 1;
}

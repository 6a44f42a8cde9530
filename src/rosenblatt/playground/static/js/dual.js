// Kernel perceptrons at time t: the coefficients of the samples after an entry, as sums of the
// updates up to it. Takes a course and an entry; `n` samples in all.

// Visits each update up to `entry`; of a thinned course, its sums between entries.
function eachStep(course, entry, visit) {
  const { batch } = course;
  for (let e = batch ? 0 : 1; e <= entry; e += 1) {
    if (!batch) visit(course.sample[e], course.step[e], e);
    else
      for (let i = batch.offset[e]; i < batch.offset[e + 1]; i += 1)
        visit(batch.sample[i], batch.step[i], e);
  }
}

function coefficientsAt(course, entry, n) {
  const c = new Float64Array(n);
  eachStep(course, entry, (sample, step, e) => {
    c[sample] += step;
    if (course.removed && course.removed[e] >= 0) c[course.removed[e]] = 0;
  });
  for (const { sample, number } of course.dropped)
    if (number <= course.number[entry]) c[sample] = 0;
  return c;
}

// The mean over all visits so far: each update counts from its visit on.
function averageAt(course, entry, n) {
  const c = new Float64Array(n);
  const visits = Math.max(course.visit[entry], 1);
  eachStep(course, entry, (sample, step, e) => {
    c[sample] += (step * (visits - course.visit[e] + 1)) / visits;
  });
  return c;
}

// The coefficients of what stopping after `entry` would return; after the last, what was returned.
export function shownCoefficients(course, entry, n) {
  const keep = course.shown?.keep;
  const isLast = entry === course.number.length - 1 && course.number[entry] === course.total;
  if (isLast && course.coef) return course.coef; // with the visits after the last update
  if (keep === "average") return averageAt(course, entry, n);
  if (keep === "pocket") {
    const best = course.shown.number[entry];
    const at = course.number.findLastIndex((number) => number <= best);
    return coefficientsAt(course, Math.max(at, 0), n);
  }
  return coefficientsAt(course, entry, n);
}

// How often each sample was a mistake up to `entry`.
export function mistakeCounts(course, entry, n) {
  const counts = new Int32Array(n);
  for (let e = 1; e <= entry; e += 1) if (course.sample[e] >= 0) counts[course.sample[e]] += 1;
  return counts;
}

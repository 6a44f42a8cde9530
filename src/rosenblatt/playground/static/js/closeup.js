// A run of very many updates is told thinned. Where time stands still, all updates around it are
// asked for and put between those that were told: `spliced(run, part)` -> run.

export function wantsCloseUp(track, t) {
  const { run, times } = track;
  if (!run.thinned || run.courses.length > 1 || !run.courses[0].w) return false;
  const after = times.findIndex((time) => time > t);
  const at = after < 0 ? times.length - 1 : after - 1;
  return (
    times[at] !== t || (after >= 0 && times[after] !== t + 1) || (at > 0 && times[at - 1] !== t - 1)
  );
}

const COLUMNS = [
  "number",
  "visit",
  "epoch",
  "sample",
  "sign",
  "step",
  "value",
  "mistakes",
  "w",
  "b",
  "removed",
];

export function spliced(run, part) {
  const [course] = run.courses;
  const [inner] = part.courses;
  const [low, high] = [inner.number[0], inner.number.at(-1)];
  const before = course.number.findLastIndex((number) => number < low) + 1;
  const found = course.number.findIndex((number) => number > high);
  const after = found < 0 ? course.number.length : found;
  const joined = (outer, middle) =>
    outer && middle ? [...outer.slice(0, before), ...middle, ...outer.slice(after)] : outer;
  const all = (outer, middle, names) =>
    outer && middle
      ? {
          ...outer,
          ...Object.fromEntries(names.map((name) => [name, joined(outer[name], middle[name])])),
        }
      : outer;
  const whole = {
    ...all(course, inner, COLUMNS),
    shown: all(course.shown, inner.shown, ["w", "b", "number"]),
    lemmas: all(course.lemmas, inner.lemmas, [
      "progress",
      "progress_least",
      "length",
      "length_most",
    ]),
    batch:
      course.batch && inner.batch
        ? joinedBatches(course.batch, inner.batch, before, after)
        : course.batch,
  };
  return { ...run, courses: [whole] };
}

// Batches are ragged: the samples of an entry lie between two offsets.
function joinedBatches(outer, inner, before, after) {
  const pieces = [
    [outer, 0, before],
    [inner, 0, inner.offset.length - 1],
    [outer, after, outer.offset.length - 1],
  ];
  const out = { offset: [0], sample: [], step: [] };
  for (const [{ offset, sample, step }, from, to] of pieces) {
    for (let e = from; e < to; e += 1) {
      out.sample.push(...sample.slice(offset[e], offset[e + 1]));
      out.step.push(...step.slice(offset[e], offset[e + 1]));
      out.offset.push(out.sample.length);
    }
  }
  return out;
}

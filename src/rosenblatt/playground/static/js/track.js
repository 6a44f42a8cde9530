// A run on the page's clock. What is shown at time t is a pure function of (track, t).
//
// A run has a course for each two-class problem; the courses' entries are merged by `visit` into
// ticks, one for every moment at which some course changes. With one course a tick's time is the
// number of its update, so that a thinned run keeps its true numbers.

export function makeTrack(run, settings, data) {
  const { courses } = run;
  const single = courses.length === 1 || run.joint;
  const visits = single ? courses[0].visit : merged(courses.map((course) => course.visit));
  const times = single ? courses[0].number : visits.map((_, i) => i);
  const entries = courses.map((course) => (single ? null : followed(course.visit, visits)));
  return { run, settings, data, times, visits, entries, end: times.at(-1) ?? 0 };
}

function merged(columns) {
  return [...new Set(columns.flat())].sort((a, b) => a - b);
}

// For each of `visits` the last entry of a course that was made by then.
function followed(course, visits) {
  let e = 0;
  return visits.map((visit) => {
    while (e + 1 < course.length && course[e + 1] <= visit) e += 1;
    return e;
  });
}

// The last index whose time is at most t.
function tickAt({ times }, t) {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function nextTime(tracks, t) {
  const later = tracks
    .filter((track) => track.end > t)
    .map((track) => track.times[tickAt(track, t) + 1]);
  return later.length ? Math.min(...later) : t;
}

export function previousTime(tracks, t) {
  return tracks.reduce((best, track) => {
    const i = tickAt(track, t);
    const before = track.times[i] < t ? track.times[i] : track.times[Math.max(i - 1, 0)];
    return Math.max(best, before);
  }, 0);
}

export const endOf = (tracks) => Math.max(0, ...tracks.map((track) => track.end));

// What a track shows at t:
//   tick, time, epoch, mistakes, ended
//   parts: for each course {course, entry, w, b} (null in dual form), as far as it has come
//   act:   the update to draw {course, entry, progress 0…1, before, after} or null at the start.
export function momentAt(track, t) {
  const whole = Math.floor(t);
  const tick = tickAt(track, whole);
  const isNext = tick + 1 < track.times.length && track.times[tick + 1] === whole + 1;
  const fraction = isNext ? t - whole : 0;
  const acting = fraction > 0 ? tick + 1 : tick;
  const moved = eased((fraction - 0.45) / 0.55);
  const parts = track.run.courses.map((course, c) => {
    const entry = entryOf(track, c, tick);
    const to = fraction > 0 ? entryOf(track, c, acting) : entry;
    return {
      course,
      entry,
      ...between(course, entry, to, moved),
      shown: shownAt(course, entry, to, moved),
    };
  });
  const sum = (column) =>
    parts.reduce((total, { course, entry }) => total + course[column][entry], 0);
  const epochs = parts.map(({ course, entry }) => course.epoch[entry] ?? 0);
  return {
    track,
    tick,
    time: track.times[tick],
    fraction,
    epoch: Math.max(...epochs),
    mistakes: track.run.joint ? parts[0].course.mistakes[parts[0].entry] : sum("mistakes"),
    ended: tick === track.times.length - 1,
    parts,
    act: acting > 0 ? actAt(track, acting, fraction > 0 ? fraction : 1) : null,
  };
}

const entryOf = (track, c, tick) => (track.entries[c] ? track.entries[c][tick] : tick);
const eased = (s) => {
  const c = Math.min(Math.max(s, 0), 1);
  return c * c * (3 - 2 * c);
};

function between(course, from, to, s) {
  if (!course.w) return { w: null, b: null };
  return mixed(course.w[from], course.b[from], course.w[to], course.b[to], from === to ? 0 : s);
}

function mixed(w0, b0, w1, b1, s) {
  if (s === 0) return { w: w0, b: b0 };
  return { w: w0.map((value, i) => value + s * (w1[i] - value)), b: b0 + s * (b1 - b0) };
}

// The vector that stopping here would return, where it is another one than the last.
function shownAt({ shown }, from, to, s) {
  if (!shown?.w) return null;
  return mixed(shown.w[from], shown.b[from], shown.w[to], shown.b[to], from === to ? 0 : s);
}

function actAt(track, tick, progress) {
  const { courses } = track.run;
  const changed = courses.findIndex((course, c) => {
    const entry = entryOf(track, c, tick);
    return entry > 0 && entryOf(track, c, tick - 1) < entry && course.sign[entry] !== 0;
  });
  const c = Math.max(changed, 0);
  const course = courses[c];
  const entry = entryOf(track, c, tick);
  const gap = course.number[entry] - course.number[entry - 1] > 1;
  const state = (e) => (course.w ? { w: course.w[e], b: course.b[e] } : null);
  return {
    course,
    index: c,
    entry,
    progress,
    skipped: gap,
    before: gap ? null : state(entry - 1),
    after: state(entry),
    sample: course.sample[entry],
    sign: course.sign[entry],
    step: course.step[entry],
    value: course.value[entry],
    samples: samplesOf(course, entry),
  };
}

function samplesOf(course, entry) {
  if (!course.batch) return course.sample[entry] >= 0 ? [course.sample[entry]] : [];
  return course.batch.sample.slice(course.batch.offset[entry], course.batch.offset[entry + 1]);
}

// Where "what would be returned" is wanted, that; otherwise the last vector.
export const lineOf = (part) => part.shown ?? part;

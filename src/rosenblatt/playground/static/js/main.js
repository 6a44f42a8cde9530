// The page: one store, one player, the answers of the server, and the views that draw them.
//
// Rules that let the same modules run inlined in a recording: named exports where they are
// declared, imports at the top, no cycles, no dynamic import.

import { ask, channel, recording } from "./api.js";
import { asked, settingsOf } from "./algorithms.js";
import { byId, hide, say, toast } from "./dom.js";
import { createAlgorithmPanel } from "./algorithm.js";
import { createControls } from "./controls.js";
import { createCurves } from "./curves.js";
import { createDataTools } from "./data_tools.js";
import { createFormula } from "./formula.js";
import { createHand } from "./plane_hand.js";
import { createHeld } from "./held.js";
import { createKeep } from "./keep.js";
import { createKeys } from "./keys.js";
import { createLegend } from "./legend.js";
import { createLessonView } from "./lesson_view.js";
import { createMeter } from "./meter.js";
import { createPlane } from "./plane.js";
import { createPlayer } from "./player.js";
import { createStore, replaceData } from "./state.js";
import { createTabs } from "./tabs.js";
import { createVerdict } from "./verdict.js";
import { createWeightSpace } from "./weight_space.js";
import { spliced, wantsCloseUp } from "./closeup.js";
import { endOf, makeTrack, momentAt, nextTime, previousTime } from "./track.js";
import { FIRST } from "./first.js";
import { asSentence } from "./numbers.js";
import { isDark } from "./marks.js";
import { pictureOf } from "./picture.js";
import { readLink, writeLink } from "./link.js";

async function boot() {
  const recorded = recording();
  const link = recorded ? null : await readLink(location.hash, initialState());
  const held = recorded?.held ?? await heldTable(link);
  const opened = held && !link ? { ...initialState(), data: { table: held.table, columns: held.columns, names: held.names }, preset: null } : null;
  const { t = 0, ...kept } = recorded?.page ?? {};
  const app = createApp(recorded ? { ...initialState(), ...kept } : link?.state ?? opened ?? initialState(), held, recorded);
  if (location.hash && !link && !recorded) toast("This link is not one of the playground’s, or is cut off: here is the start.");
  app.startAt = link?.t ?? t;
  createViews(app);
  app.refresh();
}

function initialState() {
  return {
    ...FIRST, lanes: [settingsOf("perceptron")], chosen: 0, tool: "add", cls: 0, tab: "update", lesson: null,
    show: { ground: true, vectors: true, errors: true, hulls: null, band: true, widest: false, counts: true },
  };
}

// The table of FILE, if the server holds one.
async function heldTable(link) {
  const named = link?.state.data.table ?? document.querySelector("meta[name=held]")?.content;
  if (!named) return null;
  try { return await ask(`held/${named}`); } catch (error) { toast(error.message); return null; }
}

function createApp(state, held, recorded) {
  const store = createStore(state);
  const tables = new Map(held ? [[held.table, held]] : []);
  let last = held;
  const app = {
    store, isRecorded: Boolean(recorded), editing: false, hasPlayed: false, startAt: 0,
    tracks: state.lanes.map(() => null), judgement: null, whyNoVerdict: "", refusals: [], redraws: [], views: [],
    end: () => endOf(app.tracks.filter(Boolean)),
    picture: () => memo(pictureOf, store.state, chosenRun(app)?.run, app.held),
    moments: () => app.tracks.map((track) => (track ? momentAt(track, Math.min(app.player.t, track.end)) : null)),
    get held() { return tables.get(store.state.data.table) ?? last; }, // undo may lead to another table
    hold(table) {
      tables.set(table.table, table);
      last = table;
      app.plane.forget();
      store.apply(replaceData, { table: table.table, columns: table.columns, names: table.names });
    },
    requestData: () => requestData(store.state.data),
    travel(direction) { store.travel(direction); app.plane.look(); },
    settled() { app.plane.look(); },
    code: (settings) => (recorded ? Promise.resolve(recorded.code[store.state.lanes.indexOf(settings)])
      : ask("code", { data: app.requestData(), settings: asked(settings) })),
  };
  const live = () => app.tracks.filter(Boolean);
  app.player = createPlayer({
    end: app.end, next: (t) => nextTime(live(), t), previous: (t) => previousTime(live(), t),
    onChange: () => { if (app.player.playing || app.player.t > 0) app.hasPlayed = true; app.invalidate(); app.rememberSoon(); app.lookCloserSoon(); },
  });
  frames(app);
  asking(app, recorded);
  closeUps(app);
  remembering(app);
  return app;
}

const chosenRun = (app) => app.tracks[app.store.state.chosen] ?? app.tracks.find(Boolean);

// The last picture is kept, so that views can tell by `===` whether it changed.
let [memoKey, memoValue] = [[], null];
function memo(make, state, run, held) {
  const key = [state.data, state.data.points ? null : run, held];
  if (!memoValue || key.some((value, i) => value !== memoKey[i])) [memoKey, memoValue] = [key, make(state, run, held)];
  return memoValue;
}

function requestData(data) {
  if (!data.points) return { table: data.table, columns: data.columns };
  return { points: data.points, labels: data.labels, names: data.names };
}

// --- frames: whatever asks for one, there is at most one drawing per frame --------------------

function frames(app) {
  let wanted = false;
  let changed = false;
  app.invalidate = (all = false) => {
    changed ||= all;
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(() => {
      wanted = false;
      if (changed) { changed = false; app.views.forEach((view) => view.changed?.()); }
      const moments = app.moments();
      app.views.forEach((view) => view.frame?.(moments));
    });
  };
}

// --- questions: a change of data or settings asks anew -----------------------------------------

function asking(app, recorded) {
  const { store } = app;
  const channels = [];
  const take = (lane, run, from) => {
    const { state } = store;
    if (lane >= state.lanes.length) return;
    const isAtEnd = app.player.t > 0 && app.player.t >= app.end() && !app.player.playing;
    app.tracks = app.tracks.with(lane, makeTrack(run, from.settings, from.data));
    app.refusals[lane] = "";
    app.player.suit(app.end());
    if (app.startAt) { const t = app.startAt; app.startAt = 0; app.hasPlayed = true; app.player.goTo(t); }
    else if (isAtEnd || app.player.t > app.end()) app.player.goTo(app.end()); // who is at the end stays there
    app.plane.looked ??= (app.plane.look(), true);
    app.invalidate(true);
  };
  const laneChannel = (lane) => {
    channels[lane] ??= channel("run", {
      onAnswer: (run, from) => take(lane, run, from),
      onRefusal: (why) => {
        app.tracks = app.tracks.with(lane, null);
        app.refusals[lane] = why;
        app.invalidate(true);
      },
    });
    return channels[lane];
  };
  const judge = channel("judge", {
    onAnswer: (judgement, data) => { app.judgement = judgement; app.judged = data; app.invalidate(true); },
    onRefusal: (why) => { app.judgement = null; app.whyNoVerdict = why; app.invalidate(true); },
  });
  const askRun = (lane) => laneChannel(lane).ask({ data: app.requestData(), settings: asked(store.state.lanes[lane]) }, { settings: store.state.lanes[lane], data: store.state.data });
  const askJudge = () => judge.ask({ data: app.requestData(), bias: hasBias(store.state) }, store.state.data);
  const isReady = () => {
    const { data } = store.state;
    if (!data.points) return true;
    return new Set(data.labels).size > 1;
  };
  const askAll = () => {
    if (isReady()) { store.state.lanes.forEach((_, lane) => askRun(lane)); askJudge(); return; }
    channels.forEach((one) => one.cancel());
    judge.cancel();
    app.tracks = store.state.lanes.map(() => null);
    app.refusals = [];
    app.judgement = null;
    app.whyNoVerdict = "Add points of two classes.";
    app.invalidate(true);
  };
  app.refresh = recorded ? () => {
    recorded.runs.forEach((run, lane) => take(lane, run, { settings: store.state.lanes[lane], data: store.state.data }));
    app.judgement = recorded.judgement;
    app.invalidate(true);
  } : askAll;
  if (recorded) return;
  store.subscribe((state, before) => {
    if (state.lanes.length !== before.lanes.length) { app.tracks = matched(state, before, app.tracks); app.refusals = []; }
    if (state.data !== before.data) askAll();
    else {
      if (isReady()) state.lanes.forEach((lane, i) => { if (lane !== before.lanes[i]) askRun(i); });
      if (isReady() && hasBias(state) !== hasBias(before)) askJudge();
    }
    if (state.data !== before.data && state.preset !== before.preset && state.preset) app.player.goTo(0);
    app.invalidate(true);
    app.rememberSoon();
  });
}

// Where time stands still in a thinned run, all updates around it are fetched.
function closeUps(app) {
  let timer = 0;
  const close = channel("run", {
    onAnswer: (part, { track, lane }) => {
      if (app.tracks[lane] !== track) return;
      const base = track.base ?? track.run;
      const whole = { ...makeTrack(spliced(base, part), track.settings, track.data), base };
      app.tracks = app.tracks.with(lane, whole);
      app.invalidate(true);
    },
    onRefusal: () => {},
  });
  const look = () => {
    const { state } = app.store;
    const lane = state.chosen;
    const track = app.tracks[lane];
    if (app.player.playing || !track || track.settings !== state.lanes[lane] || track.data !== state.data) return;
    const t = Math.floor(app.player.t);
    if (wantsCloseUp(track, t)) close.ask({ data: app.requestData(), settings: asked(state.lanes[lane]), around: t }, { track, lane });
  };
  app.lookCloserSoon = () => {
    clearTimeout(timer);
    if (!app.isRecorded && app.tracks.some((track) => track?.run.thinned)) timer = setTimeout(look, 200);
  };
}

// Whether the lines in question have a bias. Of a kernel, too, the question is about lines in the plane.
function hasBias({ lanes, chosen }) {
  const { kernel, fit_intercept: bias = true } = lanes[chosen];
  return bias || Boolean(kernel);
}

// The tracks of lanes that stayed.
function matched(state, before, tracks) {
  return state.lanes.map((lane) => {
    const at = before.lanes.indexOf(lane);
    return at >= 0 ? tracks[at] : null;
  });
}

// --- the link: the address follows, once things are quiet ----------------------------------------

function remembering(app) {
  let timer = 0;
  app.rememberSoon = () => {
    if (app.isRecorded) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (app.player.playing || app.editing) { app.rememberSoon(); return; }
      history.replaceState(null, "", await writeLink(app.store.state, Math.floor(app.player.t)));
    }, 400);
  };
}

// --- views ----------------------------------------------------------------------------------------

function createViews(app) {
  document.documentElement.toggleAttribute("data-recorded", app.isRecorded);
  byId("algorithm").inert = app.isRecorded;
  createTheme(app);
  app.plane = createPlane(app);
  createHand(app, app.plane);
  createDataTools(app);
  createAlgorithmPanel(app);
  createTabs(app);
  createKeep(app);
  createKeys(app);
  const legend = createLegend(app);
  app.redraws.push(legend.redraw);
  app.views.push(app.plane, createControls(app), createVerdict(app), createMeter(app), createFormula(app),
    createWeightSpace(app), createCurves(app), legend, createHeld(app), createRefusals(app), createSummary(app), createLessonView(app));
  app.invalidate(true);
}

// Why the chosen algorithm cannot run, beside its settings.
function createRefusals(app) {
  return { changed() {
    const why = app.refusals[app.store.state.chosen] ?? "";
    say(byId("algorithm-error"), asSentence(why));
    hide(byId("algorithm-error"), !why);
  } };
}

// What the picture shows, in words, for those who do not see it.
function createSummary(app) {
  return { changed() {
    if (app.editing) return;
    const { points, labels, names } = app.picture();
    const counts = names.map((name, k) => `${labels.filter((label) => label === k).length} of class ${name}`);
    say(byId("plane-summary"), `${points.length} points: ${counts.join(", ")}.`);
  } };
}

// What this browser keeps between visits, where it may.
function remembered(name, value) {
  try {
    if (value) localStorage.setItem(`rosenblatt-${name}`, value);
    return localStorage.getItem(`rosenblatt-${name}`);
  } catch {
    return null;
  }
}

function createTheme(app) {
  const redraw = () => { app.redraws.forEach((one) => one()); app.invalidate(true); };
  const root = document.documentElement.dataset;
  const kept = remembered("theme");
  if (kept) root.theme = kept;
  byId("theme").addEventListener("click", () => {
    root.theme = isDark() ? "light" : "dark";
    remembered("theme", root.theme);
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

boot();

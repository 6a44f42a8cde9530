// The app that every view takes: the store, the player, what the server answered, and when to draw.
//
// app = {store, player, plane,
//   tracks (a run on the clock for each lane, or null), judgement, refusals (a sentence for a lane),
//   picture() (points as drawn), moments() (what each track shows now), end(),
//   invalidate(all) (draw in the next frame; all: what only data or answers change, too),
//   views ({changed(), frame(moments)}, each optional), redraws (what colours need building anew)}

import { asked, settingsOf } from "./algorithms.js";
import { ask } from "./api.js";
import { asking, closeUps } from "./asking.js";
import { FIRST } from "./first.js";
import { writeLink } from "./link.js";
import { pictureOf } from "./picture.js";
import { createPlayer } from "./player.js";
import { createStore, replaceData } from "./state.js";
import { endOf, momentAt, nextTime, previousTime } from "./track.js";

export function initialState() {
  return {
    ...FIRST,
    lanes: [settingsOf("perceptron")],
    chosen: 0,
    tool: "add",
    cls: 0,
    tab: "update",
    lesson: null,
    show: {
      ground: true,
      vectors: true,
      errors: true,
      hulls: null,
      band: true,
      widest: false,
      counts: true,
    },
  };
}

export function createApp(state, held, recorded) {
  const store = createStore(state);
  const tables = new Map(held ? [[held.table, held]] : []);
  let last = held;
  const app = {
    store,
    isRecorded: Boolean(recorded),
    editing: false,
    hasPlayed: false,
    startAt: 0,
    tracks: state.lanes.map(() => null),
    judgement: null,
    whyNoVerdict: "",
    waiting: "",
    refusals: [],
    redraws: [],
    views: [],
    end: () => endOf(app.tracks.filter(Boolean)),
    picture: () => memo(pictureOf, store.state, chosenRun(app)?.run, app.held),
    moments: () =>
      app.tracks.map((track) =>
        track ? momentAt(track, Math.min(app.player.t, track.end)) : null,
      ),
    get held() {
      return tables.get(store.state.data.table) ?? last;
    }, // undo may lead to another table
    hold(table) {
      tables.set(table.table, table);
      last = table;
      app.plane.forget();
      store.apply(replaceData, { table: table.table, columns: table.columns, names: table.names });
    },
    requestData: () => requestData(store.state.data),
    travel(direction) {
      store.travel(direction);
      app.plane.look();
    },
    settled() {
      app.plane.look();
    },
    code: (settings) =>
      recorded
        ? Promise.resolve(recorded.code[store.state.lanes.indexOf(settings)])
        : ask("code", { data: app.requestData(), settings: asked(settings) }),
  };
  const live = () => app.tracks.filter(Boolean);
  app.player = createPlayer({
    end: app.end,
    next: (t) => nextTime(live(), t),
    previous: (t) => previousTime(live(), t),
    onChange: () => {
      if (app.player.playing || app.player.t > 0) app.hasPlayed = true;
      app.invalidate();
      app.rememberSoon();
      app.lookCloserSoon();
    },
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
  if (!memoValue || key.some((value, i) => value !== memoKey[i]))
    [memoKey, memoValue] = [key, make(state, run, held)];
  return memoValue;
}

function requestData(data) {
  if (!data.points) return { table: data.table, columns: data.columns };
  return { points: data.points, labels: data.labels, names: data.names };
}

// Whatever asks for a frame, there is at most one drawing in it.
function frames(app) {
  let wanted = false;
  let changed = false;
  app.invalidate = (all = false) => {
    changed ||= all;
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(() => {
      wanted = false;
      if (changed) {
        changed = false;
        app.views.forEach((view) => view.changed?.());
      }
      const moments = app.moments();
      app.views.forEach((view) => view.frame?.(moments));
    });
  };
}

// The address follows the state, once things are quiet.
function remembering(app) {
  let timer = 0;
  app.rememberSoon = () => {
    if (app.isRecorded) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (app.player.playing || app.editing) {
        app.rememberSoon();
        return;
      }
      history.replaceState(null, "", await writeLink(app.store.state, Math.floor(app.player.t)));
    }, 400);
  };
}

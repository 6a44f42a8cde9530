// Questions to the server: a change of data or settings asks anew for runs and for the verdict, and
// where time stands still in a thinned run, for all updates around it.

import { asked } from "./algorithms.js";
import { channel } from "./api.js";
import { spliced, wantsCloseUp } from "./closeup.js";
import { makeTrack } from "./track.js";

const BRIEF = 300; // updates that are enough while a point is being moved
const PATIENCE = 700; // milliseconds until it is said that an answer takes long

// Sets app.refresh(), which asks for everything, and follows the store from then on. In a recording the
// answers are there already.
export function asking(app, recorded) {
  const { store } = app;
  const channels = [];
  const slow = new Set(); // lanes whose answer takes long
  const timers = [];
  const waits = (lane, isBusy) => {
    clearTimeout(timers[lane]);
    if (isBusy) timers[lane] = setTimeout(() => tellSlow(() => slow.add(lane)), PATIENCE);
    else if (slow.has(lane)) tellSlow(() => slow.delete(lane));
  };
  const tellSlow = (change) => {
    change();
    const first = app.tracks.some(Boolean) ? "" : " the first answer may take a minute";
    app.waiting = slow.size ? `computing …${first}` : "";
    app.invalidate();
  };
  const take = (lane, run, from) => {
    const { state } = store;
    if (lane >= state.lanes.length) return;
    const isAtEnd = app.player.t > 0 && app.player.t >= app.end() && !app.player.playing;
    app.tracks = app.tracks.with(lane, makeTrack(run, from.settings, from.data));
    app.refusals[lane] = "";
    app.player.suit(app.end());
    if (app.startAt) startAgain();
    else if (isAtEnd || app.player.t > app.end()) app.player.goTo(app.end()); // who is at the end stays
    app.plane.looked ??= (app.plane.look(), true);
    app.invalidate(true);
  };
  // To the time that a link tells, once the longest run is there.
  const startAgain = () => {
    app.hasPlayed = true;
    if (!app.tracks.every((track, lane) => track || app.refusals[lane])) return;
    app.player.goTo(app.startAt);
    app.startAt = 0;
  };
  const laneChannel = (lane) => {
    channels[lane] ??= channel("run", {
      onAnswer: (run, from) => take(lane, run, from),
      onRefusal: (why) => {
        app.tracks = app.tracks.with(lane, null);
        app.refusals[lane] = why;
        app.invalidate(true);
      },
      onBusy: (isBusy) => waits(lane, isBusy),
    });
    return channels[lane];
  };
  const judge = channel("judge", {
    onAnswer: (judgement, data) => {
      app.judgement = judgement;
      app.judged = data;
      app.invalidate(true);
    },
    onRefusal: (why) => {
      app.judgement = null;
      app.whyNoVerdict = why;
      app.invalidate(true);
    },
  });
  const askRun = (lane) => {
    const most = app.editing ? { most: BRIEF } : {};
    laneChannel(lane).ask(
      { data: app.requestData(), settings: asked(store.state.lanes[lane]), ...most },
      { settings: store.state.lanes[lane], data: store.state.data },
    );
  };
  app.askInFull = () => isReady() && store.state.lanes.forEach((_, lane) => askRun(lane));
  const askJudge = () =>
    judge.ask({ data: app.requestData(), bias: hasBias(store.state) }, store.state.data);
  const isReady = () => {
    const { data } = store.state;
    if (!data.points) return true;
    return new Set(data.labels).size > 1;
  };
  const askAll = () => {
    if (isReady()) {
      store.state.lanes.forEach((_, lane) => askRun(lane));
      askJudge();
      return;
    }
    channels.forEach((one) => one.cancel());
    judge.cancel();
    app.tracks = store.state.lanes.map(() => null);
    app.refusals = [];
    app.judgement = null;
    app.whyNoVerdict = "Add points of two classes.";
    app.invalidate(true);
  };
  app.refresh = recorded
    ? () => {
        recorded.runs.forEach((run, lane) =>
          take(lane, run, { settings: store.state.lanes[lane], data: store.state.data }),
        );
        app.judgement = recorded.judgement;
        app.invalidate(true);
      }
    : askAll;
  if (recorded) return;
  store.subscribe((state, before) => {
    const isOtherLanes = state.lanes.length !== before.lanes.length;
    if (isOtherLanes) {
      // answers that are out belong to lanes that may have another number now
      channels.forEach((one) => one.cancel());
      app.tracks = matched(state, before, app.tracks);
      app.refusals = [];
    }
    if (state.data !== before.data || isOtherLanes) askAll();
    else {
      if (isReady())
        state.lanes.forEach((lane, i) => {
          if (lane !== before.lanes[i]) askRun(i);
        });
      if (isReady() && hasBias(state) !== hasBias(before)) askJudge();
    }
    if (state.data !== before.data && state.preset !== before.preset && state.preset)
      app.player.goTo(0);
    app.invalidate(true);
    app.rememberSoon();
  });
}

// Where time stands still in a thinned run, all updates around it are fetched.
export function closeUps(app) {
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
    if (
      app.player.playing ||
      !track ||
      track.settings !== state.lanes[lane] ||
      track.data !== state.data
    )
      return;
    const t = Math.floor(app.player.t);
    if (wantsCloseUp(track, t))
      close.ask(
        { data: app.requestData(), settings: asked(state.lanes[lane]), around: t },
        { track, lane },
      );
  };
  app.lookCloserSoon = () => {
    clearTimeout(timer);
    if (!app.isRecorded && app.tracks.some((track) => track?.run.thinned))
      timer = setTimeout(look, 200);
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

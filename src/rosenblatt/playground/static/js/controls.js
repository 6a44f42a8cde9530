// Time: the buttons, the scrubber, the speed, and the keys of all of it.

import { announce, byId, hide, say } from "./dom.js";
import { brief, grouped } from "./numbers.js";
import { positionOf, speedAt } from "./player.js";
import { setTool } from "./state.js";

export function createControls(app) {
  const { player } = app;
  const [play, scrub, speed] = [byId("play"), byId("scrub"), byId("speed")];
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("first", () => player.first());
  on("back", () => player.back());
  on("play", () => player.toggle());
  on("step", () => player.step());
  on("last", () => player.last());
  on("big-play", () => {
    player.play();
    play.focus({ preventScroll: true });
  });
  scrub.addEventListener("input", () => player.goTo(Number(scrub.value)));
  speed.addEventListener("input", () => player.setSpeed(speedAt(Number(speed.value))));
  document.addEventListener("keydown", (event) => keyPressed(app, event));

  let wasPlaying = null;
  let spoken = "";
  // What a step has come to, for those who do not see it; not while it plays.
  const tell = (clock) => {
    if (player.playing || spoken === clock || app.editing || player.t === 0) return;
    spoken = clock;
    announce([clock.replace("\n", ", "), byId("update-why").textContent].join(". "));
  };
  return {
    frame(moments) {
      const end = app.end();
      const moment = moments[app.store.state.chosen];
      if (player.playing !== wasPlaying) {
        wasPlaying = player.playing;
        const word = wasPlaying ? "Pause" : "Play";
        play.querySelector("use").setAttribute("href", `#i-${word.toLowerCase()}`);
        play.setAttribute("aria-label", word);
        say(play.querySelector("span"), word);
      }
      if (Number(scrub.max) !== end) scrub.max = end;
      const at = String(Math.floor(player.t));
      if (scrub.value !== at) scrub.value = at;
      const clock = clockText(moment, end);
      scrub.setAttribute("aria-valuetext", clock);
      say(byId("clock"), clock);
      tell(clock);
      const { speed: a } = player;
      if (document.activeElement !== speed) speed.value = Math.round(positionOf(a));
      say(
        byId("speed-shown"),
        a < 1.05 ? `one in ${brief(1 / a, 2)} s` : `${brief(a, 2)} a second`,
      );
      byId("back").disabled = byId("first").disabled = player.t <= 0;
      byId("step").disabled = byId("last").disabled = player.t >= end;
      play.disabled = end === 0;
      hide(byId("big-play"), player.t > 0 || player.playing || end === 0 || app.hasPlayed);
    },
  };
}

function clockText(moment, end) {
  if (!moment) return "no run yet";
  const { unit } = moment.track.run;
  const own = moment.track.end;
  if (own === 0) return `no ${unit} needed`;
  const epoch = unit === "update" && moment.epoch ? `epoch ${grouped(moment.epoch)}` : "";
  const which = own < end && moment.time >= own ? " (done)" : "";
  return [`${unit} ${grouped(moment.time)} of ${grouped(own)}${which}`, epoch]
    .filter(Boolean)
    .join("\n");
}

// Keys work wherever nothing else wants them.
function keyPressed(app, event) {
  const { player, store } = app;
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  const { target, key } = event;
  const isText = target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select");
  if (event.ctrlKey || event.metaKey) {
    if (isText || !["z", "Z", "y"].includes(key)) return;
    event.preventDefault();
    app.travel(key === "y" || event.shiftKey ? 1 : -1);
    return;
  }
  if (isText || (!app.letters && /^[^ ]$/.test(key))) return;
  const isButton = target.matches?.("button, summary, a, input[type=checkbox], label");
  const isArrows = target.matches?.("input[type=range], [role=tab], [role=radio]");
  const act =
    {
      " ": isButton ? null : () => player.toggle(),
      k: () => player.toggle(),
      ArrowRight: isArrows ? null : () => player.step(),
      ArrowLeft: isArrows ? null : () => player.back(),
      ".": () => player.step(),
      ",": () => player.back(),
      Home: isArrows ? null : () => player.first(),
      End: isArrows ? null : () => player.last(),
      "+": () => player.setSpeed(Math.min(player.speed * 1.5, 20000)),
      "-": () => player.setSpeed(Math.max(player.speed / 1.5, 0.5)),
      f: () => app.plane.fit(),
      x: () => store.apply(setTool, "switch"),
      e: () => store.apply(setTool, "erase"),
      "?": () => app.openKeys(),
    }[key] ??
    (/^[1-9]$/.test(key) && Number(key) <= (store.state.data.names?.length ?? 0)
      ? () => store.apply(setTool, "add", Number(key) - 1)
      : null);
  if (!act) return;
  event.preventDefault();
  act();
}

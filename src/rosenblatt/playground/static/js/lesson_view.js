// The card of a lesson above the picture: what it says, what it asks, and that it was done.

import { announce, byId, el, hide, icon, say } from "./dom.js";
import { closeLesson, doneOf, lessonOf, LESSONS, noteDone, openLesson } from "./lessons.js";

export function createLessonView(app) {
  const { store } = app;
  const card = byId("lesson");
  const opener = byId("open-lessons");
  let hinted = false;

  const go = (at) => {
    hinted = false;
    store.apply(openLesson, at);
    app.player.goTo(0);
    app.plane.forget();
    card.querySelector("h2").focus();
  };
  const close = () => { store.apply(closeLesson); opener.focus(); };

  const steps = (at, done) => el("ol", { class: "lesson-steps", "aria-label": "All lessons" }, ...LESSONS.map(({ title }, k) => el("li", {},
    el("button", {
      type: "button", id: `lesson-${k + 1}`, title, "aria-current": k === at ? "step" : null, class: done.includes(k) ? "done" : null,
      "aria-label": `Lesson ${k + 1}: ${title}${done.includes(k) ? ", done" : ""}`, onclick: () => go(k),
    }, done.includes(k) ? "✓" : String(k + 1)))));

  const build = (state) => {
    const lesson = lessonOf(state);
    hide(card, !lesson);
    opener.setAttribute("aria-expanded", String(Boolean(lesson)));
    if (!lesson) { card.replaceChildren(); return; }
    const { at } = state.lesson;
    const done = doneOf(state);
    const isDone = done.includes(at);
    const button = (id, words, act) => el("button", { type: "button", id, onclick: act }, words);
    const hint = el("p", { class: "quiet lesson-hint", id: "lesson-hint", hidden: !hinted }, lesson.hint);
    card.replaceChildren(
      el("div", { class: "lesson-head" }, el("h2", { tabindex: -1 }, `${at + 1}. ${lesson.title}`), steps(at, done),
        el("button", { type: "button", class: "icon", id: "lesson-close", "aria-label": "Close the lesson", onclick: close }, icon("close"))),
      el("div", { class: "lesson-says" }, ...lesson.says.map((text) => el("p", {}, text))),
      el("div", { class: "lesson-asks", "data-done": isDone },
        el("p", {}, el("b", {}, isDone ? "✓ Done. " : "Try: "), isDone ? lesson.because : lesson.asks),
        hint,
        el("p", { class: "quiet", id: "lesson-counts" }),
        el("div", { class: "row" },
          ...(isDone ? [] : [el("button", { type: "button", id: "lesson-show-hint", "aria-expanded": String(hinted), "aria-controls": "lesson-hint", onclick: (event) => {
            hinted = !hinted;
            hide(hint, !hinted);
            event.currentTarget.setAttribute("aria-expanded", String(hinted));
          } }, "Hint")]),
          button("lesson-again", "Set the scene again", () => go(at)),
          ...(at + 1 < LESSONS.length ? [el("button", { type: "button", id: "lesson-next", class: isDone ? "primary" : null, onclick: () => go(at + 1) }, "Next lesson")] : [])),
      ));
  };

  opener.addEventListener("click", () => (lessonOf(store.state) ? close() : go(firstLeft(doneOf(store.state)))));
  hide(opener, app.isRecorded);
  if (!app.isRecorded) build(store.state);
  store.subscribe((state, before) => { if (state.lesson !== before.lesson) build(state); });

  return {
    frame(moments) {
      const { state } = store;
      const lesson = app.isRecorded ? null : lessonOf(state);
      if (!lesson) return;
      const now = asShown(app, moments);
      say(byId("lesson-counts"), lesson.counts?.(now) ?? "");
      if (doneOf(state).includes(state.lesson.at) || app.editing || !lesson.isDone(now)) return;
      store.apply(noteDone);
      announce(`Done. ${lesson.because}`);
    },
  };
}

// What a lesson judges by: answers to questions about other data or settings do not count.
function asShown({ store: { state }, judgement, judged }, moments) {
  const fresh = moments.map((moment, lane) => (moment?.track.data === state.data && moment.track.settings === state.lanes[lane] ? moment : null));
  const moment = fresh[state.chosen];
  return {
    state, moments: fresh, moment, run: moment?.track.run, judgement: judged === state.data ? judgement : null,
    isAtEnd: Boolean(moment?.ended) && moment.tick > 0,
  };
}

function firstLeft(done) {
  const left = LESSONS.findIndex((_, at) => !done.includes(at));
  return left < 0 ? 0 : left;
}

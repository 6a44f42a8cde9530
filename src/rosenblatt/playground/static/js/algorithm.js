// The panel "Algorithm": the lanes (up to four algorithms in lock-step) and the settings of the
// chosen one. Rebuilt only when lanes change, never with time.

import { byId, el, icon } from "./dom.js";
import { ALGORITHMS, nameOf, settingsOf } from "./algorithms.js";
import { field } from "./fields.js";
import { addLane, choose, dropLane, MOST_LANES, setLane } from "./state.js";
import { laneSwatch } from "./swatches.js";

export function createAlgorithmPanel(app) {
  const { store } = app;
  const panel = byId("algorithm");
  let open = false;

  const lanes = ({ lanes: all, chosen }) => {
    const chips =
      all.length === 1
        ? []
        : all.map((settings, lane) =>
            el(
              "span",
              { class: "lane" },
              el(
                "button",
                {
                  type: "button",
                  "aria-pressed": String(lane === chosen),
                  onclick: () => store.apply(choose, lane),
                },
                laneSwatch(lane),
                el("span", {}, ALGORITHMS[settings.algorithm].name),
              ),
              el(
                "button",
                {
                  type: "button",
                  class: "icon",
                  "aria-label": `Remove ${nameOf(settings)}`,
                  onclick: () => store.apply(dropLane, lane),
                },
                icon("close"),
              ),
            ),
          );
    const another =
      all.length < MOST_LANES
        ? [
            el(
              "button",
              {
                type: "button",
                id: "add-lane",
                onclick: () => store.apply(addLane, settingsOf(nextAlgorithm(all), all[chosen])),
              },
              icon("plus"),
              "Compare with another",
            ),
          ]
        : [];
    byId("lanes").replaceChildren(...chips, ...another);
  };

  const settingsPanel = ({ lanes: all, chosen }) => {
    const settings = all[chosen];
    const algorithm = ALGORITHMS[settings.algorithm];
    const change = (name) => (value) =>
      store.apply(setLane, chosen, { ...store.state.lanes[chosen], [name]: value });
    const pick = el(
      "select",
      {
        id: "algorithm-name",
        onchange: () => store.apply(setLane, chosen, settingsOf(pick.value, settings)),
      },
      ...Object.entries(ALGORITHMS).map(([name, { name: words }]) =>
        el("option", { value: name, selected: name === settings.algorithm }, words),
      ),
    );
    const fields = (specs) =>
      specs
        .filter(({ when }) => !when || when(settings))
        .map((spec) => field(spec, settings[spec.name] ?? spec.value, change(spec.name)));
    const more = el(
      "details",
      {
        open,
        ontoggle: () => {
          open = more.open;
        },
      },
      el("summary", {}, "More settings"),
      el("div", { class: "options" }, ...fields(algorithm.others)),
    );
    panel.replaceChildren(
      el("label", { class: "wide" }, "Method", pick),
      el("p", { class: "quiet wide" }, algorithm.tells),
      ...fields(algorithm.first),
      ...(algorithm.others.length ? [more] : []),
    );
  };

  const rebuild = (state) => {
    const { name } = document.activeElement?.closest?.("#algorithm")
      ? document.activeElement
      : { name: null };
    lanes(state);
    settingsPanel(state);
    if (name) panel.querySelector(`[name="${CSS.escape(name)}"]`)?.focus();
  };
  rebuild(store.state);
  app.redraws.push(() => lanes(store.state));
  // A slider that is being moved must not be replaced under the hand.
  const isSliding = () => document.activeElement?.matches?.("#algorithm input[type=range]");
  store.subscribe((state, before) => {
    if (state.lanes !== before.lanes || state.chosen !== before.chosen) {
      if (isSliding()) lanes(state);
      else rebuild(state);
    }
  });
}

function nextAlgorithm(lanes) {
  const used = new Set(lanes.map(({ algorithm }) => algorithm));
  return ["perceptron", "max-margin", "average", "pocket", "adaline", "soft-margin"].find(
    (name) => !used.has(name),
  );
}

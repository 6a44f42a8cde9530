// The panel "Data": generators with their sliders, noise, clearing, classes.

import { channel } from "./api.js";
import { byId, el, hide, icon, say, svgEl, toast } from "./dom.js";
import { field } from "./fields.js";
import { classColour, shapePath } from "./marks.js";
import { asSentence, count } from "./numbers.js";
import { PRESETS, requestOf } from "./presets.js";
import {
  addClass,
  clearPoints,
  dropClass,
  MOST_CLASSES,
  replaceData,
  shakePoints,
} from "./state.js";

export function createDataPanel(app) {
  createPresets(app);
  const { store } = app;
  byId("noise").addEventListener("click", () => {
    const view = app.plane.view();
    store.apply(shakePoints, 0.02 * (view.y1 - view.y0));
    app.settled();
  });
  byId("clear").addEventListener("click", () => store.apply(clearPoints));
}

function createPresets(app) {
  const { store } = app;
  const box = byId("presets");
  const options = byId("preset-options");
  const generate = channel("generate", {
    onAnswer: (answer, preset) => {
      const { points, labels, names, features, description } = answer;
      store.during(
        `preset ${preset.kind}`,
        replaceData,
        { points, labels, names, features, description },
        preset,
      );
      app.plane.forget();
    },
    onRefusal: toast,
  });
  const start = (preset, values) =>
    generate.ask(requestOf(preset, values), requestOf(preset, values));
  const picture = ({ dots }) =>
    svgEl(
      "svg",
      { viewBox: "0 0 46 34", "aria-hidden": "true" },
      ...dots.map(([x, y, k]) =>
        svgEl("path", { d: shapePath(k, x, y, 2.6), fill: classColour(k) }),
      ),
    );
  let shown = null;
  const sliders = ({ preset }) => {
    const spec = preset && PRESETS.find(({ kind }) => kind === preset.kind);
    if (shown === (spec?.kind ?? null)) return;
    shown = spec?.kind ?? null;
    options.replaceChildren(
      ...(spec?.options ?? []).map((option) =>
        field(option, preset[option.name] ?? option.value, (value) =>
          start(spec, { ...store.state.preset, [option.name]: value }),
        ),
      ),
    );
    hide(options, !spec?.options.length);
  };
  const classes = () => {
    const { data } = store.state;
    const open = data.points && data.names.length < MOST_CLASSES;
    const last = data.names?.length - 1;
    return [
      el(
        "button",
        { type: "button", id: "add-class", disabled: !open, onclick: () => store.apply(addClass) },
        icon("plus"),
        "A class",
      ),
      ...(data.points && last >= 2 && !data.labels.includes(last)
        ? [
            el(
              "button",
              { type: "button", id: "drop-class", onclick: () => store.apply(dropClass) },
              "Drop the empty class",
            ),
          ]
        : []),
    ];
  };
  let offered = null;
  const extra = el("span", { class: "row" });
  byId("clear").after(extra);
  const rebuild = (state) => {
    box.replaceChildren(
      ...PRESETS.map((preset) =>
        el(
          "button",
          {
            type: "button",
            id: `preset-${preset.kind}`,
            "aria-pressed": String(state.preset?.kind === preset.kind),
            onclick: () => {
              store.endGesture();
              start(preset, state.preset ?? {});
            },
          },
          picture(preset),
          preset.label,
        ),
      ),
    );
  };
  const tell = (state) => {
    sliders(state);
    const { data } = state;
    const held = app.held
      ? `${app.held.name}: ${count(app.held.rows, "row")}, ${count(app.held.features.length, "feature")}`
      : "";
    say(
      byId("data-text"),
      data.points
        ? [count(data.points.length, "point"), state.preset && data.description]
            .filter(Boolean)
            .map(asSentence)
            .join(" ")
        : held,
    );
    byId("noise").disabled = !data.points;
    const now = [data.names, data.labels?.includes(data.names.length - 1)].join();
    if (now !== offered) extra.replaceChildren(...classes());
    offered = now;
  };
  rebuild(store.state);
  tell(store.state);
  store.subscribe((state, before) => {
    if (state.preset?.kind !== before.preset?.kind) {
      box
        .querySelectorAll("button")
        .forEach((button) =>
          button.setAttribute("aria-pressed", String(button.id === `preset-${state.preset?.kind}`)),
        );
    }
    if (state.data !== before.data || state.preset !== before.preset) tell(state);
  });
  app.redraws.push(() => rebuild(store.state));
}

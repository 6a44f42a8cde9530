// The legend under the picture and the panel "Show": layers of the picture, on and off.

import { byId, el } from "./dom.js";
import { nameOf } from "./algorithms.js";
import { classSwatch, laneSwatch } from "./swatches.js";
import { showsHulls } from "./plane.js";
import { setShow } from "./state.js";

const LAYERS = [
  ["ground", "Class regions"],
  ["vectors", "Arrows"],
  ["errors", "Errors hollow"],
  ["hulls", "Hulls and proof"],
  ["band", "Margin band"],
  ["widest", "Widest margin"],
  ["counts", "Mistake counts"],
];

export function createLegend(app) {
  const { store } = app;
  const boxes = LAYERS.map(([name, label]) => {
    const box = el("input", {
      type: "checkbox",
      id: `show-${name}`,
      onchange: () => store.apply(setShow, name, box.checked),
    });
    return [name, box, el("label", {}, box, label)];
  });
  byId("show").append(...boxes.map(([, , label]) => label));
  const tell = () => {
    const { names } = app.picture();
    const { lanes, show } = store.state;
    byId("legend").replaceChildren(
      ...names.map((name, k) => el("li", {}, classSwatch(k), el("span", { class: "name" }, name))),
      ...lanes.map((settings, lane) =>
        el("li", {}, laneSwatch(lane), el("span", { class: "name" }, nameOf(settings))),
      ),
      ...(show.errors ? [el("li", {}, "hollow: on the wrong side")] : []),
    );
  };
  let [names, lanes, show] = [];
  return {
    changed() {
      const { state } = store;
      const found = app.picture().names;
      boxes.forEach(([name, box]) => {
        box.checked = name === "hulls" ? showsHulls(app) : Boolean(state.show[name]);
      });
      if (names === found && lanes === state.lanes && show === state.show) return;
      [names, lanes, show] = [found, state.lanes, state.show];
      tell();
    },
    redraw: tell,
  };
}

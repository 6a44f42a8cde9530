// A FILE given on the command line: which two of its columns are seen, or all along w.

import { byId, el, hide } from "./dom.js";
import { replaceData } from "./state.js";

export function createHeld(app) {
  const { store } = app;
  const box = byId("held");
  const tell = () => {
    const { held } = app;
    const { data } = store.state;
    hide(box, !held || !data.table);
    if (!held || !data.table) return;
    const along = data.columns === "along-w";
    const [first, second] = along ? held.columns : data.columns;
    const set = (columns) => { store.apply(replaceData, { table: data.table, columns, names: held.names });
      app.plane.forget(); };
    const pick = (label, chosen, act) => {
      const select = el("select", { disabled: along, onchange: () => act(select.value) }, ...held.features.map((name) => el("option", { value: name, selected: name === chosen }, name)));
      return el("label", {}, label, select);
    };
    const box2 = el("input", { type: "checkbox", checked: along, onchange: () => set(box2.checked ? "along-w" : held.columns) });
    box.replaceChildren(el("div", { class: "options" },
      pick("Across", first, (name) => set([name, second])), pick("Up", second, (name) => set([first, name])),
      ...(held.features.length > 2 ? [el("label", { class: "check" }, box2, "All features, seen along w")] : [])),
    ...held.notes.map((note) => el("p", { class: "quiet" }, note)));
  };
  store.subscribe((state, before) => { if (state.data !== before.data) tell(); });
  return { changed: tell };
}

// A FILE given on the command line: which two of its columns are seen, or all along w.

import { byId, el, hide } from "./dom.js";
import { replaceData } from "./state.js";

export function createHeld(app) {
  const { store } = app;
  const box = byId("held");
  let told = null;
  const tell = () => {
    const { held } = app;
    const { data } = store.state;
    hide(box, !held);
    const what = data.table ? `${data.table} ${data.columns}` : held?.name;
    if (!held || what === told) return;
    told = what;
    if (!data.table) {
      box.replaceChildren(
        el(
          "button",
          { type: "button", id: "open-held", onclick: () => app.hold(held) },
          `Back to ${held.name}`,
        ),
      );
      return;
    }
    const along = data.columns === "along-w";
    const [first, second] = along ? held.columns : data.columns;
    const set = (columns) => {
      store.apply(replaceData, { table: data.table, columns, names: held.names });
      app.plane.forget();
    };
    const pick = (label, chosen, act) => {
      const select = el(
        "select",
        { disabled: along, onchange: () => act(select.value) },
        ...held.features.map((name) =>
          el("option", { value: name, selected: name === chosen }, name),
        ),
      );
      return el("label", {}, label, select);
    };
    const all = el("input", {
      type: "checkbox",
      checked: along,
      onchange: () => set(all.checked ? "along-w" : held.columns),
    });
    box.replaceChildren(
      el(
        "div",
        { class: "options" },
        pick("Across", first, (name) => set([name, second])),
        pick("Up", second, (name) => set([first, name])),
        ...(held.features.length > 2
          ? [el("label", { class: "check" }, all, "All features, seen along w")]
          : []),
      ),
      ...held.notes.map((note) => el("p", { class: "quiet" }, note)),
    );
  };
  return { changed: tell };
}

// The tools above the picture: what a click in it does, undo, redo, and fitting the picture.

import { byId, el, hide, icon } from "./dom.js";
import { setTool } from "./state.js";
import { classSwatch } from "./swatches.js";

export function createTools(app) {
  const { store } = app;
  const box = byId("tool-choices");
  const radio = (id, pressed, label, act, ...children) =>
    el(
      "button",
      {
        type: "button",
        role: "radio",
        id,
        "aria-checked": String(pressed),
        "aria-label": label,
        title: label,
        tabindex: pressed ? 0 : -1,
        onclick: act,
      },
      ...children,
    );
  const rebuild = ({ data, tool, cls }) => {
    const names = data.points ? data.names : [];
    const hadFocus = box.contains(document.activeElement);
    box.replaceChildren(
      ...names.map((name, k) =>
        radio(
          `tool-class-${k}`,
          tool === "add" && cls === k,
          `Add points of class ${name} (${k + 1})`,
          () => store.apply(setTool, "add", k),
          classSwatch(k),
          el("span", { class: "name" }, name),
        ),
      ),
      radio(
        "tool-switch",
        tool === "switch",
        "Switch the class of a point (X)",
        () => store.apply(setTool, "switch"),
        icon("swap"),
        el("span", { class: "name" }, "Switch"),
      ),
      radio(
        "tool-erase",
        tool === "erase",
        "Erase points (E)",
        () => store.apply(setTool, "erase"),
        icon("erase"),
        el("span", { class: "name" }, "Erase"),
      ),
    );
    box.toggleAttribute("data-named", names.join("").length > 4 || names.length > 2);
    box.toggleAttribute("data-tight", names.join("").length > 14 || names.length > 3);
    hide(box, !data.points);
    if (hadFocus) box.querySelector("[aria-checked=true]")?.focus();
  };
  box.addEventListener("keydown", (event) => {
    // a radio group: arrows go through it
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...box.children];
    all.at((all.indexOf(document.activeElement) + by) % all.length).click();
  });
  rebuild(store.state);
  byId("undo").addEventListener("click", () => app.travel(-1));
  byId("redo").addEventListener("click", () => app.travel(1));
  byId("fit-view").addEventListener("click", () => app.plane.fit());
  const buttons = () => {
    byId("undo").disabled = !store.canUndo;
    byId("redo").disabled = !store.canRedo;
  };
  buttons();
  store.subscribe((state, before) => {
    if (
      state.data.names !== before.data.names ||
      state.tool !== before.tool ||
      state.cls !== before.cls ||
      Boolean(state.data.points) !== Boolean(before.data.points)
    )
      rebuild(state);
    buttons();
  });
  app.redraws.push(() => rebuild(store.state));
}

// The tabs of the views: one at a time where there is little room, all of them on a wide screen
// (where the style sheet shows them).

import { byId } from "./dom.js";
import { setTab } from "./state.js";

const NAMES = ["update", "weights", "curves"];

export function createTabs(app) {
  const { store } = app;
  const tell = ({ tab }) =>
    NAMES.forEach((name) => {
      const button = byId(`tab-${name}`);
      button.setAttribute("aria-selected", String(name === tab));
      button.tabIndex = name === tab ? 0 : -1;
      byId(`view-${name}`).hidden = name !== tab;
    });
  NAMES.forEach((name, i) => {
    byId(`tab-${name}`).addEventListener("click", () => store.apply(setTab, name));
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = NAMES.at((i + by) % NAMES.length);
      store.apply(setTab, next);
      byId(`tab-${next}`).focus();
    });
  });
  tell(store.state);
  store.subscribe((state, before) => {
    if (state.tab !== before.tab) {
      tell(state);
      app.invalidate(true);
    }
  });
}

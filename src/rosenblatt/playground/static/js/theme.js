// Light or dark: as the system has it, or as the button says, which this browser remembers.

import { byId } from "./dom.js";
import { isDark } from "./marks.js";

// What this browser keeps between visits, where it may.
function remembered(name, value) {
  try {
    if (value) localStorage.setItem(`rosenblatt-${name}`, value);
    return localStorage.getItem(`rosenblatt-${name}`);
  } catch {
    return null;
  }
}

export function createTheme(app) {
  const redraw = () => {
    app.redraws.forEach((one) => one());
    app.invalidate(true);
  };
  const root = document.documentElement.dataset;
  const kept = remembered("theme");
  if (kept === "light" || kept === "dark") root.theme = kept;
  byId("theme").addEventListener("click", () => {
    root.theme = isDark() ? "light" : "dark";
    remembered("theme", root.theme);
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

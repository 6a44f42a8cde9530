// Light or dark: as the system has it, or as the button says, which this browser remembers.

import { byId } from "./dom.js";
import { isDark } from "./marks.js";
import { remembered } from "./remembered.js";

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

// The dialog that lists all keys, and switches single letters off: who steers by voice may not want
// a word to act as keys.

import { byId, el } from "./dom.js";
import { remembered } from "./remembered.js";

const KEYS = [
  [
    "Time",
    [
      [["space", "k"], "play or pause"],
      [["→", "."], "one update on"],
      [["←", ","], "one update back"],
      [["Home"], "to the start"],
      [["End"], "to the end"],
      [["+", "−"], "faster, slower"],
    ],
  ],
  [
    "Points",
    [
      [["1", "2", "…"], "add points of this class"],
      [["x"], "switch classes"],
      [["e"], "erase"],
      [["Ctrl+Z"], "undo"],
      [["Ctrl+Shift+Z"], "redo"],
      [["f"], "fit the picture to the points"],
    ],
  ],
  [
    "In the picture (Tab to it)",
    [
      [["↑", "↓", "←", "→"], "move the crosshair; with Shift, farther"],
      [["Enter"], "add a point, or pick one up and put it down"],
      [["n", "b"], "next point, the one before"],
      [["s"], "switch its class"],
      [["Delete"], "erase it"],
      [["Esc"], "leave"],
    ],
  ],
];

export function createKeys(app) {
  const dialog = byId("keys");
  app.letters = remembered("letters") !== "off";
  const letters = el("input", {
    type: "checkbox",
    id: "letters",
    checked: app.letters,
    onchange: () => {
      app.letters = letters.checked;
      remembered("letters", letters.checked ? "on" : "off");
    },
  });
  byId("keys-body").append(
    el(
      "p",
      { class: "quiet" },
      "With the mouse: click to add a point, drag to move it, right-click to switch its class.",
    ),
    ...KEYS.flatMap(([title, rows]) => [
      el("h3", {}, title),
      el(
        "dl",
        { class: "keys" },
        ...rows.flatMap(([names, what]) => [
          el("dt", {}, ...names.flatMap((name, i) => [i ? " " : "", el("kbd", {}, name)])),
          el("dd", {}, what),
        ]),
      ),
    ]),
    el("div", { class: "checks" }, el("label", {}, letters, "Keys of one letter act everywhere")),
  );
  app.openKeys = () => dialog.showModal();
  byId("open-keys").addEventListener("click", app.openKeys);
}

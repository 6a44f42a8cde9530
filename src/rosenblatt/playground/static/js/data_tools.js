// The panel "Data" and the tools above the picture: what a click does, undo and redo, generators,
// noise, the table of points, files dropped on the page, and the columns of a FILE.

import { announce, byId, el, hide, icon, say, svgEl, toast } from "./dom.js";
import { ask, channel, Refused } from "./api.js";
import { classColour, classEdge, shapePath } from "./marks.js";
import { asSentence, count } from "./numbers.js";
import { field } from "./fields.js";
import { PRESETS, requestOf } from "./presets.js";
import {
  addClass,
  clearPoints,
  dropClass,
  MOST_CLASSES,
  replaceData,
  setTool,
  shakePoints,
} from "./state.js";
import { csvOf } from "./csv.js";

export function classSwatch(k) {
  return svgEl(
    "svg",
    { class: "swatch", viewBox: "0 0 22 14", "aria-hidden": "true" },
    svgEl("path", { d: shapePath(k, 11, 7, 6), fill: classColour(k), stroke: classEdge(k) }),
  );
}

export function createDataTools(app) {
  createTools(app);
  createPresets(app);
  createTable(app);
  const { store } = app;
  byId("noise").addEventListener("click", () => {
    const view = app.plane.view();
    store.apply(shakePoints, 0.02 * (view.y1 - view.y0));
    app.settled();
  });
  byId("clear").addEventListener("click", () => store.apply(clearPoints));
}

// --- tools ----------------------------------------------------------------------------------

function createTools(app) {
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

// --- generators -----------------------------------------------------------------------------

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

// --- the points as a table, and files ---------------------------------------------------------

function createTable(app) {
  const { store } = app;
  const dialog = byId("table");
  const text = byId("table-text");
  const refuse = (message) => {
    say(byId("table-error"), message);
    hide(byId("table-error"), !message);
  };
  const use = async (csv) => {
    const { points, held } = await ask("table", { text: csv });
    if (held) app.hold(held);
    else store.apply(replaceData, points);
    app.plane.forget();
    announce(`${count(held?.rows ?? points.points.length, "row")} read`);
  };
  byId("open-table").addEventListener("click", () => {
    text.value = store.state.data.points ? csvOf(store.state.data) : "";
    refuse("");
    dialog.showModal();
  });
  byId("table-use").addEventListener("click", async () => {
    try {
      await use(text.value);
      dialog.close();
    } catch (error) {
      refuse(sentence(error));
    }
  });
  byId("table-file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) text.value = await file.text();
    event.target.value = "";
  });
  const holdsFile = (event) =>
    !app.isRecorded && [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", async (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    try {
      await use(await event.dataTransfer.files[0].text());
    } catch (error) {
      toast(sentence(error));
    }
  });
  document.addEventListener("paste", async (event) => {
    if (app.isRecorded || event.target.closest?.("input, textarea, dialog")) return;
    const pasted = event.clipboardData.getData("text");
    if (!pasted.includes("\n")) return;
    try {
      await use(pasted);
    } catch (error) {
      toast(sentence(error));
    }
  });
}

const sentence = (error) => {
  if (error instanceof Refused) return error.message;
  throw error;
};

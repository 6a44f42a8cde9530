// What can be kept: link, picture (PNG, SVG), points (CSV), run (JSON), code and command, and the
// recording in one HTML file.

import { announce, byId, el, toast } from "./dom.js";
import { ask, Refused } from "./api.js";
import { asked, nameOf } from "./algorithms.js";
import { csvOf } from "./csv.js";
import { drawScene } from "./layers.js";
import { writeLink } from "./link.js";
import { svgPen } from "./pen.js";

export function createKeep(app) {
  const dialog = byId("keep");
  const body = byId("keep-body");
  const open = async () => {
    body.replaceChildren(...sections(app));
    dialog.showModal();
    showCode(app, body.querySelector("#code"));
  };
  byId("open-keep").addEventListener("click", open);
  return { open };
}

function sections(app) {
  const button = (id, words, act) =>
    el("button", { type: "button", id, onclick: () => guarded(act) }, words);
  const { data } = app.store.state;
  const here = app.isRecorded
    ? []
    : [
        el("h3", {}, "Link"),
        el(
          "p",
          { class: "quiet" },
          "The whole state is in the address, and stays in it: points, algorithms, time.",
        ),
        el(
          "div",
          { class: "row" },
          button("keep-link", "Copy the link", () => copyLink(app)),
        ),
      ];
  const recording = app.isRecorded
    ? []
    : [
        el("h3", {}, "Recording"),
        el(
          "p",
          { class: "quiet" },
          "One HTML file that plays, steps back and scrubs without a server: for a course page.",
        ),
        el(
          "div",
          { class: "row" },
          button("keep-recording", "Download the recording", () => saveRecording(app)),
        ),
      ];
  return [
    ...here,
    el("h3", {}, "Picture, points, run"),
    el(
      "div",
      { class: "row" },
      button("keep-png", "PNG", () => savePng(app)),
      button("keep-svg", "SVG", () => save("perceptron.svg", "image/svg+xml", svgOf(app))),
      ...(data.points
        ? [button("keep-csv", "Points as CSV", () => save("points.csv", "text/csv", csvOf(data)))]
        : []),
      button("keep-json", "Run as JSON", () =>
        save("run.json", "application/json", JSON.stringify(runOf(app), null, 1)),
      ),
    ),
    ...recording,
    el("h3", {}, "Code that does the same"),
    el("div", { id: "code" }, el("p", { class: "quiet" }, "…")),
  ];
}

async function guarded(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    toast(error.message);
  }
}

async function copyLink(app) {
  const link =
    location.origin +
    location.pathname +
    (await writeLink(app.store.state, Math.floor(app.player.t)));
  try {
    await navigator.clipboard.writeText(link);
    toast("The link is copied.");
  } catch {
    history.replaceState(null, "", link);
    toast("The link is in the address bar.");
  }
}

function runOf(app) {
  const { state } = app.store;
  return {
    data: state.data,
    judgement: app.judgement,
    runs: app.tracks.map((track, lane) => ({
      settings: state.lanes[lane],
      run: track?.run ?? null,
    })),
  };
}

function save(name, type, content) {
  const url = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type }),
  );
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  announce(`${name} saved`);
}

// The picture as SVG, at the size that it has on the page, without the hand.
function svgOf(app) {
  const view = app.plane.view();
  const pen = svgPen(Math.round(view.width), Math.round(view.height));
  drawScene(pen, { ...app.plane.scene(app.moments()), hand: null });
  return pen.finish();
}

async function savePng(app) {
  const { node } = app.plane;
  const blob = await new Promise((resolve) => {
    node.toBlob(resolve, "image/png");
  });
  save("perceptron.png", "image/png", blob);
}

async function saveRecording(app) {
  const { state } = app.store;
  const page = { ...state, t: Math.floor(app.player.t) };
  const html = await ask("recording", {
    data: app.requestData(),
    settings: state.lanes.map(asked),
    title: "",
    page,
  });
  save("recording.html", "text/html", html);
}

async function showCode(app, box) {
  const { lanes } = app.store.state;
  const parts = await Promise.all(
    lanes.map(async (settings) => {
      try {
        const { python, command, note } = await app.code(settings);
        return [
          ...(lanes.length > 1 ? [el("p", {}, nameOf(settings))] : []),
          codeBlock("Python", python),
          ...(command ? [codeBlock("Command", command)] : []),
          ...(note ? [el("p", { class: "quiet" }, note)] : []),
        ];
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return [el("p", { class: "error" }, error.message)];
      }
    }),
  );
  box.replaceChildren(...parts.flat());
}

function codeBlock(title, code) {
  const copy = el(
    "button",
    {
      type: "button",
      onclick: () => navigator.clipboard?.writeText(code).then(() => toast(`${title} is copied.`)),
    },
    `Copy ${title === "Python" ? "Python" : "command"}`,
  );
  return el(
    "div",
    { class: "code" },
    el("pre", { tabindex: 0, "aria-label": title }, code),
    el("div", { class: "row" }, copy),
  );
}

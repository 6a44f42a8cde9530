// The points as a table that can be edited, and tables that are pasted or dropped on the page.

import { ask, Refused } from "./api.js";
import { csvOf } from "./csv.js";
import { announce, byId, hide, say } from "./dom.js";
import { count } from "./numbers.js";
import { replaceData } from "./state.js";

export function createTableDialog(app) {
  const { store } = app;
  const dialog = byId("table");
  const text = byId("table-text");
  const refuse = (message) => {
    say(byId("table-error"), message);
    hide(byId("table-error"), !message);
  };
  const use = async (csv, target = "") => {
    const { points, held } = await ask("table", { text: csv, target: target.trim() || null });
    if (held) app.hold(held);
    else store.apply(replaceData, points);
    app.plane.forget();
    announce(`${count(held?.rows ?? points.points.length, "row")} read`);
  };
  const open = (csv, why = "") => {
    text.value = csv;
    byId("table-target").value = "";
    refuse(why);
    if (!dialog.open) dialog.showModal();
  };
  // A table from elsewhere; one that cannot be used is shown, with the reason, to be mended.
  const take = async (csv) => {
    try {
      await use(csv);
    } catch (error) {
      open(csv, sentence(error));
    }
  };
  byId("open-table").addEventListener("click", () =>
    open(store.state.data.points ? csvOf(store.state.data) : ""),
  );
  byId("table-use").addEventListener("click", async () => {
    try {
      await use(text.value, byId("table-target").value);
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
    await take(await event.dataTransfer.files[0].text());
  });
  document.addEventListener("paste", async (event) => {
    if (app.isRecorded || event.target.closest?.("input, textarea, dialog")) return;
    const pasted = event.clipboardData.getData("text");
    if (pasted.includes("\n")) await take(pasted);
  });
}

const sentence = (error) => {
  if (error instanceof Refused) return error.message;
  throw error;
};

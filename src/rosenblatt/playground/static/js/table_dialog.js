// The points as a table that can be edited, and tables that are pasted or dropped on the page.

import { ask, Refused } from "./api.js";
import { csvOf } from "./csv.js";
import { announce, byId, hide, say, toast } from "./dom.js";
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

// The page: one store, one player, the answers of the server, and the views that draw them.
//
// Rules that let the same modules run inlined in a recording: named exports where they are
// declared, imports at the top, no cycles, no dynamic import.

import { createAlgorithmPanel } from "./algorithm.js";
import { ask, recording } from "./api.js";
import { createApp, initialState } from "./app.js";
import { createControls } from "./controls.js";
import { createCurves } from "./curves.js";
import { createDataPanel } from "./data_panel.js";
import { byId, hide, say, toast } from "./dom.js";
import { createFormula } from "./formula.js";
import { createHeld } from "./held.js";
import { createKeep } from "./keep.js";
import { createKeys } from "./keys.js";
import { createLegend } from "./legend.js";
import { createLessonView } from "./lesson_view.js";
import { readLink } from "./link.js";
import { createMeter } from "./meter.js";
import { asSentence } from "./numbers.js";
import { createPlane } from "./plane.js";
import { createHand } from "./plane_hand.js";
import { createTableDialog } from "./table_dialog.js";
import { createTabs } from "./tabs.js";
import { createTheme } from "./theme.js";
import { createTools } from "./tools.js";
import { createVerdict } from "./verdict.js";
import { createWeightSpace } from "./weight_space.js";

async function boot() {
  const recorded = recording();
  const link = recorded ? null : await readLink(location.hash, initialState());
  const held = recorded?.held ?? (await heldTable(link));
  const opened =
    held && !link
      ? {
          ...initialState(),
          data: { table: held.table, columns: held.columns, names: held.names },
          preset: null,
        }
      : null;
  const { t = 0, ...kept } = recorded?.page ?? {};
  const app = createApp(
    recorded ? { ...initialState(), ...kept } : (link?.state ?? opened ?? initialState()),
    held,
    recorded,
  );
  if (location.hash && !link && !recorded)
    toast("This link is not one of the playground’s, or is cut off: here is the start.");
  app.startAt = link?.t ?? t;
  createViews(app);
  app.refresh();
}

// The table of FILE, if the server holds one.
async function heldTable(link) {
  const named = link?.state.data.table ?? document.querySelector("meta[name=held]")?.content;
  if (!named) return null;
  try {
    return await ask(`held/${named}`);
  } catch (error) {
    toast(error.message);
    return null;
  }
}

function createViews(app) {
  document.documentElement.toggleAttribute("data-recorded", app.isRecorded);
  byId("algorithm").inert = app.isRecorded;
  createTheme(app);
  app.plane = createPlane(app);
  createHand(app, app.plane);
  createTools(app);
  createDataPanel(app);
  createTableDialog(app);
  createAlgorithmPanel(app);
  createTabs(app);
  createKeep(app);
  createKeys(app);
  const legend = createLegend(app);
  app.redraws.push(legend.redraw);
  app.views.push(
    app.plane,
    createControls(app),
    createVerdict(app),
    createMeter(app),
    createFormula(app),
    createWeightSpace(app),
    createCurves(app),
    legend,
    createHeld(app),
    createRefusals(app),
    createSummary(app),
    createLessonView(app),
  );
  app.invalidate(true);
}

// Why the chosen algorithm cannot run, beside its settings.
function createRefusals(app) {
  return {
    changed() {
      const why = app.refusals[app.store.state.chosen] ?? "";
      say(byId("algorithm-error"), asSentence(why));
      hide(byId("algorithm-error"), !why);
    },
  };
}

// What the picture shows, in words, for those who do not see it.
function createSummary(app) {
  return {
    changed() {
      if (app.editing) return;
      const { points, labels, names } = app.picture();
      const counts = names.map(
        (name, k) => `${labels.filter((label) => label === k).length} of class ${name}`,
      );
      say(byId("plane-summary"), `${points.length} points: ${counts.join(", ")}.`);
    },
  };
}

boot();

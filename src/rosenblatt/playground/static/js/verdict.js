// The verdict: can a line separate the classes, and why or why not. Takes the judgement.

import { announce, byId, el, say } from "./dom.js";
import { asSentence, brief } from "./numbers.js";
import { classSwatch } from "./swatches.js";

const WORDS = {
  separable: "Yes",
  "quasi-separable": "Almost",
  inseparable: "No",
  undecided: "Undecided",
};
const SIGNS = { separable: "✓", "quasi-separable": "≈", inseparable: "✕", undecided: "?" };

export function createVerdict(app) {
  let [told, lettered] = []; // the judgement that is shown, and for which classes
  let spoke = "";
  let listed = "";
  app.redraws.push(() => {
    told = undefined;
    listed = "";
  });
  const show = (kind, word, number, text, more) => {
    byId("verdict").dataset.verdict = kind;
    say(byId("verdict-sign"), SIGNS[kind] ?? "·");
    say(byId("verdict-word"), word);
    say(byId("verdict-number"), number);
    say(byId("verdict-text"), text);
    const now = more.map((node) => node.textContent + node.querySelectorAll("svg").length).join();
    if (now !== listed) byId("verdict-more").replaceChildren(...more);
    listed = now;
    say(byId("strip-sign"), SIGNS[kind] ?? "·");
    say(byId("strip-verdict"), number || word);
    const spoken = `${word} ${number}`;
    if (spoken !== spoke && !app.editing) announce(`Can a line separate them? ${spoken}`);
    spoke = spoken;
  };
  return {
    changed() {
      const { judgement } = app;
      const { names, labels } = app.picture();
      if (judgement && judgement === told && labels === lettered) return;
      [told, lettered] = [judgement, labels];
      if (!judgement)
        show("none", app.whyNoVerdict ? "Not yet" : "Looking…", "", app.whyNoVerdict, []);
      else if (judgement.verdicts.length === 1) {
        const verdict = judgement.verdicts[0];
        show(
          verdict.verdict,
          WORDS[verdict.verdict],
          numberOf(verdict),
          asSentence(verdict.sentence),
          proofOf(verdict, app, names),
        );
      } else {
        show(
          judgement.joint ?? "none",
          judgement.joint ? WORDS[judgement.joint] : "Class by class",
          judgement.joint ? `${judgement.joint}, all classes at once` : "",
          asSentence(judgement.joint_sentence ?? ""),
          [
            el(
              "ul",
              { class: "per-class" },
              ...judgement.verdicts.map((verdict) =>
                el(
                  "li",
                  { title: verdict.sentence },
                  classSwatch(verdict.positive),
                  el("span", {}, `${names[verdict.positive]} against the rest: ${verdict.verdict}`),
                ),
              ),
            ),
          ],
        );
      }
    },
  };
}

function numberOf({ verdict, widest_margin: widest, margin }) {
  if (verdict === "separable") return `separable, margin ${brief(widest ?? margin)}`;
  if (verdict === "quasi-separable") return "quasi-separable";
  return verdict === "inseparable" ? "inseparable: the hulls meet" : "";
}

function proofOf({ proof }, app, names) {
  if (!proof) return [];
  const { labels, place } = app.picture();
  const rows = proof.samples.map((sample, i) => {
    const k = labels[place(sample)];
    return el(
      "li",
      {},
      k === undefined ? "" : classSwatch(k),
      el("span", {}, `sample ${sample + 1}${k === undefined ? "" : ` (${names[k]})`}`),
      el("span", { class: "weight" }, `weight ${brief(proof.weights[i])}`),
    );
  });
  return [
    el("ul", { class: "proof", "aria-label": "Samples that prove it", tabindex: 0 }, ...rows),
  ];
}

// Form fields from the table in algorithms.js (and for generators). `field(spec, value, change)`
// gives a node; `change(value)` is called with what was chosen.

import { el } from "./dom.js";
import { brief } from "./numbers.js";

export function field(spec, value, change) {
  return MAKERS[spec.type](spec, value, change);
}

const MAKERS = {
  choice({ name, label, of, wide }, value, change) {
    const select = el(
      "select",
      { name, onchange: () => change(select.value) },
      ...of.map(([choice, words]) =>
        el("option", { value: choice, selected: choice === value }, words),
      ),
    );
    return el("label", { class: wide ? "wide" : null }, label, select);
  },
  check({ name, label, on = true, off = false }, value, change) {
    const box = el("input", {
      type: "checkbox",
      name,
      checked: value === on,
      onchange: () => change(box.checked ? on : off),
    });
    return el("label", { class: "check" }, box, label);
  },
  number(spec, value, change) {
    return numberField(spec, value, change, false);
  },
  integer(spec, value, change) {
    return numberField(spec, value, change, true);
  },
  range({ name, label, least, most, step }, value, change) {
    const shown = el("output", {}, brief(value));
    const slider = el("input", {
      type: "range",
      name,
      min: least,
      max: most,
      step,
      value,
      oninput: () => {
        shown.textContent = brief(Number(slider.value));
        change(Number(slider.value));
      },
    });
    return el("label", {}, el("span", {}, label, " ", shown), slider);
  },
  // A positive number on a slider of its powers of ten.
  power({ name, label, least, most }, value, change) {
    const shown = el("output", {}, brief(value));
    const slider = el("input", {
      type: "range",
      name,
      min: least,
      max: most,
      step: 0.25,
      value: Math.log10(value),
      oninput: () => {
        const chosen = Number((10 ** Number(slider.value)).toPrecision(3));
        shown.textContent = brief(chosen);
        change(chosen);
      },
    });
    return el("label", { class: "wide" }, el("span", {}, label, " ", shown), slider);
  },
  start({ name, label }, value, change) {
    const text = Array.isArray(value) ? value.join(", ") : value;
    const input = el("input", {
      type: "text",
      name,
      value: text,
      title: "zeros, random, or numbers w₁, w₂, b",
      onchange: () => {
        const words = input.value.trim().toLowerCase();
        const numbers = words.split(/[\s,;]+/).map(Number);
        if (words === "zeros" || words === "random" || words === "") change(words || "zeros");
        else if (numbers.every(Number.isFinite)) change(numbers);
        else {
          input.setCustomValidity("Write zeros, random, or the numbers w₁, w₂ and b");
          input.reportValidity();
          input.setCustomValidity("");
        }
      },
    });
    return el("label", {}, label, input);
  },
};

function numberField({ name, label, least, most, step, blank }, value, change, whole) {
  const isBlank = blank !== undefined && (value === null || typeof value === "string");
  const input = el("input", {
    type: "number",
    name,
    min: least,
    max: most,
    step: whole ? 1 : step,
    value: isBlank ? "" : value,
    placeholder: blank,
    onchange: () => {
      if (input.value === "" && blank !== undefined && input.validity.valid) {
        change(blank === "never" || blank === "any" ? null : blank);
        return;
      }
      const chosen = Number(input.value);
      if (input.value === "" || !input.reportValidity()) return;
      change(whole ? Math.round(chosen) : chosen);
    },
  });
  return el("label", {}, label, input);
}

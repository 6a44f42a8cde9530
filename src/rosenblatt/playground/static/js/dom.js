// Small words for the document. Text is only ever set as text, so that no name can be markup.

export const byId = (id) => document.getElementById(id);

// el("button", {type: "button", class: "icon", onclick: f, "aria-label": "…"}, "text", child, …)
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

export function svgEl(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  set(node, attributes);
  node.append(...children);
  return node;
}

export function icon(name) {
  return svgEl("svg", { "aria-hidden": "true" }, svgEl("use", { href: `#i-${name}` }));
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
}

// Sets text only where it differs: writing the same text again costs a layout.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function hide(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

// What a screen reader is told, at most a few times a second.
let waiting = 0;
export function announce(text) {
  clearTimeout(waiting);
  waiting = setTimeout(() => say(byId("live"), text), 250);
}

let fading = 0;
export function toast(text) {
  const node = byId("toast");
  node.textContent = text;
  node.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => {
    node.hidden = true;
  }, 5000);
}

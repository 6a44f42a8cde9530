// Two pens with the same words: one draws on a canvas, the other writes SVG. A view draws with
// either and does not know which, so that the picture kept is the picture seen. Pixels in.
//
// A style is {fill, stroke, width, dash, alpha}; texts have {fill, size, weight, align, halo} too.

import { shape, shapePath } from "./marks.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

export function canvasPen(context) {
  const ratio = context.getTransform().a;
  const paint = ({ fill, stroke, width = 1, dash = [], alpha = 1 }) => {
    context.globalAlpha = alpha;
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.setLineDash(dash);
      context.stroke();
    }
    context.globalAlpha = 1;
  };
  const trace = (points, closed) => {
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (closed) context.closePath();
  };
  context.lineJoin = "round";
  context.lineCap = "butt";
  return {
    line(points, style) {
      trace(points, false);
      paint(style);
    },
    // Many separate segments [x0, y0, x1, y1, …] in one stroke.
    segments(numbers, style) {
      context.beginPath();
      for (let i = 0; i < numbers.length; i += 4) {
        context.moveTo(numbers[i], numbers[i + 1]);
        context.lineTo(numbers[i + 2], numbers[i + 3]);
      }
      paint(style);
    },
    polygon(points, style) {
      trace(points, true);
      paint(style);
    },
    disc(x, y, r, style) {
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      paint(style);
    },
    mark(k, x, y, r, style) {
      const corners = shape(k);
      if (!corners) this.disc(x, y, r, style);
      else
        this.polygon(
          corners.map(([cx, cy]) => [x + r * cx, y + r * cy]),
          style,
        );
    },
    // The same for hundreds of equal marks: drawn once, then stamped on whole pixels.
    stamp(k, x, y, r, style) {
      const { canvas, half } = stampOf(k, r, style, ratio);
      const snap = (value) => Math.round(value * ratio) / ratio - half;
      context.drawImage(canvas, snap(x), snap(y), 2 * half, 2 * half);
    },
    text(x, y, words, { fill, size = 12, weight = 400, align = "left", halo = null, alpha = 1 }) {
      context.font = `${weight} ${size}px ${FONT}`;
      context.textAlign = align;
      context.textBaseline = "middle";
      context.globalAlpha = alpha;
      if (halo) {
        context.setLineDash([]);
        context.strokeStyle = halo;
        context.lineWidth = 4;
        context.strokeText(words, x, y);
      }
      context.fillStyle = fill;
      context.fillText(words, x, y);
      context.globalAlpha = 1;
    },
    image(source, x, y, width, height, alpha = 1) {
      context.globalAlpha = alpha;
      context.imageSmoothingEnabled = true;
      context.drawImage(source, x, y, width, height);
      context.globalAlpha = 1;
    },
  };
}

const stamps = new Map();

function stampOf(k, r, style, ratio) {
  const key = [k, r.toFixed(1), style.fill, style.stroke, style.width, ratio].join();
  if (!stamps.has(key)) {
    if (stamps.size > 300) stamps.clear();
    const half = Math.ceil(1.3 * r + style.width + 1);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 2 * half * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    canvasPen(context).mark(k, half, half, r, style);
    stamps.set(key, { canvas, half });
  }
  return stamps.get(key);
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const n = (value) => String(Math.round(value * 100) / 100);

export function svgPen(width, height) {
  const parts = [];
  const look = ({ fill = "none", stroke, width: thick = 1, dash = [], alpha = 1 }) =>
    [
      ` fill="${fill}"`,
      stroke ? ` stroke="${stroke}" stroke-width="${thick}" stroke-linejoin="round"` : "",
      dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "",
      alpha < 1 ? ` opacity="${n(alpha)}"` : "",
    ].join("");
  const path = (points) => points.map(([x, y]) => `${n(x)} ${n(y)}`).join("L");
  return {
    line(points, style) {
      parts.push(`<path d="M${path(points)}"${look(style)}/>`);
    },
    segments(numbers, style) {
      let d = "";
      for (let i = 0; i < numbers.length; i += 4) {
        d += `M${n(numbers[i])} ${n(numbers[i + 1])}L${n(numbers[i + 2])} ${n(numbers[i + 3])}`;
      }
      parts.push(`<path d="${d}"${look(style)}/>`);
    },
    polygon(points, style) {
      if (points.length) parts.push(`<path d="M${path(points)}z"${look(style)}/>`);
    },
    disc(x, y, r, style) {
      parts.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}"${look(style)}/>`);
    },
    mark(k, x, y, r, style) {
      parts.push(`<path d="${shapePath(k, x, y, r)}"${look(style)}/>`);
    },
    stamp(k, x, y, r, style) {
      this.mark(k, x, y, r, style);
    },
    text(x, y, words, { fill, size = 12, weight = 400, align = "left", halo = null, alpha = 1 }) {
      const anchor = { left: "start", center: "middle", right: "end" }[align];
      const ring = halo
        ? ` stroke="${halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`
        : "";
      parts.push(
        `<text x="${n(x)}" y="${n(y)}" dominant-baseline="central" text-anchor="${anchor}"` +
          ` font-family="${FONT}" font-size="${size}" font-weight="${weight}" fill="${fill}"${ring}` +
          `${alpha < 1 ? ` opacity="${n(alpha)}"` : ""}>${escaped(words)}</text>`,
      );
    },
    image(source, x, y, w, h, alpha = 1) {
      parts.push(
        `<image x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" opacity="${alpha}"` +
          ` preserveAspectRatio="none" href="${source.toDataURL("image/png")}"/>`,
      );
    },
    finish: () =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"` +
      ` viewBox="0 0 ${width} ${height}">${parts.join("")}</svg>`,
  };
}

// An arrow with a filled head, drawn with either pen.
export function drawArrow(pen, x0, y0, x1, y1, { stroke, width = 2.5, dash = [], alpha = 1 }) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(5 + 2.4 * width, length);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  if (length > head)
    pen.line(
      [
        [x0, y0],
        [bx, by],
      ],
      { stroke, width, dash, alpha },
    );
  const half = head * 0.42;
  pen.polygon(
    [
      [x1, y1],
      [bx - uy * half, by + ux * half],
      [bx + uy * half, by - ux * half],
    ],
    { fill: stroke, alpha },
  );
}

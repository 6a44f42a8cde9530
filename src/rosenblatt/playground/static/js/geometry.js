// The plane: from data to pixels and back, lines in a box, convex polygons. Pure functions.

// A view of the data's box [x0, x1] x [y0, y1] in `width` x `height` pixels. With `equal` (the
// default) both axes have one scale, so that w stands at right angles on its line.
export function makeView(box, width, height, equal = true) {
  let [x0, x1, y0, y1] = box;
  if (equal) {
    const scale = Math.min(width / (x1 - x0), height / (y1 - y0));
    const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
    [x0, x1] = [cx - width / scale / 2, cx + width / scale / 2];
    [y0, y1] = [cy - height / scale / 2, cy + height / scale / 2];
  }
  const kx = width / (x1 - x0);
  const ky = height / (y1 - y0);
  return {
    x0,
    x1,
    y0,
    y1,
    width,
    height,
    kx,
    ky,
    x: (value) => (value - x0) * kx,
    y: (value) => (y1 - value) * ky,
    at: (px, py) => [x0 + px / kx, y1 - py / ky],
  };
}

export function corners(view) {
  return [
    [view.x0, view.y0],
    [view.x1, view.y0],
    [view.x1, view.y1],
    [view.x0, view.y1],
  ];
}

// The box around points, with room; the origin is in it unless it is far away.
export function boxAround(points) {
  if (!points.length) return [-5, 5, -5, 5];
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of points) {
    x0 = Math.min(x0, x);
    x1 = Math.max(x1, x);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
  }
  const size = Math.max(x1 - x0, y1 - y0, 1e-9);
  const away = Math.max(x0, -x1, y0, -y1, 0);
  if (away <= size) {
    x0 = Math.min(x0, 0);
    x1 = Math.max(x1, 0);
    y0 = Math.min(y0, 0);
    y1 = Math.max(y1, 0);
  }
  const lone = x1 - x0 < 1e-9 && y1 - y0 < 1e-9 ? 1 : 0;
  // Points on a line along an axis have no extent across it, and get that of a picture.
  const room = (span, other) =>
    (span < 1e-9 * other ? other / 3 : Math.max(span, other * 1e-3) * 0.14) + lone;
  const [roomX, roomY] = [room(x1 - x0, y1 - y0), room(y1 - y0, x1 - x0)];
  return [x0 - roomX, x1 + roomX, y0 - roomY, y1 + roomY];
}

// Whether one scale for both axes leaves enough of the picture to the narrower of them.
export function isNearlySquare([x0, x1, y0, y1]) {
  const ratio = (x1 - x0) / (y1 - y0);
  return ratio < 5 && ratio > 0.2;
}

export function isInside(view, [x, y]) {
  return x >= view.x0 && x <= view.x1 && y >= view.y0 && y <= view.y1;
}

// The part of a convex polygon where a*x + b*y + c > 0.
export function clipped(polygon, a, b, c) {
  const kept = [];
  for (let i = 0; i < polygon.length; i += 1) {
    const p = polygon[i];
    const q = polygon[(i + 1) % polygon.length];
    const vp = a * p[0] + b * p[1] + c;
    const vq = a * q[0] + b * q[1] + c;
    if (vp >= 0) kept.push(p);
    if ((vp > 0 && vq < 0) || (vp < 0 && vq > 0)) {
      const s = vp / (vp - vq);
      kept.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  }
  return kept;
}

// Where the line a*x + b*y + c = 0 crosses the view: two points, or null.
export function lineIn(view, a, b, c) {
  if (a === 0 && b === 0) return null;
  const ends = [];
  const inside = (v, lo, hi) => v >= lo && v <= hi;
  if (Math.abs(b) * (view.x1 - view.x0) >= Math.abs(a) * (view.y1 - view.y0)) {
    // Flat enough: take it at both sides, and let the picture's edge cut it.
    for (const x of [view.x0, view.x1]) ends.push([x, -(a * x + c) / b]);
    const [lo, hi] = [Math.min(ends[0][1], ends[1][1]), Math.max(ends[0][1], ends[1][1])];
    if (hi < view.y0 || lo > view.y1) return null;
  } else {
    for (const y of [view.y0, view.y1]) ends.push([-(b * y + c) / a, y]);
    const [lo, hi] = [Math.min(ends[0][0], ends[1][0]), Math.max(ends[0][0], ends[1][0])];
    if (hi < view.x0 || lo > view.x1) return null;
  }
  return ends.every(([x, y]) => inside(x, -1e12, 1e12) && inside(y, -1e12, 1e12)) ? ends : null;
}

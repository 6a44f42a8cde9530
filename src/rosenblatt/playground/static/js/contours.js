// Lines of equal height of a grid (marching squares). Takes a surface of shading.js and a level,
// gives segments in pixels [x0, y0, x1, y1, …].

export function contour({ values, columns, rows }, level, width, height) {
  const out = [];
  const dx = width / (columns - 1);
  const dy = height / (rows - 1);
  for (let r = 0; r < rows - 1; r += 1) {
    for (let c = 0; c < columns - 1; c += 1) {
      const i = r * columns + c;
      const a = values[i] - level;
      const b = values[i + 1] - level;
      const d = values[i + columns] - level;
      const e = values[i + columns + 1] - level;
      const above = (a > 0) + (b > 0) + (d > 0) + (e > 0);
      if (above === 0 || above === 4) continue;
      const ends = [];
      if (a > 0 !== b > 0) ends.push((c + a / (a - b)) * dx, r * dy);
      if (b > 0 !== e > 0) ends.push((c + 1) * dx, (r + b / (b - e)) * dy);
      if (d > 0 !== e > 0) ends.push((c + d / (d - e)) * dx, (r + 1) * dy);
      if (a > 0 !== d > 0) ends.push(c * dx, (r + a / (a - d)) * dy);
      if (ends.length === 4) out.push(...ends);
      else {
        // A saddle: the middle says which corners belong together.
        const joined = a + b + d + e > 0 === a > 0;
        const [t, rr, bt, l] = [
          ends.slice(0, 2),
          ends.slice(2, 4),
          ends.slice(4, 6),
          ends.slice(6, 8),
        ];
        if (joined) out.push(...t, ...rr, ...bt, ...l);
        else out.push(...t, ...l, ...rr, ...bt);
      }
    }
  }
  return out;
}

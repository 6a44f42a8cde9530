// What the plane draws points from: those of the state, or those in which the server shows a
// table. Takes the state and the chosen lane's run; gives {points, labels, names, features,
// place(sample) -> index of the point or -1, view}.

export function pictureOf(state, run, held) {
  const { data } = state;
  if (data.points) {
    return {
      points: data.points,
      labels: data.labels,
      names: data.names,
      features: data.features ?? ["x₁", "x₂"],
      place: (sample) => (sample < data.points.length ? sample : -1),
      view: null,
    };
  }
  const view = run?.view;
  if (!view)
    return {
      points: [],
      labels: [],
      names: held?.names ?? [],
      features: ["", ""],
      place: () => -1,
      view: null,
    };
  const index = new Map(view.rows.map((row, i) => [row, i]));
  return {
    points: view.points,
    labels: view.labels,
    names: held?.names ?? [],
    features: view.names,
    place: (sample) => index.get(sample) ?? -1,
    view,
  };
}

"""What a classifier decides: the plane cut by a line or a curve, or the view along the normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.curves import curved
from rosenblatt.plot.lettering import number, vector
from rosenblatt.plot.plane import (
    View,
    around,
    clipped,
    drawn_rows,
    foot_point,
)
from rosenblatt.plot.projection import DISTANCE, MOST_TICKS, Scene, along_normals, cast
from rosenblatt.plot.scattered import on_a_line
from rosenblatt.plot.seen import Seen, read
from rosenblatt.plot.style import INK, Look, colour
from rosenblatt.results import Hyperplane

MOST_LINES = 4  # with more classes than this, their own lines would be a tangle
OWN = "signed distance from the class's own hyperplane  (w·x + b)/‖w‖"
LEAD = "value of the class less the highest of the others"


def decision(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The hyperplane of a model among the samples, the wrong ones ringed.

    With two features: the line ``w·x + b = 0`` with its normal ``w`` at a right angle (its
    direction; its length is chosen to fit), and where the line separates the classes the band
    of all points closer to it than the margin ``min_i y_i(w·x_i + b)/‖w‖``. More than two
    classes are shown as the regions where each one's value ``w_k·x + b_k`` is the largest, with
    each class's own line dashed.

    With one feature and up to 300 samples: the samples on a line, in a row for each class, and the
    thresholds at which the decision changes.

    With any other number of features: the view along the normal, where a hyperplane is a single
    point. Histograms of the signed distances ``(w·x + b)/‖w‖``, for more than two classes a row
    for each one's own hyperplane. Tails that would squeeze all the rest into a few bars are cut
    off, at most 0.5 % of a class at either end. Of many samples a part is drawn, always the same
    one. The picture says so, and how many.

    Of a `KernelPerceptron` with two features: the regions, the curve ``f(x) = 0`` between them,
    for two classes also lines of equal ``f``, the support vectors on discs whose areas are their
    mistake counters ``α``, and the dropped samples crossed out. With any other number of features:
    the view along the normal in feature space, where the signed distance is ``f(x)/‖w‖`` with
    ``‖w‖² = Σ α_i y_i f(x_i)``.

    Of a pipeline of one or two columns of numbers, whatever its steps: the same in the units of
    these columns, the curve ``f(x) = 0`` and lines of equal ``f``. Of other pipelines the features
    of the last step are drawn.

    Parameters
    ----------
    model : fitted linear classifier, KernelPerceptron, a pipeline with one, or Hyperplane
        Anything with ``coef_``, ``intercept_`` and ``classes_``, or with a kernel.
    X : array, CSR matrix or data frame of shape (n, d)
        For a pipeline, what it takes.
    y : array of n labels
        Of the model's classes; -1 and +1 for a `Hyperplane`.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    matplotlib Axes
    """
    if hasattr(model, "steps"):
        from rosenblatt.plot.pipelines import decision_of_pipeline

        return decision_of_pipeline(model, X, y, ax, feature_names, class_names)
    kernel = hasattr(model, "kernel_")
    seen = read(model, X, y, feature_names, class_names, kernel=kernel)
    values_known = not kernel or hasattr(model, "support_vectors_")  # wherever one asks
    if seen.X.shape[1] == 1 and seen.n <= MOST_TICKS and values_known:
        return on_a_line(model, seen, ax)
    return curved(model, seen, ax) if kernel else _straight(seen, ax)


def _straight(seen: Seen, ax: Axes | None) -> Axes:
    """The picture of hyperplanes."""
    planes = seen.planes
    if seen.X.shape[1] != 2 and seen.joint:
        values = np.array([p.decision_function(seen.X) for p in planes])
        leads = [values[k] - np.delete(values, k, axis=0).max(axis=0) for k in range(len(planes))]
        return along_normals(ax, replace(seen, planes=()), list(leads), LEAD)
    if seen.X.shape[1] != 2:
        distances = [p.decision_function(seen.X) / p.norm if p.w.any() else None for p in planes]
        return along_normals(ax, seen, distances, DISTANCE if len(planes) == 1 else OWN)
    ax = new_axes(ax, (6.0, 5.6))
    flat, rows = cast(seen), drawn_rows(seen)
    scene = Scene(ax, _seen_view(ax, flat.points, planes), seen=seen, flat=flat)
    area = scene.samples(rows)
    scene.ring_wrong(rows, area)
    scene.note_part(rows)
    (_two if len(planes) == 1 else _several)(scene)
    scene.note_scales()
    scene.finish()
    scene.legend()
    return ax


def _seen_view(ax: Axes, points: Floats, planes: tuple[Hyperplane, ...]) -> View:
    """The view of all points, widened to a line that runs not far outside."""
    view = around(points, ax)
    if len(planes) > 1 or not planes[0].w.any() or not view.to_scale:
        return view
    if view.segment(planes[0]) is not None:
        return view
    wider = around(np.vstack([view.corners(), foot_point(planes[0], view.middle)]), ax)
    return wider if wider.diagonal < 2.5 * view.diagonal else view


def _two(scene: Scene) -> None:
    """Two half-planes, the line between them, the band of the margin, the normal."""
    seen, plane = scene.seen, scene.seen.planes[0]
    if not plane.w.any():
        side = int(plane.b > 0)
        scene.area(scene.view.corners(), "region", color=colour(side), alpha=0.08)
        scene.note("zero", f"w = 0: no hyperplane, everything is “{seen.classes[side]}”")
        return
    scene.halves(plane, 0.08)
    shown = f"w = {vector(plane.w)}, b = {number(plane.b)}"
    scene.entries["hyperplane"] = scene.line(plane), shown
    margin = seen.margin()
    if margin > 0:
        scene.entries["band"] = scene.band(plane, margin), f"margin {number(margin)}"
    if scene.view.segment(plane) is None:
        scene.note("outside", "the hyperplane lies outside this view")
    scene.normal(plane, scene.points)


def _several(scene: Scene) -> None:
    """The regions where each class has the largest value, and the classes' own lines."""
    from matplotlib.collections import LineCollection

    seen = scene.seen
    for k, polygon in enumerate(regions(seen.planes, scene.view)):
        scene.area(polygon, f"region {k}", color=colour(k), alpha=0.13)
        inner = _inner_edges(polygon, scene.view)
        scene.ax.add_collection(LineCollection(inner, colors=INK, linewidths=1.2, zorder=2))
    zero = [seen.classes[k] for k, plane in enumerate(seen.planes) if not plane.w.any()]
    for name in zero if len(zero) <= MOST_LINES else ():
        scene.note(f"zero {name}", f"w = 0 for “{name}”: no line")
    if len(zero) > MOST_LINES:
        scene.note("zero", f"w = 0 for {len(zero)} classes: no line")
    if len(seen.planes) > MOST_LINES or seen.joint:  # where a class has no side of its own
        return
    for k, plane in enumerate(seen.planes):
        if plane.w.any():
            style: Look = {"color": colour(k), "linestyle": (0, (5, 3))}
            line = scene.line(plane, f"hyperplane {k}", linewidth=1.5, **style)
            scene.entries["hyperplanes"] = line, "each class against the rest"
            scene.normal(plane, scene.points, colour(k))


def _inner_edges(polygon: Floats, view: View) -> list[Floats]:
    """The sides of a polygon that do not run along the edge of the view."""
    rims = np.column_stack([view.low, view.high])
    sides = [polygon[[k - 1, k]] for k in range(len(polygon))]
    on_rim = [np.abs(side[:, :, np.newaxis] - rims) < 1e-9 * view.diagonal for side in sides]
    return [side for side, on in zip(sides, on_rim, strict=True) if not on.all(axis=0).any()]


def regions(planes: tuple[Hyperplane, ...], view: View) -> list[Floats]:
    """For each class the polygon where its value is the largest, the first of equals."""
    found = []
    for k, own in enumerate(planes):
        polygon = view.corners()
        for j, other in enumerate(planes):
            if own == other and j < k:
                polygon = np.empty((0, 2))
            if j != k and len(polygon):
                polygon = clipped(polygon, own.w - other.w, own.b - other.b)
        found.append(polygon)
    return found

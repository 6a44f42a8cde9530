"""What a classifier decides: the plane cut by a line or a curve, or the view along the normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import halo, literal, number, vector
from rosenblatt.plot.plane import (
    MOST_WRONG,
    View,
    around,
    chosen,
    clipped,
    dots,
    drawn_rows,
    foot_point,
)
from rosenblatt.plot.projection import DISTANCE, MOST_TICKS, Scene, along_normals, cast
from rosenblatt.plot.scattered import on_a_line
from rosenblatt.plot.seen import Seen, decision_values, dense, read
from rosenblatt.plot.style import GREY, INK, Keys, Look, colour
from rosenblatt.results import Hyperplane
from rosenblatt.visible import grouped

MOST_LINES = 4  # with more classes than this, their own lines would be a tangle
GRID = 300  # points along the longer side
LARGEST = 420.0  # the area of the disc of the largest counter, in points²
MOST_DISCS = 400  # of more support vectors, those with the largest counters
CONTOURS = 13
OWN = "signed distance from the class's own hyperplane  (w·x + b)/‖w‖"
LEAD = "value of the class less the highest of the others"
IN_FEATURES = "f(x)/‖w‖, the signed distance in feature space"


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

    Parameters
    ----------
    model : fitted linear classifier, KernelPerceptron or Hyperplane
        Anything with ``coef_``, ``intercept_`` and ``classes_``, or with a kernel.
    X : array, CSR matrix or data frame of shape (n, d)
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
    kernel = hasattr(model, "kernel_")
    seen = read(model, X, y, feature_names, class_names, kernel=kernel)
    values_known = not kernel or hasattr(model, "support_vectors_")  # wherever one asks
    if seen.X.shape[1] == 1 and seen.n <= MOST_TICKS and values_known:
        return on_a_line(model, seen, ax)
    return _curved(model, seen, ax) if kernel else _straight(seen, ax)


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
    for k, plane in enumerate(seen.planes):
        if not plane.w.any():
            scene.note(f"zero {k}", f"w = 0 for “{seen.classes[k]}”: no line")
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


# Kernel perceptrons ---------------------------------------------------------------------------


def _curved(model: Any, seen: Seen, ax: Axes | None) -> Axes:
    """The picture of a kernel perceptron."""
    bias = " + 1" * bool(model.fit_intercept)
    formula = literal(f"K(x, y) = {model.kernel_.formula}{bias}".replace("-", "−"), 80)
    if seen.X.shape[1] != 2 or not hasattr(model, "support_vectors_"):
        return _along(model, seen, ax, formula)
    ax = new_axes(ax, (6.0, 5.9))
    flat, vectors = cast(seen), dense(model.support_vectors_)
    view = around(flat.points if seen.n else vectors, ax)
    scene = Scene(ax, view, seen=seen, flat=flat)
    curves = _regions(scene, model)
    _samples(scene, model)
    _discs(scene, model, vectors)
    scene.entries |= curves
    scene.note_scales()
    scene.finish()
    scene.legend(formula)
    return ax


def _regions(scene: Scene, model: Any) -> Keys:
    """Where each class is answered, the curves between, and for two classes how far from it."""
    from matplotlib.lines import Line2D

    ax, (a, b, F) = scene.ax, _values(model, scene.view)
    leads = _leads(F)
    for k, lead in enumerate(leads):
        if (lead > 0).any():
            look: Look = {"colors": [colour(k)], "alpha": 0.14, "zorder": 0}
            ax.contourf(a, b, lead, levels=[0.0, lead.max() * 2], **look).set_gid(f"region {k}")
    drawn = [k for k, lead in enumerate(leads) if (lead > 0).any() and (lead <= 0).any()]
    if not drawn:
        answer = scene.seen.classes[int(np.argmax([lead.max() for lead in leads]))]
        return {"curve": (None, f"everything here is “{answer}”")}
    for k in drawn[1:] or drawn:
        style: Look = {"colors": INK, "linewidths": 1.6, "zorder": 3}
        ax.contour(a, b, leads[k], levels=[0.0], **style).set_gid(f"boundary {k}")
    says = "where two classes are level" if len(leads) > 2 else "f(x) = 0"
    entries: Keys = {"curve": (Line2D([], [], color=INK, linewidth=1.6), says)}
    levels = _levels(F[..., 0])
    if levels.size and len(leads) == 2:
        style = {"colors": GREY, "linewidths": 0.6, "alpha": 0.55, "zorder": 1}
        style["linestyles"] = ["--" if level < 0 else "-" for level in levels]
        ax.contour(a, b, F[..., 0], levels=levels, **style).set_gid("equal")
        step = f", steps of {number(float(np.diff(levels).min()))}" if levels.size > 1 else ""
        handle = Line2D([], [], color=GREY, linewidth=0.8, alpha=0.8)
        entries["equal"] = handle, f"equal f{step}"
    return entries


def _values(model: Any, view: View) -> tuple[Floats, Floats, Floats]:
    """The decision values on a grid: its coordinates, and a value for each problem."""
    n = np.maximum(2, np.rint(GRID * view.span / view.span.max())).astype(int)
    if not view.to_scale:
        n[:] = GRID
    a, b = (np.linspace(view.low[k], view.high[k], n[k]) for k in range(2))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(a, b)])
    return a, b, decision_values(model, grid).reshape(len(b), len(a), -1)


def _leads(F: Floats) -> list[Floats]:
    """By how much each class leads the best of the others: positive exactly where it is answered.

    A decision value of zero is the answer of the first class, as in `predict`.
    """
    scale = 1e-9 * (float(np.abs(F).max()) or 1.0)
    if F.shape[2] == 1:
        f = np.where(F[..., 0] > 0, np.maximum(F[..., 0], scale), np.minimum(F[..., 0], -scale))
        return [-f, f]
    answer, found = F.argmax(axis=2), []
    for k in range(F.shape[2]):
        lead = F[..., k] - np.delete(F, k, axis=2).max(axis=2)
        found.append(np.where(answer == k, np.maximum(lead, scale), np.minimum(lead, -scale)))
    return found


def _levels(f: Floats) -> Floats:
    """Round values of f on both sides of zero."""
    from matplotlib.ticker import MaxNLocator

    low, high = float(f.min()), float(f.max())
    ticks = MaxNLocator(CONTOURS, steps=[1, 2, 2.5, 5, 10])
    levels: Floats = np.asarray(ticks.tick_values(low, high), dtype=np.float64)
    step = float(np.diff(levels).min()) if len(levels) > 1 else 0.0
    inside: Floats = levels[(levels > low) & (levels < high) & (np.abs(levels) > 0.1 * step)]
    return inside


def _samples(scene: Scene, model: Any) -> None:
    """The samples, rings around the wrong ones, crosses over the dropped ones."""
    seen = scene.seen
    gone, theirs = dropped_rows(model, seen)
    wrong = np.flatnonzero(seen.wrong)
    drawn = chosen(seen.n, gone, wrong if wrong.size <= MOST_WRONG else wrong[:0])
    area = scene.samples(drawn)
    scene.ring_wrong(drawn, area)
    said = f"dropped{' for a class' * (len(model.fits_) > 1)}: {grouped(theirs)}"
    if gone.size:
        style: Look = {"marker": "x", "color": INK, "linewidths": 1.5, "zorder": 7}
        crosses = dots(scene.ax, scene.points[gone], s=2.2 * area + 12, gid="dropped", **style)
        scene.entries["dropped"] = halo(crosses, 3.2), said
    elif theirs:
        scene.note("dropped", f"{said} of the data of the fit")
    scene.note_part(drawn)


def dropped_rows(model: Any, seen: Seen) -> tuple[NDArray[np.intp], int]:
    """Which of these samples were dropped, and how many were.

    None of these, if the samples are not those of the fit: support vectors are elsewhere then.
    """
    gone = np.unique(np.concatenate([fit.dropped.sample for fit in model.fits_])).astype(np.intp)
    known = np.flatnonzero(model.support_ >= 0)
    row = model.support_[known]
    mine = gone.size and max(gone.max(), row.max(initial=0)) < seen.n
    if mine and hasattr(model, "support_vectors_"):
        mine = np.array_equal(dense(seen.X[row]), dense(model.support_vectors_[known]))
    return gone if mine else gone[:0], gone.size


def _discs(scene: Scene, model: Any, vectors: Floats) -> None:
    """A disc behind each support vector, its area the mistake counter."""
    alpha = np.asarray(model.alpha_).sum(axis=0)
    rows = np.argsort(-alpha, kind="stable")[:MOST_DISCS]
    rows = rows[alpha[rows] > 0]
    counts = f"support vectors: {grouped(len(vectors))}"
    if len(vectors):
        scene.note("support", counts)
    if not rows.size:
        return
    least, most = int(alpha[rows].min()), int(alpha[rows].max())
    unit = min(LARGEST * scene.shrink() / most, 90.0)
    style: Look = {"facecolors": "#00000012", "edgecolors": "#22222290", "zorder": 3.5}
    style |= {"s": unit * alpha[rows], "linewidths": 0.7, "gid": "support"}
    discs = dots(scene.ax, vectors[rows], **style)
    said = f"α = {least}" if least == most else f"area: α, {least} to {grouped(most)}"
    some = f", {grouped(rows.size)} largest drawn" * (rows.size < len(vectors))
    scene.entries["support"] = discs, f"{counts} ({said}{some})"


def _along(model: Any, seen: Seen, ax: Axes | None, formula: str) -> Axes:
    """Histograms of the distances in feature space, or of the values where there is none."""
    F = decision_values(model, seen.X)
    norms = _norms(model, F)
    distances = F.T if norms is None else (F / norms).T
    what = IN_FEATURES if norms is not None else "f(x)"
    if norms is None and model.fits_[0].path is not None:
        what = "share of the vote for minus against"
    what = what if F.shape[1] == 1 else f"each class's own {what}"
    notes = [f"support vectors: {grouped(len(model.support_))}"]
    if gone := dropped_rows(model, seen)[1]:
        notes.append(f"dropped: {grouped(gone)}")
    return along_normals(ax, seen, [*distances], what, formula, *notes)


def _norms(model: Any, F: Floats) -> Floats | None:
    """``‖w‖`` in feature space for each problem; None where it is not known, or is none."""
    if model.fits_[0].path is not None:
        return None
    if hasattr(model, "support_vectors_"):
        at = decision_values(model, model.support_vectors_)
    elif (model.support_ < len(F)).all() and len(F) == model.n_features_in_:
        at = F[model.support_]
    else:
        return None
    squares = (np.asarray(model.dual_coef_).T * at).sum(axis=0)
    norms: Floats = np.sqrt(np.maximum(squares, 0.0))
    return norms if (squares > 0).all() else None

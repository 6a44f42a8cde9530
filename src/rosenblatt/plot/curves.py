"""Curves between classes: regions by decision values, support vectors, dropped samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import halo, literal, number
from rosenblatt.plot.plane import MOST_WRONG, View, around, chosen, dots
from rosenblatt.plot.projection import Scene, along_normals, cast
from rosenblatt.plot.seen import Seen, decision_values, dense
from rosenblatt.plot.style import GREY, INK, Keys, Look, colour
from rosenblatt.visible import grouped

GRID = 300  # points along the longer side
LARGEST = 420.0  # the area of the disc of the largest counter, in points²
MOST_DISCS = 400  # of more support vectors, those with the largest counters
CONTOURS = 13
IN_FEATURES = "f(x)/‖w‖, the signed distance in feature space"


def curved(model: Any, seen: Seen, ax: Axes | None) -> Axes:
    """The picture of a kernel perceptron."""
    bias = " + 1" * bool(model.fit_intercept)
    formula = literal(f"K(x, y) = {model.kernel_.formula}{bias}".replace("-", "−"), 80)
    if seen.X.shape[1] != 2 or not hasattr(model, "support_vectors_"):
        return _along(model, seen, ax, formula)
    ax = new_axes(ax, (6.0, 5.9))
    flat, vectors = cast(seen), dense(model.support_vectors_)
    view = around(flat.points if seen.n else vectors, ax)
    scene = Scene(ax, view, seen=seen, flat=flat)
    curves = draw_regions(scene, model)
    draw_samples(scene, model)
    draw_discs(scene, model, vectors)
    scene.entries |= curves
    scene.note_scales()
    scene.finish()
    scene.legend(formula)
    return ax


def draw_regions(scene: Scene, model: Any) -> Keys:
    """Where each class is answered, the curves between, and for two classes how far from it."""
    from matplotlib.lines import Line2D

    ax, (a, b, F) = scene.ax, values_on_grid(model, scene.view)
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


def values_on_grid(model: Any, view: View) -> tuple[Floats, Floats, Floats]:
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


def draw_samples(scene: Scene, model: Any, given: Seen | None = None) -> None:
    """The samples, rings around the wrong ones, crosses over the dropped ones.

    `given`: the samples as the model is given them, if they are drawn otherwise.
    """
    seen = scene.seen
    gone, theirs = dropped_rows(model, given or seen)
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


def draw_discs(scene: Scene, model: Any, vectors: Floats) -> None:
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

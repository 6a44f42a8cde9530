"""What a kernel perceptron decides: curved regions, or the view along the normal of its space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._along import along, rows
from rosenblatt.plot._reading import decision_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._view import View

    Floats = NDArray[np.float64]

GRID = 300  # points along the longer side
LARGEST = 420.0  # the area of the disc of the largest counter, in points²
MOST_DISCS = 400  # of more support vectors, those with the largest counters
CONTOURS = 13
DISTANCE = "f(x)/‖w‖, the signed distance in feature space"


def curved(model: Any, seen: Seen, ax: Axes | None) -> Axes:
    """The picture of a kernel perceptron among samples; see `rosenblatt.plot.decision`."""
    kernel = model.kernel_
    if seen.X.shape[1] != 2 or not hasattr(model, "support_vectors_"):
        ax, entries = _along(model, seen, ax)
    else:
        ax = _style.new_axes(ax, (6.0, 5.9))
        entries = _plane(model, seen, ax)
    bias = " + 1" * bool(model.fit_intercept)
    formula = f"K(x, y) = {kernel.formula}{bias}".replace("-", "−")
    _style.legend(ax, entries, title=_style.literal(formula, 80))
    return ax


# Two features ---------------------------------------------------------------------------------


def _plane(model: Any, seen: Seen, ax: Axes) -> list[tuple[Any, str]]:
    """Regions, points, support vectors and dropped samples; the legend's entries."""
    points, vectors = _points.dense(seen.X), _points.dense(model.support_vectors_)
    view = _view.around(points if len(points) else vectors, ax)
    curve = _regions(ax, model, seen, view)
    entries = _samples(ax, model, seen, points)
    entries += _discs(ax, model, vectors)
    entries += curve
    if not view.to_scale:
        entries.append((None, "axes have different scales"))
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), seen.features, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    _style.plain(ax)
    return entries


def _regions(ax: Axes, model: Any, seen: Seen, view: View) -> list[tuple[Any, str]]:
    """Where each class is answered, the curves between, and for two classes how far from it."""
    from matplotlib.lines import Line2D

    a, b, F = _values(model, view)
    leads = _leads(F)
    for k, lead in enumerate(leads):
        if (lead > 0).any():
            look: dict[str, Any] = {"colors": [_style.colour(k)], "alpha": 0.14, "zorder": 0}
            filled = ax.contourf(a, b, lead, levels=[0.0, lead.max() * 2], **look)
            _style.named(filled, f"region {k}")
    drawn = [k for k, lead in enumerate(leads) if (lead > 0).any() and (lead <= 0).any()]
    if not drawn:
        answer = seen.classes[int(np.argmax([lead.max() for lead in leads]))]
        return [(None, f"everything here is “{answer}”")]
    for k in drawn[1:] or drawn:
        style: dict[str, Any] = {"colors": _style.INK, "linewidths": 1.6, "zorder": 3}
        _style.named(ax.contour(a, b, leads[k], levels=[0.0], **style), f"boundary {k}")
    line = Line2D([], [], color=_style.INK, linewidth=1.6)
    if len(leads) > 2:
        return [(line, "where two classes are level")]
    entries = [(line, "f(x) = 0")]
    f = F[..., 0]
    levels = _levels(f)
    if levels.size:
        style = {"colors": _style.GREY, "linewidths": 0.6, "alpha": 0.55, "zorder": 1}
        ways = ["--" if level < 0 else "-" for level in levels]
        equal = ax.contour(a, b, f, levels=levels, linestyles=ways, **style)
        _style.named(equal, "equal")
        step = _style.number(float(np.diff(levels).min())) if levels.size > 1 else ""
        handle = Line2D([], [], color=_style.GREY, linewidth=0.8, alpha=0.8)
        entries.append((handle, f"equal f, steps of {step}" if step else "equal f"))
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
    ticks = MaxNLocator(CONTOURS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    levels: Floats = np.asarray(ticks, dtype=np.float64)
    step = float(np.diff(levels).min()) if len(levels) > 1 else 0.0
    inside: Floats = levels[(levels > low) & (levels < high) & (np.abs(levels) > 0.1 * step)]
    return inside


def _samples(ax: Axes, model: Any, seen: Seen, points: Floats) -> list[tuple[Any, str]]:
    """The samples, rings around the wrong ones, crosses over the dropped ones."""
    gone, theirs = dropped_rows(model, seen)
    wrong = np.flatnonzero(seen.wrong)
    must = gone if wrong.size > _points.MOST_WRONG else np.concatenate([gone, wrong])
    drawn = _points.chosen(len(points), must)
    area = _points.size(drawn.size) * float(np.clip(min(_style.box_inches(ax)) / 3.5, 0.35, 1))
    handles = _points.scatter(ax, points[drawn], seen.label[drawn], seen.classes, area=area)
    ring = _points.rings(ax, points[drawn][seen.wrong[drawn]], area=area)
    entries = _points.entries(handles, seen.classes, ring, seen)
    said = f"dropped{' for a class' * (len(model.fits_) > 1)}: {_style.grouped(theirs)}"
    if gone.size:
        entries.append((_crosses(ax, points[gone], area), said))
    elif theirs:
        entries.append((None, f"{said} of the data of the fit"))
    if drawn.size < len(points):
        shown, n = _style.grouped(drawn.size), _style.grouped(len(points))
        entries.append((None, f"{shown} of {n} points drawn"))
    return entries


def _crosses(ax: Axes, points: Floats, area: float) -> Any:
    """A cross over each of these points."""
    style: dict[str, Any] = {"marker": "x", "color": _style.INK, "linewidths": 1.5, "zorder": 7}
    crosses = ax.scatter(points[:, 0], points[:, 1], s=2.2 * area + 12, **style)
    _style.halo(crosses, 3.2)
    return _style.named(crosses, "dropped")


def dropped_rows(model: Any, seen: Seen) -> tuple[NDArray[np.intp], int]:
    """Which of these samples were dropped, and how many were.

    None of these, if the samples are not those of the fit: support vectors are elsewhere then.
    """
    numbers = [fit.dropped.sample for fit in model.fits_]
    gone = np.unique(np.concatenate(numbers)).astype(np.intp)
    n = len(seen.label)
    known = np.flatnonzero(model.support_ >= 0)
    row = model.support_[known]
    if not gone.size or gone.max() >= n or (row.size and row.max() >= n):
        return gone[:0], gone.size
    if hasattr(model, "support_vectors_") and row.size:
        mine, theirs = seen.X[row], model.support_vectors_[known]
        if not np.array_equal(_points.dense(mine), _points.dense(theirs)):
            return gone[:0], gone.size
    return gone, gone.size


def _discs(ax: Axes, model: Any, vectors: Floats) -> list[tuple[Any, str]]:
    """A disc behind each support vector, its area the mistake counter."""
    alpha = np.asarray(model.alpha_).sum(axis=0)
    rows = np.argsort(-alpha, kind="stable")[:MOST_DISCS]
    rows = rows[alpha[rows] > 0]
    counts = f"support vectors: {_style.grouped(len(vectors))}"
    if not rows.size:
        return [(None, counts)] if len(vectors) else []
    least, most = int(alpha[rows].min()), int(alpha[rows].max())
    largest = LARGEST * float(np.clip(min(_style.box_inches(ax)) / 3.5, 0.35, 1))
    unit = min(largest / most, 90.0)
    style: dict[str, Any] = {"facecolors": "#00000012", "edgecolors": "#22222290"}
    style |= {"s": unit * alpha[rows], "linewidths": 0.7, "zorder": 3.5}
    discs = ax.scatter(vectors[rows, 0], vectors[rows, 1], **style)
    _style.named(discs, "support")
    said = f"α = {least}" if least == most else f"area: α, {least} to {_style.grouped(most)}"
    some = f", {_style.grouped(rows.size)} largest drawn" * (rows.size < len(vectors))
    return [(discs, f"{counts} ({said}{some})")]


# Any other number of features -----------------------------------------------------------------


def _along(model: Any, seen: Seen, ax: Axes | None) -> tuple[Axes, list[tuple[Any, str]]]:
    """Histograms of the distances in feature space, or of the values where there is none."""
    F = decision_values(model, seen.X)
    norms = _norms(model, seen, F)
    distances = [F[:, k] if norms is None else F[:, k] / norms[k] for k in range(F.shape[1])]
    what = DISTANCE if norms is not None else "f(x)"
    if norms is None and model.fits_[0].path is not None:
        what = "share of the vote for minus against"
    margins = [_margin(d, seen, k) for k, d in enumerate(distances)]
    if F.shape[1] == 1:
        ax = _style.new_axes(ax, (6.4, 4.2))
        entries = along(ax, seen, distances[0], margins[0], what)
    else:
        ax = _style.new_axes(ax, (6.4, 2.0 + 0.55 * min(F.shape[1], 30)))
        entries = rows(ax, seen, list(distances), margins, f"each class's own {what}")
    gone = dropped_rows(model, seen)[1]
    entries.append((None, f"support vectors: {_style.grouped(len(model.support_))}"))
    if gone:
        entries.append((None, f"dropped: {_style.grouped(gone)}"))
    return ax, entries


def _margin(distance: Floats, seen: Seen, k: int) -> float:
    """The least signed distance; nan without samples."""
    own = 1 if len(seen.classes) == 2 else k
    if not distance.size:
        return float("nan")
    return float(np.where(seen.label == own, distance, -distance).min())


def _norms(model: Any, seen: Seen, F: Floats) -> Floats | None:
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

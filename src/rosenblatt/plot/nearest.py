"""The maximum margin as a distance: the two points of the hulls that are nearest to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._best import read_best
from rosenblatt.plot._shadow import cast
from rosenblatt.plot.hulls import draw_hulls, hull
from rosenblatt.plot.margin import filling
from rosenblatt.results import Optimum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._shadow import Shadow
    from rosenblatt.plot._view import View
    from rosenblatt.results import Hyperplane

    Floats = NDArray[np.float64]

LETTERS = np.array([26.0, 12.0])  # points: the width and height of a share as it is written
WIDEST = 12  # so many margins on each side of the hyperplane are in the picture of a shadow
MOST_SHARES = 8  # of more support vectors the shares are not written beside them


def nearest(
    model: Any,
    X: Any,
    y: Any,
    *,
    which: Any = None,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The nearest points of two convex hulls; the maximum-margin hyperplane lies half-way.

    The line that joins the two points is twice as long as the margin, and the hyperplane crosses
    it at a right angle. Each point is a weighted mean of the support vectors of its class, which
    are ringed, with their shares ``α_i/Σα`` beside them if they are few.

    More than two features are drawn as a shadow with the hyperplane seen from its edge, in which
    the hulls are exactly as far apart as they are; samples more than 12 margins away are left
    outside, so that the gap can be seen. One feature is drawn as two rows.

    Parameters
    ----------
    model : fitted MaxMarginClassifier, or Optimum
    X, y : samples and labels
        Those given to `fit`.
    which : label, optional
        Of more than two classes: the one to be drawn with the rest.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    matplotlib Axes
    """
    seen, optimum = read_best(model, X, y, which, feature_names, class_names)
    if optimum.C is not None:
        what = type(model).__name__
        remedy = "give a fitted rb.MaxMarginClassifier"
        if getattr(model, "nearest_points_", optimum) is None:
            remedy = "no hyperplane separates these data, see rb.plot.hulls"
        msg = f"{what} holds a soft margin, which has no nearest points: {remedy}"
        raise ValueError(msg)
    if len(set(seen.label[optimum.support].tolist())) < 2:
        msg = "the fit was stopped before it had nearest points: fit again with more max_time"
        raise ValueError(msg)
    flat = cast(seen, optimum.hyperplane)
    ax = _style.new_axes(ax, (6.0, 5.6) if seen.X.shape[1] > 1 else (6.4, 3.0))
    view = _close(filling(ax, flat), optimum.margin) if flat.remark else flat.view(ax)
    polygons = [hull(flat.points[seen.label == k]) for k in range(2)]
    entries = draw_hulls(ax, seen, flat.points, polygons, optimum.support.astype(np.intp))
    entries += _joined(ax, seen, optimum, flat, view)
    if not view.to_scale and not flat.in_rows:
        entries.append((None, "axes have different scales"))
    out = int((~view.contains(flat.points)).sum())
    if out:
        some = f"{_style.grouped(out)} of {_style.grouped(len(seen.label))}"
        entries.append((None, f"{some} are farther out"))
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), flat.names, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    if flat.remark:
        ax.set_xlabel(f"{ax.get_xlabel()}\n({flat.remark})")
    flat.rows(ax, seen)
    _style.plain(ax)
    _style.legend(
        ax, entries, f"nearest points of the hulls: {_style.number(2 * optimum.margin)} apart"
    )
    return ax


def _close(view: View, margin: float) -> View:
    """The part of a shadow's view in which the gap is wide enough to be seen."""
    across = np.array([WIDEST * margin, np.inf])
    return view._replace(low=np.maximum(view.low, -across), high=np.minimum(view.high, across))


def shares(seen: Seen, optimum: Optimum) -> Floats:
    """The multipliers of the support vectors, so that those of each class sum to 1."""
    label = seen.label[optimum.support]
    sums = np.bincount(label, optimum.multipliers, 2)
    found: Floats = optimum.multipliers / sums[label]
    return found


def _joined(
    ax: Axes, seen: Seen, optimum: Optimum, flat: Shadow, view: View
) -> list[tuple[Any, str]]:
    """The two points, the line that joins them, and the hyperplane half-way."""
    assert flat.plane is not None
    weights, label = shares(seen, optimum), seen.label[optimum.support]
    at = flat.points[optimum.support]
    ends = np.array([weights[label == k] @ at[label == k] for k in range(2)])
    if flat.in_rows:  # between the rows, so that the line is as long as the distance
        ends[:, 1] = 0.0
    line = _view.line(ax, flat.plane, view, "hyperplane")
    bridge = ax.plot(*ends.T, color=_style.INK, linewidth=3.0, solid_capstyle="butt")[0]
    _style.named(bridge, "bridge").set_zorder(4.5)
    if view.to_scale:
        _right_angle(ax, ends, view)
    ring = _points.rings(ax, at, area=_points.size(len(seen.label)), gid="support")
    style: dict[str, Any] = {"s": 42, "marker": "D", "c": _style.INK, "edgecolors": "white"}
    dots = _style.named(ax.scatter(*ends.T, linewidths=1.0, zorder=6.5, **style), "nearest")
    if len(weights) <= MOST_SHARES:
        for k in range(2):
            _write_shares(ax, at[label == k], weights[label == k], 2 * k - 1, flat.plane, view)
    n, of = _style.grouped(len(weights)), _style.grouped(len(seen.label))
    return [
        (line, f"half-way: margin {_style.number(optimum.margin)}"),
        (dots, "nearest points"),
        (ring, f"support vectors: {n} of {of}"),
    ]


def _right_angle(ax: Axes, ends: Floats, view: View) -> None:
    """The sign of a right angle where the line crosses the hyperplane."""
    across = ends[1] - ends[0]
    length = float(np.hypot(*across))
    across = across / length
    along = np.array([-across[1], across[0]])
    foot, step = ends.mean(axis=0), min(0.018 * view.diagonal, 0.25 * length)
    corner = np.array([foot + step * along, foot + step * (along + across), foot + step * across])
    ax.plot(*corner.T, color=_style.INK, linewidth=1.0, zorder=5, gid="right angle")


def _write_shares(
    ax: Axes, at: Floats, weights: Floats, sign: int, plane: Hyperplane, view: View
) -> None:
    """The shares of one class beside its support vectors, on the side away from the hyperplane."""
    per_unit = 72 * np.array(_style.box_inches(ax)) / view.span
    along = per_unit * np.array([-plane.w[1], plane.w[0]])
    along /= np.hypot(*along)
    outward = sign * np.array([along[1], -along[0]])
    places = (per_unit * at) @ along
    moves = apart(places, LETTERS @ np.abs(along)) - places
    for place, share, move in zip(at, weights, moves, strict=True):
        if share == 1:
            continue
        offset = 19 * outward + move * along
        text = ax.annotate(_style.number(share, 2), (*place,), (*offset,),
                           textcoords="offset points", ha="center", va="center")  # fmt: skip
        text.set(size=_style.SMALL, color=_style.INK, weight="bold", zorder=8, gid="share")
        text.set(annotation_clip=False)
        _style.halo(text, 3)


def apart(places: Floats, room: float) -> Floats:
    """Places on a line moved as little as needed for each to have so much room, in their order."""
    order = np.argsort(places, kind="stable")
    # Less the room that those before it take, the places only have to ascend: blocks of means.
    blocks: list[tuple[float, int]] = []
    for mean in places[order] - room * np.arange(len(order)):
        size = 1
        while blocks and blocks[-1][0] > mean:
            before, n = blocks.pop()
            mean, size = (before * n + mean * size) / (n + size), n + size
        blocks.append((mean, size))
    moved = np.empty(len(places))
    means, sizes = zip(*blocks, strict=True)
    moved[order] = np.repeat(means, sizes) + room * np.arange(len(order))
    return moved

"""A best hyperplane with its margin: the band, the support vectors, the slacks."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._best import read_best
from rosenblatt.plot._shadow import cast
from rosenblatt.plot.boundary import roomiest
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._shadow import Shadow
    from rosenblatt.plot._view import View
    from rosenblatt.results import Optimum

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Entries = dict[str, tuple[Any, str]]

MOST_SUPPORT = 300  # so many support vectors are drawn and ringed, with their slacks
ON = 1e-6  # at least so close to 1 is y(w·x + b) taken to be on the edge, as `sides` does
SEEN = 0.045  # of the view's diagonal: a smaller margin has no room for an arrow
FEW = 200  # so many samples are all in the view, however far out
TAIL, FAR = 0.05, 0.75  # farther beyond these quantiles than so many times their distance is out
WIDER = 1.6  # the view grows at most so much for the sake of the edges


class Scene(NamedTuple):
    """What is drawn, in the coordinates of the picture."""

    seen: Seen
    optimum: Optimum
    flat: Shadow
    view: View
    rows: Ints
    ringed: Ints

    @property
    def signs(self) -> Floats:
        """-1 and +1 of every sample."""
        return np.where(self.seen.label > 0, 1.0, -1.0)

    def short(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which samples are inside the margin, and which are wrong."""
        values = self.signs * self.optimum.hyperplane.decision_function(self.seen.X)
        on = max(ON, np.sqrt(self.optimum.gap))
        return (values > 0) & (values < 1 - on), values <= 0

    def outside(self) -> int:
        """How many samples are not in the view."""
        return int((~self.view.contains(self.flat.points)).sum())

    def feet(self, rows: Ints) -> Floats:
        """The points of their own edge of the margin that are nearest to these samples."""
        assert self.flat.plane is not None
        w, b = _view.unit(self.flat.plane)
        points = self.flat.points[rows]
        short = self.signs[rows] * self.optimum.margin - (points @ w + b)
        return points + short[:, np.newaxis] * w


def margin(
    model: Any,
    X: Any,
    y: Any,
    *,
    which: Any = None,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The margin of a best hyperplane: its two edges, the support vectors, the slacks.

    The edges are where ``w·x + b`` is -1 and 1, at the distance ``1/‖w‖`` on both sides of the
    hyperplane. Support vectors, the samples with a positive multiplier, are ringed. A sample
    inside the margin or on the wrong side has a thin line to its edge, at a right angle; it is
    as long as the slack ``1 - y(w·x + b)`` times the margin.

    More than two features are drawn as a shadow with the hyperplane seen from its edge: across,
    the signed distance from it; up, the direction within it in which the samples spread most.
    One feature is drawn as two rows, one for each class. Of many samples a part is drawn, always
    the same one, and 300 support vectors with their slacks; the numbers are those of all samples.
    Of more than 200, those very far from the others are left outside the axes, and counted.

    Parameters
    ----------
    model : fitted MaxMarginClassifier or SoftMarginClassifier, or Optimum
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
    ax = _style.new_axes(ax, (6.0, 5.8) if seen.X.shape[1] > 1 else (6.4, 3.2))
    scene = set_scene(ax, seen, optimum)
    entries = draw_margin(ax, scene)
    entries["gap"] = None, f"gap {_style.number(optimum.gap, 2)}"
    finish(ax, scene)
    _style.legend(ax, list(entries.values()), heading(optimum))
    return ax


def heading(optimum: Optimum) -> str:
    """What kind of margin, and how large."""
    if optimum.C is None:
        return f"maximum margin {size(optimum.margin)}"
    return f"soft margin {size(optimum.margin)} (C = {price(optimum.C)})"


def size(margin: float) -> str:
    """A margin as a number, or the sign of an infinite one."""
    return _style.number(margin) if np.isfinite(margin) else "∞"


def price(C: float) -> str:
    """A value of C, whole where it is."""
    return _style.grouped(C) if round(C) == C and C < 1e7 else _style.number(C)


def set_scene(ax: Axes, seen: Seen, optimum: Optimum) -> Scene:
    """The samples in the plane, what part of it to show, and which of them to draw."""
    flat = cast(seen, optimum.hyperplane)
    ringed = optimum.support.astype(np.intp)
    if ringed.size > MOST_SUPPORT:
        ringed = np.sort(np.random.default_rng(0).choice(ringed, MOST_SUPPORT, replace=False))
    rows = _points.chosen(len(seen.label), ringed)
    view = _with_edges(ax, flat._replace(points=_bulk(seen, flat.points)), optimum.margin)
    return Scene(seen, optimum, flat, view, rows, ringed)


def _bulk(seen: Seen, points: Floats) -> Floats:
    """The points without those so far out that the others would be squeezed together."""
    if len(points) <= FEW:
        return points
    ends = [np.quantile(points[seen.label == k], [TAIL, 1 - TAIL], axis=0) for k in range(2)]
    low, high = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    far = FAR * np.where(high > low, high - low, np.inf)
    near: Floats = points[((points >= low - far) & (points <= high + far)).all(axis=1)]
    return near


def _with_edges(ax: Axes, flat: Shadow, margin: float) -> View:
    """The view of all points, widened to edges that run not far outside."""
    view = filling(ax, flat)
    if flat.plane is None or not flat.plane.w.any() or margin > 4 * view.diagonal:
        return view
    w, b = _view.unit(flat.plane)
    middle = (view.low + view.high) / 2
    foot = middle - (middle @ w + b) * w
    edges = foot + 1.15 * margin * np.array([[-1.0], [1.0]]) * w
    if view.contains(edges).all():
        return view
    low, high = np.minimum(view.low, edges.min(axis=0)), np.maximum(view.high, edges.max(axis=0))
    if flat.in_rows or flat.remark:
        wider = _view.View(low, high, False)
    else:
        wider = _view.around(np.vstack([low, high]), ax, pad=0.0)
    fits = wider.to_scale == view.to_scale and (wider.span <= WIDER * view.span).all()
    return wider if fits else view


def filling(ax: Axes, flat: Shadow) -> View:
    """The view of all points, in which a shadow fills the axes.

    What counts there is how far samples are from the hyperplane, and angles have no meaning
    between that and the other direction.
    """
    if not flat.remark:
        return flat.view(ax)
    low, high = flat.points.min(axis=0), flat.points.max(axis=0)
    pad = 0.06 * np.where(high > low, high - low, 1.0)
    return _view.View(low - pad, high + pad, False)


def draw_margin(ax: Axes, scene: Scene, *, width: bool = True) -> Entries:
    """Everything but the axes and the legend, of which it returns the entries by name."""
    seen, flat, rows = scene.seen, scene.flat, scene.rows
    box = min(_style.box_inches(ax))
    area = _points.size(rows.size) * float(np.clip(box / 3.5, 0.35, 1))
    style: dict[str, Any] = {"area": area, "alpha": 0.9}
    handles = _points.scatter(ax, flat.points[rows], seen.label[rows], seen.classes, **style)
    entries: Entries = {f"class {k}": (handles[k], seen.classes[k]) for k in range(2)}
    normal = flat.plane is not None and flat.plane.w.any()
    entries |= _plane(ax, scene, width) if normal else {"zero": (None, "w = 0: no hyperplane")}
    crowd = 1.0 if scene.ringed.size <= 12 and box > 3 else 0.5
    ring = _points.rings(ax, flat.points[scene.ringed], area=crowd * area, gid="support")
    found, of = len(scene.optimum.support), _style.grouped(len(seen.label))
    entries["support"] = ring, f"support vectors: {_style.grouped(found)} of {of}"
    if found > MOST_SUPPORT:
        entries["ringed"] = None, f"{MOST_SUPPORT} support vectors ringed"
    if normal:
        entries |= _slacks(ax, scene)
    if rows.size < len(seen.label):
        entries["drawn"] = None, f"{_style.grouped(rows.size)} of {of} points drawn"
    if scene.outside():
        entries["outside"] = None, f"{_style.grouped(scene.outside())} of {of} are farther out"
    if not scene.view.to_scale and not flat.in_rows and not flat.remark:
        entries["scales"] = None, "axes have different scales"
    return entries


def _plane(ax: Axes, scene: Scene, width: bool) -> Entries:
    """The half-planes, the band between the edges, the hyperplane in the middle."""
    flat, view, margin = scene.flat, scene.view, scene.optimum.margin
    assert flat.plane is not None
    w, b = _view.unit(flat.plane)
    for k, sign in enumerate((-1, 1)):
        half = _view.clipped(view.corners(), sign * w, sign * b)
        _view.area(ax, half, f"region {k}", color=_style.colour(k), alpha=0.1)
    strip = _view.clipped(_view.clipped(view.corners(), w, b + margin), -w, margin - b)
    _view.area(ax, strip, "band", facecolor="white", zorder=1)
    line = _view.line(ax, flat.plane, view, "hyperplane")
    edges = [Hyperplane(w, b - side * margin) for side in (-1, 1)]
    dashed: dict[str, Any] = {"color": _style.GREY, "linewidth": 1.1, "linestyle": (0, (4, 3))}
    lines = [_view.line(ax, edge, view, f"edge {k}", **dashed) for k, edge in enumerate(edges)]
    visible = [_view.segment(edge, view) is not None for edge in edges]
    if width and all(visible):
        _measure(ax, scene, w)
    edge = (lines[0], "w·x + b = ±1") if any(visible) else (None, "the margin is wider than this")
    return {"hyperplane": (line, "w·x + b = 0"), "edges": edge}


def _measure(ax: Axes, scene: Scene, w: Floats) -> None:
    """An arrow from the hyperplane to its edge with the distance, if there is room for it."""
    flat, view, margin = scene.flat, scene.view, scene.optimum.margin
    if not view.to_scale or margin < SEEN * view.diagonal or flat.plane is None:
        return
    foot = roomiest(flat.plane, view, flat.points, max(margin, 3 * SEEN * view.diagonal))
    tip = foot + margin * w
    style: dict[str, Any] = {"arrowstyle": "<|-|>", "linewidth": 1.2, "mutation_scale": 9}
    _style.arrow(ax, foot, tip, "margin", **style)
    along = np.array([-w[1], w[0]])
    along = along if along[1] > 0 or (along[1] == 0 and along[0] > 0) else -along
    at = (foot + tip) / 2 + 0.028 * view.diagonal * along
    text = ax.text(at[0], at[1], _style.number(margin), ha="center", va="center")
    text.set(size=_style.NORMAL, weight="bold", color=_style.INK, zorder=7, clip_on=True)
    _style.halo(text)


def _slacks(ax: Axes, scene: Scene) -> Entries:
    """A line from each sample that has slack to its own edge of the margin."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    inside, wrong = scene.short()
    short = inside | wrong
    if not short.any():
        return {}
    rows = np.flatnonzero(short)
    if rows.size > MOST_SUPPORT:
        rows = scene.ringed[short[scene.ringed]]
    lines = np.stack([scene.flat.points[rows], scene.feet(rows)], axis=1)
    tints = [_style.lettering(_style.colour(k)) for k in scene.seen.label[rows]]
    thin = len(rows) > 60
    style: dict[str, Any] = {"linewidths": 0.7 if thin else 1.4, "alpha": 0.5 if thin else 0.9}
    made = LineCollection(list(lines), colors=tints, zorder=3.5, **style)
    _style.named(ax.add_collection(made, autolim=False), "slacks")
    key = Line2D([], [], color=_style.GREY, linewidth=1.0)
    n, out = _style.grouped(inside.sum()), _style.grouped(wrong.sum())
    return {"slack": (key, f"slack: {n} inside, {out} wrong")}


def finish(ax: Axes, scene: Scene) -> None:
    """The view, the names of the axes, and of the rows where there are some."""
    flat, view = scene.flat, scene.view
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), flat.names, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    if flat.remark:
        wide = int(14 * _style.box_inches(ax)[0])
        ax.set_xlabel(f"{ax.get_xlabel()}\n{fill(f'({flat.remark})', wide)}")
    flat.rows(ax, scene.seen)
    _style.plain(ax)

"""Several hyperplanes for the same data, side by side, and how much room each one leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._reading import read
from rosenblatt.plot._shadow import cast
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._shadow import Shadow
    from rosenblatt.plot._view import View

    Floats = NDArray[np.float64]

CLOSEST = 1e-6  # so little farther away, relative to the margin, is as close
PER_ROW = 3


class Panel(NamedTuple):
    """One model: its name, what it makes of the samples, where they are drawn, its margin."""

    name: str
    seen: Seen
    flat: Shadow
    margin: float

    @property
    def plane(self) -> Hyperplane:
        """The hyperplane in the coordinates of the picture."""
        return Hyperplane(np.zeros(2)) if self.flat.plane is None else self.flat.plane

    def closest(self) -> NDArray[np.intp]:
        """The samples nearest to a hyperplane that separates."""
        distance = self.seen.planes[0].distance(self.seen.X)
        return np.flatnonzero(distance <= (1 + CLOSEST) * distance.min())


def compare(
    models: Any,
    X: Any,
    y: Any,
    *,
    axes: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Hyperplanes of several models for the same samples, each with its margin.

    The margin of a hyperplane that separates, ``min_i y_i(w·x_i + b)/‖w‖``, is how far every
    sample may move, in any direction, and still be on its right side: a circle of that size
    around the closest samples, which are ringed, just touches the line. Where a hyperplane does
    not separate there is no margin, and the samples on its wrong side are ringed.

    With two features the lines of the other models are dotted. More features are drawn as a
    shadow of which every picture has its own, with the hyperplane seen from its edge.

    Parameters
    ----------
    models : dict of name to model, or list of models
        Linear classifiers fitted to the same two classes, or hyperplanes.
    X : array, CSR matrix or data frame of shape (n, d)
    y : array of n labels
    axes : array of matplotlib Axes, optional
        Where to draw, one model each; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the models' own.

    Returns
    -------
    array of matplotlib Axes
        One for each model.
    """
    panels = [
        _panel(name, model, X, y, feature_names, class_names) for name, model in _named(models)
    ]
    row = _axes(axes, len(panels), panels[0].flat.in_rows)
    views = _views(row, panels)
    largest = max(panel.margin for panel in panels)
    for ax, panel, view in zip(row, panels, views, strict=True):
        if not panel.flat.remark:
            for other in panels:
                if other is not panel and other.plane.w.any():
                    style: dict[str, Any] = {"color": _style.GREY, "linewidth": 1.1}
                    _view.line(ax, other.plane, view, "other", linestyle=":", **style)
        entries = _draw(ax, panel, view)
        _finish(ax, panel, view, entries, largest if len(panels) > 1 else np.inf)
    return row


def _named(models: Any) -> list[tuple[str, Any]]:
    """Names and models; a name for each where none are given."""
    if isinstance(models, Mapping):
        found = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, list | tuple):
        found = [(type(model).__name__, model) for model in models]
    else:
        what = type(models).__name__
        msg = f"models is a {what}: give a dict of names and fitted models, or a list of models"
        raise ValueError(msg)
    if not found:
        msg = "models is empty: give at least one fitted model"
        raise ValueError(msg)
    return found


def _panel(name: str, model: Any, X: Any, y: Any, features: Any, classes: Any) -> Panel:
    seen = read(model, X, y, features, classes)
    if len(seen.planes) > 1:
        msg = f"{name} has {len(seen.planes)} classes: only hyperplanes for two can be compared"
        raise ValueError(msg)
    margin = seen.margin()
    return Panel(name, seen, cast(seen, seen.planes[0]), margin if margin > 0 else 0.0)


def _axes(axes: Any, wanted: int, low: bool) -> NDArray[Any]:
    if axes is not None:
        row = _style.given_axes(axes)
        if len(row) != wanted:
            msg = f"axes has {len(row)} Axes for {wanted} models: give one for each, or None"
            raise ValueError(msg)
        return row
    columns = min(wanted, PER_ROW)
    rows = -(-wanted // columns)
    size = (0.6 + 4.4 * columns, (3.0 if low else 5.0) * rows)
    figure, grid = _style.pyplot().subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False
    )
    for spare in grid.ravel()[wanted:]:
        figure.delaxes(spare)
    made: NDArray[Any] = grid.ravel()[:wanted]
    return made


def _views(row: NDArray[Any], panels: list[Panel]) -> list[View]:
    """One view for all, so that margins can be compared by eye."""
    first = panels[0].flat
    if not first.remark:
        return [first.view(ax) for ax in row]
    every = np.vstack([panel.flat.points for panel in panels])
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.06 * np.where(high > low, high - low, 1.0)
    return [_view.View(low - pad, high + pad, False)] * len(panels)


def _draw(ax: Axes, panel: Panel, view: View) -> list[tuple[Any, str]]:
    """Samples, line and band; the closest samples, or the wrong ones."""
    seen, points = panel.seen, panel.flat.points
    ringed = panel.closest() if panel.margin else np.flatnonzero(seen.wrong)
    few = ringed if ringed.size <= _points.MOST_WRONG else ringed[:0]
    rows = _points.chosen(len(seen.label), few)
    area = _points.size(rows.size) * float(np.clip(min(_style.box_inches(ax)) / 3.5, 0.35, 1))
    handles = _points.scatter(ax, points[rows], seen.label[rows], seen.classes, area=area)
    entries: list[tuple[Any, str]] = list(zip(handles, seen.classes, strict=True))
    if not panel.plane.w.any():
        return [*entries, (None, "w = 0: no hyperplane")]
    w, b = _view.unit(panel.plane)
    for k, sign in enumerate((-1, 1)):
        half = _view.clipped(view.corners(), sign * w, sign * b)
        _view.area(ax, half, f"region {k}", color=_style.colour(k), alpha=0.1)
    _view.line(ax, panel.plane, view, "hyperplane", linewidth=2.2)
    shown = np.intersect1d(rows, ringed)
    if panel.margin:
        return entries + _room(ax, panel, view, shown, area)
    ring = _points.rings(ax, points[shown], area=area)
    n, of = _style.grouped(ringed.size), _style.grouped(len(seen.label))
    return [*entries, (ring, f"wrong: {n} of {of}")]


def _room(
    ax: Axes, panel: Panel, view: View, closest: NDArray[np.intp], area: float
) -> list[tuple[Any, str]]:
    """The band of the margin, and circles of its size around the closest samples."""
    from matplotlib.patches import Circle

    (w, b), margin, points = _view.unit(panel.plane), panel.margin, panel.flat.points[closest]
    strip = _view.clipped(_view.clipped(view.corners(), w, b + margin), -w, margin - b)
    _view.area(ax, strip, "band", facecolor="white", zorder=1)
    for side in (-1, 1):
        dashed: dict[str, Any] = {"color": _style.GREY, "linewidth": 0.9, "linestyle": "--"}
        _view.line(ax, Hyperplane(w, b - side * margin), view, "edge", **dashed)
    feet = points - (points @ w + b)[:, np.newaxis] * w
    for place, foot in zip(points, feet, strict=True):
        ax.plot(*np.array([place, foot]).T, color=_style.INK, linewidth=1.2, gid="distance")
        if view.to_scale:
            disc = Circle(tuple(place), margin, fill=False, edgecolor=_style.INK, linewidth=1.1)
            _style.named(ax.add_patch(disc), "room").set_zorder(5)
    ring = _points.rings(ax, points, area=0.5 * area, gid="closest")
    return [(ring, f"closest: {_style.number(margin)} away")]


def _finish(
    ax: Axes, panel: Panel, view: View, entries: list[tuple[Any, str]], largest: float
) -> None:
    """The view, the names of the axes, the legend with the margin as its title."""
    view.show(ax)
    for axis, name, low, high in zip(
        (ax.xaxis, ax.yaxis), panel.flat.names, *view[:2], strict=True
    ):
        _style.label_axis(axis, name, low, high)
    if panel.flat.remark:
        ax.set_xlabel(f"{ax.get_xlabel()}\n({panel.flat.remark})")
    panel.flat.rows(ax, panel.seen)
    _style.plain(ax)
    room = f"margin {_style.number(panel.margin)}" if panel.margin else "does not separate"
    best = ", the largest" * (panel.margin == largest > 0)
    _style.legend(ax, entries, f"{_style.literal(panel.name)}: {room}{best}")

"""What a linear classifier decides: the plane cut by its line, or the view along its normal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._along import rows_along, view_along
from rosenblatt.plot._reading import read, read_kernel
from rosenblatt.plot.curved import curved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._view import View
    from rosenblatt.results import Hyperplane

    Floats = NDArray[np.float64]

MOST_LINES = 4  # with more classes than this, their own lines would be a tangle
MOST_PROBES = 500


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
    if hasattr(model, "kernel_"):
        return curved(model, read_kernel(model, X, y, feature_names, class_names), ax)
    seen = read(model, X, y, feature_names, class_names)
    if seen.X.shape[1] != 2:
        along = view_along if len(seen.planes) == 1 else rows_along
        height = 3.8 if len(seen.planes) == 1 else 1.6 + 0.55 * min(len(seen.planes), 30)
        return along(_style.new_axes(ax, (6.4, height)), seen)
    ax = _style.new_axes(ax, (6.0, 5.6))
    points = _points.dense(seen.X)
    view = _seen_view(ax, points, seen.planes)
    entries = [*_draw_points(ax, points, seen)]
    entries += (_two if len(seen.planes) == 1 else _several)(ax, points, seen, view)
    if not view.to_scale:
        entries.append((None, "axes have different scales"))
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), seen.features, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    _style.plain(ax)
    _style.legend(ax, entries)
    return ax


def _seen_view(ax: Axes, points: Floats, planes: tuple[Hyperplane, ...]) -> View:
    """The view of all points, widened to a line that runs not far outside."""
    view = _view.around(points, ax)
    if len(planes) > 1 or not planes[0].w.any() or not view.to_scale:
        return view
    if _view.segment(planes[0], view) is not None:
        return view
    foot = _view.foot_point(planes[0], (view.low + view.high) / 2)
    wider = _view.around(np.vstack([view.corners(), foot]), ax)
    return wider if wider.diagonal < 2.5 * view.diagonal else view


def _draw_points(ax: Axes, points: Floats, seen: Seen) -> list[tuple[Any, str]]:
    """The points and the rings; their legend entries."""
    rows = _points.drawn(seen)
    area = _points.size(rows.size) * float(np.clip(min(_style.box_inches(ax)) / 3.5, 0.35, 1))
    some = rows.size < len(points)
    handles = _points.scatter(ax, points[rows], seen.label[rows], seen.classes, area=area)
    ring = _points.rings(ax, points[rows][seen.wrong[rows]], area=area)
    entries = _points.entries(handles, seen.classes, ring, seen)
    if some:
        shown, n = _style.grouped(rows.size), _style.grouped(len(points))
        entries.append((None, f"{shown} of {n} points drawn"))
    return entries


def _two(ax: Axes, points: Floats, seen: Seen, view: View) -> list[tuple[Any, str]]:
    """Two half-planes, the line between them, the band of the margin, the normal."""
    plane = seen.planes[0]
    if not plane.w.any():
        side = seen.classes[int(plane.b > 0)]
        _view.area(ax, view.corners(), "region", color=_style.colour(int(plane.b > 0)), alpha=0.08)
        return [(None, f"w = 0: no hyperplane, everything is “{side}”")]
    w, b = _view.unit(plane)
    for k, sign in enumerate((-1, 1)):
        half = _view.clipped(view.corners(), sign * w, sign * b)
        _view.area(ax, half, f"region {k}", color=_style.colour(k), alpha=0.08)
    shown = f"w = {_style.vector(plane.w)}, b = {_style.number(plane.b)}"
    entries = [(_view.line(ax, plane, view, "hyperplane"), shown)]
    margin = seen.margin()
    if margin > 0:
        entries.append((band(ax, w, b, margin, view), f"margin {_style.number(margin)}"))
    if _view.segment(plane, view) is None:
        entries.append((None, "the hyperplane lies outside this view"))
    elif view.to_scale:
        normal(ax, plane, view, points)
    return entries


def band(ax: Axes, w: Floats, b: float, margin: float, view: View) -> Any:
    """All points closer to the line than the margin."""
    strip = _view.clipped(_view.clipped(view.corners(), w, b + margin), -w, margin - b)
    style: dict[str, Any] = {
        "facecolor": "white",
        "edgecolor": _style.GREY,
        "linewidth": 0.9,
        "linestyle": "--",
    }
    return _view.area(ax, strip, "band", zorder=1, **style)


def normal(
    ax: Axes, plane: Hyperplane, view: View, points: Floats, *, tint: str = _style.INK
) -> None:
    """The direction of w as an arrow from the line, where there is most room."""
    w, _ = _view.unit(plane)
    along = np.array([-w[1], w[0]])
    length = 0.17 * view.diagonal
    foot = roomiest(plane, view, points, length)
    tip = foot + length * w
    _style.arrow(ax, foot, tip, "normal", color=tint)
    step = 0.02 * view.diagonal
    corner = np.array([foot + step * along, foot + step * (along + w), foot + step * w])
    ax.plot(*corner.T, color=tint, linewidth=1.0, zorder=5, gid="right angle")
    at = tip + 0.025 * view.diagonal * w
    text = ax.text(
        at[0], at[1], "w", ha="center", va="center", size=11, style="italic", weight="bold"
    )
    text.set(color=tint, zorder=7, clip_on=True)
    _style.halo(text)


def roomiest(plane: Hyperplane, view: View, points: Floats, length: float) -> Floats:
    """The point of the line from which an arrow along w comes least close to any sample."""
    w, _ = _view.unit(plane)
    ends = _view.segment(plane, view)
    if ends is None:
        return _view.foot_point(plane, (view.low + view.high) / 2)
    share = np.linspace(0.1, 0.9, 33)[:, np.newaxis]
    feet = (1 - share) * ends[0] + share * ends[1]
    inside = view.contains(feet + 1.2 * length * w, rim=0.02)
    if not inside.any():
        return _view.foot_point(plane, (view.low + view.high) / 2)
    feet, share = feet[inside], share[inside, 0]
    probes = feet[:, None] + length * np.array([0.3, 0.6, 0.9, 1.15])[:, None] * w
    near = points[:: max(1, len(points) // MOST_PROBES)] if len(points) else feet
    gaps = np.hypot(*(probes[:, :, None] - near).T).min(axis=(0, 1))
    # Room counts up to the arrow's own length; beyond that the middle is better than the rim.
    score = np.minimum(gaps, 0.4 * length) - 0.2 * length * np.abs(share - 0.5)
    best: Floats = feet[np.argmax(score)]
    return best


def _several(ax: Axes, points: Floats, seen: Seen, view: View) -> list[tuple[Any, str]]:
    """The regions where each class has the largest value, and the classes' own lines."""
    from matplotlib.collections import LineCollection

    for k, polygon in enumerate(regions(seen.planes, view)):
        _view.area(ax, polygon, f"region {k}", color=_style.colour(k), alpha=0.13)
        inner = [edge for edge in _edges(polygon) if not view.on_rim(edge)]
        ax.add_collection(LineCollection(inner, colors=_style.INK, linewidths=1.2, zorder=2))
    flat = [seen.classes[k] for k, plane in enumerate(seen.planes) if not plane.w.any()]
    entries: list[tuple[Any, str]] = [(None, f"w = 0 for “{name}”: no line") for name in flat]
    if len(seen.planes) > MOST_LINES:
        return entries
    handle = None
    for k, plane in enumerate(seen.planes):
        if plane.w.any():
            style: dict[str, Any] = {
                "color": _style.colour(k),
                "linestyle": (0, (5, 3)),
                "linewidth": 1.5,
            }
            handle = _view.line(ax, plane, view, f"hyperplane {k}", **style)
            if view.to_scale and _view.segment(plane, view) is not None:
                normal(ax, plane, view, points, tint=_style.colour(k))
    return entries if handle is None else [*entries, (handle, "each class against the rest")]


def _edges(polygon: Floats) -> list[Floats]:
    """The sides of a polygon."""
    return [polygon[[k - 1, k]] for k in range(len(polygon))]


def regions(planes: tuple[Hyperplane, ...], view: View) -> list[Floats]:
    """For each class the polygon where its value is the largest, the first of equals."""
    found = []
    for k, own in enumerate(planes):
        polygon = view.corners()
        for j, other in enumerate(planes):
            if own == other and j < k:
                polygon = np.empty((0, 2))
            if j != k and len(polygon):
                polygon = _view.clipped(polygon, own.w - other.w, own.b - other.b)
        found.append(polygon)
    return found

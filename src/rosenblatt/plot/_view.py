"""The plane: what part of it to show, and straight lines in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.results import Hyperplane

    Floats = NDArray[np.float64]

WIDEST = 6.0  # features whose ranges differ by more than this are not drawn to one scale


class View(NamedTuple):
    """A rectangle of the plane, and whether both axes have one scale."""

    low: Floats
    high: Floats
    to_scale: bool

    @property
    def span(self) -> Floats:
        """Width and height."""
        return self.high - self.low

    @property
    def diagonal(self) -> float:
        """The length of its diagonal."""
        return float(np.hypot(*self.span))

    def corners(self) -> Floats:
        """The four corners, in order."""
        (a, c), (b, d) = self.low, self.high
        return np.array([[a, c], [b, c], [b, d], [a, d]])

    def contains(self, points: Floats, rim: float = 0.0) -> Any:
        """Which points lie inside, at least a share `rim` of the span from the edge."""
        inner = self.low + rim * self.span, self.high - rim * self.span
        return ((points >= inner[0]) & (points <= inner[1])).all(axis=-1)

    def on_rim(self, edge: Floats) -> bool:
        """Whether a segment runs along the edge of the view."""
        close = 1e-9 * self.diagonal
        sides = np.abs(edge[:, :, np.newaxis] - np.column_stack([self.low, self.high])) < close
        return bool(sides.all(axis=0).any())

    def show(self, ax: Axes) -> None:
        """Make this the visible part of `ax`."""
        ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        ax.set_aspect("equal" if self.to_scale else "auto", adjustable="box")


def around(points: ArrayLike, ax: Axes, *, pad: float = 0.08, always: bool = False) -> View:
    """The view of all points that fills the axes; `always` to one scale, whatever the ranges."""
    points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    if not len(points):
        points = np.array([[-1.0, -1.0], [1.0, 1.0]])
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    if not span.any():
        span = np.full(2, np.abs(points).max() or 1.0)
    middle = (low + high) / 2
    thin = span.min() == 0
    to_scale = always or thin or bool(span.max() <= WIDEST * span.min())
    if to_scale:
        span = np.maximum(span, span.max() / WIDEST)
    span = span * (1 + 2 * pad)
    if to_scale:
        width, height = _style.box_inches(ax)
        span = np.maximum(span, span[::-1] * np.array([width / height, height / width]))
    return View(middle - span / 2, middle + span / 2, to_scale)


def unit(plane: Hyperplane) -> tuple[Floats, float]:
    """The same hyperplane with a normal of length 1."""
    return plane.w / plane.norm, plane.b / plane.norm


def clipped(polygon: Floats, w: Floats, b: float) -> Floats:
    """The part of a convex polygon where ``w·x + b >= 0``."""
    kept: list[Floats] = []
    values = polygon @ w + b
    for k in range(len(polygon)):
        a, z = values[k - 1], values[k]
        if (a >= 0) != (z >= 0):
            kept.append(polygon[k - 1] + a / (a - z) * (polygon[k] - polygon[k - 1]))
        if z >= 0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 2)


def foot_point(plane: Hyperplane, point: ArrayLike) -> Floats:
    """The point of the hyperplane nearest to `point`."""
    w, b = unit(plane)
    at = np.asarray(point, dtype=np.float64)
    foot: Floats = at - (at @ w + b) * w
    return foot


def segment(plane: Hyperplane, view: View) -> Floats | None:
    """The two ends of what is seen of a line, or None."""
    w, b = unit(plane)
    corners = view.corners()
    values = corners @ w + b
    ends = [
        corners[k - 1] + values[k - 1] / (values[k - 1] - values[k]) * (corners[k] - corners[k - 1])
        for k in range(4)
        if (values[k - 1] >= 0) != (values[k] >= 0)
    ]
    return np.array(ends) if len(ends) == 2 else None


def line(ax: Axes, plane: Hyperplane, view: View, gid: str, **style: Any) -> Any:
    """The whole line ``w·x + b = 0``, however the view is changed later."""
    foot = foot_point(plane, (view.low + view.high) / 2)
    w, _ = unit(plane)
    along = np.array([-w[1], w[0]]) * view.diagonal
    options: dict[str, Any] = {"color": _style.INK, "linewidth": 1.8, "zorder": 3} | style
    return _style.named(ax.axline(tuple(foot), tuple(foot + along), **options), gid)


def area(ax: Axes, polygon: Floats, gid: str, **style: Any) -> Any:
    """A filled polygon, or None where nothing is left of it."""
    from matplotlib.patches import Polygon

    if len(polygon) < 3:
        return None
    options: dict[str, Any] = {"linewidth": 0, "zorder": 0} | style
    return _style.named(ax.add_patch(Polygon(polygon, closed=True, **options)), gid)

"""The plane of a picture: what part of it is shown, and lines, areas and samples in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.array_types import Floats, Ints
from rosenblatt.plot.axes import Axes, box_inches, plain
from rosenblatt.plot.lettering import halo, label_axis, legend, write
from rosenblatt.plot.seen import Seen
from rosenblatt.plot.style import GREY, INK, Keys, Look, arrow, colour, marker
from rosenblatt.results import Hyperplane

WIDEST = 6.0  # features whose ranges differ by more than this are not drawn to one scale
MOST, MOST_WRONG = 2000, 200  # samples drawn; and if so few are wrong, those in any case
MOST_PROBES = 500


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
    def middle(self) -> Floats:
        """The point in its middle."""
        return (self.low + self.high) / 2

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

    def segment(self, plane: Hyperplane) -> Floats | None:
        """The two ends of what is seen of a line, or None."""
        if not plane.w.any():
            return None
        w, b = unit(plane)
        corners = self.corners()
        values = corners @ w + b
        ends = [
            _crossing(corners[k - 1], corners[k], values[k - 1], values[k])
            for k in range(4)
            if (values[k - 1] >= 0) != (values[k] >= 0)
        ]
        return np.array(ends) if len(ends) == 2 else None

    def halves(self, plane: Hyperplane) -> tuple[Floats, Floats]:
        """What is seen of the negative and of the positive side of a line, as polygons."""
        w, b = unit(plane)
        return clipped(self.corners(), -w, -b), clipped(self.corners(), w, b)


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
        width, height = box_inches(ax)
        span = np.maximum(span, span[::-1] * np.array([width / height, height / width]))
    return View(middle - span / 2, middle + span / 2, to_scale)


def unit(plane: Hyperplane) -> tuple[Floats, float]:
    """The same hyperplane with a normal of length 1."""
    return plane.w / plane.norm, plane.b / plane.norm


def _crossing(start: Floats, end: Floats, a: float, z: float) -> Floats:
    """Where a function that is a at the start and z at the end is zero."""
    return start + a / (a - z) * (end - start)


def clipped(polygon: Floats, w: Floats, b: float) -> Floats:
    """The part of a convex polygon where ``w·x + b >= 0``."""
    kept: list[Floats] = []
    values = polygon @ w + b
    for k in range(len(polygon)):
        if (values[k - 1] >= 0) != (values[k] >= 0):
            kept.append(_crossing(polygon[k - 1], polygon[k], values[k - 1], values[k]))
        if values[k] >= 0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 2)


def foot_point(plane: Hyperplane, at: Floats) -> Floats:
    """The point of the hyperplane nearest to the point `at`."""
    w, b = unit(plane)
    foot: Floats = at - (at @ w + b) * w
    return foot


def roomiest(plane: Hyperplane, view: View, points: Floats, length: float) -> Floats:
    """The point of the line from which an arrow along w comes least close to any sample."""
    w, _ = unit(plane)
    ends = view.segment(plane)
    if ends is None:
        return foot_point(plane, view.middle)
    share = np.linspace(0.1, 0.9, 33)[:, np.newaxis]
    feet = (1 - share) * ends[0] + share * ends[1]
    inside = view.contains(feet + 1.2 * length * w, rim=0.02)
    if not inside.any():
        return foot_point(plane, view.middle)
    feet, share = feet[inside], share[inside, 0]
    probes = feet[:, None] + length * np.array([0.3, 0.6, 0.9, 1.15])[:, None] * w
    near = points[:: max(1, len(points) // MOST_PROBES)] if len(points) else feet
    gaps = np.hypot(*(probes[:, :, None] - near).T).min(axis=(0, 1))
    # Room counts up to the arrow's own length; beyond that the middle is better than the rim.
    score = np.minimum(gaps, 0.4 * length) - 0.2 * length * np.abs(share - 0.5)
    best: Floats = feet[np.argmax(score)]
    return best


# Samples --------------------------------------------------------------------------------------


def chosen(n: int, *must: Ints) -> Ints:
    """Rows to draw: all, or a sample that is the same each time, with those that must be in it."""
    if n <= MOST:
        return np.arange(n)
    some = np.random.default_rng(0).choice(n, MOST, replace=False)
    return np.unique(np.concatenate([some, *must]))


def drawn_rows(seen: Seen) -> Ints:
    """Rows to draw; always the nearest of each class, and the wrong ones if they are few."""
    if seen.n <= MOST:
        return np.arange(seen.n)
    wrong = np.flatnonzero(seen.wrong)
    must = [wrong] if wrong.size <= MOST_WRONG else []
    if not seen.planes:  # of a kernel perceptron
        return chosen(seen.n, *must)
    distance = np.abs(np.column_stack([p.decision_function(seen.X) for p in seen.planes]))
    for k in range(len(seen.classes)):
        own = np.flatnonzero(seen.label == k)
        if own.size:
            must.append(own[[np.argmin(distance[own, min(k, len(seen.planes) - 1)])]])
    return chosen(seen.n, *must)


def size(n: int) -> float:
    """The area of a marker in points², smaller where there are many."""
    return float(np.clip(3200 / max(n, 1), 8, 44))


def dots(ax: Axes, points: Any, **style: Any) -> Any:
    """A marker on each of these points, or on the one point."""
    x, y = np.transpose(points)
    return ax.scatter(x, y, **style)


def scatter(
    ax: Axes, points: Any, label: Any, classes: Sequence[str], *, area: float, **style: Any
) -> list[Any]:
    """The points, one collection per class, in the colours and markers of their classes."""
    options: Look = {"linewidths": 0.5, "edgecolors": "white", "zorder": 4} | style
    made = []
    for k in range(len(classes)):
        look: Look = {"c": colour(k), "marker": marker(k), "gid": f"class {k}"} | options
        made.append(dots(ax, points[label == k], s=area, **look))
    return made


def rings(ax: Axes, points: Any, *, area: float, gid: str = "wrong", **style: Any) -> Any:
    """A ring around each of these points."""
    thin = len(points) > 60
    options: Look = {"facecolors": "none", "edgecolors": INK, "zorder": 6, "gid": gid}
    options |= {"linewidths": 0.6, "alpha": 0.6} if thin else {"linewidths": 1.3}
    return dots(ax, points, s=(2.5 if thin else 3.2) * area + 8, **(options | style))


# Pictures -------------------------------------------------------------------------------------


@dataclass(eq=False)
class Picture:
    """Axes, the part of the plane that they show, and the entries of their legend by name."""

    ax: Axes
    view: View
    entries: Keys = field(default_factory=dict)

    def line(self, plane: Hyperplane, gid: str = "hyperplane", **style: Any) -> Any:
        """The whole line ``w·x + b = 0``, however the view is changed later."""
        foot, (w, _) = foot_point(plane, self.view.middle), unit(plane)
        along = np.array([-w[1], w[0]]) * self.view.diagonal
        options: Look = {"color": INK, "linewidth": 1.8, "zorder": 3, "gid": gid} | style
        return self.ax.axline(tuple(foot), tuple(foot + along), **options)

    def area(self, polygon: Floats, gid: str, **style: Any) -> Any:
        """A filled polygon, or None where nothing is left of it."""
        from matplotlib.patches import Polygon

        if len(polygon) < 3:
            return None
        options: Look = {"linewidth": 0, "zorder": 0, "gid": gid} | style
        return self.ax.add_patch(Polygon(polygon, closed=True, **options))

    def halves(self, plane: Hyperplane, alpha: float) -> None:
        """The two sides of a line in the colours of the classes."""
        for k, half in enumerate(self.view.halves(plane)):
            self.area(half, f"region {k}", color=colour(k), alpha=alpha)

    def band(self, plane: Hyperplane, margin: float, **style: Any) -> Any:
        """All points closer to the line than the margin."""
        w, b = unit(plane)
        strip = clipped(clipped(self.view.corners(), w, b + margin), -w, margin - b)
        look: Look = {"facecolor": "white", "edgecolor": GREY, "linewidth": 0.9}
        return self.area(strip, "band", **(look | {"linestyle": "--", "zorder": 1} | style))

    def normal(self, plane: Hyperplane, points: Floats, tint: str = INK) -> None:
        """The direction of w as an arrow from the line, where there is most room; if it is seen."""
        if not self.view.to_scale or self.view.segment(plane) is None:
            return
        w, _ = unit(plane)
        length = 0.17 * self.view.diagonal
        foot = roomiest(plane, self.view, points, length)
        tip = foot + length * w
        arrow(self.ax, foot, tip, "normal", color=tint)
        self.right_angle(foot, w, 0.02 * self.view.diagonal, tint)
        at = tip + 0.025 * self.view.diagonal * w
        style: Look = {"size": 11, "style": "italic", "weight": "bold", "clip_on": True}
        halo(write(self.ax, at, "w", color=tint, zorder=7, **style))

    def right_angle(self, foot: Floats, across: Floats, step: float, tint: str = INK) -> None:
        """The sign of a right angle between a line and a direction across it."""
        along = np.array([-across[1], across[0]])
        corner = foot + step * np.array([along, along + across, across])
        self.ax.plot(*corner.T, color=tint, linewidth=1.0, zorder=5, gid="right angle")

    @property
    def per_unit(self) -> Floats:
        """How many points of print a unit of each axis is long."""
        return 72 * np.array(box_inches(self.ax)) / self.view.span

    def shrink(self) -> float:
        """How much smaller markers are in small axes."""
        return float(np.clip(min(box_inches(self.ax)) / 3.5, 0.35, 1))

    def note(self, name: str, text: str) -> None:
        """A line of the legend that explains nothing drawn."""
        self.entries[name] = None, text

    def show(self, names: Sequence[str] = ()) -> None:
        """Make the view the visible part of the axes, and name these if there are names."""
        ax, (low, high, to_scale) = self.ax, self.view
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        ax.set_aspect("equal" if to_scale else "auto", adjustable="box")
        for axis, name, least, most in zip((ax.xaxis, ax.yaxis), names, low, high, strict=False):
            label_axis(axis, name, least, most)
        plain(ax)

    def legend(self, title: str = "") -> None:
        """What the picture says above itself."""
        legend(self.ax, self.entries.values(), title)

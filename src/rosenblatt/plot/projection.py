"""Samples of any number of features: as shadows in a plane, or as histograms along the normal."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.array_types import Bools, Floats, Ints
from rosenblatt.plot.axes import Axes, new_axes, plain
from rosenblatt.plot.lettering import legend, literal, number, of_classes, out_of, write
from rosenblatt.plot.plane import Picture, View, around, rings, scatter, size
from rosenblatt.plot.seen import Seen, dense
from rosenblatt.plot.style import GREY, INK, NORMAL, PALE, SMALL, Entries, Look, colour
from rosenblatt.results import Hyperplane
from rosenblatt.visible import grouped

ROUNDS = 60  # of the power method: enough for a picture
ENOUGH = 20_000  # so many samples show where they spread
NO_LINE = Hyperplane(np.zeros(2))
DISTANCE = "signed distance  (w·x + b)/‖w‖"
MOST_RINGED = 800


class Shadow(NamedTuple):
    """The points, the hyperplane as a line, the meeting point; names of axes; what to know."""

    points: Floats
    line: Hyperplane
    point: Floats | None
    names: tuple[str, str]
    remark: str = ""
    in_rows: bool = False

    def view(self, ax: Axes) -> View:
        """The view of all points."""
        if not self.in_rows:
            return around(self.points, ax, pad=0.1)
        low, high = self.points[:, 0].min(), self.points[:, 0].max()
        pad = 0.08 * (high - low or abs(high) or 1.0)
        return View(np.array([low - pad, -1.7]), np.array([high + pad, 1.7]), False)

    def filling(self, ax: Axes) -> View:
        """The view of all points, in which a projection fills the axes.

        What counts there is how far samples are from the hyperplane, and angles have no meaning
        between that and the other direction.
        """
        if not self.remark:
            return self.view(ax)
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        pad = 0.06 * np.where(high > low, high - low, 1.0)
        return View(low - pad, high + pad, False)


@dataclass(eq=False, kw_only=True)
class Scene(Picture):
    """Samples and what a model makes of them, where they are drawn."""

    seen: Seen
    flat: Shadow

    @property
    def points(self) -> Floats:
        """Where the samples are drawn."""
        return self.flat.points

    def samples(self, rows: Ints, **style: Any) -> float:
        """These samples by their classes; the area of a marker."""
        area, label, classes = size(rows.size) * self.shrink(), self.seen.label, self.seen.classes
        made = scatter(self.ax, self.points[rows], label[rows], classes, area=area, **style)
        drawn = {f"class {k}": (handle, classes[k]) for k, handle in enumerate(made)}
        self.entries |= of_classes(drawn)
        return area

    def ring_wrong(self, rows: Ints, area: float) -> None:
        """Rings around those samples among these that are on the wrong side, unless very many."""
        wrong = self.points[rows][self.seen.wrong[rows]]
        if len(wrong) > MOST_RINGED:  # they would hide everything
            self.note("wrong", f"{self.seen.errors}, not ringed")
        elif self.seen.wrong.any():
            self.entries["wrong"] = rings(self.ax, wrong, area=area), self.seen.errors

    def note_part(self, rows: Ints) -> None:
        """Say so where not all samples are drawn."""
        if rows.size < self.seen.n:
            self.note("drawn", f"{out_of(rows.size, self.seen.n)} points drawn")

    def note_outside(self) -> int:
        """Say so where samples are not in the view; how many."""
        out = int((~self.view.contains(self.points)).sum())
        if out:
            self.note("outside", f"{out_of(out, self.seen.n)} are farther out")
        return out

    def note_scales(self) -> None:
        """Say so where angles and distances are not true."""
        if not self.view.to_scale and not self.flat.in_rows:
            self.note("scales", "axes have different scales")

    def finish(self, wide: int = 1000) -> None:
        """Name the axes, and the rows where there is one for each class; say what to know."""
        self.show(self.flat.names)
        if self.flat.remark:
            remark = fill(f"({self.flat.remark})", wide)
            self.ax.set_xlabel(f"{self.ax.get_xlabel()}\n{remark}")
        if self.flat.in_rows:
            self.ax.set_yticks([-1, 1], [literal(name, 20) for name in self.seen.classes])


def cast(seen: Seen, plane: Hyperplane | None = None, point: Floats | None = None) -> Shadow:
    """The samples, a hyperplane and a point: as they are, in two rows, or in projection."""
    d = seen.X.shape[1]
    if d == 2:
        return Shadow(dense(seen.X), plane or NO_LINE, point, (seen.features[0], seen.features[1]))
    if d == 1:  # one class above the other, or their intervals would hide each other
        points = np.column_stack([dense(seen.X)[:, 0], seen.signs])
        line = NO_LINE if plane is None else Hyperplane(np.append(plane.w, 0.0), plane.b)
        middle = None if point is None else np.append(point, 0.0)
        return Shadow(points, line, middle, (seen.features[0], ""), in_rows=True)
    if plane is not None and plane.w.any():
        return _from_the_edge(seen, plane, point)
    return _between_the_means(seen, point)


def _from_the_edge(seen: Seen, plane: Hyperplane, point: Floats | None) -> Shadow:
    """Across: the signed distance. Up: where the samples spread most within the hyperplane."""
    up = spread(seen.X, [plane.w / plane.norm])
    across = plane.decision_function(seen.X) / plane.norm
    points = np.column_stack([across, np.asarray(seen.X @ up)])
    meeting = None if point is None else np.array([0.0, point @ up])
    names = (DISTANCE, "largest spread within the hyperplane")
    remark = f"shadow of {seen.X.shape[1]} features, the hyperplane seen from its edge"
    return Shadow(points, Hyperplane(np.array([1.0, 0.0])), meeting, names, remark)


def _between_the_means(seen: Seen, point: Floats | None) -> Shadow:
    """Across: from one class's mean to the other's. Up: the largest spread at a right angle."""
    means = [np.asarray(seen.X[seen.label == k].mean(axis=0)).ravel() for k in range(2)]
    between = means[1] - means[0]
    length = float(np.linalg.norm(between))
    if length > 1e-9 * float(np.abs(means).max()):
        across, name = between / length, "from the mean of one class to that of the other"
    else:
        across, name = spread(seen.X, []), "direction of largest spread"
    up = spread(seen.X, [across])
    points = np.column_stack([np.asarray(seen.X @ direction) for direction in (across, up)])
    meeting = None if point is None else np.array([point @ across, point @ up])
    names = (name, "largest spread at a right angle to it")
    remark = f"shadow of {seen.X.shape[1]} features: shadows may overlap where hulls do not"
    return Shadow(points, NO_LINE, meeting, names, remark)


def spread(X: Any, but: list[Floats]) -> Floats:
    """The direction of largest variance at right angles to those in `but`; X may be sparse."""
    if X.shape[0] > ENOUGH:
        X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], ENOUGH, replace=False))]
    mean = np.asarray(X.mean(axis=0)).ravel()
    v = _without(np.random.default_rng(0).standard_normal(X.shape[1]), but)
    for _ in range(ROUNDS):
        length = float(np.linalg.norm(v))
        if length == 0.0:
            break
        v = v / length
        values = np.asarray(X @ v) - mean @ v
        grown = np.asarray(X.T @ values) - mean * values.sum()
        if not grown.any():
            break
        v = _without(grown, but)
    unit: Floats = v / (np.linalg.norm(v) or 1.0)
    return unit if unit[np.argmax(np.abs(unit))] > 0 else -unit


def _without(v: Floats, but: list[Floats]) -> Floats:
    """What is left of a vector at right angles to those in `but`."""
    for other in but:
        v = v - (v @ other) * other
    return v


# Along the normal -----------------------------------------------------------------------------

# Up to so many samples are drawn one by one under their histogram; of more, the wrong ones, if few.
MOST_TICKS, MOST_WRONG = 300, 100
MOST_ROWS = 26  # of classes
SHARE = "share of the class"
TAIL = 0.005  # so small a share of a class, at either end, may be left outside the picture
Distances = list[Floats | None]  # from each hyperplane; None where ``w = 0``


def along_normals(
    ax: Axes | None, seen: Seen, distances: Distances, what: str, title: str = "", *notes: str
) -> Axes:
    """The share of each class at each signed distance, in a row for each of several hyperplanes."""
    K, room = len(distances), 0.4 if title else 0.0
    ax = new_axes(ax, (6.4, 3.8 + room if K == 1 else 1.6 + room + 0.55 * min(K, MOST_ROWS)))
    ax.set_xlabel(what)
    plain(ax)
    if K > 1:
        entries = _rows(ax, seen, distances)
    elif distances[0] is not None:
        entries = _two_classes(ax, seen, distances[0])
    else:
        ax.set(ylabel=SHARE, xticks=[], yticks=[])
        side = seen.classes[int(seen.planes[0].b > 0)]
        says = f"w = 0: no hyperplane, no distances\neverything is “{side}”"
        write(ax, (0.5, 0.5), says, size=NORMAL, zorder=3, transform=ax.transAxes)
        return ax
    legend(ax, entries + [(None, note) for note in notes], title)
    return ax


def _margin(seen: Seen, distance: Floats, own: Bools, k: int) -> float:
    """The margin of the k-th hyperplane, also where it lies in the space of a kernel's features."""
    if seen.planes:
        return seen.margin(k)
    return float(np.where(own, distance, -distance).min())


def _two_classes(ax: Axes, seen: Seen, distance: Floats) -> Entries:
    """The share of each of two classes at each distance; the legend's entries."""
    ax.set_ylabel(SHARE)
    classes = [distance[seen.label == k] for k in range(2)]
    margin = _margin(seen, distance, seen.label == 1, 0)
    edges = _edges(classes, margin)
    every = [_shares(values, edges) for values in classes]
    entries = [
        (_histogram(ax, shares, edges, k), seen.classes[k]) for k, shares in enumerate(every)
    ]
    top = max(shares.max(initial=0.0) for shares in every)
    beyond = _beyond(distance, edges)
    ring = _one_by_one(ax, distance, seen, top or 1.0, np.flatnonzero(~beyond))
    if seen.wrong.any():
        entries.append((ring, seen.errors))
    line = ax.axvline(0, color=INK, linewidth=1.8, zorder=3, gid="hyperplane")
    entries.append((line, "hyperplane"))
    if margin > 0:
        style: Look = {"facecolor": "white", "edgecolor": GREY, "linestyle": "--"}
        band = ax.axvspan(-margin, margin, zorder=0.5, gid="band", **style)
        entries.append((band, f"margin {number(margin)}"))
    if beyond.any():
        entries.append((None, f"outside this picture: {out_of(beyond.sum(), distance.size)}"))
    return entries


def _edges(groups: list[Floats], margin: float = 0.0) -> Floats:
    """The borders of the bins: one at zero, or one on either side of an empty band.

    Tails that are longer than half of all the rest are outside.
    """
    some = [values for values in groups if values.size]
    reach = margin if margin > 0 else 0.0
    lows = [np.quantile(values, [0, TAIL], method="lower") for values in some]
    highs = [np.quantile(values, [1, 1 - TAIL], method="higher") for values in some]
    least, low = np.min([np.full(2, -reach), *lows], axis=0)
    most, high = np.max([np.full(2, reach), *highs], axis=0)
    room = (high - low) / 2
    low, high = least if low - least <= room else low, most if most - high <= room else high
    n = sum(values.size for values in groups)
    width = (high - low or 1.0) / np.clip(2 * np.sqrt(n), 8, 60)
    inner = margin * (1 - 1e-9) if margin > 0 else 0.0  # the nearest samples are outside it
    right = inner + width * np.arange(np.ceil((high - inner) / width) + 1)
    left = -inner - width * np.arange(np.ceil((-low - inner) / width) + 1)
    left[-1], right[-1] = min(left[-1], low), max(right[-1], high)  # rounding must lose nobody
    return np.unique(np.concatenate([left, right]))


def _beyond(distance: Floats, edges: Floats) -> Bools:
    """Which samples lie outside the histogram."""
    outside: Bools = (distance < edges[0]) | (distance > edges[-1])
    return outside


def _shares(distance: Floats, edges: Floats) -> Floats:
    shares: Floats = np.histogram(distance, edges)[0] / max(distance.size, 1)
    return shares


def _histogram(ax: Axes, shares: Floats, edges: Floats, k: int) -> Any:
    """The histogram of class k."""
    from matplotlib.colors import to_rgba

    tint, bars = colour(k), np.where(shares > 0, shares, np.nan)
    style: Look = {"facecolor": to_rgba(tint, 0.45), "edgecolor": tint, "linewidth": 1.2}
    style |= {"hatch": "////" if k else "", "zorder": 1.5, "gid": f"class {k}"}
    return ax.stairs(bars, edges, fill=True, **style)


def _one_by_one(ax: Axes, distance: Floats, seen: Seen, top: float, rows: Ints) -> Any:
    """Under the histograms these samples themselves; of many, the wrong ones, if they are few."""
    few = distance.size <= MOST_TICKS
    rows = rows if few else rows[seen.wrong[rows]]
    if not few and rows.size > MOST_WRONG:
        rows = rows[:0]
    heights = -top * (0.07 + 0.08 * seen.label[rows])
    points = np.column_stack([distance[rows], heights])
    area = 22.0 if few else 14.0
    scatter(ax, points, seen.label[rows], seen.classes, area=area, clip_on=False)
    ring = rings(ax, points[seen.wrong[rows]], area=area)
    lowest = 0.22 if rows.size else 0.0
    ax.set_ylim(-lowest * top, 1.08 * top)
    ax.set_yticks([t for t in ax.get_yticks() if 0 <= t <= 1.08 * top])
    return ring if rows.size else None


def _rows(ax: Axes, seen: Seen, distances: Distances) -> Entries:
    """A row for each class at its distances; the legend's entries."""
    shown = _worst(seen, distances)
    K, some = len(shown), [(k, distances[k]) for k in shown]
    both = [(d, side) for k, d in some for side in (seen.label == k, seen.label != k)]
    edges = _edges([d[side] for d, side in both if d is not None])
    entries: Entries = []
    for row, (k, distance) in enumerate(some):
        base = float(K - 1 - row)
        ax.axhline(base, color=PALE, linewidth=0.8, zorder=1)
        if distance is None:
            text = "w = 0: no hyperplane"
            ax.text(0, base + 0.3, text, ha="center", size=SMALL, color=GREY)
        else:
            pair = _row(ax, distance, seen, k, edges, base)
            entries = entries or list(zip(pair, ("the class itself", "the rest"), strict=True))
    line = ax.axvline(0, color=INK, linewidth=1.6, zorder=3, gid="hyperplane")
    ax.set(yticks=K - 0.8 - np.arange(K), ylim=(-0.25, K - 0.05))
    ax.set_yticklabels([literal(seen.classes[k], 20 if K > 8 else 28) for k in shown])
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    entries.append((line, "tied with the highest of the others" if seen.joint else "hyperplane"))
    entries += [(None, f"{seen.errors} (largest value decides)")] * bool(seen.wrong.any())
    rest = len(distances) - K
    return entries + [(None, f"{rest} classes with fewer not drawn")] * bool(rest)


def _worst(seen: Seen, distances: Distances) -> list[int]:
    """All classes; of very many those with most samples on the wrong side of their hyperplane."""
    if len(distances) <= MOST_ROWS:
        return list(range(len(distances)))
    wrong = [
        seen.n if d is None else int((np.where(seen.label == k, 1, -1) * d <= 0).sum())
        for k, d in enumerate(distances)
    ]
    return sorted(np.argsort(-np.array(wrong), kind="stable")[:MOST_ROWS].tolist())


def _row(ax: Axes, distance: Floats, seen: Seen, k: int, edges: Floats, base: float) -> list[Any]:
    """The samples of class k and all others, seen along the normal of class k."""
    own = seen.label == k
    shares = [_shares(distance[own], edges), _shares(distance[~own], edges)]
    scale = 0.8 / max(max(s.max(initial=0.0) for s in shares), 1e-300)
    rest: Look = {"facecolor": "#BBBBBB", "alpha": 0.7, "gid": f"rest {k}"}
    mine: Look = {"facecolor": colour(k), "alpha": 0.6, "gid": f"class {k}"}
    made = [
        ax.stairs(base + scale * s, edges, baseline=base, fill=True, zorder=2.0, **look)
        for s, look in zip(shares[::-1], (rest, mine), strict=True)
    ]
    made[1].set(hatch="////", edgecolor=colour(k))
    margin, missed = _margin(seen, distance, own, k), (np.where(own, 1, -1) * distance <= 0).sum()
    says = f"margin {number(margin)}" if margin > 0 else f"{grouped(missed)} on the wrong side"
    if seen.joint and margin > 0:
        says = f"all clear by {number(margin)}"
    beyond = int(_beyond(distance, edges).sum())
    says += f"\n{grouped(beyond)} outside this picture" * (beyond > 0)
    where = ax.get_yaxis_transform()
    ax.text(1.01, base + 0.12, says, size=SMALL, color=GREY, transform=where)
    return made[::-1]

"""Samples before any line, in the plane or along one feature; and that feature cut in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.array_types import Floats, Ints
from rosenblatt.plot.axes import Axes, new_axes, plain
from rosenblatt.plot.lettering import (
    halo,
    label_axis,
    legend,
    literal,
    number,
    of_classes,
    out_of,
    write,
)
from rosenblatt.plot.plane import Picture, around, chosen, dots, rings, size
from rosenblatt.plot.seen import Seen, decision_values, dense, read_points
from rosenblatt.plot.style import GREY, INK, PALE, Keys, Look, arrow, colour, marker
from rosenblatt.results import Hyperplane

BINS, STEP, TALL = 70, 0.13, 0.62  # of stacks: places side by side, one upon another, the highest
NAMED = 20  # so many classes are named in a legend, and up to twice as many in rows
GRID = 2000  # where a curve is looked at for its zeros


def points(
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    markers: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The samples alone, before any line is drawn among them.

    Two features are a plane; one is a line, with a row for each class, where samples that would
    hide each other are stacked.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, 1) or (n, 2)
    y : array of n labels
        Of any number of classes.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    markers : sequence of str, optional
        A marker of Matplotlib for each class, in sorted order, such as ``("x", "o")``.
    feature_names, class_names : sequences of str, optional
        Names to use instead of those of the table, and of the labels themselves.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rosenblatt as rb
    >>> ax = rb.plot.points(*rb.datasets.eight_points(), markers=("x", "o"))
    """
    seen = read_points(X, y, feature_names, class_names)
    looks = _looks(markers, len(seen.classes))
    d = seen.X.shape[1]
    if d == 1:
        return _rows_only(seen, looks, ax)
    if d != 2:
        msg = f"X has {d} features: only one or two can be drawn as points; choose two columns"
        raise ValueError(msg)
    ax = new_axes(ax, (6.0, 5.6))
    where, rows = dense(seen.X), chosen(seen.n)
    picture = Picture(ax, around(where, ax))
    area = 1.4 * size(rows.size) * picture.shrink()
    drawn = _by_class(ax, where[rows], seen.label[rows], seen.classes, looks, area)
    picture.entries |= of_classes(drawn)
    if rows.size < seen.n:
        picture.note("drawn", f"{out_of(rows.size, seen.n)} points drawn")
    if not picture.view.to_scale:
        picture.note("scales", "axes have different scales")
    picture.show(seen.features)
    if picture.entries:
        picture.legend()
    return ax


def _looks(given: Sequence[str] | None, n: int) -> list[str]:
    """A marker for each class."""
    from matplotlib.lines import Line2D

    if given is None:
        return [marker(k) for k in range(n)]
    looks = [given] if isinstance(given, str) else given
    known = {str(name) for name in Line2D.markers} - {"None", "none", " ", ""}
    fine = isinstance(looks, list | tuple) and all(isinstance(m, str) and m in known for m in looks)
    if not fine:
        wanted = "give one of Matplotlib's for each class, such as ('x', 'o')"
        msg = f"markers={brief(given)} is not allowed: {wanted}"
        raise ValueError(msg)
    if len(looks) != n:
        msg = f"markers has {len(looks)} markers for {n} classes: give one for each"
        raise ValueError(msg)
    return list(looks)


def _by_class(
    ax: Axes, where: Floats, label: Any, classes: Sequence[str], looks: list[str], area: float
) -> Keys:
    """The samples by their classes; an entry of the legend for each."""
    from matplotlib.markers import MarkerStyle

    entries: Keys = {}
    for k, name in enumerate(classes):
        style: Look = {"c": colour(k), "marker": looks[k], "zorder": 4, "gid": f"class {k}"}
        thin = {"linewidths": 0.5, "edgecolors": "white"}
        style |= thin if MarkerStyle(looks[k]).is_filled() else {"linewidths": 1.8}
        entries[f"class {k}"] = dots(ax, where[label == k], s=area, **style), name
    return entries


# One feature ----------------------------------------------------------------------------------


class Line(NamedTuple):
    """One feature as a line from left to right: samples in a row for each class, and its ends."""

    where: Floats
    rows: Ints
    low: float
    high: float


def _line(seen: Seen, cuts: Floats | None = None) -> Line:
    """Where the samples of one feature stand; wide enough for cuts that are not far outside."""
    values = dense(seen.X)[:, 0] if seen.n else np.empty(0)
    low, high = (values.min(), values.max()) if seen.n else (-1.0, 1.0)
    span = (high - low) or abs(high) or 1.0
    near = [] if cuts is None else [c for c in cuts if low - span < c < high + span]
    low, high = min([low, *near]) - 0.07 * span, max([high, *near]) + 0.07 * span
    rows = chosen(seen.n)
    where = np.column_stack([values, seen.label.astype(np.float64)])
    level = np.zeros(seen.n)
    for k in range(len(seen.classes)):
        own = rows[seen.label[rows] == k]
        level[own] = _levels((values[own] - low) / (high - low))
    where[:, 1] += min(STEP, TALL / max(level.max(initial=0.0), 1.0)) * level
    return Line(where, rows, float(low), float(high))


def _levels(share: Floats) -> Ints:
    """How many others stand in the same place, below each sample."""
    place = np.floor(BINS * share).astype(np.int64)
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], place[order])
    level = np.empty(len(place), dtype=np.int64)
    level[order] = np.arange(len(place)) - first
    return level


def _set_up(ax: Axes | None, seen: Seen, line: Line, notes: float) -> Axes:
    """Axes of one feature, a row for each class."""
    K = len(seen.classes)
    ax = new_axes(ax, (6.4, 1.3 + 0.75 * min(K, 12) + notes))
    for k in range(K):
        ax.axhline(k, color=PALE, linewidth=1, zorder=0.5)
    ax.set(xlim=(line.low, line.high), ylim=(-0.5, K - 0.1))
    plain(ax)
    label_axis(ax.xaxis, seen.features[0], line.low, line.high)
    ticks = range(0, K, 1 + K // (2 * NAMED))  # names of more would cover each other
    ax.set_yticks(ticks, [literal(seen.classes[k], 20) for k in ticks])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ax


def _rows_only(seen: Seen, looks: list[str], ax: Axes | None) -> Axes:
    """The samples of one feature, before anything decides between them."""
    line = _line(seen)
    ax = _set_up(ax, seen, line, 0.0)
    area = 1.4 * size(line.rows.size)
    _by_class(ax, line.where[line.rows], seen.label[line.rows], seen.classes, looks, area)
    if line.rows.size < seen.n:
        legend(ax, [(None, f"{out_of(line.rows.size, seen.n)} points drawn")])
    return ax


def on_a_line(model: Any, seen: Seen, ax: Axes | None) -> Axes:
    """One feature, cut where the decision changes; the wrong samples ringed."""
    cuts, answers = _parts(model, seen)
    line = _line(seen, cuts)
    ax = _set_up(ax, seen, line, 0.45)
    looks = [marker(k) for k in range(len(seen.classes))]
    area = 1.4 * size(line.rows.size)
    where, label = line.where[line.rows], seen.label[line.rows]
    entries = of_classes(_by_class(ax, where, label, seen.classes, looks, area))
    ring = rings(ax, where[seen.wrong[line.rows]], area=area)
    if seen.wrong.any():
        entries["wrong"] = ring, seen.errors
    edges = np.concatenate([[line.low], np.clip(cuts, line.low, line.high), [line.high]])
    for a, z, k in zip(edges[:-1], edges[1:], answers, strict=True):
        if z > a:
            ax.axvspan(a, z, color=colour(k), alpha=0.1, linewidth=0, zorder=0, gid=f"region {k}")
    entries |= _thresholds(ax, seen, line, cuts)
    if len(seen.planes) == 1:
        _direction(ax, seen, line, cuts, entries)
    legend(ax, entries.values())
    return ax


def _parts(model: Any, seen: Seen) -> tuple[Floats, Ints]:
    """Where the decision changes, and which class is decided between."""
    planes = seen.planes
    if not planes:
        return _parts_of_curve(model, seen)
    values = [(float(p.w[0]), p.b) for p in planes]
    pairs = [(values[0], (0.0, 0.0))] if len(values) == 1 else [*combinations(values, 2)]
    found = {(d - b) / (a - c) for (a, b), (c, d) in pairs if a != c}

    def answer(x: Floats) -> Ints:
        F = np.column_stack([a * x + b for a, b in values])
        return (F[:, 0] > 0).astype(np.intp) if len(values) == 1 else F.argmax(axis=1)

    return _between(np.array(sorted(found)), answer)


def _between(cuts: Floats, answer: Callable[[Floats], Ints]) -> tuple[Floats, Ints]:
    """Those cuts at which the answer changes, and the answers in between."""
    if not cuts.size:
        return cuts, answer(np.zeros(1))
    reach = float(np.ptp(cuts)) or abs(float(cuts[0])) or 1.0
    inside = (cuts[:-1] + cuts[1:]) / 2
    answers = answer(np.concatenate([[cuts[0] - reach], inside, [cuts[-1] + reach]]))
    changes = answers[1:] != answers[:-1]
    return cuts[changes], np.append(answers[0], answers[1:][changes])


def _parts_of_curve(model: Any, seen: Seen) -> tuple[Floats, Ints]:
    """The same of a kernel perceptron: where it changes on a fine grid."""
    line = _line(seen)
    grid = np.linspace(line.low, line.high, GRID)
    F = decision_values(model, grid[:, np.newaxis])
    answers: Ints = (F[:, 0] > 0).astype(np.intp) if F.shape[1] == 1 else F.argmax(axis=1)
    at = np.flatnonzero(np.diff(answers))
    cuts = (grid[at] + grid[at + 1]) / 2
    if F.shape[1] == 1:  # where the straight line between two values crosses zero
        a, z = F[at, 0], F[at + 1, 0]
        cuts = grid[at] + a / (a - z) * (grid[at + 1] - grid[at])
    return cuts, np.append(answers[:1], answers[at + 1])


def _thresholds(ax: Axes, seen: Seen, line: Line, cuts: Floats) -> Keys:
    """The cuts as lines, their places in the legend."""
    shown = cuts[(cuts > line.low) & (cuts < line.high)]
    drawn = [ax.axvline(c, color=INK, linewidth=1.8, zorder=3, gid="threshold") for c in shown]
    name = seen.features[0]
    if drawn:
        some = ", ".join(number(c) for c in shown[:4]) + ", …" * (len(shown) > 4)
        several = "s" * (len(shown) > 1)
        return {"threshold": (drawn[0], f"threshold{several}: {name} = {some}")}
    if cuts.size:
        return {"threshold": (None, f"threshold outside this view: {name} = {number(cuts[0])}")}
    zero = "w = 0: " * (len(seen.planes) == 1)
    side = seen.classes[int(seen.planes[0].b > 0)] if len(seen.planes) == 1 else "one class"
    return {"threshold": (None, f"{zero}no threshold, everything is “{side}”")}


def _direction(ax: Axes, seen: Seen, line: Line, cuts: Floats, entries: Keys) -> None:
    """Of one hyperplane: the band of its margin, and on which side of the threshold it is +1."""
    plane: Hyperplane = seen.planes[0]
    margin = seen.margin()
    if margin > 0:
        style: Look = {"facecolor": "white", "edgecolor": GREY, "linestyle": "--", "zorder": 0.2}
        band = ax.axvspan(cuts[0] - margin, cuts[0] + margin, linewidth=0.9, gid="band", **style)
        entries["band"] = band, f"margin {number(margin)}"
    if cuts.size and line.low < cuts[0] < line.high:
        start = np.array([cuts[0], -0.3])
        tip = start + np.array([np.sign(plane.w[0]) * 0.09 * (line.high - line.low), 0.0])
        arrow(ax, start, tip, "normal")
        at = tip + np.array([np.sign(plane.w[0]) * 0.018 * (line.high - line.low), 0.0])
        bold: Look = {"size": 11, "style": "italic", "weight": "bold"}
        halo(write(ax, at, "w", zorder=7, **bold))

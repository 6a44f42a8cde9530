"""Recorded updates: the first ones as sums of vectors, and a cycle as a closed walk of weights."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.arguments import whole_number
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, axes_in_rows, new_axes
from rosenblatt.plot.lettering import beside, dark, halo, literal, number, vector
from rosenblatt.plot.plane import Picture, View, around, dots, drawn_rows, rings, scatter, size
from rosenblatt.plot.seen import Seen, dense, recorded
from rosenblatt.plot.style import GREY, INK, Look, arrow, colour, marker
from rosenblatt.plot.weights import sample_lines
from rosenblatt.results import Cycle, Hyperplane, Updates
from rosenblatt.visible import count

PER_ROW = 4
MOST_ARROWS = 60


class Arrow(NamedTuple):
    """A vector of the triangle and what it is called."""

    gid: str
    start: Floats
    end: Floats
    tint: str
    width: float
    name: str


class Stage(NamedTuple):
    """Where weight vectors are drawn among the samples: from which point, at which size."""

    view: View
    anchor: Floats
    scale: float
    points: Floats
    rows: NDArray[np.intp]


def updates(
    model: Any,
    X: Any,
    y: Any,
    *,
    first: int = 4,
    axes: Any = None,
    feature_names: Sequence[str] | None = None,
) -> NDArray[Any]:
    """A strip of the first updates of a recorded run, each one an addition of vectors.

    A mistake ``x`` with label ``y`` changes the weights to ``w' = w + η·y·x`` and the bias to
    ``b' = b + η·y``; a batch adds the sum over its mistakes. Each picture has the old line
    dashed and the new one solid, the mistakes ringed, and the vectors ``w``, ``η·y·x`` and
    ``w'`` as a triangle from the origin. (Where they would not fit the data they are drawn at
    another size, or from another point; the title says so.)

    Parameters
    ----------
    model : Perceptron
        Fitted to two classes and two features with ``record=True``.
    X, y : samples and labels
        Those given to `fit`.
    first : int
        How many updates, if there are as many.
    axes : array of matplotlib Axes, optional
        Where to draw, one update each; None makes a figure.
    feature_names : sequence of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    array of matplotlib Axes
        One for each update drawn.
    """
    whole_number("first", first, 1, "give the number of updates to draw, 1 or more")
    seen, _, record, theta = recorded(model, X, y, feature_names)
    if not len(record):
        msg = "this run made no updates, so there are none to draw: its start has no mistakes"
        raise ValueError(msg)
    steps = min(int(first), len(record))
    figure, row = axes_in_rows(
        axes, steps, PER_ROW, lambda columns, rows: (max(3.3 * columns, 6.2), 4.0 * rows + 0.35)
    )
    row = row[:steps]
    stage = _stage(row[0], seen, theta[: len(row) + 1])
    for t, ax in enumerate(row):
        _step(Picture(ax, stage.view), seen, record, theta[t : t + 2], t, stage)
        ax.set_xlabel(fill(literal(seen.features[0]), 32))
        if axes is not None or t % PER_ROW == 0:
            ax.set_ylabel(fill(literal(seen.features[1]), 38))
    if figure is not None:
        figure.legend(*_keys(seen), loc="outside lower center", ncols=7, frameon=False, fontsize=9)
    return row


def _stage(ax: Axes, seen: Seen, theta: Floats) -> Stage:
    """The origin and true size if vectors and samples then fit into one picture, else others."""
    points, rows = dense(seen.X), drawn_rows(seen)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, diagonal = (low + high) / 2, float(np.hypot(*(high - low))) or 1.0
    anchor = np.zeros(2) if np.hypot(*middle) <= 1.5 * diagonal else middle
    radius = max(float(np.hypot(*(points - anchor).T).max()), diagonal / 2)
    longest = float(np.hypot(*theta[:, :2].T).max()) or 1.0
    fits = not anchor.any() and 0.4 * radius <= longest <= 3 * radius
    scale = 1.0 if fits else _round_down(1.2 * radius / longest)
    shown = np.vstack([points, anchor + scale * theta[:, :2], anchor[None]])
    return Stage(around(shown, ax, always=True), anchor, scale, points, rows)


def _round_down(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above `value`."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(m for m in (1, 2, 5) if m * power <= value * (1 + 1e-12)))


def _step(
    picture: Picture, seen: Seen, record: Updates, theta: Floats, t: int, stage: Stage
) -> None:
    """Update number t + 1, from theta[0] to theta[1]."""
    ax, mistakes = picture.ax, np.flatnonzero(record.update == t)
    samples = record.sample[mistakes]
    where, label = stage.points[samples], seen.label[samples]
    area = min(size(stage.rows.size), 22)
    faint: Look = {"area": area, "alpha": 0.3}
    scatter(ax, stage.points[stage.rows], seen.label[stage.rows], seen.classes, **faint)
    scatter(ax, where, label, seen.classes, area=area + 10, zorder=8.5)
    rings(ax, where, area=area + 10, gid="mistakes", zorder=8.5)
    dashed: Look = {"color": GREY, "linestyle": (0, (5, 3)), "linewidth": 1.2}
    taken = [where]
    for row, gid, style in zip(theta, ("old line", "new line"), (dashed, {}), strict=True):
        if row[:2].any():
            plane = Hyperplane(row[:2], row[2])
            picture.line(plane, gid, **style)
            ends = stage.view.segment(plane)
            taken += [] if ends is None else [np.linspace(ends[0], ends[1], 60)]
    name, tint = _step_text(record.eta * record.step[mistakes], label)
    if len(where) == 1 and stage.scale == 1:
        ax.plot(*np.vstack([stage.anchor, where]).T, ":", color=tint, linewidth=1.4, gid="x")
    _triangle(picture, stage, theta[:, :2], name, tint, np.vstack(taken))
    picture.show()
    ax.set_title(_title(record, theta, t, stage), fontsize=8, color=INK, linespacing=1.3)


def _step_text(factors: Floats, label: NDArray[np.intp]) -> tuple[str, str]:
    """How the step is called, and its colour: of the class it is for."""
    if factors.size > 1:
        tint = colour(int(label[0])) if (label == label[0]).all() else "#8A5A9E"
        return f"sum of {factors.size}", tint
    times = "" if abs(factors[0]) == 1 else f"{number(abs(factors[0]))} "
    return f"{'+' if factors[0] > 0 else '−'}{times}x", colour(int(label[0]))


def _triangle(picture: Picture, stage: Stage, w: Floats, step: str, tint: str, at: Floats) -> None:
    """Old w, the step, new w: head to tail, on top; their names keep away from what is `at`."""
    ax, anchor = picture.ax, stage.anchor
    old, new = anchor + stage.scale * w
    # The step is wide and lies below, so that the others are seen where they run along it.
    arrows = [
        Arrow("step", old, new, tint, 5.0, step),
        Arrow("old w", anchor, old, GREY, 1.6, "w"),
        Arrow("new w", anchor, new, INK, 1.8, "w′"),
    ]
    arrows = [one for one in arrows if (one.start != one.end).any()]
    for level, one in enumerate(arrows):
        length = float(np.hypot(*(picture.per_unit * (one.end - one.start))))
        width = one.width * float(np.clip(length / 60, 0.85, 1))
        head = min(7 + 2.4 * width, 4 + length / 2)  # a short arrow is not all head
        style: Look = {"linewidth": width, "mutation_scale": head, "color": one.tint}
        halo(arrow(ax, one.start, one.end, one.gid, zorder=7 + level / 10, **style), width + 1.4)
    dots(ax, anchor, s=26, c=INK, marker="+", zorder=8, gid="origin")
    _name_arrows(picture, arrows, at)


def _name_arrows(picture: Picture, arrows: list[Arrow], at: Floats) -> None:
    """The arrows' names, each beside its own arrow and as far as may be from all else."""
    per_unit = picture.per_unit
    lines = {one.gid: per_unit * np.linspace(one.start, one.end, 25) for one in arrows}
    taken = [per_unit * at]
    for one in sorted(arrows, key=lambda a: -len(a.name)):
        mine = lines[one.gid]
        along = (mine[-1] - mine[0]) / (np.hypot(*(mine[-1] - mine[0])) or 1.0)
        away = (9 + 1.8 * len(one.name)) * np.array([-along[1], along[0]])
        foot = np.repeat(mine[[8, 12, 16, 20]], 2, axis=0)
        spots = foot + np.tile([away, -away], (4, 1))
        others = np.vstack([*(lines[gid] for gid in lines if gid != one.gid), *taken])
        gaps = np.hypot(*(spots[:, None] - others).T).min(axis=0)
        inside = picture.view.contains(spots / per_unit, rim=0.03)
        best = int(np.argmax(np.where(inside, np.minimum(gaps, 14), 0)))
        taken.append(spots[[best]])
        style: Look = {"size": 10.5, "weight": "bold", "color": dark(one.tint)}
        start = foot[best] / per_unit
        beside(picture.ax, start, spots[best] - foot[best], one.name, zorder=9, **style)


def _title(record: Updates, theta: Floats, t: int, stage: Stage) -> str:
    """Which update, and what it does to w and b."""
    epoch = int(record.epoch[np.argmax(record.update == t)])
    old, new = (vector(row[:2]) for row in theta)
    lines = [f"update {t + 1}, epoch {epoch}", f"w: {old} → {new}"]
    lines.append(f"b: {number(theta[0, 2])} → {number(theta[1, 2])}")
    if stage.scale != 1:
        lines.append(f"vectors drawn × {number(stage.scale)}")
    if stage.anchor.any():
        lines.append("vectors start at +, not at the origin")
    return "\n".join(lines)


def _keys(seen: Seen) -> tuple[list[Any], list[str]]:
    """The legend of the whole strip."""
    from matplotlib.lines import Line2D

    dot: Look = {"linestyle": "none", "markersize": 7, "markeredgecolor": "white"}
    ring: Look = {"marker": "o", "markersize": 10, "markerfacecolor": "none"}
    styles: list[Look] = [
        *(dot | {"marker": marker(k), "color": colour(k)} for k in range(2)),
        ring | {"linestyle": "none", "color": INK, "markeredgewidth": 1.3},
        {"color": GREY, "linestyle": "--"},
        {"color": INK, "linewidth": 1.8},
    ]
    names = [*map(literal, seen.classes), "mistake", "line before", "line after"]
    return [Line2D([], [], **style) for style in styles], names


# Cycles ---------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """The weights in a plane, the number of the update that enters the cycle, axis names."""

    at: Floats
    theta: Floats
    entry: int
    names: tuple[str, str]
    remark: str = ""


def cycle(model: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """The walk of the weights of a run that ended in a cycle, update by update.

    Dashed and grey the way there, then the cycle: each arrow is one update, in the colour of the
    class whose mistake it is (several at once in black); a ring is one that changes only the bias,
    where that is not in the picture. One feature: the plane of ``(w, b)``
    itself, where each sample is a line ``xw + b = 0`` with small arrows to its right side; were
    the data separable, the weights could end on the right side of all. Two features: ``(w1,
    w2)``, with the bias beside each point. More: the directions in which the cycle is widest.

    Parameters
    ----------
    model : Perceptron
        Fitted to two classes with ``record=True``; its stop reason is CYCLE.
    X, y : samples and labels
        Those given to `fit`.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    seen, fit, record, theta = recorded(model, X, y, any_features=True)
    if fit.certificate is None:
        msg = f"this fit ended with {fit.stop_reason.name}: give one that ended with CYCLE"
        raise ValueError(msg)
    walk = _walk(seen, record, theta, fit.certificate)
    ax = new_axes(ax, (6.0, 5.6))
    picture = Picture(ax, around(walk.at, ax, pad=0.22))
    if seen.X.shape[1] == 1:
        vectors = np.column_stack([dense(seen.X)[:, 0], np.ones(seen.n)])
        sample_lines(picture, vectors, seen, named=True)
    _arrows(picture, walk, seen, record)
    if seen.X.shape[1] == 2:
        _write_biases(ax, walk)
    start = dots(ax, walk.at[0], s=34, c=GREY, zorder=6, gid="start")
    style: Look = {"s": 90, "facecolors": "white", "edgecolors": INK, "linewidths": 1.8}
    here = dots(ax, walk.at[walk.entry], zorder=6.5, gid="entry", **style)
    epoch, period = fit.certificate.entry, fit.certificate.period
    every = "epoch" if period == 1 else f"{period} epochs"
    if walk.entry:
        picture.entries["start"] = start, "start"
    picture.entries["entry"] = here, f"after epoch {epoch}, and every {every} again"
    if walk.remark:
        picture.note("shadow", walk.remark)
    picture.show(walk.names)
    picture.legend()
    return ax


def _walk(seen: Seen, record: Updates, theta: Floats, found: Cycle) -> Walk:
    """The weights after every update, in the plane in which they are drawn."""
    entry = int(record.update[np.searchsorted(record.epoch, found.entry, side="right")])
    d = seen.X.shape[1]
    if d <= 2:
        names = ("w", "b") if d == 1 else ("w1", "w2")
        return Walk(theta[:, :2], theta, entry, names)
    loop = theta[entry:] - theta[entry:].mean(axis=0)
    axes = np.linalg.svd(loop, full_matrices=False)[2][:2]
    names = ("where the cycle of (w, b) is widest", "where it is widest at a right angle")
    return Walk(theta @ axes.T, theta, entry, names, f"shadow of {d + 1} weights")


def _arrows(picture: Picture, walk: Walk, seen: Seen, record: Updates) -> None:
    """The way there and the way round, an arrow for each update or, of very many, a line."""
    from matplotlib.lines import Line2D

    ax, entries = picture.ax, picture.entries
    if walk.entry:
        style: Look = {"color": GREY, "linestyle": (0, (4, 2)), "linewidth": 1.2}
        (tail,) = ax.plot(*walk.at[: walk.entry + 1].T, zorder=3, gid="tail", **style)
        entries["tail"] = tail, f"the way there: {count(walk.entry, 'update')}"
    n = len(walk.at) - 1 - walk.entry
    if n > MOST_ARROWS:
        (loop,) = ax.plot(*walk.at[walk.entry :].T, color=INK, linewidth=1.0, zorder=4, gid="loop")
        entries["loop"] = loop, f"the cycle: {count(n, 'update')}"
        return
    used: dict[int, tuple[Any, str]] = {}
    still: list[Any] = []
    for t in range(walk.entry, len(walk.at) - 1):
        samples = record.sample[record.update == t]
        k = int(seen.label[samples[0]]) if len(samples) == 1 else 2
        tint = colour(k) if k < 2 else INK
        says = f"a mistake of {seen.classes[k]}" if k < 2 else "several mistakes at once"
        used[k] = Line2D([], [], color=tint, linewidth=2.4), says
        here, there = walk.at[t : t + 2]
        if (here != there).any():
            style = {"color": tint, "linewidth": 2.4, "zorder": 5, "mutation_scale": 16}
            halo(arrow(ax, here, there, f"update {t + 1}", **style), 4.0)
        elif len(walk.names) == walk.theta.shape[1] - 1:  # the bias is not in the picture
            style = {"facecolors": "none", "edgecolors": tint, "linewidths": 2.4, "zorder": 5}
            wider = 300 + 250 * len(still)
            still.append(dots(ax, here, s=wider, gid=f"update {t + 1}", **style))
            entries["bias"] = still[0], "only the bias changes"
    entries |= {f"class {k}": used[k] for k in sorted(used)}


def _write_biases(ax: Axes, walk: Walk) -> None:
    """The biases at each point of the cycle, beside it."""
    if len(walk.at) - walk.entry > MOST_ARROWS:
        return
    loop = walk.theta[walk.entry : -1]
    middle = walk.at[walk.entry :].mean(axis=0)
    for w in np.unique(loop[:, :2], axis=0):
        biases = loop[(loop[:, :2] == w).all(axis=1), 2]
        offset = 24 * (w - middle) / (np.hypot(*(w - middle)) or 1.0)
        beside(ax, w, offset, "b = " + ", ".join(dict.fromkeys(map(number, biases))), zorder=7)

"""The first updates of a run, each as an addition of vectors."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.arguments import whole_number
from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._reading import path, recorded
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._view import View
    from rosenblatt.results import Updates

    Floats = NDArray[np.float64]

PER_ROW = 4


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

    def tip(self, w: Floats) -> Floats:
        """Where the arrow of the weight vector w ends."""
        end: Floats = self.anchor + self.scale * w
        return end


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
    seen, fit, record = recorded(model, X, y, feature_names)
    if not len(record):
        msg = "this run made no updates, so there are none to draw: its start has no mistakes"
        raise ValueError(msg)
    theta = path(record, seen.X, fit.last)
    steps = min(int(first), len(record))
    figure, row = _strip(axes, steps)
    stage = _stage(row[0], seen, theta[: len(row) + 1])
    for t, ax in enumerate(row):
        _step(ax, seen, record, theta[t : t + 2], t, stage)
        ax.set_xlabel(fill(_style.literal(seen.features[0]), 32))
        if axes is not None or t % PER_ROW == 0:
            ax.set_ylabel(fill(_style.literal(seen.features[1]), 38))
    if figure is not None:
        figure.legend(*_keys(seen), loc="outside lower center", ncols=7, frameon=False, fontsize=9)
    return row


def _strip(axes: Any, steps: int) -> tuple[Any, NDArray[Any]]:
    """The new figure, if any, and the axes to draw in."""
    if axes is not None:
        return None, _style.given_axes(axes)[:steps]
    columns, rows = min(steps, PER_ROW), -(-steps // PER_ROW)
    size = (max(3.3 * columns, 6.2), 4.0 * rows + 0.35)
    style: dict[str, Any] = {"figsize": size, "squeeze": False, "layout": "constrained"}
    figure, grid = _style.pyplot().subplots(rows, columns, **style)
    for spare in grid.ravel()[steps:]:
        spare.remove()
    return figure, grid.ravel()[:steps]


def _stage(ax: Axes, seen: Seen, theta: Floats) -> Stage:
    """The origin and true size if vectors and samples then fit into one picture, else others."""
    points, rows = _points.dense(seen.X), _points.drawn(seen)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, diagonal = (low + high) / 2, float(np.hypot(*(high - low))) or 1.0
    origin = np.zeros(2)
    anchor = origin if np.hypot(*middle) <= 1.5 * diagonal else middle
    radius = max(float(np.hypot(*(points - anchor).T).max()), diagonal / 2)
    longest = float(np.hypot(*theta[:, :2].T).max()) or 1.0
    fits = not anchor.any() and 0.4 * radius <= longest <= 3 * radius
    scale = 1.0 if fits else _round_down(1.2 * radius / longest)
    shown = np.vstack([points, anchor + scale * theta[:, :2], anchor[None]])
    return Stage(_view.around(shown, ax, always=True), anchor, scale, points, rows)


def _round_down(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above `value`."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(m for m in (1, 2, 5) if m * power <= value * (1 + 1e-12)))


def _step(ax: Axes, seen: Seen, record: Updates, theta: Floats, t: int, stage: Stage) -> None:
    """Update number t + 1, from theta[0] to theta[1]."""
    mistakes = np.flatnonzero(record.update == t)
    samples = record.sample[mistakes]
    area = min(_points.size(stage.rows.size), 22)
    label = seen.label[stage.rows]
    _points.scatter(ax, stage.points[stage.rows], label, seen.classes, area=area, alpha=0.3)
    where = stage.points[samples]
    _points.scatter(ax, where, seen.label[samples], seen.classes, area=area + 10, zorder=8.5)
    _points.rings(ax, where, area=area + 10, gid="mistakes", zorder=8.5)
    styles: tuple[dict[str, Any], dict[str, Any]] = (
        {"color": _style.GREY, "linestyle": (0, (5, 3)), "linewidth": 1.2},
        {},
    )
    seen_lines = []
    for row, gid, style in zip(theta, ("old line", "new line"), styles, strict=True):
        if row[:2].any():
            plane = Hyperplane(row[:2], row[2])
            _view.line(ax, plane, stage.view, gid, **style)
            ends = _view.segment(plane, stage.view)
            if ends is not None:
                seen_lines.append(np.linspace(ends[0], ends[1], 60))
    name, tint = _step_text(record.eta * record.step[mistakes], seen.label[samples])
    if len(where) == 1 and stage.scale == 1:
        ax.plot(*np.vstack([stage.anchor, where]).T, ":", color=tint, linewidth=1.4, gid="x")
    _triangle(ax, stage, theta[:, :2], name, tint, np.vstack([where, *seen_lines]))
    stage.view.show(ax)
    _style.plain(ax)
    ax.set_title(_title(record, theta, t, stage), fontsize=8, color=_style.INK, linespacing=1.3)


def _step_text(factors: Floats, label: NDArray[np.intp]) -> tuple[str, str]:
    """How the step is called, and its colour: of the class it is for."""
    if factors.size > 1:
        tint = _style.colour(int(label[0])) if (label == label[0]).all() else "#8A5A9E"
        return f"sum of {factors.size}", tint
    size = "" if abs(factors[0]) == 1 else f"{_style.number(abs(factors[0]))} "
    return f"{'+' if factors[0] > 0 else '−'}{size}x", _style.colour(int(label[0]))


def _triangle(ax: Axes, stage: Stage, w: Floats, step: str, tint: str, at: Floats) -> None:
    """Old w, the step, new w: head to tail, on top; their names keep away from what is `at`."""
    anchor, old, new = stage.anchor, stage.tip(w[0]), stage.tip(w[1])
    # The step is wide and lies below, so that the others are seen where they run along it.
    arrows = [
        Arrow("step", old, new, tint, 5.0, step),
        Arrow("old w", anchor, old, _style.GREY, 1.6, "w"),
        Arrow("new w", anchor, new, _style.INK, 1.8, "w′"),
    ]
    arrows = [arrow for arrow in arrows if (arrow.start != arrow.end).any()]
    per_unit = 72 * np.array(_style.box_inches(ax)) / stage.view.span  # points of print
    for level, arrow in enumerate(arrows):
        length = float(np.hypot(*(per_unit * (arrow.end - arrow.start))))
        width = arrow.width * float(np.clip(length / 60, 0.85, 1))
        size = min(7 + 2.4 * width, 4 + length / 2)  # a short arrow is not all head
        style: dict[str, Any] = {"linewidth": width, "mutation_scale": size, "color": arrow.tint}
        patch = _style.arrow(ax, arrow.start, arrow.end, arrow.gid, zorder=7 + level / 10, **style)
        _style.halo(patch, width + 1.4)
    cross = ax.scatter(anchor[0], anchor[1], s=26, c=_style.INK, marker="+", zorder=8)
    _style.named(cross, "origin")
    _name_arrows(ax, stage.view, arrows, at, per_unit)


def _name_arrows(ax: Axes, view: View, arrows: list[Arrow], at: Floats, per_unit: Floats) -> None:
    """The arrows' names, each beside its own arrow and as far as may be from all else."""
    lines = {arrow.gid: per_unit * np.linspace(arrow.start, arrow.end, 25) for arrow in arrows}
    taken = [per_unit * at]
    for arrow in sorted(arrows, key=lambda a: -len(a.name)):
        mine = lines[arrow.gid]
        along = (mine[-1] - mine[0]) / (np.hypot(*(mine[-1] - mine[0])) or 1.0)
        away = (9 + 1.8 * len(arrow.name)) * np.array([-along[1], along[0]])
        foot = np.repeat(mine[[8, 12, 16, 20]], 2, axis=0)
        spots = foot + np.tile([away, -away], (4, 1))
        others = np.vstack([*(lines[gid] for gid in lines if gid != arrow.gid), *taken])
        gaps = np.hypot(*(spots[:, None] - others).T).min(axis=0)
        inside = view.contains(spots / per_unit, rim=0.03)
        best = int(np.argmax(np.where(inside, np.minimum(gaps, 14), 0)))
        taken.append(spots[[best]])
        where = foot[best] / per_unit
        offset = spots[best] - foot[best]
        text = ax.annotate(arrow.name, (*where,), (*offset,), textcoords="offset points", zorder=9)
        text.set(ha="center", va="center", size=10.5, weight="bold")
        text.set(color=_style.lettering(arrow.tint))
        _style.halo(text, 3)


def _title(record: Updates, theta: Floats, t: int, stage: Stage) -> str:
    """Which update, and what it does to w and b."""
    epoch = int(record.epoch[np.argmax(record.update == t)])
    old, new = (_style.vector(row[:2]) for row in theta)
    lines = [f"update {t + 1}, epoch {epoch}", f"w: {old} → {new}"]
    lines.append(f"b: {_style.number(theta[0, 2])} → {_style.number(theta[1, 2])}")
    if stage.scale != 1:
        lines.append(f"vectors drawn × {_style.number(stage.scale)}")
    if stage.anchor.any():
        lines.append("vectors start at +, not at the origin")
    return "\n".join(lines)


def _keys(seen: Seen) -> tuple[list[Any], list[str]]:
    """The legend of the whole strip."""
    from matplotlib.lines import Line2D

    blank: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markersize": 7}
    handles = [
        Line2D([], [], marker=_style.marker(k), color=_style.colour(k), **blank) for k in range(2)
    ]
    ring: dict[str, Any] = {
        "marker": "o",
        "markersize": 10,
        "markerfacecolor": "none",
        "linestyle": "none",
    }
    handles.append(Line2D([], [], color=_style.INK, markeredgewidth=1.3, **ring))
    handles.append(Line2D([], [], color=_style.GREY, linestyle="--"))
    handles.append(Line2D([], [], color=_style.INK, linewidth=1.8))
    names = [_style.literal(name) for name in seen.classes]
    return handles, [*names, "mistake", "line before", "line after"]

"""Runs seen from the plane of two weights: where they may end, and the loss they walk down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import theory
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import dark, halo, number, write
from rosenblatt.plot.plane import Picture, around, clipped, dots
from rosenblatt.plot.replay import epoch_weights
from rosenblatt.plot.seen import Seen, dense, recorded
from rosenblatt.plot.style import COLOURS, GREY, INK, SMALL, Look, arrow, colour
from rosenblatt.results import Hyperplane
from rosenblatt.visible import count

MOST_ARROWS, MOST_NAMED, MOST_LINES = 60, 12, 200
GRID, LEVELS = 201, 12  # points along a side, and contours
FINE = COLOURS[2]  # of what is right


class Walk(NamedTuple):
    """Two weights from step to step, and each sample as the vector that is added to them.

    `label` has for each step the class whose mistake it was, -1 where there were several.
    """

    at: Floats
    vectors: Floats
    label: NDArray[np.intp]
    names: tuple[str, str]
    seen: Seen
    step: str


def walk_of(model: Any, X: Any, y: Any) -> Walk:
    """The run of a perceptron update by update, of the delta rule epoch by epoch."""
    if hasattr(model, "eta_"):
        seen, theta = epoch_weights(model, X, y)
        label, step, bias = np.full(len(theta) - 1, -1), "epoch", bool(model.fit_intercept)
    else:
        seen, _, updates, theta = recorded(model, X, y, any_features=True)
        first = np.searchsorted(updates.update, np.arange(len(updates)))
        alone = np.bincount(updates.update, minlength=len(updates))[: len(updates)] == 1
        label = np.where(alone, seen.label[updates.sample[first]], -1)
        step, bias = "update", updates.fit_intercept
    d = seen.X.shape[1]
    if (d, bias) not in ((2, False), (1, True)):
        told = f"{count(d, 'feature')} {'and a' if bias else 'without a'} bias"
        remedy = "fit two features with fit_intercept=False, or one feature with a bias"
        msg = f"this model has {told}: only a plane of two weights can be drawn; {remedy}"
        raise ValueError(msg)
    vectors, names = dense(seen.X), ("w1", "w2")
    if d == 1:
        vectors, names = np.column_stack([vectors[:, 0], np.ones(seen.n)]), ("w", "b")
    return Walk(theta[:, :2], vectors, label.astype(np.intp), names, seen, step)


def weight_space(model: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """Each sample as a line in the plane of the weights, and the way of the weights through it.

    A sample x is right where ``y(w·x) > 0``: on one side of a line through the origin, whose
    normal is the sample itself. The weights that get every sample right lie on the right side of
    all these lines, in a cone, which is empty if the classes are not separable. Each mistake moves
    the weights by the sample, straight across its line.

    Parameters
    ----------
    model : Perceptron or Adaline
        Fitted to two classes; of two features with ``fit_intercept=False``, or of one feature
        with a bias, where a sample counts as ``(x, 1)``. A `Perceptron` with ``record=True``; the
        run of an `Adaline` is made again, and shown epoch by epoch.
    X, y : samples and labels
        Those given to `fit`.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    walk = walk_of(model, X, y)
    ax = new_axes(ax, (6.0, 5.9))
    picture = Picture(ax, around(np.vstack([walk.at, np.zeros(2)]), ax, pad=0.25, always=True))
    _cone(picture, walk)
    sample_lines(picture, walk.vectors, walk.seen, named=walk.seen.X.shape[1] == 1)
    _steps(picture, walk)
    picture.show(walk.names)
    picture.legend()
    return ax


def _cone(picture: Picture, walk: Walk) -> None:
    """The weights with which every sample is right."""
    signed = walk.seen.signs[:, np.newaxis] * walk.vectors
    angles = np.sort(np.arctan2(*signed.T))
    gaps = np.diff(angles, append=angles[:1] + 2 * np.pi)
    if not signed.any(axis=1).all() or gaps.max(initial=0.0) <= np.pi:  # not in a half-plane
        picture.note("all right", "no weights get every sample right")
        return
    region = picture.view.corners()
    for vector in signed:
        if len(region):
            region = clipped(region, vector, 0.0)
    style: Look = {"facecolor": f"{FINE}2A", "edgecolor": f"{FINE}90", "linewidth": 1.2}
    drawn = picture.area(region, "all right", hatch="//", zorder=0.5, **style)
    if drawn is not None:
        picture.entries["all right"] = drawn, "every sample is right"


def sample_lines(picture: Picture, vectors: Floats, seen: Seen, *, named: bool) -> None:
    """Each sample as the line of weights with ``w·x = 0``; of a few, the right side and the name.

    `named` by the only feature, otherwise by number.
    """
    pairs = np.unique(np.column_stack([vectors, seen.label]), axis=0)
    pairs = pairs[pairs[:, :2].any(axis=1)]
    few, written = len(pairs) <= MOST_NAMED, [np.zeros(2)]
    for *vector, k in pairs[:: max(1, len(pairs) // MOST_LINES)]:
        line, tint = Hyperplane(np.array(vector)), colour(int(k))
        text = number(vector[0]) if named else f"({number(vector[0])}, {number(vector[1])})"
        look: Look = {"color": tint, "linewidth": 1.0 if few else 0.6, "zorder": 2}
        look["linestyle"] = "-" if k else (0, (6, 2))
        drawn = picture.line(line, f"sample {text}", alpha=0.8 if few else 0.45, **look)
        says = f"{'xw + b' if named else 'w·x'} = 0 of a sample of {seen.classes[int(k)]}"
        picture.entries[f"sample of {int(k)}"] = drawn, says
        ends = picture.view.segment(line)
        if few and ends is not None:
            _right_side(picture, line, ends, int(k))
            _name_line(picture, line, ends, int(k), f"x = {text}", written)


def _right_side(picture: Picture, line: Hyperplane, ends: Floats, k: int) -> None:
    """Small arrows to the right side of a sample's line."""
    side = (1 if k else -1) * 0.045 * picture.view.diagonal * line.w / line.norm
    for share in (0.08, 0.92):
        foot = (1 - share) * ends[0] + share * ends[1]
        style: Look = {"color": colour(k), "linewidth": 1.0, "zorder": 2, "mutation_scale": 8}
        arrow(picture.ax, foot, foot + side, "right side", **style)


def _name_line(
    picture: Picture, line: Hyperplane, ends: Floats, k: int, name: str, written: list[Floats]
) -> None:
    """The name of a sample's line, on its longer half and its wrong side, away from others."""
    if np.hypot(*ends[0]) > np.hypot(*ends[1]):
        ends = ends[::-1]
    away = (-1 if k else 1) * 0.036 * picture.view.diagonal * line.w / line.norm
    spots = [share * ends[1] + (1 - share) * ends[0] + away for share in (0.86, 0.97, 0.75, 0.14)]
    width, height = np.array([6.2 * len(name), 14.0]) / picture.per_unit
    inside = 0.55 * np.array([width, height])
    for spot in np.clip(spots, picture.view.low + inside, picture.view.high - inside):
        off = np.abs(np.array(written) - spot)
        if ((off[:, 0] > width) | (off[:, 1] > height)).all():
            written.append(spot)
            style: Look = {"size": SMALL, "color": dark(colour(k)), "clip_on": True}
            halo(write(picture.ax, spot, name, **style))
            return


def _steps(picture: Picture, walk: Walk) -> None:
    """The way of the weights: an arrow for each step, of very many a line; start and end."""
    from matplotlib.lines import Line2D

    ax, at, n = picture.ax, walk.at, len(walk.at) - 1
    plain = Line2D([], [], color=INK, linewidth=2.0)
    if n > MOST_ARROWS:
        (line,) = ax.plot(*at.T, color=INK, linewidth=1.2, zorder=4, gid="walk")
        halo(line, 3.0)
    for t in range(n if n <= MOST_ARROWS else 0):
        if (at[t] == at[t + 1]).all():
            continue
        tint = colour(int(walk.label[t])) if walk.label[t] >= 0 else INK
        length = float(np.hypot(*(picture.per_unit * (at[t + 1] - at[t]))))
        style: Look = {"linewidth": 2.0, "color": tint, "mutation_scale": min(13, 3 + length / 2)}
        halo(arrow(ax, at[t], at[t + 1], f"step {t + 1}", zorder=5, **style), 3.6)
    alone = n <= MOST_ARROWS and (walk.label >= 0).any()
    whose = ", in the colour of its mistake" * bool(alone)
    picture.entries["walk"] = plain, f"the weights: {count(n, walk.step)}{whose}"
    start = dots(ax, at[0], s=44, c=GREY, zorder=6, edgecolors="white", gid="start")
    look: Look = {"s": 80, "facecolors": "white", "edgecolors": INK, "linewidths": 1.8}
    end = dots(ax, at[-1], zorder=6.5, gid="end", **look)
    picture.entries["start"] = start, "start"
    picture.entries["end"] = end, f"end ({number(at[-1, 0])}, {number(at[-1, 1])})"


# Losses ---------------------------------------------------------------------------------------


def loss_surface(model: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """The loss over the plane of two weights, as contours, with the way of a run on it.

    Of a perceptron ``Σ max(0, -y(w·x))``, which is zero on the whole cone of weights that get
    every sample right (and at the origin, where it cannot stay). Of the delta rule the mean of
    ``(t - w·x)²/2``, a bowl with one lowest point, marked by a star.

    Parameters
    ----------
    model : Perceptron or Adaline
        As for `weight_space`.
    X, y : samples and labels
        Those given to `fit`.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    walk, squared = walk_of(model, X, y), hasattr(model, "eta_")
    ax = new_axes(ax, (6.0, 5.7))
    least: Floats = np.linalg.lstsq(walk.vectors, walk.seen.signs, rcond=None)[0].astype(np.float64)
    shown = np.vstack([walk.at, np.zeros(2), *([least] if squared else [])])
    picture = Picture(ax, around(shown, ax, pad=0.25, always=True))
    _contours(picture, walk, squared)
    if squared:
        look: Look = {"marker": "*", "s": 130, "c": FINE, "edgecolors": "white", "zorder": 6.8}
        star = dots(ax, least, gid="least", **look)
        lowest = number(_loss(walk, least[np.newaxis], squared)[0])
        picture.entries["least"] = star, f"the least loss, {lowest}"
    else:
        _cone(picture, walk)
    _steps(picture, walk)
    picture.show(walk.names)
    name = "mean of (t − o)²/2" if squared else "Σ max(0, −y w·x)"
    picture.legend(f"contours of the loss  {name}")
    return ax


def _loss(walk: Walk, weights: Floats, squared: bool) -> Floats:
    """The loss of all samples, for each pair of weights."""
    z = (weights @ walk.vectors.T) * walk.seen.signs
    losses = theory.losses["squared" if squared else "perceptron"](z)
    found: Floats = losses.mean(axis=1) / 2 if squared else losses.sum(axis=1)
    return found


def _contours(picture: Picture, walk: Walk, squared: bool) -> None:
    """Equal losses as lines with their values, the higher the darker."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import MaxNLocator

    view = picture.view
    a, b = (np.linspace(view.low[k], view.high[k], GRID) for k in range(2))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(a, b)])
    values = _loss(walk, grid, squared).reshape(GRID, GRID)
    low, high = float(values.min()), float(values.max())
    high = high if high > low else low + 1.0
    levels = np.asarray(MaxNLocator(LEVELS).tick_values(low, high), dtype=np.float64)
    if squared:  # a bowl is steep at its rim
        levels = low + (high - low) * np.linspace(0, 1, LEVELS + 1) ** 2
    shades = LinearSegmentedColormap.from_list("heights", ["#FFFFFF", "#B9BFC6"])
    picture.ax.contourf(a, b, values, levels=levels, cmap=shades, zorder=0).set_gid("heights")
    style: Look = {"colors": "#8A9199", "linewidths": 0.7, "zorder": 1}
    lines = picture.ax.contour(a, b, values, levels=levels[1:-1], **style)
    lines.set_gid("contours")
    picture.ax.clabel(lines, fontsize=7, fmt=lambda v: number(v, 2), colors=INK)

"""Several models on the same folds: what share of each fold they have right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

import numpy as np

from rosenblatt.arguments import floats, instance, names_of, proportion, text
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes, plain
from rosenblatt.plot.lettering import beside, dark, legend, literal
from rosenblatt.plot.style import COLOURS, GREY, INK, NORMAL, PALE, SMALL, Entries, Look

SPREAD = 0.5  # of a row, in which dots that would cover each other stand one above the other
CLOSE = 0.012  # of the picture's width: dots nearer than this do
BEST, ALIKE, BEHIND = (COLOURS[0], "o"), (COLOURS[5], "D"), (GREY, "v")
LEAST_RANGE = 0.01
FAR = 2.5  # a baseline farther away, in ranges of the scores, would crowd them


def scores(
    folds: Mapping[str, Sequence[float]],
    *,
    baseline: float | None = None,
    baseline_name: str = "always the same answer",
    alike: Collection[str] = (),
    chosen: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The share of right answers in each fold, for several models, the best above.

    Every dot is a fold, the same folds for all models; an upright stroke is their mean, which is
    also written at the right. A dashed line shows what needs no model at all.

    Parameters
    ----------
    folds : dict of name to shares
        Of each model the share of right answers, from 0 to 1, fold by fold.
    baseline : float, optional
        The share that always the same answer has right, drawn as a dashed line.
    baseline_name : str
        What to call it.
    alike : names, optional
        Models that cannot be told from the best.
    chosen : str, optional
        The model that is recommended: its name is bold.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    instance("folds", folds, Mapping, "give a dict of names to the scores of folds")
    every = {name: _shares(name, values) for name, values in folds.items()}
    if not every:
        msg = "folds is empty: give the scores of a model at least"
        raise ValueError(msg)
    baseline = None if baseline is None else proportion("baseline", baseline)
    baseline_name, alike = text("baseline_name", baseline_name), names_of("alike", alike)
    chosen = None if chosen is None else text("chosen", chosen)
    order = sorted(every, key=lambda name: -every[name].mean())
    ax = new_axes(ax, (6.8, 1.5 + 0.46 * len(order)))
    (low, high), inside = _range(np.concatenate([*every.values()]), baseline)
    ax.set(xlim=(100 * low, 100 * high), ylim=(len(order) - 0.4, -0.6))
    entries: Entries = []
    for row, name in enumerate(order):
        look = BEST if row == 0 else ALIKE if name in alike else BEHIND
        drawn = _row(ax, row, every[name], look, (high - low) * CLOSE)
        if not any(text == _place(row, name, alike) for _, text in entries):
            entries.append((drawn, _place(row, name, alike)))
    if baseline is not None:
        dashed: Look = {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.0, "zorder": 1}
        line = ax.axvline(100 * baseline, gid="baseline", **dashed) if inside else None
        where = "" if inside else ", beyond the edge"
        entries.append((line, f"{literal(baseline_name, 40)}: {100 * baseline:.1f}%{where}"))
    entries += [(None, "bold: the one to take")] if chosen in every else []
    _labels(ax, order, chosen)
    legend(ax, entries)
    return ax


def _shares(name: str, values: Sequence[float]) -> Floats:
    """The scores of a model as numbers from 0 to 1."""
    found = floats(f"folds[{name!r}]", values)
    if found.ndim != 1 or not found.size or not ((found >= 0) & (found <= 1)).all():
        msg = f"the scores of {name!r} are not shares: give a list of numbers from 0 to 1"
        raise ValueError(msg)
    return found


def _range(values: Floats, baseline: float | None) -> tuple[tuple[float, float], bool]:
    """From where to where the picture goes, and whether there is room for the baseline."""
    low, high = float(values.min()), float(values.max())
    inside = baseline is not None and low - baseline <= FAR * max(high - low, LEAST_RANGE)
    if inside and baseline is not None:
        low, high = min(low, baseline), max(high, baseline)
    pad = max(0.06 * (high - low), LEAST_RANGE)
    edge = 0.03 * (high - low + 2 * pad)  # half a dot beyond what can be
    return (max(low - pad, -edge), min(high + pad, 1 + edge)), inside


def _place(row: int, name: str, alike: Collection[str]) -> str:
    if row == 0:
        return "the best: each fold, and the mean"
    return "not to be told from it" if name in alike else "behind it"


def _row(ax: Axes, row: int, shares: Floats, style: tuple[str, str], close: float) -> object:
    """A line of dots, one for each fold, with a stroke at their mean."""
    tint, mark = style
    ax.axhline(row, color=PALE, linewidth=0.8, zorder=0)
    mean = 100 * fmean(shares.tolist())
    stroke: Look = {"color": dark(tint), "linewidth": 2.2, "zorder": 3, "gid": f"mean {row}"}
    ax.plot([mean, mean], [row - 0.32, row + 0.32], solid_capstyle="butt", **stroke)
    look: Look = {"s": 30, "color": tint, "marker": mark, "zorder": 4}
    look |= {"edgecolors": "white", "linewidths": 0.6}
    dots = ax.scatter(100 * shares, row + _heights(shares, close), gid=f"folds {row}", **look)
    right: Look = {"xycoords": ax.get_yaxis_transform(), "ha": "left", "size": SMALL}
    beside(ax, (1.0, row), (6, 0), f"{mean:.1f}%", **right)
    return dots


def _heights(shares: Floats, close: float) -> Floats:
    """How far from the middle of its row each dot is, so that none hides another."""
    order = np.argsort(shares, kind="stable")
    starts = np.flatnonzero(np.diff(shares[order], prepend=-np.inf) > close)
    heights = np.zeros(len(shares))
    for some in np.split(order, starts[1:]):
        step = min(0.22, SPREAD / max(1, len(some) - 1))
        heights[some] = step * (np.arange(len(some)) - (len(some) - 1) / 2)
    return heights


def _labels(ax: Axes, order: Sequence[str], chosen: str | None) -> None:
    ax.set_yticks(range(len(order)), [literal(name, 28) for name in order])
    ax.set_xlabel("right answers in a fold (%); at the right: mean")
    plain(ax)
    ax.tick_params(axis="y", length=0, labelsize=NORMAL)
    ax.spines["left"].set_visible(False)
    for name, tick in zip(order, ax.get_yticklabels(), strict=True):
        if name == chosen:
            tick.set_fontweight("bold")

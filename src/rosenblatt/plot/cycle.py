"""A run that repeats itself, as a closed walk of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._reading import path, recorded
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._view import View
    from rosenblatt.results import Cycle, Updates

    Floats = NDArray[np.float64]

MOST_ARROWS, MOST_LINES = 60, 12


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
    seen, fit, record = recorded(model, X, y, any_features=True)
    if fit.certificate is None:
        msg = f"this fit ended with {fit.stop_reason.name}: give one that ended with CYCLE"
        raise ValueError(msg)
    walk = _walk(seen, record, path(record, seen.X, fit.last), fit.certificate)
    ax = _style.new_axes(ax, (6.0, 5.6))
    view = _view.around(walk.at, ax, pad=0.22)
    if seen.X.shape[1] == 1:
        _sample_lines(ax, seen, view)
    entries = _arrows(ax, walk, seen, record)
    _write_biases(ax, walk, seen)
    start = _style.named(
        ax.scatter(walk.at[0, 0], walk.at[0, 1], s=34, c=_style.GREY, zorder=6), "start"
    )
    style: dict[str, Any] = {"s": 90, "facecolors": "white", "edgecolors": _style.INK}
    at = walk.at[walk.entry]
    here = ax.scatter(at[0], at[1], linewidths=1.8, zorder=6.5, **style)
    epoch, period = fit.certificate.entry, fit.certificate.period
    every = "epoch" if period == 1 else f"{period} epochs"
    entries += [] if walk.entry == 0 else [(start, "start")]
    entries.append((_style.named(here, "entry"), f"after epoch {epoch}, and every {every} again"))
    entries += [(None, walk.remark)] if walk.remark else []
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), walk.names, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    _style.plain(ax)
    _style.legend(ax, entries)
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


def _arrows(ax: Axes, walk: Walk, seen: Seen, record: Updates) -> list[tuple[Any, str]]:
    """The way there and the way round, an arrow for each update or, of very many, a line."""
    from matplotlib.lines import Line2D

    tail, loop = walk.at[: walk.entry + 1], walk.at[walk.entry :]
    entries: list[tuple[Any, str]] = []
    if len(tail) > 1:
        style: dict[str, Any] = {"color": _style.GREY, "linestyle": (0, (4, 2)), "linewidth": 1.2}
        line = _style.named(ax.plot(*tail.T, zorder=3, **style)[0], "tail")
        entries.append((line, f"the way there: {_style.count(len(tail) - 1, 'update')}"))
    n = len(loop) - 1
    single = np.bincount(record.update, minlength=len(walk.at) - 1) == 1
    first = np.searchsorted(record.update, np.arange(len(walk.at) - 1))
    if n > MOST_ARROWS:
        line = ax.plot(*loop.T, color=_style.INK, linewidth=1.0, zorder=4)[0]
        return [*entries, (_style.named(line, "loop"), f"the cycle: {_style.count(n, 'update')}")]
    used: dict[int, tuple[str, str]] = {}
    rings: list[Any] = []
    for t in range(walk.entry, len(walk.at) - 1):
        k = int(seen.label[record.sample[first[t]]])
        tint = _style.colour(k) if single[t] else _style.INK
        says = f"a mistake of {seen.classes[k]}" if single[t] else "several mistakes at once"
        used[k if single[t] else 2] = tint, says
        if (walk.at[t] != walk.at[t + 1]).any():
            arrow = _style.arrow(ax, walk.at[t], walk.at[t + 1], f"update {t + 1}", color=tint)
            arrow.set(linewidth=2.4, zorder=5, mutation_scale=16)
            _style.halo(arrow, 4.0)
        elif len(walk.names) == walk.theta.shape[1] - 1:  # the bias is not in the picture
            rings.append(_ring(ax, walk.at[t], tint, len(rings), f"update {t + 1}"))
    if rings:
        entries.append((rings[0], "only the bias changes"))
    keys = [(Line2D([], [], color=used[k][0], linewidth=2.4), used[k][1]) for k in sorted(used)]
    return [*entries, *keys]


def _ring(ax: Axes, at: Floats, tint: str, before: int, gid: str) -> Any:
    """A ring about weights that stay where they are; later ones are wider."""
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": tint, "linewidths": 2.4}
    return _style.named(ax.scatter(at[0], at[1], s=300 + 250 * before, zorder=5, **style), gid)


def _write_biases(ax: Axes, walk: Walk, seen: Seen) -> None:
    """With two features, the biases at each point of the cycle, beside it."""
    if seen.X.shape[1] != 2 or len(walk.at) - walk.entry > MOST_ARROWS:
        return
    loop = walk.theta[walk.entry : -1]
    middle = walk.at[walk.entry :].mean(axis=0)
    for w in np.unique(loop[:, :2], axis=0):
        biases = loop[(loop[:, :2] == w).all(axis=1), 2]
        away = w - middle
        offset = 24 * away / (np.hypot(*away) or 1.0)
        said = "b = " + ", ".join(dict.fromkeys(_style.number(b) for b in biases))
        text = ax.annotate(said, (*w,), (*offset,), textcoords="offset points", zorder=7)
        text.set(ha="center", va="center", size=_style.SMALL, color=_style.INK)
        _style.halo(text, 3)


def _sample_lines(ax: Axes, seen: Seen, view: View) -> None:
    """One feature: each sample as the line of the weights with ``xw + b = 0``, and its side."""
    values = _points.dense(seen.X)[:, 0]
    pairs = list(dict.fromkeys(zip(values.tolist(), seen.label.tolist(), strict=True)))
    if len(pairs) > MOST_LINES:
        return
    length = 0.045 * view.diagonal
    for x, k in pairs:
        line, tint = Hyperplane(np.array([x, 1.0])), _style.colour(k)
        style: dict[str, Any] = {"color": tint, "linewidth": 1.0, "zorder": 2, "alpha": 0.8}
        _view.line(ax, line, view, f"sample {_style.number(x)}", **style)
        ends = _view.segment(line, view)
        if ends is None:
            continue
        side = (1 if k else -1) * line.w / line.norm
        for share in (0.08, 0.92):
            foot = (1 - share) * ends[0] + share * ends[1]
            tick = _style.arrow(ax, foot, foot + length * side, "right side", color=tint)
            tick.set(linewidth=1.0, mutation_scale=8, zorder=2)
        if np.hypot(*ends[0]) > np.hypot(*ends[1]):  # the name goes to the longer half
            ends = ends[::-1]
        foot = 0.86 * ends[1] + 0.14 * ends[0] - 0.8 * length * side
        text = ax.text(foot[0], foot[1], f"x = {_style.number(x)}", size=_style.SMALL, ha="center")
        text.set(color=_style.lettering(tint), va="center", clip_on=True, zorder=6)
        _style.halo(text)

"""Soft-margin hyperplanes from small C to large: some of them drawn, all of them measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief, floats
from rosenblatt.plot import _style
from rosenblatt.plot._best import read_best
from rosenblatt.plot.margin import draw_margin, finish, price, set_scene, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.plot.margin import Scene
    from rosenblatt.results import SoftMarginPath

    Floats = NDArray[np.float64]

OUT = 0.9  # where so many of the samples are support vectors, or fewer, some are out
SETTLED = 1.02  # a margin within so much of the last one no longer changes to the eye


def path(
    path: SoftMarginPath,
    X: Any,
    y: Any,
    *,
    Cs: ArrayLike | None = None,
    axes: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> NDArray[Any]:
    """What the price of slack does: hyperplanes for small and large C, and curves over all C.

    Above, the margin for some values of C, as `rosenblatt.plot.margin` draws it: a small C
    makes it wide and leaves samples inside or on the wrong side, a large one makes it as narrow
    as it takes to have little slack. Below, over all C of the path: the margin ``1/‖w‖``, the
    sum of the slacks, and the numbers of support vectors and of training errors. Dotted lines
    lead to the values of C above.

    Parameters
    ----------
    path : SoftMarginPath
        What `rosenblatt.soft_margin_path` returned.
    X, y : samples and labels
        Those given to it.
    Cs : array of numbers, optional
        Which C to draw; of those in the path the nearest ones are taken. None chooses three.
    axes : array of matplotlib Axes, optional
        Where to draw: one for each C drawn, then three for the curves. None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the table's own and of the labels.

    Returns
    -------
    array of matplotlib Axes
        One for each C drawn, then three for the curves.
    """
    if not hasattr(path, "optima"):
        what = type(path).__name__
        msg = f"path is a {what}: give what rb.soft_margin_path returned"
        raise ValueError(msg)
    chosen = _chosen(path, Cs)
    found = [read_best(path.optima[k], X, y, None, feature_names, class_names) for k in chosen]
    figure, above, below = _axes(axes, len(chosen))
    scenes = _alike([set_scene(ax, *one) for ax, one in zip(above, found, strict=True)])
    keys: dict[str, tuple[Any, str]] = {}
    for ax, scene in zip(above, scenes, strict=True):
        keys = _panel(ax, scene) | keys
        if ax is not above[0]:
            ax.set_ylabel("")
    _curves(below, path, chosen)
    if figure is not None:
        _legend(figure, keys)
    return np.concatenate([above, below])


def _chosen(path: SoftMarginPath, Cs: ArrayLike | None) -> list[int]:
    """Which entries of the path to draw, in ascending order of C."""
    order = np.argsort(path.Cs)
    if Cs is None:
        return _telling(path, order)
    wanted = np.atleast_1d(floats("Cs", Cs))
    if wanted.ndim != 1 or not wanted.size or not (wanted > 0).all():
        msg = f"Cs={brief(Cs)} is not a list of positive numbers: give values of C to draw, or None"
        raise ValueError(msg)
    apart = np.abs(np.log(path.Cs[order]) - np.log(wanted)[:, np.newaxis])
    return [int(order[k]) for k in np.unique(apart.argmin(axis=1))]


def _telling(path: SoftMarginPath, order: NDArray[np.intp]) -> list[int]:
    """Three that differ: the first that decides something, one between, where it has settled."""
    margin, C, support = path.margin[order], path.Cs[order], path.n_support[order]
    last = int(np.argmax(margin <= SETTLED * margin[-1]))
    # As long as all samples lie between the edges, a larger C makes w longer and little else.
    first = min(int(np.argmax(support <= OUT * support.max())), last)
    middle = int(np.abs(np.log(C) - (np.log(C[first]) + np.log(C[last])) / 2).argmin())
    return [int(order[k]) for k in sorted({first, middle, last})]


def _axes(axes: Any, shown: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """The figure if it is made here; axes for the hyperplanes and for the curves."""
    if axes is not None:
        given = _style.given_axes(axes)
        if len(given) != shown + 3:
            msg = (
                f"axes has {len(given)} Axes: give {shown + 3}, "
                f"{shown} for hyperplanes and 3 for curves, or None"
            )
            raise ValueError(msg)
        return None, given[:shown], given[shown:]
    figure = _style.pyplot().figure(figsize=(3.6 * max(shown, 3), 6.3), layout="constrained")
    grid = figure.add_gridspec(2, 3 * shown, height_ratios=(1.75, 1.0))
    above = [figure.add_subplot(grid[0, 3 * k : 3 * k + 3]) for k in range(shown)]
    below = [figure.add_subplot(grid[1, shown * k : shown * (k + 1)]) for k in range(3)]
    return figure, np.array(above, dtype=object), np.array(below, dtype=object)


def _alike(scenes: list[Scene]) -> list[Scene]:
    """The same scenes, with one view where the samples are where they are."""
    if scenes[0].flat.remark:
        return scenes
    view = max((scene.view for scene in scenes), key=lambda view: view.diagonal)
    return [scene._replace(view=view) for scene in scenes]


def _panel(ax: Axes, scene: Scene) -> dict[str, tuple[Any, str]]:
    """One hyperplane of the path; what there is to explain."""
    entries = draw_margin(ax, scene, width=False)
    finish(ax, scene)
    optimum, (inside, wrong) = scene.optimum, scene.short()
    title: dict[str, Any] = {"size": _style.NORMAL, "weight": "bold", "color": _style.INK}
    ax.set_title(f"C = {price(optimum.C or 0.0)}", loc="left", pad=19, **title)
    counts = f"{_style.grouped(inside.sum())} inside, {_style.grouped(wrong.sum())} wrong"
    text = f"margin {size(optimum.margin)}; {counts}"
    if scene.outside():
        text += f" ({_style.grouped(scene.outside())} not shown)"
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    note = ax.annotate(text, (0, 1), (0, 6), **place)
    note.set(size=_style.SMALL, color=_style.INK, gid="counts")
    return entries


def _legend(figure: Any, keys: dict[str, tuple[Any, str]]) -> None:
    """What the hyperplanes above have in common."""
    short = {"support": "support vectors", "slack": "slack"}
    shown = [(handle, short.get(key, text)) for key, (handle, text) in keys.items() if handle]
    figure.legend(
        *zip(*((handle, _style.literal(text)) for handle, text in shown), strict=True),
        loc="outside upper center",
        ncols=len(shown),
        frameon=False,
        fontsize=_style.SMALL,
        labelcolor=_style.INK,
    )


def _curves(axes: NDArray[Any], path: SoftMarginPath, chosen: list[int]) -> None:
    """Margin, slack, and the two counts, over C."""
    order = np.argsort(path.Cs)
    C = path.Cs[order]
    curves: list[list[tuple[str, str, Any]]] = [
        [("margin", "margin 1/‖w‖", path.margin)],
        [("slack", "sum of the slacks", path.slack)],
        [("support", "support vectors", path.n_support), ("errors", "errors", path.errors)],
    ]
    for ax, lines in zip(axes, curves, strict=True):
        for k in chosen:
            style: dict[str, Any] = {"color": _style.GREY, "linestyle": ":", "linewidth": 1.1}
            _style.named(ax.axvline(path.Cs[k], zorder=1, **style), "shown")
        handles = [_curve(ax, C, values[order], gid, k) for k, (gid, _, values) in enumerate(lines)]
        ax.set(xscale="log", xlabel="C")
        _scale(ax, np.concatenate([values for _, _, values in lines]), counts=len(lines) > 1)
        _style.plain(ax)
        _style.legend(ax, [(h, name) for h, (_, name, _) in zip(handles, lines, strict=True)])


def _curve(ax: Axes, C: Floats, values: Any, gid: str, k: int) -> Any:
    style: dict[str, Any] = {"markersize": 4.0, "markeredgecolor": "white", "markeredgewidth": 0.4}
    tint, mark = (_style.INK, "o") if k == 0 else (_style.COLOURS[4], "v")
    (line,) = ax.plot(C, values, color=tint, marker=mark, linewidth=1.6, **style)
    return _style.named(line, gid)


def _scale(ax: Axes, values: Any, *, counts: bool) -> None:
    """From zero, or logarithmic where the values have several orders of magnitude."""
    finite = values[np.isfinite(values)]
    if counts or finite.max(initial=0.0) <= 30 * finite.min(initial=np.inf):
        ax.set_ylim(-0.02 * finite.max(initial=1.0), 1.06 * finite.max(initial=0.0) or 1.0)
    elif (finite > 0).all():
        ax.set_yscale("log")
    if counts:
        from matplotlib.ticker import MaxNLocator

        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        ax.yaxis.set_major_formatter(lambda v, _: _style.grouped(v))

"""Several hyperplanes for the same data, side by side: of several models, or for several C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.arguments import brief, floats
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, axes_in_rows, given_axes, plain, pyplot, whole_ticks
from rosenblatt.plot.lettering import legend, literal, number
from rosenblatt.plot.margin_edges import MarginPicture, margin_picture, price, width
from rosenblatt.plot.plane import MOST_WRONG, chosen, rings, unit
from rosenblatt.plot.projection import Scene, cast
from rosenblatt.plot.seen import read, read_best
from rosenblatt.plot.style import COLOURS, GREY, INK, NORMAL, SMALL, Keys, Look
from rosenblatt.results import Hyperplane, SoftMarginPath
from rosenblatt.visible import grouped

CLOSEST = 1e-6  # so little farther away, relative to the margin, is as close
PER_ROW = 3
OUT = 0.9  # where so many of the samples are support vectors, or fewer, some are out
SETTLED = 1.02  # a margin within so much of the last one no longer changes to the eye


def compare(
    models: Any,
    X: Any,
    y: Any,
    *,
    axes: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Hyperplanes of several models for the same samples, each with its margin.

    The margin of a hyperplane that separates, ``min_i y_i(w·x_i + b)/‖w‖``, is how far every
    sample may move, in any direction, and still be on its right side: a circle of that size
    around the closest samples, which are ringed, just touches the line. Where a hyperplane does
    not separate there is no margin, and the samples on its wrong side are ringed.

    With two features the lines of the other models are dotted. More features are drawn as a
    shadow of which every picture has its own, with the hyperplane seen from its edge.

    Parameters
    ----------
    models : dict of name to model, or list of models
        Linear classifiers fitted to the same two classes, or hyperplanes.
    X : array, CSR matrix or data frame of shape (n, d)
    y : array of n labels
    axes : array of matplotlib Axes, optional
        Where to draw, one model each; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the models' own.

    Returns
    -------
    array of matplotlib Axes
        One for each model.
    """
    named, every = _named(models), []
    for name, model in named:
        every.append(read(model, X, y, feature_names, class_names))
        if (many := len(every[-1].planes)) > 1:
            msg = f"{name} has {many} classes: only hyperplanes for two can be compared"
            raise ValueError(msg)
    flats = [cast(seen, seen.planes[0]) for seen in every]
    tall = 3.0 if flats[0].in_rows else 5.0
    _, row = axes_in_rows(axes, len(named), PER_ROW, lambda c, r: (0.6 + 4.4 * c, tall * r))
    if len(row) != len(named):
        msg = f"axes has {len(row)} Axes for {len(named)} models: give one for each, or None"
        raise ValueError(msg)
    margins = [max(0.0, seen.margin()) for seen in every]  # nan: 0
    together = flats[0]._replace(points=np.vstack([flat.points for flat in flats]))
    for k, ax in enumerate(row):
        scene = Scene(ax, together.filling(ax), seen=every[k], flat=flats[k])
        for other in flats:
            if other is not flats[k] and other.line.w.any() and not other.remark:
                scene.line(other.line, "other", linestyle=":", color=GREY, linewidth=1.1)
        _draw_panel(scene, margins[k])
        said = f"margin {number(margins[k])}" if margins[k] else "does not separate"
        best = ", the largest" * (len(row) > 1 and margins[k] == max(margins) > 0)
        scene.legend(f"{literal(named[k][0])}: {said}{best}")
    return row


def _named(models: Any) -> list[tuple[str, Any]]:
    """Names and models; a name for each where none are given."""
    if isinstance(models, Mapping):
        found = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, list | tuple):
        found = [(type(model).__name__, model) for model in models]
    else:
        what = type(models).__name__
        msg = f"models is a {what}: give a dict of names and fitted models, or a list of models"
        raise ValueError(msg)
    if not found:
        msg = "models is empty: give at least one fitted model"
        raise ValueError(msg)
    return found


def _draw_panel(scene: Scene, margin: float) -> None:
    """One model: samples, line and band; the closest samples, or the wrong ones."""
    seen, plane = scene.seen, scene.flat.line
    ringed = np.flatnonzero(seen.wrong)
    if margin:
        distance = seen.planes[0].distance(seen.X)
        ringed = np.flatnonzero(distance <= (1 + CLOSEST) * distance.min())
    rows = chosen(seen.n, ringed if ringed.size <= MOST_WRONG else ringed[:0])
    area = scene.samples(rows)
    shown = scene.points[np.intersect1d(rows, ringed)]
    if not plane.w.any():
        scene.note("zero", "w = 0: no hyperplane")
    else:
        scene.halves(plane, 0.1)
        scene.line(plane, linewidth=2.2)
        if margin:
            _draw_room(scene, margin, shown)
            ring = rings(scene.ax, shown, area=0.5 * area, gid="closest")
            scene.entries["closest"] = ring, f"closest: {number(margin)} away"
        else:
            scene.entries["wrong"] = rings(scene.ax, shown, area=area), seen.errors
    scene.finish()


def _draw_room(scene: Scene, margin: float, closest: Floats) -> None:
    """The band of the margin, and circles of its size around the closest samples."""
    from matplotlib.patches import Circle

    ax, (w, b) = scene.ax, unit(scene.flat.line)
    scene.band(scene.flat.line, margin, linewidth=0)
    for side in (-1, 1):
        dashed: Look = {"color": GREY, "linewidth": 0.9, "linestyle": "--"}
        scene.line(Hyperplane(w, b - side * margin), "edge", **dashed)
    feet = closest - (closest @ w + b)[:, np.newaxis] * w
    style: Look = {"fill": False, "edgecolor": INK, "linewidth": 1.1, "zorder": 5}
    for place, foot in zip(closest, feet, strict=True):
        ax.plot(*np.array([place, foot]).T, color=INK, linewidth=1.2, gid="distance")
        if scene.view.to_scale:
            ax.add_patch(Circle(tuple(place), margin, gid="room", **style))


# The path of C --------------------------------------------------------------------------------


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
    shown = _shown(path, Cs)
    found = [read_best(path.optima[k], X, y, None, feature_names, class_names) for k in shown]
    figure, above, below = _two_rows(axes, len(shown))
    pictures = [margin_picture(ax, *one) for ax, one in zip(above, found, strict=True)]
    widest = max((picture.view for picture in pictures), key=lambda view: view.diagonal)
    entries: Keys = {}
    for picture in pictures:
        if not picture.flat.remark:  # one view, where the samples are where they are
            picture.view = widest
        _above(picture)
        entries = picture.entries | entries
    for ax in above[1:]:
        ax.set_ylabel("")
    _curves(below, path, shown)
    if figure is not None:
        short = {"support": "support vectors", "slack": "slack"}
        keys = [(h, literal(short.get(name, text))) for name, (h, text) in entries.items() if h]
        style: Look = {"frameon": False, "fontsize": SMALL, "labelcolor": INK, "ncols": len(keys)}
        figure.legend(*zip(*keys, strict=True), loc="outside upper center", **style)
    return np.concatenate([above, below])


def _shown(path: SoftMarginPath, Cs: ArrayLike | None) -> list[int]:
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


def _two_rows(axes: Any, shown: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """The figure if it is made here; axes for the hyperplanes and for the curves."""
    if axes is not None:
        given = given_axes(axes)
        if len(given) != shown + 3:
            msg = (
                f"axes has {len(given)} Axes: give {shown + 3}, "
                f"{shown} for hyperplanes and 3 for curves, or None"
            )
            raise ValueError(msg)
        return None, given[:shown], given[shown:]
    figure = pyplot().figure(figsize=(3.6 * max(shown, 3), 6.3), layout="constrained")
    grid = figure.add_gridspec(2, 3 * shown, height_ratios=(1.75, 1.0))
    above = [figure.add_subplot(grid[0, 3 * k : 3 * k + 3]) for k in range(shown)]
    below = [figure.add_subplot(grid[1, shown * k : shown * (k + 1)]) for k in range(3)]
    return figure, np.array(above, dtype=object), np.array(below, dtype=object)


def _above(picture: MarginPicture) -> None:
    """One hyperplane of the path, with its numbers above."""
    picture.draw(measured=False)
    optimum, (inside, wrong) = picture.optimum, picture.short()
    title: Look = {"size": NORMAL, "weight": "bold", "color": INK}
    picture.ax.set_title(f"C = {price(optimum.C or 0.0)}", loc="left", pad=19, **title)
    counts = f"{grouped(inside.sum())} inside, {grouped(wrong.sum())} wrong"
    text = f"margin {width(optimum.margin)}; {counts}"
    out = picture.note_outside()
    if out:
        text += f" ({grouped(out)} not shown)"
    place: Look = {"xycoords": "axes fraction", "textcoords": "offset points"}
    picture.ax.annotate(text, (0, 1), (0, 6), size=SMALL, color=INK, gid="counts", **place)


def _curves(axes: NDArray[Any], path: SoftMarginPath, shown: list[int]) -> None:
    """Margin, slack, and the two counts, over C."""
    order = np.argsort(path.Cs)
    curves: list[list[tuple[str, str, Any]]] = [
        [("margin", "margin 1/‖w‖", path.margin)],
        [("slack", "sum of the slacks", path.slack)],
        [("support", "support vectors", path.n_support), ("errors", "errors", path.errors)],
    ]
    for ax, lines in zip(axes, curves, strict=True):
        for k in shown:
            ax.axvline(path.Cs[k], color=GREY, linestyle=":", linewidth=1.1, zorder=1, gid="shown")
        entries = []
        for (gid, name, values), tint, mark in zip(lines, (INK, COLOURS[4]), "ov", strict=False):
            style: Look = {"color": tint, "marker": mark, "linewidth": 1.6, "gid": gid}
            style |= {"markersize": 4.0, "markeredgecolor": "white", "markeredgewidth": 0.4}
            (line,) = ax.plot(path.Cs[order], values[order], **style)
            entries.append((line, name))
        ax.set(xscale="log", xlabel="C")
        _scale(ax, np.concatenate([values for _, _, values in lines]), counts=len(lines) > 1)
        plain(ax)
        legend(ax, entries)


def _scale(ax: Axes, values: Any, *, counts: bool) -> None:
    """From zero, or logarithmic where the values have several orders of magnitude."""
    finite = values[np.isfinite(values)]
    if counts or finite.max(initial=0.0) <= 30 * finite.min(initial=np.inf):
        ax.set_ylim(-0.02 * finite.max(initial=1.0), 1.06 * finite.max(initial=0.0) or 1.0)
    elif (finite > 0).all():
        ax.set_yscale("log")
    if counts:
        whole_ticks(ax.yaxis)
        ax.yaxis.set_major_formatter(lambda v, _: grouped(v))

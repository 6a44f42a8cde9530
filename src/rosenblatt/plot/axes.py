"""Axes: new ones or those given, how large they are, how plain."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.arguments import instance
from rosenblatt.plot.style import GREY, INK, NORMAL, SMALL, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # Matplotlib is imported by the first picture


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keep Matplotlib's notices to itself, unless somebody has set the level of its logger.

    While it is imported it talks of a home folder it cannot write to, and of its fonts.
    """
    log = logging.getLogger("matplotlib")
    before = log.level
    if before == logging.NOTSET:
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def pyplot() -> Any:
    """Matplotlib's pyplot, imported by the first picture."""
    with unlogged():
        import matplotlib.pyplot as plt
    return plt


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """`ax` itself, or the axes of a new figure of `size` inches."""
    if ax is None:
        return pyplot().subplots(figsize=size, layout="constrained")[1]  # type: ignore[no-any-return]
    from matplotlib import axes

    instance("ax", ax, axes.Axes, "give Axes of Matplotlib, or None for a new figure")
    return ax


def given_axes(axes: Any) -> NDArray[Any]:
    """Axes, an array of them or a list, as a vector of Axes."""
    from matplotlib import axes as kinds

    row = np.atleast_1d(np.array(axes, dtype=object)).ravel()
    for ax in row if row.size else [None]:
        instance("axes", ax, kinds.Axes, "give an array of Axes of Matplotlib, or None")
    return row


def axes_in_rows(
    axes: Any, wanted: int, columns: int, size: Callable[[int, int], tuple[float, float]]
) -> tuple[Any, NDArray[Any]]:
    """The axes given; or a new figure, its size by its columns and rows, and so many axes."""
    if axes is not None:
        return None, given_axes(axes)
    columns = min(wanted, columns)
    rows = -(-wanted // columns)
    style: Look = {"figsize": size(columns, rows), "squeeze": False, "layout": "constrained"}
    figure, grid = pyplot().subplots(rows, columns, **style)
    for spare in grid.ravel()[wanted:]:
        spare.remove()
    return figure, grid.ravel()[:wanted]


def box_inches(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes, as far as they can be known before the layout."""
    whole, dpi, spec = ax.figure.bbox, ax.figure.dpi, ax.get_subplotspec()
    if spec is not None and ax.figure.get_layout_engine() is not None:
        grid = spec.get_gridspec()
        across, down = np.array(grid.get_width_ratios()), np.array(grid.get_height_ratios())
        width = whole.width / dpi * across[spec.colspan].sum() / across.sum()
        height = whole.height / dpi * down[spec.rowspan].sum() / down.sum()
        # Of its cell an axes leaves room for ticks and names, above it for a title or legend.
        return max(float(width) - 0.65, 0.5), max(float(height) - 1.1, 0.5)
    place = ax.get_position(original=True)
    return float(place.width * whole.width / dpi), float(place.height * whole.height / dpi)


def plain(ax: Axes) -> None:
    """Two thin axis lines, nothing else around the picture."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(colors=GREY, labelcolor=INK, labelsize=SMALL)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(size=NORMAL, color=INK)


def whole_ticks(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))

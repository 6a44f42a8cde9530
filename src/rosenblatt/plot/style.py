"""Colours, markers, arrows: what all pictures have in common."""

from __future__ import annotations

from typing import Any

Look = dict[str, Any]  # how something is drawn, as Matplotlib calls it
Entries = list[tuple[Any, str]]  # of a legend: things drawn, or None, and what they are
Keys = dict[str, tuple[Any, str]]  # the same by name
INK, GREY, PALE = "#222222", "#6E6E6E", "#D8D8D8"
# Okabe and Ito's colours. Neighbours also differ in lightness: the first is dark, the next light.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SMALL, NORMAL = 8.5, 9.5


def colour(k: int) -> str:
    """The colour of class number k."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """The marker of class number k."""
    return MARKERS[k % len(MARKERS)]


def arrow(ax: Any, start: Any, end: Any, gid: str, **style: Any) -> Any:
    """An arrow from `start` to `end` in the coordinates of the data, exactly."""
    from matplotlib.patches import FancyArrowPatch

    options: Look = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.8}
    options |= {"mutation_scale": 13, "zorder": 5, "gid": gid} | style
    return ax.add_patch(FancyArrowPatch(tuple(start), tuple(end), shrinkA=0, shrinkB=0, **options))

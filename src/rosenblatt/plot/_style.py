"""Colours, markers, lettering: what all pictures have in common."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from rosenblatt.arguments import instance
from rosenblatt.plot import _quiet
from rosenblatt.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from numpy.typing import NDArray

INK, GREY, PALE = "#222222", "#6E6E6E", "#D8D8D8"
# Okabe and Ito's colours. Neighbours also differ in lightness: the first is dark, the next light.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "++++", "oooo")
SMALL, NORMAL = 8.5, 9.5


def colour(k: int) -> str:
    """The colour of class number k."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """The marker of class number k."""
    return MARKERS[k % len(MARKERS)]


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


def pyplot() -> Any:
    """Matplotlib's pyplot, imported by the first picture."""
    with _quiet.unlogged():
        import matplotlib.pyplot as plt
    return plt


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
    ax.xaxis.label.set(size=NORMAL, color=INK)
    ax.yaxis.label.set(size=NORMAL, color=INK)


def number(value: float, digits: int = 3) -> str:
    """A number with few digits and a true minus sign."""
    text = f"{value + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def vector(values: Sequence[float] | np.ndarray[Any, Any]) -> str:
    """A short vector, in brackets."""
    return f"({', '.join(number(v) for v in values)})"


def grouped(n: float) -> str:
    """A whole number, from ten thousand on with its thousands apart: ``1372``, ``32,561``."""
    text = f"{n:,.0f}" if abs(n) >= 10_000 else f"{n:.0f}"
    return text.replace("-", "−")


def count(n: int, noun: str) -> str:
    """``1 epoch``, ``2 epochs``, ``10,000 epochs``."""
    return f"{grouped(n)} {noun}{'s' * (n != 1)}"


def wide(text: str) -> int:
    """The width of a name in letters; a Chinese character or an emoji takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def literal(text: str, most: int = 60) -> str:
    """A name as it is written: on one line, not too long, dollars not read as formulas."""
    text = visible(" ".join(str(text).split()))
    text = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return text.replace("$", r"\$")


def label_axis(axis: Axis, name: str, low: float, high: float) -> None:
    """Name an axis; very large and very small numbers get their power of ten in the name."""
    largest = max(abs(low), abs(high))
    exponent = int(np.floor(np.log10(largest))) if largest > 0 else 0
    text = literal(name)
    if not -4 < exponent < 5:
        text += rf" ($\times\,10^{{{exponent}}}$)"
        axis.set_major_formatter(lambda v, _: number(v / 10.0**exponent))
    axis.set_label_text(text)


def _columns(widths: Sequence[float], room: float) -> int:
    """The most columns in which entries of these widths, filled column by column, have room."""
    for columns in range(len(widths), 1, -1):
        rows = [len(part) for part in np.array_split(widths, columns)]
        edges = np.cumsum([0, *rows])
        needed = sum(max(widths[a:z]) for a, z in pairwise(edges))
        if needed <= room:
            return columns
    return 1


def legend(ax: Axes, entries: Sequence[tuple[Any, str]], title: str = "") -> Legend:
    """A legend above the axes, where it covers nothing, in as many columns as fit."""
    from matplotlib.lines import Line2D

    blank = Line2D([], [], linestyle="none")
    entries = [(blank if h is None else h, literal(text)) for h, text in entries]
    columns = _columns([0.5 + 0.066 * wide(text) for _, text in entries], box_inches(ax)[0])
    made = ax.legend(
        *zip(*entries, strict=True),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.4,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        handlelength=1.6,
        columnspacing=1.4,
    )
    handles: list[Any] = made.legend_handles
    for handle in handles:
        if hasattr(handle, "set_sizes"):  # markers too small to tell apart, or too large
            handle.set_sizes(np.clip(handle.get_sizes(), 28, 90))
    if title:
        made.set_title(title)
        made.get_title().set(size=NORMAL, weight="bold", color=INK)
        made.set_alignment("left")
    return made


def lettering(tint: str) -> str:
    """A colour dark enough to write in."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = to_rgb(tint)
    return to_hex((0.78 * red, 0.78 * green, 0.78 * blue))


def halo(artist: Any, width: float = 2.5) -> Any:
    """A white rim around lettering, so that it reads on top of points and lines."""
    from matplotlib.patheffects import withStroke

    artist.set_path_effects([withStroke(linewidth=width, foreground="white")])
    return artist


def named(artist: Any, gid: str) -> Any:
    """Give an artist a name: ``ax.findobj(lambda a: a.get_gid() == gid)``, and its id in SVG."""
    artist.set_gid(gid)
    return artist


def arrow(ax: Axes, start: Any, end: Any, gid: str, **style: Any) -> Any:
    """An arrow from `start` to `end` in the coordinates of the data, exactly."""
    from matplotlib.patches import FancyArrowPatch

    options: dict[str, Any] = {
        "arrowstyle": "-|>",
        "color": INK,
        "linewidth": 1.8,
        "mutation_scale": 13,
        "zorder": 5,
    } | style
    patch = FancyArrowPatch(tuple(start), tuple(end), shrinkA=0, shrinkB=0, **options)
    return named(ax.add_patch(patch), gid)

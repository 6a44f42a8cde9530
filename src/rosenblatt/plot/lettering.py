"""What is written in pictures: numbers, names, legends, letters beside things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from textwrap import fill
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from rosenblatt.plot.axes import Axes, box_inches
from rosenblatt.plot.style import INK, NORMAL, SMALL, Keys, Look
from rosenblatt.visible import grouped, visible

FEW = 8  # entries of a legend that stand as they are
MOST_NAMED, ROWS, LONG, LINE = 26, 6, 20, 36  # of more: classes, rows of them, letters, of a line
ROOM = 5.3  # inches for a legend in a picture of its own


def number(value: float, digits: int = 3) -> str:
    """A number with few digits and a true minus sign."""
    text = f"{value + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def vector(values: Iterable[float]) -> str:
    """A short vector, in brackets."""
    return f"({', '.join(number(v) for v in values)})"


def out_of(some: float, n: float) -> str:
    """``3 of 10,000``."""
    return f"{grouped(some)} of {grouped(n)}"


def wide(text: str) -> int:
    """The width of a name in letters; a Chinese character or an emoji takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def literal(text: str, most: int = 60) -> str:
    """A name as it is written: on one line, not too long, dollars not read as formulas."""
    text = visible(" ".join(str(text).split()))
    text = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return text.replace("$", r"\$")


def label_axis(axis: Any, name: str, low: float, high: float) -> None:
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
        if sum(max(widths[a:z]) for a, z in pairwise(np.cumsum([0, *rows]))) <= room:
            return columns
    return 1


def of_classes(drawn: Keys) -> Keys:
    """Entries of a legend for classes: all, or as many as have room in a few rows above a picture.

    Names are shortened, where there are many, and the rest is counted; of so many that nobody
    could find a name by its colour and mark, there is only the number.
    """
    if len(drawn) <= FEW:
        return drawn
    if len(drawn) > MOST_NAMED:
        return {"classes": (None, f"{grouped(len(drawn))} classes, too many to name")}
    short = {key: (handle, literal(name, LONG)) for key, (handle, name) in drawn.items()}
    each = 0.5 + 0.066 * max(wide(name) for _, name in short.values())
    shown = dict(list(short.items())[: ROWS * max(1, int(ROOM / each))])
    rest = len(drawn) - len(shown)
    return shown | ({"classes": (None, f"and {rest} more classes")} if rest else {})


def legend(ax: Axes, entries: Iterable[tuple[Any, str]], title: str = "") -> Any:
    """A legend above the axes, where it covers nothing, in as many columns as fit."""
    from matplotlib.lines import Line2D

    blank = Line2D([], [], linestyle="none")
    entries = [(blank if h is None else h, literal(text)) for h, text in entries]
    if len(entries) > FEW:  # a long one must not keep the others from standing side by side
        entries = [(handle, fill(text, LINE)) for handle, text in entries]
    widths = [max(map(wide, text.split("\n"))) for _, text in entries]
    columns = _columns([0.5 + 0.066 * width for width in widths], box_inches(ax)[0])
    place: Look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.4}
    style: Look = {"frameon": False, "fontsize": SMALL, "labelcolor": INK}
    style |= {"handlelength": 1.6, "columnspacing": 1.4}
    made = ax.legend(*zip(*entries, strict=True), ncols=columns, **place, **style)
    handles: list[Any] = made.legend_handles
    for handle in handles:
        if hasattr(handle, "set_sizes"):  # markers too small to tell apart, or too large
            handle.set_sizes(np.clip(handle.get_sizes(), 28, 90))
    if title:
        made.set_title(title)
        made.get_title().set(size=NORMAL, weight="bold", color=INK)
        made.set_alignment("left")
    return made


def dark(tint: str) -> str:
    """A colour dark enough to write in."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = to_rgb(tint)
    return to_hex((0.78 * red, 0.78 * green, 0.78 * blue))


def halo(artist: Any, width: float = 2.5) -> Any:
    """A white rim around lettering, so that it reads on top of points and lines."""
    from matplotlib.patheffects import withStroke

    artist.set_path_effects([withStroke(linewidth=width, foreground="white")])
    return artist


def write(ax: Axes, at: Any, text: str, **style: Any) -> Any:
    """Lettering around a point."""
    options: Look = {"ha": "center", "va": "center", "color": INK, "zorder": 6} | style
    return ax.text(at[0], at[1], text, **options)


def beside(ax: Axes, at: Any, offset: Any, text: str, rim: float = 3, **style: Any) -> Any:
    """Lettering so many points of print away from a point, with a white rim."""
    options: Look = {"ha": "center", "va": "center", "size": SMALL, "color": INK} | style
    made = ax.annotate(text, (*at,), (*offset,), textcoords="offset points", **options)
    return halo(made, rim)

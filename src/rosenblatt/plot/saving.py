"""Pictures as files, and what Matplotlib has to say while it draws them."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt import arguments
from rosenblatt.files.whole import written_whole
from rosenblatt.plot.style import Look

# What each format would otherwise be stamped with: the time, or Matplotlib's version.
STAMPS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
MOST_LETTERS = 8


def save(drawn: Any, path: str | os.PathLike[str], *, dpi: float = 160) -> None:
    """Write a picture to a file, whole or not at all, and the same bytes every time.

    Parameters
    ----------
    drawn : matplotlib Axes, array of Axes, or Figure
        What a function of this module returned.
    path : path
        The file; its suffix, .png, .svg or .pdf, chooses the format.
    dpi : float
        Dots per inch, for .png.
    """
    wanted = "give a number of dots per inch, from 10 to 10000"
    arguments.number("dpi", dpi, lambda x: 10 <= x <= 10_000, wanted)
    target = target_path(path, "picture", (*STAMPS,), ", ")
    figure = _figure(drawn)
    with heard() as warned:
        picture = _picture(figure, target.suffix.lower(), dpi)
    pass_on(warned, figure)
    with written_whole(target) as beside:
        beside.write_bytes(picture)


def target_path(path: Any, what: str, suffixes: tuple[str, ...], between: str) -> Path:
    """The path of a picture or film, if its suffix is one of these."""
    target = Path(arguments.file_path("path", path))
    if target.suffix.lower() not in suffixes:
        given = f"{target.suffix!r} is not a {what} format" if target.suffix else "has no suffix"
        msg = f"{target.name}: {given}; give a name that ends in {between.join(suffixes)}"
        raise ValueError(msg)
    return target


def _picture(figure: Any, suffix: str, dpi: float) -> bytes:
    """The contents of the file."""
    import matplotlib as mpl

    stamps: Look = STAMPS[suffix]
    memory = io.BytesIO()
    for ax in figure.axes:  # a layout starts from the last one: start from none, every time
        if figure.get_layout_engine() is not None and ax.get_subplotspec() is not None:
            ax.set_subplotspec(ax.get_subplotspec())
    figure.draw_without_rendering()  # the layout settles at the first drawing
    with mpl.rc_context({"svg.hashsalt": "rosenblatt"}):
        figure.savefig(memory, format=suffix[1:], dpi=dpi, bbox_inches="tight", metadata=stamps)
    return memory.getvalue()


def _figure(drawn: Any) -> Any:
    """The figure of axes, of an array of axes, or the figure itself."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    first = drawn.flat[0] if isinstance(drawn, np.ndarray) and drawn.size else drawn
    if isinstance(first, Figure):
        return first
    if isinstance(first, Axes):
        return first.figure.figure  # of a part of a figure, the whole
    msg = f"cannot save {type(drawn).__name__}: give Axes, an array of Axes, or a Figure"
    raise ValueError(msg)


# Letters that the font lacks ------------------------------------------------------------------


@contextmanager
def heard() -> Iterator[list[warnings.WarningMessage]]:
    """All warnings to users; `pass_on` is to say which of them are worth telling."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        yield warned


def pass_on(warned: list[warnings.WarningMessage], figure: Any) -> None:
    """Say in one warning which letters the fonts of a figure lack, not in several for each."""
    lacking = _lacking(figure)
    for one in warned:
        if str(one.message) not in lacking.values():
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    letters = [*dict.fromkeys(letter for letter, _ in lacking)]
    if letters:
        more = " …" * (len(letters) > MOST_LETTERS)
        msg = f"the font has no picture for: {' '.join(letters[:MOST_LETTERS])}{more}"
        warnings.warn(msg, UserWarning, stacklevel=3)


def _lacking(figure: Any) -> dict[tuple[str, Any], str]:
    """Letters and fonts of a figure of which Matplotlib warns when it measures them; and how."""
    from matplotlib.text import Text
    from matplotlib.textpath import text_to_path

    texts = [text for text in figure.findobj(Text) if text.get_visible()]
    pairs = [(letter, text.get_fontproperties()) for text in texts for letter in text.get_text()]
    found = {}
    for letter, font in dict.fromkeys(pair for pair in pairs if not pair[0].isascii()):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            text_to_path.get_text_width_height_descent(letter, font, ismath=False)
        if warned:
            found[letter, font] = str(warned[0].message)
    return found

"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import file_path, number
from rosenblatt.files.whole import written_whole
from rosenblatt.plot import _quiet

if TYPE_CHECKING:
    import os

# What each format would otherwise be stamped with: the time, or Matplotlib's version.
STAMPS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


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
    target = Path(file_path("path", path))
    wanted = "give a number of dots per inch, from 10 to 10000"
    number("dpi", dpi, lambda x: 10 <= x <= 10_000, wanted)
    if target.suffix.lower() not in STAMPS:
        given = f"{target.suffix!r} is not a picture format" if target.suffix else "has no suffix"
        msg = f"{target.name}: {given}; give a name that ends in {', '.join(STAMPS)}"
        raise ValueError(msg)
    figure = _figure(drawn)
    with _quiet.drawing():
        picture = _picture(figure, target.suffix.lower(), dpi)
    with written_whole(target) as beside:
        beside.write_bytes(picture)


def _picture(figure: Any, suffix: str, dpi: float) -> bytes:
    """The contents of the file."""
    import matplotlib as mpl

    stamps: dict[str, Any] = STAMPS[suffix]
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

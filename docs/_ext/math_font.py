"""A font for formulas, so that they look the same everywhere: what a page of formulas needs of it.

STIX Two Math comes with the package ziamath; nothing is fetched, and nothing is kept here.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from fontTools import subset

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LETTERS = [*range(0x20, 0x17F), *range(0x300, 0x370), *range(0x370, 0x400), *range(0x2010, 0x2060)]
SIGNS = [*range(0x2070, 0x20A0), *range(0x20D0, 0x2400), *range(0x27E0, 0x2800)]
SLANTED = [*range(0x1D434, 0x1D468), *range(0x1D538, 0x1D56C), *range(0x1D6A4, 0x1D6E2)]


def write(path: Path) -> None:
    """The letters and signs of formulas, as a font for the web."""
    options = subset.Options(layout_features=["ssty"], flavor="woff", hinting=False)
    with as_file(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as whole:
        font = subset.load_font(whole, options)
        small = subset.Subsetter(options)
        small.populate(unicodes=LETTERS + SIGNS + SLANTED)
        small.subset(font)
        subset.save_font(font, path, options)


def add(app: Sphinx, error: Exception | None) -> None:
    """Put the font beside the style sheet."""
    path = Path(app.outdir, "_static", "math.woff")
    if error is None and app.builder.format == "html" and not path.exists():
        write(path)


def setup(app: Sphinx) -> dict[str, bool]:
    """Wait for the end."""
    app.connect("build-finished", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

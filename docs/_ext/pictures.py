"""Pictures that are too wide for a telephone say so, and can be scrolled there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from PIL import Image

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WIDE, WIDER = 7.5, 11.0  # inches, as drawn: letters would be too small


def inches(path: Path) -> float:
    """The width at which a picture was drawn; 0 where the file does not say."""
    with Image.open(path) as picture:
        resolution = picture.info.get("dpi")
        return picture.width / resolution[0] if resolution else 0.0


def mark(app: Sphinx, tree: nodes.document) -> None:
    """Give wide pictures a class, from which the style sheet takes their least width."""
    for image in tree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".png" and path.is_file():
            width = inches(path)
            image["classes"] += ["wider"] * (width >= WIDER) or ["wide"] * (width >= WIDE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages that were read; the addresses of their pictures are known then."""
    app.connect("doctree-read", mark, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

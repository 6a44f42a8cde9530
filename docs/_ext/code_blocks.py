"""Blocks of code without the blank line that ends a doctest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def strip(app: Sphinx, tree: nodes.document) -> None:
    """Take the empty lines from the end of every block."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text  # Sphinx colours a block only where these two agree
        block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages that were read."""
    app.connect("doctree-read", strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

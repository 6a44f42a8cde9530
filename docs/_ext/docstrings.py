"""What of an object the reference shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

UNIQUE = re.compile(r"\bR[0-9a-f]{12}-(?=\w+)")
REQUEST = re.compile(r"set_\w+_request")  # made by scikit-learn for each method


def skip(app: Sphinx, kind: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn explains: every estimator inherits it."""
    home = getattr(value, "__module__", None) or ""
    return True if home.startswith("sklearn") or REQUEST.fullmatch(name) else None


def tidy(app: Sphinx, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Say nothing of a module here: its page does."""
    if kind == "module":
        lines.clear()


def number(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give references the numbers of the docstring, which numpydoc has made unique."""
    for text in list(tree.findall(nodes.Text)):
        if UNIQUE.search(text):
            text.parent.replace(text, nodes.Text(UNIQUE.sub("", text)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", tidy)
    app.connect("doctree-resolved", number)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

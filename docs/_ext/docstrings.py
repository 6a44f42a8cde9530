"""What of an object the reference shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

REQUEST = re.compile(r"set_\w+_request")  # made by scikit-learn for each method


def skip(app: Sphinx, kind: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn explains: every estimator inherits it."""
    home = getattr(value, "__module__", None) or ""
    return True if home.startswith("sklearn") or REQUEST.fullmatch(name) else None


def tidy(app: Sphinx, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Say nothing of a module here: its page does."""
    if kind == "module":
        lines.clear()


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

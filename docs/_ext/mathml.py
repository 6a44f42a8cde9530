"""Formulas as MathML, which browsers draw by themselves: no script, no font, nothing fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

log = logging.getLogger(__name__)


def markup(node: nodes.Node, block: bool) -> str:
    """The formula of `node` as MathML; a warning, and its source, where it is not understood."""
    source = node.astext().strip()
    try:
        return str(tex2mathml(fenced(source), as_block=block))
    except MathError as error:
        log.warning("formula %r: %s", source, error, location=node)
        return f"<code>{source}</code>"


def fenced(source: str) -> str:
    """Bars as a pair, so that an exponent belongs to both and not to the closing one alone."""
    source = re.sub(r"(?<!\\left)(\\l[vV]ert)\b", r"\\left\1", source)
    return re.sub(r"(?<!\\right)(\\r[vV]ert)\b", r"\\right\1", source)


def visit_math(translator: Any, node: nodes.Node) -> None:
    """A formula within a line."""
    translator.body.append(markup(node, block=False))
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.Node) -> None:
    """A formula on lines of its own; it scrolls where it is wider than the page."""
    translator.body.append(f'<div class="formula" tabindex="0">{markup(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer it as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

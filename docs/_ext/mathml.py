"""Formulas as MathML, which browsers draw by themselves: no script, nothing fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

log = logging.getLogger(__name__)

SHORT = re.compile(r"\\([dt]?frac)\s*(\w)\s*(\w)")  # ``\tfrac12``, which docutils reads otherwise
STOP = re.compile(r"[.,:;)]+")
BRACES = ("⏟", "⏞")
APPLY = "&ApplyFunction;", "\u2061"


def markup(node: nodes.Node, block: bool) -> str:
    """The formula of `node` as MathML; a warning, and its source, where it is not understood."""
    source = SHORT.sub(r"\\\1{\2}{\3}", node.astext().strip())
    try:
        text = tex2mathml(fenced(source), as_block=block).replace(*APPLY)
    except MathError as error:
        log.warning("formula %r: %s", source, error, location=node)
        return f"<code>{source}</code>"
    return finished(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))


def finished(text: str) -> str:
    """The formula with roots and braces as a typesetter would set them."""
    tree = ElementTree.fromstring(text)
    for part in list(tree.iter()):
        if part.tag == "mo" and part.text == "/":
            part.attrib |= {"lspace": "0.05em", "rspace": "0.05em"}
        elif part.tag == "msqrt":  # over a low letter as high as over a tall one
            part.insert(0, ElementTree.Element("mspace", height="0.68em", depth="0.1em"))
        elif part.tag in ("msub", "msup") and part[0].findtext("mo[last()]") in BRACES:
            part.tag = part[0].tag  # what is said of a brace stands at its middle
    return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)


def fenced(source: str) -> str:
    """Bars as a pair, so that an exponent belongs to both and not to the closing one alone."""
    source = re.sub(r"(?<!\\left)(\\l[vV]ert)\b", r"\\left\1", source)
    return re.sub(r"(?<!\\right)(\\r[vV]ert)\b", r"\\right\1", source)


def keep(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give formulas the stops that follow them, which must not begin a line."""
    for node in tree.findall(nodes.math):
        after = node.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (stop := STOP.match(after)):
            node["after"] = stop.group()
            after.parent.replace(after, nodes.Text(after[stop.end() :]))


def visit_math(translator: Any, node: nodes.Node) -> None:
    """A formula within a line, with the comma after it."""
    text = markup(node, block=False)
    after = node.get("after")
    translator.body.append(f'<span class="kept">{text}{after}</span>' if after else text)
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.Node) -> None:
    """A formula on lines of its own; it scrolls where it is wider than the page."""
    translator.body.append(f'<div class="formula" tabindex="0">{markup(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer it as ``html_math_renderer = "mathml"``."""
    app.connect("doctree-resolved", keep)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

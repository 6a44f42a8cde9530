"""The texts of the exercises for a terminal: formulas in letters, paragraphs in short lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import fill

WIDTH = 88
SIGNS = {
    r"\cdot": "·", r"\sum": "Σ", r"\lVert": "‖", r"\rVert": "‖", r"\lvert": "|",
    r"\rvert": "|", r"\theta": "θ", r"\gamma": "γ", r"\ge": "≥",
    r"\le": "≤", r"\varphi": "φ", r"\tanh": "tanh", r"\alpha": "α", r"\leftarrow": "←",
    r"\eta": "η", r"\varepsilon": "ε", r"\sqrt": "√", r"\in": "∈", r"\ell": "ℓ", r"\xi": "ξ",
    r"\max": "max", r"\min": "min", r"\times": "×", r"\ldots": "…", r"\approx": "≈",
    r"\{": "{", r"\}": "}", r"\,": " ",
}  # fmt: skip
TIED = "\N{NO-BREAK SPACE}"  # within a formula
RAISED = str.maketrans("0123456789np", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿᵖ")


@dataclass(frozen=True, repr=False)
class Text:
    """A text that prints in plain letters; a notebook shows it with its formulas.

    Attributes
    ----------
    markdown : str
        The text with its formulas as LaTeX.
    """

    markdown: str

    def __str__(self) -> str:
        return plain(self.markdown)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown


def plain(markdown: str) -> str:
    """Markdown as people write it in a letter; code stays as it is."""
    parts = re.split(r"^```\w*\n(.*?)\n*^```$", markdown, flags=re.MULTILINE | re.DOTALL)
    return "\n\n".join(
        part if i % 2 else _prose(part.strip()) for i, part in enumerate(parts) if part.strip()
    )


def _prose(text: str) -> str:
    return "\n\n".join(map(_paragraph, re.split(r"\n{2,}", text)))


def _paragraph(text: str) -> str:
    text = re.sub(r"\$([^$]+)\$", lambda found: formula(found[1]).replace(" ", TIED), text)
    text = re.sub(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text)
    lines = re.split(r"\n(?=- )", text)
    filled = "\n".join(
        fill(line, WIDTH, subsequent_indent="  " * line.startswith("- "), break_on_hyphens=False)
        for line in lines
    )
    return filled.replace(TIED, " ")


def formula(latex: str) -> str:
    r"""A formula in letters: ``\frac{1}{N} \sum_i \lVert x_i\rVert^2`` is ``1/N Σ_i ‖x_i‖²``."""
    text = re.sub(r"\\frac\{(.*?)\}\{(.*?)\}", r"\1/\2", latex)
    text = re.sub(r"\\binom\{(.*?)\}\{(.*?)\}", r"C(\1, \2)", text)
    text = re.sub(r"\\text\{(.*?)\}", r"\1", text)
    text = re.sub(r"(\\(?:sqrt|l[vV]ert|varepsilon(?= [a-z]))) ", lambda f: SIGNS[f[1]], text)
    text = re.sub(r"\\[a-zA-Z]+|\\.", lambda found: SIGNS.get(found[0], found[0]), text)
    text = re.sub(r"\^(\w)", lambda found: found[1].translate(RAISED), text)
    text = re.sub(r"_\{(.*?)\}", r"_(\1)", text)
    text = re.sub(r"(?<=[a-zA-Zα-ω])_(\d)", r"\1", text)
    return " ".join(text.replace("-", "−").replace(" · ", "·").split())

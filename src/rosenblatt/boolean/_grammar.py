"""Boolean expressions: from a text to its values on every input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

DEEPEST = 100  # brackets within brackets
SIGNS = {"&&": "&", "||": "|", "!": "~", "∧": "&", "∨": "|", "¬": "~", "⊕": "^"}
WORDS = {"and": "&", "or": "|", "not": "~", "xor": "^", "true": "1", "false": "0"}
TOKEN = re.compile(r"\s*(?:([^\W\d]\w*)|([01](?!\w))|(&&?|\|\|?|[~!^()∧∨¬⊕]))")
# From loose to tight; a chain of one kind has one value however it is bracketed.
CHAINS: tuple[tuple[str, Callable[[Bools, Bools], Bools]], ...] = (
    ("|", np.logical_or),
    ("^", np.logical_xor),
    ("&", np.logical_and),
)


class Token(NamedTuple):
    """A name, a constant or an operator, and where in the text it begins (from 1)."""

    kind: str  # "name", or the operator or constant itself; "end" after the last
    text: str
    position: int


def tokens(text: str) -> list[Token]:
    """The text in pieces; a piece that is none is an error."""
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            msg = (
                f"{text[at]!r} at position {at + 1} of {_short(text)} is not understood: "
                "write names, 0, 1, & | ~ ^ (or and, or, not, xor) and brackets"
            )
            raise ValueError(msg)
        name, constant, sign = match.groups()
        piece = name or constant or sign
        kind = constant or SIGNS.get(sign or "", sign) or WORDS.get(piece.lower(), "name")
        found.append(Token(kind, piece, match.end() - len(piece) + 1))
        at = match.end()
    return [*found, Token("end", "", end + 1)]


def names_in(found: Sequence[Token]) -> tuple[str, ...]:
    """The variables, sorted as people count: x2 before x10."""
    return tuple(sorted({token.text for token in found if token.kind == "name"}, key=_counting))


def _counting(name: str) -> tuple[tuple[str | int, ...], str]:
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(p) if k % 2 else p for k, p in enumerate(parts)), name


class Evaluation:
    """A reading of the tokens by recursive descent that computes as it goes.

    Parameters
    ----------
    text : str
        For messages.
    found : sequence of Token
        The text in pieces.
    columns : dict
        The values of each variable on every input.
    rows : int
        The number of inputs.
    """

    def __init__(
        self, text: str, found: Sequence[Token], columns: dict[str, Bools], rows: int
    ) -> None:
        self.text, self.found, self.columns, self.rows = text, found, columns, rows
        self.at = self.depth = 0

    def values(self) -> Bools:
        """The value of the whole expression on every input."""
        value = self._chain(0)
        if self.found[self.at].kind != "end":
            raise self._misplaced(wanted="an operator or the end")
        return value

    def _chain(self, level: int) -> Bools:
        """Operands of one kind of operator, with tighter ones within."""
        if level == len(CHAINS):
            return self._operand()
        sign, operate = CHAINS[level]
        value = self._chain(level + 1)
        while self.found[self.at].kind == sign:
            self.at += 1
            value = operate(value, self._chain(level + 1))
        return value

    def _operand(self) -> Bools:
        negated = False
        while self.found[self.at].kind == "~":
            negated, self.at = not negated, self.at + 1
        token = self.found[self.at]
        if token.kind == "name":
            value = self.columns[token.text]
        elif token.kind in ("0", "1"):
            value = np.full(self.rows, token.kind == "1")
        elif token.kind == "(":
            value = self._bracket()
        else:
            raise self._misplaced(wanted="a variable, 0, 1, ~ or (")
        self.at += 1
        return ~value if negated else value

    def _bracket(self) -> Bools:
        """From an opening bracket up to, not including, its closing one."""
        opening = self.found[self.at]
        self.at, self.depth = self.at + 1, self.depth + 1
        if self.depth > DEEPEST:
            msg = f"{_short(self.text)} has brackets more than {DEEPEST} deep: write it flatter"
            raise ValueError(msg)
        value = self._chain(0)
        if self.found[self.at].kind == "end":
            msg = (
                f"the bracket at position {opening.position} of {_short(self.text)} "
                "is never closed: add )"
            )
            raise ValueError(msg)
        if self.found[self.at].kind != ")":
            raise self._misplaced(wanted="an operator or )")
        self.depth -= 1
        return value

    def _misplaced(self, wanted: str) -> ValueError:
        token = self.found[self.at]
        if token.kind == "end":
            return ValueError(f"{_short(self.text)} ends too early: {wanted} is due")
        where = f"{token.text!r} at position {token.position} of {_short(self.text)}"
        return ValueError(f"{where} is out of place: {wanted} is due there")


def _short(text: str) -> str:
    """The text in quotes, on one line, not too long."""
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 60 else flat[:59] + "…")

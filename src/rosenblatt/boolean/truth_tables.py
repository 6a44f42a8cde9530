"""Boolean functions as truth tables, and how to read them from an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.arguments import as_array, names_of
from rosenblatt.arguments import text as given_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Bools, Ints


MOST_VARIABLES = 16
_DEEPEST = 100  # brackets within brackets
_SIGNS = {"&&": "&", "||": "|", "!": "~", "∧": "&", "∨": "|", "¬": "~", "⊕": "^"}
_WORDS = {"and": "&", "or": "|", "not": "~", "xor": "^", "true": "1", "false": "0"}
_TOKEN = re.compile(r"\s*(?:([^\W\d]\w*)|([01](?!\w))|(&&?|\|\|?|[~!^()∧∨¬⊕]))")
# From loose to tight; a chain of one kind has one value however it is bracketed.
_CHAINS: tuple[tuple[str, Callable[[Bools, Bools], Bools]], ...] = (
    ("|", np.logical_or),
    ("^", np.logical_xor),
    ("&", np.logical_and),
)


@dataclass(frozen=True, eq=False, repr=False)
class TruthTable:
    """A boolean function: its value on each of the 2ⁿ inputs.

    Inputs stand in the usual order, from ``00…0`` to ``11…1``, the first variable being the most
    significant: of two variables, ``(0, 0), (0, 1), (1, 0), (1, 1)``.

    Attributes
    ----------
    values : bool array of length 2ⁿ
        Where the function is 1.
    names : tuple of str
        The variables.
    """

    values: Bools
    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def inputs(self) -> Ints:
        """All inputs, one per row, in the order of `values`."""
        return cube(self.n)

    @property
    def bits(self) -> str:
        """The values as a text of 0 and 1."""
        return "".join("01"[int(value)] for value in self.values)

    def __call__(self, *inputs: Any) -> Any:
        """The value for given inputs, each a 0 or 1 or an array of them."""
        rows = as_rows(inputs, self.n)
        at = rows @ (1 << np.arange(self.n, dtype=np.int64)[::-1])
        return plain(self.values[at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TruthTable):
            return NotImplemented
        return self.names == other.names and bool(np.array_equal(self.values, other.values))

    def __hash__(self) -> int:
        return hash((self.names, self.values.tobytes()))

    def __repr__(self) -> str:
        if self.n <= 5:
            return f"TruthTable({self.bits!r}, names={self.names!r})"
        return f"TruthTable({self.n} variables, 1 on {self.values.sum()} of {2**self.n} inputs)"

    def __str__(self) -> str:
        widths = [max(len(name), 1) for name in self.names]
        rows = [
            [*map(str, row), "01"[int(v)]] for row, v in zip(self.inputs, self.values, strict=True)
        ]
        lines = [[*self.names, "value"], *rows]
        return "\n".join(
            "  ".join([*map(str.rjust, line, widths), line[-1]]).rstrip() for line in lines
        )


def cube(n: int) -> Ints:
    """The 2ⁿ corners of the cube, one per row, from ``00…0`` to ``11…1``."""
    return (np.arange(2**n, dtype=np.int64)[:, None] >> np.arange(n, dtype=np.int64)[::-1]) & 1


def parse(text: str, *, names: Sequence[str] | None = None) -> TruthTable:
    """The truth table of an expression, or of a text of 0 and 1 such as ``"0110"``.

    ``~`` binds tightest, then ``&``, ``^`` and ``|``. The words ``not``, ``and``, ``xor`` and
    ``or`` mean the same and bind the same; so do ``!``, ``&&``, ``||``, ``¬``, ``∧``, ``⊕`` and
    ``∨``. Constants are ``0`` and ``1``, also ``false`` and ``true``. Anything else that begins
    with a letter is a variable. The text is read, never run.

    Parameters
    ----------
    text : str
        For example ``"x1 & (x2 | ~x3)"``.
    names : sequence of str, optional
        The variables, in the order of the table; there may be more than the text mentions. None:
        those of the text, sorted, x2 before x10.

    Examples
    --------
    >>> from rosenblatt import boolean
    >>> boolean.parse("rain & ~umbrella")
    TruthTable('0010', names=('rain', 'umbrella'))
    """
    bits = "".join(given_text("text", text, "give an expression, a text").split())
    if len(bits) > 1 and not bits.strip("01"):
        return truth_table(np.array([bit == "1" for bit in bits]), names=names)
    found = _tokens(text)
    if len(found) == 1:
        msg = "the expression is empty: give something like x1 & (x2 | ~x3)"
        raise ValueError(msg)
    mentioned = tuple(sorted({t.text for t in found if t.kind == "name"}, key=_counting))
    order = mentioned if names is None else _distinct(names)
    if missing := [name for name in mentioned if name not in order]:
        msg = f"names lacks {', '.join(missing)}: give every variable of the expression"
        raise ValueError(msg)
    _check_number(len(order))
    columns = dict(zip(order, cube(len(order)).T.astype(bool), strict=True))
    values = _Evaluation(text, found, columns, 2 ** len(order)).values()
    return TruthTable(_kept(values), order)


def truth_table(given: Any, *, names: Sequence[str] | None = None) -> TruthTable:
    """A truth table from whatever says what it is.

    Parameters
    ----------
    given : TruthTable, str or array
        A table, an expression or a text of 0 and 1 (see `parse`), or an array of the 2ⁿ values.
    names : sequence of str, optional
        The variables; None: those of the expression, or ``x1, x2, …``.
    """
    if isinstance(given, TruthTable):
        return given if names is None else truth_table(given.values, names=names)
    if isinstance(given, str):
        return parse(given, names=names)
    values = as_array("a truth table", given)
    if values.ndim != 1 or values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        msg = "a truth table is an expression, a text of 0 and 1, or a list of them; this is none"
        raise ValueError(msg)
    n = max(values.size, 1).bit_length() - 1
    if values.size != 2**n:
        msg = f"{values.size} values fit no number of variables: give 1, 2, 4, 8, ... values"
        raise ValueError(msg)
    _check_number(n)
    order = tuple(f"x{j + 1}" for j in range(n)) if names is None else _distinct(names)
    if len(order) != n:
        msg = f"{len(order)} names for {2**n} values: give {n}, one per variable"
        raise ValueError(msg)
    return TruthTable(_kept(values.astype(bool)), order)


def as_rows(inputs: Sequence[Any], n: int) -> Ints:
    """Inputs given one by one as an array with the inputs along its last axis."""
    if len(inputs) != n:
        msg = f"{len(inputs)} inputs were given where there are {n}"
        raise ValueError(msg)
    arrays = [as_array("inputs", given) for given in inputs]
    columns = np.broadcast_arrays(*arrays) if arrays else []
    rows = np.stack(columns, axis=-1) if columns else np.zeros(0)
    if rows.dtype.kind not in "biuf" or not np.isin(rows, (0, 1)).all():
        msg = "inputs are 0 and 1, or arrays of them"
        raise ValueError(msg)
    return rows.astype(np.int64)


def as_inputs(name: str, X: Any, n: int) -> NDArray[Any]:
    """Inputs along the last axis of an array."""
    rows = as_array(name, X)
    if rows.dtype.kind not in "biuf" or rows.shape[-1:] != (n,):
        msg = f"{name} has shape {rows.shape}: give rows of {n} numbers, 0 or 1"
        raise ValueError(msg)
    return rows


def plain(values: Any) -> Any:
    """A single value as a bool, an array as it is."""
    return bool(values) if np.ndim(values) == 0 else values


def _kept(values: Bools) -> Bools:
    values = values.copy()
    values.setflags(write=False)
    return values


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    order = names_of("names", names)
    if len(set(order)) < len(order):
        msg = f"names has {len(order)} names, not all different: give each variable its own"
        raise ValueError(msg)
    return order


def _check_number(n: int) -> None:
    if n > MOST_VARIABLES:
        msg = f"{n} variables make a table of 2^{n} rows: give at most {MOST_VARIABLES} variables"
        raise ValueError(msg)


# Expressions --------------------------------------------------------------------------------------


class _Token(NamedTuple):
    """A name, a constant or an operator, and where in the text it begins (from 1)."""

    kind: str  # "name", or the operator or constant itself; "end" after the last
    text: str
    position: int


def _tokens(text: str) -> list[_Token]:
    """The text in pieces; a piece that is none is an error."""
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            msg = (
                f"{text[at]!r} at position {at + 1} of {_short(text)} is not understood: "
                "write names, 0, 1, & | ~ ^ (or and, or, not, xor) and brackets"
            )
            raise ValueError(msg)
        name, constant, sign = match.groups()
        piece = name or constant or sign
        kind = constant or _SIGNS.get(sign or "", sign) or _WORDS.get(piece.lower(), "name")
        found.append(_Token(kind, piece, match.end() - len(piece) + 1))
        at = match.end()
    return [*found, _Token("end", "", end + 1)]


def _counting(name: str) -> tuple[tuple[str | int, ...], str]:
    """By this, names are sorted as people count: x2 before x10."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(p) if k % 2 else p for k, p in enumerate(parts)), name


class _Evaluation:
    """A reading of the tokens by recursive descent that computes values on every input."""

    def __init__(
        self, text: str, found: Sequence[_Token], columns: dict[str, Bools], rows: int
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
        if level == len(_CHAINS):
            return self._operand()
        sign, operate = _CHAINS[level]
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
        if self.depth > _DEEPEST:
            msg = f"{_short(self.text)} has brackets more than {_DEEPEST} deep: write it flatter"
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

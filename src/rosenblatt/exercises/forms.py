"""Reading what was given as an answer; whatever is not of the right form is told in a sentence.

Numbers become rational ones, without rounding, so that judges can speak of equality.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.arguments import brief

MOST, WIDEST = 100, 30  # samples, or whatever is listed in an answer; and features
LARGEST, SMALLEST = 10**12, Fraction(1e-12)  # beyond, numbers would only take long
CLOSE = Fraction(1, 10**9)  # where square roots must be given as floats

Row = tuple[Fraction, ...]
Rows = tuple[Row, ...]


class NotRight(Exception):
    """An answer that is not right, and why in a sentence."""


def number(name: str, value: Any) -> Fraction:
    """A finite number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not _is_finite(value):
        msg = f"{name} is {brief(value)}: give a finite number"
        raise NotRight(msg)
    whole = isinstance(value, numbers.Integral)
    exact = isinstance(value, Fraction | Decimal)
    found = Fraction(int(value) if whole else value if exact else float(value))
    if found and not SMALLEST <= abs(found) <= LARGEST:
        size = "large" if abs(found) > 1 else "small"
        msg = f"{name} is {brief(value)}, too {size}: give numbers from 1e-12 to 1e12"
        raise NotRight(msg)
    return found


def _is_finite(value: Any) -> bool:
    """Whether it is a number at all, also one too long for a float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
        return False
    return isinstance(value, numbers.Rational) or math.isfinite(value)


def parts(value: Any, names: str) -> list[Any]:
    """As many things as there are names, in a tuple or a list."""
    wanted = names.split(", ")
    found = _listed(f"the answer is ({names})", value)
    if len(found) != len(wanted):
        msg = f"the answer is ({names}), {len(wanted)} things in a tuple, but here are {len(found)}"
        raise NotRight(msg)
    return found


def _listed(what: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes | Mapping | set) or not isinstance(value, Iterable):
        msg = f"{what}, not {brief(value)}"
        raise NotRight(msg)
    try:
        found = list(value)
    except TypeError:  # of an array without a dimension
        msg = f"{what}, not {brief(value)}"
        raise NotRight(msg) from None
    if len(found) > MOST:
        msg = f"{what}: at most {MOST} of them are looked at, but here are {len(found)}"
        raise NotRight(msg)
    return found


def vector(name: str, value: Any, size: int | None = None) -> Row:
    """A vector of numbers."""
    many = "numbers" if size is None else f"{size} numbers"
    found = _listed(f"{name} is a list of {many}", value)
    if not found or (size is not None and len(found) != size):
        msg = f"{name} is a list of {many}, but here are {len(found)}"
        raise NotRight(msg)
    return tuple(number(_entry(name, i), value) for i, value in enumerate(found))


def _entry(name: str, i: int) -> str:
    """What an entry is called: ``X[0][1]``, or, of what has no such name, number 2 of it."""
    return f"number {i + 1} of {name}" if " " in name else f"{name}[{i}]"


def table(name: str, value: Any, columns: int | None = None) -> Rows:
    """Rows of numbers, all as long."""
    found = _listed(f"{name} is a list of rows", value)
    if not found:
        msg = f"{name} is empty: give a row of numbers for each sample"
        raise NotRight(msg)
    if isinstance(found[0], numbers.Real):
        msg = f"{name} is a list of rows, each a list of numbers: write [[1], [2]] for one feature"
        raise NotRight(msg)
    rows = tuple(vector(f"{name}[{i}]", row, columns) for i, row in enumerate(found))
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        msg = f"the rows of {name} differ: some have {lengths[0]} numbers, some {lengths[-1]}"
        raise NotRight(msg)
    return rows


def label(name: str, value: Any) -> int:
    """One of -1 and +1."""
    found = number(name, value)
    if found not in (-1, 1):
        msg = f"{name} is {brief(value)}: labels are −1 and +1"
        raise NotRight(msg)
    return int(found)


def labels(name: str, value: Any, size: int) -> list[int]:
    """As many labels -1 and +1."""
    given = _listed(f"{name} is a list of {size} labels", value)
    if len(given) != size:
        msg = f"{name} has {len(given)} labels, but there are {size} samples"
        raise NotRight(msg)
    return [label(_entry(name, i), value) for i, value in enumerate(given)]


def samples(
    X: Any, y: Any, *, columns: int | None = None, most: int = MOST
) -> tuple[Rows, list[int]]:
    """Samples of two classes, not too many."""
    rows = table("X", X, columns)
    found = labels("y", y, len(rows))
    for many, size, limit in (("samples", len(rows), most), ("features", len(rows[0]), WIDEST)):
        if size > limit:
            msg = f"here are {size} {many}: give at most {limit}"
            raise NotRight(msg)
    if len(set(found)) < 2:
        msg = f"all labels are {signed(found[0])}: give samples of both classes"
        raise NotRight(msg)
    return rows, found


def function(value: Any, usage: str) -> Callable[..., Any]:
    """A function whose errors are told as what is not right with it."""
    if not callable(value):
        msg = f"the answer is a function {usage}, not {brief(value)}"
        raise NotRight(msg)

    def called(*arguments: Any) -> Any:
        try:
            return value(*arguments)
        except Exception as error:
            shown = ", ".join(map(brief, arguments))
            msg = f"your function raised {type(error).__name__} ({error}) when called with {shown}"
            raise NotRight(" ".join(msg.split())) from None

    return called


# Arithmetic, and numbers in sentences ----------------------------------------------------------


def dot(u: Iterable[Fraction], v: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def close(a: Fraction | int, b: Fraction | int) -> bool:
    """Whether two numbers are the same but for rounding."""
    a, b = Fraction(a), Fraction(b)
    return abs(a - b) <= CLOSE * (1 + abs(a) + abs(b))


def told(value: Fraction | float) -> str:
    """A number as people write it."""
    if isinstance(value, Fraction) and value.denominator <= 12 and abs(value) < 10**6:
        return str(value).replace("-", "−")
    return f"{float(value):.4g}".replace("-", "−")


def signed(value: int) -> str:
    """A label, or another whole number with its sign."""
    return f"{value:+d}".replace("-", "−")


def point(row: Iterable[Fraction | float]) -> str:
    """A vector as people write it."""
    return f"({', '.join(map(told, row))})"


def floats(rows: Rows) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The rows as an array for the rest of the library."""
    return np.array([[float(value) for value in row] for row in rows])

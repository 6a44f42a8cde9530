"""How results show themselves: numbers, samples and equations as people write them.

What a result has to say is a sentence or two (``str``), and its ``repr`` is one short line, however
large its arrays are. Whatever is above, a report or a page, takes these words from here.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.visible import count, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 6  # samples, or weights, that a sentence names
LARGEST = 3  # weights that stand for very many
LONG = 8  # numbers that a repr shows; of more the first and the last three
DIGITS = 24  # of a fraction that a repr shows


class Shown:
    """A dataclass whose ``repr`` is short: long arrays in part, and nothing that is a default."""

    def __repr__(self) -> str:
        parts: Any = fields(self)  # type: ignore[arg-type]
        told = [
            f"{one.name}={brief(value)}"
            for one in parts
            if one.repr and one.init and not _is_default(value := getattr(self, one.name), one)
        ]
        return f"{type(self).__name__}({', '.join(told)})"


def _is_default(value: Any, field: Any) -> bool:
    default = field.default
    return default is not MISSING and type(value) is type(default) and bool(value == default)


def brief(value: Any) -> str:
    """A value in one short line."""
    if hasattr(value, "shape") and len(value.shape) > 1 and math.prod(value.shape) > LONG:
        return f"<{type(value).__name__} of shape {value.shape}>"
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=LONG, edgeitems=3):
            return " ".join(repr(value).split())
    if isinstance(value, Fraction):
        text = str(value)
        return text if len(text) <= DIGITS else f"about {number(nearest_float(value))}"
    if type(value) is tuple and value:
        shown = [brief(one) for one in (value if len(value) <= LARGEST else value[:1])]
        rest = [f"... {len(value)} in all"] if len(value) > LARGEST else []
        inside = ", ".join([*shown, *rest])
        return f"({inside}{',' * (len(value) == 1)})"
    return repr(value)


def nearest_float(value: Fraction) -> float:
    """A fraction as a float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def number(value: float) -> str:
    """Four digits; whole numbers in full."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def numbered(noun: str, numbers: Sequence[int] | Any, most: int = FEW) -> str:
    """``sample 3``, ``samples 3 and 7``, ``samples 3, 4, 5 and 12 more``."""
    shown = [str(int(one)) for one in numbers[:most]]
    rest = len(numbers) - len(shown)
    if len(shown) == 1 and not rest:
        return f"{noun} {shown[0]}"
    *front, last = [*shown, f"{rest} more"] if rest else shown
    return f"{noun}s {', '.join(front)} and {last}"


def weighed(numbers: Any, weights: Any, name: str) -> str:
    """``samples 0 and 3 (weights 0.5 and 0.5)``: the first few."""
    told = numbered("sample", numbers)
    first = [number(float(weight)) for weight in weights[:FEW]]
    if not first:
        return "no samples"
    if len(weights) > FEW:
        return f"{told} ({name}s {', '.join(first)}, ...)"
    *front, last = first
    return f"{told} ({name}s {', '.join(front)} and {last})" if front else f"{told} ({name} {last})"


def identical(which: str, where: str = "") -> str:
    """That two samples are the same but for their classes."""
    return f"{which} are identical{where} but have different classes"


def coming_back(entry: int, period: int, what: str = "weights") -> str:
    """When a run is again where it was."""
    when = f"after epoch {entry}" if entry else "of the start"
    return f"the {what} {when} come back after {count(period, 'epoch')}"


def near_the_best(objective: str, value: str, gap: float) -> str:
    """How far an objective can be from the least there is."""
    return f"{objective} = {value}, at most a share of {gap:.2g} (the gap) above the least there is"


def places(outside: Any, on: Any, inside: Any, wrong: Any) -> str:
    """How many samples are where about a margin."""
    return (
        f"{outside} outside the margin, {on} on its edge, {inside} inside, {wrong} on the wrong "
        "side"
    )


def equation(w: Any, b: float, names: Sequence[str] | None = None) -> str:
    """``0.5·x1 - 2·x2 + 3 = 0``; of many features those with the largest weights."""
    called = [f"x{j + 1}" for j in range(len(w))] if names is None else [*map(_name, names)]
    if not np.any(w):
        return f"all weights 0, bias {number(b)}"
    terms = [(weight, f"·{name}") for weight, name in zip(w.tolist(), called, strict=True)]
    if len(w) <= FEW:
        return f"{_sum([one for one in [*terms, (b, '')] if one[0]])} = 0"
    order = np.argsort(-np.abs(w), kind="stable")[:LARGEST]
    largest = _sum([terms[j] for j in order])
    bias = f" {_signed(b)}" if b else ""
    return f"{largest} + ... ({len(w)} weights, the largest first){bias} = 0"


def _name(name: str) -> str:
    text = visible(str(name))
    return text if len(text) <= 40 else f"{text[:20]}…{text[-19:]}"


def _sum(terms: Sequence[tuple[float, str]]) -> str:
    (weight, name), *rest = terms
    return " ".join([f"{number(weight)}{name}", *(f"{_signed(x)}{name}" for x, name in rest)])


def _signed(x: float) -> str:
    """``+ 2`` or ``- 2``."""
    return f"{'-' if x < 0 else '+'} {number(abs(x))}"

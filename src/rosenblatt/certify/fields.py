"""The fields of a certificate, read with suspicion."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class WrongError(Exception):
    """A certificate does not prove its verdict; the text says why.

    `sample` is the one that refutes it, if one does, and `where` it lies.
    """

    def __init__(self, why: str, sample: int | None = None, where: str = "") -> None:
        super().__init__(why)
        self.sample, self.where = sample, where


def require(condition: Any, why: str) -> None:
    """Go on only if a condition holds."""
    if not condition:
        raise WrongError(why)


def require_fields(certificate: Any) -> None:
    """Go on only if nothing is missing of what a certificate of this kind has."""
    if is_dataclass(certificate) and not isinstance(certificate, type):
        for field in fields(certificate):
            require(hasattr(certificate, field.name), f"{field.name} is missing")


def _array(values: Any, kinds: str, name: str) -> NDArray[Any]:
    require(isinstance(values, np.ndarray), f"{name} is not an array")
    require(values.dtype.kind in kinds, f"{name} has dtype {values.dtype}")
    require(values.dtype.itemsize <= 8, f"{name} has dtype {values.dtype}")
    require(values.ndim == 1, f"{name} has shape {values.shape} instead of one dimension")
    # No subclass with rules of its own, and in the machine's order of bytes.
    array: NDArray[Any] = np.array(values, dtype=values.dtype.newbyteorder("="))
    return array


def read_rows(values: Any, n: int, name: str) -> Ints:
    """Distinct row numbers below `n`, ascending, at least one."""
    given = _array(values, "iu", name)
    require(given.size, f"{name} names no samples")
    exist = int(given.min()) >= 0 and int(given.max()) < n
    require(exist, f"{name} names samples that do not exist")
    rows = given.astype(np.int64)
    require((np.diff(rows) > 0).all(), f"{name} is not in ascending order without repeats")
    return rows


def read_weights(values: Any, count: int, name: str) -> Floats:
    """`count` positive numbers."""
    weights = _array(values, "f", name).astype(np.float64)
    require(len(weights) == count, f"{name} has {len(weights)} entries for {count} samples")
    positive = np.isfinite(weights).all() and (weights > 0).all()
    require(positive, f"{name} has entries that are not positive numbers")
    return weights


def read_fractions(values: Any, count: int, name: str) -> list[Fraction]:
    """`count` fractions."""
    right = isinstance(values, tuple) and all(isinstance(v, Fraction | int) for v in values)
    require(right, f"{name} is not a tuple of fractions")
    require(len(values) == count, f"{name} has {len(values)} entries instead of {count}")
    # A fraction made past its constructor may hold anything.
    parts = [part for v in values for part in (v.numerator, v.denominator)]
    whole = all(isinstance(part, int | np.integer) for part in parts)
    require(whole and min(parts[1::2], default=1) > 0, f"{name} has entries that are no fractions")
    return [Fraction(int(v.numerator), int(v.denominator)) for v in values]


def read_exact_weights(values: Any, floats: Any, name: str) -> list[Fraction]:
    """Positive fractions, and the floats that go with them, which may have come to 0."""
    near = _array(floats, "f", name).astype(np.float64)
    exact = read_fractions(values, len(near), f"exact_{name}")
    require(min(exact, default=0) > 0, f"exact_{name} has entries that are not positive numbers")
    require_rounded(near.tolist(), exact, f"{name} are not the exact ones, rounded")
    return exact


def require_rounded(floats: list[float], exact: list[Fraction], why: str) -> None:
    """Floats are these numbers but for rounding."""
    for near, number in zip(floats, exact, strict=True):
        require(math.isfinite(near), why)
        # A float below the normal ones has fewer digits.
        tolerance = abs(number) / 10**12 + Fraction(5e-324)
        require(abs(Fraction(near) - number) <= tolerance, why)


def read_point(values: Any, d: int) -> Floats:
    """A point with `d` coordinates."""
    point = _array(values, "f", "point").astype(np.float64)
    require(len(point) == d, f"point has {len(point)} coordinates instead of {d}")
    require(np.isfinite(point).all(), "point has coordinates that are not finite")
    return point


def read_theta(hyperplane: Any, exact: Any, d: int) -> list[Any]:
    """``(w, b)``, bias last: in fractions if there are any, otherwise in floats."""
    require(isinstance(hyperplane, Hyperplane), "hyperplane is not a Hyperplane")
    w = _array(getattr(hyperplane, "w", None), "f", "w").astype(np.float64)
    require(len(w) == d, f"hyperplane has {len(w)} weights instead of {d}")
    b: Any = getattr(hyperplane, "b", None)
    require(isinstance(b, float | np.floating), "b is not a float")
    floats = [*w.tolist(), float(b)]
    require(np.isfinite(floats).all(), "hyperplane has numbers that are not finite")
    if exact is None:
        return floats
    numbers = read_fractions(exact, d + 1, "exact")
    require_rounded(floats, numbers, "hyperplane is not the exact one, rounded")
    return numbers

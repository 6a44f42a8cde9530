"""Floats as what they are: integers times powers of two; and sums of them that nothing rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats, Ints

    Mask = NDArray[np.bool_]
    Objects = NDArray[np.object_]

NONE = 2**40  # an exponent larger than any


def decompose(values: ArrayLike) -> tuple[Ints, Ints]:
    """``(M, E)`` with ``values == M * 2**E`` exactly, every M odd, or 0 with ``E = 0``."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    M = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = np.frexp((M & -M).astype(np.float64))[1].astype(np.int64) - 1
    E = exponents.astype(np.int64) - 53 + lowest
    E[M == 0] = 0
    M >>= np.maximum(lowest, 0)
    return M, E


def as_objects(M: Ints, E: Ints) -> Objects:
    """``M << E`` in integers of any length."""
    integers = M.astype(object)
    return integers << E.astype(object) if E.any() else integers


def as_integers(values: ArrayLike) -> tuple[Objects, int]:
    """Integers n, as short as one power of two leaves them, and e: ``values == n * 2**e``."""
    numbers, powers = rows_as_integers(np.asarray(values)[np.newaxis])
    return numbers[0], int(powers.ravel()[0])


def rows_as_integers(values: ArrayLike, scale: Ints | int = 0) -> tuple[Objects, Ints]:
    """The same with a power of two for each row: ``values / 2**scale == n * 2**e[i]``."""
    M, E = decompose(values)
    used, E = M != 0, E - scale
    within = tuple(range(1, M.ndim))
    e = E.min(axis=within, where=used, initial=NONE, keepdims=True)
    e[e == NONE] = 0
    return as_objects(M, np.where(used, E - e, 0)), e.reshape(len(M))


def over_one_denominator(numbers: Iterable[Any]) -> tuple[Objects, int]:
    """Integers and a denominator for floats or Fractions."""
    # A fraction may have been made of NumPy's integers, which overflow.
    ratios = [tuple(map(int, number.as_integer_ratio())) for number in numbers]
    denominator = math.lcm(*(d for _, d in ratios))
    numerators = np.empty(len(ratios), dtype=object)
    numerators[:] = [n * (denominator // d) for n, d in ratios]
    return numerators, denominator


def exact_sum(values: Floats) -> Fraction:
    """The sum of floats."""
    numbers, e = as_integers(values)
    return Fraction(int(numbers.sum())) * Fraction(2) ** e


def square_sum(values: Floats) -> Fraction:
    """``Σ v²`` of floats."""
    numbers, e = as_integers(values)
    return Fraction(int((numbers * numbers).sum())) * Fraction(4) ** e


def exact_product(A: Floats, t: Iterable[Any]) -> list[Fraction]:
    """``A t`` for a matrix of floats, and a vector of floats or Fractions."""
    numbers, denominator = over_one_denominator(t)
    rows, e = as_integers(A)
    unit = Fraction(2) ** e / denominator
    return [Fraction(int(n)) * unit for n in rows @ numbers]


class Scaled(NamedTuple):
    """A float matrix scaled to integers: ``Z[i, j] * 2**(r[i] + c[j]) == M[i, j] << E[i, j]``.

    The exponents are the smallest that make whole columns, then whole rows, integers.
    """

    M: Ints
    E: Ints
    r: Ints
    c: Ints

    def take(self, rows: Any) -> Scaled:
        """The chosen rows."""
        return Scaled(self.M[rows], self.E[rows], self.r[rows], self.c)


def scaled(Z: ArrayLike) -> Scaled:
    """A float matrix as integers, by exact scaling of columns and rows with powers of two."""
    M, E = decompose(Z)
    used = M != 0
    c = -E.min(axis=0, where=used, initial=NONE)
    c[c == -NONE] = 0
    E += c
    r = -E.min(axis=1, where=used, initial=NONE)
    r[r == -NONE] = 0
    E += r[:, None]
    E[~used] = 0
    return Scaled(M, E, r, c)


def residues(M: Ints, E: Ints, p: int) -> Floats:
    """``M * 2**E`` modulo the odd prime `p`, between ``-p/2`` and ``p/2``; E may be negative."""
    if not M.size:
        return np.zeros(M.shape)
    low = int(E.min())
    powers = np.array([pow(2, e, p) for e in range(low, int(E.max()) + 1)], dtype=np.int64)
    rest = (M % p) * powers[E - low] % p
    rest[rest > p // 2] -= p
    return rest.astype(np.float64)


def nearest_float(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction, ±inf if it is beyond all floats."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf

"""Floats as what they are: integers times powers of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Objects = NDArray[np.object_]


def decompose(values: ArrayLike) -> tuple[Ints, Ints]:
    """``(M, E)`` with ``values == M * 2**E`` exactly, every M odd, or 0 with ``E = 0``."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    M = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = np.frexp((M & -M).astype(np.float64))[1].astype(np.int64) - 1
    E = exponents.astype(np.int64) - 53 + lowest
    E[M == 0] = 0
    M >>= np.maximum(lowest, 0)
    return M, E


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


def as_objects(M: Ints, E: Ints) -> Objects:
    """``M << E`` in integers of any length."""
    integers = M.astype(object)
    return integers << E.astype(object) if E.any() else integers


def scaled(Z: ArrayLike) -> Scaled:
    """A float matrix as integers, by exact scaling of columns and rows with powers of two."""
    M, E = decompose(Z)
    unset = np.iinfo(np.int64).max // 4
    E = np.where(M == 0, unset, E)
    c = -E.min(axis=0, initial=unset)
    c[c == -unset] = 0
    E += c
    r = -E.min(axis=1, initial=unset)
    r[r < -unset // 2] = 0
    E += r[:, None]
    E[M == 0] = 0
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

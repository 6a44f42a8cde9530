"""The vectors that a matrix takes to zero, in integers, and so its exact rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.exact.integers import scaled
from rosenblatt.exact.modular import independent_rows
from rosenblatt.exact.sides import first_not_annihilated
from rosenblatt.exact.systems import matrix, over_powers, pivots

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Reduced(NamedTuple):
    """A matrix reduced to what spans its rows, and what it takes to zero.

    Attributes
    ----------
    rows : int array
        Independent rows that span all.
    columns : int array
        The columns taken greedily in order, each exactly if it does not depend on those before.
    null : list of lists of int
        The null vectors, one for each of the other columns.
    """

    rows: Ints
    columns: Ints
    null: list[list[int]]


def null_basis(Z: ArrayLike) -> list[list[int]]:
    """Integer vectors that span ``{θ : Zθ = 0}`` exactly; empty if Z has full column rank.

    They come in reduced echelon form, one for each column that depends on those before it: it
    has a positive entry there and zeros at the other dependent columns. Each vector is
    primitive, its entries have no common factor.
    """
    Z = np.asarray(Z, dtype=np.float64)
    return _reduced(Z, independent_rows(Z)[0]).null


def spanning_rows(Z: ArrayLike) -> Ints:
    """Independent rows that span all rows: what `independent_rows` finds, proved in integers.

    Parameters
    ----------
    Z : float array of shape (m, D)

    Returns
    -------
    int array, ascending
    """
    Z = np.asarray(Z, dtype=np.float64)
    m, D = Z.shape
    rows, columns = independent_rows(Z)
    if len(rows) == min(m, D):
        return rows
    return np.sort(_reduced(Z, rows).rows) if m > D else _reduced(Z.T, columns).columns


def _reduced(Z: Floats, rows: Ints) -> Reduced:
    """The reduced form, from independent rows that should span all: proved on every row."""
    while True:
        columns, null = _echelon(Z[rows])
        missed = first_not_annihilated(Z, [[*vector, 0] for vector in null])
        if missed is None:
            return Reduced(rows, columns, null)
        # All primes took this row for dependent. It is not, so the rank is larger.
        rows = np.append(rows, missed)


def _echelon(Z: Floats) -> tuple[Ints, list[list[int]]]:
    """The pivot columns and the null vectors of a matrix of full row rank."""
    r, D = Z.shape
    if r == D:
        return np.arange(D), []
    integers = scaled(Z)
    R, denominator, rank = matrix(integers).rref()
    table, positive = R.table(), int(denominator)
    columns = pivots(R, rank)
    null = []
    for free in np.setdiff1d(np.arange(D), columns).tolist():
        vector = [0] * D
        vector[free] = positive
        for row, column in zip(table, columns.tolist(), strict=False):
            vector[column] = -int(row[free])
        numerators = over_powers(vector, 1, integers.c).numerators
        common = math.gcd(*numerators) * (1 if numerators[free] > 0 else -1)
        null.append([n // common for n in numerators])
    return columns, null

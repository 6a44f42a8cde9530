"""Linear systems, ranks and null spaces in rational numbers, by FLINT; and what they cost.

FLINT (the FLINT team, "FLINT: Fast Library for Number Theory") lifts a solution modulo a prime to
the rational numbers; it is the quickest of what was measured, for few and for many unknowns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.integers import (
    Scaled,
    as_objects,
    nearest_float,
    over_one_denominator,
    scaled,
)
from rosenblatt.exact.modular import independent_rows
from rosenblatt.exact.sides import first_not_annihilated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flint import fmpz_mat
    from numpy.typing import ArrayLike

    from rosenblatt.exact.integers import Floats, Ints

DEPENDENT = "the columns of A are linearly dependent: keep independent ones only"
WORD = 64  # bits
LONG = 256  # words from which on the time of a product is more than that of its words


@dataclass(frozen=True)
class Solution:
    """Rational numbers over one common denominator.

    Attributes
    ----------
    numerators : list of int
    denominator : int
        Positive; has no factor in common with all numerators.
    """

    numerators: list[int]
    denominator: int

    def fractions(self) -> tuple[Fraction, ...]:
        """The numbers themselves."""
        return tuple(Fraction(n, self.denominator) for n in self.numerators)

    def floats(self) -> Floats:
        """The nearest floats; infinite where the number is too large for one."""
        floats = [nearest_float(n, self.denominator) for n in self.numerators]
        return np.array(floats, dtype=np.float64)


def solve(A: ArrayLike, b: Any) -> Solution | None:
    """The exact solution of ``A x = b`` in rational numbers.

    Parameters
    ----------
    A : float array of shape (D, k)
        Of full column rank; more equations than unknowns are fine.
    b : float array of shape (D,), or a sequence of D ints or Fractions

    Returns
    -------
    Solution or None
        None if no x satisfies all equations.

    Raises
    ------
    ValueError
        If the columns of A are linearly dependent.
    """
    from flint import fmpz_mat

    A = np.asarray(A, dtype=np.float64)
    integers = scaled(A)
    numbers = b.tolist() if isinstance(b, np.ndarray) else list(b)
    if len(numbers) != len(A):
        msg = f"b has {len(numbers)} entries but A has {len(A)} rows"
        raise ValueError(msg)
    side = over_powers(*over_one_denominator(numbers), integers.r)
    sides = side.numerators
    if not A.shape[1]:
        return None if any(sides) else Solution([], 1)
    rows = _regular_rows(A)
    right = fmpz_mat(rows.size, 1, [sides[i] for i in rows])
    try:
        found: Any = matrix(integers.take(rows)).solve(right)
    except ZeroDivisionError:
        raise ValueError(DEPENDENT) from None
    left, factor = found.numer_denom()
    others = np.setdiff1d(np.arange(len(A)), rows)
    expected = fmpz_mat(others.size, 1, [sides[i] for i in others]) * factor
    if matrix(integers.take(others)) * left != expected:
        return None
    numerators = [int(n) for n in left.entries()]
    return over_powers(numerators, int(factor) * side.denominator, integers.c)


def _regular_rows(A: Floats) -> Ints:
    """As many rows as A has columns that form a regular matrix, for a matrix of full column rank.

    A square matrix is taken as it is. ValueError if it is proved that there are none.
    """
    D, k = A.shape
    if k == D:
        return np.arange(k)
    rows = independent_rows(A.T)[1]
    if len(rows) < k:
        R, _, rank = matrix(scaled(A.T)).rref()
        if rank < k:
            raise ValueError(DEPENDENT)
        rows = pivots(R, rank)
    return rows


def matrix(integers: Scaled) -> fmpz_mat:
    """The integers of a scaled matrix, for FLINT."""
    from flint import fmpz_mat  # late: most programs never need it

    m, k = integers.M.shape
    return fmpz_mat(m, k, as_objects(integers.M, integers.E).ravel().tolist())


def over_powers(numerators: Iterable[int], denominator: int, c: Ints) -> Solution:
    """``numerators[j] / denominator * 2**c[j]``, over the smallest positive denominator."""
    low = min(0, int(c.min(initial=0)))
    shifted = [n << e - low for n, e in zip(numerators, c.tolist(), strict=True)]
    denominator <<= -low
    common = math.gcd(denominator, *shifted) * (1 if denominator > 0 else -1)
    return Solution([n // common for n in shifted], denominator // common)


def pivots(R: fmpz_mat, rank: int) -> Ints:
    """The columns of the first entries that are not 0 in a matrix in echelon form."""
    found: list[int] = []
    for row in R.table()[:rank]:
        found.append(next(j for j, value in enumerate(row) if value))
    return np.array(found, dtype=np.int64)


# Null spaces and ranks --------------------------------------------------------------------------


def null_basis(Z: ArrayLike) -> list[list[int]]:
    """Integer vectors that span ``{θ : Zθ = 0}`` exactly; empty if Z has full column rank.

    They come in reduced echelon form, one for each column that depends on those before it: it
    has a positive entry there and zeros at the other dependent columns. Each vector is
    primitive, its entries have no common factor.
    """
    Z = np.asarray(Z, dtype=np.float64)
    return _reduced(Z, independent_rows(Z)[0])[2]


def spanning_rows(Z: ArrayLike) -> Ints:
    """Independent rows that span all rows: what `independent_rows` finds, proved in integers."""
    Z = np.asarray(Z, dtype=np.float64)
    m, D = Z.shape
    rows, columns = independent_rows(Z)
    if len(rows) == min(m, D):
        return rows
    return np.sort(_reduced(Z, rows)[0]) if m > D else _reduced(Z.T, columns)[1]


def _reduced(Z: Floats, rows: Ints) -> tuple[Ints, Ints, list[list[int]]]:
    """Independent rows that span all, proved on every row; independent columns; null vectors.

    Begins with rows that should span all. The columns are taken greedily in order, each exactly
    if it does not depend on those before; there is a null vector for each of the others.
    """
    while True:
        columns, null = _echelon(Z[rows])
        missed = first_not_annihilated(Z, [[*vector, 0] for vector in null])
        if missed is None:
            return rows, columns, null
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


# What it costs ----------------------------------------------------------------------------------
#
# A unit is about what a few words of 64 bits take to be multiplied; the formulas are what was
# measured of `solve` and `null_basis`, within a factor of two or so, for 20 to 200 unknowns and
# numbers of 53 to 2000 bits. They count operations and know no clock: the same on every machine.


def bits(A: Floats) -> int:
    """How long the numbers of a matrix are as integers, rows and columns scaled to shorten them."""
    integers = scaled(A)
    lengths = np.frexp(np.abs(integers.M).astype(np.float64))[1] + integers.E
    return int(lengths.max(initial=1))


def cost_of_solving(A: Floats) -> float:
    """Units that ``solve(A, b)`` takes: the solution has k times as many digits as A."""
    return float(A.shape[1] ** 3 * (1 + bits(A) / WORD) ** 2 / 3)


def cost_of_reducing(Z: Floats) -> float:
    """Units that ``null_basis(Z)`` takes for independent rows: a system for each null vector."""
    r, D = Z.shape
    return float(max(D - r, 0) * r**3 * (1 + bits(Z) / WORD) ** 2 / 3)


def cost_of_products(products: float, length: float) -> float:
    """Units that products of numbers of so many bits take."""
    words = length // WORD
    return products * (8 + words + words * words // LONG)

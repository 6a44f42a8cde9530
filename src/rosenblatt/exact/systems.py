"""Linear systems in rational numbers, solved by FLINT.

FLINT (the FLINT team, "FLINT: Fast Library for Number Theory") lifts a solution modulo a prime to
the rational numbers; it is the quickest of what was measured, for few and for many unknowns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.integers import Scaled, as_objects, nearest_float, scaled
from rosenblatt.exact.modular import independent_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import fmpz_mat
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DEPENDENT = "the columns of A are linearly dependent: keep independent ones only"


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
        return np.array(
            [nearest_float(n, self.denominator) for n in self.numerators], dtype=np.float64
        )


def matrix(integers: Scaled) -> fmpz_mat:
    """The integers of a scaled matrix, for FLINT."""
    from flint import fmpz_mat  # late: most programs never need it

    m, k = integers.M.shape
    return fmpz_mat(m, k, as_objects(integers.M, integers.E).ravel().tolist())


def over_powers(numerators: Sequence[int], denominator: int, c: Ints) -> Solution:
    """``numerators[j] / denominator * 2**c[j]``, over the smallest positive denominator."""
    low = min(0, int(c.min(initial=0)))
    shifted = [n << e - low for n, e in zip(numerators, c.tolist(), strict=True)]
    denominator <<= -low
    common = math.gcd(denominator, *shifted) * (1 if denominator > 0 else -1)
    return Solution([n // common for n in shifted], denominator // common)


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
    sides, common = _scaled_side(b, integers.r)
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
    return over_powers(numerators, int(factor) * common, integers.c)


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


def pivots(R: fmpz_mat, rank: int) -> Ints:
    """The columns of the first entries that are not 0 in a matrix in echelon form."""
    found: list[int] = []
    for row in R.table()[:rank]:
        found.append(next(j for j, value in enumerate(row) if value))
    return np.array(found, dtype=np.int64)


def _scaled_side(b: Any, r: Ints) -> tuple[list[int], int]:
    """Integers and their denominator, equal to ``b[i] * 2**r[i]``."""
    numbers = b.tolist() if isinstance(b, np.ndarray) else list(b)
    if len(numbers) != len(r):
        msg = f"b has {len(numbers)} entries but A has {len(r)} rows"
        raise ValueError(msg)
    sides = []
    for number, e in zip(numbers, r.tolist(), strict=True):
        # A fraction may have been made of NumPy's integers, which overflow.
        n, d = map(int, number.as_integer_ratio())
        sides.append(Fraction(n << e, d) if e >= 0 else Fraction(n, d << -e))
    denominator = math.lcm(*(side.denominator for side in sides))
    return [side.numerator * (denominator // side.denominator) for side in sides], denominator

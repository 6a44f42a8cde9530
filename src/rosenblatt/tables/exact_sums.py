"""Means and deviations, exact: sums that do not round, rounded once at the end.

The sums are whole numbers, as in the superaccumulators of R. M. Neal, "Fast exact summation using
small and large superaccumulators" (2015): a float is a whole number times a power of two, and those
of one exponent are added as whole numbers. So neither the order of the numbers nor how they are cut
into blocks makes a difference, and no number is too large or too small.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.tables.number_loops import N_SUMS, add_exactly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

NO_NUMBER = 0x7FF  # the exponent of NaN
UNIT = 1074  # sums are multiples of 2**-UNIT, as all floats are; those of squares, of its square
LEAST = 5e-324
ENOUGH_BITS = 64  # of a root, to round it once to 53 and know which way


class ExactSums:
    """How many numbers there are, how many are missing, their sum and that of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> sums = ExactSums()
    >>> sums.add(np.array([1e308, 0.25, np.nan]))
    >>> sums.add(np.array([-1e308, 0.5]))
    >>> sums.n, sums.n_missing, sums.mean
    (4, 1, 0.1875)
    """

    def __init__(self) -> None:
        self._n, self._n_missing, self._total, self._squares = 0, 0, 0, 0
        self._sums: NDArray[np.int64] | None = None  # of numbers that are not in these yet

    def add(self, values: Floats) -> None:
        """Add finite numbers, and count the missing ones, NaN."""
        if self._sums is None:
            self._sums = np.zeros((NO_NUMBER + 1, N_SUMS), dtype=np.int64)
        add_exactly(values.view(np.int64), self._sums)

    def merge(self, other: ExactSums) -> None:
        """Add what another has added."""
        other.settle()
        self.settle()
        self._n += other._n
        self._n_missing += other._n_missing
        self._total += other._total
        self._squares += other._squares

    def settle(self) -> None:
        """Carry the sums over to whole numbers of any size, and give up the room they took."""
        if self._sums is None:
            return
        total, squares, place = 0, 0, NO_NUMBER  # both in units of 2**place, as it goes down
        exponents = np.flatnonzero(self._sums[:, 0])[::-1]
        for exponent, row in zip(exponents.tolist(), self._sums[exponents].tolist(), strict=True):
            if exponent == NO_NUMBER:
                self._n_missing += row[0]
                continue
            count, m, a2, ab, b2, m_up, a2_up, ab_up, b2_up = row
            lower, upper = (a2 << 52) + (ab << 27) + b2, (a2_up << 52) + (ab_up << 27) + b2_up
            shift = place - max(exponent - 1, 0)
            total = (total << shift) + (m_up << 32) + m
            squares = (squares << 2 * shift) + (upper << 32) + lower
            place -= shift
            self._n += count
        self._total += total << place
        self._squares += squares << 2 * place
        self._sums = None

    @property
    def n(self) -> int:
        """How many numbers were added."""
        self.settle()
        return self._n

    @property
    def n_missing(self) -> int:
        """How many were missing."""
        self.settle()
        return self._n_missing

    @property
    def same(self) -> bool:
        """Whether all numbers are the same (or there is none)."""
        return self._spread() == 0

    @property
    def mean(self) -> float:
        """The float nearest to ``Σx/n``."""
        self.settle()
        return self._total / (self._n << UNIT)  # of whole numbers, Python's / rounds once

    @property
    def deviation(self) -> float:
        """The float nearest to the root of ``(Σx² - (Σx)²/n)/n``; 0 if all numbers are the same."""
        return nearest_root(self._spread(), self._n**2, UNIT)

    @property
    def scale(self) -> float:
        """The deviation, by which to divide: the least float above 0 where it rounds to 0."""
        return self.deviation or LEAST

    def _spread(self) -> int:
        """``n Σx² - (Σx)²``."""
        self.settle()
        return self._n * self._squares - self._total**2


def nearest_root(numerator: int, denominator: int, halvings: int) -> float:
    """The float nearest to ``sqrt(numerator/denominator) / 2**halvings``.

    The root is cut off behind more bits than a float has, and one more bit tells whether anything
    was cut off: that is enough to round it once.
    """
    if not numerator:
        return 0.0
    lacking = 2 * ENOUGH_BITS + denominator.bit_length() - numerator.bit_length()
    shift = max(0, (lacking + 1) // 2)
    whole, rest = divmod(numerator << 2 * shift, denominator)
    root = isqrt(whole)
    cut = rest > 0 or root * root < whole
    return (2 * root + cut) / (1 << (shift + halvings + 1))

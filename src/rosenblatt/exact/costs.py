"""What exact linear algebra costs, before it is begun.

A unit is about what a few words of 64 bits take to be multiplied; the formulas are what was
measured of `solve` and `null_basis`, within a factor of two or so, for 20 to 200 unknowns and
numbers of 53 to 2000 bits. They count operations and know no clock: the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.exact.integers import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORD = 64  # bits
LONG = 256  # words from which on the time of a product is more than that of its words


def bits(A: Floats) -> int:
    """How long the numbers of a matrix are as integers, rows and columns scaled to shorten them."""
    integers = scaled(A)
    lengths = np.frexp(np.abs(integers.M).astype(np.float64))[1] + integers.E
    return int(lengths.max(initial=1))


def solving(A: Floats) -> float:
    """Units that ``solve(A, b)`` takes: the solution has k times as many digits as A."""
    k = A.shape[1]
    return float(k**3 * _words(A) ** 2 / 3)


def reducing(Z: Floats) -> float:
    """Units that ``null_basis(Z)`` takes for independent rows: a system for each null vector."""
    r, D = Z.shape
    return float(max(D - r, 0) * r**3 * _words(Z) ** 2 / 3)


def multiplying(products: float, length: float) -> float:
    """Units that products of numbers of so many bits take."""
    words = length // WORD
    return products * (8 + words + words * words // LONG)


def _words(A: Floats) -> float:
    return 1 + bits(A) / WORD

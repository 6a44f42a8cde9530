"""Columns of numbers and of codes, compiled: exact sums, gaps, and how often a code is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.compiled import loop

if TYPE_CHECKING:
    from numpy.typing import NDArray

WITHOUT_SIGN = 2**63 - 1
INFINITE = 0x7FF << 52  # the bits of infinity; those of NaN, without the sign, are larger
# What `add_exactly` adds up for each exponent: how many numbers there are, the two parts of their
# fractions with the sign, and the products of the three parts of their fractions.
N_SUMS = 8


@loop
def add_exactly(floats: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    """Add floats, given by their bits, and their squares to whole numbers, one row per exponent.

    The fraction m of a float has 53 bits: as two parts of 21 and 32 bits, which keep the sign, it
    is added to the sum, and as three, a, b and c of 18 bits at most, to the sum of squares:
    m² = a² 2⁷² + ab 2⁵⁵ + (2ac + b²) 2³⁶ + bc 2¹⁹ + c². None of these sums leaves 64 bits before
    2²⁶ numbers are added.
    """
    for i in range(len(floats)):
        bits = floats[i]
        exponent = (bits >> 52) & 0x7FF
        m = (bits & 0xFFFFFFFFFFFFF) | (np.int64(exponent != 0) << 52)
        sign = bits >> 63  # 0 or -1
        a, b, c = m >> 36, (m >> 18) & 0x3FFFF, m & 0x3FFFF
        found = sums[exponent]
        found[0] += 1
        found[1] += ((m >> 32) ^ sign) - sign
        found[2] += ((m & 0xFFFFFFFF) ^ sign) - sign
        found[3] += a * a
        found[4] += a * b
        found[5] += 2 * a * c + b * b
        found[6] += b * c
        found[7] += c * c


@loop
def gaps_and_infinities(floats: NDArray[np.int64]) -> Any:
    """How many floats, given by their bits, are NaN, and how many are infinite."""
    gaps, infinities = 0, 0
    for i in range(len(floats)):
        size = floats[i] & WITHOUT_SIGN
        gaps += size > INFINITE
        infinities += size == INFINITE
    return gaps, infinities


@loop
def count_codes(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Count each code from -1 on."""
    for i in range(len(codes)):
        counts[codes[i] + 1] += 1


@loop
def first_cells(codes: NDArray[np.int32], firsts: NDArray[np.int64]) -> None:
    """Note of each code from 0 on, -1 until it is found, how many such codes stand before it."""
    present = 0
    for i in range(len(codes)):
        code = codes[i]
        if code >= 0:
            if firsts[code] < 0:
                firsts[code] = present
            present += 1

"""Columns of numbers and of codes, compiled: exact sums, gaps, and how often a code is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.compiled import loop, part_of_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

WITHOUT_SIGN = 2**63 - 1
INFINITE = 0x7FF << 52  # the bits of infinity; those of NaN, without the sign, are larger
# What `add_exactly` adds up for each exponent: how many numbers there are, their fractions with the
# sign, and the three products of the two parts of their fractions, each sum in two parts.
N_SUMS = 9


@part_of_loops
def carry(sums: NDArray[np.int64]) -> None:
    """Leave the lower 32 bits of the sums where they are, and add the others to the upper parts."""
    for k in range(1, 5):
        sums[k + 4] += sums[k] >> 32
        sums[k] &= 0xFFFFFFFF


@loop
def add_exactly(floats: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    """Add floats, given by their bits, and their squares to whole numbers, one row per exponent.

    The fraction of a float is a whole number m of 53 bits, with two parts a and b of 27 and 26
    bits, and m² = a² 2⁵² + ab 2²⁷ + b². 64 bits have room for 256 of each.
    """
    for i in range(len(floats)):
        bits = floats[i]
        exponent = (bits >> 52) & 0x7FF
        m = (bits & 0xFFFFFFFFFFFFF) | (np.int64(exponent != 0) << 52)
        sign = bits >> 63  # 0 or -1
        a, b = m >> 26, m & 0x3FFFFFF
        found = sums[exponent]
        found[0] += 1
        found[1] += (m ^ sign) - sign
        found[2] += a * a
        found[3] += a * b
        found[4] += b * b
        if found[0] & 0xFF == 0:
            carry(found)


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

"""Sums of products a whole block at once: in twice the precision, with proven error bounds.

Numbers are cut so short that products of the pieces, and sums of these, are floats in whatever
order a matrix product takes them (K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, "Error-free
transformations of matrix multiplication by using fast routines of matrix multiplication and its
applications", Numerical Algorithms 59, 2012).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.blocks import RowBlock, Sparse, chosen, shape
from rosenblatt.exact.enclosure import TINY, ULP, two_product, two_sum
from rosenblatt.exact.passes import map_blocks
from rosenblatt.exact.rationals import NONE, square_sum
from rosenblatt.exact.tile_passes import TERMS, is_dense, sum_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask

ENOUGH = 1 << 18  # numbers to square in integers
VANISHES = -3000  # a power of two that makes any float 0
MOST_PIECES = 8  # into which numbers are cut
LOWEST = 2.0**-300  # below which they are not cut: their products have to be floats


class Twofold:
    """Sums kept as ``hi + lo``, two floats each, and bounds on what was lost of them."""

    def __init__(self, size: int) -> None:
        self.hi: Floats = np.zeros(size)
        self.lo: Floats = np.zeros(size)
        self.error: Floats = np.full(size, TINY)

    def add(self, part: Floats | float, error: Floats | float = 0.0) -> None:
        """Add a float that may be off by `error`, losing nothing."""
        self.hi, lost = two_sum(self.hi, part)
        self.lo = self.lo + lost
        self.error = self.error + (error + np.abs(self.lo) * ULP)

    def times(self, ratio: Fraction) -> Twofold:
        """The same sums, each times a number between 0 and 1."""
        r = float(ratio)
        rest = float(ratio - Fraction(r))
        found = Twofold(len(self.hi))
        found.hi, lost = two_product(self.hi, r)
        small = self.hi * rest, self.lo * r
        found.lo = lost + (small[0] + small[1])
        size = np.abs(lost) + np.abs(small[0]) + np.abs(small[1])
        found.error = found.error + (self.error + size * (4 * ULP))
        return found

    def scaled(self, exponents: Any) -> Twofold:
        """The same sums times powers of two."""
        found = Twofold(len(self.hi))
        found.hi, found.lo = np.ldexp(self.hi, exponents), np.ldexp(self.lo, exponents)
        found.error = found.error + np.ldexp(self.error, exponents)
        return found

    def rounded(self) -> tuple[Floats, Floats]:
        """The sums as one float each, and bounds on the errors; infinite where there are none."""
        values = self.hi + self.lo
        errors = 1.01 * (self.error + np.abs(values) * ULP)
        errors[~(np.isfinite(values) & np.isfinite(errors))] = np.inf
        return values, errors


def _cut(values: Floats, bits: int) -> tuple[Floats, Floats]:
    """``values = head + tail``; the heads are multiples, at most ``2**bits``, of one number."""
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    # Sums with it end where the heads do.
    anchor = np.ldexp(1.5, exponent - bits + 52)
    head = (values + anchor) - anchor
    return head, values - head


def _products(block: RowBlock, v: Floats, along: str) -> Iterator[tuple[Floats, float]]:
    """Parts of ``block.dot(v)`` or ``block.sum(v)``, and bounds on their errors.

    The numbers of the block are at most about 1, and so are those of `v`.
    """
    terms = block.longest()[along == "sum"]
    bits = (53 - terms.bit_length()) // 2

    def times(floats: Floats, t: Floats) -> Floats:
        found: Floats = getattr(replace(block, floats=floats), along)(t)
        return found

    first, rest = _cut(block.floats, bits)
    second, rest = _cut(rest, bits)
    v1, tail = _cut(v, bits)
    v2, tail = _cut(tail, bits)
    for floats, t in ((first, v1), (first, v2), (second, v1), (second, v2)):
        yield times(floats, t), 0.0
    for floats, t in ((rest, v), (first + second, tail)):
        size = np.abs(floats).max(initial=0.0) * np.abs(t).max(initial=0.0)
        yield times(floats, t), float(size * (terms * (terms + 4) * ULP) + TINY)


def _scaled(block: RowBlock, theta: Floats) -> tuple[RowBlock, Floats, int]:
    """``x_i`` and w with products ``x_ij w_j/2**top`` of at most 1, and `top`; bias last."""
    sizes = block.largest()
    w, exponents = np.frexp(theta[:-1])
    used = (w != 0) & (sizes > 0)
    products = (exponents + np.frexp(sizes)[1]).astype(np.int64)
    top = max(int(products[used].max(initial=-NONE)), int(np.frexp(theta[-1])[1]), 1)
    return block.scaled(np.where(used, exponents - top, VANISHES)), np.where(used, w, 0.0), top


def form_values(block: RowBlock, theta: Floats) -> tuple[Twofold, int]:
    """``w·x_i + b``, bias last in `theta`: sums, and the power of two that they are to be taken by.

    Raises no error where numbers are too large; the bounds on the errors are infinite then.
    """
    scaled, w, top = _scaled(block, theta)
    found = Twofold(len(block))
    for part, error in _products(scaled, w, "dot"):
        found.add(part, error)
    found.add(float(np.ldexp(theta[-1], -top)))
    return found, top


def exact_parts(block: RowBlock, theta: Floats) -> tuple[Floats, Mask, int]:
    """Some floats for each row that sum to ``w·x_i + b`` exactly, but for a power of two.

    Returned are these floats, in the rows of an array; for which rows it is true, which is not
    said of numbers that differ too much in size; and the power of two to multiply by.
    """
    scaled, w, top = _scaled(block, theta)
    bits = (53 - block.longest()[0].bit_length()) // 2
    factors, tail = _pieces(w, bits)
    heads, rest = _pieces(scaled.floats, bits)
    bias = float(np.ldexp(theta[-1], -top))
    parts = [np.full(len(block), bias)]
    for head in heads:
        piece = replace(block, floats=head)
        parts += [piece.dot(factor) for factor in factors]
    lost = (rest != 0) | ((scaled.floats == 0) & (block.floats != 0))
    used = (theta[:-1] != 0).astype(np.float64)
    sure = replace(block, floats=lost.astype(np.float64)).dot(used) == 0
    sure &= ~block.rounded() & (not tail.any() and float(np.ldexp(bias, top)) == theta[-1])
    return np.column_stack(parts), sure, top


def _pieces(values: Floats, bits: int) -> tuple[list[Floats], Floats]:
    """Heads, each of what the one before has left, and what the last one leaves."""
    heads: list[Floats] = []
    while len(heads) < MOST_PIECES and LOWEST < np.abs(values).max(initial=0.0) < np.inf:
        head, values = _cut(values, bits)
        heads.append(head)
    return heads, values


def rounded_sums(parts: Floats) -> Floats:
    """The sum of each row, rounded once."""
    return np.array([math.fsum(row) for row in parts.tolist()])


def smallest_sum(parts: Floats) -> int:
    """The row with the smallest sum; of several the first."""
    left = np.arange(len(parts))
    while True:
        sums = rounded_sums(parts[left])
        least = sums.min()
        left = left[sums == least]
        if least == 0 or len(left) == 1:
            return int(left[0])
        # Rounding may have made them equal: compare what it took away.
        parts = np.column_stack([parts, np.full(len(parts), -least)])


def combination(X: Any, rows: Ints, v: Floats, precise: bool) -> Twofold:
    """``Σ_k v_k x_rows[k]`` for ascending rows and positive `v`.

    Rounded like any sum of floats, or, with `precise`, as in twice the precision.
    """
    total = Twofold(X.shape[1])
    if not precise and is_dense(X):
        found, size = sum_of_rows(X, rows, v)
        total.add(found, 1.01 * (size * ((TERMS + 4) * ULP)))
        return total
    for part, where in chosen(X, rows):
        t = v[where]
        if not precise:
            size = replace(part, floats=np.abs(part.floats)).sum(t)
            total.add(part.sum(t), size * ((part.longest()[1] + 4) * ULP))
            continue
        columns = np.frexp(part.largest())[1].astype(np.int64)
        top = int(np.frexp(t.max())[1])
        back = (columns + top).astype(np.intc)
        for term, error in _products(part.scaled(-columns), np.ldexp(t, -top), "sum"):
            total.add(np.ldexp(term, back), np.ldexp(error, back))
    return total


def weighted_mean(weights: Floats, X: Floats) -> Floats:
    """``Σ w_i x_i`` for weights that sum to 1, rounded, but neither under- nor overflowing."""
    powers = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1]
    mean: Floats = weights @ np.ldexp(X, -powers)
    # Rounding must not carry it out of the range of the samples, beyond which floats may end.
    mean = np.clip(np.ldexp(mean, powers), X.min(axis=0), X.max(axis=0))
    return mean


# The longest sample -----------------------------------------------------------------------------


def largest_square(X: Any, enough: int = ENOUGH) -> Fraction:
    """``max ‖x_i‖²``: exactly, or no less where too many samples are about as long.

    X is an array of floats, or a CSR matrix of these without duplicate entries. Not more than
    `enough` numbers are squared in integers.
    """
    most, left = Fraction(0), enough
    room = (shape(X)[1] + 4) * 2.0**-51
    for squares, exponent, part in map_blocks(X, partial(_longest, room)):
        top = float(squares.max(initial=0.0))
        above = Fraction(top * (1 + room)) * Fraction(4) ** exponent
        if above <= most:
            continue
        certain = _without_rounding(part, squares, exponent)
        if certain.any():
            most = max(most, Fraction(float(squares[certain].max())) * Fraction(4) ** exponent)
        rounded = np.flatnonzero(~certain)
        left -= rounded.size * shape(X)[1]
        if left < 0:
            most = max(most, above)
        elif rounded.size:
            most = max(most, *_exact_squares(part.take(rounded)))
    return most


def _longest(room: float, block: RowBlock, rows: Any) -> tuple[Floats, int, RowBlock]:
    """The longest rows of a block, as far as floats can tell, with their `_squares`."""
    squares, exponent = _squares(block)
    close = np.flatnonzero(squares >= float(squares.max(initial=0.0)) * (1 - 2 * room))
    return squares[close], exponent, block.take(close)


def _squares(block: RowBlock) -> tuple[Floats, int]:
    """``‖x_i‖² / 4**e``, rounded, and e: a scale at which no large square overflows."""
    floats = block.floats
    largest = max(float(floats.max(initial=0.0)), -float(floats.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1]) if not 1e-100 < largest < 1e100 else 0
    entries = np.ldexp(floats, -exponent) if exponent else floats
    if not isinstance(block, Sparse):
        return np.einsum("ij,ij->i", entries, entries), exponent
    rows = np.repeat(np.arange(len(block)), np.diff(block.starts))
    sums: Floats = np.bincount(rows, entries * entries, len(block)).astype(np.float64)
    return sums, exponent


def _without_rounding(block: RowBlock, squares: Floats, exponent: int) -> Mask:
    """Rows whose squares are multiples of one power of two, together below ``2**53`` times it."""
    width = block.width if isinstance(block, Sparse) else block.floats.shape[1]
    units = np.clip(block.units(np.zeros(width, np.int64)) - exponent, -2000, 2000)
    limit = np.ldexp(1.0, np.clip(2 * units + 53, -2000, 2000).astype(np.intc))
    certain: Mask = (1.01 * squares < limit) & (2 * units >= -1022)
    return certain


def _exact_squares(block: RowBlock) -> Iterator[Fraction]:
    """``‖x_i‖²`` of each row."""
    rows = np.split(block.floats, block.starts[1:-1]) if isinstance(block, Sparse) else block.floats
    return map(square_sum, rows)

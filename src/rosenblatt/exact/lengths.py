"""The exact length of the longest sample, from the few that may be it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.blocks import Sparse, blocks, shape
from rosenblatt.exact.integers import square_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.exact.blocks import Block

    Floats = NDArray[np.float64]

ENOUGH = 1 << 18  # numbers to square in integers


def largest_square(X: Any) -> Fraction:
    """``max ‖x_i‖²``: exactly, or no less where too many samples are about as long.

    X is an array of floats, or a CSR matrix of these without duplicate entries.
    """
    most, left = Fraction(0), ENOUGH
    room = (shape(X)[1] + 4) * 2.0**-51
    for _, block in blocks(X):
        squares, exponent = _squares(block)
        top = float(squares.max(initial=0.0))
        above = Fraction(top * (1 + room)) * Fraction(4) ** exponent
        if above <= most:
            continue
        close = np.flatnonzero(squares >= top * (1 - 2 * room))
        part = block.take(close)
        rounded = close[~_without_rounding(part, squares[close], exponent)]
        if rounded.size < close.size:
            whole = np.setdiff1d(close, rounded)
            most = max(most, Fraction(float(squares[whole].max())) * Fraction(4) ** exponent)
        left -= rounded.size * shape(X)[1]
        if left < 0:
            most = max(most, above)
        elif rounded.size:
            most = max(most, *_exact_squares(block.take(rounded)))
    return most


def _squares(block: Block) -> tuple[Floats, int]:
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


def _without_rounding(block: Block, squares: Floats, exponent: int) -> NDArray[np.bool_]:
    """Rows whose squares are multiples of one power of two, together below ``2**53`` times it."""
    width = block.width if isinstance(block, Sparse) else block.floats.shape[1]
    units = np.clip(block.units(np.zeros(width, np.int64)) - exponent, -2000, 2000)
    limit = np.ldexp(1.0, np.clip(2 * units + 53, -2000, 2000).astype(np.intc))
    certain: NDArray[np.bool_] = (1.01 * squares < limit) & (2 * units >= -1022)
    return certain


def _exact_squares(block: Block) -> Iterator[Fraction]:
    """``‖x_i‖²`` of each row."""
    rows = np.split(block.floats, block.starts[1:-1]) if isinstance(block, Sparse) else block.floats
    return map(square_sum, rows)

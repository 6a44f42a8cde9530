"""Passes that only look: which rows are mistakes or may become some, and decision values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, Rows, row_dot, row_norm2, span_norm2, weight_of

SQUARES_LOST = 1e-300  # more than squares too small for floats add up to
LARGEST = np.finfo(np.float64).max
NO_OVERFLOW = 1e280  # values whose error bounds are below it are far from the largest float
TINY, HUGE = 1e-70, 1e70  # squared norms: outside, the norm may not fit float32


@loop
def drift(theta: Any, center: Any) -> Any:
    """``‖theta - center‖``, rounded up, plus all that rounding can do to ``theta·(x, 1)/‖(x, 1)‖``.

    A dot product of d + 1 terms is off by at most ``(d + 2)u‖theta‖‖(x, 1)‖``, u = 2⁻⁵³; the
    factor 4 covers the norms, the sum with the bias and this function's own rounding. Infinite
    where theta is so small that squares underflow.
    """
    apart, norm2 = 0.0, 0.0
    for j in range(len(theta)):
        apart += (theta[j] - center[j]) ** 2
        norm2 += theta[j] ** 2
    slack = 4 * (len(theta) + 4) * 2.0**-53
    if norm2 < 1e-200:
        return np.inf
    return np.sqrt(apart) * (1 + slack) + slack * np.sqrt(norm2)


@loop
def norms(block: Block, bias: float, start: int, stop: int, out: Any) -> None:
    """Write ``‖(x, 1)‖`` of rows `start` to `stop`, rounded up; infinite where in doubt."""
    for row in range(start, stop):
        i = np.uint64(row)
        norm2 = row_norm2(block.rows, i) + bias
        out[i] = np.sqrt(norm2) * (1 + 2.0**-22) if TINY < norm2 < HUGE else np.inf


@loop
def find(
    block: Block,
    norm: Any,
    positive: int,
    theta: Any,
    guard: float,
    start: int,
    stop: int,
    found: Any,
) -> int:
    """List the rows with ``y(w·x + b) <= guard·‖(x, 1)‖`` and return how many.

    ``guard=0`` lists the mistakes. With a positive guard no other row can be a mistake of any
    hyperplane within `guard` of theta: ``y(θ'·x̃) >= y(θ·x̃) - ‖θ' - θ‖‖x̃‖``.
    """
    reach = guard + drift(theta, theta) if guard > 0 else 0.0
    count = 0
    for row in range(start, stop):
        i = np.uint64(row)
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        limit = reach * norm[i] if guard > 0 else 0.0
        if not value > limit and weight_of(block, positive, i) > 0:
            found[count] = row
            count += 1
    return count


@loop
def distances(block: Block, positive: int, theta: Any, bias: float, rows: Any, out: Any) -> None:
    """Write ``y(w·x + b)/‖(x, 1)‖`` of the listed rows."""
    for k in range(len(rows)):
        i = np.uint64(rows[k])
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        norm2 = row_norm2(block.rows, i) + bias
        out[k] = value / np.sqrt(norm2) if norm2 > 0 else 0.0


@loop
def mistakes_among(
    block: Block, positive: int, theta: Any, rows: Any, found: Any, values: Any
) -> int:
    """`find` with ``guard=0`` for the listed rows only."""
    count = 0
    for k in range(len(rows)):
        i = np.uint64(rows[k])
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        if not value > 0:
            found[count], values[count] = i, value
            count += 1
    return count


@loop
def write_decisions(
    rows: Rows, thetas: Any, errors: Any, start: int, stop: int, tile: int, out: Any, doubtful: Any
) -> None:
    """Write ``w·x + b`` of rows `start` to `stop`, a column for each hyperplane.

    `doubtful`, unless it is empty, says where rounding may have changed the sign, as far as a tile
    of rows can tell (`in_doubt` knows better): ``errors[k]`` holds the share of ``‖x‖`` and the
    number that bound the error of a value of hyperplane k.
    """
    for first in range(start, stop, tile):
        last = min(first + tile, stop)
        for k in range(len(thetas)):
            w, b = thetas[k, :-1], thetas[k, -1]
            for row in range(first, last):
                out[row - start, k] = row_dot(rows, np.uint64(row), w) + b
        if doubtful.size:
            # No row is longer than all together: few are left to be measured.
            norm = np.sqrt(span_norm2(rows, first, last) + SQUARES_LOST)
            for k in range(len(thetas)):
                reach = 1.01 * (errors[k, 0] * norm + errors[k, 1])
                reach = reach if reach < NO_OVERFLOW else np.inf
                for at in range(first - start, last - start):
                    doubtful[at, k] = not abs(out[at, k]) > reach


@loop
def in_doubt(rows: Rows, errors: Any, listed: Any, values: Any, doubtful: Any) -> None:
    """Write which of the listed rows are in doubt, by their own lengths."""
    for at in range(len(listed)):
        norm = np.sqrt(row_norm2(rows, np.uint64(listed[at])) + SQUARES_LOST)
        doubtful[at] = not errors[0] * norm + errors[1] < abs(values[at]) <= LARGEST

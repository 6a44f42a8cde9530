"""Passes that only look: which rows are mistakes or may become some, and decision values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops import loop
from rosenblatt.loops.perceptron import drift, weight_of
from rosenblatt.rows import Block, Rows, row_dot, row_norm2

TINY = 1e-200  # below this a squared norm may have lost digits to underflow


@loop
def find(
    block: Block,
    positive: int,
    theta: Any,
    bias: float,
    guard: float,
    start: int,
    stop: int,
    found: Any,
    values: Any,
) -> int:
    """List the rows with ``y(w·x + b) <= guard·‖(x, 1)‖``, with that left side; return how many.

    ``guard=0`` lists the mistakes. With a positive guard no other row can be a mistake of any
    hyperplane within `guard` of theta: ``y(θ'·x̃) >= y(θ·x̃) - ‖θ' - θ‖‖x̃‖``.
    """
    reach = guard + drift(theta, theta) if guard > 0 else 0.0
    count = 0
    for i in range(start, stop):
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        limit = 0.0
        if guard > 0:
            norm2 = row_norm2(block.rows, i) + bias
            limit = reach * np.sqrt(norm2) if norm2 > TINY else np.inf
        if value <= limit and weight_of(block, i) > 0:
            found[count], values[count] = i, value
            count += 1
    return count


@loop
def mistakes_among(
    block: Block, positive: int, theta: Any, rows: Any, found: Any, values: Any
) -> int:
    """`find` with ``guard=0`` for the listed rows only."""
    count = 0
    for k in range(len(rows)):
        i = rows[k]
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        if value <= 0:
            found[count], values[count] = i, value
            count += 1
    return count


@loop
def decide(rows: Rows, thetas: Any, start: int, stop: int, tile: int, out: Any) -> None:
    """Write ``w·x + b`` of each row, for each hyperplane, into ``out[row, hyperplane]``."""
    for first in range(start, stop, tile):
        for k in range(len(thetas)):
            w, b = thetas[k, :-1], thetas[k, -1]
            for i in range(first, min(first + tile, stop)):
                out[i, k] = row_dot(rows, i, w) + b

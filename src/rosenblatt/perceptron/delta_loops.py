"""The delta rule: gradient descent on the squared difference of target and output."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, add_row, row_dot, row_norm2, weight_of
from rosenblatt.perceptron.loops import Step, Visit


@loop
def delta(
    block: Block,
    positive: int,
    visit: Visit,
    theta: Any,
    step: Step,
    size: int,
    sums: Any,
    held: int,
    loss: float,
) -> tuple[int, int, float]:
    """Visit rows, gather ``Σ (t - o)x`` with ``o = w·x + b``, and step by its mean after `size`.

    `sums` and `held` (its rows) carry a batch that is not complete. Returns `held` as it is
    now, the number of mistakes, and `loss` with the ``(t - o)²/2`` of the visits added.
    """
    mistakes = 0
    for k in range(visit.start, visit.stop):
        i = np.uint64(visit.order[k] if visit.order.size else k)
        t = 1.0 if block.label[i] == positive else -1.0
        o = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        change = weight_of(block, positive, i) * (t - o)
        add_row(block.rows, i, change, sums[:-1])
        sums[-1] += change * step.bias
        loss += change * (t - o) / 2
        mistakes += not t * o > 0
        held += 1
        if held == size:
            add_mean(theta, step.eta, sums, held)
            held = 0
    return held, mistakes, loss


@loop
def add_mean(theta: Any, eta: float, sums: Any, held: int) -> None:
    """``theta += eta * sums / held``, and empty the sums."""
    for j in range(len(theta)):
        theta[j] += eta * (sums[j] / held)
        sums[j] = 0.0


@loop
def largest_norm2(block: Block, positive: int, bias: float) -> float:
    """Largest ``‖(x, 1)‖²`` of the rows, each times its weight."""
    largest = 0.0
    for row in range(len(block.label)):
        i = np.uint64(row)
        largest = max(largest, weight_of(block, positive, i) * (row_norm2(block.rows, i) + bias))
    return largest


@loop
def add_weights(block: Block, positive: int, total: float) -> float:
    """Add the weights of all rows, one after the other."""
    for row in range(len(block.label)):
        total += weight_of(block, positive, np.uint64(row))
    return total


@loop
def add_gram_product(block: Block, positive: int, bias: float, v: Any, out: Any) -> None:
    """``out += Σ x̃ (x̃·v)`` over the rows, each times its weight."""
    for row in range(len(block.label)):
        i = np.uint64(row)
        value = row_dot(block.rows, i, v[:-1]) + bias * v[-1]
        value *= weight_of(block, positive, i)
        add_row(block.rows, i, value, out[:-1])
        out[-1] += bias * value

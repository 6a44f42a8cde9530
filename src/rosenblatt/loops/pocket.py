"""Counting training errors of many vectors that lie close together."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops import loop
from rosenblatt.loops.perceptron import drift, weight_of
from rosenblatt.loops.scan import TINY
from rosenblatt.rows import Block, Rows, add_row, row_dot, row_norm2


@loop
def replay(rows: Rows, sample: Any, step: Any, bias: float, theta: Any, out: Any) -> None:
    """Apply the updates of a path again; ``out[t]`` is the vector after the t-th."""
    for t in range(len(sample)):
        add_row(rows, sample[t], step[t], theta[:-1])
        theta[-1] += step[t] * bias
        out[t] = theta


@loop
def is_error(block: Block, positive: int, i: int, value: float) -> bool:
    """Whether predicting +1 exactly where ``value > 0`` gets row i wrong."""
    return (value > 0) != (block.label[i] == positive)


@loop
def doubtful(
    block: Block,
    positive: int,
    theta: Any,
    bias: float,
    guard: float,
    start: int,
    stop: int,
    wrong: Any,
    right: Any,
) -> tuple[int, int, float]:
    """Split rows into certain and doubtful ones for all vectors within `guard` of theta.

    The prediction for a row with ``|w·x + b| > guard·‖(x, 1)‖`` is the same for all of them.
    Doubtful rows are listed, those that theta gets wrong and those it gets right. Returns the
    two counts and the weight of the rows that are certainly wrong.
    """
    reach = guard + drift(theta, theta)
    wrongs, rights, certain = 0, 0, 0.0
    for i in range(start, stop):
        value = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        norm2 = row_norm2(block.rows, i) + bias
        error = is_error(block, positive, i, value)
        if norm2 > TINY and abs(value) > reach * np.sqrt(norm2):
            if error:
                certain += weight_of(block, i)
        elif error:
            wrong[wrongs] = i
            wrongs += 1
        else:
            right[rights] = i
            rights += 1
    return wrongs, rights, certain


@loop
def count_errors(
    block: Block, positive: int, thetas: Any, rows: Any, errors: Any, limit: float
) -> int:
    """Add to ``errors[t]`` the weight of the t-th vector's errors among the listed rows.

    A vector is given up once its errors exceed `limit`. Returns the number of rows looked at.
    """
    looks = 0
    for t in range(len(thetas)):
        w, b = thetas[t, :-1], thetas[t, -1]
        for k in range(len(rows)):
            if errors[t] > limit:
                break
            i = rows[k]
            if is_error(block, positive, i, row_dot(block.rows, i, w) + b):
                errors[t] += weight_of(block, i)
            looks += 1
    return looks


@loop
def total_errors(block: Block, positive: int, theta: Any, errors: float) -> float:
    """Add the weight of theta's errors, row after row."""
    for i in range(len(block.label)):
        if is_error(block, positive, i, row_dot(block.rows, i, theta[:-1]) + theta[-1]):
            errors += weight_of(block, i)
    return errors

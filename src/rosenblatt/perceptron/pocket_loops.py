"""Training errors: counted exactly, and bounded from below for many vectors at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, Rows, add_row, row_dot, weight_of


@loop
def vectors_on_path(rows: Rows, sample: Any, step: Any, bias: float, theta: Any, out: Any) -> None:
    """Apply the updates of a path again; ``out[t]`` is the vector after the t-th."""
    for t in range(len(sample)):
        add_row(rows, sample[t], step[t], theta[:-1])
        theta[-1] += step[t] * bias
        for j in range(len(theta)):
            out[t, j] = theta[j]


@loop
def errors_of(block: Block, positive: int, theta: Any, errors: float) -> float:
    """Add the weight of theta's errors, row after row: ``w·x + b > 0`` is not where y is +1."""
    w, b = theta[:-1], theta[-1]
    for row in range(len(block.label)):
        i = np.uint64(row)
        if (row_dot(block.rows, i, w) + b > 0) != (block.label[i] == positive):
            errors += weight_of(block, positive, i)
    return errors


@loop
def sure_errors(products: Any, weight: Any, slack: Any, errors: Any) -> None:
    """Add to ``errors[t]`` the weight of the rows that vector t surely gets wrong.

    ``products[i, t]`` is ``y_i(w_t·x_i + b_t)`` as a matrix product rounds it, off by at most
    ``slack[t]``; a row within that of the hyperplane is not counted. No weights: all are 1.
    """
    for i in range(len(products)):
        if weight.size:
            for t in range(len(errors)):
                errors[t] += weight[i] if products[i, t] < -slack[t] else 0.0
        else:
            for t in range(len(errors)):
                errors[t] += products[i, t] < -slack[t]


@loop
def count_wrong(products: Any, counts: Any) -> None:
    """Add to ``counts[i]`` how many vectors seem to get row i wrong."""
    for i in range(len(products)):
        for t in range(products.shape[1]):
            counts[i] += products[i, t] < 0

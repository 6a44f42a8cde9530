"""What was in the pocket, and when: the updates after which it got a better vector.

A trace has the pocket's errors after each epoch. Where they came down, the errors of all vectors
of that epoch are counted again, by the loops that counted them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.perceptron.joint_loops import joint_errors
from rosenblatt.perceptron.loops import errors_of
from rosenblatt.playground.following import follow

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.linear_runs import Recorded

MOST_WORK = 400_000_000  # numbers to be read


def pocket_updates(run: Recorded) -> Ints | None:
    """The numbers of the updates that filled the pocket, 0 first; None: too much work to tell."""
    X = np.ascontiguousarray(run.samples.X)
    epochs = np.arange(1, run.fit.n_epochs + 1)
    ends = np.append(0, run.ends(epochs))
    best = _errors(run, follow(run.record, X, ends[:1], run.clock, run.batched).theta)[0]
    found, work = [0], 0.0
    for epoch, errors in enumerate(run.fit.trace.pocket_errors.tolist()):
        if errors >= best:
            continue
        numbers = np.arange(ends[epoch] + 1, ends[epoch + 1] + 1)
        work += float(len(numbers)) * X.size
        if work > MOST_WORK:
            return None
        theta = follow(run.record, X, numbers, run.clock, run.batched).theta
        for number, count in zip(numbers.tolist(), _errors(run, theta), strict=True):
            if count < best:
                best = count
                found.append(number)
        best = min(best, errors)
    return np.array(found)


def _errors(run: Recorded, theta: Floats) -> list[float]:
    """The (weighted) training errors of each vector."""
    if run.joint:
        size = theta.shape[-1]
        return [joint_errors(run.block, size, v.ravel(), 0.0) for v in theta]
    positive = int(np.searchsorted(run.model.classes_, run.positive))
    at_zero = float(run.model.at_zero or 0)
    n = len(run.block.label)
    return [errors_of(run.block, positive, v[0], at_zero, 0, n, 0.0) for v in theta]

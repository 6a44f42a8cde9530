"""The perceptron: online and in batches.

Throughout, ``theta`` is the hyperplane as one vector, the weights ``w`` and then the bias ``b``.
Row numbers are made unsigned so that reading a row needs no test for a negative one. A mistake is
tested for as ``not y * value > 0``, so that a value that overflowed (not a number) is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, add_row, row_dot, weight_of
from rosenblatt.running.scan_loops import drift

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Visit(NamedTuple):
    """Which rows to use, in which order.

    An epoch has positions 0 to n - 1; position p uses row ``order[p]`` (row p where `order` is
    empty). Positions ``start`` to ``stop`` are visited, or, if `listed` is not empty, positions
    ``listed[start]`` to ``listed[stop - 1]``. `clock` is the number of visits before position 0.
    """

    order: NDArray[np.int64]
    listed: NDArray[np.int64]
    start: int
    stop: int
    clock: int


class Step(NamedTuple):
    """The learning rate, and 1.0 if there is a bias to learn or 0.0 if not."""

    eta: float
    bias: float


class Tether(NamedTuple):
    """Stop as soon as theta is farther than `reach` from `center`; infinite: never."""

    center: NDArray[np.float64]
    reach: float


class Log(NamedTuple):
    """Where mistakes are written: row, decision value and signed step. Empty: nowhere."""

    row: NDArray[np.int64]
    value: NDArray[np.float64]
    step: NDArray[np.float64]


@loop
def online(
    block: Block,
    positive: int,
    visit: Visit,
    theta: Any,
    step: Step,
    tether: Tether,
    lag: Any,
    log: Log,
) -> tuple[int, int]:
    """Visit rows; at each mistake ``w += eta*y*x`` and ``b += eta*y``.

    Where `lag` is not empty it gathers ``Σ t·Δ_t`` over the updates Δ_t at visit t: after T
    visits the average vector is ``theta - lag/T``. Returns where it stopped and the number of
    mistakes.
    """
    w, b, mistakes = theta[:-1], theta[-1], 0
    for k in range(visit.start, visit.stop):
        position = visit.listed[k] if visit.listed.size else k
        i = np.uint64(visit.order[position] if visit.order.size else position)
        y = 1.0 if block.label[i] == positive else -1.0
        value = row_dot(block.rows, i, w) + b
        if not y * value > 0 and weight_of(block, positive, i) > 0:
            change = step.eta * weight_of(block, positive, i) * y
            add_row(block.rows, i, change, w)
            b += change * step.bias
            theta[-1] = b
            if lag.size:
                late = change * (visit.clock + position)
                add_row(block.rows, i, late, lag[:-1])
                lag[-1] += late * step.bias
            if log.row.size:
                log.row[mistakes], log.value[mistakes], log.step[mistakes] = i, value, change
            mistakes += 1
            if tether.reach < np.inf and not drift(theta, tether.center) < tether.reach:
                return k + 1, mistakes
    return visit.stop, mistakes


@loop
def online_problems(
    block: Block,
    positives: Any,
    visit: Visit,
    thetas: Any,
    step: Step,
    clocks: Any,
    lags: Any,
    logs: Log,
    mistakes: Any,
    tile: int,
) -> None:
    """`online` for several one-vs-rest problems in one pass: a tile of rows serves them all.

    `clocks` are the visits that each had before this epoch.
    """
    free = Tether(thetas[0], np.inf)
    for first in range(visit.start, visit.stop, tile):
        last = min(first + tile, visit.stop)
        for k in range(len(positives)):
            part = Visit(visit.order, visit.listed, first, last, visit.clock + clocks[k])
            done = mistakes[k] if logs.row.size else 0
            log = Log(logs.row[k, done:], logs.value[k, done:], logs.step[k, done:])
            _, more = online(block, positives[k], part, thetas[k], step, free, lags[k], log)
            mistakes[k] += more


@loop
def minibatch(
    block: Block,
    positive: int,
    visit: Visit,
    theta: Any,
    step: Step,
    size: int,
    sums: Any,
    held: Any,
    log: Log,
) -> tuple[int, int]:
    """Visit rows and gather ``Σ y*x`` over the mistakes; add ``eta`` times it after `size` rows.

    `sums` and `held` (rows and mistakes) carry a batch that is not complete. Returns the number
    of mistakes and of updates.
    """
    mistakes, updates = 0, 0
    for k in range(visit.start, visit.stop):
        position = visit.listed[k] if visit.listed.size else k
        i = np.uint64(visit.order[position] if visit.order.size else position)
        y = 1.0 if block.label[i] == positive else -1.0
        value = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        if not y * value > 0 and weight_of(block, positive, i) > 0:
            change = weight_of(block, positive, i) * y
            add_row(block.rows, i, change, sums[:-1])
            sums[-1] += change * step.bias
            if log.row.size:
                log.row[mistakes], log.value[mistakes], log.step[mistakes] = i, value, change
            mistakes += 1
            held[1] += 1
        held[0] += 1
        if held[0] == size:
            updates += add_batch(theta, step.eta, sums, held)
    return mistakes, updates


@loop
def add_batch(theta: Any, eta: float, sums: Any, held: Any) -> int:
    """``theta += eta * sums`` if the batch holds a mistake; empty it. Returns 1 for an update."""
    updates = 1 if held[1] > 0 else 0
    if updates:
        for j in range(len(theta)):
            theta[j] += eta * sums[j]
            sums[j] = 0.0
    held[:] = 0
    return updates

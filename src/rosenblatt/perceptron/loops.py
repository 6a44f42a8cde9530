"""The perceptron online and in batches, the delta rule, and the counts of the pocket.

Throughout, ``theta`` is the hyperplane as one vector, the weights ``w`` and then the bias ``b``.
Row numbers are made unsigned so that reading a row needs no test for a negative one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop, part_of_loops
from rosenblatt.data.rows import (
    Block,
    Rows,
    add_row,
    fetch_row,
    row_dot,
    row_norm2,
    two_row_dots,
    weight_of,
)
from rosenblatt.running.scanner import drift, is_mistake

if TYPE_CHECKING:
    from numpy.typing import NDArray


AHEAD = 40  # rows that the memory is asked for before their turn


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
    """The learning rate, and 1.0 if there is a bias to learn or 0.0 if not.

    `at_zero` is the side that points on the hyperplane are taken to be on, 0.0: on neither.
    """

    eta: float
    bias: float
    at_zero: float


class Tether(NamedTuple):
    """Stop as soon as theta is farther than `reach` from `center`; infinite: never."""

    center: NDArray[np.float64]
    reach: float


class Log(NamedTuple):
    """Where mistakes are written: row, decision value and signed step. Empty: nowhere."""

    row: NDArray[np.int64]
    value: NDArray[np.float64]
    step: NDArray[np.float64]


@part_of_loops
def row_at(rows: Rows, visit: Visit, position: int) -> Any:
    """The row at a position; if the order is random, have the memory bring one to come."""
    if not visit.order.size:
        return np.uint64(position)
    if position + AHEAD < len(visit.order):
        fetch_row(rows, np.uint64(visit.order[position + AHEAD]))
    return np.uint64(visit.order[position])


class Look(NamedTuple):
    """What a visit sees: its position and row, y and ``w·x + b``, and whether it is a mistake."""

    position: int
    row: Any
    y: float
    value: float
    mistaken: bool


@part_of_loops
def look_at(
    block: Block, positive: int, visit: Visit, k: int, w: Any, b: float, step: Step
) -> Look:
    """The k-th of the visits; rows without weight are no mistakes."""
    position = visit.listed[k] if visit.listed.size else k
    i = row_at(block.rows, visit, position)
    y = 1.0 if block.label[i] == positive else -1.0
    value = row_dot(block.rows, i, w) + b
    mistaken = is_mistake(y, value, step.at_zero) and weight_of(block, positive, i) > 0
    return Look(position, i, y, value, mistaken)


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
        position, i, y, value, mistaken = look_at(block, positive, visit, k, w, b, step)
        if mistaken:
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
    size: int,
    step: Step,
    clocks: Any,
    lags: Any,
    logs: Log,
    mistakes: Any,
    tile: int,
) -> None:
    """`online` for several one-vs-rest problems in one pass: a tile of rows serves them all.

    Two at a time read a row together. The first `size` numbers of ``thetas[k]`` are the hyperplane
    of the k-th, `clocks` the visits that each had before this epoch.
    """
    pairs = len(positives) // 2
    for first in range(visit.start, visit.stop, tile):
        last = min(first + tile, visit.stop)
        for pair in range(pairs):
            for k in range(first, last):
                i = row_at(block.rows, visit, k)
                w, v = thetas[2 * pair][:size], thetas[2 * pair + 1][:size]
                values = two_row_dots(block.rows, i, w[:-1], v[:-1])
                for c, value in ((2 * pair, values[0] + w[-1]), (2 * pair + 1, values[1] + v[-1])):
                    y = 1.0 if block.label[i] == positives[c] else -1.0
                    if is_mistake(y, value, step.at_zero):
                        part = Visit(visit.order, visit.listed, k, k + 1, visit.clock)
                        of_all = thetas, size, step, clocks, lags, logs, mistakes
                        one_of_them(block, positives, part, *of_all, c)
        if len(positives) > 2 * pairs:
            part = Visit(visit.order, visit.listed, first, last, visit.clock)
            of_all = thetas, size, step, clocks, lags, logs, mistakes
            one_of_them(block, positives, part, *of_all, 2 * pairs)


@loop
def one_of_them(
    block: Block,
    positives: Any,
    visit: Visit,
    thetas: Any,
    size: int,
    step: Step,
    clocks: Any,
    lags: Any,
    logs: Log,
    mistakes: Any,
    k: int,
) -> None:
    """`online` for the k-th of several problems."""
    theta = thetas[k][:size]
    free = Tether(theta, np.inf)
    part = Visit(visit.order, visit.listed, visit.start, visit.stop, visit.clock + clocks[k])
    done = mistakes[k] if logs.row.size else 0
    log = Log(logs.row[k, done:], logs.value[k, done:], logs.step[k, done:])
    _, more = online(block, positives[k], part, theta, step, free, lags[k], log)
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
        _, i, y, value, mistaken = look_at(block, positive, visit, k, theta[:-1], theta[-1], step)
        if mistaken:
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
def mistakes_in_tiles(
    block: Block,
    positive: int,
    visit: Visit,
    theta: Any,
    step: Step,
    begin: int,
    first: int,
    tile: int,
    sums: Any,
    used: Any,
    log: Log,
) -> int:
    """Visit rows and add ``y*x`` of each mistake to the sum of its tile; returns how many.

    Row i of the block has the number `begin` + i in all the data, by which it is in a tile of so
    many rows; the first of `sums` is that of tile `first`, and `used` counts the mistakes in each.
    """
    mistakes = 0
    for k in range(visit.start, visit.stop):
        row = visit.listed[k] if visit.listed.size else k
        i = np.uint64(row)
        y = 1.0 if block.label[i] == positive else -1.0
        value = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        if is_mistake(y, value, step.at_zero) and weight_of(block, positive, i) > 0:
            change, place = weight_of(block, positive, i) * y, (begin + row) // tile - first
            add_row(block.rows, i, change, sums[place, :-1])
            sums[place, -1] += change * step.bias
            used[place] += 1
            if log.row.size:
                log.row[mistakes], log.value[mistakes], log.step[mistakes] = row, value, change
            mistakes += 1
    return mistakes


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


@loop
def delta(
    block: Block,
    positive: int,
    visit: Visit,
    targets: Any,
    theta: Any,
    step: Step,
    size: int,
    sums: Any,
    held: int,
    loss: float,
) -> tuple[int, int, float]:
    """Visit rows, gather ``Σ (t - o)x`` with ``o = w·x + b``, and step by its mean after `size`.

    `targets` has the t of each label. `sums` and `held` (its rows) carry a batch that is not
    complete. Returns `held` as it is now, the number of mistakes, and `loss` with the
    ``(t - o)²/2`` of the visits added.
    """
    mistakes = 0
    for k in range(visit.start, visit.stop):
        i = row_at(block.rows, visit, k)
        t = targets[block.label[i]]
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
def delta_in_tiles(
    block: Block,
    positive: int,
    start: int,
    stop: int,
    targets: Any,
    theta: Any,
    step: Step,
    begin: int,
    first: int,
    tile: int,
    sums: Any,
    used: Any,
) -> int:
    """Add ``(t - o)x`` of rows, and ``(t - o)²/2`` after it, to the sums of their tiles.

    As in `mistakes_in_tiles`; returns how many are mistakes.
    """
    mistakes = 0
    for row in range(start, stop):
        i, place = np.uint64(row), (begin + row) // tile - first
        t = targets[block.label[i]]
        o = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        change = weight_of(block, positive, i) * (t - o)
        add_row(block.rows, i, change, sums[place, :-2])
        sums[place, -2] += change * step.bias
        sums[place, -1] += change * (t - o) / 2
        mistakes += not t * o > 0
        used[place] += 1
    return mistakes


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


@loop
def vectors_on_path(rows: Rows, sample: Any, step: Any, bias: float, theta: Any, out: Any) -> None:
    """Apply the updates of a path again; ``out[t]`` is the vector after the t-th."""
    for t in range(len(sample)):
        add_row(rows, sample[t], step[t], theta[:-1])
        theta[-1] += step[t] * bias
        for j in range(len(theta)):
            out[t, j] = theta[j]


@loop
def errors_of(
    block: Block, positive: int, theta: Any, at_zero: float, start: int, stop: int, errors: float
) -> float:
    """Add the weight of theta's errors, row after row: ``w·x + b > 0`` is not where y is +1.

    Where `at_zero` is 1.0, ``w·x + b >= 0`` is not.
    """
    w, b = theta[:-1], theta[-1]
    for row in range(start, stop):
        i = np.uint64(row)
        value = row_dot(block.rows, i, w) + b
        above = value > 0 or (value == 0 and at_zero > 0)
        if above != (block.label[i] == positive):
            errors += weight_of(block, positive, i)
    return errors

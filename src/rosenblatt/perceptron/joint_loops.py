"""The perceptron for several classes as one problem.

``theta`` holds a hyperplane for each class, one after the other, `size` numbers each: the weights
of class k begin at ``k*size``, its bias ends them. So it is the one vector of Kesler's
construction, and a sample of class `own` with its rival adds the vector that has ``(x, 1)`` in the
place of the one, ``-(x, 1)`` in the place of the other, and zeros everywhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, Rows, add_row, row_dot, weight_of
from rosenblatt.perceptron.loops import Step, Visit, add_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


class JointLog(NamedTuple):
    """Where mistakes are written: row, lead and step; the right class and its rival."""

    row: NDArray[np.int64]
    value: NDArray[np.float64]
    step: NDArray[np.float64]
    own: NDArray[np.int64]
    rival: NDArray[np.int64]


@loop
def strongest_rival(rows: Rows, i: Any, own: Any, theta: Any, size: int) -> tuple[Any, Any]:
    """The class that comes nearest to class `own` at row i, the first of several; the lead.

    The lead, the value of `own` less that of the rival, is not a number where values overflow.
    """
    at = own * size
    value = row_dot(rows, i, theta[at : at + size - 1]) + theta[at + size - 1]
    rival, best = -1, -np.inf
    for k in range(len(theta) // size):
        if k != own:
            at = k * size
            other = row_dot(rows, i, theta[at : at + size - 1]) + theta[at + size - 1]
            if rival < 0 or other > best or np.isnan(other):
                rival, best = k, other
    return rival, value - best


@loop
def move(
    rows: Rows, i: Any, change: float, bias: float, own: Any, rival: Any, theta: Any, size: int
) -> None:
    """Add ``change*(x, 1)`` to the hyperplane of the right class, take it from its rival's."""
    at = own * size
    add_row(rows, i, change, theta[at : at + size - 1])
    theta[at + size - 1] += change * bias
    at = rival * size
    add_row(rows, i, -change, theta[at : at + size - 1])
    theta[at + size - 1] -= change * bias


@loop
def joint_online(
    block: Block, size: int, visit: Visit, theta: Any, step: Step, lag: Any, log: JointLog
) -> int:
    """Visit rows; a mistake moves two hyperplanes. Returns how many there were.

    Where `lag` is not empty it gathers ``Σ t·Δ_t`` over the updates Δ_t at visit t.
    """
    mistakes = 0
    for k in range(visit.start, visit.stop):
        i = np.uint64(visit.order[k] if visit.order.size else k)
        own = block.label[i]
        rival, lead = strongest_rival(block.rows, i, own, theta, size)
        if not lead > 0 and weight_of(block, own, i) > 0:
            change = step.eta * weight_of(block, own, i)
            move(block.rows, i, change, step.bias, own, rival, theta, size)
            if lag.size:
                late = change * (visit.clock + k)
                move(block.rows, i, late, step.bias, own, rival, lag, size)
            if log.row.size:
                log.row[mistakes], log.value[mistakes], log.step[mistakes] = i, lead, change
                log.own[mistakes], log.rival[mistakes] = own, rival
            mistakes += 1
    return mistakes


@loop
def joint_minibatch(
    block: Block,
    size: int,
    visit: Visit,
    theta: Any,
    step: Step,
    together: int,
    sums: Any,
    held: Any,
    log: JointLog,
) -> tuple[int, int]:
    """`minibatch` for all classes as one problem, in batches of `together` rows."""
    mistakes, updates = 0, 0
    for k in range(visit.start, visit.stop):
        i = np.uint64(visit.order[k] if visit.order.size else k)
        own = block.label[i]
        rival, lead = strongest_rival(block.rows, i, own, theta, size)
        if not lead > 0 and weight_of(block, own, i) > 0:
            change = weight_of(block, own, i)
            move(block.rows, i, change, step.bias, own, rival, sums, size)
            if log.row.size:
                log.row[mistakes], log.value[mistakes], log.step[mistakes] = i, lead, change
                log.own[mistakes], log.rival[mistakes] = own, rival
            mistakes += 1
            held[1] += 1
        held[0] += 1
        if held[0] == together:
            updates += add_batch(theta, step.eta, sums, held)
    return mistakes, updates


@loop
def joint_mistakes(
    block: Block, size: int, theta: Any, start: int, stop: int, found: Any, leads: Any
) -> int:
    """List the rows from `start` to `stop` that are mistakes, and their leads."""
    count = 0
    for row in range(start, stop):
        i = np.uint64(row)
        own = block.label[i]
        _, lead = strongest_rival(block.rows, i, own, theta, size)
        if not lead > 0 and weight_of(block, own, i) > 0:
            found[count], leads[count] = row, lead
            count += 1
    return count


@loop
def joint_errors(block: Block, size: int, theta: Any, errors: float) -> float:
    """Add the weight of theta's errors: rows where another class, or an earlier one, is as high."""
    for row in range(len(block.label)):
        i = np.uint64(row)
        own = block.label[i]
        rival, lead = strongest_rival(block.rows, i, own, theta, size)
        if not (lead > 0 or (lead == 0 and own < rival)):
            errors += weight_of(block, own, i)
    return errors


@loop
def joint_path(
    rows: Rows, log: JointLog, start: int, bias: float, theta: Any, size: int, out: Any
) -> None:
    """Apply the updates of a log again from its entry `start` on; ``out[t]``: after the t-th."""
    for t in range(len(out)):
        k = start + t
        i = np.uint64(log.row[k])
        move(rows, i, log.step[k], bias, log.own[k], log.rival[k], theta, size)
        for j in range(len(theta)):
            out[t, j] = theta[j]

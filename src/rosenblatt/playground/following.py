"""Recorded updates of hyperplanes, done once more: the vectors on the way, and their averages.

Additions are those of the run, in its order, so the vectors are too, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.results import JointUpdates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints

AT_A_TIME = 1 << 21  # numbers in updates that are added up together
IN_TURN = 10_000  # mistakes of a batch that are added one by one


class Way(NamedTuple):
    """Vectors of a run, and for averages what they lag behind: both (entries, planes, d + 1)."""

    theta: Floats
    lag: Floats


def follow(record: Any, X: Floats, wanted: Ints, clock: Ints, batched: bool) -> Way:
    """Of the updates with the numbers `wanted`, ascending and 0 for the start, what they led to.

    `clock` has the visit of each recorded mistake, from 0: ``lag`` gathers visits times changes,
    so that after T visits the average is ``theta - lag/T``. `batched`: an update may have several
    mistakes.
    """
    theta = _start(record)
    lag = np.zeros_like(theta)
    out = Way(*(np.empty((len(wanted), *theta.shape)) for _ in range(2)))
    done = int(np.searchsorted(wanted, 0, side="right"))
    out.theta[:done], out.lag[:done] = theta, lag
    for first, changes, late in _changes(record, X, clock, theta.shape, batched):
        thetas = np.cumsum(np.concatenate([theta[None], changes]), axis=0)
        lags = np.cumsum(np.concatenate([lag[None], late]), axis=0)
        theta, lag = thetas[-1], lags[-1]
        upto = int(np.searchsorted(wanted, first + len(changes), side="right"))
        at = wanted[done:upto] - first
        out.theta[done:upto], out.lag[done:upto] = thetas[at], lags[at]
        done = upto
    return out


def _start(record: Any) -> Floats:
    """The start vectors, bias last."""
    planes = record.start if isinstance(record, JointUpdates) else (record.start,)
    return np.array([np.append(plane.w, plane.b) for plane in planes])


def _changes(
    record: Any, X: Floats, clock: Ints, shape: tuple[int, ...], batched: bool
) -> Iterator[tuple[int, Floats, Floats]]:
    """What updates add to theta and to the lag, some at a time, and how many came before."""
    total = len(record)
    first = np.searchsorted(record.update, np.arange(total + 1))
    at_a_time = max(1, AT_A_TIME // int(np.prod(shape)))
    for a in range(0, total, at_a_time):
        z = min(a + at_a_time, total)
        part = slice(int(first[a]), int(first[z]))
        step, when = record.step[part], clock[part].astype(np.float64)
        moves = _moves(record, X, part, step, shape)
        if batched:
            begin = first[a:z] - first[a]
            changes = record.eta * _sums(moves, begin)
            yield a, changes, when[begin][:, None, None] * changes
        else:
            yield a, moves, _moves(record, X, part, step * when, shape)


def _sums(moves: Floats, begin: Ints) -> Floats:
    """The sum of each batch, whose moves begin there: one after the other.

    As in the run, but for the rounding of batches of several tiles, and of long ones.
    """
    counts = np.diff(begin, append=len(moves))
    if counts.max() > IN_TURN:
        return np.add.reduceat(moves, begin, axis=0)
    sums = np.zeros((len(begin), *moves.shape[1:]))
    for k in range(int(counts.max())):
        more = np.flatnonzero(counts > k)
        sums[more] += moves[begin[more] + k]
    return sums


def _moves(record: Any, X: Floats, part: slice, factor: Floats, shape: tuple[int, ...]) -> Floats:
    """``factor*(x, 1)`` of each mistake, in the place of its hyperplane (its two of several)."""
    x = np.column_stack([X[record.sample[part]], np.full(len(factor), float(record.fit_intercept))])
    moves: Floats = factor[:, None] * x
    if not isinstance(record, JointUpdates):
        return moves[:, None, :]
    out, each = np.zeros((len(factor), *shape)), np.arange(len(factor))
    out[each, record.own[part]] += moves
    out[each, record.rival[part]] -= moves
    return out

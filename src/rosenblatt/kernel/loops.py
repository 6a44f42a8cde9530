"""The kernel perceptron: mistake counters instead of weights.

The vector is ``w = Σ a_s φ(x_s)`` over the support vectors, which have numbers of their own, their
slots. A block of samples is visited in order; ``G`` are the kernel values of those that may be
mistakes with all of them, ``F`` their scores ``Σ a_s K(x_s, x)``, one column for each two-class
problem, kept up to date as mistakes are made. Scores come from matrix products, with a bound on how
far they can be off, and a score whose sign is in doubt is left to the caller, who settles it
without rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.dots import dot
from rosenblatt.data.rows import Block, Rows, add_row, row_dot, row_norm2, weight_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints


DONE, MISSING = -1, -2  # why visiting has ended, if not for a score in doubt


class Dual(NamedTuple):
    """The support vectors' coefficients and counters, a row per slot and a column per problem.

    Attributes
    ----------
    coef : float64 array
        ``a_s``: the sum of ``weight*y`` over the mistakes on this vector.
    counts : int64 array
        Its mistakes, ``α``.
    lag : float64 array
        ``Σ t*Δ_t`` over the updates at visit t; empty if no average is wanted.
    age : int64 array
        When its last mistake was made, in visits; -1 for a slot without a vector.
    sample : int64 array
        The row of the data it is, or -1.
    slot : int64 array
        The slot of each row of the data, or -1.
    dropped : bool array
        Rows that take part no more, a column per problem; empty if none is ever dropped.
    """

    coef: Floats
    counts: Ints
    lag: Floats
    age: Ints
    sample: Ints
    slot: Ints
    dropped: NDArray[np.bool_]


class Visited(NamedTuple):
    """A block of m samples on its way; arrays with a row for each problem.

    Attributes
    ----------
    sample : int64 array
        Rows of the data.
    turn : int64 array
        The order in which they are visited.
    G : array
        Kernel values of some of them (rows) with all.
    row : int64 array
        Which row of G has the values of a sample; -1 if none has.
    F, A : float64 arrays
        Scores ``Σ a_s K``, and ``Σ |a_s||K|`` over all that was ever added.
    relative, absolute, total : float64 arrays
        A score is off by at most ``relative*A + absolute*total``: per row, per row, per problem.
    settled : bool array
        Whether the score at the visit is the exact one, rounded.
    steps : float64 array
        What was added to the coefficient of the sample.
    wrong : bool array
        Whether it was a mistake.
    values : float64 array
        The score when it was visited.
    slot : int64 array
        The slot of a sample that was a mistake.
    """

    sample: Ints
    turn: Ints
    G: Any
    row: Ints
    F: Floats
    A: Floats
    relative: Floats
    absolute: Floats
    total: Floats
    settled: NDArray[np.bool_]
    steps: Floats
    wrong: NDArray[np.bool_]
    values: Floats
    slot: Ints


class Slots(NamedTuple):
    """Slots for new support vectors, and those to forget when there are too many.

    `free` are slots to take, in order, `queue` those of the oldest support vectors, ``H`` these
    vectors' kernel values with the block's samples, a row each. `state` holds the number of support
    vectors, and how many of the queue are gone and of the free ones taken; `budget` 0: there can be
    any number.
    """

    free: Ints
    budget: int
    queue: Ints
    H: Any
    state: Ints


class VisitRule(NamedTuple):
    """What else happens at a mistake.

    `positives` and `running` are the problems and whether they still run, `clocks` the visits that
    each had before this block, `time` those of the whole run, `drop_after` the count at which a
    sample is dropped (0: never), and `exact` whether every mistake's score is wanted settled.
    """

    positives: Ints
    running: NDArray[np.bool_]
    clocks: Ints
    time: int
    drop_after: int
    exact: bool


@loop
def visit(
    block: Block, seen: Visited, dual: Dual, slots: Slots, rule: VisitRule, start: int
) -> tuple[int, int]:
    """Visit the samples from turn number `start` on; at each mistake ``a_i += weight*y``.

    Returns the turn reached, and the problem whose score there has to be settled first; or
    `DONE`, or `MISSING` if it is a mistake whose kernel values have to be given first.
    """
    for t in range(start, len(seen.turn)):
        j = seen.turn[t]
        unclear = classify(block, seen, dual, rule, j)
        if unclear >= 0:
            return t, unclear
        for c in range(len(rule.positives)):
            if seen.wrong[c, j]:
                if seen.row[j] < 0:
                    return t, MISSING
                take(block, seen, dual, slots, rule, t)
                break
    return len(seen.turn), DONE


@loop
def classify(block: Block, seen: Visited, dual: Dual, rule: VisitRule, j: int) -> int:
    """Mark in which problems sample j is a mistake; a problem with a score in doubt, or -1."""
    i = np.uint64(seen.sample[j])
    for c in range(len(rule.positives)):
        out = dual.dropped.size > 0 and dual.dropped[i, c]
        seen.wrong[c, j] = False
        if out or not rule.running[c] or not weight_of(block, rule.positives[c], i) > 0:
            continue
        y = 1.0 if block.label[i] == rule.positives[c] else -1.0
        value = seen.F[c, j]
        if not seen.settled[c, j]:
            off = seen.relative[j] * seen.A[c, j] + seen.absolute[j] * seen.total[c]
            if off != 0 and not abs(value) > off:
                return c
        seen.wrong[c, j] = not y * value > 0
        if seen.wrong[c, j] and rule.exact and not seen.settled[c, j]:
            return c
        seen.values[c, j] = value
    return -1


@loop
def take(block: Block, seen: Visited, dual: Dual, slots: Slots, rule: VisitRule, t: int) -> None:
    """Make the update for the sample of turn t."""
    j = seen.turn[t]
    i = np.uint64(seen.sample[j])
    s = dual.slot[i]
    if s < 0:
        if slots.budget and slots.state[0] >= slots.budget:
            forget(seen, dual, slots, rule)
        s = slots.free[slots.state[2]]
        dual.slot[i], dual.sample[s] = s, i
        dual.coef[s], dual.counts[s] = 0.0, 0
        slots.state[0] += 1
        slots.state[2] += 1
    dual.age[s], seen.slot[j] = rule.time + t, s
    alive = False
    for c in range(len(rule.positives)):
        if seen.wrong[c, j]:
            y = 1.0 if block.label[i] == rule.positives[c] else -1.0
            step = y * weight_of(block, rule.positives[c], i)
            dual.coef[s, c] += step
            dual.counts[s, c] += 1
            if rule.drop_after and dual.counts[s, c] >= rule.drop_after:
                step -= dual.coef[s, c]
                dual.coef[s, c] = 0.0
                dual.dropped[i, c] = True
            seen.steps[c, j] = step
            if dual.lag.size:
                dual.lag[s, c] += step * (rule.clocks[c] + t)
            add_values(seen.G, seen.row[j], c, step, seen)
        alive = alive or dual.coef[s, c] != 0
    if slots.budget and not alive:
        leave(dual, slots, s)


@loop
def add_values(values: Any, k: int, c: int, step: float, seen: Visited) -> None:
    """``F[c] += step*values[k]``, and what that does to the doubt."""
    for i in range(len(seen.sample)):
        change = step * values[k, i]
        seen.F[c, i] += change
        seen.A[c, i] += abs(change)
    seen.total[c] += abs(step)


@loop
def leave(dual: Dual, slots: Slots, s: int) -> None:
    """The vector of slot s is no support vector any more."""
    dual.age[s] = -1
    if dual.sample[s] >= 0:
        dual.slot[dual.sample[s]] = -1
    slots.state[0] -= 1


@loop
def forget(seen: Visited, dual: Dual, slots: Slots, rule: VisitRule) -> None:
    """Forget the support vector whose last mistake lies longest ago."""
    k = slots.state[1]
    while dual.age[slots.queue[k]] < 0 or dual.age[slots.queue[k]] >= rule.time:
        k += 1
    s = slots.queue[k]
    for c in range(len(rule.positives)):
        if dual.coef[s, c] != 0:
            add_values(slots.H, k, c, -dual.coef[s, c], seen)
            dual.coef[s, c] = 0.0
    leave(dual, slots, s)
    slots.state[1] = k + 1


@loop
def products(rows: Rows, part: Any, x: Any, out: Any) -> None:
    """Write ``x_k·x`` for the listed rows."""
    for k in range(len(part)):
        out[k] = row_dot(rows, np.uint64(part[k]), x)


@loop
def distances2(rows: Rows, part: Any, x: Any, room: Any, out: Any) -> None:
    """Write ``‖x - x_k‖²`` for the listed rows; `room` is for the differences."""
    for k in range(len(part)):
        for j in range(len(x)):
            room[j] = x[j]
        add_row(rows, np.uint64(part[k]), -1.0, room)
        out[k] = dot(room, room)


@loop
def exponents(Z: Any, factor: Any, row: Any, column: Any) -> None:
    """``Z = min(factor*Z - row - column, 0)``, in one go."""
    nothing = factor - factor
    for i in range(len(Z)):
        for j in range(len(column)):
            value = factor * Z[i, j] - row[i] - column[j]
            Z[i, j] = value if value < nothing else nothing


@loop
def dots(K: Any, factors: Any, out: Any) -> None:
    """``out = K @ factors.T``, every sum in double precision."""
    for i in range(len(K)):
        for c in range(len(factors)):
            out[i, c] = dot(K[i], factors[c])


@loop
def norms2(rows: Rows, start: int, stop: int, out: Any) -> None:
    """Write ``‖x_i‖²`` of rows `start` to `stop`."""
    for row in range(start, stop):
        out[row] = row_norm2(rows, np.uint64(row))


@loop
def votes(
    K: Any,
    vector: Any,
    step: Any,
    lives: Any,
    first: float,
    relative: Any,
    absolute: Any,
    out: Any,
    doubtful: Any,
) -> None:
    """Write ``Σ_t c_t*sign(w_t·φ(x))`` over all vectors of a run, for each row of K.

    ``w_t`` is the vector after the first t updates: `step` is added to the coefficient of support
    vector `vector`, and then it lives for so many visits; `first` is the life of ``w_0 = 0``. The
    sign of zero is -1. Rows of which a sign is in doubt are marked.
    """
    for i in range(len(K)):
        score, size, total, votes = 0.0, 0.0, 0.0, -first
        for t in range(len(vector)):
            change = step[t] * K[i, vector[t]]
            score += change
            size += abs(change)
            total += abs(step[t])
            off = relative[i] * size + absolute[i] * total
            if off != 0 and not abs(score) > off:
                doubtful[i] = True
            votes += lives[t] if score > 0 else -lives[t]
        out[i] = votes


@loop
def count_errors(
    K: Any,
    step: Any,
    y: Any,
    weight: Any,
    scores: Any,
    sizes: Any,
    relative: Any,
    absolute: Any,
    total: float,
    sure: Any,
    unsure: Any,
    doubtful: Any,
    known: Any,
    place: Any,
) -> float:
    """Follow the scores of some samples through updates, and count wrong predictions after each.

    Row t of K holds the kernel values of the t-th update's vector with the samples. The weights of
    samples that are wrong for certain are added to `sure`, of those that may be to `unsure`: a
    score is off by at most ``relative*sizes + absolute*total``, where `total`, which is returned,
    is the sum of the sizes of all steps. Such samples are marked as doubtful, unless it is known
    whether their scores are positive: ``known[place]``, for places from 0.
    """
    for t in range(len(step)):
        total += abs(step[t])
        for k in range(len(scores)):
            change = step[t] * K[t, k]
            scores[k] += change
            sizes[k] += abs(change)
            off = relative[k] * sizes[k] + absolute[k] * total
            positive = scores[k] > 0
            if place[k] >= 0:
                positive = known[place[k], t]
            elif off != 0 and not abs(scores[k]) > off:
                unsure[t] += weight[k]
                doubtful[k] = True
                continue
            if positive != (y[k] > 0):
                sure[t] += weight[k]
    return total

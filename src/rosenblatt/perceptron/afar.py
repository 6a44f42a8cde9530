"""The rules over rows that are elsewhere: on a cluster the weights travel, the rows do not.

An online epoch goes from worker to worker in the order of the rows, each taking the vectors on
from where the one before has left them: no faster than one machine, but for any amount of data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.rows import as_matrix, as_rows
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.exact.blocks import stacked
from rosenblatt.perceptron.delta import Delta
from rosenblatt.perceptron.loops import (
    Log,
    Step,
    Visit,
    add_batch,
    delta,
    errors_of,
    minibatch,
    online_problems,
)
from rosenblatt.perceptron.panels import count_sure_errors, room
from rosenblatt.perceptron.pocket import Pocket, near_one
from rosenblatt.perceptron.updates import NEVER, Carry, InBatches, Online, catch_up
from rosenblatt.running.scanner import TILE, norms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece
    from rosenblatt.perceptron.linear_rule import LinearProblem, LinearRule
    from rosenblatt.running.threads import Team


STRIDE = 1 << 27  # numbers to read, for each problem, between two pauses
LOGGED = 8  # times as much is a number in rows whose mistakes, or vectors, are wanted back


class Work(NamedTuple):
    """What a worker has to know to take some problems through rows, beside where they stand.

    They go from row `first` to row `stop`; `rows_too`: the rows of mistakes are wanted back.
    """

    positives: Ints
    step: Step
    clocks: Ints
    first: int
    stop: int
    tile: int
    logging: bool
    rows_too: bool


class Standing(NamedTuple):
    """Where the problems stand, and for each its mistakes on the way, as far as they are wanted.

    A log has the rows by their numbers in all the data; `rows` are matrices of these rows.
    """

    thetas: Floats
    lags: Floats
    mistakes: Ints
    logs: list[list[Log]]
    rows: list[list[Any]]


def go_through(work: Work, piece: Piece, standing: Standing) -> Standing:
    """A part of an online epoch, by the worker that has the rows."""
    thetas, lags, mistakes, logs, rows = standing
    a, z = max(work.first - piece.start, 0), min(work.stop - piece.start, piece.length)
    if a >= z:
        return standing
    k, length = len(thetas), z - a if work.logging else 0
    log = Log(np.empty((k, length), np.int64), np.empty((k, length)), np.empty((k, length)))
    visit, found = Visit(IN_ORDER, IN_ORDER, a, z, piece.offset), np.zeros(k, np.int64)
    stand = thetas, thetas.shape[1], work.step, work.clocks, lags, log, found
    online_problems(piece.block, work.positives, visit, *stand, work.tile)
    for number in range(k if work.logging else 0):
        here = slice(found[number])
        part = Log(*(column[number, here].copy() for column in log))  # type: ignore[arg-type]
        if work.rows_too:
            X = as_matrix(piece.block.rows, thetas.shape[1] - 1)
            rows[number].append(X[part.row])
        logs[number].append(part._replace(row=part.row + piece.start))
    return Standing(thetas, lags, mistakes + found, logs, rows)


def strides(rule: LinearRule, first: int, stop: int, problems: int) -> Iterator[int]:
    """Where to pause on the way from a row to another: where blocks on one worker end.

    There are several between two pauses, if these are small: every pause takes a message here.
    """
    source: Any = rule.source
    end, per_row = first, rule.per_row * problems * (LOGGED if rule.logging else 1)
    for run in source.runs(first):
        if end > first and (run.stop - first) * per_row > STRIDE:
            yield end
            first = end
        end = min(run.stop, stop)
        if end == stop:
            break
    if end > first:
        yield end


def through(rule: LinearRule, first: int, stop: int, task: Callable[..., Any], state: Any) -> Any:
    """``state = task(piece, state)`` for these rows, from worker to worker."""
    source: Any = rule.source
    return source.side_by_side([(first, stop)], [task], [state], rule.look_up)[0]


class OnlineAfar(Online):
    """`Online` where the rows are elsewhere, in the order in which they are."""

    source: Any

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Visit all rows, worker after worker."""
        assert not order.size
        catch_up(problems)
        first = max(p.within for p in problems)
        for p in problems:  # one that is behind, as a run in memory may have left it
            self._go([p], first)
        self._go(problems, self.n_rows)
        for p in problems:
            p.visits, p.within = p.visits + self.n_rows, 0

    def _go(self, problems: list[LinearProblem], stop: int) -> None:
        """Take problems that stand at the same row from there to another, if that is before it."""
        for end in strides(self, problems[0].within, stop, len(problems)):
            self._visit(problems, end)

    def _visit(self, problems: list[LinearProblem], stop: int) -> None:
        """The rows to `stop` from where the problems stand, by the workers that have them."""
        k, first = len(problems), problems[0].within
        work = Work(
            positives=np.array([p.positive for p in problems]),
            step=self.step,
            clocks=np.array([p.visits for p in problems]),
            first=first,
            stop=stop,
            tile=self.n_rows if k == 1 else max(1, TILE // self.per_row),
            logging=self.logging,
            rows_too=bool(self.pockets),
        )
        begin = Standing(
            np.array([p.theta for p in problems]),
            np.array([p.lag for p in problems]),
            np.zeros(k, np.int64),
            [[] for _ in problems],
            [[] for _ in problems],
        )
        done = through(self, first, stop, partial(go_through, work), begin)
        # Whoever looks at one of them, which may end the run, finds that all have come as far.
        paths = [self._take(p, done, number, stop) for number, p in enumerate(problems)]
        for p, path in zip(problems, paths, strict=True):
            if p.pocket is not None and path is not None:
                p.pocket.follow(*path)
        self.pause()

    def _take(self, p: LinearProblem, done: Standing, number: int, stop: int) -> Any:
        """Book what a worker has done for a problem; the path that its pocket has to follow."""
        before, count = p.theta, int(done.mistakes[number])
        p.theta, p.lag, p.within = done.thetas[number], done.lags[number], stop
        p.mistakes[-1] += count
        p.n_updates += count
        if not (self.logging and count):
            return None
        log = Log(*map(np.concatenate, zip(*done.logs[number], strict=True)))
        if self.settings.record:
            p.note(log, count, 0, p.n_updates - count + np.arange(count))
        if p.pocket is None:
            return None
        p.pocket.owe(log, before, log.row)
        rows = as_rows(stacked(done.rows[number]))
        return rows, log._replace(row=np.arange(count)), before, log.row

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        return pocket_afar(self, p)


class BatchWork(NamedTuple):
    """What a worker has to know to take some problems through batches of `size` rows.

    `first` is the row to begin with. `offers`: every vector that comes up is wanted back.
    """

    positives: Ints
    step: Step
    size: int
    first: int
    logging: bool
    offers: bool


class InBatch(NamedTuple):
    """Where a problem stands in its batches, and what came of it on the way.

    `sums` and `held` are those of a batch in the making (`Carry`). A log comes with the number of
    the update that its mistakes belong to.
    """

    theta: Floats
    lag: Floats
    sums: Floats
    held: Ints
    visits: int
    updates: int
    mistakes: int
    logs: list[tuple[Log, int]]
    offered: list[Floats]


def go_through_batches(work: BatchWork, piece: Piece, standing: list[InBatch]) -> list[InBatch]:
    """A part of an epoch in batches, by the worker that has the rows."""
    return [
        _batches(work, int(positive), piece, one)
        for positive, one in zip(work.positives, standing, strict=True)
    ]


def _batches(work: BatchWork, positive: int, piece: Piece, one: InBatch) -> InBatch:
    a, updates, mistakes, visits = max(work.first - piece.start, 0), *one[5:7], one.visits
    theta, lag, sums, held = one.theta, one.lag, one.sums, one.held
    while a < piece.length:
        z = min(a + work.size - int(held[0]), piece.length)
        size = z - a if work.logging else 0
        log, visit = Log(np.empty(size, np.int64), np.empty(size), np.empty(size)), (a, z, 0)
        args = piece.block, positive, Visit(IN_ORDER, IN_ORDER, *visit), theta, work.step
        found, _ = minibatch(*args, NEVER, sums, held, log)
        if work.logging and found:
            part = Log(*(column[:found].copy() for column in log))  # type: ignore[arg-type]
            one.logs.append((part._replace(row=part.row + piece.start), updates))
        mistakes, a = mistakes + found, z
        if held[0] == work.size:
            if lag.size and held[1]:
                lag += visits * (work.step.eta * sums)
            updates += add_batch(theta, work.step.eta, sums, held)
            visits += 1
            if work.offers:
                one.offered.append(theta.copy())
    return InBatch(theta, lag, sums, held, visits, updates, mistakes, one.logs, one.offered)


class InBatchesAfar(InBatches):
    """`InBatches` where the rows are elsewhere: a batch in the making travels with the vectors."""

    source: Any

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Go through the batches, worker after worker."""
        self.at, self.carries = self._carried(problems)
        for end in strides(self, self.at, self.n_rows, len(problems)):
            work = BatchWork(
                positives=np.array([p.positive for p in problems]),
                step=self.step,
                size=self.batch_size,
                first=self.at,
                logging=self.settings.record,
                offers=bool(self.pockets),
            )
            begin = [
                InBatch(p.theta, p.lag, *carry, p.visits, p.n_updates, 0, [], [])
                for p, carry in zip(problems, self.carries, strict=True)
            ]
            task = partial(go_through_batches, work)
            for k, done in enumerate(through(self, self.at, end, task, begin)):
                self._take(problems[k], done)
                self.carries[k] = Carry(done.sums, done.held)
            self.at = end
            self.pause()
        for p, carry in zip(problems, self.carries, strict=True):
            if carry.held[0]:
                self._end_batch(p, carry)

    def _take(self, p: LinearProblem, done: InBatch) -> None:
        """Book what a worker has done for a problem."""
        for log, update in done.logs:
            p.note(log, len(log.row), 0, update)
        p.theta, p.lag, p.visits, p.n_updates = done.theta, done.lag, done.visits, done.updates
        p.mistakes[-1] += done.mistakes
        for theta in done.offered:
            assert p.pocket is not None
            p.pocket.offer(theta)

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        return pocket_afar(self, p)


class DeltaWork(NamedTuple):
    """What a worker has to know to take some problems along by the delta rule."""

    positives: Ints
    targets: list[Floats]
    steps: list[Step]
    size: int
    first: int


class InDelta(NamedTuple):
    """Where a problem stands, as `Made` has it, and its mistakes on the way."""

    theta: Floats
    sums: Floats
    held: int
    loss: float
    mistakes: int


def go_by_delta(work: DeltaWork, piece: Piece, standing: list[InDelta]) -> list[InDelta]:
    """A part of an epoch of the delta rule, by the worker that has the rows."""
    a, done = max(work.first - piece.start, 0), []
    visit = Visit(IN_ORDER, IN_ORDER, a, piece.length, 0)
    for k, (theta, sums, held, loss, before) in enumerate(standing):
        args = piece.block, int(work.positives[k]), visit, work.targets[k], theta, work.steps[k]
        held, mistakes, loss = delta(*args, work.size, sums, held, loss)
        done.append(InDelta(theta, sums, held, loss, before + mistakes))
    return done


class DeltaAfar(Delta):
    """`Delta` where the rows are elsewhere: the batch in the making travels with the vectors."""

    source: Any

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Go through the batches, worker after worker."""
        masses, steps = self._lengths(problems)
        self.made = self._begun(problems)
        for end in strides(self, self.made.at, self.n_rows, len(problems)):
            at, sums, held, losses = self.made
            positives = np.array([p.positive for p in problems])
            targets = [self.targets[p.positive] for p in problems]
            work = DeltaWork(positives, targets, steps, self.batch_size, at)
            begin = [
                InDelta(p.theta, sums[k], int(held[k]), float(losses[k]), 0)
                for k, p in enumerate(problems)
            ]
            found = through(self, at, end, partial(go_by_delta, work), begin)
            for k, (p, done) in enumerate(zip(problems, found, strict=True)):
                p.n_updates += (int(held[k]) + end - at) // self.batch_size
                p.theta, p.losses[-1] = done.theta, done.loss / masses[k]
                p.mistakes[-1] += done.mistakes if self.numbers is None else 0
                sums[k], held[k], losses[k] = done.sums, done.held, done.loss
            self.made = self.made._replace(at=end)
            self.pause()
        self._end(problems, steps)


def pocket_afar(rule: LinearRule, p: LinearProblem) -> PocketAfar:
    """A pocket that holds the start vector of a problem."""
    judging = rule.look_up, rule.pause, rule.step.at_zero
    return PocketAfar(rule.scanner, p.positive, p.theta, *judging)


class PocketAfar(Pocket):
    """A pocket whose vectors are judged where the rows are."""

    source: Any

    def _all_errors(self, theta: Floats) -> float:
        task = partial(_errors, theta, self.positive, self.at_zero)
        if not self.source.weighted:
            return float(sum(self.source.map(task, look_up=self.look_up)))
        errors = 0.0
        for run in self.source.runs():  # added up in row order
            errors = self.source.along(run, task, errors, self.look_up)
        return errors

    def _not_worse(self, thetas: Floats) -> tuple[Any, Floats]:
        panels, slack, before = self._in_panels(near_one(thetas), np.zeros(len(thetas)))
        args = panels, slack, before, self.positive, self.scanner.bias, self.size
        found = self.source.map(partial(_sure_errors, *args), look_up=self.look_up)
        bounds = sum(found).reshape(-1)[: len(thetas)]
        left = np.flatnonzero(bounds <= self._limit())
        return left, bounds[left]

    def _choose_jury(self, thetas: Floats) -> None:
        """Nobody: all rows are asked at once, wherever they are."""


def _errors(
    theta: Floats, positive: int, at_zero: float, piece: Piece, before: float | Team | None
) -> float:
    """Weight of the errors in a block, added to what was `before`, if that is a number."""
    errors = before if isinstance(before, float) else 0.0
    return errors_of(piece.block, positive, theta, at_zero, 0, piece.length, errors)


def _sure_errors(
    panels: Any,
    slack: Any,
    before: Floats,
    positive: int,
    bias: float,
    size: int,
    piece: Piece,
    team: Team,
) -> Floats:
    norm, rows = np.empty(piece.length, np.float32), np.arange(piece.length)
    norms(piece.block, bias, 0, piece.length, norm)
    found = before.copy()
    args = piece.block, positive, bias, rows, norm, panels, slack
    count_sure_errors(*args, np.inf, room(size), found)
    return found - before


AFAR: dict[type[LinearRule], type[LinearRule]] = {
    Online: OnlineAfar,
    InBatches: InBatchesAfar,
    Delta: DeltaAfar,
}

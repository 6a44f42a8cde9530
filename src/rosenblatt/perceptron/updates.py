"""The rules of the perceptron: online, picking, and in batches, summing mistakes."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.dots import aligned
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.perceptron.linear_rule import PER_MISTAKE, LinearRule
from rosenblatt.perceptron.loops import (
    Log,
    Tether,
    Visit,
    add_batch,
    minibatch,
    online,
    online_problems,
)
from rosenblatt.perceptron.scouts import online_with_scouts
from rosenblatt.running.problems import saved_array, saved_number
from rosenblatt.running.scanner import TILE
from rosenblatt.running.threads import WORTHWHILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block
    from rosenblatt.data.sources import Order, Piece
    from rosenblatt.perceptron.linear_rule import LinearProblem
    from rosenblatt.perceptron.loops import Step


NEVER = np.iinfo(np.int64).max


class PartOfEpoch(NamedTuple):
    """What `online_problems` takes, in its order: a part of an epoch for some problems."""

    block: Block
    positives: Ints
    visit: Visit
    thetas: Floats
    size: int
    step: Step
    clocks: Ints
    lags: Floats
    logs: Log
    mistakes: Ints
    tile: int


def catch_up(problems: list[LinearProblem]) -> None:
    """Let pockets judge what a run that was killed has left to them."""
    for p in problems:
        if p.pocket is not None:
            p.pocket.catch_up()


class Online(LinearRule):
    """``order`` cyclic, shuffled or sampled: the rows in turn, every problem for itself.

    Where few rows can be mistakes only these are looked at. Several problems go through the data
    together: one pass that serves them all beats lists for each.
    """

    few = False  # whether the last mistakes were so few that scouts pay

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Visit the rows in the given order."""
        catch_up(problems)
        p, *others = problems
        for piece, visit, tether in () if others else self._visits(p, order):
            log, before = self.log(visit.stop - visit.start), p.theta.copy()
            args = piece.block, p.positive, visit, p.theta, self.step, tether, p.lag, log
            scouts = self._scouts_pay(visit)
            reached, count = self._with_scouts(*args) if scouts else online(*args)
            self.few = count * PER_MISTAKE <= (reached - visit.start) * self.per_row
            last = visit.listed[reached - 1] + 1 if visit.listed.size else reached
            p.within = piece.offset + int(last)
            self.book(p, piece, before, log, count)
            self.pause()
        for some, piece, a, z in self._left(problems, order) if others else ():
            visit, threads = Visit(piece.order, IN_ORDER, a, z, piece.offset), self.team.size
            groups = [group for k in range(threads) if (group := some[k::threads])]
            tasks = [self._task(group, piece, visit, len(some)) for group in groups]
            list(self.team.mapper(len(tasks))(online_problems, *zip(*tasks, strict=True)))
            # The pockets of several problems judge side by side, unless each has to read a stream.
            apart = len(groups) if self.pockets and self.source.lasting else 1
            list(self.team.mapper(apart)(self._book_task, groups, repeat(piece), tasks))
            self.pause()
        for p in problems:
            p.visits, p.within = p.visits + self.n_rows, 0

    def _scouts_pay(self, visit: Visit) -> bool:
        """Whether the other threads can help with a visit."""
        numbers = (visit.stop - visit.start) * self.per_row
        return self.few and self.team.size > 1 and numbers >= WORTHWHILE

    def _with_scouts(self, *args: Any) -> tuple[int, int]:
        return online_with_scouts(self.team, self.per_row, *args)

    def _visits(self, p: LinearProblem, order: Order) -> Iterator[tuple[Piece, Visit, Tether]]:
        """The epoch of one problem: by lists, as far as these pay, and then row by row."""
        if self._is_worth_a_list(p, order):
            yield from self._walk(p, order)
        share = 1 / self.team.size if self.few else 1
        for piece, a, z in self.parts(order, p.within, share):
            visit = Visit(piece.order, IN_ORDER, a, z, p.visits + piece.offset)
            yield piece, visit, Tether(p.theta, np.inf)

    def _left(
        self, problems: list[LinearProblem], order: Order
    ) -> Iterator[tuple[list[LinearProblem], Piece, int, int]]:
        """What is left of the epoch: first for problems that are behind, then for all together."""
        first, share = max(p.within for p in problems), len(problems) if self.logging else 1
        for p in problems:
            for part in self.parts(order, p.within, share, first):
                yield [p], *part
        for part in self.parts(order, first, share):
            yield problems, *part

    def _task(
        self, group: list[LinearProblem], piece: Piece, visit: Visit, problems: int
    ) -> PartOfEpoch:
        return PartOfEpoch(
            block=piece.block,
            positives=np.array([p.positive for p in group]),
            visit=visit,
            thetas=aligned([p.theta for p in group]),
            size=len(group[0].theta),
            step=self.step,
            clocks=np.array([p.visits for p in group]),
            lags=np.array([p.lag for p in group]),
            logs=self.log(len(group), visit.stop - visit.start),
            mistakes=np.zeros(len(group), np.int64),
            tile=self.n_rows if problems == 1 else max(1, TILE // self.per_row),
        )

    def _book_task(self, group: list[LinearProblem], piece: Piece, task: PartOfEpoch) -> None:
        for k, p in enumerate(group):
            logs = task.logs
            before, log = p.theta, Log(logs.row[k], logs.value[k], logs.step[k])
            p.theta, p.lag = task.thetas[k, : task.size], task.lags[k]
            p.within = piece.offset + task.visit.stop
            self.book(p, piece, before, log, int(task.mistakes[k]))

    def _is_worth_a_list(self, p: LinearProblem, order: Order) -> bool:
        scattered = order.size and next(iter(self.source.pieces(order))).length < order.size
        if scattered or len(p.changes) == 0:
            return False
        return self.possible(p).ready(p.mistakes[-2], p.changes[-1])

    def _walk(self, p: LinearProblem, order: Any) -> Iterator[tuple[Piece, Visit, Tether]]:
        """Visits of the rows that can be mistakes: they make those that all rows would make.

        It ends where no list pays, which `p.within` tells.
        """
        possible = self.possible(p)
        while p.within < self.n_rows:
            if not possible.holds(p.theta) and not possible.renew(p.theta):
                return
            assert possible.tether is not None
            first = p.within
            for piece, visit in self._listed(p, possible.rows, order):
                yield piece, visit, possible.tether
                if not possible.holds(p.theta):
                    possible.passed(p.within - first, p.theta)
                    break
            else:
                p.within = self.n_rows
                possible.passed(self.n_rows - first, p.theta)

    def _listed(self, p: LinearProblem, rows: Ints, order: Any) -> Iterator[tuple[Piece, Visit]]:
        """Visits of the listed rows from position `p.within` on."""
        positions, first = rows, p.within
        if order.size:
            listed = np.zeros(self.n_rows, bool)
            listed[rows] = True
            positions = np.flatnonzero(listed[order])
        for piece in self.pieces(order):
            edges = max(first, piece.offset), piece.offset + piece.length
            a, z = np.searchsorted(positions, edges)
            part = positions[a:z] - piece.offset
            for k, last in self.segments(0, len(part)):
                yield piece, Visit(piece.order, part, k, last, p.visits + piece.offset)


class Picked(LinearRule):
    """``order`` random-mistake or worst-mistake: an epoch picks one of the current mistakes."""

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Find the mistakes, pick one, update."""
        catch_up(problems)
        for p in problems:
            if p.within:
                continue  # this one has been so far already
            rows, values = self.mistakes_in(p, self.rows_in_question(p))
            if rows.size:
                piece, visit = self._pick(p, rows, values)
                log, before = self.log(1), p.theta.copy()
                free = Tether(p.theta, np.inf)
                online(piece.block, p.positive, visit, p.theta, self.step, free, p.lag, log)
                p.within = 1
                self.book(p, piece, before, log, 1)
            p.within = 1
            self.pause()
        for p in problems:
            p.visits, p.within = p.visits + 1, 0

    def _pick(self, p: LinearProblem, rows: Ints, values: Floats) -> tuple[Piece, Visit]:
        """A visit of one of the mistakes."""
        worst = self.settings.order == "worst-mistake"
        chosen = int(rows[np.argmin(values) if worst else p.rng.integers(rows.size)])
        piece = next(q for q in self.source.pieces() if q.start + q.length > chosen)
        return piece, Visit(np.array([chosen - piece.start]), IN_ORDER, 0, 1, p.visits)


class Carry(NamedTuple):
    """A batch in the making: ``Σ y*(x, 1)`` over its mistakes; its rows and its mistakes."""

    sums: Floats
    held: Ints


class InBatches(LinearRule):
    """``update`` batch or minibatch; the last batch of an epoch may be shorter.

    The loop ends batches by itself unless something is to be done after each (`stepwise`). A
    batch of all rows looks only at those that can be mistakes.
    """

    loop: Any = staticmethod(minibatch)
    lists = True  # whether it can tell which rows can be mistakes

    def of_problem(self, p: LinearProblem) -> int:
        """What its loop is to know of a problem."""
        return p.positive

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on: its batch in the making, too."""
        sums, held = zip(*self.carries, strict=True)
        more = {"at": self.at, "sums": np.array(sums), "held": np.array(held)}
        return super().state(running) | more

    def _carried(self, problems: list[LinearProblem]) -> tuple[int, list[Carry]]:
        """Where the epoch begins, and with which batches in the making."""
        if self.middle is None:
            return 0, [Carry(np.zeros_like(p.theta), np.zeros(2, np.int64)) for p in problems]
        state, self.middle = self.middle, None
        return state["at"], [Carry(*one) for one in zip(state["sums"], state["held"], strict=True)]

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        super().restore(running, state)
        saved_number(state["at"], self.n_rows)
        saved_array(state["sums"], np.float64, (len(running), len(running[0].theta)))
        saved_array(state["held"], np.int64, (len(running), 2))

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Go through the batches."""
        n, settings, size = self.n_rows, self.settings, self.batch_size
        self.at, self.carries = self._carried(problems)
        stepwise = settings.record or settings.keep != "last" or size == n
        listed = self.lists and size == n and len(problems) == 1 and not order.size and not self.at
        carries = self.carries
        cuts = self._cuts(order, self.at, size if stepwise else NEVER, len(problems))
        for piece, visit in self._in_question(problems[0]) if listed else cuts:
            logs = [self.log(visit.stop - visit.start) for _ in problems]
            found = self.team.mapper(len(problems))(
                self.loop,
                repeat(piece.block),
                [self.of_problem(p) for p in problems],
                repeat(visit),
                [p.theta for p in problems],
                repeat(self.step),
                repeat(NEVER if stepwise else size),
                *zip(*carries, strict=True),
                logs,
            )
            for p, carry, log, counts in zip(problems, carries, logs, found, strict=True):
                if settings.record:
                    p.note(log, counts[0], piece.start, p.n_updates)
                p.mistakes[-1] += counts[0]
                p.n_updates += counts[1]
                if stepwise and not listed and carry.held[0] == size:
                    self._end_batch(p, carry)
            self.at = piece.offset + visit.stop
            if listed:
                self.at = carries[0].held[0] = piece.start + int(visit.listed[visit.stop - 1]) + 1
            self.pause()
        for p, carry in zip(problems, carries, strict=True):
            if carry.held[0] or listed:
                self._end_batch(p, carry)

    def _cuts(
        self, order: Order, first: int, size: int, problems: int
    ) -> Iterator[tuple[Piece, Visit]]:
        """The epoch from `first` on in parts that end where batches do, and fit the cache."""
        longest = self.segment if problems == 1 else max(1, self.segment >> 5)
        for piece in self.pieces(order) if first < self.n_rows else ():
            a = max(first - piece.offset, 0)
            while a < piece.length:
                to_end = size - (piece.offset + a) % size
                z = min(a + longest, a + to_end, piece.length)
                yield piece, Visit(piece.order, IN_ORDER, a, z, 0)
                a = z

    def _in_question(self, p: LinearProblem) -> Iterator[tuple[Piece, Visit]]:
        """The rows that can be mistakes."""
        for piece, part in self.listed(self.rows_in_question(p)):
            for first, last in self.segments(0, len(part)):
                yield piece, Visit(piece.order, part, first, last, 0)

    def _end_batch(self, p: LinearProblem, carry: Carry) -> None:
        """End a batch: update, average, pocket. A visit is a whole batch here."""
        if p.lag.size and carry.held[1]:
            p.lag += p.visits * (self.settings.eta * carry.sums)
        p.n_updates += add_batch(p.theta, self.settings.eta, *carry)
        p.visits += 1
        if p.pocket is not None:
            p.pocket.offer(p.theta)

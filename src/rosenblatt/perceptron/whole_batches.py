"""``update="batch"``: an epoch is a sum over all rows, in tiles that any threads may take.

The tiles and the tree in which they are added (`data.tile_sums`) follow from the data alone; so the
bits do not depend on threads, on blocks, or, where the rows are elsewhere, on workers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.data.tile_sums import TileSums, tile_rows
from rosenblatt.exact.passes import in_turn
from rosenblatt.perceptron.delta import Delta
from rosenblatt.perceptron.loops import Log, Visit, add_mean, delta_in_tiles, mistakes_in_tiles
from rosenblatt.perceptron.updates import Carry, InBatches
from rosenblatt.running.problems import saved_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece, Source
    from rosenblatt.perceptron.linear_rule import LinearProblem, LinearRule

    # Adds rows to the sums of their tiles; returns what it has found on the way.
    Write = Callable[[int, int, Floats, Ints], Any]


def new_sums(source: Source, size: int, count: int, saved: Any = None) -> list[TileSums]:
    """Sums of so many numbers for each of `count` problems, as they were `saved`, if they were."""
    sums = [TileSums(source.n_rows, tile_rows(source), size) for _ in range(count)]
    if saved is not None:
        for one, state in zip(sums, saved, strict=True):
            one.restore(state)
    return sums


def add_rows(
    rule: LinearRule, sums: list[TileSums], start: int, stop: int, writes: list[Write]
) -> list[list[Any]]:
    """Add some rows for each problem: of one by all threads, of several each by one of them."""
    if len(sums) == 1:
        parts = len(rule.team.ranges(stop - start, (stop - start) * rule.per_row))
        return [sums[0].add(start, stop, writes[0], rule.team.each, parts)]

    def alone(one: TileSums, write: Write) -> list[Any]:
        return one.add(start, stop, write, in_turn, 1)

    return list(rule.team.mapper(len(sums))(alone, sums, writes))


def room(wanted: bool, length: int) -> Log:
    """Room for so many mistakes, if anyone wants to know them."""
    size = length if wanted else 0
    return Log(np.empty(size, np.int64), np.empty(size), np.empty(size))


def write_mistakes(
    piece: Piece, positive: int, theta: Floats, step: Any, tile: int, listed: Ints, log: Any
) -> Write:
    """What adds the mistakes of a block, or those among its `listed` rows, and logs them."""

    def write(start: int, stop: int, sums: Floats, used: Ints) -> tuple[Log, int]:
        span = start - piece.start, stop - piece.start
        if listed.size:
            span = tuple(np.searchsorted(listed, span).tolist())
        found = log(span[1] - span[0])
        visit = Visit(IN_ORDER, listed, *span, 0)
        where = piece.start, start // tile, tile
        args = piece.block, positive, visit, theta, step, *where, sums, used, found
        return found, mistakes_in_tiles(*args)

    return write


class WholeBatch(InBatches):
    """The perceptron's batch of all rows; in an order of its own, it is summed up in that."""

    gathered: list[TileSums] | None = None

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on: the sums so far, too."""
        tiles = None if self.gathered is None else [one.state() for one in self.gathered]
        return super().state(running) | {"tiles": tiles}

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        super().restore(running, state)
        if state["tiles"] is not None:
            new_sums(self.source, len(running[0].theta), len(running), state["tiles"])

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Sum up the mistakes, and update with them."""
        self.gathered = None
        if order.size:
            super().epoch(problems, order)
            return
        saved, size = self.middle, len(problems[0].theta)
        self.at, self.carries = self._carried(problems)
        tiles = None if saved is None else saved["tiles"]
        self.gathered = new_sums(self.source, size, len(problems), tiles)
        self._gather(problems, self.gathered)
        for p, sums in zip(problems, self.gathered, strict=True):
            self._end_batch(p, Carry(sums.total(), np.array([self.n_rows, p.mistakes[-1]])))

    def _gather(self, problems: list[LinearProblem], sums: list[TileSums]) -> None:
        """Add up what is left of the rows, a segment at a time."""
        for piece, listed, stop in self._parts(problems):
            args = self.step, sums[0].tile, listed, self.log
            writes = [write_mistakes(piece, p.positive, p.theta, *args) for p in problems]
            for p, found in zip(problems, add_rows(self, sums, self.at, stop, writes), strict=True):
                for log, count in found:
                    self._take(p, log, count, piece.start)
            self.at = stop
            self.pause()

    def _take(self, p: LinearProblem, log: Log, count: int, start: int) -> None:
        """Book some mistakes."""
        if self.settings.record:
            p.note(log, count, start, p.n_updates)
        p.mistakes[-1] += count

    def _parts(self, problems: list[LinearProblem]) -> Iterator[tuple[Piece, Ints, int]]:
        """Segments of the epoch, each up to a row: of one problem only rows in question."""
        if len(problems) > 1 or self.at:
            share = len(problems) if self.logging else 1
            for piece, _, z in self.parts(IN_ORDER, self.at, share):
                yield piece, IN_ORDER, piece.start + z
            return
        for piece, rows in self.listed(self.rows_in_question(problems[0])):
            for _, last in self.segments(0, len(rows)):
                if last < len(rows):
                    yield piece, rows, piece.start + int(rows[last])
            # Where no row is in question, one that is not stands for them.
            yield piece, rows if rows.size else np.zeros(1, np.int64), piece.start + piece.length


class WholeDelta(Delta):
    """The delta rule with a batch of all rows; in an order of its own, it is summed up in that."""

    gathered: list[TileSums] | None = None

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on: the sums so far, too."""
        tiles = None if self.gathered is None else [one.state() for one in self.gathered]
        return super().state(running) | {"tiles": tiles}

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        super().restore(running, state)
        if state["tiles"] is not None:
            new_sums(self.source, len(running[0].theta) + 1, len(running), state["tiles"])

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Sum up the differences, and step by their mean."""
        self.gathered = None
        if order.size:
            super().epoch(problems, order)
            return
        masses = [self.masses[p.positive] for p in problems]
        saved, size = self.middle, len(problems[0].theta) + 1  # the loss comes last
        self.made = self._begun(problems)
        tiles = None if saved is None else saved["tiles"]
        self.gathered = new_sums(self.source, size, len(problems), tiles)
        self._gather(problems, self.gathered, masses)
        for p, mass, one in zip(problems, masses, self.gathered, strict=True):
            sums, rate = one.total(), self.settings.eta * (self.n_rows / mass)
            p.losses[-1] = float(sums[-1]) / mass
            add_mean(p.theta, rate, sums[:-1], self.n_rows)
            p.n_updates += 1
            self._check(p)

    def _gather(
        self, problems: list[LinearProblem], sums: list[TileSums], masses: list[float]
    ) -> None:
        """Add up what is left of the rows, a segment at a time."""
        for piece, a, z in self.parts(IN_ORDER, self.made.at):
            start, stop = piece.start + a, piece.start + z
            writes = [self._write(piece, p, sums[0].tile) for p in problems]
            found = add_rows(self, sums, start, stop, writes)
            self._take(problems, [sum(counts) for counts in found], stop)
            for p, one, mass in zip(problems, sums, masses, strict=True):
                p.losses[-1] = float(one.done.total()[-1]) / mass  # as far as it is known
            self.pause()

    def _write(self, piece: Piece, p: LinearProblem, tile: int) -> Write:
        targets = self.targets[p.positive]
        return partial(write_differences, piece, p.positive, targets, p.theta, self.step, tile)

    def _take(self, problems: list[LinearProblem], mistakes: list[int], stop: int) -> None:
        """Book the rows up to `stop`."""
        for p, count in zip(problems, mistakes, strict=True):
            p.mistakes[-1] += count if self.numbers is None else 0
        self.made = self.made._replace(at=saved_number(stop, self.n_rows))


def write_differences(
    piece: Piece,
    positive: int,
    targets: Floats,
    theta: Floats,
    step: Any,
    tile: int,
    start: int,
    stop: int,
    sums: Floats,
    used: Ints,
) -> int:
    """Add the differences of some rows of a block, and their loss; how many are mistakes."""
    span = start - piece.start, stop - piece.start
    where = piece.start, start // tile, tile
    found = delta_in_tiles(piece.block, positive, *span, targets, theta, step, *where, sums, used)
    return int(found)

"""The perceptron in batches: one update per batch, summing its mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.perceptron.loops import Visit, add_batch, minibatch
from rosenblatt.perceptron.online import Sequential

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Piece
    from rosenblatt.perceptron.training import Problem

NEVER = np.iinfo(np.int64).max


class Carry(NamedTuple):
    """A batch in the making: ``Σ y*(x, 1)`` over its mistakes; its rows and its mistakes."""

    sums: NDArray[np.float64]
    held: NDArray[np.int64]


class Batch(Sequential):
    """``update`` batch or minibatch.

    The loop ends batches by itself unless something is to be done after each (`stepwise`).
    """

    def epoch(self, problems: list[Problem], order: NDArray[np.int64]) -> None:
        """Go through the batches; the last one of an epoch may be shorter."""
        n, settings = self.source.n_rows, self.settings
        size = n if settings.update == "batch" else min(settings.batch_size or n, n)
        stepwise = settings.record or settings.keep != "last" or size == n
        carries = [Carry(np.zeros_like(p.theta), np.zeros(2, np.int64)) for p in problems]
        if size == n and len(problems) == 1 and not order.size:
            self._listed(problems[0], carries[0])
        else:
            for piece in self.source.pieces(order):
                for a, z in self._cuts(piece, size if stepwise else NEVER, len(problems)):

                    def work(k: int, piece: Piece = piece, a: int = a, z: int = z) -> None:
                        every = NEVER if stepwise else size
                        self._gather(problems[k], piece, IN_ORDER, a, z, every, carries[k])
                        if stepwise and carries[k].held[0] == size:
                            self._finish(problems[k], carries[k])

                    self.team.each(work, range(len(problems)))
                    self.look_up()
        for p, carry in zip(problems, carries, strict=True):
            if carry.held[0]:
                self._finish(p, carry)

    def _cuts(self, piece: Piece, size: int, problems: int) -> Iterator[tuple[int, int]]:
        """The piece in parts that end where batches do, and fit the cache if shared."""
        longest = self.segment if problems == 1 else max(1, self.segment >> 5)
        a = 0
        while a < piece.length:
            to_end = size - (piece.offset + a) % size
            z = min(a + longest, a + to_end, piece.length)
            yield a, z
            a = z

    def _listed(self, p: Problem, carry: Carry) -> None:
        """A whole batch, looking only at rows that can be mistakes."""
        rows = self.possible_mistakes(p)
        for piece in self.source.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            part = rows[a:z] - piece.start
            for first, last in self.segments(0, len(part)):
                self._gather(p, piece, part, first, last, NEVER, carry)
                self.look_up()
        carry.held[0] = self.source.n_rows

    def _gather(
        self,
        p: Problem,
        piece: Piece,
        watch: NDArray[np.int64],
        a: int,
        z: int,
        size: int,
        carry: Carry,
    ) -> None:
        log = self.logs(z - a)
        visit = Visit(piece.order, watch, a, z, 0)
        mistakes, updates = minibatch(
            piece.block, p.positive, visit, p.theta, self.step, size, *carry, log
        )
        if self.settings.record:
            p.note(log, mistakes, piece.start, p.n_updates)
        p.mistakes[-1] += mistakes
        p.n_updates += updates

    def _finish(self, p: Problem, carry: Carry) -> None:
        """End a batch: update, average, pocket. A visit is a whole batch here."""
        if p.lag.size and carry.held[1]:
            p.lag += p.visits * (self.settings.eta * carry.sums)
        p.n_updates += add_batch(p.theta, self.settings.eta, *carry)
        p.visits += 1
        if p.pocket is not None:
            p.pocket.offer(p.theta)

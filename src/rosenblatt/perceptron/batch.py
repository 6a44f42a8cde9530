"""The perceptron in batches: one update per batch, summing its mistakes."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.perceptron.loops import Visit, add_batch, minibatch
from rosenblatt.perceptron.rule import LinearRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Piece
    from rosenblatt.perceptron.rule import LinearProblem

    Ints = NDArray[np.int64]

NEVER = np.iinfo(np.int64).max


class Carry(NamedTuple):
    """A batch in the making: ``Σ y*(x, 1)`` over its mistakes; its rows and its mistakes."""

    sums: NDArray[np.float64]
    held: Ints


class InBatches(LinearRule):
    """``update`` batch or minibatch; the last batch of an epoch may be shorter.

    The loop ends batches by itself unless something is to be done after each (`stepwise`). A
    batch of all rows looks only at those that can be mistakes.
    """

    def epoch(self, problems: list[LinearProblem], order: Ints) -> None:
        """Go through the batches."""
        n, settings = self.n_rows, self.settings
        size = n if settings.update == "batch" else min(settings.batch_size or n, n)
        stepwise = settings.record or settings.keep != "last" or size == n
        listed = size == n and len(problems) == 1 and not order.size
        carries = [Carry(np.zeros_like(p.theta), np.zeros(2, np.int64)) for p in problems]
        cuts = self._cuts(order, size if stepwise else NEVER, len(problems))
        for piece, visit in self._listed(problems[0]) if listed else cuts:
            logs = [self.log(visit.stop - visit.start) for _ in problems]
            found = self.team.mapper(len(problems))(
                minibatch,
                repeat(piece.block),
                [p.positive for p in problems],
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
            self.look_up()
        for p, carry in zip(problems, carries, strict=True):
            if carry.held[0] or listed:
                self._end_batch(p, carry)

    def _cuts(self, order: Ints, size: int, problems: int) -> Iterator[tuple[Piece, Visit]]:
        """The epoch in parts that end where batches do, and fit the cache if shared."""
        longest = self.segment if problems == 1 else max(1, self.segment >> 5)
        for piece in self.pieces(order):
            a = 0
            while a < piece.length:
                to_end = size - (piece.offset + a) % size
                z = min(a + longest, a + to_end, piece.length)
                yield piece, Visit(piece.order, IN_ORDER, a, z, 0)
                a = z

    def _listed(self, p: LinearProblem) -> Iterator[tuple[Piece, Visit]]:
        """The rows that can be mistakes."""
        rows = self.rows_in_question(p)
        for piece in self.source.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            part = rows[a:z] - piece.start
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

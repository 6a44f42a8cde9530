"""``update="mixed"``: shards of the rows learn side by side, and what they have learned is mixed.

Iterative parameter mixing: R. McDonald, K. Hall and G. Mann, "Distributed Training Strategies for
the Structured Perceptron", NAACL 2010. In an epoch each shard takes the common vector through its
own rows, online; the next common vector is the mean of theirs. (Their paper also has weights by
the shards' mistakes. In our trials these took 1.1 to 8.5 times as many epochs as equal ones.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.orders import TileOrder
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.perceptron.linear_rule import LinearRule
from rosenblatt.perceptron.loops import Log, Visit, online_problems
from rosenblatt.perceptron.updates import catch_up
from rosenblatt.running.problems import saved_array
from rosenblatt.running.scanner import TILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece
    from rosenblatt.perceptron.linear_rule import LinearProblem
    from rosenblatt.perceptron.loops import Step


class Shards(NamedTuple):
    """An epoch in the making: an entry for each shard, or for each shard and problem.

    `at` is the position that a shard has come to, and `lags` has ``Σ t·Δ_t`` over its updates Δ_t
    at its visit t, counted from 0 (`loops.online`).
    """

    at: Ints
    thetas: Floats
    lags: Floats
    mistakes: Ints


class Mixed(LinearRule):
    """Every shard for itself, from the common vector; then the vectors are mixed.

    Shards are runs of positions of an epoch, in their number and extent the same whatever the
    threads and blocks: so is the answer.
    """

    making: Shards | None = None

    @property
    def edges(self) -> list[int]:
        """Where shards begin, and the last one ends."""
        count = self.settings.shards or 1
        return [self.n_rows * s // count for s in range(count + 1)]

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on; once it is mixed, nothing."""
        making = self.making._asdict() if self.making is not None else None
        return super().state(running) | {"making": making}

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        super().restore(running, state)
        if state["making"] is None:
            return
        made, (count, k) = Shards(**state["making"]), (len(self.edges) - 1, len(running))
        size = count, k, len(running[0].theta)
        saved_array(made.at, np.int64, (count,))
        saved_array(made.thetas, np.float64, size)
        saved_array(made.lags, np.float64, size if running[0].lag.size else (count, k, 0))
        saved_array(made.mistakes, np.int64, (count, k))
        for at, (first, stop) in zip(made.at.tolist(), pairwise(self.edges), strict=True):
            if not first <= at <= stop:
                msg = f"{at} in the place of a row from {first} to {stop}"
                raise ValueError(msg)
        self.making = made

    def begin(self, running: list[LinearProblem]) -> None:
        """Remember where the hyperplanes stand."""
        super().begin(running)
        self.making = None

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Take all shards through their rows, as many at a time as there are threads, and mix."""
        catch_up(problems)
        if self.making is None:
            self.making = self._at_the_start(problems)
        self._learn(problems, order, self.making)
        self._mix(problems, self.making)
        for p in problems:
            p.visits, p.within = p.visits + self.n_rows, 0
        self._offer(problems)

    def end(self, running: list[LinearProblem]) -> Any:
        """Complete an epoch; of one that was halted mix what the shards have learned so far."""
        if self.making is not None:
            done = int((self.making.at - np.array(self.edges[:-1])).sum())
            self._mix(running, self.making)
            for p in running:
                p.within = done
            self._offer(running)
        return super().end(running)

    def _at_the_start(self, problems: list[LinearProblem]) -> Shards:
        first = np.array(self.edges[:-1])
        return Shards(
            first,
            np.array([[p.theta for p in problems]] * len(first)),
            np.array([[np.zeros_like(p.lag) for p in problems]] * len(first)),
            np.zeros((len(first), len(problems)), np.int64),
        )

    def _learn(self, problems: list[LinearProblem], order: Order, making: Shards) -> None:
        """Blocks in turn; side by side the shards in a block, or in all of them if they last."""
        together = self.source.lasting and not isinstance(order, TileOrder)
        pieces = self.pieces(order)
        for some in [list(pieces)] if together else ([piece] for piece in pieces):
            self._learn_from(some, problems, making)

    def _learn_from(
        self, pieces: list[Piece], problems: list[LinearProblem], making: Shards
    ) -> None:
        """All shards, a segment of each in turn, with looks at the clock in between."""
        positives, tile = np.array([p.positive for p in problems]), self.tile(problems)
        ways = [self._way(pieces, making, s) for s in range(len(making.at))]

        def go_on(s: int) -> tuple[int, Piece, Log, Ints] | None:
            """Take a shard through its next segment, if there is one."""
            part = next(ways[s], None)
            if part is None:
                return None
            piece, *span = part
            here = piece, span, self.edges[s], positives, self.step, tile
            logs, found = visit_rows(*here, making.thetas[s], making.lags[s], self.settings.record)
            making.mistakes[s] += found
            making.at[s] = piece.offset + span[1]
            return s, piece, logs, found

        left = list(range(len(ways)))
        while left:
            done = [part for part in self.team.each(go_on, left) if part is not None]
            left = [s for s, *_ in done]
            for s, piece, logs, found in done:
                self._note(problems, s, piece, logs, found)
            if done:  # else a run that is killed here again and again would stay here
                self.pause()

    def _way(self, pieces: list[Piece], making: Shards, s: int) -> Iterator[tuple[Piece, int, int]]:
        """What some pieces have of a shard that it has not visited yet, in segments."""
        share = len(making.at) * (making.mistakes.shape[1] if self.settings.record else 1)
        stop = self.edges[s + 1]
        for piece in pieces:
            a = max(int(making.at[s]) - piece.offset, 0)
            for first, last in self.segments(a, min(stop - piece.offset, piece.length), share):
                yield piece, first, last

    def tile(self, problems: list[LinearProblem]) -> int:
        """Rows that serve all problems one after the other."""
        return self.n_rows if len(problems) == 1 else max(1, TILE // self.per_row)

    def _note(
        self, problems: list[LinearProblem], s: int, piece: Piece, logs: Log, found: Ints
    ) -> None:
        """Book the mistakes of a shard in a piece, those of each problem."""
        for k, (p, count) in enumerate(zip(problems, found.tolist(), strict=True)):
            p.mistakes[-1] += count
            if self.settings.record and count:
                log = [*(column[k] for column in logs), np.full(count, s)]
                p.note(log, count, piece.start, p.n_updates)

    def _mix(self, problems: list[LinearProblem], making: Shards) -> None:
        """Make common vectors of those of the shards; the epoch is no longer in the making."""
        visits = making.at - np.array(self.edges[:-1])
        for k, p in enumerate(problems):
            theta, mistakes = p.theta, making.mistakes[:, k]
            p.theta = mixture(theta, making.thetas[:, k], mistakes)
            if p.lag.size:  # so that `average` is the mean of the shards' vectors at all visits
                lags = making.lags[:, k]
                p.lag = p.lag + p.visits * (p.theta - theta)
                for s, n in enumerate(visits.tolist()):
                    p.lag += n * (p.theta - making.thetas[s, k]) + lags[s]
            if mistakes.any():
                p.n_updates += 1
        self.making = None

    def _offer(self, problems: list[LinearProblem]) -> None:
        """Let the pockets have the common vectors."""
        for p in problems:
            if p.pocket is not None:
                p.pocket.offer(p.theta)


def visit_rows(
    piece: Piece,
    part: Sequence[int],
    first: int,
    positives: Ints,
    step: Step,
    tile: int,
    thetas: Floats,
    lags: Floats,
    recording: bool,
) -> tuple[Log, Ints]:
    """Take the vectors of a shard, which begins at position `first`, through a part of a block.

    Returns a log and the number of mistakes for each problem.
    """
    (a, z), k = part, len(positives)
    length = z - a if recording else 0
    logs = Log(np.empty((k, length), np.int64), np.empty((k, length)), np.empty((k, length)))
    visit, found = Visit(piece.order, IN_ORDER, a, z, piece.offset - first), np.zeros(k, np.int64)
    stand = thetas, thetas.shape[1], step, np.zeros(k, np.int64), lags, logs, found
    online_problems(piece.block, positives, visit, *stand, tile)
    return logs, found


def mixture(common: Floats, thetas: Floats, mistakes: Ints) -> Floats:
    """``θ + Σ (θ_s - θ)/S``, the mean of the vectors of S shards: what changed, in their order."""
    changes = np.zeros_like(common)
    with np.errstate(over="ignore", invalid="ignore"):
        for s in np.flatnonzero(mistakes):
            changes += thetas[s] - common
        mean: Floats = common + changes / len(thetas)
    return mean

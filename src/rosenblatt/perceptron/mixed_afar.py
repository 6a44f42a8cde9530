"""`mixed.Mixed` over rows that are elsewhere: every shard learns where its rows are.

All shards learn at the same time. One whose rows are on several workers goes from one to the next,
as an online epoch does. Only vectors, counts and, where they are recorded, mistakes travel.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.perceptron.afar import pocket_afar
from rosenblatt.perceptron.mixed import Mixed, Shards, visit_rows

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece
    from rosenblatt.perceptron.linear_rule import LinearProblem
    from rosenblatt.perceptron.loops import Log, Step
    from rosenblatt.perceptron.pocket import Pocket


class ShardWork(NamedTuple):
    """What a worker has to know to take a shard, rows `first` to `stop`, on its way."""

    positives: Ints
    step: Step
    first: int
    stop: int
    at: int
    tile: int
    recording: bool


class OnTheWay(NamedTuple):
    """How far a shard has come, for each problem; its logs have rows by their numbers in all."""

    thetas: Floats
    lags: Floats
    mistakes: Ints
    logs: list[list[Log]]


def go_on(work: ShardWork, piece: Piece, before: OnTheWay) -> OnTheWay:
    """A shard's rows in a block, by the worker that has them."""
    a, z = max(work.at - piece.start, 0), min(work.stop - piece.start, piece.length)
    if a >= z:
        return before
    thetas, lags, found, logs = before
    log, here = visit_rows(
        piece,
        (a, z),
        work.first,
        work.positives,
        work.step,
        work.tile,
        thetas,
        lags,
        work.recording,
    )
    if work.recording:
        parts = zip(logs, here.tolist(), range(len(here)), strict=True)
        logs = [
            [*earlier, type(log)(log.row[k, :n] + piece.start, log.value[k, :n], log.step[k, :n])]
            for earlier, n, k in parts
        ]
    return OnTheWay(thetas, lags, found + here, logs)


class MixedAfar(Mixed):
    """`Mixed` where the rows are elsewhere, in the order in which they are."""

    source: Any

    def _learn(self, problems: list[LinearProblem], order: Order, making: Shards) -> None:
        """All shards at the same time; what has been learned comes here at the end of the epoch."""
        positives = np.array([p.positive for p in problems])
        stretches, tasks, states = [], [], []
        for s, (at, first, stop) in enumerate(
            zip(making.at.tolist(), self.edges[:-1], self.edges[1:], strict=True)
        ):
            work = ShardWork(
                positives, self.step, first, stop, at, self.tile(problems), self.settings.record
            )
            stretches.append((at, stop))
            tasks.append(partial(go_on, work))
            states.append(
                OnTheWay(making.thetas[s], making.lags[s], making.mistakes[s], [[]] * len(problems))
            )
        done = self.source.side_by_side(stretches, tasks, states, self.look_up)
        for s, shard in enumerate(done):
            making.thetas[s], making.lags[s] = shard.thetas, shard.lags
            for k, p in enumerate(problems):
                p.mistakes[-1] += int(shard.mistakes[k] - making.mistakes[s, k])
                for log in shard.logs[k]:
                    p.note([*log, np.full(len(log.row), s)], len(log.row), 0, p.n_updates)
            making.mistakes[s], making.at[s] = shard.mistakes, self.edges[s + 1]
        self.pause()

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        return pocket_afar(self, p)

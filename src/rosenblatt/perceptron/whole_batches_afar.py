"""`whole_batches` over rows that are elsewhere: all workers sum up their tiles at the same time.

An epoch is one round: the vectors go out, and of each block a few sums come back, those of as much
of the tree as lies within it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.data.tile_sums import TileSums
from rosenblatt.exact.passes import in_turn
from rosenblatt.perceptron.afar import pocket_afar
from rosenblatt.perceptron.loops import Log
from rosenblatt.perceptron.whole_batches import (
    WholeBatch,
    WholeDelta,
    room,
    write_differences,
    write_mistakes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rosenblatt.data.sources import Piece
    from rosenblatt.perceptron.linear_rule import LinearProblem, LinearRule
    from rosenblatt.perceptron.pocket import Pocket
    from rosenblatt.running.threads import Team
    from rosenblatt.tree_sums import PartialSum


class Sums(NamedTuple):
    """What a worker has to know to sum up tiles: rows from `first` on, of which some are `begun`.

    What adds rows of a block for each problem is in `writers`, to be called with the block.
    """

    n_rows: int
    tile: int
    size: int
    first: int
    begun: list[Any]
    writers: Sequence[Callable[..., Any]]


def sum_up(work: Sums, piece: Piece, team: Team) -> list[tuple[PartialSum, list[Any]]]:
    """The sums over the tiles of a block, for each problem, and what was found on the way."""
    done = []
    for begun, writer in zip(work.begun, work.writers, strict=True):
        sums, found = TileSums(work.n_rows, work.tile, work.size), []
        start, stop = max(work.first, piece.start), piece.start + piece.length
        if start > piece.start:
            sums.go_on(begun)
        if start < stop:
            found = sums.add(start, stop, writer(piece), in_turn, 1)
        done.append((sums.done, found))
    return done


def gather(
    rule: LinearRule, sums: list[TileSums], first: int, writers: Sequence[Callable[..., Any]]
) -> list[list[Any]]:
    """Add up the rows from `first` on for each problem; what was found of these, block by block."""
    begun = [one.begun for one in sums]
    work = Sums(rule.n_rows, sums[0].tile, sums[0].size, first, begun, writers)
    found: list[list[Any]] = [[] for _ in sums]
    source: Any = rule.source
    parts = list(source.map(partial(sum_up, work), look_up=rule.look_up))
    for one in sums:
        one.go_on(None)
    for part in parts:
        for k, (done, more) in enumerate(part):
            sums[k].done.merge(done)
            found[k] += more
    return found


def _mistakes(
    positive: int, theta: Any, step: Any, tile: int, logging: bool, piece: Piece
) -> Callable[..., tuple[Log, int]]:
    write = write_mistakes(piece, positive, theta, step, tile, IN_ORDER, partial(room, logging))

    def numbered(*args: Any) -> tuple[Log, int]:
        log, count = write(*args)
        kept = Log(*(column[:count].copy() for column in log))
        return kept._replace(row=kept.row + piece.start), count

    return numbered


def _differences(
    positive: int, targets: Any, theta: Any, step: Any, tile: int, piece: Piece
) -> Callable[..., int]:
    return partial(write_differences, piece, positive, targets, theta, step, tile)


class WholeBatchAfar(WholeBatch):
    """`WholeBatch` where the rows are elsewhere."""

    def _gather(self, problems: list[LinearProblem], sums: list[TileSums]) -> None:
        """Add up what is left of the rows, by all workers."""
        args = self.step, sums[0].tile, self.settings.record
        writers = [partial(_mistakes, p.positive, p.theta, *args) for p in problems]
        found = gather(self, sums, self.at, writers)
        for p, logs in zip(problems, found, strict=True):
            for log, count in logs:
                self._take(p, log, count, 0)
        self.at = self.n_rows
        self.pause()

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        return pocket_afar(self, p)


class WholeDeltaAfar(WholeDelta):
    """`WholeDelta` where the rows are elsewhere."""

    def _gather(
        self, problems: list[LinearProblem], sums: list[TileSums], masses: list[float]
    ) -> None:
        """Add up what is left of the rows, by all workers."""
        args = self.step, sums[0].tile
        writers = [
            partial(_differences, p.positive, self.targets[p.positive], p.theta, *args)
            for p in problems
        ]
        found = gather(self, sums, self.made.at, writers)
        self._take(problems, [sum(counts) for counts in found], self.n_rows)
        self.pause()

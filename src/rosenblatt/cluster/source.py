"""A source whose blocks are on the workers of a cluster, and stay there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.cluster.columns import FarColumn, Sent, filled, kept_rows, put_rows, row_numbers
from rosenblatt.cluster.engine import end_if_unwanted
from rosenblatt.cluster.freed_memory import kept_while_at_work
from rosenblatt.data.orders import TileOrder
from rosenblatt.data.rows import Block, DenseRows, as_matrix, as_rows, row_bytes
from rosenblatt.data.sources import IN_ORDER, Elsewhere, Piece
from rosenblatt.exact.blocks import stacked
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.data.columns import Given, There
    from rosenblatt.data.sources import Order

ALONE = Team(1)  # a worker does as many tasks at a time as it has threads


class Held:
    """Some blocks on a worker, as pieces in the order of their rows."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces

    def __sizeof__(self) -> int:  # by which a worker knows when its memory is full
        return sum(row_bytes(p.block.rows) + p.block.label.nbytes for p in self.pieces) + 1000


class Share(NamedTuple):
    """What a worker holds: a future of it, and where the rows of each of its pieces begin and end.

    `home` is the worker that was asked to hold it; after a loss it may be another.
    """

    held: Any
    spans: list[tuple[int, int]]
    home: str


class Run(NamedTuple):
    """Pieces of one share that follow one another: which, and the rows that they have."""

    share: Share
    first: int
    last: int
    start: int
    stop: int


class ClusterSource(Elsewhere):
    """Rows on the workers of a Dask cluster.

    Blocks begin at multiples of a tile (`data.tile_sums`), whatever the chunks were that the data
    came in, so that sums over tiles are the same to the bit as in memory. In a round there is one
    task for each share, and shares are as many as the workers have threads, or a few times that.
    """

    def __init__(
        self,
        engine: Engine,
        shares: list[Share],
        *,
        n_features: int,
        n_entries: int,
        weighted: bool,
        dense: bool,
        dtype: Any,
    ) -> None:
        self.engine, self.shares = engine, shares
        self.n_rows = max(stop for share in shares for _, stop in share.spans)
        self.n_features, self.n_entries = n_features, max(1, n_entries)
        self.weighted, self.dense, self.dtype = weighted, dense, np.dtype(dtype)

    def map(
        self,
        task: Callable[..., Any],
        *columns: Given,
        look_up: Callable[[], None] | None = None,
    ) -> Iterator[Any]:
        """``task(piece, team, ...)`` for every piece, by its worker; results in row order.

        `look_up` is called while they are at work, and may raise to give up.
        """
        given = self._given(columns)
        futures = self.engine.ask(partial(_each, task), *given, homes=self._homes)
        del given
        found = self.engine.gather(futures, look_up)
        del futures
        yield from (found[number][k] for _, number, k in self._places())

    def merged(
        self,
        task: Callable[..., Any],
        begin: Callable[[], Any],
        end: Callable[[Any], Any],
        *columns: Given,
        look_up: Callable[[], None] | None = None,
    ) -> tuple[list[Any], list[Any]]:
        """`map` where the pieces of a share have a state in common: what becomes of it, and all."""
        merging = partial(_each_merged, task, begin, end)
        futures = self.engine.ask(merging, *self._given(columns), homes=self._homes)
        found = self.engine.gather(futures, look_up)
        del futures
        told = [found[number][1][k] for _, number, k in self._places()]
        return [state for state, _ in found], told

    def column(self, task: Callable[..., Any], dtype: Any, *columns: Given) -> FarColumn:
        """What ``task(piece, team, out, ...)`` writes for every piece, which stays where it is."""
        return FarColumn(self, self._each(partial(filled, task, np.dtype(dtype)), *columns))

    @property
    def _homes(self) -> list[str]:
        return [share.home for share in self.shares]

    def _given(self, columns: Sequence[Given]) -> list[list[Any]]:
        """What the tasks of each share are given: the share, and what they need of columns."""
        there = [column.parts for column in columns if isinstance(column, FarColumn)]
        sent = [Sent(columns, share.spans) for share in self.shares]
        return [[share.held for share in self.shares], sent, *there]

    def chosen(self, used: Any, *columns: Any) -> tuple[ClusterSource, FarColumn, list[Any]]:
        """The rows that are `used`, in as many blocks as here, their numbers, and their columns."""
        sizes = list(self.map(_chosen_sizes, used))
        ends = np.cumsum([length for length, _ in sizes]).tolist()
        spans: list[list[tuple[int, int]]] = [[(0, 0)] * len(s.spans) for s in self.shares]
        for (_, number, k), end, (length, _) in zip(self._places(), ends, sizes, strict=True):
            spans[number][k] = end - length, end
        given = self._given([used])
        starts = [np.array([first for first, _ in some]) for some in spans]
        held = self.engine.map(partial(_chosen, self.n_features), *given, starts, homes=self._homes)
        source = ClusterSource(
            self.engine,
            [Share(*one) for one in zip(held, spans, self._homes, strict=True)],
            n_features=self.n_features,
            n_entries=sum(entries for _, entries in sizes),
            weighted=False,
            dense=self.dense,
            dtype=self.dtype,
        )
        asked = [
            self._each(row_numbers, used),
            *(self._each(kept_rows, used, one) for one in columns),
        ]
        first, *others = (FarColumn(source, parts) for parts in asked)
        return source, first, others

    def replaced(self, column: Any, used: Any, new: There) -> FarColumn:
        """A column in which the rows that are `used`, and were `chosen`, have `new` numbers."""
        return FarColumn(self, self._each(put_rows, column, used, new))

    def _each(self, task: Callable[..., Any], *columns: Given) -> list[Any]:
        """Futures of what a task makes of every piece, share by share."""
        return self.engine.map(partial(_each, task), *self._given(columns), homes=self._homes)

    def _places(self) -> list[tuple[tuple[int, int], int, int]]:
        """All pieces in the order of their rows: these, the number of the share, and which one."""
        return sorted(
            (span, number, k)
            for number, share in enumerate(self.shares)
            for k, span in enumerate(share.spans)
        )

    def runs(self, first: int = 0) -> Iterator[Run]:
        """The rows from `first` on in turn, as runs of pieces that one worker can go through."""
        begun: list[tuple[tuple[int, int], int, int]] = []
        for place in [p for p in self._places() if p[0][1] > first]:
            if begun and place[1:] != (begun[-1][1], begun[-1][2] + 1):
                yield self._run(begun)
                begun = []
            begun.append(place)
        if begun:
            yield self._run(begun)

    def _run(self, places: list[tuple[tuple[int, int], int, int]]) -> Run:
        (start, _), number, k = places[0]
        return Run(self.shares[number], k, k + len(places), start, places[-1][0][1])

    def along(
        self,
        run: Run,
        task: Callable[..., Any],
        state: Any,
        look_up: Callable[[], None] | None = None,
    ) -> Any:
        """``state = task(piece, state)`` for each piece of a run, by its worker.

        `look_up` is called while it is at work, and may raise to give up.
        """
        args, homes = (task, run.share.held, run.first, run.last, state), [run.share.home]
        futures = self.engine.ask(_along, *([one] for one in args), homes=homes)
        return self.engine.gather(futures, look_up)[0]

    def side_by_side(
        self,
        stretches: list[tuple[int, int]],
        tasks: list[Callable[..., Any]],
        states: list[Any],
        look_up: Callable[[], None] | None = None,
    ) -> list[Any]:
        """`along` for several stretches of rows at the same time, from their first to their last.

        A task is also given pieces of which not all rows are in its stretch. Stretches within the
        same run of pieces are one task of the cluster's.
        """
        runs, ends, alone = list(self.runs()), list(states), dict[int, list[int]]()
        ways = [list(_way(runs, *stretch)) for stretch in stretches]
        for number, way in enumerate(ways):
            if len(way) == 1:
                alone.setdefault(way[0][0], []).append(number)
                continue
            for k, *part in way:
                args = tasks[number], runs[k].share.held, *part, ends[number]
                home = runs[k].share.home
                ends[number] = self.engine.submit(_along, *args, worker=home)
        futures = [ends[number] for number, way in enumerate(ways) if len(way) > 1]
        if alone:
            held = [runs[k].share.held for k in alone]
            several = [
                [(tasks[n], *ways[n][0][1:], states[n]) for n in numbers]
                for numbers in alone.values()
            ]
            homes = [runs[k].share.home for k in alone]
            futures += self.engine.ask(_several_along, held, several, homes=homes)
        found = self.engine.gather(futures, look_up)
        for number, way in enumerate(ways):
            if len(way) > 1:
                ends[number] = found.pop(0)
        for numbers, done in zip(alone.values(), found, strict=True):
            for number, end in zip(numbers, done, strict=True):
                ends[number] = end
        return ends

    def through(self, task: Callable[[Piece, Any], Any], state: Any) -> Any:
        """``state = task(piece, state)`` for all pieces in turn, each by its worker."""
        for run in self.runs():
            state = self.along(run, task, state)
        return state

    def rows(self, numbers: NDArray[np.int64]) -> Block:
        """A copy of the rows with these numbers, ascending."""
        asked, firsts = [], []
        for share in self.shares:
            wanted = [
                (k, numbers[a:z] - start)
                for k, (start, stop) in enumerate(share.spans)
                for a, z in [np.searchsorted(numbers, (start, stop))]
                if a < z
            ]
            if wanted:
                asked.append((share.held, wanted, share.home))
                firsts += [share.spans[k][0] for k, _ in wanted]
        if not asked:  # a block all the same
            asked, firsts = [(self.shares[0].held, [(0, numbers)], self.shares[0].home)], [0]
        held, numbered, homes = zip(*asked, strict=True)
        futures = self.engine.ask(partial(_some, self.n_features), held, numbered, homes=homes)
        found = [part for parts in self.engine.gather(futures) for part in parts]
        found = [found[k] for k in np.argsort(firsts)]
        Xs, labels, weights, factors = zip(*found, strict=True)
        X = Xs[0] if len(Xs) == 1 else stacked(list(Xs))
        return Block(as_rows(X), np.concatenate(labels), np.concatenate(weights), factors[0])

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """Block after block, brought here; in another order, tile after tile of it."""
        if not order.size:
            places = [(run.share, k) for run in self.runs() for k in range(run.first, run.last)]
            yield from self.engine.in_turn(self._begin_piece, places)
            return
        for offset, rows in order if isinstance(order, TileOrder) else [(0, order)]:
            numbers, at = np.unique(rows, return_inverse=True)
            yield Piece(self.rows(numbers), 0, at.astype(np.int64), offset, len(rows))

    def _begin_piece(self, place: tuple[Share, int]) -> Any:
        share, k = place
        return self.engine.ask(_piece, [share.held], [k], homes=[share.home])[0]

    def changed(
        self, *changes: Callable[[Piece], Block], n_features: int, weighted: bool
    ) -> ClusterSource:
        """The blocks made into others, in as many passes, one after the other, as changes."""
        made = [
            [self.engine.submit(_changed, change, s.held, worker=s.home) for s in self.shares]
            for change in changes
        ]
        return self._placed(made, n_features, weighted)

    def taken(self, used: NDArray[np.bool_]) -> ClusterSource:
        """Copies of the rows that are `used`, without their weights, where they are."""
        made = []
        for share in self.shares:
            bits = [np.packbits(used[a:z]) for a, z in share.spans]
            args = share.held, bits, self.n_features
            made.append(self.engine.submit(_taken, *args, worker=share.home))
        return self._placed([made], self.n_features, weighted=False)

    def _placed(self, made: list[list[Any]], n_features: int, weighted: bool) -> ClusterSource:
        """A source of new blocks: for each pass futures of those of every share."""
        from rosenblatt.cluster.placing import Part, placed_in_tiles

        parts, sizes = [], []
        for futures in made:
            homes = self.engine.gather(futures, bring=False)
            told = self.engine.gather([self.engine.submit(_sizes, one) for one in futures])
            found = [
                (span, Part(future, k, home), size)
                for share, future, home, some in zip(self.shares, futures, homes, told, strict=True)
                for k, (span, size) in enumerate(zip(share.spans, some, strict=True))
            ]
            found.sort(key=lambda one: one[0])
            parts += [part for _, part, _ in found]
            sizes += [size for _, _, size in found]
        return placed_in_tiles(self.engine, parts, sizes, n_features, weighted)


@kept_while_at_work()
def _each(
    task: Callable[..., Any], held: Held, sent: Sent, *there: list[NDArray[Any]]
) -> list[Any]:
    found = []
    for k, piece in enumerate(held.pieces):
        end_if_unwanted()
        found.append(task(piece, ALONE, *sent.made(k, piece, there)))
    return found


def _each_merged(
    task: Callable[..., Any],
    begin: Callable[[], Any],
    end: Callable[[Any], Any],
    held: Held,
    sent: Sent,
    *there: Any,
) -> tuple[Any, list[Any]]:
    state = begin()

    def with_state(piece: Piece, team: Team, *columns: Any) -> Any:
        return task(piece, team, state, *columns)

    told = _each(with_state, held, sent, *there)
    return end(state), told


def _chosen_sizes(piece: Piece, team: Team, used: NDArray[np.bool_]) -> tuple[int, int]:
    count, rows = int(np.count_nonzero(used)), piece.block.rows
    if isinstance(rows, DenseRows):
        return count, count * rows.X.shape[1]
    return count, int(np.diff(rows.indptr)[used].sum())


@kept_while_at_work()
def _chosen(
    n_features: int, held: Held, sent: Sent, used: list[NDArray[np.bool_]], starts: Any
) -> Held:
    pieces, no_weights = [], (np.empty(0), np.empty((0, 0)))
    for piece, mask, start in zip(held.pieces, used, starts.tolist(), strict=True):
        end_if_unwanted()
        here = np.flatnonzero(mask)
        X = as_matrix(piece.block.rows, n_features)[here]
        block = Block(as_rows(X), piece.block.label[here], *no_weights)
        among = piece.start, piece.start + piece.length
        pieces.append(Piece(block, start, IN_ORDER, start, len(here), among))
    return Held(pieces)


@kept_while_at_work()
def _along(task: Callable[..., Any], held: Held, first: int, last: int, state: Any) -> Any:
    state = deepcopy(state)  # a task that is done again begins with what it was given
    for piece in held.pieces[first:last]:
        end_if_unwanted()
        state = task(piece, state)
    return state


def _several_along(held: Held, several: list[Any]) -> list[Any]:
    return [_along(task, held, a, z, state) for task, a, z, state in several]


def _way(runs: list[Run], first: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """The runs with rows from `first` to `stop`, by their numbers, and which of their pieces."""
    for k, run in enumerate(runs):
        if run.start < stop and run.stop > first:
            starts = [span[0] for span in run.share.spans]
            a = max(bisect_right(starts, first, run.first, run.last) - 1, run.first)
            yield k, a, bisect_left(starts, stop, run.first, run.last)


def _some(n_features: int, held: Held, wanted: list[tuple[int, Any]]) -> list[Any]:
    found = []
    for k, here in wanted:
        block = held.pieces[k].block
        weight = block.weight[here] if block.weight.size else block.weight
        X = as_matrix(block.rows, n_features)[here]
        found.append((X, block.label[here], weight, block.factor))
    return found


def _piece(held: Held, k: int) -> Piece:
    return held.pieces[k]


def _changed(change: Callable[[Piece], Block], held: Held) -> list[Block]:
    return [change(piece) for piece in held.pieces]


def _taken(held: Held, bits: list[Any], n_features: int) -> list[Block]:
    found = []
    for piece, some in zip(held.pieces, bits, strict=True):
        here = np.flatnonzero(np.unpackbits(some, count=piece.length))
        X = as_matrix(piece.block.rows, n_features)[here]
        found.append(Block(as_rows(X), piece.block.label[here], np.empty(0), np.empty((0, 0))))
    return found


def _sizes(blocks: list[Block]) -> list[Any]:
    from rosenblatt.cluster.placing import size_of

    return [size_of(block) for block in blocks]

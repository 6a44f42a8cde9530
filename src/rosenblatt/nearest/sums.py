"""Sums over rows in tiles, by the threads of this process or where the rows are.

What is summed up has the same bits whoever does it, and however the rows are cut into blocks. Of
rows that were chosen from others, where these are, tiles are those of the others.
"""

from __future__ import annotations

from functools import lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.sources import Elsewhere, map_pieces
from rosenblatt.exact import tile_passes
from rosenblatt.nearest import loops
from rosenblatt.tree_sums import PartialSum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.columns import Column, Given
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.threads import Team

AT_A_TIME = 1 << 20  # numbers in sums of tiles


def are_many(source: Source | Elsewhere, rows: int) -> bool:
    """Whether so many rows are more than one place should hold beside all others."""
    return rows * source.n_entries > tile_passes.FEW_NUMBERS * source.n_rows


class Extent(NamedTuple):
    """Which rows are summed up: all of `n_rows`, or those of them with certain numbers."""

    n_rows: int
    numbers: Column | None = None


class LeafSums:
    """A sum over tiles in the making, of which those that have rows go by in order."""

    def __init__(self, size: int, tile: int) -> None:
        self.size, self.tile, self.done = size, tile, PartialSum(size)
        self._first = self._stop = 0  # the tiles of which `done` does not know yet
        self._leaves: list[Ints] = []  # those of them that have rows,
        self._sums: list[Floats] = []  # and their sums, of which the last may not be complete
        self._held = 0

    def begin(self, row: int) -> None:
        """Say that the next rows begin here, with a tile."""
        assert row % self.tile == 0
        if row // self.tile != self._stop:
            self._put_away(self._stop)
            self._first = self._stop = row // self.tile

    def end(self, row: int) -> None:
        """Say that nothing more comes before this row, which begins a tile or is the end."""
        self._stop = -(-row // self.tile)

    def add(
        self, leaves: Ints, write: Callable[[int, int, Floats], None], entries: int, team: Team
    ) -> None:
        """Add the rows of some tiles, of which the first may be one that has begun.

        ``write(a, z, sums)`` adds those of the tiles from the a-th to the z-th to their sums.
        """
        step = max(1, AT_A_TIME // self.size)
        for a in range(0, len(leaves), step):
            here = leaves[a : a + step]
            sums = np.zeros((len(here), self.size))
            if self._leaves and self._leaves[-1][-1] == here[0]:
                sums[0] = self._sums[-1][-1]
                self._leaves[-1], self._sums[-1] = self._leaves[-1][:-1], self._sums[-1][:-1]
            if self._held > AT_A_TIME:
                self._put_away(int(here[0]))

            def part(edges: tuple[int, int]) -> None:
                write(a + edges[0], a + edges[1], sums[edges[0] : edges[1]])  # noqa: B023

            team.each(part, team.ranges(len(here), entries * len(here) // len(leaves)))
            self._leaves.append(here)
            self._sums.append(sums)
            self._held += sums.size

    def _put_away(self, stop: int) -> None:
        """Let `done` know of the tiles before this one."""
        if stop > self._first:
            leaves = np.concatenate([*self._leaves, np.empty(0, np.int64)])
            sums = np.concatenate([*self._sums, np.empty((0, self.size))])
            self.done.add(self._first, stop, leaves, sums)
        self._first, self._leaves, self._sums, self._held = stop, [], [], 0

    def ended(self) -> PartialSum:
        """The sum over the rows that went by."""
        self._put_away(self._stop)
        return self.done

    def total(self, stop: int) -> Floats:
        """The sum over all rows, of which this is the number."""
        self.end(stop)
        return self.ended().total()


class WholeSum:
    """The same where all tiles are at hand, which saves time where they are few."""

    def __init__(self, size: int, tile: int) -> None:
        self.size, self.tile, self._sum = size, tile, np.zeros(size)

    def add(
        self, leaves: Ints, write: Callable[[int, int, Floats], None], entries: int, team: Team
    ) -> None:
        """Add the rows of all tiles."""
        sums = np.zeros((len(leaves), self.size))
        ranges = team.ranges(len(leaves), entries)
        if len(ranges) == 1:
            write(0, len(leaves), sums)
        else:
            team.each(lambda span: write(span[0], span[1], sums[slice(*span)]), ranges)
        loops.fold(sums)
        self._sum = sums[0]

    def total(self, stop: int) -> Floats:
        """The sum."""
        return self._sum


class Adding:
    """What a task adds the rows of a block with: each to the sum of its tile."""

    def __init__(
        self, sums: Sequence[LeafSums | WholeSum], piece: Piece, numbers: Ints | None, team: Team
    ) -> None:
        self.sums, self.piece, self.numbers, self.team = sums, piece, numbers, team
        self._edges: dict[int, tuple[Ints, Ints]] = {}

    def __call__(self, number: int, loop: Callable[..., Any], *args: Any, width: int = 1) -> None:
        """Have ``loop(..., edges, a, z, out)`` add to one of the sums, tile after tile.

        Tile k has the rows from ``edges[k]`` to ``edges[k+1]``, and its sum is ``out[k-a]``. Of a
        row the loop reads `width` numbers, more or less.
        """
        into = self.sums[number]
        if into.tile not in self._edges:
            self._edges[into.tile] = self._cut(into.tile)
        leaves, edges = self._edges[into.tile]

        def write(a: int, z: int, out: Floats) -> None:
            loop(*args, edges, a, z, out)

        into.add(leaves, write, self.piece.length * width, self.team)

    def _cut(self, tile: int) -> tuple[Ints, Ints]:
        """The tiles that have rows of the block, and where the rows of each begin and end."""
        if self.numbers is None:
            first = self.piece.start // tile
            edges = _edges_of(self.piece.start % tile, self.piece.length, tile)
            return np.arange(first, first + len(edges) - 1), edges
        tiles = self.numbers // tile
        begins = np.flatnonzero(np.diff(tiles, prepend=-1))
        return tiles[begins], np.append(begins, self.piece.length)


@lru_cache(64)
def _edges_of(start: int, length: int, tile: int) -> Ints:
    """Where the tiles of rows that follow one another begin and end, the first being in one."""
    edges = np.arange(-(-(start + length) // tile) + 1) * tile - start
    edges[0], edges[-1] = 0, length
    return edges


def added(
    source: Source | Elsewhere,
    extent: Extent,
    sizes: list[tuple[int, int]],
    task: Callable[..., Any],
    team: Team,
    *columns: Given,
    look_up: Callable[[], None] = lambda: None,
) -> tuple[list[Floats], list[Any]]:
    """Sums of some sizes over tiles of so many rows, and what a task returns of every block.

    ``task(piece, team, adding, ...)`` adds to them, by `Adding`, where the block is.
    """
    look_up()
    chosen = [] if extent.numbers is None else [extent.numbers]
    if isinstance(source, Elsewhere):
        far = partial(_added_there, task, bool(chosen)), partial(_begun, sizes), _ended
        parts, told = source.merged(*far, *chosen, *columns, look_up=look_up)
        return [whole.total() for whole in reduce(_together, parts)], told
    into: list[LeafSums | WholeSum] = [LeafSums(size, tile) for size, tile in sizes]

    def here(piece: Piece, team: Team, *parts: Any) -> Any:
        look_up()
        numbers, parts = (parts[0], parts[1:]) if chosen else (None, parts)
        if numbers is None and piece.length == extent.n_rows and _fit(piece, sizes):
            into[:] = [WholeSum(size, tile) for size, tile in sizes]
        return task(piece, team, Adding(into, piece, numbers, team), *parts)

    told = list(map_pieces(source, here, team, *chosen, *columns))
    return [one.total(extent.n_rows) for one in into], told


def _together(sums: list[PartialSum], others: list[PartialSum]) -> list[PartialSum]:
    """Sums of some tiles, with those of others merged into them."""
    for one, other in zip(sums, others, strict=True):
        one.merge(other)
    return sums


def _fit(piece: Piece, sizes: list[tuple[int, int]]) -> bool:
    """Whether the sums of all tiles are few enough to be there at the same time."""
    return all(-(-piece.length // tile) * size <= AT_A_TIME for size, tile in sizes)


def _begun(sizes: list[tuple[int, int]]) -> list[LeafSums]:
    return [LeafSums(size, tile) for size, tile in sizes]


def _ended(sums: list[LeafSums]) -> list[PartialSum]:
    return [one.ended() for one in sums]


def _added_there(
    task: Callable[..., Any],
    chosen: bool,
    piece: Piece,
    team: Team,
    sums: list[LeafSums],
    *parts: Any,
) -> Any:
    """The same of a block, which begins with a tile, as does what its rows were chosen from."""
    first, stop = piece.among if chosen else (piece.start, piece.start + piece.length)
    for one in sums:
        one.begin(first)
    numbers, parts = (parts[0], parts[1:]) if chosen else (None, parts)
    told = task(piece, team, Adding(sums, piece, numbers, team), *parts)
    for one in sums:
        one.end(stop)
    return told

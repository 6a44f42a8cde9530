"""Sums over the rows of a source in tiles, which depend neither on threads nor on blocks.

A tile has a fixed number of rows, by their numbers in the whole data. They are added one after the
other, from zero, and the tiles are then added in a fixed tree (`rosenblatt.tree_sums`). So anybody
can sum up any tiles that follow one another, and what they find is merged in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tree_sums import TILE, PartialSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Source

HIGHEST = 62  # level of a tree that anyone can have
WORTH = 8  # numbers to read in a tile for each number of its sum, at least


def tile_rows(source: Source) -> int:
    """The rows of a tile, by the whole data alone.

    Where rows are sparse, tiles are longer: else sums would take more room and time than the rows.
    """
    rows, size = TILE, source.n_features + 1
    while rows < source.n_rows and rows * source.n_entries < WORTH * size * source.n_rows:
        rows *= 2
    return rows


class TileSums:
    """Sums over tiles in the making, while the rows go by in order, whatever the blocks.

    Rows may begin with any tile. A tile whose rows are not all there yet waits for the others.

    Parameters
    ----------
    n_rows : int
        The rows of the whole data.
    tile : int
        The rows of a tile.
    size : int
        The numbers in a sum.
    """

    def __init__(self, n_rows: int, tile: int, size: int) -> None:
        self.n_rows, self.tile, self.size = n_rows, tile, size
        self.done = PartialSum(size)
        self._open: tuple[Floats, int] | None = None

    def add(
        self, start: int, stop: int, write: Callable[..., Any], each: Callable[..., Any], parts: int
    ) -> list[Any]:
        """Add the rows from `start` to `stop`, in about so many `parts`, side by side by `each`.

        ``write(start, stop, sums, used)`` is told some of these rows and adds each to the sum of
        its tile, a row of `sums` beginning with the tile of row `start`; and to `used` of the tile,
        how many rows had something to add. What it returns is returned for all parts.
        """
        first, last = start // self.tile, -(-stop // self.tile)
        sums, used = np.zeros((last - first, self.size)), np.zeros(last - first, np.int64)
        if self._open is not None:
            sums[0], used[0] = self._open
            self._open = None
        parts = max(1, min(parts, last - first))
        edges = [first + (last - first) * k // parts for k in range(parts + 1)]

        def part(k: int) -> Any:
            a, z = edges[k], edges[k + 1]
            rows = max(a * self.tile, start), min(z * self.tile, stop)
            return write(*rows, sums[a - first : z - first], used[a - first : z - first])

        found = each(part, range(parts))
        whole = last if stop == self.n_rows else stop // self.tile
        if whole < last:
            self._open = sums[-1].copy(), int(used[-1])
        here = np.flatnonzero(used[: whole - first])
        self.done.add(first, whole, first + here, sums if len(here) == len(sums) else sums[here])
        return list(found)

    def total(self) -> Floats:
        """The sum over all rows."""
        return self.done.total()

    @property
    def begun(self) -> tuple[Floats, int] | None:
        """The sum of a tile whose rows are not all there, and how many were added to it."""
        return self._open

    def go_on(self, begun: tuple[Floats, int] | None) -> None:
        """Begin in the middle of a tile, with what was `begun`."""
        self._open = begun

    def state(self) -> dict[str, Any]:
        """What is summed up so far, as plain values."""
        nodes = sorted(self.done.nodes.items(), key=lambda node: node[0])
        vectors = [np.zeros(self.size) if v is None else v for _, v in nodes]
        begun, count = (np.empty(0), 0) if self._open is None else self._open
        return {
            "places": np.array([place for place, _ in nodes], np.int64).reshape(-1, 2),
            "vectors": np.array(vectors).reshape(-1, self.size),
            "empty": np.array([v is None for _, v in nodes], np.bool_),
            "begun": begun,
            "count": count,
        }

    def restore(self, state: Any) -> None:
        """Go on from such a state; ValueError if it makes no sense."""
        places, vectors, empty = state["places"], state["vectors"], state["empty"]
        begun, count = state["begun"], state["count"]
        shapes = [array.shape for array in (places, vectors, empty)]
        m = len(empty)
        sound = shapes == [(m, 2), (m, self.size), (m,)] and begun.size in (0, self.size)
        sound = sound and type(count) is int and bool((places >= 0).all())
        if not sound or (places[:, 0] > HIGHEST).any():
            msg = f"sums of shapes {shapes}"
            raise ValueError(msg)
        for (level, k), vector, nothing in zip(places.tolist(), vectors, empty, strict=True):
            self.done.nodes[level, k] = None if nothing else vector.copy()
        self._open = (begun.copy(), count) if begun.size else None

"""A random order of rows that needs no list of them: tile by tile, for data that lie on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

NUMBERS = 1 << 20  # in a tile, about
ROWS = 256  # of which tiles have a multiple


def rows_to_shuffle(n_features: int) -> int:
    """Rows of a tile: by the number of features alone, so that blocks and threads do not matter."""
    return max(1, NUMBERS // n_features // ROWS) * ROWS


class TileOrder:
    """The tiles in a random order, and the rows of each in a random order.

    A tile's rows are drawn when it is visited, from a seed of its own: `key` and its number.
    Iterating gives the position at which each tile begins, and its rows.
    """

    def __init__(self, n: int, rows: int, key: list[int]) -> None:
        self.size, self.rows, self.key = n, rows, key

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        position = 0
        for tile in np.random.default_rng(self.key).permutation(-(-self.size // self.rows)):
            start = int(tile) * self.rows
            length = min(self.rows, self.size - start)
            rng = np.random.default_rng([*self.key, 1 + int(tile)])
            yield position, start + rng.permutation(length)
            position += length

    def whole(self) -> NDArray[np.int64]:
        """All rows in this order."""
        return np.concatenate([rows for _, rows in self])

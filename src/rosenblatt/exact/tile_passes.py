"""Passes in tiles of rows, whose sums have the same bits however the rows are cut.

What is computed of a row depends on nothing but that row, unlike in a matrix product; and rows
are summed tile by tile, a tile being `TILE` rows by their numbers in all the data, in a fixed tree.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact.blocks import ENTRIES, RowBlock, Stack, block_of, shape, tiles
from rosenblatt.tree_sums import TILE, PartialSum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints

TERMS = TILE + 64  # roundings on the way of a number into a sum, at most
FEW_NUMBERS = 1 << 22  # in rows that rather travel than all others are read for them


class Listed(NamedTuple):
    """A column of zeros, but for some rows, ascending."""

    rows: Ints
    values: Any

    def cut(self, first: int, last: int) -> Listed:
        """What of it the rows from `first` to `last` have, by their numbers there."""
        a, z = np.searchsorted(self.rows, (first, last))
        return Listed(self.rows[a:z] - first, self.values[a:z])

    def whole(self, length: int) -> NDArray[Any]:
        """All of it, zeros too."""
        out = np.zeros(length, self.values.dtype)
        out[self.rows] = self.values
        return out


def is_dense(X: Any) -> bool:
    """Whether a matrix, or what is in the blocks of one, is an array."""
    if not isinstance(X, Stack):
        return isinstance(X, np.ndarray)
    return X.far.dense if X.far is not None else isinstance(next(iter(X)), np.ndarray)


def first_rows(X: Any, count: int) -> RowBlock:
    """The first rows of a matrix; of one in blocks here, as far as they are in the first block."""
    count = min(count, shape(X)[0])
    if isinstance(X, Stack):
        X = X[np.arange(count)] if X.far is not None else next(iter(X))
    return block_of(X, 0, min(count, X.shape[0]))


def map_tiles(
    X: Any, task: Callable[..., Any], columns: Sequence[NDArray[Any] | Listed] = ()
) -> Iterator[Any]:
    """``task(block, first, ...)`` for some whole tiles after the other, in their order.

    `first` is the number of the first row of a block. Of `columns`, which have a number for each
    row, the task is given its rows'. Blocks in other processes are looked at there.
    """
    if isinstance(X, Stack) and X.far is not None:
        for found in X.far.map(partial(_on_matrix, task), *columns):
            yield from found
        return
    d = shape(X)[1]
    for first, matrix in tiles(X, TILE * max(1, ENTRIES // (TILE * max(d, 1)))):
        count = matrix.shape[0]
        parts = (
            column.cut(first, first + count).whole(count)
            if isinstance(column, Listed)
            else column[first : first + count]
            for column in columns
        )
        yield task(block_of(matrix, 0, count), first, *parts)


def _on_matrix(
    task: Callable[..., Any], matrix: Any, first: int, *columns: NDArray[Any]
) -> list[Any]:
    """The same for a matrix that begins with a tile."""
    assert first % TILE == 0
    found = map_tiles(matrix, _shifted(task, first), columns)
    with np.errstate(all="ignore"):
        return list(found)


def _shifted(task: Callable[..., Any], by: int) -> Callable[..., Any]:
    return lambda block, first, *columns: task(block, first + by, *columns)


def tile_totals(first: int, numbers: Floats) -> Floats:
    """The sums over the tiles of rows from `first` on, which begins one."""
    assert first % TILE == 0
    return np.add.reduceat(numbers, np.arange(0, len(numbers), TILE), axis=0)


def sum_of_rows(X: Any, rows: Ints, v: Floats) -> tuple[Floats, Floats]:
    """``Σ_k v_k x_rows[k]`` for ascending rows, and the same of the sizes of all products."""
    n, d = shape(X)
    far = isinstance(X, Stack) and X.far is not None
    whole = PartialSum(2 * d)
    if far and len(rows) * d <= FEW_NUMBERS:
        found = _added(X[rows].astype(np.float64, copy=False), rows, v) if len(rows) else None
        whole.add(0, -(-n // TILE), *(found or (rows, np.empty((0, 2 * d)))))
    elif far:
        for part in X.far.map(_of_matrix, Listed(rows, v)):
            whole.merge(part)
    else:
        for part in map_tiles(X, partial(_of_listed, rows, v)):
            whole.merge(part)
    total = whole.total()
    return total[:d], total[d:]


def _of_matrix(matrix: Any, first: int, v: Floats) -> PartialSum:
    """The sum over the rows of a matrix, which begins with a tile, that have a number in v."""
    whole = PartialSum(2 * matrix.shape[1])
    for part in _on_matrix(_of_block, matrix, first, v):
        whole.merge(part)
    return whole


def _of_block(block: RowBlock, first: int, v: Floats) -> PartialSum:
    some = np.flatnonzero(v)
    return _part(block, first, first + some, v[some])


def _of_listed(rows: Ints, v: Floats, block: RowBlock, first: int) -> PartialSum:
    here = slice(*np.searchsorted(rows, [first, first + len(block)]))
    return _part(block, first, rows[here], v[here])


def _part(block: RowBlock, first: int, rows: Ints, v: Floats) -> PartialSum:
    """The sum over the listed rows of a block."""
    part = PartialSum(2 * block.floats.shape[1])
    edges = first // TILE, -(-(first + len(block)) // TILE)
    X = block.floats if len(rows) == len(block) else block.floats[rows - first]
    found = _added(X, rows, v) if len(rows) else (rows, np.empty((0, part.size)))
    part.add(*edges, *found)
    return part


def _added(X: Floats, rows: Ints, v: Floats) -> tuple[Ints, Floats]:
    """The tiles that have some of the rows, and the sum over each with that of the sizes."""
    d = X.shape[1]
    both = np.empty((len(X), 2 * d))
    np.multiply(X, v[:, np.newaxis], out=both[:, :d])
    np.abs(both[:, :d], out=both[:, d:])
    leaves, begins = np.unique(rows // TILE, return_index=True)
    return leaves, np.add.reduceat(both, begins, axis=0)

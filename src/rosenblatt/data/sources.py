"""Where blocks of rows come from. A solver sees a source, never a matrix."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import vstack

from rosenblatt.data.rows import (
    Block,
    Rows,
    as_matrix,
    as_rows,
    n_entries,
    n_rows,
    slice_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

IN_ORDER = np.empty(0, np.int64)


class Piece(NamedTuple):
    """A run of positions of an epoch that lie in one block.

    Attributes
    ----------
    block : Block
    start : int
        Number of the block's first row in the whole data.
    order : int64 array
        The block's rows in the order of the run; empty: all of them as they stand.
    offset, length : int
        The run's first position in the epoch, and how many there are.
    """

    block: Block
    start: int
    order: NDArray[np.int64]
    offset: int
    length: int


class Source(Protocol):
    """Labelled rows in blocks, to be passed over again and again, always in the same order."""

    n_rows: int
    n_features: int
    n_entries: int
    weighted: bool

    def pieces(self, order: NDArray[np.int64] = IN_ORDER) -> Iterator[Piece]:
        """The data in the given order of rows; empty: block after block, as it stands."""
        ...


class MemorySource:
    """Rows in memory: one block, or several of `block_size` rows.

    Parameters
    ----------
    rows : DenseRows or CsrRows
    label : int32 array
        The number of each row's class.
    n_features : int
    weight : float64 array, optional
        A weight per row; None: all 1.
    factor : float64 array, optional
        What weights are multiplied by in each problem, in the rest and in its class; None: 1.
    block_size : int, optional
        Rows per block. The result of a fit does not depend on it.
    """

    def __init__(
        self,
        rows: Rows,
        label: NDArray[np.int32],
        n_features: int,
        weight: NDArray[np.float64] | None = None,
        factor: NDArray[np.float64] | None = None,
        block_size: int | None = None,
    ) -> None:
        self.n_rows = n_rows(rows)
        self.n_features = n_features
        self.n_entries = max(1, n_entries(rows))
        self.weighted = weight is not None or factor is not None
        self._parts = label, weight, factor, block_size
        size = block_size or self.n_rows
        weights = np.empty(0) if weight is None else weight
        factors = np.empty((0, 0)) if factor is None else factor
        self._starts = list(range(0, self.n_rows, size))
        self._blocks = [
            Block(slice_rows(rows, a, z), label[a:z], weights[a:z], factors)
            for a, z in ((a, a + size) for a in self._starts)
        ]

    def with_rows(self, rows: Rows) -> MemorySource:
        """Other rows, as many, with the same labels and weights."""
        label, weight, factor, block_size = self._parts
        return MemorySource(rows, label, self.n_features, weight, factor, block_size)

    def pieces(self, order: NDArray[np.int64] = IN_ORDER) -> Iterator[Piece]:
        """The data in the given order of rows; empty: block after block, as it stands."""
        if not order.size:
            for start, block in zip(self._starts, self._blocks, strict=True):
                yield Piece(block, start, IN_ORDER, start, len(block.label))
            return
        if len(self._blocks) == 1:
            yield Piece(self._blocks[0], 0, order, 0, len(order))
            return
        home = np.searchsorted(self._starts, order, side="right") - 1
        cuts = [0, *(np.flatnonzero(np.diff(home)) + 1), len(order)]
        for a, z in pairwise(int(cut) for cut in cuts):
            start = self._starts[home[a]]
            yield Piece(self._blocks[home[a]], start, order[a:z] - start, a, z - a)


def whole_block(source: Source) -> Block:
    """All blocks of a source as one; of a single one nothing is copied."""
    blocks = [piece.block for piece in source.pieces()]
    if len(blocks) == 1:
        return blocks[0]
    parts = [as_matrix(block.rows, source.n_features) for block in blocks]
    dense = isinstance(parts[0], np.ndarray)
    X = np.concatenate(parts) if dense else vstack(parts, format="csr")
    label = np.concatenate([block.label for block in blocks])
    weight = np.concatenate([block.weight for block in blocks])
    return Block(as_rows(X), label, weight, blocks[0].factor)


def gathered(source: Source) -> Any:
    """All rows of a source as one matrix."""
    return as_matrix(whole_block(source).rows, source.n_features)

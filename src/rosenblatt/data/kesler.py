"""The vectors of Kesler's construction as a source: all classes as one problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from rosenblatt.data.rows import Block, as_matrix, as_rows, row_weights
from rosenblatt.data.sources import IN_ORDER, Piece
from rosenblatt.exact.kesler import kesler_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Order, Source

ROOM = 1 << 25  # numbers, of 12 bytes each, up to which vectors stay in memory
TILE = 1 << 22  # numbers that are made at a time


class KeslerSource:
    """The vectors ``z`` of all pairs of a sample and a rival, all of them of class 1.

    There are ``n(K - 1)`` of them with ``K(d + 1)`` features, of which twice d + 1 are not zero.
    Where they are too many to be kept they are made anew on each pass. With `origin` the zero
    vector comes last, as the only one of class 0: a hyperplane that has it on one side and all z on
    the other says ``Θ·z > 0``. `first` as in `kesler_vectors`.
    """

    def __init__(
        self, source: Source, n_classes: int, bias: bool, first: int = 0, origin: bool = False
    ) -> None:
        self._source, self._n_classes, self._bias, self._first = source, n_classes, bias, first
        self._origin, self.weighted = origin, source.weighted
        self.n_rows = source.n_rows * (n_classes - 1) + origin
        self.n_features = (n_classes - first) * (source.n_features + 1)
        self.n_entries = 2 * (n_classes - 1) * (source.n_entries + source.n_rows)
        self.lasting = self.resident = source.resident and self.n_entries <= ROOM
        self._kept: list[Piece] = list(self._make()) if self.resident else []

    def _make(self) -> Iterator[Piece]:
        d, more = self._source.n_features, self._n_classes - 1
        step = max(1, TILE * self._source.n_rows // self.n_entries)
        for piece in self._source.pieces():
            X = as_matrix(piece.block.rows, d)
            for a in range(0, piece.length, step):
                rows = np.arange(a, min(a + step, piece.length))
                block = self._vectors(X[rows[0] : rows[-1] + 1], piece.block, rows)
                start = (piece.start + a) * more
                yield Piece(block, start, IN_ORDER, start, len(rows) * more)
        if self._origin:
            zero = as_rows(csr_array((1, self.n_features)))
            block = Block(zero, np.zeros(1, np.int32), np.empty(0), np.empty((0, 0)))
            yield Piece(block, self.n_rows - 1, IN_ORDER, self.n_rows - 1, 1)

    def _vectors(self, X: object, block: Block, rows: NDArray[np.int64]) -> Block:
        label, more = block.label[rows], self._n_classes - 1
        Z = kesler_vectors(X, label, self._n_classes, bias=self._bias, first=self._first)
        weight = np.empty(0)
        if self.weighted:
            weight = np.repeat(row_weights(block, label, rows), more)
        return Block(as_rows(Z), np.ones(len(label) * more, np.int32), weight, np.empty((0, 0)))

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """Block after block, as they stand."""
        assert not order.size
        yield from self._kept if self.resident else self._make()

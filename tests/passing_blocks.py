"""A source of blocks for tests: made anew on each pass, and spoiled when the next is asked for."""

import numpy as np

from rosenblatt.data.rows import Block, as_matrix, as_rows
from rosenblatt.data.sources import IN_ORDER, MemorySource, Piece


class PassingSource:
    """Blocks of `size` rows, each a fresh copy that turns to NaN when the next one is made.

    Whoever needs two blocks at a time, or one after the pass, computes with NaN and is found out.
    """

    lasting = resident = False

    def __init__(self, X, label, size, weight=None, factor=None):
        self._X, self._label, self._size = X, np.asarray(label, np.int32), size
        self._weight = np.empty(0) if weight is None else np.asarray(weight, np.float64)
        self._factor = np.empty((0, 0)) if factor is None else factor
        self._last, self.passes = None, 0
        self.n_rows, self.n_features = X.shape
        self.n_entries = max(1, X.size if isinstance(X, np.ndarray) else X.nnz)
        self.weighted = weight is not None or factor is not None

    def pieces(self, order=IN_ORDER):
        assert not order.size, "a stream has no other order than its own"
        self.passes += 1
        for start in range(0, self.n_rows, self._size):
            self._spoil()
            part = slice(start, start + self._size)
            X = self._X[part].copy()
            self._last = X if isinstance(X, np.ndarray) else X.data
            label = self._label[part].copy()
            block = Block(as_rows(X), label, self._weight[part].copy(), self._factor)
            yield Piece(block, start, IN_ORDER, start, len(label))
        self._spoil()

    def _spoil(self):
        if self._last is not None:
            self._last.setflags(write=True)
            self._last[:] = np.nan


def as_passing(source, size):
    """The one block of a source in memory, as passing blocks of `size` rows."""
    (piece,) = source.pieces()
    block = piece.block
    X = as_matrix(block.rows, source.n_features)
    weight = block.weight if block.weight.size else None
    factor = block.factor if block.factor.size else None
    return PassingSource(X, block.label, size, weight, factor)


def in_one_block(X, label, weight=None):
    """The same rows as a source in memory."""
    return MemorySource(as_rows(X), np.asarray(label, np.int32), X.shape[1], weight)

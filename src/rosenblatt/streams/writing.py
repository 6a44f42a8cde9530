"""Features written to disk block by block, dense or CSR, and mapped as one matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import canonical
from rosenblatt.data.rows import csr_of_parts
from rosenblatt.matrices import table

if TYPE_CHECKING:
    from rosenblatt.streams.cache import Cache, GrowingFile

LONG = np.iinfo(np.int32).max


class FeatureWriter:
    """Rows of features, which in the end are a matrix on disk.

    The first block says what all have to be: how many features, dense or sparse, and whether in
    single or double precision.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache, self.n_rows, self.n_features = cache, 0, -1
        self._kind: tuple[bool, Any] | None = None
        self._entries: GrowingFile | None = None
        self._columns: GrowingFile | None = None
        self._starts: GrowingFile | None = None

    def add(self, X: Any) -> int:
        """Write the next rows, which are finite numbers; how many there are."""
        n, d = X.shape
        if not d:
            msg = f"row {self.n_rows + 1} begins a block without features: give at least one"
            raise ValueError(msg)
        kind = issparse(X), X.dtype
        if self._entries is None:
            self.n_features, self._kind = d, kind
            self._entries = self._cache.file(X.dtype)
            if kind[0]:
                self._columns, self._starts = (self._cache.file(np.int64) for _ in range(2))
                self._starts.append(np.zeros(1, np.int64))
        if d != self.n_features or kind != self._kind:
            self._refuse(X)
        if issparse(X):
            assert self._columns is not None
            assert self._starts is not None
            before = self._entries.length
            self._columns.append(X.indices)
            self._starts.append(X.indptr[1:] + np.int64(before))
            X = X.data
        self._entries.append(X)
        self.n_rows += n
        return int(n)

    def _refuse(self, X: Any) -> None:
        assert self._kind is not None
        sparse, dtype = self._kind
        was = f"{self.n_features} {'sparse ' * sparse}features of {dtype}"
        now = f"{X.shape[1]} {'sparse ' * issparse(X)}features of {X.dtype}"
        told = f"row {self.n_rows + 1} begins a block of {now}, but the first was one of {was}"
        msg = f"{told}: give all blocks alike"
        raise ValueError(msg)

    def finished(self) -> Any:
        """All rows, as a read-only array or CSR array on disk."""
        if self._entries is None or not self.n_rows:
            msg = "there are no rows: give at least one"
            raise ValueError(msg)
        shape = self.n_rows, self.n_features
        if self._columns is None or self._starts is None:
            return self._entries.mapped(*shape)
        starts, columns = self._starts.mapped(), self._columns.mapped()
        if max(self._entries.length, *shape) <= LONG:  # as SciPy wants them: both alike
            starts, columns = (self._narrowed(part) for part in (starts, columns))
        return csr_of_parts(self._entries.mapped(), columns, starts, shape)

    def _narrowed(self, numbers: Any) -> Any:
        file, step = self._cache.file(np.int32), 1 << 20
        for a in range(0, len(numbers), step):
            file.append(numbers[a : a + step])
        return file.mapped()


def checked_rows(X: Any, first: int) -> Any:
    """A block of samples as a float array or CSR matrix; its rows are numbered from `first` on."""
    made: Any = table("X", X)
    made = canonical(made) if issparse(made) else np.asarray(made)
    if made.ndim != 2:
        msg = f"the block that begins with row {first} has shape {made.shape}: give rows of numbers"
        raise ValueError(msg)
    if made.dtype not in (np.float32, np.float64):
        made = made.astype(np.float64)
    values = made.data if issparse(made) else made
    if not np.isfinite(values).all():
        if issparse(made):
            place = int(np.argmin(np.isfinite(made.data)))
            row = int(np.searchsorted(made.indptr, place, side="right")) - 1
            column = int(made.indices[place])
        else:
            row, column = (int(k) for k in np.argwhere(~np.isfinite(made))[0])
        value = made[row, column]
        msg = f"X holds {value} in row {first + row}, column {column + 1}: give finite numbers"
        raise ValueError(msg)
    return made

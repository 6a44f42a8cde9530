"""Samples in blocks that fit the cache, dense or CSR: the only place where the two differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.integers import as_objects, decompose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Objects = NDArray[np.object_]

ENTRIES = 2**16  # per block
NONE = 2**40  # an exponent larger than any


def _rounded(values: NDArray[Any], floats: Floats) -> NDArray[np.bool_]:
    """Where integers are too long for a float: it may not be the same number."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return np.abs(floats) >= 2.0**53
    return np.zeros(values.shape, dtype=bool)


@dataclass(frozen=True)
class Dense:
    """Rows of an array, as they are in `values` and as floats."""

    values: NDArray[Any]
    floats: Floats

    def __len__(self) -> int:
        return len(self.values)

    def dot(self, t: Floats) -> Floats:
        """``x_i · t``, rounded."""
        products: Floats = self.floats @ t
        return products

    def size_dot(self, t: Floats) -> Floats:
        """``|x_i| · t``, rounded."""
        products: Floats = np.abs(self.floats) @ t
        return products

    def sum(self, v: Floats) -> Floats:
        """``Σ_i v_i x_i``, rounded."""
        total: Floats = v @ self.floats
        return total

    def longest(self) -> tuple[int, int]:
        """How many terms a sum along a row has at most, and one along a column."""
        m, d = self.floats.shape
        return d, m

    def scaled(self, exponents: Ints) -> Dense:
        """Columns times powers of two, among the floats."""
        return Dense(self.values, np.ldexp(self.floats, exponents.astype(np.intc)))

    def largest(self) -> Floats:
        """The largest size in each column."""
        sizes: Floats = np.abs(self.floats).max(axis=0, initial=0.0)
        return sizes

    def units(self, low: Ints) -> Ints:
        """The smallest ``E_ij + low_j`` in each row, where ``x_ij`` is odd times ``2**E_ij``."""
        M, E = decompose(self.floats)
        smallest: Ints = np.where(M == 0, NONE, E + low).min(axis=1, initial=NONE)
        return smallest

    def rounded(self) -> NDArray[np.bool_]:
        """Rows whose floats are not the numbers given."""
        return np.asarray(_rounded(self.values, self.floats).any(axis=1))

    def take(self, rows: Any) -> Dense:
        """The chosen rows."""
        return Dense(self.values[rows], self.floats[rows])

    def exact(self, numbers: Objects) -> Iterator[tuple[Any, int]]:
        """``Σ_j x_ij numbers_j`` as ``(n, e)``, the sum being ``n * 2**e``, for each row."""
        used = np.unique(np.nonzero(numbers)[0])
        numbers, values = numbers[used], self.values[:, used]
        if values.dtype.kind in "iu":
            yield from zip(values.astype(object) @ numbers, [0] * len(values), strict=True)
            return
        M, E = decompose(values)
        e = E.min(axis=1, initial=0)
        products = as_objects(M, np.where(M == 0, 0, E - e[:, None])) @ numbers
        yield from zip(products, e.tolist(), strict=True)


@dataclass(frozen=True)
class Sparse:
    """Rows in compressed form; `starts` has one entry more than there are rows."""

    values: NDArray[Any]
    floats: Floats
    columns: NDArray[Any]
    starts: NDArray[Any]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def _by_row(self, ufunc: np.ufunc, entries: NDArray[Any], empty: Any) -> NDArray[Any]:
        """A sum, minimum, ... over the entries of each row."""
        result = np.full(len(self), empty, dtype=entries.dtype)
        filled = np.diff(self.starts) > 0
        if filled.any():
            result[filled] = ufunc.reduceat(entries, self.starts[:-1][filled])
        return result

    def dot(self, t: Floats) -> Floats:
        """``x_i · t``, rounded."""
        return self._by_row(np.add, self.floats * t[self.columns], 0.0)

    def size_dot(self, t: Floats) -> Floats:
        """``|x_i| · t``, rounded."""
        return self._by_row(np.add, np.abs(self.floats) * t[self.columns], 0.0)

    def sum(self, v: Floats) -> Floats:
        """``Σ_i v_i x_i``, rounded."""
        products = self.floats * np.repeat(v, np.diff(self.starts))
        total = np.bincount(self.columns, products, self.width)
        return total.astype(np.float64, copy=False)

    def longest(self) -> tuple[int, int]:
        """How many terms a sum along a row has at most, and one along a column."""
        columns = np.bincount(self.columns, minlength=1)
        return int(np.diff(self.starts).max(initial=0)), int(columns.max())

    def scaled(self, exponents: Ints) -> Sparse:
        """Columns times powers of two, among the floats."""
        floats = np.ldexp(self.floats, exponents.astype(np.intc)[self.columns])
        return replace(self, floats=floats)

    def largest(self) -> Floats:
        """The largest size in each column."""
        sizes = np.zeros(self.width)
        np.maximum.at(sizes, self.columns, np.abs(self.floats))
        return sizes

    def units(self, low: Ints) -> Ints:
        """The smallest ``E_ij + low_j`` in each row, where ``x_ij`` is odd times ``2**E_ij``."""
        M, E = decompose(self.floats)
        return self._by_row(np.minimum, np.where(M == 0, NONE, E + low[self.columns]), NONE)

    def rounded(self) -> NDArray[np.bool_]:
        """Rows whose floats are not the numbers given."""
        return self._by_row(np.logical_or, _rounded(self.values, self.floats), False)

    def take(self, rows: Any) -> Sparse:
        """The chosen rows."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.starts[:-1][rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Sparse(
            self.values[entries], self.floats[entries], self.columns[entries], starts, self.width
        )

    def exact(self, numbers: Objects) -> Iterator[tuple[Any, int]]:
        """``Σ_j x_ij numbers_j`` as ``(n, e)``, the sum being ``n * 2**e``, for each row."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            row = Dense(self.values[None, start:stop], self.floats[None, start:stop])
            yield from row.exact(numbers[self.columns[start:stop]])


Block = Dense | Sparse


def shape(X: Any) -> tuple[int, int]:
    """Rows and columns."""
    n, d = X.shape
    return int(n), int(d)


def blocks(X: Any) -> Iterator[tuple[int, Block]]:
    """The first row number and the rows, block by block; nothing larger is copied.

    X is an array of floats or integers, or a CSR matrix of these without duplicate entries.
    """
    n, d = shape(X)
    if not hasattr(X, "indptr"):
        step = max(1, ENTRIES // max(d, 1))
        for start in range(0, n, step):
            values = X[start : start + step]
            yield start, Dense(values, values.astype(np.float64, copy=False))
        return
    start = 0
    while start < n:
        stop = int(np.searchsorted(X.indptr, X.indptr[start] + ENTRIES, side="right")) - 1
        stop = min(max(stop, start + 1), start + ENTRIES, n)
        part = slice(int(X.indptr[start]), int(X.indptr[stop]))
        values = X.data[part]
        floats = values.astype(np.float64, copy=False)
        starts = X.indptr[start : stop + 1].astype(np.int64) - part.start
        yield start, Sparse(values, floats, X.indices[part], starts, d)
        start = stop

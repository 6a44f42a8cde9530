"""Support vectors in memory, dense or sparse, each in a slot of its own; and such matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from rosenblatt.data.rows import as_rows
from rosenblatt.kernel.loops import dots

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Rows


FEW_COLUMNS = 8  # so many columns of factors are summed in double precision at little cost


class Batch(NamedTuple):
    """Some samples, ready for matrix products: X is in the working precision, where they are made.

    Of sparse data it is transposed, and dense unless they are very sparse.
    """

    sample: Ints
    X: Any
    x2: Any


class Addends(NamedTuple):
    """Some support vectors, ready for matrix products, and the factors of their kernel values."""

    Y: Any
    y2: Any
    factors: Any


class SupportVectors:
    """The support vectors: as they were given, and in the working precision, less a center."""

    def __init__(self, n_features: int, dtype: Any, kind: Any, center: Any = None) -> None:
        self.given, self.center = np.empty((0, n_features), dtype), center
        same = dtype == kind and center is None
        self.work = self.given if same else np.empty((0, n_features), kind)
        self.y2 = np.empty(0)
        self.borrowed = False

    def begin(self, vectors: Any, y2: Floats) -> None:
        """Have these vectors in the first slots; they are not copied before one is replaced."""
        if vectors.dtype == self.given.dtype and self.work is self.given:
            self.given = self.work = np.ascontiguousarray(vectors)
            self.y2, self.borrowed = y2, True
        else:
            self.reserve(len(y2))
            self.put(np.arange(len(y2)), vectors, y2)

    def reserve(self, size: int) -> None:
        """Make room for so many vectors."""
        if size > len(self.given):
            same, self.borrowed = self.work is self.given, False
            size = max(size, 2 * len(self.given))
            self.given = grown(self.given, size)
            self.work = self.given if same else grown(self.work, size)
            self.y2 = grown(self.y2, size)

    def put(self, slots: Ints, X: Any, y2: Floats) -> None:
        """Put vectors into slots."""
        if self.borrowed:
            self.given = self.work = self.given.copy()
            self.borrowed = False
        self.given[slots], self.y2[slots] = X, y2
        if self.work is not self.given:
            self.work[slots] = self.moved(X)

    def moved(self, X: Any) -> Any:
        """Vectors less the center."""
        return X if self.center is None else X - self.center

    def change_precision(self, kind: Any) -> None:
        """Work in this precision from now on."""
        self.work = self.moved(self.given).astype(kind, copy=False)

    def at(self, slots: Ints) -> tuple[Any, Any]:
        """The vectors of the slots in the working precision, and their squared norms."""
        found = as_slice(slots)
        return self.work[found], self.y2[found].astype(self.work.dtype)

    def multiply(self, batch: Batch, Y: Any, room: Any) -> Any:
        """Inner products of the samples with vectors."""
        out = room(len(batch.X), len(Y), Y.dtype)
        return np.matmul(batch.X, Y.T, out=out)

    def rows(self, slots: Ints) -> tuple[Rows, Ints]:
        """Rows as given, and which of them are the vectors of the slots."""
        return as_rows(self.given), slots

    def matrix(self, slots: Ints) -> Any:
        """The vectors of the slots as given."""
        return self.given[slots]


class SparseVectors(SupportVectors):
    """Support vectors in CSR form. They are only ever added; a slot says where its vector is."""

    def __init__(self, n_features: int, dtype: Any, kind: Any, center: Any = None) -> None:
        super().__init__(0, dtype, kind)
        self.where, self.kind = np.zeros(0, np.int64), kind
        self.vectors = csr_array((0, n_features), dtype=dtype)
        self.dtype = dtype
        self._new: list[Any] = []
        self._n = 0

    def reserve(self, size: int) -> None:
        """Make room for so many vectors."""
        if size > len(self.where):
            size = max(size, 2 * len(self.where))
            self.where, self.y2 = grown(self.where, size), grown(self.y2, size)

    def begin(self, vectors: Any, y2: Floats) -> None:
        """Have these vectors in the first slots."""
        self.reserve(len(y2))
        self.put(np.arange(len(y2)), vectors, y2)

    def put(self, slots: Ints, X: Any, y2: Floats) -> None:
        """Put vectors into slots."""
        self.where[slots] = self._n + np.arange(len(slots))
        self.y2[slots] = y2
        self._n += len(slots)
        self._new.append(X.astype(self.dtype, copy=False))

    def change_precision(self, kind: Any) -> None:
        """Work in this precision from now on."""
        self.kind = kind

    def _all(self) -> Any:
        if self._new:
            self.vectors = appended([self.vectors, *self._new])
            self._new = []
            if self._n > 4 * max(len(self.where), 64):  # mostly vectors that were replaced
                self.vectors = self.vectors[self.where]
                self.where, self._n = np.arange(len(self.where)), len(self.where)
        return self.vectors

    def at(self, slots: Ints) -> tuple[Any, Any]:
        """The vectors of the slots in the working precision, and their squared norms."""
        Y = self._all()[as_slice(self.where[slots])].astype(self.kind, copy=False)
        return Y, self.y2[slots].astype(self.kind)

    def multiply(self, batch: Batch, Y: Any, room: Any) -> Any:
        """Inner products of the samples with vectors."""
        Z = Y @ batch.X
        return (Z.toarray() if issparse(Z) else Z).T

    def rows(self, slots: Ints) -> tuple[Rows, Ints]:
        """Rows as given, and which of them are the vectors of the slots."""
        return as_rows(self._all()), self.where[slots]

    def matrix(self, slots: Ints) -> Any:
        """The vectors of the slots as given."""
        return self._all()[self.where[slots]]


def as_slice(numbers: Ints) -> Any:
    """The same as a slice if they follow one another: nothing is copied then."""
    n = len(numbers)
    if n and numbers[-1] - numbers[0] == n - 1 and (numbers[1:] > numbers[:-1]).all():
        return slice(int(numbers[0]), int(numbers[0]) + n)
    return numbers


def grown(array: Any, size: int) -> Any:
    """A copy with room for `size` rows; the new ones are zero."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def appended(parts: list[Any]) -> Any:
    """Matrices, or lists of columns, one after the other."""
    if issparse(parts[0]):
        return csr_array(vstack(parts, format="csr"))
    return np.concatenate(parts)


def times_factors(K: Any, factors: Any) -> Any:
    """``K @ factors``, for few columns in double precision."""
    if factors.shape[1] > FEW_COLUMNS:
        return K @ factors
    out = np.empty((len(K), factors.shape[1]))
    dots(np.ascontiguousarray(K), np.ascontiguousarray(factors.T), out)
    return out

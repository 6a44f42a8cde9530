"""Kernel values that come from elsewhere: a function of the user's, or a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.kernel import kernel_values as blocks
from rosenblatt.kernel.kernel_values import Values
from rosenblatt.kernel.support_vectors import (
    Batch,
    SupportVectors,
    as_slice,
    grown,
    parts_of,
    times_factors,
)
from rosenblatt.kernels import Precomputed
from rosenblatt.kernels.functions import Rounding

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernels import Kernel


class FunctionValues(Values):
    """Values of a function of the user's."""

    def _measure(self) -> None:
        self.x2, self.most, self.no_negatives = np.zeros(self.n), 0.0, False

    @property
    def largest(self) -> float:
        """A bound on the size of all values; of a function nothing is known."""
        return 1.0

    def _precision(self) -> Any:
        self._refuse_overflow()
        return np.float64

    def _measure_vectors(self, vectors: Any) -> Floats:
        return np.zeros(vectors.shape[0])

    def batch(self, sample: Ints) -> Batch:
        """These samples, ready."""
        return Batch(sample, self.X[as_slice(sample)], self.x2[sample])

    def part(self, batch: Batch, a: int, z: int) -> Batch:
        """Samples a to z of a batch."""
        return Batch(batch.sample[a:z], batch.X[a:z], batch.x2[a:z])

    def matrix(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots."""
        return self.kernel(batch.X, self.support.matrix(slots)) + self.bias

    def _between(self, vectors: Batch, batch: Batch) -> Any:
        return np.ascontiguousarray(self.kernel(batch.X, vectors.X).T) + self.bias

    def _part(self, K: Any, factors: Any, cut: int) -> Any:
        return np.hstack(
            [times_factors(K, factors[:, :cut]), times_factors(np.abs(K), factors[:, cut:])]
        )

    def rounding(self, sample: Ints, total: float, additions: int) -> Rounding:
        """Values count as exact: only their sums are rounded, if at all."""
        n = len(sample)
        if self.exact_sums(total):
            return Rounding(np.zeros(n), np.zeros(n))
        terms = self.longest + self.longest_double + additions + 8
        return Rounding(np.full(n, terms * 2.0**-52), np.full(n, 2.0**-1000))

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots."""
        values: Floats = self.kernel(self.X[[sample]], self.support.matrix(slots))[0]
        return values + self.bias


class GivenValues(FunctionValues):
    """Values that are given as a matrix: a column for each training sample."""

    def _measure(self) -> None:
        super()._measure()
        parts = (part for _, X in self._blocks() for part in parts_of(X))
        sizes = (float(np.abs(part).max(initial=0.0)) for part in parts)
        self.most = max(sizes, default=0.0)

    def _make_room(self, vectors: Any) -> None:
        self.column = np.zeros(0, np.int64)
        self.support = SupportVectors(0, self.X.dtype, self.kind)
        self.wide_rows, self.block_rows = blocks.WIDE_BLOCK, blocks.BLOCK

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        if len(slots):
            self.column = grown(self.column, max(len(self.column), int(slots.max()) + 1))
            self.column[slots] = sample

    def vectors(self, slots: Ints) -> Any:
        """The columns of the slots."""
        return self.column[slots]

    def _pairs(self, U: Any, V: Any) -> Floats:
        return _columns(self.X[U], V)

    def _load(self, vectors: Any, y2: Floats) -> None:
        """Let these columns be the vectors of the first slots."""
        self.column = np.asarray(vectors, np.int64).ravel()

    def matrix(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots."""
        return _columns(batch.X, self.column[slots]) + self.bias

    def _between(self, vectors: Batch, batch: Batch) -> Any:
        return np.ascontiguousarray(_columns(batch.X, vectors.sample).T) + self.bias

    @property
    def largest(self) -> float:
        """A bound on the size of all values."""
        return self.most + self.bias

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots."""
        values: Floats = _columns(self.X[[sample]], self.column[slots])[0] + self.bias
        return values


def values_for(kernel: Kernel, *args: Any, **options: Any) -> Values:
    """The values of a kernel of any kind."""
    if kernel.needs_features:
        return Values(kernel, *args, **options)
    kind = GivenValues if isinstance(kernel, Precomputed) else FunctionValues
    return kind(kernel, *args, **options)


def _columns(X: Any, columns: Ints) -> Floats:
    """Some columns of rows of a matrix, dense and in double precision."""
    picked = X[:, columns]
    return np.asarray(picked.toarray() if issparse(picked) else picked, np.float64)

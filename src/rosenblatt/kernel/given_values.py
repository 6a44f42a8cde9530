"""Kernel values that count as exact: those of a function, and those of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.kernel import kernel_values
from rosenblatt.kernel.kernel_values import Values
from rosenblatt.kernel.measured import parts_of
from rosenblatt.kernel.support_vectors import Batch, SupportVectors, as_slice, times_factors
from rosenblatt.kernels.functions import Rounding

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints


class FunctionValues(Values):
    """Values of a function of the user's, which count as exact."""

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

    def _with_vectors(self, X: Any, V: Any) -> Floats:
        """Values of samples with vectors."""
        values: Floats = self.kernel(X, V) + self.bias
        return values

    def _adds_sizes(self) -> bool:
        return True

    def _vectors(self, slots: Ints) -> tuple[Any, Any]:
        return self.support.matrix(slots), None

    def _with(self, batch: Batch, Y: Any, y2: Any) -> Any:
        return self._with_vectors(batch.X, Y)

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots."""
        values: Floats = self._with_vectors(self.X[[sample]], self.support.matrix(slots))[0]
        return values

    def between(self, vectors: Batch, batch: Batch) -> Any:
        """Values of some samples as vectors (rows) with others."""
        return np.ascontiguousarray(self._with_vectors(batch.X, vectors.X).T)

    def _part(self, K: Any, factors: Any, k: int) -> Any:
        return np.hstack(
            [times_factors(K, factors[:, :-k]), times_factors(np.abs(K), factors[:, -k:])]
        )

    def rounding(self, sample: Ints, total: float, additions: int) -> Rounding:
        """Only the sums are rounded, if at all."""
        n = len(sample)
        if self.exact_sums(total):
            return Rounding(np.zeros(n), np.zeros(n))
        terms = self.longest + self.longest_double + additions + 8
        return Rounding(np.full(n, terms * 2.0**-52), np.full(n, 2.0**-1000))


class GivenValues(FunctionValues):
    """Values that are given as a matrix: a vector is the number of its column."""

    def _measure(self) -> None:
        super()._measure()
        parts = (part for _, X in self._blocks() for part in parts_of(X))
        self.most = max((float(np.abs(part).max(initial=0.0)) for part in parts), default=0.0)

    @property
    def largest(self) -> float:
        """A bound on the size of all values."""
        return self.most + self.bias

    def _make_room(self, vectors: Any) -> None:
        self.support = SupportVectors(1, np.dtype(np.int64), np.int64)
        self.wide_rows, self.block_rows = kernel_values.WIDE_BLOCK, kernel_values.BLOCK

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        self.support.put(slots, sample[:, np.newaxis], self.x2[sample])

    def _with_vectors(self, X: Any, V: Any) -> Floats:
        picked = X[:, V[:, 0]]
        dense = np.asarray(picked.toarray() if issparse(picked) else picked, np.float64)
        values: Floats = dense + self.bias
        return values

    def between(self, vectors: Batch, batch: Batch) -> Any:
        """Values of some samples as vectors (rows) with others."""
        return np.ascontiguousarray(self._with_vectors(batch.X, vectors.sample[:, np.newaxis]).T)

    def _pairs(self, U: Any, V: Any) -> Floats:
        return self._with_vectors(self.X[U[:, 0]], V)

"""What is known of samples before any kernel value is: norms, signs, and what rounding can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import to_host
from rosenblatt.data.identical import first_of_equals
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import RowsByNumber
from rosenblatt.kernel.loops import norms2, products
from rosenblatt.kernels.functions import Linear, Polynomial, Products, Rounding, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernels.functions import Kernel
    from rosenblatt.running.threads import Team


LARGE, SMALL = 1e30, 1e-30  # what single precision holds with room to spare
EXACT = 2.0**52
FAR = 16.0  # squared distance from the origin, in spreads, from which samples are moved there
COARSE = 1e-2  # doubt, as a share of a score's terms, for which single precision is no use
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


class WeightRange(NamedTuple):
    """Whether all weights (and coefficients to begin with) are whole numbers, and the largest."""

    whole: bool = True
    heaviest: float = 1.0


class Measured:
    """The samples of `Values`, measured."""

    kernel: Kernel
    team: Team
    weights: WeightRange
    kind: Any
    X: Any
    n: int
    n_features: int
    bias: float
    sparse: bool
    whole: bool
    x2: Floats
    terms: Floats
    most: float
    no_negatives: bool
    center: Any = None
    longest = longest_double = 0  # terms of sums, in single and in double precision
    xp: Any = np  # the array library of X
    slack = 1.0  # what squared norms are off by, at most, where they are not added up by our loops

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        """The samples in blocks, each with the number of its first."""
        start = 0
        for X in self.X if isinstance(self.X, RowsByNumber) else (self.X,):
            yield start, X
            start += X.shape[0]

    def _measure(self) -> None:
        self.x2, self.terms, self.no_negatives = np.empty(self.n), np.empty(self.n), True
        for start, X in self._blocks():
            here = slice(start, start + X.shape[0])
            plain = self._measure_block(X, self.x2[here], self.terms[here])
            self.no_negatives = self.no_negatives and plain
        self.most = float(self.x2.max(initial=0.0)) * self.slack

    def _measure_block(self, X: Any, x2: Floats, terms: Floats) -> bool:
        """Write squared norms, and how many entries are not zero; whether none is below it."""
        rows = as_rows(X)

        def measure(part: tuple[int, int]) -> bool:
            norms2(rows, *part, x2)
            terms[slice(*part)] = count_terms(X, *part)
            if issparse(X):
                return are_nonnegative(X.data[slice(*X.indptr[list(part)])])
            return are_nonnegative(X[slice(*part)])

        return all(self.team.each(measure, self.team.ranges(len(x2), X.size)))

    def _measure_vectors(self, vectors: Any) -> Floats:
        """Let bounds hold for these vectors too; their squared norms."""
        y2 = np.empty(vectors.shape[0])
        if self.center is None:
            norms2(as_rows(vectors), 0, len(y2), y2)
        else:
            y2 = ((vectors - self.center) ** 2).sum(axis=1)
        self.most = max(self.most, float(y2.max(initial=0.0)))
        self.no_negatives = self.no_negatives and are_nonnegative(vectors)
        self.whole = self.whole and are_whole(vectors)
        return y2

    def _find_center(self, vectors: Any) -> None:
        """Move samples to around the origin, if they are far from it: fewer digits cancel.

        Where there are support vectors these decide, so that values do not depend on what else
        is asked for.
        """
        if self.sparse:
            return
        own = vectors is None or not len(vectors)
        with np.errstate(over="ignore", invalid="ignore"):
            center = self._mean() if own else vectors.mean(axis=0, dtype=np.float64)
            apart = self._distances2(center) if own else distances2_to(vectors, center)
            if apart.max() * FAR < (self.most if own else distances2_to(vectors, 0.0).max()):
                self.center, self.x2 = center, apart if own else self._distances2(center)
                self.most, self.terms[:] = float(self.x2.max()) * self.slack, self.n_features

    def _mean(self) -> Floats:
        """The mean of all samples; rows are added one after the other, as NumPy does."""
        total = np.empty((0, self.n_features))
        for _, X in self._blocks():
            rows = np.vstack([total, X]) if len(total) else X
            total = rows.sum(axis=0, dtype=np.float64, keepdims=True)
        mean: Floats = total[0] / self.n
        return mean

    def _distances2(self, center: Floats) -> Floats:
        """``‖x - center‖²`` for every sample."""
        parts = [distances2_to(X, center, self.xp) for _, X in self._blocks()]
        return np.concatenate(parts)

    def _are_integers(self) -> bool:
        return all(are_whole(X, self.xp) for _, X in self._blocks())

    def _precision(self) -> Any:
        """Single, unless that is too coarse: then double."""
        largest = self.largest
        if not np.isfinite(self.most):
            msg = "X holds numbers whose squares are beyond floating point: scale the features"
            raise ValueError(msg)
        self._refuse_overflow()
        exact = self.whole and largest * self.n < EXACT
        fits = max(largest, self.most) < LARGE and self.most > SMALL
        return np.float32 if fits and not exact and self._is_fine_enough() else np.float64

    def _refuse_overflow(self) -> None:
        """Refuse data on which sums can grow beyond floating point."""
        heaviest = max(self.weights.heaviest, 1.0)  # the length of a step is squared
        if not heaviest < 1e150 or not self.largest * max(self.n, 1) * heaviest**2 < 1e300:
            msg = (
                f"values of the kernel {self.kernel.formula} times their weights grow beyond what "
                "floating point can hold: scale the features, or give smaller weights, or a "
                "smaller gamma or degree"
            )
            raise ValueError(msg)

    def _is_fine_enough(self) -> bool:
        """Whether single precision leaves only few signs in doubt."""
        terms, x2 = np.array([self.terms.max(initial=0.0)]), np.array([self.most])
        single = Products(UNIT[np.dtype(np.float32)], terms, x2, self.most, self.no_negatives)
        relative, absolute = self.kernel.rounding(single)
        return float(relative[0] + absolute[0] / self.largest) < COARSE

    @property
    def largest(self) -> float:
        """A bound on the size of all values."""
        return float(self.kernel.largest(np.array([self.most]), self.most)[0]) + self.bias

    def rounding(self, sample: Ints, total: float, additions: int) -> Rounding:
        """How far sums of some samples can be off.

        After so many additions, of steps whose sizes add up to `total`.
        """
        if self.exact_sums(total):
            return Rounding(np.zeros(len(sample)), np.zeros(len(sample)))
        unit, x2 = UNIT[self.kind], self.x2[sample]
        largest = self.kernel.largest(x2, self.most) + self.bias
        known = Products(unit, self.terms[sample] + 4.0, x2, self.most, self.no_negatives)
        relative, absolute = (  # here, and where a value is computed by itself
            here + alone
            for here, alone in zip(
                self.kernel.rounding(known),
                self.kernel.rounding(known._replace(unit=2.0**-53, terms=self.n_features + 2.0)),
                strict=True,
            )
        )
        more = (self.longest + 8) * unit + (self.longest_double + additions + 8) * 2.0**-53
        if self.kernel.nonnegative(self.no_negatives):
            return Rounding(relative + more, absolute)
        return Rounding(relative, absolute + more * largest)

    def exact_sums(self, total: float) -> bool:
        """Whether no sum is rounded: all are whole, steps add up to `total`, floats hold them."""
        return self.whole and self.largest * max(total, 1.0) < EXACT and self.kind == np.float64

    def nothings(self) -> NDArray[np.bool_]:
        """Samples whose kernel value with any sample is zero."""
        if not isinstance(self.kernel, Linear | Polynomial | Sigmoid):
            return np.zeros(self.n, np.bool_)
        value = self.kernel.of_products(np.zeros((1, 1)), np.zeros(1), np.zeros(1))[0, 0]
        empty: NDArray[np.bool_] = (self.terms == 0) & bool(value + self.bias == 0)
        return empty

    def twins(self) -> NDArray[np.intp]:
        """For each sample the first one that is identical with it; empty: all differ."""
        v, mark = np.random.default_rng(0).standard_normal(self.n_features), np.empty(self.n)
        for start, X in self._blocks():
            rows = np.arange(X.shape[0])
            products(as_rows(X), rows, v, mark[start : start + len(rows)])
        first = first_of_equals(self.X, mark)
        return first if (first != np.arange(self.n)).any() else first[:0]


def parts_of(X: Any) -> Iterator[Any]:
    """The numbers of a matrix, wherever it is, some rows at a time."""
    data = X.data if issparse(X) else X
    n = data.shape[0]
    step = max(1, (1 << 20) // max(1, data.shape[-1] if data.ndim > 1 else 1))
    return (data[a : min(a + step, n), ...] for a in range(0, n, step))


def are_whole(X: Any, xp: Any = np) -> bool:
    """Whether all numbers are whole."""
    return all(bool(xp.all(xp.round(part) == part)) for part in parts_of(X))


def are_nonnegative(X: Any, xp: Any = np) -> bool:
    """Whether no number is below zero."""
    return all(bool(xp.all(part >= 0)) for part in parts_of(X))


def distances2_to(X: Any, center: Any, xp: Any = np) -> Floats:
    """``‖x - center‖²`` for every row of a dense matrix."""
    apart = (part - center for part in parts_of(X))
    return np.concatenate([to_host(xp.sum(each * each, axis=1)) for each in apart])


def count_terms(X: Any, start: int, stop: int) -> Any:
    """Entries of rows that are not zero."""
    if issparse(X):
        return np.diff(X.indptr[start : stop + 1])
    parts = [np.count_nonzero(part, axis=1) for part in parts_of(X[start:stop])]
    return np.concatenate([np.empty(0), *parts])

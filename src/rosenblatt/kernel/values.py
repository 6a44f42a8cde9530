"""Kernel values between samples and support vectors: many at a time, or exactly one by one.

Matrix products in single precision are twice as fast as in double; either way they come with a
bound on their rounding, and what is in doubt is computed again: each inner product by the one
routine that adds in a fixed order, the sum without any rounding. So decisions do not depend on
precision, block sizes or threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.data.rows import as_matrix, as_rows, n_rows
from rosenblatt.kernel.loops import distances2, dots, exponents, norms2, products
from rosenblatt.kernel.support_vectors import Batch, SparseVectors, SupportVectors, as_slice
from rosenblatt.kernels.functions import Linear, Polynomial, Products, Radial, Rounding, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Rows
    from rosenblatt.kernels.functions import Kernel
    from rosenblatt.running.threads import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

CHUNK = 512  # support vectors multiplied at a time
BLOCK = 256  # samples that are visited with their kernel values at hand
WIDE_BLOCK = 1024  # samples scored at a time
PART = 512  # of them, by one thread
ROOM = 1 << 28  # bytes that all values may take
LITTLE = 1 << 15  # values that one thread computes alone
THIN = 0.02  # share of entries that are not zero below which samples stay sparse
WIDE = 1 << 24  # most numbers in samples scored at a time, where they are sparse
FEW_COLUMNS = 8  # so many columns of factors are summed in double precision at little cost
LARGE, SMALL = 1e30, 1e-30  # what single precision holds with room to spare
EXACT = 2.0**52
FAR = 16.0  # squared distance from the origin, in spreads, from which samples are moved there
COARSE = 1e-2  # doubt, as a share of a score's terms, for which single precision is no use
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


class WeightRange(NamedTuple):
    """Whether all weights (and coefficients to begin with) are whole numbers, and the largest."""

    whole: bool = True
    heaviest: float = 1.0


class Values:
    """The kernel values of some data.

    Parameters
    ----------
    kernel : Kernel
    bias : float
        Added to every value: 1.0 where a bias is learned, otherwise 0.0.
    rows : DenseRows or CsrRows
    n_features : int
    team : Team
    vectors : array or CSR matrix, optional
        Support vectors to begin with, in the first slots.
    weights : WeightRange
        What the weights of the samples are like.
    kind : dtype, optional
        The working precision; None: single, where that holds the values.
    """

    def __init__(
        self,
        kernel: Kernel,
        bias: float,
        rows: Rows,
        n_features: int,
        team: Team,
        *,
        vectors: Any = None,
        weights: WeightRange = WeightRange(),  # noqa: B008, as it cannot change
        kind: Any = None,
    ) -> None:
        self.kernel, self.bias, self.team, self.chunk = kernel, bias, team, CHUNK
        self.data, self.n_features, self.longest = rows, n_features, 0
        self.X = as_matrix(rows, n_features)
        self.n = n_rows(rows)
        self._own = threading.local()
        self._begin(vectors, weights, kind)

    def _begin(self, vectors: Any, weights: WeightRange, kind: Any) -> None:
        """Measure the data, choose the precision, and take the vectors there are."""
        self.weights = weights
        self.whole = weights.whole and self.kernel.keeps_integers() and self._are_integers()
        self._measure()
        if isinstance(self.kernel, Radial) and self.n:
            self._find_center(vectors)
        y2 = np.empty(0)
        if vectors is not None:
            y2 = self._measure_vectors(vectors)
        precision = self._precision()
        self.kind = np.dtype(kind or precision)
        self._make_room(vectors)
        if vectors is not None:
            self._load(vectors, y2)

    center: Any = None
    computed = 0  # values so far, in sums
    longest_double = 0
    _all: Any = None
    most: float
    no_negatives: bool

    def _measure_vectors(self, vectors: Any) -> Floats:
        """Let bounds hold for these vectors too; their squared norms."""
        y2 = np.empty(vectors.shape[0])
        if self.center is None:
            norms2(as_rows(vectors), 0, len(y2), y2)
        else:
            y2 = ((vectors - self.center) ** 2).sum(axis=1)
        self.most = max(self.most, float(y2.max(initial=0.0)))
        self.no_negatives = self.no_negatives and _are_nonnegative(vectors)
        self.whole = self.whole and _are_whole(vectors)
        return y2

    def _measure(self) -> None:
        self.x2, self.terms = np.empty(self.n), np.empty(self.n)

        def measure(part: tuple[int, int]) -> None:
            norms2(self.data, *part, self.x2)
            self.terms[slice(*part)] = _count_terms(self.X, *part)

        self.team.each(measure, self.team.ranges(self.n, self.X.size))
        self.most = float(self.x2.max(initial=0.0))
        self.no_negatives = _are_nonnegative(self.X)

    def _find_center(self, vectors: Any) -> None:
        """Move samples to around the origin, if they are far from it: fewer digits cancel.

        Where there are support vectors these decide, so that values do not depend on what else
        is asked for.
        """
        if issparse(self.X):
            return
        own = vectors is None or not len(vectors)
        Y = self.X if own else vectors
        with np.errstate(over="ignore", invalid="ignore"):
            center = Y.mean(axis=0, dtype=np.float64)
            apart = distances2_to(Y, center)
            if apart.max() * FAR < (self.most if own else distances2_to(Y, 0.0).max()):
                self.center, self.x2 = center, apart if own else distances2_to(self.X, center)
                self.most, self.terms[:] = float(self.x2.max()), self.n_features

    def _make_room(self, vectors: Any) -> None:
        kind_of = SparseVectors if issparse(self.X) else SupportVectors
        dtype = self.X.dtype if vectors is None else np.result_type(self.X.dtype, vectors.dtype)
        self.support = kind_of(self.n_features, dtype, self.kind, self.center)
        sparse = issparse(self.X)
        self.thin = sparse and self.X.nnz < THIN * self.n * self.n_features
        dense = sparse and not self.thin
        wide = max(1, WIDE // max(1, self.n_features)) if dense else WIDE_BLOCK
        self.wide_rows = min(WIDE_BLOCK, wide)
        self.block_rows = min(BLOCK, wide)

    def _are_integers(self) -> bool:
        return _are_whole(self.X)

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

    def change_precision(self, kind: Any) -> None:
        """Work in this precision from now on."""
        self.kind = np.dtype(kind)
        self.support.change_precision(kind)

    def batch(self, sample: Ints) -> Batch:
        """These samples, ready."""
        picked = self.X[as_slice(sample)]
        if self.thin:
            return Batch(sample, picked.T.tocsr().astype(self.kind), self.x2[sample])
        if issparse(picked):
            picked = picked.toarray().T
        if self.center is not None:
            picked = picked - self.center
        return Batch(sample, np.ascontiguousarray(picked, dtype=self.kind), self.x2[sample])

    def part(self, batch: Batch, a: int, z: int) -> Batch:
        """Samples a to z of a batch."""
        X = batch.X[:, a:z] if self.support.transposed else batch.X[a:z]
        return Batch(batch.sample[a:z], X, batch.x2[a:z])

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        if len(slots):
            self.support.put(slots, self.X[sample], self.x2[sample])

    def _load(self, vectors: Any, y2: Floats) -> None:
        """Let these be the vectors of the first slots."""
        self.support.reserve(len(y2))
        self.support.put(np.arange(len(y2)), vectors, y2)

    def vectors(self, slots: Ints) -> Any:
        """The vectors of the slots."""
        return self.support.matrix(slots)

    def form(self, V: Any, delta: Floats) -> Floats:
        """``‖Σ delta_i φ(v_i)‖²``, a column for each problem."""
        total = np.zeros(delta.shape[1])
        for a in range(0, len(delta), BLOCK):
            part = slice(a, a + BLOCK)
            total += (delta[part] * ((self._pairs(V[part], V) + self.bias) @ delta)).sum(axis=0)
        return np.maximum(total, 0.0)

    def _pairs(self, U: Any, V: Any) -> Floats:
        """Values of vectors with others, in double precision."""
        return self.kernel(U, V)

    def sums(self, batch: Batch, slots: Ints, factors: Floats, k: int) -> Floats:
        """``K @ factors`` over the vectors of the slots; ``|K|`` for the last k columns.

        (Those are left zero where no bound needs them.)
        """

        def part(task: tuple[slice, slice]) -> Any:
            rows, chunk = task
            some = factors[chunk]
            if some.shape[1] > FEW_COLUMNS:
                some = some.astype(self._kind_for(some))
            K = self.matrix(self.part(batch, rows.start, rows.stop), slots[chunk])
            return self._part(K, some, some.shape[1] - k)

        m = len(batch.sample)
        self.computed += m * len(slots)
        total = np.zeros((m, factors.shape[1]))
        step = PART if m * len(slots) > LITTLE else max(m, 1)
        chunks = [slice(a, a + self.chunk) for a in range(0, len(slots), self.chunk)]
        tasks = [(slice(a, min(a + step, m)), c) for c in chunks for a in range(0, m, step)]
        self.support.settle()
        for chunk in chunks:
            self._note_terms(factors[chunk])
        for (rows, _), sums in zip(tasks, self.team.each(part, tasks), strict=True):
            total[rows] += sums
        return total

    def _note_terms(self, factors: Floats) -> None:
        """Remember the longest sums, of either precision: they bound the rounding."""
        longest = int(np.count_nonzero(factors, axis=0).max(initial=0))
        if factors.shape[1] > FEW_COLUMNS:
            self.longest = max(self.longest, longest)
        else:
            self.longest_double = max(self.longest_double, longest)

    def _kind_for(self, factors: Floats) -> Any:
        """The precision for products with these factors: double if they are huge or tiny."""
        if self.kind == np.float64:
            return self.kind
        sizes = np.abs(factors)
        fits = float(sizes.max(initial=0.0)) * self.largest < LARGE
        fits = fits and float(sizes.min(initial=1.0, where=sizes > 0)) > SMALL
        return self.kind if fits else np.dtype(np.float64)

    def _part(self, K: Any, factors: Any, cut: int) -> Any:
        """The products with some factors; `cut` is the first column that is for ``|K|``."""
        if not self.kernel.nonnegative(self.no_negatives):
            factors = factors.copy()
            factors[:, cut:] = 0.0
        return product(K, factors)

    def matrix(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots; overwritten by the next."""
        Z = self.support.multiply(batch, slots, self._room)
        return self._finish(Z, batch, self.support.y2[slots])

    def across(self, batch: Batch, slots: Ints) -> Any:
        """The same with a row for each vector, in memory of its own."""
        return np.ascontiguousarray(self.matrix(batch, slots).T)

    def gram(self, batch: Batch) -> Any:
        """Values of the samples with each other: those of the k-th vector in row k."""
        return self._between(batch, batch)

    def _between(self, vectors: Batch, batch: Batch) -> Any:
        """Values of some samples as vectors (rows) with others."""
        V, X = vectors.X, batch.X
        Z = V.T @ X if self.support.transposed else V @ X.T
        Z = Z.toarray() if issparse(Z) else Z
        return self._finish(Z, vectors, batch.x2)

    def everything(self, look_up: Callable[[], None]) -> Any:
        """The Gram matrix of all samples, if it takes no more than `ROOM`, otherwise None.

        Computed once, it serves every epoch. `look_up` is called now and then on the way.
        """
        if self.n**2 * self.kind.itemsize > ROOM:
            return None
        if self._all is None or self._all.dtype != self.kind:
            whole = np.empty((self.n, self.n), self.kind)

            def fill(a: int) -> None:
                some = self.batch(np.arange(a, min(a + PART, self.n)))
                for b in range(0, self.n, self.wide_rows):
                    look_up()
                    columns = np.arange(b, min(b + self.wide_rows, self.n))
                    values = self._between(some, self.batch(columns))
                    whole[a : a + PART, b : b + self.wide_rows] = values

            self.team.each(fill, range(0, self.n, PART))
            self._all = whole
        return self._all

    def _finish(self, Z: Any, batch: Batch, y2: Floats) -> Any:
        x2, y2 = batch.x2.astype(Z.dtype), y2.astype(Z.dtype)
        if isinstance(self.kernel, Radial) and Z.flags.c_contiguous:
            rate = Z.dtype.type(self.kernel.rate)
            exponents(Z, 2 * rate, rate * x2, rate * y2)
            K = np.exp(Z, out=Z)
        else:
            K = self.kernel.of_products(Z, x2, y2)
        if self.bias:
            K += self.bias
        return K

    def _room(self, m: int, s: int, dtype: Any) -> Any:
        """Memory of the thread's own, to use again and again."""
        room = getattr(self._own, "room", None)
        if room is None or room.size < m * s or room.dtype != dtype:
            room = self._own.room = np.empty(max(m * s, PART * CHUNK), dtype)
        return room[: m * s].reshape(m, s)

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
        v = np.random.default_rng(0).standard_normal(self.X.shape[1])
        mark = np.empty(self.n)
        products(self.data, np.arange(self.n), v, mark)
        first = np.arange(self.n)
        order = np.lexsort([first, mark])
        heads = order[np.r_[True, np.diff(mark[order]) != 0]]
        group = np.cumsum(np.r_[True, np.diff(mark[order]) != 0]) - 1
        first[order] = heads[group]
        twins = np.flatnonzero(first != np.arange(self.n))
        apart = (self.X[twins] != self.X[first[twins]]).sum(axis=1)
        first[twins[np.asarray(apart).ravel() > 0]] = twins[np.asarray(apart).ravel() > 0]
        return first if (first != np.arange(self.n)).any() else first[:0]

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots, each by itself."""
        x = self.X[[sample]]
        x = (x.toarray() if issparse(x) else x)[0].astype(np.float64)
        return self._exactly(x, slots)

    def _exactly(self, x: Floats, slots: Ints) -> Floats:
        """Values of a vector with those of the slots, each by itself."""
        rows, part = self.support.rows(slots)
        Z = np.empty(len(slots))
        if isinstance(self.kernel, Radial):
            distances2(rows, part, x, np.empty_like(x), Z)
            values = self.kernel.of_distances(Z)
        else:
            products(rows, part, x, Z)
            values = self.kernel.of_products(Z[np.newaxis], np.zeros(1), np.zeros(1))[0]
        return values + self.bias


def product(K: Any, factors: Any) -> Any:
    """``K @ factors``, for few columns in double precision."""
    if factors.shape[1] > FEW_COLUMNS:
        return K @ factors
    out = np.empty((len(K), factors.shape[1]))
    dots(np.ascontiguousarray(K), np.ascontiguousarray(factors.T), out)
    return out


def parts_of(X: Any) -> Iterator[Any]:
    """The numbers of a matrix, some rows at a time."""
    data = X.data if issparse(X) else X
    step = max(1, (1 << 20) // max(1, data.shape[-1] if data.ndim > 1 else 1))
    return (data[a : a + step] for a in range(0, len(data), step))


def distances2_to(X: Any, center: Any) -> Floats:
    """``‖x - center‖²`` for every row of a dense matrix."""
    return np.concatenate([((part - center) ** 2).sum(axis=1) for part in parts_of(X)])


def _count_terms(X: Any, start: int, stop: int) -> Any:
    """Entries of rows that are not zero, some rows at a time."""
    if issparse(X):
        return np.diff(X.indptr[start : stop + 1])
    step = max(1, (1 << 18) // max(1, X.shape[1]))
    starts = range(start, stop, step)
    parts = [np.count_nonzero(X[a : min(a + step, stop)], axis=1) for a in starts]
    return np.concatenate([np.empty(0), *parts])


def _are_whole(X: Any) -> bool:
    return all((np.rint(part) == part).all() for part in parts_of(X))


def _are_nonnegative(X: Any) -> bool:
    return all((part >= 0).all() for part in parts_of(X))

"""Kernel values between samples and support vectors: many at a time, or exactly one by one.

Matrix products in single precision are twice as fast as in double; either way they come with a
bound on their rounding, and what is in doubt is computed again: each inner product by the one
routine that adds in a fixed order, the sum without any rounding. So decisions do not depend on
precision, block sizes or threads.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.data.sources import RowsByNumber
from rosenblatt.kernel.loops import distances2, exponents, products
from rosenblatt.kernel.measured import LARGE, SMALL, Measured, WeightRange
from rosenblatt.kernel.support_vectors import (
    FEW_COLUMNS,
    Addends,
    Batch,
    SparseVectors,
    SupportVectors,
    as_slice,
    times_factors,
)
from rosenblatt.kernels.functions import Radial

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernels.functions import Kernel
    from rosenblatt.running.threads import Team


CHUNK = 512  # support vectors multiplied at a time
BLOCK = 256  # samples that are scored and visited at a time where support vectors are forgotten
WIDE_BLOCK = 512  # samples that are scored and visited at a time elsewhere
MANY_SAMPLES = 1 << 15  # above, twice as many at a time
PART, FEWEST = 256, 64  # most samples whose scores one task adds up, and least if there are more
TASKS = 64  # tasks that share enough among the threads
GATHERED = 8  # times `CHUNK` vectors that are copied to be multiplied
ROOM = 1 << 28  # bytes that all values may take
LITTLE = 1 << 14  # values that one thread computes alone
THIN = 0.02  # share of entries that are not zero below which samples stay sparse
WIDE = 1 << 24  # most numbers in samples scored at a time, where they are sparse


class Values(Measured):
    """The kernel values of some data.

    Parameters
    ----------
    kernel : Kernel
    bias : float
        Added to every value: 1.0 where a bias is learned, otherwise 0.0.
    X : array, CSR matrix or RowsByNumber
        The samples.
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
        X: Any,
        team: Team,
        *,
        vectors: Any = None,
        weights: WeightRange = WeightRange(),  # noqa: B008, as it cannot change
        kind: Any = None,
    ) -> None:
        self.kernel, self.bias, self.team, self.weights = kernel, bias, team, weights
        self.X, (self.n, self.n_features), self.chunk = X, X.shape, CHUNK
        self._open()
        self.whole = weights.whole and kernel.keeps_integers() and self._are_integers()
        self._measure()
        if isinstance(kernel, Radial) and self.n:
            self._find_center(vectors)
        y2 = np.empty(0) if vectors is None else self._measure_vectors(vectors)
        precision = self._precision()
        self.kind = np.dtype(kind or precision)
        self._make_room(vectors)
        if vectors is not None:
            self.support.begin(vectors, y2)

    def _open(self) -> None:
        """Look at what kind of samples these are."""
        self.sparse = issparse(self.X) or getattr(self.X, "sparse", False)
        self.side_by_side = not isinstance(self.X, RowsByNumber)  # a stream has one reader
        self.waves = True  # whether samples are given updates before they need them
        self._own = threading.local()

    foreseen = 0  # samples of a block whose values are computed at least, if any are
    computed = 0  # values so far
    transposed = False  # whether samples are multiplied as columns
    _all: Any = None

    def _make_room(self, vectors: Any) -> None:
        kind_of = SparseVectors if self.sparse else SupportVectors
        dtype = self.X.dtype if vectors is None else np.result_type(self.X.dtype, vectors.dtype)
        self.support = kind_of(self.n_features, dtype, self.kind, self.center)
        self.transposed = self.sparse and self.kernel.needs_features
        self.thin = self.sparse and self.X.nnz < THIN * self.n * self.n_features
        dense = self.sparse and not self.thin
        most = WIDE_BLOCK * (2 if self.n > MANY_SAMPLES else 1)
        wide = max(1, WIDE // max(1, self.n_features)) if dense else most
        self.wide_rows, self.block_rows = min(most, wide), min(BLOCK, wide)

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

    def fetch(self, sample: Ints) -> None:
        """Have samples at hand that will be asked for one by one."""
        if len(sample) and isinstance(self.X, RowsByNumber):
            self.X[sample]

    def part(self, batch: Batch, a: int, z: int) -> Batch:
        """Samples a to z of a batch."""
        X = batch.X[:, a:z] if self.transposed else batch.X[a:z, :]
        return Batch(batch.sample[a:z], X, batch.x2[a:z])

    def pick(self, batch: Batch, some: Ints) -> Batch:
        """Some samples of a batch."""
        X = batch.X[:, some] if self.transposed else batch.X[some]
        return Batch(batch.sample[some], X, batch.x2[some])

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        if len(slots):
            self.support.put(slots, self.X[sample], self.x2[sample])

    def form(self, V: Any, delta: Floats) -> Floats:
        """``‖Σ delta_i φ(v_i)‖²``, a column for each problem."""
        total = np.zeros(delta.shape[1])
        for a in range(0, len(delta), BLOCK):
            part = slice(a, a + BLOCK)
            total += (delta[part] * (self._pairs(V[part], V) @ delta)).sum(axis=0)
        return np.maximum(total, 0.0)

    def _pairs(self, U: Any, V: Any) -> Floats:
        """Values of vectors with others, in double precision."""
        return self.kernel(U, V) + self.bias

    def sums(self, batch: Batch, slots: Ints, factors: Floats, k: int) -> Floats:
        """``K @ factors`` over the vectors of the slots; ``|K|`` for the last k columns.

        (Those are left zero where no bound needs them.)
        """
        return self._sums(partial(self.part, batch), len(batch.sample), slots, factors, k)

    def sums_of(self, sample: Ints, slots: Ints, factors: Floats, k: int) -> Floats:
        """The same for any number of samples, which each thread gets ready by itself."""
        if not self.side_by_side:
            return self.sums(self.batch(sample), slots, factors, k)

        def part(a: int, z: int) -> Batch:
            return self.batch(sample[a:z])

        return self._sums(part, len(sample), slots, factors, k)

    def _sums(
        self, part: Callable[[int, int], Batch], m: int, slots: Ints, factors: Floats, k: int
    ) -> Floats:
        total = np.zeros((m, factors.shape[1]))
        if not m:
            return total
        self.computed += m * len(slots)
        step = min(max(-(-m // TASKS), LITTLE // max(len(slots), 1), FEWEST), PART)
        rows = [(a, min(a + step, m)) for a in range(0, m, step)]
        # Vectors here and there have to be copied: not all of them at the same time.
        most = len(slots) if isinstance(as_slice(slots), slice) else GATHERED * self.chunk
        for a in range(0, len(slots), max(most, 1)):
            all_ = self.addends(slots[a : a + most], factors[a : a + most], k)
            each = -(-len(all_) * len(rows) // TASKS)  # of which one task adds up so many
            tasks = [(r, all_[b : b + each]) for b in range(0, len(all_), each) for r in rows]
            found = self.team.shared(lambda task: self.added(part(*task[0]), task[1], k), tasks)
            for ((first, last), _), sums in zip(tasks, found, strict=True):
                total[first:last] += sums
        return total

    def addends(self, slots: Ints, factors: Floats, k: int) -> list[Addends]:
        """The vectors of the slots with their factors, ready, some at a time."""
        found = []
        for a in range(0, len(slots), self.chunk):
            some = factors[a : a + self.chunk]
            self._note_terms(some)
            if some.shape[1] > FEW_COLUMNS:
                some = some.astype(self._kind_for(some))
            if not self._adds_sizes():
                some = some.copy()
                some[:, -k:] = 0.0
            found.append(Addends(*self._vectors(slots[a : a + self.chunk]), some))
        return found

    def _vectors(self, slots: Ints) -> tuple[Any, Any]:
        """The vectors of the slots, ready for products, and their squared norms."""
        return self.support.at(slots)

    def _adds_sizes(self) -> bool:
        """Whether the sums of ``|K|`` are those of K."""
        return self.kernel.nonnegative(self.no_negatives)

    def added(self, batch: Batch, addends: list[Addends], k: int) -> Floats:
        """The sums over all these, for samples that one thread has to itself."""
        total = np.zeros((len(batch.sample), addends[0].factors.shape[1]))
        for Y, y2, factors in addends:
            total += self._part(self._with(batch, Y, y2), factors, k)
        return total

    def _note_terms(self, factors: Floats) -> None:
        """Remember the longest sums, of either precision: they bound the rounding."""
        longest = int((factors != 0).sum(axis=0).max(initial=0))
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

    def _part(self, K: Any, factors: Any, k: int) -> Any:
        """The products with some factors, of which the last k columns are for ``|K|``."""
        return times_factors(K, factors)

    def _with(self, batch: Batch, Y: Any, y2: Any) -> Any:
        """Values of the samples (rows) with vectors; overwritten by the next."""
        return self._finish(self.support.multiply(batch, Y, self._room), batch.x2, y2)

    def matrix(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots; overwritten by the next."""
        return self._with(batch, *self._vectors(slots))

    def across(self, batch: Batch, slots: Ints) -> Any:
        """The same with a row for each vector, in memory of its own."""
        return np.ascontiguousarray(self.matrix(batch, slots).T)

    def among(self, batch: Batch, some: Ints) -> Any:
        """Values of some of the samples (rows) with all of them."""
        vectors, m = self.pick(batch, some), len(batch.sample)
        self.computed += len(some) * m
        if len(some) * m <= LITTLE:
            return self.between(vectors, batch)
        parts = [(a, min(a + PART, m)) for a in range(0, m, PART)]
        found = self.team.shared(lambda part: self.between(vectors, self.part(batch, *part)), parts)
        return np.concatenate(found, axis=1)

    def between(self, vectors: Batch, batch: Batch) -> Any:
        """Values of some samples as vectors (rows) with others."""
        V, X = vectors.X, batch.X
        Z = V.T @ X if self.transposed else V @ X.T
        Z = Z.toarray() if issparse(Z) else Z
        return self._finish(Z, vectors.x2, batch.x2)

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
                    values = self.between(some, self.batch(columns))
                    whole[a : a + PART, b : b + self.wide_rows] = values

            parts = range(0, self.n, PART)
            each = self.team.mapper(len(parts)) if self.side_by_side else map
            list(each(fill, parts))
            self._all = whole
        return self._all

    def _finish(self, Z: Any, x2: Any, y2: Any) -> Any:
        """Kernel values of inner products and squared norms; may overwrite the products."""
        x2, y2 = x2.astype(Z.dtype, copy=False), y2.astype(Z.dtype, copy=False)
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

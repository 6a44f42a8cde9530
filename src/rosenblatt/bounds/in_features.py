"""Bounds in the feature space of a kernel that is known by its values.

The margin comes from a working set, and where nothing separates, the trade between a short vector
and what it leaves to be desired is made among the vectors that some of the samples span. Any vector
gives a bound: its length and its products with all samples are then taken anew, rounded to the safe
side.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from rosenblatt.bounds.loops import squared_lengths
from rosenblatt.bounds.solver import Bounds, least_sum
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.kernels.functions import squared_norms
from rosenblatt.nearest.signed_vectors import Projected, U, Vectors
from rosenblatt.running.clock import Kind
from rosenblatt.running.threads import one_blas_thread
from rosenblatt.separation.dual_margin import widest
from rosenblatt.separation.explaining import twins
from rosenblatt.separation.kernel_vectors import BLOCK, KernelSums, KernelVectors

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.bounds.solver import KindOfRun

WORK = 5e9  # products of a step: a trade is made in the span of no more samples
DEPENDENT = 1e-10  # what is left of a sample's square, beside the largest, that spans nothing new
HELD = 4_000  # samples whose values with each other are held at a time


class KernelBounds(Bounds):
    """The bounds for one problem in the feature space of a kernel, from zero."""

    z: KernelVectors

    def __init__(self, vectors: KernelVectors, run: KindOfRun) -> None:
        super().__init__(vectors, run._replace(start=np.zeros(vectors.size)))

    def separating(self) -> tuple[Floats | None, bool | None]:
        """The vector with the widest margin, and whether one separates; None: that is not known.

        Samples that are the same but for their classes settle it.
        """
        z = self.z
        X = z.X if z.n == len(z.sign) else z.X[z.used]
        if twins(X, np.sign(z.sign[z.used])).pairs:
            return None, False
        with self.in_time():
            theta = widest(z, self.R).theta
            if z.margin(theta, self.R) > 0:
                return theta, True
        return None, None

    def _length(self, theta: Floats) -> float:
        """``‖θ‖``, at most, and so that θ over it is no longer than 1 in spite of its rounding."""
        rounded = 2 * U * float(np.abs(theta).sum()) * self.R
        return float(self.z.length(theta) + rounded)

    def _values(self, unit: Floats) -> Floats:
        """``z·θ`` of every sample, at least."""
        return self.z.values(unit)

    def _trade(self, given: Floats | None) -> Floats:
        """The best vector in the span of some samples, at its best length."""
        assert self.run.epochs is not None
        v = np.zeros(self.z.size)
        if self._exponent or not self.R > 0:
            return v
        root, reach = math.sqrt(self.run.epochs), self._reach
        rows, L, seen = spanned(self.z)
        if not rows.size:
            return v
        found = least_sum(seen, reach, root)[:-1]
        with one_blas_thread():
            v[rows] = solve_triangular(L, found, lower=True, trans=1) / self.z.sign[rows]
        length = self.z.length(v)
        if not (0 < length < math.inf):
            return np.zeros(self.z.size)
        v /= length
        scale = least_sum(Projected(self.z.values(v)), reach, root)
        return max(float(scale[0]), 0.0) * v


def spanned(z: KernelVectors) -> tuple[Ints, Floats, Vectors]:
    """Samples, the Cholesky factor of their products, and all vectors as their span sees them.

    What a sample adds that is nearly in the span of others is left out.
    """
    most = max(1, min(z.n, math.isqrt(int(WORK / z.n))))
    rows = z.used
    if z.n > most:
        rows = np.sort(np.random.default_rng(most).choice(rows, most, replace=False))
    V, sums = z.sums.placed(z.X[rows]), z.sums
    with z.clock.task(Kind.PRODUCTS, most**3 + most**2 * z.X.shape[1]), one_blas_thread():
        K = sums.values(V, V)
        c, order, rank, _ = lapack.dpstrf(K, lower=1, tol=DEPENDENT * float(K.diagonal().max()))
        chosen, L = order[:rank] - 1, np.tril(c)[:rank, :rank]
    rows, V, vectors = rows[chosen], V[chosen], np.zeros((z.n, max(rank, 1)))
    task = partial(_seen_from, z, V, L, vectors)
    with z.clock.task(Kind.PRODUCTS, z.n * most * (most + z.X.shape[1])), one_blas_thread():
        z.team.each(task, range(0, z.n if rank else 0, BLOCK))
    source = MemorySource(as_rows(vectors), np.ones(z.n, np.int32), vectors.shape[1])
    return rows, L, Vectors(source, z.team, 1, 0.0, z.clock)


def _seen_from(z: KernelVectors, V: Any, L: Floats, out: Floats, start: int) -> None:
    """The coordinates of a block of signed vectors in the span of samples."""
    rows = z.used[start : start + BLOCK]
    K = z.sums.values(V, z.sums.placed(z.X[rows])) * z.sign[rows]
    out[start : start + BLOCK] = solve_triangular(L, K, lower=True, check_finite=False).T


# The course of a run ----------------------------------------------------------------------------


class Measured(NamedTuple):
    """A run at its start and after each mistake, and by how much rounding can have moved it."""

    progress: Floats  # θ·θ*
    length2: Floats  # ‖θ‖²
    progress_rounding: Floats
    length2_rounding: Floats


def measured(z: KernelVectors, sample: Ints, step: Floats, star: Floats, R: float) -> Measured:
    """The run that added ``step*φ(x)`` at each mistake, with ``θ* = star``.

    A product of two steps is off by e, and a sum of k of them by ``k(e + (k + 8)uR²)``: so much in
    the run, which took a mistake for one by its rounded value, and in measuring.
    """
    values, off, _ = z.scores(star)
    added = step / z.sign[sample] * values[sample]
    doubts = np.abs(step / z.sign[sample]) * off[sample]
    k = np.arange(len(sample) + 1.0)
    rounding = 2 * np.append(0.0, np.cumsum(doubts + (k[1:] + 8) * U * np.abs(added)))
    e = _off(z, np.unique(sample), R) + (k + 8) * U * R * R
    progress = np.append(0.0, np.cumsum(added))
    longer: Floats = 4.0 * e * k * (k + 1)
    return Measured(progress, _squared_lengths(z, sample, step), rounding, longer)


def _off(z: KernelVectors, rows: Ints, R: float) -> float:
    """How far products of the listed samples' vectors are off, at most."""
    V = z.sums.placed(z.X[rows])
    relative, absolute = z.sums.rounding(V, float(squared_norms(V).max(initial=0.0)))
    weight = float(np.abs(z.sign).max())
    return float(np.max(relative * R * R + absolute * weight * weight, initial=0.0))


def _squared_lengths(z: KernelVectors, sample: Ints, step: Floats) -> Floats:
    """``‖θ‖²`` at the start and after each mistake.

    The kernel's values of so many samples with each other are held at a time.
    """
    theta, square, parts, begin = np.zeros(len(z.sign)), 0.0, [np.zeros(1)], 0
    while begin < len(sample):
        rows, end = _different(sample, begin, HELD)
        here, moved = z.X[rows], np.flatnonzero(theta)
        sums = KernelSums(z.sums.kernel, z.sums.bias, here)
        f = sums.of(z.X[moved], theta[moved], z.team, z.clock)[0]
        V = sums.placed(here)
        with one_blas_thread():
            K = sums.values(V, V)
        made, steps = np.empty(end - begin), step[begin:end]
        square = squared_lengths(
            K, np.searchsorted(rows, sample[begin:end]), steps, f, square, made
        )
        np.add.at(theta, sample[begin:end], steps)
        parts.append(made)
        begin = end
    return np.concatenate(parts)


def _different(sample: Ints, begin: int, most: int) -> tuple[Ints, int]:
    """The samples from one mistake on, up to so many different ones, and where they end."""
    first = np.unique(sample[begin:], return_index=True)[1]
    end = len(sample) if len(first) <= most else begin + int(np.sort(first)[most])
    return np.unique(sample[begin:end]), end

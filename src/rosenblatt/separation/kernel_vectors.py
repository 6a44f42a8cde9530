"""The signed vectors of samples in the feature space of a kernel, known by its values.

A vector of feature space is written with the samples' own, ``θ = Σ c_i z_i``, ``z = yφ(x)``: its
products with all of them are sums of kernel values, of a block of samples at a time with those
that have a coefficient. So there is never the matrix of all values, and a bound on its rounding
goes with every sum: what is said of θ is said of exact numbers.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.kernels.functions import Kernel, Linear, Polynomial, Products, Radial, squared_norms
from rosenblatt.nearest.signed_vectors import U
from rosenblatt.running.clock import Clock
from rosenblatt.running.threads import Team, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints

BLOCK = 1000  # rows whose kernel values are held at a time
AT_ONCE = 2e9  # products between two looks at the clock: a fraction of a second


def is_inner_product(kernel: Kernel) -> bool:
    """Whether a kernel is an inner product of features on any data."""
    good = isinstance(kernel, Polynomial) and kernel.coef0 >= 0
    return good or isinstance(kernel, Linear | Radial)


class KernelSums:
    """Sums ``Σ coef_j K(v_j, x)`` over vectors ``v_j``, for any samples x of X.

    `bias` is added to the kernel. Neither values nor sums depend on threads: a block is always the
    same rows, and one thread has it to itself.
    """

    def __init__(self, kernel: Kernel, bias: float, X: Any) -> None:
        self.kernel, self.bias, self.X = kernel, bias, X
        moved = isinstance(kernel, Radial) and isinstance(X, np.ndarray)
        self._center = X.mean(axis=0, dtype=np.float64) if moved else 0.0  # fewer digits cancel
        self._moved = moved
        self._plain = not moved and has_no_negative(X)

    def placed(self, rows: Any) -> Any:
        """Rows of samples as the kernel is given them: around the origin, where that helps."""
        return rows - self._center if self._moved else rows

    def values(self, rows: Any, others: Any) -> Floats:
        """The kernel's values, with the bias, between rows that have been placed."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Kernel.__call__(self.kernel, rows, others) + self.bias

    def rounding(self, rows: Any, most: float, plain: bool = True) -> Any:
        """How far values of placed rows with others, of squared norms up to `most`, can be off."""
        known = Products(U, self.X.shape[1] + 4, squared_norms(rows), most, self._plain and plain)
        return self.kernel.rounding(known)

    def of(
        self, V: Any, coef: Floats, team: Team | None = None, clock: Clock | None = None
    ) -> tuple[Floats, Floats]:
        """The sums for each sample, and how far rounding can have moved them."""
        n, V, clock = self.X.shape[0], self.placed(V), clock or Clock()
        task = partial(self._of_block, V, coef, squared_norms(V).max(initial=0.0))
        task = partial(task, has_no_negative(V))
        team = team or Team(1)
        blocks = int(AT_ONCE / (BLOCK * (len(coef) + 1) * (self.X.shape[1] + 8)))
        starts, found = iter(range(0, n, BLOCK)), []
        with one_blas_thread():
            while some := list(islice(starts, max(blocks, team.size))):
                clock.look_up()
                found += team.each(task, some)
        values, off = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return values, off

    def _of_block(
        self, V: Any, coef: Floats, most: float, plain: bool, start: int
    ) -> tuple[Floats, Floats]:
        rows, size = self.placed(self.X[start : start + BLOCK]), np.abs(coef)
        with np.errstate(over="ignore", invalid="ignore"):
            relative, absolute = self.rounding(rows, float(most), plain)
            K = self.values(rows, V)
            values: Floats = K @ coef
            sums = (relative + (len(size) + 8) * U) * (np.abs(K, out=K) @ size)
            off: Floats = 1.01 * (sums + absolute * size.sum())
        return values, off


def has_no_negative(X: Any) -> bool:
    """Whether no entry is below 0."""
    entries = X.data if hasattr(X, "tocsr") else X
    step = max(1, (1 << 20) // (entries[:1].size or 1))
    return all(bool((entries[a : a + step] >= 0).all()) for a in range(0, len(entries), step))


class ValuesWith:
    """The kernel's values of every sample with those of a basis, as features, in blocks.

    They are made anew on each pass: `rosenblatt.certify.check` takes the pairs of a block and its
    labels that this gives.
    """

    def __init__(self, sums: KernelSums, basis: Ints, labels: Any) -> None:
        self.sums, self.basis, self.labels = sums, basis, labels
        self.shape = sums.X.shape[0], len(basis)

    def blocks(self) -> Iterator[Floats]:
        """The values, so many rows at a time."""
        place, X = self.sums.placed, self.sums.X
        V = place(X[self.basis])
        for a in range(0, self.shape[0], BLOCK):
            with one_blas_thread():
                values = self.sums.values(place(X[a : a + BLOCK]), V)
            yield values

    def __iter__(self) -> Iterator[tuple[Floats, Any]]:
        for a, values in zip(range(0, self.shape[0], BLOCK), self.blocks(), strict=True):
            yield values, self.labels[a : a + BLOCK]

    def whole(self) -> Floats:
        """All of them as one matrix."""
        return np.vstack(list(self.blocks())) if len(self.basis) else np.empty(self.shape)


class Scores(NamedTuple):
    """Products of a vector θ with all samples, and its length."""

    values: Floats  # z·θ
    off: Floats  # how far rounding can have moved them
    length: float  # ‖θ‖, at most


class KernelVectors:
    """The vectors ``z = sign*φ(x)`` of a problem; with a bias φ has a 1 more.

    Parameters
    ----------
    X : array or CSR matrix
        Validated.
    sign : float array
        -1 or +1 for each sample, times its weight, if it has one. Those with 0 do not count.
    kernel : kernel that is an inner product
    bias : float
        0 or 1, added to the kernel.

    Attributes
    ----------
    n, size : int
        How many samples count, and the numbers that a vector θ is written with: a coefficient of
        each z, and a 0 at the end, for the bias is one of the features.
    slack : float
        What rounding can do to a length, twice the worst case and more.
    """

    def __init__(
        self,
        X: Any,
        sign: Floats,
        kernel: Kernel,
        bias: float,
        team: Team,
        clock: Clock | None = None,
    ) -> None:
        self.X, self.sign, self.sums = X, sign, KernelSums(kernel, bias, X)
        self.team, self.clock = team, clock or Clock()
        self.used = np.flatnonzero(sign)
        self.n, self.size, self.slack = len(self.used), X.shape[0] + 1, 64 * U

    def gram(self, rows: Ints) -> Floats:
        """``z_i·z_j`` of the listed samples."""
        V = self.sums.placed(self.X[rows])
        with one_blas_thread():
            K = self.sums.values(V, V)
        K *= self.sign[rows]
        K *= self.sign[rows, np.newaxis]
        return K

    def scores(self, theta: Floats) -> Scores:
        """``z·θ`` of every sample, and ``‖θ‖² = Σ c_i z_i·θ``."""
        rows = np.flatnonzero(theta[:-1])
        c, sign = theta[rows], self.sign
        values, off = self.sums.of(self.X[rows], c * sign[rows], self.team, self.clock)
        values, off = sign * values, np.abs(sign) * off * (1 + 8 * U)
        terms, doubts = c * values[rows], np.abs(c) * off[rows]
        rounding = (len(rows) + 8) * U * float(np.abs(terms).sum())
        square = float(terms.sum()) + 1.01 * (float(doubts.sum()) + rounding)
        return Scores(values, off, math.sqrt(max(square, 0.0)) * (1 + 8 * U))

    def values(self, theta: Floats) -> Floats:
        """``z·θ`` of every sample that counts, at least."""
        values, off, _ = self.scores(theta)
        low: Floats = (values - off)[self.used]
        return low

    def length(self, theta: Floats) -> float:
        """``‖θ‖``, at most."""
        return self.scores(theta).length

    def margin(self, theta: Floats, R: float) -> float:
        """``min z·θ/‖θ‖``, rounded down; endlessly where rounding leaves nothing of θ."""
        values, off, length = self.scores(theta)
        if not (0 < length < math.inf):
            return -math.inf
        least = float((values - off)[self.used].min())
        return math.nextafter(least / length * (1 - 8 * U), -math.inf)

    def radius(self) -> float:
        """``R``, the length of the longest, rounded up; infinite where rounding has no bound."""
        with np.errstate(over="ignore", invalid="ignore"):
            largest = max(map(self._largest_square, range(0, len(self.sign), BLOCK)))
        return math.nextafter(math.sqrt(largest) * (1 + 4 * U), math.inf) if largest else 0.0

    def _largest_square(self, start: int) -> float:
        """The largest ``‖z‖²`` of a block, rounded up."""
        weight = np.abs(self.sign[start : start + BLOCK])
        if isinstance(self.sums.kernel, Radial):  # it is 1 whatever was rounded
            squares = np.ones(len(weight))
        else:
            rows = self.X[start : start + BLOCK]
            squares = self.sums.kernel.diagonal(rows)
            most = float(squared_norms(rows).max(initial=0.0))
            relative, absolute = self.sums.rounding(rows, most)
            squares += relative * squares + absolute
        found = (squares + self.sums.bias)[weight > 0] * weight[weight > 0] ** 2
        largest = float(found.max(initial=0.0)) * (1 + 8 * U)
        return largest if largest >= 0 else math.inf

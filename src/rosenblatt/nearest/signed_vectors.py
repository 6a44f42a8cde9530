"""The signed vectors of a two-class problem, as products with them."""

from __future__ import annotations

import math
from copy import copy
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import theory
from rosenblatt.data.rows import Block, as_matrix, as_rows, row_weights
from rosenblatt.data.sources import changed
from rosenblatt.exact import largest_square, root_down, root_up, smallest
from rosenblatt.exact.blocks import tiles
from rosenblatt.exact.dot_products import ENOUGH
from rosenblatt.nearest.working_set import Samples, widest
from rosenblatt.running.clock import Clock, Kind
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.results import Hyperplane
    from rosenblatt.running.threads import Team


U = 2.0**-53
UNWEIGHTED = np.empty(0), np.empty((0, 0))  # no weights of rows, no factors of classes
CHUNK = 1 << 21  # numbers that are summed over at a time
SQUARING = 5e-5  # seconds for each number, ten times what it takes, to be squared in integers


class Vectors:
    """The vectors ``z = y(x, 1)`` of a problem, or ``y(x, 0)`` without a bias.

    A sample with a weight is visited like any other, but its steps are longer: to the perceptron
    it is the vector ``weight*(x, 1)``. Samples of weight 0 are never used, and are not here.

    Attributes
    ----------
    n, size : int
        How many there are, and the numbers in each.
    slack : float
        What rounding can do to a dot product, as a share of the lengths of both vectors; and to
        a length. Twice the worst case and more.
    clock : Clock
        Products and margins take time only if there is some left.
    """

    def __init__(
        self, source: Source, team: Team, positive: int, bias: float, clock: Clock | None = None
    ) -> None:
        self.size = source.n_features + 1
        self.slack = 4 * (self.size + 8) * U
        self.team, self.positive, self.bias = team, positive, bias
        self._relative = 0.0  # what rounding weight*(x, 1) can do to a vector, as a share of R
        if source.weighted:  # here the bias is a feature like the others
            source, self.bias = _weighted(source, positive, bias), 0.0
            self._relative = 4 * U
        self.source, self._d = source, source.n_features
        self.clock = clock or Clock()
        self._samples = Samples(source, team, positive, self.clock)
        self.n, self._exponent = self._samples.n, 0

    def divided(self, exponent: int) -> Vectors:
        """The vectors over ``2^exponent``, for their products only; margins are of the others."""
        if not exponent:
            return self
        smaller = copy(self)
        smaller._exponent = exponent
        smaller.bias = math.ldexp(self.bias, -exponent)
        return smaller

    def values(self, theta: Floats) -> Floats:
        """``z·θ`` of every sample."""
        if self._exponent:
            theta = np.ldexp(theta, -self._exponent)
        return self._samples.values(theta if self._d < self.size else np.append(theta, 0.0))

    def _parts(self) -> Iterator[tuple[Any, slice]]:
        """Rows ``x`` in float64 and where they are, so many at a time whatever the blocks."""
        size = max(1, CHUNK * self.n // self.source.n_entries)
        for start, matrix in tiles(self._samples.matrix, size):
            x = matrix.astype(np.float64, copy=False)
            yield self._smaller(x), slice(start, start + x.shape[0])

    def _smaller(self, x: Any) -> Any:
        """The rows over ``2^exponent``."""
        if not self._exponent:
            return x
        if isinstance(x, np.ndarray):
            return np.ldexp(x, -self._exponent)
        x = x.copy()
        x.data = np.ldexp(x.data, -self._exponent)
        return x

    def gather(self, u: Floats) -> Floats:
        """``Σ u_i z_i``."""
        signed, total = u * self._samples.y, np.zeros(self.size)
        with one_blas_thread():  # with more of them the order of additions depends on how many
            for x, part in self._parts():
                total[: self._d] += x.T @ signed[part]
        if self._d < self.size:
            total[-1] = self.bias * signed.sum()
        return total

    def gram(self, chosen: NDArray[np.bool_]) -> Floats:
        """``Σ z zᵀ`` over the chosen samples."""
        total, d = np.zeros((self.size, self.size)), self._d
        look_up = self.clock.pieces()
        for x, part in self._parts():
            look_up(int(np.count_nonzero(chosen[part])) * self.size**2)
            rows = x[np.flatnonzero(chosen[part])]
            product = rows.T @ rows
            total[:d, :d] += product.toarray() if hasattr(product, "toarray") else product
            if self.bias:
                total[-1, :d] += self.bias * np.asarray(rows.sum(axis=0)).ravel()
        if self.bias:
            total[:d, -1] = total[-1, :d]
            total[-1, -1] = self.bias**2 * np.count_nonzero(chosen)
        return total

    def radius(self) -> float:
        """``R``, the length of the longest, rounded up; infinite beyond the largest float.

        By a little more where many are about as long, and there is not much time.
        """
        enough = int(min(ENOUGH, self.clock.left() / SQUARING))
        square = largest_square(self._samples.matrix, enough) + Fraction(self.bias) ** 2
        return root_up(square) * (1 + self._relative)

    def margin(self, theta: Floats, R: float) -> float:
        """``min z·θ/‖θ‖``, rounded down; zero or less exactly where θ does not separate."""
        square = sum((Fraction(t) ** 2 for t in theta.tolist()), Fraction(0))
        exact = self._least(theta)
        gamma = root_down(exact**2 / square)
        if exact <= 0:
            return -gamma
        return math.nextafter(gamma - self._relative * R, 0.0) if self._relative else gamma

    def _least(self, theta: Floats) -> Fraction:
        """``min z·θ``, exactly."""
        if self._d == self.size:  # the bias is a feature like the others
            theta = np.append(theta, 0.0)
        elif self.bias != 1.0:
            theta = np.append(theta[:-1], 0.0)
        look_up = self.clock.whole(Kind.SIDES, self.source.n_entries)
        return smallest(self._samples.matrix, self._samples.y, theta.tolist(), look_up=look_up)

    def widest(self, R: float) -> Floats | None:
        """The unit vector with the widest margin; None where none separates, or floats fail."""
        found = widest(self.source, self.team, self.positive, self.bias, clock=self.clock)
        if found is None:
            return None
        theta = found.theta[: self.size]
        return theta if self.margin(theta, R) > 0 else None

    def as_two_classes(self) -> tuple[Source, int]:
        """Data and a class that a hyperplane, with a bias, separates exactly if θ does these.

        Where the bias is no longer apart they are the ``z`` and, on the other side, the ``-z``:
        ``w·z + b > 0 > -w·z + b`` says ``w·z > 0``.
        """
        if self.bias:
            return self.source, self.positive
        sides = (partial(_mirrored, self._d, self.positive, side) for side in (1.0, -1.0))
        return changed(self.source, *sides), 1

    def theta_of(self, plane: Hyperplane) -> Floats:
        """The vector θ that a hyperplane between those two classes is."""
        return np.append(plane.w, plane.b if self.bias else 0.0)[: self.size]


class Projected:
    """Vectors seen from one direction: the numbers ``z·u``, as vectors of size 1."""

    def __init__(self, values: Floats) -> None:
        self._values = values
        self.n, self.size = len(values), 1

    def values(self, v: Floats) -> Floats:
        """``(z·u)v``."""
        scaled: Floats = self._values * v[0]
        return scaled

    def gather(self, u: Floats) -> Floats:
        """``Σ u_i z_i·u``."""
        with one_blas_thread():
            return np.array([self._values @ u])

    def gram(self, chosen: NDArray[np.bool_]) -> Floats:
        """``Σ (z·u)²`` over the chosen samples."""
        return np.array([[float((self._values[chosen] ** 2).sum())]])


def _mirrored(d: int, positive: int, side: float, piece: Piece) -> Block:
    """The vectors ``side*y*x`` of a block, all of one class."""
    sign = np.where(piece.block.label == positive, side, -side)
    X = as_matrix(piece.block.rows, d)
    if isinstance(X, np.ndarray):
        X = X * sign[:, np.newaxis]
    else:
        X = X.astype(np.float64)  # a copy
        X.data *= np.repeat(sign, np.diff(X.indptr))
    return Block(as_rows(X), np.full(len(sign), side > 0, np.int32), *UNWEIGHTED)


def _weighted(source: Source, positive: int, bias: float) -> Source:
    """The samples as vectors ``weight*(x, 1)``, without those of weight 0."""
    d = source.n_features

    def change(piece: Piece) -> Block:
        block = piece.block
        weight = row_weights(block, positive)
        used = np.flatnonzero(weight > 0)
        rows = theory.augment(as_matrix(block.rows, d)[used])
        if isinstance(rows, np.ndarray):
            rows[:, -1] = bias
            rows *= weight[used, np.newaxis]
        else:
            rows.data[rows.indptr[1:] - 1] = bias  # a row's own 1 comes last
            rows.data *= np.repeat(weight[used], np.diff(rows.indptr))
        return Block(as_rows(rows), block.label[used], *UNWEIGHTED)

    return changed(source, change, n_features=d + 1)

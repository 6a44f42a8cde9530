"""Coordinates in which a working set is easy on floating point; none of them is trusted."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.rationals import rows_as_integers, short_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask
    from rosenblatt.nearest.hulls import Nearest
    from rosenblatt.nearest.working_set import Samples


class WholeView:
    """All samples, with every feature centred and scaled to about 1; the bias is free.

    Two groups, the classes, so that the question does not depend on where the origin is.
    """

    def __init__(self, samples: Samples, rows: Ints) -> None:
        X = samples.gather(rows)[:, :-1]
        low, high = X.min(axis=0), X.max(axis=0)
        # Sparse rows stay as they are: their zeros mean something.
        self.centre = low / 2 + high / 2 if samples.dense else np.zeros(samples.d)
        size = np.maximum(np.abs(low - self.centre), np.abs(high - self.centre))
        self.powers = np.append(_powers(size), 0)
        # To a linear program zeros are nothing: where there are any, they stay as they are.
        self.origin = np.where((low <= 0) & (high >= 0), 0.0, self.centre)
        self.samples = samples

    def vectors(self, rows: Ints) -> tuple[Floats, Floats]:
        """The signed samples without a bias, and their groups."""
        y = self.samples.y[rows]
        Z = self.samples.gather(rows)[:, :-1]
        Z -= self.centre
        Z = np.ldexp(Z, -self.powers[:-1]) * y[:, np.newaxis]
        return Z, np.column_stack([y < 0, y > 0]).astype(np.float64)

    def coefficients(self, found: Nearest) -> Floats:
        """``(w, b)`` in the coordinates of the data."""
        w = np.ldexp(found.theta, -self.powers[:-1])
        return np.append(w, (found.t[0] - found.t[1]) / 2 - w @ self.centre)

    def theta(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients: itself."""
        return coefficients

    def scaled(self, rows: Ints) -> Floats:
        """The signed augmented samples, seen from the origin and scaled."""
        Z = self.samples.gather(rows)
        Z[:, :-1] -= self.origin
        np.ldexp(Z, -self.powers, out=Z)
        Z *= self.samples.y[rows, np.newaxis]
        return Z

    def unscaled(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients on such samples, rounded."""
        w, b = np.ldexp(coefficients[:-1], -self.powers[:-1]), coefficients[-1]
        return np.append(w, b - w @ self.origin)

    def integers(self, rows: Ints) -> list[list[int]]:
        """The signed augmented samples, scaled, each times a power of two: no rounding."""
        numbers, _ = rows_as_integers(self.samples.signed(rows), self.powers)
        whole: list[list[int]] = numbers.tolist()
        return whole

    def lift(self, coefficients: Sequence[Fraction]) -> list[Fraction]:
        """The vector ``(w, b)`` that has these coefficients on the scaled samples, exactly."""
        powers = zip(coefficients, self.powers.tolist(), strict=True)
        return [c * Fraction(2) ** -power for c, power in powers]

    def zoomed(self, rows: Ints, weights: Floats) -> LinearView:
        """A view of all samples along every coordinate, and the bias, zoomed."""
        basis = np.eye(self.samples.d + 1, dtype=np.int64).tolist()
        active = np.ones(self.samples.n, bool)
        return LinearView(self.samples, basis, rows, active).zoomed(rows, weights)


class LinearView:
    """The samples as seen along some directions, each scaled to about 1; one group.

    Every θ of this view is a combination of the integer vectors in `basis`, the directions. The
    `rows` are to be about 1 in all of them, the `active` rows are not zero along all. In an
    `exact` view rounding is of the size of the values themselves: signs are settled exactly.
    """

    def __init__(
        self,
        samples: Samples,
        basis: list[list[int]],
        rows: Ints,
        active: Mask,
        exact: bool = False,
    ) -> None:
        self.samples, self.basis, self.active, self.exact = samples, basis, active, exact
        self.lengths, self.V = near_one(basis)
        self.powers = _powers(np.abs(self.product(rows)).max(axis=0, initial=0.0))

    def product(self, rows: Ints) -> Floats:
        """The samples along the directions, these of length about 1."""
        return careful_product(self.samples.signed(rows), self.basis, self.lengths, self.V)

    def scaled(self, rows: Ints) -> Floats:
        """The samples in the new coordinates, every direction scaled to about 1."""
        return np.ldexp(self.product(rows), -self.powers)

    def unscaled(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients in them, rounded."""
        return self.theta(np.ldexp(coefficients, -self.powers))

    def vectors(self, rows: Ints) -> tuple[Floats, Floats]:
        """The samples in the new coordinates, each scaled to about 1, and their one group."""
        C = self.scaled(rows)
        sizes = _powers(np.abs(C).max(axis=1, keepdims=True))
        return np.ldexp(C, -sizes), np.ones((len(rows), 1))

    def coefficients(self, found: Nearest) -> Floats:
        """Those of the directions, of length about 1, in the vector found."""
        return np.ldexp(found.theta, -self.powers)

    def theta(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients, rounded."""
        theta: Floats = self.V @ coefficients
        return theta

    def integers(self, rows: Ints) -> list[list[int]]:
        """The samples in the new coordinates without rounding, each times a power of two."""
        numbers, _ = rows_as_integers(self.samples.signed(rows))
        whole: list[list[int]] = (numbers @ np.array(self.basis, dtype=object).T).tolist()
        return whole

    def lift(self, coefficients: Sequence[Fraction]) -> list[Fraction]:
        """The vector ``(w, b)`` that has these coefficients of the integer vectors, exactly."""
        return combined(coefficients, self.basis, Fraction(0))

    def lift_floats(self, coefficients: Sequence[Fraction]) -> list[Fraction]:
        """The same for coefficients of the directions of length about 1."""
        pairs = zip(coefficients, self.lengths, strict=True)
        return self.lift([c / (1 << length) for c, length in pairs])

    def zoomed(self, rows: Ints, weights: Floats) -> LinearView:
        """The view with a direction in which these rows are all nearly zero, magnified.

        What is rounding noise beside the other directions gets a scale of its own.
        """
        C, _ = self.vectors(rows)
        m, D = C.shape
        # Of fewer rows than directions only all singular vectors have one that is zero on them.
        nearly = np.linalg.svd(C * weights[:, np.newaxis], full_matrices=m < D)[2][-1]
        powers = (self.powers + np.array(self.lengths)).tolist()
        whole = [round(v * 2**53) for v in nearly.tolist()]
        whole = [v << (max(powers) - p) for v, p in zip(whole, powers, strict=True)]
        basis = list(self.basis)
        basis[int(np.abs(nearly).argmax())] = combined(whole, self.basis, 0)
        return LinearView(self.samples, basis, rows, self.active, exact=True)


View = WholeView | LinearView


def near_one(vectors: list[list[int]]) -> tuple[list[int], Floats]:
    """Exponents that bring integer vectors to about 1, and the vectors so, rounded, as columns."""
    short = short_integers(vectors)
    if short is not None:
        lengths = np.frexp(np.abs(short).max(axis=1).astype(np.float64))[1]
        V: Floats = np.ldexp(short.T.astype(np.float64), -lengths)
        return lengths.tolist(), V
    powers = [max(abs(v) for v in vector).bit_length() for vector in vectors]
    pairs = zip(vectors, powers, strict=True)
    return powers, np.array([[v / (1 << k) for v in vector] for vector, k in pairs]).T


def combined(coefficients: Sequence[Any], vectors: list[list[int]], zero: Any) -> list[Any]:
    """``Σ c_k v_k`` of integer vectors, many of whose numbers are 0."""
    return [
        sum((c * v for c, v in zip(coefficients, column, strict=True) if v), zero)
        for column in zip(*vectors, strict=True)
    ]


def careful_product(Z: Floats, basis: list[list[int]], lengths: list[int], V: Floats) -> Floats:
    """``Z V``, right to about six digits even where almost everything cancels.

    V are the vectors of the basis, rounded, over the powers of two ``2**lengths``.
    """
    C: Floats = Z @ V
    sizes = np.abs(Z) @ np.abs(V)
    if (np.rint(Z) == Z).all() and np.ldexp(sizes, lengths).max(initial=0.0) < 2**53:
        return C  # whole numbers: nothing was rounded
    doubtful = ~(np.abs(C) > 2.0**-30 * sizes) & (sizes != 0)
    rows = np.flatnonzero(doubtful.any(axis=1))
    numbers, powers = rows_as_integers(Z[rows])
    for j in np.flatnonzero(doubtful.any(axis=0)):
        used = [k for k, b in enumerate(basis[j]) if b]
        few = np.flatnonzero(doubtful[rows, j])
        exact = numbers[few[:, np.newaxis], used] @ np.array([basis[j][k] for k in used], object)
        each = zip(exact.tolist(), (powers[few] - lengths[j]).tolist(), strict=True)
        C[rows[few], j] = [_times_power(n, power) for n, power in each]
    return C


def _times_power(number: int, power: int) -> float:
    """``number * 2**power``, rounded; infinite where floats end."""
    extra = max(0, abs(number).bit_length() - 60)
    try:
        return math.ldexp(float(number >> extra), power + extra)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _powers(sizes: Floats) -> Ints:
    """Exponents that bring sizes to about 1; 0 for zero."""
    powers: Ints = np.frexp(np.where(sizes > 0, sizes, 1.0))[1].astype(np.int64)
    return powers

"""Coordinates in which a working set is easy on floating point; none of them is trusted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.solvers.nearest import Nearest
    from rosenblatt.solvers.working_set import Samples

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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
        self.powers = np.append(np.frexp(np.where(size > 0, size, 1.0))[1], 0)
        self.scale = np.ldexp(1.0, self.powers[:-1])
        self.samples = samples

    def vectors(self, rows: Ints) -> tuple[Floats, Floats]:
        """The signed samples without a bias, and their groups."""
        y = self.samples.y[rows]
        Z = self.samples.gather(rows)[:, :-1]
        Z -= self.centre
        Z /= self.scale
        Z *= y[:, np.newaxis]
        return Z, np.column_stack([y < 0, y > 0]).astype(np.float64)

    def coefficients(self, found: Nearest) -> Floats:
        """``(w, b)`` in the coordinates of the data."""
        w = found.theta / self.scale
        return np.append(w, (found.t[0] - found.t[1]) / 2 - w @ self.centre)

    def theta(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients: itself."""
        return coefficients

    def integers(self, rows: Ints) -> list[list[int]]:
        """The signed augmented samples, scaled, each times a power of two: no rounding."""
        return whole_numbers(self.samples.signed(rows), self.powers)

    def lift(self, coefficients: Sequence[Fraction]) -> list[Fraction]:
        """The vector ``(w, b)`` that has these coefficients on the scaled samples, exactly."""
        powers = zip(coefficients, self.powers.tolist(), strict=True)
        return [c * Fraction(2) ** -power for c, power in powers]


class QuotientView:
    """The samples as seen along the directions in which those that cancel are all zero.

    Parameters
    ----------
    samples : Samples
    basis : list of integer vectors
        They span the ``θ`` that are zero on the samples that cancel.
    rng : numpy.random.Generator
    """

    def __init__(self, samples: Samples, basis: list[list[int]], rng: np.random.Generator) -> None:
        self.samples, self.basis = samples, basis
        self.V = np.array([[float(v) for v in vector] for vector in basis]).T
        # Zero along one random direction: zero along all, or else by a very unlikely chance.
        mix = [Fraction(int(u)) for u in rng.integers(1, 1 << 20, len(basis))]
        self.active = samples.signs(self.lift(mix)) != 0

    def vectors(self, rows: Ints) -> tuple[Floats, Floats]:
        """The samples in the new coordinates, scaled to about 1, and their one group."""
        C = self.samples.signed(rows) @ self.V
        size = np.abs(C).max(axis=0)
        self.scale = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1])
        C /= self.scale
        lengths = np.maximum(np.abs(C).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        self.lengths = np.ldexp(1.0, np.frexp(lengths)[1])
        C /= self.lengths
        return C, np.ones((len(rows), 1))

    def coefficients(self, found: Nearest) -> Floats:
        """Those of the basis vectors in the vector found."""
        return found.theta / self.scale

    def theta(self, coefficients: Floats) -> Floats:
        """The vector ``(w, b)`` that has these coefficients, rounded."""
        theta: Floats = self.V @ coefficients
        return theta

    def integers(self, rows: Ints) -> list[list[int]]:
        """The samples in the new coordinates without rounding, each times a power of two."""
        V = np.array(self.basis, dtype=object).T
        shifts = np.zeros(len(V), np.int64)
        Z = np.array(whole_numbers(self.samples.signed(rows), shifts), dtype=object)
        product: list[list[int]] = (Z @ V).tolist()
        return product

    def lift(self, coefficients: Sequence[Fraction]) -> list[Fraction]:
        """The vector ``(w, b)`` that has these coefficients, exactly."""
        columns = zip(*self.basis, strict=True)
        return [
            sum((c * v for c, v in zip(coefficients, column, strict=True) if v), Fraction(0))
            for column in columns
        ]


View = WholeView | QuotientView


def whole_numbers(Z: Floats, powers: NDArray[np.int64]) -> list[list[int]]:
    """Every column over its power of two, then every row times one, so that all are whole."""
    mantissa, exponent = np.frexp(Z)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    rows = []
    for numbers, places in zip(whole.tolist(), (exponent - powers).tolist(), strict=True):
        low = min((p for v, p in zip(numbers, places, strict=True) if v), default=0)
        rows.append([v << (p - low) if v else 0 for v, p in zip(numbers, places, strict=True)])
    return rows

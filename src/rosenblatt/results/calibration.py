"""Probabilities made of decision values: curves, as plain numbers that a model file can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rosenblatt.array_types import Floats


@dataclass(frozen=True)
class SigmoidCurve:
    """``1/(1 + exp(slope·value + offset))``, J. Platt's curve (1999); the slope is negative."""

    slope: float
    offset: float

    def __call__(self, values: Floats) -> Floats:
        """The probabilities at these values."""
        return expit(-(self.slope * values + self.offset))  # type: ignore[no-any-return]

    @property
    def fits_together(self) -> bool:
        """Whether it can be used."""
        return bool(np.isfinite([self.slope, self.offset]).all())


@dataclass(frozen=True)
class IsotonicCurve:
    """A curve that never falls: straight between these values, level before and after them."""

    values: NDArray[np.float64]
    shares: NDArray[np.float64]

    def __call__(self, values: Floats) -> Floats:
        """The probabilities at these values."""
        return np.interp(values, self.values, self.shares)

    @property
    def fits_together(self) -> bool:
        """Whether it can be used."""
        places, shares = self.values, self.shares
        same = places.ndim == 1 and places.shape == shares.shape and len(places) > 0
        rises = same and bool((np.diff(places) > 0).all() and (np.diff(shares) >= 0).all())
        return rises and bool(np.isfinite(places).all() and 0 <= shares[0] <= shares[-1] <= 1)


Curve = SigmoidCurve | IsotonicCurve


def probabilities(curves: Sequence[Curve], values: Floats) -> Floats:
    """The probability of each class, a column each, from decision values.

    One curve is for the second of two classes. Of several, one for each class against the rest,
    the probabilities are divided by their sum; where all are 0, every class is as probable.
    """
    found = np.column_stack([curve(values[:, k]) for k, curve in enumerate(curves)])
    if len(curves) == 1:
        return np.column_stack([1 - found, found])
    total, even = found.sum(axis=1, keepdims=True), np.full_like(found, 1 / len(curves))
    shares: Floats = np.divide(found, total, out=even, where=total != 0)
    return np.minimum(shares, 1.0, out=shares)

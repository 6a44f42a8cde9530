"""Bounds on the rounding of kernel values that come from computed inner products."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Rounding(NamedTuple):
    """How far a computed ``Σ δ K`` can be off: ``relative*Σ|δ||K| + absolute*Σ|δ|``, row by row."""

    relative: Any
    absolute: Any


class Products(NamedTuple):
    """What is known of computed inner products ``x·y``, for bounds on rounding.

    `unit` is the unit roundoff, `terms` the most terms that are not zero (row by row), `x2` the
    squared norms of the rows, `most` the largest squared norm of any y, and `nonnegative` says
    whether no term is negative.
    """

    unit: float
    terms: Any
    x2: Any
    most: float
    nonnegative: bool


def powers_rounding(products: Products, degree: int, gamma: float, coef0: float) -> Rounding:
    """That of ``(gamma*x·y + coef0)^degree``."""
    u, zero = products.unit, 0.0 * products.x2
    least, lost, largest = float_range(u)
    relative = 1.05 * degree * (products.terms + 6) * u + zero
    with np.errstate(over="ignore", invalid="ignore"):
        root = lengths(products)
        base = gamma * root + abs(coef0)
        size = base**degree
        # A product too small for floats is lost, and what is lost then grows with the power.
        small = 1.05 * degree * base ** (degree - 1) * (gamma * (products.terms + 2) + 2) * lost
        small = small + tiny(u)
        fits = (relative < 0.05) & (root < largest) & (size < largest) & (base < largest)
        fits &= least <= gamma < largest
        if products.nonnegative and gamma >= 0 and coef0 >= 0:
            return Rounding(np.where(fits, relative, np.inf), np.where(fits, small, np.inf))
        return Rounding(zero, np.where(fits, relative * size + small, np.inf))


def lengths(products: Products) -> Any:
    """``‖x‖‖y‖`` at most: squares that are too small for floats are not forgotten."""
    return np.sqrt(products.x2 + 2.0**-1000) * math.sqrt(products.most + 2.0**-1000)


def float_range(unit: float) -> tuple[float, float, float]:
    """The smallest float with all its digits, the smallest there is, and a bound on the largest."""
    return (2.0**-126, 2.0**-149, 2.0**127) if unit > 1e-10 else (2.0**-1022, 2.0**-1074, 2.0**1023)


def tiny(unit: float) -> float:
    """Values below this may have lost their digits, or all of themselves."""
    return 2.0**-120 if unit > 1e-10 else 2.0**-1000

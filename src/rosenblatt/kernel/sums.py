"""Sums of products, with the right sign, or rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


SMALLEST = 2.0**-1074


def signed_sum(coef: Floats, values: Floats) -> float:
    """``Σ coef*values`` in floating point if that has the right sign, otherwise the exact sum."""
    p = coef * values
    total, size = float(p.sum()), float(np.abs(p).sum())
    if abs(total) > (len(p) + 4) * 2.0**-52 * size + 1e-290:
        return total
    return exact_sum(coef, values)


def exact_sum(coef: Floats, values: Floats) -> float:
    """``Σ coef*values``, rounded once, at the end; what is not zero never becomes zero."""
    p = coef * values
    if np.abs(p).max(initial=0.0) < 1e200:
        total = math.fsum(np.concatenate([p, _product_error(coef, values, p)]).tolist())
        if abs(total) > 1e-200:  # otherwise errors of tiny products may be beyond floats
            return total
    terms = zip(coef.tolist(), values.tolist(), strict=True)
    exact = sum((Fraction(a) * Fraction(k) for a, k in terms if a and k), Fraction(0))
    try:
        return float(exact) or math.copysign(SMALLEST, exact) * (exact != 0)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _product_error(a: Floats, b: Floats, p: Floats) -> Floats:
    """``a*b - p`` exactly, for the rounded product p (Dekker, Numerische Mathematik 18, 1971)."""
    high = []
    for x in (a, b):
        c = 134217729.0 * x
        high.append(c - (c - x))
    ah, bh = high
    al, bl = a - ah, b - bh
    error: Floats = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    return error


def exact_votes(step: Floats, values: Floats, lives: NDArray[np.int64], first: int) -> int:
    """``Σ_t lives_t*sign(Σ_{s<=t} step_s*values_s) - first``, no sum rounded; of zero it is -1."""
    score, votes = 0, -first
    for a, k, life in zip(step.tolist(), values.tolist(), lives.tolist(), strict=True):
        score += _whole(a) * _whole(k)
        votes += life if score > 0 else -life
    return votes


def _whole(x: float) -> int:
    """``x*2^1074``, which is a whole number for every float."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * (2**1074 // denominator)

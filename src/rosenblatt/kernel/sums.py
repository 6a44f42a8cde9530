"""Sums of products, with the right sign, or rounded once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.kernel.registers import DIGITS, LOWEST, add_products, follow_signs, is_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SMALLEST = 2.0**-1074


def signed_sum(coef: Floats, values: Floats) -> float:
    """``Σ coef*values`` in floating point if that has the right sign, otherwise the exact sum."""
    p = coef * values
    total, size = float(p.sum()), float(np.abs(p).sum())
    if abs(total) > (len(p) + 4) * 2.0**-52 * size + 1e-290:
        return total
    return rounded_sum(coef, values)


def rounded_sum(coef: Floats, values: Floats) -> float:
    """``Σ coef*values``, rounded once, at the end; what is not zero never becomes zero."""
    register = np.zeros(DIGITS, np.int64)
    add_products(register, coef, values)
    is_positive(register)  # puts the digits in order
    low = int.from_bytes(register[:-1].astype("<u4").tobytes(), "little")
    whole = low + (int(register[-1]) << 32 * (DIGITS - 1))
    try:
        total = whole / 2**LOWEST
    except OverflowError:
        return math.inf if whole > 0 else -math.inf
    return total or (SMALLEST if whole > 0 else -SMALLEST if whole else 0.0)


def exact_votes(step: Floats, values: Floats, lives: NDArray[np.int64], first: int) -> int:
    """``Σ_t lives_t*sign(Σ_{s<=t} step_s*values_s) - first``, no sum rounded; of zero it is -1."""
    positive = signs_after(np.zeros(len(step)), np.arange(len(step)), step, values)
    return int(np.where(positive, lives, -lives).sum()) - first


def signs_after(coef: Floats, vector: Ints, step: Floats, values: Floats) -> NDArray[np.bool_]:
    """Whether ``Σ coef*values`` is positive after each update, which no rounding has changed.

    An update adds `step` to the coefficient of `vector`.
    """
    positive = np.empty(len(step), np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        register = np.zeros(DIGITS, np.int64)
        follow_signs(register, coef.copy(), vector, step, values, positive)
    return positive

"""Sums of products of floats without rounding: long whole numbers, in digits of 32 bits.

A register holds any sum of products of floats (U. Kulisch, "Computer Arithmetic and Validity",
de Gruyter 2013). Its digits are signed 64-bit numbers, so that there is room for carries: 2^30
products may be added before the digits are put in order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.compiled import loop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints


DIGITS = 140
LOWEST = 2300  # the first digit counts multiples of 2^-LOWEST, below all products
HALF = 2.0**27  # a float is a whole number of 27 bits, then one of 26, times a power of two
REST = 2.0**26
DIGIT = (1 << 32) - 1
SPLIT = 2.0**27 + 1.0  # times a float, to cut it into two of half its digits (Veltkamp)


@loop
def add_shifted(register: Any, number: int, power: int) -> None:
    """Add ``number*2^power``, where the number has at most 56 bits."""
    place = power + LOWEST
    digit, shift = place >> 5, place & 31
    fits = 32 - shift  # bits of it that belong to the first digit
    register[digit] += (number & ((1 << fits) - 1)) << shift
    number >>= fits
    register[digit + 1] += number & DIGIT
    register[digit + 2] += number >> 32


@loop
def add_product(register: Any, a: float, b: float) -> None:
    """Add ``a*b``."""
    x, power_x = math.frexp(a)
    y, power_y = math.frexp(b)
    x, y = x * HALF, y * HALF
    high_x, high_y = int(x), int(y)
    low_x, low_y = int((x - high_x) * REST), int((y - high_y) * REST)
    power = power_x + power_y
    add_shifted(register, high_x * high_y, power - 54)
    add_shifted(register, high_x * low_y + low_x * high_y, power - 80)
    add_shifted(register, low_x * low_y, power - 106)


@loop
def add_products(register: Any, a: Any, b: Any) -> None:
    """Add ``Σ a*b``."""
    for k in range(len(a)):
        add_product(register, a[k], b[k])


@loop
def is_positive(register: Any) -> bool:
    """Whether the sum is above zero; its digits are put in order."""
    carry, some = 0, False
    for d in range(len(register) - 1):
        digit = register[d] + carry
        carry = digit >> 32
        register[d] = digit & DIGIT
        some |= register[d] != 0
    register[-1] += carry
    return bool(register[-1] > 0 or (register[-1] == 0 and some))


@loop
def follow_signs(register: Any, coef: Any, vector: Any, step: Any, values: Any, out: Any) -> None:
    """Write after each update whether ``Σ coef*values`` is positive, for the values of a sample.

    An update adds `step` to the coefficient of `vector`. Floating point, with a bound on its
    rounding, spares most looks at the register, which begins with nothing in it.
    """
    score, size = 0.0, 0.0
    for k in range(len(coef)):
        if coef[k] != 0:
            add_product(register, coef[k], values[k])
            score += coef[k] * values[k]
            size += abs(coef[k] * values[k])
    for t in range(len(step)):
        k = vector[t]
        before, after = coef[k], coef[k] + step[t]  # which may be rounded
        if before != 0:
            add_product(register, -before, values[k])
        add_product(register, after, values[k])
        coef[k] = after
        score += after * values[k] - before * values[k]
        size += abs(after * values[k]) + abs(before * values[k])
        if abs(score) > (len(coef) + 3 * t + 9) * 2.0**-51 * size + 1e-290:
            out[t] = score > 0
        else:
            out[t] = is_positive(register)


@loop
def sum_in_two(a: Any, b: Any) -> tuple[float, float, float]:
    """``Σ a*b`` as a sum, what its roundings have lost, and a bound on how far both are off.

    T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005):
    n errors of products and n of sums, u of the sum of the sizes each, are added with as many u.
    """
    total, lost, size = 0.0, 0.0, 0.0
    for k in range(len(a)):
        x, y = a[k], b[k]
        product = x * y
        high_x, high_y = SPLIT * x, SPLIT * y
        high_x, high_y = high_x - (high_x - x), high_y - (high_y - y)
        low_x, low_y = x - high_x, y - high_y
        off = ((product - high_x * high_y) - low_x * high_y) - high_x * low_y
        before, total = total, total + product
        added = total - before
        lost += (low_x * low_y - off) + ((before - (total - added)) + (product - added))
        size += abs(product)
    doubt = (len(a) + 8.0) ** 2 * 2.0**-103 * size + 2.0**-51 * abs(lost) + 2.0**-1000
    return total, lost, doubt


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
    with np.errstate(over="ignore", invalid="ignore"):  # which leaves everything in doubt
        total, lost, doubt = sum_in_two(coef, values)
    low, high = total + (lost - doubt), total + (lost + doubt)
    if low == high:  # rounding keeps order: what lies between is rounded to the same float
        return low
    register = np.zeros(DIGITS, np.int64)
    add_products(register, coef, values)
    is_positive(register)  # puts the digits in order
    digits = int.from_bytes(register[:-1].astype("<u4").tobytes(), "little")
    whole = digits + (int(register[-1]) << 32 * (DIGITS - 1))
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

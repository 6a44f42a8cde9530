"""Sums of products of floats without rounding: long whole numbers, in digits of 32 bits.

A register holds any sum of products of floats (U. Kulisch, "Computer Arithmetic and Validity",
de Gruyter 2013). Its digits are signed 64-bit numbers, so that there is room for carries: 2^30
products may be added before the digits are put in order.
"""

from __future__ import annotations

import math
from typing import Any

from rosenblatt.data.compiled import loop

DIGITS = 140
LOWEST = 2300  # the first digit counts multiples of 2^-LOWEST, below all products
HALF = 2.0**27  # a float is a whole number of 27 bits, then one of 26, times a power of two
REST = 2.0**26
DIGIT = (1 << 32) - 1


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

"""The floats beside a rational number, and rational numbers made of floats."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.exact.integers import as_objects, decompose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def above(number: Fraction) -> float:
    """The smallest float that is not below a number; infinite beyond all floats."""
    near = _near(number)
    return near if near >= number else math.nextafter(near, math.inf)


def below(number: Fraction) -> float:
    """The largest float that is not above a number; minus infinity beyond all floats."""
    return -above(-number)


def closest(number: Fraction) -> float:
    """The nearest float that is finite."""
    return min(max(_near(number), -sys.float_info.max), sys.float_info.max)


def _near(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def root_above(number: Fraction) -> float:
    """A float that is not below the root of a number, and hardly above it."""
    root, unit = _root(number)
    return above((root + 1) * unit)


def root_near(number: Fraction) -> float:
    """The root of a number, to the last bit or nearly."""
    root, unit = _root(number)
    return closest(root * unit)


def _root(number: Fraction) -> tuple[int, Fraction]:
    """A whole number of units whose square is just not above; the root has 100 digits of them."""
    shift = 200 + number.denominator.bit_length() - number.numerator.bit_length()
    shift += shift % 2
    return math.isqrt(int(number * Fraction(2) ** shift)), Fraction(2) ** (-shift // 2)


def square_sum(values: Floats) -> Fraction:
    """``Σ v²`` of floats."""
    M, E = decompose(values)
    low = int(E.min(initial=0))
    numbers = as_objects(M, np.where(M == 0, 0, E - low))
    return Fraction(int((numbers * numbers).sum())) * Fraction(4) ** low


def exact_product(A: Floats, t: list[Fraction]) -> list[Fraction]:
    """``A t`` for a matrix of floats."""
    denominator = math.lcm(*(number.denominator for number in t))
    numbers = np.empty(len(t), dtype=object)
    numbers[:] = [number.numerator * (denominator // number.denominator) for number in t]
    M, E = decompose(A)
    low = int(E.min(initial=0))
    products = as_objects(M, np.where(M == 0, 0, E - low)) @ numbers
    unit = Fraction(2) ** low / denominator
    return [Fraction(int(n)) * unit for n in products]

"""Square roots of fractions as floats, rounded to the side that keeps a bound a bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rosenblatt.exact.integers import nearest_float

if TYPE_CHECKING:
    from fractions import Fraction

DIGITS = 128  # binary, more than twice those of a float


def root_up(square: Fraction) -> float:
    """The smallest float that is no less than the root; infinite beyond the largest."""
    root, shift, exact = _root(square)
    return _rounded(root + (not exact), shift, up=True)


def root_down(square: Fraction) -> float:
    """The largest float that is no more than the root."""
    root, shift, _ = _root(square)
    return _rounded(root, shift, up=False)


def root_near(square: Fraction) -> float:
    """The root to the last bit or nearly; infinite beyond the largest float."""
    root, shift, _ = _root(square)
    return nearest_float(root, 1 << shift)


def _root(square: Fraction) -> tuple[int, int, bool]:
    """``⌊√square · 2**shift⌋``, the shift, and whether nothing was cut off."""
    a, b = square.numerator, square.denominator
    shift = max(0, DIGITS + (b.bit_length() - a.bit_length()) // 2)
    whole, rest = divmod(a << 2 * shift, b)
    root = math.isqrt(whole)
    return root, shift, rest == 0 and root * root == whole


def _rounded(n: int, shift: int, *, up: bool) -> float:
    """``n / 2**shift`` as a float, rounded up or down."""
    near = nearest_float(n, 1 << shift)
    if near == math.inf:
        return near if up else math.nextafter(near, 0.0)
    a, b = near.as_integer_ratio()
    apart = (a << shift) - n * b
    if up and apart < 0:
        return math.nextafter(near, math.inf)
    return math.nextafter(near, 0.0) if not up and apart > 0 else near

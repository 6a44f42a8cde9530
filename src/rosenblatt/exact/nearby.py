"""Floats near rational numbers: beside a number, beside a root, and for a whole hyperplane.

Rounding w and b to the nearest floats moves the hyperplane, and where samples are far from the
origin for how close they are to each other, by much of their distance. Other floats nearby may
be better: with each number a few units in the last place up or down, all that matters is what
becomes of ``w·x + b`` on the edges of the margin. Those changes form a lattice, and a point of it
close to the exact hyperplane is found by its reduction (A. K. Lenstra, H. W. Lenstra, L. Lovász,
"Factoring polynomials with rational coefficients", Mathematische Annalen 261, 1982; L. Babai, "On
Lovász' lattice reduction and the nearest lattice point problem", Combinatorica 6, 1986).
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.exact.integers import nearest_float

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.array_types import Floats
    from rosenblatt.exact.integers import Objects

LARGEST = sys.float_info.max
SMALLEST = math.ulp(0.0)
DIGITS = 128  # binary, of a root: more than twice those of a float
MOST = 40  # numbers of a hyperplane whose lattice is reduced
FINE = 10**11  # parts of the margin that the values on its edges should agree to
ALIKE = Fraction(1, 2 * 10**9)  # so close to 1 should they be, or,
COARSE = 2**11  # where floats are coarse, so many of their steps
SHIFT = 2**20  # units in the last place that a number may well be moved by
BITS = 2**40  # how finely all this is told
MULTIPLES = [1 + k * 2.0**-52 for k in range(8)]  # some are rounded better than others
WIDER = [1 + 2.0**-k for k in (52, 49, 46, 40, 34, 29, 20, 10, 5, 3, 1)]


# A number ---------------------------------------------------------------------------------------


def floats_of(numbers: Sequence[Fraction] | Objects) -> Floats:
    """The nearest floats; infinite where a number is too large for one."""
    return np.array([nearest_float(*v.as_integer_ratio()) for v in numbers], dtype=np.float64)


def closest(number: Fraction) -> float:
    """The nearest float that is finite."""
    return min(max(nearest_float(*number.as_integer_ratio()), -LARGEST), LARGEST)


def with_its_sign(numerator: int, denominator: int) -> float:
    """The nearest float that is finite, and zero only if the fraction is."""
    if numerator == 0:
        return 0.0
    size = min(max(nearest_float(abs(numerator), denominator), SMALLEST), LARGEST)
    return size if numerator > 0 else -size


def above(number: Fraction) -> float:
    """The smallest float that is not below a number; infinite beyond all floats."""
    near = nearest_float(*number.as_integer_ratio())
    return near if near >= number else math.nextafter(near, math.inf)


def below(number: Fraction) -> float:
    """The largest float that is not above a number; minus infinity beyond all floats."""
    return -above(-number)


# A root -----------------------------------------------------------------------------------------


def root_up(square: Fraction) -> float:
    """The smallest float that is no less than the root; infinite beyond the largest."""
    return above(_root(square)[1])


def root_down(square: Fraction) -> float:
    """The largest float that is no more than the root."""
    return max(0.0, below(_root(square)[0]))


def root_near(square: Fraction) -> float:
    """The root to the last bit or nearly; infinite beyond the largest float."""
    return nearest_float(*_root(square)[0].as_integer_ratio())


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Two numbers that the root is between, apart only in a digit that no float has."""
    a, b = square.as_integer_ratio()
    shift = max(0, DIGITS + (b.bit_length() - a.bit_length()) // 2)
    whole, rest = divmod(a << 2 * shift, b)
    root = math.isqrt(whole)
    more = root if rest == 0 and root * root == whole else root + 1
    return Fraction(root, 1 << shift), Fraction(more, 1 << shift)


# A hyperplane -----------------------------------------------------------------------------------


def candidates(theta: Sequence[Fraction], edges: Floats) -> Iterator[Floats]:
    """Floats near ``(w, b)`` or a multiple that differs little.

    Parameters
    ----------
    theta : sequence of Fraction
        ``(w, b)``, for which ``y(w·x + b)`` is 1 on the edges of the margin.
    edges : float array of shape (k, d + 1)
        Samples ``y(x, 1)`` on the edges.
    """
    theta = _within_floats(theta)
    for multiple in MULTIPLES:
        yield _nearest([v * Fraction(multiple) for v in theta])
    if len(theta) <= MOST and len(edges):
        yield _by_lattice(theta, edges)


def with_less_slack(theta: Sequence[Fraction], edges: Floats) -> Iterator[Floats]:
    """The same, also for larger multiples: there no sample on an edge has slack by rounding."""
    yield from candidates(theta, edges)
    for more in WIDER:
        wider = _within_floats([v * Fraction(more) for v in theta])
        yield _nearest(wider)
        if len(theta) <= MOST and len(edges):
            yield _by_lattice(wider, edges)


def _within_floats(numbers: Sequence[Fraction]) -> list[Fraction]:
    """The numbers, over a power of two if the largest is beyond floats."""
    largest = math.ceil(max(abs(v) for v in numbers))
    excess = largest.bit_length() - sys.float_info.max_exp + 1
    return [v / 2**excess for v in numbers] if excess > 0 else list(numbers)


def _nearest(theta: Sequence[Fraction]) -> Floats:
    return np.array([closest(v) for v in theta])


def _by_lattice(theta: Sequence[Fraction], edges: Floats) -> Floats:
    """The nearest floats, each moved so that together they are the same on all edges.

    What they are there may differ a little from 1: a multiple of the hyperplane is as good.
    """
    from flint import fmpz_mat  # late: most programs never need it

    found = _nearest(theta)
    steps = [Fraction(v) for v in np.spacing(np.abs(found)).tolist()]
    off = [Fraction(v) - t for v, t in zip(found.tolist(), theta, strict=True)]
    first, *others = [[Fraction(v) for v in row] for row in edges.tolist()]
    coarse = sum((s * abs(v) for s, v in zip(steps, first, strict=True)), Fraction(0))
    scale = 1 / max(ALIKE, min(Fraction(1, 4), COARSE * coarse))
    forms = [[v * scale for v in first]]
    forms += [[(a - b) * FINE for a, b in zip(z, first, strict=True)] for z in others]
    size = len(theta)
    basis = fmpz_mat(
        [
            [round(BITS * steps[j] * form[j]) for form in forms]
            + [(BITS // SHIFT) * (i == j) for i in range(size)]
            for j in range(size)
        ]
    ).lll()
    missed = [sum((o * v for o, v in zip(off, form, strict=True)), Fraction(0)) for form in forms]
    target = fmpz_mat([[round(-BITS * v)] for v in missed] + [[0]] * size)
    shares = (basis * basis.transpose()).solve(basis * target)
    whole = [round(Fraction(int(share.p), int(share.q))) for share in shares.entries()]
    nearest = fmpz_mat([whole]) * basis
    moves = [int(nearest[0, len(forms) + j]) * SHIFT // BITS for j in range(size)]
    moved = zip(found.tolist(), moves, steps, strict=True)
    return _nearest([Fraction(v) + move * step for v, move, step in moved])

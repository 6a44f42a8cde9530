"""Floats as the rational numbers that they are, and the floats near rational numbers.

A float is an integer times a power of two, and sums of such numbers need not be rounded. The other
way, rounding w and b to the nearest floats moves a hyperplane, and where samples are far from the
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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats, Ints

    Mask = NDArray[np.bool_]
    Objects = NDArray[np.object_]

NONE = 2**40  # an exponent larger than any
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
LARGER = [Fraction(p, 8) + Fraction(k, 2**53) for p in (9, 10, 12, 14, 15) for k in range(16)]


UNIT = -1200  # no float has a digit for such a power of two
AT_A_TIME = 1 << 20  # halves of numbers whose sum is one that floats can hold

# Numbers as integers ------------------------------------------------------------------------------


def decompose(values: ArrayLike) -> tuple[Ints, Ints]:
    """``(M, E)`` with ``values == M * 2**E`` exactly, every M odd, or 0 with ``E = 0``."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    M = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = np.frexp((M & -M).astype(np.float64))[1].astype(np.int64) - 1
    E = exponents.astype(np.int64) - 53 + lowest
    E[M == 0] = 0
    M >>= np.maximum(lowest, 0)
    return M, E


def short_integers(vectors: Sequence[Sequence[int]]) -> Ints | None:
    """Integer vectors as rows of an array, if floats can hold all their numbers."""
    try:
        numbers = np.array(vectors, dtype=np.int64)
    except OverflowError:
        return None
    return numbers if np.abs(numbers).max(initial=0) < 2**53 else None


def as_objects(M: Ints, E: Ints) -> Objects:
    """``M << E`` in integers of any length."""
    integers = M.astype(object)
    return integers << E.astype(object) if E.any() else integers


def as_integers(values: ArrayLike) -> tuple[Objects, int]:
    """Integers n, as short as one power of two leaves them, and e: ``values == n * 2**e``."""
    numbers, powers = rows_as_integers(np.asarray(values)[np.newaxis])
    return numbers[0], int(powers.ravel()[0])


def rows_as_integers(values: ArrayLike, scale: Ints | int = 0) -> tuple[Objects, Ints]:
    """The same with a power of two for each row: ``values / 2**scale == n * 2**e[i]``."""
    M, E = decompose(values)
    used, E = M != 0, E - scale
    within = tuple(range(1, M.ndim))
    e = E.min(axis=within, where=used, initial=NONE, keepdims=True)
    e[e == NONE] = 0
    return as_objects(M, np.where(used, E - e, 0)), e.reshape(len(M))


def over_one_denominator(numbers: Iterable[Any]) -> tuple[Objects, int]:
    """Integers and a denominator for floats or Fractions."""
    # A fraction may have been made of NumPy's integers, which overflow.
    ratios = [tuple(map(int, number.as_integer_ratio())) for number in numbers]
    denominator = math.lcm(*(d for _, d in ratios))
    numerators = np.empty(len(ratios), dtype=object)
    numerators[:] = [n * (denominator // d) for n, d in ratios]
    return numerators, denominator


def exact_sum(values: Floats) -> Fraction:
    """The sum of floats."""
    total = 0  # in units of 2**UNIT
    for a in range(0, len(values), AT_A_TIME):
        mantissas, exponents = np.frexp(values[a : a + AT_A_TIME])
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        least = int(exponents.min())
        for shift, half in ((27, whole >> 27), (0, whole & (2**27 - 1))):
            sums = np.bincount(exponents - least, weights=half)  # which floats can hold
            for k in np.flatnonzero(sums).tolist():
                total += int(sums[k]) << (shift + k + least - 53 - UNIT)
    return Fraction(total, 2**-UNIT)


def square_sum(values: Floats) -> Fraction:
    """``Σ v²`` of floats."""
    numbers, e = as_integers(values)
    return Fraction(int((numbers * numbers).sum())) * Fraction(4) ** e


def exact_product(A: Floats, t: Iterable[Any]) -> list[Fraction]:
    """``A t`` for a matrix of floats, and a vector of floats or Fractions."""
    numbers, denominator = over_one_denominator(t)
    rows, e = as_integers(A)
    unit = Fraction(2) ** e / denominator
    return [Fraction(int(n)) * unit for n in rows @ numbers]


class Scaled(NamedTuple):
    """A float matrix scaled to integers: ``Z[i, j] * 2**(r[i] + c[j]) == M[i, j] << E[i, j]``.

    The exponents are the smallest that make whole columns, then whole rows, integers.
    """

    M: Ints
    E: Ints
    r: Ints
    c: Ints

    def take(self, rows: Any) -> Scaled:
        """The chosen rows."""
        return Scaled(self.M[rows], self.E[rows], self.r[rows], self.c)


def scaled(Z: ArrayLike) -> Scaled:
    """A float matrix as integers, by exact scaling of columns and rows with powers of two."""
    M, E = decompose(Z)
    used = M != 0
    c = -E.min(axis=0, where=used, initial=NONE)
    c[c == -NONE] = 0
    E += c
    r = -E.min(axis=1, where=used, initial=NONE)
    r[r == -NONE] = 0
    E += r[:, None]
    E[~used] = 0
    return Scaled(M, E, r, c)


def residues(M: Ints, E: Ints, p: int) -> Floats:
    """``M * 2**E`` modulo the odd prime `p`, between ``-p/2`` and ``p/2``; E may be negative."""
    if not M.size:
        return np.zeros(M.shape)
    low = int(E.min())
    powers = np.array([pow(2, e, p) for e in range(low, int(E.max()) + 1)], dtype=np.int64)
    rest = (M % p) * powers[E - low] % p
    rest[rest > p // 2] -= p
    return rest.astype(np.float64)


# Floats near a number -----------------------------------------------------------------------------


def nearest_float(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction, ±inf if it is beyond all floats."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf


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


# Floats near a root -------------------------------------------------------------------------------


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


# Floats near a hyperplane -------------------------------------------------------------------------


def candidates(theta: Sequence[Fraction], edges: Floats) -> Iterator[Floats]:
    """Floats near ``(w, b)`` or a multiple that differs little.

    ``y(w·x + b)`` is 1 on the edges of the margin; `edges` has samples ``y(x, 1)`` that lie there.
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


def multiples(theta: Sequence[Fraction]) -> Iterator[Floats]:
    """The same for many larger ones, as some may leave room for a float where b has to be."""
    for multiple in LARGER:
        yield _nearest(_within_floats([v * multiple for v in theta]))


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

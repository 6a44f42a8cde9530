"""Intervals that provably contain the solution of a linear system.

S. M. Rump, "Verification methods: rigorous results using floating-point arithmetic", Acta
Numerica 19 (2010): with an approximate inverse C and ``G = I - CA``, the error of any x̃ is
``e = C(b - A x̃) + G e``, so that ``|G| v <= α v`` with ``v > 0`` and ``α < 1`` proves that A is
regular and bounds e. All bounds here are computed in ordinary rounding and then enlarged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rosenblatt.array_types import Floats, Ints

ULP = 2.0**-52  # twice the relative error of one rounding
TINY = 2.0**-1000  # more than any sum of underflows
SMALLEST = 2.0**-1022  # of the floats with all their digits
CHUNK = 1 << 18  # products at a time


class Pair(NamedTuple):
    """Numbers as sums of two floats each, the second smaller than the last digit of the first."""

    hi: Floats
    lo: Floats

    def plus(self, more: Floats) -> Pair:
        """The sums with a little added, not exactly."""
        return Pair(*two_sum(self.hi, self.lo + more))


def _up(bounds: Floats, terms: int) -> Floats:
    """At least the true value of sums of `terms` products that are not negative."""
    enlarged: Floats = bounds * (1 + (terms + 8) * ULP) + TINY
    return enlarged


def _equilibrated(A: Floats, axis: int) -> tuple[Floats, Ints]:
    """A with the largest entries of its rows (or columns) near 1, and the exponents taken out."""
    exponents = np.frexp(np.abs(A).max(axis=axis, initial=0.0))[1]
    return np.ldexp(A, -np.expand_dims(exponents, axis)), exponents


def two_sum(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """Rounded sums and their errors (Knuth)."""
    total = a + b
    taken = total - a
    return total, (a - (total - taken)) + (b - taken)


def two_product(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """Rounded products and their errors (Veltkamp and Dekker)."""
    product = a * b
    ca, cb = 134217729.0 * a, 134217729.0 * b
    a1, b1 = ca - (ca - a), cb - (cb - b)
    a2, b2 = a - a1, b - b1
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _residual(A: Floats, x: Floats) -> tuple[Floats, Floats]:
    """``A x`` as in twice the precision, then rounded, and bounds on its error.

    T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26
    (2005), applied to all rows at once. Sums are taken in pairs, and pairs of these. With u = 2⁻⁵³
    and S the sum of the sizes of the products, the errors of the products, and those of the sums of
    each level, are at most uS together; `lost` adds them up, fewer than 2n + 2c of them for c
    chunks, in whatever order, and is off by that many u of the sum of their sizes.
    """
    n = len(x)
    total = np.zeros(len(A))
    lost = np.zeros(len(A))
    step = max(1, CHUNK // len(A))
    for a in range(0, n, step):
        terms, errors = two_product(A[:, a : a + step], x[a : a + step])
        lost += errors.sum(axis=1)
        while terms.shape[1] > 1:
            half = terms.shape[1] // 2
            sums, errors = two_sum(terms[:, :half], terms[:, half : 2 * half])
            lost += errors.sum(axis=1)
            terms = np.hstack([sums, terms[:, 2 * half :]])
        total, errors = two_sum(total, terms[:, 0])
        lost += errors
    result = total + lost
    size, chunks = _up(np.abs(A) @ np.abs(x), n), -(-n // step)
    levels = 2 + min(step, n).bit_length() + chunks
    return result, _up(np.abs(result) * ULP + size * ((n + chunks + 4) * levels * ULP**2), n)


def enclose(A: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats] | None:
    """Floats ``low <= x <= high`` around the exact solution of the square system ``A x = b``.

    None if this cannot be proved in floating point: A may be singular, or nearly.
    """
    b = np.asarray(b, dtype=np.float64)
    return enclose_combination(A, b[:, None], np.ones(1))


def enclose_combination(A: ArrayLike, B: Floats, t: Floats) -> tuple[Floats, Floats] | None:
    """As `enclose`, for ``A x = B t`` with the right-hand side not rounded to floats."""
    with np.errstate(all="ignore"):
        found = _enclosed(A, B, t)
        if found is None:
            return None
        low, high, back = found
        return (
            _unscaled(np.nextafter(low, -np.inf), back, -np.inf),
            _unscaled(np.nextafter(high, np.inf), back, np.inf),
        )


def enclosed_floats(A: ArrayLike, B: Floats, t: Floats) -> Floats | None:
    """The floats nearest to the exact solution of ``A x = B t``, if an enclosure tells them.

    None if it does not: A may be singular, or nearly, or a number too near the middle between
    two floats, or too large or small.
    """
    with np.errstate(all="ignore"):
        found = _enclosed(A, B, t)
        if found is None:
            return None
        # Rounding keeps order: what lies between two numbers rounds between their floats.
        low, high, back = found
        floats = np.ldexp(low, back)
        normal = np.isfinite(floats) & (np.abs(floats) > SMALLEST)
        return floats if np.array_equal(low, high) and normal.all() else None


def _enclosed(A: ArrayLike, B: Floats, t: Floats) -> tuple[Floats, Floats, Ints] | None:
    """What ``A x = B t`` is between, rounded, but for powers of two; and their exponents."""
    A = np.asarray(A, dtype=np.float64)
    left, rows = _equilibrated(A, 1)
    left, columns = _equilibrated(left, 0)
    right, first = _equilibrated(B, 0)
    right, second = _equilibrated(np.ldexp(right, -rows[:, None]), 0)
    extra = first + second
    common = (np.frexp(t)[1] + extra)[t != 0].max(initial=-5000)
    side = np.ldexp(t, extra - common)
    # Where a number would underflow or overflow, scaling is not exact.
    if not (
        _same(left, columns + rows[:, None], A)
        and _same(right, extra + rows[:, None], B)
        and _same(side, common - extra, t)
    ):
        return None
    found = _enclose_scaled(left, right, side)
    if found is None:
        return None
    near, error = found
    low = near.hi + np.nextafter(near.lo - error, -np.inf)
    high = near.hi + np.nextafter(near.lo + error, np.inf)
    return low, high, common - columns


def _same(scaled: Floats, exponents: Ints, original: Floats) -> bool:
    """Whether scaling back gives the original numbers: then nothing was lost."""
    return np.array_equal(np.ldexp(scaled, exponents), original)


def _unscaled(bound: Floats, exponents: Ints, outwards: float) -> Floats:
    """Bounds times powers of two, rounded outwards where they underflow or overflow."""
    result = np.ldexp(bound, exponents)
    changed = np.ldexp(result, -exponents) != bound
    result[changed] = np.nextafter(result[changed], outwards)
    return result


def _enclose_scaled(A: Floats, B: Floats, t: Floats) -> tuple[Pair, Floats] | None:
    """The solution for entries of moderate size, in two floats each, and bounds on its error."""
    k = len(A)
    try:
        C = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    both = np.hstack([B, -A, -A])
    x = Pair(C @ (B @ t), np.zeros(k))
    for _ in range(4):
        x = x.plus(C @ _residual(both, np.concatenate([t, *x]))[0])
    residual, error = _residual(both, np.concatenate([t, *x]))
    shift, size = C @ residual, np.abs(C)
    spread = _up(size @ _up(error + np.abs(residual) * (2 * (k + 2) * ULP), 1), k)
    moved = _up(np.abs(shift) + spread, 1)
    G = np.abs(np.eye(k) - C @ A)
    slack = _up(size @ _up(np.abs(A) @ np.ones(k), k), k) * (2 * (k + 2) * ULP)
    bound = _contracted(x.hi, moved, G, slack)
    return None if bound is None else (x, bound)


def _contracted(x: Floats, moved: Floats, G: Floats, slack: Floats) -> Floats | None:
    """Bounds on the error of x, if ``|I - CA| <= G + error`` is a contraction; None otherwise.

    `slack` bounds the sums of the rows of that error, ``|Cρ| <= moved`` the first step.
    """
    k = len(x)
    size = np.abs(x)
    ones = np.full(k, max(float(size.max(initial=0.0)), TINY))
    for v in (np.maximum(size, TINY), ones):
        bound = _up(G @ v, k) + slack * v.max(initial=0.0)
        alpha = float(_up(bound / v, 1).max(initial=0.0))
        if alpha < 0.9:
            beta = float(_up(moved / v, 1).max(initial=0.0))
            error = v * (beta / (1 - alpha) * (1 + 8 * ULP))
            break
    else:
        return None
    for _ in range(2):
        error = np.minimum(
            error, _up(moved + _up(G @ error, k) + slack * error.max(initial=0.0), 2)
        )
    if not np.isfinite(error).all() or not np.isfinite(x).all():
        return None
    return error

"""What proves a verdict: samples that cancel, hyperplanes, and bounds where it stays open.

Samples that seem to cancel, in floats, are turned into samples that do, with exact weights: the
weights of independent ones among them solve a linear system, which is solved without rounding.
Weights and hyperplanes are then stored in floats where these hold what was proved, otherwise as
fractions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact import independent_rows, solve
from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.dot_products import weighted_mean
from rosenblatt.exact.enclosure import ULP, enclosed_floats
from rosenblatt.exact.rationals import candidates, exact_product, floats_of
from rosenblatt.exact.sides import Form
from rosenblatt.exact.systems import cost_of_solving
from rosenblatt.results import Hyperplane, QuasiSeparable, Separable
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask
    from rosenblatt.nearest.working_set import Samples

    # Floats, each the nearest to a number, or, where these end, the numbers as Fractions.
    Numbers = NDArray[Any]

NONE = np.empty(0, np.int64)
ELIMINATION, ENCLOSURE = 4, 10  # times the products of a matrix product
SMALLEST = 2.0**-1022  # of the floats with all their digits
SMALL = 20_000  # numbers in data for which floats that separate are sought among many

# Samples that cancel ----------------------------------------------------------------------------


class Cancelling(NamedTuple):
    """Samples that cancel with positive weights: ``Σ weights·z = 0``.

    `across` are samples of earlier meetings, independent of each other, with `shares` of either
    sign that the sum also needs to vanish; empty at first.
    """

    rows: Ints
    weights: Numbers
    across: Ints
    shares: Numbers


def independent(samples: Samples, Z: Floats) -> tuple[Ints, Ints]:
    """`independent_rows`, if there is time for it; that none is missing is proved later."""
    products = ELIMINATION * Z.size * min(Z.shape)
    with samples.clock.task(Kind.PRODUCTS, products):
        return samples.clock.waiting_for(partial(independent_rows, Z, again=False), products)


def cancel(
    samples: Samples, rows: Ints, basis: Ints, weights: Floats | None = None, exactly: bool = False
) -> Cancelling | None:
    """How these samples cancel, up to samples of the basis, if they do.

    The weights of some of them are as given; those of the others, independent ones, are then
    determined. Without weights there must be just one way to cancel.
    """
    order = np.argsort(rows)
    rows = rows[order]
    both = np.concatenate([basis, rows])
    Z = samples.signed(both)
    chosen, columns = independent(samples, Z)
    left = np.setdiff1d(np.arange(len(both)), chosen)
    if not len(left) or (weights is None and len(left) > 1):
        return None
    given = np.ones(len(both))
    if weights is not None:
        given[len(basis) :] = weights[order]
    fixed = given[left] / max(given[left])
    A, B = Z[chosen][:, columns].T, -Z[left][:, columns].T
    solved = _solved(samples, A, B, fixed, exactly)
    coefficients = np.empty(len(both), dtype=solved.dtype)
    coefficients[left] = fixed if solved.dtype != object else [Fraction(v) for v in fixed]
    coefficients[chosen] = solved
    shares, found = coefficients[: len(basis)], coefficients[len(basis) :]
    used = found > 0
    if not (found >= 0).all() or (weights is not None and not used.all()):
        return None
    return Cancelling(rows[used], found[used], basis, shares)


def _solved(samples: Samples, A: Floats, B: Floats, t: Floats, exactly: bool) -> Numbers:
    """The solution of ``A x = B t`` for a regular A."""
    if not exactly:
        products = ENCLOSURE * A.size * len(A)
        with samples.clock.task(Kind.PRODUCTS, products):
            found = samples.clock.waiting_for(partial(enclosed_floats, A, B, t), products)
        if found is not None:
            return found
    with samples.system(cost_of_solving(A)):
        exact = solve(A, exact_product(B, t.tolist()))
    assert exact is not None  # A is regular
    floats = exact.floats()
    if not exactly and _hold(floats, exact.numerators):
        return floats
    numbers = np.empty(len(floats), dtype=object)
    numbers[:] = exact.fractions()
    return numbers


def _hold(floats: Floats, numbers: Sequence[int | Fraction]) -> bool:
    """Whether floats are these numbers to all their digits, and not beyond the floats."""
    zero = np.array([n == 0 for n in numbers])
    sizes = np.abs(floats)
    return bool((zero | ((sizes >= SMALLEST) & np.isfinite(sizes))).all())


def shares(samples: Samples, rows: Ints) -> tuple[Floats, tuple[Fraction, ...] | None]:
    """The only weights with which samples cancel that sum to 1 in each class.

    The nearest floats; and the numbers themselves where floats end.
    """
    Z, y = samples.signed(rows), samples.y[rows]
    _, columns = independent(samples, Z)
    A = np.vstack([Z[:, columns].T, y > 0])
    b = np.append(np.zeros(len(columns)), 1.0)
    found = _solved(samples, A, b[:, np.newaxis], np.ones(1), exactly=False)
    if found.dtype != object:
        return found, None
    return floats_of(found), tuple(found.tolist())


def joined(samples: Samples, one: Cancelling, other: Cancelling) -> Cancelling:
    """Two ways to cancel as one, positive on the samples of both."""
    if one.weights.dtype != object and other.weights.dtype != object:
        rows, basis, weights = _sum(one, other)
        floats_do = bool((weights > 0).all())  # neither too large for them nor too small
        both = cancel(samples, rows, basis, weights) if floats_do else None
        if both is not None and both.weights.dtype != object:
            return both
    one, other = in_fractions(samples, one), in_fractions(samples, other)
    rows, _, weights = _sum(one, other)
    order = np.argsort(rows)
    return Cancelling(rows[order], weights[order], NONE, np.empty(0, dtype=object))


def _sum(one: Cancelling, other: Cancelling) -> tuple[Ints, Ints, Numbers]:
    """Rows, no basis, and weights: a multiple of the one added to the other."""
    shares = np.zeros(len(one.rows), dtype=one.weights.dtype)
    shares[np.searchsorted(one.rows, other.across)] = other.shares
    lack = max((-s / w for s, w in zip(shares, one.weights, strict=True)), default=0)
    factor = 1 + 2 * max(lack, 0)
    rows = np.concatenate([one.rows, other.rows])
    weights = np.concatenate([factor * one.weights + shares, other.weights])
    return rows, NONE, weights / weights.max()


def in_fractions(samples: Samples, meeting: Cancelling) -> Cancelling:
    """The same samples with weights that are Fractions, and cancel exactly."""
    if meeting.weights.dtype == object:
        return meeting
    found = cancel(samples, meeting.rows, meeting.across, meeting.weights, exactly=True)
    assert found is not None  # the floats are these numbers, rounded
    return found


def in_floats(samples: Samples, meeting: Cancelling) -> Cancelling:
    """The same samples with weights of at most 1, in floats where these will do."""
    if meeting.weights.dtype != object:
        power = int(np.frexp(meeting.weights.max())[1])
        floats = np.ldexp(meeting.weights, -power)
        if floats.min() >= SMALLEST:
            return meeting._replace(weights=floats)
        meeting = in_fractions(samples, meeting)
    meeting = meeting._replace(weights=meeting.weights / meeting.weights.max())
    floats = floats_of(meeting.weights)
    found = cancel(samples, meeting.rows, NONE, floats) if floats.min() >= SMALLEST else None
    if found is None or found.weights.dtype == object:
        return meeting
    return in_floats(samples, found)


# Certificates -----------------------------------------------------------------------------------


def meeting_point(samples: Samples, meeting: Cancelling) -> dict[str, Any]:
    """The support, its weights, summing to 1 in each class, and the point they make."""
    weights, exact = shares(samples, meeting.rows)
    X, y = samples.gather(meeting.rows)[:, :-1], samples.y[meeting.rows]
    point = weighted_mean(weights[y > 0], X[y > 0])
    return {"support": meeting.rows, "weights": weights, "point": point, "exact_weights": exact}


def spanning(samples: Samples, meeting: Cancelling) -> dict[str, Any]:
    """The samples that span, with weights in floats if they will do."""
    meeting = in_floats(samples, meeting)
    exact = None if meeting.weights.dtype != object else tuple(meeting.weights.tolist())
    return {
        "spanning_support": meeting.rows,
        "spanning_weights": meeting.weights if exact is None else floats_of(exact),
        "exact_spanning_weights": exact,
    }


def separable(samples: Samples, direction: Floats | list[Fraction]) -> Separable:
    """The certificate of a θ, in floats if they will do."""
    exact = None
    if isinstance(direction, list):
        theta = floats_of(direction)
        if not _separates(samples, theta):
            other = _nearby(samples, direction)
            theta, exact = (theta, tuple(direction)) if other is None else (other, None)
    else:  # a power of two changes no sign
        theta = _near_one(direction)
    margin = samples.margin(theta if exact is None else exact)
    return Separable(Hyperplane(theta[:-1], float(theta[-1])), margin, exact)


def _separates(samples: Samples, theta: Floats) -> bool:
    return bool(theta[:-1].any() and (samples.signs(theta) > 0).all())


def _nearby(samples: Samples, direction: list[Fraction]) -> Floats | None:
    """Floats near a θ that separate as it does, if there are any; sought on small data."""
    if samples.n * samples.d > SMALL:
        return None
    Z = samples.signed(np.arange(samples.n))
    values = exact_product(Z, direction)
    least = min(values)
    closest = sorted(range(samples.n), key=lambda i: values[i])[: samples.d + 1]
    found = candidates([v / least for v in direction], Z[closest])
    return next((theta for theta in found if _separates(samples, theta)), None)


def quasi_separable(
    samples: Samples, first: Cancelling, last: Cancelling, theta: list[Fraction], active: Mask
) -> QuasiSeparable:
    """The certificate of a weak θ, positive on the `active` samples, in floats if they hold it.

    `first` is a meeting of the hulls, and `last` has samples that span all on the hyperplane.
    """
    floats = floats_of(theta)
    held = all(Fraction(f) == v for f, v in zip(floats.tolist(), theta, strict=True))
    return QuasiSeparable(
        hyperplane=Hyperplane(floats[:-1], float(floats[-1])),
        on=np.flatnonzero(~active),
        exact=None if held else tuple(theta),
        **meeting_point(samples, first),
        **spanning(samples, last),
    )


def _near_one(theta: Floats) -> Floats:
    """A hyperplane times a power of two: w about 1, unless its bias would be too large."""
    power = int(max(np.frexp(np.abs(theta[:-1]).max())[1], np.frexp(theta[-1])[1] - 1000))
    scaled: Floats = np.ldexp(theta, -power)
    return scaled if np.array_equal(np.ldexp(scaled, power), theta) else theta


# Between what the widest margin lies ------------------------------------------------------------
#
# ``max_(w,b) min_i y_i(w·x_i + b)/‖w‖`` is at least the margin of any hyperplane, and at most half
# the distance of any two points of the two convex hulls. Both are computed in floats, with all
# that rounding may have done to them on the safe side.


class Points(NamedTuple):
    """The points of the two hulls over ``2**power``, at most about 1, with bounds on errors."""

    one: tuple[Floats, Floats]
    other: tuple[Floats, Floats]
    power: int


def points(samples: Samples, rows: Ints, weights: Floats) -> Points:
    """The means of rows of both classes, with weights that are not negative."""
    X = samples.gather(rows)[:, :-1]
    power = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    X, y = np.ldexp(X, -power), samples.y[rows]
    one, other = (_point(X[y == side], weights[y == side]) for side in (1.0, -1.0))
    return Points(one, other, power)


def _point(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The weighted mean, and bounds on its error."""
    total = weights.sum()
    mean, size = weights @ X / total, weights @ np.abs(X) / total
    return mean, size * (2 * (len(weights) + 8) * ULP) + 2.0**-1000


def line(points: Points) -> Floats | None:
    """``(w, b)`` halfway between the two points; None where floats cannot hold it."""
    one, other, power = points.one[0], points.other[0], points.power
    w = one - other
    size = float(np.abs(w).max(initial=0.0))
    if not 0 < size < np.inf:
        return None
    w = np.ldexp(w, -int(np.frexp(size)[1]))
    b = -float(w @ (one + other)) / 2
    lift = max(0, power + int(np.frexp(b)[1]) - 1000)
    theta = np.append(np.ldexp(w, -lift), np.ldexp(b, power - lift))
    return theta if theta[:-1].any() else None


def at_most(points: Points) -> float:
    """Half the distance of the two points, rounded up; infinite where that fails."""
    one, other, power = points
    apart = np.abs(one[0] - other[0])
    apart += apart * ULP + one[1] + other[1]
    length = float(np.linalg.norm(apart)) * (1 + (len(apart) + 8) * ULP)
    half = np.nextafter(np.ldexp(length, power - 1), np.inf)
    return float(half) if half >= 0 else np.inf


def at_least(samples: Samples, theta: Floats) -> float:
    """The margin of a hyperplane, rounded down; minus infinity where that fails."""
    least, sizes = np.inf, np.zeros(samples.d)
    for _, block in blocks(samples.matrix):
        sizes = np.maximum(sizes, block.largest())
    form = Form(theta.tolist(), sizes)
    for start, block in blocks(samples.matrix):
        values, errors = form.values(block)
        side = samples.y[start : start + len(block)]
        low = float((values * side - 2 * errors).min(initial=np.inf))
        least = min(least, _over_length(low, form.scale, theta[:-1]))
    return least


def _over_length(low: float, scale: int, w: Floats) -> float:
    """``low * 2**scale / ‖w‖``, rounded down."""
    power = int(np.frexp(np.abs(w).max(initial=0.0))[1])
    length = float(np.linalg.norm(np.ldexp(w, -power)))
    length *= 1 + (1 if low > 0 else -1) * (len(w) + 8) * ULP
    if not (0 < length < np.inf and np.isfinite(low)):
        return -np.inf
    mantissa, exponent = np.frexp(low)
    found = np.ldexp(mantissa / length, int(exponent) + scale - power)
    return float(np.nextafter(found, -np.inf)) if np.isfinite(found) else -np.inf

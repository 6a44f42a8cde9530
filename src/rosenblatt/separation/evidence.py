"""From samples that seem to cancel to samples that do, with exact weights."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from rosenblatt.exact import independent_rows, solve
from rosenblatt.exact.enclosure import enclosed_floats
from rosenblatt.exact.integers import exact_product
from rosenblatt.exact.nearby import floats_of
from rosenblatt.exact.systems import cost_of_solving
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.clock import Clock

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    # Floats, each the nearest to a number, or, where these end, the numbers as Fractions.
    Numbers = NDArray[Any]

NONE = np.empty(0, np.int64)
ELIMINATION, ENCLOSURE = 4, 10  # times the products of a matrix product
STIFF = 1e6  # how much a sum that does not vanish costs beside the random costs of a vertex
SMALLEST = 2.0**-1022  # of the floats with all their digits


class Cancelling(NamedTuple):
    """Samples that cancel with positive weights: ``Σ weights·z = 0``.

    Attributes
    ----------
    rows, weights : int array, array of floats or Fractions
    across, shares : int array, array of floats or Fractions
        Samples of earlier meetings, independent of each other, with coefficients of either sign
        that the sum also needs to vanish; empty at first.
    """

    rows: Ints
    weights: Numbers
    across: Ints
    shares: Numbers


def basis_of(samples: Samples, rows: Ints) -> Ints:
    """Independent samples that span the same as all of these."""
    return rows[independent(samples, samples.signed(rows))[0]]


def independent(samples: Samples, Z: Floats) -> tuple[Ints, Ints]:
    """`independent_rows`, if there is time for it."""
    with samples.clock.task(Kind.PRODUCTS, ELIMINATION * Z.size * min(Z.shape)):
        return independent_rows(Z)


def cancel(
    samples: Samples,
    rows: Ints,
    basis: Ints,
    weights: Floats | None = None,
    exactly: bool = False,
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
    right = _right_side(Z[left][:, columns], fixed)
    solved = _solved(samples, Z[chosen][:, columns].T, right, exactly)
    coefficients = np.empty(len(both), dtype=solved.dtype)
    coefficients[left] = fixed if solved.dtype != object else [Fraction(v) for v in fixed]
    coefficients[chosen] = solved
    shares, found = coefficients[: len(basis)], coefficients[len(basis) :]
    used = found > 0
    if not (found >= 0).all() or (weights is not None and not used.all()):
        return None
    return Cancelling(rows[used], found[used], basis, shares)


def _right_side(Z: Floats, weights: Numbers) -> Floats | Sequence[Fraction]:
    """``-Σ w_i z_i``, exactly."""
    if len(Z) == 1 and weights[0] == 1.0:
        negative: Floats = -Z[0]
        return negative
    return exact_product(-Z.T, weights.tolist())


def _solved(samples: Samples, A: Floats, b: Floats | Sequence[Fraction], exactly: bool) -> Numbers:
    """The solution of ``A x = b`` for a regular A."""
    if isinstance(b, np.ndarray) and not exactly:
        with samples.clock.task(Kind.PRODUCTS, ENCLOSURE * A.size * len(A)):
            found = enclosed_floats(A, b)
        if found is not None:
            return found
    with samples.system(cost_of_solving(A)):
        exact = solve(A, b)
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
    found = _solved(samples, A, b, exactly=False)
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


# Candidates, by floating point ----------------------------------------------------------------


def interior_vertex(Z: Floats, groups: Floats, prices: Floats, clock: Clock) -> Mask:
    """Which samples the cheapest way to cancel uses, by an interior-point method."""
    found = shortest_sum(Z, groups, prices, STIFF, look_up=clock.pieces())
    return found.weights > found.slack


def simplex_vertex(Z: Floats, groups: Floats, prices: Floats, clock: Clock) -> Mask:
    """Which samples the cheapest way to cancel uses, by the simplex method; none if it fails."""
    right = np.append(np.zeros(Z.shape[1]), np.ones(groups.shape[1]))
    equations = np.column_stack([Z, groups]).T
    options = clock.options(Z.size)
    found = linprog(prices, A_eq=equations, b_eq=right, method="highs-ds", options=options)
    return np.zeros(len(Z), bool) if found.x is None else found.x > 0


def never_positive(Z: Floats, clock: Clock) -> tuple[Mask, Floats]:
    """The samples on which no θ is positive that is negative on none, and a θ as it should be.

    By the largest ``Σ u_i`` with ``u_i <= z_i·θ`` and ``0 <= u_i <= 1``: all of them are 0 or 1.
    """
    m, d = Z.shape
    rises = hstack([eye_array(m), csr_array(-Z)], format="csr")
    bounds = [(0, 1)] * m + [(None, None)] * d
    prices = np.append(-np.ones(m), np.zeros(d))
    options = clock.options(Z.size)
    found = linprog(
        prices, A_ub=rises, b_ub=np.zeros(m), bounds=bounds, method="highs", options=options
    )
    if found.x is None:
        return np.zeros(m, bool), np.zeros(d)
    return found.x[:m] < 0.5, found.x[m:]


def spanning_weights(Z: Floats, basis: Ints, prices: Floats, clock: Clock) -> Floats | None:
    """Weights with which samples cancel, at least 1 on the basis and few others not zero."""
    right = -Z[basis].sum(axis=0)
    options = clock.options(Z.size)
    found = linprog(prices, A_eq=Z.T, b_eq=right, method="highs-ds", options=options)
    if found.x is None:
        return None
    weights: Floats = np.maximum(found.x, 0.0)
    weights[basis] += 1.0
    return weights

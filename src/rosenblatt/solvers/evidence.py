"""From samples that seem to cancel to samples that do, with exact weights."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from rosenblatt.exact import independent_rows, nearest_solution
from rosenblatt.solvers.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.solvers.working_set import Clock, Samples

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

NONE = np.empty(0, np.int64)
BEYOND_FLOATS = (
    "the weights of the samples that prove it are too small or too large for floats: "
    "bring the numbers in X closer together"
)
STIFF = 1e6  # how much a sum that does not vanish costs beside the random costs of a vertex


class Meeting(NamedTuple):
    """Samples that cancel with positive weights: ``Σ weights·z = 0``.

    Attributes
    ----------
    rows, weights : int array, float array
    across, shares : int array, float array
        Samples of earlier meetings, independent of each other, with coefficients of either sign
        that the sum also needs to vanish; empty at first.
    """

    rows: Ints
    weights: Floats
    across: Ints
    shares: Floats


def basis_of(samples: Samples, rows: Ints) -> Ints:
    """Independent samples that span the same as all of these."""
    return rows[independent_rows(samples.signed(rows))[0]]


def cancel(
    samples: Samples,
    rows: Ints,
    basis: Ints,
    weights: Floats | None = None,
) -> Meeting | None:
    """How these samples cancel, up to samples of the basis, if they do.

    The weights of some of them are as given; those of the others, independent ones, are then
    determined. Without weights there must be just one way to cancel.
    """
    order = np.argsort(rows)
    rows = rows[order]
    both = np.concatenate([basis, rows])
    Z = samples.signed(both)
    chosen, _ = independent_rows(Z)
    left = np.setdiff1d(np.arange(len(both)), chosen)
    if not len(left) or (weights is None and len(left) > 1):
        return None
    coefficients = np.ones(len(both))
    if weights is not None:
        coefficients[len(basis) :] = weights[order]
        coefficients /= coefficients[left].max()
    coefficients[chosen] = solution(Z[chosen].T, _right_side(Z[left], coefficients[left]))
    shares, found = coefficients[: len(basis)], coefficients[len(basis) :]
    used = found > 0
    if not (found >= 0).all() or (weights is not None and not used.all()):
        return None
    return Meeting(rows[used], found[used], basis, shares)


def _right_side(Z: Floats, weights: Floats) -> Floats | Sequence[Fraction]:
    """``-Σ w_i z_i``, exactly."""
    if len(Z) == 1 and weights[0] == 1.0:
        negative: Floats = -Z[0]
        return negative
    exact = [Fraction(w) for w in weights.tolist()]
    return [
        -sum((w * Fraction(v) for w, v in zip(exact, column, strict=True) if v), Fraction(0))
        for column in Z.T.tolist()
    ]


def solution(A: Floats, b: Floats | Sequence[Fraction]) -> Floats:
    """The floats nearest to the solution of ``A x = b``."""
    found = nearest_solution(A, b)
    assert found is not None  # the last row depends on the others
    return found


def joined(samples: Samples, one: Meeting, other: Meeting) -> Meeting:
    """Two ways to cancel as one, positive on the samples of both."""
    shares = np.zeros(len(one.rows))
    shares[np.searchsorted(one.rows, other.across)] = other.shares
    factor = 1 + 2 * float(np.max(-shares / one.weights, initial=0.0))
    rows = np.concatenate([one.rows, other.rows])
    weights = np.concatenate([factor * one.weights + shares, other.weights])
    both = cancel(samples, rows, NONE, weights / weights.max())
    if both is None:
        raise ValueError(BEYOND_FLOATS)
    return both


# Candidates, by floating point ----------------------------------------------------------------


def interior_vertex(Z: Floats, groups: Floats, costs: Floats, clock: Clock) -> Mask:
    """Which samples the cheapest way to cancel uses, by an interior-point method."""
    found = nearest(Z, groups, costs, STIFF, look_up=clock.look_up)
    return found.weights > found.slack


def simplex_vertex(Z: Floats, groups: Floats, costs: Floats, clock: Clock) -> Mask:
    """Which samples the cheapest way to cancel uses, by the simplex method; none if it fails."""
    right = np.append(np.zeros(Z.shape[1]), np.ones(groups.shape[1]))
    equations = np.column_stack([Z, groups]).T
    options = {"time_limit": clock.left()}
    found = linprog(costs, A_eq=equations, b_eq=right, method="highs-ds", options=options)
    return np.zeros(len(Z), bool) if found.x is None else found.x > 0


def never_positive(Z: Floats, clock: Clock) -> tuple[Mask, Floats]:
    """The samples on which no θ is positive that is negative on none, and a θ as it should be.

    By the largest ``Σ u_i`` with ``u_i <= z_i·θ`` and ``0 <= u_i <= 1``: all of them are 0 or 1.
    """
    m, d = Z.shape
    rises = hstack([eye_array(m), csr_array(-Z)], format="csr")
    bounds = [(0, 1)] * m + [(None, None)] * d
    costs = np.append(-np.ones(m), np.zeros(d))
    options = {"time_limit": clock.left()}
    found = linprog(
        costs, A_ub=rises, b_ub=np.zeros(m), bounds=bounds, method="highs", options=options
    )
    if found.x is None:
        return np.zeros(m, bool), np.zeros(d)
    return found.x[:m] < 0.5, found.x[m:]


def spanning_weights(Z: Floats, basis: Ints, costs: Floats, clock: Clock) -> Floats | None:
    """Weights with which samples cancel, at least 1 on the basis and few others not zero."""
    right = -Z[basis].sum(axis=0)
    options = {"time_limit": clock.left()}
    found = linprog(costs, A_eq=Z.T, b_eq=right, method="highs-ds", options=options)
    if found.x is None:
        return None
    weights: Floats = np.maximum(found.x, 0.0)
    weights[basis] += 1.0
    return weights

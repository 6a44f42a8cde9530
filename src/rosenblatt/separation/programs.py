"""The linear programs of the search: in floats, quickly; and in integers, without rounding.

Those in floats only name candidates. The one in integers decides whether vectors lie strictly on
one side of the origin, where floating point cannot settle it: slow, but right, and it ends.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from rosenblatt.nearest.hulls import shortest_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask, Objects
    from rosenblatt.running.clock import Clock

LATE = 1e-3  # a weight beside its slack that may not tend to zero
CLOSE = 1e-11  # the gap at a vertex: of thousands of weights some are this small
STIFF = 1e8  # how much a sum that does not vanish costs beside the random costs of a vertex

# In floats --------------------------------------------------------------------------------------


def interior_vertex(Z: Floats, groups: Floats, prices: Floats, clock: Clock) -> list[Mask]:
    """Which samples the cheapest way to cancel uses, by an interior-point method.

    Where it has ended a weight or its slack is all but zero. It may have been late for a few: so
    there are two sets if they differ, those that may be used, and those that are.
    """
    vertex = partial(shortest_sum, Z, groups, prices, STIFF, CLOSE, clock.pieces())
    found = clock.waiting_for(vertex, Z.size * min(Z.shape))
    maybe, surely = (found.weights > share * found.slack for share in (LATE, 1.0))
    return [maybe] if (maybe == surely).all() else [maybe, surely]


def simplex_vertex(Z: Floats, groups: Floats, prices: Floats, clock: Clock) -> list[Mask]:
    """Which samples the cheapest way to cancel uses, by the simplex method; none if it fails."""
    right = np.append(np.zeros(Z.shape[1]), np.ones(groups.shape[1]))
    equations = np.column_stack([Z, groups]).T
    found = _solved(clock, prices, A_eq=equations, b_eq=right)
    return [] if found.x is None else [found.x > 0]


def cancelling_weights(Z: Floats, basis: Ints, clock: Clock) -> tuple[Floats, Floats] | None:
    """Weights with which samples cancel, positive on as much of the basis as can be, and a θ.

    ``minimise Σ v_k`` with ``Σ λ_i z_i + Σ_k (1 - v_k) z_k = 0``, ``λ >= 0`` and ``0 <= v <= 1``,
    k in the basis. Its dual is a θ that is negative on no sample, and at least 1 where
    ``v_k = 1``: all others of the basis have a weight of 1 or more. None if floats fail.
    """
    m, columns = len(Z), csr_array(Z.T)
    program = hstack([columns, -columns[:, basis]], format="csr")
    bounds = np.zeros((m + len(basis), 2))
    bounds[:m, 1], bounds[m:, 1] = np.inf, 1.0
    prices = bounds[:, 1] == 1.0
    found = _solved(clock, prices, A_eq=program, b_eq=-Z[basis].sum(axis=0), bounds=bounds)
    if found.status != 0:
        return None
    weights: Floats = np.maximum(found.x[:m], 0.0)
    weights[basis] += found.x[m:] < 0.5
    return weights, -found.eqlin.marginals


def _solved(clock: Clock, prices: Floats, **program: Any) -> Any:
    from scipy.optimize import linprog  # late: most verdicts need none

    m, n = program["A_eq"].shape
    options = clock.options(m * n)
    task = partial(linprog, prices, method="highs-ds", options=options, **program)
    return clock.waiting_for(task, m * n * min(m, n))


# In integers ------------------------------------------------------------------------------------


class SimplexAnswer(NamedTuple):
    """What was found about the vectors, and where the search ended.

    Either ``v·θ > 0`` for all vectors, or those of the support, as few as possible, cancel with
    positive weights: exactly one of the two exists (Gordan).
    """

    theta: list[int] | None
    support: list[int]
    basis: list[int]  # independent vectors that a search among these and more may start from


def decide(
    vectors: Sequence[Sequence[int]], spend: Callable[[int, int], None], seed: int = 0
) -> SimplexAnswer:
    """Whether a θ has ``v·θ > 0`` for all vectors; those that come first are tried first.

    The dual simplex method for ``minimise g·θ with v_i·θ >= 1``, g a sum of independent vectors
    with random weights, so that no two vertices are alike: it has a vertex to start from, at
    which these vectors are 1, and goes from one to the next where the objective is larger, until
    all vectors are positive or no θ can be. Should two vertices be alike after all, Bland's rule
    keeps it from going round in circles [2]_. Whole numbers over one denominator divide every
    step without remainder [1]_. No vector is zero. `spend` is told before every step how many
    products of numbers of how many bits it takes, and may raise to end the work.

    References
    ----------
    .. [1] J. Edmonds and J.-F. Maurras, "Note sur les Q-matrices d'Edmonds", RAIRO 31(2), 1997.
    .. [2] R. G. Bland, "New finite pivoting rules for the simplex method", Mathematics of
       Operations Research 2(2), 1977.
    """
    from flint import fmpz  # late: most programs never need it

    V = np.empty((len(vectors), len(vectors[0])), dtype=object)
    V[:] = [[fmpz(v) for v in vector] for vector in vectors]
    lengths = [max(abs(v) for v in vector).bit_length() for vector in vectors]
    lifts = np.array([max(lengths) - length for length in lengths], dtype=object)
    corner = Corner(V, fmpz(1), spend)
    rng = np.random.default_rng(seed)
    real = corner.real()
    corner.prices[real] = [fmpz(int(c)) for c in rng.integers(1 << 40, 1 << 41, len(real))]
    corner.prices *= corner.denominator
    stuck = False
    while True:
        spend(V.size, corner.bits())
        theta = corner.M[:, real].sum(axis=1)
        values = V @ theta
        wrong = np.flatnonzero(values <= 0)
        if not wrong.size:
            return SimplexAnswer([int(t) for t in theta], [], corner.members())
        # The most violated, vectors of all lengths being equal.
        entering = wrong[0] if stuck else wrong[int(np.argmin(values[wrong] << lifts[wrong]))]
        shares = corner.shares(V[entering])
        leaving = _leaving(corner, shares, real)
        if leaving is None:
            support = [corner.basis[k] for k in real if shares[k] < 0]
            return SimplexAnswer(None, sorted([*support, int(entering)]), corner.members())
        stuck = corner.prices[leaving] == 0
        corner.exchange(leaving, int(entering), shares)


class Corner:
    """Independent vectors and the coordinates of all vectors among them.

    Unit vectors, with the number -1 in the basis, stand in for those that are missing where the
    vectors do not span everything. ``v·M[:, k] / denominator`` is the share of vector k of the
    basis in v; `prices` are the shares of g, times the denominator.
    """

    def __init__(self, V: Objects, one: Any, spend: Callable[[int, int], None]) -> None:
        D = V.shape[1]
        self.basis, self.denominator, self.spend = [-1] * D, one, spend
        self.M: Any = np.full((D, D), 0 * one, dtype=object)
        self.M[np.diag_indices(D)] = one
        self.prices: Any = np.full(D, 0 * one, dtype=object)
        for i, v in enumerate(V):
            missing = [k for k in range(D) if self.basis[k] < 0]
            if not missing:
                break
            spend(D * len(missing), self.bits())
            shares = v @ self.M[:, missing]
            used = np.flatnonzero(shares)
            if used.size:
                # The shortest number keeps those to come short.
                k = missing[min(used, key=lambda k: abs(shares[k]))]
                self.exchange(k, i, self.shares(v))

    def real(self) -> list[int]:
        """Where no unit vector stands."""
        return [k for k, i in enumerate(self.basis) if i >= 0]

    def members(self) -> list[int]:
        """The vectors."""
        return [i for i in self.basis if i >= 0]

    def bits(self) -> int:
        """The length of the numbers, roughly."""
        return int(self.denominator.bit_length())

    def shares(self, v: Objects) -> Any:
        """Those of the basis in a vector, times the denominator."""
        return v @ self.M

    def exchange(self, k: int, i: int, shares: Any) -> None:
        """Vector i takes the place of number k; `shares` are those of its vector."""
        self.spend(2 * self.M.size, self.bits())
        pivot, own, price = shares[k], self.M[:, k].copy(), self.prices[k]
        self.M = (self.M * pivot - np.outer(own, shares)) // self.denominator
        self.prices = (self.prices * pivot - price * shares) // self.denominator
        self.M[:, k], self.prices[k] = own, price
        if pivot < 0:
            pivot, self.M, self.prices = -pivot, -self.M, -self.prices
        self.basis[k], self.denominator = i, pivot


def _leaving(corner: Corner, shares: Any, real: list[int]) -> int | None:
    """The place with the smallest ratio of price to share; of several the lowest vector's."""
    best = None
    for k in real:
        if shares[k] > 0:
            if best is None:
                best = k
                continue
            one = corner.prices[k] * shares[best]
            other = corner.prices[best] * shares[k]
            if one < other or (one == other and corner.basis[k] < corner.basis[best]):
                best = k
    return best

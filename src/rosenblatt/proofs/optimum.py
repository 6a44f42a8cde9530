"""Best hyperplanes tested again, and how nearly they meet the conditions of an optimum."""

from __future__ import annotations

import decimal
import math
import sys
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact.blocks import chosen
from rosenblatt.exact.rationals import closest
from rosenblatt.exact.sides import signs, smallest
from rosenblatt.exact.tile_passes import Listed, is_dense, map_tiles, sum_of_rows, tile_totals
from rosenblatt.proofs.duality import SMALLEST, Judged, Proof, prove
from rosenblatt.proofs.inputs import (
    WrongError,
    read_fractions,
    read_rows,
    read_sample_weight,
    read_samples,
    read_theta,
    read_weights,
    require,
)
from rosenblatt.results import Conditions, Optimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints, Signs
    from rosenblatt.proofs.inputs import SignedRows

AGREES = 1e-9  # so far may claimed values be off, as a share of the objective
COARSE = 2**12  # steps of floats by which a canonical form may be off
LAST_BITS = 1e-15  # so far may a claimed gap be off
EXCESS = 1e-12  # of a multiplier over its bound, as a share of it


# Checking ---------------------------------------------------------------------------------------


def prove_optimum(
    optimum: Optimum, data: SignedRows, weights: Floats | None, found: Proof | None = None
) -> str:
    """What was proved; WrongError if it was not.

    Whoever has just had it from `prove`, for these very data, and to the same bits as
    `decides_alike` tells, may give what was found, and save that from being done again.
    """
    given = _read(optimum, data)
    C = None if optimum.C is None else float(optimum.C)
    problem = Judged(data.X, data.y, weights, C)
    _require_within(problem, given)
    if found is None:
        found = prove(problem, given.theta, given.rows, given.multipliers, float(optimum.gap))
    return (_require_margin if C is None else _require_objective)(problem, optimum, given, found)


class Given(NamedTuple):
    """The fields of an optimum that have been read: the support, and ``(w, b)``, bias last."""

    rows: Ints
    multipliers: Floats | tuple[Fraction, ...]
    theta: Floats


def _read(optimum: Optimum, data: SignedRows) -> Given:
    """The fields; WrongError if one is not what it should be."""
    theta = np.array(read_theta(optimum.hyperplane, None, data.d))
    require(np.isfinite(theta).all(), "the hyperplane has entries that are not finite")
    rows = read_rows(optimum.support, data.n, "support")
    multipliers = read_multipliers(optimum, len(rows))
    own = np.count_nonzero(data.y[rows] > 0)
    require(0 < own < len(rows), "the support has samples of one class only")
    C = optimum.C
    number = isinstance(C, float | int | np.floating | np.integer) and not isinstance(C, bool)
    fits = C is None or (number and 0 < C <= sys.float_info.max)
    shown = f"{C!r}" if number else f"a {type(C).__name__}"
    require(fits, f"C is {shown}, neither None nor a positive number")
    for name in ("primal", "dual", "gap", "margin"):
        value = getattr(optimum, name)
        require(isinstance(value, float | np.floating), f"{name} is not a float")
        require(not np.isnan(value), f"{name} is not a number")
    require(np.isfinite(optimum.dual), "dual is not finite")
    require(0 <= optimum.gap <= 1, "gap is not between 0 and 1")
    return Given(rows, multipliers, theta)


def read_multipliers(optimum: Optimum, count: int) -> Any:
    """The multipliers in fractions if there are any, otherwise in floats."""
    exact = optimum.exact_multipliers
    if exact is None:
        return read_weights(optimum.multipliers, count, "multipliers")
    exact = tuple(read_fractions(exact, count, "exact_multipliers"))
    require(all(v > 0 for v in exact), "exact_multipliers has entries that are not positive")
    near = optimum.multipliers
    same = isinstance(near, np.ndarray) and near.tolist() == [closest(v) for v in exact]
    require(same, "multipliers are not the exact ones, rounded")
    return exact


def _require_within(problem: Judged, given: Given) -> None:
    """No multiplier exceeds its bound; without a weight there is none."""
    rows, multipliers = given.rows, given.multipliers
    if problem.weights is not None:
        without = rows[problem.weights[rows] == 0]
        if without.size:
            msg = f"sample {without[0]} has a multiplier, but its weight is 0"
            raise WrongError(msg)
    if problem.C is not None:
        high = problem.enclosed_bounds()[1][rows] * (1 + EXCESS)
        if isinstance(multipliers, np.ndarray):
            over = np.flatnonzero(multipliers > high).tolist()
        else:
            over = [k for k, (a, c) in enumerate(zip(multipliers, high, strict=True)) if a > c]
        if over:
            k = over[0]
            msg = (
                f"the multiplier {float(multipliers[k]):.10g} of sample {rows[k]} exceeds its "
                f"bound C s/N = {high[k]:.10g}"
            )
            raise WrongError(msg)


def _require_claims(optimum: Optimum, found: Proof) -> None:
    """What is proved is no less than what is claimed."""

    def holds(right: bool, name: str, true: float, claimed: float, how: str = "") -> None:
        digits = _digits(true, claimed)
        require(right, f"the {name} {true:.{digits}g}{how}, not {claimed:.{digits}g}")

    def same(true: float, claimed: float) -> bool:
        return claimed == true or abs(claimed - true) <= AGREES * true + SMALLEST

    names = ("primal", "dual", "gap", "margin")
    primal, dual, gap, margin = (float(getattr(optimum, name)) for name in names)
    holds(same(found.primal, primal), "primal value is", found.primal, primal)
    right = dual <= found.dual or dual - found.dual <= AGREES * found.primal
    holds(right, "dual value is at most", found.dual, dual)
    right = found.gap <= gap * (1 + AGREES) + LAST_BITS
    holds(right, "gap is at most", found.gap, gap, " as far as can be proved")
    holds(same(found.margin, margin), "margin is", found.margin, margin)


def _require_objective(problem: Judged, optimum: Optimum, given: Given, found: Proof) -> str:
    _require_claims(optimum, found)
    require(found.primal < np.inf, "the objective is too large for floats")
    digits = _digits(found.dual, found.primal)
    return (
        f"no objective below {_shown(found.dual, digits, decimal.ROUND_FLOOR)} (this one: "
        f"{_shown(found.primal, digits, decimal.ROUND_CEILING)}, at most "
        f"{_shown(found.primal - found.dual, 2, decimal.ROUND_CEILING)} above the best)"
    )


def _require_margin(problem: Judged, optimum: Optimum, given: Given, found: Proof) -> str:
    require(given.theta[:-1].any(), "w is zero, which is no hyperplane")
    if not found.margin > 0:
        side = signs(problem.X, given.theta.tolist()) * problem.y
        if problem.weights is not None:
            side[problem.weights == 0] = 1
        wrong = int(np.argmax(side <= 0))
        msg = f"sample {wrong} lies on the {'wrong side' if side[wrong] else 'hyperplane'}"
        raise WrongError(msg)
    _require_canonical(problem, given, found.least)
    _require_claims(optimum, found)
    digits = _digits(found.margin, found.widest)
    return (
        "no hyperplane has a margin above "
        f"{_shown(found.widest, digits, decimal.ROUND_CEILING)} "
        f"(this one: {_shown(found.margin, digits, decimal.ROUND_FLOOR)})"
    )


def _require_canonical(problem: Judged, given: Given, least: float) -> None:
    """The smallest ``y(w·x + b)`` is 1, or near to it in the steps that floats can bring it."""
    off = abs(least - 1)
    if off <= AGREES or (least < 1 and np.abs(given.theta).max() >= 2.0**1021):
        return
    step = np.spacing(np.abs(given.theta))
    sizes = [part.size_dot(step[:-1]).max() + step[-1] for part, _ in chosen(problem.X, given.rows)]
    why = f"not in canonical form: the smallest y(w·x + b) is {least:.17g}, not 1"
    require(off <= COARSE * max(map(float, sizes)), why)


def _digits(a: float, b: float) -> int:
    """As many as tell two numbers apart, and two more."""
    apart = abs(a - b) / max(abs(a), abs(b), SMALLEST)
    return 17 if not apart > 1e-15 else min(17, max(6, 2 - math.floor(math.log10(apart))))


def _shown(value: float, digits: int, rounding: str) -> str:
    """A number with few digits, rounded to the side where what is said of it is true."""
    context = decimal.Context(prec=digits, rounding=rounding)
    return f"{context.create_decimal(decimal.Decimal(value)).normalize(context):g}"


# Conditions -------------------------------------------------------------------------------------


def conditions(optimum: Optimum, X: Any, y: Any, sample_weight: Any = None) -> Conditions:
    """What `rosenblatt.certify.conditions` tells."""
    with np.errstate(all="ignore"):
        data = read_samples(X, y)
        weights = read_sample_weight(sample_weight, data.n)
        try:
            require(isinstance(optimum, Optimum), f"{type(optimum).__name__} is not an Optimum")
            _read(optimum, data)
        except WrongError as wrong:
            raise ValueError(str(wrong)) from None
        return optimum_conditions(optimum, data.X, data.y, weights)


def optimum_conditions(
    optimum: Optimum, X: Any, signed_y: NDArray[Any], weights: Floats | None
) -> Conditions:
    """The same for data that need no checking: an array or CSR matrix, labels -1 and 1."""
    problem = Judged(X, signed_y, weights, optimum.C)
    w, b = optimum.hyperplane.w, optimum.hyperplane.b
    rows, y = optimum.support, np.asarray(signed_y).astype(np.int8, copy=False)
    if optimum.C is None:
        return _conditions_of_widest(optimum, problem)
    alpha, c = optimum.multipliers, problem.bounds()
    alike = float(c[0]) if weights is None else None
    task = partial(_missed, np.append(w, b), alike)
    columns: list[Any] = [y, Listed(rows, alpha), *([] if weights is None else [c])]
    lost, missed = np.concatenate(list(map_tiles(X, task, columns))).sum(axis=0)
    signed = alpha * y[rows]
    if is_dense(X):
        u = sum_of_rows(X, rows, signed)[0]
    else:
        u = np.zeros(len(w))
        for part, where in chosen(X, rows):
            u += part.sum(signed[where])
    total, square = alpha.sum(), float(w @ w)
    primal, dual = 0.5 * square + float(lost), float(total - 0.5 * (u @ u))
    bound = c[rows] if alike is None else np.full(1, alike)
    over = np.maximum(alpha - bound, 0.0)
    feasibility = _share(over, bound).max(initial=0.0) if over.any() else 0.0
    return Conditions(
        feasibility=float(feasibility),
        balance=float(_share(abs(signed.sum()), total)),
        stationarity=float(_share(np.linalg.norm(w - u), math.sqrt(square))),
        complementarity=float(_share(missed, primal)),
        gap=max(0.0, float(_share(primal - dual, primal))),
    )


def _missed(
    theta: Floats, alike: float | None, block: Any, first: int, y: Signs, alpha: Floats, *c: Any
) -> Floats:
    """What slack costs, and what is missed of ``α = 0 or ξ = t`` and ``α = c or ξ = 0``, in tiles.

    For ``t = 1 - y_i(w·x_i + b)`` and ``ξ = max(0, t)``.
    """
    price = c[0] if alike is None else alike
    t = 1.0 - y * (block.dot_apart(theta[:-1]) + theta[-1])
    xi = np.maximum(t, 0.0)
    missed = alpha * np.abs(xi - t) + (price - alpha) * xi
    return tile_totals(first, np.column_stack([price * xi, missed]))


def _conditions_of_widest(optimum: Optimum, problem: Judged) -> Conditions:
    """Those of a maximum margin: of the samples without a multiplier, the closest one tells all."""
    w, b, alpha = optimum.hyperplane.w, optimum.hyperplane.b, optimum.multipliers
    points, y = problem.points(optimum.support), problem.y[optimum.support].astype(np.float64)
    theta = [*w.tolist(), float(b)]
    nearest = smallest(problem.X, problem.y, theta, problem.weighing(), each=problem.each)
    slack, u = 1.0 - y * (points @ w + b), (alpha * y) @ points
    total, square = float(alpha.sum()), float(w @ w)
    primal, dual = 0.5 * square, float(total - 0.5 * (u @ u))
    return Conditions(
        feasibility=max(0.0, float(1 - nearest)),
        balance=float(_share(abs(alpha @ y), total)),
        stationarity=float(_share(np.linalg.norm(w - u), math.sqrt(square))),
        complementarity=float(_share(alpha @ np.abs(slack), primal)),
        gap=max(0.0, float(_share(primal - dual, primal))),
    )


def _share(part: Any, whole: Any) -> Any:
    """``part / whole``; of nothing, nothing is 0 and anything else infinite."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(part, 0), 0.0, np.divide(part, whole))

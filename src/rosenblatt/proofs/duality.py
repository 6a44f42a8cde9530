"""Two numbers that the best objective lies between, proved.

Above it is the objective of a hyperplane, below it the dual value of multipliers (B. E. Boser,
I. M. Guyon, V. N. Vapnik, "A training algorithm for optimal margin classifiers", COLT 1992;
C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20, 1995). Floats come with
bounds on their errors; where these are too wide, the sums are computed in twice the precision,
and where that is not enough, and they are not too long, in rational numbers.
The multipliers of the two classes must have the same sum, and not only nearly: those of the
heavier class are scaled down by a rational number before anything is concluded from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.dot_products import combination, form_values
from rosenblatt.exact.enclosure import ULP
from rosenblatt.exact.rationals import (
    above,
    below,
    closest,
    exact_product,
    exact_sum,
    root_near,
    root_up,
    square_sum,
)
from rosenblatt.exact.sides import Form, smallest
from rosenblatt.exact.tile_passes import first_rows, map_tiles, tile_totals
from rosenblatt.proofs.inputs import SignedRows, WrongError, require
from rosenblatt.tree_sums import TILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rosenblatt.array_types import Floats, Ints, Signs

NARROW = 1e-10  # bounds this close, as a share of the objective, need no more digits
MOST = 200_000  # numbers that may be computed with in rational arithmetic
ZERO = Fraction(0)
SMALLEST = 2.0**-1070  # more than one number below the normal ones can be off


@dataclass(frozen=True, eq=False)
class Judged(SignedRows):
    """Samples with signed labels, weights (None: all 1), and C (None: the maximum margin)."""

    weights: Floats | None
    C: float | None

    def bounds(self) -> Floats:
        """``c_i = C s_i/N``, rounded."""
        assert self.C is not None
        if self.weights is None:
            return np.broadcast_to(np.float64(self.C / self.n), self.n)
        shares = np.ldexp(self.weights, -int(np.frexp(self.weights.max())[1]))
        rounded: Floats = self.C * (shares / math.fsum(shares))
        return rounded

    def enclosed_bounds(self) -> tuple[Floats, Floats]:
        """Floats below and above each ``c_i``; 0 is known to be 0."""
        assert self.C is not None
        c = self.bounds()
        c = c[:1] if self.weights is None else c  # all alike
        off = c * 2.0**-50 + (1 + self.C) * SMALLEST
        high = c + off if self.weights is None else np.where(self.weights > 0, c + off, 0.0)
        low = np.maximum(c - off, 0.0)
        return np.broadcast_to(low, self.n), np.broadcast_to(high, self.n)

    def exact_bounds(self, rows: Any) -> list[Fraction]:
        """``c_i = C s_i/N`` of these rows."""
        assert self.C is not None
        if self.weights is None:
            return [Fraction(self.C) / self.n] * len(rows)
        price = Fraction(self.C) / exact_sum(self.weights)
        return [price * Fraction(weight) for weight in self.weights[rows].tolist()]

    def weighing(self) -> Ints | None:
        """The rows that have a weight; None: all."""
        if self.weights is None or self.weights.all():
            return None
        return np.flatnonzero(self.weights)


# The objective ----------------------------------------------------------------------------------


def _total(values: Iterable[float]) -> float:
    """The sum, rounded once; infinite where it is too large."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.inf


def _slacks(form: Form, block: Any, y: Signs) -> tuple[Floats, Floats]:
    """``1 - y_i(w·x_i + b)`` in floats, and bounds on the errors."""
    values, errors = form.values_apart(block)
    slacks = np.asarray(1.0 - y * np.ldexp(values, form.scale), np.float64)
    return slacks, 1.01 * (np.ldexp(errors, form.scale) + np.abs(slacks) * ULP) + SMALLEST


def _precise_slacks(theta: Floats, block: Any, y: Signs) -> tuple[Floats, Floats]:
    """The same from sums in twice the precision, tile by tile."""
    found = []
    for a in range(0, len(block), TILE):
        here = slice(a, a + TILE)
        values, top = form_values(block.take(np.arange(a, min(a + TILE, len(block)))), theta)
        values.hi, values.lo = -y[here] * values.hi, -y[here] * values.lo
        values.add(float(np.ldexp(1.0, -top)))
        found.append(values.scaled(top).rounded())
    slacks, errors = zip(*found, strict=True)
    return np.concatenate(slacks), np.concatenate(errors)


def objective(
    problem: Judged, theta: Floats, precise: bool = False, narrow: float = NARROW
) -> tuple[float, float]:
    """Floats below and above ``½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))``.

    In twice the precision with `precise`, and where the two would be too far apart.
    """
    form = Form(theta.tolist(), first_rows(problem.X, TILE).largest())
    c = problem.enclosed_bounds()
    alike = problem.weights is None and len(c[0]) > 0
    task = partial(_lost, theta, None if precise else form, [one[0] for one in c] if alike else [])
    columns: list[Any] = [problem.y.astype(np.int8, copy=False), *([] if alike else c)]
    sums = np.concatenate(list(map_tiles(problem.X, task, columns)))
    square = 0.5 * _total(np.square(theta[:-1]))
    share = (TILE + 8) * ULP
    least = (square + _total(sums[:, 0])) * (1 - share) - SMALLEST
    most = (square + _total(sums[:, 1])) * (1 + share) + len(theta) * SMALLEST
    if not precise and not most - least <= narrow * most:
        return objective(problem, theta, precise=True)
    return least, most


def _lost(
    theta: Floats, form: Form | None, prices: list[Any], block: Any, first: int, side: Any, *c: Any
) -> Floats:
    """Bounds below and above the price of slack in each tile of a block."""
    low_c, high_c = c or prices
    y = side.astype(np.float64)
    slacks, errors = _slacks(form, block, y) if form else _precise_slacks(theta, block, y)
    least, most = np.maximum(slacks - errors, 0.0), np.maximum(slacks + errors, 0.0)
    most[np.isnan(most)] = np.inf  # nothing is known
    both = np.column_stack([low_c * least, high_c * np.where(high_c > 0, most, 0.0)])
    return tile_totals(first, both)


def exact_objective(problem: Judged, theta: Floats) -> Fraction:
    """The same in rational numbers."""
    form, total = Form(theta.tolist(), np.ones(len(theta) - 1)), ZERO
    for start, block in blocks(problem.X):
        part = slice(start, start + len(block))
        rows = zip(form.exact_values(block), problem.y[part].tolist(), strict=True)
        slacks = [1 - value * int(side) for value, side in rows]
        weights = [1.0] * len(slacks) if problem.weights is None else problem.weights[part].tolist()
        pairs = zip(slacks, weights, strict=True)
        total += sum((slack * Fraction(s) for slack, s in pairs if slack > 0), ZERO)
    n = Fraction(problem.n) if problem.weights is None else exact_sum(problem.weights)
    assert problem.C is not None
    return square_sum(theta[:-1]) / 2 + Fraction(problem.C) * total / n


# The bound --------------------------------------------------------------------------------------


class Feasible(NamedTuple):
    """What is known of multipliers that have been made feasible.

    ``‖Σ α_i y_i x_i‖²`` is between `least` and `most`, which may be infinite.
    """

    total: Fraction  # Σ α_i
    least: Fraction | float
    most: Fraction | float

    def dual(self, square: Fraction | float) -> Fraction | float:
        """``Σ α_i - ½ square``: for `most` at most the dual value."""
        return self.total - Fraction(square) / 2 if square < math.inf else -math.inf

    def best_dual(self, square: Fraction | float) -> Fraction:
        """The same for the best multiple of the multipliers; `square` is not 0."""
        return self.total**2 / (2 * Fraction(square)) if square < math.inf else ZERO

    def margin(self) -> float:
        """At least half the distance of the classes' weighted means: no margin is larger."""
        if not self.most < math.inf:
            return math.inf
        return root_up(Fraction(self.most) / self.total**2)


def feasible(
    problem: Judged,
    rows: Ints,
    multipliers: Floats,
    primal: float,
    precise: bool = False,
    narrow: float = NARROW,
) -> Feasible:
    """The multipliers within their bounds, with those of the heavier class scaled down.

    In twice the precision with `precise`, and where the error would matter beside `primal`.
    """
    if problem.C is not None:
        multipliers = np.minimum(multipliers, problem.enclosed_bounds()[0][rows])
    sides = []
    for side in (-1, 1):
        mine = problem.y[rows] == side
        heft = exact_sum(multipliers[mine])
        require(heft > 0, "the multipliers of a class are too small for floats")
        sides.append((heft, combination(problem.X, rows[mine], multipliers[mine], precise)))
    (lighter, u), (heavier, away) = sorted(sides, key=lambda pair: pair[0])
    require(heavier < 2**40 * lighter, "the multipliers of the two classes do not balance")
    scaled = away.times(lighter / heavier)
    u.error = u.error + scaled.error
    u.add(-scaled.hi)
    u.add(-scaled.lo)
    values, errors = u.rounded()
    sizes = np.abs(values)
    most = _total(np.square(sizes + errors)) * (1 + 8 * ULP) + len(sizes) * SMALLEST
    least = _total(np.square(np.maximum(sizes - errors, 0.0))) * (1 - 8 * ULP)
    # Multipliers of the maximum margin may be of any size.
    small = narrow * (most if problem.C is None else primal)
    if not precise and not most - least <= small:
        return feasible(problem, rows, multipliers, primal, precise=True)
    return Feasible(2 * lighter, max(least - len(sizes) * SMALLEST, 0.0), most)


def exactly_feasible(problem: Judged, rows: Ints, multipliers: Sequence[Any]) -> Feasible:
    """The same in rational numbers, for multipliers that may be such numbers."""
    alpha = [Fraction(a) for a in multipliers]
    if problem.C is not None:
        alpha = [min(a, c) for a, c in zip(alpha, problem.exact_bounds(rows), strict=True)]
    y = problem.y[rows].tolist()
    pairs = list(zip(alpha, y, strict=True))
    hefts = {side: sum((a for a, s in pairs if s == side), ZERO) for side in set(y)}
    require(len(hefts) == 2 and min(hefts.values()) > 0, "the multipliers of a class are 0")
    lighter = min(hefts.values())
    signed = [int(s) * a * (lighter / hefts[s]) for a, s in pairs]
    u = exact_product(problem.points(rows).T, signed)
    square = sum((v * v for v in u), ZERO)
    return Feasible(2 * lighter, square, square)


# The gap ----------------------------------------------------------------------------------------


class Proof(NamedTuple):
    """What a hyperplane and multipliers prove; the last two are for the maximum margin."""

    primal: float  # at least the objective; infinite if it does not separate and should
    dual: float  # at most the dual value of the multipliers: no objective is smaller
    gap: float  # at least (primal - dual)/primal, for the exact values
    width: float  # how much smaller the exact gap may be
    margin: float  # rounded
    widest: float = math.inf  # no other hyperplane has a wider margin
    least: float = math.nan  # the smallest y(w·x + b), rounded
    spread: float = math.inf  # between bounds that floats sufficed for, as a share

    def is_doubtful(self, enough: float) -> bool:
        """Whether more digits may tell that the gap is small enough, or much about it."""
        if self.gap + self.width <= enough:
            return False
        return self.gap - self.width <= enough or self.width > 1e-3 * self.gap


def prove(
    problem: Judged,
    theta: Floats,
    rows: Ints,
    multipliers: Floats | Sequence[Fraction],
    enough: float,
) -> Proof:
    """The gap between a hyperplane and multipliers, to as many digits as it takes.

    If it is as small as `enough`, no more digits are asked for. Multipliers that prove nothing
    leave a gap of 1.
    """
    with np.errstate(all="ignore"):
        if problem.C is None:
            return _prove_margin(problem, theta, rows, multipliers, enough)
        return _prove_objective(problem, theta, rows, multipliers, enough)


def _known_of(
    problem: Judged,
    rows: Ints,
    multipliers: Any,
    primal: float = 0.0,
    narrow: float = NARROW,
    exactly: bool = False,
) -> Feasible | None:
    """The multipliers made feasible; None if they are no good, or too many to be exact.

    Exactly where that is asked for, or where they are fractions.
    """
    if exactly and not 0 < len(rows) * problem.d <= MOST:
        return None
    try:
        if exactly or not isinstance(multipliers, np.ndarray):
            return exactly_feasible(problem, rows, multipliers)
        return feasible(problem, rows, multipliers, primal, narrow=narrow)
    except WrongError:
        return None


def _decisive(enough: float) -> float:
    """How close bounds have to be, as a share of the objective, to decide on such a gap."""
    return max(min(NARROW, 0.01 * enough), 4 * ULP)


def decides_alike(found: Proof, claimed: float) -> bool:
    """Whether `prove`, asked for a gap of `claimed`, would find the same, to the bit.

    That is so where floats sufficed, and would suffice again.
    """
    return found.gap + found.width <= claimed and found.spread <= _decisive(claimed)


def _spread(least: Any, most: Any, beside: Any) -> float:
    """How far apart two bounds are, as a share of something, rounded up."""
    return above(Fraction(most - least) / Fraction(beside)) if 0 < most < math.inf else math.inf


def _prove_margin(
    problem: Judged, theta: Floats, rows: Ints, multipliers: Any, enough: float
) -> Proof:
    X, y, square = problem.X, problem.y, square_sum(theta[:-1])
    least = smallest(X, y, theta.tolist(), problem.weighing()) if square else ZERO
    bound = _known_of(problem, rows, multipliers, 0.0, _decisive(enough))

    def proof(bound: Feasible | None) -> Proof:
        widest, last = math.inf if bound is None else bound.margin(), closest(least)
        dual = None if bound is None or not bound.most > 0 else bound.best_dual(bound.most)
        floor = 0.0 if dual is None else below(dual)
        if not (least > 0 and square > 0):
            size = root_near(least**2 / square) if least else 0.0
            return Proof(math.inf, floor, 1.0, 0.0, -size, widest, last)
        primal = square / (2 * least**2)
        margin = max(root_near(least**2 / square), math.ulp(0.0))  # it separates
        if bound is None or dual is None:
            return Proof(above(primal), floor, 1.0, 0.0, margin, widest, last)
        gap = 1 - dual / primal
        wide = 1 - bound.best_dual(bound.least) / primal if bound.least > 0 else ZERO
        width = above(gap - max(wide, ZERO))
        return Proof(above(primal), floor, max(above(gap), 0.0), width, margin, widest, last)

    found = proof(bound)
    if bound is None or found.is_doubtful(enough):
        exact = _known_of(problem, rows, multipliers, exactly=True)
        return found if exact is None else proof(exact)
    return found._replace(spread=_spread(bound.least, bound.most, bound.most))


def _prove_objective(
    problem: Judged, theta: Floats, rows: Ints, multipliers: Any, enough: float
) -> Proof:
    narrow = _decisive(enough)
    values = objective(problem, theta, narrow=narrow)
    least, most = (Fraction(value) if value < math.inf else value for value in values)
    bound = _known_of(problem, rows, multipliers, float(most), narrow)
    square = square_sum(theta[:-1])
    margin = root_near(1 / square) if square else math.inf

    def proof(least: Any, most: Any, bound: Feasible | None) -> Proof:
        # No objective is below 0, whatever the multipliers.
        dual = ZERO if bound is None else Fraction(max(bound.dual(bound.most), ZERO))
        if not 0 < most < math.inf:
            primal = 0.0 if most == 0 else math.inf
            return Proof(primal, below(dual), 1.0 if most else 0.0, 0.0, margin)
        high = ZERO if bound is None else Fraction(max(bound.dual(bound.least), ZERO))
        gap, low = 1 - dual / most, 1 - high / least if least > 0 else ZERO
        width = above(gap - max(low, ZERO))
        return Proof(above(most), below(dual), max(above(gap), 0.0), width, margin)

    if bound is None:
        bound = _known_of(problem, rows, multipliers, exactly=True)
    found = proof(least, most, bound)
    told = most - least <= narrow * most  # not where weights are at the lower end of floats
    if bound is not None and (found.is_doubtful(enough) or not told):
        if problem.n * (len(theta) + 1) <= MOST:
            least = most = exact_objective(problem, theta)
        exact = _known_of(problem, rows, multipliers, exactly=True)
        return proof(least, most, exact or bound)
    if bound is None or not 0 < most < math.inf:
        return found
    spreads = _spread(least, most, most), _spread(bound.least, bound.most, most)
    return found._replace(spread=max(spreads))

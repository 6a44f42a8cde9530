"""Two numbers that the best objective lies between, proved.

Above it is the objective of a hyperplane, below it the dual value of multipliers (B. E. Boser,
I. M. Guyon, V. N. Vapnik, "A training algorithm for optimal margin classifiers", COLT 1992;
C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20, 1995). Floats come with
bounds on their errors; where these are too wide, the sums are computed in twice the precision.
The multipliers of the two classes must have the same sum, and not only nearly: those of the
heavier class are scaled down by a rational number before anything is concluded from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certify.fields import WrongError, require
from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.enclosure import ULP
from rosenblatt.exact.lifting import nearest
from rosenblatt.exact.sides import Form
from rosenblatt.exact.sums import combination, exact_sum, form_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rosenblatt.results import Hyperplane

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NARROW = 1e-10  # bounds this close, as a share of the objective, need no more digits
SMALLEST = 2.0**-1070  # more than one number below the normal ones can be off


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples with signed labels, weights (None: all 1), and C (None: the maximum margin)."""

    X: Any
    y: NDArray[Any]
    weights: Floats | None
    C: float | None

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.y)

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
        off = c * 2.0**-50 + (1 + self.C) * SMALLEST
        high = c + off if self.weights is None else np.where(self.weights > 0, c + off, 0.0)
        return np.maximum(c - off, 0.0), high

    def weighing(self) -> tuple[Any, NDArray[Any], Ints]:
        """The samples and labels that have a weight, and their row numbers."""
        if self.weights is None or self.weights.all():
            return self.X, self.y, np.arange(self.n)
        rows = np.flatnonzero(self.weights)
        return self.X[rows], self.y[rows], rows


# The objective ----------------------------------------------------------------------------------


def _total(values: Iterable[float]) -> float:
    """The sum, rounded once; infinite where it is too large."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.inf


def half_square(w: Floats) -> float:
    """``½‖w‖²``, to the last bit or nearly."""
    return 0.5 * _total(np.square(w))


def _slacks(form: Form, block: Any, y: Floats) -> tuple[Floats, Floats]:
    """``1 - y_i(w·x_i + b)`` in floats, and bounds on the errors."""
    values, errors = form.values(block)
    slacks = 1.0 - y * np.ldexp(values, form.scale)
    return slacks, 1.01 * (np.ldexp(errors, form.scale) + np.abs(slacks) * ULP) + SMALLEST


def _precise_slacks(theta: Floats, block: Any, y: Floats) -> tuple[Floats, Floats]:
    """The same from sums in twice the precision."""
    values, top = form_values(block, theta)
    values.hi, values.lo = -y * values.hi, -y * values.lo
    values.add(float(np.ldexp(1.0, -top)))
    return values.scaled(top).rounded()


def objective(problem: Problem, theta: Floats, precise: bool = False) -> tuple[float, float]:
    """Floats below and above ``½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))``.

    In twice the precision with `precise`, and where the two would be too far apart.
    """
    low_c, high_c = problem.enclosed_bounds()
    low, high, longest = [], [], 0
    form = None
    for start, block in blocks(problem.X):
        part = slice(start, start + len(block))
        y = problem.y[part].astype(np.float64)
        form = form or Form(theta.tolist(), block.largest())
        slacks, errors = _precise_slacks(theta, block, y) if precise else _slacks(form, block, y)
        low.append(float(low_c[part] @ np.maximum(slacks - errors, 0.0)))
        high.append(float(high_c[part] @ np.where(high_c[part] > 0, _above(slacks, errors), 0.0)))
        longest = max(longest, len(block))
    square = half_square(theta[:-1])
    share = (longest + 8) * ULP
    below = (square + _total(low)) * (1 - share) - SMALLEST
    above = (square + _total(high)) * (1 + share) + len(theta) * SMALLEST
    if not precise and not above - below <= NARROW * above:
        return objective(problem, theta, precise=True)
    return below, above


def _above(slacks: Floats, errors: Floats) -> Floats:
    """The largest that the positive parts of the slacks can be; infinite if nothing is known."""
    found = np.maximum(slacks + errors, 0.0)
    found[np.isnan(found)] = np.inf
    return found


# The bound --------------------------------------------------------------------------------------


class Balanced(NamedTuple):
    """What is known of multipliers that have been made feasible.

    Attributes
    ----------
    total : float
        At most ``Σ α_i``.
    square : float
        At least ``‖Σ α_i y_i x_i‖²``.
    """

    total: float
    square: float

    @property
    def dual(self) -> float:
        """At most ``Σ α_i - ½‖Σ α_i y_i x_i‖²``."""
        return self.total - 0.5 * self.square - 2 * ULP * (self.total + self.square)

    @property
    def best_dual(self) -> float:
        """At most the dual value of the best multiple of the multipliers."""
        return 0.5 * self.total * (self.total / self.square) * (1 - 8 * ULP)

    @property
    def margin(self) -> float:
        """At least half the distance of the classes' weighted means: no margin is larger."""
        return math.sqrt(self.square) / self.total * (1 + 8 * ULP)


def balanced(
    problem: Problem, rows: Ints, multipliers: Floats, primal: float, precise: bool = False
) -> Balanced:
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
    square = _total(np.square(sizes + errors)) * (1 + 8 * ULP) + len(sizes) * SMALLEST
    least = _total(np.square(np.maximum(sizes - errors, 0.0)))
    # Multipliers of the maximum margin may be of any size.
    small = NARROW * (square if problem.C is None else primal)
    if not precise and not square - least <= small:
        return balanced(problem, rows, multipliers, primal, precise=True)
    total = nearest(2 * lighter.numerator, lighter.denominator)
    return Balanced(float(np.nextafter(total, 0.0)), square)


def proved_values(
    hyperplane: Hyperplane,
    support: Ints,
    multipliers: Floats,
    C: float | None,
    X: Any,
    signed_y: NDArray[Any],
    weights: Floats | None = None,
) -> tuple[float, float]:
    """The primal and the dual value that `check` finds: what a certificate should claim.

    X is an array or a CSR matrix without duplicate entries, finite, labels are -1 and 1. The
    hyperplane of a maximum margin is taken to be in canonical form. Multipliers that are no
    good prove no more than any do: that the objective is not below 0.
    """
    problem = Problem(X, signed_y, weights, C)
    with np.errstate(all="ignore"):
        primal = half_square(hyperplane.w)
        if C is not None:
            primal = objective(problem, np.append(hyperplane.w, hyperplane.b))[1]
        try:
            bound = balanced(problem, support, multipliers, primal)
        except WrongError:
            return primal, 0.0
    return primal, bound.dual if C is not None else bound.best_dual

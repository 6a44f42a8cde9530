"""Exact judges of best hyperplanes: objective, bound and gap in rational numbers."""

import math
from fractions import Fraction

from . import exact
from .judge import AGREES, SMALLEST, Fault, float_of, fractions, square, theta_of, values

LARGEST = Fraction(2) ** 1024 - Fraction(2) ** 970
SHARE = Fraction(1, 10**12)  # of a gap, by which it may be understated


class Problem:
    """A soft-margin problem, or with ``C=None`` that of the maximum margin."""

    def __init__(self, case, C=None, weights=None):
        self.case, self.C = case, None if C is None else Fraction(C)
        self.weights = fractions([1] * len(case.y) if weights is None else weights)
        self.total = sum(self.weights)
        self.rows = [i for i, weight in enumerate(self.weights) if weight]

    def least(self, theta):
        """The smallest ``y(w·x + b)`` of the samples that count."""
        found = values(self.case, theta)
        return min(found[i] for i in self.rows)

    def primal(self, theta):
        """The objective; of the maximum margin ``½/margin²``, None if nothing is separated."""
        if self.C is None:
            least = self.least(theta)
            return square(theta[:-1]) / (2 * least * least) if least > 0 else None
        found = values(self.case, theta)
        slack = sum(self.weights[i] * (1 - found[i]) for i in self.rows if found[i] < 1)
        return square(theta[:-1]) / 2 + self.C * slack / self.total

    def bound(self, i):
        """``C s_i/N``, the most that a multiplier may be; without a weight 0; None: any number."""
        if self.C is None:
            return None if self.weights[i] else Fraction(0)
        return self.C * self.weights[i] / self.total

    def dual(self, support, multipliers):
        """The best bound that multipliers prove once they are feasible; 0 if they prove nothing.

        They are cut to their bounds, those of the heavier class scaled down, then all of them.
        """
        alpha = list(map(self.cut, support, multipliers))
        sums, pulls = {}, {}
        for side in (1, -1):
            mine = [k for k, i in enumerate(support) if self.case.signs[i] == side and alpha[k]]
            shares, unit = exact.whole([alpha[k] for k in mine])
            rows = [self.case.rows[support[k]] for k in mine]
            sums[side] = sum(shares) * unit
            columns = zip(*rows, strict=True) if rows else [()] * len(self.case.rows[0])
            pulls[side] = [exact.dot(shares, column) * unit * self.case.unit for column in columns]
        lighter = min(sums.values())
        if not lighter:
            return Fraction(0)
        factor = {side: lighter / sums[side] for side in (1, -1)}
        pull = [factor[1] * p - factor[-1] * q for p, q in zip(pulls[1], pulls[-1], strict=True)]
        most = None
        if self.C is not None:
            room = [
                self.bound(i) / a / factor[self.case.signs[i]]
                for i, a in zip(support, alpha, strict=True)
                if a
            ]
            most = min(room)
        return best_multiple(2 * lighter, exact.dot(pull, pull), most)

    def cut(self, i, multiplier):
        """A multiplier within its bound."""
        bound = self.bound(i)
        return Fraction(multiplier) if bound is None else min(Fraction(multiplier), bound)

    def gap(self, theta, support, multipliers):
        """``(primal - dual)/primal``, exactly; 1 where the hyperplane is no candidate."""
        primal = self.primal(theta)
        if primal is None:
            return Fraction(1)
        if primal == 0:
            return Fraction(0)
        dual = self.dual(support, multipliers)
        if dual is None:  # the hulls meet: no hyperplane is a candidate
            return Fraction(1)
        return 1 - max(Fraction(0), dual) / primal


def best_multiple(total, size, most):
    """The largest ``tΣα - ½t²‖Σαyx‖²`` over t up to `most` (None: any); None if unbounded."""
    if size and (most is None or total <= most * size):
        return total * total / (2 * size)
    return None if most is None else most * total - most * most * size / 2


def optimum(problem, found, gap, tol, closed):
    """Faults of a fit: its claimed gap beside the exact one."""
    if not all(map(math.isfinite, found.multipliers.tolist())):
        yield Fault("multipliers are not finite")
        return
    theta, support = theta_of(found.hyperplane), found.support.tolist()
    multipliers = multipliers_of(found)
    exact_gap = problem.gap(theta, support, multipliers)
    if math.isnan(gap) or gap < 0:
        yield Fault("a gap that is none", f"{gap!r}")
        return
    if exact_gap < 0:
        yield Fault("the judge is wrong: a bound above the objective", f"{float(exact_gap)}")
    if closed and exact_gap > Fraction(tol):
        yield Fault("GAP_CLOSED, but the exact gap is above tol", gaps(gap, exact_gap, tol))
    elif closed and gap > tol:
        yield Fault("GAP_CLOSED with a gap above tol", gaps(gap, exact_gap, tol))
    elif not math.isinf(gap) and Fraction(gap) < exact_gap * (1 - SHARE):
        small = exact_gap - Fraction(gap) <= Fraction(1, 10**13)
        kind = "gap_ below the exact gap" + (" by rounding of the last digits" if small else "")
        yield Fault(kind, gaps(gap, exact_gap, tol))
    if closed:
        yield from claims(problem, found, theta, support, multipliers)


def multipliers_of(found):
    """The multipliers of an optimum; in rational numbers where it has them."""
    given = getattr(found, "exact_multipliers", None)
    return fractions(found.multipliers.tolist() if given is None else given)


def gaps(gap, exact_gap, tol):
    return f"gap_={gap!r}, exactly {float_of(exact_gap)!r}, tol={tol!r}"


def claims(problem, found, theta, support, multipliers):
    """Faults of the two values that an optimum states."""
    primal, dual = problem.primal(theta), problem.dual(support, multipliers)
    if primal is None or dual is None:
        yield Fault("an optimum that does not separate")
        return
    least = min(primal, square(theta[:-1]) / 2) if problem.C is None else primal
    if not near(found.primal, least, primal):
        yield Fault(
            "the stated primal value is wrong", f"{found.primal!r}, not {float_of(primal)!r}"
        )
    if not near(found.dual, 0, max(dual, 0) + AGREES * primal):
        yield Fault("the stated dual value is wrong", f"{found.dual!r}, not {float_of(dual)!r}")


def near(value, low, high):
    """Whether a float is between two numbers, but for a share of them and the end of floats."""
    if math.isnan(value) or value < 0:
        return False
    if value >= LARGEST:
        return high * (1 + AGREES) >= LARGEST
    return low * (1 - AGREES) - SMALLEST <= Fraction(value) <= high * (1 + AGREES) + SMALLEST


def widest(case):
    """Of separable data the exact maximum-margin hyperplane (w, b) in canonical form."""
    high = [row for row, sign in zip(case.rows, case.signs, strict=True) if sign > 0]
    low = [row for row, sign in zip(case.rows, case.signs, strict=True) if sign < 0]
    vector = exact.nearest(high, low)
    length2 = exact.dot(vector, vector)
    w = [2 * v / length2 for v in vector]
    middle = min(exact.dot(w, row) for row in high) + max(exact.dot(w, row) for row in low)
    return [a / case.unit for a in w] + [-middle / 2]


def floats_can(case):
    """Whether floats near the exact maximum-margin hyperplane separate the classes."""
    best = widest(case)
    for factor in (Fraction(1), Fraction(1025, 1024), Fraction(3, 2), Fraction(11, 10)):
        try:
            w = [Fraction(float(a * factor)) for a in best[:-1]]
        except OverflowError:
            continue
        scores = [
            value * sign
            for value, sign in zip(values(case, [*w, Fraction(0)]), case.signs, strict=True)
        ]
        high = min(score for score, sign in zip(scores, case.signs, strict=True) if sign > 0)
        low = max(score for score, sign in zip(scores, case.signs, strict=True) if sign < 0)
        middle = -(high + low) / 2
        if abs(middle) < 2**1023 and low < -Fraction(float(middle)) < high:
            return True
    return False

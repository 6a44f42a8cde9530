"""Exact judges of verdicts, hyperplanes and bounds. Each yields a `Fault` for what is untrue.

They take the fields of an answer and the data, and know nothing of how the answer was found.
"""

import math
import sys
from fractions import Fraction
from typing import NamedTuple

from . import exact

AGREES = Fraction(1, 10**9)  # margins and meeting points may be off by this share
SMALLEST = Fraction(5e-324)
CANCELS = Fraction(1, 10**6)  # and rounded weights leave this share of what they add up


class Fault(NamedTuple):
    """What is wrong with an answer: a kind, to count by, and the particulars."""

    kind: str
    detail: str = ""


def fractions(numbers):
    return [Fraction(number) for number in numbers]


def values(case, theta):
    """``y(w·x + b)`` of every sample, exactly; theta is (w, b), bias last."""
    numbers, unit = exact.whole(theta)
    *w, b = numbers
    # x is an integer times case.unit, so the bias counts in units of that.
    top, below = case.unit.numerator, case.unit.denominator
    factor = unit / below
    found = [
        sign * (top * exact.dot(row, w) + below * b)
        for row, sign in zip(case.rows, case.signs, strict=True)
    ]
    return [value * factor for value in found]


def square(w):
    numbers, unit = exact.whole(w)
    return exact.dot(numbers, numbers) * unit * unit


def margin2(case, theta):
    """The margin of a hyperplane, squared, with its sign; theta without w = 0."""
    least = min(values(case, theta))
    return (1 if least >= 0 else -1) * least * least / square(theta[:-1])


def theta_of(hyperplane):
    return fractions([*hyperplane.w.tolist(), hyperplane.b])


# Verdicts ---------------------------------------------------------------------------------------


def certificate(case, found, nearest=True):
    """Faults of a Separable, QuasiSeparable or Inseparable, and of the verdict itself.

    `nearest`: weights must be the floats nearest to the exact ones; otherwise only close.
    """
    name = found.verdict.name
    if name != case.verdict:
        yield Fault("wrong verdict", f"{name}, but the truth is {case.verdict}")
        return
    if case.known is not None and name != case.known:
        yield Fault("wrong verdict", f"{name}, but known to be {case.known}")
    if name == "SEPARABLE":
        yield from separable(case, found)
        return
    yield from support(case, found, nearest)
    on = range(len(case.y))
    if name == "QUASI_SEPARABLE":
        on = found.on.tolist()
        yield from touched(case, found, on)
    yield from spanning(case, found, on)


def theta_of_certificate(found):
    return fractions(found.exact) if found.exact is not None else theta_of(found.hyperplane)


def separable(case, found):
    theta = theta_of_certificate(found)
    wrong = [i for i, value in enumerate(values(case, theta)) if value <= 0]
    if wrong:
        yield Fault("the hyperplane of a verdict does not separate", f"row {wrong[0]}")
        return
    if not exact.near_root(found.margin, margin2(case, theta), AGREES):
        true = float_of(margin2(case, theta)) ** 0.5
        yield Fault("the margin of a verdict is wrong", f"{found.margin!r}, not {true!r}")


def touched(case, found, on):
    theta = theta_of_certificate(found)
    signs = [(value > 0) - (value < 0) for value in values(case, theta)]
    expected = [0 if i in set(on) else 1 for i in range(len(signs))]
    if signs != expected or len(on) == len(signs):
        row = next((i for i, (a, b) in enumerate(zip(signs, expected, strict=True)) if a != b), -1)
        yield Fault("wrong side of a quasi-separating hyperplane", f"row {row}")


def support(case, found, nearest=True):
    """The samples whose hulls meet: their weights are unique, positive, and as given."""
    rows, weights = found.support.tolist(), found.weights.tolist()
    if len(set(rows)) != len(rows) or len(rows) != len(weights) or len(rows) < 2:
        yield Fault("a support that is none", f"{rows}")
        return
    shares = exact_weights(case, rows)
    if shares is None:
        yield Fault("the support has no unique positive weights that cancel", f"{rows}")
        return
    given = getattr(found, "exact_weights", None)
    if given is not None and list(map(Fraction, given)) != shares:
        yield Fault("exact weights are wrong", f"{given}")
    rounded = [float(share) for share in shares]  # rounded to nearest
    if nearest and rounded != weights:
        off = max(abs(Fraction(w) - s) / s for w, s in zip(weights, shares, strict=True))
        yield Fault("weights are not the nearest floats", f"off by a share of {float(off):.2g}")
    elif given is None and any(
        abs(Fraction(w) - s) > AGREES * s for w, s in zip(weights, shares, strict=True)
    ):
        yield Fault("the weights do not cancel")
    yield from meeting_point(case, rows, shares, found.point.tolist())


def exact_weights(case, rows):
    """The only positive weights with which samples cancel, summing to 1 in each class."""
    relation = exact.only_relation([case.signed[i] for i in rows])
    if relation is None or min(relation) <= 0:
        return None
    total = sum(number for i, number in zip(rows, relation, strict=True) if case.signs[i] > 0)
    return [Fraction(number, total) for number in relation]


def meeting_point(case, rows, shares, point):
    for j, coordinate in enumerate(point):
        column = {i: Fraction(float(case.X[i, j])) for i in rows}
        mean = sum(s * column[i] for i, s in zip(rows, shares, strict=True) if case.signs[i] > 0)
        far = AGREES * max(map(abs, column.values())) + SMALLEST
        if not math.isfinite(coordinate) or abs(Fraction(coordinate) - mean) > far:
            yield Fault(
                "the point is not where the hulls meet", f"{coordinate!r}, not {float_of(mean)!r}"
            )
            return


def spanning(case, found, on):
    """Samples that cancel with positive weights, and span all those in `on`."""
    rows, weights = found.spanning_support.tolist(), found.spanning_weights.tolist()
    if not rows or len(set(rows)) != len(rows) or not set(rows) <= set(on):
        yield Fault("a spanning support that is none", f"{rows}")
        return
    vectors = [case.signed[i] for i in rows]
    rank = exact.rank(vectors)
    everything = [case.signed[i] for i in on]
    if rank < len(case.signed[0]) - (len(on) < len(case.y)) and rank != exact.rank(everything):
        yield Fault("the spanning support does not span", f"{rows}")
    if len(rows) > 2 * rank:
        yield Fault("the spanning support has more samples than it needs", f"{rows}")
    if not exact.cancels(vectors):
        yield Fault("the spanning support cannot cancel", f"{rows}")
        return
    given = getattr(found, "exact_spanning_weights", None)
    if given is not None:
        shares = fractions(given)
        if min(shares) <= 0 or any(
            exact.dot(shares, column) for column in zip(*vectors, strict=True)
        ):
            yield Fault("exact spanning weights do not cancel")
        return
    left = leftover(vectors, weights)
    if left > CANCELS:
        yield Fault("the spanning weights do not cancel", f"a share of {float(left):.2g} is left")


def leftover(vectors, weights):
    """What a sum of vectors leaves, as a share of what is added; the worst column."""
    shares = fractions(weights)
    if min(shares) <= 0:
        return Fraction(1)
    worst = Fraction(0)
    for column in zip(*vectors, strict=True):
        size = sum(s * abs(number) for s, number in zip(shares, column, strict=True))
        if size:
            worst = max(worst, abs(exact.dot(shares, column)) / size)
    return worst


# Brackets ---------------------------------------------------------------------------------------


def bracket(case, low, high):
    """Faults of two numbers that the widest margin should lie between."""
    if not low <= high:
        yield Fault("a bracket that is none", f"({low!r}, {high!r})")
        return
    if case.verdict == "SEPARABLE":
        widest = case.apart / 4
        if low > 0 and math.isinf(low):
            yield Fault("wrong bracket", f"({low!r}, {high!r})")
        elif low > 0 and exact.compare_root(Fraction(low), widest) > 0:
            yield Fault("wrong bracket", f"({low!r}, {high!r}): above the widest margin")
        elif high <= 0 or (math.isfinite(high) and exact.compare_root(Fraction(high), widest) < 0):
            yield Fault("wrong bracket", f"({low!r}, {high!r}): below the widest margin")
    elif low > 0 or (case.verdict == "QUASI_SEPARABLE" and high < 0):
        yield Fault("wrong bracket", f"({low!r}, {high!r}): {case.verdict}")
    elif below_a_margin(case, high):
        yield Fault("wrong bracket", f"({low!r}, {high!r}): a hyperplane has more")


def below_a_margin(case, high):
    """Whether some hyperplane, along an axis or from mean to mean, has a margin above `high`."""
    if high >= 0:
        return False
    d = len(case.rows[0])
    directions = [[int(j == k) for k in range(d)] for j in range(d)]
    sides = [[row for row, s in zip(case.rows, case.signs, strict=True) if s == t] for t in (1, -1)]
    means = [
        [Fraction(sum(column), len(side)) for column in zip(*side, strict=True)] for side in sides
    ]
    directions.append([a - b for a, b in zip(*means, strict=True)])
    for w in directions:
        scores = [[exact.dot(w, row) for row in side] for side in sides]
        for one, other in (scores, scores[::-1]):
            least = (min(one) - max(other)) / Fraction(2) * case.unit
            if any(w) and least < 0 and Fraction(high) ** 2 > least * least / square(w):
                return True
    return False


# Hyperplanes ------------------------------------------------------------------------------------


def sides(case, theta, scores, predicted):
    """Faults of decision values and predictions (-1 and +1, 0 belongs to -1): their signs."""
    for i, (value, sign) in enumerate(zip(values(case, theta), case.signs, strict=True)):
        true = ((value > 0) - (value < 0)) * sign
        if not same_sign(scores[i], value * sign):
            yield Fault("the sign of a decision value is wrong", f"row {i}: {scores[i]!r}")
            return
        if predicted[i] != (1 if true > 0 else -1):
            yield Fault("a prediction is on the wrong side", f"row {i}")
            return


def same_sign(score, value):
    """Whether a float has the sign of a number; 0 also for a negative one that rounds to 0."""
    sign = (value > 0) - (value < 0)
    if score == 0 and sign < 0:
        return -value < SMALLEST
    return (score > 0) - (score < 0) == sign and not math.isnan(score)


def margin_of_hyperplane(case, theta, margin):
    """Faults of ``Hyperplane.margin``: its sign is exact, its value as good as floats are."""
    least, norm2 = min(values(case, theta)), square(theta[:-1])
    if margin == 0 and least < 0 and least * least < SMALLEST * SMALLEST * norm2:
        return
    if math.isnan(margin) or (margin > 0) - (margin < 0) != (least > 0) - (least < 0):
        yield Fault("the sign of a margin is wrong", f"{margin!r}, exactly {float_of(least)!r}/‖w‖")
        return
    size = max(
        sum(abs(t * Fraction(x)) for t, x in zip(theta, [*row, 1.0], strict=True))
        for row in case.X.tolist()
    )
    if abs(margin) >= sys.float_info.max:  # the largest float stands for what is beyond it
        huge = Fraction(2) ** 1023
        if least * least < huge * huge * norm2:
            yield Fault("a margin is infinite that is not")
        return
    off = AGREES * size + SMALLEST * (1 + math.isqrt(math.ceil(norm2)))
    low, high = abs(least) - off, abs(least) + off
    found = Fraction(margin) ** 2 * norm2
    if (low > 0 and found < low * low) or found > high * high:
        yield Fault("a margin is wrong", f"{margin!r}")


def float_of(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# Perceptrons ------------------------------------------------------------------------------------


def separated(case, theta):
    """A run that ended SEPARATED: every sample strictly on its side."""
    wrong = [i for i, value in enumerate(values(case, theta)) if value <= 0]
    if wrong:
        yield Fault("SEPARATED with a mistake", f"row {wrong[0]}")


def bound(case, found):
    """Faults of a MistakeBound from zero, with a bias: R, γ and (R/γ)²."""
    radius2 = max(exact.dot(row, row) for row in case.rows) * case.unit**2 + 1
    if math.isfinite(found.R) and exact.compare_root(Fraction(found.R), radius2) < 0:
        yield Fault("R of a bound is too small", f"{found.R!r}")
    theta = theta_of(found.hyperplane)
    least, norm2 = min(values(case, theta)), square(theta)
    if least <= 0:
        yield Fault("the hyperplane of a bound does not separate")
        return
    gamma2 = least * least / norm2
    if exact.compare_root(Fraction(found.gamma), gamma2) > 0:
        yield Fault("γ of a bound is too large", f"{found.gamma!r}")
    if math.isfinite(found.bound) and Fraction(found.bound) < radius2 / gamma2:
        yield Fault("a bound is too small", f"{found.bound!r}")


def perceptron(case, epochs):
    """The textbook's loop in integers: (w, b), mistakes, and whether an epoch had none."""
    top, below = case.unit.numerator, case.unit.denominator
    w, b, mistakes = [0] * len(case.rows[0]), 0, 0
    for _ in range(epochs):
        before = mistakes
        for row, sign in zip(case.rows, case.signs, strict=True):
            if sign * (top * top * exact.dot(w, row) + below * below * b) <= 0:
                w = [a + sign * x for a, x in zip(w, row, strict=True)]
                b += sign
                mistakes += 1
        if mistakes == before:
            break
    return [a * case.unit for a in w] + [Fraction(b)], mistakes, mistakes == before

"""Judges of the exercises on losses, gradients and updates."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exercises.forms import (
    CLOSE,
    NotRight,
    Row,
    Rows,
    close,
    dot,
    floats,
    function,
    label,
    number,
    parts,
    point,
    samples,
    signed,
    table,
    told,
    vector,
)
from rosenblatt.exercises.hyperplanes import (
    EIGHT,
    exact_data,
    refuse_unless_separating,
    verdict_on,
)
from rosenblatt.exercises.judging import given, judge
from rosenblatt.results import Hyperplane, Separable
from rosenblatt.theory import perceptron_loss, zero_one_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

HALF = [1, 1, 1, 1, -1, -1, -1, -1]
CLEAN = [[1, 1], [2, 1], [1, -1], [2, 2], [3, -1]]
given(15, EIGHT, HALF)
given(17, [[1, 0], [1, 2], [-1, 1], [-2, -1]], [1, 1, -1, -1])
given(19, [*CLEAN, *([-a, -b] for a, b in CLEAN)], [1] * 5 + [-1] * 5)
GOOD, BAD = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))


def mistakes(X: Rows, y: list[int], w: Row) -> list[int]:
    """The rows with ``y(w·x) <= 0``."""
    return [i for i, (x, side) in enumerate(zip(X, y, strict=True)) if side * dot(w, x) <= 0]


def loss(X: Rows, y: list[int], w: Row) -> Fraction:
    """The perceptron's loss without a bias."""
    return sum((max(Fraction(0), -s * dot(w, x)) for x, s in zip(X, y, strict=True)), Fraction(0))


def mean_objective(X: Rows, y: list[int], w: Row) -> Fraction:
    """``-(1/n) Σ y(w·x)``, over all samples."""
    return -sum((s * dot(w, x) for x, s in zip(X, y, strict=True)), Fraction(0)) / len(X)


def step(X: Rows, y: list[int], w: Row) -> Row:
    """``Σ y·x`` over the mistakes."""
    wrong = mistakes(X, y, w)
    return tuple(sum((y[i] * X[i][j] for i in wrong), Fraction(0)) for j in range(len(w)))


def problems(count: int, n: int = 7) -> Iterator[tuple[Rows, list[int], Row]]:
    """Samples, labels, and weights that have no sample on their line: small whole numbers."""
    rng = np.random.default_rng(0)
    while count:
        X = tuple(tuple(map(Fraction, row)) for row in rng.integers(-5, 6, (n, 2)).tolist())
        y = rng.choice([-1, 1], n).tolist()
        w = tuple(map(Fraction, rng.integers(-4, 5, 2).tolist()))
        if all(dot(w, x) for x in X) and 1 < len(mistakes(X, y, w)) < n - 1:
            count -= 1
            yield X, y, w


@judge(14)
def halved(answer: Any) -> str:
    """The factor that makes a mistake cost 1."""
    c = number("c", answer)
    cost = c * (1 - (-1))
    if cost != 1:
        msg = f"a mistake has y·f = −1, so it costs c(1 − (−1)) = {told(cost)}, not 1"
        raise NotRight(msg)
    return (
        "c(1 − y·f) is then 1 for a mistake and 0 otherwise. One need not: J and J/2 are least "
        "at the same w, and where one descends, the step length takes up the factor"
    )


@judge(15)
def ten_times(answer: Any) -> str:
    """By what two losses are multiplied, if the weights are."""
    X, y = exact_data(15)
    given_factors = vector("the factors", parts(answer, "zero-one, perceptron"), 2)
    w, b = np.array([-1.0, 2.0]), 1.0
    for name, found, total in zip(
        ("share of mistakes", "perceptron's loss"),
        given_factors,
        (zero_one_loss, perceptron_loss),
        strict=True,
    ):
        once, ten = (total(Hyperplane(k * w, k * b), floats(X), y) for k in (1, 10))
        if not close(found * Fraction(once), Fraction(ten)):
            msg = (
                f"the {name} is {once:.4g} with w = (−1, 2), b = 1 on these samples and {ten:.4g} "
                f"with ten times these, not {told(found)} times as much"
            )
            raise NotRight(msg)
    return (
        "ten times the weights are the same line, so the same samples are wrong; but the "
        "perceptron's loss counts how far, in units of ‖w‖, and so depends on the length of w"
    )


@judge(16)
def all_cases(answer: Any) -> str:
    """Whether w grows or shrinks, in four cases."""
    signs = vector("the signs", answer, 4)
    cases = [(t, x) for t in (1, -1) for x in (2, -2)]
    for (t, x), sign in zip(cases, signs, strict=True):
        if sign not in (-1, 1):
            msg = f"{told(sign)} is neither +1 (w grows) nor −1 (w shrinks)"
            raise NotRight(msg)
        o = -t  # a mistake
        w = 3 * o * (1 if x > 0 else -1)
        change = (t - o) * x
        if change * sign < 0:
            msg = (
                f"t = {signed(t)} and x = {signed(x)}, with w = {signed(w)}: w·x is "
                f"{signed(w * x)}, so the output is {signed(o)}, and (t − o)x = {signed(change)} "
                "is added to w"
            )
            raise NotRight(msg)
    return "(t − o)x has the sign of t·x: in all four cases w·x moves towards the target t"


@judge(17)
def jump(answer: Any) -> str:
    """Weights and a direction across which the share of mistakes jumps."""
    X, y = exact_data(17)
    w, v = parts(answer, "w, v")
    w, v = vector("w", w, 2), vector("v", v, 2)
    if not any(v):
        msg = "v is (0, 0): that is no direction"
        raise NotRight(msg)

    def share(side: int) -> Fraction:
        """Of mistakes at w + εv or w - εv, for all small ε > 0."""
        values = [dot(w, x) or side * dot(v, x) for x in X]
        wrong = sum((1 if value > 0 else -1) != s for value, s in zip(values, y, strict=True))
        return Fraction(wrong, len(X))

    if all(dot(w, x) for x in X):
        msg = (
            f"no sample has w·x = 0 at w = {point(w)}: a small step changes no sign, J stays "
            f"{told(share(1))}, and its slope is 0 in every direction"
        )
        raise NotRight(msg)
    if share(1) == share(-1):
        msg = f"J is {told(share(1))} on both sides of w = {point(w)} along v = {point(v)}"
        raise NotRight(msg)
    return (
        f"J jumps from {told(share(-1))} to {told(share(1))} where w crosses {point(w)} in the "
        "direction of v. There it has no slope; everywhere else its slope is 0 and leads nowhere"
    )


@judge(18)
def all_samples(answer: Any) -> str:
    """Data on which the mean over all samples prefers a vector that does not separate."""
    X, y, good, bad = parts(answer, "X, y, good, bad")
    rows, sides = samples(X, y)
    good, bad = (vector(n, v, len(rows[0])) for n, v in (("good", good), ("bad", bad)))
    refuse_unless_separating(rows, sides, good, Fraction(0))
    if not mistakes(rows, sides, bad):
        msg = "bad makes no mistake either: then there is nothing to complain of"
        raise NotRight(msg)
    if not close(dot(good, good), dot(bad, bad)):
        lengths = [told(math.sqrt(dot(v, v))) for v in (good, bad)]
        msg = f"good has the length {lengths[0]} and bad {lengths[1]}: that would not be fair"
        raise NotRight(msg)
    ours, theirs = mean_objective(rows, sides, good), mean_objective(rows, sides, bad)
    if theirs >= ours:
        msg = f"J is {told(ours)} for good and {told(theirs)} for bad: the smaller one is good's"
        raise NotRight(msg)
    wrong = len(mistakes(rows, sides, bad))
    return (
        f"good separates, and bad is wrong on {wrong} of {len(rows)}; yet J is {told(ours)} for "
        f"good and {told(theirs)} for bad. Samples far on the right side pay for the mistakes"
    )


@judge(19)
def outlier(answer: Any) -> str:
    """One sample that makes the perceptron's loss prefer the worse of two lines."""
    X, y = exact_data(19)
    x, side = parts(answer, "x, y")
    X, y = (*X, vector("x", x, 2)), [*y, label("y", side)]
    errors = [len(mistakes(X, y, w)) for w in (GOOD, BAD)]
    costs = [loss(X, y, w) for w in (GOOD, BAD)]
    if errors[0] >= errors[1]:
        msg = f"good is then wrong on {errors[0]} samples and bad on {errors[1]}: not fewer"
        raise NotRight(msg)
    if costs[0] <= costs[1]:
        msg = f"the loss is {told(costs[0])} for good and {told(costs[1])} for bad: good's is less"
        raise NotRight(msg)
    return (
        f"good is wrong on {errors[0]} of 11 and bad on {errors[1]}, but the loss is "
        f"{told(costs[0])} for good and {told(costs[1])} for bad: one far sample outweighs many"
    )


@judge(20)
def gradient(answer: Any) -> str:
    """The gradient of the perceptron's loss."""
    found = function(answer, "of w, X and y")
    for X, y, w in problems(6):
        shown = vector("what it returns", found(*arrays(w, X, y)), 2)
        # Small enough that no sample changes sides: the difference is the slope, exactly.
        h = Fraction(1, 1000)
        slopes = [(loss(X, y, _moved(w, j, h)) - loss(X, y, w)) / h for j in range(2)]
        if all(close(a, b) for a, b in zip(shown, slopes, strict=True)):
            continue
        everywhere = [-sum(s * x[j] for x, s in zip(X, y, strict=True)) for j in range(2)]
        why = "J changes by something else when w moves"
        if all(close(a, -b) for a, b in zip(shown, slopes, strict=True)):
            why = "that is the gradient with its sign turned, the direction in which J falls"
        elif all(close(a, b) for a, b in zip(shown, everywhere, strict=True)):
            why = "that sums over all samples, not over the mistakes"
        slope = point(slopes)
        msg = f"at w = {point(w)} it gives {point(shown)}, but the slopes of J are {slope}: {why}"
        raise NotRight(msg)
    return (
        "it agrees with the slopes of J on six problems. So w ← w − η∇J is w ← w + η Σ y·x over "
        "the mistakes, which is the formula"
    )


def _moved(w: Row, j: int, h: Fraction) -> Row:
    return tuple(value + h * (i == j) for i, value in enumerate(w))


def arrays(w: Row, X: Rows, y: list[int]) -> tuple[Any, Any, Any]:
    """What functions in answers are called with."""
    return floats((w,))[0], floats(X), np.array(y)


@judge(21)
def two_rules(answer: Any) -> str:
    """The factor between two update rules, and a sample on which they still differ."""
    c, w, x, side = parts(answer, "c, w, x, y")
    c, w, side = number("c", c), vector("w", w), label("y", side)
    x = vector("x", x, len(w))
    if not all(_by_targets(*each) == tuple(c * v for v in step(*each)) for each in problems(3)):
        msg = f"where a sample is wrong, t − o is 2y and not {told(c)}·y"
        raise NotRight(msg)
    value = dot(w, x)
    output = 1 if value > 0 else -1
    first = side if side * value <= 0 else 0
    if not any(x) or c * first == side - output:
        msg = (
            f"on your sample w·x is {told(value)}: the first rule adds {_times(first)} and the "
            f"second {_times(side - output)}, which is the same but for the factor"
        )
        raise NotRight(msg)
    return (
        "t − o is 2y where a sample is wrong and 0 where it is right. But yours lies on the "
        f"hyperplane: the first rule adds {_times(first)} and the second {_times(side - output)}"
    )


def _by_targets(X: Rows, y: list[int], w: Row) -> Row:
    """``Σ (t - o)x`` over all samples."""
    steps = [s - (1 if dot(w, x) > 0 else -1) for x, s in zip(X, y, strict=True)]
    return tuple(
        sum((a * x[j] for a, x in zip(steps, X, strict=True)), Fraction(0)) for j in (0, 1)
    )


def _times(factor: int) -> str:
    return f"{signed(factor)}·x" if factor else "nothing"


@judge(22)
def missing_label(answer: Any) -> str:
    """A misclassified sample that a printed objective rewards."""
    w, x, side = parts(answer, "w, x, y")
    w, side = vector("w", w), label("y", side)
    x = vector("x", x, len(w))
    value = dot(w, x)
    output = 1 if value > 0 else -1
    if output == side:
        msg = f"w·x is {told(value)}, so the output is {signed(output)}: the sample is right"
        raise NotRight(msg)
    cost = (side - output) ** 2 * -value
    if cost >= 0:
        msg = f"(t − o)²(−w·x) is {told(cost)} here, not negative: this mistake does cost something"
        raise NotRight(msg)
    return (
        f"the sample is wrong, and (t − o)²(−w·x) = {told(cost)} is negative: the worse, the "
        "better. With the label in it, (t − o)²(−t·w·x), a mistake costs 4|w·x|"
    )


@judge(23)
def subgradients(answer: Any) -> str:
    """Two subgradients of the loss of one sample, at a kink."""
    both = table("the answer", answer, 2)
    if len(both) != 2:
        msg = f"here are {len(both)} vectors: give two"
        raise NotRight(msg)
    x, theta = (Fraction(1), Fraction(2)), (Fraction(2), Fraction(-1))
    for v in both:
        t = -dot(v, x) / dot(x, x)
        across = tuple(a + t * b for a, b in zip(v, x, strict=True))
        if any(abs(a) > CLOSE for a in across):
            move = across
        elif not -CLOSE <= t <= 1 + CLOSE:
            move = tuple(b if t < 0 else -b for b in x)
        else:
            continue
        there = tuple(a + b for a, b in zip(theta, move, strict=True))
        cost, plane = max(Fraction(0), -dot(there, x)), dot(v, move)
        msg = (
            f"{point(v)} is no subgradient: at {point(there)} the loss is {told(cost)}, below "
            f"{told(plane)}, the value of the plane with that slope"
        )
        raise NotRight(msg)
    if both[0] == both[1]:
        msg = "the two are the same: give different ones"
        raise NotRight(msg)
    return (
        "both are −t·y·x with t from 0 to 1: planes with these slopes touch the loss at θ and are "
        "nowhere above it. t = 1 is the perceptron's choice, t = 0 leaves the weights alone"
    )


@judge(24)
def delta_rule(answer: Any) -> str:
    """Separable data that the least-squares hyperplane does not separate."""
    X, y = samples(*parts(answer, "X, y"))
    if not isinstance(verdict_on(X, y), Separable):
        msg = "no hyperplane separates these samples: the perceptron fails on them as well"
        raise NotRight(msg)
    rows = np.hstack([floats(X), np.ones((len(X), 1))])
    theta = np.linalg.lstsq(rows, np.array(y, np.float64), rcond=None)[0]
    values = rows @ theta
    wrong = [i for i, value in enumerate(values) if value * y[i] < -1e-6]
    if not wrong:
        msg = f"least squares separates them too: its smallest y(w·x + b) is {min(values * y):.3g}"
        raise NotRight(msg)
    i = wrong[0]
    return (
        f"a hyperplane separates these samples, but the one of least squares does not: it gives "
        f"{point(X[i])}, of class {signed(y[i])}, the value {told(values[i])}"
    )


@judge(25)
def batches(answer: Any) -> str:
    """One epoch in batches of any size."""
    epoch = function(answer, "of w, X, y and size")
    for X, y, w in problems(3):
        for size in (1, 2, 3, len(X)):
            found = vector("what it returns", epoch(*arrays(w, X, y), size), 2)
            wanted = _epoch(X, y, w, size)
            if found != wanted:
                msg = (
                    f"with size={size} and w = {point(w)} it ends at {point(found)}, not at "
                    f"{point(wanted)} (X = {floats(X).astype(int).tolist()}, y = {y})"
                )
                raise NotRight(msg)
    return (
        "size 1 is the online rule, size n the batch rule, between them are mini-batches. With the "
        "rows in a random order it is the stochastic version of each"
    )


def _epoch(X: Rows, y: list[int], w: Row, size: int) -> Row:
    for k in range(0, len(X), size):
        change = step(X[k : k + size], y[k : k + size], w)
        w = tuple(a + b for a, b in zip(w, change, strict=True))
    return w

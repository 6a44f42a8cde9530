"""Judges of the exercises on points and hyperplanes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.exercises.forms import (
    NotRight,
    Row,
    Rows,
    close,
    dot,
    floats,
    function,
    labels,
    number,
    parts,
    point,
    samples,
    signed,
    table,
    told,
    vector,
)
from rosenblatt.exercises.judging import DATA, given, judge
from rosenblatt.results import Certificate, Hyperplane, QuasiSeparable, Separable, Verdict
from rosenblatt.theory import cover_probability

EIGHT = [[1, 1], [1, 3], [2, 1], [2, 2], [-1, -1], [-1, -3], [-2, -1], [-2, -2]]
given(4, EIGHT, [1, 1, 1, 1, -1, -1, -1, -1])
given(5, [[3, 1], [4, 0], [1, 2], [-2, -1], [-1, -3], [-4, 1]], [1, 1, 1, -1, -1, -1])
given(10, [[0, 0], [4, 2], [0, 3], [3, 0]], [1, 1, -1, -1])
NAMES = {2: "two", 3: "three", 4: "four"}


def exact_data(n: int) -> tuple[Rows, list[int]]:
    """The data of an exercise as rational numbers."""
    X, y = DATA[n]()
    return tuple(tuple(map(Fraction, row)) for row in X.tolist()), y.tolist()


def verdict_on(X: Rows, y: list[int]) -> Certificate:
    """Whether a hyperplane separates them."""
    from rosenblatt.separation.function import separability

    return separability(floats(X), y)


def line(value: Any) -> tuple[Row, Fraction]:
    """A line of the plane, (w, b)."""
    w, b = parts(value, "w, b")
    w, b = vector("w", w, 2), number("b", b)
    if not any(w):
        msg = "w is (0, 0), and w·x + b = 0 is no line then"
        raise NotRight(msg)
    return w, b


def refuse_unless_separating(X: Rows, y: list[int], w: Row, b: Fraction) -> None:
    """Say which sample is not on its side."""
    for x, side in zip(X, y, strict=True):
        value = dot(w, x) + b
        if side * value <= 0:
            where = "on the hyperplane" if value == 0 else "on the wrong side"
            found = f"w·x + b is {told(value)} there and its label {signed(side)}"
            msg = f"{point(x)} is {where}: {found}"
            raise NotRight(msg)


@judge(1)
def shifted_line(answer: Any) -> str:
    """The point of x1 + x2 - 4 = 0 that is nearest to the origin."""
    x = vector("the point", answer, 2)
    value = sum(x) - 4
    if not close(value, Fraction(0)):
        msg = f"{point(x)} is not on the line: there x1 + x2 − 4 is {told(value)}"
        raise NotRight(msg)
    if not close(x[0], x[1]):
        msg = (
            f"{point(x)} is on the line, {told(math.hypot(*x))} away from the origin: another of "
            "its points is nearer, in the direction of w"
        )
        raise NotRight(msg)
    return (
        "the line has moved from the origin to (2, 2), by 4/√2 = 2.828 in the direction of w; a "
        "negative bias moves it where w points, and more of the plane is classified −1"
    )


@judge(2)
def affine(answer: Any) -> str:
    """A point of the plane x1 + 2 x2 + 2 x3 = 6, and two directions within it."""
    x0, V = parts(answer, "x0, V")
    x0, V = vector("x0", x0, 3), table("V", V, 3)
    w = (Fraction(1), Fraction(2), Fraction(2))
    if not close(dot(w, x0), Fraction(6)):
        msg = f"x0 = {point(x0)} is not in H: w·x0 − 6 is {told(dot(w, x0) - 6)}"
        raise NotRight(msg)
    if len(V) != 2:
        msg = f"a plane has two directions, but V has {len(V)} rows"
        raise NotRight(msg)
    for v in V:
        if not close(dot(w, v), Fraction(0)):
            msg = f"x0 + {point(v)} leaves H: w·v is {told(dot(w, v))} and has to be 0"
            raise NotRight(msg)
    (a, b, c), (d, e, f) = V
    if not any((b * f - c * e, c * d - a * f, a * e - b * d)):
        msg = "the rows of V are multiples of each other: they span a line, not a plane"
        raise NotRight(msg)
    return (
        "every point of H is x0 plus a combination of your directions. H itself is no vector "
        f"space: 2·x0 has w·x − 6 = {told(2 * dot(w, x0) - 6)} and is not in it"
    )


@judge(3)
def five_away(answer: Any) -> str:
    """The line through (3, 4) at the distance 5 from the origin."""
    w, b = line(answer)
    value = 3 * w[0] + 4 * w[1] + b
    if not close(value, Fraction(0)):
        msg = f"(3, 4) is not on the line: w·x + b is {told(value)} there"
        raise NotRight(msg)
    away = abs(b) / Fraction(math.hypot(*w))
    if not close(away, Fraction(5)):
        msg = f"the origin is |b|/‖w‖ = {told(float(away))} away from the line, not 5"
        raise NotRight(msg)
    return (
        "(3, 4) is on the line and |b|/‖w‖ is 5. It is the only one: (3, 4) is itself 5 away "
        "from the origin, so it has to be the nearest point, and w has its direction"
    )


@judge(4)
def eight_points(answer: Any) -> str:
    """A line that separates the eight points."""
    X, y = exact_data(4)
    if answer is None:
        msg = "some line has the four positive points on one side and the others on the other"
        raise NotRight(msg)
    w, b = line(answer)
    refuse_unless_separating(X, y, w, b)
    values = [side * (dot(w, x) + b) for x, side in zip(X, y, strict=True)]
    margin = float(min(values)) / math.hypot(*w)
    return f"all eight points are on their sides, the nearest {margin:.4g} away: separable"


@judge(5)
def separable_and_bounded(answer: Any) -> str:
    """A unit vector w, a margin and a radius, as the convergence theorem assumes them."""
    X, y = exact_data(5)
    w, gamma, R = parts(answer, "w, gamma, R")
    w, gamma, R = vector("w", w, 2), number("gamma", gamma), number("R", R)
    if not close(dot(w, w), Fraction(1)):
        msg = f"w has the length {told(math.sqrt(dot(w, w)))}, not 1"
        raise NotRight(msg)
    if gamma <= 0:
        msg = f"gamma is {told(gamma)}: it has to be positive, or w need not separate at all"
        raise NotRight(msg)
    for x, side in zip(X, y, strict=True):
        value = side * dot(w, x)
        if value < gamma * (1 - Fraction(1, 10**9)):
            msg = f"y(w·x) is {told(value)} for {point(x)}, below gamma = {told(gamma)}"
            raise NotRight(msg)
        if dot(x, x) > R * abs(R) * (1 + Fraction(1, 10**9)):
            msg = f"{point(x)} has the length {told(math.sqrt(dot(x, x)))}, above R = {told(R)}"
            raise NotRight(msg)
    bound = R**2 / gamma**2
    return (
        "w separates with room gamma to spare, and no sample is longer than R. So a perceptron "
        f"without a bias makes at most R²/gamma² = {told(float(bound))} mistakes on these samples"
    )


@judge(6)
def beyond_one_unit(answer: Any) -> str:
    """The functions of two variables that no threshold unit computes."""
    from rosenblatt.boolean import is_threshold, threshold_unit

    if isinstance(answer, str) or not isinstance(answer, list | tuple | set | frozenset):
        msg = f"the answer is a list of texts such as ['0111'], not {brief(answer)}"
        raise NotRight(msg)
    tables = ["".join(bits) for bits in product("01", repeat=4)]
    for text in answer:
        if text not in tables:
            msg = f"{brief(text)} is no function of two variables: give texts of four 0 and 1"
            raise NotRight(msg)
        if is_threshold(text):
            msg = f"one unit computes {text}: it {threshold_unit(text)}"
            raise NotRight(msg)
    missing = [text for text in tables if not is_threshold(text) and text not in answer]
    if missing:
        msg = f"of the 16 functions, {len(missing)} more cannot be computed by one unit"
        raise NotRight(msg)
    return "XOR and its opposite; the other 14 functions of two variables are threshold functions"


@judge(7)
def majority_with_a_veto(answer: Any) -> str:
    """A unit that fires if two of three inputs are on and the fourth is off."""
    w, k = parts(answer, "w, k")
    w, k = vector("w", w, 4), number("k", k)
    for x in product((0, 1), repeat=4):
        wanted = sum(x[:3]) >= 2 and not x[3]
        value = dot(w, map(Fraction, x))
        if (value >= k) != wanted:
            does, should = ("fires", "should not") if value >= k else ("does not fire", "should")
            msg = f"for x = {x} it {does} but {should}: w·x is {told(value)} and k is {told(k)}"
            raise NotRight(msg)
    return "it is right on all 16 inputs. The veto must outweigh what is left above k without it"


def _by_number(answer: Any) -> dict[int, Any]:
    wanted = "the answer is a dict with the keys 2, 3 and 4"
    if not isinstance(answer, Mapping):
        msg = f"{wanted}, not {brief(answer)}"
        raise NotRight(msg)
    if set(answer) != {2, 3, 4}:
        msg = f"{wanted}, but here are the keys {brief(list(answer))}"
        raise NotRight(msg)
    return {n: answer[n] for n in (2, 3, 4)}


def _different(n: int, X: Rows) -> Rows:
    if len(X) != n:
        msg = f"under {n} there are {len(X)} points: give {NAMES[n]}"
        raise NotRight(msg)
    if len(set(X)) < n:
        msg = f"under {n} a point is there twice: the points of a set are different ones"
        raise NotRight(msg)
    return X


@judge(8)
def every_set(answer: Any) -> str:
    """For 2, 3 and 4 points: None where lines separate them all, else points that they do not."""
    for n, found in _by_number(answer).items():
        if found is None:
            if n > 2:
                msg = f"under {n}: there are {NAMES[n]} points that no line separates"
                raise NotRight(msg)
            continue
        X, y = samples(*parts(found, "X, y"), columns=2)
        verdict = verdict_on(_different(n, X), y)
        if isinstance(verdict, Separable):
            msg = f"under {n}: {_written(verdict.hyperplane)} separates these points"
            raise NotRight(msg)
    return (
        "any two points can be parted, but not any three (one may lie between two others), and "
        "not any four: your examples are proved to be inseparable"
    )


@judge(9)
def some_set(answer: Any) -> str:
    """For 2, 3 and 4: points that lines can label in every way, or None."""
    for n, found in _by_number(answer).items():
        if found is None:
            if n < 4:
                msg = f"under {n}: some {NAMES[n]} points can be labelled in every way by lines"
                raise NotRight(msg)
            continue
        X = _different(n, table("X", found, 2))
        for y in product((-1, 1), repeat=n):
            if len(set(y)) == 2 and not isinstance(verdict_on(X, list(y)), Separable):
                shown = point(map(Fraction, y))
                msg = f"under {n}: no line gives these points the labels {shown}"
                raise NotRight(msg)
    return (
        "lines give your two points all 4 labelings and your three points all 8; for four points "
        "there is always one that fails. So the VC dimension of lines in the plane is 3"
    )


@judge(10)
def where_hulls_meet(answer: Any) -> str:
    """The weights with which two segments meet."""
    X, y = exact_data(10)
    shares = vector("the weights", answer, 4)
    if min(shares) < 0:
        msg = f"a weight is {told(min(shares))}: weights of a convex combination are not negative"
        raise NotRight(msg)
    middles = []
    for side in (1, -1):
        own = [i for i in range(4) if y[i] == side]
        weights = [shares[i] for i in own]
        total = sum(weights, Fraction(0))
        if not close(total, 1):
            msg = f"the weights of class {signed(side)} add up to {told(total)}, not to 1"
            raise NotRight(msg)
        columns = zip(*(X[i] for i in own), strict=True)
        middles.append(tuple(dot(weights, column) for column in columns))
    if not all(close(p, q) for p, q in zip(*middles, strict=True)):
        msg = (
            f"class +1 has the mean {point(middles[0])}, class −1 {point(middles[1])}: not the same"
        )
        raise NotRight(msg)
    return (
        f"both classes have the weighted mean {point(middles[0])}. A line with the classes on its "
        "two sides would have this point on both: there is none"
    )


@judge(11)
def touching(answer: Any) -> str:
    """A quasi-separable set of points, no point in both classes."""
    X, y = samples(*parts(answer, "X, y"), columns=2, most=20)
    for (x, s), (z, t) in combinations(zip(X, y, strict=True), 2):
        if x == z and s != t:
            msg = f"{point(x)} is there with both labels: that is too easy"
            raise NotRight(msg)
    found = verdict_on(X, y)
    if not isinstance(found, QuasiSeparable):
        how = {
            Verdict.SEPARABLE: "separable: a line has every sample strictly on its side",
            Verdict.INSEPARABLE: "inseparable: every line has a sample on the wrong side, or all "
            "of them on it",
        }
        msg = f"these samples are {how.get(found.verdict, 'undecided')}"
        raise NotRight(msg)
    on = ", ".join(point(X[i]) for i in found.on)
    return (
        f"{_written(found.hyperplane)} has no sample on its wrong side, but {on} on it, and no "
        "line does without these"
    )


def _written(plane: Hyperplane) -> str:
    return f"w = {point(plane.w.tolist())}, b = {told(plane.b)}"


@judge(12)
def by_luck(answer: Any) -> str:
    """How many random labels 20 features separate in half of the cases."""
    n = number("n", answer)
    if n.denominator != 1 or not 1 <= n <= 10**6:
        msg = f"n is {told(n)}: give a whole number of samples, 1 or more"
        raise NotRight(msg)
    chance = cover_probability(int(n), 20)
    if chance != 0.5:
        msg = f"with 20 features a share {chance:.3g} of all labelings of {n} points is separable"
        raise NotRight(msg)
    return (
        "with 20 features half of all labelings of 42 points are separable, so no mistake in "
        f"training means little there; for 84 samples it is {cover_probability(84, 20):.1g}"
    )


@judge(13)
def never_four(answer: Any) -> str:
    """A function that gives any four points labels that no line can."""
    labelled = function(answer, "of four points that returns four labels")
    for X in _quadruples():
        y = labels("what it returns", labelled(X.copy()), 4)
        shown = ", ".join(point(map(Fraction, row)) for row in X.tolist())
        if len(set(y)) < 2:
            msg = f"for {shown} it gives all the label {signed(y[0])}: a line far off does that"
            raise NotRight(msg)
        rows = tuple(tuple(map(Fraction, row)) for row in X.tolist())
        if isinstance(verdict_on(rows, y), Separable):
            msg = f"for the points {shown} it gives {y}, and a line can do that"
            raise NotRight(msg)
    return (
        "it was tried on points around a square, in a triangle, on a line and at random: no "
        "line could follow. So no four points of the plane can be labelled at will"
    )


def _quadruples() -> list[Any]:
    square, inside = [[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 0], [6, 0], [0, 6], [2, 2]]
    others = [[[0, 0], [2, 0], [5, 0], [1, 3]], [[0, 0], [1, 1], [3, 3], [7, 7]]]
    turned = [
        [X[i] for i in order] for X in (square, inside) for order in ((0, 2, 1, 3), (3, 0, 1, 2))
    ]
    rng = np.random.default_rng(0)
    few = [rng.choice(100, 4, replace=False) for _ in range(12)]
    numbers = [np.column_stack([cells // 10, cells % 10]) for cells in few]
    return [np.array(X, np.float64) for X in (square, inside, *others, *turned, *numbers)]

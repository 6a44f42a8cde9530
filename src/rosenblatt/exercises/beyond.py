"""Judges of the exercises on margins, kernels and networks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from rosenblatt.exercises.forms import (
    NotRight,
    Row,
    close,
    dot,
    floats,
    function,
    label,
    number,
    parts,
    point,
    signed,
    table,
    told,
    vector,
)
from rosenblatt.exercises.hyperplanes import (
    EIGHT,
    exact_data,
    line,
)
from rosenblatt.exercises.judging import DATA, given, judge
from rosenblatt.visible import count

given(
    36,
    [[1, 0], [0, 1], [-1, 0], [0, -1], [2, 1], [-1, 2], [-2, -1], [1, -2]],
    [-1, -1, -1, -1, 1, 1, 1, 1],
)
given(37, [[3, 4], [5, 0], [0, 0], [-1, -2]], [1, 1, -1, -1])
given(40, EIGHT, [1, 1, 1, 1, -1, -1, -1, -1])
given(41, [[0], [1], [2], [3], [8], [9], [10]], [-1, -1, -1, 1, 1, 1, 1])
given(42, [[-1], [0], [1]], [1, -1, 1])


@judge(36)
def circle(answer: Any) -> str:
    """Weights of the squares that separate two rings."""
    X, y = exact_data(36)
    w, b = parts(answer, "w, b")
    w, b = vector("w", w, 2), number("b", b)
    for x, side in zip(X, y, strict=True):
        value = dot(w, [a**2 for a in x]) + b
        if side * value <= 0:
            msg = f"for {point(x)} of class {signed(side)}, w1 x1² + w2 x2² + b is {told(value)}"
            raise NotRight(msg)
    shape = "a circle" if w[0] == w[1] else "an ellipse" if w[0] * w[1] > 0 else "a curve"
    return f"a line in the features x1² and x2², {shape} in the plane, with each class on its side"


@judge(37)
def canonical(answer: Any) -> str:
    """The canonical form of a line."""
    X, _ = exact_data(37)
    w, b = line(answer)
    given_line = (Fraction(3), Fraction(4), Fraction(-5))
    factor = w[0] / 3
    if factor <= 0 or not all(
        close(factor * a, c) for a, c in zip(given_line, (*w, b), strict=True)
    ):
        msg = "w and b are not the same positive multiple of (3, 4) and −5: that is another line"
        raise NotRight(msg)
    least = min(abs(dot(w, x) + b) for x in X)
    if not close(least, Fraction(1)):
        msg = f"the smallest |w·x + b| over the samples is {told(least)}, not 1"
        raise NotRight(msg)
    margin = 1 / math.hypot(*w)
    return f"the nearest sample has the value ±1, and so the margin is 1/‖w‖ = {margin:.4g}"


@judge(38)
def features(answer: Any) -> str:
    """Three features whose inner product is (u·v)²."""
    phi = function(answer, "of a vector of two numbers that returns three")
    rng = np.random.default_rng(0)
    for u, v in rng.integers(-4, 5, (20, 2, 2)).astype(float):
        mapped = [vector("what it returns", phi(each.copy()), 3) for each in (u, v)]
        wanted, found = Fraction(float(u @ v)) ** 2, dot(*mapped)
        if not close(found, wanted):
            pair = f"u = {point(map(Fraction, u))}, v = {point(map(Fraction, v))}"
            msg = (
                f"for {pair} the product of the features is {told(found)}, (u·v)² is {told(wanted)}"
            )
            raise NotRight(msg)
    return "φ(u)·φ(v) = (u·v)² for all pairs tried: the kernel computes it without the features"


@judge(39)
def network(answer: Any) -> str:
    """Three units that compute XOR."""
    units = [parts(unit, "w, k") for unit in parts(answer, "hidden1, hidden2, output")]
    made = [(vector("w", w, 2), number("k", k)) for w, k in units]
    seen = set()
    for x in product((0, 1), repeat=2):
        inputs = tuple(map(Fraction, x))
        hidden = tuple(Fraction(dot(w, inputs) >= k) for w, k in made[:2])
        seen.add(hidden)
        fires = dot(made[2][0], hidden) >= made[2][1]
        if fires != (x[0] != x[1]):
            does = "fires but should not" if fires else "does not fire but should"
            msg = f"for x = {x} the hidden units give {point(hidden)}, and the output {does}"
            raise NotRight(msg)
    corners = ", ".join(point(corner) for corner in sorted(seen))
    return (
        f"it is right on all four inputs. The hidden units map them to {corners}, and these can be "
        "separated by one line"
    )


@judge(40)
def idle_sample(answer: Any) -> str:
    """One sample that leaves the best line as it is, and one that changes it."""
    for name, sample in zip(("stays", "changes"), parts(answer, "stays, changes"), strict=True):
        x, side = parts(sample, "x, y")
        x, side = vector("x", x, 2), label("y", side)
        value = side * sum(x)
        # The best line x1 + x2 = 0 stays the best while nobody is nearer to it than √2.
        if (value >= 2) != (name == "stays"):
            away = told(float(value) / math.sqrt(2))
            ends = "so it changes the line" if name == "stays" else "so the line stays"
            msg = (
                f"{point(x)} with label {signed(side)} has y(w·x + b)/‖w‖ = {away} for the best "
                f"line; for the other samples that is √2 = 1.414 or more, {ends}"
            )
            raise NotRight(msg)
    return (
        "a sample on its own side and no nearer than the margin leaves the best line alone; any "
        "other makes it move (or there is none any more). Only the support vectors count"
    )


@judge(41)
def trade(answer: Any) -> str:
    """Two C: with the smaller one training error, with the larger none."""
    small, large = parts(answer, "C1, C2")
    small, large = number("C1", small), number("C2", large)
    if not 0 < small < large:
        msg = f"C1 = {told(small)} and C2 = {told(large)}: give 0 < C1 < C2"
        raise NotRight(msg)
    from rosenblatt.margin.estimator import SoftMarginClassifier

    X, y = DATA[41]()
    models = [SoftMarginClassifier(C=float(C)).fit(X, y) for C in (small, large)]
    errors = [model.n_errors_ for model in models]
    if errors[0] != 1 or errors[1] != 0:
        found = f"{count(errors[0], 'training error')}, with C2 {errors[1]}"
        msg = f"with C1 there are {found}: give values with 1 and 0"
        raise NotRight(msg)
    widths = [1 / abs(float(model.coef_[0, 0])) for model in models]
    return (
        f"with C1 the sample at 3 is given up and the margin is {widths[0]:.3g}; with C2 all are "
        f"on their sides and the margin is {widths[1]:.3g}"
    )


@judge(42)
def dual_counters(answer: Any) -> str:
    """Mistake counters of a kernel perceptron."""
    X, y = exact_data(42)
    found = vector("the counts", answer, 3)
    alpha, epochs = _kernel_perceptron(X, y)
    if list(found) != alpha:
        values = [_value(X, y, list(found), x) for x in X]
        right = all(v * s > 0 for v, s in zip(values, y, strict=True))
        then = "and separate the samples, but the run ends elsewhere" if right else "on wrong sides"
        msg = f"these counters give the values {point(values)}, {then}"
        raise NotRight(msg)
    return (
        f"{sum(alpha)} mistakes in {epochs} epochs, the last without any; the values at −1, 0 and "
        f"1 are {point(_value(X, y, list(map(Fraction, alpha)), x) for x in X)}"
    )


def _value(X: tuple[Row, ...], y: list[int], alpha: list[Any], x: Row) -> Fraction:
    """``Σ α y K(x_i, x)`` with the polynomial kernel of degree 2."""
    terms = (a * s * (1 + dot(z, x)) ** 2 for a, s, z in zip(alpha, y, X, strict=True))
    return sum(terms, Fraction(0))


def _kernel_perceptron(X: tuple[Row, ...], y: list[int]) -> tuple[list[int], int]:
    alpha, epochs, wrong = [0] * len(X), 0, True
    while wrong:
        wrong, epochs = False, epochs + 1
        for j, x in enumerate(X):
            if y[j] * _value(X, y, alpha, x) <= 0:
                alpha[j] += 1
                wrong = True
    return alpha, epochs


@judge(43)
def refuted(answer: Any) -> str:
    """Points and weights that prove that tanh(x·y) is no inner product."""
    X, v = parts(answer, "X, v")
    rows = table("X", X)
    weights = floats((vector("v", v, len(rows)),))[0]
    points = floats(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        K = np.tanh(points @ points.T)
        value, size = float(weights @ K @ weights), float(abs(weights) @ abs(K) @ abs(weights))
    if not math.isfinite(size):
        msg = "these numbers are too large for floats: give smaller ones"
        raise NotRight(msg)
    if value >= -1e-12 * size:
        least = float(np.linalg.eigvalsh(K)[0])
        chance = (
            f"their matrix has the eigenvalue {least:.3g}, so other weights would do"
            if least < -1e-9
            else "nor do any other weights refute it on these points"
        )
        msg = f"Σ v_i v_j K(x_i, x_j) is {value:.4g}, not negative; {chance}"
        raise NotRight(msg.replace("-", "−"))
    return (
        f"Σ v_i v_j K(x_i, x_j) = {value:.4g} is negative. If K were φ(x)·φ(y), it would be "
        "‖Σ v_i φ(x_i)‖²: no square of a length is negative".replace("-", "−")
    )

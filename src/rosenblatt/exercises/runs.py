"""Judges of the exercises on runs, mistakes and bounds: they replay the run without rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from rosenblatt.exercises.forms import (
    NotRight,
    Row,
    Rows,
    close,
    dot,
    number,
    parts,
    point,
    samples,
    told,
    vector,
)
from rosenblatt.exercises.hyperplanes import (
    EIGHT,
    exact_data,
    line,
    refuse_unless_separating,
    verdict_on,
)
from rosenblatt.exercises.judging import given, judge
from rosenblatt.exercises.textbook import Run, signed_samples, train
from rosenblatt.results import Separable
from rosenblatt.visible import count

given(26, [[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, -1, 1, -1])
given(27, [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, 1])
given(28, EIGHT, [1, 1, 1, 1, -1, -1, -1, -1])
given(29, EIGHT, [1, 1, 1, 1, -1, -1, -1, -1])
given(30, [[0, 0], [1, 2], [2, 1], [3, 4], [4, 3]], [-1, -1, -1, 1, 1])
MOST, WORK = 5000, 5_000_000  # epochs, and products in all of them: a second or two


def run_on(X: Rows, y: list[int], *, bias: bool = True) -> Run:
    """A run from zero, in the order given."""
    most = min(MOST, WORK // (len(X) * (len(X[0]) + 1)))
    return train(signed_samples(X, y, bias=bias), most=most)


def _hyperplane(theta: Row) -> str:
    return f"w = {point(theta[:-1])}, b = {told(theta[-1])}"


@judge(26)
def by_hand(answer: Any) -> str:
    """Where a run on four points ends."""
    X, y = exact_data(26)
    found, run = vector("the answer", answer, 3), run_on(X, y)
    if found != run.last:
        refuse_unless_separating(X, y, found[:2], found[2])
        msg = f"{_hyperplane(found)} separates the samples, but the run ends elsewhere"
        raise NotRight(msg)
    return (
        f"the run makes {count(len(run.mistakes), 'mistake')}, on the samples "
        f"{', '.join(str(i + 1) for _, i in run.mistakes)}, and passes through "
        f"{', '.join(point(theta) for _, theta in run.path())}"
    )


@judge(27)
def counters(answer: Any) -> str:
    """How often each sample of OR is a mistake."""
    X, y = exact_data(27)
    found, run = vector("the counts", answer, 4), run_on(X, y)
    if list(found) != run.counts():
        rows = [(*x, Fraction(1)) for x in X]
        made = [
            dot([a * s for a, s in zip(found, y, strict=True)], c) for c in zip(*rows, strict=True)
        ]
        counts = run.counts()
        i = next(i for i, (a, b) in enumerate(zip(found, counts, strict=True)) if a != b)
        msg = (
            f"with these counts Σ α y (x, 1) is {_hyperplane(tuple(made))}; sample {i + 1} is a "
            f"mistake {'more' if found[i] < counts[i] else 'less'} often than {told(found[i])}"
        )
        raise NotRight(msg)
    return (
        f"{len(run.mistakes)} mistakes in {run.epochs} epochs, the last without any, and Σ α y (x, "
        f"1) is where the run ends: {_hyperplane(run.last)}"
    )


def _run_from(start: Row, rate: Fraction) -> Row:
    X, y = exact_data(28)
    run = train(signed_samples(X, y), [value / rate for value in start], most=MOST)
    if not run.separated:
        msg = f"with rate {told(rate)} the run does not end within {MOST} epochs: start nearer"
        raise NotRight(msg)
    return tuple(rate * value for value in run.last)


def _positive(name: str, value: Any) -> Fraction:
    found = number(name, value)
    if found <= 0:
        msg = f"{name} is {told(found)}: a learning rate is positive"
        raise NotRight(msg)
    return found


@judge(28)
def other_ends(answer: Any) -> str:
    """A start and two learning rates that lead to different lines."""
    X, y = exact_data(28)
    start, *rates = parts(answer, "start, eta1, eta2")
    start = vector("start", start, 3)
    eta = [_positive(name, rate) for name, rate in zip(("eta1", "eta2"), rates, strict=True)]
    if not any(start):
        msg = "from zero weights the learning rate only scales the result: the line is the same"
        raise NotRight(msg)
    values = [s * (dot(start[:2], x) + start[2]) for x, s in zip(X, y, strict=True)]
    if min(values) > 0:
        msg = f"the start, {_hyperplane(start)}, separates already: begin with one that has errors"
        raise NotRight(msg)
    ends = [_run_from(start, rate) for rate in eta]
    if dot(*ends) > 0 and dot(*ends) ** 2 == dot(ends[0], ends[0]) * dot(ends[1], ends[1]):
        msg = f"both runs end with the same line, {_hyperplane(ends[0])} and a multiple of it"
        raise NotRight(msg)
    return (
        f"one run ends with {_hyperplane(ends[0])}, the other with {_hyperplane(ends[1])}: both "
        "separate, and a run stops at the first that does"
    )


@judge(29)
def best_line(answer: Any) -> str:
    """The line with the largest margin."""
    X, y = exact_data(29)
    w, b = line(answer)
    refuse_unless_separating(X, y, w, b)
    least = min(s * (dot(w, x) + b) for x, s in zip(X, y, strict=True))
    square = least**2 / dot(w, w)
    if not close(square, Fraction(2)):
        msg = (
            f"this line separates, and the nearest sample is {told(math.sqrt(square))} away; but "
            "another line keeps all samples farther away"
        )
        raise NotRight(msg)
    return (
        "every sample is at least √2 = 1.414 away, and no line does better: (1, 1) and (−1, −1) "
        "are only 2√2 apart"
    )


@judge(30)
def bad_order(answer: Any) -> str:
    """An order of five samples with many mistakes."""
    X, y = exact_data(30)
    order = vector("the order", answer, 5)
    if sorted(order) != [0, 1, 2, 3, 4]:
        msg = f"{point(order)} is no order of five samples: give 0, 1, 2, 3 and 4, each once"
        raise NotRight(msg)
    rows = [int(i) for i in order]
    made = len(run_on(tuple(X[i] for i in rows), [y[i] for i in rows]).mistakes)
    if made < 20:
        msg = f"in this order there are {made} mistakes: find one with 20 or more"
        raise NotRight(msg)
    return f"{made} mistakes instead of 8, on the same samples: the bound is for every order"


@judge(31)
def forgotten_one(answer: Any) -> str:
    """One feature, and more mistakes than R and γ of the x alone would allow."""
    X, y = samples(*parts(answer, "X, y"), columns=1, most=20)
    positive, negative = (
        [x for (x,), s in zip(X, y, strict=True) if s == side] for side in (1, -1)
    )
    gap = max(min(positive) - max(negative), min(negative) - max(positive))
    if gap <= 0:
        msg = "no point of the line has the classes on its two sides: there is no γ"
        raise NotRight(msg)
    R, gamma = max(abs(x) for (x,) in X), gap / 2
    allowed = (R / gamma) ** 2
    run = run_on(X, y)
    if len(run.mistakes) <= allowed:
        made = count(len(run.mistakes), "mistake")
        msg = f"R is {told(R)} and γ {told(gamma)}: {told(allowed)} are allowed, with {made} made"
        raise NotRight(msg)
    return (
        f"R is {told(R)} and γ {told(gamma)}, which would allow (R/γ)² = {told(allowed)}, but "
        f"there are {len(run.mistakes)} mistakes. The bias takes part in each, so R and γ must be "
        "those of the vectors (x, 1)"
    )


@judge(32)
def few_samples(answer: Any) -> str:
    """Few small samples, and a thousand mistakes."""
    X, y = samples(*parts(answer, "X, y"), most=4)
    for x in X:
        if any(value.denominator != 1 or abs(value) > 20 for value in x):
            msg = f"{point(x)} is not allowed: give whole numbers from −20 to 20"
            raise NotRight(msg)
    if not isinstance(verdict_on(X, y), Separable):
        msg = "no hyperplane separates these samples: then mistakes without end are no feat"
        raise NotRight(msg)
    made = len(run_on(X, y).mistakes)
    if made < 1000:
        msg = f"the samples are separable, with {count(made, 'mistake')} on the way: make it 1000"
        raise NotRight(msg)
    return f"{made} mistakes on {len(X)} samples: a narrow gap far from the origin takes long"


@judge(33)
def bound_attained(answer: Any) -> str:
    """Data and a vector for which the mistake bound is attained."""
    X, y, v = parts(answer, "X, y, v")
    rows, sides = samples(X, y)
    v = vector("v", v, len(rows[0]))
    least = min(s * dot(v, x) for x, s in zip(rows, sides, strict=True))
    if least <= 0:
        msg = f"v does not separate: its smallest y(v·x) is {told(least)}"
        raise NotRight(msg)
    square, radius = least**2 / dot(v, v), max(dot(x, x) for x in rows)
    run = run_on(rows, sides, bias=False)
    made, bound = len(run.mistakes), radius / square
    if made != bound and close(made, bound):
        msg = f"the bound is {made} only but for rounding: give whole numbers, which are exact"
        raise NotRight(msg)
    if made != bound:
        msg = f"R² is {told(radius)} and γ² is {told(square)}: the bound is {told(bound)}, and the "
        msg += f"run makes {count(made, 'mistake')}"
        raise NotRight(msg)
    if made < 4:
        msg = f"the bound is attained, with {count(made, 'mistake')}: now with four or more"
        raise NotRight(msg)
    return (
        f"R² = {told(radius)}, γ² = {told(square)}, and the run makes all {made} mistakes that the "
        "bound allows: it cannot be improved. (And so no vector has a larger γ than yours)"
    )


def _round(X: Rows, y: list[int]) -> Run:
    """A run that comes round."""
    run = run_on(X, y)
    if run.separated:
        msg = f"the run ends after {count(run.epochs, 'epoch')}: a hyperplane separates them"
        raise NotRight(msg)
    if run.cycle is None:
        msg = f"the weights have not come back within {run.epochs} epochs: use small whole numbers"
        raise NotRight(msg)
    return run


@judge(34)
def period_three(answer: Any) -> str:
    """Samples on which the weights come back every third epoch."""
    X, y = samples(*parts(answer, "X, y"), most=20)
    run = _round(X, y)
    assert run.cycle is not None
    entry, period = run.cycle
    if period != 3:
        msg = f"the weights after epoch {entry} come back after {count(period, 'epoch')}, not three"
        raise NotRight(msg)
    turn = [i for epoch, i in run.mistakes if epoch > entry]
    times = ", ".join(str(turn.count(i)) for i in range(len(X)))
    return (
        f"the weights after epoch {entry} are those after epoch {entry + 3}, without rounding. On "
        f"the way round the samples are mistakes {times} times, and these cancel"
    )


@judge(35)
def slow_pocket(answer: Any) -> str:
    """Samples on which the pocket's best vector comes late."""
    X, y = samples(*parts(answer, "X, y"), most=6)
    run = _round(X, y)
    assert run.cycle is not None
    best, late = len(X) + 1, 0
    for epoch, theta in run.path():
        sides = [1 if dot(theta[:-1], x) + theta[-1] > 0 else -1 for x in X]
        errors = sum(a != b for a, b in zip(sides, y, strict=True))
        if errors < best:
            best, late = errors, epoch
    if late < 100:
        msg = f"the pocket has its last vector, with {count(best, 'error')}, from epoch {late} on"
        raise NotRight(msg)
    entry, period = run.cycle
    again = "every epoch" if period == 1 else f"every {period} epochs"
    return (
        f"the pocket gets its last vector, with {count(best, 'error')}, in epoch {late}; that it "
        f"is the last is sure, for from epoch {entry} on the weights come back {again}"
    )

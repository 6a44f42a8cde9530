"""Verdicts where floating point ends: extremes, weights beyond floats, limits of time and work."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rosenblatt as rb
from commands import call, table
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.nearest.working_set import Clock, Samples
from rosenblatt.proofs import check, exact_weights
from rosenblatt.report import checks, judging
from rosenblatt.report.check_report import advice
from rosenblatt.report.sentences import meaning
from rosenblatt.results import Inseparable, QuasiSeparable, Separable, Undecided
from rosenblatt.running import clock
from rosenblatt.running.clock import Halt
from rosenblatt.running.threads import Team
from rosenblatt.separation import evidence, solver
from rosenblatt.separation import function as estimator
from rosenblatt.separation.programs import decide

LARGEST, SMALLEST = 1.797e308, 5e-324
EXTREME = [0.0, SMALLEST, -SMALLEST, 1e-323, LARGEST, -LARGEST, 1.0, -1.0, 2e-308, 1e154, 142.857]
P, Q = 84886727, 84886717


# The naive truth --------------------------------------------------------------------------------


def feasible(columns, right):
    """Whether weights, none negative, make a sum of columns: the simplex method in fractions."""
    D, m = len(right), len(columns)
    rows = []
    for i in range(D):
        sign = -1 if right[i] < 0 else 1
        unit = [Fraction(i == k) for k in range(D)]
        rows.append([sign * c[i] for c in columns] + unit + [sign * right[i]])
    costs = [-sum(row[j] for row in rows) for j in range(m)] + [Fraction(0)] * D
    costs.append(-sum(row[-1] for row in rows))
    basis = list(range(m, m + D))
    while (entering := next((j for j in range(m) if costs[j] < 0), None)) is not None:
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(rows)
            if row[entering] > 0
        ]
        leaving = min(ratios)[2]
        pivot = [v / rows[leaving][entering] for v in rows[leaving]]
        rows = [[a - row[entering] * b for a, b in zip(row, pivot, strict=True)] for row in rows]
        costs = [a - costs[entering] * b for a, b in zip(costs, pivot, strict=True)]
        rows[leaving], basis[leaving] = pivot, entering
    return costs[-1] == 0


def truth(X, y):
    """The verdict: which signed samples are minus a sum of the others (Farkas)."""
    sides = [1 if label else -1 for label in y]
    Z = [[s * Fraction(v) for v in (*row, 1.0)] for row, s in zip(X.tolist(), sides, strict=True)]
    covered = [feasible(Z, [-v for v in z]) for z in Z]
    if not any(covered):
        return rb.Verdict.SEPARABLE
    return rb.Verdict.INSEPARABLE if all(covered) else rb.Verdict.QUASI_SEPARABLE


def require_right(X, y):
    """A proved verdict, the true one, with the nearest floats for weights."""
    X = np.array(X, dtype=float)
    found = rb.separability(X, y)
    assert check(found, X, y).valid
    assert found.verdict is truth(X, y)
    if not isinstance(found, Separable):
        weights = exact_weights(found, X, y)
        assert found.weights.tolist() == [float(w) for w in weights]
        assert found.exact_weights in (None, weights)
    return found


@st.composite
def labelled(draw, numbers, most=9):
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 3))
    rows = st.lists(numbers, min_size=d, max_size=d)
    X = draw(st.lists(rows, min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    y[0], y[1] = 0, 1
    return X, y


# Extremes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "verdict"),
    [
        ([[0, 0], [-5e-324, 1e-323], [-1e-323, -1e-323], [0, 1e-323]], [0, 0, 1, 1], None),
        ([[-1, -LARGEST], [1, 5e-324], [1, -1], [1, 5e-324], [-1, 0]], [1, 0, 0, 1, 0], None),
        ([[0.0], [5e-324], [142.857]], [0, 1, 0], "INSEPARABLE"),
        ([[LARGEST], [5e-324], [-LARGEST]], [0, 1, 0], "INSEPARABLE"),
        ([[LARGEST], [5e-324], [-LARGEST]], [0, 1, 1], "SEPARABLE"),
        ([[LARGEST, 5e-324], [5e-324, LARGEST], [-LARGEST, 5e-324]], [0, 1, 0], None),
        ([[0.0], [5e-324]], [0, 1], "SEPARABLE"),
        ([[0, 0], [P * Q, 0], [0, 1], [P * Q, 1]], [0, 1, 1, 0], "INSEPARABLE"),
        ([[0, 0], [3, 0], [0, 3], [0.23164798481511584, 2.7683520151848846]], [0, 0, 0, 1], None),
    ],
)
def test_the_ends_of_floating_point(X, y, verdict):
    found = require_right(X, y)
    assert verdict in (None, found.verdict.name)


@settings(max_examples=25, deadline=None)
@given(labelled(st.sampled_from(EXTREME), most=6))
def test_the_largest_and_the_smallest_floats(data):
    require_right(*data)


@settings(max_examples=20, deadline=None)
@given(
    labelled(st.sampled_from([0, 1, P, Q, P * Q]) | st.integers(0, 3).map(lambda k: 1 + k * 2**-52))
)
def test_primes_and_gaps_of_one_ulp(data):
    require_right(*data)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda D: st.lists(
            st.lists(st.integers(-3, 3), min_size=D, max_size=D).filter(any), min_size=1, max_size=9
        )
    )
)
def test_the_exact_simplex_method(vectors):
    found = decide(vectors, lambda products, bits: None)
    columns = [[Fraction(v) for v in (*vector, 1)] for vector in vectors]
    cancels = feasible(columns, [Fraction(0)] * len(vectors[0]) + [Fraction(1)])
    assert cancels == (found.theta is None)
    if found.theta is not None:
        assert all(sum(a * b for a, b in zip(v, found.theta, strict=True)) > 0 for v in vectors)
        return
    chosen = [columns[i] for i in found.support]
    target = [Fraction(0)] * len(vectors[0]) + [Fraction(1)]
    assert feasible(chosen, target)
    for part in combinations(chosen, len(chosen) - 1):
        assert not part or not feasible(list(part), target)


def test_a_moment_curve():
    """Fifteen powers of t: rounding hides everything, and exact arithmetic must be quick."""
    t = np.linspace(0, 1, 200)
    X = np.column_stack([t**k for k in range(1, 16)])
    for every, verdict in ((14, "SEPARABLE"), (10, "INSEPARABLE")):
        y = np.arange(200) // every % 2
        found = rb.separability(X, y)
        assert found.verdict.name == verdict
        assert check(found, X, y).valid


# Weights that floats cannot hold ------------------------------------------------------------------


def test_weights_beyond_floats_are_fractions(tmp_path):
    X, y = np.array([[0.0], [5e-324], [142.857]]), [0, 1, 0]
    found = rb.separability(X, y)
    tiny = Fraction(5e-324) / Fraction(142.857)
    assert found.exact_weights == (1 - tiny, 1, tiny)
    assert found.weights.tolist() == [1.0, 1.0, 0.0]
    assert found.exact_spanning_weights is not None
    path = tmp_path / "found.json"
    rb.io.save_certificate(found, path, X, y)
    again = rb.io.load_certificate(path)
    assert again.exact_weights == found.exact_weights
    assert again.exact_spanning_weights == found.exact_spanning_weights
    assert check(again, X, y).valid
    for name in ("exact_weights", "exact_spanning_weights"):
        numbers = getattr(found, name)
        for wrong in (
            None,
            numbers[:-1],
            (*numbers[:-1], 2 * numbers[-1]),
            (-numbers[0], *numbers[1:]),
            tuple(map(float, numbers)),
        ):
            assert not check(replace(found, **{name: wrong}), X, y).valid
    assert not check(replace(found, weights=np.array([0.5, 1.0, 0.0])), X, y).valid
    assert not check(replace(found, weights=np.array([1.0, 1.0, np.inf])), X, y).valid


# Positions of a king and a rook against a king (file and rank of each) in which the side to move
# is mated in at most one move, or draws. From the UCI repository's "Chess (King-Rook vs. King)"
# by M. Bain and A. Hoff, as KEEL prepared it (kr-vs-k-zero-one_vs_draw): some of its rows.
LOST = """
c2a4a2 c2a6a1 c2a6a2 d3f1d1 d3g1d1 d3h1d1 c1d3a2 c1f3a2 c1g3a2 c1h3a2 c2b3a2 c2b4a1 c2c3a2
c2c4a1 c2c4a3 c2c6a1 c2d4a1 c2d4a3 c2d6a1 c2d8a1 c2e6a1 c2e7a1 c2g4a3 c2g6a1 c2g8a1 c2h7a1
c2h8a1 c3a5b1 c3e3d1 c3e7d1 d3f3e1 d3f6e1
"""
DRAWN = """
b2f6g6 c1a1a2 c1b3c4 c1b4a4 c1b7c7 c1c3d4 c1c4b4 c1c6d6 c1c7d8 c1c8c7 c1f2e1 c1f6g7 c1f7f6
c1g5f4 c1g8f8 c1h2a1 c1h6g7 c2b4a4 c2b4a5 c2d6d5 c2d7c6 c2d8c7 c2f2f3 c2f4e5 c2f5f4 c2f7f6
c2f7g6 c2f7g8 c2f8g7 c2g1f1 c2g1g2 c2h3h2 c3e3f4 c3f2e3 c3f2f3 c3g5f4 c3g5h6 c3h4h5 c3h6g7
d2a1a2 d2a7b6 d2b5c5 d2b7a8 d2b7c6 d2c4b5 d2c5d6 d2c7b7 d2c7d8 d2c8b7 d2c8c7 d2d7c8 d2e4d5
d2e5d4 d2f5g5 d2g4g5 d2g5f6 d2g6f5 d2g6h7 d2g7g6 d2g7h8 d2h3h2 d3a4b5 d3b4a4 d3b7b8 d3g7h7
d3h8g8 d4d2c2 d4f6g5 d4g1h2 d4h3g4 d4h5g5 d4h8g7
"""


def test_a_table_whose_weights_are_far_apart():
    """Standardised, the same number in many rows is rounded, and the sums that vanish are long."""
    positions = [*LOST.split(), *DRAWN.split()]
    columns = {str(k): np.array([p[k] for p in positions], dtype=object) for k in range(6)}
    for k in (1, 3, 5):
        columns[str(k)] = columns[str(k)].astype(float)
    X = rb.TableEncoder().fit_transform(columns)
    y = np.arange(len(positions)) < len(LOST.split())
    found = rb.separability(X, y)
    assert found.verdict is not rb.Verdict.UNDECIDED
    assert check(found, X, y).valid


def test_two_meetings_far_apart_join_in_fractions():
    """The second meeting needs a share of the first that no float holds beside its weights."""
    X = np.array([[0.0, 0], [1e-200, 0], [1e-200, 0], [2e-200, 0], [0, 1e200], [1e-200, -1e200]])
    y = [0, 1, 0, 1, 0, 1]
    require_right(X, y)
    X = np.vstack([X, [[3e-200, 1e200], [0, -1e200], [1e-250, 0], [1e-300, 1e-300]]])
    require_right(X, [*y, 1, 0, 0, 1])


def samples_of(X, y):
    source = MemorySource(as_rows(X), np.array(y, dtype=np.int32), X.shape[1])
    return Samples(source, Team(1), 1, Clock())


def test_meetings_join_in_fractions_as_in_floats():
    X = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0, 0], [1, 1, 0], [1, -1, 0], [0, 3, 1], [2, -5, 0]])
    y = [0, 0, 1, 0, 1, 0, 1]
    samples = samples_of(X, y)
    one = evidence.cancel(samples, np.array([0, 1, 2]), evidence.NONE)
    other = evidence.cancel(samples, np.array([3, 4]), one.rows[:-1])
    assert other is None  # there is no such sum
    samples = samples_of(np.vstack([X, [[1, 1, 0.0]]]), [*y, 1])
    other = evidence.cancel(samples, np.array([3, 7]), one.rows[:-1])
    floats = evidence.joined(samples, one, other)
    exact = evidence.joined(samples, evidence.in_fractions(samples, one), other)
    assert exact.weights.dtype == object
    assert exact.rows.tolist() == floats.rows.tolist()
    Z = samples.signed(exact.rows)
    for j in range(4):
        assert sum(w * Fraction(z) for w, z in zip(exact.weights, Z[:, j], strict=True)) == 0
    assert evidence.in_floats(samples, exact).weights.dtype == np.float64


# The bracket ------------------------------------------------------------------------------------


def require_bracket(found, X, y):
    """The widest margin lies in it: that of numbers, or of two points, exactly."""
    low, high = (Fraction(end) if math.isfinite(end) else end for end in found.bracket)
    if X.shape[1] == 1:
        x = [Fraction(v) for v in X[:, 0].tolist()]
        one = [v for v, label in zip(x, y, strict=True) if label]
        other = [v for v, label in zip(x, y, strict=True) if not label]
        assert low <= max(min(one) - max(other), min(other) - max(one)) / 2 <= high
        return
    square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(*X.tolist(), strict=True)) / 4
    assert low <= 0 or low**2 <= square
    assert high == math.inf or square <= high**2


def test_the_bracket_of_a_narrow_gap():
    X, y = np.array([[0.0], [1e-200]]), [0, 1]
    found = rb.separability(X, y, max_time=1e-9)
    assert isinstance(found, Undecided)
    assert found.why == Undecided.TIME
    require_bracket(found, X, y)
    low, high = found.bracket
    assert 0 < low <= high < 1e-199


@settings(max_examples=30, deadline=None)
@given(
    labelled(st.sampled_from(EXTREME) | st.integers(-3, 3) | st.floats(-1e300, 1e300)),
    st.integers(0, 25),
)
def test_the_bracket_contains_the_widest_margin(data, allowed):
    X, y = np.array(data[0], dtype=float), data[1]
    looks = iter(range(allowed))

    def look_up(self):
        if next(looks, None) is None:
            raise Halt(rb.StopReason.TIME_LIMIT)

    pairs = [(X[:, :1], y)] + [(X[:2], y[:2])] * (X.shape[1] > 1)
    for part, labels in pairs:
        looks = iter(range(allowed))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Clock, "look_up", look_up)
            found = rb.separability(part, labels, max_time=1000)
        if isinstance(found, Undecided):
            require_bracket(found, part, labels)


# Limits -------------------------------------------------------------------------------------------


def test_the_limit_of_work(monkeypatch):
    """The same in every run, and said; what is proved is a bracket."""
    t = np.linspace(0, 1, 200)
    X = np.column_stack([t**k for k in range(1, 16)])
    y = np.arange(200) // 10 % 2
    monkeypatch.setattr(clock, "MOST_WORK", 10**4)
    found = rb.separability(X, y)
    assert isinstance(found, Undecided)
    assert found.why == Undecided.WORK
    assert found.bracket == rb.separability(X, y).bracket
    assert found.bracket[0] < found.bracket[1] < np.inf
    assert meaning(found) == f"{Undecided.WORK} before the question was settled"


def test_why_a_question_is_open_is_stored_and_told(tmp_path, monkeypatch):
    open_ = Undecided((-1.0, 2.0), Undecided.WORK)
    path = tmp_path / "open.json"
    rb.io.save_certificate(open_, path, [[0.0], [1.0]], [0, 1])
    assert json.loads(path.read_text())["problems"][0]["why"] == Undecided.WORK
    assert rb.io.load_certificate(path).why == Undecided.WORK

    monkeypatch.setattr(checks, "separability", lambda *_, **__: open_)
    monkeypatch.chdir(tmp_path)
    name = table("t.csv", {"x": [1, 2, 3], "y": ["a", "b", "b"]})
    printed = " ".join(call("check", name, code=1).stdout.split())
    assert "undecided: the limit of exact arithmetic was reached before" in printed
    assert "more time" not in printed
    assert "leave out columns that nearly depend on others" in printed
    assert advice([]) == ""


def test_others_are_told_of_the_time_that_is_left(monkeypatch):
    """HiGHS warns of a negative limit."""
    limits = []

    def watched(*args, options, **kwargs):
        limits.append(options.get("time_limit"))
        return linprog(*args, options=options, **kwargs)

    monkeypatch.setattr("scipy.optimize.linprog", watched)
    X, y = np.array([[0.0, 0], [1, 0], [1, 0], [2, 0], [0, 1]]), [0, 0, 1, 1, 1]
    assert rb.separability(X, y).verdict is rb.Verdict.QUASI_SEPARABLE
    assert limits
    assert set(limits) == {None}
    limits.clear()
    rb.separability(X, y, max_time=50)
    assert limits
    assert all(0 < limit <= 50 for limit in limits)
    late = Clock(max_time=1e-9)
    with pytest.raises(Halt):
        late.options(10)
    with pytest.raises(Halt):
        Clock(max_time=5).afford(10)
    Clock().afford(10)


# Last resorts -------------------------------------------------------------------------------------


def test_a_failure_of_arithmetic_leads_to_the_slower_way(monkeypatch):
    """Whatever goes wrong, or does not hold, the next way relies on less."""
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    cares = []

    def failing(source, team, positive, clock, care, *more):
        cares.append(care)
        if len(cares) < 3:
            raise (OverflowError, AssertionError)[len(cares) - 1]
        return solver.find_certificate(source, team, positive, clock, care, *more)

    monkeypatch.setattr(estimator, "find_certificate", failing)
    assert rb.separability(X, y).verdict is rb.Verdict.INSEPARABLE
    assert cares == list(solver.Care)

    wrong = Separable(rb.Hyperplane([1.0, 0.0], 0.0), 1.0)
    monkeypatch.setattr(estimator, "find_certificate", lambda *_: wrong)
    found = rb.separability(X, y)
    assert isinstance(found, Undecided)
    assert found.bracket == (-np.inf, np.inf)
    assert "sample 0 lies on the hyperplane" in found.why


def test_a_verdict_that_fails_leaves_the_model(tmp_path, monkeypatch):
    def fails(*_, **__):
        msg = "no luck\nat all"
        raise RuntimeError(msg)

    monkeypatch.setattr(judging, "separability", fails)
    monkeypatch.chdir(tmp_path)
    name = table("t.csv", {"x": [1, 2, 3, 2], "y": ["a", "b", "a", "a"]})
    found = json.loads(call("fit", name, "-o", "m.skops", "--json").stdout)
    assert found["verdicts"] == ["UNDECIDED"]
    assert found["evidence"] == ["the verdict could not be had (RuntimeError: no luck at all)"]
    assert rb.io.load("m.skops")[-1].n_iter_ == found["epochs"]


def test_bounds_do_not_take_an_open_question_for_a_no(monkeypatch):
    from rosenblatt.bounds import function as bounds

    open_ = Undecided((-1.0, 2.0), Undecided.WORK)
    monkeypatch.setattr(bounds, "proved", lambda *_, **__: open_)
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    with pytest.raises(ValueError, match="could not be settled"):
        rb.mistake_bound(X, y)
    assert rb.mistake_bound(X, y, epochs=3).separable is None


def test_kinds_of_evidence_keep_their_order():
    """Positions of the first fields are part of the contract; what is new comes after them."""
    touch = QuasiSeparable([0], [1.0], [0.0], rb.Hyperplane([1.0], 0.0), [0], [0], [1.0])
    assert touch.exact is touch.exact_weights is touch.exact_spanning_weights is None
    overlap = Inseparable([0], [1.0], [0.0], [0], [1.0])
    assert overlap.exact_weights is overlap.exact_spanning_weights is None


def test_identical_in_the_columns_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = {"x": [1, 1, 2], "z": [5, 6, 7], "y": ["a", "b", "b"]}
    printed = " ".join(call("check", table("t.csv", cells), "--ignore", "z", code=1).stdout.split())
    assert "rows 1 and 2 are identical in the features used but have different classes" in printed

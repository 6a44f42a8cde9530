"""Best hyperplanes: what is proved is so, and what was tampered with is refused."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.svm import SVC

import rosenblatt as rb
from rosenblatt.certify import duality
from rosenblatt.certify.optimum import optimum_conditions
from rosenblatt.exact import dot_products, margin_of
from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.rationals import exact_sum
from rosenblatt.results import Conditions, Optimum

check, conditions = rb.certify.check, rb.certify.conditions
Plane = rb.Hyperplane


# ------------------------------------------------------------- the two values, in rational numbers


def fractions(values):
    return [Fraction(v) for v in np.asarray(values, dtype=float).tolist()]


def exact_primal(X, y, optimum, s=None):
    """The objective of a soft margin, straight from its definition."""
    w, b, C = fractions(optimum.hyperplane.w), Fraction(optimum.hyperplane.b), Fraction(optimum.C)
    s = fractions(np.ones(len(y)) if s is None else s)
    total = sum(v * v for v in w) / 2
    for x, label, weight in zip(X, y.tolist(), s, strict=True):
        value = sum(a * v for a, v in zip(fractions(x), w, strict=True)) + b
        total += C * weight / sum(s) * max(Fraction(0), 1 - label * value)
    return total


def exact_dual(X, y, rows, alpha):
    """The dual value of multipliers in rational numbers."""
    u = [Fraction(0)] * X.shape[1]
    for i, a in zip(rows, alpha, strict=True):
        u = [v + a * int(y[i]) * x for v, x in zip(u, fractions(X[i]), strict=True)]
    return sum(alpha) - sum(v * v for v in u) / 2


def feasible(y, rows, alpha, c):
    """Multipliers in rational numbers that are feasible, and as near as scaling comes."""
    alpha = [min(a, c[i]) for i, a in zip(rows, fractions(alpha), strict=True)]
    sums_ = {
        side: sum(a for i, a in zip(rows, alpha, strict=True) if y[i] == side) for side in (-1, 1)
    }
    least = min(sums_.values())
    return [a * least / sums_[int(y[i])] for i, a in zip(rows, alpha, strict=True)]


def claimed(plane, support, multipliers, C, X, y, s=None):
    """An optimum that claims what is true."""
    support, multipliers = np.asarray(support), np.asarray(multipliers, dtype=float)
    X, y = X if hasattr(X, "indptr") else np.asarray(X), np.asarray(y)
    problem, theta = duality.Judged(X, y, s, C), np.append(plane.w, plane.b)
    found = duality.prove(problem, theta, support, multipliers, 0.0)
    margin = found.margin
    return Optimum(plane, support, multipliers, C, *found[:3], margin=margin)


def accepted(optimum, X, y, s=None):
    found = check(optimum, X, y, s)
    assert found, found.why
    assert found.why.startswith("proved: no ")
    return found.why


def refused(optimum, X, y, why="", s=None):
    found = check(optimum, X, y, s)
    assert not found, found.why
    assert re.search(why, found.why), found.why
    assert "\n" not in found.why


# ----------------------------------------------------------------------------------- closed forms

TWO = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([-1, 1])
# w = 2(x1 - x2)/‖x1 - x2‖², multipliers 2/‖x1 - x2‖²
TWO_BEST = Optimum(Plane([6 / 25, 8 / 25], -1.0), [0, 1], [2 / 25, 2 / 25], None, 2 / 25, 2 / 25)

EIGHT = rb.datasets.eight_points()
EIGHT = EIGHT.X, EIGHT.y
# The nearest points of the hulls are (1, 1) and (-1, -1): the samples 0 and 4.
EIGHT_BEST = Optimum(Plane([0.5, 0.5], 0.0), [0, 4], [0.25, 0.25], None, 0.25, 0.25)

LINE = np.array([[0.0], [2.0], [5.0]]), np.array([-1, 1, 1])
LINE_BEST = Optimum(Plane([1.0], -1.0), [0, 1], [0.5, 0.5], None, 0.5, 0.5)

TWICE = np.array([[0.0], [0.0], [2.0], [2.0], [2.0]]), np.array([-1, -1, 1, 1, 1])
TWICE_BEST = Optimum(
    Plane([1.0], -1.0), [0, 1, 2, 3, 4], [0.2, 0.3, 0.1, 0.15, 0.25], None, 0.5, 0.5
)

HARD = {
    "two": (TWO_BEST, TWO),
    "eight": (EIGHT_BEST, EIGHT),
    "line": (LINE_BEST, LINE),
    "twice": (TWICE_BEST, TWICE),
}


@pytest.mark.parametrize("name", HARD)
def test_maximum_margins_in_closed_form(name):
    optimum, (X, y) = HARD[name]
    why = accepted(optimum, X, y)
    bound, own = map(float, re.findall(r"\d[\d.e+-]*", why.replace(")", "")))
    assert bound == pytest.approx(optimum.margin, rel=1e-12)
    assert own == pytest.approx(optimum.margin, rel=1e-12)
    assert own <= bound
    for value in vars(conditions(optimum, X, y)).values():
        assert value <= 1e-15


def test_a_soft_margin_on_two_points_with_every_multiplier_at_its_bound():
    # α = C/N each, w = α(x1 - x2), and any b with both samples inside the margin
    X, y = TWO
    optimum = Optimum(Plane([0.03, 0.04], -0.125), [0, 1], [0.01, 0.01], 0.02, 0.01875, 0.01875)
    assert accepted(optimum, X, y).startswith("proved: no objective below 0.01874999")
    assert conditions(optimum, X, y).complementarity <= 1e-15
    refused(replace(optimum, C=0.0199), X, y, "multiplier 0.01 of sample 0 exceeds its bound C s/N")
    # Once C is large, the maximum margin.
    large = replace(TWO_BEST, C=10.0)
    accepted(large, X, y)
    assert conditions(large, X, y).gap <= 1e-15


def test_a_soft_margin_may_have_no_direction():
    # XOR: nothing is better than w = 0.
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([-1, 1, 1, -1])
    optimum = Optimum(Plane([0.0, 0.0], 0.0), [0, 1, 2, 3], [0.5] * 4, 2.0, 2.0, 2.0)
    accepted(optimum, X, y)
    found = conditions(optimum, X, y)
    assert found == Conditions(0.0, 0.0, 0.0, 0.0, 0.0)
    refused(replace(optimum, C=None), X, y, "w is zero")


def test_what_is_said():
    X, y = TWO
    assert re.fullmatch(
        r"proved: no hyperplane has a margin above 2\.5(0{9,}\d+)? \(this one: 2\.5\)",
        check(TWO_BEST, X, y).why,
    )
    worse = claimed(Plane([0.3, 0.4], -1.25), [0, 1], [0.06, 0.06], 1.0, X, y)
    assert check(worse, X, y).why == (
        "proved: no objective below 0.0749999 (this one: 0.125001, at most 0.051 above the best)"
    )


def test_a_bound_is_printed_with_the_digits_that_tell_it_apart():
    X, y = TWO
    less = replace(TWO_BEST, multipliers=np.array([2 / 25, 2 / 25]), dual=0.0, gap=1e-9)
    near = replace(less, hyperplane=Plane([0.24 * (1 + 3e-10), 0.32], -1.0 - 2e-10))
    why = accepted(replace(near, primal=0.5 * near.hyperplane.norm**2), X, y)
    bound, own = re.findall(r"\d\.\d+", why)
    assert own < bound
    assert len(own) <= len("2.499999999770")


# ---------------------------------------------------------------------- against slow references


def soft_by_svc(X, y, C, s=None):
    """scikit-learn's soft margin; its C is ours divided by N."""
    N = len(y) if s is None else s.sum()
    there = np.arange(len(y)) if s is None else np.flatnonzero(s)  # others confuse its numbers
    weights = None if s is None else s[there]
    model = SVC(kernel="linear", C=C / N, tol=1e-11).fit(X[there], y[there], sample_weight=weights)
    order = np.argsort(model.support_)
    alpha = np.abs(model.dual_coef_[0][order])
    plane = Plane(model.coef_[0], model.intercept_[0])
    rows = there[model.support_[order]]
    return claimed(plane, rows[alpha > 0], alpha[alpha > 0], C, X, y, s)


def noisy(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ np.arange(1, d + 1) + rng.standard_normal(n) > 0, 1, -1)
    return X, y


@pytest.mark.parametrize(("C", "gap"), [(0.1, 1e-8), (3.0, 1e-8), (100.0, 1e-7), (1e4, 1e-5)])
def test_scikit_learns_soft_margin_is_optimal_to_its_tolerance(C, gap):
    X, y = noisy()
    optimum = soft_by_svc(X, y, C)
    accepted(optimum, X, y)
    assert 0 < optimum.gap < gap
    assert optimum.primal >= exact_primal(X, y, optimum)
    assert optimum.primal == pytest.approx(float(exact_primal(X, y, optimum)), rel=1e-10)
    found = conditions(optimum, X, y)
    assert max(found.feasibility, found.balance, found.stationarity) < 1e-12
    assert max(found.complementarity, found.gap) < gap


def test_the_dual_value_is_the_largest_that_a_general_solver_finds():
    X, y = noisy(20, 2)
    C, n = 5.0, len(y)
    K = (X * y[:, None]) @ (X * y[:, None]).T
    found = minimize(
        lambda a: 0.5 * a @ K @ a - a.sum(),
        np.full(n, 0.1),
        jac=lambda a: K @ a - 1,
        bounds=[(0, C / n)] * n,
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y.astype(float)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert soft_by_svc(X, y, C).dual == pytest.approx(-found.fun, rel=1e-7)


# -------------------------------------------------------------------------- nothing is too bold


@st.composite
def problems(draw):
    """Samples, feasible or nearly feasible multipliers, a hyperplane: not optimal at all."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    scale = 10.0 ** rng.integers(-6, 7, d)
    offset = draw(st.sampled_from([0.0, 1.0, 1e3, 1e5, 1e8]))
    X = (rng.standard_normal((n, d)) + offset) * scale
    y = rng.permutation(np.append([-1, 1], rng.choice([-1, 1], n - 2)))
    s = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.01]))
    C = float(10.0 ** rng.integers(-3, 6))
    total = n if s is None else s.sum()
    alpha = rng.random(n) * C * (np.ones(n) if s is None else s) / total
    w = rng.standard_normal(d) / scale
    plane = Plane(w, rng.standard_normal() - w @ X.mean(axis=0))
    return X, y, s, C, alpha, plane


@given(problems(), st.booleans())
def test_no_dual_value_is_above_any_primal_value(problem, precise):
    X, y, s, C, alpha, plane = problem
    rows = np.arange(len(y))
    given_ = duality.Judged(X, y, s, C)
    theta = np.append(plane.w, plane.b)
    low, high = duality.objective(given_, theta, precise)
    optimum = Optimum(plane, rows, alpha, C, high, 0.0)
    assert low <= exact_primal(X, y, optimum, s) <= high <= low * (1 + 3e-10) + 1e-300
    bound = duality.feasible(given_, rows, alpha, high, precise)
    below = bound.dual(bound.most)
    assert below <= low
    # What is proved of the multipliers is true of those that were scaled exactly, and sharp.
    weights = fractions(np.ones(len(y)) if s is None else s)
    c = [Fraction(C) * weight / sum(weights) for weight in weights]
    exact = exact_dual(X, y, rows, feasible(y, rows, alpha, c))
    assert below <= exact
    size = float(abs(exact)) + high
    assert below >= exact - Fraction(2e-10 * size)
    dual = float(np.nextafter(float(below), -np.inf))
    accepted(Optimum(plane, rows, alpha, C, high, dual), X, y, s)


@given(
    st.integers(0, 2**32),
    st.sampled_from([(1.0, 1e-7), (1.0, 1e-3), (1e3, 0.5), (1e5, 1.0), (1e8, 1.0)]),
    st.booleans(),
)
def test_an_objective_of_small_slacks_only(seed, sizes, precise):
    # All sums cancel but for what is left of the slacks, and w hardly counts.
    offset, slack = sizes
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 3)) + offset, np.tile([-1, 1], 4)
    w = rng.standard_normal(3)
    values = [sum(a * v for a, v in zip(fractions(x), fractions(w), strict=True)) for x in X]
    plane = Plane(w, float(1 - values[1]) - slack)
    optimum = Optimum(plane, [0, 1], [1.0, 1.0], 1e12, 1.0, 1.0)
    s = np.append([1e-30, 1.0], np.zeros(6))
    problem = duality.Judged(X, y, s, 1e12)
    low, high = duality.objective(problem, np.append(w, plane.b), precise)
    assert low <= exact_primal(X, y, optimum, s) <= high <= low * (1 + 2e-10)


@given(problems())
def test_multipliers_just_above_their_bounds_are_cut_off(problem):
    X, y, s, C, _, _ = problem
    X *= 1e-3 / np.abs(X).max()  # so that larger multipliers would be better
    weights = fractions(np.ones(len(y)) if s is None else s)
    c = [Fraction(C) * weight / sum(weights) for weight in weights]
    alpha = np.array([float(value) for value in c]) * (1 + 5e-13)
    rows = np.arange(len(y))
    bound = duality.feasible(duality.Judged(X, y, s, C), rows, alpha, C)
    below = bound.dual(bound.most)
    exact = exact_dual(X, y, rows, feasible(y, rows, alpha, c))
    assert exact - Fraction(1e-13 * C) <= below <= exact


@given(problems(), st.fractions(0, 1))
def test_products_in_twice_the_precision(problem, ratio):
    X, _, _, _, alpha, _ = problem
    before = dot_products.combination(X, np.arange(len(X)), alpha, False)
    after = before.times(ratio)
    assert (after.error >= before.error).all()
    for j in range(X.shape[1]):
        exact = ratio * (Fraction(before.hi[j]) + Fraction(before.lo[j]))
        off = abs(Fraction(after.hi[j]) + Fraction(after.lo[j]) - exact)
        assert off <= Fraction(after.error[j]) - Fraction(before.error[j]) / 2


@given(problems(), st.booleans())
def test_no_margin_is_above_half_the_distance_of_two_means(problem, precise):
    X, y, _, _, alpha, _ = problem
    rows = np.arange(len(y))
    bound = duality.feasible(duality.Judged(X, y, None, None), rows, alpha, 1.0, precise)
    means = []
    for side in (-1, 1):
        mine = fractions(alpha[y == side])
        points = [fractions(x) for x in X[y == side]]
        means.append([sum(a * x[j] for a, x in zip(mine, points, strict=True)) / sum(mine)
                      for j in range(X.shape[1])])  # fmt: skip
    square = sum((p - q) ** 2 for p, q in zip(*means, strict=True))
    assert 4 * Fraction(bound.margin()) ** 2 >= square
    assert 2 * Fraction(bound.best_dual(bound.most)) * square <= 4
    assert 2 * bound.best_dual(bound.most) * float(square) == pytest.approx(4, rel=3e-10)
    assert 4 * bound.margin() ** 2 == pytest.approx(float(square), rel=3e-10)


@given(problems())
def test_sums_in_twice_the_precision(problem):
    X, y, _, _, alpha, plane = problem
    rows = np.arange(len(y))
    for data in (X, csr_array(X)):
        total = dot_products.combination(data, rows, alpha, True)
        for j, column in enumerate(X.T):
            terms = [a * x for a, x in zip(fractions(alpha), fractions(column), strict=True)]
            off = abs(Fraction(total.hi[j]) + Fraction(total.lo[j]) - sum(terms))
            assert off <= Fraction(total.error[j]) <= sum(map(abs, terms)) / 2**75
        ((_, block),) = blocks(data)
        values, top = dot_products.form_values(block, np.append(plane.w, plane.b))
        for i, x in enumerate(X):
            terms = [a * v for a, v in zip(fractions(x), fractions(plane.w), strict=True)]
            terms.append(Fraction(plane.b))
            found = (Fraction(values.hi[i]) + Fraction(values.lo[i])) * 2**top
            assert abs(found - sum(terms)) <= Fraction(values.error[i]) * 2**top
        assert values.error.max() < 2**-75


def test_many_rows_at_once_are_summed_as_precisely():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 3)) + 1e8
    v = rng.random(30_000)
    total = dot_products.combination(X, np.arange(30_000), v, True)
    M = np.array([fractions(column) for column in X.T[:1]], dtype=object)
    exact = (M @ np.array(fractions(v), dtype=object))[0]
    assert abs(Fraction(total.hi[0]) + Fraction(total.lo[0]) - exact) <= Fraction(total.error[0])
    assert total.error[0] < exact * 2**-70


def test_the_sum_of_floats_is_exact():
    values = np.array([1e300, 1.0, 1e-300, 5e-324, 0.1])
    assert exact_sum(values) == sum(fractions(values))
    assert exact_sum(np.zeros(0)) == 0


# ------------------------------------------------------------------------------------- tampering


def soft_example():
    X, y = noisy()
    return soft_by_svc(X, y, 30.0), X, y


def hard_example():
    X, y, _ = separated()
    return hard_by_svc(X, y), X, y


def separated(n=60, d=3, seed=0, gap=0.5):
    """Samples at least `gap` from a hyperplane."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    y = np.where(X @ w > 0, 1, -1)
    return X + gap * y[:, None] * w, y, w


def canonical(plane, X, y):
    smallest = (y * (X @ plane.w + plane.b)).min()
    return Plane(plane.w / smallest, plane.b / smallest)


def hard_by_svc(X, y):
    soft = soft_by_svc(X, y, 1e6 * len(y))
    plane = canonical(soft.hyperplane, X, y)
    return claimed(plane, soft.support, soft.multipliers, None, X, y)


def nudged(optimum, X, y, by=1e-6):
    """Optima that claim what is not so, and what is to be said of them."""
    plane, rows, alpha = optimum.hyperplane, optimum.support, optimum.multipliers
    free = next(i for i in range(len(y)) if i not in rows and y[i] == y[rows[0]])
    moved = np.sort(np.append(rows[1:], free))
    order = np.argsort(np.append(rows[1:], free))
    yield replace(optimum, support=moved, multipliers=np.append(alpha[1:], alpha[0])[order]), "dual"
    yield replace(optimum, support=rows[1:], multipliers=alpha[1:]), "dual|one class"
    yield replace(optimum, multipliers=alpha[::-1]), "dual|exceeds its bound"
    yield replace(optimum, primal=optimum.primal * (1 - by)), "primal value is"
    yield replace(optimum, primal=optimum.primal * (1 + by)), "primal value is"
    yield replace(optimum, dual=optimum.dual + by * optimum.primal), "dual value is at most"
    w = plane.w * np.append(1 + by, np.ones(len(plane.w) - 1))
    yield replace(optimum, hyperplane=Plane(w, plane.b)), "primal value|canonical"
    yield replace(optimum, hyperplane=Plane(-plane.w, -plane.b)), "primal value|wrong side"


@pytest.mark.parametrize("example", [soft_example, hard_example])
def test_what_was_tampered_with_is_refused(example):
    optimum, X, y = example()
    accepted(optimum, X, y)
    assert optimum.gap < 1e-6
    for other, why in nudged(optimum, X, y, by=1e-5):
        refused(other, X, y, why)
    b = optimum.hyperplane.b
    moved = replace(optimum, hyperplane=Plane(optimum.hyperplane.w, b + 1e-3))
    refused(moved, X, y, "primal value|canonical")
    for i in optimum.support[:5]:
        labels = y.copy()
        labels[i] *= -1
        refused(optimum, X, labels)
    refused(optimum, X[::-1], y)
    refused(optimum, X, -y)
    refused(optimum, X + 0.01, y)
    refused(optimum, X[:, :2], y, "hyperplane has 3 weights instead of 2")


def test_C_is_part_of_the_claim():
    optimum, X, y = soft_example()
    for C in (29.999, 30.001, 3.0):
        refused(replace(optimum, C=C), X, y, "primal value|exceeds its bound")
    refused(replace(optimum, C=None), X, y, "sample \\d+ lies on the wrong side")
    for C in (0.0, -1.0, np.nan, np.inf, "1", True, 10**400):
        refused(replace(optimum, C=C), X, y, "neither None nor a positive number")
    accepted(replace(optimum, C=30), X, y)
    accepted(replace(optimum, C=np.float32(30)), X, y)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("hyperplane", None, "hyperplane is not a Hyperplane"),
        ("support", [1, 0], "support is not in ascending order"),
        ("support", [0, 0], "support is not in ascending order"),
        ("support", [0, 2], "support names samples that do not exist"),
        ("support", [-1, 1], "support names samples that do not exist"),
        ("support", [0], "multipliers has 2 entries for 1 samples"),
        ("support", [], "support names no samples"),
        ("multipliers", [0.08, -0.08], "multipliers has entries that are not positive"),
        ("multipliers", [0.08, 0.0], "multipliers has entries that are not positive"),
        ("multipliers", [0.08, np.nan], "multipliers has entries that are not positive"),
        ("multipliers", [0.08, np.inf], "multipliers has entries that are not positive"),
        ("primal", np.nan, "primal is not a number"),
        ("primal", np.inf, r"the primal value is 0\.08\d*, not inf"),
        ("primal", None, "primal is not a float"),
        ("dual", np.nan, "dual is not a number"),
        ("dual", "0.08", "dual is not a float"),
        ("dual", -np.inf, "dual is not finite"),
        ("gap", "0", "gap is not a float"),
        ("gap", -1e-3, "gap is not between 0 and 1"),
        ("gap", 1.5, "gap is not between 0 and 1"),
    ],
)
def test_fields_that_are_not_what_they_should_be(field, value, why):
    refused(replace(TWO_BEST, **{field: value}), *TWO, why)


def test_fields_that_were_changed_behind_its_back():
    X, y = TWO
    for field, value, why in (
        ("support", [0, 1], "support is not an array"),
        ("support", np.array([0.0, 1.0]), "support has dtype"),
        ("multipliers", np.array([[0.08, 0.08]]), "instead of one dimension"),
    ):
        optimum = replace(TWO_BEST)
        object.__setattr__(optimum, field, value)
        refused(optimum, X, y, why)
    plane = Plane(TWO_BEST.hyperplane.w, -1.0)
    object.__setattr__(plane, "b", np.nan)
    refused(replace(TWO_BEST, hyperplane=plane), X, y, "not finite")


def test_a_support_of_one_class_proves_nothing():
    X, y = LINE
    refused(replace(LINE_BEST, support=[1, 2]), X, y, "samples of one class only")


def test_samples_on_the_hyperplane_and_beyond():
    X, y = LINE
    for b, where in (
        (-2.0, "sample 1 lies on the hyperplane"),
        (-3.0, "sample 1 lies on the wron"),
    ):
        refused(replace(LINE_BEST, hyperplane=Plane([1.0], b)), X, y, where)
    refused(replace(LINE_BEST, hyperplane=Plane([2.0], -2.0)), X, y, "y.w·x . b. is 2, not 1")


def test_a_claim_may_be_modest():
    X, y = EIGHT
    accepted(replace(EIGHT_BEST, dual=0.1), X, y)
    # Multipliers of the maximum margin may have any size: their directions prove it.
    accepted(replace(EIGHT_BEST, multipliers=[1e-7, 1e-7]), X, y)
    assert conditions(replace(EIGHT_BEST, multipliers=[1e-7, 1e-7]), X, y).gap > 0.99
    far = Optimum(Plane([0.5, 0.5], -(2.0**24)), [0, 4], [1e-9, 1e-9], None, 0.25, 0.25)
    accepted(far, X + 2.0**24, y)


# ------------------------------------------------------------------------------------ containers


def test_however_the_samples_are_stored():
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (80, 4)).astype(float)
    y = np.where(X @ [1, 2, 0, -1] + rng.standard_normal(80) > 0, 1, -1)
    optimum = soft_by_svc(X, y, 20.0)
    found = conditions(optimum, X, y)
    long = csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for other in (
        X.astype(np.float32), X.astype(int), X.astype(np.int8), X.copy("F"), X[:, ::-1][:, ::-1],
        pd.DataFrame(X), csr_array(X), csr_matrix(X), long, coo_array(X),
        csr_array(X.astype(np.float32)), csr_array(X.astype(int)),
    ):  # fmt: skip
        accepted(optimum, other, y)
        refused(replace(optimum, dual=optimum.dual + 2e-9 * optimum.primal), other, y, "dual")
        again = conditions(optimum, other, y)
        for name, value in vars(found).items():
            assert getattr(again, name) == pytest.approx(value, rel=1e-6, abs=1e-13)
    accepted(optimum, X, np.where(y > 0, "yes", "no"))


@pytest.mark.parametrize("entries", [1, 7, 64])
def test_in_blocks_of_any_size(monkeypatch, entries):
    from rosenblatt.exact import blocks as module

    X, y = noisy()
    optimum = soft_by_svc(X, y, 20.0)
    monkeypatch.setattr(module, "ENTRIES", entries)
    for data in (X, csr_array(X)):
        accepted(optimum, data, y)
        assert conditions(optimum, data, y).gap < 1e-8
        problem = duality.Judged(data, y, None, 20.0)
        theta = np.append(optimum.hyperplane.w, optimum.hyperplane.b)
        for precise in (False, True):
            low, high = duality.objective(problem, theta, precise)
            assert low <= exact_primal(X, y, optimum) <= high
            bound = duality.feasible(problem, optimum.support, optimum.multipliers, 1.0, precise)
            assert bound.dual(bound.most) == pytest.approx(optimum.dual, rel=1e-12)


def test_samples_are_left_as_they_are():
    X, y = noisy()
    optimum = soft_by_svc(X, y, 20.0)
    X.setflags(write=False)
    sparse = csr_array(X)
    sparse.data.setflags(write=False)
    accepted(optimum, X, y)
    accepted(optimum, sparse, y)


# --------------------------------------------------------------------------------------- weights


def test_whole_weights_are_repeated_rows():
    X, y = noisy(40)
    rng = np.random.default_rng(1)
    s = rng.integers(0, 4, 40).astype(float)
    optimum = soft_by_svc(X, y, 25.0, s)
    accepted(optimum, X, y, s)
    refused(optimum, X, y, "exceeds its bound|primal")
    times = np.repeat(np.arange(40), s.astype(int))
    share = optimum.multipliers / s[optimum.support]
    every = np.zeros(40)
    every[optimum.support] = share
    rows = np.flatnonzero(every[times])
    repeated = replace(optimum, support=rows, multipliers=every[times][rows])
    accepted(repeated, X[times], y[times])
    one, other = conditions(optimum, X, y, s), conditions(repeated, X[times], y[times])
    for name, value in vars(one).items():
        assert getattr(other, name) == pytest.approx(value, abs=1e-12)
    # Only their ratios matter.
    for factor in (3.0, 1e-300, 1e300):
        accepted(optimum, X, y, s * factor)


def test_a_sample_without_weight_has_no_say():
    X, y = LINE
    s = np.array([1.0, 0.0, 2.0])
    # Without the sample in the middle the margin is 5/2.
    best = Optimum(Plane([0.4], -1.0), [0, 2], [0.08, 0.08], None, 0.08, 0.08)
    assert accepted(best, X, y, s).endswith("(this one: 2.5)")
    refused(best, X, y, "sample 1 lies on the wrong side")
    refused(LINE_BEST, X, y, "sample 1 has a multiplier, but its weight is 0", s)
    # Sample 2 is on the wrong side, and is counted as in the data.
    refused(replace(best, hyperplane=Plane([0.1], -1.0)), X, y, "sample 2 lies on the wrong", s)
    assert conditions(best, X, y, s).feasibility == 0
    assert conditions(best, X, y).feasibility == pytest.approx(1.2)
    soft = replace(LINE_BEST, C=9.0)
    refused(soft, X, y, "sample 1 has a multiplier, but its weight is 0", s)
    assert conditions(soft, X, y, s).feasibility == np.inf


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], r"sample_weight has shape \(2,\): give one number for each of 3 samples"),
        ([[1.0], [1.0], [1.0]], r"sample_weight has shape \(3, 1\)"),
        ([1.0, -1.0, 1.0], "negative or not finite"),
        ([1.0, np.nan, 1.0], "negative or not finite"),
        ([1.0, np.inf, 1.0], "negative or not finite"),
        ([0, 0, 0], "sample_weight is 0 for every sample"),
        (["1", "1", "1"], "sample_weight has dtype"),
    ],
)
def test_weights_that_are_none(weights, message):
    X, y = LINE
    for function in (check, conditions):
        with pytest.raises(ValueError, match=message) as caught:
            function(LINE_BEST, X, y, weights)
        assert "\n" not in str(caught.value)


def test_a_verdict_knows_no_weights():
    proof = rb.Separable(Plane([1.0], -1.0), 1.0)
    assert check(proof, *LINE)
    with pytest.raises(ValueError, match="sample_weight is for an Optimum: leave it out"):
        check(proof, *LINE, np.ones(3))


# --------------------------------------------------------------------------------- difficult data


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_columns_far_from_the_origin(scale, store):
    X, y, _ = separated(200, 3)
    grid = np.round(X * 2**20) / 2**20
    for optimum in (hard_by_svc(grid, y), soft_by_svc(grid, y, 50.0)):
        w, b = optimum.hyperplane.w, optimum.hyperplane.b
        far = (grid + 1e8) * scale
        # Powers of ten are no floats: this hyperplane is a little worse, and so it says.
        moved = Plane(w / scale, b - 1e8 * w.sum())
        if optimum.C is None:
            smallest = margin_of(far, y, [*moved.w, moved.b]) * moved.norm
            moved = Plane(moved.w / smallest, moved.b / smallest)
        C = None if optimum.C is None else optimum.C / scale**2
        alpha = optimum.multipliers / scale**2
        again = claimed(moved, optimum.support, alpha, C, store(far), y)
        accepted(again, store(far), y)
        assert again.gap < 1e-5
        assert again.dual * scale**2 == pytest.approx(optimum.dual, rel=1e-6)
        refused(replace(again, dual=again.dual + 1e-6 * again.primal), store(far), y, "dual")
        refused(replace(again, primal=again.primal * (1 + 1e-6)), store(far), y, "primal")
        if C is None:
            twice = Plane(moved.w * (1 + 1e-3), moved.b * (1 + 1e-3))
            refused(replace(again, hyperplane=twice), store(far), y, "canonical")


def test_columns_of_very_different_scale():
    X, y = noisy(80, 4)
    scale = np.array([1e-6, 1.0, 1e3, 1e6])
    optimum = soft_by_svc(X, y, 10.0)
    # Stretching a column shrinks its weight: neither value is what it was, both are proved.
    plane = Plane(optimum.hyperplane.w / scale, optimum.hyperplane.b)
    again = claimed(plane, optimum.support, optimum.multipliers, 10.0, X * scale, y)
    accepted(again, X * scale, y)
    assert again.primal == pytest.approx(float(exact_primal(X * scale, y, again)), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_scaling_all_samples_scales_the_proof(scale):
    X, y, _ = separated()
    two = scale * X
    optimum = hard_by_svc(X, y)
    plane = canonical(Plane(optimum.hyperplane.w / scale, optimum.hyperplane.b), two, y)
    again = claimed(plane, optimum.support, optimum.multipliers / scale**2, None, two, y)
    accepted(again, two, y)
    assert again.margin == pytest.approx(optimum.margin * scale, rel=1e-12)
    assert again.gap == pytest.approx(optimum.gap, abs=1e-12)


def test_a_margin_of_a_billionth():
    # Far apart in one column, a billionth in the other: the nearest samples are 0 and 1.
    tiny = 2.0**-30
    X = np.array([[0.0, 0.0], [0.0, 2 * tiny], [1e3, -1.0], [-1e3, 1.0]])
    y = np.array([-1, 1, -1, 1])
    plane = Plane([0.0, 1 / tiny], -1.0)
    alpha = 0.5 / tiny**2
    optimum = Optimum(plane, [0, 1], [alpha, alpha], None, alpha, alpha)
    accepted(optimum, X, y)
    assert optimum.margin == tiny
    assert conditions(optimum, X, y).gap <= 1e-15
    refused(replace(optimum, dual=alpha * (1 + 1e-8)), X, y, "dual value is at most")
    soft = claimed(plane, [0, 1], [alpha, alpha], 2.0**64, X, y)
    accepted(soft, X, y)
    assert soft.gap < 1e-12


def test_a_large_C_counts_the_last_bits_of_the_slacks():
    X, y, _ = separated()
    optimum = hard_by_svc(X, y)
    plane = Plane(optimum.hyperplane.w * (1 - 1e-13), optimum.hyperplane.b)
    again = claimed(plane, optimum.support, optimum.multipliers, 1e15, X, y)
    exact = exact_primal(X, y, again)
    assert exact > 1.001 * optimum.primal
    assert again.primal == pytest.approx(float(exact), rel=1e-10)
    accepted(again, X, y)


def test_numbers_beyond_floats_are_refused_and_do_not_raise():
    X = np.array([[1e300, 1.0], [-1e300, -1.0]])
    y = np.array([1, -1])
    plane = Plane([1e300, 1.0], 0.0)
    for C in (None, 1e300):
        optimum = Optimum(plane, [0, 1], [1e300, 1e300], C, 1e300, 1e300)
        refused(optimum, X, y)
    small = Optimum(Plane([1e-300, 0.0], 0.0), [0, 1], [5e-324, 5e-324], 1.0, 1.0, 1.0)
    refused(small, X, y)


# ------------------------------------------------------------------------------------ conditions


def naive_conditions(optimum, X, y, s=None):
    """Straight from the definitions, with every number in a list."""
    n, w, b, C = len(y), optimum.hyperplane.w, optimum.hyperplane.b, optimum.C
    s = np.ones(n) if s is None else s
    alpha = dict(zip(optimum.support.tolist(), optimum.multipliers.tolist(), strict=True))
    value = [y[i] * (sum(X[i] * w) + b) for i in range(n)]
    xi = [max(0.0, 1 - v) if C else 0.0 for v in value]
    u = sum(a * y[i] * X[i] for i, a in alpha.items())
    missed = sum(a * abs(value[i] - 1 + xi[i]) for i, a in alpha.items())
    primal = 0.5 * sum(w * w)
    off = [0.0]
    if C:
        c = C * s / sum(s)
        primal += sum(c * xi)
        missed += sum((c[i] - alpha.get(i, 0.0)) * xi[i] for i in range(n))
        off += [a / c[i] - 1 for i, a in alpha.items()]
    else:
        off += [1 - value[i] for i in range(n) if s[i] > 0]
    total = sum(alpha.values())
    gap = (primal - (total - 0.5 * sum(u * u))) / primal
    return Conditions(
        max(off),
        abs(sum(a * y[i] for i, a in alpha.items())) / total,
        np.sqrt(sum((w - u) ** 2) / sum(w * w)),
        missed / primal,
        max(0.0, gap),
    )


@given(problems(), st.booleans(), st.booleans())
def test_conditions_are_what_they_say(problem, hard, sparse):
    X, y, s, C, alpha, plane = problem
    rows = np.flatnonzero(alpha > np.median(alpha) / 2)
    if len(set(y[rows])) == 1:
        rows = np.arange(len(y))
    optimum = Optimum(plane, rows, 1.5 * alpha[rows], None if hard else C, 1.0, 1.0)
    expected = naive_conditions(optimum, X, y, s)
    data = csr_array(X) if sparse else X
    inner = optimum_conditions(optimum, data, y.astype(float), s)
    for found in (conditions(optimum, data, y, s), inner):
        for name, value in vars(expected).items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-6, abs=1e-9), name
            assert type(getattr(found, name)) is float


def test_conditions_need_an_optimum_that_fits():
    X, y = LINE
    for other, message in (
        (rb.Separable(Plane([1.0], -1.0), 1.0), "Separable is not an Optimum"),
        (TWO_BEST, "hyperplane has 2 weights instead of 1"),
        (replace(LINE_BEST, support=[0, 9]), "support names samples that do not exist"),
    ):
        with pytest.raises(ValueError, match=message):
            conditions(other, X, y)


# ----------------------------------------------------------------------------------------- files


def test_what_is_loaded_is_as_good_as_what_was_saved(tmp_path):
    for optimum, X, y in (soft_example(), hard_example()):
        rb.io.save_certificate(optimum, tmp_path / "c.json", X, y)
        again = rb.io.load_certificate(tmp_path / "c.json")
        assert check(again, X, y) == check(optimum, X, y)
        (problem,) = json.loads((tmp_path / "c.json").read_text())["problems"]
        assert problem["kind"] == "OPTIMUM"

"""Best hyperplanes: what is proved is so, and what was tampered with is refused."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

import rosenblatt as rb
from reference_optimum import (
    EIGHT,
    EIGHT_BEST,
    LINE,
    LINE_BEST,
    TWICE,
    TWICE_BEST,
    TWO,
    TWO_BEST,
    accepted,
    claimed,
    exact_dual,
    exact_primal,
    feasible,
    fractions,
    hard_example,
    noisy,
    nudged,
    problems,
    refused,
    soft_by_svc,
    soft_example,
)
from rosenblatt.exact import dot_products
from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.rationals import exact_sum
from rosenblatt.proofs import duality
from rosenblatt.results import Conditions, Optimum

check, conditions = rb.certify.check, rb.certify.conditions
Plane = rb.Hyperplane


# ------------------------------------------------------------- the two values, in rational numbers


# ----------------------------------------------------------------------------------- closed forms


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

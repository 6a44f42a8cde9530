"""The judges judged: on closed forms, and on answers that are wrong on purpose."""

import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from . import exact, judge, judge_margins
from .families import FAMILIES, SMALL, Case
from .judge_margins import Problem

HALF = Fraction(1, 2)
XOR = Case("xor", np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1]))
TWO = Case("two", np.array([[0.0], [2.0]]), np.array([0, 1]))
POSITIVE = np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 1.0], [2.0, 2.0]])
EIGHT = Case("eight", np.concatenate([POSITIVE, -POSITIVE]), np.repeat([1, 0], 4))
TOUCHING = Case("touching", np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1]))


def simplex(d, size):
    """The origin against its multiples of the unit vectors: size/√d apart."""
    X = np.concatenate([np.zeros((1, d)), size * np.eye(d)])
    return Case("simplex", X, np.array([0] + [1] * d))


def plane(*theta):
    return SimpleNamespace(w=np.array(theta[:-1]), b=theta[-1])


def kinds(faults):
    return [fault.kind for fault in faults]


def inseparable(case, **changes):
    fields = {
        "verdict": SimpleNamespace(name="INSEPARABLE"),
        "support": np.arange(4),
        "weights": np.full(4, 0.5),
        "point": np.array([0.5, 0.5]),
        "spanning_support": np.arange(4),
        "spanning_weights": np.full(4, 0.5),
    }
    return kinds(judge.certificate(case, SimpleNamespace(**{**fields, **changes})))


# Arithmetic -------------------------------------------------------------------------------------


def test_whole_numbers_of_floats():
    numbers, unit = exact.whole([0.5, 0.75, -3.0, 0.0])
    assert [n * unit for n in numbers] == [HALF, Fraction(3, 4), -3, 0]
    assert numbers == [2, 3, -12, 0]
    numbers, unit = exact.whole([5e-324, 1.797e308])
    assert [float(n * unit) for n in numbers] == [5e-324, 1.797e308]
    assert exact.whole([4.0, 12.0]) == ([1, 3], 4)


def test_systems():
    assert exact.solve([[2, 1], [1, 3]], [3, 5]) == [Fraction(4, 5), Fraction(7, 5)]
    assert exact.solve([[1, 2], [2, 4]], [1, 2]) is None
    assert exact.solve([[1], [2]], [1, 3]) is None
    assert exact.rank([[1, 2, 3], [2, 4, 6], [0, 1, 1]]) == 2
    assert exact.only_relation([[1, 0], [0, 1], [-2, -3]]) == [2, 3, 1]
    assert exact.only_relation([[1, 0], [0, 1]]) is None
    assert exact.only_relation([[1], [1], [-1]]) is None


def test_programs():
    assert exact.feasible([(1, 0), (0, 1)], [3, 4])
    assert not exact.feasible([(1, 0), (0, 1)], [3, -4])
    assert exact.feasible([(1, 1), (-1, 1)], [0, 2])
    assert not exact.feasible([(1, 1), (2, 1)], [0, 1])
    assert exact.cancels([(1, 0), (-1, 1), (0, -1)])
    assert not exact.cancels([(1, 0), (-1, 0), (0, 1)])


def test_roots():
    assert exact.compare_root(Fraction(7, 5), 2) == -1
    assert exact.compare_root(Fraction(3, 2), 2) == 1
    assert exact.compare_root(2, 4) == 0
    share = Fraction(1, 10**9)
    assert exact.near_root(2**0.5, 2, share)
    assert not exact.near_root(2**0.5 * (1 + 2e-9), 2, share)
    assert not exact.near_root(float("nan"), 2, share)
    for largest in (sys.float_info.max, float("inf")):
        assert not exact.near_root(largest, 2, share)
        assert exact.near_root(largest, Fraction(2) ** 2050, share)
    assert exact.near_root(0.0, Fraction(10) ** -660, share)
    assert not exact.near_root(-1.0, 1, share)


# Verdicts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "verdict", "apart"),
    [
        (TWO, "SEPARABLE", 4),
        (EIGHT, "SEPARABLE", 8),
        (XOR, "INSEPARABLE", 0),
        (TOUCHING, "QUASI_SEPARABLE", 0),
        (simplex(3, 6.0), "SEPARABLE", 12),
        (simplex(5, 1.0), "SEPARABLE", Fraction(1, 5)),
    ],
)
def test_verdict_and_distance_of_the_hulls(case, verdict, apart):
    assert case.verdict == verdict
    assert case.apart == apart


@pytest.mark.parametrize("family", SMALL, ids=lambda family: family.__name__)
def test_two_ways_to_a_verdict_agree(family):
    """Hulls have a distance exactly where the linear program finds them apart."""
    for seed in range(3):
        case = family(np.random.default_rng(seed))
        assert (case.apart > 0) == (case.verdict == "SEPARABLE")
        if case.verdict == "SEPARABLE":
            best = judge_margins.widest(case)
            assert min(judge.values(case, best)) == 1
            assert judge.margin2(case, best) == case.apart / 4


def test_families_make_what_they_promise():
    for name, family in FAMILIES.items():
        case = family(np.random.default_rng(1))
        assert case.name == name
        assert case.X.size <= 10_000
        assert np.isfinite(case.X).all()
        assert set(case.y.tolist()) == {0, 1}


def test_inseparable():
    assert inseparable(XOR) == []
    nudged = np.array([0.5, 0.5, 0.5, 0.5 + 1e-12])
    assert inseparable(XOR, weights=nudged) == ["weights are not the nearest floats"]
    dropped = {"support": np.arange(3), "weights": np.full(3, 0.5)}
    assert inseparable(XOR, **dropped) == ["the support has no unique positive weights that cancel"]
    moved = np.array([0.5, 0.5 + 1e-6])
    assert inseparable(XOR, point=moved) == ["the point is not where the hulls meet"]
    few = {"spanning_support": np.arange(3), "spanning_weights": np.full(3, 0.5)}
    assert inseparable(XOR, **few) == ["the spanning support cannot cancel"]
    uneven = np.array([0.5, 0.5, 0.5, 0.6])
    assert inseparable(XOR, spanning_weights=uneven) == ["the spanning weights do not cancel"]
    assert inseparable(TWO) == ["wrong verdict"]


def test_exact_weights_as_fractions():
    assert inseparable(XOR, exact_weights=(HALF,) * 4) == []
    wrong = (HALF, HALF, HALF, Fraction(1, 3))
    assert inseparable(XOR, exact_weights=wrong) == ["exact weights are wrong"]


def test_separable():
    found = SimpleNamespace(
        verdict=SimpleNamespace(name="SEPARABLE"),
        hyperplane=plane(1.0, -1.0),
        margin=1.0,
        exact=None,
    )
    assert not list(judge.certificate(TWO, found))
    found.margin = 1.0 + 1e-8
    assert kinds(judge.certificate(TWO, found)) == ["the margin of a verdict is wrong"]
    found.exact = (Fraction(1, 3), Fraction(-1, 3))
    assert kinds(judge.certificate(TWO, found)) == ["the margin of a verdict is wrong"]
    found.exact = (Fraction(1, 3), Fraction(0))
    assert kinds(judge.certificate(TWO, found)) == ["the hyperplane of a verdict does not separate"]
    assert kinds(judge.certificate(XOR, found)) == ["wrong verdict"]


def test_quasi_separable():
    found = SimpleNamespace(
        verdict=SimpleNamespace(name="QUASI_SEPARABLE"),
        support=np.array([0, 1]),
        weights=np.ones(2),
        point=np.zeros(1),
        hyperplane=plane(1.0, 0.0),
        on=np.array([0, 1]),
        spanning_support=np.array([0, 1]),
        spanning_weights=np.ones(2),
        exact=None,
    )
    assert not list(judge.certificate(TOUCHING, found))
    found.hyperplane = plane(1.0, 0.5)
    assert kinds(judge.certificate(TOUCHING, found)) == [
        "wrong side of a quasi-separating hyperplane"
    ]


def test_brackets():
    def faults(case, *ends):
        return bool(list(judge.bracket(case, *ends)))

    assert not faults(TWO, 0.5, 1.0)
    assert not faults(TWO, -np.inf, np.inf)
    assert faults(TWO, -1.0, 0.0)
    assert faults(TWO, 1.0 + 1e-15, 2.0)
    assert faults(TWO, 0.0, 1.0 - 1e-15)
    assert faults(TWO, 1.0, 0.0)
    assert not faults(XOR, -1.0, 0.0)
    assert faults(XOR, 0.1, 1.0)
    assert faults(XOR, -3.0, -0.6)  # along an axis it is -1/2
    assert not faults(TOUCHING, -1.0, 0.0)
    assert faults(TOUCHING, -2.0, -1.0)


# Margins ----------------------------------------------------------------------------------------


def test_maximum_margin_of_two_points():
    problem = Problem(TWO)
    best = [Fraction(1), Fraction(-1)]
    assert judge_margins.widest(TWO) == best
    assert problem.primal(best) == HALF
    assert problem.dual([0, 1], [0.5, 0.5]) == HALF
    assert problem.dual([0, 1], [3.0, 7.0]) == HALF  # balanced, and of any size
    assert problem.gap(best, [0, 1], [0.5, 0.5]) == 0
    assert problem.gap([Fraction(1), Fraction(-1, 2)], [0, 1], [0.5, 0.5]) == Fraction(3, 4)
    assert problem.gap([Fraction(1), Fraction(1)], [0, 1], [0.5, 0.5]) == 1
    assert problem.dual([0], [1.0]) == 0


def test_maximum_margin_of_a_simplex():
    case = simplex(4, 2.0)
    problem = Problem(case)
    best = judge_margins.widest(case)
    assert best == [Fraction(1)] * 4 + [Fraction(-1)]
    assert problem.primal(best) == 2
    assert problem.dual(range(5), [4.0, 1.0, 1.0, 1.0, 1.0]) == 2
    assert problem.gap(best, range(5), [1.0, 1.0, 1.0, 1.0, 0.0]) > 0
    assert judge_margins.floats_can(case)


def test_soft_margin_of_two_points():
    """Labels ±1 at ±1: ``w = 2c`` while slack is cheap, ``c = C/2``."""
    case = Case("two", np.array([[-1.0], [1.0]]), np.array([0, 1]))
    for C in (0.125, 0.5, 1.0):
        problem, w = Problem(case, C), min(1.0, C)
        theta = [Fraction(w), Fraction(0)]
        value = Fraction(w) ** 2 / 2 + Fraction(C) * (1 - Fraction(w))
        assert problem.primal(theta) == value
        assert problem.dual([0, 1], [C / 2, C / 2]) == value
        assert problem.gap(theta, [0, 1], [C / 2, C / 2]) == 0
    problem = Problem(case, 0.125, [1.0, 1e-300])
    assert problem.bound(1) == Fraction(0.125) * Fraction(1e-300) / (1 + Fraction(1e-300))
    assert problem.dual([0, 1], [1.0, 1.0]) < Fraction(1e-300)


def test_weights_of_zero_count_for_nothing():
    case = Case("three", np.array([[0.0], [2.0], [1.0]]), np.array([0, 1, 1]))
    problem = Problem(case, None, [1.0, 1.0, 0.0])
    assert problem.primal([Fraction(1), Fraction(-1)]) == HALF
    assert problem.dual([0, 2], [1.0, 1.0]) == 0
    assert Problem(case).primal([Fraction(1), Fraction(-1)]) is None


@pytest.mark.parametrize(
    ("theta", "gap", "closed", "kind"),
    [
        ((1.0, -1.0), 0.0, True, None),
        ((1.0, -0.5), 0.75, False, None),
        ((1.0, -0.5), 0.5, False, "gap_ below the exact gap"),
        ((1.0, -0.5), 1e-9, True, "GAP_CLOSED, but the exact gap is above tol"),
        ((1.0, -1.0), 0.1, True, "GAP_CLOSED with a gap above tol"),
        ((1.0, -1.0), -0.1, False, "a gap that is none"),
        ((1.0, 1.0), 1.0, False, None),
    ],
)
def test_gaps(theta, gap, closed, kind):
    found = SimpleNamespace(
        hyperplane=plane(*theta),
        support=np.array([0, 1]),
        multipliers=np.array([0.5, 0.5]),
        primal=0.5,
        dual=0.5,
    )
    faults = kinds(judge_margins.optimum(Problem(TWO), found, gap, 1e-8, closed))
    assert faults[:1] == ([kind] if kind else [])


def test_stated_values():
    fields = {"hyperplane": plane(1.0, -1.0), "support": np.array([0, 1])}
    fields["multipliers"] = np.array([0.5, 0.5])
    low = SimpleNamespace(**fields, primal=0.4999, dual=0.4999)
    assert kinds(judge_margins.optimum(Problem(TWO), low, 0.0, 1e-8, True)) == [
        "the stated primal value is wrong"
    ]
    high = SimpleNamespace(**fields, primal=0.5, dual=0.5001)
    assert kinds(judge_margins.optimum(Problem(TWO), high, 0.0, 1e-8, True)) == [
        "the stated dual value is wrong"
    ]


# Hyperplanes and perceptrons --------------------------------------------------------------------


def test_signs_of_hyperplanes():
    case = Case("cancels", np.array([[1e16, 1.0, -1e16]]), np.array([0]))
    theta = judge.fractions([1.0, 1.0, 1.0, -0.5])
    assert judge.values(case, theta) == [-HALF]
    assert not list(judge.sides(case, theta, [0.5], [1]))
    assert kinds(judge.sides(case, theta, [-0.5], [-1])) == [
        "the sign of a decision value is wrong"
    ]
    assert kinds(judge.sides(case, theta, [0.5], [-1])) == ["a prediction is on the wrong side"]
    margin = -0.5 / 3**0.5
    assert not list(judge.margin_of_hyperplane(case, theta, margin))
    for wrong in (-margin, 0.0, float("nan"), float("-inf")):
        assert list(judge.margin_of_hyperplane(case, theta, wrong))


def test_the_textbook_perceptron():
    """By hand: (w, b) is (1, -1) after the first point, (2, 0) after the second."""
    case = Case("two", np.array([[-1.0], [1.0]]), np.array([0, 1]))
    assert judge.perceptron(case, 1) == ([2, 0], 2, False)
    assert judge.perceptron(case, 9) == ([2, 0], 2, True)
    assert not list(judge.separated(case, [Fraction(2), Fraction(0)]))
    assert kinds(judge.separated(case, [Fraction(1), Fraction(1)])) == ["SEPARATED with a mistake"]
    assert not judge.perceptron(XOR, 50)[2]


def test_bounds():
    found = SimpleNamespace(R=5.0**0.5 * (1 + 1e-15), gamma=0.4472, bound=26.0)
    found.hyperplane = plane(2.0, -1.0)
    # Radius √5; the margin of (2, -1)/√5 is 1/√5: at most 25 mistakes.
    assert not list(judge.bound(TWO, found))
    found.R, found.gamma, found.bound = 2.236, 0.4473, 24.0
    assert kinds(judge.bound(TWO, found)) == [
        "R of a bound is too small",
        "γ of a bound is too large",
        "a bound is too small",
    ]

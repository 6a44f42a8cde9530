"""Mistake bounds: true for every run, with R and γ of the vectors that the perceptron adds."""

import math
import os
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file

import rosenblatt as rb
from reference import augment
from reference import recorded as fit
from rosenblatt import theory
from rosenblatt.bounds.solver import least_sum
from rosenblatt.exact import largest_square

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

small = st.integers(-4, 4).map(float)
ONLINE = ("cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake")


@st.composite
def integer_data(draw, separable=None):
    """Integers with both labels; separable by an integer hyperplane, or as it comes."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=small))
    if separable is None:
        y = draw(arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    else:
        bias = separable == "with a bias"
        theta = draw(arrays(np.float64, d + 1, elements=small)) * np.append(np.ones(d), bias)
        values = augment(X) @ theta
        X, y = X[values != 0], np.sign(values[values != 0]).astype(np.int64)
    assume(len(set(y.tolist())) == 2)
    return X, y


@st.composite
def runs(draw):
    """How to train: any order, any batch, any start, any learning rate that is exact."""
    options = {"eta0": 2.0 ** draw(st.integers(-3, 3)), "random_state": draw(st.integers(0, 99))}
    kind = draw(st.sampled_from(["online", "batch", "minibatch", "mixed"]))
    if kind == "online":
        return options | {"order": draw(st.sampled_from(ONLINE))}
    options |= {"update": kind, "order": draw(st.sampled_from(["cyclic", "shuffled"]))}
    if kind == "mixed":
        return options | {"shards": draw(st.sampled_from([1, 2]))}  # whose means are exact
    return options | ({"batch_size": draw(st.integers(1, 8))} if kind == "minibatch" else {})


def separated(X, y, fit_intercept=True):
    """The widest margin by SLSQP, started at a separating vector; the textbook's small QP."""
    Z = np.asarray(y)[:, None] * augment(X, fit_intercept)
    start = fit_theta(X, y, fit_intercept)
    start = start / (Z @ start).min()
    rule = {"type": "ineq", "fun": lambda v: Z @ v - 1, "jac": lambda v: Z}
    found = minimize(
        lambda v: v @ v / 2, start, jac=lambda v: v, constraints=[rule], method="SLSQP"
    )
    v = found.x / (Z @ found.x).min()
    return 1 / min(np.linalg.norm(v), np.linalg.norm(start))


def fit_theta(X, y, fit_intercept):
    plane = fit(X, y, fit_intercept=fit_intercept).fits_[0].last
    return np.append(plane.w, plane.b)


# ---------------------------------------------------------------------------------- closed forms


def test_two_points():
    """At a and b on the line: γ is half the distance of (a, 1) and -(b, 1) from the origin."""
    found = rb.mistake_bound([[30.0], [32.0]], [-1, 1])
    assert math.isclose(found.R, math.sqrt(32**2 + 1))
    # The segment from (32, 1) to (-30, -1) has its point nearest to the origin at this distance.
    gamma = 2 / math.sqrt(62**2 + 2**2)
    assert math.isclose(found.gamma, gamma, rel_tol=1e-9)
    assert math.isclose(found.bound, (32**2 + 1) / gamma**2, rel_tol=1e-8)
    assert found.most == math.floor(found.bound)
    assert math.isclose(-found.hyperplane.b / found.hyperplane.w[0], 31, rel_tol=1e-9)
    assert math.isclose(np.hypot(*found.hyperplane.w, found.hyperplane.b), 1)


def test_the_bound_is_false_without_the_one():
    """A bias takes part in every update: R = 32 and γ = 1 of the x alone allow too few mistakes."""
    X, y = np.array([[30.0], [32.0]]), np.array([-1, 1])
    run = fit(X, y)
    assert run.n_mistakes_ == 1893
    assert theory.mistake_bound_value(theory.radius(X, fit_intercept=False), 1.0) == 1024.0
    assert run.bound_report(X, y).holds


def test_every_mistake_that_it_allows():
    """Unit vectors say nothing about each other, so each has to be got wrong once."""
    X, y = np.eye(16), [1, -1] * 8
    report = fit(X, y, fit_intercept=False).bound_report(X, y)
    assert report.n_mistakes == report.bound.most == 16
    assert report.tightness == pytest.approx(1, rel=1e-8)
    assert report.within
    np.testing.assert_allclose(report.progress, report.progress_bound, atol=1e-6)
    np.testing.assert_allclose(report.length2, report.length2_bound, atol=1e-12)


def test_known_margins():
    data = rb.datasets.known_margin(200, 5, margin=0.07, random_state=3)
    found = rb.mistake_bound(data.X, data.y, fit_intercept=False)
    assert math.isclose(found.gamma, 0.07, rel_tol=1e-8)
    own = rb.mistake_bound(data.X, data.y, hyperplane=data.hyperplane)
    assert own.hyperplane == data.hyperplane
    assert math.isclose(own.gamma, 0.07, rel_tol=1e-12)


def test_the_margin_of_a_given_hyperplane_is_exact_where_floats_are_not():
    """1e16 + 1 - 1e16 is 0 in floats; the sample is on the right side all the same."""
    X, y = np.array([[1e16, 1.0, -1e16], [-1e16, -1.0, 1e16]]), [1, -1]
    plane = rb.Hyperplane([1.0, 1.0, 1.0])
    found = rb.mistake_bound(X, y, hyperplane=plane, fit_intercept=False)
    assert math.isclose(found.gamma, 1 / math.sqrt(3), rel_tol=1e-12)
    with pytest.raises(ValueError, match="does not separate"):
        rb.mistake_bound(X, [-1, 1], hyperplane=plane, fit_intercept=False)


# ---------------------------------------------------------------------------- what theory says


@given(
    data=integer_data("with a bias"),
    run=runs(),
    bias=st.booleans(),
    start=arrays(float, 4, elements=small),
)
def test_no_run_makes_more_mistakes(data, run, bias, start):
    X, y = data
    init = np.append(start[: X.shape[1]], start[-1] * bias)
    model = fit(X, y, init=init, fit_intercept=bias, max_epochs=2000, **run)
    report = model.bound_report(X, y)
    if bias:
        assert report.bound.separable
        found = rb.mistake_bound(
            X,
            y,
            init=init,
            eta0=run["eta0"],
            update=run.get("update", "online"),
            batch_size=run.get("batch_size"),
            shards=run.get("shards"),
        )
        assert found.bound == report.bound.bound
    assert model.n_mistakes_ <= report.bound.bound
    assert report.within
    assert report.progress_holds
    assert report.length2_holds


@given(data=integer_data("with a bias"), run=runs(), bias=st.booleans())
def test_the_arrays_are_those_of_the_path(data, run, bias):
    """Against a replay in plain rational numbers: integers and powers of two are exact."""
    X, y = data
    model = fit(X, y, fit_intercept=bias, max_epochs=60, **run)
    report = model.bound_report(X, y)
    updates, rows = model.trace_.updates, augment(X, bias)
    star = np.zeros(X.shape[1] + 1)
    if report.bound.hyperplane is not None:
        star = np.append(report.bound.hyperplane.w, report.bound.hyperplane.b)
    theta = np.zeros(len(star))
    table = report.table()
    assert {len(column) for column in table.values()} == {model.n_updates_ + 1}
    for t in range(model.n_updates_ + 1):
        assert report.length2[t] == float(sum(Fraction(v) ** 2 for v in theta.tolist()))
        assert report.progress[t] == pytest.approx(theta @ star, rel=1e-12, abs=1e-12)
        assert report.mistakes[t] == (updates.update < t).sum()
        for k in np.flatnonzero(updates.update == t):
            step = updates.eta * updates.step[k] / updates.shards
            theta = theta + step * rows[updates.sample[k]]
    m, b = report.mistakes, report.bound
    np.testing.assert_allclose(
        report.length2_bound, m / b.shards * b.batch_size * (b.eta0 * b.R) ** 2, rtol=1e-12
    )
    assert report.length2_rounding.max() <= 1e-9 * max(1.0, report.length2_bound.max())


@given(data=integer_data(), run=runs(), bias=st.booleans(), epochs=st.integers(1, 12))
def test_in_so_many_epochs_separable_or_not(data, run, bias, epochs):
    X, y = data
    model = fit(X, y, fit_intercept=bias, max_epochs=epochs, **run)
    report = model.bound_report(X, y)
    assert report.within
    assert report.progress_holds
    assert report.length2_holds
    if run["order"] in ("cyclic", "shuffled"):
        found = rb.mistake_bound(
            X,
            y,
            epochs=epochs,
            fit_intercept=bias,
            update=run.get("update", "online"),
            batch_size=run.get("batch_size"),
            shards=run.get("shards"),
        )
        assert model.n_mistakes_ <= found.bound <= epochs * len(y)
        assert found.bound <= report.bound.bound * (1 + 1e-6) or report.n_epochs < epochs


@given(
    data=integer_data(),
    run=runs(),
    weight=arrays(float, 12, elements=st.sampled_from([0, 1, 2, 0.5])),
)
def test_weights_lengthen_the_vectors(data, run, weight):
    """A weighted run is the run of the vectors weight*(x, 1), without those of weight 0."""
    X, y = data
    weight = weight[: len(y)]
    assume({-1, 1} <= set(y[weight > 0].tolist()))
    options = {"max_epochs": 30, "record": True} | run
    model = rb.Perceptron(**options, class_weight={1: 2.0}).fit(X, y, sample_weight=weight)
    report = model.bound_report(X, y, sample_weight=weight)
    assert report.holds
    whole = weight * np.where(y == 1, 2.0, 1.0)
    vectors = (whole[:, None] * augment(X))[whole > 0]
    assert math.isclose(report.bound.R, np.linalg.norm(vectors, axis=1).max())
    if report.bound.separable:
        star = np.append(report.bound.hyperplane.w, report.bound.hyperplane.b)
        assert report.bound.gamma == pytest.approx((y[whole > 0] * (vectors @ star)).min())


@given(data=integer_data("with a bias"))
def test_the_widest_margin_gives_the_smallest_bound(data):
    X, y = data
    found = rb.mistake_bound(X, y)
    assert found.gamma == pytest.approx(separated(X, y), rel=1e-6)
    plane = fit(X, y).fits_[0].last
    own = rb.mistake_bound(X, y, hyperplane=plane)
    assert own.bound >= found.bound * (1 - 1e-8)
    assert own.gamma == pytest.approx(
        (y * plane.decision_function(X)).min() / math.hypot(*plane.w, plane.b)
    )


@given(
    data=integer_data(),
    epochs=st.integers(1, 30),
    v=arrays(float, 4, elements=st.floats(-3, 3)),
    size=st.integers(1, 4),
)
def test_no_vector_gives_a_smaller_bound(data, epochs, v, size):
    """(√m·R‖v‖ + √E‖(1 - y v·x̃)₊‖)² for any v."""
    X, y = data
    found = rb.mistake_bound(X, y, epochs=epochs, update="minibatch", batch_size=size)
    Xt = augment(X)
    v = np.append(v[: X.shape[1]], v[-1])
    short = np.maximum(1 - y * (Xt @ v), 0)
    root = math.sqrt(min(size, len(y))) * found.R * np.linalg.norm(v)
    assert found.bound <= (root + math.sqrt(epochs) * np.linalg.norm(short)) ** 2 * (1 + 1e-6)


def test_a_hyperplane_that_does_not_separate_still_bounds_epochs():
    data = rb.datasets.flip_labels(rb.datasets.dunkers(random_state=0), 0.1, random_state=0)
    X, y = data
    plane = rb.datasets.dunkers(random_state=0).hyperplane
    own = rb.mistake_bound(X, y, hyperplane=plane, epochs=1000)
    best = rb.mistake_bound(X, y, epochs=1000)
    made = fit(X, y, max_epochs=1000).n_mistakes_
    assert made <= best.bound <= own.bound < 1000 * len(y)
    assert (own.separable, best.separable) == (None, False)


@pytest.mark.parametrize(("n", "d"), [(60, 3), (200, 30), (40, 1500)])
def test_the_trade_is_optimal(n, d):
    """At the minimum of a‖v‖ + b‖(1 - Zv)₊‖ the gradient is zero; by any method of solution."""
    rng = np.random.default_rng(n)
    Z = rng.standard_normal((n, d)) + 0.1
    Z[:5] = -Z[5:10]  # so that nothing separates them

    class Matrix:
        n, size = Z.shape

        def values(self, v):
            return Z @ v

        def gather(self, u):
            return Z.T @ u

        def gram(self, chosen):
            return Z[chosen].T @ Z[chosen]

    a, b = np.linalg.norm(Z, axis=1).max(), 5.0
    v = least_sum(Matrix(), a, b)
    short = np.maximum(1 - Z @ v, 0)
    assert v.any()
    assert short.any()
    gradient = a * v / np.linalg.norm(v) - b * Z.T @ short / np.linalg.norm(short)
    assert np.linalg.norm(gradient) < 2e-3 * a


# --------------------------------------------------------------------------------- the formulas


@given(
    R=st.floats(0.1, 100),
    ratio=st.floats(1, 30),
    length=st.floats(0, 100),
    share=st.floats(-1, 1),
)
def test_the_larger_root(R, ratio, length, share):
    """Up to it the two lemmas go together, beyond it they do not."""
    gamma, along = R / ratio, share * length
    bound = theory.mistake_bound_from_guess(R, gamma, along, length)
    assert bound >= 0

    def room(m):
        return math.sqrt(length**2 + m * R**2) - along - m * gamma

    assert room(bound) == pytest.approx(0, abs=1e-7 * (R + length) * ratio)
    assert room(bound * (1 + 1e-6) + 1e-6) < 1e-9 * length
    for part in (0.0, 0.3, 0.9):
        assert room(part * bound) >= -1e-9 * (R + length)


def test_formulas_agree_where_they_meet():
    assert theory.mistake_bound_from_guess(3.0, 0.5, 0.0, 0.0) == 36.0
    assert theory.mistake_bound_in_epochs(3.0, 0.5, 0.0, 7) == 36.0
    assert theory.mistake_bound_in_epochs(3.0, 0.5, 1.0, 4) == 100.0
    assert theory.mistake_bound_from_guess(0.0, 0.5, 1.0, 2.0) == 2.0
    assert theory.mistake_bound_from_guess(1.0, 0.5, 3.0, 3.0) == 0.0  # a guess along θ*


@pytest.mark.parametrize("bad", [{"gamma": 0.0}, {"R": -1.0}, {"length": 1.0, "along": 2.0}])
def test_formulas_refuse_nonsense(bad):
    with pytest.raises(ValueError, match=r"is not allowed|longer than"):
        theory.mistake_bound_from_guess(
            **({"R": 1.0, "gamma": 0.5, "along": 0.0, "length": 0.0} | bad)
        )


def test_a_guess_is_paid_for():
    X, y = rb.datasets.eight_points()
    bounds = [rb.mistake_bound(X, y, init=g).bound for g in (None, [-3, 1, 0], [-30, -30, 0])]
    assert bounds == pytest.approx([5.5, 8.0, 65.5], abs=0.06)
    smaller = rb.mistake_bound(X, y, init=[-3, 1, 0], eta0=0.125)
    assert smaller.bound == pytest.approx(30.0, abs=0.06)
    assert rb.mistake_bound(X, y, eta0=0.125).bound == bounds[0]


# -------------------------------------------------------------------------------------- the data

FORMS = {
    "dense": np.asarray,
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("flip", [0.0, 0.2])
def test_the_same_in_every_form(form, weighted, flip):
    data = rb.datasets.flip_labels(rb.datasets.dunkers(random_state=1), flip, random_state=0)
    X, y = np.round(data.X * 4) / 4, data.y
    weight = np.where(np.arange(len(y)) % 3, 1.0, 2.0) if weighted else None
    reports = []
    for data in (X, form(X)):
        model = rb.Perceptron(record=True, max_epochs=30).fit(data, y, sample_weight=weight)
        reports.append(model.bound_report(data, y, sample_weight=weight))
    one, other = reports
    assert one.bound.separable == (flip == 0)
    assert other.bound.R == one.bound.R
    assert other.bound.bound == pytest.approx(one.bound.bound, rel=1e-6)
    np.testing.assert_array_equal(other.length2, one.length2)
    assert other.holds


def test_the_path_may_be_asked_for_in_another_form():
    X, y = rb.datasets.dunkers(random_state=1)
    model = fit(X, y)
    dense, csr = model.bound_report(X, y), model.bound_report(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.length2, csr.length2)


def test_labels_of_any_kind_and_more_than_two():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, (20, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    y = np.repeat(["a", "b", "c"], 20)
    reports = fit(X, y).bound_report(X, y)
    assert [report.positive for report in reports] == ["a", "b", "c"]
    assert all(report.holds and report.bound.separable for report in reports)
    alone = rb.mistake_bound(X, y == "b")
    assert reports[1].bound.bound == pytest.approx(alone.bound, rel=1e-9)
    each = rb.mistake_bound(X, y)
    assert [one.bound for one in each] == [rb.mistake_bound(X, y == c).bound for c in "abc"]
    with pytest.raises(ValueError, match="init is about one problem, but y holds 3 classes: give"):
        rb.mistake_bound(X, y, init=[0.0, 0.0, 1.0])


@pytest.mark.parametrize("eps", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("bias", [True, False])
def test_the_narrowest_gaps_are_gaps(eps, bias):
    X = np.array([[1.0, 1.0], [1.0, 1.0 + eps]])
    found = rb.mistake_bound(X, [0, 1], fit_intercept=bias)
    assert found.separable
    assert 0 < found.gamma < eps
    assert found.bound >= (found.R / eps) ** 2


def test_runs_where_rounding_takes_part():
    """Tenths are no binary numbers: sums are rounded at every update, and allowed for."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, (40, 3)) * 0.1
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.05 > 0, 1, -1)
    report = fit(X, y, eta0=0.1).bound_report(X, y)
    assert report.holds
    assert 0 < report.length2_rounding[-1] < 1e-9 * report.length2[-1]
    assert 0 < report.progress_rounding[-1] < 1e-9 * report.progress[-1]


def test_a_batch_that_was_halted(monkeypatch):
    """Its mistakes were made, and count; but it never became an update."""
    from rosenblatt.perceptron import linear_rule as rule
    from rosenblatt.running.clock import Halt
    from rosenblatt.running.run import Run

    calls = []

    def halt(self):
        calls.append(1)
        if len(calls) == 6:
            raise Halt(rb.StopReason.TIME_LIMIT)

    monkeypatch.setattr(rule, "SEGMENT", 1)
    monkeypatch.setattr(Run, "look_up", halt)
    X, y = rb.datasets.flip_labels(rb.datasets.dunkers(200, random_state=0), 0.2, random_state=0)
    model = fit(X, y, update="batch", order="shuffled", random_state=0)
    report = model.bound_report(X, y)
    assert report.stop_reason is rb.StopReason.TIME_LIMIT
    assert report.mistakes[-1] < report.n_mistakes
    assert len(report.mistakes) == report.n_updates + 1
    assert report.holds


@pytest.mark.skipif("ROSENBLATT_DATA" not in os.environ, reason="ROSENBLATT_DATA names no folder")
@pytest.mark.parametrize(
    ("name", "separable"), [("agaricus.txt.train.gz", True), ("a9a.gz", False)]
)
def test_real_data(name, separable):
    path = Path(os.environ["ROSENBLATT_DATA"]) / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    X, y = (part[:8000] for part in load_svmlight_file(str(path)))
    report = fit(X, y, max_epochs=20).bound_report(X, y)
    assert report.bound.separable is separable
    assert report.holds
    assert 0.2 < report.tightness < 1


# --------------------------------------------------------------------------------- exact bounds


@pytest.mark.parametrize("scale", [1.0, 1e160, 1e-170])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_hold_in_rational_numbers(scale, fit_intercept):
    """R is the smallest float that is no less, gamma is no more, the bound no less."""
    rng = np.random.default_rng(7)
    for _ in range(12):
        d = int(rng.integers(1, 5))
        w = rng.standard_normal(d)
        X = rng.standard_normal((6, d)) * 10.0 ** rng.integers(-2, 3)
        X[0], X[1] = w, -w
        y = np.where(X @ w > 0, 1, -1)
        X *= scale
        found = rb.mistake_bound(X, y, fit_intercept=fit_intercept)
        Z = [[Fraction(v) for v in x] + [Fraction(1)] * fit_intercept for x in X.tolist()]
        theta = [*map(Fraction, found.hyperplane.w.tolist()), Fraction(found.hyperplane.b)]
        R2 = max(sum(v * v for v in z) for z in Z)
        values = [sum(a * b for a, b in zip(z, theta, strict=False)) for z in Z]
        gamma = min(int(s) * v for s, v in zip(y, values, strict=True))
        gamma2 = gamma**2 / sum(v * v for v in theta)
        assert Fraction(found.R) ** 2 >= R2 > Fraction(math.nextafter(found.R, 0.0)) ** 2
        assert 0 < Fraction(found.gamma) ** 2 <= gamma2
        assert found.bound == math.inf or Fraction(found.bound) >= R2 / gamma2


def test_a_radius_beyond_floats():
    X = np.array([[1.7e308] * 2, [1.0, 1.0]])
    found = rb.mistake_bound(X, [0, 1])
    assert found.R == found.bound == np.inf
    assert found.separable
    assert str(found).startswith("at most ∞ mistakes")
    assert rb.mistake_bound(X, [0, 1], epochs=3).bound == 6


def test_many_samples_of_the_same_length():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 30))
    X /= np.linalg.norm(X, axis=1)[:, np.newaxis]
    square = largest_square(X)
    assert 1 - 1e-14 < square < 1 + 1e-12
    assert all(sum(Fraction(v) ** 2 for v in x) <= square for x in X[:50].tolist())

"""Margins that rounding would spoil: whatever is claimed holds in rational numbers."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from reference_margin import exact_smallest
from rosenblatt import StopReason as Reason
from rosenblatt.nearest.max_margin import MaxMargin

CLOSE = [[0, 0], [3, 0], [0, 3], [0.23164798481511584, 2.7683520151848846]], [0, 0, 0, 1]
FOUR = [0.0] * 4, *(3 * np.eye(4)).tolist(), [2.3455332038098677, 0.6544667961901326, 0, 0]


def fitted(model, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(np.asarray(X, dtype=float), y, s)


def signed(y):
    return np.where(np.asarray(y) == np.unique(y)[1], 1, -1)


def exact_objective(model, X, y, s=None):
    """``½‖w‖² + Σ c_i max(0, 1 - y(w·x + b))``; of a maximum margin ``½/margin²``."""
    w, b = [Fraction(v) for v in model.coef_[0].tolist()], Fraction(model.intercept_[0])
    square = sum(v * v for v in w)
    X, y, C = np.asarray(X, dtype=float), signed(y), model.optimum_.C
    if C is None:
        return square / (2 * exact_smallest(X, y, model.coef_[0], float(b)) ** 2)
    s = [Fraction(1)] * len(y) if s is None else [Fraction(v) for v in s.tolist()]
    slack = Fraction(0)
    for x, side, weight in zip(X.tolist(), y.tolist(), s, strict=True):
        value = sum(Fraction(v) * a for v, a in zip(x, w, strict=True)) + b
        slack += weight * max(Fraction(0), 1 - side * value)
    return square / 2 + Fraction(C) * slack / sum(s)


def exact_dual(model, X, y):
    """The dual value of the multipliers, those of the heavier class scaled down."""
    best, y = model.optimum_, signed(y)
    alpha = best.exact_multipliers or [Fraction(a) for a in best.multipliers.tolist()]
    pairs = list(zip(best.support.tolist(), alpha, strict=True))
    hefts = {side: sum(a for i, a in pairs if y[i] == side) for side in (-1, 1)}
    least = min(hefts.values())
    u = [Fraction(0)] * model.n_features_in_
    for i, a in pairs:
        a = a * least / hefts[y[i]] * int(y[i])
        u = [v + a * Fraction(x) for v, x in zip(u, np.asarray(X, float)[i].tolist(), strict=True)]
    total, square = 2 * least, sum(v * v for v in u)
    return total - square / 2 if best.C is not None else total**2 / (2 * square)


def assert_proved(model, X, y, s=None):
    """`gap_` is not below the exact gap, and `GAP_CLOSED` keeps what it says."""
    primal, dual = exact_objective(model, X, y, s), exact_dual(model, X, y)
    gap = (primal - dual) / primal
    assert gap <= Fraction(model.gap_)
    if model.stop_reason_ is Reason.GAP_CLOSED:
        assert model.gap_ <= model.tol
        found = rb.certify.check(model.certificate_, X, y, s)
        assert found, found.why
    else:
        assert model.stop_reason_ is Reason.ROUNDING


@pytest.mark.parametrize(("X", "y"), [CLOSE, (FOUR, [0] * 5 + [1])])
def test_a_point_beside_the_face_of_a_simplex(X, y):
    model = fitted(rb.MaxMarginClassifier(on_inseparable="raise"), X, y)
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert model.n_errors_ == 0
    assert model.optimum_.C is None
    assert_proved(model, X, y)


def test_nearly_collinear_samples_are_separated():
    rng = np.random.default_rng(0)
    t, y = rng.normal(size=150), rng.integers(0, 2, 150)
    above = np.where(y > 0, np.nextafter(2 * t, np.inf), 2 * t)
    X = np.column_stack([t, above])
    model = fitted(rb.MaxMarginClassifier(), X, y)
    assert model.n_errors_ == 0
    assert_proved(model, X, y)


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_where_floats_cannot_even_take_a_step(layout):
    last = [0.5826228875850856, 0.08715420358706617, 0.0, 0.3302229088278483]
    X, y = np.vstack([np.zeros(4), np.eye(4), last]), [0] * 5 + [1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = rb.MaxMarginClassifier(on_inseparable="raise").fit(layout(X), y)
    assert model.optimum_.C is None
    assert model.margin_ > 0 or (model.stop_reason_ is Reason.ROUNDING and model.gap_ == 1)
    assert model.margin_ <= 0 or model.n_errors_ == 0


def test_a_margin_below_the_smallest_float():
    whole = [[3, -1, -3, -3], [0, -2, 1, 4], [1, -2, 2, 3], [-3, -1, -4, 4], [1, 3, 0, -2]]
    X, y = np.array(whole) * 5e-324, [0, 1, 0, 1, 1]
    model = fitted(rb.MaxMarginClassifier(on_inseparable="raise"), X, y)
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert model.n_errors_ == 0
    assert model.margin_ > 0
    assert_proved(model, X, y)


def test_where_no_floats_separate():
    """Along the face w·x must be below |b| by a bit at the corners, and above it in between."""
    X, y = [[0, 0], [1, 0], [0, 1], [0.09294572308428554, 0.9070542769157145]], [0, 0, 0, 1]
    verdict = rb.separability(X, y)
    assert verdict.verdict is rb.Verdict.SEPARABLE
    assert verdict.exact is not None
    with pytest.warns(ConvergenceWarning, match="no hyperplane that separates 0 from 1 was found"):
        model = rb.MaxMarginClassifier(on_inseparable="raise").fit(X, y)
    assert model.stop_reason_ is Reason.ROUNDING
    assert model.gap_ == 1
    assert model.optimum_.C is None
    assert model.margin_ <= 0


SIX = [[1, 2], [-3, 2], [0, 0], [8, -1], [10, -3], [5, -1]], [0, 0, 0, 1, 1, 1]
OTHERS = [[-1, -2], [-1, -1], [0, 3], [10, -1], [10, 1], [7, 0]], [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("C", [1e7, 1e8, 1e10, 1e12, 1e14, 1e20])
@pytest.mark.parametrize(("X", "y"), [SIX, OTHERS])
def test_slack_that_costs_a_fortune(X, y, C):
    """Nobody pays for it: the answer is the maximum margin."""
    model, hard = fitted(rb.SoftMarginClassifier(C=C), X, y), fitted(rb.MaxMarginClassifier(), X, y)
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert_proved(model, X, y)
    assert model.optimum_.primal == pytest.approx(hard.optimum_.primal, rel=2e-6)


@pytest.mark.parametrize("C", [1e-12, 1e8, 1e10, 1e12, 1e15])
@pytest.mark.parametrize("seed", range(5))
def test_noisy_samples_at_any_price(C, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    model = fitted(rb.SoftMarginClassifier(C=C), X, y)
    assert_proved(model, X, y)


@pytest.mark.parametrize("offset", [1e9, 1e12, 1e15])
def test_far_from_the_origin_the_bias_is_rounded_too(offset):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 50, size=(40, 3)).astype(float)
    y = (X @ [1.0, 2.0, -1.0] > 40).astype(int)
    X += offset
    model = fitted(rb.MaxMarginClassifier(), X, y)
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert model.n_errors_ == 0
    assert_proved(model, X, y)


@pytest.mark.parametrize("seed", range(8))
def test_numbers_a_few_bits_apart(seed):
    rng = np.random.default_rng(seed)
    k = np.sort(rng.choice(40, 8, replace=False))
    X, y = (1 + k * 2.0**-52)[:, np.newaxis], (np.arange(8) >= 4).astype(int)
    model = fitted(rb.MaxMarginClassifier(), X, y)
    assert model.n_errors_ == 0
    assert model.gap_ < 1e-4  # that much floats can do
    assert_proved(model, X, y)


@given(
    st.integers(0, 2**32),
    st.sampled_from([None, 1e-12, 1e-3, 1.0, 1e6, 1e15]),
    st.sampled_from([1e-160, 1.0, 1e160]),
    st.sampled_from([0.0, 1.0, 1e8]),
)
def test_whatever_is_claimed_holds(seed, C, scale, offset):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    X = (rng.integers(-3, 4, size=(n, d)) + offset) * scale
    y = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2)))
    s = None if C is None or rng.random() < 0.5 else 10.0 ** rng.integers(-20, 20, n)
    model = rb.MaxMarginClassifier() if C is None else rb.SoftMarginClassifier(C=C)
    fitted(model, X, y, s)
    if model.stop_reason_ is Reason.INSEPARABLE:
        assert rb.certify.check(model.certificate_, X, y)
    else:
        assert_proved(model, X, y, s)


def test_exact_multipliers_are_checked():
    X, y = CLOSE
    best = fitted(rb.MaxMarginClassifier(), X, y).optimum_
    assert best.exact_multipliers is not None
    for wrong in (
        best.exact_multipliers[:-1],
        tuple(-v for v in best.exact_multipliers),
        tuple(float(v) for v in best.exact_multipliers),
        (*best.exact_multipliers[:-1], best.exact_multipliers[-1] * 2),
    ):
        assert not rb.certify.check(replace(best, exact_multipliers=wrong), X, y)
    assert not rb.certify.check(replace(best, exact_multipliers=None), X, y)


@pytest.mark.parametrize(
    ("side", "point"),
    [
        (7.0, [1.4489040757871863, 5.551095924212814, 0.0, 0.0]),
        (3.0, [0.6544667961901326, 2.3455332038098677, 0.0, 0.0]),
    ],
)
def test_what_rounding_leaves_of_a_margin_is_accepted_too(side, point):
    X = [[0.0] * 4, *(side * np.eye(4)).tolist(), point]
    y = [0, 0, 0, 0, 0, 1]
    model = fitted(rb.MaxMarginClassifier(tol=1e-11), X, y)
    assert_proved(model, X, y)
    found = rb.certify.check(model.optimum_, X, y)
    assert found, found.why


def test_a_margin_of_primes_is_in_canonical_form():
    p, q = 94906249.0, 94906533718747.0
    X = [
        [1, 0, q, 0, 1], [p, 0, q, p, 0], [p, 0, 0, 1, -q], [-q, 0, p, 1, -q],
        [q, p, -q, -q, 0], [p, 1, 1, 1, p], [0, q, 1, 1, p], [0, 1, 1, 0, 0],
    ]  # fmt: skip
    y = [1, 0, 1, 0, 0, 1, 0, 0]
    for data in (np.array(X), csr_array(np.array(X))):
        model = rb.MaxMarginClassifier(tol=1e-8).fit(data, y)
        assert_proved(model, X, y)
        found = rb.certify.check(model.optimum_, data, y)
        assert found, found.why


def test_identical_samples_of_tiny_weights():
    X = np.array([[1.82292835077056e17, 1.0, 0.0]] * 2)
    weights = np.array([5.823232707713317e-131, 9.969558123886018e-80])
    model = fitted(rb.SoftMarginClassifier(C=22586671.25599061, tol=1e-5), X, [1, 0], weights)
    assert_proved(model, X, [1, 0], weights)


def test_floats_that_separate_are_found_with_a_bias_of_their_own():
    X = [
        [0.0, 0.0, 1.000000001e16, 1e16],
        [-9999999980000000.0, -9999999980000000.0, 0.0, -2e-07],
        [1e-07, 1.000000001e16, 3e-07, 1e-07],
        [-9999999980000000.0, -9999999980000000.0, -3e-07, 1e16],
        [-2e-07, -2e-07, 0.0, 3e-07],
        [2e-07, -2e-07, -3e-07, 1e16],
    ]
    y = [1, 0, 1, 1, 1, 0]
    model = fitted(rb.MaxMarginClassifier(tol=1e-4), X, y)
    assert exact_smallest(np.array(X), signed(y), model.coef_[0], float(model.intercept_[0])) > 0
    assert model.n_errors_ == 0


def test_an_objective_at_the_lower_end_of_floats_is_told_exactly():
    X = [[-0.8, -0.9], [-0.9, 0.3], [-1.8, -2.7], [2.2, 1.5], [1.3, 1.4], [-0.1, 0.2]]
    y, weights = [0, 0, 1, 0, 1, 1], np.array([1.3e299, 1e-164, 3e5, 1e9, 4e-69, 3e-262])
    model = fitted(rb.SoftMarginClassifier(C=0.02, tol=1e-4), X, y, weights)
    exact = exact_objective(model, X, y, weights)
    assert abs(Fraction(model.optimum_.primal) - exact) <= exact / 10**9


@pytest.mark.parametrize("separable", [True, False])
def test_a_solver_that_rounding_has_misled(monkeypatch, separable):
    """Whatever floats make of the data, a soft margin is no answer unless the proof is there."""
    run = MaxMargin.run

    def misled(self):
        reason = run(self)
        return Reason.ROUNDING if reason is Reason.INSEPARABLE else reason

    monkeypatch.setattr(MaxMargin, "run", misled)
    X = [[0, 0], [1, 0], [0, 1], [0.8982098114759643, 0.10179018852403576 if separable else 0.1]]
    model = rb.MaxMarginClassifier()
    with pytest.warns(ConvergenceWarning if separable else rb.NotSeparableWarning):
        model.fit(X, [0, 0, 0, 1])
    expected = Reason.ROUNDING if separable else Reason.INSEPARABLE
    assert model.stop_reason_ is expected
    assert (model.optimum_.C is None) is separable


def test_a_multiple_that_leaves_room_for_the_bias():
    """Near the best hyperplane no float is a b that separates; near a multiple of it one is."""
    point = [1.8905149582799086, 3.726458147153399, 0.19683630588464754, 1.1861905886820452]
    X = np.vstack([np.zeros(4), 7 * np.eye(4), point])
    y = np.array([0, 0, 0, 0, 0, 1])
    model = rb.MaxMarginClassifier()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert exact_smallest(X, signed(y), model.coef_[0], model.intercept_[0]) > 0
    assert model.margin_ > 0


def test_the_largest_float_among_samples_that_do_not_count():
    X = [[-1.0, -1.797e308], [1.0, 5e-324], [1.0, -1.0], [1.0, 5e-324], [-1.0, 0.0]]
    model = rb.MaxMarginClassifier().fit(X, [1, 0, 0, 1, 0], [0, 0, 1, 1, 1])
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert model.margin_ == pytest.approx(1 / 5**0.5)  # half the height of the triangle

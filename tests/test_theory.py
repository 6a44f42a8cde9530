"""The formulas: closed forms, and the inequalities that define them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from rosenblatt import SoftMarginClassifier, theory
from rosenblatt.datasets import eight_points
from rosenblatt.results import Hyperplane

small = st.integers(-6, 6).map(float)
labels = st.sampled_from([-1, 1])


@st.composite
def samples(draw):
    """Integer samples with labels; small numbers, so that many lie on the hyperplanes."""
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=small))
    return X, draw(arrays(np.int64, n, elements=labels))


@st.composite
def problems(draw):
    X, y = draw(samples())
    theta = draw(arrays(np.float64, X.shape[1] + 1, elements=small))
    return X, y, theta


def naive(X, y, theta):
    """One triple ``(x̃, y, θ·x̃)`` per sample, in plain Python."""
    for x, label in zip(X, y, strict=True):
        tilde = np.array([*x, 1.0])
        yield tilde, int(label), float(sum(t * v for t, v in zip(theta, tilde, strict=True)))


# Augmenting ----------------------------------------------------------------------------------


def test_augment_adds_a_last_column_of_ones():
    X = np.array([[1, 2], [3, 4]])
    assert theory.augment(X).tolist() == [[1.0, 2.0, 1.0], [3.0, 4.0, 1.0]]
    assert theory.augment(X).dtype == np.float64
    assert X.tolist() == [[1, 2], [3, 4]]


@given(problems(), small)
def test_augment_eliminates_the_threshold(problem, k):
    X, _, theta = problem
    w = theta[:-1]
    assert np.array_equal(X @ w > k, theory.augment(X) @ np.append(w, -k) > 0)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_augment_sparse(make, dtype):
    X = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3], [0, 0, 0]], dtype=dtype)
    S = theory.augment(make(X))
    assert S.format == "csr"
    assert sparse.isspmatrix(S) == sparse.isspmatrix(make(X))
    assert S.dtype == np.float64
    assert S.has_canonical_format
    assert np.array_equal(S.toarray(), theory.augment(X))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_augment_sparse_index_widths_and_spare_room(index):
    # Room beyond the last row, as an in-place `resize` leaves it.
    data, indices = np.array([5.0, 7.0, 99.0]), np.array([1, 0, 1], dtype=index)
    S = sparse.csr_array((3, 2))
    S.data, S.indices, S.indptr = data, indices, np.array([0, 1, 1, 2], dtype=index)
    assert theory.augment(S).toarray().tolist() == [[0, 5, 1], [0, 0, 1], [7, 0, 1]]
    assert theory.radius(S, fit_intercept=False) == 7.0


def test_augment_sparse_without_entries():
    assert theory.augment(sparse.csr_array((2, 3))).toarray().tolist() == [[0, 0, 0, 1]] * 2


@given(problems())
def test_unaugment_undoes_augment(problem):
    X, _, theta = problem
    h = theory.unaugment(theta)
    assert np.array_equal(h.decision_function(X), theory.augment(X) @ theta)
    assert h == Hyperplane(theta[:-1], theta[-1])


@pytest.mark.parametrize("theta", [[1.0], 3.0, [[1.0, 2.0]], []])
def test_unaugment_needs_weights_and_a_bias(theta):
    with pytest.raises(ValueError, match="the weights, then the bias"):
        theory.unaugment(theta)


# The radius ----------------------------------------------------------------------------------


def test_radius_closed_form():
    X = [[3, 4], [0, 0], [1, 1]]
    assert theory.radius(X, fit_intercept=False) == 5.0
    assert theory.radius(X) == math.sqrt(26)
    assert theory.radius(np.zeros((2, 3))) == 1.0
    assert theory.radius(np.zeros((2, 3)), fit_intercept=False) == 0.0


@given(samples(), st.booleans())
def test_radius_is_the_largest_norm_of_the_augmented_rows(case, fit_intercept):
    X, _ = case
    rows = theory.augment(X) if fit_intercept else X
    expected = math.sqrt(max(sum(Fraction(v) ** 2 for v in row) for row in rows.tolist()))
    for data in (X, X.astype(np.int64), X.astype(np.float32), sparse.csr_array(X)):
        assert theory.radius(data, fit_intercept=fit_intercept) == expected


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e-120, 1e120, 1e160, 1e307])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_radius_of_extreme_values(scale, make):
    X = make(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]) * scale)
    assert theory.radius(X, fit_intercept=False) == pytest.approx(5 * scale, rel=1e-3)
    if scale > 1e-310:  # below, the numbers themselves have few digits
        assert theory.radius(X, fit_intercept=False) == pytest.approx(5 * scale, rel=1e-15)
    assert theory.radius(X) == pytest.approx(max(5 * scale, 1.0), rel=1e-15)


def test_radius_beyond_the_floats_is_infinite():
    assert theory.radius([[1e308] * 4]) == math.inf


def test_radius_of_integers_does_not_wrap_around():
    assert theory.radius(np.array([[2**62, 0]]), fit_intercept=False) == 2.0**62
    assert theory.radius(np.array([[-128, 0]], dtype=np.int8), fit_intercept=False) == 128.0
    assert theory.radius(np.array([[200, 0]], dtype=np.uint8), fit_intercept=False) == 200.0
    assert theory.radius(np.array([[-128]], dtype=np.int8)) == math.hypot(128, 1)


def test_radius_adds_up_entries_given_twice():
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), (1, 2))
    assert theory.radius(twice, fit_intercept=False) == 3.0
    assert twice.nnz == 2  # the caller's matrix is left as it was


def test_radius_refuses_what_has_none():
    with pytest.raises(ValueError, match="X has no rows"):
        theory.radius(np.empty((0, 2)))
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="not finite"):
            theory.radius([[1.0, value], [2.0, 3.0]])
    with pytest.raises(ValueError, match="one row per sample"):
        theory.radius([1.0, 2.0])


# The bound -----------------------------------------------------------------------------------


def test_mistake_bound_value():
    assert theory.mistake_bound_value(3.0, 0.5) == 36.0
    assert theory.mistake_bound_value(0.0, 1.0) == 0.0
    for gamma in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="positive margin"):
            theory.mistake_bound_value(1.0, gamma)
    for R in (-1.0, math.nan):
        with pytest.raises(ValueError, match="give a radius"):
            theory.mistake_bound_value(R, 1.0)


@given(samples(), st.data())
def test_the_perceptron_keeps_to_the_bound_and_both_lemmas(case, data):
    X, _ = case
    truth = data.draw(arrays(np.float64, X.shape[1] + 1, elements=small).filter(np.any))
    Z = theory.augment(X)
    assume((Z @ truth != 0).all())
    y = np.where(Z @ truth > 0, 1, -1)
    R, gamma = theory.radius(X), (y * (Z @ truth)).min() / np.linalg.norm(truth)
    bound = theory.mistake_bound_value(R, gamma)
    theta, mistakes, clean = np.zeros(X.shape[1] + 1), 0, False
    while not clean:
        clean = True
        for z, label in zip(Z, y, strict=True):
            if label * (theta @ z) <= 0:
                theta, mistakes, clean = theta + label * z, mistakes + 1, False
                assert theta @ truth / np.linalg.norm(truth) >= mistakes * gamma * (1 - 1e-12)
                assert theta @ theta <= mistakes * R**2 * (1 + 1e-12)
                assert mistakes <= bound * (1 + 1e-12)


# The perceptron's objective ------------------------------------------------------------------


@given(problems())
def test_perceptron_loss_against_plain_python(problem):
    X, y, theta = problem
    h = theory.unaugment(theta)
    assert theory.perceptron_loss(h, X, y) == sum(max(0, -t * v) for _, t, v in naive(*problem))


@given(problems())
def test_perceptron_loss_is_zero_exactly_when_nothing_is_strictly_wrong(problem):
    X, y, theta = problem
    wrong = any(label * v < 0 for _, label, v in naive(X, y, theta))
    assert (theory.perceptron_loss(theory.unaugment(theta), X, y) > 0) == wrong


@given(problems(), st.integers(0, 8))
def test_perceptron_loss_is_positively_homogeneous(problem, power):
    X, y, theta = problem
    scaled = theory.perceptron_loss(theory.unaugment(2.0**power * theta), X, y)
    assert scaled == 2.0**power * theory.perceptron_loss(theory.unaugment(theta), X, y)


@given(problems(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.data())
def test_subgradient_inequality(problem, at_zero, data):
    X, y, theta = problem
    g = theory.perceptron_subgradient(theory.unaugment(theta), X, y, at_zero=at_zero)
    here = theory.perceptron_loss(theory.unaugment(theta), X, y)
    other = data.draw(arrays(np.float64, theta.size, elements=small))
    # Nearby points along ±axes are the ones that catch a wrong slope at a kink.
    steps = np.eye(theta.size) / 64
    for point in (other, *(theta + steps), *(theta - steps)):
        there = theory.perceptron_loss(theory.unaugment(point), X, y)
        assert there >= here + g @ (point - theta) - 1e-12


@given(problems())
def test_subgradient_is_the_gradient_away_from_kinks(problem):
    X, y, theta = problem
    h = theory.unaugment(theta)
    assume((h.decision_function(X) != 0).all())
    step = 2.0**-8  # values are integers, entries at most 6: no sample changes sides
    slopes = [
        (
            theory.perceptron_loss(theory.unaugment(theta + step * e), X, y)
            - theory.perceptron_loss(theory.unaugment(theta - step * e), X, y)
        )
        / (2 * step)
        for e in np.eye(theta.size)
    ]
    assert theory.perceptron_subgradient(h, X, y, at_zero=1.0).tolist() == slopes


def test_subgradient_three_cases():
    h = Hyperplane([1.0, 0.0], 0.0)
    right, wrong, on = [[2.0, 5.0]], [[-2.0, 5.0]], [[0.0, 5.0]]
    assert theory.perceptron_subgradient(h, right, [1]).tolist() == [0, 0, 0]
    assert theory.perceptron_subgradient(h, wrong, [1]).tolist() == [2, -5, -1]
    assert theory.perceptron_subgradient(h, on, [1]).tolist() == [0, 0, 0]
    assert theory.perceptron_subgradient(h, on, [1], at_zero=0.5).tolist() == [0, -2.5, -0.5]
    assert theory.perceptron_subgradient(h, on, [-1], at_zero=1).tolist() == [0, 5, 1]


def test_only_shares_from_zero_to_one_are_subgradients():
    h, X, y = Hyperplane([0.0, 0.0]), [[1.0, 2.0]], [1]
    for at_zero in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            theory.perceptron_subgradient(h, X, y, at_zero=at_zero)
    # Beyond 1 the inequality fails indeed: t = 2 at θ = 0 promises more than θ' = x̃ delivers.
    g = 2 * theory.perceptron_subgradient(h, X, y, at_zero=1.0)
    assert theory.perceptron_loss(theory.unaugment(g), X, y) < np.dot(g, g)


# Updates -------------------------------------------------------------------------------------


@given(problems())
def test_mistake_update_against_plain_python(problem):
    X, y, theta = problem
    expected = sum((t * z for z, t, v in naive(*problem) if t * v <= 0), np.zeros(theta.size))
    h = theory.unaugment(theta)
    assert theory.mistake_update(h, X, y).tolist() == expected.tolist()
    against = -theory.perceptron_subgradient(h, X, y, at_zero=1.0)
    assert theory.mistake_update(h, X, y).tolist() == against.tolist()


@given(problems())
def test_target_output_update_is_twice_the_mistake_update_but_for_negatives_on_it(problem):
    X, y, theta = problem
    h = theory.unaugment(theta)
    left_out = sum((t * z for z, t, v in naive(*problem) if v == 0 and t < 0), np.zeros(theta.size))
    expected = 2 * (theory.mistake_update(h, X, y) - left_out)
    assert theory.target_output_update(h, X, y).tolist() == expected.tolist()


def test_the_two_updates_on_a_point_of_the_hyperplane():
    h, X = Hyperplane([1.0, -1.0]), [[3.0, 3.0]]
    assert theory.mistake_update(h, X, [1]).tolist() == [3, 3, 1]
    assert theory.target_output_update(h, X, [1]).tolist() == [6, 6, 2]
    assert theory.mistake_update(h, X, [-1]).tolist() == [-3, -3, -1]
    assert theory.target_output_update(h, X, [-1]).tolist() == [0, 0, 0]


def test_a_separating_hyperplane_is_left_alone():
    X, y = data = eight_points()
    assert not theory.mistake_update(data.hyperplane, X, y).any()
    assert not theory.target_output_update(data.hyperplane, X, y).any()
    assert theory.perceptron_loss(data.hyperplane, X, y) == 0
    assert theory.zero_one_loss(data.hyperplane, X, y) == 0


# Zero-one and squared loss -------------------------------------------------------------------


@given(problems())
def test_zero_one_loss_against_plain_python(problem):
    X, y, theta = problem
    errors = sum((1 if v > 0 else -1) != label for _, label, v in naive(*problem))
    h = theory.unaugment(theta)
    assert theory.zero_one_loss(h, X, y) == pytest.approx(errors / len(y), rel=1e-15)
    # The form with the sum of 1 - y·f(x) needs a half, as each error contributes 2.
    assert np.mean(1 - y * h.predict(X)) / 2 == pytest.approx(theory.zero_one_loss(h, X, y))


@given(problems())
def test_delta_rule_step_is_minus_the_gradient_of_the_squared_loss(problem):
    X, y, theta = problem
    # A quadratic's central difference is its derivative, with any step.
    slopes = [
        (
            theory.squared_loss(theory.unaugment(theta + e), X, y)
            - theory.squared_loss(theory.unaugment(theta - e), X, y)
        )
        / 2
        for e in np.eye(theta.size)
    ]
    step = theory.delta_rule_update(theory.unaugment(theta), X, y)
    assert step == pytest.approx(-np.array(slopes), abs=1e-9)


def test_squared_loss_closed_form():
    h = Hyperplane([1.0], 1.0)
    # Outputs 2 and 0 for targets 1 and -1: residuals -1 and -1.
    assert theory.squared_loss(h, [[1.0], [-1.0]], [1, -1]) == 0.5
    assert theory.delta_rule_update(h, [[1.0], [-1.0]], [1, -1]).tolist() == [0.0, -1.0]


def test_delta_rule_vanishes_at_least_squares():
    X, y = eight_points()
    theta = np.linalg.lstsq(theory.augment(X), y.astype(float), rcond=None)[0]
    step = theory.delta_rule_update(theory.unaugment(theta), X, y)
    assert step == pytest.approx(np.zeros(3), abs=1e-12)


# Slack -----------------------------------------------------------------------------------------


def test_slack_by_where_a_sample_lies():
    X, y = [[2.0], [1.0], [0.5], [0.0], [-1.0], [-2.0]], [1, 1, 1, 1, 1, -1]
    assert theory.slacks(Hyperplane([1.0]), X, y).tolist() == [0, 0, 0.5, 1, 2, 0]


@given(problems(), st.sampled_from([0.5, 1.0, 8.0]))
def test_soft_margin_objective_is_the_formula(problem, C):
    X, y, theta = problem
    slack = sum(max(0.0, 1 - label * value) for _, label, value in naive(*problem))
    expected = sum(t * t for t in theta[:-1]) / 2 + C / len(y) * slack
    found = theory.soft_margin_objective(theory.unaugment(theta), X, y, C=C)
    assert found == pytest.approx(expected, rel=1e-12)


def test_soft_margin_objective_is_what_the_classifier_minimises():
    X, y = eight_points()
    model = SoftMarginClassifier(C=1.0, tol=1e-9).fit(X, y)
    best = theory.soft_margin_objective(model.fits_[0].hyperplane, X, y)
    assert best == pytest.approx(model.optimum_.primal, rel=1e-9)
    assert best < theory.soft_margin_objective(Hyperplane([0.5, 0.5]), X, y) == 0.25


@pytest.mark.parametrize("C", [0, -1, math.inf, math.nan, "1"])
def test_the_price_of_slack_must_be_positive(C):
    with pytest.raises(ValueError, match="give a positive number"):
        theory.soft_margin_objective(Hyperplane([1.0]), [[1.0]], [1], C=C)


# The objective over all samples --------------------------------------------------------------


def test_the_objective_over_all_samples_prefers_a_hyperplane_that_does_not_separate():
    X, y, good, bad = theory.all_samples_counterexample()
    assert good.margin(X, y) > 0
    assert theory.zero_one_loss(good, X, y) == 0.0
    assert theory.zero_one_loss(bad, X, y) == 0.75
    assert np.hypot(good.norm, good.b) == np.hypot(bad.norm, bad.b) == 1.0
    assert theory.all_samples_objective(good, X, y) == -1.0
    assert theory.all_samples_objective(bad, X, y) == -2.0
    # The sum over the wrong samples only gets it right.
    assert theory.perceptron_loss(good, X, y) == 0.0 < theory.perceptron_loss(bad, X, y)


def test_its_best_unit_vector_does_not_separate_either():
    X, y, _, bad = theory.all_samples_counterexample()
    m = (y[:, np.newaxis] * theory.augment(X)).mean(axis=0)
    best = theory.unaugment(m / np.linalg.norm(m))
    assert theory.all_samples_objective(best, X, y) < theory.all_samples_objective(bad, X, y)
    assert best.margin(X, y) < 0


@given(problems())
def test_the_objective_over_all_samples_is_linear_hence_unbounded(problem):
    X, y, theta = problem
    value = theory.all_samples_objective(theory.unaugment(theta), X, y)
    expected = -sum(t * v for _, t, v in naive(*problem)) / len(y)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    scaled = theory.all_samples_objective(theory.unaugment(1024 * theta), X, y)
    assert scaled == 1024 * value


# Sparse samples and bad input ----------------------------------------------------------------

over_samples = [
    theory.zero_one_loss,
    theory.perceptron_loss,
    theory.perceptron_subgradient,
    theory.mistake_update,
    theory.target_output_update,
    theory.squared_loss,
    theory.delta_rule_update,
    theory.all_samples_objective,
    theory.slacks,
    theory.soft_margin_objective,
]


@pytest.mark.parametrize("function", over_samples)
@given(problem=problems())
def test_sparse_equals_dense(function, problem):
    X, y, theta = problem
    h = theory.unaugment(theta)
    for make in (sparse.csr_matrix, sparse.csr_array):
        assert np.array_equal(function(h, make(X), y), function(h, X, y))


@pytest.mark.parametrize("function", over_samples)
def test_bad_input_is_answered_in_one_line(function):
    h = Hyperplane([1.0, 2.0])
    X = [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="y has 3 samples but X has 2 rows"):
        function(h, X, [1, 1, -1])
    with pytest.raises(ValueError, match="y has 1 samples but X has 2 rows"):
        function(h, sparse.csr_array(X), [1])
    if function in (theory.squared_loss, theory.delta_rule_update):  # of any numbers
        for bad in (["1", "-1"], [1, np.nan], [1, 2**53 + 1]):
            with pytest.raises(ValueError, match=r"holds text|not finite|no float is equal"):
                function(h, X, bad)
    else:
        for bad in ([0, 1], [1, 2], ["1", "-1"], [True, True], [1, np.nan]):
            with pytest.raises(ValueError, match=r"labels other than -1 and \+1"):
                function(h, X, bad)
    with pytest.raises(ValueError, match=r"y has shape \(2, 1\)"):
        function(h, X, [[1], [-1]])
    with pytest.raises(ValueError, match="X has no rows"):
        function(h, np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="one row per sample"):
        function(h, [1, 2], [1, -1])


# Losses of one sample ------------------------------------------------------------------------


def test_losses_by_hand():
    assert set(theory.losses) == {"zero_one", "perceptron", "hinge", "squared", "logistic"}
    z = np.array([-2.0, 0.0, 0.5, 1.0, 3.0])
    values = {name: loss(z).tolist() for name, loss in theory.losses.items()}
    assert values["zero_one"] == [1, 1, 0, 0, 0]
    assert values["perceptron"] == [2, 0, 0, 0, 0]
    assert values["hinge"] == [3, 1, 0.5, 0, 0]
    assert values["squared"] == [9, 1, 0.25, 0, 4]
    assert values["logistic"] == pytest.approx([math.log2(1 + math.exp(-v)) for v in z])
    assert values["logistic"][1] == 1.0


def test_logistic_loss_does_not_overflow():
    logistic = theory.losses["logistic"]
    assert logistic([-1e4, 1e4]).tolist() == [1e4 / math.log(2), 0.0]
    assert logistic(40.0) == pytest.approx(math.exp(-40) / math.log(2), rel=1e-12)


@given(st.floats(-1e6, 1e6))
def test_hinge_squared_and_logistic_lie_above_the_zero_one_loss(z):
    for name in ("hinge", "squared", "logistic"):
        assert theory.losses[name](z) >= theory.losses["zero_one"](z)
    # The perceptron's does not: it vanishes on the hyperplane, where the other counts 1.
    assert theory.losses["perceptron"](0.0) < theory.losses["zero_one"](0.0)


@given(problems())
def test_losses_add_up_to_the_objectives(problem):
    X, y, theta = problem
    h = theory.unaugment(theta)
    z = y * h.decision_function(X)
    assert theory.losses["perceptron"](z).sum() == theory.perceptron_loss(h, X, y)
    assert theory.losses["squared"](z).mean() / 2 == theory.squared_loss(h, X, y)

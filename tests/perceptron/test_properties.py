"""What theory says about every run, on data that Hypothesis chooses."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
import rosenblatt as rb
from reference import augment, kept, last, sequence
from rosenblatt.results import StopReason

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

small = st.integers(-4, 4).map(float)
picks = st.sampled_from(["cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"])


@st.composite
def known_margins(draw):
    return rb.datasets.known_margin(
        draw(st.integers(2, 60)),
        draw(st.integers(1, 5)),
        margin=draw(st.floats(0.05, 0.8)),
        random_state=draw(st.integers(0, 2**32 - 1)),
    )


@st.composite
def integer_data(draw):
    """Integers with both labels; separable or not."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=small))
    y = draw(arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    assume(len(set(y)) == 2)
    return X, y


# ---------------------------------------------------------------------------- the mistake bound


@given(data=known_margins(), order=picks, fit_intercept=st.booleans(), eta=st.floats(0.01, 100))
def test_mistakes_are_bounded(data, order, fit_intercept, eta):
    """(R/γ)² with R and γ of the augmented samples; the separator is (1, 0, ..., 0), b = 0."""
    X, y = data
    model = rb.Perceptron(
        order=order, fit_intercept=fit_intercept, eta0=eta, max_epochs=10**6, random_state=0
    ).fit(X, y)
    R2 = (augment(X, fit_intercept) ** 2).sum(axis=1).max()
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.n_errors_ == 0
    assert 1 <= model.n_mistakes_ <= R2 / data.margin**2 * (1 + 1e-9)


@given(data=known_margins(), size=st.integers(1, 20), whole=st.booleans())
def test_mistakes_in_batches_are_bounded(data, size, whole):
    """At most m·(R/γ)² mistakes, m the size of the batch."""
    X, y = data
    update = {"update": "batch"} if whole else {"update": "minibatch", "batch_size": size}
    model = rb.Perceptron(**update, max_epochs=10**6).fit(X, y)
    m = len(y) if whole else min(size, len(y))
    R2 = (augment(X) ** 2).sum(axis=1).max()
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.n_mistakes_ <= m * R2 / data.margin**2 * (1 + 1e-9)


@given(data=known_margins(), order=picks, fit_intercept=st.booleans())
def test_both_lemmas_at_every_update(data, order, fit_intercept):
    """θ·θ* grows by at least ηγ, ‖θ‖² by at most η²R²; and Cauchy and Schwarz close the proof."""
    X, y = data
    model = rb.Perceptron(
        order=order, fit_intercept=fit_intercept, max_epochs=10**6, record=True, random_state=0
    ).fit(X, y)
    Xt = augment(X, fit_intercept)
    R2 = (Xt**2).sum(axis=1).max()
    best = np.eye(1, Xt.shape[1])[0]
    updates = model.trace_.updates
    theta = np.zeros(Xt.shape[1])
    for t, (i, value) in enumerate(zip(updates.sample, updates.value, strict=True), 1):
        assert y[i] * value <= 0
        np.testing.assert_allclose(value, Xt[i] @ theta, rtol=1e-9, atol=1e-12)
        moved = theta + y[i] * Xt[i]
        assert moved @ best >= theta @ best + data.margin - 1e-12
        assert moved @ moved <= theta @ theta + (Xt[i] ** 2).sum() + 1e-9
        assert t * data.margin <= moved @ best + 1e-9
        assert moved @ moved <= t * R2 + 1e-9
        theta = moved
    np.testing.assert_array_equal(last(model), theta)


@given(data=known_margins(), power=st.integers(-8, 8))
def test_start_guess_in_the_direction_of_the_separator(data, power):
    """A guess that already separates is returned unchanged."""
    X, y = data
    start = np.eye(1, X.shape[1] + 1)[0] * 2.0**power
    model = rb.Perceptron(init=start).fit(X, y)
    assert model.n_mistakes_ == 0
    np.testing.assert_array_equal(kept(model), start)


# ---------------------------------------------------------------------------------- symmetries


@given(
    data=integer_data(), fit_intercept=st.booleans(), update=st.sampled_from(["online", "batch"])
)
def test_flipping_the_labels_flips_the_hyperplane(data, fit_intercept, update):
    X, y = data
    parameters = {"fit_intercept": fit_intercept, "update": update, "max_epochs": 20}
    model = rb.Perceptron(**parameters, record=True).fit(X, y)
    flipped = rb.Perceptron(**parameters, record=True).fit(X, -y)
    np.testing.assert_array_equal(last(flipped), -last(model))
    np.testing.assert_array_equal(sequence(flipped), sequence(model))
    assert flipped.stop_reason_ is model.stop_reason_


@given(data=integer_data(), power=st.integers(-60, 60), order=picks)
def test_scaling_the_samples_scales_the_weights(data, power, order):
    X, y = data
    parameters = {"fit_intercept": False, "order": order, "max_epochs": 20, "random_state": 1}
    model = rb.Perceptron(**parameters, record=True).fit(X, y)
    scaled = rb.Perceptron(**parameters, record=True).fit(X * 2.0**power, y)
    np.testing.assert_array_equal(last(scaled), last(model) * 2.0**power)
    np.testing.assert_array_equal(sequence(scaled), sequence(model))


@given(data=integer_data(), eta=st.sampled_from([0.125, 0.5, 4.0]), order=picks)
def test_the_rate_only_scales_a_run_that_starts_at_zero(data, eta, order):
    X, y = data
    parameters = {"order": order, "max_epochs": 20, "random_state": 1, "record": True}
    model = rb.Perceptron(**parameters).fit(X, y)
    scaled = rb.Perceptron(**parameters, eta0=eta).fit(X, y)
    np.testing.assert_array_equal(last(scaled), last(model) * eta)
    np.testing.assert_array_equal(sequence(scaled), sequence(model))


@given(data=integer_data(), seed=st.integers(0, 99))
def test_permuting_the_features_permutes_the_weights(data, seed):
    X, y = data
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    model = rb.Perceptron(max_epochs=20).fit(X, y)
    permuted = rb.Perceptron(max_epochs=20).fit(X[:, columns], y)
    np.testing.assert_array_equal(permuted.coef_, model.coef_[:, columns])
    np.testing.assert_array_equal(permuted.intercept_, model.intercept_)


@given(data=integer_data())
def test_a_constant_feature_does_what_the_bias_does(data):
    """The threshold eliminated: (x, 1) without a bias."""
    X, y = data
    with_bias = rb.Perceptron(max_epochs=20, record=True).fit(X, y)
    augmented = rb.Perceptron(max_epochs=20, fit_intercept=False, record=True).fit(augment(X), y)
    np.testing.assert_array_equal(augmented.coef_[0], last(with_bias))
    np.testing.assert_array_equal(sequence(augmented), sequence(with_bias))
    assert augmented.intercept_[0] == 0


# ------------------------------------------------------------------------- the dual and the keeps


@given(data=integer_data(), order=picks)
def test_weights_are_a_combination_of_the_samples(data, order):
    X, y = data
    model = rb.Perceptron(order=order, max_epochs=20, record=True, random_state=2).fit(X, y)
    alpha = model.trace_.updates.mistake_counts(len(y))
    assert alpha.sum() == model.n_mistakes_
    np.testing.assert_array_equal(last(model), (alpha * y) @ augment(X))


@given(data=integer_data(), size=st.integers(1, 5))
def test_weights_are_a_combination_in_batches_too(data, size):
    X, y = data
    model = rb.Perceptron(update="minibatch", batch_size=size, max_epochs=20, record=True)
    alpha = model.fit(X, y).trace_.updates.mistake_counts(len(y))
    np.testing.assert_array_equal(last(model), (alpha * y) @ augment(X))


@given(data=integer_data(), order=picks, seed=st.integers(0, 9))
def test_the_pocket_never_gets_worse(data, order, seed):
    X, y = data
    model = rb.Perceptron(keep="pocket", order=order, max_epochs=20, random_state=seed).fit(X, y)
    errors = model.trace_.pocket_errors
    assert len(errors) == model.n_iter_
    assert (np.diff(errors) <= 0).all()
    assert errors[0] <= reference.errors(augment(X), y, np.zeros(X.shape[1] + 1))
    assert errors[-1] == model.n_errors_ == reference.errors(augment(X), y, kept(model))
    assert errors[-1] <= reference.errors(augment(X), y, last(model))


@given(data=integer_data(), seed=st.integers(0, 9))
def test_separated_means_separated(data, seed):
    """Whatever the order: the reason is given exactly when the margin is positive."""
    X, y = data
    for order in ("cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"):
        model = rb.Perceptron(order=order, max_epochs=50, random_state=seed).fit(X, y)
        right = y * (augment(X) @ last(model)) > 0
        if model.stop_reason_ is StopReason.SEPARATED:
            assert right.all()
            assert model.n_errors_ == 0
        elif model.stop_reason_ is StopReason.CYCLE:
            assert not right.all()

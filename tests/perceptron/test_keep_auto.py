"""keep="auto": the last vector where it separates, otherwise the average, problem by problem."""

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from reference import kept, last
from rosenblatt.results import StopReason

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

FORMS = {
    "online": {},
    "shuffled": {"order": "shuffled"},
    "sampled": {"order": "sampled"},
    "picked": {"order": "worst-mistake"},
    "batch": {"update": "batch"},
    "minibatch": {"update": "minibatch", "batch_size": 16},
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def three(n=90, seed=0):
    """Of three classes one stands apart, and the two others overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.standard_normal((n, 2)) + np.array([[-9.0, 0.0], [9.0, 0.0], [9.0, 1.0]])[y], y


def fitted(X, y, **parameters):
    """The same run three times: what is kept by name, and by "auto"."""
    return (
        rb.Perceptron(**parameters, keep=keep, random_state=3, max_epochs=30).fit(X, y)
        for keep in ("last", "average", "auto")
    )


@forms
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("flip", [0.0, 0.1])
def test_it_is_one_of_the_two(form, layout, flip):
    X, y = rb.datasets.flip_labels(
        rb.datasets.known_margin(120, 3, margin=0.3, random_state=0), flip, random_state=0
    )
    ended, mean, auto = fitted(layout(X), y, **form)
    wanted = mean if flip else ended
    np.testing.assert_array_equal(kept(auto), kept(wanted))
    np.testing.assert_array_equal(last(auto), last(ended))
    assert auto.fits_[0].keeps_last is (auto.stop_reason_ is StopReason.SEPARATED) is not flip
    assert auto.n_errors_ == wanted.n_errors_ == (auto.predict(X) != y).sum()


@forms
def test_each_class_is_judged_by_itself(form):
    X, y = three()
    ended, mean, auto = fitted(X, y, **form)
    separated = [reason is StopReason.SEPARATED for reason in auto.stop_reason_]
    assert separated == [True, False, False]
    for k, is_separated in enumerate(separated):
        np.testing.assert_array_equal(kept(auto, k), kept(ended if is_separated else mean, k))
        assert auto.fits_[k].keeps_last is is_separated
    assert auto.n_errors_ == (auto.predict(X) != y).sum()


def test_a_weight_of_zero_does_not_count():
    X, y = rb.datasets.eight_points()
    y = y.copy()
    y[0] = -y[0]
    model = rb.Perceptron(keep="auto").fit(X, y, sample_weight=np.arange(8) > 0)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.fits_[0].keeps_last


def test_time_that_is_over_leaves_the_mean():
    X, y = three()
    model = rb.Perceptron(keep="auto", max_time=1e-9).fit(X, y)
    mean = rb.Perceptron(keep="average", max_time=1e-9).fit(X, y)
    np.testing.assert_array_equal(model.coef_, mean.coef_)


def test_partial_fit_judges_by_what_it_was_given():
    X, y = three()
    model = rb.Perceptron(keep="auto")
    mean = rb.Perceptron(keep="average")
    for part in np.split(np.arange(90), 3):
        for one in (model, mean):
            one.partial_fit(X[part], y[part], classes=[0, 1, 2])
    for k, reason in enumerate(model.stop_reason_):
        wanted = last(model, k) if reason is StopReason.SEPARATED else kept(mean, k)
        np.testing.assert_array_equal(kept(model, k), wanted)


def test_a_warm_start_begins_with_what_was_kept():
    X, y = three()
    model = rb.Perceptron(keep="auto", max_epochs=2, warm_start=True).fit(X, y)
    start = np.column_stack([model.coef_, model.intercept_])
    again = rb.Perceptron(keep="auto", max_epochs=2, init=start).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, again.coef_)


def test_what_was_the_last_goes_on_to_auto():
    X, y = three()
    model = rb.Perceptron().partial_fit(X, y, classes=[0, 1, 2]).set_params(keep="auto")
    start = np.column_stack([model.coef_, model.intercept_])
    fresh = rb.Perceptron(keep="auto", init=start).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(model.partial_fit(X, y).coef_, fresh.coef_, rtol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_kernels(noise):
    X, y = rb.datasets.flip_labels(
        rb.datasets.circles(120, noise=0.05, random_state=0), noise / 4, random_state=0
    )
    common = {"kernel": "poly", "degree": 2, "order": "shuffled", "random_state": 0}
    models = {
        keep: rb.KernelPerceptron(keep=keep, max_epochs=20, **common).fit(X, y)
        for keep in ("last", "average", "auto")
    }
    auto, separated = models["auto"], models["auto"].stop_reason_ is StopReason.SEPARATED
    wanted = models["last" if separated else "average"]
    assert separated is (noise == 0.0)
    assert auto.fits_[0].keeps_last is separated
    np.testing.assert_array_equal(auto.dual_coef_, wanted.dual_coef_)
    np.testing.assert_array_equal(auto.decision_function(X), wanted.decision_function(X))
    assert auto.n_errors_ == (auto.predict(X) != y).sum()


def test_a_budget_needs_the_last():
    X, y = three()
    with pytest.raises(ValueError, match="budget=5 forgets vectors that keep='auto' needs"):
        rb.KernelPerceptron(budget=5, keep="auto").fit(X, y)

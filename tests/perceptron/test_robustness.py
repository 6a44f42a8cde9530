"""Things that once went wrong, or nearly: extreme numbers, failures half-way, going on later."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

import rosenblatt as rb
from reference import augment, online, orders
from rosenblatt import StopReason
from rosenblatt.perceptron.pocket import Pocket

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noise(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1, -1)


def textbook(X, y, epochs, theta=None):
    theta = np.zeros(X.shape[1] + 1) if theta is None else theta
    return online(augment(X), y, orders("cyclic", len(y), epochs), theta)


# ----------------------------------------------------------------------------- huge and tiny


@quiet
@pytest.mark.parametrize("keep", ["last", "pocket", "average"])
@pytest.mark.parametrize("scale", [1e154, 1e200, 1e300])
def test_overflow_is_never_called_separated(scale, keep):
    X, y = noise()
    model = rb.Perceptron(keep=keep, max_epochs=20).fit(X * scale, y)
    assert model.n_errors_ == (model.predict(X * scale) != y).sum() > 0
    assert model.stop_reason_ is not StopReason.SEPARATED


@pytest.mark.compiled
@quiet
@pytest.mark.parametrize("keep", ["last", "pocket"])
@pytest.mark.parametrize("power", [-490, -300, -160, -100, -60, 40, 65, 70, 120, 300, 490])
def test_scaling_by_powers_of_two_changes_nothing_else(power, keep):
    X, y = rb.datasets.flip_labels(
        rb.datasets.known_margin(3000, 5, margin=0.01, rotate=True, random_state=1),
        0.003,
        random_state=1,
    )
    parameters = {"fit_intercept": False, "max_epochs": 12, "keep": keep}
    plain = rb.Perceptron(**parameters).fit(X, y)
    scaled = rb.Perceptron(**parameters).fit(X * 2.0**power, y)
    np.testing.assert_array_equal(scaled.coef_, plain.coef_ * 2.0**power)
    np.testing.assert_array_equal(scaled.trace_.mistakes, plain.trace_.mistakes)
    assert scaled.n_errors_ == plain.n_errors_


def test_weights_that_overflow_are_named():
    X, y = noise()
    with pytest.raises(ValueError, match="give a positive number"):
        rb.Perceptron(eta0=10**400).fit(X, y)
    with pytest.raises(ValueError, match="scale the features"):
        rb.Perceptron(eta0=1e308, max_epochs=50).fit(X, y)
    with pytest.raises(ValueError, match="scale the features"):
        rb.Adaline().fit(X * 1e200, y)


# ------------------------------------------------------------------------- half-way failures


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = rb.datasets.eight_points()
    names = np.where(y > 0, "pos", "neg")
    model = rb.Perceptron().fit(X, names)
    before = model.predict(X)
    with pytest.raises(ValueError, match="eta0=-1"):
        model.set_params(eta0=-1).fit(X, np.where(y > 0, "apple", "banana"))
    np.testing.assert_array_equal(model.predict(X), before)
    rule = rb.Adaline(update="batch").fit(X, names)
    weights = rule.coef_.copy()
    with pytest.raises(rb.DivergenceError):
        rule.set_params(eta0=5.0).fit(X, y)
    np.testing.assert_array_equal(rule.coef_, weights)
    np.testing.assert_array_equal(rule.predict(X), names)
    fresh = rb.Adaline(update="batch", eta0=0.5)
    with pytest.raises(rb.DivergenceError):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    with pytest.raises(NotFittedError):
        _ = rb.Perceptron().stop_reason_


def test_an_error_in_the_callback_passes_through():
    X, y = noise()

    def fail(epoch):
        msg = "mine"
        raise KeyError(msg)

    model = rb.Perceptron(callback=fail)
    with pytest.raises(KeyError, match="mine"):
        model.fit(X, y)
    assert not hasattr(model, "fits_")


# ----------------------------------------------------------------------------- time, threads


@quiet
def test_the_pocket_looks_at_the_clock(monkeypatch):
    X, y = noise(20_000, 5)
    judged = []
    judge = Pocket._judge
    monkeypatch.setattr(
        Pocket, "_judge", lambda self, t: (judged.append(len(t)), judge(self, t))[1]
    )
    model = rb.Perceptron(keep="pocket", max_time=1e-9).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    assert model.n_updates_ > 2 * sum(judged) > 0
    assert model.n_errors_ == (model.predict(X) != y).sum()


@quiet
def test_fits_side_by_side_give_blas_its_threads_back(request):
    X, y = noise(2000, 5)
    request.addfinalizer(threadpool_limits(2).restore_original_limits)
    before = [pool["num_threads"] for pool in threadpool_info()]
    assert 2 in before
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(
                rb.Perceptron(keep="pocket", max_epochs=5).fit(X, y).coef_.tolist()
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert results == results[:1] * 4


# ---------------------------------------------------------------------------------- going on


@quiet
def test_average_of_classes_that_stopped_at_different_times():
    centers = [[40, 40, 0], [0, 0, 0], [1, -1, 1]]
    X, y = make_blobs(120, centers=centers, cluster_std=2, random_state=0)
    X = np.rint(4 * X)
    more, labels = X[::-1], y[::-1]
    for n_jobs in (1, 2):
        model = rb.Perceptron(keep="average", max_epochs=30, n_jobs=n_jobs).fit(X, y)
        epochs = [fit.n_epochs for fit in model.fits_]
        assert len(set(epochs)) > 1
        model.partial_fit(more, labels)
        for k in range(3):
            mine = np.where(y == k, 1, -1)
            ran = textbook(X, mine, epochs[k])
            after = textbook(more, mine[::-1], 1, ran.theta)
            mean = (ran.total + after.total) / (ran.visits + after.visits)
            np.testing.assert_allclose(
                np.append(model.coef_[k], model.intercept_[k]), mean, rtol=1e-9
            )


@quiet
def test_no_intercept_later():
    X, y = noise()
    model = rb.Perceptron(max_epochs=5).fit(X, y)
    assert model.intercept_[0] != 0
    model.set_params(fit_intercept=False, warm_start=True).fit(X, y)
    assert model.intercept_[0] == 0
    model = rb.Perceptron(max_epochs=5).fit(X, y).set_params(fit_intercept=False)
    assert model.partial_fit(X, y).intercept_[0] == 0


@quiet
def test_average_from_now_on():
    X, y = noise()
    model = rb.Perceptron(max_epochs=3).fit(X, y)
    start = model.fits_[0].last
    model.set_params(keep="average").partial_fit(X, y)
    expected = textbook(X, y, 1, np.append(start.w, start.b)).average
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, rtol=1e-9)


# ----------------------------------------------------------------------------------- layouts


def test_updates_take_the_data_as_they_were_given():
    data = rb.datasets.known_margin(60, 3, margin=0.05, random_state=0)
    model = rb.Perceptron(record=True).fit(data.X, data.y)
    updates, last = model.trace_.updates, model.fits_[0].last
    names = ["a", "b", "c"]
    for X in (
        pd.DataFrame(data.X, columns=names, index=range(100, 160)),
        pl.DataFrame(data.X, schema=names),
        sparse.coo_array(data.X),
        sparse.csc_array(data.X),
        data.X.tolist(),
    ):
        assert updates.hyperplane(len(updates), X) == last
    with pytest.raises(ValueError, match=r"t=1\.5 is not allowed: this run has updates"):
        updates.hyperplane(1.5, data.X)


@quiet
def test_sparse_with_two_kinds_of_index():
    X, y = noise()
    S = sparse.csr_matrix(X)
    S.indptr = S.indptr.astype(np.int64)
    S.indices = S.indices.astype(np.int32)
    model = rb.Perceptron(keep="pocket", max_epochs=10).fit(S, y)
    np.testing.assert_allclose(
        model.coef_, rb.Perceptron(keep="pocket", max_epochs=10).fit(X, y).coef_, rtol=1e-9
    )


def test_adaline_does_not_warn_at_the_minimum():
    X, y = noise()
    model = rb.Adaline(update="batch").fit(X, y)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    assert model.n_errors_ > 0
    with pytest.warns(ConvergenceWarning, match="nearer the minimum"):
        rb.Adaline(update="batch", max_epochs=2).fit(X, y)

"""Bounds in the feature space of a kernel from a working set, and runs measured there."""

import math

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.bounds import in_features
from rosenblatt.kernels import RBF, Polynomial
from rosenblatt.running.threads import Team
from rosenblatt.separation import feature_vectors
from rosenblatt.separation.kernel_vectors import KernelVectors

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(n=80, seed=0):
    """Two classes that no conic separates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where((X**2).sum(axis=1) + rng.standard_normal(n) > 1.4, 1, -1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("epochs", [None, 5, 200])
@pytest.mark.parametrize("separable", [False, True])
def test_by_values_as_by_features(bias, epochs, separable, monkeypatch):
    X, y = rb.datasets.circles(80, random_state=1) if separable else overlapping()
    how = {"kernel": Polynomial(2, 0.5), "fit_intercept": bias, "epochs": epochs}
    if not separable and epochs is None:
        monkeypatch.setattr(feature_vectors, "FEW", 0)
        with pytest.raises(ValueError, match="by more than rounding, so no bound is known"):
            rb.mistake_bound(X, y, **how)
        return
    written = rb.mistake_bound(X, y, **how)
    monkeypatch.setattr(feature_vectors, "FEW", 0)
    known = rb.mistake_bound(X, y, **how)
    assert known.bound == pytest.approx(written.bound, rel=1e-6)
    assert pytest.approx(written.R) == known.R
    if separable:
        assert known.separable
        assert known.gamma == pytest.approx(written.gamma, rel=1e-6)


def naive_mistakes(K, y, epochs):
    """The kernel perceptron of the text."""
    alpha, mistakes = np.zeros(len(y)), 0
    for _ in range(epochs):
        for j in range(len(y)):
            if y[j] * ((alpha * y) @ K[:, j]) <= 0:
                alpha[j] += 1
                mistakes += 1
    return mistakes


@pytest.mark.parametrize("span", [1, 5, 40])
def test_a_bound_from_a_part_of_the_samples_holds(span, monkeypatch):
    X, y = overlapping()
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    kernel = RBF(0.5)
    best = rb.mistake_bound(X, y, kernel=kernel, epochs=30)
    monkeypatch.setattr(in_features, "WORK", span**2 * len(y))
    found = rb.mistake_bound(X, y, kernel=kernel, epochs=30)
    assert found.separable is best.separable is False
    assert naive_mistakes(kernel(X), y, 30) <= best.most <= found.most * (1 + 1e-9)
    assert found.most <= 30 * len(y)


@quiet
@pytest.mark.parametrize("held", [3, 4000])
def test_a_run_is_measured_as_by_the_whole_matrix(held, monkeypatch):
    X, y = overlapping()
    monkeypatch.setattr(in_features, "HELD", held)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = rb.KernelPerceptron(kernel=RBF(0.5), fit_intercept=True, record=True, max_epochs=6)
    updates = model.fit(X, y, weight).trace_.updates
    report = model.bound_report(X, y, weight)
    assert report.holds
    K, theta, length2 = RBF(0.5)(X) + 1, np.zeros(len(y)), [0.0]
    for i, step in zip(updates.sample, updates.step, strict=True):
        theta[i] += step
        length2.append(theta @ K @ theta)
    np.testing.assert_allclose(report.length2, length2, rtol=1e-10)
    star = report.bound.hyperplane.w * np.where(y > 0, 1.0, -1.0) * weight
    assert star @ K @ star == pytest.approx(1.0)
    along = np.cumsum(updates.step * (K @ star)[updates.sample])
    np.testing.assert_allclose(report.progress[1:], along, rtol=1e-9)
    assert (report.length2_rounding < 1e-6 * np.maximum(report.length2_bound, 1.0)).all()


@quiet
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_samples_without_any_features(form, monkeypatch):
    monkeypatch.setattr(feature_vectors, "FEW", 0)
    X, y = form(np.zeros((6, 2))), np.array([-1, 1] * 3)
    kernel = Polynomial(2, coef0=0.0)
    bound = rb.mistake_bound(X, y, kernel=kernel, epochs=4)
    assert bound.R < 1e-150
    assert (bound.most, bound.separable) == (24, False)
    model = rb.KernelPerceptron(kernel=kernel, record=True, max_epochs=4).fit(X, y)
    report = model.bound_report(X, y)
    assert report.holds
    assert report.n_mistakes == report.bound.most == 6 * model.n_iter_


def test_another_run_is_not_let_pass():
    """Steps that no perceptron makes break the second lemma."""
    X, y = rb.datasets.circles(60, random_state=0)
    z = KernelVectors(X, np.where(y > 0, 1.0, -1.0), RBF(1.0), 0.0, Team(1))
    sample = np.zeros(50, np.int64)  # always the same one, right or wrong
    star = np.zeros(61)
    star[0] = 1.0
    made = in_features.measured(z, sample, z.sign[sample], star, 1.0)
    np.testing.assert_allclose(made.length2, np.arange(51.0) ** 2)
    assert (made.length2[2:] > np.arange(2, 51) + made.length2_rounding[2:]).all()


def test_more_samples_than_a_matrix_is_taken_apart_for():
    X, y = rb.datasets.circles(4500, noise=0.02, random_state=0)
    model = rb.KernelPerceptron(gamma=5.0, record=True).fit(X, y)
    report = model.bound_report(X, y)
    assert report.holds
    assert model.stop_reason_ is rb.StopReason.SEPARATED
    bound = rb.mistake_bound(X, y, kernel=RBF(5.0))
    assert bound.separable
    assert report.bound.bound == pytest.approx(bound.bound, rel=1e-6)
    assert model.n_mistakes_ <= bound.most
    assert pytest.approx(1.0) == bound.R
    # Any weights bound the margin from above: here those of the vector found.
    rows = np.flatnonzero(bound.hyperplane.w)
    weights = bound.hyperplane.w[rows]
    signed = weights * np.where(y[rows] > 0, 1.0, -1.0)
    upper = math.sqrt(signed @ RBF(5.0)(X[rows]) @ signed) / weights.sum()
    assert bound.gamma == pytest.approx(upper, rel=1e-6)
    assert bound.gamma <= upper * (1 + 1e-12)

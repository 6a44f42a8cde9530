"""Bounds and feature maps beside the kernel perceptron itself."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def ring(n=60, gap=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    r = (X**2).sum(axis=1)
    keep = np.abs(r - 1.3) > gap
    return X[keep], (r[keep] > 1.3).astype(int)


KERNELS = [
    rb.kernels.Polynomial(2),
    rb.kernels.Polynomial(3, 0.5, 2.0),
    rb.kernels.RBF(1.0),
    rb.kernels.Gaussian(0.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "worst-mistake"])
def test_the_report_holds(kernel, bias, order):
    X, y = ring()
    model = rb.KernelPerceptron(
        kernel=kernel, fit_intercept=bias, order=order, record=True, random_state=0
    ).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.SEPARATED
    report = model.bound_report(X, y)
    assert report.holds
    assert 0 < report.n_mistakes == model.n_mistakes_ <= report.bound.most
    assert np.sqrt(kernel.diagonal(X).max() + bias) <= report.bound.R
    assert report.bound.kernel == f"{kernel}{' + 1' * bias}"
    alone = rb.mistake_bound(X, y, kernel=kernel, fit_intercept=bias)
    assert report.bound.bound == pytest.approx(alone.bound, rel=1e-6)
    # The length at the end, by the definition.
    a = np.zeros(len(X))
    a[model.support_] = model.dual_coef_[0]
    length2 = a @ (kernel(X) + bias) @ a
    assert report.length2[-1] == pytest.approx(length2, rel=1e-6)


def test_the_linear_kernel_has_the_linear_report():
    X, y = rb.datasets.eight_points()
    plain = rb.Perceptron(fit_intercept=False, record=True).fit(X, y).bound_report(X, y)
    kernel = rb.KernelPerceptron(kernel="linear", record=True).fit(X, y).bound_report(X, y)
    assert kernel.bound.bound == pytest.approx(plain.bound.bound)
    np.testing.assert_allclose(kernel.progress, plain.progress)
    np.testing.assert_allclose(kernel.length2, plain.length2)


@quiet
def test_weights_and_several_classes():
    X, _ = ring()
    y = np.digitize((X**2).sum(axis=1), [0.6, 2.0])
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = rb.KernelPerceptron(gamma=1.0, record=True, class_weight={2: 2.0})
    reports = model.fit(X, y, weight).bound_report(X, y, weight)
    assert len(reports) == 3
    assert all(report.holds for report in reports)


@quiet
def test_what_cannot_be_reported():
    X, y = ring()
    with pytest.raises(ValueError, match="record=True"):
        rb.KernelPerceptron().fit(X, y).bound_report(X, y)
    for options in ({"budget": 5}, {"drop_after": 2}):
        model = rb.KernelPerceptron(record=True, max_epochs=3, **options).fit(X, y)
        with pytest.raises(ValueError, match="without drop_after and budget"):
            model.bound_report(X, y)
    model = rb.KernelPerceptron(record=True).fit(X, y)
    with pytest.raises(ValueError, match="not the data of the fit"):
        model.bound_report(X + 1, y)
    with pytest.raises(ValueError, match="not the data of the fit"):
        model.bound_report(X, 1 - y)


@st.composite
def whole_numbers(draw):
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 0, 1
    return X, y


def runs_with_and_without_features(X, y, kernel):
    """The record of a kernel perceptron, and of a perceptron on the features."""
    Z = rb.features.Polynomial(kernel.degree, gamma=kernel.gamma, coef0=kernel.coef0)
    Z = Z.fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dual = rb.KernelPerceptron(kernel=kernel, max_epochs=8, record=True).fit(X, y)
        primal = rb.Perceptron(fit_intercept=False, max_epochs=8, record=True).fit(Z, y)
    return dual.trace_.updates, primal.trace_.updates, Z


@given(whole_numbers(), st.integers(1, 3), st.sampled_from([0.0, 1.0, 4.0]))
def test_the_kernel_on_x_is_the_perceptron_on_the_features(data, degree, coef0):
    """The same mistakes, one by one, where the features are not rounded: those of degree 1."""
    X, y = data
    kernel = rb.kernels.Polynomial(degree, 1.0, coef0)
    mine, theirs, Z = runs_with_and_without_features(X, y, kernel)
    exact = np.array_equal(Z @ Z.T, kernel(X)) and np.array_equal(Z, np.rint(Z))
    assert exact or degree > 1
    if exact:
        np.testing.assert_array_equal(mine.sample, theirs.sample)
        np.testing.assert_array_equal(mine.value, theirs.value)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_same_mistakes_where_no_value_is_zero(degree, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    mine, theirs, _ = runs_with_and_without_features(X, y, rb.kernels.Polynomial(degree, 0.5, 1.5))
    assert len(mine) > 60
    np.testing.assert_array_equal(mine.sample, theirs.sample)
    np.testing.assert_allclose(mine.value, theirs.value, rtol=1e-6, atol=1e-8)


def test_xor_and_circles_in_feature_space():
    xor = rb.datasets.xor()
    assert rb.separability(*xor).verdict is not rb.Verdict.SEPARABLE
    found = rb.separability(*xor, kernel=rb.kernels.Polynomial(2))
    assert found.separable
    assert found.exact
    assert rb.certify.check(found.certificate, found.vectors, found.labels).valid
    model = rb.KernelPerceptron(kernel=rb.kernels.Polynomial(2)).fit(*xor)
    assert model.stop_reason_ is rb.StopReason.SEPARATED

"""Separability and mistake bounds in the feature space of a kernel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from kernel_samples import CURVED, distance, labelled
from rosenblatt.kernels import RBF, Gaussian, Linear, Polynomial, Precomputed, Sigmoid, maps
from rosenblatt.separation import feature_vectors

KERNELS = [Linear(), *CURVED]


def dual_loop(K, y, epochs):
    """The kernel perceptron of the text: mistake counters, one epoch after the other."""
    alpha, mistakes = np.zeros(len(y)), 0
    for _ in range(epochs):
        before = mistakes
        for j in range(len(y)):
            if y[j] * ((alpha * y) @ K[:, j]) <= 0:
                alpha[j] += 1
                mistakes += 1
        if mistakes == before:
            return mistakes, True
    return mistakes, False


def checked(X, y, kernel, **more):
    """The verdict, its certificate checked again."""
    found = rb.separability(X, y, kernel=kernel, **more)
    assert rb.certify.check(found.certificate, found.vectors, found.labels).valid
    assert found.verdict is found.certificate.verdict
    return found


# Verdicts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "bias", "separable"),
    [
        (Linear(), False, False),
        (Linear(), True, False),
        (Polynomial(2), False, True),
        (Polynomial(2, coef0=0.0), False, False),
        (Polynomial(2, coef0=0.0), True, True),
        (RBF(1.0), False, True),
        (Gaussian(0.5), True, True),
    ],
    ids=str,
)
def test_xor(kernel, bias, separable):
    found = checked(*rb.datasets.xor(), kernel, fit_intercept=bias)
    assert found.separable is separable
    assert found.exact
    assert found.fit_intercept is bias
    assert (len(found.support) > 0) is not separable
    assert str(found).endswith(": proved")


def test_circles():
    X, y = rb.datasets.circles(200, random_state=1)
    assert not checked(X, y, Linear(), fit_intercept=True).separable
    assert checked(X, y, Polynomial(2)).separable
    assert checked(X, y, Polynomial(2)).exact  # with room to spare, though products are rounded
    assert checked(X, y, RBF(1.0)).separable


@given(labelled(), st.integers(1, 3), st.booleans())
def test_same_verdict_as_on_explicit_features(data, degree, bias):
    X, y = data
    found = checked(X, y, Polynomial(degree), fit_intercept=bias)
    exponents = maps.exponents(X.shape[1], degree)[1:]
    features = np.prod(X[:, np.newaxis, :] ** exponents, axis=2)
    assert found.verdict is rb.separability(features, y).verdict
    assert found.exact
    assert found.tolerance is None
    assert found.dimension == len(exponents)
    assert found.verdict is checked(sparse.csr_array(X), y, Polynomial(degree)).verdict


@given(labelled())
def test_linear_with_a_bias_is_the_plain_question(data):
    X, y = data
    assert checked(X, y, Linear(), fit_intercept=True).verdict is rb.separability(X, y).verdict


@given(labelled(), st.sampled_from(KERNELS))
def test_verdict_from_values_agrees(data, kernel):
    X, y = data
    found = checked(X, y, kernel)
    given_values = checked(kernel(X), y, Precomputed())
    if found.exact and given_values.exact:
        assert given_values.separable is found.separable
    if found.separable and distance(kernel(X), y) > 1e-3:
        assert given_values.separable


@given(labelled(), st.sampled_from([RBF(0.5), Gaussian(1.0)]), st.booleans())
def test_radial_kernels_separate_all_but_contradictions(data, kernel, as_csr):
    X, y = data
    classes = {}
    for row, label in zip(map(tuple, X.tolist()), y.tolist(), strict=True):
        classes.setdefault(row, set()).add(label)
    apart = all(len(labels) == 1 for labels in classes.values())
    found = checked(sparse.csr_array(X) if as_csr else X, y, kernel)
    assert found.separable is apart
    assert found.exact
    assert found.dimension == len(classes)


@given(labelled(most=6), st.sampled_from(KERNELS), st.booleans())
def test_contradictory_duplicates_are_never_separable(data, kernel, bias):
    X, y = data
    X, y = np.vstack([X, X[:1] * 1.1]), np.append(y, y[0])
    X, y = np.vstack([X, X[-1:]]), np.append(y, -y[-1])
    found = checked(X, y, kernel, fit_intercept=bias)
    assert found.separable is False
    assert found.exact


def test_a_tolerance_is_stated_where_nothing_is_proved():
    X = np.linspace(0, 1, 40)[:, np.newaxis]
    y = np.arange(40) % 2
    found = checked(X, y, RBF(0.01))
    assert not found.exact
    assert 0 < found.tolerance < 1e-12
    assert found.dimension < 40
    assert "as far as values with an error of" in str(found)
    rounded = checked(
        np.random.default_rng(0).standard_normal((50, 2)),
        y[:1].repeat(50) | (np.arange(50) % 2),
        Polynomial(2),
    )
    assert not rounded.exact
    assert 0 < rounded.tolerance < 1e-12


def test_functions_and_their_names():
    X, y = rb.datasets.xor()

    def plane(u, v):
        return (u @ v + 1) ** 2

    found = checked(X, y, plane)
    assert found.separable
    assert str(found).startswith("separable in the feature space of K(x, y) = plane(x, y)")


def test_undecided():
    rng = np.random.default_rng(0)
    found = rb.separability(
        rng.standard_normal((400, 20)), rng.integers(0, 2, 400), kernel=Linear(), max_time=1e-9
    )
    assert found.verdict is rb.Verdict.UNDECIDED
    assert found.separable is None
    assert not found.exact
    assert str(found).startswith("undecided in the feature space of K(x, y) = x·y")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("rbf", r"kernel='rbf' is not allowed: give a kernel with its parameters"),
        (Sigmoid(1.0, -1.0), "has no feature space on these data"),
        (Precomputed(), r"X of shape \(4, 2\) is no symmetric matrix"),
    ],
    ids=str,
)
def test_refused_kernels(kernel, message):
    with pytest.raises(ValueError, match=message):
        rb.separability(*rb.datasets.xor(), kernel=kernel)


def test_refused_data(monkeypatch):
    X, y = rb.datasets.xor()
    with pytest.raises(ValueError, match="overflow: scale the features"):
        rb.separability(X * 1e200, y, kernel=Polynomial(2))
    with pytest.raises(ValueError, match="fit_intercept=False is for a kernel"):
        rb.separability(X, y, fit_intercept=False)
    monkeypatch.setattr(feature_vectors, "SAMPLES", 3)
    with pytest.raises(ValueError, match=r"X has 4 samples, but whether .* is an inner product"):
        rb.separability(X, y, kernel=lambda u, v: (u @ v + 1) ** 2)


# Margins and bounds -----------------------------------------------------------------------------


@given(labelled(), st.sampled_from(KERNELS), st.booleans())
def test_no_run_makes_more_mistakes_than_the_bound(data, kernel, bias):
    X, y = data
    K = kernel(X) + bias
    try:
        bound = rb.mistake_bound(X, y, kernel=kernel, fit_intercept=bias)
    except ValueError:
        bound = rb.mistake_bound(X, y, kernel=kernel, fit_intercept=bias, epochs=20)
        assert dual_loop(K, y, 20)[0] <= bound.most
        assert bound.separable is not True
        return
    mistakes, ended = dual_loop(K, y, 2000)
    assert mistakes <= bound.most
    assert ended or bound.most > 2000
    assert math.isclose(bound.R, math.sqrt(K.diagonal().max()), rel_tol=1e-5)


@given(labelled(), st.sampled_from(KERNELS), st.booleans())
def test_the_margin_is_the_widest(data, kernel, bias):
    X, y = data
    try:
        found = rb.mistake_bound(X, y, kernel=kernel, fit_intercept=bias)
    except ValueError:
        assert not rb.separability(X, y, kernel=kernel, fit_intercept=bias).separable
        return
    widest = distance(kernel(X) + bias, y)
    assert found.gamma <= widest + 1e-6 * found.R
    assert found.gamma >= widest * (1 - 1e-4) - 1e-5 * found.R


def test_known_margin():
    # Of XOR with the kernel exp(-‖x-y‖²): Kα = y is solved by the same |α| for all, by symmetry.
    X, y = rb.datasets.xor()
    K = RBF(1.0)(X)
    alpha = np.linalg.solve(K, y.astype(float)) * y
    gamma = 1 / math.sqrt(alpha.sum())
    bound = rb.mistake_bound(X, y, kernel=RBF(1.0))
    assert bound.bound == pytest.approx(1 / gamma**2, rel=1e-4)
    assert bound.gamma <= gamma
    assert bound.gamma == pytest.approx(gamma, rel=1e-5)


@given(labelled(), st.booleans())
def test_linear_kernel_has_the_linear_bound(data, bias):
    X, y = data
    for epochs in (None, 4):
        try:
            plain = rb.mistake_bound(X, y, fit_intercept=bias, epochs=epochs)
        except ValueError:
            with pytest.raises(ValueError, match=r"in the feature space of K\(x, y\) = x·y"):
                rb.mistake_bound(X, y, kernel=Linear(), fit_intercept=bias, epochs=epochs)
            continue
        ours = rb.mistake_bound(X, y, kernel=Linear(), fit_intercept=bias, epochs=epochs)
        assert ours.bound == pytest.approx(plain.bound, rel=1e-6)
        assert str(ours).endswith("in the feature space of K(x, y) = x·y" + " + 1" * bias)


def test_bounds_refuse_vectors():
    X, y = rb.datasets.xor()
    with pytest.raises(ValueError, match="hyperplane is a vector of features"):
        rb.mistake_bound(X, y, kernel=RBF(1.0), hyperplane=rb.Hyperplane([1.0, 0.0], 0.0))
    with pytest.raises(ValueError, match="init is a vector of features"):
        rb.mistake_bound(X, y, kernel=RBF(1.0), init=[1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="no hyperplane separates the classes, so no bound"):
        rb.mistake_bound(X, y, kernel=Linear())

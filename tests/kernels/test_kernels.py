"""Kernel functions: right values, and bounds on rounding that hold."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import load_iris

import rosenblatt as rb
from rosenblatt.data.dots import dot
from rosenblatt.kernels import (
    RBF,
    Function,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    is_positive_semidefinite,
)
from rosenblatt.kernels.functions import Products

OF_PAIR = {
    Linear(): lambda x, y: inner(x, y),
    Polynomial(3, 0.5, -2.0): lambda x, y: (0.5 * inner(x, y) - 2.0) ** 3,
    Polynomial(2): lambda x, y: (inner(x, y) + 1) ** 2,
    RBF(0.25): lambda x, y: math.exp(-0.25 * inner(minus(x, y), minus(x, y))),
    Gaussian(1.5): lambda x, y: math.exp(-inner(minus(x, y), minus(x, y)) / (2 * 1.5**2)),
    Sigmoid(0.1, -0.5): lambda x, y: math.tanh(0.1 * inner(x, y) - 0.5),
}


def inner(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def minus(x, y):
    return [a - b for a, b in zip(x, y, strict=True)]


# Values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", OF_PAIR, ids=str)
def test_values_of_pairs(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((7, 4)), rng.standard_normal((5, 4))
    X[X < 0.3] = 0.0
    expected = [[OF_PAIR[kernel](x, y) for y in Y.tolist()] for x in X.tolist()]
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12, atol=1e-14)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        np.testing.assert_allclose(kernel(form(X), form(Y)), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(X), kernel(X, X.copy()), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(sparse.csr_array(X)), kernel.diagonal(X), 1e-13)
    x2, y2 = (X**2).sum(axis=1), (Y**2).sum(axis=1)
    np.testing.assert_allclose(kernel.of_products(X @ Y.T, x2, y2), kernel(X, Y), rtol=1e-12)
    np.testing.assert_array_equal(kernel([[1, 2]], [[3, 4]]), kernel([[1.0, 2.0]], [[3.0, 4.0]]))


@pytest.mark.parametrize("kernel", OF_PAIR, ids=str)
def test_largest_is_no_less_than_any_value(kernel):
    X = np.random.default_rng(1).standard_normal((30, 3)) * 2
    x2 = (X**2).sum(axis=1)
    limit = kernel.largest(x2, float(x2.max())) * (1 + 1e-12)
    assert (np.abs(kernel(X)) <= limit[:, np.newaxis]).all()


@pytest.mark.parametrize("degree", range(1, 13))
def test_powers_by_squaring(degree):
    z = np.arange(-4.0, 5.0)
    expected = [float(int(v) ** degree) for v in z]
    X, one = z[:, np.newaxis], np.ones((1, 1))
    assert Polynomial(degree, coef0=0.0)(X, one).ravel().tolist() == expected
    shifted = [float((int(v) + 1) ** degree) for v in z]
    assert Polynomial(degree)(X, one).ravel().tolist() == shifted


def test_radial_kernels_are_one_at_no_distance_and_never_more():
    X = np.random.default_rng(2).standard_normal((50, 3)) + 1e6
    for kernel in (RBF(2.0), Gaussian(0.5)):
        K = kernel(X)
        assert (K <= 1).all()
        assert (kernel.diagonal(X) == 1).all()
    np.testing.assert_array_equal(Gaussian(2.0)(X), RBF(1 / 8)(X))


def test_functions_of_vectors_and_of_matrices():
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    expected = np.minimum(X[:, np.newaxis], Y).sum(axis=2)
    of_vectors = Function(lambda x, y: np.minimum(x, y).sum())
    of_matrices = Function(lambda A, B: np.minimum(A[:, np.newaxis], B).sum(axis=2))
    for kernel in (of_vectors, of_matrices):
        np.testing.assert_allclose(kernel(X, Y), expected)
        np.testing.assert_allclose(kernel.diagonal(X), X.sum(axis=1))
    np.testing.assert_allclose(of_vectors(sparse.csr_array(X), sparse.csr_array(Y)), expected)
    with pytest.raises(ValueError, match="gave values that are not finite"):
        Function(lambda x, y: math.nan)(X, Y)
    with pytest.raises(ValueError, match="gave values of shape"):
        Function(lambda x, y: x)(X, Y)


def test_precomputed_values_are_taken_as_they_are():
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(Precomputed()(K), K)
    np.testing.assert_array_equal(Precomputed().diagonal(K), [2.0, 3.0])


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Linear(), "K(x, y) = x·y"),
        (Polynomial(4), "K(x, y) = (x·y + 1)^4"),
        (Polynomial(2, 0.5, -3.0), "K(x, y) = (0.5·x·y - 3)^2"),
        (Polynomial(2, coef0=0.0), "K(x, y) = (x·y)^2"),
        (RBF(0.1), "K(x, y) = exp(-0.1·‖x - y‖²)"),
        (RBF(), "K(x, y) = exp(-‖x - y‖²)"),
        (Gaussian(2.0), "K(x, y) = exp(-‖x - y‖²/(2·2²))"),
        (Sigmoid(2.0, 1.0), "K(x, y) = tanh(2·x·y + 1)"),
        (Precomputed(), "K(x, y) = given as a matrix"),
        (Function(dot), "K(x, y) = dot(x, y)"),
    ],
    ids=str,
)
def test_formulas(kernel, text):
    assert str(kernel) == text
    assert kernel.formula == text.removeprefix("K(x, y) = ")


def test_repr_and_equality():
    assert repr(Polynomial(4)) == "Polynomial(degree=4, gamma=1.0, coef0=1.0)"
    assert eval(repr(RBF(0.5)), {"RBF": RBF}) == RBF(0.5)
    assert RBF(0.5) != RBF(0.25)
    assert len({Linear(), Linear(), RBF(1.0), RBF(1.0)}) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "degree=0 is not allowed: give a whole number from 1"),
        (lambda: Polynomial(2.5), "degree=2.5 is not allowed"),
        (lambda: Polynomial(True), "degree=True is not allowed"),
        (lambda: Polynomial(2, gamma=0.0), "gamma=0.0 is not allowed: give a positive number"),
        (lambda: Polynomial(2, coef0=math.inf), "coef0=inf is not allowed: give a finite number"),
        (lambda: RBF(-1.0), "gamma=-1.0 is not allowed"),
        (lambda: RBF("scale"), "gamma='scale' is not allowed"),
        (lambda: Gaussian(0.0), "sigma=0.0 is not allowed"),
        (lambda: Gaussian(1e-200), "sigma=1e-200 is not allowed: 1/"),
        (lambda: Sigmoid(math.nan), "eta=nan is not allowed"),
        (lambda: Function("rbf"), "kernel='rbf' cannot be called"),
        (lambda: Linear()([1.0, 2.0]), r"X has shape \(2,\): give a matrix"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_whole_numbers_stay_whole():
    assert Linear().keeps_integers()
    assert Polynomial(3, 2.0, 5.0).keeps_integers()
    assert not Polynomial(3, 0.5).keeps_integers()
    assert not RBF(1.0).keeps_integers()
    assert Precomputed().keeps_integers()


# Rounding ---------------------------------------------------------------------------------------

KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(4, 0.3, 2.0),
    Polynomial(5, 2.0, -1.0),
    Polynomial(3, coef0=0.0),
    RBF(0.01),
    RBF(1.0),
    RBF(300.0),
    Gaussian(0.7),
    Sigmoid(0.3, 0.1),
    Sigmoid(-2.0, 3.0),
]
SCALES = [2.0**-70, 1e-8, 1e-3, 1.0, 30.0, 1e4]


@st.composite
def samples(draw):
    """Rows x and y of many kinds: signed or not, large or small, close together or far apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.sampled_from([1, 2, 3, 17, 64, 200]))
    X, Y = rng.standard_normal((5, d)), rng.standard_normal((23, d))
    if draw(st.booleans()):
        X, Y = abs(X), abs(Y)
    if draw(st.booleans()):  # all nearly the same: sums that cancel
        X, Y = 1e-3 * X + 1, 1e-3 * Y + 1
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.6] = 0.0
    if draw(st.booleans()):  # orthogonal but for rounding
        Y[:, ::2], Y[:, 1::2] = Y[:, :1], -Y[:, :1]
    if draw(st.booleans()):
        Y[:5] = X
    scale = draw(st.sampled_from(SCALES)), draw(st.sampled_from(SCALES))
    return (X * scale[0]).astype(np.float32), (Y * scale[1]).astype(np.float32)


def inner_products(X, Y, dtype, way):
    """The same inner products, added in different orders."""
    X, Y = X.astype(dtype), Y.astype(dtype)
    if way == "product":
        return X @ Y.T
    if way == "backwards":
        return np.ascontiguousarray(X[:, ::-1]) @ np.ascontiguousarray(Y[:, ::-1]).T
    if way == "one by one":
        Z = np.zeros((len(X), len(Y)), dtype)
        for j in range(X.shape[1]):
            Z += X[:, j : j + 1] * Y[:, j]
        return Z
    cuts = range(0, X.shape[1], 7)  # in pieces
    return sum((X[:, a : a + 7] @ Y[:, a : a + 7].T for a in cuts), np.zeros((1, 1), dtype))


def norms2(X, dtype):
    return np.array([dot(x, x) for x in X.astype(np.float64)]).astype(dtype)


@given(
    samples(),
    st.sampled_from(KERNELS),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["product", "backwards", "one by one", "in pieces"]),
    st.integers(0, 2**32),
)
def test_bounds_on_rounding(data, kernel, dtype, way, seed):
    X, Y = data
    x2, y2 = norms2(X, np.float64), norms2(Y, np.float64)
    canonical = np.array([[dot(x, y) for y in Y] for x in X])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        K = kernel.of_products(canonical, x2, y2)
        Z = inner_products(X, Y, dtype, way)
        computed = kernel.of_products(Z, norms2(X, dtype), norms2(Y, dtype)).astype(np.float64)
    if not (np.isfinite(K).all() and np.isfinite(computed).all()):
        return
    terms = np.count_nonzero(X, axis=1)
    plain = bool((X >= 0).all() and (Y >= 0).all())
    known = Products(np.finfo(dtype).eps / 2, terms, x2, float(y2.max()), plain)
    canonically = kernel.rounding(known._replace(unit=2.0**-53))  # which is rounded too
    relative, absolute = map(np.add, kernel.rounding(known), canonically)
    delta = np.random.default_rng(seed).integers(-3, 4, len(Y)).astype(np.float64)
    for i in range(len(X)):
        if not math.isfinite(relative[i]) or not math.isfinite(absolute[i]):
            continue
        pairs = list(zip(delta.tolist(), computed[i].tolist(), K[i].tolist(), strict=True))
        off = abs(sum(Fraction(t) * (Fraction(a) - Fraction(b)) for t, a, b in pairs))
        size = sum(Fraction(abs(t)) * min(Fraction(abs(a)), Fraction(abs(b))) for t, a, b in pairs)
        steps = Fraction(float(np.abs(delta).sum()))
        allowed = Fraction(float(relative[i])) * size + Fraction(float(absolute[i])) * steps
        assert off <= allowed


def test_bounds_at_the_ends_of_the_range():
    single, double = 2.0**-24, 2.0**-53
    # Squared norms whose product vanishes, of inner products that do not.
    tiny = np.array([2.0**-1000])
    for kernel in (Linear(), Polynomial(1, 1.0, -0.0)):
        _, absolute = kernel.rounding(Products(double, 3, tiny, 2.0**-200, False))
        assert absolute[0] > double * math.sqrt(2.0**-600) * math.sqrt(2.0**-600)
    # Norms that vanish, though the samples do not.
    _, absolute = Linear().rounding(Products(double, 3, 0.0 * tiny, 2.0**900, False))
    assert absolute[0] > double * 2.0**-520 * 2.0**450
    # A product lost to underflow matters once it is multiplied.
    _, absolute = Polynomial(1, 2.0**100, 0.0).rounding(Products(single, 1, tiny, 1.0, True))
    assert absolute[0] > 2.0**-149 * 2.0**100
    # Beyond the range of float32, and within that of float64.
    for kernel, size in [
        (Linear(), 2.0**130),
        (Polynomial(4), 2.0**40),
        (Polynomial(2, 2.0**-140), 1.0),
        (RBF(2.0**-200), 2.0**140),
        (Sigmoid(1.0, 0.0), 2.0**130),
    ]:
        x2 = np.array([size])
        for unit, finite in ((single, False), (double, True)):
            total = sum(kernel.rounding(Products(unit, 2, x2, size, True)))
            assert np.isfinite(total).all() == finite, (kernel, unit)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_bounds_on_rounding_are_worth_something(kernel):
    x2 = np.ones(3)
    relative, absolute = kernel.rounding(Products(2.0**-53, 100, x2, 1.0, True))
    assert relative.shape == absolute.shape == (3,)
    largest = kernel.largest(x2, 1.0)
    assert (relative * largest + absolute < 1e-9 * largest).all()


# Gram matrices ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), RBF(0.5), Gaussian(1.0)], ids=str)
def test_kernels_pass(kernel):
    found = is_positive_semidefinite(kernel(load_iris().data))
    assert found
    assert found.witness is None
    assert "never prove it" in str(found)


def exact_form(K, v):
    K, v = [[Fraction(a) for a in row] for row in K.tolist()], [Fraction(a) for a in v.tolist()]
    return sum(v[i] * K[i][j] * v[j] for i in range(len(v)) for j in range(len(v)))


def test_witness():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    found = is_positive_semidefinite(K)
    assert not found
    assert found.smallest == pytest.approx(-1.0)
    assert exact_form(K, found.witness) < 0
    assert str(found).startswith("refuted: v·Kv/v·v = -1 < 0")


def test_sigmoid_is_refuted_on_data():
    K = Sigmoid(0.1, -1.0)(load_iris().data[:40])
    found = is_positive_semidefinite(K)
    assert not found
    assert exact_form(K, found.witness) < 0


@given(arrays(np.float64, (4, 4), elements=st.integers(-5, 5).map(float)))
def test_refutes_exactly_what_has_a_negative_eigenvalue(A):
    K = A + A.T
    found = is_positive_semidefinite(K)
    if found:
        assert np.linalg.eigvalsh(K).min() > -1e-12 * abs(K).max() - 1e-300
    else:
        assert exact_form(K, found.witness) < 0
    assert is_positive_semidefinite(A @ A.T)


def test_tol():
    K = np.diag([1.0, -0.01])
    assert not is_positive_semidefinite(K)
    assert is_positive_semidefinite(K, tol=0.02)
    assert not is_positive_semidefinite(K * 1e-200)
    for tol in (-1.0, math.nan, "no"):
        with pytest.raises(ValueError, match="is not allowed: give a number >= 0"):
            is_positive_semidefinite(K, tol=tol)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), r"K has shape \(2, 3\): give the square matrix"),
        (np.ones(3), r"K has shape \(3,\)"),
        (np.empty((0, 0)), r"K has shape \(0, 0\)"),
        ([[1.0, 2.0], [0.0, 1.0]], "K is not symmetric"),
        ([[1.0, math.nan], [math.nan, 1.0]], "K holds values that are not finite"),
    ],
)
def test_refused_matrices(K, message):
    with pytest.raises(ValueError, match=message):
        is_positive_semidefinite(K)


def test_public_module():
    assert set(rb.kernels.__all__) >= {"RBF", "Gaussian", "Linear", "Polynomial", "Sigmoid"}

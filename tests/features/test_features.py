"""Feature maps: the kernel on x is the inner product on φ(x)."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from checks import every_check
from rosenblatt.features import Map, Nystroem, Polynomial, RandomFourier, Squares
from rosenblatt.kernels import maps

whole = st.integers(-4, 4).map(float)


@every_check(
    Polynomial(),
    Squares(),
    Map(np.tanh),
    RandomFourier(),
    Nystroem(),
    variants=[
        Polynomial(3, gamma=0.5, coef0=0.0),
        Squares(keep=True),
        RandomFourier(gamma="scale"),
        Nystroem("poly", gamma="scale"),
        Nystroem(rb.kernels.Gaussian()),
    ],
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# The polynomial map -----------------------------------------------------------------------------


def test_the_example_of_two_features_and_degree_two():
    u1, u2, v1, v2 = 3.0, 5.0, -2.0, 7.0
    root = math.sqrt(2)
    phi = Polynomial(degree=2).fit_transform([[u1, u2], [v1, v2]])
    expected = [1, root * u1, root * u2, root * u1 * u2, u1**2, u2**2]
    np.testing.assert_allclose(phi[0], expected, rtol=1e-15)
    assert phi[0] @ phi[1] == pytest.approx((1 + u1 * v1 + u2 * v2) ** 2, rel=1e-14)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=whole),
    st.integers(1, 4),
    st.sampled_from([(1.0, 1.0), (0.25, 4.0), (2.0, 0.0), (1.0, 0.5)]),
)
def test_inner_products_are_exact_on_whole_numbers(X, degree, parameters):
    gamma, coef0 = parameters
    phi = Polynomial(degree, gamma=gamma, coef0=coef0).fit_transform(X)
    exponents = maps.exponents(X.shape[1], degree, 0 if coef0 else degree)
    squares = maps.coefficients(X.shape[1], degree, gamma, coef0) ** 2
    monomials, exact = maps.monomials(X, degree, 0 if coef0 else degree)
    assert exact
    np.testing.assert_array_equal(monomials, np.prod(X[:, np.newaxis] ** exponents, axis=2))
    K = (gamma * (X @ X.T) + coef0) ** degree
    # The squared coefficients are multiples of a power of two: with them all is exact.
    grid = np.rint(squares * 2**20) / 2**20
    np.testing.assert_array_equal((monomials * grid) @ monomials.T, K)
    lengths = np.sqrt(np.diag(K))  # what may cancel in a sum is as large as their product
    assert (np.abs(phi @ phi.T - K) <= 1e-14 * np.outer(lengths, lengths)).all()


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 3)),
        elements=st.floats(-100, 100, allow_subnormal=False),
    ),
    st.integers(1, 5),
    st.floats(0.01, 10),
    st.sampled_from([0.0, 0.3, 1.0, 20.0]),
)
def test_inner_products_of_floats(X, degree, gamma, coef0):
    phi = Polynomial(degree, gamma=gamma, coef0=coef0).fit_transform(X)
    lengths = np.abs(X).sum(axis=1)  # squares might vanish
    size = (gamma * np.outer(lengths, lengths) + coef0) ** degree
    off = np.abs(phi @ phi.T - (gamma * (X @ X.T) + coef0) ** degree)
    assert (off <= 1e-13 * size + 1e-300).all()


@given(
    arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=whole),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([sparse.csr_array, sparse.csr_matrix]),
)
def test_csr_gives_the_same_as_csr(X, degree, coef0, form):
    phi = Polynomial(degree, coef0=coef0)
    made = phi.fit_transform(form(X))
    assert isinstance(made, form)
    assert made.has_canonical_format
    np.testing.assert_array_equal(made.toarray(), phi.fit_transform(X))


def test_csr_in_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.standard_normal((60, 30)) * (rng.random((60, 30)) < 0.2))
    whole_thing = maps.features(X, 3)
    monkeypatch.setattr(maps, "CHUNK", 100)
    assert (maps.features(X, 3) != whole_thing).nnz == 0
    np.testing.assert_array_equal(maps.features(X.toarray(), 3), whole_thing.toarray())
    assert whole_thing.nnz == sum(math.comb(k + 3, 3) for k in np.diff(X.indptr).tolist())


def test_very_wide_csr():
    X = sparse.csr_array(([2.0, 3.0], ([0, 0], [7, 999_999])), shape=(1, 1_000_000))
    made = maps.features(X, 3)
    assert made.shape == (1, math.comb(1_000_003, 3))
    assert made.nnz == 10
    assert made.data @ made.data == pytest.approx((4 + 9 + 1) ** 3)


def test_names():
    phi = Polynomial(degree=2).fit(np.ones((1, 2)))
    assert phi.get_feature_names_out().tolist() == ["1", "x0", "x1", "x0 x1", "x0^2", "x1^2"]
    assert phi.get_feature_names_out(["a", "b"]).tolist()[3:] == ["a b", "a^2", "b^2"]
    cubes = Polynomial(degree=3, coef0=0.0).fit(np.ones((1, 2)))
    assert cubes.get_feature_names_out().tolist() == ["x0 x1^2", "x0^2 x1", "x0^3", "x1^3"]
    assert Squares(keep=True).fit(np.ones((1, 1))).get_feature_names_out().tolist() == [
        "x0",
        "x0^2",
    ]
    assert RandomFourier(2).fit(np.ones((2, 1))).get_feature_names_out().tolist() == [
        "randomfourier0",
        "randomfourier1",
    ]


@pytest.mark.parametrize(("d", "degree"), [(1, 1), (1, 7), (2, 5), (5, 2), (4, 4)])
def test_every_monomial_is_there_once(d, degree):
    exponents = maps.exponents(d, degree)
    assert len({tuple(row) for row in exponents.tolist()}) == math.comb(d + degree, d)
    assert exponents.sum(axis=1).tolist() == sorted(exponents.sum(axis=1).tolist())
    assert maps.n_monomials(d, degree) == len(exponents)
    assert maps.n_monomials(d, degree, degree) == (exponents.sum(axis=1) == degree).sum()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("x", "degree", "exact"),
    [
        ([0.5, 3.0], 4, True),
        ([0.1, 0.3], 1, True),
        ([0.1, 0.3], 2, False),
        ([float(np.float32(0.1)), float(np.float32(0.7))], 2, True),
        ([float(np.float32(0.1)), float(np.float32(0.7))], 3, False),
        ([2.0**26 + 1, 1.0], 2, True),
        ([2.0**27 + 1, 1.0], 2, False),
        ([2.0**-530, 1.0], 2, True),
        ([2.0**-540, 1.0], 2, False),
        ([2.0**-530 * 3, 1.0], 2, True),
        ([2.0**-537 * 3, 1.0], 2, True),
        ([2.0**-538 * 3, 1.0], 2, False),
        ([0.0, 2.0**-540], 1, True),
        ([2.0**600, 1.0], 2, False),
    ],
)
def test_whether_monomials_are_exact(x, degree, exact, form):
    with np.errstate(over="ignore"):
        assert maps.monomials(form([x]), degree).exact is exact


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("coef0", [1.0, 0.0])
def test_same_mistakes_as_the_kernel(degree, coef0):
    rng = np.random.default_rng(degree)
    X = rng.integers(-2, 3, (40, 3)).astype(float)
    y = np.where(rng.random(40) < 0.5, 1, -1)
    # Multiplied so that coefficients are whole numbers, the features are the kernel's exactly.
    factor = np.rint(maps.coefficients(3, degree, 1.0, coef0) ** 2)
    values = maps.monomials(X, degree, 0 if coef0 else degree).values
    repeated = np.repeat(values, factor.astype(int), axis=1)
    K = (X @ X.T + coef0) ** degree
    np.testing.assert_array_equal(repeated @ repeated.T, K)

    model = rb.Perceptron(fit_intercept=False, max_epochs=12, record=True).fit(repeated, y)
    alpha, mistakes = np.zeros(40), []
    for _ in range(len(model.trace_)):  # it ends before the limit where it repeats itself
        mistakes.append(0)
        for j in range(40):
            if y[j] * ((alpha * y) @ K[:, j]) <= 0:
                alpha[j] += 1
                mistakes[-1] += 1
    counts = np.bincount(model.trace_.updates.sample, minlength=40)
    np.testing.assert_array_equal(counts, alpha)
    assert model.trace_.mistakes.tolist() == mistakes
    if degree == 1:  # all coefficients are 1, so that the transformer is exact as well
        plain = clone(model).fit(Polynomial(1, coef0=coef0).fit_transform(X), y)
        assert plain.trace_.mistakes.tolist() == mistakes


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (Polynomial(0), "degree=0 is not allowed: give a whole number from 1"),
        (Polynomial(2, gamma=-1.0), "gamma=-1.0 is not allowed: give a positive number"),
        (Polynomial(2, coef0=-1.0), "coef0=-1.0 is not allowed: .* no real features"),
        (Squares(keep=1), "keep=1 is not allowed: give True or False"),
        (Map("square"), "function='square' cannot be called"),
        (RandomFourier(0), "n_components=0 is not allowed"),
        (RandomFourier(gamma="wide"), "gamma='wide' is not known"),
        (RandomFourier(sigma=-1.0), "sigma=-1.0 is not allowed"),
        (Nystroem("cosine"), "kernel='cosine' is not known"),
        (Nystroem("precomputed"), "kernel='precomputed' has no samples to draw"),
    ],
    ids=lambda given: type(given).__name__ if not isinstance(given, str) else "",
)
def test_refused_parameters(phi, message):
    with pytest.raises(ValueError, match=message):
        phi.fit([[1.0, 2.0], [3.0, 4.0]])


def test_refused_results():
    with pytest.raises(ValueError, match=r"degree 6 makes .* numbers of 300 features"):
        Polynomial(6).fit_transform(np.ones((2, 300)))
    with pytest.raises(ValueError, match="Polynomial gave numbers that are not finite"):
        Polynomial(2).fit_transform([[1e200]])
    with pytest.raises(ValueError, match="Squares gave numbers that are not finite"):
        Squares().fit_transform([[1e200]])
    with pytest.raises(ValueError, match="coef0=-1 is not allowed"):
        maps.features(np.ones((1, 1)), 2, coef0=-1.0)


# Squares and functions --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_squares_make_a_circle_separable(form):
    X, y = rb.datasets.circles(300, random_state=0)
    assert rb.separability(X, y).verdict is rb.Verdict.INSEPARABLE
    made = Squares().fit_transform(form(X))
    assert rb.separability(made, y).verdict is rb.Verdict.SEPARABLE
    moved = Squares(keep=True).fit_transform(form(X + 3))
    assert rb.separability(moved, y).verdict is rb.Verdict.SEPARABLE
    assert rb.separability(Squares().fit_transform(X + 3), y).verdict is not rb.Verdict.SEPARABLE


X3 = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 4.0]])


@pytest.mark.parametrize(
    ("function", "rows", "expected"),
    [
        (np.square, False, X3**2),
        (lambda X: X @ np.array([[1.0], [2.0]]), False, X3 @ [[1.0], [2.0]]),
        (lambda X: X[:, 0] * X[:, 1], False, (X3[:, 0] * X3[:, 1])[:, np.newaxis]),
        (lambda x: x[0] * x[1], True, (X3[:, 0] * X3[:, 1])[:, np.newaxis]),
        (lambda x: [x[0], x[0] ** 2, x[1]], True, np.c_[X3[:, 0], X3[:, 0] ** 2, X3[:, 1]]),
        (lambda x: x / np.abs(x).sum(), True, X3 / np.abs(X3).sum(axis=1, keepdims=True)),
        (lambda x: math.hypot(*x), True, np.hypot(X3[:, 0], X3[:, 1])[:, np.newaxis]),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_functions(function, rows, expected, n):
    phi = Map(function).fit(X3[:n])
    np.testing.assert_allclose(phi.transform(X3[:n]), expected[:n], rtol=1e-12)
    if n > 1:
        assert phi.takes_rows_ is rows
        np.testing.assert_allclose(phi.transform(X3[:1]), expected[:1], rtol=1e-12)
    assert len(phi.get_feature_names_out()) == expected.shape[1]


def test_functions_of_csr():
    X = sparse.csr_array(X3)
    made = Map(lambda X: X.multiply(X).tocsr()).fit_transform(X)
    np.testing.assert_array_equal(made.toarray(), X3**2)
    made = Map(lambda x: [x[0] * x[1]]).fit_transform(X)
    np.testing.assert_array_equal(made, (X3[:, 0] * X3[:, 1])[:, np.newaxis])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: [math.nan], "the function gave numbers that are not finite"),
        (lambda x: [1.0] * (1 + (x[0] > 2)), "the function gave rows of 1, 2 features"),
        (lambda x: [], "the function gave rows of 0 features"),
        (lambda X: np.zeros((len(X), 1 + (len(X) == 3))), "gave features of shape"),
    ],
)
def test_functions_that_give_something_else(function, message):
    with pytest.raises(ValueError, match=message):
        Map(function).fit(X3[:2]).transform(X3)


# Random features --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phi", "kernel"),
    [
        (RandomFourier(4000, gamma=0.3, random_state=0), rb.kernels.RBF(0.3)),
        (RandomFourier(4000, sigma=2.0, random_state=1), rb.kernels.Gaussian(2.0)),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_random_fourier_is_close(phi, kernel, form):
    X = np.random.default_rng(0).standard_normal((30, 4))
    made = clone(phi).fit_transform(form(X))
    off = made @ made.T - kernel(X)
    # A mean of 4000 numbers between -2 and 2: five deviations, of at most √2/√4000.
    assert np.abs(off).max() < 5 * math.sqrt(2 / 4000)
    assert np.sqrt((off**2).mean()) < math.sqrt(2 / 4000)


def test_gamma_from_the_data():
    X = np.random.default_rng(0).standard_normal((50, 4)) * 3
    expected = 1 / (4 * X.var())
    for given_X in (X, sparse.csr_matrix(X)):
        assert RandomFourier(gamma="scale").fit(given_X).gamma_ == pytest.approx(expected)
        assert Nystroem(gamma="scale").fit(given_X).kernel_.gamma == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({"kernel": "rbf", "gamma": 0.2}, rb.kernels.RBF(0.2)),
        ({"kernel": "gaussian", "sigma": 2.0}, rb.kernels.Gaussian(2.0)),
        ({"kernel": "poly", "degree": 2, "coef0": 0.5, "gamma": 0.3}, None),
        ({"kernel": "linear"}, rb.kernels.Linear()),
        ({"kernel": rb.kernels.Polynomial(2)}, rb.kernels.Polynomial(2)),
        ({"kernel": lambda x, y: np.minimum(x, y).sum()}, None),
    ],
    ids=["rbf", "gaussian", "poly", "linear", "object", "function"],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_nystroem(options, kernel, form):
    X = np.abs(np.random.default_rng(0).standard_normal((20, 3)))
    if kernel is None and callable(options["kernel"]):
        kernel = rb.kernels.Function(options["kernel"])
    kernel = kernel or rb.kernels.Polynomial(2, 0.3, 0.5)
    made = Nystroem(**options, n_components=50, random_state=0).fit_transform(form(X))
    assert made.shape == (20, 20)  # no more components than samples
    np.testing.assert_allclose(made @ made.T, kernel(X), atol=1e-5)
    few = Nystroem(**options, n_components=10, random_state=0).fit_transform(form(X))
    assert np.linalg.eigvalsh(kernel(X) - few @ few.T).min() > -1e-5  # only ever less of K


# Pipelines --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pipelines_and_grids():
    X, y = rb.datasets.circles(200, random_state=3)
    model = make_pipeline(Polynomial(1), rb.Perceptron(max_epochs=500))
    search = GridSearchCV(model, {"polynomial__degree": [1, 2]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"polynomial__degree": 2}
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    "phi",
    [
        Polynomial(3),
        Squares(keep=True),
        Map(np.tanh),
        RandomFourier(7, random_state=0),
        Nystroem(rb.kernels.RBF(2.0), 3, random_state=0),
    ],
    ids=lambda phi: type(phi).__name__,
)
def test_cloned_pickled_and_shown(phi):
    made = phi.fit_transform(X3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi)).transform(X3), made)
    np.testing.assert_array_equal(clone(phi).fit_transform(X3), made)
    assert type(phi).__name__ in repr(phi)

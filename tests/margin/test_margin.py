"""Maximum and soft margins against closed forms, slow references and each other."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import reference_margin as slow
import rosenblatt as rb
from margin_samples import apart, noisy
from reference_margin import assert_honest, assert_same

Reason = rb.StopReason
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


# ----------------------------------------------------------------------------------- closed forms


def test_two_points():
    X, y = [[0.0, 0.0], [3.0, 4.0]], ["no", "yes"]
    model = rb.MaxMarginClassifier().fit(X, y)
    assert_honest(model, X, y)
    np.testing.assert_allclose(model.coef_, [[6 / 25, 8 / 25]], rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, [-1.0], rtol=1e-12)
    np.testing.assert_allclose(model.dual_coef_, [[-2 / 25, 2 / 25]], rtol=1e-12)
    np.testing.assert_allclose(model.nearest_points_, X, atol=1e-12)
    assert model.support_.tolist() == [0, 1]
    assert model.margin_ == pytest.approx(2.5, rel=1e-12)
    assert model.predict(X).tolist() == y
    assert model.n_errors_ == 0


@pytest.mark.parametrize("tol", [1e-8, 1e-12])
def test_eight_points(tol):
    X, y = rb.datasets.eight_points()
    model = rb.MaxMarginClassifier(tol=tol).fit(X, y)
    assert_honest(model, X, y)
    np.testing.assert_allclose(model.coef_, [[0.5, 0.5]], rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-4)
    np.testing.assert_allclose(model.nearest_points_, [[-1, -1], [1, 1]], atol=1e-4)
    assert model.margin_ == pytest.approx(np.sqrt(2), rel=tol)
    assert {0, 4} <= set(model.support_.tolist())


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 2), (3, 5), (1, 20), (30, 30)])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_faces_of_a_simplex(k, m, layout):
    """Unit vectors, k against m: the hulls are nearest at their centres."""
    X, y = layout(np.eye(k + m)), np.repeat([1, 0], [k, m])
    model = rb.MaxMarginClassifier(tol=1e-10).fit(X, y)
    assert_honest(model, X, y)
    assert model.margin_ == pytest.approx(np.sqrt(1 / k + 1 / m) / 2, rel=1e-9)
    w = 2 * np.repeat([1 / k, -1 / m], [k, m]) / (1 / k + 1 / m)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-4)
    assert model.intercept_[0] == pytest.approx((k - m) / (k + m), abs=1e-4)
    centres = np.repeat([[0, 1 / k], [1 / m, 0]], [k, m], axis=0).T
    np.testing.assert_allclose(model.nearest_points_, centres, atol=1e-4)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 0.07, 0.16, 0.17, 1.0, 1e3, 1e8])
def test_a_soft_margin_of_two_points_for_every_C(C):
    """α = min(C/2, 2/D²): the price is at work below C = 4/D², then the margin is the maximum."""
    X, y = np.array([[1.0, 1.0], [4.0, 5.0]]), [0, 1]
    # With a price of 1e8 the last bits of the slacks are worth more than 1e-10.
    model = rb.SoftMarginClassifier(C=C, tol=1e-10 if C < 1e8 else 1e-6).fit(X, y)
    assert_honest(model, X, y)
    alpha = min(C / 2, 2 / 25)
    np.testing.assert_allclose(model.dual_coef_, [[-alpha, alpha]], rtol=3e-3 if C == 1e8 else 1e-4)
    np.testing.assert_allclose(
        model.coef_[0], alpha * (X[1] - X[0]), rtol=3e-3 if C == 1e8 else 1e-4
    )
    # Where b is not unique it is the middle one, so the line halves the way in any case.
    assert model.decision_function([[2.5, 3.0]])[0] == pytest.approx(0, abs=1e-4)
    assert model.margin_ == pytest.approx(1 / (5 * alpha), rel=3e-3 if C == 1e8 else 1e-4)


@pytest.mark.parametrize("C", [1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("positive", [20, 30, 39, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tiny_C_puts_every_multiplier_at_its_bound(C, positive, weighted):
    """Of the lighter class; those of the other sum to as much. b is the middle of the best."""
    rng = np.random.default_rng(positive)
    X, y = rng.standard_normal((40, 3)), np.repeat([1, -1], [positive, 40 - positive])
    s = rng.integers(1, 5, 40).astype(float) if weighted else None
    model = rb.SoftMarginClassifier(C=C).fit(X, y, s)
    assert_honest(model, X, y, s)
    c = slow.prices(C, 40, s)
    alpha = np.zeros(40)
    alpha[model.support_] = model.dual_coef_[0] * y[model.support_]
    side = 1 if c[y > 0].sum() <= c[y < 0].sum() else -1
    np.testing.assert_allclose(alpha[y == side], c[y == side], rtol=1e-3)
    assert alpha[y != side].sum() == pytest.approx(c[y == side].sum(), rel=1e-3)
    first, last = slow.bias_range(X @ model.coef_[0], y, c)
    assert model.intercept_[0] == pytest.approx((first + last) / 2, abs=1e-9)
    if c[y > 0].sum() != c[y < 0].sum():
        assert np.sign(model.intercept_[0]) == -side


def test_the_middle_b():
    """Equal classes far inside the margin: every b between the nearest two will do."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = rb.SoftMarginClassifier(C=0.4, tol=1e-12).fit(X, y)
    # α = 0.1 each: w = 0.1(2 + 3 - 0 - 1) = 0.4, and |w·x + b| < 1 for -1 < b < 1 - 1.2
    np.testing.assert_allclose(model.coef_, [[0.4]], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, [-0.6], rtol=1e-6)
    np.testing.assert_allclose(model.dual_coef_, [[-0.1, -0.1, 0.1, 0.1]], rtol=1e-6)
    sides = model.sides(X, y)
    np.testing.assert_allclose(sides.slack, [0.4, 0.8, 0.8, 0.4], rtol=1e-6)
    assert sides.inside.tolist() == [0, 1, 2, 3]
    assert model.optimum_.primal == pytest.approx(0.08 + 0.1 * 2.4, rel=1e-9)


def test_identical_samples_of_both_classes():
    """Nothing is better than w = 0; the majority has its way."""
    X, y = np.ones((5, 2)), [0, 1, 1, 0, 1]
    model = rb.SoftMarginClassifier().fit(X, y)
    assert_honest(model, X, y)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-6)
    assert model.decision_function(X[:1])[0] == pytest.approx(1, abs=1e-5)
    assert model.optimum_.primal == pytest.approx(0.8, rel=1e-6)
    assert model.predict(X).tolist() == [1] * 5
    assert model.n_errors_ == 2


def test_sides_of_a_line():
    X, y = np.array([[-3.0], [-1], [-0.5], [0], [0.5], [1.0], [4]]), [0, 0, 0, 0, 0, 1, 1]
    model = rb.SoftMarginClassifier(C=1e4, tol=1e-12).fit([[-1.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.coef_, [[1.0]], rtol=1e-7)
    sides = model.sides(X, y)
    np.testing.assert_allclose(sides.slack, [0, 0, 0.5, 1, 1.5, 0, 0], atol=1e-6)
    assert sides.outside.tolist() == [0, 6]
    assert sides.on.tolist() == [1, 5]
    assert sides.inside.tolist() == [2]
    assert sides.wrong.tolist() == [3, 4]
    with pytest.raises(ValueError, match="read-only"):
        sides.slack[0] = 1


# -------------------------------------------------------------------------- against other solvers


@pytest.mark.parametrize("C", [1e-4, 0.1, 5.0, 200.0, 1e4])
@pytest.mark.parametrize(("n", "d"), [(50, 3), (12, 1), (20, 40), (4, 2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_soft_margin_against_libsvm(C, n, d, weighted):
    X, y = noisy(n, d, seed=n)
    y[:2] = 1, -1
    s = np.random.default_rng(1).integers(0, 4, n) + (np.arange(n) < 3) if weighted else None
    model = rb.SoftMarginClassifier(C=C).fit(X, y, s)
    best = assert_honest(model, X, y, s)
    primal, dual = slow.assert_no_worse_than_libsvm(best, X, y, C, s)
    if d != 1 or C < 1e3:  # on a line with a high price it does not arrive
        assert primal - dual <= 1e-3 * primal
        assert best.primal <= primal * (1 + 1e-6)


@pytest.mark.parametrize("gap", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize(("n", "d"), [(50, 3), (40, 1), (20, 60), (2, 5), (400, 4)])
def test_maximum_margin_against_non_negative_least_squares(n, d, gap):
    X, y = apart(n, d, gap, seed=d)
    model = rb.MaxMarginClassifier().fit(X, y)
    assert_honest(model, X, y)
    few = np.union1d(model.support_, np.arange(0, n, max(1, n // 40)))
    w, b = slow.max_margin(X[few], y[few])
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(w), rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-3 * np.linalg.norm(w))
    assert model.intercept_[0] == pytest.approx(b, abs=1e-3 * np.linalg.norm(w))
    low, high = model.nearest_points_
    np.testing.assert_allclose((high - low) / 2, w / (w @ w), atol=1e-3 * model.margin_)
    np.testing.assert_allclose(model.decision_function([low, high]), [-1, 1], atol=1e-3)


def test_known_margins():
    X, y = rb.datasets.known_margin(400, 7, margin=0.02, random_state=0)
    model = rb.MaxMarginClassifier().fit(X, y)
    assert_honest(model, X, y)
    assert model.margin_ >= 0.02 * (1 - 1e-9)
    assert model.n_errors_ == 0


def test_what_conditions_say():
    X, y = noisy()
    model = rb.SoftMarginClassifier(tol=1e-9).fit(X, y)
    found = rb.certify.conditions(model.optimum_, X, y)
    assert model.conditions_ == found
    assert found.feasibility <= 1e-12
    assert found.balance <= 1e-12
    assert found.stationarity <= 1e-4
    assert found.complementarity <= 1e-8
    assert found.gap <= 1e-9


# --------------------------------------------------------------------------- what changes nothing


@pytest.mark.parametrize("C", [0.01, 3.0, 1e3])
def test_repeated_rows_are_whole_weights(C):
    X, y = noisy(30, 2)
    times = np.random.default_rng(0).integers(0, 4, 30)
    times[:2] = 1
    rows = np.repeat(np.arange(30), times)
    repeated = rb.SoftMarginClassifier(C=C, tol=1e-9).fit(X[rows], y[rows])
    weighted = rb.SoftMarginClassifier(C=C, tol=1e-9).fit(X, y, times)
    assert_honest(repeated, X[rows], y[rows])
    assert_honest(weighted, X, y, times)
    assert_same(repeated, weighted)
    assert not set(np.flatnonzero(times == 0)) & set(weighted.support_.tolist())
    lighter = rb.SoftMarginClassifier(C=C, tol=1e-9).fit(X, y, times * 1e-6)
    assert_same(repeated, lighter)


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
def test_a_sample_without_weight_is_not_there(kind):
    X, y = apart()
    X, y = np.vstack([X, -X[:5]]), np.append(y, y[:5])
    s = np.repeat([1.0, 0.0], [50, 5])
    model, without = kind().fit(X, y, s), kind().fit(X[:50], y[:50])
    assert_honest(model, X, y, s)
    assert_same(model, without)
    assert model.support_.max() < 50


def test_weights_do_not_move_a_maximum_margin():
    X, y = apart()
    s = np.random.default_rng(0).random(50) + 0.01
    weighted, plain = rb.MaxMarginClassifier().fit(X, y, s), rb.MaxMarginClassifier().fit(X, y)
    assert_honest(weighted, X, y, s)
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)


@pytest.mark.parametrize("class_weight", ["balanced", {-1: 3.0, 1: 0.5}])
def test_class_weights_are_sample_weights(class_weight):
    X, y = noisy(60)
    keep = (y == 1) | (np.arange(60) % 3 > 0)
    X, y = X[keep], y[keep]
    s = np.random.default_rng(0).random(len(y))
    if class_weight == "balanced":
        factor = len(y) / (2 * np.where(y == 1, (y == 1).sum(), (y == -1).sum()))
    else:
        factor = np.where(y == 1, 0.5, 3.0)
    by_class = rb.SoftMarginClassifier(class_weight=class_weight, tol=1e-9).fit(X, y, s)
    by_sample = rb.SoftMarginClassifier(tol=1e-9).fit(X, y, s * factor)
    assert_same(by_class, by_sample)
    assert_honest(by_class, X, y, s * factor)


@pytest.mark.parametrize(
    "model", [rb.SoftMarginClassifier(C=20), rb.MaxMarginClassifier()], ids=["soft", "hard"]
)
def test_flipping_the_labels_flips_the_hyperplane(model):
    X, y = apart()
    one = pickle.loads(pickle.dumps(model)).fit(X, y)
    other = pickle.loads(pickle.dumps(model)).fit(X, -y)
    assert_same(one, other, scale=-1.0)
    assert one.intercept_[0] == pytest.approx(-other.intercept_[0], abs=1e-3)


def stored(X):
    """The same numbers in many ways."""
    yield "dense", X
    yield "Fortran", np.asfortranarray(X)
    yield "float32", X.astype(np.float32)
    for kind in (np.int32, np.int64):
        matrix = csr_matrix(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
        yield kind.__name__, matrix
    yield "csr float32", csr_array(X.astype(np.float32))


@pytest.mark.parametrize(("n", "d"), [(60, 4), (15, 40)])
@pytest.mark.parametrize(
    ("C", "size"),
    [(None, None), (None, 1), (None, 16), (0.1, None), (0.1, 7), (50.0, None), (50.0, 1)],
)
def test_however_the_data_are_stored(n, d, C, size, in_blocks):
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, (n, d)) * (rng.random((n, d)) < 0.7) / 4.0
    w = rng.standard_normal(d)
    y = np.where(X @ w > 0, 1, 0)
    if C is None:
        X[:, 0] += np.sign(w[0]) * y
    if size is not None:
        in_blocks(size)
    first = None
    for _, matrix in stored(X):
        model = rb.MaxMarginClassifier() if C is None else rb.SoftMarginClassifier(C=C, tol=1e-8)
        model.fit(matrix, y)
        assert_honest(model, X, y)
        first = first or model
        assert_same(first, model)
        assert model.intercept_[0] == pytest.approx(first.intercept_[0], abs=1e-3)


@pytest.mark.compiled
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "model", [rb.SoftMarginClassifier(C=20), rb.MaxMarginClassifier()], ids=["soft", "hard"]
)
def test_threads_change_nothing(layout, model, monkeypatch):
    monkeypatch.setattr("rosenblatt.margin.classifiers.MANY", 1)
    monkeypatch.setattr("rosenblatt.running.threads.WORTHWHILE", 1)
    X, y = apart(6000, 5, gap=0.05)
    if isinstance(model, rb.SoftMarginClassifier):
        y[::10] *= -1
    fits = [
        pickle.loads(pickle.dumps(model)).set_params(n_jobs=jobs).fit(layout(X), y)
        for jobs in (1, 2, 5, None)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        np.testing.assert_array_equal(other.intercept_, fits[0].intercept_)
        assert other.gap_ == fits[0].gap_


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("model", "n", "noise"),
    [
        (rb.SoftMarginClassifier(), 12_000, 10.0),
        (rb.SoftMarginClassifier(C=1e4), 3000, 10.0),
        (rb.MaxMarginClassifier(tol=1e-4), 3000, 0.0),
    ],
    ids=["coordinates", "newton", "hard"],
)
def test_threads_of_matrix_products_change_nothing(model, n, noise):
    """BLAS gets four, also where there are fewer cores: with one thread nothing could differ."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 400)).astype(np.float32)
    y = X @ rng.standard_normal(400) + noise * rng.standard_normal(n) > 0
    X[:, 0] += np.where(noise, 0.0, 2.0) * (2 * y - 1)  # apart, but for noise
    with threadpool_limits(4, user_api="blas"):
        one, four = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 4))
    np.testing.assert_array_equal(one.coef_, four.coef_)
    np.testing.assert_array_equal(one.intercept_, four.intercept_)
    assert one.gap_ == four.gap_


# ------------------------------------------------------------------------------------ rough data


@pytest.mark.parametrize("scale", [1e-50, 1e-6, 1e-3, 1e3, 1e6, 1e50])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_scaling_the_samples_scales_the_margin(scale, layout):
    X, y = apart()
    plain = rb.MaxMarginClassifier().fit(X, y)
    model = rb.MaxMarginClassifier().fit(layout(X * scale), y)
    assert_honest(model, X * scale, y)
    assert model.margin_ == pytest.approx(scale * plain.margin_, rel=1e-7)
    X, y = noisy()
    plain = rb.SoftMarginClassifier(C=5.0).fit(X, y)
    model = rb.SoftMarginClassifier(C=5.0 / scale**2).fit(layout(X * scale), y)
    assert_honest(model, X * scale, y)
    assert model.optimum_.primal * scale**2 == pytest.approx(plain.optimum_.primal, rel=2e-6)


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("C", [None, 0.1, 5.0, 1e3])
def test_columns_far_from_the_origin(shift, layout, C):
    """w stays, b moves. The data are multiples of 2⁻⁸: shifting them is exact."""
    X, y = apart(gap=0.5) if C is None else noisy()
    X, away = np.round(X * 256) / 256, np.array([shift, -shift, 0.0])
    new = rb.MaxMarginClassifier if C is None else lambda: rb.SoftMarginClassifier(C=C)
    here, there = new().fit(X, y), new().fit(layout(X + away), y)
    assert_honest(here, X, y)
    assert_honest(there, X + away, y)
    assert_same(here, there, off=1e-15 * shift)
    np.testing.assert_array_equal(here.predict(X), there.predict(X + away))


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("C", [None, 1e-3, 1.0, 1e3])
def test_columns_of_very_different_scale(layout, C):
    X, y = apart(gap=0.5) if C is None else noisy()
    X = X * [1e-6, 1.0, 1e6]
    model = rb.MaxMarginClassifier() if C is None else rb.SoftMarginClassifier(C=C)
    model.fit(layout(X), y)
    assert_honest(model, X, y)
    if C is None:
        w, _ = slow.max_margin(X, y)
        assert model.margin_ == pytest.approx(1 / np.linalg.norm(w), rel=1e-5)


@pytest.mark.parametrize("C", [None, 0.1, 100.0])
def test_constant_and_repeated_columns(C):
    """A column twice is the same as √2 times it once; a constant one has no weight."""
    X, y = apart() if C is None else noisy()
    new = rb.MaxMarginClassifier if C is None else lambda: rb.SoftMarginClassifier(C=C, tol=1e-9)
    wide = np.column_stack([X, X[:, 0], np.zeros(50), np.full(50, 7.0)])
    model, plain = new().fit(wide, y), new().fit(X * [np.sqrt(2), 1, 1], y)
    assert_honest(model, wide, y)
    assert model.optimum_.primal == pytest.approx(plain.optimum_.primal, rel=1e-6)
    w = model.coef_[0]
    assert w[0] == pytest.approx(w[3], abs=1e-3 * np.linalg.norm(w))
    np.testing.assert_allclose(w[4:], 0, atol=1e-4 * np.linalg.norm(w))


def test_many_equal_rows():
    X = np.repeat([[0.0, 0], [1, 0], [0, 2], [3, 1]], [400, 3, 300, 1], axis=0)
    y = np.repeat([0, 1, 0, 1], [400, 3, 300, 1])
    hard = rb.MaxMarginClassifier().fit(X, y)
    assert_honest(hard, X, y)
    w, _ = slow.max_margin(np.unique(X, axis=0), [0, 0, 1, 1])
    np.testing.assert_allclose(hard.coef_[0], w, atol=1e-4)
    soft = rb.SoftMarginClassifier(C=10.0).fit(X, y)
    assert_honest(soft, X, y)
    few = rb.SoftMarginClassifier(C=10.0).fit(
        [[0.0, 0], [1, 0], [0, 2], [3, 1]], [0, 1, 0, 1], [400, 3, 300, 1]
    )
    assert_same(soft, few)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e4])
def test_rows_that_have_both_labels(C):
    X, y = noisy(20, 2)
    X, y = np.vstack([X, X[:15]]), np.append(y, -y[:15])
    model = rb.SoftMarginClassifier(C=C).fit(X, y)
    best = assert_honest(model, X, y)
    slow.assert_no_worse_than_libsvm(best, X, y, C)


@pytest.mark.parametrize("power", [-3, -5, -7, -9])
def test_tiny_margins(power):
    X, y = apart(60, 3, gap=0.0)
    X, gap = np.round(X * 2**8) / 2**8, 2.0 ** np.floor(power / np.log10(2))
    # Pairs that face each other across the plane x_0 = 0, everything else further away.
    X[:, 0] = np.where(y > 0, 1, -1) * (np.abs(X[:, 0]) + gap)
    X[:2] = [[gap, 1, 1], [-gap, 1, 1]]
    X[2:4] = [[gap, -1, 2], [-gap, -1, 2]]
    X[4:6] = [[gap, 2, -2], [-gap, 2, -2]]
    y[:6] = [1, -1] * 3
    model = rb.MaxMarginClassifier(tol=1e-6).fit(X, y)
    assert_honest(model, X, y)
    assert model.margin_ == pytest.approx(gap, rel=1e-5)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_far_more_features_than_samples(layout):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 700)), np.repeat([0, 1], 6)
    model = rb.MaxMarginClassifier().fit(layout(X), y)
    assert_honest(model, X, y)
    w, _ = slow.max_margin(X, y)
    assert_same_direction = model.coef_[0] @ w / np.linalg.norm(w) * model.margin_
    assert assert_same_direction == pytest.approx(1, abs=1e-6)
    soft = rb.SoftMarginClassifier(C=0.01).fit(layout(X), y)
    assert_honest(soft, X, y)


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
@pytest.mark.parametrize("size", [1e-308, 1e-150, 1e150, 1e307])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_numbers_at_the_ends_of_floats(kind, size, layout):
    X, y = apart()
    X = X / np.abs(X).max() * size
    model = kind().fit(layout(X), y)
    assert model.stop_reason_ is Reason.GAP_CLOSED
    assert rb.certify.check(model.certificate_, X, y)
    if kind is rb.MaxMarginClassifier:
        plain = kind().fit(X / size, y)
        assert model.margin_ / size == pytest.approx(plain.margin_, rel=1e-8)
        np.testing.assert_array_equal(model.predict(X), y)


# ------------------------------------------------------------------------------- not separable


def test_not_separable_warns_and_gives_the_soft_margin():
    X, y = XOR
    with pytest.warns(rb.NotSeparableWarning, match="no hyperplane separates 0 from 1") as caught:
        model = rb.MaxMarginClassifier().fit(X, y)
    assert len(caught) == 1
    assert "C=4" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.stop_reason_ is Reason.INSEPARABLE
    assert isinstance(model.certificate_, rb.Inseparable)
    assert rb.certify.check(model.certificate_, X, y)
    assert model.nearest_points_ is None
    assert model.optimum_.C == 4.0
    found = rb.certify.check(model.optimum_, X, y)
    assert found, found.why
    assert model.gap_ <= 1e-6
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_not_separable_can_be_an_error(weighted):
    X, y = noisy(40)
    s = np.ones(40) + np.arange(40) if weighted else None
    with pytest.raises(rb.NotSeparableError, match="Use SoftMarginClassifier") as caught:
        rb.MaxMarginClassifier(on_inseparable="raise").fit(X, y, s)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value.certificate, rb.Inseparable)
    assert rb.certify.check(caught.value.certificate, X, y)
    assert "\n" not in str(caught.value)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert str(twin) == str(caught.value)
    assert rb.certify.check(twin.certificate, X, y)


@quiet
@pytest.mark.parametrize("seed", range(4))
def test_the_soft_answer_is_that_of_C_equal_to_N(seed):
    X, y = noisy(40, 2, seed)
    s = np.random.default_rng(seed).random(40) if seed % 2 else None
    model = rb.MaxMarginClassifier().fit(X, y, s)
    N = 40 if s is None else s.sum()
    assert model.stop_reason_ is Reason.INSEPARABLE
    assert pytest.approx(N, rel=1e-12) == model.optimum_.C
    assert_same(model, rb.SoftMarginClassifier(C=N).fit(X, y, s))
    assert rb.certify.check(model.optimum_, X, y, s)


def test_quasi_separable():
    """The classes touch: a hyperplane has no sample on its wrong side, but some on it."""
    X, y = np.array([[0.0, 0], [2, 0], [1, 0], [1, 1], [0, -1]]), [0, 0, 1, 1, 0]
    with pytest.warns(rb.NotSeparableWarning):
        model = rb.MaxMarginClassifier().fit(X, y)
    assert isinstance(model.certificate_, rb.QuasiSeparable)
    assert rb.certify.check(model.certificate_, X, y)
    assert model.stop_reason_ is Reason.INSEPARABLE
    with pytest.raises(rb.NotSeparableError) as caught:
        rb.MaxMarginClassifier(on_inseparable="raise").fit(X, y)
    assert isinstance(caught.value.certificate, rb.QuasiSeparable)


def test_a_sample_with_both_labels_is_never_separable():
    X, y = apart()
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    with pytest.warns(rb.NotSeparableWarning):
        model = rb.MaxMarginClassifier().fit(X, y)
    assert model.certificate_.support.tolist() == [0, 50]


def test_rows_in_a_proof_are_those_of_X():
    """Samples without weight are left out of the proof, and the others keep their numbers."""
    X, y = XOR
    X, y = np.vstack([X + 10, X]), np.append(1 - y, y)
    s = np.repeat([0.0, 2.0], 4)
    with pytest.warns(rb.NotSeparableWarning, match="C=8"):
        model = rb.MaxMarginClassifier().fit(X, y, s)
    assert model.certificate_.support.min() >= 4
    assert rb.certify.check(model.certificate_, X, y)

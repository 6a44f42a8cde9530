"""The kernel perceptron goes on: epoch by epoch, over a stream, from a copy, from a warm start."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rosenblatt as rb
from reference_kernel import forgetful, gram, noise, signs, spread, train
from rosenblatt.kernel import kernel_values as values

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same_model(a, b, X):
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    for name in ("support_", "dual_coef_", "alpha_", "n_mistakes_", "n_updates_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert (a.n_iter_, a.n_errors_) == (b.n_iter_, b.n_errors_)


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_epoch_by_epoch(keep, classes, kernel, form, monkeypatch):
    monkeypatch.setattr(values, "BLOCK", 8)
    monkeypatch.setattr(values, "WIDE_BLOCK", 8)
    X, y = noise(classes=classes)
    X = form(X @ X.T if kernel == "precomputed" else X)
    gamma = 0.1
    whole = rb.KernelPerceptron(kernel=kernel, gamma=gamma, keep=keep, max_epochs=5, record=True)
    whole.fit(X, y)
    parts = rb.KernelPerceptron(kernel=kernel, gamma=gamma, keep=keep, record=True)
    for _ in range(5):
        parts.partial_fit(X, y, classes=np.arange(classes))
    for a, b in zip(whole.fits_, parts.fits_, strict=True):
        np.testing.assert_array_equal(a.trace.mistakes, b.trace.mistakes)
        for column in ("epoch", "sample", "value", "step", "update"):
            found = (getattr(fit.trace.updates, column) for fit in (a, b))
            np.testing.assert_array_equal(*found)
    assert_same_model(whole, parts, X)


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_stream_is_one_long_epoch(keep, classes):
    X, y = noise(60, classes=classes)
    model = rb.KernelPerceptron(gamma=0.3, keep=keep, record=True)
    for a in (0, 20, 40):
        rows = slice(a, a + 20)
        model.partial_fit(X[rows], y[rows], classes=np.arange(classes))
        old = model.support_ < 0
        np.testing.assert_array_equal(model.support_vectors_[~old], X[rows][model.support_[~old]])
        assert old.any() == (a > 0)
    K = gram(model.kernel_, X)
    for k, fit in enumerate(model.fits_):
        path = train(K, signs(y == k if classes > 2 else y), [range(60)])
        updates = fit.trace.updates
        found = (updates.sample + 20 * (updates.epoch - 1)).tolist()
        assert found == [row[1] for row in path.log]
        assert updates.value.tolist() == [row[2] for row in path.log]
        wanted = {"average": K @ path.average, "vote": path.vote(K)}.get(keep, K @ path.coef)
        f = model.decision_function(X).reshape(60, -1)[:, k]
        np.testing.assert_allclose(f, wanted, rtol=1e-10, atol=1e-12)


def blocks_of(model, X, y, size, classes):
    for a in range(0, len(y), size):
        model.partial_fit(X[a : a + size], y[a : a + size], classes=np.arange(classes))
        yield model


@pytest.mark.parametrize("budget", [1, 4, 15])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_stream_with_a_budget(budget, classes, form):
    """What is forgotten depends on the order of the stream alone, not on its pieces."""
    X, y = noise(90, classes=classes)
    X = form(np.rint(2 * X))
    model = rb.KernelPerceptron(kernel="poly", degree=2, gamma=1, budget=budget, record=True)
    for part in blocks_of(model, X, y, 15, classes):
        assert len(part.support_) <= budget
    labels = np.column_stack([signs(y == k if classes > 2 else y) for k in range(len(model.fits_))])
    K = gram(model.kernel_, X)
    support, logs = forgetful(K, labels, [range(90)], budget)
    for fit, log in zip(model.fits_, logs, strict=True):
        found = fit.trace.updates.sample + 15 * (fit.trace.updates.epoch - 1)
        assert found.tolist() == [i for _, i in log]
    found = model.support_vectors_
    wanted = X[list(support)]
    assert abs(found - wanted).sum() == 0
    np.testing.assert_array_equal(model.dual_coef_.T, np.array(list(support.values()), float))


def test_a_budget_comes_later():
    """A warm start with too many support vectors keeps those with the latest mistakes."""
    X, y = noise(60)
    model = rb.KernelPerceptron(kernel="linear", max_epochs=1).fit(X, y)
    assert len(model.support_) > 5
    for going_on in (
        lambda m: m.set_params(warm_start=True).fit(X, y),
        lambda m: m.partial_fit(X, y),
    ):
        later = copy.deepcopy(model).set_params(budget=5)
        going_on(later)
        assert len(later.support_) <= 5
        assert later.n_errors_ == (later.predict(X) != y).sum()


@pytest.mark.parametrize("budget", [2, 3, 5, 8])
def test_separated_problems_stay_so_under_a_budget(budget):
    """Problems share the support vectors: what one forgets, another may have needed."""
    for seed in range(6):
        X, y = noise(24, classes=4, seed=seed)
        X = X + 3 * np.eye(4)[y]
        model = rb.KernelPerceptron(gamma=0.3, budget=budget, max_epochs=30).fit(X, y)
        f = model.decision_function(X)
        for k, reason in enumerate(model.stop_reason_):
            if reason is rb.StopReason.SEPARATED:
                assert (signs(y == k) * f[:, k] > 0).all(), (seed, k)


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
@pytest.mark.parametrize("more", [{}, {"drop_after": 3}, {"order": "random-mistake"}])
def test_copies_go_on_exactly(keep, more):
    X, y = noise(classes=3)
    model = rb.KernelPerceptron(keep=keep, max_epochs=4, random_state=3, record=True, **more)
    model.fit(X, y)
    twins = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    model.partial_fit(X[::-1], y[::-1]).partial_fit(X, y)
    for twin in twins:
        twin.partial_fit(X[::-1], y[::-1]).partial_fit(X, y)
        assert_same_model(model, twin, X)
    fresh = clone(model)
    assert not hasattr(fresh, "fits_")
    assert_same_model(fresh.fit(X, y), clone(model).fit(X, y), X)


def go_on_from(coef, K, y, visits):
    """One epoch from some coefficients; the sum of the votes and of the vectors, too."""
    votes = total = 0
    for i in range(visits):
        if not y[i] * (K[i] @ coef) > 0:
            coef[i] += y[i]
        votes = votes + np.where(K @ coef > 0, 1, -1)
        total = total + coef
    return coef, votes / visits, total / visits


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_warm_start(keep):
    """It begins with what was kept (of a vote: with the last vector)."""
    X, y = noise()
    X = np.rint(2 * X)
    model = rb.KernelPerceptron(kernel="linear", keep=keep, max_epochs=1, warm_start=True)
    start = spread(model.fit(X, y), 40)
    if keep == "vote":
        start = np.zeros(40)
        start[model.support_] = model.fits_[0].last
    model.fit(X, y)
    last, votes, mean = go_on_from(start, X @ X.T, signs(y), 40)
    assert model.n_iter_ == 1
    wanted = {"last": X @ X.T @ last, "vote": votes, "average": X @ X.T @ mean}[keep]
    np.testing.assert_allclose(model.decision_function(X), wanted, rtol=1e-9, atol=1e-9)


def test_a_warm_start_in_a_cycle_says_so_only_if_it_is_one():
    """The start of a run is the vector it begins with, not zero."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.integers(-2, 3, (4, 2)).astype(float)
        y = rng.permutation([0, 0, 1, 1])
        model = rb.KernelPerceptron(kernel="linear", warm_start=True, max_epochs=1).fit(X[::-1], y)
        coef, old = model.dual_coef_[0], model.support_vectors_
        model.set_params(max_epochs=50).fit(X, y)
        if (found := model.certificate_) is not None:
            Z = np.vstack([old, X])
            a, states = np.r_[coef, np.zeros(4)], []
            for _ in range(found.entry + found.period + 1):
                states.append(X @ Z.T @ a)
                for i in range(4):
                    a[len(old) + i] += signs(y)[i] * (signs(y)[i] * (X[i] @ Z.T @ a) <= 0)
            np.testing.assert_array_equal(states[found.entry], states[-1])


# ------------------------------------------------------------------------- streams of all kinds


def assert_one_long_epoch(kernel, pieces, weights=None):
    """Pieces of a stream, given one after the other: the mistakes of one epoch over all."""
    model = rb.KernelPerceptron(kernel=kernel, gamma=1.0, degree=3, record=True)
    starts = np.cumsum([0, *(len(y) for _, y in pieces)])
    weights = [np.ones(len(y)) for _, y in pieces] if weights is None else weights
    for (X, y), weight in zip(pieces, weights, strict=True):
        model.partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    X, y = np.concatenate([X for X, _ in pieces]), np.concatenate([y for _, y in pieces])
    path = train(gram(model.kernel_, X), signs(y), [range(len(y))], np.concatenate(weights))
    updates = model.trace_.updates
    assert (updates.sample + starts[updates.epoch - 1]).tolist() == [row[1] for row in path.log]
    assert updates.value.tolist() == [row[2] for row in path.log]


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("scale", [1e12, 1e20, 1e25, 1e40])
def test_a_stream_of_large_then_small_samples(scale, kernel):
    if kernel == "poly" and scale > 1e30:
        scale = 1e30
    X, y = noise(24)
    assert_one_long_epoch(kernel, [(X[:12] * scale, y[:12]), (X[12:], y[12:])])


def test_a_stream_of_fractions_then_whole_numbers():
    """Sums over the earlier samples are rounded, whatever the later ones are."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A = rng.choice([0.1, 0.2, 0.3, 0.4, -0.3, 0.7], (8, 2))
        B = rng.integers(-2, 3, (8, 2)).astype(float)
        y = rng.integers(0, 2, 16)
        assert_one_long_epoch("linear", [(A, y[:8]), (B, y[8:])])
        weights = [rng.choice([0.1, 0.2, 0.3, 0.7], 8), np.ones(8)]
        assert_one_long_epoch("linear", [(np.rint(9 * A), y[:8]), (B, y[8:])], weights)


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("then", [np.asarray, sparse.csr_array])
def test_a_stream_of_dense_and_sparse_samples(first, then):
    X, y = noise()
    X = np.rint(X)
    model = rb.KernelPerceptron(kernel="poly", gamma=1, degree=2)
    model.partial_fit(first(X[:20]), y[:20], classes=[0, 1]).partial_fit(then(X[20:]), y[20:])
    path = train((X @ X.T + 1) ** 2, signs(y), [range(40)])
    assert model.n_mistakes_ == len(path.log)
    for form in (np.asarray, sparse.csr_array):
        f = model.decision_function(form(X))
        np.testing.assert_array_equal(f, (X @ X.T + 1) ** 2 @ path.coef)


def test_a_stream_of_double_then_single_precision():
    """Earlier support vectors keep all their digits."""
    X, y = noise()
    model = rb.KernelPerceptron(gamma=0.3).partial_fit(X[:20], y[:20], classes=[0, 1])
    rows = model.support_
    model.partial_fit(X[20:].astype(np.float32), y[20:])
    np.testing.assert_array_equal(model.support_vectors_[: len(rows)], X[rows])


def test_duplicate_entries_of_sparse_samples_add_up():
    X, y = noise()
    model = rb.KernelPerceptron(gamma=0.3).fit(X, y)
    half = sparse.csr_array(X) / 2
    twice = sparse.csr_array(
        (np.tile(half.data.reshape(40, 4), 2).ravel(), np.tile(np.arange(4), 80), 2 * half.indptr),
        shape=X.shape,
    )
    np.testing.assert_allclose(model.decision_function(twice), model.decision_function(X))
    again = rb.KernelPerceptron(gamma=0.3).fit(twice, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vectors_that_a_run_begins_with_are_not_written_over():
    X, y = rb.datasets.xor()
    X = np.tile(X, (5, 1)) + np.arange(20)[:, np.newaxis] / 7
    y = np.tile(y, 5)
    model = rb.KernelPerceptron(gamma=0.5, budget=6, max_epochs=1).fit(X, y)
    vectors = model.support_vectors_
    before = vectors.copy()
    model.partial_fit(X[::-1] * 0.9, y[::-1])
    assert not np.array_equal(model.support_vectors_, before)
    np.testing.assert_array_equal(vectors, before)

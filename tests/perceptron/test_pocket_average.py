"""The pocket exactly as defined, and the average, on data large enough to prune and to batch."""

import numpy as np
import pytest
from scipy import sparse

import reference
import rosenblatt as rb
from reference import augment, kept, last, orders
from rosenblatt.contract.parameters import seed_from
from rosenblatt.data.dots import dot
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.perceptron.pocket import Pocket
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Halt
from rosenblatt.running.scanner import Scanner
from rosenblatt.running.threads import Team

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def noisy(n=400, d=4, flip=0.1, seed=0):
    """Separable points, some with the wrong label."""
    clean = rb.datasets.known_margin(n, d, margin=0.002, rotate=True, random_state=seed)
    return rb.datasets.flip_labels(clean, flip, random_state=seed)


def path_of(model, X, y, weight=None, seed=0):
    Xt, n = augment(X, model.fit_intercept), len(y)
    epochs = orders(model.order, n, model.n_iter_, seed_from(seed))
    start = np.zeros(Xt.shape[1])
    if model.update == "online":
        return reference.online(Xt, y, epochs, start, model.eta0, weight)
    if model.update == "mixed":
        return reference.mixed(Xt, y, epochs, start, model.shards or 16, model.eta0, weight)
    size = n if model.update == "batch" else model.batch_size
    return reference.minibatch(Xt, y, epochs, start, size, model.eta0, weight)


FORMS = {
    "online": {},
    "shuffled": {"order": "shuffled"},
    "sampled": {"order": "sampled"},
    "batch": {"update": "batch"},
    "minibatch": {"update": "minibatch", "batch_size": 16},
    "mixed": {"update": "mixed", "shards": 5, "eta0": 0.5},
    "mixed, shuffled": {"update": "mixed", "order": "shuffled"},
    "no bias": {"fit_intercept": False},
    "eta0=0.3": {"eta0": 0.3},
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@forms
@pytest.mark.parametrize("flip", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_pocket(form, flip, layout):
    X, y = noisy(flip=flip)
    model = rb.Perceptron(**form, keep="pocket", max_epochs=12, random_state=0).fit(layout(X), y)
    path = path_of(model, X, y)
    Xt = augment(X, model.fit_intercept)
    best, after = reference.pocket(path, Xt, y)
    np.testing.assert_allclose(kept(model), best, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(model.trace_.pocket_errors, after)
    assert model.n_errors_ == after[-1] == (model.predict(X) != y).sum()
    np.testing.assert_allclose(last(model), path.theta, rtol=1e-12, atol=1e-14)


@forms
def test_weighted_pocket(form):
    """Few and coarse weights, so that many vectors tie and rounding plays no part."""
    X, y = noisy(seed=1)
    weight = np.random.default_rng(1).choice([0.0, 0.25, 1.0, 8.0], len(y))
    model = rb.Perceptron(**form, keep="pocket", max_epochs=12, random_state=0)
    model.fit(X, y, sample_weight=weight)
    path = path_of(model, X, y, weight)
    best, after = reference.pocket(path, augment(X, model.fit_intercept), y, weight)
    np.testing.assert_allclose(kept(model), best, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(model.trace_.pocket_errors, after)
    assert model.n_errors_ == (model.predict(X) != y).sum()


@forms
def test_pocket_with_weights_that_round(form):
    X, y = noisy(seed=2)
    weight = np.random.default_rng(2).random(len(y)) ** 8
    model = rb.Perceptron(**form, keep="pocket", max_epochs=12, random_state=0)
    model.fit(X, y, sample_weight=weight)
    path = path_of(model, X, y, weight)
    best, after = reference.pocket(path, augment(X, model.fit_intercept), y, weight)
    np.testing.assert_allclose(kept(model), best, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.trace_.pocket_errors, after, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_earliest_of_many_ties(seed):
    """Few different integer points: a run meets the same number of errors again and again."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (80, 3)).astype(float)
    y = np.where(rng.random(80) < 0.5, 1, -1)
    model = rb.Perceptron(keep="pocket", order="shuffled", max_epochs=30, random_state=0).fit(X, y)
    path = path_of(model, X, y)
    counts = [reference.errors(augment(X), y, theta) for theta in path.thetas]
    assert counts.count(min(counts)) > 1 or seed != 0
    np.testing.assert_array_equal(kept(model), path.thetas[int(np.argmin(counts))])


@pytest.mark.parametrize(
    ("seed", "order"), [(0, "cyclic"), (1, "shuffled"), (2, "cyclic"), (3, "shuffled")]
)
def test_near_ties_are_settled_by_the_dot_product_of_predict(seed, order):
    """Tenths: many values are zero but for rounding, which depends on the order of adding."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (100, 11)) * 0.1
    y = np.where(rng.random(100) < 0.5, 1, -1)
    model = rb.Perceptron(
        keep="pocket", order=order, max_epochs=8, record=True, random_state=0
    ).fit(X, y)
    updates = model.trace_.updates
    theta, doubts = np.zeros(12), 0
    thetas, counts = [theta], [int((y > 0).sum())]
    for sample, step in zip(updates.sample, updates.step, strict=True):
        theta = theta + step * np.append(X[sample], 1.0)
        values = np.array([dot(x, theta[:-1]) + theta[-1] for x in X])
        thetas.append(theta)
        counts.append(int(((values > 0) != (y > 0)).sum()))
        doubts += int((np.abs(values) < 1e-12).sum())
    assert doubts > 20
    np.testing.assert_array_equal(kept(model), thetas[int(np.argmin(counts))])
    assert model.n_errors_ == model.trace_.pocket_errors[-1] == min(counts)


def test_start_stays_in_the_pocket_if_nothing_beats_it():
    X, y = noisy()
    start = np.append(noisy().hyperplane.w, noisy().hyperplane.b)
    model = rb.Perceptron(keep="pocket", init=start, max_epochs=3).fit(X, y)
    assert model.trace_.pocket_errors[0] <= reference.errors(augment(X), y, start) == 40
    perfect = rb.Perceptron(keep="pocket", init=start).fit(X, np.where(X @ start[:-1] > 0, 1, -1))
    np.testing.assert_array_equal(kept(perfect), start)


def test_sides_of_a_point_on_the_hyperplane():
    """At value 0 the prediction is -1: from zeros, all negatives are right, though mistakes."""
    X, y = np.array([[0.0], [0.0], [0.0]]), np.array([-1, -1, 1])
    model = rb.Perceptron(keep="pocket", fit_intercept=False).fit(X, y)
    assert model.n_errors_ == 1
    assert model.trace_.pocket_errors.tolist() == [1.0] * model.n_iter_
    assert model.n_mistakes_ == 3 * model.n_iter_


def test_pocket_of_separable_data_is_the_separating_vector():
    X, y = rb.datasets.known_margin(500, 4, margin=0.02, random_state=0)
    pocket = rb.Perceptron(keep="pocket").fit(X, y)
    assert pocket.stop_reason_ is StopReason.SEPARATED
    np.testing.assert_array_equal(kept(pocket), kept(rb.Perceptron().fit(X, y)))


def test_pocket_of_several_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = rng.integers(0, 4, 300)
    model = rb.Perceptron(keep="pocket", max_epochs=8).fit(X, y)
    for k in range(4):
        sign = np.where(y == k, 1, -1)
        path = reference.online(augment(X), sign, orders("cyclic", 300, 8), np.zeros(5))
        best, after = reference.pocket(path, augment(X), sign)
        np.testing.assert_array_equal(kept(model, k), best)
        np.testing.assert_array_equal(model.trace_[k].pocket_errors, after)


def test_pocket_of_a_wide_matrix():
    """More weights than samples: vectors are judged a few at a time."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 700))
    y = np.where(rng.random(40) < 0.5, 1, -1)
    X[:20] = X[20:]
    model = rb.Perceptron(keep="pocket", max_epochs=10).fit(X, y)
    path = path_of(model, X, y)
    best, after = reference.pocket(path, augment(X), y)
    np.testing.assert_array_equal(kept(model), best)
    np.testing.assert_array_equal(model.trace_.pocket_errors, after)


@forms
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_average(form, layout):
    X, y = noisy()
    model = rb.Perceptron(**form, keep="average", max_epochs=12, random_state=0)
    model.fit(layout(X), y)
    path = path_of(model, X, y)
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(last(model), path.theta, rtol=1e-12, atol=1e-14)
    assert model.n_errors_ == (model.predict(X) != y).sum()


@forms
def test_weighted_average(form):
    """A weight lengthens a step; every visit counts once in the mean."""
    X, y = noisy()
    weight = np.random.default_rng(3).choice([0.0, 0.5, 2.0], len(y))
    model = rb.Perceptron(**form, keep="average", max_epochs=6, random_state=0)
    model.fit(X, y, sample_weight=weight)
    path = path_of(model, X, y, weight)
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-10, atol=1e-12)


def test_average_starts_from_the_guess():
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(keep="average", init=[0.0, -3.0, 1.0], record=True).fit(X, y)
    epochs = orders("cyclic", 8, model.n_iter_)
    path = reference.online(augment(X), y, epochs, np.array([0.0, -3.0, 1.0]))
    assert path.log
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-14)


@pytest.mark.parametrize("looks", [1, 3, 10])
def test_the_pocket_looks_at_the_clock_between_vectors(looks):
    X = 1 + np.random.default_rng(0).integers(0, 8, (60, 3)) * 2.0**-52
    label = np.resize(np.array([0, 1], np.int32), len(X))
    source = MemorySource(as_rows(X), label, 3)
    left = [looks]

    def look_up():
        left[0] -= 1
        if left[0] < 0:
            raise Halt(StopReason.TIME_LIMIT)

    with Team(1) as team:
        pocket = Pocket(Scanner(source, team, 1.0), 1, np.zeros(4), look_up)
        worst = pocket.errors
        for theta in np.random.default_rng(1).standard_normal((20, 4)):
            pocket.offer(theta)
        assert pocket.flushing() > 0
        pocket.flush()
        assert pocket.behind
        assert pocket.flushing() == 0
        assert pocket.errors <= worst
        assert pocket.errors == pocket._all_errors(pocket.theta)

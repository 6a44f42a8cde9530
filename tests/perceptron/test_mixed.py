"""Shards that learn side by side: their theorem, the textbook's loop, the same answer always."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
import rosenblatt as rb
from reference import augment, last
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Halt
from rosenblatt.running.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def cloud(n=300, d=4, noise=0.2, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = np.rint(8 * rng.standard_normal((n, d)))
    values = X @ rng.standard_normal((d, classes)) + 8 * noise * rng.standard_normal((n, classes))
    return X, values.argmax(axis=1)


@st.composite
def known_margins(draw):
    return rb.datasets.known_margin(
        draw(st.integers(2, 60)),
        draw(st.integers(1, 5)),
        margin=draw(st.floats(0.05, 0.8)),
        random_state=draw(st.integers(0, 2**32 - 1)),
    )


@given(
    data=known_margins(),
    shards=st.integers(1, 70),
    order=st.sampled_from(["cyclic", "shuffled", "sampled", "blocks"]),
)
def test_it_separates_and_the_mistakes_are_bounded(data, shards, order):
    """Each mistake counts 1/S, its weight in the mixture: so weighted there are at most (R/γ)²."""
    X, y = data
    model = rb.Perceptron(
        update="mixed", shards=shards, order=order, max_epochs=10**6, record=True, random_state=0
    ).fit(X, y)
    S, R2 = min(shards, len(y)), (augment(X) ** 2).sum(axis=1).max()
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.n_errors_ == 0
    assert model.n_mistakes_ >= 1
    assert model.n_mistakes_ / S <= R2 / data.margin**2 * (1 + 1e-9)
    report = model.bound_report(X, y)
    assert report.holds
    assert report.bound.shards == S
    assert model.n_mistakes_ <= rb.mistake_bound(X, y, update="mixed", shards=shards).bound


@given(data=known_margins(), shards=st.integers(1, 20))
def test_both_lemmas_at_every_mixture(data, shards):
    """With k mistakes in all shards θ·θ* grows by at least kγ/S, ‖θ‖² by at most kR²/S."""
    X, y = data
    run = rb.Perceptron(update="mixed", shards=shards, max_epochs=10**6, record=True).fit(X, y)
    Xt, S, updates = augment(X), min(shards, len(y)), run.trace_.updates
    R2, best, before = (Xt**2).sum(axis=1).max(), np.eye(1, Xt.shape[1])[0], np.zeros(Xt.shape[1])
    assert len(updates) == run.n_updates_ == run.n_iter_ - 1
    for t in range(1, len(updates) + 1):
        plane = updates.hyperplane(t, X)
        theta, k = np.append(plane.w, plane.b), run.trace_.mistakes[t - 1] / S
        assert (theta - before) @ best >= k * data.margin - 1e-9
        assert theta @ theta <= before @ before + k * R2 + 1e-9 * (1 + theta @ theta)
        before = theta
    np.testing.assert_array_equal(before, last(run))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("shards", [1, 2, 7, 16, None, 300, 1000])
@pytest.mark.parametrize("given", [{}, {"fit_intercept": False}, {"at_zero": 1}, {"eta0": 0.25}])
def test_the_textbooks_loop(shards, layout, given):
    X, y = cloud()
    model = rb.Perceptron(update="mixed", shards=shards, max_epochs=5, record=True, **given)
    model.fit(layout(X), y)
    sign, Xt = np.where(y == 1, 1, -1), augment(X, model.fit_intercept)
    epochs, zero = reference.orders("cyclic", len(y), 5), model.at_zero
    path = reference.mixed(Xt, sign, epochs, np.zeros(5), shards or 16, model.eta0, at_zero=zero)
    assert model.trace_.mistakes.tolist() == path.mistakes
    updates = model.trace_.updates
    found = np.column_stack([updates.epoch, updates.sample, updates.value])
    exact = (shards or 16) in (1, 2, 16)  # whole numbers, halves, sixteenths are not rounded
    room = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-12, "atol": 1e-10}
    np.testing.assert_allclose(found, path.log, **room)
    np.testing.assert_allclose(last(model), path.theta, **room)


def test_one_shard_is_the_online_perceptron():
    X, y = cloud(noise=0)
    mixed = rb.Perceptron(update="mixed", shards=1, max_epochs=9).fit(X, y)
    online = rb.Perceptron(max_epochs=9).fit(X, y)
    np.testing.assert_array_equal(last(mixed), last(online))
    assert mixed.trace_.mistakes.tolist() == online.trace_.mistakes.tolist()


def test_as_many_shards_as_samples_are_a_batch_of_means():
    X, y = cloud(n=64)
    mixed = rb.Perceptron(update="mixed", shards=64, max_epochs=20).fit(X, y)
    batch = rb.Perceptron(update="batch", eta0=1 / 64, max_epochs=20).fit(X, y)
    np.testing.assert_array_equal(last(mixed), last(batch))


@pytest.mark.compiled
@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@pytest.mark.parametrize("classes", [2, 3])
def test_threads_do_not_matter(keep, order, classes, monkeypatch):
    """Nor does where segments end."""
    X, y = cloud(n=5000, classes=classes)
    given = {"update": "mixed", "keep": keep, "order": order, "max_epochs": 6, "record": True}
    found = []
    for threads, segment in ((1, 1 << 23), (3, 1 << 23), (2, 1 << 10)):
        monkeypatch.setattr("rosenblatt.perceptron.linear_rule.SEGMENT", segment)
        model = rb.Perceptron(**given, random_state=0, n_jobs=threads).fit(X, y)
        found.append(model)
    one, *others = found
    for other in others:
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)
        for mine, theirs in zip(one.fits_, other.fits_, strict=True):
            for name in ("epoch", "sample", "value", "step", "update", "shard"):
                mine_, theirs_ = (getattr(f.trace.updates, name) for f in (mine, theirs))
                np.testing.assert_array_equal(mine_, theirs_)


def test_an_epoch_that_is_halted_mixes_what_there_is(monkeypatch):
    """In the middle of an epoch: the model so far, and a record that leads to it."""
    monkeypatch.setattr("rosenblatt.perceptron.linear_rule.SEGMENT", 1)
    X, y = cloud(n=4000)
    looks, pause = [0], Run.pause

    def interrupt(run):
        pause(run)
        looks[0] += run.phase == "within"
        if looks[0] == 7:  # in the second epoch
            raise Halt(StopReason.INTERRUPTED)

    monkeypatch.setattr(Run, "pause", interrupt)
    model = rb.Perceptron(update="mixed", record=True, keep="average").fit(X, y)
    assert model.stop_reason_ is StopReason.INTERRUPTED
    updates = model.trace_.updates
    assert 0 < len(updates.sample) == model.n_mistakes_
    plane = updates.hyperplane(len(updates), X)
    np.testing.assert_array_equal(np.append(plane.w, plane.b), last(model))
    assert np.isfinite(model.coef_).all()


def test_partial_fit_mixes_the_shards_of_what_it_is_given():
    X, y = cloud()
    model = rb.Perceptron(update="mixed", shards=4)
    model.partial_fit(X[:150], y[:150], classes=[0, 1]).partial_fit(X[150:], y[150:])
    sign = np.where(y == 1, 1, -1)
    theta = np.zeros(5)
    for part in (slice(0, 150), slice(150, 300)):
        epochs = reference.orders("cyclic", 150, 1)
        theta = reference.mixed(augment(X[part]), sign[part], epochs, theta, 4).theta
    np.testing.assert_array_equal(last(model), theta)


def test_a_bound_from_a_guess_and_in_epochs():
    X, y = rb.datasets.eight_points()
    for S in (1, 2, 4, 8):
        online = rb.mistake_bound(X, y, init=[-30, -30, 0])
        mixed = rb.mistake_bound(X, y, init=[-30, -30, 0], update="mixed", shards=S)
        assert mixed.bound == pytest.approx(S * online.bound)
        run = rb.Perceptron(update="mixed", shards=S, init=[-30, -30, 0], record=True).fit(X, y)
        assert run.n_mistakes_ <= mixed.bound
        assert run.bound_report(X, y).holds
    noisy = rb.datasets.flip_labels(rb.datasets.dunkers(random_state=0), 0.1, random_state=0)
    for epochs in (1, 10, 100):
        bound = rb.mistake_bound(*noisy, epochs=epochs, update="mixed", shards=4)
        batch = rb.mistake_bound(*noisy, epochs=epochs, update="minibatch", batch_size=4)
        assert bound.bound == pytest.approx(batch.bound, rel=1e-6)  # the same formula
        model = rb.Perceptron(update="mixed", shards=4, max_epochs=epochs, record=True)
        assert model.fit(*noisy).n_mistakes_ <= bound.bound
        assert model.bound_report(*noisy).holds
    assert str(bound).startswith("at most ")
    assert "((√S·R + √E·D)/γ)² with R" in str(bound)
    assert "S = 4, E = 100" in str(bound)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"shards": 0}, "shards=0 is not allowed: give a whole number from 1"),
        ({"shards": 2.5}, "shards=2.5 is not allowed"),
        ({"batch_size": 4}, "batch_size=4 needs update='minibatch', but update='mixed'"),
        ({"order": "worst-mistake"}, "updates with one mistake at a time: use update='online'"),
        ({"multiclass": "joint"}, "update='mixed' is for one class against the rest"),
    ],
)
def test_refusals(given, told):
    with pytest.raises(ValueError, match=told):
        rb.Perceptron(update="mixed", **given).fit(*rb.datasets.eight_points())


def test_bounds_refuse_what_is_not_mixed():
    X, y = rb.datasets.eight_points()
    with pytest.raises(ValueError, match="update='mixed' goes with no kernel"):
        rb.mistake_bound(X, y, update="mixed", kernel=rb.kernels.RBF(1.0))
    with pytest.raises(ValueError, match="shards=3 needs update='mixed', but update='online'"):
        rb.mistake_bound(X, y, shards=3)

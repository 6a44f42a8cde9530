"""The record of a fit: per epoch always, per update on request; callbacks and progress."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import reference
import rosenblatt as rb
from reference import augment, kept, last, orders
from rosenblatt.results import Epoch

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FORMS = {
    "online": {},
    "shuffled": {"order": "shuffled"},
    "eta0=0.3": {"eta0": 0.3},
    "no bias": {"fit_intercept": False},
    "batch": {"update": "batch"},
    "batch eta0=0.3": {"update": "batch", "eta0": 0.3},
    "minibatch": {"update": "minibatch", "batch_size": 7},
    "minibatch eta0=0.1 sampled": {
        "update": "minibatch",
        "batch_size": 7,
        "eta0": 0.1,
        "order": "sampled",
    },
    "mixed": {"update": "mixed", "shards": 7},
    "mixed eta0=0.3 shuffled": {"update": "mixed", "eta0": 0.3, "order": "shuffled"},
    "worst-mistake": {"order": "worst-mistake"},
    "start": {"init": [0.1, -0.2, 0.3, 0.4, 0.5]},
    "pocket": {"keep": "pocket"},
    "average": {"keep": "average"},
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
KINDS = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}


def cloud(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1, -1)


def record_of(model):
    return model.fits_[0].trace.updates


def theta_of(plane):
    return np.append(plane.w, plane.b)


# ------------------------------------------------------------------------------------ per update


@forms
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_after_any_update_bit_for_bit(form, kind, weighted):
    """Epoch ends are known from the callback: there the replayed weights must be the run's."""
    X, y = cloud()
    weight = np.random.default_rng(1).random(60) if weighted else None
    ends = []
    model = rb.Perceptron(
        **form,
        max_epochs=8,
        record=True,
        random_state=0,
        callback=lambda epoch: ends.append(theta_of(epoch.hyperplanes[0])),
    ).fit(kind(X), y, sample_weight=weight)
    updates = record_of(model)
    assert len(updates) == model.n_updates_
    np.testing.assert_array_equal(theta_of(updates.hyperplane(len(updates), kind(X))), last(model))
    start = np.asarray(form.get("init", np.zeros(5)))
    np.testing.assert_array_equal(theta_of(updates.hyperplane(0, kind(X))), start)
    for epoch, theta in enumerate(ends, 1):
        done = updates.update[updates.epoch <= epoch]
        t = int(done[-1]) + 1 if done.size else 0
        np.testing.assert_array_equal(theta_of(updates.hyperplane(t, kind(X))), theta)


@pytest.mark.parametrize("size", [None, 1, 7, 60])
def test_weights_after_every_update_against_the_textbook(size):
    X, y = cloud()
    update = {} if size is None else {"update": "minibatch", "batch_size": size}
    model = rb.Perceptron(**update, max_epochs=4, record=True).fit(X, y)
    epochs, start = orders("cyclic", 60, 4), np.zeros(5)
    if size is None:
        path = reference.online(augment(X), y, epochs, start)
    else:
        path = reference.minibatch(augment(X), y, epochs, start, size)
    updates = record_of(model)
    assert len(updates) == len(path.thetas) - 1
    for t, theta in enumerate(path.thetas):
        np.testing.assert_array_equal(theta_of(updates.hyperplane(t, X)), theta)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_batches_of_several_tiles_are_summed_again_as_the_run_did(kind, order):
    """Also by the report, which compares where it ends with where the run did."""
    X, y = cloud(n=1100)
    model = rb.Perceptron(update="batch", order=order, max_epochs=9, record=True, random_state=0)
    model.fit(kind(X), y)
    updates = record_of(model)
    plane = updates.hyperplane(len(updates), kind(X))
    np.testing.assert_array_equal(theta_of(plane), theta_of(model.fits_[0].last))
    assert model.bound_report(kind(X), y).holds


def test_values_are_those_before_the_update():
    X, y = cloud()
    model = rb.Perceptron(max_epochs=4, record=True).fit(X, y)
    updates = record_of(model)
    for t in range(len(updates)):
        before = updates.hyperplane(t, X)
        i = updates.sample[t]
        np.testing.assert_allclose(updates.value[t], before.decision_function(X[i])[0], atol=1e-12)
        assert y[i] * updates.value[t] <= 0
        assert updates.step[t] == y[i]


def test_columns_of_the_record():
    X, y = cloud()
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 60)
    model = rb.Perceptron(
        update="minibatch", batch_size=9, eta0=0.25, max_epochs=5, record=True
    ).fit(X, y, sample_weight=weight)
    updates = record_of(model)
    columns = (updates.epoch, updates.sample, updates.value, updates.step, updates.update)
    assert {len(column) for column in columns} == {model.n_mistakes_}
    np.testing.assert_array_equal(np.bincount(updates.epoch)[1:], model.trace_.mistakes)
    assert (np.diff(updates.update) >= 0).all()
    np.testing.assert_array_equal(np.unique(updates.update), np.arange(model.n_updates_))
    np.testing.assert_array_equal(updates.step, y[updates.sample] * weight[updates.sample])
    assert updates.eta == 0.25


def test_alpha():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.0], [3.0, -1.0]]), np.array([1, -1, -1])
    model = rb.Perceptron(record=True).fit(X, y)
    alpha = record_of(model).mistake_counts(3)
    assert alpha.dtype == np.int64
    assert alpha.sum() == model.n_mistakes_
    np.testing.assert_array_equal((alpha * y) @ X, model.coef_[0])
    assert (alpha * y).sum() == model.intercept_[0]
    assert record_of(model).mistake_counts(5).tolist() == [*alpha, 0, 0]


def test_a_run_without_mistakes_has_an_empty_record():
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(init=[1, 1, 0], record=True).fit(X, y)
    updates = record_of(model)
    assert len(updates) == 0
    assert updates.hyperplane(0, X) == rb.Hyperplane([1.0, 1.0], 0.0)
    assert updates.mistake_counts(8).tolist() == [0] * 8


@pytest.mark.parametrize("t", [-1, 10**6])
def test_updates_that_are_not_there(t):
    X, y = cloud()
    updates = record_of(rb.Perceptron(max_epochs=2, record=True).fit(X, y))
    with pytest.raises(ValueError, match=rf"t={t} is not .*1 to {len(updates)}"):
        updates.hyperplane(t, X)


def test_no_record_unless_asked():
    X, y = cloud()
    assert rb.Perceptron(max_epochs=2).fit(X, y).trace_.updates is None


def test_recording_changes_nothing():
    X, y = cloud()
    for form in FORMS.values():
        models = [
            rb.Perceptron(**form, max_epochs=6, record=on, random_state=0).fit(X, y)
            for on in (True, False)
        ]
        np.testing.assert_array_equal(kept(models[0]), kept(models[1]))
        np.testing.assert_array_equal(models[0].trace_.mistakes, models[1].trace_.mistakes)


# ------------------------------------------------------------------------------------- per epoch


@forms
def test_trace_per_epoch(form):
    X, y = cloud()
    planes = []
    model = rb.Perceptron(
        **form, max_epochs=6, random_state=0, callback=lambda e: planes.append(e.hyperplanes[0])
    ).fit(X, y)
    trace = model.trace_
    assert len(trace) == len(planes) == model.n_iter_
    thetas = [np.asarray(form.get("init", np.zeros(5))), *map(theta_of, planes)]
    changes = [np.linalg.norm(b - a) for a, b in pairwise(thetas)]
    np.testing.assert_allclose(trace.change, changes, rtol=1e-12)
    assert trace.loss is None
    assert (trace.pocket_errors is None) == (form.get("keep") != "pocket")
    assert (trace.seconds > 0).all()


def test_results_are_frozen():
    X, y = cloud()
    model = rb.Perceptron(max_epochs=2, record=True).fit(X, y)
    fit = model.fits_[0]
    for thing, name in ((fit, "last"), (fit.trace, "mistakes"), (record_of(model), "eta")):
        with pytest.raises(AttributeError):
            setattr(thing, name, None)
    with pytest.raises(ValueError, match="read-only"):
        fit.last.w[0] = 1.0


def test_results_travel():
    X, y = cloud()
    model = rb.Perceptron(max_epochs=3, record=True).fit(X, y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin.stop_reason_ is model.stop_reason_
        assert twin.fits_[0].last == model.fits_[0].last
        assert record_of(twin).hyperplane(3, X) == record_of(model).hyperplane(3, X)


# -------------------------------------------------------------------------- callbacks, progress


def test_callback_sees_every_epoch():
    X, y = cloud()
    seen = []
    model = rb.Perceptron(max_epochs=5, callback=seen.append).fit(X, y)
    assert all(isinstance(epoch, Epoch) for epoch in seen)
    assert [epoch.number for epoch in seen] == [1, 2, 3, 4, 5]
    assert [epoch.mistakes for epoch in seen] == [(m,) for m in model.trace_.mistakes]
    for number, epoch in enumerate(seen, 1):
        path = reference.online(augment(X), y, orders("cyclic", 60, number), np.zeros(5))
        np.testing.assert_array_equal(theta_of(epoch.hyperplanes[0]), path.theta)
        assert epoch.seconds == model.trace_.seconds[number - 1]


def test_callback_of_several_classes():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 3 * np.eye(3)[y] + rng.standard_normal((60, 3))
    seen = []
    model = rb.Perceptron(max_epochs=40, callback=seen.append).fit(X, y)
    assert len(seen) == model.n_iter_
    assert all(len(epoch.hyperplanes) == len(epoch.mistakes) == 3 for epoch in seen)
    for k, fit in enumerate(model.fits_):
        assert seen[-1].hyperplanes[k] == fit.last
        assert seen[-1].mistakes[k] == fit.trace.mistakes[-1]


def test_callback_cannot_disturb_the_run():
    X, y = cloud()

    def meddle(epoch):
        with pytest.raises(ValueError, match="read-only"):
            epoch.hyperplanes[0].w[:] = 0

    model = rb.Perceptron(max_epochs=5, callback=meddle).fit(X, y)
    np.testing.assert_array_equal(kept(model), kept(rb.Perceptron(max_epochs=5).fit(X, y)))


@pytest.mark.parametrize("model", [rb.Perceptron(max_epochs=3), rb.Adaline(max_epochs=3)])
def test_progress_goes_to_standard_error(model, capfd):
    X, y = cloud()
    model.set_params(progress=True).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert type(model).__name__ in err
    assert "3/3" in err
    model.set_params(progress=False).fit(X, y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("update", ["batch", "minibatch"])
def test_a_batch_that_was_halted_has_no_update(update):
    """What the run did not do, the record does not have."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 4))
    y = rng.random(300_000) < 0.5
    size = 250_000 if update == "minibatch" else None
    model = rb.Perceptron(update=update, batch_size=size, record=True, max_time=1e-9, n_jobs=1)
    model.fit(X, y)
    updates = model.trace_.updates
    assert model.stop_reason_ is rb.StopReason.TIME_LIMIT
    assert model.n_mistakes_ > 0
    assert len(updates) == model.n_updates_
    last = updates.hyperplane(len(updates), X)
    assert np.array_equal(last.w, model.coef_[0])

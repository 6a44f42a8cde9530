"""Several classes as one problem, against ten lines of it: the same mistakes in the same order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import rosenblatt as rb
from passing_blocks import as_passing
from reference import augment, orders
from rosenblatt.contract import classifier
from rosenblatt.contract.parameters import seed_from
from rosenblatt.results import Cycle, StopReason

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEED = seed_from(5)
LAYOUTS = {"dense": np.ascontiguousarray, "csr": csr_array}
FORMS = [("online", None), ("batch", None), ("minibatch", 4)]
small = st.integers(-3, 3).map(float)


def mistake(theta, x, own):
    """The strongest rival, lowest number first, and the lead over it."""
    values = theta @ x
    others = [k for k in range(len(theta)) if k != own]
    rival = max(others, key=lambda k: (values[k], -k))
    return rival, values[own] - values[rival]


def naive(Xt, y, theta, epochs, size=1, eta=1.0, weight=None):
    """The rule in batches of `size` samples: mistakes of each epoch, all vectors, their sum."""
    theta, counts, log, sums, visits = theta.copy(), [], [], 0.0, 0
    path = [theta]
    for rows in epochs:
        counts.append(0)
        for a in range(0, len(rows), size):
            change = np.zeros_like(theta)
            for i in rows[a : a + size]:
                rival, lead = mistake(theta, Xt[i], y[i])
                if lead <= 0 and weight[i] > 0:
                    change[y[i]] += weight[i] * Xt[i]
                    change[rival] -= weight[i] * Xt[i]
                    counts[-1] += 1
                    log.append((len(counts), i, lead, y[i], rival))
            theta = theta + eta * change
            path.append(theta)
            sums, visits = sums + theta, visits + 1
    return counts, log, path, sums / visits


def errors(Xt, y, theta, weight):
    """Weight of the samples for which the first of the highest values is another class's."""
    return float(weight[(Xt @ theta.T).argmax(axis=1) != y].sum())


def whole(model):
    return np.column_stack([model.coef_, model.intercept_])


@st.composite
def problems(draw):
    """Few whole numbers, so that values tie; three to five classes; weights, among them zeros."""
    n, d, k = draw(st.integers(5, 12)), draw(st.integers(1, 3)), draw(st.integers(3, 5))
    X = draw(arrays(np.float64, (n, d), elements=small))
    y = np.array(
        [*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))]
    )
    bias, start = draw(st.booleans()), draw(arrays(np.float64, (k, d + 1), elements=small))
    start[:, -1] *= bias
    if (start == start[0]).all():
        start[:] = 0.0
    weight = draw(arrays(np.float64, n, elements=st.integers(0, 2).map(float)))
    weight[0] = 1.0
    eta = draw(st.sampled_from([0.25, 1.0, 2.0]))
    return X, draw(st.permutations(list(y)).map(np.array)), start, eta, bias, weight


@pytest.mark.parametrize(("update", "size"), FORMS)
@settings(max_examples=25)
@given(problem=problems(), order=st.sampled_from(["cyclic", "shuffled", "sampled"]))
def test_same_run(update, size, problem, order):
    X, y, start, eta, bias, weight = problem
    Xt, n = augment(X, bias), len(y)
    options = {"update": update, "batch_size": size, "order": order, "eta0": eta, "init": start}
    options |= {"fit_intercept": bias, "max_epochs": 5, "random_state": 5, "multiclass": "joint"}
    models = [
        rb.Perceptron(**options, keep=keep, record=True).fit(layout(X), y, sample_weight=weight)
        for keep in ("last", "pocket", "average")
        for layout in LAYOUTS.values()
    ]
    epochs = orders(order, n, models[0].n_iter_, SEED)
    together = {"online": 1, "batch": n, "minibatch": size}[update]
    counts, log, path, average = naive(Xt, y, start, epochs, together, eta, weight)
    scores = [errors(Xt, y, theta, weight) for theta in path]
    best = path[int(np.argmin(scores))]
    for model, kept in zip(models, np.repeat([path[-1], best, average], 2, axis=0), strict=True):
        assert model.trace_.mistakes.tolist() == counts
        found = model.trace_.updates
        columns = found.epoch, found.sample, found.value, found.own, found.rival
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == log
        np.testing.assert_allclose(whole(model), kept, rtol=1e-12, atol=1e-14)
        if model.keep != "average":
            np.testing.assert_array_equal(whole(model), kept)
            assert model.n_errors_ == errors(Xt, y, kept, np.ones(n))
        assert found.hyperplanes(len(found), X) == model.fits_[0].last
    assert models[2].trace_.pocket_errors[-1] == min(scores)


@pytest.mark.parametrize("order", ["random-mistake", "worst-mistake"])
@settings(max_examples=25)
@given(problem=problems())
def test_one_mistake_is_picked(order, problem):
    X, y, start, eta, bias, weight = problem
    Xt, rng = augment(X, bias), np.random.default_rng([SEED, 2])
    model = rb.Perceptron(multiclass="joint", order=order, eta0=eta, init=start, record=True,
                          fit_intercept=bias, max_epochs=6, random_state=5)  # fmt: skip
    model.fit(X, y, sample_weight=weight)
    theta = start.copy()
    for epoch in range(model.n_iter_):
        found = [mistake(theta, x, own) for x, own in zip(Xt, y, strict=True)]
        leads = np.array([lead for _, lead in found])
        wrong = np.flatnonzero((leads <= 0) & (weight > 0))
        assert model.trace_.mistakes[epoch] == min(1, len(wrong))
        if wrong.size:
            at = np.argmin(leads[wrong]) if order == "worst-mistake" else rng.integers(wrong.size)
            i = wrong[at]
            theta[y[i]] += eta * weight[i] * Xt[i]
            theta[found[i][0]] -= eta * weight[i] * Xt[i]
    np.testing.assert_array_equal(whole(model), theta)


# Ends -------------------------------------------------------------------------------------------


def between():
    """Three classes on a line: no threshold has the middle one to itself, yet a line tops there."""
    X = np.array([[-3.0], [-2.0], [0.0], [1.0], [3.0], [4.0]])
    return X, np.array([0, 0, 1, 1, 2, 2])


def test_jointly_separable_though_no_class_has_its_own_side():
    X, y = between()
    joint = rb.Perceptron(multiclass="joint").fit(X, y)
    assert joint.stop_reason_ is StopReason.SEPARATED
    assert (joint.predict(X) == y).all()
    assert joint.coef_.shape == (3, 1)
    assert joint.intercept_.shape == (3,)
    assert joint.decision_function(X).shape == (6, 3)
    assert len(joint.fits_) == 1
    assert isinstance(joint.n_mistakes_, int)
    assert joint.certificate_ is None
    alone = rb.Perceptron().fit(X, y)
    assert alone.stop_reason_[1] is StopReason.CYCLE


def test_iris_repeats_itself_or_runs_out():
    X, y = load_iris(return_X_y=True)
    two = rb.Perceptron(multiclass="joint", max_epochs=50).fit(X, y)
    assert two.stop_reason_ is StopReason.EPOCH_LIMIT
    # All three classes at one point: whoever was right last has the highest value.
    same = rb.Perceptron(multiclass="joint").fit(np.ones((3, 1)), [0, 1, 2])
    assert same.stop_reason_ is StopReason.CYCLE
    assert isinstance(same.certificate_, Cycle)


def test_a_callback_may_end_it_and_hears_of_every_class():
    def stop(epoch):
        heard.append((epoch.mistakes, len(epoch.hyperplanes)))
        if len(heard) == 2:
            raise KeyboardInterrupt

    heard = []
    X, y = load_iris(return_X_y=True)
    model = rb.Perceptron(multiclass="joint", callback=stop).fit(X, y)
    assert model.stop_reason_ is StopReason.INTERRUPTED
    assert heard == [((n,), 3) for n in model.trace_.mistakes.tolist()]
    model = rb.Perceptron(multiclass="joint", max_time=1e-9).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    model = rb.Perceptron(multiclass="joint", tol=1e9).fit(X, y)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE


def test_what_floats_call_right_is_checked_without_rounding():
    # At the first sample floats lose the 1 beside 2^53: class 1 leads there, but not exactly.
    X = np.array([[1.0, 2.0**53, -(2.0**53)], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    start = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.5], [-9.0, -9.0, 9.0, -1.0]])
    model = rb.Perceptron(multiclass="joint", init=start)
    assert model.fit(X, [1, 1, 2, 0]).n_mistakes_ == 0
    assert model.stop_reason_ is StopReason.ROUNDING
    assert model.fit(X, [1, 1, 2, 0], sample_weight=[0, 1, 1, 1]).n_mistakes_ == 0
    assert model.stop_reason_ is StopReason.SEPARATED


def test_pictures_draw_no_line_that_a_class_has_not():
    X, y = load_iris(return_X_y=True)
    for columns in (slice(2, 4), slice(0, 4)):
        model = rb.Perceptron(multiclass="joint", max_epochs=5).fit(X[:, columns], y)
        ax = rb.plot.decision(model, X[:, columns], y)
        drawn = {artist.get_gid() for artist in ax.findobj()}
        assert not {"hyperplane 0", "hyperplane 1", "hyperplane 2"} & drawn


# Going on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["last", "average", "auto"])
def test_partial_fit_goes_on_as_one_fit(keep):
    X, y = load_iris(return_X_y=True)
    once = rb.Perceptron(multiclass="joint", keep=keep, max_epochs=4).fit(X, y)
    parts = rb.Perceptron(multiclass="joint", keep=keep)
    for _ in range(4):
        parts.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(whole(parts), whole(once))
    assert parts.n_mistakes_ == once.n_mistakes_
    again = rb.Perceptron(multiclass="joint", warm_start=True, max_epochs=2).fit(X, y)
    np.testing.assert_array_equal(
        whole(again.fit(X, y)),
        whole(rb.Perceptron(multiclass="joint", max_epochs=4).fit(X, y)),
    )
    parts.set_params(multiclass="ovr")
    with pytest.raises(ValueError, match="multiclass cannot change"):
        parts.partial_fit(X, y)


def test_classes_have_the_weights_of_their_samples():
    X, y = load_iris(return_X_y=True)
    weighted = rb.Perceptron(multiclass="joint", class_weight={1: 2.0, 2: 0.5}, max_epochs=5)
    factors = np.array([1.0, 2.0, 0.5])[y]
    given = rb.Perceptron(multiclass="joint", max_epochs=5).fit(X, y, sample_weight=factors)
    np.testing.assert_array_equal(whole(weighted.fit(X, y)), whole(given))


@pytest.mark.parametrize("keep", ["last", "pocket", "average"])
@pytest.mark.parametrize("update", ["online", "batch"])
def test_neither_blocks_nor_threads_nor_layout_change_a_bit(keep, update, monkeypatch):
    X, y = load_iris(return_X_y=True)
    make = classifier.MemorySource
    runs = []
    for size, n_jobs in ((None, 1), (7, 1), (None, 3)):
        made = (lambda *given, size=size: as_passing(make(*given), size)) if size else make
        monkeypatch.setattr(classifier, "MemorySource", made)
        model = rb.Perceptron(multiclass="joint", keep=keep, update=update, max_epochs=6)
        runs.append(whole(model.set_params(n_jobs=n_jobs).fit(X, y)))
    assert len({run.tobytes() for run in runs}) == 1


def test_two_classes_are_one_hyperplane_either_way():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    joint = rb.Perceptron(multiclass="joint", max_epochs=20).fit(X, y)
    alone = rb.Perceptron(max_epochs=20).fit(X, y)
    np.testing.assert_array_equal(whole(joint), whole(alone))
    assert joint.coef_.shape == (1, 4)
    # The rule itself on two classes: the same mistakes, and a difference of twice the vector.
    rows = [range(len(y))] * 20
    counts, _, path, _ = naive(augment(X), y - 1, np.zeros((2, 5)), rows, weight=np.ones(len(y)))
    assert counts == alone.trace_.mistakes.tolist()
    np.testing.assert_allclose(path[-1][1] - path[-1][0], 2 * whole(alone)[0], rtol=1e-9)


def test_saved_and_read_again(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = rb.Perceptron(multiclass="joint", max_epochs=3, record=True, keep="average").fit(X, y)
    rb.io.save(model, tmp_path / "joint.skops")
    read = rb.io.load(tmp_path / "joint.skops")
    np.testing.assert_array_equal(read.decision_function(X), model.decision_function(X))
    assert read.trace_.updates.hyperplanes(5, X) == model.trace_.updates.hyperplanes(5, X)
    both = [one.partial_fit(X, y) for one in (read, model)]
    np.testing.assert_array_equal(whole(both[0]), whole(both[1]))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"multiclass": "both"}, "multiclass='both' .* 'ovr', 'joint'|multiclass='both'"),
        ({"init": [1.0, 0.0, 0.0, 0.0, 0.0]}, "leaves them tied: .* give 3 rows"),
        ({"init": [[1.0, 2.0]]}, "init has shape"),
    ],
)
def test_refused_in_one_line(options, why):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=why):
        rb.Perceptron(**({"multiclass": "joint"} | options)).fit(X, y)

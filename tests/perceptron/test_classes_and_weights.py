"""Several classes, labels of any kind, weights, and fitting in several goes."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import reference
import rosenblatt as rb
from reference import augment, kept, last, orders, sequence
from rosenblatt.contract.parameters import seed_from

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FORMS = {
    "online": {},
    "shuffled": {"order": "shuffled"},
    "sampled": {"order": "sampled"},
    "random-mistake": {"order": "random-mistake"},
    "worst-mistake": {"order": "worst-mistake"},
    "batch": {"update": "batch"},
    "minibatch": {"update": "minibatch", "batch_size": 7},
    "pocket": {"keep": "pocket"},
    "average": {"keep": "average"},
    "average batch": {"keep": "average", "update": "batch"},
    "random start": {"init": "random"},
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def clouds(classes=4, n=90, d=5, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    centers = 2 * rng.standard_normal((classes, d))
    y = rng.permutation(np.arange(n) % classes)
    return centers[y] + spread * rng.standard_normal((n, d)), y


def perceptron(**form):
    return rb.Perceptron(**{"max_epochs": 15, "random_state": 7, "record": True, **form})


def assert_same_fit(model, k, other):
    """The k-th problem of a model is the only problem of another."""
    np.testing.assert_array_equal(last(model, k), last(other))
    np.testing.assert_array_equal(kept(model, k), kept(other))
    np.testing.assert_array_equal(sequence(model, k), sequence(other))
    fit, alone = model.fits_[k], other.fits_[0]
    np.testing.assert_array_equal(fit.trace.mistakes, alone.trace.mistakes)
    np.testing.assert_array_equal(fit.trace.change, alone.trace.change)
    assert fit.stop_reason is alone.stop_reason
    assert fit.n_updates == alone.n_updates
    assert fit.certificate == alone.certificate


# ------------------------------------------------------------------------------- several classes


@forms
@layouts
@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_one_against_the_rest_is_as_separate_runs(form, layout, spread):
    X, y = clouds(spread=spread)
    model = perceptron(**form).fit(layout(X), y)
    assert model.coef_.shape == (4, 5)
    assert model.intercept_.shape == (4,)
    for k in range(4):
        alone = perceptron(**form).fit(layout(X), y == k)
        assert_same_fit(model, k, alone)
    values = model.decision_function(layout(X))
    assert values.shape == (90, 4)
    np.testing.assert_array_equal(model.predict(layout(X)), values.argmax(axis=1))
    assert model.n_errors_ == (model.predict(layout(X)) != y).sum()


def test_views_of_several_fits():
    X, y = clouds()
    model = perceptron().fit(X, y)
    assert isinstance(model.stop_reason_, tuple)
    assert model.stop_reason_ == tuple(fit.stop_reason for fit in model.fits_)
    assert model.n_mistakes_.tolist() == [fit.n_mistakes for fit in model.fits_]
    assert model.n_updates_.tolist() == [fit.n_updates for fit in model.fits_]
    assert model.n_iter_ == max(fit.n_epochs for fit in model.fits_)
    assert len(model.trace_) == len(model.certificate_) == 4
    assert isinstance(model.n_errors_, int)


def test_views_of_two_classes():
    X, y = clouds(classes=2)
    model = perceptron().fit(X, y)
    assert model.coef_.shape == (1, 5)
    assert model.decision_function(X).shape == (90,)
    assert isinstance(model.n_mistakes_, int)
    assert model.trace_ is model.fits_[0].trace


def test_classes_that_stop_at_different_epochs():
    """The random orders of the others do not depend on who has already stopped."""
    X, y = clouds(spread=1.0)
    model = perceptron(order="shuffled", max_epochs=50).fit(X, y)
    assert len({fit.n_epochs for fit in model.fits_}) > 1
    for k in range(4):
        assert_same_fit(model, k, perceptron(order="shuffled", max_epochs=50).fit(X, y == k))


# -------------------------------------------------------------------------------- kinds of labels

LABELS = {
    "str": ["ant", "bee", "cat"],
    "object": np.array(["x", "yy", "zzz"], dtype=object),
    "negative": [-7, -3, 4],
    "float": [0.0, 1.0, 7.0],
    "int8": np.array([1, 2, 3], dtype=np.int8),
    "unsigned": np.array([0, 200, 255], dtype=np.uint8),
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_labels_of_any_kind(names, classes):
    X, y = clouds(classes)
    names = np.asarray(names)
    plain = perceptron().fit(X, y)
    model = perceptron().fit(X, names[y])
    np.testing.assert_array_equal(model.classes_, names[:classes])
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])
    assert model.predict(X).dtype == names[y].dtype


def test_bool_and_list_labels():
    X, y = clouds(2)
    plain = perceptron().fit(X, y)
    for labels in (y.astype(bool), list(y), [str(k) for k in y], y.reshape(-1)):
        model = perceptron().fit(X, labels)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert (model.predict(X) == np.asarray(labels)).mean() == (plain.predict(X) == y).mean()


def test_the_second_class_in_sorted_order_is_positive():
    X = np.array([[1.0], [-1.0]])
    assert rb.Perceptron().fit(X, ["b", "a"]).coef_[0, 0] > 0
    assert rb.Perceptron().fit(X, ["a", "b"]).coef_[0, 0] < 0
    assert rb.Perceptron().fit(X, [10, 9]).coef_[0, 0] > 0


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"only one class.*at least two classes"):
        rb.Perceptron().fit([[1.0], [2.0]], ["a", "a"])


def test_numbers_to_regress_on_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        rb.Perceptron().fit([[1.0], [2.0], [3.0]], [0.1, 0.2, 0.35])


# --------------------------------------------------------------------------------------- weights


@forms
def test_class_weight_of_two_classes_is_sample_weight(form):
    X, y = clouds(2, spread=2.0)
    factors = np.array([0.5, 3.0])
    given = {0: 0.5, 1: 3.0}
    by_class = perceptron(**form, class_weight=given).fit(X, y)
    by_sample = perceptron(**form).fit(X, y, sample_weight=factors[y])
    both = perceptron(**form, class_weight=given).fit(X, y, sample_weight=np.full(90, 2.0))
    twice = perceptron(**form).fit(X, y, sample_weight=2 * factors[y])
    plain = perceptron(**form).fit(X, y)
    for a, b in ((by_class, by_sample), (both, twice)):
        assert_same_fit(a, 0, b)
        np.testing.assert_array_equal(a.trace_.pocket_errors, b.trace_.pocket_errors)
    assert kept(by_class).tolist() != kept(plain).tolist()


@forms
def test_class_weight_of_several_classes_counts_in_its_own_problem(form):
    X, y = clouds(3, spread=2.0)
    factors = {0: 0.5, 1: 3.0, 2: 1.25}
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 90)
    model = perceptron(**form, class_weight=factors).fit(X, y, sample_weight=weight)
    for k in range(3):
        own = np.where(y == k, factors[k], 1.0)
        assert_same_fit(model, k, perceptron(**form).fit(X, y == k, sample_weight=weight * own))


@pytest.mark.parametrize("kind", [rb.Perceptron, partial(rb.Adaline, eta0=0.01)])
@pytest.mark.parametrize("classes", [2, 3])
def test_balanced(kind, classes):
    X, y = clouds(3, spread=2.0)
    keep = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:9], np.flatnonzero(y == 2)[:17]]
    keep = keep[y[keep] < classes]
    X, y = X[keep], y[keep]
    factors = len(y) / (classes * np.bincount(y))
    balanced = kind(class_weight="balanced", max_epochs=10).fit(X, y)
    names = np.array(["a", "b", "c"])[:classes]
    named = kind(class_weight=dict(zip(names, factors, strict=True)), max_epochs=10)
    np.testing.assert_array_equal(named.fit(X, names[y]).coef_, balanced.coef_)
    for k in range(classes if classes > 2 else 1):
        positive = y == k if classes > 2 else y == 1
        rest = 1.0 if classes > 2 else factors[0]
        own = factors[k] if classes > 2 else factors[1]
        by_hand = kind(max_epochs=10).fit(X, positive, sample_weight=np.where(positive, own, rest))
        np.testing.assert_array_equal(kept(balanced, k), kept(by_hand))


def test_class_weight_of_some_classes():
    X, y = clouds(3)
    some = perceptron(class_weight={1: 4.0}).fit(X, y)
    full = perceptron(class_weight={0: 1.0, 1: 4.0, 2: 1.0}).fit(X, y)
    np.testing.assert_array_equal(some.coef_, full.coef_)


@forms
def test_unit_weights_are_no_weights(form):
    X, y = clouds(3)
    plain, ones = perceptron(**form).fit(X, y), perceptron(**form).fit(X, y, np.ones(90))
    np.testing.assert_array_equal(plain.coef_, ones.coef_)
    np.testing.assert_array_equal(plain.intercept_, ones.intercept_)


@pytest.mark.parametrize(
    "form",
    [{}, {"update": "batch"}, {"order": "worst-mistake"}, {"order": "random-mistake"}],
    ids=["online", "batch", "worst-mistake", "random-mistake"],
)
@layouts
@pytest.mark.parametrize("keep", ["last", "pocket"])
def test_rows_of_weight_zero_are_as_if_removed(form, layout, keep):
    X, y = clouds(2, spread=1.5)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    rows = np.flatnonzero(weight)
    model = perceptron(**form, keep=keep).fit(layout(X), y, weight)
    removed = perceptron(**form, keep=keep).fit(layout(X[rows]), y[rows], weight[rows])
    found = sequence(removed)
    found[:, 1] = rows[found[:, 1]]
    np.testing.assert_array_equal(sequence(model), found)
    np.testing.assert_array_equal(kept(model), kept(removed))
    assert model.stop_reason_ is removed.stop_reason_
    np.testing.assert_array_equal(model.trace_.pocket_errors, removed.trace_.pocket_errors)
    assert model.n_errors_ == (model.predict(X) != y).sum()


def test_a_row_of_weight_zero_does_not_prevent_separation():
    X, y = np.array([[1.0], [-1.0], [2.0]]), np.array([1, 0, 0])
    for order in ("cyclic", "sampled", "worst-mistake"):
        model = rb.Perceptron(order=order, random_state=0).fit(X, y, sample_weight=[1, 1, 0])
        assert model.stop_reason_ is rb.StopReason.SEPARATED
        assert model.n_errors_ == 1


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            [1.0, -0.5, 1.0],
            r"sample_weight holds -0\.5: weights must be finite numbers, zero or positive",
        ),
        ([0.0, 0.0, 0.0], "zero"),
        ([1.0, np.nan, 1.0], "NaN"),
        ([1.0, np.inf, 1.0], "infinity"),
        ([1.0, 1.0], r"sample_weight.*shape"),
        ([[1.0], [1.0], [1.0]], r"[Ss]ample.weights? must be 1D"),
    ],
)
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_bad_weights(kind, weight, message):
    with pytest.raises(ValueError, match=message):
        kind().fit([[1.0], [2.0], [3.0]], [0, 1, 1], sample_weight=weight)


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_bad_class_weights(kind, factor):
    with pytest.raises(ValueError, match=r"class_weight.*(nan|inf|-1)"):
        kind(class_weight={0: factor}).fit([[1.0], [2.0], [3.0]], [0, 1, 1])


# ------------------------------------------------------------------------- fitting in several goes


@pytest.mark.parametrize(
    "form", [{}, {"update": "batch"}, {"update": "minibatch", "batch_size": 7}, {"eta0": 0.5}]
)
@pytest.mark.parametrize("keep", ["last", "average", "auto"])
@pytest.mark.parametrize("classes", [2, 4])
def test_partial_fit_is_an_epoch(form, keep, classes):
    X, y = clouds(classes, spread=4.0)  # no class separates, so fit does not stop early
    whole = perceptron(**form, keep=keep, max_epochs=6).fit(X, y)
    model = perceptron(**form, keep=keep)
    for call in range(6):
        model.partial_fit(X, y, classes=np.arange(classes) if call == 0 else None)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    np.testing.assert_array_equal(model.intercept_, whole.intercept_)
    assert model.n_iter_ == whole.n_iter_ == 6
    for k in range(classes if classes > 2 else 1):
        np.testing.assert_array_equal(sequence(model, k), sequence(whole, k))
        np.testing.assert_array_equal(model.fits_[k].trace.mistakes, whole.fits_[k].trace.mistakes)


@pytest.mark.parametrize("keep", ["last", "average", "auto"])
@pytest.mark.parametrize("cuts", [[30, 60], [1, 2, 50], [89]])
def test_partial_fit_of_parts_is_one_epoch_over_all(keep, cuts):
    X, y = clouds(2)
    model = perceptron(keep=keep)
    for rows in np.split(np.arange(90), cuts):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    path = reference.online(augment(X), 2 * y - 1, [np.arange(90)], np.zeros(6))
    np.testing.assert_array_equal(last(model), path.theta)
    separated = model.stop_reason_ is rb.StopReason.SEPARATED  # the rows last given
    averaged = keep == "average" or (keep == "auto" and not separated)
    expected = path.average if averaged else path.theta
    np.testing.assert_allclose(kept(model), expected, rtol=1e-12)
    assert model.n_mistakes_ == len(path.log)


@pytest.mark.parametrize("order", ["shuffled", "sampled"])
def test_partial_fit_draws_a_new_order_each_time(order):
    X, y = clouds(2)
    model = perceptron(order=order)
    theta = np.zeros(6)
    for call in range(4):
        model.partial_fit(X, y, classes=[0, 1])
        epoch = orders(order, 90, 1, seed_from(7), calls=call)
        theta = reference.online(augment(X), 2 * y - 1, epoch, theta).theta
        np.testing.assert_array_equal(last(model), theta)


def test_partial_fit_with_weights():
    X, y = clouds(2)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 3.0], 90)
    model = perceptron().partial_fit(X, y, [0, 1], weight).partial_fit(X, y, sample_weight=weight)
    path = reference.online(
        augment(X), 2 * y - 1, orders("cyclic", 90, 2), np.zeros(6), 1.0, weight
    )
    np.testing.assert_array_equal(last(model), path.theta)


def test_partial_fit_goes_on_after_fit():
    X, y = clouds(2)
    model = perceptron(max_epochs=3).fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(kept(model), kept(perceptron(max_epochs=4).fit(X, y)))


def test_partial_fit_of_one_class_at_a_time():
    X, y = clouds(3)
    model = perceptron()
    for k in (2, 0, 1):
        model.partial_fit(X[y == k], y[y == k], classes=[0, 1, 2])
    rows = np.concatenate([np.flatnonzero(y == k) for k in (2, 0, 1)])
    whole = perceptron(max_epochs=1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_partial_fit_of_one_class_with_class_weights():
    X, y = clouds(2)
    model = perceptron(class_weight={0: 2.0})
    for k in (1, 0):
        model.partial_fit(X[y == k], y[y == k], classes=[0, 1])
    rows = np.concatenate([np.flatnonzero(y == k) for k in (1, 0)])
    whole = perceptron(class_weight={0: 2.0}, max_epochs=1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_partial_fit_averages_right_after_a_time_limit():
    """The rows visited before the limit count in the mean of what follows."""
    X, y = clouds(2)
    model = perceptron(keep="average", max_time=1e-9).partial_fit(X, y, classes=[0, 1])
    assert model.stop_reason_ is rb.StopReason.TIME_LIMIT
    path = reference.online(augment(X), 2 * y - 1, orders("cyclic", 90, 1), np.zeros(6))
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-12)
    model.set_params(max_time=None).partial_fit(X, y)
    path = reference.online(augment(X), 2 * y - 1, orders("cyclic", 90, 2), np.zeros(6))
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-12)


def test_partial_fit_does_not_warn():
    """One epoch is not meant to separate."""
    X, y = clouds(2, spread=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = perceptron().partial_fit(X, y, classes=[0, 1])
    assert model.n_errors_ == (model.predict(X) != y).sum() > 0


def test_partial_fit_of_the_delta_rule():
    X, y = clouds(2)
    whole = rb.Adaline(eta0=0.01, max_epochs=4, tol=None).fit(X, y)
    model = rb.Adaline(eta0=0.01)
    for _ in range(4):
        model.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(kept(model), kept(whole))


def test_partial_fit_refusals():
    X, y = clouds(3)
    with pytest.raises((ValueError, AttributeError)) as caught:
        rb.Perceptron(keep="pocket").partial_fit(X, y, classes=[0, 1, 2])
    reasons = f"{caught.value} {caught.value.__cause__}"
    assert "keep='pocket' needs all the data at once" in reasons
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        rb.Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        rb.Perceptron().partial_fit(X, y, classes=[0])
    with pytest.raises(ValueError, match=r"y holds 2, but the classes are 0, 1$"):
        rb.Perceptron().partial_fit(X, y, classes=[0, 1])
    model = rb.Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes are now 0, 1, 2, 3, but were 0, 1, 2 before"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)


def test_fit_forgets_what_partial_fit_learned():
    X, y = clouds(2)
    model = perceptron().partial_fit(X, y, classes=[0, 1]).fit(X, y)
    np.testing.assert_array_equal(kept(model), kept(perceptron().fit(X, y)))
    assert model.trace_.updates.start == rb.Hyperplane(np.zeros(5))


# ------------------------------------------------------------------------------------ warm starts


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("update", ["online", "batch"])
def test_warm_start_goes_on(classes, update):
    X, y = clouds(classes)
    model = perceptron(update=update, warm_start=True, max_epochs=4).fit(X, y)
    model.set_params(max_epochs=5).fit(X, y)
    whole = perceptron(update=update, max_epochs=9).fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    np.testing.assert_array_equal(model.intercept_, whole.intercept_)


def test_without_warm_start_a_fit_begins_anew():
    X, y = clouds(2)
    model = perceptron().fit(X, y)
    once = kept(model)
    np.testing.assert_array_equal(kept(model.fit(X, y)), once)
    other, labels = clouds(3, d=2)
    assert model.fit(other, labels).coef_.shape == (3, 2)


def test_warm_start_from_the_kept_vector():
    X, y = clouds(2, spread=2.0)
    model = perceptron(keep="pocket", warm_start=True, max_epochs=5).fit(X, y)
    before, errors = kept(model), model.n_errors_
    model.fit(X, y)
    start = model.trace_.updates.start
    np.testing.assert_array_equal(np.append(start.w, start.b), before)
    assert model.n_errors_ <= errors


def test_warm_start_refuses_new_classes():
    X, y = clouds(3)
    model = perceptron(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="y holds 3, but the classes are 0, 1, 2"):
        model.fit(X, y + 1)


# ----------------------------------------------------------------------------------------- starts


def test_init_per_class():
    X, y = clouds(3)
    starts = np.arange(18.0).reshape(3, 6)
    model = perceptron(init=starts).fit(X, y)
    for k in range(3):
        assert_same_fit(model, k, perceptron(init=starts[k]).fit(X, y == k))
    shared = perceptron(init=starts[0].tolist()).fit(X, y)
    assert all(fit.trace.updates.start == rb.Hyperplane(starts[0, :5], 5.0) for fit in shared.fits_)
    np.testing.assert_array_equal(starts, np.arange(18.0).reshape(3, 6))


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ([1.0, 2.0], r"init has shape \(2,\): give 6 numbers \(5 weights, then the bias\)"),
        (np.zeros((2, 6)), r"init has shape \(2, 6\).*or 3 rows"),
        (3.0, r"init has shape \(\)"),
        (None, r"init=None is not a vector of numbers.*'zeros' or 'random'"),
        ("ones", r"init='ones' is not known: give one of 'zeros', 'random'"),
        ([np.nan] * 6, "init holds numbers that are not finite"),
    ],
)
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_bad_init(kind, init, message):
    X, y = clouds(3)
    with pytest.raises(ValueError, match=message) as caught:
        kind(init=init).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_without_a_bias_init_takes_the_weights_alone(kind):
    X, y = clouds(3)
    starts = np.arange(15.0).reshape(3, 5)
    for start in (starts, starts[0].tolist()):
        padded = np.append(start, np.zeros((*np.shape(start)[:-1], 1)), axis=-1)
        short, long = (
            kind(init=given, fit_intercept=False, max_epochs=3).fit(X, y)
            for given in (start, padded)
        )
        np.testing.assert_array_equal(short.coef_, long.coef_)
        assert not short.intercept_.any()
    guess = rb.mistake_bound([[2.0], [-1.0]], [1, -1], init=[-3], fit_intercept=False)
    assert guess.most == 10  # m² + (2·-3 - 2²)m = 0


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.ones(6), r"init ends with a bias.*give its 5 weights alone, or 6 numbers"),
        (np.ones(4), r"init has shape \(4,\): give 5 numbers \(weights; .*\), or 6, the last"),
    ],
)
def test_init_with_a_bias_needs_an_intercept(init, message):
    X, y = clouds(2)
    with pytest.raises(ValueError, match=message):
        rb.Perceptron(init=init, fit_intercept=False).fit(X, y)

"""Every form of the perceptron against the textbook's: the same mistakes in the same order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import reference
import rosenblatt as rb
from reference import assert_same_run, augment, kept, last, orders, sequence
from rosenblatt.contract.parameters import seed_from
from rosenblatt.results import StopReason

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEED = 5
RNG_SEED = seed_from(SEED)
ORDERS = ("cyclic", "shuffled", "sampled")
LAYOUTS = {"dense": np.ascontiguousarray, "csr": sparse.csr_array}
small = st.integers(-3, 3).map(float)


@st.composite
def problems(draw):
    """Integer samples, so few different ones that many lie on a hyperplane; and parameters."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=small))
    y = np.array([-1, 1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))])
    fit_intercept = draw(st.booleans())
    start = draw(arrays(np.float64, d + 1, elements=small))
    start[-1] *= fit_intercept
    how = {
        "init": start,
        "eta0": draw(st.sampled_from([0.25, 1.0, 2.0])),
        "fit_intercept": fit_intercept,
        "at_zero": draw(st.sampled_from([None, -1, 1])),
    }
    return X, draw(st.permutations(list(y)).map(np.array)), how


def cloud(seed, n=50, d=11, noise=0.1):
    """Random floats, most of them labelled by a hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + 0.3 > noise * rng.standard_normal(n), 1, -1)
    y[:2] = -1, 1
    return X, y


def check_reason(model, path, max_epochs):
    """The run stopped where the path did, for the right reason."""
    if path.finished:
        quiet = StopReason.SEPARATED if path.separated else StopReason.NO_MISTAKES
        assert model.stop_reason_ is quiet
        assert model.at_zero is not None or path.separated
    elif model.n_iter_ == max_epochs:
        assert model.stop_reason_ in (StopReason.EPOCH_LIMIT, StopReason.CYCLE)
    else:
        assert model.stop_reason_ is StopReason.CYCLE


def naive(model, X, y, start, weight=None):
    """The path of the textbook loop that the model's parameters describe."""
    Xt, n = augment(X, model.fit_intercept), len(y)
    how = (model.eta0, weight, model.at_zero)
    epochs = orders(model.order, n, model.n_iter_, RNG_SEED)
    if model.order == "worst-mistake":
        return reference.picked(Xt, y, model.n_iter_, start, np.argmin, *how)
    if model.order == "random-mistake":
        rng = np.random.default_rng([RNG_SEED, 2])
        pick = lambda values: rng.integers(len(values))  # noqa: E731
        return reference.picked(Xt, y, model.n_iter_, start, pick, *how)
    if model.update == "online":
        return reference.online(Xt, y, epochs, start, *how)
    size = n if model.update == "batch" else model.batch_size
    return reference.minibatch(Xt, y, epochs, start, size, *how)


VARIANTS = {
    **{f"online-{order}": {"order": order} for order in ORDERS},
    **{f"batch-{order}": {"update": "batch", "order": order} for order in ORDERS},
    **{
        f"minibatch{size}-{order}": {"update": "minibatch", "batch_size": size, "order": order}
        for size in (1, 3)
        for order in ORDERS
    },
    "minibatch-huge": {"update": "minibatch", "batch_size": 1000},
    "random-mistake": {"order": "random-mistake"},
    "worst-mistake": {"order": "worst-mistake"},
}
variants = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
# What is kept and how long steps are has to do with the rule, not with the order of visits.
RULES = [name for name in VARIANTS if "batch" not in name or "cyclic" in name or "huge" in name]
rules = pytest.mark.parametrize("variant", [VARIANTS[name] for name in RULES], ids=RULES)
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@variants
@given(problem=problems())
def test_integers_exactly(variant, problem):
    X, y, how = problem
    model = rb.Perceptron(**variant, **how, max_epochs=9, record=True, random_state=SEED)
    path = None
    for layout in LAYOUTS.values():
        model.fit(layout(X), y)
        path = path or naive(model, X, y, how["init"])
        assert_same_run(model, path)
        check_reason(model, path, 9)
        np.testing.assert_array_equal(kept(model), path.theta)
        Xt = augment(X, model.fit_intercept)
        assert model.n_errors_ == reference.errors(Xt, y, path.theta, None, model.at_zero)
        assert model.n_errors_ == (model.predict(layout(X)) != y).sum()


@variants
@layouts
@pytest.mark.parametrize("seed", range(3))
def test_floats(variant, layout, seed):
    X, y = cloud(seed)
    model = rb.Perceptron(**variant, max_epochs=15, record=True, random_state=SEED)
    model.fit(layout(X), y)
    path = naive(model, X, y, np.zeros(X.shape[1] + 1))
    assert len(path.log) > 5
    assert_same_run(model, path, exact=False)
    if variant.get("update", "online") == "online":
        np.testing.assert_array_equal(last(model), path.theta)


@rules
@given(problem=problems(), data=st.data())
def test_weights_lengthen_the_steps(variant, problem, data):
    X, y, how = problem
    weight = data.draw(arrays(np.float64, len(y), elements=st.sampled_from([0.0, 0.5, 1.0, 4.0])))
    weight[0] = 2.0
    model = rb.Perceptron(**variant, **how, max_epochs=5, record=True, random_state=SEED).fit(
        X, y, sample_weight=weight
    )
    path = naive(model, X, y, how["init"], weight)
    assert_same_run(model, path)
    check_reason(model, path, 5)


@rules
@given(problem=problems())
def test_pocket_is_the_earliest_of_the_best(variant, problem):
    X, y, how = problem
    model = rb.Perceptron(
        **variant,
        keep="pocket",
        **how,
        max_epochs=9,
        record=True,
        random_state=SEED,
    ).fit(X, y)
    path = naive(model, X, y, how["init"])
    assert_same_run(model, path)
    Xt = augment(X, model.fit_intercept)
    best, after = reference.pocket(path, Xt, y, None, model.at_zero)
    np.testing.assert_array_equal(kept(model), best)
    np.testing.assert_array_equal(model.trace_.pocket_errors, after)
    assert model.n_errors_ == after[-1]


@rules
@given(problem=problems())
def test_average_of_all_visits(variant, problem):
    X, y, how = problem
    model = rb.Perceptron(
        **variant,
        keep="average",
        **how,
        max_epochs=9,
        record=True,
        random_state=SEED,
    ).fit(X, y)
    path = naive(model, X, y, how["init"])
    assert_same_run(model, path)
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_random_start(fit_intercept):
    X, y = cloud(0)
    model = rb.Perceptron(
        init="random", fit_intercept=fit_intercept, max_epochs=5, record=True, random_state=SEED
    ).fit(X, y)
    start = np.random.default_rng([RNG_SEED, 0]).standard_normal(X.shape[1] + 1)
    start[-1] *= fit_intercept
    assert start[:-1].all()
    assert_same_run(model, naive(model, X, y, start), exact=False)


def test_same_random_state_same_run():
    X, y = cloud(1)
    runs = [
        rb.Perceptron(order="shuffled", max_epochs=4, record=True, random_state=s).fit(X, y)
        for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(sequence(runs[0]), sequence(runs[1]))
    assert sequence(runs[0]).tolist() != sequence(runs[2]).tolist()


# -------------------------------------------------------- rows that are skipped on hard data
#
# Once an epoch makes few mistakes, a run looks only at rows that can be mistakes. These data have
# a small margin, so that runs are long and most rows are skipped most of the time.

compiled = pytest.mark.compiled


def hard(n=1000, d=5, margin=0.001, seed=0):
    X, y = rb.datasets.known_margin(n, d, margin=margin, rotate=True, random_state=seed)
    return X, y


def fitted(X, y, **parameters):
    given = {"max_epochs": 60, "record": True, "random_state": SEED, **parameters}
    return rb.Perceptron(**given).fit(X, y)


def assert_identical(a, b):
    np.testing.assert_array_equal(sequence(a), sequence(b))
    np.testing.assert_array_equal(a.trace_.updates.value, b.trace_.updates.value)
    np.testing.assert_array_equal(a.trace_.mistakes, b.trace_.mistakes)
    np.testing.assert_array_equal(last(a), last(b))
    np.testing.assert_array_equal(kept(a), kept(b))
    assert a.stop_reason_ is b.stop_reason_


@compiled
@pytest.mark.parametrize("order", [*ORDERS, "worst-mistake", "random-mistake"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hard_data(order, fit_intercept):
    X, y = hard()
    limit = 400 if "mistake" in order else 80
    parameters = {"order": order, "fit_intercept": fit_intercept, "max_epochs": limit}
    dense, csr = (fitted(layout(X), y, **parameters) for layout in LAYOUTS.values())
    path = naive(dense, X, y, np.zeros(6))
    assert len(path.mistakes) > 20
    for model in (dense, csr):
        assert_same_run(model, path, exact=False)
        check_reason(model, path, limit)
        np.testing.assert_array_equal(last(model), path.theta)


@compiled
@layouts
@pytest.mark.parametrize("update", [{"update": "batch"}, {"update": "minibatch", "batch_size": 64}])
def test_hard_data_in_batches(update, layout):
    X, y = hard()
    model = fitted(layout(X), y, max_epochs=100, **update)
    path = naive(model, X, y, np.zeros(6))
    assert len(path.mistakes) > 50
    assert_same_run(model, path, exact=False)
    check_reason(model, path, 100)


@compiled
@pytest.mark.parametrize("order", ORDERS)
def test_skipping_happens_and_changes_nothing(order, watching):
    X, y = hard(20000, margin=0.0005, seed=1)
    rows = [fitted(X, y, order=order, max_epochs=200, n_jobs=jobs) for jobs in (1, 3)]
    tries = watching(False)
    plain = fitted(X, y, order=order, max_epochs=200)
    assert tries, "no epoch was judged quiet enough to skip rows"
    assert plain.n_iter_ > 50
    for model in rows:
        assert_identical(model, plain)


def uneven(X, y, rng):
    """Row lengths from 1e-6 to 1e6."""
    return X * 10.0 ** rng.uniform(-6, 6, len(X))[:, np.newaxis], y


def holes(X, y, rng):
    """Zero rows: without a bias they stay mistakes for ever."""
    X = X.copy()
    X[rng.integers(0, len(X), 3)] = 0.0
    return X, y


def doubled(X, y, rng):
    """Some rows many times, some not at all."""
    rows = rng.integers(0, len(X), len(X))
    return X[rows], y[rows]


def scaled(power):
    """Everything times a power of two, which rounds nothing."""
    return lambda X, y, rng: (X * 2.0**power, y)


POWERS = (-535, -532, -525, -500, -350, -200, -150, -148, -146, -140, -126, 126, 200, 490, 500)
TWISTS = {
    "as they are": (scaled(0), True),
    "row norms from 1e-6 to 1e6": (uneven, False),
    "row norms from 1e-6 to 1e6, bias": (uneven, True),
    "zero rows": (holes, False),
    "duplicated rows": (doubled, True),
    **{f"2**{power}": (scaled(power), False) for power in POWERS},
    **{f"2**{power}, bias": (scaled(power), True) for power in POWERS},
}
SHUFFLED = list(TWISTS)[:5]  # the order of visits has nothing to do with powers of two


@compiled
@pytest.mark.parametrize(
    ("twist", "order"),
    [*((name, "cyclic") for name in TWISTS), *((name, "shuffled") for name in SHUFFLED)],
)
@layouts
def test_skipping_on_strange_scales(twist, order, layout, watching):
    change, fit_intercept = TWISTS[twist]
    X, y = hard(seed=2)
    X, y = change(X, y, np.random.default_rng(0))
    assert np.isfinite(X).all()
    parameters = {"order": order, "fit_intercept": fit_intercept, "max_epochs": 60}
    X = layout(X)
    chosen = fitted(X, y, **parameters)
    watching(True)
    eager = fitted(X, y, **parameters)
    watching(False)
    plain = fitted(X, y, **parameters)
    assert_identical(chosen, plain)
    assert_identical(eager, plain)


@compiled
@pytest.mark.parametrize("power", [-500, -200, -146, -126, 126, 490])
@pytest.mark.parametrize("pick", ["worst-mistake", "random-mistake"])
def test_picks_on_strange_scales(power, pick):
    """Without a bias the run does not depend on the scale: powers of two are exact."""
    X, y = hard(seed=3)
    unscaled = fitted(X, y, order=pick, fit_intercept=False, max_epochs=300)
    scaled = fitted(X * 2.0**power, y, order=pick, fit_intercept=False, max_epochs=300)
    assert unscaled.n_iter_ > 50
    np.testing.assert_array_equal(sequence(scaled), sequence(unscaled))
    np.testing.assert_array_equal(last(scaled), last(unscaled) * 2.0**power)


@compiled
@pytest.mark.parametrize("power", [-500, -200, -146, -126, -74, -70, -66, 60, 126, 490])
@pytest.mark.parametrize("keep", ["pocket", "average"])
@pytest.mark.parametrize("update", ["online", "batch"])
def test_keeps_on_strange_scales(power, keep, update):
    X, y = hard(seed=4)
    y[:20] *= -1
    parameters = {"keep": keep, "update": update, "fit_intercept": False, "max_epochs": 20}
    unscaled = fitted(X, y, **parameters)
    scaled = fitted(X * 2.0**power, y, **parameters)
    np.testing.assert_array_equal(sequence(scaled), sequence(unscaled))
    np.testing.assert_array_equal(kept(scaled), kept(unscaled) * 2.0**power)
    assert scaled.n_errors_ == unscaled.n_errors_


@compiled
def test_skipping_with_weights_average_and_pocket(watching):
    X, y = hard(seed=6)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    models = {}
    for on in (True, False):
        watching(on)
        for keep in ("average", "pocket"):
            model = rb.Perceptron(keep=keep, max_epochs=60, record=True)
            models[on, keep] = model.fit(X, y, sample_weight=weight)
    for keep in ("average", "pocket"):
        assert models[True, keep].n_iter_ > 20
        np.testing.assert_array_equal(sequence(models[True, keep]), sequence(models[False, keep]))
        np.testing.assert_array_equal(kept(models[True, keep]), kept(models[False, keep]))
    path = reference.online(augment(X), y, orders("cyclic", len(y), 60), np.zeros(6), 1.0, weight)
    assert_same_run(models[True, "average"], path, exact=False)
    np.testing.assert_allclose(kept(models[True, "average"]), path.average, rtol=1e-9)
    best, after = reference.pocket(path, augment(X), y, weight)
    np.testing.assert_array_equal(kept(models[True, "pocket"]), best)
    np.testing.assert_allclose(models[True, "pocket"].trace_.pocket_errors, after, rtol=1e-12)


@compiled
def test_skipping_in_many_problems_and_blocks(watching, in_blocks):
    """One-vs-rest problems that go quiet at different times, read in uneven blocks."""
    rng = np.random.default_rng(3)
    corners = np.array([[4.0, 0, 0], [0, 4, 0], [0, 0, 4], [-4, -4, -4]])
    label = rng.integers(0, 4, 4000)
    X = corners[label] + rng.uniform(-1.9, 1.9, (4000, 3))
    watching(False)
    plain = rb.Perceptron(max_epochs=60, record=True).fit(X, label)
    watching(True)
    whole = rb.Perceptron(max_epochs=60, record=True).fit(X, label)
    in_blocks(701)
    parts = rb.Perceptron(max_epochs=60, record=True).fit(X, label)
    for k in range(4):
        np.testing.assert_array_equal(sequence(whole, k), sequence(plain, k))
        np.testing.assert_array_equal(sequence(parts, k), sequence(plain, k))
        np.testing.assert_array_equal(last(whole, k), last(plain, k))
        np.testing.assert_array_equal(last(parts, k), last(plain, k))

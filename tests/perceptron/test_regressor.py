"""The delta rule on real targets: the naive loop's steps, least squares, scikit-learn's ways."""

import functools
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference
import rosenblatt as rb
from commands import call
from reference import augment, last, orders
from rosenblatt.contract.parameters import seed_from
from rosenblatt.results import StopReason

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LAYOUTS = {"dense": np.ascontiguousarray, "csr": sparse.csr_array}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
FORMS = {
    "online": {},
    "shuffled": {"order": "shuffled", "random_state": 3},
    "sampled": {"order": "sampled", "random_state": 3},
    "batch": {"update": "batch"},
    "minibatch": {"update": "minibatch", "batch_size": 7},
    "no bias": {"fit_intercept": False, "init": [1, -1, 0.5]},
}


def line(n=40, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, 20 * (X @ [1.0, -2.0, 0.5]) + 100 + noise * rng.standard_normal(n)


def squares(X, y, weight=1.0):
    """Weights and bias of least squares."""
    root = np.sqrt(weight) * np.ones(len(y))
    return np.linalg.lstsq(augment(X) * root[:, np.newaxis], y * root, rcond=None)[0]


@quiet
@layouts
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_steps_of_the_naive_loop(form, layout, weighted):
    X, y = line()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(y)) if weighted else None
    model = rb.AdalineRegressor(eta0=0.05, max_epochs=6, tol=None, **form)
    model.fit(layout(X), y, sample_weight=weight)
    size = {"batch": 40, "minibatch": 7}.get(model.update, 1)
    epochs = orders(model.order, 40, 6, seed_from(model.random_state))
    start = [*model.init, 0] if "init" in form else np.zeros(4)
    path = reference.adaline(augment(X, model.fit_intercept), y, epochs, start, size, 0.05, weight)
    np.testing.assert_allclose(last(model), path.theta, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.trace_.loss, path.losses, rtol=1e-10)
    assert model.n_updates_ == len(path.thetas) - 1
    np.testing.assert_array_equal(last(model), [*model.coef_, model.intercept_])


@layouts
def test_blocks_change_nothing(layout, monkeypatch):
    X, y = line()
    how = {"max_epochs": 20, "tol": None, "order": "shuffled", "random_state": 0}
    whole = rb.AdalineRegressor(**how).fit(layout(X), y)
    from rosenblatt.perceptron import regressor

    cut = functools.partial(regressor.MemorySource, block_size=9)
    monkeypatch.setattr(regressor, "MemorySource", cut)
    parts = rb.AdalineRegressor(**how).fit(layout(X), y)
    np.testing.assert_array_equal(last(parts), last(whole))
    np.testing.assert_array_equal(parts.trace_.loss, whole.trace_.loss)


def test_targets_of_one_and_minus_one_are_adaline():
    X, y = line()
    signs = np.where(y > 100, 1, -1)
    ours = rb.AdalineRegressor(update="batch").fit(X, signs)
    other = rb.Adaline(update="batch").fit(X, signs)
    np.testing.assert_array_equal(ours.coef_, other.coef_[0])
    assert ours.intercept_ == other.intercept_[0]
    assert ours.eta_ == other.eta_
    np.testing.assert_array_equal(ours.trace_.loss, other.trace_.loss)


@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares(weighted):
    X, y = line()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
    model = rb.AdalineRegressor(update="batch", tol=1e-10).fit(X, y, weight)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    best = squares(X, y, 1.0 if weight is None else weight)
    np.testing.assert_allclose(last(model), best, rtol=1e-7)
    assert model.score(X, y) > 0.999
    plane = rb.Hyperplane(model.coef_, model.intercept_)
    np.testing.assert_allclose(model.predict(X), plane.decision_function(X), rtol=1e-12)
    if weight is None:
        assert abs(rb.theory.delta_rule_update(plane, X, y)).max() < 1e-8


def test_targets_that_can_be_met_are_met_online():
    X, y = line(noise=0.0)
    model = rb.AdalineRegressor(tol=1e-12).fit(X, y)
    np.testing.assert_allclose(last(model), [20, -40, 10, 100], rtol=1e-8)


# ------------------------------------------------------------------------------------- the rate


def test_a_rate_that_is_too_large_is_named():
    X, y = line()
    top = np.linalg.eigvalsh(augment(X).T @ augment(X) / len(y))[-1]
    with pytest.raises(rb.DivergenceError, match="Give eta0 below") as told:
        rb.AdalineRegressor(update="batch", eta0=2.05 / top).fit(X, y)
    named = float(str(told.value).partition("below ")[2].partition(",")[0])
    assert named == pytest.approx(0.995 * 2 / top, rel=0.01)
    rb.AdalineRegressor(update="batch", eta0=named, max_epochs=20_000).fit(X, y)
    assert rb.AdalineRegressor(update="batch").fit(X, y).eta_ == pytest.approx(1 / top)


def test_targets_of_any_size_are_no_divergence():
    X, y = line()
    model = rb.AdalineRegressor()
    for scale in (1e-9, 1e9, 1e-9):
        model.partial_fit(X, scale * y)
    assert np.isfinite(last(model)).all()
    rb.AdalineRegressor(update="batch", tol=1e-3).fit(X, 1e9 * y)
    none = rb.AdalineRegressor().fit(X, np.zeros(len(y)))
    assert not last(none).any()


# ------------------------------------------------------------------------- going on, and files


@quiet
def test_going_on_is_the_same_as_going_through(tmp_path):
    X, y = line()
    whole = rb.AdalineRegressor(max_epochs=4, tol=None).fit(X, y)
    parts = rb.AdalineRegressor()
    for _ in range(2):
        parts.partial_fit(X, y)
    rb.io.save(parts, tmp_path / "line.skops")
    for loaded in (rb.io.load(tmp_path / "line.skops"), pickle.loads(pickle.dumps(parts))):
        np.testing.assert_array_equal(loaded.predict(X), parts.predict(X))
        loaded.partial_fit(X, y).partial_fit(X, y)
        np.testing.assert_array_equal(last(loaded), last(whole))
        assert loaded.n_iter_ == 4
        assert loaded.n_updates_ == whole.n_updates_
    warm = rb.AdalineRegressor(max_epochs=2, tol=None, warm_start=True)
    np.testing.assert_array_equal(last(warm.fit(X, y).fit(X, y)), last(whole))


def test_parts_that_do_not_fit_together_are_refused():
    model = rb.AdalineRegressor().fit(*line())
    model.coef_ = model.coef_[:2]
    with pytest.raises(ValueError, match="do not fit together"):
        pickle.loads(pickle.dumps(model))


def test_the_command_wants_classes(tmp_path):
    X, y = line()
    model = make_pipeline(StandardScaler(), rb.AdalineRegressor()).fit(X, y)
    rb.io.save(model, tmp_path / "line.skops")
    table = tmp_path / "line.csv"
    table.write_text("a,b,c\n1,2,3\n")
    told = call("predict", tmp_path / "line.skops", table, code=2).stderr
    assert "holds a Pipeline, which is no classifier: use it from Python, rb.io.load" in told
    told = call("show", tmp_path / "line.skops", code=2).stderr
    assert "holds a AdalineRegressor, not one of rosenblatt's classifiers" in told


# ------------------------------------------------------------------------------ what it says


def test_limits_are_told():
    X, y = line()
    with pytest.warns(ConvergenceWarning, match="stopped after 2 epochs.*Raise max_epochs"):
        rb.AdalineRegressor(max_epochs=2).fit(X, y)
    rb.AdalineRegressor(max_epochs=2, tol=None).fit(X, y)  # as asked


def test_a_callback_sees_the_hyperplane():
    X, y = line()
    seen = []
    model = rb.AdalineRegressor(max_epochs=3, tol=None, callback=seen.append).fit(X, y)
    assert [epoch.number for epoch in seen] == [1, 2, 3]
    np.testing.assert_array_equal(seen[-1].hyperplanes[0].w, model.coef_)
    assert not model.trace_.mistakes.any()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "c"], "y holds text: give numbers"),
        ([1.0, np.nan, 2.0], "NaN"),
        ([1.0, 2.0], "inconsistent numbers of samples"),
        (np.array([1, 2, 2**53 + 1]), "which no float is equal to"),
        (np.array([1j, 0, 1]), "complex"),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        rb.AdalineRegressor().fit(np.eye(3), y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"eta0": "fast"}, "eta0='fast' is not known"),
        ({"order": "worst-mistake"}, "order='worst-mistake' is not known"),
        ({"init": [1, 2]}, r"init has shape \(2,\): give 4 numbers"),
        ({"batch_size": 3}, "batch_size=3 needs update='minibatch'"),
    ],
)
def test_parameters_that_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        rb.AdalineRegressor(**given).fit(*line())


# ----------------------------------------------------------------------------------- the formulas


def test_the_formulas_take_real_targets():
    X, y = line()
    theta, step = np.array([1.0, 2.0, -1.0, 0.5]), 1e-6

    def loss(theta):
        return rb.theory.squared_loss(rb.Hyperplane(theta[:-1], theta[-1]), X, y)

    numbers = [(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(4)]
    update = rb.theory.delta_rule_update(rb.Hyperplane(theta[:-1], theta[-1]), X, y)
    np.testing.assert_allclose(update, -np.array(numbers), rtol=1e-5)
    one = rb.AdalineRegressor(update="batch", eta0=0.1, init=theta, max_epochs=1, tol=None)
    np.testing.assert_allclose(last(one.fit(X, y)), theta + 0.1 * update, rtol=1e-12)
    assert one.trace_.loss[0] == pytest.approx(loss(theta))
    with pytest.raises(ValueError, match="y holds targets that are not finite"):
        rb.theory.squared_loss(rb.Hyperplane([1.0]), [[1.0]], [np.inf])
    with pytest.raises(ValueError, match="y has 2 samples but X has 1 rows"):
        rb.theory.delta_rule_update(rb.Hyperplane([1.0]), [[1.0]], [1, 2])

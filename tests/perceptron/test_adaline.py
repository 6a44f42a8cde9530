"""The delta rule: against its naive loop, the closed form, and the edge where it diverges."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import reference
import rosenblatt as rb
from reference import augment, kept, orders
from rosenblatt.contract.parameters import seed_from
from rosenblatt.perceptron import delta
from rosenblatt.results import StopReason

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def cloud(n=80, d=4, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(1, 2, d) + 0.3
    return X, np.where(X[:, 0] + spread * rng.standard_normal(n) > 0, 1, -1)


def least_squares(X, t, weight=None, fit_intercept=True):
    """Minimiser of the weighted mean of (t - o)²."""
    root = np.sqrt(np.ones(len(t)) if weight is None else weight)
    Xt = augment(X, fit_intercept)
    return np.linalg.lstsq(Xt * root[:, np.newaxis], t * root, rcond=None)[0]


def largest_rate(X, weight=None, fit_intercept=True):
    """2/λ, λ the largest eigenvalue of the weighted mean of x̃x̃ᵀ."""
    weight = np.ones(len(X)) if weight is None else weight
    Xt = augment(X, fit_intercept)
    return 2 / np.linalg.eigvalsh((Xt.T * weight) @ Xt / weight.sum())[-1]


@quiet
@pytest.mark.parametrize(
    "form", [{}, {"update": "minibatch", "batch_size": 7}, {"update": "batch"}]
)
def test_the_weights_are_summed_up_once(form, monkeypatch):
    """On a cluster this is a pass that Ctrl-C does not cut short."""
    X, _ = cloud()
    y, weight, asked = np.arange(80) % 3, np.linspace(1, 2, 80), []

    def counted(source, positive, total=delta.total_weight):
        asked.append(positive)
        return total(source, positive)

    monkeypatch.setattr(delta, "total_weight", counted)
    rb.Adaline(**form, eta0=1e-3, max_epochs=4).fit(X, y, weight)
    assert asked == [0, 1, 2]


# ------------------------------------------------------------------------------ the naive loop

FORMS = {
    **{f"online-{o}": {"order": o} for o in ("cyclic", "shuffled", "sampled")},
    **{f"batch-{o}": {"update": "batch", "order": o} for o in ("cyclic", "shuffled", "sampled")},
    **{
        f"minibatch{size}-{o}": {"update": "minibatch", "batch_size": size, "order": o}
        for size in (1, 7, 1000)
        for o in ("cyclic", "shuffled")
    },
}


@quiet
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_against_the_naive_loop(form, weighted, fit_intercept, layout):
    X, y = cloud()
    weight = np.random.default_rng(1).random(80) if weighted else None
    start = np.array([0.1, -0.2, 0.3, 0.0, 0.5 * fit_intercept])
    model = rb.Adaline(
        **form,
        eta0=0.02,
        init=start,
        fit_intercept=fit_intercept,
        max_epochs=6,
        tol=None,
        random_state=3,
    ).fit(layout(X), y, sample_weight=weight)
    size = {"online": 1, "batch": 80}.get(model.update, model.batch_size)
    epochs = orders(model.order, 80, 6, seed_from(3))
    path = reference.adaline(augment(X, fit_intercept), y, epochs, start, size, 0.02, weight)
    np.testing.assert_allclose(kept(model), path.theta, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(model.trace_.loss, path.losses, rtol=1e-10)
    assert model.trace_.mistakes.tolist() == path.mistakes
    assert model.n_updates_ == len(path.thetas) - 1
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT
    assert model.eta_ == 0.02


def test_one_step_by_hand():
    """o = 1·2 + 0.5 = 2.5 for target -1: w = 1 - 0.1·3.5·2 = 0.3, b = 0.5 - 0.1·3.5 = 0.15."""
    X, y = np.array([[2.0], [0.0]]), np.array([-1, 1])
    model = rb.Adaline(eta0=0.1, init=[1.0, 0.5]).partial_fit(X[:1], y[:1], classes=[-1, 1])
    np.testing.assert_allclose(kept(model), [0.3, 0.15], rtol=1e-15)
    np.testing.assert_allclose(model.trace_.loss, [3.5**2 / 2])


# ------------------------------------------------------------------------------- the closed form


@quiet
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_batch_reaches_least_squares(weighted, fit_intercept):
    X, y = cloud()
    weight = np.random.default_rng(1).random(80) if weighted else None
    model = rb.Adaline(
        update="batch", tol=1e-13, max_epochs=100_000, fit_intercept=fit_intercept
    ).fit(X, y, sample_weight=weight)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    best = least_squares(X, y, weight, fit_intercept)
    np.testing.assert_allclose(kept(model), best, rtol=1e-8, atol=1e-10)
    assert (np.diff(model.trace_.loss) <= 1e-12).all()
    assert model.eta_ == pytest.approx(largest_rate(X, weight, fit_intercept) / 2, rel=1e-6)
    residual = y - augment(X, fit_intercept) @ best
    mass = np.ones(80) if weight is None else weight
    assert model.trace_.loss[-1] == pytest.approx((mass @ residual**2) / 2 / mass.sum())


@quiet
def test_online_with_a_small_rate_comes_near():
    X, y = cloud()
    model = rb.Adaline(eta0=1e-3, tol=None, max_epochs=300).fit(X, y)
    np.testing.assert_allclose(kept(model), least_squares(X, y), atol=0.02)


@quiet
def test_several_classes_are_separate_problems():
    X, _ = cloud()
    y = np.arange(80) % 3
    model = rb.Adaline(update="batch", tol=1e-12, max_epochs=100_000).fit(X, y)
    for k in range(3):
        best = least_squares(X, np.where(y == k, 1, -1))
        np.testing.assert_allclose(kept(model, k), best, rtol=1e-7, atol=1e-9)
        alone = rb.Adaline(update="batch", tol=1e-12, max_epochs=100_000).fit(X, y == k)
        np.testing.assert_array_equal(kept(model, k), kept(alone))


@quiet
def test_scaling_all_weights_changes_nothing():
    X, y = cloud()
    weight = np.random.default_rng(1).random(80)
    for update in ("online", "batch"):
        a, b = (
            rb.Adaline(update=update, max_epochs=5).fit(X, y, sample_weight=s * weight)
            for s in (1.0, 8.0)
        )
        np.testing.assert_allclose(kept(a), kept(b), rtol=1e-12)


# ------------------------------------------------------------------------------------ divergence


def named_rate(error):
    (rate,) = re.findall(r"below ([0-9.e+-]*[0-9])", str(error))
    return float(rate)


@quiet
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_batch_diverges_exactly_above_the_largest_rate(seed, weighted):
    X, y = cloud(d=2 + seed, seed=seed)
    weight = np.random.default_rng(1).random(80) if weighted else None
    largest = largest_rate(X, weight)
    with pytest.raises(rb.DivergenceError, match=r"eta0=.* is too large") as caught:
        rb.Adaline(update="batch", eta0=1.01 * largest, max_epochs=5000).fit(X, y, weight)
    assert "\n" not in str(caught.value)
    named = named_rate(caught.value)
    assert 0.99 * largest <= named <= largest  # whoever takes it at its word is safe
    model = rb.Adaline(update="batch", eta0=0.99 * largest, tol=1e-10, max_epochs=100_000)
    model.fit(X, y, weight)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    np.testing.assert_allclose(kept(model), least_squares(X, y, weight), rtol=1e-5, atol=1e-7)


@quiet
@pytest.mark.parametrize("update", [{}, {"update": "minibatch", "batch_size": 7}])
@pytest.mark.parametrize("weighted", [False, True])
def test_smaller_batches_name_a_safe_rate(update, weighted):
    X, y = cloud()
    weight = np.random.default_rng(1).random(80) if weighted else None
    relative = 1.0 if weight is None else weight / weight.mean()
    R2 = (relative * (augment(X) ** 2).sum(axis=1)).max()
    with pytest.raises(rb.DivergenceError, match="scale the features") as caught:
        rb.Adaline(**update, eta0=50.0).fit(X, y, weight)
    named = named_rate(caught.value)
    assert 0.99 * 2 / R2 <= named <= 2 / R2
    model = rb.Adaline(**update, eta0=0.99 * named, tol=None, max_epochs=300).fit(X, y, weight)
    assert np.isfinite(kept(model)).all()
    auto = rb.Adaline(**update, max_epochs=20).fit(X, y, weight)
    assert auto.eta_ == pytest.approx(1 / R2, rel=1e-12)


def test_divergence_is_a_value_error():
    assert issubclass(rb.DivergenceError, ValueError)


@quiet
@pytest.mark.parametrize("power", [-20, 20])
def test_auto_follows_the_scale_of_the_features(power):
    X, y = cloud()
    model = rb.Adaline(update="batch", max_epochs=50, fit_intercept=False, tol=None)
    plain = model.fit(X, y).coef_.copy()
    rate = model.eta_
    scaled = model.fit(X * 2.0**power, y)
    assert scaled.eta_ == pytest.approx(rate * 4.0**-power, rel=1e-9)
    np.testing.assert_allclose(scaled.coef_, plain * 2.0**-power, rtol=1e-6)


@quiet
def test_a_matrix_of_zeros_has_nothing_to_fear():
    model = rb.Adaline(update="batch", fit_intercept=False, max_epochs=3).fit(
        np.zeros((4, 3)), [0, 1, 0, 1]
    )
    np.testing.assert_array_equal(kept(model), np.zeros(4))


# ------------------------------------------------------------------------------------ stop reasons


def test_it_does_not_stop_at_the_last_mistake():
    X, y = rb.datasets.eight_points()
    model = rb.Adaline(update="batch").fit(X, y)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    assert model.n_errors_ == 0
    assert model.trace_.change[-1] < 1e-6 <= model.trace_.change[-2]
    assert (model.trace_.mistakes == 0).any()


def test_epoch_limit_warns_with_the_number_of_errors():
    X, y = cloud()
    with pytest.warns(ConvergenceWarning) as caught:
        model = rb.Adaline(max_epochs=2, tol=1e-12).fit(X, y)
    message = str(caught[0].message)
    assert f"Adaline stopped after 2 epochs with {model.n_errors_} training errors left" in message
    assert "max_epochs" in message
    assert model.n_errors_ == (model.predict(X) != y).sum()


def test_reaching_the_least_error_is_success_even_with_errors_left():
    """It stopped where it is meant to stop: there is nothing to warn of."""
    X, y = cloud()
    model = rb.Adaline(update="batch", tol=1e-6, max_epochs=10_000).fit(X, y)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    assert model.n_errors_ > 0


@quiet
@pytest.mark.parametrize("update", [{}, {"update": "batch"}])
@pytest.mark.parametrize("size", [None, 7])
def test_time_limit(update, size, in_blocks):
    X, y = cloud()
    if size:
        in_blocks(size)
    model = rb.Adaline(**update, max_time=1e-9).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    trace = model.trace_
    assert len(trace) == len(trace.change) == len(trace.seconds) == model.n_iter_ == 1
    assert trace.loss is not None
    assert len(trace.loss) == 1
    assert model.n_errors_ == (model.predict(X) != y).sum()
    if not update:
        assert model.n_updates_ == (size or 80)
        assert trace.change[0] > 0


@quiet
def test_interrupted():
    X, y = cloud()

    def stop(epoch):
        if epoch.number == 3:
            raise KeyboardInterrupt

    model = rb.Adaline(callback=stop, tol=None).fit(X, y)
    assert model.stop_reason_ is StopReason.INTERRUPTED
    assert len(model.trace_.loss) == model.n_iter_ == 3

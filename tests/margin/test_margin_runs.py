"""Best hyperplanes cut short, started warm, along a path of C, and for several classes."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import reference_margin as slow
import rosenblatt as rb
from margin_samples import apart, noisy
from reference_margin import assert_honest, assert_same
from rosenblatt.nearest.max_margin import MaxMargin

Reason = rb.StopReason


quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# ------------------------------------------------------------------------------------ cut short


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
def test_a_gap_that_there_was_no_time_to_check_is_not_called_closed(kind, monkeypatch):
    X, y = apart()
    monkeypatch.setattr("rosenblatt.margin.proving.CHECK", np.inf)
    with pytest.warns(ConvergenceWarning, match="which was not checked again: .* Raise max_time"):
        model = kind(max_time=1e6).fit(X, y)
    assert model.stop_reason_ is Reason.TIME_LIMIT
    assert model.certificate_ is None
    assert model.gap_ <= model.tol
    unlimited = kind().fit(X, y)
    assert unlimited.stop_reason_ is Reason.GAP_CLOSED
    assert np.array_equal(unlimited.coef_, model.coef_)


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
@pytest.mark.parametrize("max_time", [1e-12, 1e-4])
def test_a_time_limit_leaves_a_hyperplane_with_an_honest_gap(kind, max_time):
    X, y = apart(20_000, 20, gap=1e-3)
    if kind is rb.SoftMarginClassifier:
        y[::10] *= -1
    with pytest.warns(ConvergenceWarning, match=r"stopped with a gap of .*Raise max_time"):
        model = kind(max_time=max_time).fit(X, y)
    assert model.stop_reason_ is Reason.TIME_LIMIT
    assert model.certificate_ is None
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).shape == (20_000,)
    if kind is rb.SoftMarginClassifier:
        best = model.optimum_
        assert np.isfinite(best.primal)
        primal = slow.objective(X, y, 1.0, model.coef_[0], model.intercept_[0])
        assert best.primal == pytest.approx(primal, rel=1e-9)
        assert model.tol < model.gap_ <= 1
    else:
        assert model.gap_ == 1 or model.n_errors_ == 0


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
@pytest.mark.parametrize("scan", [1, 2])
def test_an_interrupt_in_the_callback_keeps_what_there_is(kind, scan):
    X, y = apart(3000, 5, gap=1e-3)

    def stop(round_):
        if round_.number == scan:
            raise KeyboardInterrupt

    model = kind(callback=stop, tol=1e-10)
    if kind is rb.SoftMarginClassifier:
        model.set_params(C=1e5)  # where slack is cheap, one scan may do
    with pytest.warns(ConvergenceWarning, match="Fit again"):
        model.fit(X, y)
    assert model.stop_reason_ is Reason.INTERRUPTED
    assert model.n_iter_ == scan
    assert model.certificate_ is None
    assert 0 <= model.gap_ <= 1
    if np.isfinite(model.optimum_.primal):
        assert model.optimum_.dual <= model.optimum_.primal


def test_other_errors_in_the_callback_pass_through_and_leave_the_model_as_it_was():
    X, y = apart()

    def fail(round_):
        msg = "no"
        raise RuntimeError(msg)

    model = rb.SoftMarginClassifier(callback=fail)
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
def test_callbacks_and_traces_tell_the_same(kind, classes):
    X, y = make_blobs(300, 3, centers=classes, cluster_std=0.5, random_state=4)
    told = []
    model = kind(callback=told.append).fit(X, y)
    for k, fit in enumerate(model.fits_):
        mine = [r for r in told if r.problem == k]
        assert [r.number for r in mine] == list(range(1, len(fit.trace) + 1))
        assert [r.seconds for r in mine] == fit.trace.seconds.tolist()
        assert [r.rows for r in mine] == fit.trace.rows.tolist()
        np.testing.assert_array_less(np.diff([r.primal for r in mine]), 1e-300)
        assert all(0 <= r.gap <= 1 for r in mine)
        assert (np.diff(fit.trace.seconds) >= 0).all()
    assert model.n_iter_ == max(len(fit.trace) for fit in model.fits_)


# ------------------------------------------------------------------------------ again, and along C


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_a_warm_start_ends_in_the_same_optimum(C):
    X, y = noisy(200)
    cold = rb.SoftMarginClassifier(C=C).fit(X, y)
    warm = rb.SoftMarginClassifier(C=2 * C, warm_start=True).fit(X, y)
    warm.set_params(C=C).fit(X, y)
    assert_honest(warm, X, y)
    assert_same(cold, warm)
    # From where it is already nothing is lost, and other data are no obstacle.
    warm.fit(X, y)
    assert_honest(warm, X, y)
    warm.fit(X[:, :2], y)
    assert_same(warm, rb.SoftMarginClassifier(C=C).fit(X[:, :2], y))
    warm.fit(X, y % 3)
    assert_same(warm, cold, scale=1.0 if (y % 3)[y == 1][0] == 2 else -1.0)


def test_a_path_of_C():
    X, y = noisy(60)
    Cs = [10.0, 1e-3, 0.1, 1e3, 1.0]
    path = rb.soft_margin_path(X, y, Cs)
    assert len(path) == 5
    assert path.Cs.tolist() == Cs
    order = np.argsort(Cs)
    assert (np.diff(path.margin[order]) <= 1e-3 * path.margin[order][:-1]).all()
    assert (np.diff(path.slack[order]) <= 1e-3 * path.slack[order][:-1]).all()
    assert (path.gap <= 1e-6).all()
    for k, C in enumerate(Cs):
        single = rb.SoftMarginClassifier(C=C).fit(X, y)
        optimum, plane = path.optima[k], path.hyperplanes[k]
        assert rb.certify.check(optimum, X, y)
        assert optimum.dual <= single.optimum_.primal * (1 + 1e-12)
        assert single.optimum_.dual <= optimum.primal * (1 + 1e-12)
        far = 2 * np.sqrt(2e-6 * optimum.primal)
        np.testing.assert_allclose(plane.w, single.coef_[0], rtol=0, atol=far)
        values = y * (X @ plane.w + plane.b)
        assert path.slack[k] == pytest.approx(np.maximum(0, 1 - values).sum(), rel=1e-9, abs=1e-12)
        assert path.errors[k] == ((X @ plane.w + plane.b > 0) != (y > 0)).sum()
        assert path.n_support[k] == len(optimum.support)
        assert path.margin[k] == optimum.margin
        assert (path.primal[k], path.dual[k]) == (optimum.primal, optimum.dual)
    again = rb.soft_margin_path(X, y, sorted(Cs))
    np.testing.assert_array_equal(again.primal, path.primal[order])


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_a_path_ends_in_the_maximum_margin(layout):
    X, y = apart()
    path = rb.soft_margin_path(layout(X), y)
    hard = rb.MaxMarginClassifier().fit(X, y)
    assert len(path) > 10
    assert (np.diff(path.Cs) > 0).all()
    assert path.margin[-1] == pytest.approx(hard.margin_, rel=1e-3)
    np.testing.assert_allclose(path.hyperplanes[-1].w, hard.coef_[0], atol=3e-3 / hard.margin_)
    assert path.errors[-1] == 0
    assert path.margin[0] > 3 * hard.margin_


def test_a_path_with_weights():
    X, y = noisy(40)
    s = np.random.default_rng(0).random(40)
    path = rb.soft_margin_path(X, y, [0.1, 10.0], sample_weight=s, class_weight={-1: 2, 1: 1})
    factor = np.where(y < 0, 2, 1)
    for optimum in path.optima:
        assert rb.certify.check(optimum, X, y, s * factor)
    values = y * (X @ path.hyperplanes[1].w + path.hyperplanes[1].b)
    assert path.slack[1] == pytest.approx(s * factor @ np.maximum(0, 1 - values), rel=1e-9)


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        ([], r"Cs has shape \(0,\): give a list of positive numbers"),
        (1.0, r"Cs has shape \(\)"),
        ([[1.0]], r"Cs has shape \(1, 1\)"),
        ([1.0, 0.0], r"Cs\[1\]=0\.0 is not allowed"),
        ([1.0, np.nan], r"Cs\[1\]=nan is not allowed"),
        (["a"], r"Cs\[0\]='a' is not allowed"),
        ([True], r"Cs\[0\]=True is not allowed"),
    ],
)
def test_paths_that_are_none(Cs, message):
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        rb.soft_margin_path(X, y, Cs)


def test_a_path_is_of_two_classes():
    X, y = make_blobs(60, 3, random_state=0)
    with pytest.raises(ValueError, match=r"y holds 3 classes .*a path is of two"):
        rb.soft_margin_path(X, y, [1.0])
    with pytest.raises(ValueError, match="class"):
        rb.soft_margin_path(X, np.zeros(60))
    with pytest.raises(ValueError, match="class"):
        rb.soft_margin_path(X, np.zeros(60), [1.0])
    with pytest.raises(ValueError, match=r"y holds 3 classes .*a path is of two"):
        rb.soft_margin_path(X, y)


# --------------------------------------------------------------------------------- several classes


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_several_classes_are_one_against_the_rest(layout):
    X, y = make_blobs(200, 3, centers=4, cluster_std=2.0, random_state=0)
    names = np.array(["d", "a", "c", "b"])[y]
    model = rb.SoftMarginClassifier(C=3.0).fit(layout(X), names)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.coef_.shape == (4, 3)
    assert model.gap_.shape == model.margin_.shape == (4,)
    assert isinstance(model.optimum_, tuple)
    sides = model.sides(layout(X), names)
    for k, name in enumerate(model.classes_):
        alone = rb.SoftMarginClassifier(C=3.0).fit(layout(X), names == name)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        assert model.intercept_[k] == alone.intercept_[0]
        assert model.gap_[k] == alone.gap_
        assert model.margin_[k] == alone.margin_
        assert model.stop_reason_[k] is Reason.GAP_CLOSED
        np.testing.assert_array_equal(model.support_[k], alone.support_)
        np.testing.assert_array_equal(model.dual_coef_[k], alone.dual_coef_)
        np.testing.assert_array_equal(sides[k].slack, alone.sides(layout(X), names == name).slack)
        assert rb.certify.check(model.certificate_[k], X, names == name)
    values = model.decision_function(X)
    assert model.predict(X).tolist() == model.classes_[values.argmax(axis=1)].tolist()
    assert model.n_errors_ == (model.predict(X) != names).sum()


def test_some_classes_are_separable_and_some_are_not():
    """Three on a line: the one in the middle has no half-plane of its own."""
    X, y = np.arange(6.0)[:, np.newaxis], np.repeat(["low", "mid", "top"], 2)
    with pytest.warns(rb.NotSeparableWarning, match="'mid' from the other classes, which"):
        model = rb.MaxMarginClassifier().fit(X, y)
    assert model.stop_reason_ == (Reason.GAP_CLOSED, Reason.INSEPARABLE, Reason.GAP_CLOSED)
    np.testing.assert_allclose(model.margin_[[0, 2]], 0.5, rtol=1e-8)
    assert model.nearest_points_[1] is None
    np.testing.assert_allclose(model.nearest_points_[0], [[2], [1]])
    assert rb.certify.check(model.certificate_[1], X, y == "mid")
    with pytest.raises(rb.NotSeparableError, match="'mid' from the other classes"):
        rb.MaxMarginClassifier(on_inseparable="raise").fit(X, y)


def test_weights_that_leave_a_class_with_nothing():
    X, y = noisy()
    for kind in (rb.SoftMarginClassifier, rb.MaxMarginClassifier):
        with pytest.raises(ValueError, match=r"every sample of class .*1.* has weight 0"):
            kind().fit(X, y, (y < 0).astype(float))
        with pytest.raises(ValueError, match=r"every sample of class .*-1.* has weight 0"):
            kind().fit(X, y, (y > 0).astype(float))


def test_columns_of_all_sizes_are_no_excuse():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((400, 8))
        y = B @ rng.standard_normal(8) > 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # two end just above tol
            model = rb.MaxMarginClassifier().fit(B * np.logspace(-6, 6, 8), y)
        assert model.gap_ < 1e-6


def test_a_default_path_goes_on_over_a_plateau():
    X = np.concatenate([np.linspace(1, 2, 50), [-0.99], -np.linspace(1, 2, 50)])[:, np.newaxis]
    y = np.repeat([1, 0], [51, 50])
    path = rb.soft_margin_path(X, y)
    assert path.margin[-1] == pytest.approx(rb.MaxMarginClassifier().fit(X, y).margin_, rel=1e-3)
    assert path.errors[-1] == 0


def test_a_warm_start_takes_fewer_scans():
    X, y = noisy()
    Cs = np.geomspace(1.0, 100.0, 8)
    warm = rb.SoftMarginClassifier(warm_start=True)
    scans = [warm.set_params(C=C).fit(X, y).n_iter_ for C in Cs]
    assert sum(scans) < sum(rb.SoftMarginClassifier(C=C).fit(X, y).n_iter_ for C in Cs)


@pytest.mark.parametrize("C", [1e-300, 1e-60, 1e60, 1e300])
def test_prices_beyond_all_measure(C):
    """Whatever the price: the gap is what it says, and a tiny price is easy."""
    X, y = noisy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = rb.SoftMarginClassifier(C=C).fit(X, y)
    found = rb.certify.check(model.optimum_, X, y)
    assert found, found.why
    assert C > 1 or model.stop_reason_ is Reason.GAP_CLOSED


def test_a_verdict_for_the_maximum_margin_does_not_look_for_it_again(monkeypatch):
    """With many features a verdict tries the maximum margin first; here that has just failed."""
    X, y = np.vstack([np.eye(600)[:40]] * 2), np.repeat([0, 1], 40)
    runs, run = [], MaxMargin.run
    monkeypatch.setattr(MaxMargin, "run", lambda self: runs.append(self) or run(self))
    assert rb.separability(X, y).verdict is rb.Verdict.INSEPARABLE
    assert len(runs) == 1
    with pytest.raises(rb.NotSeparableError):
        rb.MaxMarginClassifier(on_inseparable="raise").fit(X, y)
    assert len(runs) == 2

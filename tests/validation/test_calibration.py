"""Probabilities: scikit-learn's own on the same folds, kept in model files, gone after a refit."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

import rosenblatt as rb
from rosenblatt.report.probabilities import probability_facts
from rosenblatt.results.calibration import IsotonicCurve, SigmoidCurve, probabilities
from rosenblatt.validation.calibration import NotCalibratedError, calibrated
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.refits import FoldedTable

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = {
    "perceptron": (rb.Perceptron(max_epochs=4, keep="average"), 2),
    "classes": (rb.Perceptron(max_epochs=4, keep="average"), 3),
    "joint": (rb.Perceptron(max_epochs=4, multiclass="joint"), 3),
    "kernel": (rb.KernelPerceptron(max_epochs=2), 3),
    "margin": (rb.SoftMarginClassifier(C=0.3), 2),
}


def planted(n_classes, n=120, seed=0):
    """Two columns of small numbers, so that encoding them anew in every fold changes nothing."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.integers(-8, 9, (n, 2)) + np.array([[0, 7], [6, -4], [-6, -4]])[y]
    return X.astype(float), np.array(["a", "b", "c"])[y]


def answers(classifier, X, y, groups=None):
    labels, columns = np.unique(y, return_inverse=True), {"u": X[:, 0], "v": X[:, 1]}
    encoder = rb.TableEncoder(standardize=False).fit(columns)
    plan = plan_folds(labels, 4, groups=groups)
    (found,) = FoldedTable(columns, labels, encoder, plan).refit([classifier])
    return found


@pytest.fixture(scope="module")
def found():
    """The answers of each model, which both curves go through."""
    return {name: answers(one, *planted(k)) for name, (one, k) in MODELS.items()}


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_are_scikit_learns_on_the_same_folds(name, method, found, tmp_path):
    classifier, k = MODELS[name]
    (X, y), (new, true) = planted(k), planted(k, seed=1)
    theirs = CalibratedClassifierCV(
        clone(classifier), method=method, cv=list(found[name].plan), ensemble=False
    ).fit(X, y)
    model = clone(classifier).fit(X, y)
    assert not hasattr(model, "predict_proba")
    before = model.predict(new)
    model.calibration_ = calibrated(found[name], method)
    P = model.predict_proba(new)
    np.testing.assert_allclose(P, theirs.predict_proba(new), rtol=0, atol=1e-12)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (P >= 0).all()
    assert (P <= 1).all()
    np.testing.assert_array_equal(model.predict(new), before)
    facts = probability_facts(np.searchsorted(model.classes_, true), P)
    assert facts.brier < facts.majority_brier
    rb.io.save(model, tmp_path / "m.skops")
    again = rb.io.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(new), P)
    assert not hasattr(clone(model), "predict_proba")
    assert not hasattr(again.fit(X, y), "predict_proba")


@pytest.mark.parametrize(
    "curves",
    [
        (),
        (SigmoidCurve(-1.0, 0.0),) * 2,
        [SigmoidCurve(-1.0, 0.0)],
        (SigmoidCurve(float("nan"), 0.0),),
        (IsotonicCurve(np.array([0.0, 1.0]), np.array([0.5])),),
        (IsotonicCurve(np.array([0.0, 1.0]), np.array([0.5, 0.4])),),
        (IsotonicCurve(np.array([1.0, 0.0]), np.array([0.4, 0.5])),),
        (IsotonicCurve(np.array([0.0, 1.0]), np.array([0.4, 1.5])),),
        (IsotonicCurve(np.zeros(0), np.zeros(0)),),
    ],
)
def test_curves_that_do_not_fit_the_model_are_refused(curves, tmp_path):
    model = rb.Perceptron(max_epochs=2).fit(*planted(2))
    model.calibration_ = curves
    rb.io.save(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="do not fit together"):
        rb.io.load(tmp_path / "m.skops")


def test_where_nothing_is_probable_everything_is():
    never = IsotonicCurve(np.array([0.0]), np.array([0.0]))
    np.testing.assert_array_equal(
        probabilities([never] * 4, np.ones((2, 4))), np.full((2, 4), 0.25)
    )


def test_folds_that_lack_a_class_are_left_out_and_none_is_no_calibration():
    X, y = planted(3)
    groups = np.where(y == "c", 8, np.arange(len(y)) % 8)
    with pytest.raises(NotCalibratedError, match="rows of every class"):
        calibrated(answers(rb.Perceptron(max_epochs=2), X, y, groups), "sigmoid")
    groups[np.flatnonzero(y == "c")[::2]] = 9
    curves = calibrated(answers(rb.Perceptron(max_epochs=2), X, y, groups), "sigmoid")
    assert len(curves) == 3


@pytest.mark.parametrize("k", [2, 4])
def test_scores_of_probabilities(k):
    rng = np.random.default_rng(k)
    true, P = rng.integers(0, k, 200), rng.dirichlet(np.ones(k), 200)
    P[0], true[0] = np.eye(k)[0], 1  # what was thought impossible
    facts = probability_facts(true, P)
    assert facts.log_loss == pytest.approx(metrics.log_loss(true, P))
    theirs = metrics.brier_score_loss(true, P[:, 1] if k == 2 else P)
    assert facts.brier == pytest.approx(theirs)
    said = P[:, 1] if k == 2 else P.ravel()
    was = true if k == 2 else np.eye(k)[true].ravel()
    assert sum(one.said for one in facts.reliability) == len(said)
    for one in facts.reliability:
        inside = (said >= one.low) & ((said < one.high) | (one.high == 1))
        expected = inside.sum(), said[inside].mean(), was[inside].mean()
        assert (one.said, one.mean, one.true) == pytest.approx(expected)

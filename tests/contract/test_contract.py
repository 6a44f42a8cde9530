"""The contract of scikit-learn, and the same weights as its own perceptron."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from checks import every_check

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

REPEATED = "a repeated sample is two visits, a weighted one is one longer step"
ROUGH = "seven equal digits are asked for, and a gap of 1e-6 leaves six"
LIGHT = "the worst mistake is the one with the worst value, however small its weight"


def exemptions(model):
    """Only where the rule really tells a weight from a repetition: batches of all do not."""
    if isinstance(model, rb.SoftMarginClassifier):
        return dict.fromkeys(rb.Perceptron._exempt_checks, ROUGH) if model.tol == 1e-6 else {}
    if isinstance(model, rb.MaxMarginClassifier):
        return {}
    exempt = dict.fromkeys(model._exempt_checks, REPEATED) if model.update != "batch" else {}
    if model.order == "worst-mistake":
        exempt["check_class_weight_classifiers"] = LIGHT
    return exempt


@every_check(
    rb.Perceptron(max_epochs=100),
    rb.Adaline(max_epochs=100),
    rb.AdalineRegressor(max_epochs=100),
    rb.MaxMarginClassifier(),
    rb.SoftMarginClassifier(),
    variants=[
        rb.Perceptron(keep="pocket", max_epochs=100),
        rb.Perceptron(keep="average", max_epochs=400),
        rb.Perceptron(keep="auto", max_epochs=400),
        rb.Perceptron(update="batch", max_epochs=100),
        rb.Perceptron(update="minibatch", batch_size=5, max_epochs=100),
        rb.Perceptron(update="mixed", max_epochs=400),
        rb.Perceptron(order="shuffled", random_state=0, max_epochs=100),
        rb.Perceptron(order="random-mistake", random_state=0, max_epochs=400),
        rb.Perceptron(order="worst-mistake", max_epochs=400),
        rb.Perceptron(multiclass="joint", order="shuffled", random_state=0, max_epochs=100),
        rb.Adaline(update="batch", max_epochs=400),
        rb.AdalineRegressor(update="batch", max_epochs=400),
        rb.SoftMarginClassifier(tol=1e-10),
        rb.SoftMarginClassifier(C=100.0, tol=1e-10),
    ],
    exempt=exemptions,
)
@quiet
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_exemptions_are_few():
    assert rb.Perceptron._exempt_checks == rb.Adaline._exempt_checks
    assert rb.Perceptron._exempt_checks == rb.AdalineRegressor._exempt_checks
    assert set(rb.Perceptron._exempt_checks) == {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }


# -------------------------------------------------------------------------- the same perceptron


def theirs(epochs, **more):
    return TheirPerceptron(shuffle=False, tol=None, max_iter=epochs, **more)


@quiet
@pytest.mark.parametrize("epochs", [1, 2, 7, 30])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("separable", [True, False])
def test_same_weights_as_scikit_learn(epochs, fit_intercept, classes, separable):
    spread = 1.0 if separable else 5.0
    X, y = make_blobs(400, 12, centers=classes, cluster_std=spread, random_state=1)
    X = X + np.random.default_rng(0).standard_normal(X.shape)
    ours = rb.Perceptron(max_epochs=epochs, fit_intercept=fit_intercept).fit(X, y)
    other = theirs(epochs, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, other.coef_)
    np.testing.assert_array_equal(ours.intercept_, other.intercept_)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))


@quiet
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
def test_same_weights_with_class_and_sample_weights(classes, class_weight):
    X, y = make_blobs(300, 5, centers=classes, cluster_std=6.0, random_state=2)
    keep = np.random.default_rng(0).random(300) < 0.3 + 0.7 * (y == 1)
    X, y = X[keep], y[keep]
    if class_weight != "balanced" and classes == 4:
        class_weight = {**class_weight, 2: 1.0, 3: 3.0}
    weight = np.random.default_rng(1).choice([0.5, 1.0, 4.0], len(y))
    ours = rb.Perceptron(max_epochs=10, class_weight=class_weight).fit(X, y, sample_weight=weight)
    other = theirs(10, class_weight=class_weight).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-12)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-12)


@quiet
def test_same_weights_with_a_learning_rate_and_partial_fit():
    X, y = make_blobs(300, 5, centers=3, cluster_std=6.0, random_state=2)
    ours, other = rb.Perceptron(eta0=0.3), theirs(1, eta0=0.3)
    for rows in np.split(np.arange(300), [70, 200]):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        other.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        np.testing.assert_array_equal(ours.coef_, other.coef_)
        np.testing.assert_array_equal(ours.intercept_, other.intercept_)


# ---------------------------------------------------------------------------------- working with


def blobs(classes=3):
    return make_blobs(150, 4, centers=classes, cluster_std=3.0, random_state=0)


@quiet
@pytest.mark.parametrize("jobs", [None, 2])
def test_grid_search(jobs):
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(max_epochs=20))
    grid = {"perceptron__keep": ["last", "pocket", "average"]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=jobs).fit(X, y)
    assert search.best_score_ > 0.6
    alone = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


@quiet
@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_pipeline_with_set_output(output):
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(max_epochs=20))
    pipeline.set_output(transform=output).fit(X, y)
    assert hasattr(pipeline[-1], "feature_names_in_") == (output != "default")
    assert pipeline.score(X, y) > 0.6


@quiet
def test_text_in_a_pipeline():
    words = ["good fine good", "bad poor", "fine good", "poor bad bad"]
    pipeline = make_pipeline(CountVectorizer(), rb.Perceptron())
    assert pipeline.fit(words, [1, 0, 1, 0]).predict(words).tolist() == [1, 0, 1, 0]


@quiet
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_calibration(classes, kind):
    X, y = blobs(classes)
    calibrated = CalibratedClassifierCV(kind(max_epochs=20), cv=3).fit(X, y)
    p = calibrated.predict_proba(X)
    assert p.shape == (150, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (calibrated.predict(X) == y).mean() > 0.6


@quiet
def test_cross_validation_and_meta_estimators():
    X, y = blobs()
    assert cross_val_score(rb.Perceptron(max_epochs=20, keep="average"), X, y, cv=3).mean() > 0.6
    wrapped = OneVsRestClassifier(rb.Perceptron(max_epochs=20)).fit(X, y)
    ours = rb.Perceptron(max_epochs=20).fit(X, y)
    for k, estimator in enumerate(wrapped.estimators_):
        np.testing.assert_array_equal(estimator.coef_[0], ours.coef_[k])


@quiet
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_clone_pickle_deepcopy(kind):
    X, y = blobs()
    model = kind(max_epochs=7, random_state=3, init=np.arange(5.0) / 10).fit(X, y)
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    np.testing.assert_array_equal(fresh.fit(X, y).coef_, model.coef_)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        assert twin.stop_reason_ == model.stop_reason_
        assert twin.n_errors_ == model.n_errors_
        twin.partial_fit(X, y)
        assert twin.n_iter_ == model.n_iter_ + 1


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_it_is_a_classifier_that_takes_sparse_input(kind):
    assert is_classifier(kind())
    assert kind().__sklearn_tags__().input_tags.sparse


@quiet
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])
def test_fit_leaves_the_parameters_alone(kind):
    X, y = blobs()
    model = kind(max_epochs=3, init=np.ones(5), random_state=1)
    before = copy.deepcopy(model.get_params())
    model.fit(X, y).partial_fit(X, y).predict(X)
    after = model.get_params()
    np.testing.assert_array_equal(before.pop("init"), after.pop("init"))
    assert before == after


# ----------------------------------------------------------------------------- best hyperplanes

MARGINS = pytest.mark.parametrize(
    "model",
    [rb.MaxMarginClassifier(), rb.SoftMarginClassifier(C=30.0, class_weight="balanced")],
    ids=["hard", "soft"],
)


@MARGINS
@quiet
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_margins(model, classes):
    X, y = blobs(classes)
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    p = calibrated.predict_proba(X)
    assert p.shape == (150, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (calibrated.predict(X) == y).mean() > 0.6


@pytest.mark.parametrize("jobs", [None, 2])
def test_grid_search_over_C(jobs):
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), rb.SoftMarginClassifier())
    grid = {"softmarginclassifier__C": [1e-4, 1.0, 100.0]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=jobs).fit(X, y)
    assert search.best_score_ > 0.6
    alone = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


@MARGINS
@quiet
@pytest.mark.parametrize("classes", [2, 3])
def test_clone_pickle_deepcopy_of_margins(model, classes):
    X, y = blobs(classes)
    model = clone(model).fit(X, y)
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    np.testing.assert_array_equal(fresh.fit(X, y).coef_, model.coef_)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        assert twin.stop_reason_ == model.stop_reason_
        np.testing.assert_array_equal(twin.gap_, model.gap_)
        assert [type(fit.certificate) for fit in twin.fits_] == [
            type(fit.certificate) for fit in model.fits_
        ]
        np.testing.assert_array_equal(twin.fit(X, y).coef_, model.coef_)


@MARGINS
@quiet
def test_margins_are_classifiers_that_leave_their_parameters_alone(model):
    assert is_classifier(model)
    assert model.__sklearn_tags__().input_tags.sparse
    before, (X, y) = copy.deepcopy(model.get_params()), blobs(2)
    clone(model).fit(X, y).predict(X)
    assert model.get_params() == before


@MARGINS
@quiet
def test_margins_of_words_and_in_meta_estimators(model):
    words = ["good fine good", "bad poor", "fine good", "poor bad bad"]
    pipeline = make_pipeline(CountVectorizer(), model)
    assert pipeline.fit(words, [1, 0, 1, 0]).predict(words).tolist() == [1, 0, 1, 0]
    X, y = blobs()
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    plain = clone(model)
    if "class_weight" in plain.get_params():
        plain.set_params(class_weight=None)
    wrapped, ours = OneVsRestClassifier(plain).fit(X, y), clone(plain).fit(X, y)
    for k, estimator in enumerate(wrapped.estimators_):
        np.testing.assert_array_equal(estimator.coef_[0], ours.coef_[k])

"""The contract of scikit-learn for the kernel perceptron, and work with its tools."""

import copy

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rosenblatt as rb
from checks import every_check

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

REPEATED = "a repeated sample is two visits, a weighted one is one longer step"


WORST = "the farthest mistakes are used, again and again: the textbook loop learns no more"


def exemptions(model):
    """Only where the rule really tells a weight from a repetition, or is a poor one."""
    exempt = dict.fromkeys(model._exempt_checks, REPEATED)
    if model.order == "worst-mistake":
        exempt["check_classifiers_train"] = WORST
    return exempt


@every_check(
    rb.KernelPerceptron(max_epochs=100),
    rb.KernelPerceptron(kernel="precomputed", fit_intercept=True, max_epochs=50),
    variants=[
        rb.KernelPerceptron(kernel="poly", degree=2, fit_intercept=True, max_epochs=50),
        rb.KernelPerceptron(kernel="linear", fit_intercept=True, order="shuffled", max_epochs=50),
        rb.KernelPerceptron(keep="average", max_epochs=20),
        rb.KernelPerceptron(keep="vote", max_epochs=20),
        rb.KernelPerceptron(keep="auto", max_epochs=20),
        rb.KernelPerceptron(keep="pocket", max_epochs=20),
        rb.KernelPerceptron(order="worst-mistake", max_epochs=50),
        rb.KernelPerceptron(order="random-mistake", random_state=0, max_epochs=50),
        rb.KernelPerceptron(budget=100, max_epochs=20),
        rb.KernelPerceptron(drop_after=20),
    ],
    exempt=exemptions,
)
@quiet
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_exemptions_are_few():
    assert rb.KernelPerceptron._exempt_checks == rb.Perceptron._exempt_checks


def blobs(classes=3):
    return make_blobs(120, 4, centers=classes, cluster_std=3.0, random_state=0)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", rb.kernels.Precomputed()])
def test_tags(kernel):
    model = rb.KernelPerceptron(kernel=kernel)
    tags = model.__sklearn_tags__().input_tags
    assert is_classifier(model)
    assert tags.sparse
    assert tags.pairwise == (kernel != "rbf")


@quiet
def test_cross_validation_cuts_given_values_on_both_sides():
    X, y = blobs()
    K = rb.kernels.RBF(0.05)(X)
    plain = rb.KernelPerceptron(gamma=0.05, max_epochs=10)
    given = clone(plain).set_params(kernel="precomputed")
    a, b = cross_val_score(plain, X, y, cv=3), cross_val_score(given, K, y, cv=3)
    np.testing.assert_array_equal(a, b)
    assert a.mean() > 0.6


@quiet
@pytest.mark.parametrize("jobs", [None, 2])
def test_grid_search(jobs):
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), rb.KernelPerceptron(max_epochs=20))
    grid = {"kernelperceptron__gamma": [0.01, 1.0], "kernelperceptron__keep": ["last", "average"]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=jobs).fit(X, y)
    assert search.best_score_ > 0.6
    alone = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


@quiet
@pytest.mark.parametrize("classes", [2, 3])
def test_calibration_and_one_against_the_rest(classes):
    X, y = blobs(classes)
    model = rb.KernelPerceptron(keep="average", max_epochs=20)
    p = CalibratedClassifierCV(model, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    wrapped, ours = OneVsRestClassifier(model).fit(X, y), model.fit(X, y)
    for k, estimator in enumerate(wrapped.estimators_):
        f = ours.decision_function(X).reshape(len(y), -1)[:, k]
        np.testing.assert_allclose(estimator.decision_function(X), f, rtol=1e-9, atol=1e-9)


def test_words():
    words = ["good fine good", "bad poor", "fine good", "poor bad bad"]
    pipeline = make_pipeline(CountVectorizer(), rb.KernelPerceptron(kernel="linear"))
    assert pipeline.fit(words, ["+", "-", "+", "-"]).predict(words).tolist() == ["+", "-", "+", "-"]


@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid", "linear"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.filterwarnings("ignore:the kernel tanh:UserWarning")
@quiet
def test_kernels_mean_what_they_mean_for_svc(name, gamma):
    """The same words, the same values: those that SVC gives with our coefficients."""
    X, y = blobs(2)
    model = rb.KernelPerceptron(kernel=name, gamma=gamma, coef0=0.5, degree=2, max_epochs=3)
    model.fit(X, y)
    svc = SVC(kernel=name, gamma=gamma, coef0=0.5, degree=2).fit(X, y)
    rate = svc._gamma
    Z = X @ X.T
    K = {
        "rbf": lambda: np.exp(-rate * ((X[:, None] - X) ** 2).sum(axis=2)),
        "poly": lambda: (rate * Z + 0.5) ** 2,
        "sigmoid": lambda: np.tanh(rate * Z + 0.5),
        "linear": lambda: Z,
    }[name]()
    np.testing.assert_allclose(
        model.decision_function(X), K[:, model.support_] @ model.dual_coef_[0], rtol=1e-9, atol=1e-9
    )


@quiet
def test_fit_leaves_the_parameters_and_the_data_alone():
    X, y = blobs()
    kept, model = X.copy(), rb.KernelPerceptron(max_epochs=3, random_state=1, class_weight={0: 2.0})
    before = copy.deepcopy(model.get_params())
    model.fit(X, y).partial_fit(X, y).predict(X)
    assert model.get_params() == before
    np.testing.assert_array_equal(X, kept)


@quiet
def test_shapes():
    for classes, k in ((2, 1), (4, 4)):
        X, y = blobs(classes)
        model = rb.KernelPerceptron(max_epochs=3).fit(X, y)
        s = len(model.support_)
        assert model.dual_coef_.shape == model.alpha_.shape == (k, s)
        assert model.alpha_.dtype.kind == "i"
        assert model.support_vectors_.shape == (s, 4)
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        assert len(np.unique(model.support_)) == s
        own = y[model.support_] == (1 if k == 1 else np.arange(4)[:, None])
        np.testing.assert_array_equal(model.dual_coef_, model.alpha_ * np.where(own, 1, -1))
        assert np.shape(model.n_mistakes_) == (() if k == 1 else (4,))
        assert isinstance(model.dropped_, tuple) == (k > 1)
        np.testing.assert_array_equal(model.alpha_.sum(axis=1), np.ravel(model.n_mistakes_))
        assert model.decision_function(X[:1]).shape == ((1,) if k == 1 else (1, 4))

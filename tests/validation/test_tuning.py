"""Choosing C, gamma and degree by folds of the rows that are learned from."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rosenblatt import KernelPerceptron, Perceptron, SoftMarginClassifier, datasets
from rosenblatt.running.clock import Cancel, cancelled_by
from rosenblatt.validation import tuning
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.tuning import Tuned, choose, chosen_parameter, ladder, values_to_try

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RBF = KernelPerceptron(order="shuffled", keep="average", random_state=0, max_epochs=5)


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    return rng.standard_normal((60, 3)) + y[:, None] * [1.5, 0, 0], y


def naive(classifier, parameter, values, X, y, groups=None):
    """Ten lines: the value with most right answers in three folds, the first of equals."""
    right = []
    for value in values:
        n = 0
        for learn, test in plan_folds(np.unique(y, return_inverse=True), 3, groups=groups):
            model = type(classifier)(**classifier.get_params() | {parameter: value})
            n += np.sum(model.fit(X[learn], y[learn]).predict(X[test]) == y[test])
        right.append(n / len(y))
    return values[int(np.argmax(right))], right


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classifier", [RBF, KernelPerceptron(kernel="poly", max_epochs=4)])
def test_the_choice_is_that_of_three_folds(overlapping, classifier, sparse):
    X, y = overlapping
    X = csr_matrix(X) if sparse else X
    found = choose(classifier, X, y)
    values = values_to_try(found.parameter, X)
    best, right = naive(classifier, found.parameter, values, X, y)
    assert (found.value, found.tried, found.folds) == (best, tuple(values), 3)
    assert found.scores == pytest.approx(right)


def test_a_path_of_C_chooses_like_single_fits(overlapping, monkeypatch):
    X, y = overlapping
    monkeypatch.setattr(tuning, "ROUGH", 1e-8)  # where a path may not differ from single fits
    found = choose(SoftMarginClassifier(tol=1e-8), X, y)
    best, right = naive(SoftMarginClassifier(tol=1e-8), "C", list(found.tried), X, y)
    assert (found.value, found.scores) == (best, pytest.approx(right))


def test_groups_are_never_parted(overlapping):
    X, y = overlapping
    groups = np.repeat(np.arange(10), 6)
    found = choose(RBF, X, y, groups)
    assert found.scores == pytest.approx(naive(RBF, "gamma", list(found.tried), X, y, groups)[1])


def test_what_can_be_chosen():
    assert chosen_parameter(SoftMarginClassifier()) == "C"
    assert chosen_parameter(RBF) == "gamma"
    assert chosen_parameter(KernelPerceptron(kernel="poly")) == "degree"
    assert chosen_parameter(KernelPerceptron(kernel="gaussian", sigma=2)) is None
    assert chosen_parameter(KernelPerceptron(kernel="linear")) is None
    assert chosen_parameter(Perceptron()) is None


def test_ladder():
    assert ladder(0.03, 10) == [0.03, 0.1, 0.3, 1, 3, 10]
    assert ladder(0.031, 29) == [0.1, 0.3, 1, 3, 10]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
def test_values_follow_the_scale_of_the_features(overlapping, scale):
    """A choice must not depend on the unit in which features are measured."""
    X, _ = overlapping
    values = np.array(values_to_try("C", scale * X))
    assert values * scale**2 == pytest.approx(values_to_try("C", X), rel=1.2)
    assert len(values) == 7


def test_a_large_table_is_judged_by_some_rows(overlapping, monkeypatch):
    X, y = overlapping
    y = np.where(np.arange(60) < 4, 2, y)  # a rare class, which must be there
    monkeypatch.setitem(tuning.MOST_ROWS, "gamma", 20)
    found = choose(RBF, X, y)
    assert (found.rows, found.n_rows, found.folds) == (20, 60, 3)
    rows = tuning._drawn(y, 20, seed=0)
    assert np.sum(y[rows] == 2) >= 3
    assert len(set(rows)) == 20


def test_where_no_folds_are_possible_the_default_is_taken(overlapping):
    X, _ = overlapping
    y = np.arange(60) == 0
    found = Tuned(SoftMarginClassifier()).fit(X, y)
    assert (found.choice_.value, found.choice_.tried) == (1.0, ())
    assert found.model_.C == 1.0


def test_values_without_time_are_told(overlapping):
    """And a value of which only some folds were done does not count."""
    X, y = overlapping
    cancel, fits = Cancel(), []

    class Slow(SoftMarginClassifier):
        def fit(self, X, y):
            fits.append(self.C)
            if len(fits) == 8:  # the second fold of the third value
                cancel._end = 0.0
            return super().fit(X, y)

    with cancelled_by(cancel):
        found = choose(Slow(), X, y, cancel=cancel)
    assert len(found.tried) == len(found.scores) == 2
    assert found.tried + found.untried == tuple(values_to_try("C", X))
    cancel.ask()
    with cancelled_by(cancel), pytest.raises(KeyboardInterrupt):
        choose(SoftMarginClassifier(), X, y, cancel=cancel)


def test_a_tuned_model_is_the_classifier_with_its_value():
    X, y = datasets.circles(60, random_state=0)
    found = Tuned(RBF, seed=1).fit(X, y)
    alone = KernelPerceptron(**RBF.get_params() | {"gamma": found.choice_.value}).fit(X, y)
    assert np.array_equal(found.decision_function(X), alone.decision_function(X))
    assert found.fits_ == found.model_.fits_

"""Answers judged: against scikit-learn's metrics, closed forms, and counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics

import rosenblatt as rb
from rosenblatt.report.evaluation import evaluate, ranking_values, wilson_interval


@given(st.integers(1, 400), st.data())
def test_wilson(n, data):
    right = data.draw(st.integers(0, n))
    expected = binomtest(right, n).proportion_ci(method="wilson")
    low, high = wilson_interval(right, n)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= right / n <= high <= 1


@pytest.mark.parametrize("k", [2, 4])
def test_as_scikit_learn(k):
    rng = np.random.default_rng(k)
    true = rng.integers(0, k, 80)
    values = rng.normal(size=(80, k)) + 1.5 * np.eye(k)[true]
    chosen = values.argmax(axis=1)
    if k == 2:
        values = values[:, 1:] - values[:, :1]
    found = evaluate(true, chosen, values, list("abcd")[:k])
    assert found.accuracy == metrics.accuracy_score(true, chosen)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(true, chosen))
    assert np.array_equal(found.confusion, metrics.confusion_matrix(true, chosen))
    per_class = metrics.precision_recall_fscore_support(true, chosen)
    for one, *expected in zip(found.classes, *per_class, strict=True):
        assert [one.precision, one.recall, one.f1, one.rows] == pytest.approx(expected)
    if k == 2:
        auc = metrics.roc_auc_score(true, values[:, 0])
        precision = metrics.average_precision_score(true, values[:, 0])
        assert found.classes[0].roc_auc == pytest.approx(auc)
    else:
        each = [(true == j, values[:, j]) for j in range(k)]
        auc = np.mean([metrics.roc_auc_score(*one) for one in each])
        precision = np.mean([metrics.average_precision_score(*one) for one in each])
    assert (found.roc_auc, found.average_precision) == pytest.approx((auc, precision))


def test_classes_as_one_problem_are_ranked_by_their_leads():
    joint = rb.Perceptron(multiclass="joint")
    values = np.array([[5.0, 3.0, 1.0], [2.0, 2.0, 7.0], [4.0, 4.0, 0.0]])
    leads = [[2, -2, -4], [-5, -5, 5], [0, 0, -4]]
    assert ranking_values(joint, values).tolist() == leads
    assert ranking_values(rb.Perceptron(), values) is values
    assert ranking_values(joint, values[:, :1]).tolist() == values[:, :1].tolist()


def test_what_cannot_be_divided():
    """One row, of a class that is always said: the other has neither precision nor recall."""
    found = evaluate(np.array([1]), np.array([1]), np.array([[0.5]]), ["no", "yes"])
    no, yes = found.classes
    assert (yes.precision, yes.recall, yes.f1) == (1, 1, 1)
    assert (no.precision, no.recall, no.f1) == (None, None, None)
    assert found.roc_auc is None
    assert found.average_precision is None
    assert found.balanced_accuracy == 1
    assert (found.majority_class, found.majority) == ("yes", 1)

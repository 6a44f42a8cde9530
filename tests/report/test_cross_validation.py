"""Facts about cross-validation: beside scikit-learn's, and intervals that know the groups."""

import numpy as np
import pytest
from sklearn import metrics

from rosenblatt import Perceptron
from rosenblatt.report.cross_validation import validation_facts
from rosenblatt.report.evaluation import wilson_interval
from rosenblatt.validation.plans import Plan, plan_folds
from rosenblatt.validation.refits import Answers, OutOfFold


def answered(y, plan, values):
    """Answers with these decision values, each fold's on a scale of its own."""
    folds = []
    for k, (_, test) in enumerate(plan):
        own = values[test] * 10.0**k
        chosen = own.argmax(axis=1) if own.shape[1] > 1 else (own[:, 0] > 0).astype(int)
        folds.append(Answers(test, chosen, own, 0.1))
    return OutOfFold(y, plan, folds)


@pytest.mark.parametrize("k", [2, 3])
def test_as_scikit_learn_fold_by_fold(k):
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, 90)
    values = rng.normal(size=(90, k)) + 1.2 * np.eye(k)[y]
    values = values[:, 1:] - values[:, :1] if k == 2 else values
    names = list("abc")[:k]
    found = answered(y, plan_folds((np.array(names), y), 4, repeats=2), values)
    facts = validation_facts(found, Perceptron(), names)
    assert (facts.folds, facts.repeats, len(facts.each), facts.groups) == (4, 2, 8, None)
    true = np.concatenate([y[one.rows] for one in found.folds])
    chosen = np.concatenate([one.chosen for one in found.folds])
    result = facts.result
    assert np.array_equal(result.confusion, metrics.confusion_matrix(true, chosen))
    assert result.accuracy == pytest.approx(np.mean(true == chosen))
    aucs, areas = [], []
    for one, scores in zip(found.folds, facts.each, strict=True):
        own, columns = y[one.rows], [1] if k == 2 else range(k)
        by_class = one.values[:, -k:] if k > 2 else np.repeat(one.values, 2, axis=1)
        each = [(own == j, by_class[:, j]) for j in columns]
        aucs.append(np.mean([metrics.roc_auc_score(*pair) for pair in each]))
        areas.append(np.mean([metrics.average_precision_score(*pair) for pair in each]))
        assert (scores.roc_auc, scores.average_precision) == pytest.approx((aucs[-1], areas[-1]))
        assert (scores.rows, scores.right) == (len(own), (one.chosen == own).sum())
    expected = np.mean(aucs), np.mean(areas)
    assert (result.roc_auc, result.average_precision) == pytest.approx(expected)
    assert result.interval == wilson_interval((true == chosen).sum() / 2, 90)  # of 90 rows, not 180


@pytest.mark.parametrize("copies", [1, 7])
def test_rows_that_are_copies_of_each_other_count_once(copies):
    """A hundred groups whose rows are right or wrong together are worth a hundred rows."""
    right = np.arange(100) % 5 > 0
    y, groups = np.zeros(100 * copies, int), np.repeat(np.arange(100), copies)
    plan = Plan((groups % 4)[np.newaxis], 4, groups)
    values = np.where(np.repeat(right, copies), -1.0, 1.0)[:, np.newaxis]
    result = validation_facts(answered(y, plan, values), Perceptron(), ["a", "b"], "who").result
    assert result.rows == 100 * copies
    low, high = wilson_interval(0.8 * 99, 99, 1.984217)  # Student's t for 99 degrees of freedom
    assert result.interval == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_groups_that_are_all_right_or_all_wrong_leave_an_interval(sign):
    y, groups = np.zeros(60, int), np.arange(60) // 6
    plan = Plan((groups % 2)[np.newaxis], 2, groups)
    result = validation_facts(answered(y, plan, np.full((60, 1), sign)), Perceptron(), "ab").result
    low, high = wilson_interval(10 if sign < 0 else 0, 10, 2.26216)
    assert result.interval == pytest.approx((low, high), abs=1e-5)
    assert high - low > 0.3

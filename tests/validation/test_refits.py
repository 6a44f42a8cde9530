"""Refits in folds: several candidates on the same encoded folds, and classes a fold lacks."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from rosenblatt import Perceptron, SoftMarginClassifier, TableEncoder
from rosenblatt.validation import refits
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.refits import LOWEST, FoldedTable

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CANDIDATES = [
    Perceptron(max_epochs=3),
    SoftMarginClassifier(C=0.5),
    make_pipeline(MaxAbsScaler(), Perceptron(max_epochs=2, class_weight={"a": 2, "b": 1, "c": 1})),
]


def folded(y, groups=None, repeats=1, n_jobs=None, folds=3):
    rng = np.random.default_rng(1)
    labels = np.unique(y, return_inverse=True)
    columns = {"x": rng.standard_normal(len(y)) + labels[1], "z": rng.standard_normal(len(y))}
    encoder = TableEncoder()
    encoder.fit(columns)
    plan = plan_folds(labels, folds, repeats=repeats, groups=groups)
    return FoldedTable(columns, labels, encoder, plan, n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_candidates_together_answer_as_each_alone(monkeypatch, n_jobs):
    y = np.random.default_rng(0).choice(["a", "b", "c"], 90)
    alone = [folded(y, repeats=2).refit([one])[0] for one in CANDIDATES]
    monkeypatch.setattr(refits, "WORTHWHILE", 0)
    table = folded(y, repeats=2, n_jobs=n_jobs)
    encoded, encode = [], table.encoded
    monkeypatch.setattr(table, "encoded", lambda *fold: encoded.append(1) or encode(*fold))
    together = table.refit(CANDIDATES)
    assert table.at_once == n_jobs
    assert len(encoded) == 6
    for one, other in zip(alone, together, strict=True):
        assert one.scores == other.scores
        assert len(one.folds) == 6
        for a, b in zip(one.folds, other.folds, strict=True):
            np.testing.assert_array_equal(a.values, b.values)
            np.testing.assert_array_equal(a.rows, b.rows)


def test_a_fold_of_few_rows_for_its_classes_is_no_reason_to_warn(recwarn):
    folded(np.arange(60) % 20, folds=2).refit([Perceptron(max_epochs=2)])
    assert not [one for one in recwarn if "unique classes" in str(one.message)]


def test_a_class_that_a_fold_does_not_know_is_never_chosen():
    y = np.array(["a", "b"] * 20 + ["c"] * 6)
    groups = np.concatenate([np.arange(40) % 8, np.full(6, 8)])
    table = folded(y, groups)
    (found,) = table.refit(CANDIDATES[:1])
    lacking = [one for one in found.folds if (table.y[one.rows] == 2).any()]
    assert len(lacking) == 1
    assert (lacking[0].values[:, 2] == LOWEST).all()
    assert set(lacking[0].chosen) <= {0, 1}
    np.testing.assert_array_equal(lacking[0].values[:, 0], -lacking[0].values[:, 1])
    assert all(one.values.shape[1] == 3 for one in found.folds)


def test_what_was_found_before_an_interruption_is_kept():
    table, found = folded(np.array(["a", "b"] * 20)), []

    def interrupted(one):
        if one.fold == 3:
            raise KeyboardInterrupt
        one.model.fit(one.X, one.y)

    with pytest.raises(KeyboardInterrupt):
        table.refit(CANDIDATES[:2], interrupted, found=found)
    assert [len(one.folds) for one in found] == [2, 2]
    assert 0 < len(table.refit(CANDIDATES[:1], max_time=1e-9)[0].folds) < 3

"""Kinds of models on the same folds: what is done, what is not and why, and who sees which rows."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from rosenblatt import Perceptron, TableEncoder, datasets
from rosenblatt.validation import tuning
from rosenblatt.validation.comparing import NOT_SEPARABLE, STOPPED, TIME, compare_kinds
from rosenblatt.validation.kinds import MAJORITY, Kind, Majority, epochs_for, usual_kinds
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.refits import FoldedTable
from rosenblatt.validation.tuning import Tuned, kernel_epochs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def folded(X, y, folds=3, groups=None, repeats=1):
    columns = {f"x{j}": column for j, column in enumerate(np.asarray(X, dtype=float).T)}
    labels = np.unique(y, return_inverse=True)
    plan = plan_folds(labels, folds, groups=groups, repeats=repeats)
    return FoldedTable(
        columns, labels, TableEncoder(use=tuple(columns)).fit(columns), plan, keep=True
    )


class Spy(BaseEstimator):
    """It predicts at random, each `value` otherwise, and notes the rows it is shown.

    Its only feature is the number of the row.
    """

    seen: ClassVar[list] = []

    def __init__(self, value=0, n_jobs=None):
        self.value, self.n_jobs = value, n_jobs

    def fit(self, X, y):
        Spy.seen.append((self.value, frozenset(np.round(X[:, 0]).astype(int).tolist())))
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        rows = np.round(X[:, 0]).astype(int)
        drawn = np.random.default_rng(self.value).random(1000)
        return drawn[rows] - 0.5

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture
def spying(monkeypatch):
    """Spies that are chosen among: the best of a hundred happens to be good."""
    values = list(range(100))
    monkeypatch.setattr(tuning, "chosen_parameter", lambda classifier: "value")
    monkeypatch.setattr(tuning, "values_to_try", lambda parameter, X: values)
    monkeypatch.setattr(tuning, "_rough", lambda classifier, n: Spy())
    monkeypatch.setitem(tuning.MOST_ROWS, "value", 1000)
    monkeypatch.setattr(Spy, "seen", [])
    rng = np.random.default_rng(9)
    X, y = np.arange(90.0)[:, None], rng.permutation(np.arange(90) % 2)
    raw = folded(X, y, repeats=4)
    raw._encoder.set_params(standardize=False)
    return raw, X, y, values


def test_a_choice_never_sees_the_rows_it_is_judged_by(spying):
    """Chosen by the rows it is judged by, nothing would look like something."""
    table, X, y, values = spying
    found = compare_kinds(table, [Kind("spies", Tuned(Spy()), ())])
    (judged,) = found.done
    tests = [frozenset(test.tolist()) for _, test in table.plan]
    per_fold = len(Spy.seen) // len(tests)
    assert per_fold == 3 * len(values) + 1
    for k, test in enumerate(tests):
        for _, rows in Spy.seen[k * per_fold : (k + 1) * per_fold]:
            assert rows.isdisjoint(test)
    nested = np.mean(judged.found.scores)
    leaking = max(np.mean(Spy(value).fit(X, y).predict(X) == y) for value in values)
    assert leaking > 0.6 > nested + 0.05


def test_all_kinds_are_judged_by_the_same_folds():
    data = datasets.circles(60, random_state=0)
    kinds = usual_kinds(60, 120)
    found = compare_kinds(folded(*data, folds=2, repeats=2), kinds)
    assert [one.kind.name for one in found.done] + [*found.unfinished] == [
        *(MAJORITY, "perceptron", "average", "pocket", "soft margin"),
        *("poly kernel", "rbf kernel", "max margin"),
    ]
    assert found.unfinished == {"max margin": NOT_SEPARABLE}
    for one in found.done:
        assert len(one.found.folds) == 4
        for answers, (_, test) in zip(one.found.folds, one.found.plan, strict=True):
            assert np.array_equal(answers.rows, test)
        tuned = isinstance(one.kind.candidate, Tuned)
        assert len(one.found.choices) == (4 if tuned else 0)
    scores = {one.kind.name: np.mean(one.found.scores) for one in found.done}
    assert min(scores["rbf kernel"], scores["poly kernel"]) > 0.95 > scores["soft margin"] + 0.2


def test_majority():
    y = np.array([2, 0, 1, 0, 1])
    model = Majority().fit(None, y)
    assert model.decision_function(np.empty((3, 2))).argmax(axis=1).tolist() == [0, 0, 0]
    model.fit(None, np.array([1, 0, 1]))
    assert (model.decision_function(np.empty((2, 1))) > 0).all()
    model.fit(None, np.array([1, 0]))
    assert (model.decision_function(np.empty((2, 1))) <= 0).all()


def test_large_tables_have_fewer_epochs():
    assert (epochs_for(10), epochs_for(10**5), epochs_for(10**9)) == (1000, 100, 10)
    assert (kernel_epochs(100), kernel_epochs(30_000), kernel_epochs(10**6)) == (30, 4, 1)


class Ending(BaseEstimator):
    """A model whose fits end as told."""

    def __init__(self, error=None):
        self.error = error

    def fit(self, X, y):
        raise self.error


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_not_done_is_told_with_its_reason(n_jobs):
    data = datasets.dunkers(30, random_state=0)
    table = folded(*data)
    table.at_once = n_jobs
    strange = Kind("strange", Ending(ValueError("cannot\n be")), ())
    pressed = Kind("pressed", Ending(KeyboardInterrupt()), ())
    late = Kind("late", Perceptron(), ())
    found = compare_kinds(table, [Kind(MAJORITY, Majority(), ()), strange, pressed, late])
    assert [one.kind.name for one in found.done] == [MAJORITY]
    assert found.unfinished == {"strange": "cannot be", "pressed": STOPPED, "late": STOPPED}
    assert found.interrupted


def test_when_time_is_over_nothing_counts_by_halves():
    data = datasets.circles(60, random_state=0)
    endless = Perceptron(order="shuffled", max_epochs=10**9)
    kinds = [
        Kind(MAJORITY, Majority(), ()),
        Kind("endless", endless, ()),
        Kind("next", endless, ()),
    ]
    found = compare_kinds(folded(*data), kinds, max_time=0.3)
    assert [one.kind.name for one in found.done] == [MAJORITY]
    assert found.unfinished == {"endless": TIME, "next": TIME}
    assert not found.interrupted

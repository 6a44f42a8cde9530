"""The facts and words of a comparison: who is best, who may be as good, which one to take."""

import shlex

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from rosenblatt.report.choice import ChoiceFacts, choice_sentence, in_folds, tried_values
from rosenblatt.report.comparison import comparison_facts
from rosenblatt.report.comparison_report import command_lines, comparison_text
from rosenblatt.report.fits import EncodedTable, numbered
from rosenblatt.validation import kinds
from rosenblatt.validation.comparing import TIME, Comparison, Judged
from rosenblatt.validation.kinds import MAJORITY, Kind, Majority
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.refits import Answers, FoldedTable, OutOfFold

pytestmark = pytest.mark.usefixtures("plain_terminal")
N = 200


@pytest.fixture
def table():
    columns, y = {"a": np.arange(N) % 7.0}, np.where(np.arange(N) % 2, "p", "q")
    encoder = rb.TableEncoder()
    X = encoder.fit_transform(columns)
    names = ["a", "y"]
    return EncodedTable(
        file="t.csv", names=names, target="y", columns=columns, **numbered(y), encoder=encoder, X=X
    )


def comparison(table, wrong, repeats=1):
    """Kinds that have so many wrong answers in each of five folds."""
    plan = plan_folds(table.labels, 5, repeats=repeats)
    y = table.labels[1]
    found = Comparison(FoldedTable(table.columns, table.labels, table.encoder, plan))
    for name, counts in wrong.items():
        answers = OutOfFold(y, plan)
        for (_, test), n in zip(plan, np.resize(counts, len(plan)), strict=True):
            chosen = np.where(np.arange(len(test)) < n, 1 - y[test], y[test])
            answers.folds.append(Answers(test, chosen, chosen[:, None] - 0.5, seconds=1.0))
        found.done.append(Judged(Kind(name, Majority(), ("--of", name)), answers))
    return comparison_facts(found, table, 0, lambda options: ("fit", *options))


def test_of_those_that_may_be_as_good_the_simplest_is_taken(table):
    wrong = {MAJORITY: [20, 20, 19, 21, 20], "straight": [3, 1, 4, 2, 3], "round": [2, 2, 2, 3, 2]}
    wrong = {**wrong, "bad": [10, 9, 11, 10, 12]}
    facts = comparison(table, wrong)
    assert (facts.best, facts.alike, facts.preferred) == ("round", ("straight",), "straight")
    assert facts.useful
    assert facts.command == ("fit", "--of", "straight")
    assert [kind.name for kind in facts.kinds] == ["round", "straight", "bad", MAJORITY]
    by_name = facts.by_name
    assert by_name["round"].p is None
    assert by_name["straight"].p > 0.05 > by_name["bad"].p
    assert by_name["bad"].behind == pytest.approx((10.4 - 2.2) / 40)
    assert by_name["round"].accuracy == pytest.approx(1 - 11 / N)
    assert by_name["round"].seconds == 5.0
    text = comparison_text(facts)
    assert str(facts) == text
    assert "best     round, 94.5% right" in text
    assert "take     straight, the simplest of those not to be told apart" in text


def test_the_best_may_be_the_simplest(table):
    facts = comparison(table, {MAJORITY: [20], "a": [1, 2, 1, 2, 2], "b": [3, 2, 3, 3, 3]})
    assert facts.preferred == "a"
    assert "also the simplest of these" in str(facts)
    alone = comparison(table, {"a": [1, 2, 1, 2, 2], "b": [12, 13, 12, 13, 14]})
    assert alone.alike == ()
    assert "take     a: nothing else is as good" in str(alone)


def test_where_nothing_beats_the_majority_that_is_said(table):
    facts = comparison(
        table, {MAJORITY: [20], "a": [18, 21, 19, 20, 22], "b": [19, 22, 18, 21, 21]}
    )
    assert not facts.useful
    assert facts.preferred == "a"
    assert "no kind can be told from always saying p" in " ".join(str(facts).split())


def test_repeated_folds_tell_more_apart(table):
    wrong = {"a": [6, 4, 7, 3, 5], "b": [4, 3, 4, 3, 3]}
    once, often = (comparison(table, wrong, n).by_name["a"].p for n in (1, 6))
    assert often < 0.05 < once


def test_nothing_done_is_nothing_said(table):
    facts = comparison(table, {MAJORITY: [20]})
    assert (facts.best, facts.preferred, facts.command) == (None, None, ())
    assert "best" not in str(facts)
    assert comparison(table, {}).kinds == ()


def test_a_command_is_broken_so_that_a_shell_takes_it():
    command = ("rosenblatt", "fit", "a file.csv", "--target", "it's", "--cv", "5")
    broken = command_lines(command, 30)
    assert max(map(len, broken.splitlines())) <= 30
    assert broken.count(" \\\n") == broken.count("\n") >= 1
    assert tuple(shlex.split(broken.replace("\\\n", ""))) == command


def test_choices_in_words():
    assert tried_values([0.1, 0.3, 1, 3, 10, 30, 1e6]) == "0.1, 0.3, ..., 1e+06"
    assert tried_values([2, 3]) == "2, 3"
    assert in_folds([3, 3, 3]) == "3 in every fold"
    assert in_folds([1, 3, 3, 0.1]) == "3 (2 folds), 0.1 (1 fold), 1 (1 fold)"
    assert in_folds(range(7)).endswith("4 (1 fold), and 2 more")
    tried = ChoiceFacts("C", (1.0, 3.0), (3.0, 3.0), 3, 3000, 3.0, (0.5, 0.75), (10.0,))
    assert choice_sentence(tried) == (
        "C 3 of 1, 3, by 3 folds of 3000 rows drawn from them: 75.0% right; no time was left for "
        "10. The cross-validation chose in each fold anew: 3 in every fold"
    )
    none = ChoiceFacts("C", (), (), 0, None, 1.0)
    assert choice_sentence(none) == "C 1, the usual one, for there are too few rows"


# In Python --------------------------------------------------------------------------------------


@pytest.fixture
def two_kinds(monkeypatch):
    every = kinds.usual_kinds
    monkeypatch.setattr(kinds, "usual_kinds", lambda *given: every(*given)[:2])


@pytest.mark.usefixtures("two_kinds")
def test_arrays_and_tables():
    X, y = rb.datasets.dunkers(40, random_state=0)
    found = rb.compare(X, y, cv=4)
    assert (found.folds, found.repeats, found.rows, found.features) == (4, 3, 40, 2)
    assert "take  perceptron: nothing else is as good" in " ".join(str(found).split("  " * 2))
    named = rb.compare({"height": X[:, 0], "leap": X[:, 1]}, y, cv=4)
    assert [kind.scores for kind in named.kinds] == [kind.scores for kind in found.kinds]
    sparse = rb.compare(csr_matrix(X), y, cv=2, repeats=1, groups=np.arange(40) // 4)
    assert (sparse.groups, sparse.repeats) == ("groups", 1)
    late = rb.compare(X, y, max_time=1e-9)
    assert set(late.unfinished.values()) == {TIME}
    assert "a larger max_time does majority, perceptron, too" in str(late)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"y": [0, 1, 1]}, "y has 3 samples but X has 6 rows"),
        ({"groups": [0, 1, 1]}, "groups has 3 samples but X has 6 rows"),
        ({"y": [1] * 6}, "y holds only one class"),
        ({"cv": 1}, "cv=1"),
        ({"repeats": 0}, "repeats=0"),
        ({"random_state": -1}, "random_state=-1"),
        ({"max_time": 0}, "max_time=0"),
        ({"y": [0, 0, 0, 0, 0, 1]}, "class 1 has only one row"),
    ],
)
def test_wrong_arguments(change, why):
    given = {"X": np.arange(12.0).reshape(6, 2) ** 2, "y": [0, 1] * 3} | change
    with pytest.raises(ValueError, match=why):
        rb.compare(**given)

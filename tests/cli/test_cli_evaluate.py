"""``rosenblatt evaluate``: a saved model on rows whose class is known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import rosenblatt as rb
from commands import NOTES, call, fitted, one_line, table
from rosenblatt.cli.testing import held_out
from rosenblatt.report.fits import LabelledTable, numbered

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def notes():
    """A model of half of the banknotes, and the other half."""
    rows = pd.read_csv(NOTES)
    rows[::2].to_csv("half.csv", index=False)
    rows[1::2].to_csv("rest.csv", index=False)
    call("fit", "half.csv", "-q", "-o", "m.skops", "--cv", 0)
    return rows[1::2]


def test_what_a_model_says_of_new_rows(notes, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.predict.CHUNK", 100)
    found = json.loads(call("evaluate", "m.skops", "rest.csv", "--json").stdout)
    model = rb.io.load("m.skops")
    X, true = notes.drop(columns="note"), notes["note"]
    right = int((model.predict(X) == true).sum())
    assert (found["rows"], found["right"]) == (len(notes), right)
    values = model.decision_function(X)
    assert found["roc_auc"] == pytest.approx(roc_auc_score(true == "genuine", values))
    assert found["confusion"][0][0] + found["confusion"][1][1] == right
    assert found["notes"] == []


def test_the_report(notes):
    printed = one_line(call("evaluate", "m.skops", "rest.csv").stdout)
    for part in (
        "m.skops on rest.csv",
        "of 686 rows, 95% interval",
        "always saying genuine gives",
        "ROC AUC",
        "precision recall F1",
        "taken for: forged genuine",
    ):
        assert part in printed
    same = one_line(call("evaluate", "m.skops", "half.csv").stdout)
    assert "this seems to be the table of training" in same


def test_rows_that_are_not_judged(notes):
    rows = notes.head(10).copy()
    rows["note"] = ["forged", "Genuine", "genuine.", "??", None, *["genuine"] * 5]
    rows.rename(columns={"note": "truth"}).to_csv("odd.csv", index=False)
    found = json.loads(call("evaluate", "m.skops", "odd.csv", "-t", "truth", "--json").stdout)
    assert found["rows"] == 8
    assert [one["rows"] for one in found["classes"]] == [1, 7]
    assert any("1 row with a class that the model does not know" in n for n in found["notes"])
    assert "1 row without a class, not judged" in found["notes"]


def test_many_classes_stay_readable():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 30
    X = rng.normal(size=(120, 3))
    names = [f"class {k}" for k in y]
    table("many.csv", dict(zip("abc", X.T, strict=True)) | {"y": names})
    call("fit", "many.csv", "-q", "-o", "m.skops", "--cv", 0, "--max-epochs", 3)
    printed = call("evaluate", "m.skops", "many.csv", "--top", 4, "--rows", 0).stdout
    assert "26 classes with fewer errors not shown (--top)" in printed
    assert "rarer confusions not shown (--top)" in printed
    assert len(printed.splitlines()) < 25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variance,skewness,curtosis,entropy\n1,2,3,4\n", "has no column 'note' of true classes"),
        (
            "variance,skewness,curtosis,entropy,note\n1,2,3,4,false\n",
            "column 'note' of new.csv has 'false', but the model knows forged, genuine",
        ),
        (
            "variance,skewness,curtosis,entropy,note\n1,2,3,4,\n",
            "column 'note' of new.csv is empty",
        ),
        ("", "new.csv is empty"),
    ],
)
def test_nothing_to_judge(notes, text, message):
    Path("new.csv").write_text(text)
    assert message in call("evaluate", "m.skops", "new.csv", code=2).stderr


def test_a_model_from_python_needs_a_target():
    X, y = rb.datasets.dunkers(random_state=0)
    rb.io.save(rb.Perceptron().fit(X, y), "m.skops")
    table("t.csv", {"a": X[:, 0], "b": X[:, 1], "dunks": y})
    assert "say with --target" in call("evaluate", "m.skops", "t.csv", code=2).stderr


# fit --test and --holdout ------------------------------------------------------------------------


def test_a_fit_is_tested_on_another_file(notes):
    call("fit", "half.csv", "--test", "rest.csv", "-q", "-o", "t.skops", "--cv", 0)
    found = json.loads(call("show", "t.skops", "--json").stdout)
    alone = json.loads(call("evaluate", "t.skops", "rest.csv", "--json").stdout)
    assert found["tested_on"] == "rest.csv"
    assert found["test"] == {name: alone[name] for name in found["test"]}
    printed = one_line(call("show", "t.skops").stdout)
    assert "of 686 rows of rest.csv, 95% interval" in printed


def test_rows_are_held_out_in_shares_of_each_class():
    found = fitted(NOTES, "--holdout", "20%", "--cv", 0, "-o", "m.skops")
    assert found["tested_on"] == "274 rows held out"
    assert [one["rows"] for one in found["test"]["classes"]] == [122, 152]
    assert found["classes"] == {"forged": 488, "genuine": 610}
    again = fitted(NOTES, "--holdout", "0.2", "--cv", 0)
    assert again["test"] == found["test"]
    other = fitted(NOTES, "--holdout", "20%", "--cv", 0, "--seed", 1)
    assert other["test"] != found["test"]


def test_rows_held_out_are_those_not_learned_from():
    rows = pd.read_csv(NOTES)
    labelled = LabelledTable(
        file="t", names=list(rows), target="note", **numbered(rows["note"].to_numpy(str)),
        columns={"variance": rows["variance"].to_numpy()},
        known=None,
    )  # fmt: skip
    learn, test = held_out(labelled, 0.25, 3)
    assert sorted([*learn.rows, *test.rows]) == list(range(1, len(rows) + 1))
    for part in (learn, test):
        assert np.array_equal(part.columns["variance"], rows["variance"][part.rows - 1])
        assert np.array_equal(part.y, rows["note"][part.rows - 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "no.csv"], "there is no file no.csv"),
        (["--holdout", "1"], "--holdout 1 is not possible: give a share such as 20% or 0.2"),
        (["--holdout", "few"], "--holdout few is not possible"),
        (["--holdout", "20%", "--test", "half.csv"], "give one of them"),
    ],
)
def test_tests_that_are_refused_at_once(options, message, tmp_path):
    (tmp_path / "half.csv").write_text("a,y\n1,b\n2,c\n")
    assert message in call("fit", NOTES, "-o", "m.skops", *options, code=2).stderr
    assert not Path("m.skops").exists()


def test_a_bad_test_loses_no_model():
    Path("bad.csv").write_text("a,b\n1,2\n")
    error = call("fit", NOTES, "--cv", 0, "--test", "bad.csv", "-o", "m.skops", code=2).stderr
    assert "bad.csv has no column" in error
    assert "written all the same: m.skops" in error
    assert "test" not in json.loads(call("show", "m.skops", "--json").stdout)


def test_a_class_of_one_row_cannot_be_held_out():
    table("t.csv", {"x": range(9), "y": [*"aaaabbbb", "c"]})
    message = "--holdout needs two rows of every class: y has only one of c"
    assert message in call("fit", "t.csv", "--holdout", "50%", code=2).stderr

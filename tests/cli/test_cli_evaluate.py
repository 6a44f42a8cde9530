"""``rosenblatt evaluate``: a saved model on rows whose class is known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import rosenblatt as rb
from commands import NOTES, call, one_line, table

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
    printed = call("evaluate", "m.skops", "many.csv", "--top", 4).stdout
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

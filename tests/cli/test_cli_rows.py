"""Rows with their cells: the closest to the boundary, the wrong ones, those of a proof."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, one_line, table
from rosenblatt.report import fits
from rosenblatt.report.rows import leads
from rosenblatt.report.rows_report import cell_text

pytestmark = pytest.mark.usefixtures("plain_terminal")


def naive(model, X, true):
    """For each row: its lead, and what it is taken for, straight from the definition."""
    values, classes = model.decision_function(X), list(model.classes_)
    if values.ndim == 1:
        lead = [v if label == classes[1] else -v for v, label in zip(values, true, strict=True)]
    else:
        places = [classes.index(label) for label in true]
        others = [max(np.delete(v, k)) for v, k in zip(values, places, strict=True)]
        own = [v[k] for v, k in zip(values, places, strict=True)]
        lead = [a - b for a, b in zip(own, others, strict=True)]
    return lead, list(model.predict(X))


@pytest.mark.parametrize("several", [False, True])
def test_as_the_definition_has_them(several, monkeypatch):
    file, target = (PENGUINS, "species") if several else (NOTES, "note")
    kept = ["bill_depth_mm", "body_mass_g", "species"] if several else None
    table_ = pd.read_csv(file, usecols=kept)
    table_.to_csv("t.csv", index=False)
    args = ("t.csv", "--target", target, "--cv", 0, "--max-epochs", 20, "-o", "m.skops")
    fitted = json.loads(call("fit", *args, "--rows", 4, "--json").stdout)["shown_rows"]
    model, X = rb.io.load("m.skops"), table_.drop(columns=target)
    lead, predicted = naive(model, X, table_[target])
    near = sorted(range(len(lead)), key=lambda i: abs(lead[i]))[:4]
    wrong = [i for i in range(len(lead)) if predicted[i] != table_[target][i]]
    worst = sorted(wrong, key=lambda i: lead[i])[:4]
    assert [one["row"] - 1 for one in fitted["closest"]] == near
    assert [one["row"] - 1 for one in fitted["errors"]] == worst
    assert fitted["wrong"] == len(wrong) > 4
    for one in fitted["closest"] + fitted["errors"]:
        i = one["row"] - 1
        assert (one["class"], one["predicted"]) == (table_[target][i], predicted[i])
        assert one["lead"] == pytest.approx(lead[i], abs=1e-9)
        assert one["cells"] == X.iloc[i].astype(object).where(X.iloc[i].notna(), None).to_dict()
    # The same of a file, in parts, and with more rows whose class nobody knows.
    monkeypatch.setattr("rosenblatt.cli.predict.CHUNK", 50)
    monkeypatch.setattr(fits, "BLOCK", 7)
    again = json.loads(call("fit", *args, "--rows", 4, "--json").stdout)["shown_rows"]
    assert again == fitted
    pd.concat([table_, table_.assign(**{target: None})]).to_csv("more.csv", index=False)
    call_ = ("evaluate", "m.skops", "more.csv", "--rows", 4, "--json")
    found = json.loads(call(*call_).stdout)["shown_rows"]
    assert {**found, "proofs": None} == {**fitted, "proofs": None}


def test_columns_that_contribute_most_come_first():
    n = 40
    given = np.random.default_rng(0).normal(size=(n, 3))
    y = np.where(given @ [0.1, 5, 1] + np.linspace(-2, 2, n) > 0, "yes", "no")
    file = table("c.csv", {"little": given[:, 0], "much": given[:, 1], "some": given[:, 2], "y": y})
    call("fit", file, "-q", "--cv", 0, "-o", "m.skops", "--model", "soft-margin")
    found = json.loads(call("evaluate", "m.skops", file, "--rows", 5, "--json").stdout)
    model = rb.io.load("m.skops")
    shown = [one["row"] - 1 for part in ("closest", "errors") for one in found["shown_rows"][part]]
    columns = (given - given.mean(axis=0)) / given.std(axis=0) * model[-1].coef_[0]
    sizes = np.abs(columns[shown]).sum(axis=0)
    assert found["shown_rows"]["columns"] == [
        ["little", "much", "some"][j] for j in np.argsort(-sizes)
    ]


def test_ties_go_to_the_earlier_row(monkeypatch):
    """All rows are at the same distance, and come in parts."""
    monkeypatch.setattr(fits, "BLOCK", 2)
    file = table("t.csv", {"x": [0.0, 1.0] * 6, "y": ["a", "b"] * 6})
    found = json.loads(call("fit", file, "--cv", 0, "--rows", 3, "--json", "--raw").stdout)
    closest = found["shown_rows"]["closest"]
    assert [(one["row"], one["lead"]) for one in closest] == [
        (k, closest[0]["lead"]) for k in (1, 2, 3)
    ]


def test_leads_by_hand():
    assert leads(np.array([[2.0], [-3.0], [0.5]]), np.array([1, 0, 0])).tolist() == [2, 3, -0.5]
    several = np.array([[1.0, 4.0, 2.0], [1.0, 4.0, 2.0]])
    assert leads(several, np.array([1, 2])).tolist() == [2, -2]


def test_sparse_rows_and_kernels(xor):
    Path("s.svm").write_text("1 1:2 3:1\n-1 2:3\n1 1:1\n-1 2:1 3:2\n1 2:1\n")
    found = json.loads(call("fit", "s.svm", "--cv", 0, "--rows", 5, "--json").stdout)
    cells = {one["row"]: one["cells"] for one in found["shown_rows"]["closest"]}
    assert cells[1] == {"x1": 2.0, "x3": 1.0}
    printed = call("fit", "s.svm", "--cv", 0, "--rows", 2, "--kernel", "linear").stdout
    head = next(line for line in printed.splitlines() if line.startswith("closest"))
    assert set(head.split()[6:]) & {"x1", "x2", "x3"}  # those that these rows have
    assert len(cells) == 5
    found = json.loads(call("fit", xor, "--kernel", "rbf", "--cv", 0, "--rows", 9, "--json").stdout)
    assert len(found["shown_rows"]["closest"]) == 4
    assert found["shown_rows"]["errors"] == []


def test_proofs_with_their_cells(twins, xor):
    found = json.loads(call("fit", twins, "--cv", 0, "--rows", 1, "--json").stdout)
    (proof,) = found["shown_rows"]["proofs"]
    assert [(one["row"], one["class"], one["share"]) for one in proof["rows"]] == [
        (2, "n", 1.0),
        (4, "p", 1.0),
    ]
    assert proof["rows"][0]["cells"] == {"a": 5.0, "b": 1.0}
    printed = one_line(call("check", twins, code=1).stdout)
    assert "different classes, n and p: row class a b 2 n 5 1 4 p 5 1" in printed
    printed = one_line(call("check", xor, code=1).stdout)
    assert "both sides: row class share" in printed


def test_a_small_table_whatever_stands_in_the_cells(monkeypatch):
    hostile = "\x1b[31m" + "very long " * 20
    rows_ = {
        "n" * 60: [1.5, 2.5, 1234567.0, None] * 3,
        "text": [hostile, "a", None, "b"] * 3,
        "y": ["p", "q"] * 6,
    }
    file = table("h.csv", rows_)
    for width in ("60", "200"):
        monkeypatch.setenv("COLUMNS", width)
        printed = call("fit", file, "--cv", 0, "--rows", 12, "--use", "text").stdout
        assert "\x1b" not in printed
        assert max(map(len, printed.splitlines())) <= int(width)
    assert "1234567" in printed
    assert "missing" in printed
    assert "closest" not in call("fit", file, "--cv", 0).stdout
    monkeypatch.setenv("COLUMNS", "200")
    shown = call("fit", NOTES, "--cv", 0, "--max-epochs", 5, "--rows", 2, "--top", 2).stdout
    assert one_line(shown).count("2 more columns not shown") == 3


def test_cells_as_text():
    assert [cell_text(x) for x in (None, 3.0, -0.5, 1e20, 1 / 3, "word")] == [
        "missing",
        "3",
        "-0.5",
        "1e+20",
        "0.333333",
        "word",
    ]

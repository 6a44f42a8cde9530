"""Rows that belong together: folds and holdouts never part them, and the report says so."""

from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import call, fitted, one_line, table

pytestmark = pytest.mark.usefixtures("plain_terminal")


def visits(n=24, each=5, name="visits.csv"):
    """Patients seen several times: who it is tells the answer, what is measured does not."""
    rng = np.random.default_rng(3)
    who, ill = np.arange(n), rng.permutation(np.arange(n) % 2)
    fingerprint = rng.choice([-4.0, 4.0], (n, 12))
    x = np.repeat(fingerprint, each, axis=0) + rng.normal(0, 0.1, (n * each, 12))
    columns = {f"x{j}": x[:, j].round(3) for j in range(12)}
    columns["patient"] = np.repeat([f"p{k}" for k in who], each)
    columns["state"] = np.where(np.repeat(ill, each), "ill", "well")
    return table(name, columns)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_groups_are_no_feature_and_take_the_memory_out_of_the_score():
    name, curved = visits(), ("--kernel", "rbf", "--gamma", "0.1")
    parted = fitted(name, "--ignore", "patient", *curved)
    whole = fitted(name, "--groups", "patient", *curved, "-o", "m.skops")
    assert min(parted["cross_validation"]) == 1
    assert np.mean(whole["cross_validation"]) < 0.8
    assert whole["columns"] == whole["features"] == 12
    found = whole["validation"]
    assert (found["groups"], found["grouped_by"]) == (24, "patient")
    low, high = found["result"]["interval"]
    assert high - low > 0.2  # of 24 patients, not of 120 rows
    text = one_line(call("show", "m.skops").stdout)
    assert "by 5-fold cross-validation of 24 groups by patient, 95% interval" in text
    assert "patient" not in rb.io.load("m.skops")[0].kinds_
    call("predict", "m.skops", name, "-o", "out.csv")


def test_whole_groups_are_held_out():
    found = fitted(visits(), "--groups", "patient", "--holdout", "25%", "--seed", 1, "--cv", 0)
    assert found["tested_on"] == "30 rows held out"
    assert found["test"]["rows"] == 30
    low, high = found["test"]["interval"]
    assert high - low > 0.3  # of 6 patients
    assert "25.0% of the rows are held out, 6 of 24 groups" in found["notes"]
    again = fitted(visits(), "--groups", "patient", "--holdout", "25%", "--seed", 2, "--cv", 0)
    assert again["test"] != found["test"]


@pytest.mark.parametrize(
    ("who", "y", "arguments", "message"),
    [
        ("aabbcc", "001122", ["--holdout", "20%"], "needs more groups in column 'who'"),
        ("aaaaaa", "010101", ["--holdout", "20%"], "needs more groups in column 'who'"),
        ("ab bca", "010101", [], "--groups who: row 3 has no group: fill it in, or leave"),
        ("ab  ca", "010101", [], "--groups who: 2 rows, such as row 3, have no group"),
    ],
)
def test_groups_that_cannot_be_are_refused(who, y, arguments, message):
    cells = {"x": np.arange(6) % 4, "who": [c.strip() for c in who], "y": list(y)}
    done = call("fit", table("t.csv", cells), "--groups", "who", *arguments, code=2)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("who", "y", "note"),
    [
        ("aaaaaa", "010101", "no cross-validation: all rows are of one group"),
        ("aabbcc", "010101", "3 folds: there are only so many groups"),
        (
            "aabbcc",
            "000011",
            "no cross-validation: without the groups of a fold only class 0 is left to learn from",
        ),
        (
            "aabbcc",
            "010122",
            "a fold has no rows of 2 to learn from, for all are in its groups",
        ),
    ],
)
def test_what_groups_do_to_the_folds_is_told(who, y, note):
    cells = {"x": [1, 5, 2, 7, 3, 4], "who": list(who), "y": list(y)}
    assert note in fitted(table("t.csv", cells), "--groups", "who", "--cv", 4)["notes"]


def test_features_that_are_one_matrix_are_no_groups():
    Path("t.svm").write_text("1 1:2 3:1\n0 2:1\n1 1:1\n0 2:3\n")
    done = call("fit", "t.svm", "--groups", "x", code=2)
    assert "--groups x is all features of t.svm, whose format has no other columns" in done.stderr


def test_rows_without_a_class_need_no_group():
    cells = {"x": [1, 5, 2, 7, 3], "who": ["a", "a", "b", "b", ""], "y": ["u", "v", "u", "v", ""]}
    found = fitted(table("t.csv", cells), "--groups", "who", "--cv", 2)
    assert len(found["cross_validation"]) == 2


def test_repeated_folds_by_the_seed():
    name = visits(each=1)
    found = fitted(name, "--cv", "3x2", "--ignore", "patient")
    assert len(found["cross_validation"]) == 6 == len(found["validation"]["each"])
    assert found["validation"]["result"]["rows"] == 48
    assert (
        found["cross_validation"][:3]
        == fitted(name, "--cv", 3, "--ignore", "patient")["cross_validation"]
    )
    text = one_line(call("fit", name, "--cv", "3x2", "--ignore", "patient").stdout)
    assert "by 2 times 3-fold cross-validation, 95% interval" in text
    soft = ("--model", "soft-margin", "--ignore", "patient", "--cv", 3)
    once, twice = (fitted(name, *soft, "--seed", seed)["validation"] for seed in (0, 1))
    assert once != twice

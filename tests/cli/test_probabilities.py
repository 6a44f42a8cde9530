"""Calibrated models at the command: fit, predict, evaluate, show."""

import json

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from commands import NOTES, call, fitted, one_line, table

pytestmark = pytest.mark.usefixtures("plain_terminal")

QUICK = ("--max-epochs", 3, "--cv", 3)


def test_from_fit_to_probabilities():
    found = fitted(NOTES, *QUICK, "--calibrate", "sigmoid", "--holdout", "20%", "-o", "m.skops")
    assert found["calibration"] == {"method": "sigmoid", "rows": 1098}
    assert found["test"]["probabilities"]["brier"] < 0.1
    call("predict", "m.skops", NOTES, "--proba", "-o", "out.csv")
    answers, frame = pd.read_csv("out.csv"), pd.read_csv(NOTES)
    assert list(answers) == ["prediction", "decision", "probability_forged", "probability_genuine"]
    P = answers[["probability_forged", "probability_genuine"]].to_numpy()
    model = rb.io.load("m.skops")
    columns = {name: frame[name].to_numpy() for name in frame.columns[:-1]}
    np.testing.assert_array_equal(P, model.predict_proba(columns))
    call("export", "m.skops", "--json", "m.json")
    np.testing.assert_array_equal(P, rb.io.load("m.json").predict_proba(columns))
    told = json.loads(call("evaluate", "m.skops", NOTES, "--json").stdout)["probabilities"]
    share = (frame["note"] == "genuine").to_numpy()
    assert told["brier"] == pytest.approx(np.mean((P[:, 1] - share) ** 2))
    assert told["brier"] < told["majority_brier"]
    text = one_line(call("evaluate", "m.skops", NOTES).stdout)
    assert "Brier score" in text
    assert "of genuine rows mean came true 0 to 10%" in text
    shown = one_line(call("show", "m.skops").stdout)
    assert "a sigmoid curve through the answers to 1098 rows left out" in shown


def test_classes_in_capitals_and_small_letters_have_columns_of_their_own():
    rng = np.random.default_rng(0)
    y = np.array(["yes", "Yes!", "YES", "no"])[np.arange(60) % 4]
    cells = {"x": rng.normal(size=60).round(3), "probability_no": rng.normal(size=60).round(2)}
    name = table("t.csv", cells | {"y": y})
    call("fit", name, *QUICK, "--category", "y", "--calibrate", "isotonic", "-q", "-o", "m.skops")
    call("predict", "m.skops", name, "--proba", "-o", "out.csv")
    names = [f"probability_{label}" for label in ("YES", "Yes!", "no", "yes")]
    answers = pd.read_csv("out.csv")
    assert list(answers)[-4:] == names
    np.testing.assert_allclose(answers[names].sum(axis=1), 1)
    done = call("predict", "m.skops", name, "--proba", "--keep", "probability_no", code=2)
    assert "the answers have a column of that name" in done.stderr
    text = one_line(call("evaluate", "m.skops", name).stdout)
    assert "probability said mean came true" in text


def test_what_cannot_be_calibrated_is_told():
    assert "--calibrate sigmoid goes by the answers of --cv: give at least 2 folds" in (
        call("fit", NOTES, "--calibrate", "sigmoid", "--cv", 0, code=2).stderr
    )
    call("fit", NOTES, *QUICK, "-q", "-o", "m.skops")
    done = call("predict", "m.skops", NOTES, "--proba", code=2)
    assert "has no probabilities: fit the model again with --calibrate sigmoid" in done.stderr
    few = table("t.csv", {"x": [1, 2, 3, 4], "y": ["a", "a", "a", "b"]})
    found = fitted(few, "--calibrate", "isotonic", "-o", "n.skops")
    assert "not calibrated: there are no answers to rows left out" in found["notes"]
    assert "calibration" not in found

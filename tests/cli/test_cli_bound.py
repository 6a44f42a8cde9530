"""``rosenblatt bound``: what it prints, what it draws, how it ends."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import commands
import rosenblatt as rb
from commands import NOTES, PENGUINS, dunkers_table, table

pytestmark = pytest.mark.usefixtures("plain_terminal")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def call(*arguments, code=0):
    return commands.call("bound", *arguments, code=code)


def found(*arguments, code=0):
    return json.loads(call(*arguments, "--json", code=code).stdout)


@pytest.fixture
def dunkers():
    return dunkers_table()


def test_numbers_as_they_are(dunkers):
    X, y = rb.datasets.dunkers(random_state=0)
    told = found(dunkers, "--raw")
    limit = rb.mistake_bound(X, y)
    model = rb.Perceptron(record=True, order="shuffled", random_state=0).fit(X, y)
    report = model.bound_report(X, y)
    (one,) = told["problems"]
    assert one["R"] == limit.R
    assert one["gamma"] == pytest.approx(limit.gamma)
    assert one["bound"] == pytest.approx(limit.bound)
    assert one["formula"] == "(R/γ)²"
    assert one["mistakes"] == model.n_mistakes_
    assert one["tightness"] == pytest.approx(report.tightness)
    assert one["stop_reason"] == "SEPARATED"
    assert (one["within"], one["progress_holds"], one["length2_holds"]) == (True, True, True)
    assert told["separable"]
    assert not told["standardized"]


def test_standardised_like_a_fit(dunkers):
    X, y = rb.datasets.dunkers(random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    (one,) = found(dunkers)["problems"]
    limit = rb.mistake_bound(X, y)
    assert one["R"] == pytest.approx(limit.R)
    assert one["bound"] == pytest.approx(limit.bound, rel=1e-6)
    text = call(dunkers).stdout
    for piece in (
        "dunkers.csv: mistakes and their bound",
        "80 rows, 2 features, 2 classes",
        f"{one['mistakes']} mistakes in {one['epochs']} epochs, SEPARATED",
        f"at most {int(limit.bound)} mistakes, however long it runs: (R/γ)²",
        f"R = {limit.R:.4g}, γ = {limit.gamma:.4g}; of (x, 1), standardised",
        "θ·θ* grew as much as it must: at each of",
        "dunks, the last column, is taken as the class",
    ):
        assert piece in text
    assert not any(line.endswith(" ") for line in text.splitlines())


@quiet
def test_no_hyperplane_separates_banknotes():
    frame = pd.read_csv(NOTES)
    y = frame.pop("note").to_numpy()
    model = rb.Perceptron(record=True, max_epochs=40, order="shuffled", random_state=0)
    limit = model.fit(frame.to_numpy(), y).bound_report(frame.to_numpy(), y).bound
    told = found(NOTES, "--raw", "--max-epochs", 40, code=1)
    (one,) = told["problems"]
    assert not told["separable"]
    assert one["bound_epochs"] == 40
    assert one["bound"] == pytest.approx(limit.bound, rel=1e-6)
    assert one["mistakes"] == model.n_mistakes_ <= one["bound"]
    text = call(NOTES, "--max-epochs", 40, code=1).stdout
    assert "no: no hyperplane separates the classes after standardising, and no" in text
    assert "in 40 epochs: ((R + √E·D)/γ)²" in text
    assert "rosenblatt check banknotes.csv" in text


def test_several_classes_in_a_line_each():
    told = found(PENGUINS, "--target", "species")
    assert [one["positive"] for one in told["problems"]] == ["Adelie", "Chinstrap", "Gentoo"]
    assert all(one["within"] and one["separable"] for one in told["problems"])
    text = call(PENGUINS, "--target", "species", "--plot", "three.png").stdout
    for one in told["problems"]:
        assert f"{one['mistakes']} of at most {int(one['bound'])} mistakes" in text
    assert Path("three.png").stat().st_size > 10_000


def test_other_runs(dunkers):
    n = len(rb.datasets.dunkers(random_state=0).y)
    (batch,) = found(dunkers, "--update", "batch")["problems"]
    assert batch["formula"] == "m(R/γ)²"
    assert batch["bound"] == pytest.approx(n * (batch["R"] / batch["gamma"]) ** 2)
    (guess,) = found(dunkers, "--init", "-9,-9,0", "--eta0", "0.5")["problems"]
    (start,) = found(dunkers)["problems"]
    assert guess["bound"] > start["bound"]
    assert "larger root" in guess["formula"]
    (weighted,) = found(dunkers, "--class-weight", "1=2")["problems"]
    assert weighted["R"] > start["R"]
    (few,) = found(dunkers, "--update", "minibatch", "--batch-size", 4)["problems"]
    assert few["batch_size"] == 4


def test_through_the_origin():
    name = table("line.csv", {"x": [1.0, 2.0], "side": ["a", "b"]})
    text = call(name, "--raw", "--no-intercept", "--max-epochs", 5, code=1).stdout
    assert "no hyperplane through the origin separates the classes" in text
    assert "without --no-intercept a hyperplane may" in text
    told = found(name, "--raw")
    assert told["separable"]


def test_a_run_cut_off(dunkers):
    name = table("near.csv", {"x": [30.0, 32.0], "side": ["a", "b"]})
    text = call(name, "--raw", "--max-epochs", 5).stdout
    assert "EPOCH_LIMIT" in text
    assert "raise --max-epochs" in text


def test_quiet_and_pictures(dunkers):
    done = call(dunkers, "-q", "--plot", "bound.svg")
    assert done.output == ""
    assert "<svg" in Path("bound.svg").read_text()
    assert "drawn      bound.svg" in call(dunkers, "--plot", "bound.svg").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.csv",), "there is no file none.csv"),
        ((NOTES, "--target", "paper"), "no column 'paper'"),
        ((NOTES, "--plot", "bound.txt"), "let it end in .png or .svg or .pdf"),
        ((NOTES, "--eta0", "-1"), "eta0=-1.0 is not allowed"),
        ((NOTES, "--batch-size", "4"), "needs --update minibatch"),
        ((NOTES, "--seed", "-1"), "--seed -1 is not possible"),
        ((NOTES, "--keep", "pocket"), "no such option: --keep"),
    ],
)
def test_errors_are_one_line(arguments, message):
    assert message.lower() in call(*arguments, code=2).stderr.lower()


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_answer_is_the_exit_code(code, dunkers):
    name = table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]})
    done = call((dunkers, name, "none.csv")[code], code=code)
    assert bool(done.stderr) == (code == 2)
    assert bool(done.stdout) == (code != 2)


def test_the_report_does_not_grow_with_the_run(dunkers):
    told = call(dunkers, "--order", "worst-mistake").stdout
    assert len(told.splitlines()) <= 12
    assert np.char.str_len(told.splitlines()).max() <= 100


def test_a_bound_beyond_floats():
    columns = {"a": [1e-300, 2e-300, 5e-300, 7e-300], "y": ["u", "u", "v", "v"]}
    name = table("tiny.csv", columns)
    out = call(name, "--raw").stdout
    assert "at most 10^600 mistakes, however long it runs" in out
    assert "next to none of the bound" in out
    assert "inf" not in out
    (problem,) = found(name, "--raw")["problems"]
    assert problem["bound"] is None
    assert problem["within"] is True

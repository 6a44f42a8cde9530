"""Margins on the command line, stopped before the end, and what is done with their models."""

import json
import pkgutil
import re
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from commands import (
    NOTES,
    PENGUINS,
    call,
    fitted,
    invoke,
    one_line,
    table,
)
from rosenblatt.cli.waiting import ProgressLine

SOFT, HARD = ("--model", "soft-margin"), ("--model", "max-margin")


pytestmark = pytest.mark.usefixtures("plain_terminal")


# ------------------------------------------------------------------- stopped before the end


def test_ctrl_c_keeps_the_model_so_far(monkeypatch):
    """In the first scan of the training."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "after_scan", stop)
    found = fitted(NOTES, *SOFT, "--C", 1e4, "-o", "m.skops", code=130)
    assert found["stop_reasons"] == ["INTERRUPTED"]
    assert "verdicts" not in found
    assert found["cross_validation"] == []
    assert found["optima"][0]["gap"] > 0
    assert rb.io.load("m.skops")[-1].stop_reason_ is rb.StopReason.INTERRUPTED
    text = one_line(call("show", "m.skops").stdout)
    assert "this is the model so far; run it again" in text
    again = fitted(NOTES, *HARD, code=130)
    assert again["stop_reasons"] == ["INTERRUPTED"]


def press(*_, **__):
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("rosenblatt.cli.fitting._was_chosen", "margins"),  # between training and verdict
        ("rosenblatt.report.judging.separability", "verdicts"),
        ("rosenblatt.cli.folding.plan_folds", "verdicts"),
        ("rosenblatt.cli.fitting.notes_about", "verdicts"),
        ("rosenblatt.cli.fitting.margins_of", "cross_validation"),
        ("rosenblatt.files.models._strangers", "cross_validation"),  # the file is being written
    ],
)
def test_ctrl_c_after_training_keeps_the_model(monkeypatch, where, kept):
    name, _, attribute = where.rpartition(".")
    owner = pkgutil.resolve_name(name)
    original = getattr(owner, attribute)

    def pressed(*args, **more):
        press()
        return original(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(owner, attribute, pressed)
        found = fitted(NOTES, *SOFT, "--C", 10, "-o", "m.skops", code=130)
    assert found["stop_reasons"] == ["GAP_CLOSED"]
    assert kept in found
    assert found["saved"] == ["m.skops"]
    assert rb.io.load("m.skops")[-1].stop_reason_ is rb.StopReason.GAP_CLOSED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_fit_warns_keeps_the_model(monkeypatch):
    monkeypatch.setattr(rb.SoftMarginClassifier, "_warn", press)
    found = fitted(NOTES, *SOFT, "-o", "m.skops", code=130)
    assert "verdicts" not in found
    assert Path("m.skops").exists()


def test_ctrl_c_ends_the_drawing_only(monkeypatch):
    monkeypatch.setattr("rosenblatt.plot.margin", press)
    found = fitted(NOTES, *SOFT, "--cv", 0, "-o", "m.skops", "--plot", "p.png", code=130)
    assert found["saved"] == ["m.skops"]
    assert not Path("p.png").exists()


def test_progress_tells_scan_and_gap(monkeypatch, dunkers):
    told = []
    monkeypatch.setattr(
        ProgressLine, "say", lambda _, what, *__, detail="": told.append((what, detail))
    )
    call("fit", dunkers, *SOFT)
    scans = [detail for what, detail in told if what == "training" and detail]
    assert scans
    assert all(re.fullmatch(r"scan \d+, gap [\d.e+-]+", detail) for detail in scans)
    told.clear()
    call("fit", PENGUINS, "-t", "species", *HARD, "--cv", 0)
    assert any(detail.startswith("class 3 of 3, scan 1, gap ") for _, detail in told)


def test_a_reader_that_has_enough_gets_the_exit_code(monkeypatch):
    def gone(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("rosenblatt.report.fit_report.print_report", gone)
    monkeypatch.setattr("rosenblatt.cli.app._silence", lambda _: None)
    call("fit", NOTES, *HARD, "--cv", 0, code=1)


# ------------------------------------------------------------------ show, predict and plot


@pytest.mark.parametrize("model", [HARD, (*SOFT, "--C", "20")])
def test_show_says_what_fit_said(dunkers, model):
    report = call("fit", dunkers, *model, "-o", "m.skops").stdout.splitlines()
    shown = call("show", "m.skops").stdout.splitlines()
    assert shown[0].startswith("m.skops: M" if model is HARD else "m.skops: S")
    said = [line for line in report[1:] if not line.startswith("saved")]
    start, end = (
        shown.index(next(line for line in shown if line.startswith(word)))
        for word in ("table ", "notes ")
    )
    assert shown[1:start] + shown[end:] == said  # between them stands what made it
    found, again = fitted(dunkers, *model), json.loads(call("show", "m.skops", "--json").stdout)
    assert found["optima"] == again["optima"]


def test_show_a_model_made_in_python():
    X, y = rb.datasets.eight_points()
    rb.io.save(rb.MaxMarginClassifier().fit(X, y), "m.skops")
    printed = call("show", "m.skops").stdout
    assert "margin    1.414 (1/‖w‖, in the units of the features): the largest" in printed
    assert "support   rows 1, 5 (2 in all)\n" in printed
    X, y = rb.datasets.xor()
    with pytest.warns(rb.NotSeparableWarning):
        rb.io.save(rb.MaxMarginClassifier().fit(X, y), "m.skops")
    assert (
        "proof     the convex hulls of rows 1, 2, 3 and 4 meet\n" in call("show", "m.skops").stdout
    )
    rb.io.save(rb.SoftMarginClassifier(C=2).fit(X, y), "m.skops")
    assert "C         2, the price of the mean slack\n" in call("show", "m.skops").stdout


def test_predictions_equal_pythons():
    invoke("fit", NOTES, *SOFT, "--C", 500, "-q", "-o", "m.skops")
    done = invoke("predict", "m.skops", NOTES)
    answers = [line.split(",")[0] for line in done.stdout.splitlines()[1:]]
    assert answers == rb.io.load("m.skops").predict(pd.read_csv(NOTES)).tolist()
    errors = np.sum(np.array(answers) != pd.read_csv(NOTES)["note"])
    assert errors == fitted(NOTES, *SOFT, "--C", 500)["training_errors"]


def test_pictures(dunkers):
    call("fit", dunkers, *HARD, "-q", "-o", "m.skops", "--plot", "fit.svg")
    assert "support vectors" in Path("fit.svg").read_text()
    for kind in ("margin", "nearest", "decision"):
        call("plot", kind, "m.skops", dunkers, "-o", f"{kind}.svg")
        assert "<svg" in Path(f"{kind}.svg").read_text()
    call("plot", "neuron", "m.skops")
    call("fit", PENGUINS, "-t", "species", *HARD, "-q", "-o", "p.skops", "--plot", "p.png")
    call("plot", "margin", "p.skops", PENGUINS, "--class", "Gentoo", "-o", "gentoo.svg")
    assert "Gentoo" in Path("gentoo.svg").read_text()


WRONG_USES = [
    (["updates", "m.skops", "dunkers.csv"], "m.skops is a SoftMarginClassifier: plot margin"),
    (["animate", "m.skops", "dunkers.csv"], "m.skops is a SoftMarginClassifier: plot margin"),
    (
        ["epochs", "m.skops"],
        "plot epochs draws mistakes, but m.skops is a SoftMarginClassifier",
    ),
    (
        ["nearest", "m.skops", "dunkers.csv"],
        "a soft margin, which has no nearest points: fit with --model max-margin\n",
    ),
    (
        ["nearest", "n.skops", "none.csv", "--class", "b"],
        "n.skops has no nearest points: no hyperplane separates these classes, which "
        "rosenblatt check proves; plot margin draws the model\n",
    ),
    (["margin", "m.skops"], "needs the table, too"),
    (
        ["margin", "p.skops", "dunkers.csv"],
        "p.skops is a Perceptron: fit --model max-margin or",
    ),
    (["margin", "m.skops", "dunkers.csv", "--class", "1"], "is for more than two classes, but"),
    (["decision", "m.skops", "dunkers.csv", "--class", "1"], "does not go with plot decision"),
    (["margin", "k.skops", "three.csv"], "the model has a, b, c: say with --class which"),
    (["margin", "k.skops", "three.csv", "--class", "d"], "--class d is not a class, the model"),
]


def test_wrong_uses_of_plot(dunkers):
    call("fit", dunkers, *SOFT, "-q", "-o", "m.skops", "--cv", 0)
    call("fit", dunkers, "-q", "-o", "p.skops", "--cv", 0)
    three = table("three.csv", {"x": range(9), "y": list("aaabbbccc")})
    call("fit", three, *SOFT, "-q", "-o", "k.skops", "--cv", 0)
    none = table("none.csv", {"x": [1, 2, 5, 6, 9, 10], "y": list("aabbcc")})
    call("fit", none, *HARD, "-q", "-o", "n.skops", "--cv", 0, code=1)
    for arguments, message in WRONG_USES:
        assert message in call("plot", *arguments, code=2).stderr


@pytest.mark.parametrize(("model", "rule"), [(HARD, "MaxMargin"), (SOFT, "SoftMargin")])
def test_sparse_files(model, rule):
    Path("rows.txt").write_text("1 1:0.5 3:2\n-1 2:1 3:4\n1 1:1 2:2\n")
    X, y = np.array([[0.5, 0, 2], [0, 1, 4], [1, 2, 0]]), [1, -1, 1]
    (found,) = fitted("rows.txt", *model, "--cv", 0, "-o", "m.skops")["hyperplanes"]
    wanted = getattr(rb, f"{rule}Classifier")().fit(X, y).coef_[0]
    assert found["weights"] == pytest.approx(dict(zip(["x1", "x2", "x3"], wanted, strict=True)))
    answers = call("predict", "m.skops", "rows.txt").stdout.split()[1:]
    assert [int(line.split(",")[0]) for line in answers] == y


def test_a_model_is_no_table(dunkers):
    call("fit", dunkers, *HARD, "-q", "-o", "m.skops", "--cv", 0)
    for command in ("bound", "fit", "check"):
        done = call(command, "m.skops", code=2)
        assert "m.skops is a rosenblatt model (skops), not a table" in done.stderr

"""``rosenblatt report``: the page is written whole, and says how to get the model again."""

import html
import json
import os
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, invoke, table, xor_table

pytestmark = pytest.mark.usefixtures("plain_terminal")
FAST = ("--report-time", "0s", "--cv", 0)


def made(*arguments, fast=True):
    """The page of a fit, as text."""
    done = call("report", *arguments, "-o", "page.html", *(FAST if fast else ()))
    assert done.stdout == "written: page.html\n"
    return Path("page.html").read_text("utf-8")


def recipes(page):
    """The command and the program that a page shows."""
    return [html.unescape(code) for code in re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.S)]


def assert_same_model(page):
    """Both recipes of a page give the same model, to the bit."""
    command, program = recipes(page)
    words = [os.path.expanduser(word) for word in shlex.split(command)]  # noqa: PTH111  as a shell
    assert words[:2] == ["rosenblatt", "fit"]
    call(*words[1:], "-q", "--cv", 0)
    saved = rb.io.load("model.skops")
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec(program, names)  # what a reader of the page would do
    own, again = saved[-1], names["model"][-1]
    for part in ("coef_", "intercept_", "dual_coef_", "support_"):
        assert hasattr(own, part) == hasattr(again, part)
        if hasattr(own, part):
            assert np.array_equal(getattr(own, part), getattr(again, part))
    values = (model.decision_function(names["X"]) for model in (saved, names["model"]))
    assert np.array_equal(*values)


OPTIONS = [
    ("--max-epochs", 5),
    ("--model", "adaline", "--max-epochs", 3, "--seed", 7),
    ("--model", "soft-margin", "--C", 10),
    ("--kernel", "poly", "--degree", 2, "--max-epochs", 2),
    ("--holdout", "30%", "--seed", 3, "--max-epochs", 4, "--ignore", "entropy"),
    ("--features", "squares", "--max-epochs", 2, "--raw"),
    ("--features", "rff:20", "--max-epochs", 2, "--seed", 5),
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options)))
def test_both_recipes_give_the_same_model(options):
    assert_same_model(made(NOTES, *options))


def test_recipes_of_words_gaps_and_several_classes():
    assert_same_model(made(PENGUINS, "--target", "species", "--multiclass", "joint"))
    columns = {"n": [1.5, 2.5, "", 4, 5, 7], "w": list("aabbca"), "c": [1, 2, 1, "", 2, 1]}
    assert_same_model(made(table("gaps.csv", columns), "--category", "w"))
    numbers = {"n": [1, 2, 3, 4, 5, 6], "half": [0.5, 1.5, 0.5, 1.5, 10, 10]}
    assert_same_model(made(table("half.csv", numbers)))


def test_a_model_that_the_clock_ended_is_not_promised_again():
    page = made(NOTES, "--max-time", "1ms", "--max-epochs", 100000)
    assert "ended by the clock" in page
    assert "to the last bit" not in page


def test_a_program_without_probabilities_says_so_and_weights_their_unit():
    options = ("--calibrate", "sigmoid", "--cv", 2, "--max-epochs", 5, "--report-time", "0s")
    text = made(NOTES, *options, fast=False)
    assert "that in Python has no probabilities (--calibrate)" in text
    assert "numbers count in standard deviations from their mean" in text


def test_words_in_several_spellings_are_told():
    words = ["Yes", "no", "YES", "No", "Yes", "no"]
    page = made(table("s.csv", {"w": words, "n": range(6), "y": list("ababab")}))
    assert len(recipes(page)) == 1
    assert "several spellings" in page


def test_fit_writes_a_page_beside_a_model():
    done = call("fit", xor_table(), "--report", "x.html", "-o", "x.skops", "--cv", 0)
    assert "saved     x.skops, x.html" in done.stdout
    assert "Telling no from yes" in Path("x.html").read_text("utf-8")


def test_refused():
    assert "give -o report.html" in call("report", NOTES, code=2).stderr
    assert "let it end in .html" in call("report", NOTES, "-o", "page.pdf", code=2).stderr
    assert "no folder" in call("report", NOTES, "-o", "no/page.html", code=2).stderr
    file = xor_table()
    Path(file).rename("x.html")
    assert "being read" in call("report", "x.html", "-o", "x.html", code=2).stderr
    assert "needs --report" in call("fit", NOTES, "--report-time", "3s", code=2).stderr
    bad = call("report", NOTES, "-o", "p.html", "--report-time", "soon", code=2).stderr
    assert "is not a duration" in bad


@pytest.mark.parametrize("stopped", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_page_is_whole_or_not_there(stopped, monkeypatch):
    def fails(facts):
        raise stopped

    Path("page.html").write_text("before")
    monkeypatch.setattr("rosenblatt.report.page.rendering.page", fails)
    ctrl_c = stopped is KeyboardInterrupt
    done = invoke("report", xor_table(), "-o", "page.html", *FAST)
    assert done.exit_code == (130 if ctrl_c else 2)
    assert done.stderr.count("\n") == 1
    assert ("stopped with Ctrl-C" if ctrl_c else "could not be written") in done.stderr
    assert Path("page.html").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["page.html", "xor.csv"]


def test_the_page_is_judged_by_rows_not_learned_from():
    rows = Path(NOTES).read_text().splitlines(keepends=True)
    Path("half.csv").write_text("".join([rows[0], *rows[1::2]]))
    Path("rest.csv").write_text("".join([rows[0], *rows[2::2]]))
    few = ("--max-epochs", 5)
    by_test = made("half.csv", "--test", "rest.csv", *few)
    call("fit", "half.csv", "-o", "half.skops", "-q", "--cv", 0, *few)
    found = json.loads(call("evaluate", "half.skops", "rest.csv", "--json").stdout)
    assert f"{100 * found['accuracy']:.1f}% are right" in by_test
    assert "686 rows of rest.csv" in by_test
    assert "ROC curve" in by_test
    held = made("half.csv", "--holdout", "20%", *few)
    assert "that were held out" in held
    folds = made("half.csv", *few, "--cv", 3, "--report-time", "2s", fast=False)
    assert "each judged by a model that had not seen it" in folds
    assert "Right answers by rows learned from" in folds
    assert "trained on" in made("half.csv", *few)

"""``--model kernel``: what is printed, kept and drawn, how it ends."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

import commands
import rosenblatt as rb
from commands import PENGUINS, call, one_line, table, xor_table
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.report.fit_report import size_of

pytestmark = pytest.mark.usefixtures("plain_terminal")
KERNEL = ("--model", "kernel")


def fitted(*arguments, code=0):
    return commands.fitted(*arguments, *KERNEL, code=code)


def printed(*arguments, code=0):
    return one_line(call("fit", *arguments, *KERNEL, code=code).stdout)


def noisy():
    clean = rb.datasets.circles(120, noise=0.1, random_state=0)
    return rb.datasets.flip_labels(clean, 0.05, random_state=1)


@pytest.fixture
def rings():
    X, y = noisy()
    names = np.where(y > 0, "outer", "inner")
    return table("rings.csv", {"x1": X[:, 0], "x2": X[:, 1], "ring": names})


@pytest.fixture
def xor():
    return xor_table()


def penguins():
    """Two columns of the penguins, as --raw --use leaves them."""
    frame = pd.read_csv(PENGUINS).dropna(subset=["bill_length_mm"])
    return frame[["bill_length_mm", "bill_depth_mm", "species"]]


# ---------------------------------------------------------------------------- what it finds


def test_json_is_that_of_python(rings):
    X, y = noisy()
    model = rb.KernelPerceptron(
        kernel="gaussian", sigma=0.5, drop_after=4, order="shuffled", random_state=0
    )
    model.fit(X, np.where(y > 0, "outer", "inner"))
    found = fitted(
        rings, "--raw", "--kernel", "gaussian", "--sigma", 0.5, "--drop-after", 4, "--cv", 0
    )
    assert found["model"] == "KernelPerceptron"
    assert found["parameters"]["sigma"] == 0.5
    assert found["kernel"] == {
        "name": "gaussian",
        "formula": model.kernel_.formula,
        "sigma": 0.5,
    }
    assert found["stop_reasons"] == [model.stop_reason_.name]
    assert (found["mistakes"], found["epochs"]) == ([model.n_mistakes_], model.n_iter_)
    assert found["training_errors"] == model.n_errors_
    assert found["support"]["count"] == len(model.support_)
    sum_ = found["expansion"]
    assert sum_["rows"] == (model.support_ + 1).tolist()
    assert sum_["mistakes"] == model.alpha_.tolist()
    assert sum_["coef"] == model.dual_coef_.tolist()
    pairs = [(one["row"] - 1, one["mistakes"]) for one in found["dropped"]]
    assert pairs == list(model.dropped_) != []
    assert [one["epoch"] for one in found["dropped"]] == model.dropped_.epoch.tolist()
    labels = np.where(y > 0, "outer", "inner")
    assert [one["class"] for one in found["dropped"]] == [labels[i] for i, _ in pairs]
    hardest = found["support"]["hardest"]
    assert hardest[0]["mistakes"] == model.alpha_.max()
    assert hardest[0]["class"] == labels[hardest[0]["row"] - 1]
    assert sum(found["support"]["classes"].values()) == len(model.support_)
    assert not {"margins", "hyperplanes"} & set(found)


def test_the_report_says_it(rings):
    found = fitted(rings, "--drop-after", 5)
    text = printed(rings, "--drop-after", 5)
    n = found["support"]["count"]
    rows = [one["row"] for one in found["dropped"]]
    for piece in (
        "rings.csv → KernelPerceptron",
        f"kernel {found['kernel']['formula']}, with gamma scale: 1/(features·variance) stopped",
        "NO_MISTAKES an epoch without mistakes: every row that was not dropped is on its side",
        f"training {found['mistakes'][0]} mistakes in {found['epochs']} epochs",
        f"support {n} support vectors, {100 * n / 120:.1f}% of the rows: inner (",
        f"dropped {len(rows)} rows at 5 mistakes, as probable outliers: {rows[0]} (",
        "by 5-fold cross-validation, 95% interval",
    ):
        assert piece in text
    assert "weights" not in text
    first = found["support"]["hardest"][0]
    assert f"most mistakes in training: rows {first['row']} ({first['mistakes']}, " in text
    assert printed(rings, "--drop-after", 5, "-q") == ""


def test_planted_labels_are_found(rings):
    planted = set((noisy().noisy + 1).tolist())
    options = ("--drop-after", 5, "--cv", 0, "--order", "cyclic")
    found = {one["row"] for one in fitted(rings, *options)["dropped"]}
    assert found == planted


def test_many_dropped_rows_are_counted_and_ten_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    name = table("t.csv", {"x1": X[:, 0], "x2": X[:, 1], "y": y})
    options = ("--gamma", 0.1, "--drop-after", 2, "--max-epochs", 20)
    found = fitted(name, *options, "--cv", 0)
    line = re.search(
        r"dropped (\d+) rows at 2 mistakes.*?: (.*?) saved", printed(name, *options, "--cv", 0)
    )
    assert int(line[1]) == len(found["dropped"]) > 10
    assert line[2].count("(") == 10
    assert line[2].endswith(f"and {len(found['dropped']) - 10} more")
    share = f"{100 * len(found['dropped']) / 60:.1f}% of the rows are too many for outliers"
    assert f"next {share}: raise --drop-after" in printed(name, *options, "--cv", 0)


def test_rows_are_those_of_the_file():
    """Rows without a class are left out, but counted."""
    x, y = [9, 1, 2, 9, 4, 5, 9, 1.9], ["", "a", "a", "?", "b", "b", "", "b"]
    name = table("t.csv", {"x": x, "y": y})
    options = ("--raw", "--cv", 0, "--gamma", 0.1, "--drop-after", 3, "-o", "m.skops")
    found = fitted(name, *options, "--order", "cyclic")
    kept = [k for k, label in enumerate(y) if label in ("a", "b")]
    model = rb.KernelPerceptron(gamma=0.1, drop_after=3)
    model.fit([[x[k]] for k in kept], [y[k] for k in kept])
    assert found["expansion"]["rows"] == [kept[i] + 1 for i in model.support_]
    dropped = [(one["row"], one["class"]) for one in found["dropped"]]
    assert dropped == [(kept[i] + 1, y[kept[i]]) for i, _ in model.dropped_] != []
    shown = json.loads(call("show", "m.skops", "--json").stdout)
    assert "rows" not in shown["expansion"]  # which cannot be known there
    assert shown["support"] == found["support"]


def test_folds_equal_scikit_learns_way(rings):
    X, y = noisy()
    found = fitted(rings, "--raw", "--gamma", 3, "--keep", "average", "--drop-after", 9)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = rb.KernelPerceptron(
        gamma=3.0, keep="average", drop_after=9, order="shuffled", random_state=0
    )
    scores = cross_val_score(model, X, np.where(y > 0, "outer", "inner"), cv=folds)
    assert found["cross_validation"] == scores.tolist()


def test_several_classes():
    frame = penguins()
    name = table("p.csv", {c: frame[c].tolist() for c in frame})
    options = ("--drop-after", 20, "--max-epochs", 300)
    found = fitted(name, *options, "--cv", 0)
    assert len(found["stop_reasons"]) == len(found["mistakes"]) == 3
    assert np.shape(found["expansion"]["coef"]) == (3, found["support"]["count"])
    assert {one["positive"] for one in found["dropped"]} <= set(frame["species"])
    rows = {one["row"] for one in found["dropped"]}
    species = frame["species"].tolist()
    assert all(species[one["row"] - 1] == one["class"] for one in found["dropped"])
    text = printed(name, *options, "--cv", 0)
    assert f"dropped {len(rows)} rows at 20 mistakes, each for one class or more" in text


def test_options_reach_the_estimator(rings):
    found = fitted(
        rings, "--kernel", "poly", "--degree", 2, "--gamma", "auto", "--coef0", 0.5,
        "--intercept", "--keep", "vote", "--order", "shuffled", "--max-epochs", 7,
        "--drop-after", 3, "--tol", 1e-9, "--max-time", "1m", "--n-jobs", 1, "--seed", 3,
        "--class-weight", "balanced", "--record", "--cv", 0,
    )  # fmt: skip
    assert found["parameters"] == {
        "kernel": "poly",
        "degree": 2,
        "gamma": "auto",
        "coef0": 0.5,
        "fit_intercept": True,
        "keep": "vote",
        "order": "shuffled",
        "max_epochs": 7,
        "drop_after": 3,
        "tol": 1e-9,
        "max_time": 60.0,
        "n_jobs": 1,
        "random_state": 3,
        "class_weight": "balanced",
        "record": True,
    }
    assert found["kernel"]["formula"].endswith(" + 1")
    assert fitted(rings, "--budget", 9, "--max-epochs", 3, "--cv", 0)["support"]["count"] <= 9


def test_every_parameter_has_an_option():
    text = call("fit", "--help", env={"COLUMNS": "200"}).stdout
    odd = {"callback", "warm_start", "progress", "random_state", "fit_intercept"}
    for name in set(rb.KernelPerceptron().get_params()) - odd:
        assert f"--{name.replace('_', '-')}" in text


def test_there_is_no_bias_unless_asked_for(xor):
    assert "fit_intercept" not in fitted(xor, "--kernel", "linear", "--cv", 0)["parameters"]
    circle = fitted(xor, "--kernel", "poly", "--degree", 2, "--raw", "--cv", 0)
    assert circle["stop_reasons"] == ["SEPARATED"]
    found = json.loads(call("fit", xor, "--json", "--intercept", "--cv", 0).stdout)
    usual = {"order": "shuffled", "keep": "auto", "random_state": 0}
    assert found["parameters"] == usual  # the perceptron has one anyway


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["--kernel", "linear"], "next the linear kernel is the perceptron: --model perceptron"),
        (
            ["--max-epochs", "2"],
            "next try a larger --gamma, --drop-after 10 to leave outliers out or "
            "a larger --max-epochs",
        ),
        (["--kernel", "poly", "--max-epochs", "2"], "next try a larger --degree"),
        (["--kernel", "poly", "--degree", "9", "--max-epochs", "2"], "next try a smaller --degree"),
        (["--kernel", "gaussian", "--max-epochs", "2"], "next try a smaller --sigma, "),
        (["--budget", "5", "--max-epochs", "2"], "a larger --budget or a larger --max-epochs"),
        (["--gamma", "3e5", "--cv", "5"], "next rows it has not seen do worse: a smaller --gamma"),
    ],
)
def test_advice(rings, options, advice):
    assert advice in printed(rings, "--cv", 0, *options)


def test_a_cycle_is_told(xor):
    options = ("--kernel", "linear", "--intercept", "--raw", "--cv", 0, "--order", "cyclic")
    text = printed(xor, *options)
    assert "CYCLE the scores repeat exactly: this run can never end (the scores " in text


def test_an_indefinite_kernel_is_noted_once(rings):
    text = printed(rings, "--kernel", "sigmoid", "--max-epochs", 3)
    assert text.count("is not an inner product") == 1
    assert "--kernel rbf or poly has both" in text


def test_letters_that_a_terminal_does_not_know(rings):
    done = commands.invoke("fit", rings, *KERNEL, "--cv", 0, charset="ascii")
    assert "exp(-0.5*|x - y|^2)" in done.stdout


# ------------------------------------------------------------------------------- model files


def test_saved_models_predict_the_same(rings):
    X, y = noisy()
    call("fit", rings, *KERNEL, "--raw", "--gamma", 2, "--drop-after", 5, "-o", "m.skops", "-q")
    model = rb.KernelPerceptron(gamma=2.0, drop_after=5, order="shuffled", random_state=0)
    model.fit(X, np.where(y > 0, "outer", "inner"))
    done = call("predict", "m.skops", rings, "-o", "a.csv")
    answers = pd.read_csv("a.csv")
    assert answers["prediction"].tolist() == model.predict(X).tolist()
    assert answers["decision"].tolist() == model.decision_function(X).tolist()
    right = 1 - model.n_errors_ / len(y)
    assert f"{100 * right:.1f}% of 120 rows with a known class are right" in done.stderr


def test_show_says_what_a_file_holds(rings):
    fit = call("fit", rings, *KERNEL, "--drop-after", 5, "-o", "m.skops", "--cv", 0).stdout
    shown = call("show", "m.skops", "--top", 8).stdout
    lines, again = fit.splitlines()[1:], shown.splitlines()[1:]
    saved, card = (
        next(k for k, line in enumerate(some) if line.startswith(name))
        for some, name in ((lines, "saved"), (again, "table"))
    )
    assert (again[:card], again[-1]) == (lines[:saved], lines[-1])
    size = size_of(Path("m.skops").stat().st_size)
    model = rb.io.load("m.skops")[-1]
    assert f"file      {size}; it holds {len(model.support_)} support vectors of 2 fe" in shown
    data = json.loads(call("show", "m.skops", "--json").stdout)
    assert data["expansion"]["rows"] == (model.support_ + 1).tolist()
    assert data["expansion"]["coef"] == model.dual_coef_.tolist()


def test_show_of_a_bare_model():
    X, y = rb.datasets.xor()
    rb.io.save(rb.KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, y), "m.skops")
    shown = call("show", "m.skops").stdout
    assert "kernel    (x·y + 1)^2\n" in shown
    assert "support   4 support vectors\n" in shown
    assert "rows 1 (7), 2 (5), 3 (5), 4 (4)\n" in shown
    assert "expansion" in json.loads(call("show", "m.skops", "--json").stdout)


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (12_345_678, "12 MB"),
        (5 * 10**13, "50000 GB"),
    ],
)
def test_sizes(n, text):
    assert size_of(n) == text


# ---------------------------------------------------------------------------------- pictures


def test_pictures(rings):
    call("fit", rings, *KERNEL, "--drop-after", 5, "-q", "-o", "m.skops", "--plot", "fit.png")
    assert Path("fit.png").stat().st_size > 10_000
    for kind, more in (("decision", [rings]), ("epochs", [])):
        assert call("plot", kind, "m.skops", *more).stdout == f"drawn: {kind}.png\n"
    assert (
        "no record: fit with --record" in call("plot", "animate", "m.skops", rings, code=2).stderr
    )
    for kind, more in (("updates", [rings]), ("neuron", [])):
        said = call("plot", kind, "m.skops", *more, code=2).stderr
        assert f"plot {kind} draws weights of features, which m.skops" in said
        assert "plot decision draws what it decides" in said
    assert "fit --model max-margin" in call("plot", "margin", "m.skops", rings, code=2).stderr


# ----------------------------------------------------------------------------- wrong uses


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--gamma", "abc"],
            "--gamma 'abc' is not a number: give scale, auto or a positive number",
        ),
        (["--gamma", "0"], "gamma=0.0 is not allowed: give a positive number"),
        (["--gamma", "nan"], "--gamma nan is not finite: give scale, auto or a positive number"),
        (["--kernel", "poly", "--degree", "0"], "--degree 0 is not possible: give a whole number"),
        (["--kernel", "poly", "--degree", "2.5"], "--degree 2.5 is not possible: give a whole nu"),
        (
            ["--budget", "0"],
            "--budget 0 is not possible: give a whole number from 1\n",
        ),
        (["--budget", "-3"], "--budget -3 is not possible"),
        (["--budget", "9" * 20], "is not possible: give a whole number from 1 to 1000000000\n"),
        (
            ["--drop-after", "1"],
            "--drop-after 1 is not possible: give a whole number from 2 (1 wou",
        ),
        (["--drop-after", "two"], "--drop-after two is not possible: give a whole number from 2"),
        (["--sigma", "2"], "--sigma is not for --kernel rbf: it takes --gamma\n"),
        (["--degree", "2"], "--degree is not for --kernel rbf: it takes --gamma\n"),
        (["--kernel", "gaussian", "--sigma", "-1"], "sigma=-1.0 is not allowed"),
        (["--kernel", "gaussian", "--sigma", "1", "--gamma", "1"], "two names for one width"),
        (["--kernel", "linear", "--gamma", "1"], "--kernel linear: it takes no numbers\n"),
        (["--kernel", "poly", "--sigma", "1"], "it takes --degree, --gamma, --coef0\n"),
        (["--kernel", "nonsense"], "'nonsense' is not one of 'rbf', 'gaussian', 'poly'"),
        (["--kernel", "precomputed"], "'precomputed' is not one of"),
        (["--budget", "5", "--keep", "vote"], "--budget forgets vectors that --keep vote needs"),
        (
            ["--budget", "5", "--order", "worst-mistake"],
            "give --order cyclic, shuffled, sampled or",
        ),
        (["--C", "1"], "--C is not for --model kernel: it takes --order, --keep, --intercept"),
        (["--update", "batch"], "--update is not for --model kernel"),
        (["--eta0", "1"], "--eta0 is not for --model kernel"),
        (["--max-epochs", "0"], "max_epochs=0 is not allowed"),
        (["--model", "perceptron", "--kernel", "rbf"], "--kernel is not for --model perceptron"),
        (
            ["--model", "perceptron", "--keep", "vote"],
            "--keep vote is for --model kernel, not perc",
        ),
        (["--model", "adaline", "--budget", "3"], "--budget is not for --model adaline"),
    ],
)
def test_wrong_uses_are_answered_in_one_line(rings, arguments, message):
    assert message in call("fit", rings, *KERNEL, *arguments, code=2).stderr


def test_one_class_is_refused():
    name = table("t.csv", {"x": [1, 2], "y": ["a", "a"]})
    assert "holds only one class, 'a'" in call("fit", name, *KERNEL, code=2).stderr


def test_missing_numbers_are_filled_and_infinite_ones_refused():
    name = table("t.csv", {"x": [1, "", 2, 5, 6], "y": list("aabbb")})
    assert "missing cells, taken as the mean: x (1)" in printed(name)
    name = table("t.csv", {"x": [1, "inf", 2, 5, 6], "y": list("aabbb")})
    assert "inf" in call("fit", name, *KERNEL, code=2).stderr


# ------------------------------------------------------------------- stopped before the end


def test_ctrl_c_keeps_the_model_so_far(rings, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "after_epoch", stop)
    found = fitted(rings, "-o", "m.skops", code=130)
    assert found["stop_reasons"] == ["INTERRUPTED"]
    assert found["epochs"] == 1
    assert found["cross_validation"] == []
    model = rb.io.load("m.skops")[-1]
    assert model.stop_reason_ is rb.StopReason.INTERRUPTED
    assert len(model.support_) == found["support"]["count"] > 0
    assert "this is the model so far; run it again" in " ".join(
        call("show", "m.skops").stdout.split()
    )

"""``--model max-margin`` and ``soft-margin``: what is printed, kept and drawn, how it ends."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score

import rosenblatt as rb
from commands import (
    NOTES,
    PENGUINS,
    call,
    fitted,
    one_line,
    table,
)
from rosenblatt.report import judging, margin_report
from rosenblatt.report.facts import FitFacts, OptimumFacts, ProofFacts, TableFacts
from rosenblatt.results import Undecided

pytestmark = pytest.mark.usefixtures("plain_terminal")
SOFT, HARD = ("--model", "soft-margin"), ("--model", "max-margin")


def notes():
    """The banknotes as the command sees them."""
    frame = pd.read_csv(NOTES)
    y = frame.pop("note").to_numpy()
    return ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy(), y


# ---------------------------------------------------------------------------- what it finds


def test_max_margin_is_that_of_python(dunkers):
    X, y = rb.datasets.dunkers(random_state=0)
    model = rb.MaxMarginClassifier().fit(X, y)
    found = fitted(dunkers, *HARD, "--raw")
    (optimum,) = found["optima"]
    assert found["stop_reasons"] == ["GAP_CLOSED"]
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"] == ["proved by this hyperplane"]
    assert found["training_errors"] == 0
    assert optimum["margin"] == pytest.approx(model.margin_, rel=1e-6)
    assert found["margins"] == [pytest.approx(optimum["margin"], rel=1e-6)]
    assert optimum["support"] == (model.support_ + 1).tolist()
    assert (optimum["C"], optimum["proof"], optimum["positive"]) == (None, None, "1")
    assert 0 <= optimum["gap"] <= 1e-8
    assert optimum["dual"] <= optimum["primal"] == pytest.approx(0.5 / optimum["margin"] ** 2)
    assert max(optimum["conditions"].values()) < 1e-6
    text = one_line(call("fit", dunkers, *HARD, "--raw").stdout)
    for piece in (
        "dunkers.csv → MaxMarginClassifier",
        "GAP_CLOSED the duality gap is within tol",
        f"margin {model.margin_:.4g} (1/‖w‖, the columns' own units): the largest there is",
        f"support rows {', '.join(str(k + 1) for k in model.support_)} ({len(model.support_)} in",
        f"½‖w‖² = {model.optimum_.primal:.4g}, at most a share of",
        "no training errors",
    ):
        assert piece in text


def test_soft_margin_is_that_of_python():
    X, y = notes()
    model = rb.SoftMarginClassifier(C=100).fit(X, y)
    sides = model.sides(X, y)
    found = fitted(NOTES, *SOFT, "--C", 100)
    (optimum,) = found["optima"]
    assert found["parameters"] == {"C": 100.0}
    assert (optimum["C"], optimum["N"]) == (100, len(y))
    assert optimum["slack"] == pytest.approx(sides.slack.sum(), rel=1e-4)
    assert found["training_errors"] == model.n_errors_
    assert found["verdicts"] == ["INSEPARABLE"]
    assert found["margins"] == [None]
    for name in ("outside", "on", "inside", "wrong"):
        assert optimum[name] == pytest.approx(len(getattr(sides, name)), abs=2)
    places = [optimum[name] for name in ("outside", "on", "inside", "wrong")]
    assert sum(places) == len(y)
    w = np.array(list(found["hyperplanes"][0]["weights"].values()))
    objective = w @ w / 2 + optimum["C"] / optimum["N"] * optimum["slack"]
    assert optimum["primal"] == pytest.approx(objective, rel=1e-9)
    assert 1 / np.linalg.norm(w) == pytest.approx(optimum["margin"])
    text = one_line(call("fit", NOTES, *SOFT, "--C", 100).stdout)
    for piece in (
        f"C 100, the price of the mean slack; scikit-learn's C is C/N = {100 / 1372:.4g}",
        f"margin {optimum['margin']:.4g} (1/‖w‖, standardised features): half the width",
        "rows {} outside the margin, {} on its edge, {} inside, {} on the wrong side;".format(
            *places
        ),
        f"total slack {optimum['slack']:.4g}",
        f"support rows {', '.join(map(str, optimum['support'][:10]))}, ... "
        f"({len(optimum['support'])} in all)",
        f"½‖w‖² + C/N Σξ = {optimum['primal']:.4g}, at most a share of",
        f"{model.n_errors_} training errors",
    ):
        assert piece in text


def test_folds_equal_scikit_learns_way():
    frame = pd.read_csv(NOTES)
    y = frame.pop("note").to_numpy()
    found = fitted(NOTES, *SOFT, "--C", 50, "--raw")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = rb.SoftMarginClassifier(C=50)
    assert (
        found["cross_validation"] == cross_val_score(model, frame.to_numpy(), y, cv=folds).tolist()
    )


def test_rows_are_those_of_the_file():
    """Rows without a class are left out, but counted."""
    x = [9, 1, 2, 9, 4, 5, 9]
    name = table("t.csv", {"x": x, "y": ["", "a", "a", "?", "b", "b", ""]})
    found = fitted(name, *HARD, "--raw")
    (optimum,) = found["optima"]
    assert optimum["support"] == [3, 5]
    assert optimum["margin"] == pytest.approx(1.0)
    assert "support   rows 3, 5 (2 in all)\n" in call("fit", name, *HARD).stdout


def test_several_classes():
    done = call("fit", PENGUINS, "-t", "species", *SOFT, "--C", 100)
    found = fitted(PENGUINS, "-t", "species", *SOFT, "--C", 100)
    assert [one["positive"] for one in found["optima"]] == ["Adelie", "Chinstrap", "Gentoo"]
    for one in found["optima"]:
        margin, rows = f"{one['margin']:.4g}", one["support"]
        first = re.escape(", ".join(map(str, rows[:3])))
        line = rf"{one['positive']} +{margin} .* {len(rows)} \({first}, \.\.\.\)\n"
        assert re.search(line, done.stdout)
        counts = " +".join(str(one[name]) for name in ("outside", "on", "inside", "wrong"))
        assert re.search(rf"{one['positive']} +{counts} +{one['slack']:.4g}\n", done.stdout)
        assert one["gap"] <= 1e-6
    hard = call("fit", PENGUINS, "-t", "species", *HARD).stdout
    assert "separable after standardising: proved by this hyperplane, for every class" in hard
    assert "outside" not in hard


def test_narrow_terminals_cut_no_number_off():
    found = fitted(PENGUINS, "-t", "species", *SOFT, "--C", 300, "--cv", 0)
    printed = call(
        "fit", PENGUINS, "-t", "species", *SOFT, "--C", 300, "--cv", 0, env={"COLUMNS": "60"}
    ).stdout
    for one in found["optima"]:
        assert f" {one['margin']:.4g} " in printed
        assert f" {one['primal']:.4g} " in printed
        assert f" {len(one['support'])} (" in printed


def test_very_many_classes_have_a_line_each_only_up_to_a_point(monkeypatch):
    monkeypatch.setattr(margin_report, "MOST_CLASSES", 2)
    printed = call("fit", PENGUINS, "-t", "species", *SOFT, "--cv", 0).stdout
    assert printed.count("and 1 more (--json)") == 2


def test_weights_of_classes_count():
    rng = np.random.default_rng(0)
    y = np.repeat(["p", "q"], [30, 90])
    x = rng.normal(np.where(y == "p", 0.0, 1.0))
    name = table("t.csv", {"x": x, "z": rng.standard_normal(120), "y": y})
    found = fitted(name, *SOFT, "--C", 5, "--class-weight", "p=3,q=1", "--raw")
    (optimum,) = found["optima"]
    assert optimum["N"] == 180
    X = pd.read_csv(name)[["x", "z"]].to_numpy()
    weight = np.where(y == "p", 3.0, 1.0)
    model = rb.SoftMarginClassifier(C=5).fit(X, y, sample_weight=weight)
    assert optimum["primal"] == pytest.approx(model.optimum_.primal, rel=2e-6)
    slack = weight @ model.sides(X, y).slack
    assert optimum["slack"] == pytest.approx(slack, rel=1e-4)
    text = one_line(call("fit", name, *SOFT, "--class-weight", "p=3,q=1", "--cv", 0).stdout)
    assert "; total weighted slack " in text
    assert "½‖w‖² + C/N Σ sξ = " in text
    balanced = fitted(name, *SOFT, "--class-weight", "balanced")
    assert balanced["optima"][0]["N"] == pytest.approx(120)
    three = table("three.csv", {"x": range(9), "y": list("aaabbbccc")})
    printed = call("fit", three, *SOFT, "--class-weight", "b=4", "--cv", 0).stdout
    assert "wrong  weighted slack\n" in printed
    found = fitted(three, *SOFT, "--class-weight", "b=4")
    assert [one["N"] for one in found["optima"]] == [9, 18, 9]
    assert (
        "C         1, the price of the mean slack\n"
        in call("fit", three, *SOFT, "--class-weight", "b=4").stdout
    )


def test_options_reach_the_estimator(dunkers):
    found = fitted(dunkers, *HARD, "--tol", 1e-4, "--max-time", "1m30s", "--n-jobs", 1)
    assert found["parameters"] == {"tol": 1e-4, "max_time": 90.0, "n_jobs": 1}
    found = fitted(dunkers, *SOFT, "--C", 2.5, "--class-weight", "balanced")
    assert found["parameters"] == {"C": 2.5, "class_weight": "balanced"}


def test_every_parameter_has_an_option():
    printed = call("fit", "--help", env={"COLUMNS": "200"}).stdout
    names = {*rb.SoftMarginClassifier().get_params(), *rb.MaxMarginClassifier().get_params()}
    for name in names - {"callback", "warm_start", "on_inseparable"}:
        assert f"--{name.replace('_', '-')}" in printed


# ------------------------------------------------------------------ where nothing separates


def test_no_maximum_margin_is_the_answer_no():
    done = call("fit", NOTES, *HARD, "-o", "m.skops", code=1)
    found = fitted(NOTES, *HARD, code=1)
    (optimum,) = found["optima"]
    assert found["stop_reasons"] == ["INSEPARABLE"]
    assert found["verdicts"] == ["INSEPARABLE"]
    assert optimum["C"] == 1372
    proof = optimum["proof"]
    X, y = notes()
    rows, shares = np.array(proof["rows"]) - 1, np.array(proof["shares"])
    assert proof["classes"] == y[rows].tolist()
    means = [shares[y[rows] == name] @ X[rows[y[rows] == name]] for name in ("forged", "genuine")]
    np.testing.assert_allclose(*means, atol=1e-9)
    text = one_line(done.stdout)
    for piece in (
        "INSEPARABLE no hyperplane separates the classes",
        f"proved by {len(rows)} rows whose convex hulls meet",
        "have the same weighted mean, and no hyperplane has one point on both sides:",
        f" {rows[0] + 1} {y[rows[0]]} 0.",
        "there is no maximum margin; this is the soft margin with C = 1372, the number of rows "
        "(scikit-learn's C = 1)",
        "next --model soft-margin --C 1372 asks for this one",
    ):
        assert piece in text
    model = rb.io.load("m.skops")[-1]
    assert model.stop_reason_ is rb.StopReason.INSEPARABLE
    soft = fitted(NOTES, *SOFT, "--C", 1372)["optima"][0]
    assert soft["primal"] == pytest.approx(optimum["primal"], rel=2e-6)


def test_the_same_proof_as_check_prints():
    """Of the same numbers: check does not scale them."""
    fit = call("fit", NOTES, *HARD, "--raw", "--cv", 0, code=1).stdout
    check = call("check", NOTES, code=1).stdout
    shown = [re.findall(r"\d+  \w+ +0\.\d+", text) for text in (fit, check)]
    assert shown[0] == shown[1] != []


def test_identical_rows_are_named():
    name = table("t.csv", {"x": [1, 2, 3, 4, 2, 6], "y": ["a", "a", "a", "b", "b", "b"]})
    done = call("fit", name, *HARD, "--cv", 0, code=1)
    assert "rows 2 and 5 are identical but have different classes" in one_line(done.stdout)
    assert "proof" not in done.stdout


def test_some_classes_that_nothing_separates():
    name = table("t.csv", {"x": [1, 2, 5, 6, 9, 10], "y": list("aabbcc")})
    done = call("fit", name, *HARD, "--cv", 0, code=1)
    found = fitted(name, *HARD, "--cv", 0, code=1)
    assert found["stop_reasons"] == ["GAP_CLOSED", "INSEPARABLE", "GAP_CLOSED"]
    assert [one["proof"] is None for one in found["optima"]] == [True, False, True]
    text = one_line(done.stdout)
    assert "INSEPARABLE no hyperplane separates the classes, for b" in text
    assert "there is no maximum margin for b; this is the soft margin with C = 6" in text
    rows = found["optima"][1]["proof"]["rows"]
    own = [row for row in rows if row in (3, 4)]
    rest = [row for row in rows if row not in own]
    assert len(own) == 1
    assert len(rest) == 2
    line = f"b row {own[0]}; of the rest rows {rest[0]} and {rest[1]}"
    assert f"proof the convex hulls of these rows meet: {line} instead" in text
    assert "next --model soft-margin --C 6 asks for these soft margins, and for one of a, c" in text
    assert re.search(r" a +4 +2 +0 +0 +0\n", done.stdout)  # no slack but rounding


def test_every_class_that_nothing_separates_has_its_proof(monkeypatch):
    name = table("t.csv", {"x": [1, 2, 1, 3, 2, 3], "y": list("aabbcc")})
    printed = call("fit", name, *HARD, "--cv", 0, code=1).stdout
    for one in fitted(name, *HARD, "--cv", 0, code=1)["optima"]:
        proof = one["proof"]
        pairs = zip(proof["rows"], proof["classes"], strict=True)
        own = [row for row, label in pairs if label == one["positive"]]
        assert re.search(rf" {one['positive']}  rows? {own[0]}.*; of the rest row", printed)
    assert "--model soft-margin --C 6 asks for these; a smaller C" in one_line(printed)
    monkeypatch.setattr(margin_report, "MOST_CLASSES", 1)
    printed = call("fit", name, *HARD, "--cv", 0, code=1).stdout
    assert printed.count("of the rest row") == 1
    assert printed.count("and 2 more (--json)") == 3


def test_a_proof_found_when_time_was_up_is_the_answer_no():
    found = fitted(NOTES, *HARD, "--max-time", "0.000001s", "--cv", 0, "-o", "m.skops", code=1)
    (optimum,) = found["optima"]
    assert found["stop_reasons"] == ["TIME_LIMIT"]
    assert found["verdicts"] == ["INSEPARABLE"]
    X, y = notes()
    rows, shares = np.array(optimum["proof"]["rows"]) - 1, np.array(optimum["proof"]["shares"])
    means = [shares[y[rows] == name] @ X[rows[y[rows] == name]] for name in ("forged", "genuine")]
    np.testing.assert_allclose(*means, atol=1e-9)
    text = one_line(call("show", "m.skops").stdout)
    assert f" {rows[0] + 1} {y[rows[0]]} 0." in text
    assert "there is no maximum margin; time was up before a soft margin was found" in text
    assert "next --model soft-margin, for instance with --C 1372: more time finds no" in text
    assert "raise --max-time" not in text
    assert "margin none" not in text
    told = call("plot", "nearest", "m.skops", NOTES, code=2).stderr
    assert "no hyperplane separates these classes, which rosenblatt check proves" in told


def test_a_time_limit_without_a_proof_is_no_answer(dunkers):
    done = call("fit", dunkers, *HARD, "--max-time", "0.000001s", "--cv", 0)
    assert "raise --max-time" in done.stdout
    assert "proof" not in done.stdout


def test_no_warning_reaches_the_reader(xor):
    """Neither from the fit nor from the folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        call("fit", NOTES, *HARD, code=1)
        call("fit", xor, *HARD, "--cv", 0, code=1)


def test_weights_of_zero(xor):
    found = fitted(xor, *SOFT, "--cv", 0)
    assert found["optima"][0]["margin"] is None
    done = call("fit", xor, *SOFT, "--cv", 0, "--plot", "xor.png")
    assert "margin    infinite: the weights are 0, so all rows get the same class\n" in done.stdout
    assert "next      no better than always the same answer: raise --C, for instance to 4\n" in (
        done.stdout
    )


# ---------------------------------------------------------------------- not twice the work


def test_what_the_fit_has_proved_is_not_asked_again(monkeypatch, dunkers):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(judging, "separability", never)
    assert fitted(dunkers, *HARD)["verdicts"] == ["SEPARABLE"]
    assert fitted(NOTES, *HARD, "--cv", 0, code=1)["verdicts"] == ["INSEPARABLE"]
    assert fitted(dunkers, *SOFT, "--C", 1e6)["evidence"] == ["proved by this hyperplane"]


def test_errors_of_a_soft_margin_on_separable_classes_are_called_avoidable():
    """The verdict is then asked for; this hyperplane is no proof."""
    x = [0, 1, 2, 3, 4, 4.2, 10, 11, 12, 13, 14]
    name = table("t.csv", {"x": x, "y": list("aaaaabbbbbb")})
    found = fitted(name, *SOFT, "--C", 2)
    assert found["training_errors"] == 1
    assert found["verdicts"] == ["SEPARABLE"]
    assert "proved by a hyperplane with margin" in found["evidence"][0]
    done = call("fit", name, *SOFT, "--C", 2)
    assert "the classes are separable: --model max-margin, or a larger --C" in done.stdout


# ----------------------------------------------------------------------------- wrong uses


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*SOFT, "--C", "0"], "C=0.0 is not allowed: give a positive number, the price of slack"),
        ([*SOFT, "--C", "-1"], "C=-1.0 is not allowed"),
        ([*SOFT, "--C", "inf"], "--C inf is not finite"),
        ([*SOFT, "--C", "abc"], "--C 'abc' is not a number"),
        ([*SOFT, "--tol", "1"], "--tol 1 is not possible: give a gap below 1, for instance 1e-6"),
        ([*HARD, "--tol", "2.5"], "--tol 2.5 is not possible"),
        ([*SOFT, "--tol", "0"], "tol=0.0 is not allowed: give a positive number, the gap"),
        (
            ["--C", "3"],
            "--C is not for --model perceptron: "
            "it takes --update, --batch-size, --shards, --order, --keep",
        ),
        (
            [*SOFT, "--update", "batch"],
            "--update is not for --model soft-margin: it takes --max-time, --C, --tol, "
            "--class-weight, --n-jobs\n",
        ),
        (
            [*HARD, "--no-intercept"],
            "--no-intercept is not for --model max-margin: it takes --max-time, --tol, --n-jobs\n",
        ),
        ([*HARD, "--C", "3"], "--C is not for --model max-margin"),
        ([*HARD, "--class-weight", "balanced"], "--class-weight is not for --model max-margin"),
        ([*SOFT, "--eta0", "1"], "--eta0 is not for --model soft-margin"),
        ([*SOFT, "--record"], "--record is not for --model soft-margin"),
        ([*SOFT, "--max-epochs", "9"], "--max-epochs is not for --model soft-margin"),
        ([*SOFT, "--class-weight", "x=2"], "the classes are -1, 1"),
        (["--model", "svm"], "'max-margin', 'soft-margin'"),
    ],
)
def test_wrong_uses_are_answered_in_one_line(dunkers, arguments, message):
    assert message in call("fit", dunkers, *arguments, code=2).stderr


# ---------------------------------------------------------------------------------- advice


OPTIMUM = OptimumFacts(
    positive="b", C=2.0, margin=1.0, primal=1.0, dual=0.9, gap=1e-3, scans=3, support=(1, 4),
    conditions={}, proof=None,
)  # fmt: skip
TABLE = TableFacts(
    file="f.csv", has_header=True, names=("x", "y"), trained="", target="y", rows=6,
    rows_without_class=0, columns=1, standardized=False, scores=(),
    majority=0.5,
)  # fmt: skip


def facts(reason="TIME_LIMIT", optimum=OPTIMUM, **changes):
    base = FitFacts(
        version="", model="SoftMarginClassifier", parameters={}, counts={"a": 3, "b": 3},
        features=1, stop_reasons=(rb.StopReason[reason],), training_errors=0, optima=(optimum,),
        table=TABLE,
    )  # fmt: skip
    return replace(base, **changes)


def test_advice_says_what_to_do_about_the_gap():
    advice = margin_report.margin_advice
    assert "raise --max-time, or --tol" in advice(facts())
    rounded = facts("ROUNDING")
    assert "leave out --raw" in advice(rounded)
    assert "--raw" not in advice(replace(rounded, table=replace(TABLE, standardized=True)))
    stand_in = replace(OPTIMUM, proof=ProofFacts((), ()), C=6.0)
    told = advice(facts("INSEPARABLE", stand_in, parameters={"max_time": 1.0}))
    assert told.startswith("--model soft-margin --C 6 with a larger --max-time: the soft margin")
    assert advice(facts("GAP_CLOSED")) == ""


def test_a_margin_that_may_not_be_the_largest_has_a_bound():
    def told(**changes):
        return margin_report._margin(replace(OPTIMUM, **{"C": None} | changes), facts())

    wide = told(dual=0.5 / 1.25**2)
    assert wide.startswith("1 (")
    assert wide.endswith("no row is closer; at most 20% below the largest, 1.25 or less")
    near = told(gap=2e-6, dual=0.5 / 1.000001**2)
    assert near.startswith("1 (")
    assert near.endswith("at most 0.0001% below the largest, 1.000001 or less")
    assert told(dual=0.5 / 4**2).endswith("at most a factor of 4 below the largest, 4 or less")
    assert "was not found yet" in told(dual=0.0)
    closed = told(gap=1e-6)
    assert closed.endswith("the largest there is, no row is closer to the hyperplane")
    none = told(primal=None, margin=None, gap=None)
    assert "no hyperplane of floats that separates" in none


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("1e400", "--C 1e400 is beyond floats, which end at 1.8e308: give a positive number"),
        ("-1e400", "--C -1e400 is beyond floats"),
        ("1e-400", "--C 1e-400 is too close to 0 for floats"),
        ("inf", "--C inf is not finite"),
        ("nan", "--C nan is not finite"),
        ("much", "--C 'much' is not a number"),
    ],
)
def test_numbers_are_told_as_typed(typed, told, dunkers):
    assert told in call("fit", dunkers, *SOFT, "--C", typed, code=2).stderr


@pytest.mark.parametrize(
    ("C", "told"),
    [(1e12, "1e+12"), (2.5e10, "2.5e+10"), (32561, "32561"), (1e6, "1000000"), (0.1, "0.1")],
)
def test_large_prices_are_short(C, told):
    assert margin_report._whole(C) == told


def test_identical_rows_are_told_when_time_runs_out(monkeypatch):
    monkeypatch.setattr(
        judging, "separability", lambda *_, **__: Undecided((-1.0, 1.0), Undecided.TIME)
    )
    table("t.csv", {"a": [0, 1, 1, 3, 4, 5], "b": [2, 2, 2, 1, 0, 4], "y": list("aabbab")})
    printed = " ".join(call("fit", "t.csv", "--cv", 0, "--max-epochs", 5).stdout.split())
    told = "no hyperplane separates all rows, for rows 2 and 3 are identical but have different"
    assert f"undecided after standardising: {told} classes" in printed
    assert "whether one leaves none on a wrong side: time ran out" in printed

"""The verdict on the classes that ``fit`` tells and ``show`` repeats."""

import json

import pytest

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, fitted, one_line, table
from rosenblatt.cli.demo import DEMOS
from rosenblatt.report import judging

pytestmark = pytest.mark.usefixtures("plain_terminal")


# ------------------------------------------------------------------------------ fit and show


def test_fit_says_the_verdict_and_show_repeats_it(apart):
    found = fitted(apart, "-t", "y", "-o", "m.skops", "--cv", 0)
    assert found["stop_reasons"] == ["SEPARATED"]
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"] == ["proved by this hyperplane"]
    printed = call("show", "m.skops").stdout
    assert "verdict   separable after standardising: proved by this hyperplane\n" in printed
    again = json.loads(call("show", "m.skops", "--json").stdout)
    assert again["verdicts"] == found["verdicts"]


def test_fit_on_classes_that_overlap():
    printed = one_line(call("fit", NOTES, "--cv", 0, "--max-epochs", 20).stdout)
    assert "verdict inseparable after standardising: the classes overlap" in printed
    assert "rows whose convex hulls meet kept" in printed
    assert "--keep pocket keeps the best" in printed
    assert "raise --max-epochs" not in printed


def test_fit_names_identical_rows(twins):
    (why,) = fitted(twins, "--cv", 0)["evidence"]
    assert "rows 2 and 4 are identical but have different classes" in why


def test_rows_that_only_rounding_made_the_same():
    """Beside 1e20 the other numbers have one and the same deviation from the mean."""
    name = table("t.csv", {"a": [1, 2, 3, 4, 10**20], "y": list("ppqqq")})
    call("check", name)
    printed = one_line(call("fit", name, "--cv", 0).stdout)
    assert "verdict quasi-separable after standardising: " in printed
    assert "rows 2 and 3 have different classes, and rounding made them the same" in printed
    assert "identical" not in printed
    printed = one_line(call("bound", name, code=1).stdout)
    assert "no: no hyperplane separates the classes after standardising, and" in printed
    assert "rosenblatt check t.csv answers this for the numbers as they are" in printed
    assert "standardis" not in call("fit", name, "--raw", "--cv", 0).stdout
    texts = table("u.csv", {"a": list("vvwww"), "y": list("ppqqq")})
    assert "verdict   separable: proved" in call("fit", texts, "--cv", 0).stdout


def test_a_cut_off_run_on_separable_data_gets_advice():
    found = one_line(call("fit", PENGUINS, "-t", "species", "--cv", 0, "--max-epochs", 3).stdout)
    assert "the classes are separable, so the mistakes come to an end: raise --max-epochs" in found


def test_why_a_run_goes_in_circles():
    printed = one_line(call("demo", "xor").stdout)
    assert "proved by 4 rows whose convex hulls meet; so no run can end" in printed
    # Beside a bias of 1e20 its updates are lost, and those of the weight cancel.
    name = table("t.csv", {"x": [-1, 1, 3, 4], "y": [0, 0, 1, 1]})
    found = fitted(name, "--raw", "--cv", 0, "--init", "0,1e20", "--order", "cyclic")
    assert found["stop_reasons"] == ["CYCLE"]
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"][0].endswith("; only rounding makes this run repeat")


def test_the_kept_vector_is_not_called_the_proof():
    found = fitted(PENGUINS, "-t", "sex", "--cv", 0, "--max-epochs", 5)
    assert set(found["verdicts"]) <= {"SEPARABLE", "INSEPARABLE", "QUASI_SEPARABLE"}
    found = fitted(PENGUINS, "-t", "species", "--keep", "average", "--cv", 0)
    assert set(found["evidence"]) == {"proved by the last one of the run"}


def test_without_a_bias_the_verdict_says_so():
    name = table("t.csv", {"x": [1, 2, 3, 4], "y": [0, 0, 1, 1]})
    found = fitted(name, "--raw", "--no-intercept", "--cv", 0, "--max-epochs", 50)
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"][0].endswith(", with a bias")


def test_a_question_that_takes_too_long(monkeypatch, twins):
    monkeypatch.setattr(judging, "separability", lambda *_, **__: rb.Undecided((-1.0, 1.0)))
    found = fitted(twins, "--cv", 0)
    assert found["verdicts"] == ["UNDECIDED"]
    why = (
        "no hyperplane separates all rows, for rows 2 and 4 are identical but have different "
        "classes; whether one leaves none on a wrong side: "
        "time ran out, not settled in 10 seconds; rosenblatt check takes longer"
    )
    assert found["evidence"] == [why]


def test_a_verdict_takes_no_longer_than_training_may_or_a_second(monkeypatch, twins):
    asked = []

    def undecided(X, y, *, max_time):
        asked.append(max_time)
        return rb.Undecided((-1.0, 1.0))

    monkeypatch.setattr(judging, "separability", undecided)
    for limit, seconds in (("2.5s", "2.5 seconds;"), ("1ms", "1 second;"), ("1m", "10 seconds;")):
        found = fitted(twins, "--cv", 0, "--max-time", limit)
        assert f"not settled in {seconds}" in found["evidence"][0]
    assert 1 < asked[0] <= 2.5
    assert asked[1] <= 1
    assert 2.5 < asked[2] <= 10


def test_ctrl_c_at_the_verdict_keeps_the_model(monkeypatch, twins):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "separability", interrupted)
    done = call("fit", twins, "-o", "m.skops", "--json", code=130)
    found = json.loads(done.stdout)
    assert found["verdicts"] == ["UNDECIDED"]
    assert found["evidence"] == ["stopped with Ctrl-C before the question was settled"]
    assert found["cross_validation"] == []
    assert rb.io.load("m.skops")[-1].n_iter_ == found["epochs"]


def test_a_run_that_only_seems_to_separate_is_judged_anew(monkeypatch, apart):
    monkeypatch.setattr(judging, "check", lambda *_: rb.certify.check(None, [[0.0], [1.0]], [0, 1]))
    (why,) = fitted(apart, "--cv", 0)["evidence"]
    assert why.startswith("a hyperplane has every row strictly on its right side; proved by a")


@pytest.mark.parametrize("name", sorted(set(DEMOS) - {"rings"}))  # those of hyperplanes
def test_demos_explain_the_verdict(name):
    printed = call("demo", name).stdout
    _, _, after = printed.partition("verdict   ")
    assert "Whether any hyperplane at all can separate the classes." in one_line(after)

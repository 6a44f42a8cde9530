"""``rosenblatt compare`` and ``fit --tune``: what they say, and that it can be had again."""

import json
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import call, fitted, invoke, one_line, table
from rosenblatt.validation import comparing, kinds, tuning

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def rings():
    """Two rings around each other, which no line separates."""
    X, y = rb.datasets.circles(48, random_state=0)
    who = np.where(y > 0, "in", "out")
    return table("rings.csv", {"a": X[:, 0], "b": X[:, 1], "who": who, "day": np.arange(48) % 8})


@pytest.fixture
def noise():
    """Classes that have nothing to do with the columns."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 2)), rng.permutation(np.arange(40) % 2)
    return table("noise.csv", {"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "p", "q")})


@pytest.fixture
def few(monkeypatch):
    """Fewer values and epochs, so that tests are quick."""
    monkeypatch.setattr(tuning, "DECADES", 2)
    monkeypatch.setattr(kinds, "MOST_EPOCHS", 20)


@pytest.fixture
def two_kinds(monkeypatch):
    """The two simplest kinds only."""
    every = kinds.usual_kinds
    monkeypatch.setattr(kinds, "usual_kinds", lambda *given: every(*given)[:2])


def compared(*arguments, code=0):
    return json.loads(call("compare", *arguments, "--json", code=code).stdout)


@pytest.mark.usefixtures("few")
def test_every_kind_can_be_had_again_to_the_bit(rings):
    how = ["-t", "who", "--groups", "day", "--cv", "2x2", "--seed", 3]
    found = compared(rings, *how)
    assert {kind["name"] for kind in found["kinds"][:2]} == {"poly kernel", "rbf kernel"}
    for kind in found["kinds"]:
        if kind["name"] != "majority":
            again = fitted(rings, *how, *kind["options"])
            assert again["cross_validation"] == kind["cross_validation"], kind["name"]
            chosen = kind["choice"] and kind["choice"]["chosen"]
            assert again.get("choice", {"chosen": None})["chosen"] == chosen


@pytest.mark.usefixtures("few")
def test_report_and_its_command(rings):
    asked = [rings, "-t", "who", "--ignore", "day", "--cv", "3x3", "--plot", "k.png"]
    printed = one_line(call("compare", *asked).stdout)
    assert "folds 3, 3 times, the same for every kind (--seed 0); what is chosen is" in printed
    assert "max margin: the rows are not separable, so there is none" in printed
    assert "best poly kernel, 98.6% right alike rbf kernel" in printed
    assert "take poly kernel: it is also the simplest of these" in printed
    assert Path("k.png").stat().st_size > 5000
    command = printed.partition(" again ")[2].partition(" saved ")[0].replace("\\ ", "").split()
    assert command[:2] == ["rosenblatt", "fit"]
    assert np.mean(fitted(*command[2:])["cross_validation"]) == pytest.approx(71 / 72)


@pytest.mark.usefixtures("two_kinds")
def test_noise_is_not_crowed_over(noise):
    found = compared(noise, "--cv", "3")
    assert not found["useful"]
    assert found["preferred"] == "perceptron"
    assert "none has shown to be of use" in one_line(call("compare", noise, "--cv", 3).stdout)


@pytest.mark.usefixtures("few")
def test_time_is_kept(rings):
    """What was not done is named, and asked for by a larger time."""
    asked = [rings, "-t", "who", "--ignore", "day", "--cv", 2, "--max-time", "1ms"]
    found = compared(*asked)
    assert set(found["unfinished"].values()) == {comparing.TIME}
    assert {kind["name"] for kind in found["kinds"]} <= {"majority", "perceptron"}
    assert len(found["kinds"]) + len(found["unfinished"]) == 8
    assert "next a larger --max-time does" in one_line(call("compare", *asked).stdout)


@pytest.mark.usefixtures("few")
def test_ctrl_c_tells_what_is_done(rings, monkeypatch):
    judged = comparing._judged

    def pressed(folded, kind, *rest):
        if kind.name == "soft margin":
            raise KeyboardInterrupt
        return judged(folded, kind, *rest)

    monkeypatch.setattr(comparing, "_judged", pressed)
    done = call("compare", rings, "-t", "who", "--cv", 2, "--plot", "k.png", code=130)
    printed = one_line(done.stdout)
    assert "soft margin: stopped with Ctrl-C" in printed
    assert "next this is what was done so far" in printed
    assert Path("k.png").exists()
    found = compared(rings, "-t", "who", "--cv", 2, code=130)
    assert {kind["name"] for kind in found["kinds"]} == {"majority", "perceptron", "average"}
    assert found["interrupted"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--cv", 0], "kinds are compared by folds"),
        (["--cv", 1], "--cv 1 is not possible"),
        (["--max-time", "0s"], "leaves no time at all"),
        (["--seed", -1], "--seed -1 is not possible"),
        (["--plot", "k.docx"], "k.docx is no name for a picture"),
        (["--groups", "nowhere"], "has no column 'nowhere'"),
        (["-t", "a"], "looks continuous"),
    ],
)
def test_what_cannot_be_compared(rings, arguments, why):
    assert why in call("compare", rings, *arguments, code=2).stderr


def test_too_few_rows():
    table("few.csv", {"a": [1, 2, 3, 4], "y": ["p", "p", "p", "z"]})
    assert "class z has only one row" in call("compare", "few.csv", code=2).stderr


@pytest.mark.usefixtures("two_kinds")
def test_options_about_the_table_are_in_the_command(rings):
    Path("other.csv").write_text(Path(rings).read_text().replace(",", ";"))
    more = ["--delimiter", ";", "--header", "--raw", "--category", "day"]
    command = compared("other.csv", "-t", "who", *more, "--cv", 2)["command"]
    about = ["--target", "who", "--raw", "--category", "day", "--header", "--delimiter", ";"]
    assert command[2:11] == ["other.csv", *about]
    assert fitted(*command[2:])["target"] == "who"


# fit --tune -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few")
def test_tune_says_what_it_tried_and_chose(rings):
    found = fitted(rings, "-t", "who", "--kernel", "rbf", "--tune", "--cv", 3, "-o", "m.skops")
    choice = found["choice"]
    assert choice["value"] == found["parameters"]["gamma"]
    assert choice["value"] == choice["tried"][int(np.argmax(choice["shares"]))]
    assert len(choice["chosen"]) == found["validation"]["folds"] == 3
    same = fitted(rings, "-t", "who", "--kernel", "rbf", "--gamma", choice["value"], "--cv", 0)
    assert same["mistakes"] == found["mistakes"]
    shown = one_line(call("show", "m.skops").stdout)
    assert f"chosen gamma {choice['value']:g} of" in shown


def test_tune_within_time(rings, monkeypatch):
    """What there is no time for is told: values to try, and folds."""
    cancel = tuning.Cancel

    class Late(cancel):
        def __init__(self, seconds=None):
            super().__init__(None if seconds is None else 0.0)

    monkeypatch.setattr("rosenblatt.cli.tuning.Cancel", Late)
    monkeypatch.setattr("rosenblatt.cli.fitting.Cancel", Late)
    more = ["--ignore", "day", "--tune", "--max-time", "20s"]
    found = fitted(rings, "-t", "who", "--model", "soft-margin", *more)
    assert found["choice"]["value"] == 1.0
    assert len(found["choice"]["untried"]) == 7
    assert any("0 of 5 folds: no time was left" in note for note in found["notes"])
    printed = one_line(call("fit", rings, "-t", "who", "--model", "soft-margin", *more).stdout)
    assert "C 1, the usual one, for there was no time to try others" in printed


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "nothing to choose for --model perceptron"),
        (["--model", "max-margin"], "nothing to choose for --model max-margin"),
        (["--kernel", "linear"], "nothing to choose for --kernel linear"),
        (["--kernel", "gaussian", "--sigma", 2], "nothing to choose for --kernel gaussian with"),
        (["--kernel", "rbf", "--gamma", 2], "--tune chooses --gamma, which was given"),
        (["--model", "soft-margin", "--C", 2], "--tune chooses --C, which was given"),
    ],
)
def test_what_cannot_be_tuned(rings, arguments, why):
    assert why in call("fit", rings, "-t", "who", "--tune", *arguments, code=2).stderr


def test_ctrl_c_while_choosing(rings, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_right", pressed)
    done = invoke("fit", rings, "-t", "who", "--model", "soft-margin", "--tune", "-o", "m.skops")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "rosenblatt: stopped with Ctrl-C before any C was tried\n"
    assert not Path("m.skops").exists()

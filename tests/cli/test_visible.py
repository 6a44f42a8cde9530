"""Names that would act on a terminal, or hide: shown, never obeyed."""

import json
import os
import subprocess

import pytest

import rosenblatt as rb
from commands import COMMAND, call, table
from rosenblatt.visible import json_text, visible

pytestmark = pytest.mark.usefixtures("plain_terminal")

ODD = "a\x1b[31mb\r\nc\x00\x9b2J\u202ed\u200b[red]e[/red]\u2028"
SHOWN = r"a\x1b[31mb\r\nc\x00\x9b2J\u202ed\u200b[red]e[/red]\u2028"


def is_harmless(text):
    return all(c.isprintable() for c in text.replace("\n", ""))


def test_what_cannot_be_seen_is_spelled_out():
    assert visible(ODD) == SHOWN
    assert visible("\udcff\U000e0001") == r"\udcff\U000e0001"
    assert visible("a\nb\tc", keep="\n") == "a\nb\\tc"


@pytest.mark.parametrize(
    "text", ["Größe (cm)", "日本語", "\u0646\u0645\u06cc\u200c", "👩\u200d🔬", "a\u00a0b"]
)
def test_letters_of_every_script_stay(text):
    assert visible(text) == text


def test_json_is_valid_whatever_it_holds():
    odd = {ODD: [ODD, "\udcff\U000e0001\x7f"], "x": [float("nan"), float("-inf"), 1.5, None]}
    text = json_text(odd)
    assert is_harmless(text)
    text.encode()
    back = json.loads(text, parse_constant=pytest.fail)
    assert back == {ODD: odd[ODD], "x": [None, None, 1.5, None]}


@pytest.fixture
def odd_table():
    n, odd = 12, ODD.replace("\r\n", "").replace("\0", "").strip()
    columns = {
        f"x {odd}": [k if k < 6 else k + 3 for k in range(n)],
        f"colour {odd}": [f"red {odd}" if k % 3 else "blue" for k in range(n)],
        f"y {odd}": [f"yes {odd}" if k < 6 else "no" for k in range(n)],
    }
    return table("t \x1b[31m\u202e.csv", columns)


@pytest.mark.parametrize(
    "options",
    [
        ["fit"],
        ["fit", "--model", "max-margin"],
        ["fit", "--kernel", "rbf"],
        ["check"],
        ["bound"],
    ],
    ids=" ".join,
)
def test_reports_show_what_names_hold(options, odd_table):
    command, *more = options
    done = call(command, odd_table, *more)
    assert is_harmless(done.stdout)
    assert r"\x1b[31m" in done.stdout
    assert "[red]e[/red]" in "".join(done.stdout.split())
    facts = call(command, odd_table, *more, "--json").stdout
    assert is_harmless(facts)
    json.loads(facts, parse_constant=pytest.fail)


def test_saved_and_drawn(odd_table):
    call("fit", odd_table, "-o", "m.skops", "--plot", "p.png", "-q")
    assert is_harmless(call("show", "m.skops").stdout)
    assert is_harmless(call("plot", "decision", "m.skops", odd_table, "-o", "\x1b.png").stdout)
    call("predict", "m.skops", odd_table, "-o", "p.csv")
    with rb.io.read_table("p.csv") as predicted:  # data, as they are
        assert {cell[:8] for cell in predicted["prediction"]} == {"no", "yes a\x1b[3"}


@pytest.mark.parametrize(
    "arguments", [["fit", f"no {ODD}"], ["show", "no \x1b[2J.skops"], ["--\x1b[2J"]], ids=repr
)
def test_errors_show_what_names_hold(arguments):
    done = call(*arguments, code=2)
    assert is_harmless(done.stderr)
    assert r"\x1b" in done.stderr


def test_predictions_are_shown_on_a_terminal_and_left_alone_in_a_pipe(tmp_path):
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron().fit(X, [f"{label}\x1b[31m" for label in y])
    rb.io.save(model, "m.skops")
    table("t.csv", {"a": X[:, 0], "b": X[:, 1]})
    ours, theirs = os.openpty()
    subprocess.run([*COMMAND, "predict", "m.skops", "t.csv", "-q"], stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    assert b"\x1b[31m" not in shown
    assert rb"\x1b[31m" in shown
    assert "\x1b[31m" in call("predict", "m.skops", "t.csv", "-q").stdout

"""``rosenblatt check``, as a user types it, and the verdict in ``rosenblatt fit``."""

import gzip
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_svmlight_file

import rosenblatt as rb
from commands import COMMANDS, NOTES, PENGUINS, call, invoke, one_line, table
from rosenblatt.report import checks
from rosenblatt.report.sentences import these_rows

pytestmark = pytest.mark.usefixtures("plain_terminal")
DATA = os.environ.get("ROSENBLATT_DATA")
real = pytest.mark.skipif(DATA is None, reason="ROSENBLATT_DATA names no folder of real data")


# ------------------------------------------------------------------------------------ verdicts


def test_separable(apart):
    printed = one_line(call("check", apart, "-t", "y").stdout)
    assert "apart.csv: can a hyperplane separate high from low?" in printed
    assert "verdict separable: a hyperplane has every row strictly on its right side" in printed
    assert "x alone separates: low below 2.5, high above" in printed
    assert "a logistic regression has none: every coefficient may run to infinity" in printed
    document = json.loads(call("check", apart, "-t", "y", "--json").stdout)
    (problem,) = document["problems"]
    plane = rb.Hyperplane([float(w) for w in problem["w"]], float(problem["b"]))
    X, y = np.array([[1, 5], [2, 1], [3, 1], [4, 5.0]]), np.array([1, 1, -1, -1])
    assert plane.margin(X, y) > 0
    assert float(problem["margin"]) == pytest.approx(plane.margin(X, y), rel=1e-12)
    nearest = plane.support_vectors(X, y)[0] + 1
    assert f"{nearest} ({'low' if nearest <= 2 else 'high'})" in printed


def test_quasi_separable(quasi):
    printed = one_line(call("check", quasi, "--target", "who", code=1).stdout)
    assert "quasi-separable: a hyperplane has no row on its wrong side, but none has all" in printed
    assert "rows 3, 4, 5, 6, 8 and 10 are on this hyperplane and on every other such" in printed
    assert "3 rows strictly on their side" in printed
    assert "marital=Widowed: only poor (2 rows)" in printed
    assert "gain: above 0 only rich (1 row)" in printed
    assert "rows 8 and 10 are" in printed  # the same, whichever rows prove that they touch
    assert "no finite one for 2 coefficients: marital=Widowed -inf, gain +inf" in printed
    assert "(text values against marital=Married); the others are finite" in printed
    assert "1 row without a class left out" in printed


def test_inseparable():
    name = table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["-", "+", "+", "-"]})
    printed = call("check", name, code=1).stdout
    assert "inseparable: the classes overlap, no hyperplane has them on its two sides" in printed
    for row, label, a, b in ((1, "-", 0, 0), (2, "+", 0, 1), (3, "+", 1, 0), (4, "-", 1, 1)):
        assert f" {row} {label} 1/2 {a} {b} " in one_line(printed)
    assert "point      a 0.5, b 0.5\n" in printed
    assert "a logistic regression has finite ones" in printed


def test_identical_rows_get_a_sentence_of_their_own(twins):
    printed = one_line(call("check", twins, code=1).stdout)
    assert "rows 2 and 4 are identical but have different classes, n and p" in printed
    assert "point" not in printed.split()


def test_identical_rows_are_named_whichever_rows_prove_it():
    x = [0, 1, 2, 3, 4, 5, 1, 3, 3]
    name = table("t.csv", {"x": x, "y": list("nnpnppppp")})
    printed = one_line(call("check", name, code=1).stdout)
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    assert problem["identical_rows"] == [[2, 7], [4, 8]]
    assert "rows 2 and 7 are the same but for their classes, so are 4 and 8; 5 rows in all" in (
        printed
    )


def test_rows_are_counted_as_in_the_file():
    """Those without a class are passed over, but counted."""
    columns = {"a": [9, 1, 8, 5, 2, 5], "b": [0, 0, 0, 1, 1, 1], "y": ["", "n", "", "n", "p", "p"]}
    document = json.loads(call("check", table("t.csv", columns), "--json", code=1).stdout)
    assert document["rows_left_out"] == [1, 3]
    (problem,) = document["problems"]
    assert problem["support"] == [1, 3]
    assert problem["support_rows"] == [4, 6]
    assert "counted from 0" in document["numbering"]
    assert "counted from 1" in document["numbering"]


def test_undecided_is_said_with_advice(monkeypatch, apart):

    shares = []

    def slow(X, y, *, max_time, checkpoint):
        shares.append(max_time)
        return rb.Undecided((-0.25, 0.5))

    monkeypatch.setattr(checks, "separability", slow)
    printed = one_line(call("check", apart, "--max-time", "1m30s", code=1).stdout)
    assert "undecided: time ran out before the question was settled" in printed
    assert "the largest margin is between -0.25 and 0.5 (0 or less: none separates)" in printed
    assert "next give it more time with --max-time" in printed
    assert 80 < shares[0] <= 90
    monkeypatch.setattr(checks, "separability", lambda *_, **__: rb.Undecided((-np.inf, np.inf)))
    assert "nothing is known yet about the largest margin" in call("check", apart, code=1).stdout


def test_numbers_are_not_scaled_so_nothing_is_rounded():
    """Standardised, 0.1 + 0.2 and 0.3 would be the same number."""
    x = [repr(0.1 + 0.2), "0.3", "1e17", "-1e17"]
    name = table("t.csv", {"x": x, "y": ["up", "down", "up", "down"]})
    printed = one_line(call("check", name).stdout)
    assert "x alone separates: down below 0.3, up above" in printed


def test_whole_numbers_that_floats_cannot_hold():
    big = [2**53 + 1, 2**53, 2**53 + 3, 2**53 - 2]
    name = table("t.csv", {"a": big, "b": [1, 1, 2, 2], "y": list("pqpq")})
    printed = one_line(call("check", name, code=1).stdout)
    assert "rows 1 and 2 are identical" in printed
    assert "beyond 2^53, where floats cannot hold every whole number: a; each number" in printed
    name = table("t.csv", {"a": [2**53 - 1, 1, 2, 3], "b": [1, 1, 2, 2], "y": list("pqpq")})
    assert "2^53" not in invoke("check", name).stdout


@pytest.mark.parametrize("columns", [{"a": [5, 5], "b": [5, 5]}, {"a": ["u", "u"], "b": ["", ""]}])
def test_columns_that_never_vary(columns):
    name = table("t.csv", columns | {"y": ["p", "q"]})
    printed = one_line(call("check", name, "-o", "c.json", code=1).stdout)
    assert "rows 1 and 2 are identical but have different classes, p and q" in printed
    assert call("check", "--verify", "c.json", name).stdout.startswith("valid: ")
    rest = {"a": ["u", "u", "u"], "b": ["v", "w", "x"], "y": ["p", "q", "q"]}
    assert "no column is left" in call("check", table("t.csv", rest), code=2).stderr


def test_a_coefficient_that_may_settle():
    """Its estimate is -ln(2)/3 as that of a goes to -inf, but no weak hyperplane says so."""
    name = table("t.csv", {"a": [0, 0, 1, 1], "b": [0, 0, 2, -1], "y": list("pqpp")})
    printed = one_line(call("check", name, code=1).stdout)
    assert (
        "a logistic regression for q has no finite one for 1 coefficient: a -inf; b may run to "
        "infinity, either way, or settle; the others are finite" in printed
    )
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    assert problem["no_finite_estimate"] == {"a": "-inf"}
    assert problem["perhaps_no_finite_estimate"] == ["b"]


def test_no_sign_is_forced():
    name = table(
        "t.csv", {"a": [0, 0, 1, -1], "b": [0, 0, 2, 2], "c": [0, 0, 1, 1], "y": list("pqpq")}
    )
    printed = one_line(call("check", name, code=1).stdout)
    assert "for q has no finite one for 1 coefficient: a -inf; b may run to infinity, either" in (
        printed
    )
    assert "; the others are finite; c left out as sums of others" in printed


def test_chance_is_no_more_than_a_bound():
    """Five points on a line, each twice: 10 of 2^10 labelings."""
    x = np.repeat(np.arange(5), 2)
    columns = {"a": x, "b": 2 * x, "c": -x, "y": list("ppppqqqqqq")}
    (problem,) = json.loads(call("check", table("t.csv", columns), "--json").stdout)["problems"]
    assert problem["chance_of_random_labels"] == 10 / 2**10
    printed = one_line(call("check", "t.csv").stdout)
    assert "with 10 rows (5 different) and 3 features random labels would be" in printed
    assert "with probability at most 0.009766" in printed
    free = table(
        "t.csv", {"a": [0, 1, 0, 0], "b": [0, 0, 1, 0], "c": [0, 0, 0, 1], "y": list("ppqq")}
    )
    assert "with 4 rows and 3 features any labels would be separable" in one_line(
        call("check", free).stdout
    )
    flat = table(
        "t.csv", {"a": [0, 1, 2, 3], "b": [0, 2, 4, 6], "c": [1, 1, 1, 4], "y": list("ppqq")}
    )
    assert "any labels" not in call("check", flat).stdout


@pytest.mark.parametrize("command", ["check", "fit", "bound"])
def test_a_target_that_was_named_may_have_few_rows_a_class(command):
    name = table("t.csv", {"a": [1, 2, 3, 4], "y": list("pqrr")})
    call(command, name, "-t", "y", code=command != "fit")
    assert "3 different values in 4 rows. Choose a column" in call(command, name, code=2).stderr
    name = table("t.csv", {"a": [1, 2, 3, 4], "y": list("pqrs")})
    done = call(command, name, "-t", "y", code=2)
    assert "4 different values in 4 rows. Choose another column" in done.stderr


@pytest.mark.parametrize("command", ["check", "fit", "bound"])
def test_json_is_printed_also_quietly(command, apart):
    printed = call(command, apart, "-q", "--json").stdout
    assert json.loads(printed)["file"] == "apart.csv"
    assert call(command, apart, "-q").stdout == ""


def test_huge_numbers_without_warnings(recwarn):
    columns = {"a": [1e300, -1e300, 3, 4, 1e300], "b": [1, 2, 1e300, 5, 0], "y": list("pqpqp")}
    name = table("t.csv", columns)
    call("check", name)
    call("fit", name, "--raw", "--cv", 0, "--max-epochs", 5)
    assert not recwarn.list


def test_both_classes_are_listed():
    """One class alone would fill the list."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    name = table("t.csv", {f"x{j}": X[:, j] for j in range(12)} | {"y": rng.integers(0, 2, 200)})
    lines = [line.split() for line in call("check", name, "--top", 4, code=1).stdout.splitlines()]
    (head,) = (k for k, line in enumerate(lines) if line[:2] == ["row", "class"])
    shown = [line[1] for line in lines[head + 1 : head + 5]]
    assert shown == ["0", "0", "1", "1"]


def test_many_rows_prove_it_and_few_are_listed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    name = table("t.csv", {f"x{j}": X[:, j] for j in range(12)} | {"y": rng.integers(0, 2, 200)})
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    size = len(problem["support"])
    assert size > 8
    printed = one_line(call("check", name, "--top", 5, code=1).stdout)
    assert f"and {size - 5} more (--top)" in printed
    assert "and 7 more" in printed
    largest = max(range(size), key=lambda k: float(problem["weights"][k]))
    assert f" {problem['support_rows'][largest]} " in printed.partition("row class share")[2]


def test_rows_in_words():
    assert these_rows([3]) == "row 3"
    assert these_rows([3, 7]) == "rows 3 and 7"
    assert these_rows([3, 4, 5, 6, 7], 3) == "rows 3, 4, 5 and 2 more"


# ------------------------------------------------------------------------------ several classes


@pytest.fixture
def iris():
    data = load_iris()
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    return table("iris.csv", columns | {"species": data.target_names[data.target]})


def verdicts(*arguments, code):
    document = json.loads(call("check", *arguments, "--json", code=code).stdout)
    return {(p["positive"], p["negative"]): p["verdict"] for p in document["problems"]}


def test_each_class_against_the_rest(iris):
    assert verdicts(iris, code=1) == {
        ("setosa", None): "SEPARABLE",
        ("versicolor", None): "INSEPARABLE",
        ("virginica", None): "INSEPARABLE",
    }
    printed = call("check", iris, code=1).stdout
    assert "iris.csv: can a hyperplane separate each class from the rest?" in printed
    assert "\n\nsetosa against the rest\nverdict    separable: " in printed
    assert "petal length (cm) alone separates: setosa below 2.45, the rest above" in printed


def test_each_pair(iris):
    assert verdicts(iris, "--pairs", code=1) == {
        ("versicolor", "setosa"): "SEPARABLE",
        ("virginica", "setosa"): "SEPARABLE",
        ("virginica", "versicolor"): "INSEPARABLE",
    }
    printed = call("check", iris, "--pairs", "-o", "c.json", code=1).stdout
    assert "virginica against versicolor\n" in printed
    (problem,) = json.loads(Path("c.json").read_text())["problems"][2:]
    # Rows are those of the file; samples those of the two classes.
    assert problem["support_rows"] == [sample + 51 for sample in problem["support"]]
    assert call("check", "--verify", "c.json", iris).stdout.count("valid: ") == 3


def test_all_separable_is_yes():
    assert set(verdicts(PENGUINS, "-t", "species", code=0).values()) == {"SEPARABLE"}


def test_many_classes_have_a_line_each():
    k = np.repeat(np.arange(9), 4)
    name = table("t.csv", {"x": k + np.tile([0, 0.1, 0.2, 0.3], 9), "x2": k**2, "k": k})
    lines = call("check", name, code=1).stdout.splitlines()
    found = [line.strip() for line in lines if "against the rest: " in line]
    assert len(found) == 9
    assert found[0].startswith("0 against the rest: separable; proved by a hyperplane with margin")
    assert one_line(lines[-1]) == "next --json shows the evidence for each"


# ------------------------------------------------------------------------------------ nonsense


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("x,y\n", "only a header"),
        ("x,y\n1,a\n2,a\n", "column 'y' holds only one class, 'a'"),
        ("x,y\n1,\n2,NA\n", "column 'y' has no classes, every cell is missing"),
        ("x,y\n1,a\ninf,b\n3,a\n4,b\n", "which is not finite"),
        ("y\na\nb\na\n", "no column to learn from beside 'y'"),
        ("x,y\n" + "".join(f"{k},text {k}\n" for k in range(20)), "looks like a name or a text"),
        ("x,y\n" + "".join(f"{k % 3},{k / 7}\n" for k in range(40)), "looks continuous"),
    ],
)
def test_tables_without_an_answer(content, message):
    Path("t.csv").write_text(content)
    assert message in call("check", "t.csv", "-t", "y" if content else "x", code=2).stderr


def test_missing_numbers_are_said():
    name = table("t.csv", {"x": [1, "", 3, "NaN"], "z": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]})
    assert "missing cells, taken as the mean: x (2)" in call("check", name).stdout


def test_wrong_uses(apart):
    Path("t.json").write_text('[{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]')
    Path("d.json").mkdir()
    for arguments, message in (
        (["none.csv"], "none.csv"),
        (["."], "folder"),
        ([apart, "-t", "why"], "has no column 'why'"),
        ([apart, "-o", "c.txt"], "c.txt is no name for a certificate: let it end in .json"),
        ([apart, "-o", "no/c.json"], "there is no folder no"),
        ([apart, "-o", "d.json"], "d.json is a folder"),
        (["t.json", "-o", "t.json"], "t.json is what is being read"),
        ([apart, "--max-time", "soon"], "'soon' is not a duration"),
        ([apart, "--max-time", "0s"], "--max-time 0s leaves no time at all: give something"),
        (["none.csv", "--max-time", "0"], "--max-time 0 leaves no time at all"),
        ([apart, "--top", "0"], "--top"),
        ([], "nothing to read: give a FILE"),
    ):
        assert message in call("check", *arguments, code=2).stderr
    assert not Path("c.json").exists()


# -------------------------------------------------------------------------- on the way out


def test_a_reader_that_has_enough_gets_the_exit_code(monkeypatch, apart, twins):
    def gone(_):
        raise BrokenPipeError

    monkeypatch.setattr("rosenblatt.cli.check.print_data", gone)
    monkeypatch.setattr("rosenblatt.cli.app._silence", lambda _: None)
    call("check", apart, "--json")
    call("check", twins, "--json", code=1)


@pytest.mark.parametrize("charset", ["ascii", "cp1252"])
def test_terminals_that_know_few_letters(charset):
    columns = {"größe": [1, 2, 3], "[/red] :smile:": [5, 2, 7], "y": ["[b]нет", "[b]нет", "да\n"]}
    name = table("t.csv", columns)
    printed = call("check", name, "-o", "c.json", charset=charset).stdout_bytes
    assert b"can a hyperplane separate [b]??? from ??" in printed
    assert b"###" in printed
    printed = call("check", name, "--json", charset=charset).stdout_bytes
    assert json.loads(printed.decode("utf-8"))["classes"] == {"[b]нет": 2, "да": 1}
    printed = call("check", "--verify", "c.json", name, charset=charset).stdout_bytes
    assert printed.startswith(b"valid: ?? against [b]??? is separable, for all 3 ")


def test_standard_output_on_a_full_disk(monkeypatch, capsys, twins):
    call("check", twins, "-q", "-o", "c.json", code=1)
    for arguments in ([twins], [twins, "--json"], [twins, "--verify", "c.json"]):
        with Path("/dev/full").open("w") as full, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", full)
            with pytest.raises(SystemExit, match="2"):
                COMMANDS.main(["check", *arguments], "rosenblatt")
        assert capsys.readouterr().err == "rosenblatt: no space left on device\n"


def test_ctrl_c(monkeypatch):
    """It comes while the search goes on, and nothing is left behind."""
    monkeypatch.setattr(checks, "separability", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    done = invoke("check", NOTES, "-o", "c.json")
    assert done.exit_code == 130
    assert (done.stdout, done.stderr) == ("", "rosenblatt: stopped with Ctrl-C\n")
    assert not Path("c.json").exists()


# ------------------------------------------------------------------------------ known answers


def test_banknotes():
    assert verdicts(NOTES, code=1) == {("genuine", "forged"): "INSEPARABLE"}


@real
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("sonar.csv", "SEPARABLE"),
        ("pima-indians-diabetes.csv", "INSEPARABLE"),
        ("banknote_authentication.csv", "INSEPARABLE"),
        ("colon.csv.gz", "SEPARABLE"),
    ],
)
def test_files_with_known_answers(name, verdict):
    path = Path(DATA) / name
    done = invoke("check", path, "-o", "c.json")
    assert done.exit_code == (verdict != "SEPARABLE")
    (problem,) = json.loads(Path("c.json").read_text())["problems"]
    assert problem["verdict"] == verdict
    call("check", "--verify", "c.json", path)
    if name.startswith("colon"):
        assert problem["chance_of_random_labels"] == 1
        little = "with 62 rows and 2000 features any labels would be separable: this says little"
        assert little in one_line(done.stdout)
    else:
        assert "any labels" not in one_line(done.stdout)


@real
def test_mushrooms():
    with gzip.open(Path(DATA) / "agaricus.txt.train.gz") as packed, Path("m.txt").open("wb") as out:
        shutil.copyfileobj(packed, out)
    X, y = load_svmlight_file("m.txt")
    columns = {f"f{j}": X[:, [j]].toarray().ravel().astype(int) for j in range(X.shape[1])}
    name = table("mushrooms.csv", columns | {"edible": y.astype(int)})
    assert verdicts(name, code=0) == {("1", "0"): "SEPARABLE"}

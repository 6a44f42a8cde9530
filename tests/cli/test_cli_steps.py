"""``rosenblatt steps``."""

import csv
import io
from pathlib import Path

import pytest

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, table

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture(autouse=True)
def tables(plain_terminal):
    table("and.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "and": ["no", "no", "no", "yes"]})
    kinds = {"u": [1, 0, 0, 2, 0, 0], "v": [0, 1, 0, 0, 2, 0], "kind": list("abcabc")}
    table("kinds.csv", kinds)


def rows(name):
    return list(csv.DictReader(io.StringIO(Path(name).read_text())))


def test_the_first_updates_as_the_file_has_them():
    said = call("steps", "and.csv", "--first", "3").stdout.splitlines()
    assert " ".join(said[0].split()) == "step epoch row y value added to w to b w b angle"
    assert " ".join(said[3].split()) == "2 1 4 +1 -1 (1, 1) 1 (1, 1) 0 46.69°"
    assert said[5:7] == ["w = (a, b)", "y = +1: yes, -1: no"]
    assert said[7].startswith("angle: between (w, b) and that of the best hyperplane (0.4851, ")
    assert said[8] == "3 of 18 updates; the run: 18 mistakes in 9 epochs, SEPARATED"
    assert said[9].startswith("and, the last column, is taken as the class")


def test_the_same_as_in_python():
    call("steps", "and.csv", "--first", "all", "-o", "steps.csv")
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    updates = rb.Perceptron(record=True).fit(X, y).trace_.updates
    found, lines = rows("steps.csv"), updates.table(X).lines
    assert len(found) == len(lines) == 19
    for row, line in zip(found, lines, strict=True):
        assert [float(row[name]) for name in ("a", "b", "bias")] == line.theta.tolist()
        assert [int(i) for i in row["row"].split()] == (line.samples + 1).tolist()


@pytest.mark.parametrize(
    ("name", "begins"),
    [("s.txt", "step  epoch"), ("s.csv", "step,epoch"), ("s.md", "| step |"), ("s.tex", "\\begin")],
)
def test_files(name, begins, no_room):
    call("steps", "and.csv", "-o", name, "--first", "1", "--update", "batch")
    text = Path(name).read_text(encoding="utf-8")
    assert text.startswith(begins)
    with no_room():
        call("steps", NOTES, "-o", name, "--first", "200", code=2)
    assert Path(name).read_text(encoding="utf-8") == text


def test_several_classes():
    said = call("steps", "kinds.csv", "--first", "1").stdout
    assert [line for line in said.splitlines() if line.startswith("y = ")] == [
        f"y = +1: {name}, -1: the rest" for name in "abc"
    ]
    assert said.count("step  epoch") == 3
    one = call("steps", "kinds.csv", "--first", "1", "--class", "b").stdout
    assert one.count("step  epoch") == 1
    call("steps", "kinds.csv", "-o", "all.csv", "--first", "2")
    assert [row["class"] for row in rows("all.csv")] == [*"aaabbbccc"]


def test_no_angle_and_why():
    said = call("steps", "and.csv", "--no-intercept", "--init", "1,0", "--first", "2").stdout
    assert "no angle: no hyperplane through the origin separates the classes" in said
    assert "angle" not in said.splitlines()[0]
    said = call("steps", NOTES, "--first", "2", "--max-epochs", "3", "--standardize").stdout
    assert "no angle: no hyperplane separates the classes (rosenblatt check proves it)" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--first", "0"], "--first 0 is not possible: give a whole number from 1, or all"),
        (["--top", "few"], "--top few is not possible: give a whole number from 1, or all"),
        (["-o", "x.doc"], "x.doc does not say how to write a table: let it end in .txt"),
        (["-o", "and.csv"], "and.csv is what is being read: write to another file"),
        (["--class", "yes"], "--class is for more than two classes: leave it out"),
    ],
)
def test_refused(arguments, message):
    assert message in call("steps", "and.csv", *arguments, code=2).stderr


def test_what_rounding_leaves_of_zero_is_zero():
    call("demo", "--save", "eight.csv", "eight-points")
    assert "best hyperplane (0.7071, 0.7071, 0)" in call("steps", "eight.csv").stdout


def test_no_time_to_find_the_best(monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.steps.PATIENCE", 1e-9)
    said = call("steps", "and.csv", "--first", "1", charset="ascii").stdout
    assert "no angle: the best hyperplane was not found in 1e-09 seconds" in said


def test_letters_that_a_terminal_does_not_know():
    said = call("steps", "and.csv", "--first", "1", charset="ascii").stdout
    assert said.splitlines()[2].endswith("-1  43.31 deg")


def test_a_class_that_is_not_there():
    told = call("steps", "kinds.csv", "--class", "d", code=2).stderr
    assert "--class d is none of the classes: give a, b, c" in told


def test_all_classes_as_one_problem_have_no_table():
    why = call("steps", PENGUINS, "--multiclass", "joint", code=2).stderr
    assert "has no table of steps: leave it out" in why
    args = ("steps", PENGUINS, "--target", "species", "--first", 1, "--max-epochs", 1)
    assert call(*args, "--multiclass", "ovr").stdout == call(*args).stdout

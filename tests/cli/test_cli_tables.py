"""Tables of every kind through the commands: sparse files, several files, queries, databases."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import rosenblatt as rb
from commands import NOTES, call, fitted, table

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def sparse_file():
    """Sparse points in 40 dimensions, with labels 1 and 2, which a hyperplane separates."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 4, size=(60, 40)) * (rng.random((60, 40)) < 0.1)
    X[:, 39] = 1
    y = np.where(X @ rng.normal(size=40) > 0, 2, 1)
    dump_svmlight_file(X.astype(float), y, "points.svm", zero_based=False)
    return X, y


def test_sparse_files_are_learned_from_as_they_are(sparse_file):
    X, y = sparse_file
    told = fitted("points.svm", "--cv", 3, "--order", "cyclic", "--keep", "last", "-o", "m.skops")
    assert told["features"] == 40
    assert not any("taken as the class" in note for note in told["notes"])  # the format says it
    assert list(told["classes"]) == ["1", "2"]
    model = rb.io.load("m.skops")
    reference = rb.Perceptron().fit(X.astype(float), y)
    np.testing.assert_array_equal(model[-1].coef_, reference.coef_)
    call("predict", "m.skops", "points.svm", "-o", "answers.csv", "-q")
    with rb.io.read_table("answers.csv") as answers:
        np.testing.assert_array_equal(answers["prediction"], reference.predict(X.astype(float)))
    wider = "1 1:2 90:5\n2 3:1\n"  # a feature that training did not see
    Path("wider.svm").write_text(wider)
    call("predict", "m.skops", "wider.svm", "-q")
    assert "x40" in call("show", "m.skops", "--top", 50).stdout
    assert "has no column 'x'" in call("predict", "m.skops", NOTES, code=2).stderr


def test_checks_of_sparse_files(sparse_file):
    call("check", "points.svm", "-o", "c.json")
    call("check", "points.svm", "--verify", "c.json")


def test_several_files_and_patterns():
    table("a1.csv", {"x": [1, 2, 3], "y": ["no", "no", "yes"]})
    table("a2.csv", {"y": ["yes", "no"], "x": [4, 0]})
    told = fitted("a1.csv", "a2.csv", "--cv", 0)
    assert told["rows"] == fitted("a?.csv", "--cv", 0)["rows"] == 5
    assert any("2 files are read as one table" in note for note in told["notes"])
    table("a3.csv", {"x": [1], "z": ["no"]})
    assert "a3.csv has no column 'y'" in call("check", "a?.csv", code=2).stderr
    call("check", "a[12].csv", "-q", "-o", "c.json")
    assert "is what is being read" in call("check", "c.js*", "-o", "c.json", code=2).stderr


def test_queries_and_databases():
    query = f"SELECT variance, skewness, note FROM '{NOTES}' LIMIT 40 OFFSET 740"
    call("check", "--query", query, "-q")
    assert "has no column 'z'" in call("check", "--query", query, "-t", "z", code=2).stderr
    with sqlite3.connect("t.db") as connection:
        connection.execute("CREATE TABLE t (x, y)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'a'), (5, 'b')")
        connection.execute("CREATE TABLE u (x)")
    connection.close()
    call("check", "t.db", "--table", "t", "-q")
    call("check", "t.db", "--query", "SELECT x, y FROM t", "-q", "-o", "c.json")
    assert json.loads(Path("c.json").read_text())["read"]["query"] == "SELECT x, y FROM t"
    call("check", "t.db", "--verify", "c.json")
    assert "has no table 'z': it has 't', 'u'" in call("fit", "t.db", "--table", "z", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([NOTES, "--db", "postgresql://h/d"], "--db and FILE both say where the table is"),
        (["--db", "mysql://u:secret@h/d"], "is no address: give postgresql://USER@HOST/NAME"),
        ([NOTES, "--sheet", "a"], "--sheet (sheet= in Python) is for workbooks"),
        ([NOTES, "--query", "SELECT 1"], "name it in the query, and not beside it"),
    ],
)
def test_options_that_do_not_go_together(arguments, words):
    told = call("check", *arguments, code=2).stderr
    assert words in told
    assert "secret" not in told

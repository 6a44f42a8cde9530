"""What a person sees who gives a table that cannot be read: one line, and nothing is changed."""

import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pytest

from commands import NOTES, call

pytestmark = pytest.mark.usefixtures("plain_terminal")


def answer(*arguments):
    """The one line of an error, and that no file was made or changed."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    told = call(*arguments, "-q", code=2).stderr
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    return told


@pytest.fixture(params=["t.db", "t.duckdb"])
def database(request):
    """A table with three rows, and one with none."""
    connect = sqlite3.connect if request.param == "t.db" else duckdb.connect
    connection = connect(request.param)
    connection.execute("CREATE TABLE t (x INTEGER, y TEXT)")
    connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'a')")
    connection.execute("CREATE TABLE empty (x INTEGER, y TEXT)")
    connection.commit()
    connection.close()
    return request.param


def test_databases(database):
    both = {"'t', 'empty'", "'empty', 't'"}
    told = answer("check", database, "--table", "zz")
    assert any(f"{database} has no table 'zz': it has {two}" in told for two in both)
    assert "holds 2 tables: choose one with --table" in answer("fit", database)
    assert f"table 'empty' of {database} holds no rows" in answer(
        "fit", database, "--table", "empty"
    )

    def asked(query, *more):
        return answer("fit", database, "--query", query, *more)

    none = f"{database}: the answer to the query holds no rows: give one that returns some"
    assert none in asked("SELECT * FROM t WHERE x > 9")
    assert f"{database} has no column 'y'. It has x" in asked("SELECT x FROM t", "-t", "y")
    told = asked("SELECT * FROM nope")
    assert f"{database} does not take this query (" in told
    assert any(f"): it has {two}" in told for two in both)
    for query in ("DROP TABLE t", "DELETE FROM t", "SELECT 1; DROP TABLE t", "", "x"):
        told = asked(query)
        assert f"rosenblatt: {database}" in told
        assert "query" in told
    Path(database).write_bytes(Path(database).read_bytes()[:5000])
    broken = {"t.db": "is an SQLite database that breaks off: copy it again"}
    assert broken.get(database, "is a damaged") in answer("fit", database, "--table", "t")


def test_queries_over_files():
    def asked(query, *more):
        return answer("fit", "--query", query, *more)

    some = f"SELECT variance, note FROM '{NOTES}'"
    assert "the answer to the query holds no rows" in asked(f"{some} WHERE variance > 99")
    assert "the query has no column 'zz'. It has variance, note" in asked(some, "-t", "zz")
    assert "has no column to learn from beside 'note'" in asked(f"SELECT note FROM '{NOTES}'")
    nested = asked(f"SELECT [variance] AS list, note FROM '{NOTES}'")
    assert "beside 'note' (Column 'list' is left out: it holds nested" in nested
    assert "the query does not work (No files found" in asked("SELECT * FROM 'zz.csv'")
    assert "takes something from the network" in asked("SELECT * FROM 'https://x.y/z.parquet'")
    for query in ("COPY (SELECT 1) TO 'made.csv'", "ATTACH 'made.db'", "INSTALL httpfs", ""):
        assert "no query that returns rows: give one such query" in asked(query)


def test_text_in_arrays_that_is_none():
    for number in (0xD800, 0x110000, 0xFFFFFFFF):
        cells = np.array([("ab", 1.0), ("cd", 2.0)], dtype=[("w", "U2"), ("x", "f8")])
        np.save("t.npy", cells)
        whole = Path("t.npy").read_bytes()
        place = whole.index("ab".encode("utf-32-le"))
        wrong = whole[:place] + number.to_bytes(4, "little") + whole[place + 4 :]
        Path("t.npy").write_bytes(wrong)
        assert "t.npy is a damaged NumPy file" in answer("fit", "t.npy", "-t", "w")


def test_labels_without_features():
    Path("t.svm").write_text("1\n-1\n1\n")
    assert "t.svm holds labels but no features" in answer("fit", "t.svm")


def test_a_server_that_is_not_there():
    pytest.importorskip("adbc_driver_postgresql", reason="needs rosenblatt[postgres]")
    told = answer("fit", "--db", "postgresql://u:secret@127.0.0.1:1/d", "--table", "t")
    assert "postgresql://u@127.0.0.1:1/d refuses: no server answers there" in told
    assert "secret" not in told


def test_sheets():
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    from workbook_files import write_workbook

    rows = [["a", "b"], [1, "x"], [2, "y"], [3, "x"]]
    write_workbook(Path("w.xlsx"), {"one": rows, "two": [], "three": rows[:1]})
    told = answer("check", "w.xlsx", "--sheet", "zz")
    assert "w.xlsx has no sheet 'zz': it has 'one', 'two', 'three'" in told
    assert "sheet 'two' of w.xlsx is empty" in answer("check", "w.xlsx", "--sheet", "two")
    assert "sheet 'three' of w.xlsx holds no rows" in answer("check", "w.xlsx", "--sheet", "three")
    assert "--table (table= in Python) is for databases" in answer(
        "check", "w.xlsx", "--table", "t"
    )

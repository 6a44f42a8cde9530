"""Tables of databases, answers to queries, and several files as one table."""

from __future__ import annotations

import sqlite3

import duckdb
import pytest

from rosenblatt.tables import staging
from rosenblatt.tables.formats import csv_files
from rosenblatt.tables.table import read_table
from table_contents import contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


@pytest.fixture
def sqlite(tmp_path):
    """An SQLite database with two tables and a view."""
    path = tmp_path / "it's.db"
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE "a ""table" (n, word, digits TEXT, raw BLOB)')
        rows = [(1, "a", "1", b"\x00"), (2.5, 2, "2", None), (None, None, "3", None)]
        connection.executemany('INSERT INTO "a ""table" VALUES (?, ?, ?, ?)', rows)
        connection.execute("CREATE TABLE other (x)")
        connection.execute("INSERT INTO other VALUES (1), (2)")
        connection.execute("CREATE VIEW seen AS SELECT x + 1 AS y FROM other")
    connection.close()
    return path


def test_sqlite(sqlite):
    before = sqlite.read_bytes()
    with read_table(sqlite, table='a "table') as table:
        assert table.kinds == {"n": "number", "word": "text", "digits": "number"}
        assert table.notes == ("Column 'raw' is left out: it holds nested or binary values.",)
        assert table["word"].tolist() == ["a", "2", None]
    assert contents(sqlite, table="seen") == {"y": [2, 3]}
    joined = 'SELECT x, x AS x, word FROM other JOIN "a ""table" ON x = CAST(digits AS INTEGER); '
    with read_table(sqlite, query=joined) as table:
        assert table.names == ("x", "x_2", "word")
        assert table["word"].tolist() == ["a", "2"]
    here = "it has 'a \"table', 'other', 'seen'"
    assert f"has no table 'zzz': {here}" in refusal(sqlite, table="zzz")
    assert "holds 3 tables: choose one with --table, of 'a" in refusal(sqlite)
    for query in ("SELECT * FROM zzz", "DROP TABLE other", "INSERT INTO other VALUES (3)", "x"):
        assert "does not take this query" in refusal(sqlite, query=query)
    assert "holds no rows" in refusal(sqlite, query="SELECT * FROM other WHERE x > 9")
    assert sqlite.read_bytes() == before
    assert [path.name for path in sqlite.parent.iterdir()] == [sqlite.name]


def test_sqlite_text_that_is_not_utf_8_and_files_a_byte_short(tmp_path):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x, CAST(x'636166e9' AS TEXT) AS word")
    connection.close()
    with read_table(path) as table:
        assert table["word"].tolist() == ["café"]
        assert table.notes[1].startswith("Some text in it is not UTF-8")
    path.write_bytes(path.read_bytes()[:-1])
    assert "is an SQLite database that breaks off: copy it again" in refusal(path)


def test_the_only_table_is_taken_and_noted(tmp_path):
    path = tmp_path / "one.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE things AS SELECT 1 AS a, 'x' AS b")
    connection.close()
    with read_table(path) as table:
        assert table.notes == (f"'things' is read, the only table of {path}.",)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE things")
    connection.close()
    assert "holds no tables" in refusal(path)


def test_a_database_whose_own_words_are_damaged(sqlite):
    whole = sqlite.read_bytes()
    assert b"CREATE TABLE other" in whole
    sqlite.write_bytes(whole.replace(b"CREATE TABLE other", b"CREATE TABLE \xffther"))
    assert "is a damaged SQLite database" in refusal(sqlite, table="other")


def test_a_database_that_is_being_written(sqlite):
    writer = sqlite3.connect(sqlite, isolation_level=None)
    writer.execute("PRAGMA locking_mode = exclusive")
    writer.execute("BEGIN EXCLUSIVE")
    try:
        assert "is being written by another program" in refusal(sqlite, table="other")
    finally:
        writer.close()


@pytest.fixture
def database(tmp_path):
    """A DuckDB database with tables in two schemas."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE rows AS SELECT range AS a, 'x' AS b FROM range(3)")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.u AS SELECT 1.5 AS c, [1] AS l")
    return path


def test_duckdb(database, tmp_path):
    before = database.read_bytes()
    assert contents(database, table="rows") == {"a": [0, 1, 2], "b": ["x"] * 3}
    with read_table(database, table="s.u") as table:
        assert table.names == ("c",)
        assert len(table.notes) == 1
    (tmp_path / "f.csv").write_text("a,z\n1,p\n2,q\n")
    query = f"SELECT rows.a, z FROM rows JOIN '{tmp_path}/f.csv' AS f USING (a) ORDER BY 1;"
    assert contents(database, query=query) == {"a": [1, 2], "z": ["p", "q"]}
    assert "has no table 'zzz': it has 'rows', 's.u'" in refusal(database, table="zzz")
    assert "holds 2 tables: choose one with --table" in refusal(database)
    for query in ("DROP TABLE rows", "SELECT 1; SELECT 2", "COPY rows TO 'x.csv'", ""):
        assert "no query that returns rows" in refusal(database, query=query)
    told = "does not take this query (Table with name zzz does not exist): it has 'rows', 's.u'"
    assert told in refusal(database, query="SELECT * FROM zzz")
    assert database.read_bytes() == before


def test_a_damaged_duckdb_database(database):
    content = bytearray(database.read_bytes())
    content[9000] ^= 0x5A  # DuckDB speaks of a block then, and not of a lock
    database.write_bytes(content)
    assert "is a damaged DuckDB database or breaks off: copy it again" in refusal(database)


def test_queries_over_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("id,x\n1,0.5\n2,1.5\n3,2.5\n")
    duckdb.sql("SELECT range AS id, 'k' || range % 2 AS kind FROM range(4)").write_parquet(
        str(tmp_path / "b.parquet")
    )
    query = "SELECT x, kind FROM 'a.csv' JOIN 'b.parquet' USING (id) ORDER BY id"
    assert contents(None, query=query) == {"x": [0.5, 1.5, 2.5], "kind": ["k1", "k0", "k1"]}
    table = {"x": [1.0]}  # a variable is not a table
    assert "Table with name table" in refusal(None, query='SELECT * FROM "table"'), table
    assert "the query does not work (No files found" in refusal(None, query="FROM 'zzz.csv'")
    assert "holds no rows" in refusal(None, query="SELECT * FROM 'a.csv' WHERE x > 9")
    assert "nothing to read" in refusal(None)


@pytest.mark.parametrize(
    "query",
    [
        "FROM 'https://example.org/t.parquet'",
        "FROM 's3://bucket/t.parquet'",
        "SELECT * FROM sqlite_scan('t.db', 't')",
    ],
)
def test_queries_fetch_and_load_nothing(query):
    message = refusal(None, query=query)
    assert "which is not loaded: download the file first" in message


@pytest.mark.parametrize(
    "query", ["INSTALL httpfs", "LOAD httpfs", "ATTACH 'x.db'", "SET threads=1"]
)
def test_only_queries_that_read_are_taken(query):
    assert "no query that returns rows" in refusal(None, query=query)


# Several files ----------------------------------------------------------------------------------


def test_several_files_are_one_table(file, tmp_path):
    file("a,b\n1,x\n2,y\n", "1.csv")
    file("b,a\nz,NA\nw,4.5\n", "2.csv")
    file('{"a": 5, "b": "v"}\n', "3.jsonl")
    wanted = {"a": [1, 2, None, 4.5, 5], "b": ["x", "y", "z", "w", "v"]}
    with read_table([tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "3.jsonl"]) as table:
        assert table.notes == ("3 files are read as one table: 1.csv, 2.csv, 3.jsonl.",)
        assert table.path == f"{tmp_path / '1.csv'} and 2 more"
    assert contents([tmp_path / name for name in ("1.csv", "2.csv", "3.jsonl")]) == wanted
    assert contents(tmp_path / "?.*") == wanted
    assert contents(tmp_path / "[12].csv") == {name: cells[:4] for name, cells in wanted.items()}


def test_kinds_are_judged_over_all_files(file):
    one, two = file("a,b\n1,x\n2,y\n", "1.csv"), file("a,b\nmany,x\n", "2.csv")
    assert contents([one, two]) == {"a": ["1", "2", "many"], "b": ["x", "y", "x"]}
    three = file("p,q\nr,s\n", "3.csv")
    assert contents([three, file("p,q\nt,u\n", "4.csv")], header=True) == {
        "p": ["r", "t"],
        "q": ["s", "u"],
    }


@pytest.mark.parametrize("large", [0, 1 << 60])
@pytest.mark.parametrize("way", ["memory", "database"])
def test_files_are_the_table_they_were_cut_from(file, monkeypatch, way, large):
    monkeypatch.setattr(csv_files, "LARGE_BYTES", large)
    if way == "database":
        monkeypatch.setattr(staging, "_held_in_memory", lambda *_: None)
    rows = [f"{k}.5,w{k % 3},{'x' if k == 7 else k},{k} kg,{k % 12 + 1}/{k + 9}/2024\n"
            for k in range(9)]  # fmt: skip
    head = "a,b,c,d,e\n"
    parts = [file(head + "".join(rows[k : k + 3]), f"{k}.csv") for k in (0, 3, 6)]
    with read_table(file(head + "".join(rows))) as one, read_table(parts) as several:
        assert several.kinds == one.kinds
        assert several.notes[1:] == one.notes
        texts = {"a": "text"} if large else {}
        whole, joined = one.read_as(one.kinds | texts), several.read_as(several.kinds | texts)
        for name in one.names:
            assert joined[name].tolist() == whole[name].tolist()
    crooked = file(head + '"1,5",w,1,1 kg,1/20/2024\n', "crooked.csv")
    assert len(contents([*parts, crooked])["a"]) == 10


def test_files_without_names_are_joined_by_position(file):
    one, two = file("1,x\n2,y\n", "1.csv"), file("3,z\n", "2.csv")
    assert contents([one, two]) == {"column1": [1, 2, 3], "column2": ["x", "y", "z"]}


def test_the_file_that_differs_is_named(file, tmp_path):
    one, two = file("a,b\n1,x\n2,y\n", "1.csv"), file("a,c\n1,x\n2,y\n", "2.csv")
    message = refusal([one, two])
    assert message.startswith(f"{two} has no column 'b' and has a column 'c' of its own, unlike")
    assert "no file is named like" in refusal(tmp_path / "*.parquet")
    assert "names no file" in refusal([])
    assert "standard input is one table" in refusal([one, "-"])
    assert "there is no file" in refusal([one, tmp_path / "zzz"])


def test_a_name_that_looks_like_a_pattern(file):
    assert contents(file("a\n1\n2\n", "t[1].csv")) == {"a": [1, 2]}

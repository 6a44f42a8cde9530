"""Tables of a PostgreSQL server, which the tests start."""

from __future__ import annotations

import pytest

from postgres_server import execute, postgres_server
from rosenblatt.tables.formats.postgres import is_address, without_password
from rosenblatt.tables.table import read_table
from table_contents import as_list, contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

SECRET = "s3cret:w/ord"
SQL = """
    CREATE ROLE reader LOGIN PASSWORD '{secret}';
    CREATE TABLE things (size float8, price numeric(9,2), n int, kind text, day date, raw bytea);
    INSERT INTO things VALUES (1.5, 0.25, 1, 'a', '2024-01-02', '\\x00'),
        ('NaN', NULL, NULL, NULL, NULL, NULL), (2.5, 1e5, 3, 'b', '2024-01-03', NULL);
    CREATE SCHEMA shop;
    CREATE TABLE shop."Odd ""name" AS SELECT 1 AS x, 'q' AS y;
    CREATE TABLE closed AS SELECT 1 AS x;
    GRANT SELECT ON things TO reader; GRANT USAGE ON SCHEMA shop TO reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader;
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address, without user, of a server that asks the user `reader` for a password."""
    with postgres_server(tmp_path_factory.mktemp("server")) as address:
        execute(address, SQL.format(secret=SECRET))
        yield address


@pytest.mark.database
def test_tables_and_queries(server):
    owner = f"postgresql://owner@{server}/postgres"
    with read_table(owner, table="things") as table:
        kinds = dict.fromkeys(["size", "price", "n"], "number")
        assert table.kinds == kinds | {"kind": "text", "day": "date"}
        assert as_list(table["size"]) == [1.5, None, 2.5]
        assert as_list(table["price"]) == [0.25, None, 1e5]
        assert table["kind"].tolist() == ["a", None, "b"]
        assert len(table.notes) == 1  # the bytes
    assert contents(owner, table='shop.Odd "name') == {"x": [1], "y": ["q"]}
    query = "SELECT size, kind FROM things WHERE size < 2 ;"
    assert contents(owner, query=query) == {"size": [1.5], "kind": ["a"]}
    assert "has no table 'x': it has 'closed', 'things'" in refusal(owner, table="x")
    assert "holds 3 tables: choose one with --table" in refusal(owner)
    assert "holds no rows" in refusal(owner, query="SELECT 1 AS x WHERE false")
    for query in (
        "DROP TABLE things",
        "DELETE FROM things",
        "SELECT zzz",
        "SELECT 1; SELECT 2",
        "COMMIT",
    ):
        assert "does not take this query" in refusal(owner, query=query)
    assert len(contents(owner, table="things")["size"]) == 3


@pytest.mark.database
def test_a_server_that_refuses(server, monkeypatch):
    reader = f"postgresql://reader@{server}/postgres"
    remedy = "set PGPASSWORD, or write it to ~/.pgpass"
    monkeypatch.setenv("HOME", "/nonexistent")
    assert refusal(reader, table="things") == f"{reader} refuses: a password is needed; {remedy}"
    wrong = f"postgresql://reader:{SECRET[:4]}@{server}/postgres"
    assert refusal(wrong, table="t") == f"{reader} refuses: the password is wrong; {remedy}"
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with read_table(reader, table="things") as table:
        assert table.path == reader
    assert "permission denied for table closed" in refusal(reader, query="SELECT * FROM closed")
    address = f"postgresql://owner@{server}/zzz"
    assert "refuses: there is no such database" in refusal(address, table="t")
    assert "no server answers there" in refusal("postgresql://x@127.0.0.1:1/x", table="t")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://u:secret@h:5/d", "postgresql://u@h:5/d"),
        ("postgres://u:se%40cret@h/d?a=b", "postgres://u@h/d?a=b"),
        ("postgresql://u:a@b@h/d", "postgresql://u@h/d"),
        ("postgresql:///d?user=u&password=secret&x=1", "postgresql:///d?user=u&password=...&x=1"),
        ("postgresql://h/d", "postgresql://h/d"),
    ],
)
def test_passwords_are_never_shown(address, shown):
    assert is_address(address)
    assert without_password(address) == shown

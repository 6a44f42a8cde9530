"""The table as an object."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from rosenblatt.tables.table import Table, TableError, read_table
from table_contents import contents

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def test_a_table_is_a_mapping_that_fetches_on_demand(file):
    with read_table(file("a,b\n1,x\n2,y\n")) as table:
        assert isinstance(table, Table)
        assert list(table) == ["a", "b"]
        assert len(table) == 2
        assert "a" in table
        assert "c" not in table
        assert table.get("c") is None
        with pytest.raises(KeyError):
            table["c"]
        assert repr(table) == f"<Table {table.path}: 2 rows, 2 columns>"
        assert table == table
        assert {table: 1}[table] == 1
    with pytest.raises(TableError, match="closed"):
        table["a"]
    table.close()


def test_read_as(size, file):
    path = file("n,zip,t,d,none\n1,01234,5,2024-03-01,\n?,98101,x,NA,\n")
    with read_table(path) as table:
        part = table.read_as({"zip": "number", "n": "text", "none": "number", "d": "text"})
        assert part.names == ("zip", "n", "none", "d")
        assert part.kinds == {"zip": "number", "n": "text", "none": "number", "d": "text"}
        assert part["zip"].tolist() == [1234, 98101]
        assert part["n"].tolist() == ["1", None]
        assert np.isnan(part["none"]).all()
        assert part["d"].tolist() == ["2024-03-01", None]
        assert part.n_rows == 2
        assert "t" not in part
        with pytest.raises(TableError, match=r"has no column 'w': it has 'n', 'zip', 't'"):
            table.read_as({"n": "number", "w": "text"})
        with pytest.raises(TableError, match=r"no column 'Zip', did you mean 'zip'\?: it has 'n'"):
            table.chunk(0, 1, ["Zip"])
        with pytest.raises(TableError, match="has no columns 'v', 'w'"):
            table.read_as({"v": "number", "w": "text"})
        with pytest.raises(TableError, match="'t' must be a number, but data row 2 holds 'x'"):
            table.read_as({"t": "number"})
        with pytest.raises(TableError, match="'n' must be a date, but data row 1 holds '1'"):
            table.read_as({"n": "date"})
        with pytest.raises(TableError, match="'d' must be a number"):
            table.read_as({"d": "number"})
        with pytest.raises(TableError, match="kind 'colour' of column 'n' is not known"):
            table.read_as({"n": "colour"})


def test_read_as_number_refuses_infinity(file):
    with (
        read_table(file("a,b\nx,1\ninf,2\n")) as table,
        pytest.raises(TableError, match="but 2 of its 2 cells are not: 'x' in data row 1"),
    ):
        table.read_as({"a": "number"})
    with (
        read_table(file("a,b\n01,1\n+inf,2\n", "u.csv"), header=True) as table,
        pytest.raises(TableError, match=r"holds '\+inf'"),
    ):
        table.read_as({"a": "number"})


def test_renamed(file):
    with read_table(file("1,x\n2,y\n")) as table:
        named = table.renamed(["size", "class"])
        assert named.names == ("size", "class")
        assert named["class"].tolist() == ["x", "y"]
        assert table.names == ("column1", "column2")
        with pytest.raises(TableError, match="3 names for 2 columns"):
            table.renamed(["a", "b", "c"])
        with pytest.raises(TableError, match="a name of its own"):
            table.renamed(["a", "a"])


def test_names_and_cells_are_never_sql(file):
    name = 'x"; DROP TABLE rows; --'
    header = f'\'); --,"{name.replace(chr(34), chr(34) * 2)}"'
    path = file(f"{header}\n1,2\n", "it's; [a] *.csv")
    with read_table(path, header=True, delimiter=",") as table:
        assert len(table) == 2
        assert table[table.names[1]].tolist() == [2]


@pytest.mark.parametrize(
    "name",
    ["a b.csv", "it's.csv", "ünïcode.csv", "a[1].csv", "b*.csv", "c?.csv", "{d}.csv", "~.csv"],
)
def test_a_path_is_taken_literally(file, name):
    for other in ("a1.csv", "bb.csv", "cc.csv"):
        file("z\n9\n", other)
    assert contents(file("a,b\n1,x\n", name)) == {"a": [1], "b": ["x"]}


def test_folders_named_like_partitions_add_no_column(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,2\n")
    assert list(contents(folder / "t.csv")) == ["a", "b"]
    duckdb.connect().execute(f"COPY (SELECT 1 AS a) TO '{folder / 't.parquet'}'")
    assert list(contents(folder / "t.parquet")) == ["a"]

"""Blocks of rows: together they are the table, whatever its rows lie in."""

from __future__ import annotations

import os

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.tables import arrow_blocks, staged_rows, storage
from rosenblatt.tables.formats import csv_files
from rosenblatt.tables.rows_in_memory import RowsInMemory
from rosenblatt.tables.rows_on_disk import RowsOnDisk
from rosenblatt.tables.staged_rows import StagedRows, ranges_of
from rosenblatt.tables.table import TableError, read_table
from rosenblatt.tables.texts import Texts

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

N_ROWS = 300
ROWS = """
    SELECT CASE WHEN i % 11 > 0 THEN i / 4.0 END::DOUBLE AS number,
        CASE WHEN i % 7 > 0 THEN i END::INTEGER AS whole,
        (i % 5)::UBIGINT + 9007199254740993 AS large,
        (i / 3)::FLOAT AS small,
        (i / 8.0)::DECIMAL(9, 3) AS decimal,
        CASE WHEN i % 13 > 0 THEN i % 2 = 0 END AS truth,
        CASE i % 6 WHEN 0 THEN ' a ' WHEN 1 THEN 'a' WHEN 2 THEN 'NA' WHEN 3 THEN NULL
            WHEN 4 THEN 'it''s' ELSE 'w' || i END AS word,
        DATE '2024-01-01' + CASE WHEN i % 9 > 0 THEN i END::INTEGER AS day,
        TIMESTAMP '2024-01-01' + INTERVAL (i) MINUTE AS moment,
        TIMESTAMPTZ '2024-01-01 00:00:00+02' + INTERVAL (i) HOUR AS zoned,
        (TIMESTAMP '2024-01-01' + INTERVAL (i) SECOND)::TIMESTAMP_NS AS nanos,
        strftime(DATE '2024-01-01' + i::INTEGER, '%Y-%m-%d') AS written_day,
        NULL::VARCHAR AS nothing,
        [i] AS nested
    FROM range({first}, {last}) r(i) ORDER BY i
"""


def parquet(path, first=0, last=N_ROWS, per_group=64):
    rows = duckdb.sql(ROWS.format(first=first, last=last))
    rows.write_parquet(str(path), row_group_size=per_group)
    return path


def listed(cells):
    """The cells of a column, each as it prints itself."""
    cells = cells.texts() if isinstance(cells, Texts) else cells
    return list(map(repr, cells.tolist()))


def check_blocks(table, rows, names=None):
    """All rows are there once, in their order, and no block is too long; how many there are."""
    expected = {name: listed(cells) for name, cells in table.columns(names).items()}
    found, at, n_blocks = {name: [] for name in expected}, 0, 0
    for start, block in table.blocks(names, rows):
        assert start == at
        assert list(block) == list(expected)
        lengths = {len(cells) for cells in block.values()}
        assert len(lengths) == 1
        at += lengths.pop()
        n_blocks += 1
        assert 0 < at - start <= (rows or at)
        for name, cells in block.items():
            found[name] += listed(cells)
    assert at == table.n_rows
    assert found == expected
    return n_blocks


@pytest.fixture(params=["by Arrow", "by DuckDB"])
def decoder(request, monkeypatch):
    """Parquet is read with Arrow, or as if it was not installed."""
    if request.param == "by DuckDB":
        monkeypatch.setattr(staged_rows, "find_spec", lambda _: None)
    else:
        pytest.importorskip("pyarrow", reason="Arrow is not installed")
    return request.param


@pytest.mark.parametrize("rows", [1, 7, 64, 100, 1000, None])
def test_parquet(tmp_path, decoder, rows):
    few = {"last": 40, "per_group": 16} if rows == 1 else {}  # a query for each
    with read_table(parquet(tmp_path / "t.parquet", **few)) as table:
        assert table.kinds["written_day"] == table.kinds["nanos"] == "date"
        check_blocks(table, rows)
        check_blocks(table, rows, ["word", "number"])
        check_blocks(table.read_as({"whole": "text", "small": "text", "word": "text"}), rows)
        with pytest.raises(TableError, match="has no column 'x'"):
            next(table.blocks(["x"]))


@pytest.mark.usefixtures("decoder")
def test_markers_of_missing_cells(tmp_path):
    markers = ["it's", "3", "true", "2.5"]
    with read_table(parquet(tmp_path / "t.parquet"), missing=markers) as table:
        check_blocks(table, 50)
        assert "it's" not in table["word"]
        assert np.isnan(table["number"][[10, 12]]).all()


def test_arrow_is_asked_for_no_more_than_needed(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="Arrow is not installed")
    asked = []
    fetched = StagedRows.fetched

    def remembered(self, columns, *where):
        asked.extend(column.sql for column in columns)
        return fetched(self, columns, *where)

    with read_table(parquet(tmp_path / "t.parquet")) as table:
        monkeypatch.setattr(StagedRows, "fetched", remembered)
        list(table.blocks())
        by_sql = {table.names[int(sql[1:])] for sql in asked}
    assert by_sql == {"decimal", "nanos", "written_day"}


@pytest.mark.parametrize(("in_memory", "kind"), [(0, RowsOnDisk), (1 << 30, RowsInMemory)])
def test_delimited_text(file, monkeypatch, in_memory, kind):
    monkeypatch.setattr(storage, "IN_MEMORY_BYTES", in_memory)
    rows = "".join(f"{k}.5,w{k % 3},2024-01-{1 + k % 28:02}\n" for k in range(100))
    with read_table(file("x,t,d\n" + rows)) as table:
        assert type(table._rows) is kind
        assert check_blocks(table, 30) == 4
        assert check_blocks(table, None) == 1
        x = table.columns()["x"]
        assert all(np.shares_memory(block["x"], x) for _, block in table.blocks(rows=30))


def test_rows_in_a_database(file, monkeypatch):
    monkeypatch.setattr(csv_files, "can_be_plain", lambda *_: False)
    monkeypatch.setattr(staged_rows, "GROUP", 32)
    rows = "".join(f"{k}.5,w{k % 3},2024-01-{1 + k % 28:02}\n" for k in range(100))
    with read_table(file("x,t,d\n" + rows)) as table:
        assert isinstance(table._rows, StagedRows)
        assert check_blocks(table, 64) == 2
        blocks = table.blocks(rows=10)
        assert next(blocks)[0] == 0
        blocks.close()  # the rest is not wanted


def test_sparse_features(file):
    path = file("1 1:0.5 3:2\n-1 2:1\n1 3:4\n", "t.svm")
    with read_table(path) as table:
        found = list(table.blocks(rows=2))
        assert [start for start, _ in found] == [0, 1]
        name = next(name for name, kind in table.kinds.items() if kind == "sparse")
        whole = np.vstack([block[name].toarray() for _, block in found])
        np.testing.assert_array_equal(whole, table.columns()[name].toarray())
        assert [start for start, _ in table.blocks([name], rows=2)] == [0, 2]


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 60))
def test_ranges_keep_groups_together(groups, most_rows):
    ranges = list(ranges_of(groups, most_rows))
    ends = [0, *(stop for _, stop in ranges)]
    assert [start for start, _ in ranges] == ends[:-1]
    assert ends[-1] == sum(groups)
    assert all(0 < stop - start <= most_rows for start, stop in ranges)
    borders = set(np.cumsum([0, *groups]).tolist())
    if max(groups, default=0) <= most_rows:
        assert set(ends) <= borders


# Several files -----------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path):
    """A folder of Parquet files, as programs write large tables."""
    folder = tmp_path / "parts"
    for k, (first, last) in enumerate([(0, 100), (100, 100), (100, 230), (230, N_ROWS)]):
        (folder / f"year={2020 + k}").mkdir(parents=True)
        parquet(folder / f"year={2020 + k}" / "part-0.parquet", first, last)
    (folder / "_metadata").write_text("of no use")
    return folder


@pytest.mark.parametrize("pattern", ["", "*/*.parquet"])
def test_a_folder_of_parts_is_one_table(tmp_path, parts, decoder, pattern):
    with read_table(parquet(tmp_path / "t.parquet")) as whole:
        expected = {name: listed(cells) for name, cells in whole.columns().items()}
    with read_table(parts / pattern if pattern else parts) as table:
        assert table.n_rows == N_ROWS
        assert "year" not in table.names
        assert "4 files are read as one table: part-0.parquet" in table.notes[0]
        assert {name: listed(cells) for name, cells in table.columns().items()} == expected
        for start, stop in ((0, 10), (90, 240), (100, 230), (299, 300), (5, 5)):
            chunk = table.chunk(start, stop)
            assert {n: listed(c) for n, c in chunk.items()} == {
                name: cells[start:stop] for name, cells in expected.items()
            }
        check_blocks(table, 64)
        assert not list(table._rows.storage.folder.glob("rows.duckdb"))


@pytest.mark.usefixtures("decoder")
def test_parts_with_other_types_of_numbers_and_another_order(tmp_path):
    selects = ["SELECT i AS a, 'w' || i AS b", "SELECT 'v' || i AS b, i / 2.0 AS a"]
    for k, select in enumerate(selects):
        duckdb.sql(f"{select} FROM range(5) r(i)").write_parquet(str(tmp_path / f"{k}.parquet"))
    with read_table(tmp_path) as table:
        check_blocks(table, 3)
        assert table["a"].tolist() == [0, 1, 2, 3, 4, 0, 0.5, 1, 1.5, 2]
        assert table["b"].tolist() == [f"{c}{k}" for c in "wv" for k in range(5)]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("1 AS a, 2 AS c", "1.parquet has no column 'b', unlike {0}: give files with the same"),
        ("1 AS a, 'x' AS b, 2 AS c", "1.parquet has a column 'c' of its own, unlike {0}: give"),
        (
            "'1' AS a, 'x' AS b",
            "1.parquet: column 'a' is of type VARCHAR, but INTEGER in {0}: write it with the same "
            "type in all files",
        ),
    ],
)
def test_parts_that_do_not_agree(tmp_path, other, says):
    first, second = tmp_path / "0.parquet", tmp_path / "1.parquet"
    duckdb.sql("SELECT 1 AS a, 'x' AS b").write_parquet(str(first))
    duckdb.sql(f"SELECT {other}").write_parquet(str(second))
    with pytest.raises(TableError) as caught:
        read_table(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/{says.format(first)}")


def test_a_damaged_part_is_named(tmp_path):
    for k in range(3):
        parquet(tmp_path / f"{k}.parquet")
    os.truncate(tmp_path / "1.parquet", 500)
    with pytest.raises(TableError, match=r"1\.parquet is a damaged Parquet file or breaks off"):
        read_table(tmp_path)


def test_a_folder_without_parts(tmp_path):
    with pytest.raises(TableError, match="is a folder: give the name of a file in it, or"):
        read_table(tmp_path)


# Files that change -------------------------------------------------------------------------------


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize("how", ["cut", "rewritten", "gone"])
def test_a_part_that_changes_between_blocks(parts, how):
    last = parts / "year=2023" / "part-0.parquet"
    with read_table(parts) as table:
        blocks = table.blocks(rows=64)
        assert next(blocks)[0] == 0
        if how == "cut":
            os.truncate(last, 900)
        elif how == "rewritten":
            parquet(last, 0, 70)
        else:
            last.unlink()
        says = "can no longer be read" if how == "gone" else "changed while it was read: "
        with pytest.raises(TableError, match=rf"part-0\.parquet {says}") as caught:
            list(blocks)
        assert "\n" not in str(caught.value)
        with pytest.raises(TableError, match=rf"year=2023/part-0\.parquet {says}"):
            table.columns()


def test_whole_numbers_as_texts():
    assert arrow_blocks._as_whole(np.array([1.0, np.nan, -2.0])).texts().tolist() == [
        "1",
        None,
        "-2",
    ]
    assert arrow_blocks._as_whole(np.array([1.0, 2.5])) is None
    assert arrow_blocks._as_whole(np.array([1e16])) is None

"""Tables in columns on disk: the same, cell by cell and note by note, as those in memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.tables import mapped_columns, rows_on_disk, storage
from rosenblatt.tables.formats import csv_files, plain_csv_on_disk
from rosenblatt.tables.rows_on_disk import RowsOnDisk
from rosenblatt.tables.staged_rows import StagedRows
from rosenblatt.tables.table import TableError, read_table
from rosenblatt.tables.texts import Texts

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

WAYS = [
    ["1", "2.5", "-3", "", "NA", "1e3"],
    ["1.25", "1.500", "7", "-", "none", "0.125"],
    ["1,234", "5,678", "9,012", "1,000", "", "77"],
    ["$5", "$6", "$7.50", "(8)", "9%", "n/a"],
    ["62 kg", "70 kg", "81.5 kg", "", "55 kg", "99 kg"],
    ["31.12.2024", "01.02.2023", "", "05.06.2022", "30.01.2021", "02.03.2020"],
    ["2024-01-31", "2023-02-28", "2022-03-01", "2021-12-31", "NA", "2020-06-30"],
    ["03/04/2024", "05/06/2023", "07/08/2022", "01/02/2021", "", "11/12/2020"],
    ["red", "green", "Red", " blue ", "?", "naïve"],
    ["01234", "00567", "00890", "12345", "", "00001"],
    ["10:30", "11:45", "23:59", "00:00", "", "12:15"],
    ["-999", "4", "5", "unknown", "6", "7"],
    ["yes", "no", "YES", "no", "", "yes"],
    ['"a, b"', '"3"', "c", '" d "', '""', "e"],
]


@pytest.fixture
def small_pieces(monkeypatch):
    """Blocks and pieces of a few rows, so that there are many."""
    monkeypatch.setattr(plain_csv_on_disk, "BLOCK_BYTES", 200)
    monkeypatch.setattr(plain_csv_on_disk, "WIDE", 1)
    for module in (mapped_columns, rows_on_disk):
        monkeypatch.setattr(module, "PIECE", 7)


def told(table):
    """All that a table says and holds."""
    cells = {}
    for name, column in table.columns().items():
        held = column.texts() if isinstance(column, Texts) else column
        cells[name] = [repr(cell) for cell in held.tolist()]
    about = (table.names, table.n_rows, table.has_header, table.kinds, table.notes)
    return about, cells, table.dates, table.units, table.decimals, table.written


def in_both_ways(path, **how):
    """What a table tells when it is read into memory, and when onto the disk.

    One with a row of units goes through the database in both cases.
    """
    found = []
    for n_bytes in (1 << 40, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_files, "LARGE_BYTES", 0)
            patch.setattr(storage, "IN_MEMORY_BYTES", n_bytes)
            try:
                with read_table(path, **how) as table:
                    units = any("holds units" in note for note in table.notes)
                    assert isinstance(table._rows, RowsOnDisk) is (n_bytes == 0 and not units)
                    found.append(told(table))
            except TableError as error:
                found.append(str(error))
    return found


def lines_of(columns, header="c"):
    rows = zip(*columns, strict=True)
    names = [f"{header}{j}" for j in range(len(columns))]
    return "".join(",".join(row) + "\n" for row in (names, *rows))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_table_on_disk_is_the_one_in_memory(data, tmp_path_factory):
    n_rows = data.draw(st.integers(1, 60))
    ways = data.draw(st.lists(st.sampled_from(WAYS), min_size=2, max_size=5))
    columns = []
    for way in ways:
        cells = st.lists(st.sampled_from(way), min_size=n_rows, max_size=n_rows)
        odd = data.draw(st.sampled_from([None, None, "word", "1,5", "+-"]))
        columns.append(data.draw(cells))
        if odd and "," not in odd:
            columns[-1][data.draw(st.integers(0, n_rows - 1))] = odd
    columns = [[f'"{c}"' if "," in c and '"' not in c else c for c in column] for column in columns]
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    path.write_text(lines_of(columns), encoding="utf-8")
    how = data.draw(st.sampled_from([{}, {"missing": ["-999", "unknown"]}, {"text": ["c0"]}]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_csv_on_disk, "BLOCK_BYTES", data.draw(st.sampled_from([40, 300])))
        patch.setattr(plain_csv_on_disk, "WIDE", 1)
        for module in (mapped_columns, rows_on_disk):
            patch.setattr(module, "PIECE", 7)
        in_memory, on_disk = in_both_ways(path, **how)
    assert on_disk == in_memory


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_way_of_writing(file, end):
    columns = [(way * 10)[k:][:40] for k, way in enumerate(WAYS)]
    columns = [[f'"{c}"' if "," in c and '"' not in c else c for c in column] for column in columns]
    path = file("\ufeff" + lines_of(columns).replace("\n", end))
    in_memory, on_disk = in_both_ways(path)
    assert on_disk == in_memory
    assert set(in_memory[0][3].values()) == {"number", "date", "text"}


@pytest.mark.usefixtures("small_pieces")
def test_several_files_in_any_order_of_columns(tmp_path):
    columns = [(way * 10)[k:][:40] for k, way in enumerate(WAYS) if k not in (2, 13)]
    names = [f"c{j}" for j in range(len(columns))]
    for k in range(3):
        order = np.roll(np.arange(len(columns)), k)
        rows = list(zip(*(columns[j] for j in order), strict=True))[k : 30 + k]
        lines = [";".join(names[j] for j in order)] if k == 1 else [",".join(np.take(names, order))]
        lines += [(";" if k == 1 else ",").join(row) for row in rows]
        (tmp_path / f"part{k}.csv").write_text("\n".join(lines), encoding="utf-8")
    in_memory, on_disk = in_both_ways(tmp_path / "part*.csv")
    assert on_disk == in_memory
    assert in_memory[0][1] == 90


@pytest.fixture
def on_disk(monkeypatch):
    """Every file is too large for memory."""
    monkeypatch.setattr(storage, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)


@pytest.mark.usefixtures("on_disk", "small_pieces")
def test_columns_are_views_that_cannot_be_written_to(file):
    rows = "".join(f"{k}.5,w{k % 3},2024-01-{1 + k % 28:02},{k % 2}\n" for k in range(50))
    with read_table(file("x,t,d,y\n" + rows)) as table:
        columns, again = table.columns(), table.columns()
        table = table.read_as({**table.kinds, "y": "text"})
        columns["y"] = table.columns(["y"])["y"]
        for name, column in columns.items():
            held = column.codes if isinstance(column, Texts) else column
            assert not held.flags.writeable
            assert not held.flags.owndata
            if name != "y":
                other = again[name]
                assert np.shares_memory(held, getattr(other, "codes", other))
        assert columns["y"].texts().tolist() == [str(k % 2) for k in range(50)]
        days = [f"2024-01-{1 + k % 28:02}" for k in range(50)]
        np.testing.assert_array_equal(columns["d"], np.array(days, "datetime64[us]"))
    np.testing.assert_array_equal(columns["x"], np.arange(50) + 0.5)  # after it was closed, too


@pytest.mark.usefixtures("on_disk", "small_pieces")
@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ("1,a\n" * 40 + "2,é\n" + '3,"b\nc"\n', ["number", "text"]),
        ("1,a\n" * 40 + "\n" + "2,b\n" * 60, ["number", "text"]),
        ("1,a\n" * 40 + '2,a"b\n', ["number", "text"]),
    ],
)
def test_what_is_not_plain_goes_to_the_database(file, rows, kinds):
    with read_table(file("x,t\n" + rows)) as table:
        assert isinstance(table._rows, StagedRows)
        assert list(table.kinds.values()) == kinds


@pytest.mark.usefixtures("on_disk", "small_pieces")
def test_too_many_different_texts_go_to_the_database(file, monkeypatch):
    path = file("x,t\n" + "".join(f"{k},w{k}\n" for k in range(100)))
    with read_table(path) as table:
        assert isinstance(table._rows, RowsOnDisk)
        expected = told(table)
    monkeypatch.setattr(plain_csv_on_disk, "MOST_BYTES_OF_TEXTS", 3000)
    with read_table(path) as table:
        assert isinstance(table._rows, StagedRows)
        assert told(table) == expected


@pytest.mark.usefixtures("on_disk", "small_pieces")
def test_another_encoding_is_noticed_wherever_it_begins(file, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.formats.encodings.HEAD_BYTES", 100)
    rows = "x,t\n" + "1,a\n" * 60 + "2,é\n"
    with read_table(file(rows.encode("cp1252"))) as table:
        assert isinstance(table._rows, RowsOnDisk)
        assert table.notes == ("The file is not UTF-8; it was read as Windows (cp1252).",)
        assert table["t"][-1] == "é"


@pytest.mark.usefixtures("on_disk")
def test_long_lines_and_none(file, monkeypatch):
    monkeypatch.setattr(plain_csv_on_disk, "BLOCK_BYTES", 16)
    monkeypatch.setattr(plain_csv_on_disk, "WIDE", 1)
    long = "w" * 5000
    with read_table(file(f"x,t\n1,a\n2,{long}\n3,b")) as table:
        assert isinstance(table._rows, RowsOnDisk)
        assert table["t"].tolist() == ["a", long, "b"]
    monkeypatch.setattr(plain_csv_on_disk, "LONGEST_LINE", 500)
    with read_table(file(f"x,t\n1,a\n2,{long}\n3,b")) as table:
        assert isinstance(table._rows, StagedRows)
        assert table["t"].tolist() == ["a", long, "b"]


@pytest.mark.usefixtures("on_disk", "small_pieces")
def test_more_rows_than_the_first_lines_let_expect(file):
    rows = [f"{k}.{'1' * max(40 - k, 1)},w{k % 7},{k}\n" for k in range(300)]
    with read_table(file("x,t,y\n" + "".join(rows))) as table:
        assert isinstance(table._rows, RowsOnDisk)
        assert table["y"].tolist() == list(range(300))
        assert table["t"].tolist() == [f"w{k % 7}" for k in range(300)]
        assert table["x"].tolist() == [float(row.split(",")[0]) for row in rows]


@pytest.mark.usefixtures("on_disk")
def test_a_table_that_holds_only_a_header(file):
    with pytest.raises(TableError, match="holds only a header and no rows"):
        read_table(file("x,t\n"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells what memory is")
def test_memory_does_not_grow_with_the_table(file):
    code = """
        import sys
        from rosenblatt.tables import mapped_columns, storage
        from rosenblatt.tables.formats import plain_csv_on_disk
        from rosenblatt.tables.table import read_table

        def anonymous():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

        storage.IN_MEMORY_BYTES = 0
        plain_csv_on_disk.BLOCK_BYTES = 1 << 18
        mapped_columns.PIECE = 1 << 14
        peaks = []
        settle = plain_csv_on_disk._Target.settle

        def settled(*args):
            peaks.append(anonymous())
            return settle(*args)

        plain_csv_on_disk._Target.settle = settled
        for path in sys.argv[1:]:
            with read_table(path) as table:
                columns = table.read_as({**table.kinds, "y": "text"}).columns()
                assert columns["d"].dtype.kind == "M"
                n = sum(len(block["x0"]) for _, block in table.blocks(rows=10_000))
                peaks.append(anonymous())
            print(n, max(peaks))
    """
    names = ",".join(["y", "d", *(f"x{j}" for j in range(20))])
    lines = [f"{k % 3},2024-01-{1 + k % 28:02}" + f",{k}" * 20 + "\n" for k in range(1000)]
    small = file(f"{names}\n" + "".join(lines), "small.csv")
    large = file(f"{names}\n" + "".join(lines) * 300, "large.csv")
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    (n_small, before), (n_large, after) = (
        map(int, line.split()) for line in done.stdout.splitlines()
    )
    assert (n_small, n_large) == (1000, 300_000)
    of_columns = 300_000 * (20 * 8 + 8 + 2 * 4) // 1024
    assert after - before < of_columns // 2

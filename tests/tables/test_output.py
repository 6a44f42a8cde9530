"""Writing tables."""

from __future__ import annotations

import errno
from pathlib import Path

import duckdb
import numpy as np
import pytest

from rosenblatt.tables import storage as storage_module
from rosenblatt.tables.output import TableWriter
from rosenblatt.tables.table import TableError, read_table

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

LABELS = ["a", 'say "x, y"', "é\n2", None, " pad ", "NA"]


VALUES = [0.1 + 0.2, -0.0, 5e-324, np.nan, 1.7976931348623157e308, 1 / 3]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".pq", ".CSV"])
def test_what_is_written_reads_back_bit_for_bit(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    columns = {"label": "text", "count": "integer", 'the "value"': "number"}
    labels, values = np.array(LABELS, dtype=object), np.array(VALUES)
    with TableWriter(path, columns) as out:
        for part in (slice(0, 4), slice(4, 4), slice(4, None)):
            rows = {"count": np.arange(6)[part], 'the "value"': values[part], "label": labels[part]}
            out.write(rows)
        assert not path.exists()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with read_table(path) as table:
        assert table.names == tuple(columns)
        assert table['the "value"'].tobytes() == values.tobytes()
        assert table["count"].tolist() == list(range(6))
        assert table["label"].tolist() == ["a", 'say "x, y"', "é\n2", None, "pad", None]
    if suffix in (".parquet", ".pq"):
        rows = duckdb.connect().execute(f"SELECT label FROM read_parquet('{path}')").fetchall()
        assert [label for (label,) in rows] == LABELS


def test_writing_to_standard_output(capsys):
    with TableWriter(None, {"prediction": "text", "decision": "number"}) as out:
        out.write({"prediction": np.array(["a", "b,c"]), "decision": np.array([0.1, -2])})
    assert capsys.readouterr().out == 'prediction,decision\na,0.1\n"b,c",-2.0\n'


def test_whole_numbers_are_written_without_a_point(tmp_path, capsys):
    columns = {"n": "number", "x": "number"}
    parts = [([181, np.nan, -3], [0.5, 1, 2]), ([1e300, 4, 5], [1, 2, 3]), ([-0.0], [np.nan])]
    with TableWriter(None, columns) as out, TableWriter(tmp_path / "o.csv", columns) as same:
        for n, x in parts:
            out.write({"n": np.array(n), "x": np.array(x)})
            same.write({"n": np.array(n), "x": np.array(x)})
    lines = capsys.readouterr().out.split()
    assert lines == ["n,x", "181,0.5", ",1.0", "-3,2.0", "1e+300,1", "4.0,2", "5.0,3", "-0.0,"]
    with read_table(tmp_path / "o.csv") as table:
        assert table["n"].tobytes() == np.concatenate([n for n, _ in parts]).tobytes()


def test_targets_are_checked_before_any_work(tmp_path):
    columns = {"p": "text"}
    with pytest.raises(TableError, match=r"ends in \.csv, \.tsv, \.parquet, \.pq$"):
        TableWriter(tmp_path / "out.xlsx", columns)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        TableWriter(tmp_path / "no" / "out.csv", columns)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        TableWriter(tmp_path / "folder.csv", columns)
    with pytest.raises(TableError, match="kind 'colour' is not known"):
        TableWriter(tmp_path / "out.csv", {"p": "colour"})


def test_rows_that_do_not_fit_the_table(tmp_path):
    with TableWriter(tmp_path / "o.csv", {"a": "text", "b": "number"}) as out:
        with pytest.raises(TableError, match="the table has"):
            out.write({"a": np.array(["x"])})
        with pytest.raises(TableError, match="differ in length"):
            out.write({"a": np.array(["x"]), "b": np.array([1.0, 2.0])})
    with pytest.raises(TableError, match="inside a with block"):
        out.write({"a": np.array(["x"]), "b": np.array([1.0])})


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    path.write_text("old")

    def fail():
        with TableWriter(path, {"a": "number"}) as out:
            out.write({"a": np.ones(3)})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_while_writing_csv(tmp_path, monkeypatch):
    opened = Path.open

    def full(path, mode="r", *arguments, **options):
        return opened(Path("/dev/full") if mode == "w" else path, mode, *arguments, **options)

    def write():
        with TableWriter(tmp_path / "out.csv", {"a": "number"}) as out:
            out.write({"a": np.ones(3)})

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match=r"out\.csv could not be written: no space left"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_while_writing_parquet(tmp_path, monkeypatch):
    rows = storage_module.Storage.rows

    def full(storage, sql, parameters=()):
        if sql.startswith("COPY"):
            raise OSError(errno.ENOSPC, "no space left on the disk (... TMPDIR)")
        return rows(storage, sql, parameters)

    def write():
        with TableWriter(tmp_path / "out.parquet", {"a": "number"}) as out:
            out.write({"a": np.ones(3)})

    monkeypatch.setattr(storage_module.Storage, "rows", full)
    with pytest.raises(OSError, match=r"out\.parquet could not be written: no space") as caught:
        write()
    assert "TMPDIR" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []

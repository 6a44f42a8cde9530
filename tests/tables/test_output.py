"""Writing tables."""

from __future__ import annotations

import csv
import errno
import io
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rosenblatt.tables import storage as storage_module
from rosenblatt.tables.output import TableWriter
from rosenblatt.tables.table import TableError, read_table
from rosenblatt.tables.texts import Texts

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


def naive_csv(columns, kinds, delimiter=","):
    """The same by Python's csv module, cell by cell."""
    cells = []
    for column, kind in zip(columns.values(), kinds, strict=True):
        values = column.tolist()
        if kind == "number":
            known = [x for x in values if x == x]
            whole = all(abs(x) < 2**53 and x == int(x) and repr(x) != "-0.0" for x in known)
            values = ["" if x != x else int(x) if whole else x for x in values]
        cells.append(["" if x is None else x for x in values])
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*cells, strict=True))
    return written.getvalue()


powers = st.integers(-1074, 1023).map(lambda k: 2.0**k)
numbers = st.floats(allow_infinity=False) | powers | st.integers(-999, 999).map(float)
words = st.none() | st.text(st.sampled_from("ab \t,;\"'\né0"), max_size=5)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(words, numbers, st.integers(-(2**62), 2**62)), min_size=1, max_size=9))
def test_csv_has_the_bytes_of_pythons_own_module(tmp_path, rows):
    texts, floats, counts = zip(*rows, strict=True)
    words = np.empty(len(rows), dtype=object)
    words[:] = texts
    columns = {"word, too": words, "x": np.array(floats), "n": np.array(counts)}
    kinds = ["text", "number", "integer"]
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        expected = naive_csv(columns, kinds, delimiter)
        for given_words in (words, Texts.of(words)):
            path = tmp_path / f"out{suffix}"
            with TableWriter(path, dict(zip(columns, kinds, strict=True))) as out:
                out.write({**columns, "word, too": given_words})
            assert path.read_bytes().decode() == expected


def test_a_carriage_return_is_quoted_whatever_the_version_of_python(tmp_path):
    words = np.array(["a\rb"], dtype=object)
    with TableWriter(tmp_path / "out.csv", {"w": "text", "t": "text"}) as out:
        out.write({"w": words, "t": Texts.of(words)})
    assert (tmp_path / "out.csv").read_bytes() == b'w,t\n"a\rb","a\rb"\n'


def test_powers_of_two_which_duckdb_misspells(tmp_path):
    values = np.concatenate([2.0 ** np.arange(-1074, 1024), [0.5, np.nan]])
    with TableWriter(tmp_path / "out.csv", {"x": "number", "n": "integer"}) as out:
        out.write({"x": values, "n": np.arange(len(values))})
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:-1]
    assert [float(line.split(",")[0]) for line in lines] == values[:-1].tolist()


@pytest.mark.parametrize("words", [["", None, "a"], [None], ["", ""]])
def test_a_single_column_has_no_empty_lines(tmp_path, words):
    column = {"word": np.array(words, dtype=object)}
    for given_words in (column["word"], Texts.of(column["word"])):
        with TableWriter(tmp_path / "out.csv", {"word": "text"}) as out:
            out.write({"word": given_words})
        assert (tmp_path / "out.csv").read_text() == naive_csv(column, ["text"])


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

    def full(storage, sql, *arguments):
        if sql.startswith("COPY"):
            raise OSError(errno.ENOSPC, "no space left on the disk (... TMPDIR)")
        return rows(storage, sql, *arguments)

    def write():
        with TableWriter(tmp_path / "out.parquet", {"a": "number"}) as out:
            out.write({"a": np.ones(3)})

    monkeypatch.setattr(storage_module.Storage, "rows", full)
    with pytest.raises(OSError, match=r"out\.parquet could not be written: no space") as caught:
        write()
    assert "TMPDIR" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []

"""Tables: read like Python's csv module reads them, refused in one line, never left behind."""

from __future__ import annotations

import bz2
import csv
import errno
import gzip
import io
import json
import lzma
import math
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.tables import csv_files, input_files
from rosenblatt.tables import storage as storage_module
from rosenblatt.tables.output import TableWriter
from rosenblatt.tables.table import Table, TableError, read_table

MISSING = {"", "?", "na", "n/a", "nan", "null", "#n/a"}


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path_factory, monkeypatch):
    """Every test leaves the folder of temporary files as it found it: empty."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def file(tmp_path):
    """A file with this content, its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Small files are staged as text, large ones as numbers where they can be: same answers."""
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0 if request.param == "large" else 1 << 60)
    return request.param


def contents(path, **options):
    """All columns as lists, None where a cell is missing."""
    with read_table(path, **options) as table:
        return {name: as_list(table[name]) for name in table}


def as_list(array):
    if array.dtype.kind == "f":
        return [None if math.isnan(x) else x for x in array.tolist()]
    return array.tolist()


def refusal(path, **options):
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "read_csv" not in message
    assert "SELECT" not in message
    return message


# --- kinds of columns


def test_the_three_kinds_and_their_arrays(size, file):
    text = "size,day,colour\n1.5,2024-03-01,red\n,,\n-2e3,2024-03-01T12:30:00Z, blue \n"
    with read_table(file(text)) as table:
        assert table.names == ("size", "day", "colour")
        assert table.kinds == {"size": "number", "day": "date", "colour": "text"}
        assert table.n_rows == 3
        assert table.has_header
        assert table.notes == ()
        assert table["size"].dtype == np.float64
        np.testing.assert_array_equal(table["size"], [1.5, np.nan, -2000])
        assert table["day"].dtype == np.dtype("datetime64[us]")
        days = np.array(["2024-03-01", "NaT", "2024-03-01T12:30"], dtype="datetime64[us]")
        np.testing.assert_array_equal(table["day"], days)
        assert table["colour"].tolist() == ["red", None, "blue"]


@pytest.mark.parametrize(
    "marker", ["", "?", "NA", "na", "N/A", "NaN", "nan", "NULL", "Null", "#N/A", " ? ", '""']
)
def test_markers_of_missing_cells(size, file, marker):
    path = file(f"x,c\n1,a\n{marker},{marker}\n3,b\n")
    assert contents(path) == {"x": [1, None, 3], "c": ["a", None, "b"]}


@pytest.mark.parametrize("word", ["-", "none", "None", "NONE"])
def test_a_dash_or_none_is_missing_among_numbers_but_a_class_among_words(size, file, word):
    path = file(f"x,day,class\n1,2024-03-01,yes\n{word},{word},{word}\n3,2024-03-02,no\n")
    with read_table(path) as table:
        assert table.kinds == {"x": "number", "day": "date", "class": "text"}
        assert as_list(table["x"]) == [1, None, 3]
        assert np.isnat(table["day"]).tolist() == [False, True, False]
        assert table["class"].tolist() == ["yes", word, "no"]
        as_text = table.read_as({"x": "text", "day": "text", "class": "text"})
        again = as_text.read_as({"x": "number", "day": "date"})
        assert as_list(again["x"]) == [1, None, 3]
        assert np.isnat(again["day"]).tolist() == [False, True, False]


def test_none_far_below_the_sample_of_a_large_file(monkeypatch, file):
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)
    path = file("x,sport\n" + "1,ball\n" * 2000 + "none,none\n")
    with read_table(path) as table:
        assert as_list(table["x"])[-2:] == [1, None]
        assert table["sport"][-2:].tolist() == ["ball", "none"]


def test_none_does_not_hide_a_header(file):
    assert contents(file("x,y\nnone,a\n1,b\n")) == {"x": [None, 1], "y": ["a", "b"]}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], "number"),
        ([" 1", "2 "], "number"),
        (["\t1", "2"], "number"),
        (["+1", "-2."], "number"),
        ([".5", "1E-3"], "number"),
        (["0", "0.5"], "number"),
        (["-0", "00"], "text"),
        (["01234", "98101"], "text"),
        ([" 01", "2"], "text"),
        (["1_000", "2"], "text"),
        (["+-5", "2"], "text"),
        (["1e5x", "2"], "text"),
        (["true", "false"], "text"),
        (["0x1F", "2"], "text"),
        (["?", "NA"], "text"),
        (["2024-03-01", "2024-02-30"], "text"),
        (["2024-03-01", "NA"], "date"),
        (["2024-03-01 10:00", "2024/3/1"], "date"),
        (["20240301", "20240302"], "number"),
        (["epoch", "infinity"], "text"),
        (["12:30", "12:31"], "text"),
        (["inf", "red"], "text"),
        (["123456789012345678901234567890", "1"], "number"),
    ],
)
@pytest.mark.parametrize("n_copies", [1, 6000])
def test_kinds(size, file, cells, kind, n_copies):
    """Alike whether the table is judged row by row or, when tall, column by column."""
    text = "a,b\n" + "".join(f"{cell},x\n" for cell in cells * n_copies)
    with read_table(file(text)) as table:
        assert table.kinds == {"a": kind, "b": "text"}


def test_times_with_an_offset_are_in_utc(file):
    path = file("t,n\n2024-03-01T12:00:00+02:00,1\n2024-03-01 12:00:00,2\n")
    with read_table(path) as table:
        expected = np.array(["2024-03-01T10:00", "2024-03-01T12:00"], dtype="datetime64[us]")
        np.testing.assert_array_equal(table["t"], expected)


DAY_FIRST = "Column 'when' is read as dates, day before month."
MONTH_FIRST = "Column 'when' is read as dates, month before day."


@pytest.mark.parametrize(
    ("cells", "expected", "notes"),
    [
        (["31.12.2024", "1.2.2024"], ["2024-12-31", "2024-02-01"], (DAY_FIRST,)),
        (["01.02.2024", "02.01.2024"], ["2024-02-01", "2024-01-02"], (DAY_FIRST,)),
        (["31.12.2024 08:15", "-"], ["2024-12-31T08:15", "NaT"], (DAY_FIRST,)),
        (["31/12/2024", "01/02/2024"], ["2024-12-31", "2024-02-01"], (DAY_FIRST,)),
        (["12/31/2024", "01/02/2024"], ["2024-12-31", "2024-01-02"], (MONTH_FIRST,)),
        (["12/31/2024", "2024-01-02"], ["2024-12-31", "2024-01-02"], (MONTH_FIRST,)),
        (["11/12/2024", "01/02/2024"], None, ()),
        (["31/12/2024", "12/31/2024"], None, ()),
        (["31.13.2024", "01.02.2024"], None, ()),
        (["31.12.24", "01.02.24"], None, ()),
        (["31.12.2024x", "01.02.2024"], None, ()),
    ],
)
@pytest.mark.parametrize("n_copies", [1, 6000])
def test_dates_by_day_and_month(size, file, cells, expected, notes, n_copies):
    path = file("when,n\n" + "".join(f"{cell},1\n" for cell in cells * n_copies))
    with read_table(path) as table:
        assert table.notes == notes
        assert table.kinds["when"] == ("date" if expected else "text")
        if expected:
            days = np.array(expected * n_copies, dtype="datetime64[us]")
            np.testing.assert_array_equal(table["when"], days)
            again = table.read_as({"when": "text"}).read_as({"when": "date"})
            np.testing.assert_array_equal(again["when"], days)
        else:
            assert table["when"].tolist() == cells * n_copies
            with pytest.raises(TableError, match="'when' must be a date"):
                table.read_as({"when": "date"})


def test_dates_whose_order_nothing_shows_cannot_be_asked_for(file):
    with (
        read_table(file("when,n\n11/12/2024,1\n01/02/2024,2\n")) as table,
        pytest.raises(TableError, match=r"day or the month comes first: write .* as 2024-12-31$"),
    ):
        table.read_as({"when": "date"})
    with read_table(file("when,n\n2024-01-02,1\n"), text=["when"]) as table:
        assert table.read_as({"when": "date"})["when"][0] == np.datetime64("2024-01-02")


def test_codes_with_leading_zeros_are_noted(size, file):
    with read_table(file("zip,n\n01234,1\n98101,2\n")) as table:
        assert table["zip"].tolist() == ["01234", "98101"]
        assert table.notes == ("Column 'zip' is read as text: it holds codes that begin with 0.",)
    with read_table(file("zip,n,code\n01234,1, 007\n98101,2,8\n")) as table:
        (note,) = table.notes
        words = "are read as text: they hold codes that begin with 0."
        assert note == f"Columns 'zip', 'code' {words}"


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999", "9" * 400])
def test_infinite_numbers_are_refused_by_column_and_row(size, file, cell):
    message = refusal(file(f"a,b\n1,2\n3,{cell}\n"))
    assert "column 'b' holds " in message
    assert "data row 2" in message


def test_decimal_commas(size, file):
    with read_table(file("a;b;c\n1,5;x;1,234\n-2;y;2\n")) as table:
        assert table["a"].tolist() == [1.5, -2]
        assert table["c"].tolist() == [1.234, 2]
        (note,) = table.notes
        assert note == "Columns 'a', 'c' are read as numbers with a decimal comma."
    names = ";".join(f"n{j}" for j in range(7))
    with read_table(file(f"{names}\n" + ";".join(["1,5"] * 7) + "\n")) as table:
        (note,) = table.notes
        assert note.startswith("Columns 'n0', 'n1', 'n2', 'n3', 'n4' and 2 more are read as")
    with read_table(file("a;b\n1,5;x\n")) as table:
        assert table.notes == ("Column 'a' is read as numbers with a decimal comma.",)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("word", "word"), ("-", None), (" ? ", None), ("1,5", None), ("4", 4), ("2024-01-01", "text")],
)
def test_a_cell_below_the_sample_of_a_large_file(monkeypatch, file, cell, expected):
    """What the first thousand rows promise is checked on all of them."""
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)
    path = file("a;b\n" + "1;x\n" * 2000 + f"{cell};y\n")
    with read_table(path, delimiter=";") as table:
        found = as_list(table["a"])
    if cell == "1,5":  # a decimal comma cannot be told from thousands by one cell, but by ;
        assert found[-1] == 1.5
    elif expected == "text":
        assert found[-2:] == ["1", cell]
    else:
        assert found[-1] == expected
    assert len(found) == 2001


def test_infinity_below_the_sample_of_a_large_file(monkeypatch, file):
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)
    assert "row 2001" in refusal(file("a,b\n" + "1,x\n" * 2000 + "1e999,y\n"))


def test_text_of_numbers_in_a_large_file(monkeypatch, file):
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)
    path = file("a,b\n1.50,1\n2.00,2\n")
    with read_table(path, text=["a"]) as table:
        assert table.kinds == {"a": "text", "b": "number"}
        assert table["a"].tolist() == ["1.50", "2.00"]
        assert table.read_as({"b": "text"})["b"].tolist() == ["1", "2"]


def test_a_name_that_goes_over_two_lines(size, file):
    path = file('a,"two\nlines",c\n' + "1,2,x\n" * 40)
    assert contents(path) == {"a": [1] * 40, "two\nlines": [2] * 40, "c": ["x"] * 40}


def test_a_comma_that_may_group_thousands_is_not_a_decimal_comma(file):
    with read_table(file("a\tb\tc\n1,234\t1\t1,5\n2,000\t2\t2,25\n", "t.tsv")) as table:
        assert table.kinds == {"a": "text", "b": "number", "c": "number"}


@given(
    values=st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**80), 2**80), min_size=1
    )
)
@settings(max_examples=25)
def test_numbers_are_read_exactly_as_python_reads_them(size, tmp_path_factory, values):
    path = tmp_path_factory.mktemp("numbers") / "t.csv"
    path.write_text("x\n" + "".join(f"{value!r}\n" for value in values))
    with read_table(path) as table:
        assert table["x"].tobytes() == np.array([float(v) for v in values]).tobytes()


# --- delimited text against Python's csv module


def reference(text, delimiter=","):
    """The cells of a delimited text by way of Python's csv module, trimmed, None if missing."""
    first, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    cells = [[cell.strip(" \t\n\r") for cell in row] for row in rows]
    cells = [[None if cell.lower() in MISSING else cell for cell in row] for row in cells]
    return {name: [row[j] for row in cells] for j, name in enumerate(first)}


ODD_CELLS = st.sampled_from(["NA", "?", "", " ", "1.5", '"', '""', "a\nb", "null"])


@given(data=st.data(), n_columns=st.integers(1, 4), delimiter=st.sampled_from(",;\t|"))
@settings(max_examples=60)
def test_same_cells_as_the_csv_module(size, tmp_path_factory, data, n_columns, delimiter):
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    # Python's writer leaves a lone carriage return without quotation marks unless told to.
    alphabet = 'ab",; \n\t\\é?01.-#' + "\r" * (quoting == csv.QUOTE_ALL)
    # Between tabs, marks around a line end and a tab are rather taken for free text.
    alphabet = alphabet.replace("\t" if delimiter == "\t" else "", "")
    row = st.lists(
        st.text(alphabet, max_size=8) | ODD_CELLS, min_size=n_columns, max_size=n_columns
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=ending)
    names = [f"name{j}" for j in range(n_columns)]
    writer.writerows([names, *rows])
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    path.write_text(stream.getvalue(), newline="")
    with read_table(path, header=True, delimiter=delimiter) as table:
        as_text = table.read_as(dict.fromkeys(names, "text"))
        found = {name: as_text[name].tolist() for name in names}
        expected = reference(stream.getvalue(), delimiter)
        for name in names:
            if table._columns[name].stored == "number":  # of a large file: .0 is 0 then
                expected[name] = [cell and float(cell) for cell in expected[name]]
                found[name] = [cell and float(cell) for cell in found[name]]
    assert found == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_delimiters_are_found(file, delimiter, ending):
    lines = [["a", "b", "c"], ["1", "x", "2.5"], ["2", '"y z"', "3"]]
    text = ending.join(delimiter.join(line) for line in lines)
    expected = {"a": [1, 2], "b": ["x", "y z"], "c": [2.5, 3]}
    for suffix in (".csv", ".tsv", ".txt", ".data", ".dat", ""):
        assert contents(file(text, f"t{suffix}")) == expected


def test_columns_lined_up_with_blanks(file):
    path = file("  1.5   2  a \n 10.25  3  b\n  0      4  c\n", "housing.data")
    assert contents(path) == {
        "column1": [1.5, 10.25, 0],
        "column2": [2, 3, 4],
        "column3": ["a", "b", "c"],
    }


def test_a_semicolon_or_a_blank_in_words_is_no_delimiter(file):
    assert contents(file("n,t\n1,a;b\n2,c;d\n")) == {"n": [1, 2], "t": ["a;b", "c;d"]}
    assert contents(file("city\nNew York\nLos Angeles\n")) == {"city": ["New York", "Los Angeles"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,b\n1,"x, ""y"""\n', {"a": [1], "b": ['x, "y"']}),
        ('a,b\n1, "x, y"\n2, z\n', {"a": [1, 2], "b": ["x, y", "z"]}),
        ('a,b\n1,"x\ny"\n', {"a": [1], "b": ["x\ny"]}),
        ('a,b\n1,"x \\"y\\", z"\n2,"w"\n', {"a": [1, 2], "b": ['x "y", z', "w"]}),
        ("a,b\n1,'x, y'\n2,'z'\n", {"a": [1, 2], "b": ["x, y", "z"]}),
        ("a,b\n1,5'\n2,6'\n", {"a": [1, 2], "b": ["5'", "6'"]}),
        ('a,b\n1,5"\n2,6"\n', {"a": [1, 2], "b": ['5"', '6"']}),
        ('a\tb\n1\t"x\n2\ty\n3\tz"\n', {"a": [1, 2, 3], "b": ['"x', "y", 'z"']}),
        ("a,b\n1,x\x00y\n", {"a": [1], "b": ["x\x00y"]}),
        ("\ufeffa,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ('\ufeff"a","b"\n1,x\n', {"a": [1], "b": ["x"]}),
        ("a,b\n\n1,x\n\n\n2,y\n\n  \n", {"a": [1, 2], "b": ["x", "y"]}),
        ("a\n1\n\n2\n\n", {"a": [1, 2]}),
        ("\n\na,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ("  \n1,x\n2,y\n", {"column1": [1, 2], "column2": ["x", "y"]}),
        ("# made by hand\n\n# a,b\n\n1,x\n", {"column1": [1], "column2": ["x"]}),
        ("\ufeff# made by hand\na,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ("a,b\n1,x", {"a": [1], "b": ["x"]}),
        ("# made by hand\n# twice\na,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ("# a,b\n1,x\n2,y\n", {"a": [1, 2], "b": ["x", "y"]}),
        ("#a,b\n1,x\n2,y\n", {"a": [1, 2], "b": ["x", "y"]}),
        ("a,b\n1,x\n# so far\n2,y\n", {"a": [1, 2], "b": ["x", "y"]}),
        ("#ff0000,1\n#00ff00,2\n", {"column1": ["#ff0000", "#00ff00"], "column2": [1, 2]}),
        ("a,b\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4], "column3": [None, None]}),
        ('"a" "b"\n"one" 1 2\n"two" 3 4\n', {"column1": ["one", "two"], "a": [1, 3], "b": [2, 4]}),
        ("a,b\r1,x\r2,y\r", {"a": [1, 2], "b": ["x", "y"]}),
        ('"a\nb",c\r\n1,x\r\n2,y\r\n', {"a\nb": [1, 2], "c": ["x", "y"]}),
        ('"p\nq",1\r\nr,2\r\n', {"column1": ["p\nq", "r"], "column2": [1, 2]}),
        ('# d\n"a\r\nb",c\n1,x\n2,"y\r\n"\n', {"a\r\nb": [1, 2], "c": ["x", "y"]}),
    ],
)
def test_ways_of_writing(size, file, text, expected):
    assert contents(file(text)) == expected


def test_a_quotation_mark_far_below_the_sample(file):
    lines = [f"{i}\twords number {i}" for i in range(40_000)]
    lines[39_000] = '39000\t"an unbalanced mark'
    with read_table(file("\n".join(lines), "t.tsv")) as table:
        assert table.n_rows == 40_000
        assert table["column2"][39_000] == '"an unbalanced mark'


@pytest.mark.parametrize(
    "lines",
    [
        ["1,2,a", '1,"2,a', "3,4,b"],
        ["1,2,a", '1,"2,a', '5,"6",c'],
        ['1,2,"a"', '1,"2,a', '3,4,"b"', '5,6,"c"'],
        ["", '1, "2,a', "3,4,b"],
    ],
)
def test_a_quotation_mark_that_is_never_closed(file, lines):
    message = refusal(file("\n".join(["a,b,c", *lines, ""])))
    assert ": line 3 opens a quotation mark that is never closed: " in message


def test_a_quotation_mark_that_is_never_closed_far_below_the_sample(size, file):
    lines = [f"{i},{i},a" for i in range(50_000)]
    lines[41_233] = '1,"2,a'
    assert "line 41234 opens a quotation mark that is never closed" in refusal(
        file("\n".join(lines))
    )
    lines[45_000] = '1,2,"b" c'
    lines[41_233] = "1,2,a"
    assert "line 45001 goes on after a closing quotation mark" in refusal(file("\n".join(lines)))


def test_quotation_marks_that_join_lines_that_look_like_rows_are_noted(file):
    with read_table(file('a,b,c\n1,2,a\n1,"2,a\n3,4,b\n5,6",c\n')) as table:
        assert table.n_rows == 2
        (note,) = table.notes
        assert note.startswith("Data row 2 is 3 lines long: quotation marks join them")
    with read_table(file('a,b,c\n1,2,"a\nb"\n')) as table:
        assert table.notes == ()


def test_a_line_without_a_tab_continues_the_text_above(file):
    with read_table(file("ham\tone\nspam\ttwo\nhalves\nham\tthree\n", "sms")) as table:
        assert table["column2"].tolist() == ["one", "two\nhalves", "three"]
        assert table.notes == ("Line 3 has no tab; it was joined to the row above it.",)
    with read_table(file("ham\tone\nhalf\nham\ttwo\n" * 9, "sms")) as table:
        assert len(table.notes) == 5
        assert table.notes[-1] == "The same goes for 5 more."


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("a,b\n1,x\n", True),
        ("1,x\n2,y\n", False),
        ("name,kind\nann,x\nbob,y\n", True),
        ("x,y\nx,z\n", False),
        ("a\n1\n", True),
        ("1\n2\n", False),
        ("5.1,3.5\n", False),
        ("id,2000,2001\nfr,1,2\nde,3,4\n", False),
        ("x,1\n?,2\n", False),
        ("day,n\n2024-03-01,a\n", True),
        (",b\n1,x\n2,y\n", False),
        (",b\n1,3\n2,4\n", True),
        ("a,b\n?,x\n2,y\n", True),
    ],
)
def test_header_is_judged_and_can_be_said(size, file, text, has_header):
    path = file(text)
    n_lines = text.count("\n")
    with read_table(path) as table:
        assert table.has_header is has_header
        assert table.n_rows == n_lines - has_header
        if not has_header:
            assert table.names == tuple(f"column{j + 1}" for j in range(len(table)))
    with read_table(path, header=False) as table:
        assert not table.has_header
        assert table.n_rows == n_lines
    if n_lines > 1:
        with read_table(path, header=True) as table:
            assert table.has_header
            assert table.n_rows == n_lines - 1


def test_names_given_twice_or_not_at_all(file):
    with read_table(file("a,,a,A,a_2,a\n1,2,3,4,5,6\n")) as table:
        assert table.names == ("a", "column2", "a_3", "A", "a_2", "a_4")
        (note,) = table.notes
        renamed = "column 3 is called 'a_3', column 6 is called 'a_4'"
        assert note == f"Some names are given twice; {renamed}."
    with read_table(file("a,a\n1,2\n")) as table:
        assert table.names == ("a", "a_2")
        assert table.notes == ("The name 'a' is given twice; column 2 is called 'a_2'.",)


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ()),
        ("cp1252", ("The file is not UTF-8; it was read as Windows (cp1252).",)),
    ],
)
def test_encodings(file, encoding, note):
    path = file("straße,größe\nä,1\n".encode(encoding))
    with read_table(path) as table:
        assert table.names == ("straße", "größe")
        assert table["straße"].tolist() == ["ä"]
        assert table.notes == note


PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": input_files.zstd.compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files(file, suffix):
    text = b"a,b\n1,x\n2,y\n"
    assert contents(file(PACKERS[suffix](text), f"t.csv{suffix}")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_in_several_parts(file, suffix):
    pack = PACKERS[suffix]
    path = file(pack(b"a,b\n1,2\n") + pack(b"3,4\n"), f"t.csv{suffix}")
    assert contents(path) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files_may_be_in_any_encoding(file, suffix):
    path = file(PACKERS[suffix]("a,b\n1,caf\u00e9\n2,y\n".encode("latin-1")), f"t.csv{suffix}")
    assert contents(path) == {"a": [1, 2], "b": ["caf\u00e9", "y"]}


def test_long_lines_and_cells(size, file):
    huge = "x" * 5_000_000
    assert contents(file(f"a,b\n1,{huge}\n2,y\n")) == {"a": [1, 2], "b": [huge, "y"]}
    rows = "1,x\n" * 300_000  # beyond the sample
    with read_table(file(f"a,b\n{rows}2,{huge[:500_000]}\n")) as table:
        assert table["b"][-1] == huge[:500_000]
    names = [f"n{j}" for j in range(3000)]
    with read_table(file(",".join(names) + "\n" + ",".join(["1.5"] * 3000) + "\n")) as table:
        assert table.names == tuple(names)
        chunk = table.chunk(0, 1)
        assert set(chunk) == set(names)
        assert all(array.tolist() == [1.5] for array in chunk.values())


def test_order_of_rows_is_kept_through_chunks(size, file):
    n_rows = 300_000
    path = file("i,t\n" + "".join(f"{i},w{i}\n" for i in range(n_rows)))
    with read_table(path) as table:
        assert table.n_rows == n_rows
        np.testing.assert_array_equal(table["i"], np.arange(n_rows))
        for start in (0, 99_999, 250_000):
            chunk = table.chunk(start, start + 60_000)
            expected = np.arange(start, min(start + 60_000, n_rows))
            np.testing.assert_array_equal(chunk["i"], expected)
            assert chunk["t"].tolist() == [f"w{i}" for i in expected]
        assert table.chunk(5, 5)["i"].shape == (0,)
        assert list(table.chunk(0, 2, ["t"])) == ["t"]


def test_a_large_file_is_staged_on_disk(file, monkeypatch):
    monkeypatch.setattr(storage_module, "IN_MEMORY_BYTES", 10)
    with read_table(file(gzip.compress(b"a,b\n1,x\n2,y\n"))) as table:
        (folder,) = Path(tempfile.gettempdir()).iterdir()
        assert (folder / "rows.duckdb").exists()
        assert not (folder / "copies").exists()
        assert table["a"].tolist() == [1, 2]


# --- the table as an object


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
        pytest.raises(TableError, match="'a' must be a number, but data row 1 holds 'x'"),
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


# --- Parquet and JSON


PARQUET = """
    SELECT unnest([1, 2, NULL])::TINYINT AS small, unnest(['1.5', 'NaN', NULL])::DOUBLE AS x,
        unnest([0.25, 1, 2])::DECIMAL(9, 3) AS price,
        170141183460469231731687303715884105727::HUGEINT AS huge,
        unnest([true, false, NULL]) AS flag, unnest([' a ', 'NA', '01']) AS word,
        unnest(['1', '2', '3']) AS digits,
        unnest([DATE '2024-03-01', NULL, DATE '1900-01-01']) AS day,
        TIMESTAMPTZ '2024-03-01 12:00:00+02' AS moment, TIME '12:30:00' AS hour,
        {'a': 1} AS nested, [1, 2] AS list, 'ab'::BLOB AS bytes,
        uuid() AS id, 'x'::ENUM ('x', 'y') AS choice
"""


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t", "t.csv"])
def test_parquet(tmp_path, name):
    path = tmp_path / name
    duckdb.connect().execute(f"SET TimeZone = 'UTC'; COPY ({PARQUET}) TO '{path}' (FORMAT parquet)")
    with read_table(path) as table:
        kinds = dict.fromkeys(["small", "x", "price", "huge"], "number")
        kinds |= dict.fromkeys(["flag", "word", "digits", "hour", "id", "choice"], "text")
        assert table.kinds == kinds | {"day": "date", "moment": "date"}
        assert table.has_header
        assert as_list(table["small"]) == [1, 2, None]
        assert as_list(table["x"]) == [1.5, None, None]
        assert table["price"].tolist() == [0.25, 1, 2]
        assert table["huge"].tolist() == [2.0**127] * 3
        assert table["flag"].tolist() == ["true", "false", None]
        assert table["word"].tolist() == ["a", None, "01"]
        assert table["digits"].tolist() == ["1", "2", "3"]
        assert np.isnat(table["day"]).tolist() == [False, True, False]
        assert table["moment"][0] == np.datetime64("2024-03-01T10:00")
        assert table["hour"].tolist() == ["12:30:00"] * 3
        left_out = "are left out: they hold nested or binary values."
        assert table.notes == (f"Columns 'nested', 'list', 'bytes' {left_out}",)
        part = table.read_as({"digits": "number", "small": "text", "day": "text"})
        assert part["digits"].tolist() == [1, 2, 3]
        assert part["small"].tolist() == ["1", "2", None]
        with pytest.raises(TableError, match="data row 1 holds 'a'"):
            table.read_as({"word": "number"})


def test_parquet_names_that_differ_only_in_case(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1.0, 2.0], "A": [3.0, 4.0], "s": [{"a": 1}, {"a": 2}], "b": ["x", "y"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    assert contents(tmp_path / "t.parquet") == {"a": [1, 2], "A": [3, 4], "b": ["x", "y"]}


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson", "t.data", "t.jsonl.gz"])
@pytest.mark.parametrize("as_lines", [True, False])
def test_json(tmp_path, name, as_lines):
    records = [
        {"x": 1, "word": " a ", "flag": True, "day": "2024-03-01", "mixed": 1, "deep": {"a": 1}},
        {"x": 2.5, "word": "NA", "flag": None, "day": None, "mixed": "NA", "deep": None},
        {"x": None, "word": "b", "flag": False, "day": "2024-03-02", "late": "z"},
    ]
    text = "\n".join(map(json.dumps, records)) if as_lines else json.dumps(records, indent=1)
    data = text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with read_table(path) as table:
        kinds = {"x": "number", "word": "text", "flag": "text", "day": "date", "mixed": "number"}
        assert table.kinds == kinds | {"late": "text"}
        assert as_list(table["x"]) == [1, 2.5, None]
        assert table["word"].tolist() == ["a", None, "b"]
        assert table["flag"].tolist() == ["true", None, "false"]
        assert as_list(table["mixed"]) == [1, None, None]
        assert table["late"].tolist() == [None, None, "z"]
        assert table.notes == ("Column 'deep' is left out: it holds nested or binary values.",)


WORDS = {
    "iso": (["2024-03-01", "NA", "2024-03-02 12:30:00", " 2024-03-01T12:00:00+02:00 "], "date"),
    "dots": (["31.12.2024", "none", "1.2.2024", "-"], "date"),
    "slashes": (["12/31/2024", "1/2/2024", "?", ""], "date"),
    "unclear": (["04-03-2024", "05-03-2024", "06-03-2024", "07-03-2024"], "text"),
    "sport": (["none", "ball", "None", "-"], "text"),
    "digits": (["1", "2", "none", "3"], "text"),
    "mixed": (["2024-03-01", "soon", None, "later"], "text"),
    "late": ([*["2024-03-01"] * 3, "2024-02-30"], "text"),
}


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.csv"])
@pytest.mark.parametrize("n_copies", [1, 3000])
def test_dates_in_text_are_dates_in_every_format(tmp_path, name, n_copies):
    path = tmp_path / name
    columns = {column: cells * n_copies for column, (cells, _) in WORDS.items()}
    if name == "t.csv":
        del columns["digits"]  # without types they are numbers
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if name == "t.parquet":
        with TableWriter(path, dict.fromkeys(columns, "text")) as out:
            out.write({column: np.array(c, dtype=object) for column, c in columns.items()})
    elif name == "t.jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(columns))
            writer.writeheader()
            writer.writerows(rows)
    with read_table(path) as table:
        assert table.kinds == {column: WORDS[column][1] for column in columns}
        moments = ["2024-03-01", "NaT", "2024-03-02T12:30", "2024-03-01T10:00"]
        expected = np.array(moments * n_copies, dtype="datetime64[us]")
        np.testing.assert_array_equal(table["iso"], expected)
        assert table["slashes"][0] == table["dots"][0] == np.datetime64("2024-12-31")
        assert table["sport"][:4].tolist() == ["none", "ball", "None", "-"]
        assert len(table.notes) == 2


def test_json_types_that_change_after_many_rows(tmp_path):
    records = [{"x": i} for i in range(30_000)] + [{"x": "many"}]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    with read_table(path) as table:
        assert table.kinds == {"x": "text"}
        assert table["x"][[0, -1]].tolist() == ["0", "many"]


def test_infinity_in_parquet(tmp_path):
    duckdb.connect().execute(
        f"COPY (SELECT unnest(['1', 'inf'])::DOUBLE AS x) TO '{tmp_path / 't.parquet'}'"
    )
    assert "column 'x' holds inf in data row 2" in refusal(tmp_path / "t.parquet")


# --- refusals, one line each


def test_no_such_file(file, tmp_path):
    near = file("a\n1\n", "measurements.csv")
    message = refusal(tmp_path / "measurement.csv")
    assert message.endswith(f"did you mean {near}?")
    assert "there is no file" in refusal(tmp_path / "zzz")
    assert "there is no folder" in refusal(tmp_path / "no" / "where.csv")
    assert "there is no folder" in refusal(near / "below.csv")
    assert "cannot be read" in refusal("x" * 5000)
    assert "cannot be the name of a file" in refusal("a\0b")
    assert refusal("") == "'' cannot be the name of a file"


@pytest.mark.parametrize("address", ["http://x.org/t.csv", "https://x.org/a", "s3://b/t.parquet"])
def test_addresses_are_not_fetched(address):
    assert (
        refusal(address) == f"{address} is an address: download the file first, then give its name"
    )


def test_a_folder_and_a_forbidden_file(file, tmp_path, monkeypatch):
    assert refusal(tmp_path).endswith("is a folder: give the name of a file in it")
    path = file("a\n1\n")

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "may not be read" in refusal(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty inside"),
        (b"\n\n  \n", "nothing but blank lines"),
        (b"\xef\xbb\xbf", "nothing but blank lines"),
        (b"a,b\n", "only a header and no rows"),
        (b"a,b\n\n\n", "only a header and no rows"),
        (b"a,b\n", "if its first line is data, use --no-header (header=False in Python)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is a PNG picture"),
        (b"%PDF-1.7\n\x00", "is a PDF document"),
        (bytes(range(256)) * 9, "is a binary file"),
        (b"<!DOCTYPE html>\n<html></html>", "is a web page"),
        (b"% c\n@RELATION iris\n@DATA\n1,2\n", "is an ARFF file"),
        (gzip.compress(b"a,b\n" + os.urandom(9999).hex().encode())[:3000], "damaged or breaks off"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "damaged or breaks off"),
        (bz2.compress(b"a,b\n1,2\n" * 999)[:-9], "damaged or breaks off"),
        (lzma.compress(b"a,b\n1,2\n" * 999)[:-9], "damaged or breaks off"),
        (b"PAR1" + b"\x15\x04" * 99, "is a damaged Parquet file or breaks off"),
        (b"-1 3:1 11:1 14:1\n+1 5:1 7:1\n", "is in svmlight format"),
        (b"1 qid:3 3:0.5 11:1e-3 # c\n0 qid:3 5:1\n", "is in svmlight format"),
        (b'{"a": 1}\n{"a": \n', "is not valid JSON"),
        (b'[{"a": 1}, {"a"', "is not valid JSON"),
        (b'{"a": [1, 2], "b": {"c": 1}}', "no column of numbers, dates or text"),
        (b"[]", "holds no rows"),
        (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "line 3 has 2 fields, but the table has 3 columns"),
        (b"a\tb\tc\n1\t2\t3\n4\n6\t7\t8\n", "line 3 has 1 field, but the table has 3 columns"),
        (b"a,b\n1,2\n3,4\n5,6,7\n", "give the right --delimiter (delimiter= in Python"),
        (b"a,b\n1,2\n3,4\n5,6,7\n", "line 4 has 3 fields, but the table has 2 columns"),
        (b'a,b\n"1\nx",2\n3\n', "line 4 has 1 field, but the table has 2 columns"),
        (b"My report\na,b,c\n1,2,3\n4,5,6\n", "line 1 has 1 field, but the table has 3 columns"),
    ],
)
def test_what_is_no_table(file, content, words):
    path = file(content, "t")
    message = refusal(path)
    assert words in message
    assert message.startswith(str(path))


def test_a_ragged_line_far_down(file):
    lines = [f"{i},{i},{i}" for i in range(50_000)]
    lines[41_233] = "1,2"
    message = refusal(file("\n".join(lines)))
    assert "line 41234 has 2 fields, but the table has 3 columns" in message


def test_archives_and_workbooks(tmp_path):
    for inside, words in [
        ("xl/workbook.xml", "is an Excel workbook: save its sheet as CSV first"),
        ("t.csv", "is a zip archive: unpack it first"),
        ("x.npy", "is a NumPy archive"),
        ("schema.json", "is a rosenblatt model"),
    ]:
        with zipfile.ZipFile(tmp_path / "t", "w") as archive:
            archive.writestr(inside, "x")
        assert words in refusal(tmp_path / "t")


def test_truncated_and_mislabelled_parquet(tmp_path, file):
    path = tmp_path / "t.parquet"
    duckdb.connect().execute(f"COPY (SELECT range AS a FROM range(9999)) TO '{path}'")
    path.write_bytes(path.read_bytes()[:-100])
    assert "is a damaged Parquet file or breaks off" in refusal(path)
    assert "is named like Parquet but is not" in refusal(file("a,b\n1,2\n", "t.parquet"))


def test_truncated_zstd(tmp_path):
    path = tmp_path / "t.csv.zst"
    sql = f"COPY (SELECT random() a FROM range(9999)) TO '{path}' (COMPRESSION zstd)"
    duckdb.connect().execute(sql)
    path.write_bytes(path.read_bytes()[:-1000])
    assert "is damaged or breaks off" in refusal(path)


def test_options_that_make_no_sense(file):
    assert "give one character" in refusal(file("a\n1\n"), delimiter="ab")
    assert "give one character" in refusal(file("a\n1\n"), delimiter="")
    assert "give one character" in refusal(file("a\n1\n"), delimiter='"')


# --- standard input, pipes, interruption, leaving nothing behind


def run_python(code, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_standard_input(file, monkeypatch):
    for name in ("-", "/dev/stdin"):
        with file("a,b\n1,x\n").open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            assert contents(name) == {"a": [1], "b": ["x"]}
    with file("", "empty").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert refusal("-").startswith("standard input is empty")
    monkeypatch.setattr(sys, "stdin", None)
    assert "there is no standard input" in refusal("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,x\n",))
    writer.start()
    assert contents(pipe) == {"a": [1], "b": ["x"]}
    writer.join()


def test_only_numpy_and_duckdb_are_needed(file, tmp_path):
    code = """
        import sys
        for name in ("pandas", "polars", "pyarrow"):
            sys.modules[name] = None
        import numpy as np
        from rosenblatt.tables.output import TableWriter
        from rosenblatt.tables.table import read_table
        with read_table(sys.argv[1]) as table:
            print({name: table[name].tolist() for name in table})
            for name in ("o.csv", "o.parquet"):
                with TableWriter(f"{sys.argv[2]}/{name}", {"t": "text", "x": "number"}) as out:
                    out.write({"t": table["t"], "x": table["x"]})
                print(dict(read_table(f"{sys.argv[2]}/{name}"))["x"].tolist())
    """
    path = file("x,d,t\n1,2024-03-01,a\n2,NA,NA\n")
    arguments = ["-W", "error", "-c", textwrap.dedent(code), str(path), str(tmp_path)]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.count("[1.0, 2.0]") == 3


def test_nothing_is_left_behind_when_python_ends_without_closing(file, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    path = file("a,b\n1,x\n")
    code = f"""
        from rosenblatt.tables.table import read_table
        table = read_table({str(path)!r})
        import os
        assert os.listdir({str(folder)!r})
        raise SystemExit(3)
    """
    done = run_python(code, env={**os.environ, "TMPDIR": str(folder)})
    assert (done.returncode, done.stderr) == (3, "")
    assert list(folder.iterdir()) == []


def test_a_forked_child_does_not_remove_the_parents_files(file):
    with read_table(file("a\n1\n")) as table:
        storage = table._storage
        folder = storage.folder
        storage_module._remove(os.getpid() + 1, folder, storage._connections, None)
        assert folder.exists()
        assert table["a"].tolist() == [1]


FOREVER = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"


def test_ctrl_c_during_a_query_is_a_keyboard_interrupt():
    storage = storage_module.Storage()
    storage.open(0)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            storage.rows(FOREVER)
    finally:
        timer.join()
        storage.close()


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_while_the_thread_of_a_query_starts(monkeypatch, begun):
    class Starting(threading.Thread):
        def start(self):
            if begun:
                super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(storage_module, "Thread", Starting)
    with duckdb.connect() as connection, pytest.raises(KeyboardInterrupt):
        storage_module.interruptible(connection, lambda: connection.execute(FOREVER))


def test_signals_during_a_query_end_the_process_and_leave_nothing_behind(tmp_path):
    """SIGTERM becomes SystemExit, as in the command; a second one must not make it wait."""
    code = f"""
        import os, signal, sys, threading
        from rosenblatt.tables import storage as module

        def leave(number, frame):
            raise SystemExit(143)

        def kill_twice():
            os.kill(os.getpid(), signal.SIGTERM)
            interrupted.wait()
            os.kill(os.getpid(), signal.SIGTERM)

        class Slow:
            # A query that needs many interrupts to end.
            def interrupt(self):
                interrupted.set()
                if len(calls) > 5:
                    connection.interrupt()
                calls.append(1)

        signal.signal(signal.SIGTERM, leave)
        interrupted, calls = threading.Event(), []
        storage = module.Storage()
        storage.open(0)
        connection = storage._cursor()
        threading.Timer(0.3, kill_twice).start()
        module.interruptible(Slow(), lambda: connection.execute({FOREVER!r}).fetchall())
    """
    done = run_python(code, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (143, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_what_a_killed_process_left_behind_is_removed_by_the_next(file, tmp_path):
    path = file("a\n1\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    code = f"""
        import os, sys
        from rosenblatt.tables.table import read_table
        table = read_table({str(path)!r})
        print(os.listdir({str(folder)!r}), flush=True)
        sys.stdin.read()
        os.kill(os.getpid(), 9)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    (folder / "rosenblatt-notes").mkdir()  # not ours, whatever its name
    with subprocess.Popen(command, env=environment, **pipes) as alive:
        alive.stdout.readline()
        look = f"from rosenblatt.tables.table import read_table; read_table({str(path)!r}).close()"
        assert run_python(look, env=environment).returncode == 0
        assert len(list(folder.iterdir())) == 2
        alive.communicate()
    assert len(list(folder.iterdir())) == 2
    assert run_python(look, env=environment).returncode == 0
    assert [left.name for left in folder.iterdir()] == ["rosenblatt-notes"]


@pytest.mark.parametrize("impatience", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_again_while_cleaning_up_leaves_nothing_behind(file, monkeypatch, impatience):
    table = read_table(file("a\n1\n"))
    remove, calls = storage_module.shutil.rmtree, []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            raise impatience
        remove(*arguments, **options)

    monkeypatch.setattr(storage_module.shutil, "rmtree", interrupted)
    with pytest.raises(impatience):
        table.close()
    assert not table._storage.folder.exists()


def test_a_full_disk_while_reading_is_an_os_error():
    def full():
        msg = "IO Error: Could not write file: No space left on device\nmore"
        raise duckdb.IOException(msg)

    with pytest.raises(OSError, match="no space left on the disk") as caught:
        storage_module.interruptible(duckdb.connect(), full)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_while_unpacking_names_the_folder_of_temporary_files(file, monkeypatch):
    path = file(gzip.compress(b"a,b\n1,2\n"))
    monkeypatch.setattr(input_files, "_written", lambda _: open("/dev/full", "wb"))  # noqa: PTH123, SIM115
    with pytest.raises(OSError, match=r"no space left on the disk .*TMPDIR"):
        read_table(path)


# --- writing


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


# --- real files


@pytest.fixture(scope="module")
def data():
    folder = os.environ.get("ROSENBLATT_DATA")
    if not folder:
        pytest.skip("set ROSENBLATT_DATA to the folder with the real data sets")
    return Path(folder)


@pytest.mark.parametrize(
    ("name", "n_rows", "n_columns", "n_numbers", "has_header"),
    [
        ("covtype.csv.gz", 581_012, 55, 55, True),
        ("colon.csv.gz", 62, 2002, 2001, True),
        ("spambase.data", 4601, 58, 58, False),
        ("sonar.csv", 208, 61, 60, False),
        ("pima-indians-diabetes.csv", 768, 9, 9, False),
        ("banknote_authentication.csv", 1372, 5, 5, False),
        ("adult-train.csv.gz", 32_561, 15, 6, False),
        ("adult-test.csv.gz", 16_281, 15, 6, False),
        ("SMSSpamCollection", 5574, 2, 0, False),
    ],
)
def test_real_tables(data, name, n_rows, n_columns, n_numbers, has_header):
    with read_table(data / name) as table:
        assert (table.n_rows, len(table)) == (n_rows, n_columns)
        assert list(table.kinds.values()).count("number") == n_numbers
        assert table.has_header is has_header
        assert len(table.chunk(n_rows - 5, n_rows + 5)[table.names[-1]]) == 5


@pytest.mark.parametrize("name", ["adult-train.csv.gz", "sonar.csv", "spambase.data"])
def test_real_cells_against_the_csv_module(data, name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(data / name, "rt", newline="") as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if row]
    with read_table(data / name) as table:
        as_text = table.read_as(dict.fromkeys(table.names, "text"))
        for column, cells in zip(table.names, zip(*rows, strict=True), strict=True):
            expected = [None if cell.lower() in MISSING else cell for cell in cells]
            assert as_text[column].tolist() == expected
            if table.kinds[column] == "number":
                assert as_list(table[column]) == [None if c is None else float(c) for c in expected]


@pytest.mark.parametrize("name", ["a9a.gz", "a9a.t.gz", "w8a.gz", "agaricus.txt.test"])
def test_real_svmlight_files_are_refused(data, name):
    assert "sklearn.datasets.load_svmlight_file" in refusal(data / name)


def test_real_pictures_of_digits_are_refused(data):
    assert "is an IDX array" in refusal(data / "mnist-t10k-images-idx3-ubyte.gz")


WIDE = {
    "utf-16, half a character": "a,b\n1,x\n".encode("utf-16")[:-1],
    "utf-16, half a pair": b"\xff\xfe" + "a,b\n1,".encode("utf-16-le") + b"\x00\xd8",
    "utf-16, big end first": b"\xfe\xff" + "a,b\n1,x\n".encode("utf-16-be")[:-1],
    "utf-32": "a,b\n1,x\n".encode("utf-32")[:-2],
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_characters_that_break_off(name, file):
    says = f"begins as {name[:6].upper()} but breaks off or is damaged: copy it again$"
    with pytest.raises(TableError, match=says):
        read_table(file(WIDE[name]))


@pytest.mark.parametrize("start", ["utf-32", "utf-32-be"])
def test_four_bytes_for_a_character(start, file):
    mark = "\ufeff" if start == "utf-32-be" else ""
    with read_table(file(f"{mark}a,b\n1,é\n2,y\n".encode(start))) as found:
        assert found["a"].tolist() == [1.0, 2.0]
        assert found["b"].tolist() == ["é", "y"]

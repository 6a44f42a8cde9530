"""Kinds of columns: numbers, dates and text, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.tables.formats import csv_files
from rosenblatt.tables.table import TableError, read_table
from table_contents import as_list, contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


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


def test_markers_of_missing_cells(size, file):
    markers = ["", "?", "NA", "na", "N/A", "NaN", "nan", "NULL", "Null", "#N/A", " ? ", '""']
    lines = [[f"x{k},c{k}" for k in range(len(markers))]]
    lines += [["1,a" for _ in markers], [f"{m},{m}" for m in markers], ["3,b" for _ in markers]]
    found = contents(file("".join(",".join(line) + "\n" for line in lines)))
    for k, marker in enumerate(markers):
        assert found[f"x{k}"] == [1, None, 3], marker
        assert found[f"c{k}"] == ["a", None, "b"], marker


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


KINDS = [
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
    (["12:30", "12:31"], "number"),
    (["12:30", "noon"], "text"),
    (["inf", "red"], "text"),
    (["123456789012345678901234567890", "1"], "number"),
]


@pytest.mark.parametrize("n_copies", [1, 6000])
def test_kinds(size, file, n_copies):
    """Alike whether the table is judged row by row or, when tall, column by column."""
    names = [f"c{j}" for j in range(len(KINDS))]
    rows = [",".join(row) for row in zip(*(cells for cells, _ in KINDS), strict=True)]
    text = "\n".join([",".join(names), *rows * n_copies, ""])
    with read_table(file(text)) as table:
        for name, (cells, kind) in zip(names, KINDS, strict=True):
            assert table.kinds[name] == kind, cells


def test_times_with_an_offset_are_in_utc(file):
    path = file("t,n\n2024-03-01T12:00:00+02:00,1\n2024-03-01 12:00:00,2\n")
    with read_table(path) as table:
        expected = np.array(["2024-03-01T10:00", "2024-03-01T12:00"], dtype="datetime64[us]")
        np.testing.assert_array_equal(table["t"], expected)


DAY_FIRST = "Column 'when' is read as dates, day before month."


MONTH_FIRST = "Column 'when' is read as dates, month before day."
YEAR_FIRST = "Column 'when' is read as dates, year before month and day."
OPEN_ORDER = (
    "Column 'when' is read as text: in its dates the day or the month may come first "
    "(--dates dmy or mdy)."
)


@pytest.mark.parametrize(
    ("cells", "expected", "notes"),
    [
        (["31.12.2024", "1.2.2024"], ["2024-12-31", "2024-02-01"], (DAY_FIRST,)),
        (["01.02.2024", "02.01.2024"], ["2024-02-01", "2024-01-02"], (DAY_FIRST,)),
        (["31.12.2024 08:15", "-"], ["2024-12-31T08:15", "NaT"], (DAY_FIRST,)),
        (["31/12/2024", "01/02/2024"], ["2024-12-31", "2024-02-01"], (DAY_FIRST,)),
        (["12/31/2024", "01/02/2024"], ["2024-12-31", "2024-01-02"], (MONTH_FIRST,)),
        (["12/31/2024", "2024-01-02"], ["2024-12-31", "2024-01-02"], (MONTH_FIRST,)),
        (["11/12/2024", "01/02/2024"], None, (OPEN_ORDER,)),
        (["31/12/2024", "12/31/2024"], None, ()),
        (["31.13.2024", "01.02.2024"], None, ()),
        (["31.12.24", "01.02.69"], ["2024-12-31", "1969-02-01"], (DAY_FIRST,)),
        (["12/31/24 2:30 PM", "1/2/68"], ["2024-12-31T14:30", "2068-01-02"], (MONTH_FIRST,)),
        (["99/12/31", "01/02/03"], ["1999-12-31", "2001-02-03"], (YEAR_FIRST,)),
        (["2024.12.31", "2024. 1. 2."], ["2024-12-31", "2024-01-02"], (YEAR_FIRST,)),
        (["31-12-2024 12:05 am", "1-2-2024"], ["2024-12-31T00:05", "2024-02-01"], (DAY_FIRST,)),
        (["5 May 2024", "Sept. 3rd, 1999"], ["2024-05-05", "1999-09-03"], ()),
        (["05-May-24", "Mon, 6 May 2024 08:15"], ["2024-05-05", "2024-05-06T08:15"], ()),
        (["5 May 2024", "31 Foo 2024"], None, ()),
        (["3.10.12", "3.11.5"], None, ()),
        (["31.12.2024x", "01.02.2024"], None, ()),
    ],
)
@pytest.mark.parametrize("n_copies", [1, 6000])
def test_dates_by_day_and_month(size, file, cells, expected, notes, n_copies):
    rows = [f'"{cell}",1\n' if "," in cell else f"{cell},1\n" for cell in cells]
    path = file("when,n\n" + "".join(rows * n_copies))
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
        pytest.raises(TableError, match=r"day or the month comes first: say so with --dates dmy"),
    ):
        table.read_as({"when": "date"})
    with read_table(file("when,n\n2024-01-02,1\n"), text=["when"]) as table:
        assert table.read_as({"when": "date"})["when"][0] == np.datetime64("2024-01-02")


@pytest.mark.parametrize(("dates", "expected"), [("dmy", 12), ("mdy", 11), ({"when": "mdy"}, 11)])
def test_the_order_of_dates_can_be_said(size, file, dates, expected):
    with read_table(file("when,n\n11/12/2024,1\n01/02/2024,2\n"), dates=dates) as table:
        assert table["when"][0].astype("datetime64[M]") == np.datetime64(f"2024-{expected}")
        assert list(table.dates) == ["when"]


def test_the_order_of_dates_is_followed_where_it_can_be(size, file):
    path = file("a,b,n\n11/12/2024,12/31/2024,1\n01/02/2024,01/02/2024,2\n")
    with read_table(path, dates="dmy") as table:
        assert table.dates == {"a": "dmy", "b": "mdy"}
    with read_table(path) as table:  # one column tells another
        assert table.dates == {"a": "mdy", "b": "mdy"}
    with pytest.raises(TableError, match="dates='dym' is not allowed: give 'dmy', 'mdy' or 'ymd'"):
        read_table(path, dates="dym")


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

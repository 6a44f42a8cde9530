"""Delimited text: against the csv module, ways of writing it, headers, encodings."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rosenblatt.tables import storage as storage_module
from rosenblatt.tables.formats.dialects import has_unit_row
from rosenblatt.tables.rows_on_disk import RowsOnDisk
from rosenblatt.tables.table import TableError, read_table
from table_contents import MISSING, contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def reference(text, delimiter=","):
    """The cells of a delimited text by way of Python's csv module, trimmed, None if missing."""
    first, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    cells = [[cell.strip(" \t\n\r") for cell in row] for row in rows]
    cells = [[None if cell.lower() in MISSING else cell for cell in row] for row in cells]
    return {name: [row[j] for row in cells] for j, name in enumerate(first)}


ODD_CELLS = st.sampled_from(["NA", "?", "", " ", "1.5", '"', '""', "a\nb", "null"])


@given(data=st.data(), n_columns=st.integers(1, 4), delimiter=st.sampled_from(",;\t|"))
@settings(max_examples=25)
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
    assume(not has_unit_row([["name"], *rows]))
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


def test_long_lines_and_cells(size, file):
    huge = "x" * 3_000_000
    assert contents(file(f"a,b\n1,{huge}\n2,y\n")) == {"a": [1, 2], "b": [huge, "y"]}
    rows = "1,x\n" * 50_000  # beyond the sample
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


def test_a_large_file_that_is_not_plain_is_staged_on_disk(file, monkeypatch):
    monkeypatch.setattr(storage_module, "IN_MEMORY_BYTES", 10)
    with read_table(file(gzip.compress(b'a,b\n1,"x\nz"\n2,y\n'))) as table:
        (folder,) = Path(tempfile.gettempdir()).iterdir()
        assert (folder / "rows.duckdb").exists()
        assert not (folder / "copies").exists()
        assert table["a"].tolist() == [1, 2]


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


def test_rows_asked_for_in_parts_are_the_same(file, monkeypatch):
    monkeypatch.setattr(storage_module, "IN_PARTS_BYTES", 10)
    rows = b"a,b\n" + b"".join(b"%.2f,w%d\n" % (k / 4, k % 3) for k in range(30))
    found = []
    for in_parts in (False, True):
        with read_table(file(rows), in_parts=in_parts) as table:
            assert isinstance(table._rows, RowsOnDisk) is in_parts
            found.append({name: cells.tolist() for name, cells in table.chunk(5, 20).items()})
    assert found[0] == found[1]

"""Where names are, which lines are no rows, and what was said to be missing."""

import pytest

from rosenblatt.tables.formats.dialects import has_unit_row, is_numbered_header
from rosenblatt.tables.table import read_table
from table_contents import contents, refusal

pytestmark = [pytest.mark.usefixtures("nothing_left_behind"), pytest.mark.usefixtures("size")]


def notes_of(path, **options):
    with read_table(path, **options) as table:
        return table.notes


PANDAS = "0,1,2,3,y\n5.1,3.5,1.4,0.2,0\n4.9,3.0,1.4,0.2,0\n7.0,3.2,4.7,1.4,1\n"


def test_the_header_of_pandas(file):
    path = file(PANDAS)
    assert list(contents(path)) == ["0", "1", "2", "3", "y"]
    assert contents(path)["y"] == [0, 0, 1]
    wanted = "The first line (0, 1, 2, 3, y) is taken as names (--no-header if it is data)."
    assert notes_of(path) == (wanted,)
    assert len(contents(path, header=False)["column1"]) == 4
    assert notes_of(path, header=True) == ()


@pytest.mark.parametrize(
    "first",
    [
        "0,1,2,3,species",
        ",0,1,2,species",
        "0,1,2,y,weight",
        "0,1,2,3,4",
    ],
)
def test_other_numbered_headers(first, file):
    rows = "5.1,3.5,1.4,0.2,7\n4.9,3.0,1.4,0.2,8\n7.0,3.2,4.7,1.4,9\n"
    with read_table(file(f"{first}\n{rows}")) as table:
        assert table.has_header
        assert table.n_rows == 3


@pytest.mark.parametrize(
    "records",
    [
        [["0", "1", "2", "a"], ["1", "2", "3", "b"], ["4", "5", "7", "a"]],  # a class that recurs
        [["0", "1", "1", "y"], ["1", "2", "3", "4"]],  # not in order
        [["1", "2", "3", "y"], ["1", "2", "3", "4"]],  # not from 0
        [["0", "1", "2", "3"], ["1", "2", "3", "4"], ["2", "3", "4", "5"]],  # all rows count
        [["0", "1", "2"], ["1", "0", "3"]],  # too few to be no chance
        [["0", "y"], ["1", "2"]],
        [["0", "1", "2", "3"]],
    ],
)
def test_numbers_that_are_data(records):
    assert not is_numbered_header(records)


def test_a_line_with_the_wanted_names_is_the_header(file):
    path = file("1990,1991,1992\n1,2,3\n4,5,6\n")
    assert list(contents(path)) == ["column1", "column2", "column3"]
    assert list(contents(path, wanted=["1991"])) == ["1990", "1991", "1992"]
    assert list(contents(path, wanted=["1991", "other"])) == ["column1", "column2", "column3"]
    assert next(iter(contents(path, wanted=["1991"], header=False))) == "column1"


@pytest.mark.parametrize("line", ["sep=;", "SEP=;", '"sep=;"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_delimiter_that_the_file_names(line, end, file):
    path = file(f"{line}{end}x;y{end}1,5;a{end}2,5;b{end}")
    assert contents(path) == {"x": [1.5, 2.5], "y": ["a", "b"]}


def test_a_named_delimiter_that_nobody_would_guess(file):
    path = file("sep=_\nx_y\n1_a b,c\n2_d e,f\n")
    assert contents(path) == {"x": [1, 2], "y": ["a b,c", "d e,f"]}
    assert contents(file("sep=\t\nx\ty\n1\ta\n2\tb\n"))["y"] == ["a", "b"]
    assert contents(file("sep=;\n1;a\n2;b\n")) == {"column1": [1, 2], "column2": ["a", "b"]}


def test_a_column_may_be_called_sep(file):
    assert list(contents(file("sep=,x\n1,2\n3,4\n"))) == ["sep=", "x"]


def test_units_under_the_header(file):
    path = file("weight,height,who\nkg,cm,\n70,180,a\n80,190,b\n60,170,a\n")
    wanted = {"weight": [70, 80, 60], "height": [180, 190, 170], "who": ["a", "b", "a"]}
    assert contents(path) == wanted
    assert notes_of(path) == ("Line 2 of the table holds units (kg, cm); it was left out.",)
    quoted = file('weight,height,who\n(kg),"[cm, in]",-\n70,180,a\n80,190,b\n60,170,a\n')
    assert contents(quoted) == wanted


@pytest.mark.parametrize(
    "records",
    [
        [["x", "y"], ["kg", "1"], ["2", "3"], ["4", "5"]],  # a number among them
        [["x", "who"], ["?", "a"], ["2", "a"], ["4", "b"]],  # a row with a missing cell
        [["x", "who"], ["bad", "a"], ["2", "a"], ["4", "b"]],  # a row with a bad cell
        [["x", "who"], ["kg", ""], ["2", "a"]],  # too few rows to tell
        [["who", "what"], ["a", "b"], ["c", "d"], ["e", "f"]],  # words above words
    ],
)
def test_rows_that_hold_no_units(records):
    assert not has_unit_row(records)


def test_what_stands_for_nothing(file):
    path = file("x,z,y\n1,unknown,a\n-999,2, unknown \n3,4,b\n")
    found = contents(path, missing=["unknown", "-999"])
    assert found == {"x": [1, None, 3], "z": [None, 2, 4], "y": ["a", None, "b"]}
    assert contents(path)["z"] == ["unknown", "2", "4"]
    assert contents(path)["x"] == [1, -999, 3]


def test_what_stands_for_nothing_in_other_files(file):
    path = file('{"x": 1, "y": "a"}\n{"x": -999, "y": "b"}\n{"x": 3, "y": "."}\n', "t.jsonl")
    found = contents(path, missing=["-999", "."])
    assert found == {"x": [1, None, 3], "y": ["a", "b", None]}


def test_names_that_are_no_list(file):
    with pytest.raises(TypeError, match="missing=3 is not allowed"):
        read_table(file("x,y\n1,2\n"), missing=3)
    assert "no rows" in refusal(file("x,y\n"))

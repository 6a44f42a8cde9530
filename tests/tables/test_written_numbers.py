"""Numbers as people write them: as a person reads them, in Python, in SQL and in tables."""

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.tables.formats import csv_files
from rosenblatt.tables.table import TableError, read_table
from rosenblatt.tables.written_numbers import (
    WRITINGS,
    have_decimal_commas,
    look_like_thousands,
    may_be_thousands,
    may_be_thousands_sql,
    value_of,
    value_sql,
)
from table_contents import contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

NONE = (None, None, None)
CELLS = {
    "16,455": (16455, 16.455, None),
    "28.246,50": (None, 28246.5, None),
    "28.246": (28.246, 28246, None),
    "60 601": (60601, 60601, None),
    "60\u00a0601,5": (None, 60601.5, None),
    "1\u202f234\u202f567": (1234567, 1234567, None),
    "58'080": (58080, 58080, None),
    "58\u2019080.25": (58080.25, None, None),
    "62.5%": (62.5, None, None),
    "62,5 %": (None, 62.5, None),
    "$35214": (35214, 35214, None),
    "-$5": (-5, -5, None),
    "$-5": (-5, -5, None),
    "61818 €": (61818, 61818, None),
    "CHF 1'000.50": (1000.5, None, None),
    "(56,094.58)": (-56094.58, None, None),
    "($5)": (-5, -5, None),
    "\u22125": (-5, -5, None),
    "<5": (5, 5, None),
    ">= 5": (5, 5, None),
    "1.5e-3": (0.0015, None, None),
    "1,234,567.8": (1234567.8, None, None),
    "12,34,567.5": (1234567.5, None, None),
    "123-": (-123, -123, None),
    "1.234,50-": (None, -1234.5, None),
    "0,123": (None, 0.123, None),
    ".5": (0.5, None, None),
    "14:30": (None, None, 14.5),
    "2:30 pm": (None, None, 14.5),
    "12:15 AM": (None, None, 0.25),
    "08:00:36": (None, None, 8.01),
} | dict.fromkeys(
    ("", "abc", "(5", "5)", "1,23,4", "1 23", "12 3456", "5 kg", "--5", "24:00", "7:60", "$", "%",
     "1.2.3", "1,234.567.8", "- 5", "-5-", "(5)-", "12,345,67", "123,45,678",
     "5%%", "a5", "10-20", "1'23", "1 234,567 8"), NONE
)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_cells_as_a_person_reads_them(cell):
    assert tuple(value_of(cell, writing) for writing in WRITINGS) == CELLS[cell]


def in_sql(cells):
    asked = ", ".join(value_sql("c", writing) for writing in WRITINGS)
    with duckdb.connect() as connection:
        sql = f"SELECT {asked} FROM (SELECT unnest(?) AS c, unnest(?) AS place) ORDER BY place"
        return connection.execute(sql, [cells, list(range(len(cells)))]).fetchall()


@given(st.lists(st.text("0159.,' \u202f-+(<$€%:pPmeE", max_size=9), min_size=1, max_size=60))
@settings(max_examples=25)
def test_sql_reads_what_python_reads(cells):
    cells += CELLS
    expected = [tuple(value_of(cell, writing) for writing in WRITINGS) for cell in cells]
    assert in_sql(cells) == expected


MARKS = [(",", "."), (".", ","), (" ", "."), ("\u00a0", ","), ("'", "."), ("", ","), ("", ".")]
DRESSES = ["{}", "${}", "{} €", "{}%", "{} %", "< {}", "EUR {}"]


@given(data=st.data(), marks=st.sampled_from(MARKS), dress=st.sampled_from(DRESSES))
@settings(max_examples=60)
def test_what_is_written_is_what_is_read(data, marks, dress):
    group, decimal = marks
    number = data.draw(st.integers(-(10**9), 10**9)) / 100
    plain = f"{abs(number):,.2f}".replace(",", "g").replace(".", decimal).replace("g", group)
    cell = dress.format(plain)
    negative = number < 0 and "<" not in cell
    cell = f"({cell})" if negative else cell
    assert value_of(cell, decimal) == (number if negative else abs(number))


def test_three_digits_after_the_point_or_none():
    assert look_like_thousands(["361", "28.246", "-1.000"])
    for cells in (["361"], ["28.246"], ["361", "28.24"], ["361", "0.246"], ["1361", "28.246"], []):
        assert not look_like_thousands(cells)
    columns = [[361, 28.246, -1.5], [361, np.nan], [1361, 28.246], [3, 0.246], [3, 28.2461]]
    with duckdb.connect() as connection:
        for numbers, expected in zip(columns, (True, True, False, False, False), strict=True):
            assert may_be_thousands(np.array(numbers)) is expected
            sql = f"SELECT bool_and({may_be_thousands_sql('v')}) FROM (SELECT unnest(?) AS v)"
            known = [number for number in numbers if number == number]
            assert connection.execute(sql, [known]).fetchall() == [(expected,)]


def test_decimal_commas_that_can_be_nothing_else():
    for cells in (["1,5"], ["1,5", "2"], ["28.246,50"], ["1,234", "1,23"]):
        assert have_decimal_commas(cells)
    for cells in (["1,234"], ["2"], ["1.5"], ["1,5", "x"], ["1,5", "2.5"], []):
        assert not have_decimal_commas(cells)


# Tables -------------------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "database", "large"])
def way(request, monkeypatch):
    """Rows in memory, rows in the database, and rows of a large file: same answers."""
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0 if request.param == "large" else 1 << 60)
    if request.param == "database":
        monkeypatch.setattr(csv_files, "can_be_plain", lambda *_: False)
    return request.param


def column(cells, delimiter=";", name="a"):
    """A table with these cells in a column, beside one of words."""
    return f"{name}{delimiter}b\n" + "".join(f"{cell}{delimiter}x\n" for cell in cells)


def read(path, **options):
    with read_table(path, **options) as table:
        return table["a"].tolist(), list(table.notes), table.decimals


EITHER = "is read as numbers with thousands separators (--decimal , for decimal commas)."
FOR_TEXT = "(--category for text)."
COLUMNS = {  # cells, what they are, and what is said
    "commas group": (["1,234", "16,455", "7"], [1234, 16455, 7], EITHER),
    "spaces": (["1 234", "16 455,5"], [1234, 16455.5], "a decimal comma and thousands separators."),
    "points group": (["1.234,5", "2"], [1234.5, 2], "a decimal comma and thousands separators."),
    "apostrophes": (["1'234", "2"], [1234, 2], f"with thousands separators {FOR_TEXT}"),
    "percent": (["62.5%", "7 %"], [62.5, 7], f"is read as numbers, 62.5% as 62.5 {FOR_TEXT}"),
    "dollars": (["$5", "-$6"], [5, -6], f"without the signs of money {FOR_TEXT}"),
    "losses": (["(5)", "6"], [-5, 6], f"is read as numbers, (5) as -5 {FOR_TEXT}"),
    "limits": (["<5", "6", "7", "-"], [5, 6, 7, None], f"<5 and >5 as 5 {FOR_TEXT}"),
    "lakhs": (["12,34,567", "2,00,000"], [1234567, 200000], f"thousands separators {FOR_TEXT}"),
    "credit": (["5-", "6"], [-5, 6], f"is read as numbers, 5- as -5 {FOR_TEXT}"),
    "weights": (["62 kg", "70kg", "-"], [62, 70, None], f"without the unit kg {FOR_TEXT}"),
    "ages": (["1 year", "1.5 years"], [1, 1.5], f"without the unit year {FOR_TEXT}"),
    "hours": (["8:30", "20:15"], [8.5, 20.25], f"is read as times of day, in hours {FOR_TEXT}"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(way, file, name):
    cells, expected, said = COLUMNS[name]
    found, notes, _ = read(file(column(cells, "\t")))
    assert [None if x != x else x for x in found] == expected
    assert len(notes) == 1
    assert notes[0].startswith("Column 'a' is read as ")
    assert notes[0].endswith(said)
    as_text = contents(file(column(cells, "\t")), text=["a"])["a"]
    assert as_text == cells  # which is what --category asks for


def test_the_decimal_mark_can_be_said(way, file):
    path = file(column(["1,234", "16,455"], "\t"))
    assert read(path)[0] == [1234, 16455]
    assert read(path, decimal=",") == (
        [1.234, 16.455], ["Column 'a' is read as numbers with a decimal comma."], {"a": ","}
    )  # fmt: skip
    assert read(path, decimal={"a": ","})[0] == [1.234, 16.455]
    path = file(column(["1,234", "16,455"]))
    assert read(path)[0] == [1.234, 16.455]
    assert read(path)[1][0].endswith("decimal comma (--decimal . if it separates thousands).")
    assert read(path, decimal=".")[0] == [1234, 16455]


def test_points_may_separate_thousands(way, file):
    path = file(column(["361", "28.246", "NA"], ","))
    found, notes, _ = read(path)
    assert found[:2] == [361, 28.246]
    assert notes == [
        "Column 'a' is read as numbers with three digits after the point or none "
        "(--decimal , if the points separate thousands)."
    ]
    assert read(path, decimal=",")[0][:2] == [361, 28246]
    assert read(path, decimal=".")[1] == []
    assert read(path, decimal={"a": ","})[0][:2] == [361, 28246]


def test_a_mark_that_other_cells_rule_out_is_not_followed(way, file):
    path = file(column(["1.5", "2.25"], ","))
    assert read(path, decimal={"a": ","})[0] == [1.5, 2.25]
    assert contents(path, decimal=",")["a"] == ["1.5", "2.25"]


def test_other_columns_tell_what_commas_are(way, file):
    path = file("a\tb\tc\n1,234\t1\t1,5\n2,000\t2\t2,25\n", "t.tsv")
    assert contents(path) == {"a": [1.234, 2], "b": [1, 2], "c": [1.5, 2.25]}


def test_what_is_no_number(way, file):
    for cells in (["<5", ">5"] * 3, ["2", "3", "J", "Q", "K"], ["0123", "$5"], ["12:30", "late"],
                  ["5 kg", "6 lb"], ["1A", "2B", "3C"], ["1st", "2nd"]):  # fmt: skip
        assert contents(file(column(cells)))["a"] == cells
        with read_table(file(column(cells))) as table:
            assert table.notes == ()


@pytest.mark.parametrize("cells", [["28.246", "361", ""], ["28.246", "1.000", "-3.141"]])
def test_points_beside_decimal_commas_separate_thousands(way, file, cells):
    rows = "".join(f"{cell};1,5\n" for cell in cells)
    found, notes, decimals = read(file(f"a;b\n{rows}"))
    assert [x for x in found if x == x] == [float(c.replace(".", "")) for c in cells if c]
    assert f"Column 'a' is read as numbers with thousands separators {FOR_TEXT}" in notes
    assert decimals == {"a": ",", "b": ","}
    later = "".join(
        f"{k}.125;1,5\n" for k in range(1, 1200)
    )  # as long as nothing speaks against it
    assert read(file(f"a;b\n{later}1.25;1,5\n"))[0][-2:] == [1199.125, 1.25]


@pytest.mark.parametrize("bad", [["abc"], ["abc", "n.b.", "abc"], ["soon"] * 9])
def test_a_few_cells_that_are_no_numbers(way, file, bad):
    cells = [f"{k / 4:g}" for k in range(1, 300)]
    expected = list(map(float, cells))
    for place, cell in enumerate(bad):
        cells.insert(7 + 20 * place, cell)
        expected.insert(7 + 20 * place, None)
    found, (note,), _ = read(file(column(cells, ",")))
    assert [None if x != x else x for x in found] == expected
    n = f"{len(bad)} of {len(cells)} cells" if len(bad) > 1 else f"One of {len(cells)} cells"
    assert note.startswith(f"{n} of column 'a' ")
    assert f"taken as missing: {bad[0]!r} in data row 8" in note
    assert note.endswith(FOR_TEXT)


def test_too_many_cells_that_are_no_numbers(way, file):
    cells = [str(k / 4) for k in range(100)]
    many = [f"word{k}" for k in range(6)] + cells  # more than one in twenty
    path = file(column(many, ","))
    assert contents(path)["a"] == many
    with read_table(path) as table, pytest.raises(TableError) as refused:
        table.read_as({"a": "number"})
    assert str(refused.value) == (
        f"{path}: column 'a' must be a number, but 6 of its 106 cells are not: 'word0' in data row "
        "1, 'word1' in data row 2, 'word2' in data row 3, ...: correct the cells, or leave them "
        "empty"
    )
    often = ["soon"] * 20 + cells  # one different cell, but in many rows
    assert contents(file(column(often, ",")))["a"] == often


def test_numbers_asked_for(way, file):
    cells = ["1", "2", "3", *"xyz"] * 2
    with read_table(file(column([*cells, *"123" * 40], ","))) as table:
        assert table.kinds["a"] == "text"
        asked = table.read_as({"a": "number"})
        assert np.isnan(asked["a"]).sum() == 6
        assert asked.notes[0].startswith("6 of 132 cells of column 'a' are no numbers, taken as")


@pytest.mark.parametrize("values", [2, 9])
def test_a_bad_cell_among_few_different_numbers(way, file, values):
    cells = [str(k % values) for k in range(300)]
    cells[100] = "n/a?"
    found, (note,), _ = read(file(column(cells, ",")))
    assert np.isnan(found).sum() == 1
    assert note.startswith("One of 300 cells of column 'a' is no number, taken as missing: 'n/a?'")


def test_a_unit_is_remembered(way, file):
    path = file(column(["62 kg", "70 kg"], ","))
    assert read(path, units={"a": "kg"})[0] == [62, 70]
    assert contents(path, units={"a": "lb"})["a"] == ["62 kg", "70 kg"]
    with read_table(path) as table:
        assert table.units == {"a": "kg"}
        assert table.written == {"a"}


def test_whoever_knows_what_a_column_holds_forgives(way, file):
    with read_table(file(column(["1", "x"], ","))) as table:
        with pytest.raises(TableError, match="must be a number, but data row 2 holds 'x'"):
            table.read_as({"a": "number"})
        asked = table.read_as({"a": "number"}, forgiving=True)
        assert asked["a"][0] == 1
        assert np.isnan(asked["a"][1])
        assert "One of 2 cells of column 'a' is no number, taken as missing: 'x'" in asked.notes[0]
    with read_table(file(column(["x", "y", "1"], ","))) as table:
        with pytest.raises(TableError, match="2 of its 3 cells are not"):
            table.read_as({"a": "number"}, forgiving=True)
        table.read_as({"b": "text"}, forgiving=True)
    with read_table(file(column(["2024-01-02", "31/12/2024", "soon"], ","))) as table:
        asked = table.read_as({"a": "date"}, forgiving=True)
        assert np.isnat(asked["a"]).tolist() == [False, False, True]
        assert "is no date, taken as missing: 'soon' in data row 3" in asked.notes[0]


def test_infinite_numbers_are_refused(way, file):
    assert "data row 2, which is not finite" in refusal(file(column(["$5", "$1e999"])))


# Lines --------------------------------------------------------------------------------------------


def test_lines_with_too_few_or_too_many_cells(size, file):
    path = file("a,b\n1,x\n2\n3,y,z\n4,w\n")
    message = refusal(path)
    assert f"{path}: line 3 has 1 field, line 4 has 3, but the table has 2 columns: " in message
    assert "--skip-bad-lines (skip_bad_lines=True in Python)" in message
    assert contents(path, skip_bad_lines=True) == {"a": [1, 4], "b": ["x", "w"]}
    with read_table(path, skip_bad_lines=True) as table:
        assert table.notes == (
            "2 lines are left out, since the table has 2 columns: line 3 has 1 field, "
            "line 4 has 3.",
        )


def test_many_such_lines(size, file):
    rows = '1,x\n2,"y, z"\n' * 40
    path = file(f"a,b\n{rows}" + '"1,2,3"\n' * 5)
    assert "line 84 has 1 and so on, 5 lines in all, but the table has" in refusal(path)
    assert len(contents(path, skip_bad_lines=True)["a"]) == 80
    with pytest.raises(ValueError, match="skip_bad_lines=3 is not allowed"):
        read_table(path, skip_bad_lines=3)
    with pytest.raises(TableError, match="decimal='x' is not allowed"):
        read_table(path, decimal="x")

"""Cells said to stand for nothing: the same ones in memory, in the database and in plain Python."""

import numpy as np
import pytest

from rosenblatt.tables.cells import WHITE_SPACE, is_missing
from rosenblatt.tables.formats import csv_files
from rosenblatt.tables.missing_cells import forgotten
from rosenblatt.tables.table import read_table
from rosenblatt.tables.texts import Texts

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

MARKERS = ["-999", " unknown ", "9e2", "."]


def is_gone(cell):
    """Whether a cell is missing or one of the markers, as text or as a number."""
    cell = cell.strip(WHITE_SPACE)
    if is_missing(cell) or cell in ("-999", "unknown", "9e2", "."):
        return True
    try:
        return float(cell) in (-999, 900) and not cell.startswith("0")
    except ValueError:
        return False


CELLS = {
    "numbers": ["1.50", "-999", "-999.0", "900", "3", ""],
    "only markers": ["-999", "900.0", "-9.99e2", "", "-999", "9e2"],
    "numbers and a word": ["1.50", "unknown", "2", " unknown", "-999", "4"],
    "words": ["a", "unknown", "Unknown", ".", "-999.00", "b"],
    "codes": ["01", "0900", "900", "00", "03", "-999"],
    "dates": ["2024-01-31", ".", "2024-02-01", "unknown", "", "2024-03-01"],
}
KINDS = {"numbers": "number", "only markers": "text", "numbers and a word": "number"}
KINDS |= {"words": "text", "codes": "text", "dates": "date"}


def table_of(names):
    """The text of a table with these columns, and one of row numbers."""
    rows = zip(range(6), *(CELLS[name] for name in names), strict=True)
    return "\n".join([",".join(["row", *names]), *(",".join(map(str, row)) for row in rows)])


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_the_same_cells_in_every_way(file, monkeypatch, size, name, plain):
    if not plain:
        monkeypatch.setattr(csv_files, "can_be_plain", lambda *_: False)
    with read_table(file(table_of([name])), missing=MARKERS) as table:
        assert table.kinds[name] == KINDS[name]
        expected = [None if is_gone(cell) else cell.strip() for cell in CELLS[name]]
        found = table.read_as({name: "text"})[name].tolist()
        if name == "numbers" and size != "small":
            expected = ["1.5", *expected[1:]]
        assert found == expected
        if KINDS[name] == "number":
            numbers = [np.nan if cell is None else float(cell) for cell in expected]
            np.testing.assert_array_equal(table[name], numbers)


def test_texts_that_are_gone_are_no_longer_among_the_different_ones():
    texts = forgotten(Texts.of(["a", "unknown", None, "b", "-999.0", "a"]), MARKERS)
    assert texts.values.tolist() == ["a", "b"]
    assert texts.codes.tolist() == [0, -1, -1, 1, -1, 0]
    assert forgotten(texts, ["other"]) is texts


def test_numbers_in_memory_are_not_written_to():
    numbers = np.array([1.0, -999.0, np.nan])
    found = forgotten(numbers, ["-999", "nan", "word"])
    np.testing.assert_array_equal(found, [1, np.nan, np.nan])
    assert numbers[1] == -999
    assert forgotten(numbers, ["word"]) is numbers


def test_a_large_file_of_several_blocks(file, monkeypatch):
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 0)
    monkeypatch.setattr("rosenblatt.tables.formats.plain_csv.BLOCK_BYTES", 1000)
    rng = np.random.default_rng(0)
    numbers = rng.choice([1.5, -999.0, 3.0], 900)
    words = rng.choice(["a", "unknown", "b", "c"], 900)
    path = file("x,w\n" + "".join(f"{x},{w}\n" for x, w in zip(numbers, words, strict=True)))
    with read_table(path, missing=MARKERS) as table:
        np.testing.assert_array_equal(table["x"], np.where(numbers == -999, np.nan, numbers))
        assert table["w"].tolist() == [None if w == "unknown" else w for w in words]

"""Real files, where they are."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from rosenblatt.tables.table import read_table
from table_contents import MISSING, as_list, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


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
def test_real_svmlight_files(data, name):
    X, y = load_svmlight_file(str(data / name))
    with read_table(data / name) as table:
        assert table.kinds == {"x": "sparse", "label": "number"}
        assert table.n_rows == len(y)
        assert (table["x"] != X).nnz == 0
        np.testing.assert_array_equal(table["label"], y)
        part = table.chunk(5, 9)
        assert (part["x"] != X[5:9]).nnz == 0


def test_real_pictures_of_digits_are_refused(data):
    assert "is an IDX array" in refusal(data / "mnist-t10k-images-idx3-ubyte.gz")

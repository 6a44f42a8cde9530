"""What a cell is: the judgement in Python is the one in SQL."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.tables import cells
from rosenblatt.tables.written_dates import date
from rosenblatt.tables.written_numbers import value_sql

number_like = st.from_regex(r"\A[+-]{0,2}[0-9_]{0,3}[.,]?[0-9]{0,3}([eE][+-]?[0-9]{0,2})?\Z")
date_like = st.from_regex(r"\A[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:]{0,8})?\Z")
words = st.sampled_from(
    [
        "inf",
        "-Infinity",
        "+INF",
        "infinit",
        "nan",
        "-nan",
        "None",
        "-",
        "?",
        "#N/A",
        "e5",
        "١٢",
        ".",
    ]
)
texts = st.lists(number_like | date_like | words | st.text(max_size=4), min_size=1, max_size=50)


def in_sql(values, *expressions):
    """What DuckDB says of each of these texts."""
    asked = ", ".join(expressions)
    with duckdb.connect() as connection:
        sql = f"SELECT {asked} FROM (SELECT unnest(?) AS c, unnest(?) AS place) ORDER BY place"
        return connection.execute(sql, [values, list(range(len(values)))]).fetchall()


@given(texts)
@example(
    [
        "1/1.2024",
        "1.2.2024",
        "1_000",
        "+-5",
        "01",
        "1.",
        ".5",
        "1,5",
        "1,",
        "2024-01-02",
        "31.12.2024",
        "1e999",
    ]
)
def test_sql_and_python_agree(values):
    values = [value.strip(cells.WHITE_SPACE).replace("\0", "") for value in values]
    asked = [cells.number("c"), cells.code("c"), value_sql("c", ",")]
    asked += [date("c", order) for order in range(5)]
    asked += [f"({cells.present('c', padded=True)}) IS NULL", cells.missing_value("c")]
    for value, found in zip(values, in_sql(values, *asked), strict=True):
        number, code, with_comma, *dates, missing, missing_value = found
        named = value.lower().lstrip("+-") in ("inf", "infinity", "nan")
        assert cells.is_plain_number(value) == (number is not None and not code and not named)
        assert cells.is_missing(value) == missing
        assert cells.is_missing_value(value) == (missing or missing_value)
        finite = not named and (number is not None or with_comma is not None)
        if finite:
            assert cells.reads_as_value(value)
        if any(value is not None for value in (number, with_comma, *dates)):
            assert not cells.is_certainly_text(value)


def test_usual_markers_are_markers():
    assert {marker.lower() for marker in cells.USUAL_MARKERS} == cells.MARKERS


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([1.0, np.nan]), [False, True]),
        (np.array([1, 2]), [False, False]),
        (np.array(["2024-01-01", "NaT"], dtype="M8[us]"), [False, True]),
        (np.array(["a", None, "nan"], dtype=object), [False, True, False]),
        (np.array([1, None, np.nan, pd.NA, pd.NaT, "a"], dtype=object), [0, 1, 1, 1, 1, 0]),
    ],
)
def test_missing_objects(given, expected):
    assert cells.missing(given).tolist() == expected
    assert cells.missing(given).dtype == bool

"""Columns of tables that lie in a database, texts as codes."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from rosenblatt.tables import staged_rows
from rosenblatt.tables.table import read_table


@pytest.fixture
def path(tmp_path):
    """A Parquet file with numbers, texts and dates, some missing."""
    file = tmp_path / "table.parquet"
    duckdb.sql(
        "SELECT i::DOUBLE AS n, CASE WHEN i % 5 > 0 THEN 'it''s ' || i % 7 END AS t, "
        "DATE '2024-01-01' + i::INTEGER AS d, NULL::VARCHAR AS nothing FROM range(300) r(i)"
    ).write_parquet(str(file))
    return file


@pytest.mark.parametrize("few", [10_000, 3], ids=["codes by the database", "by Python"])
def test_columns_are_the_arrays(path, monkeypatch, few):
    monkeypatch.setattr(staged_rows, "FEW_TEXTS", few)
    with read_table(path) as table:
        columns = table.columns()
        assert sorted(columns["t"].values) == [f"it's {k}" for k in range(7)]
        assert columns["t"].codes.dtype == np.int32
        assert columns["t"].texts().tolist() == table["t"].tolist()
        assert columns["t"].texts()[:3].tolist() == [None, "it's 1", "it's 2"]
        assert columns["nothing"].texts().tolist() == [None] * 300
        assert columns["n"].dtype == np.float64
        assert columns["d"].dtype == np.dtype("datetime64[us]")
        chunk = table.chunk(100, 103)
        assert chunk["t"].tolist() == [None, "it's 3", "it's 4"]
        assert chunk["n"].tolist() == [100, 101, 102]

"""Columns in files that are mapped into memory."""

from __future__ import annotations

import numpy as np
import pytest

from rosenblatt.tables import mapped_columns
from rosenblatt.tables.mapped_columns import MappedColumns, pieces, written


@pytest.mark.parametrize("dtype", ["float64", "int32", "datetime64[us]"])
@pytest.mark.parametrize("piece", [3, 1000])
def test_what_is_written_is_there_whatever_room_is_made(tmp_path, monkeypatch, dtype, piece):
    monkeypatch.setattr(mapped_columns, "PIECE", piece)
    cells = np.random.default_rng(1).integers(0, 1000, (3, 40)).astype(dtype)
    columns = MappedColumns(tmp_path / "columns", dtype, 3, 5)
    for stop, room in ((5, 12), (12, 13), (13, 40), (40, 60)):
        start = {5: 0, 12: 5, 13: 12, 40: 13}[stop]
        for j in reversed(range(3)):
            columns.write(j, start, cells[j, start:stop])
        columns.make_room(stop, room)
    found = columns.mapped(40)
    columns.close()
    assert list(tmp_path.iterdir()) == []  # and yet they can be read
    np.testing.assert_array_equal(found, cells)
    assert not any(column.flags.writeable for column in found)


def test_no_rows_and_no_columns(tmp_path):
    for n_columns in (0, 2):
        columns = MappedColumns(tmp_path / "columns", np.int32, n_columns, 5)
        assert [len(column) for column in columns.mapped(0)] == [0] * n_columns
        columns.close()
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_cannot_be_made_leaves_nothing(tmp_path):
    def cells(piece):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "column", np.float64, 10, cells)
    assert list(tmp_path.iterdir()) == []


def test_pieces(monkeypatch):
    monkeypatch.setattr(mapped_columns, "PIECE", 4)
    assert list(pieces(10)) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert list(pieces(0)) == []

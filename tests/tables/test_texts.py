"""Columns of text as codes of their distinct values."""

from __future__ import annotations

import numpy as np
import pytest

from rosenblatt.tables.texts import Texts


def test_texts_come_back_as_they_were_given() -> None:
    cells = ["b", None, "a", "b", "", "ü\n"]
    texts = Texts.of(cells)
    assert texts.texts().tolist() == cells
    assert texts.texts().dtype == object
    assert texts.values.tolist() == ["b", "a", "", "ü\n"]
    assert texts.codes.dtype == np.int32
    assert texts.codes.tolist() == [0, -1, 1, 0, 2, 3]
    assert len(texts) == len(cells)


@pytest.mark.parametrize("cells", [[], [None], [None, None, None]])
def test_a_column_may_hold_no_text_at_all(cells: list[None]) -> None:
    texts = Texts.of(cells)
    assert len(texts.values) == 0
    assert texts.texts().tolist() == cells


@pytest.mark.parametrize(
    "rows",
    [slice(1, 3), slice(0, 0), np.array([3, 0, 0]), np.array([True, False, True, False])],
    ids=["slice", "nothing", "places", "mask"],
)
def test_rows_are_taken_as_of_an_array(rows: slice | np.ndarray) -> None:
    cells = np.array(["x", None, "y", "x"], dtype=object)
    texts = Texts.of(cells)
    assert texts[rows].texts().tolist() == cells[rows].tolist()
    assert texts[rows].values is texts.values

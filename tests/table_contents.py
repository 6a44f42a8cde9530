"""What a table holds, and how a file is refused."""

from __future__ import annotations

import math

import pytest

from rosenblatt.tables.table import TableError, read_table

MISSING = {"", "?", "na", "n/a", "nan", "null", "#n/a"}


def contents(path, **options):
    """All columns as lists, None where a cell is missing."""
    with read_table(path, **options) as table:
        return {name: as_list(table[name]) for name in table}


def as_list(array):
    if array.dtype.kind == "f":
        return [None if math.isnan(x) else x for x in array.tolist()]
    return array.tolist()


def refusal(path, **options):
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "read_csv" not in message
    assert "SELECT" not in message
    return message

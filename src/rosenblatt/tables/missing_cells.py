"""Cells that stand for nothing because somebody said so: -999, unknown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.tables.cells import WHITE_SPACE, code, is_plain_number, number, quoted
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.storage import Storage


def forget(storage: Storage, columns: Sequence[Column], markers: Collection[str]) -> None:
    """Empty the cells of the table `rows` that hold one of the markers.

    Cells are compared as they stand but for white space around them, numbers by their values.
    """
    kept = forgetting(columns, markers)
    if not kept:
        return
    if storage.rows("SELECT 1 FROM duckdb_views() WHERE view_name = 'rows'"):
        storage.rows("ALTER VIEW rows RENAME TO file")
        storage.rows(f"CREATE VIEW rows AS {kept} file")
    else:
        storage.rows(f"CREATE OR REPLACE TABLE rows AS {kept} rows ORDER BY rowid")


def forgetting(columns: Sequence[Column], markers: Collection[str]) -> str:
    """The SQL, up to and with its FROM, that empties these cells; nothing if there are none."""
    if not markers:
        return ""
    texts = ", ".join(quoted(marker.strip(WHITE_SPACE)) for marker in markers)
    numbers = ", ".join(map(repr, _numbers(markers)))
    parts = []
    for column in columns:
        if column.stored == "text":
            cell = f"trim(CAST({column.sql} AS VARCHAR), {quoted(WHITE_SPACE)})"
            found = f"{cell} IN ({texts})"
            if numbers:
                found += f" OR (NOT {code(cell)} AND {number(cell)} IN ({numbers}))"
        elif column.stored == "number" and numbers:
            found = f"CAST({column.sql} AS DOUBLE) IN ({numbers})"
        else:
            continue
        parts.append(f"CASE WHEN {found} THEN NULL ELSE {column.sql} END AS {column.sql}")
    return f"SELECT * REPLACE ({', '.join(parts)}) FROM" if parts else ""


def forgotten(cells: Floats | Texts, markers: Collection[str]) -> Floats | Texts:
    """The cells of a column in memory, those that hold one of the markers emptied."""
    if isinstance(cells, Texts):
        return _texts_without(cells, markers)
    return forgotten_numbers(cells, markers)


def forgotten_numbers(cells: Floats, markers: Collection[str]) -> Floats:
    """The same of numbers."""
    numbers = _numbers(markers)
    return np.where(np.isin(cells, numbers), np.nan, cells) if numbers else cells


def _texts_without(texts: Texts, markers: Collection[str]) -> Texts:
    """The texts but those that are one of the markers."""
    gone = np.fromiter(map(recognizer(markers), texts.values), np.bool_)
    if not gone.any():
        return texts
    kept = ~gone
    codes = np.append(np.where(kept, np.cumsum(kept) - 1, MISSING_CODE), MISSING_CODE)
    return Texts(texts.values[kept], codes.astype(np.int32)[texts.codes])


def recognizer(markers: Collection[str]) -> Callable[[str], bool]:
    """Tells of a text, trimmed, whether it is one of the markers."""
    words = {marker.strip(WHITE_SPACE) for marker in markers}
    numbers = set(_numbers(markers))
    if not numbers:
        return words.__contains__
    return lambda text: text in words or _number(text) in numbers


def _number(text: str) -> float | None:
    return float(text) if is_plain_number(text) else None


def _numbers(markers: Collection[str]) -> list[float]:
    """Those of the markers that are finite numbers."""
    found = (_number(marker.strip(WHITE_SPACE)) for marker in markers)
    return [number for number in found if number is not None and math.isfinite(number)]

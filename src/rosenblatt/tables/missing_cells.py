"""Cells that stand for nothing because somebody said so: -999, unknown."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.array_types import Floats
from rosenblatt.tables.cells import WHITE_SPACE, quoted
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.storage import Storage


def forget(storage: Storage, columns: Sequence[Column], markers: Collection[str]) -> None:
    """Empty the cells of the table `rows` that hold one of the markers.

    Texts are compared as they stand but for white space around them, numbers by their values.
    """
    if not markers:
        return
    texts = ", ".join(quoted(marker.strip(WHITE_SPACE)) for marker in markers)
    numbers = ", ".join(map(repr, _numbers(markers)))
    parts = []
    for column in columns:
        if column.stored == "text":
            cell = f"trim(CAST({column.sql} AS VARCHAR), {quoted(WHITE_SPACE)})"
            found = f"{cell} IN ({texts})"
        elif column.stored == "number" and numbers:
            found = f"CAST({column.sql} AS DOUBLE) IN ({numbers})"
        else:
            continue
        parts.append(f"CASE WHEN {found} THEN NULL ELSE {column.sql} END AS {column.sql}")
    if parts:
        kept = f"SELECT * REPLACE ({', '.join(parts)}) FROM"
        if storage.rows("SELECT 1 FROM duckdb_views() WHERE view_name = 'rows'"):
            storage.rows("ALTER VIEW rows RENAME TO file")
            storage.rows(f"CREATE VIEW rows AS {kept} file")
        else:
            storage.rows(f"CREATE OR REPLACE TABLE rows AS {kept} rows ORDER BY rowid")


def forgotten(cells: Floats | Texts, markers: Collection[str]) -> Floats | Texts:
    """The cells of a column in memory, those that hold one of the markers emptied."""
    if isinstance(cells, Texts):
        known = {marker.strip(WHITE_SPACE) for marker in markers}
        kept = np.array([text not in known for text in cells.values], dtype=bool)
        places = np.append(np.where(kept, np.cumsum(kept) - 1, MISSING_CODE), MISSING_CODE)
        return Texts(cells.values[kept], places.astype(np.int32)[cells.codes])
    if numbers := _numbers(markers):
        cells[np.isin(cells, numbers)] = np.nan
    return cells


def _numbers(markers: Collection[str]) -> list[float]:
    """Those of the markers that are finite numbers."""
    found = []
    for marker in markers:
        with contextlib.suppress(ValueError):
            found.append(float(marker))
    return [number for number in found if math.isfinite(number)]

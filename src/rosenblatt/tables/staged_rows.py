"""The rows of a table that lie in a database, and the columns made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from rosenblatt.tables.asked_kinds import readable
from rosenblatt.tables.columns import COLUMNS_PER_QUERY, select
from rosenblatt.tables.storage import TableError, first_line
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.storage import Storage

FEW_TEXTS = 10_000  # in a column, up to which a type of their own is made of them


class StagedRows:
    """The table `rows` of a storage."""

    def __init__(self, storage: Storage, shown: str) -> None:
        self.storage = storage
        self.shown = shown

    def fetched(
        self, columns: Sequence[Column], start: int, stop: int
    ) -> list[NDArray[Any] | Texts]:
        """These columns of the rows from `start` up to `stop`, each as its kind."""
        fetched: list[NDArray[Any] | Texts] = []
        rows = f"WHERE rowid >= {start} AND rowid < {stop}"
        for first in range(0, len(columns), COLUMNS_PER_QUERY):
            part = columns[first : first + COLUMNS_PER_QUERY]
            try:
                fetched += self._fetched(part, rows)
            except duckdb.Error as error:
                msg = f"{self.shown} can no longer be read: {first_line(error)}"
                raise TableError(msg) from None
        return fetched

    def _fetched(self, columns: Sequence[Column], rows: str) -> list[NDArray[Any] | Texts]:
        values = [self._values(column, rows) for column in columns]
        arrays = self.storage.arrays(f"{select(columns, values)} {rows}")
        order = _order(arrays["place"])
        return [
            _in_memory(arrays[f"v{j}"][order], column.kind, values[j])
            for j, column in enumerate(columns)
        ]

    def _values(self, column: Column, rows: str) -> list[str] | None:
        """The different texts of a column, if they are few."""
        if column.kind != "text":
            return None
        few = f"SELECT DISTINCT {column.cell()} AS v FROM rows {rows} LIMIT {FEW_TEXTS + 1}"
        found = self.storage.rows(f"SELECT v FROM ({few}) WHERE v IS NOT NULL")
        return sorted(text for (text,) in found) if len(found) < FEW_TEXTS else None

    def readable(self, name: str, column: Column, kind: str, **how: Any) -> Column:
        """The column read as this kind; cells that are present but cannot be are refused."""
        return readable(self.storage, name, column, kind, self.shown, **how)

    def close(self) -> None:
        """Remove the database."""
        self.storage.close()


def _order(places: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """How to take rows so that they stand as in the file.

    DuckDB promises that order, but with several threads it breaks the promise (seen in 2.0.0)
    where a range of row ids spans two of its row groups.
    """
    return slice(None) if (places[1:] > places[:-1]).all() else np.argsort(places)


def _in_memory(array: NDArray[Any], kind: str, values: Sequence[str] | None) -> Any:
    """A column as it is kept in memory, from what DuckDB answers."""
    if kind == "number":
        return np.asarray(array, dtype=np.float64)
    if kind == "date":
        return np.ma.filled(array.astype("datetime64[us]"), np.datetime64("NaT", "us"))
    if values is not None:
        return Texts(np.array(values, dtype=object), np.asarray(array, dtype=np.int32))
    cells = np.ma.getdata(array).astype(object)
    cells[np.ma.getmaskarray(array)] = None
    return Texts.of(cells)

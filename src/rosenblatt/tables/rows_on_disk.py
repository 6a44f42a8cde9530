"""The rows of a table that lie in columns on disk, mapped into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.mapped_columns import PIECE, written
from rosenblatt.tables.rows_in_memory import DifferentCells, RowsInMemory, unique
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.storage import Storage

_TYPES = {"number": np.dtype(np.float64), "date": np.dtype("datetime64[us]")}


class RowsOnDisk(RowsInMemory):
    """The same as rows in memory, but what is as long as a column goes to the disk, too."""

    def __init__(
        self, storage: Storage, shown: str, n_rows: int, held: Mapping[str, Floats | Texts]
    ) -> None:
        super().__init__(storage, shown, n_rows, held, None)
        self._made: dict[Column, NDArray[Any]] = {}

    def _different_numbers(self, numbers: Floats) -> DifferentCells:
        places: dict[float, int] = {}

        def codes(piece: slice) -> NDArray[np.int32]:
            values, found = unique(numbers[piece])
            known = [places.setdefault(value, len(places)) for value in values.tolist()]
            return np.array([*known, MISSING_CODE], dtype=np.int32)[found]

        on_disk = written(self.storage.new_file(), np.int32, len(numbers), codes)
        return DifferentCells(np.array(list(places)), on_disk)

    def _fetched(self, column: Column, rows: slice) -> NDArray[Any] | Texts:
        is_held = column.kind == "number" and not isinstance(self.held[column.sql], Texts)
        if is_held or column.kind not in _TYPES or rows.stop - rows.start <= PIECE:
            return super()._fetched(column, rows)
        if column not in self._made:
            made = super()._fetched
            self._made[column] = written(
                self.storage.new_file(), _TYPES[column.kind], self.n_rows, lambda r: made(column, r)
            )
        return self._made[column][rows]

    def close(self) -> None:
        """Forget the rows."""
        super().close()
        self._made.clear()

"""Columns in files that are mapped into memory: room for more than fits, without a copy.

A file is written with plain writes, never through the map: on a full disk a write is an error,
while a store to a page that has no room ends the process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.storage import without_room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PIECE = 1 << 20  # rows that are worked on at a time


class MappedColumns:
    """Columns of one type side by side in a file, each with room for `most_rows` rows.

    What is not written takes no room on the disk. Threads may write side by side. To be closed,
    after which the file has no name: even if the process is killed, it is gone.
    """

    def __init__(self, file: Path, dtype: Any, n_columns: int, most_rows: int) -> None:
        self.file = file
        self.dtype = np.dtype(dtype)
        self.n_columns, self.most_rows = n_columns, most_rows
        self._lock = Lock()
        self._opened = file.open("w+b", buffering=0)

    def write(self, column: int, first: int, cells: NDArray[Any]) -> None:
        """Put these cells into a column, from this row on."""
        data = np.ascontiguousarray(cells, dtype=self.dtype).view(np.uint8).data
        place = (column * self.most_rows + first) * self.dtype.itemsize
        while len(data):
            try:
                n_bytes = self._written(data, place)
            except OSError as error:
                raise without_room(error) or error from None
            data, place = data[n_bytes:], place + n_bytes

    def make_room(self, n_rows: int, most_rows: int) -> None:
        """Set room aside for more rows, where so many are written; no thread writes meanwhile."""
        before, size = self.most_rows, self.dtype.itemsize
        self.most_rows = most_rows
        for column in reversed(range(1, self.n_columns)):
            for piece in reversed(list(pieces(n_rows))):
                self._opened.seek((column * before + piece.start) * size)
                cells = self._opened.read((piece.stop - piece.start) * size)
                self.write(column, piece.start, np.frombuffer(cells, self.dtype))

    def _written(self, data: memoryview, place: int) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self._opened.fileno(), data, place)
        with self._lock:  # Windows
            self._opened.seek(place)
            return self._opened.write(data)

    def mapped(self, n_rows: int) -> list[NDArray[Any]]:
        """The first rows of each column, read-only; nothing can be written afterwards.

        They stay after `close`, as long as they are in use.
        """
        if not self.n_columns or not n_rows:
            return [np.empty(0, dtype=self.dtype) for _ in range(self.n_columns)]
        stride = self.most_rows * self.dtype.itemsize
        size = (self.n_columns - 1) * stride + n_rows * self.dtype.itemsize
        self._opened.truncate(size)
        with self.file.open("rb") as opened:
            whole = mmap.mmap(opened.fileno(), size, access=mmap.ACCESS_READ)
        starts = [k * stride for k in range(self.n_columns)]
        return [np.frombuffer(whole, self.dtype, n_rows, start) for start in starts]

    def close(self) -> None:
        """Give back the room, as soon as nothing is mapped any more."""
        self._opened.close()
        with contextlib.suppress(OSError):  # Windows keeps the names of files in use
            self.file.unlink()


def pieces(n_rows: int) -> Iterator[slice]:
    """The rows in pieces whose copies do not matter."""
    for start in range(0, n_rows, PIECE):
        yield slice(start, min(start + PIECE, n_rows))


def written(file: Path, dtype: Any, n_rows: int, cells: Callable[[slice], Any]) -> NDArray[Any]:
    """One column on disk, made of the cells of each piece."""
    column = MappedColumns(file, dtype, 1, n_rows)
    try:
        for piece in pieces(n_rows):
            column.write(0, piece.start, cells(piece))
        return column.mapped(n_rows)[0]
    finally:
        column.close()

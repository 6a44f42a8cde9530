"""Columns beside the rows of a cluster: what tasks are given of them, and what they write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.cluster.engine import n_bytes
from rosenblatt.cluster.packing import packed, unpacked
from rosenblatt.data.columns import AtRows, OfBlock, There
from rosenblatt.exact.tile_passes import Listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.data.columns import Given
    from rosenblatt.data.sources import Elsewhere, Piece
    from rosenblatt.running.threads import Team


class FarColumn(There):
    """A column of a cluster's source: for each share a future of the arrays of its pieces."""

    def __init__(self, source: Elsewhere, parts: list[Any]) -> None:
        self.source, self.parts = source, parts

    def __len__(self) -> int:
        return self.source.n_rows

    def brought(self) -> NDArray[Any]:
        """All of it, as an array here."""
        return np.concatenate([unpacked(part) for _, part in self.source.map(_packed, self)])

    def listed(self) -> Listed:
        """All of it that is not 0."""
        rows, values = [], []
        for start, part in self.source.map(_packed, self):
            numbers = unpacked(part)
            here = np.flatnonzero(numbers)
            rows.append(here + start)
            values.append(numbers[here])
        return Listed(np.concatenate(rows), np.concatenate(values))


class Sent:
    """What a task is sent of some columns for the pieces that it is to go through.

    Dask looks for futures in all lists that a task is given, but not in this.
    """

    def __init__(self, columns: Sequence[Given], spans: Sequence[tuple[int, int]]) -> None:
        self._columns = [_sent(column, spans) for column in columns]

    @property
    def nbytes(self) -> int:
        """About how much that is."""
        return n_bytes(self._columns)

    def made(self, k: int, piece: Piece, there: Sequence[Any]) -> Iterator[Any]:
        """What the task is given for the k-th piece; `there` has the columns that are there."""
        here = iter(there)
        for column in self._columns:
            if column is None:
                yield _writable(next(here)[k])
            elif isinstance(column, OfBlock):
                yield column.make(piece)
            elif isinstance(column[k], Listed):
                yield column[k].whole(piece.length)
            else:
                yield unpacked(column[k])


def _sent(column: Given, spans: Sequence[tuple[int, int]]) -> Any:
    """What goes of a column to whoever has these rows; None where it is there already."""
    if isinstance(column, FarColumn):
        return None
    return column if isinstance(column, OfBlock) else [_cut(column, *span) for span in spans]


def _cut(column: Any, first: int, last: int) -> Any:
    if isinstance(column, AtRows):
        return column.cut(first, last)
    if isinstance(column, Listed):
        few = column.cut(first, last)
        return few if few.rows.nbytes < (last - first) // 8 else packed(few.whole(last - first))
    return packed(column[first:last])


def _writable(part: NDArray[Any]) -> NDArray[Any]:
    """As it was when it was made: loops are compiled for that; from the disk it comes read-only."""
    return part if part.flags.writeable else part.copy()


# Tasks ------------------------------------------------------------------------------------------


def filled(task: Any, dtype: Any, piece: Piece, team: Team, *columns: Any) -> NDArray[Any]:
    """The part of a column that a task writes."""
    out = np.empty(piece.length, dtype)
    task(piece, team, out, *columns)
    return out


def _packed(piece: Piece, team: Team, part: NDArray[Any]) -> tuple[int, Any]:
    return piece.start, packed(part)


def row_numbers(piece: Piece, team: Team, used: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The numbers of the rows that are used."""
    return np.flatnonzero(used) + piece.start


def kept_rows(
    piece: Piece, team: Team, used: NDArray[np.bool_], part: NDArray[Any]
) -> NDArray[Any]:
    """What they have in a column."""
    return part[used]


def put_rows(
    piece: Piece, team: Team, part: NDArray[Any], used: NDArray[np.bool_], new: NDArray[Any]
) -> NDArray[Any]:
    """The part of a column in which they have new numbers."""
    changed = part.copy()
    changed[used] = new
    return changed

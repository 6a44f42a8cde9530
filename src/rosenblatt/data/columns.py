"""Columns: a number for each row of a source, kept where the row is.

In memory a column is an array. Of rows in other processes it is `There`: an array for each of their
blocks, beside it, and nothing of that is here. Columns are not changed: others are written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact.tile_passes import Listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Piece


class OfBlock(NamedTuple):
    """A column whose part whoever has a block can make of that."""

    make: Callable[[Piece], NDArray[Any]]


class There(ABC):
    """A column that is where its rows are."""

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def brought(self) -> NDArray[Any]:
        """All of it, as an array here."""

    @abstractmethod
    def listed(self) -> Listed:
        """All of it that is not 0."""


class AtRows(NamedTuple):
    """For whoever has a block, which of its rows are among some, ascending, and their values."""

    rows: NDArray[np.int64]
    values: Any = None

    def cut(self, first: int, last: int) -> tuple[NDArray[np.int64], Any]:
        """Those from `first` to `last`, by their numbers there."""
        a, z = np.searchsorted(self.rows, (first, last))
        return self.rows[a:z] - first, None if self.values is None else self.values[a:z]


Column = np.ndarray[Any, Any] | There  # with a number for each row
Given = Column | OfBlock | AtRows | Listed  # what tasks may be given the parts of


def part_of(column: Given, piece: Piece) -> Any:
    """The part of a column, in memory, that belongs to a block."""
    first, last = piece.start, piece.start + piece.length
    if isinstance(column, np.ndarray):
        return column if last - first == len(column) else column[first:last]
    if isinstance(column, OfBlock):
        return column.make(piece)
    if isinstance(column, Listed):
        return column.cut(first, last).whole(piece.length)
    assert isinstance(column, AtRows)
    return column.cut(first, last)


def brought(value: Any) -> Any:
    """A value whose columns, in tuples and dicts, are all arrays here."""
    if isinstance(value, There):
        return value.brought()
    if isinstance(value, dict):
        return {key: brought(item) for key, item in value.items()}
    if isinstance(value, tuple):
        items = [brought(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value

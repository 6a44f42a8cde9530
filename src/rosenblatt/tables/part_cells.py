"""What workers tell of the columns of a part, and the cells they hand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.tables.rows_in_memory import RowsInMemory, in_pieces, unique
from rosenblatt.tables.storage import Storage
from rosenblatt.tables.texts import Texts
from rosenblatt.tables.written_numbers import may_be_thousands

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Column, StagedFile
    from rosenblatt.tables.file_parts import PartRows


class PartSummary(NamedTuple):
    """What is known of a part: of its file, its rows, and its numbers.

    Attributes
    ----------
    staged : StagedFile
    n_rows : int
    is_text : bool
    stored : dict
        What each column is held as: "number", "date" or "text".
    infinite : dict
        The row and the text of the first number of a column that is not finite.
    thousands : set of str
        The columns of numbers whose points may separate thousands.
    """

    staged: StagedFile
    n_rows: int
    is_text: bool
    stored: dict[str, str]
    infinite: dict[str, tuple[int, str]]
    thousands: set[str]


class Seen(NamedTuple):
    """Different cells in the order in which they first stand, in how many rows, and in which."""

    values: NDArray[Any]
    counts: NDArray[np.int64]
    firsts: NDArray[np.int64]

    @classmethod
    def of(cls, cells: Any) -> Seen:
        """From the cells of a column."""
        values, codes = (cells.values, cells.codes) if isinstance(cells, Texts) else unique(cells)
        counts = np.zeros(len(values) + 1, np.int64)
        firsts = np.full(len(values) + 1, -1, np.int64)
        np.add.at(counts, codes, 1)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written stays
        there = np.flatnonzero(counts[:-1])
        order = there[np.argsort(firsts[there], kind="stable")]
        return cls(values[order], counts[order], firsts[order])

    @classmethod
    def merged(cls, found: Sequence[Seen], starts: Sequence[int]) -> Seen:
        """Those of parts that begin with these rows, one after another."""
        places: dict[Any, int] = {}
        counts, firsts = list[int](), list[int]()
        for seen, start in zip(found, starts, strict=True):
            for value, n, first in zip(*seen, strict=True):
                k = places.setdefault(value, len(places))
                if k == len(counts):
                    counts.append(0)
                    firsts.append(start + int(first))
                counts[k] += int(n)
        values = np.empty(len(places), found[0].values.dtype if found else object)
        values[:] = list(places)
        return cls(values, np.array(counts, np.int64), np.array(firsts, np.int64))


def summary(part: PartRows | None) -> PartSummary | None:
    """What is to be known of a part at first; None: it could not be read line by line."""
    if part is None:
        return None
    stored, infinite, thousands = dict[str, str](), dict[str, tuple[int, str]](), set[str]()
    for name, cells in part.held.items():
        kinds = {"f": "number", "M": "date"}
        stored[name] = "text" if isinstance(cells, Texts) else kinds[cells.dtype.kind]
        if stored[name] == "number":
            endless = np.flatnonzero(np.isinf(cells))
            if endless.size:
                infinite[name] = int(endless[0]), str(cells[endless[0]])
            likely = name in part.staged.may_be_thousands
            if likely and all(map(may_be_thousands, in_pieces(cells))):
                thousands.add(name)
    return PartSummary(part.staged, part.n_rows, part.is_text, stored, infinite, thousands)


def seen_in(names: Sequence[str], part: PartRows) -> list[Seen]:
    """The different cells of some columns of a part."""
    return [Seen.of(part.held[name]) for name in names]


class Reading(NamedTuple):
    """How a part becomes columns: the names of columns, how each is read, and words renamed."""

    columns: Mapping[str, Column]
    stored: Mapping[str, str]  # by the SQL of a column, its name in the files
    renamed: Mapping[str, Mapping[str, str]] = {}

    def __call__(self, part: PartRows) -> dict[str, Any]:
        """All rows of a part."""
        return self.rows(part, 0, part.n_rows)

    def of(self, names: Sequence[str]) -> Reading:
        """The same of some columns only."""
        return self._replace(columns={name: self.columns[name] for name in names})

    def rows(self, part: PartRows, first: int, last: int) -> dict[str, Any]:
        """Some rows of a part."""
        held = {sql: part.held[name] for sql, name in self.stored.items()}
        with closing(Storage()) as storage:
            made = RowsOfPart(storage, "", part.n_rows, held, None)
            found = made.fetched(list(self.columns.values()), first, last)
        named = dict(zip(self.columns, found, strict=True))
        return {name: _renamed(cells, self.renamed.get(name)) for name, cells in named.items()}


def _renamed(cells: Any, words: Mapping[str, str] | None) -> Any:
    """Texts with other words in place of some."""
    if not words:
        return cells
    named = [words.get(word, word) for word in cells.values]
    places = {word: k for k, word in enumerate(dict.fromkeys(named))}
    values = np.empty(len(places), dtype=object)
    values[:] = list(places)
    codes = np.array([*(places[word] for word in named), -1], dtype=np.int32)
    return Texts(values, codes[cells.codes])


class RowsOfPart(RowsInMemory):
    """The rows of a part, some columns of which a file may have stored as dates."""

    def _fetched(self, column: Column, rows: slice) -> NDArray[Any] | Texts:
        if column.stored == column.kind == "date":
            return self.held[column.sql][rows]
        return super()._fetched(column, rows)

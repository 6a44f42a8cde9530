"""The rows of a table that lie in memory, column by column.

What a column holds is judged, and its cells are read as numbers or dates, by its different cells,
which are mostly few. They go to a database for that, so that it is said in one place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.tables.asked_kinds import readable
from rosenblatt.tables.cells import is_certainly_text
from rosenblatt.tables.columns import Column, StagedFile, select
from rosenblatt.tables.kinds import AllRows, find_kinds, most_bad
from rosenblatt.tables.mapped_columns import pieces
from rosenblatt.tables.remarks import MAY_BE_THOUSANDS, Remark
from rosenblatt.tables.texts import MISSING_CODE, Texts, with_nothing
from rosenblatt.tables.written_numbers import MOST_BAD, may_be_thousands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.storage import Storage


_TYPES = {"number": "DOUBLE", "date": "TIMESTAMP"}


class DifferentCells(NamedTuple):
    """The different cells of a column, in the order in which they first occur, and where."""

    values: NDArray[Any]
    codes: NDArray[np.int32]


class RowsInMemory(AllRows):
    """Columns by their names in SQL: numbers, or texts that may be read as anything.

    `texts_of` reads the texts of a column of numbers; without it the numbers are all there is.
    """

    def __init__(
        self,
        storage: Storage,
        shown: str,
        n_rows: int,
        held: Mapping[str, Floats | Texts],
        texts_of: Callable[[str], Texts] | None,
    ) -> None:
        self.storage = storage
        self.shown = shown
        self.n_rows = n_rows
        self.held = dict(held)
        self._texts_of = texts_of
        self._cells: dict[str, DifferentCells] = {}
        self._read: dict[Column, NDArray[Any]] = {}

    @classmethod
    def joined(cls, parts: Sequence[tuple[RowsInMemory, str]], n_files: int) -> RowsInMemory:
        """The rows of several files, one after another, as columns c0, c1, ...

        `parts` are the columns of all files by their names there, column by column.
        """
        by_column = [parts[j : j + n_files] for j in range(0, len(parts), n_files)]
        held = {f"c{j}": _joined_cells(column) for j, column in enumerate(by_column)}
        first = parts[0][0]
        known = all(rows._texts_of is not None for rows, _ in parts[:n_files])

        def texts_of(sql: str) -> Texts:
            return Texts.joined([rows._texts(name) for rows, name in by_column[int(sql[1:])]])

        n_rows = sum(rows.n_rows for rows, _ in parts[:n_files])
        return cls(first.storage, first.shown, n_rows, held, texts_of if known else None)

    def _texts(self, sql: str) -> Texts:
        """A column as the texts that stand in the file."""
        held = self.held[sql]
        if not isinstance(held, Texts) and self._texts_of is not None:
            held = self._texts_of(sql)
        return held if isinstance(held, Texts) else as_texts(held)

    def columns(self, guesses: Sequence[str]) -> list[Column]:
        """The columns as far as the first records of the file tell what they hold."""
        columns = []
        for guess, (sql, held) in zip(guesses, self.held.items(), strict=True):
            if isinstance(held, Texts):
                columns.append(Column(sql, "text", "text", declared=guess == "text"))
            elif self._texts_of is None:
                columns.append(Column(sql, "number", "number", declared=True))
            else:
                columns.append(Column(sql, "text", "number", tidy=True))
        return columns

    def judged(self, staged: StagedFile) -> tuple[list[Column], list[Remark]]:
        """The columns with the kind of each, judged by all of its cells, and remarks."""
        columns = list(staged.columns)
        places = [j for j, column in enumerate(columns) if self._is_open(column)]
        told = list[Remark]()
        if places:
            open_ones = [columns[j] for j in places]
            n_rows = self._stage(open_ones)
            names = [staged.names[j] for j in places]
            part = replace(staged, names=names, columns=open_ones)
            found, told = find_kinds(self.storage, part, n_rows, self)
            for j, column in zip(places, found, strict=True):
                columns[j] = column
        return columns, [*told, Remark(self._like_thousands(staged), MAY_BE_THOUSANDS)]

    def _like_thousands(self, staged: StagedFile) -> list[str]:
        """The columns of numbers whose points may separate thousands."""
        asked = zip(staged.names, self.held.values(), strict=True)
        likely = [(name, held) for name, held in asked if name in staged.may_be_thousands]
        numbers = [(name, held) for name, held in likely if not isinstance(held, Texts)]
        return [name for name, held in numbers if all(map(may_be_thousands, in_pieces(held)))]

    def _is_open(self, column: Column) -> bool:
        """Whether a column may hold something other than what it is taken for."""
        held = self.held[column.sql]
        if column.declared or not isinstance(held, Texts) or not len(held.values):
            return False
        rows = self._counts(column, held).tolist()
        texts, in_rows, most, most_rows = 0, 0, most_bad(len(held.values)), sum(rows) // MOST_BAD
        for value, n_rows in zip(held.values, rows, strict=True):
            if is_certainly_text(value):
                texts, in_rows = texts + 1, in_rows + n_rows
                if texts > most or in_rows > most_rows:
                    return False
        return True

    def _counts(self, column: Column, held: Texts) -> NDArray[np.intp]:
        """In how many rows each of the different texts of a column stands."""
        return counts(held)

    def _stage(self, columns: Sequence[Column]) -> int:
        """Put the different cells of these columns into the table `rows`; how long it is."""
        cells = [self._different(column).values for column in columns]
        n_rows = max(map(len, cells))
        types = [_TYPES.get(column.stored, "VARCHAR") for column in columns]
        named = [f"{column.sql} {kind}" for column, kind in zip(columns, types, strict=True)]
        self.storage.rows(f"CREATE OR REPLACE TABLE rows ({', '.join(named)})")
        if n_rows:
            filled = [np.append(values, [None] * (n_rows - len(values))) for values in cells]
            batch = {column.sql: v for column, v in zip(columns, filled, strict=True)}
            self.storage.insert(batch)
        return n_rows

    def _different(self, column: Column) -> DifferentCells:
        if column.sql not in self._cells:
            held = self.held[column.sql]
            if isinstance(held, Texts) or self._texts_of is not None:
                texts = self._texts(column.sql)
                self._cells[column.sql] = DifferentCells(texts.values, texts.codes)
            else:
                self._cells[column.sql] = self._different_numbers(held)
        return self._cells[column.sql]

    def _different_numbers(self, numbers: Floats) -> DifferentCells:
        return unique(numbers)

    def first_row(self, column: Column, place: int) -> int:
        """The row in which the different cell of this place first stands."""
        first = 0
        for codes in in_pieces(self._different(column).codes):
            found = codes == place
            if found.any():
                return first + int(np.argmax(found))
            first += len(codes)
        return 0

    def rows_with(self, column: Column, place: int, found: int) -> int:
        """In how many rows the different cell of this place stands."""
        codes = in_pieces(self._different(column).codes)
        return sum(int(np.count_nonzero(piece == place)) for piece in codes)

    def rows_present(self, column: Column, found: int) -> int:
        """In how many rows a cell of the column is present."""
        codes = in_pieces(self._different(column).codes)
        return sum(int(np.count_nonzero(piece != MISSING_CODE)) for piece in codes)

    def fetched(
        self, columns: Sequence[Column], start: int, stop: int
    ) -> list[NDArray[Any] | Texts]:
        """These columns of the rows from `start` up to `stop`, each as its kind."""
        self.storage.check_open()
        return [self._fetched(column, slice(start, stop)) for column in columns]

    def _fetched(self, column: Column, rows: slice) -> NDArray[Any] | Texts:
        held = self.held[column.sql]
        if isinstance(held, Texts) == (column.kind == "text") and column.kind != "date":
            return held[rows]
        codes = self._different(column).codes[rows]
        if column.kind == "text" and column.stored == "text":
            return Texts(self._different(column).values, codes)
        if column not in self._read:
            self._stage([column])
            answer = self.storage.arrays(f"{select([column])} ORDER BY place")["v0"]
            self._read[column] = _with_nothing(answer, column.kind)
        values = self._read[column]
        return Texts(values[:-1], codes) if column.kind == "text" else values[codes]

    def blocks(
        self, columns: Sequence[Column], n_rows: int, most_rows: int
    ) -> Iterator[tuple[int, list[NDArray[Any] | Texts]]]:
        """The first row and these columns of each block of rows."""
        for start in range(0, n_rows, most_rows):
            yield start, self.fetched(columns, start, min(start + most_rows, n_rows))

    def readable(self, name: str, column: Column, kind: str, **how: Any) -> Column:
        """The column read as this kind; cells that are present but cannot be are refused."""
        self.storage.check_open()
        if column.is_read_as(kind):
            return replace(column, kind=kind)
        self._stage([column])
        return readable(self.storage, name, column, kind, self.shown, places=self, **how)

    def close(self) -> None:
        """Forget the rows."""
        self.storage.close()
        self.held.clear()
        self._cells.clear()
        self._read.clear()


def _joined_cells(parts: Sequence[tuple[RowsInMemory, str]]) -> Floats | Texts:
    """A column of several files: numbers if it is in all of them."""
    held = [rows.held[sql] for rows, sql in parts]
    numbers = [cells for cells in held if not isinstance(cells, Texts)]
    if len(numbers) == len(held):
        return np.concatenate(numbers)
    return Texts.joined([rows._texts(sql) for rows, sql in parts])


def as_texts(numbers: Floats) -> Texts:
    """Numbers whose texts were not kept, written as most files do."""
    values, codes = unique(numbers)
    texts = np.array([f"{x:.0f}" if x == np.floor(x) and abs(x) < 1e15 else repr(x)
                      for x in values.tolist()], dtype=object)  # fmt: skip
    return Texts(texts, codes)


def unique(numbers: Floats) -> DifferentCells:
    """The different numbers of a column, and where they are."""
    known = ~np.isnan(numbers)
    values, first, inverse = np.unique(numbers[known], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = np.full(len(numbers), MISSING_CODE, dtype=np.int32)
    codes[known] = rank[inverse]
    return DifferentCells(values[order], codes)


def in_pieces(cells: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """A column piece by piece, so that what is made of it on the way takes little room."""
    return (cells[piece] for piece in pieces(len(cells)))


def counts(texts: Texts) -> NDArray[np.intp]:
    """In how many rows each of the different texts stands."""
    n = len(texts.values) + 1
    found = (np.bincount(codes + 1, minlength=n) for codes in in_pieces(texts.codes))
    return sum(found, np.zeros(n, dtype=np.intp))[1:]


def _with_nothing(answer: NDArray[Any], kind: str) -> NDArray[Any]:
    """What different cells stand for, and at the end what a missing one does."""
    if kind == "number":
        return np.append(np.asarray(answer, dtype=np.float64), np.nan)
    if kind == "date":
        dates = np.ma.filled(answer.astype("datetime64[us]"), np.datetime64("NaT", "us"))
        return np.append(dates, np.datetime64("NaT", "us"))
    return with_nothing(np.ma.getdata(answer))

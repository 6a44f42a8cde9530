"""The rows of a table that lie in a database, and the columns made from them."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from rosenblatt.contract.parameters import count_threads
from rosenblatt.tables.arrow_blocks import arrow_blocks
from rosenblatt.tables.asked_kinds import readable
from rosenblatt.tables.columns import COLUMNS_PER_QUERY, select
from rosenblatt.tables.input_files import glob_escaped
from rosenblatt.tables.storage import TableError, first_line
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Column, ParquetParts
    from rosenblatt.tables.storage import Storage

GROUP = 122_880  # rows that DuckDB keeps, and decodes, together
FEW_TEXTS = 10_000  # in a column, up to which a type of their own is made of them


class StagedRows:
    """The table `rows` of a storage, or Parquet files that `rows` is a view of.

    `kept` is the SQL that empties cells with one of the `markers`.
    """

    def __init__(
        self,
        storage: Storage,
        shown: str,
        parquet: ParquetParts | None = None,
        markers: Collection[str] = (),
        kept: str = "",
    ) -> None:
        self.storage = storage
        self.shown = shown
        self.parquet = parquet
        self._markers, self._kept = markers, kept

    def fetched(
        self, columns: Sequence[Column], start: int, stop: int
    ) -> list[NDArray[Any] | Texts]:
        """These columns of the rows from `start` up to `stop`, each as its kind."""
        parts = [self._part(columns, *where) for where in self._places(start, stop)]
        return parts[0] if len(parts) == 1 else list(map(joined, zip(*parts, strict=True)))

    def _places(self, start: int, stop: int) -> Iterator[tuple[str, int, int]]:
        """Where rows are: in which relation, from which row on and up to which."""
        if self.parquet is None or not self.parquet.fits(start, stop):
            self.check()
            yield "rows", start, stop
            return
        for k, (first, last) in enumerate(pairwise(self.parquet.firsts)):
            if first < stop and start < last:
                self.parquet.files[k].check()
                source = self.parquet.source(k)
                source = f"({self._kept} ({source}))" if self._kept else f"({source})"
                yield source, max(start - first, 0), min(stop, last) - first

    def check(self) -> None:
        """Refuse files that were changed since they were opened."""
        for state in self.parquet.files if self.parquet is not None else ():
            state.check()

    def _part(
        self, columns: Sequence[Column], source: str, start: int, stop: int
    ) -> list[NDArray[Any] | Texts]:
        fetched: list[NDArray[Any] | Texts] = []
        rows = f"WHERE rowid >= {start} AND rowid < {stop}"
        for first in range(0, len(columns), COLUMNS_PER_QUERY):
            part = columns[first : first + COLUMNS_PER_QUERY]
            try:
                fetched += self._fetched(part, source, rows)
            except duckdb.Error as error:
                self.check()
                msg = f"{self.shown} can no longer be read: {first_line(error)}"
                raise TableError(msg) from None
        return fetched

    def blocks(
        self, columns: Sequence[Column], n_rows: int, most_rows: int
    ) -> Iterator[tuple[int, list[NDArray[Any] | Texts]]]:
        """The first row and these columns of each block of rows, decoded once and side by side."""
        self.storage.check_open()
        if self.parquet is not None and find_spec("pyarrow") is not None:
            yield from arrow_blocks(self.parquet, columns, most_rows, self._markers, self.fetched)
        else:
            yield from self._blocks(columns, n_rows, most_rows)
        self.check()

    def _blocks(
        self, columns: Sequence[Column], n_rows: int, most_rows: int
    ) -> Iterator[tuple[int, list[NDArray[Any] | Texts]]]:
        ranges = list(ranges_of(self._groups(n_rows), most_rows))
        threads = min(2, count_threads(None), max(len(ranges), 1))
        with ThreadPoolExecutor(threads) as pool:
            pending: deque[tuple[int, Future[Any]]] = deque()
            try:
                for start, stop in ranges:
                    pending.append((start, pool.submit(self.fetched, columns, start, stop)))
                    if len(pending) > threads:
                        first, found = pending.popleft()
                        yield first, found.result()
                while pending:
                    first, found = pending.popleft()
                    yield first, found.result()
            finally:
                for _, unwanted in pending:
                    unwanted.cancel()

    def _groups(self, n_rows: int) -> Iterator[int]:
        """How many rows there are in each of the parts that are decoded together."""
        if self.parquet is None:
            for start in range(0, n_rows, GROUP):
                yield min(GROUP, n_rows - start)
            return
        asked = "SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(?)"
        for state in self.parquet.files:
            for _, n in sorted(self.storage.rows(asked, [glob_escaped(state.file)])):
                yield int(n)

    def _fetched(
        self, columns: Sequence[Column], source: str, rows: str
    ) -> list[NDArray[Any] | Texts]:
        values = [self._values(column, source, rows) for column in columns]
        arrays = self.storage.arrays(f"{select(columns, values, source)} {rows}")
        order = _order(arrays["place"])
        return [
            _in_memory(arrays[f"v{j}"][order], column.kind, values[j])
            for j, column in enumerate(columns)
        ]

    def _values(self, column: Column, source: str, rows: str) -> list[str] | None:
        """The different texts of a column, if they are few."""
        if column.kind != "text":
            return None
        few = f"SELECT DISTINCT {column.cell()} AS v FROM {source} {rows} LIMIT {FEW_TEXTS + 1}"
        found = self.storage.rows(f"SELECT v FROM ({few}) WHERE v IS NOT NULL")
        return sorted(text for (text,) in found) if len(found) < FEW_TEXTS else None

    def readable(self, name: str, column: Column, kind: str, **how: Any) -> Column:
        """The column read as this kind; cells that are present but cannot be are refused."""
        return readable(self.storage, name, column, kind, self.shown, **how)

    def close(self) -> None:
        """Remove the database."""
        self.storage.close()


def ranges_of(groups: Iterable[int], most_rows: int) -> Iterator[tuple[int, int]]:
    """Rows from this one up to that: as many groups as there may be, a larger one in parts."""
    start = stop = 0
    for n_rows in groups:
        if stop > start and stop + n_rows - start > most_rows:
            yield start, stop
            start = stop
        stop += n_rows
        n_parts = -(-(stop - start) // most_rows)
        for part in range(1, n_parts + (n_parts > 1)) if n_parts > 1 else ():
            end = stop - n_rows + n_rows * part // n_parts
            yield start, end
            start = end
    if stop > start:
        yield start, stop


def joined(parts: Sequence[NDArray[Any] | Texts]) -> NDArray[Any] | Texts:
    """Cells of several files, one after another."""
    texts = [part for part in parts if isinstance(part, Texts)]
    arrays = [part for part in parts if not isinstance(part, Texts)]
    return Texts.joined(texts) if texts else np.concatenate(arrays)


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

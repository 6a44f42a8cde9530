"""Writing a table, whole or not at all, part by part."""

from __future__ import annotations

import contextlib
import csv
import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import duckdb
import numpy as np

from rosenblatt.files.whole import check_writable, written_whole
from rosenblatt.tables.cells import quoted
from rosenblatt.tables.storage import IN_MEMORY_BYTES, Storage, TableError, first_line
from rosenblatt.tables.texts import Texts
from rosenblatt.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    Cells = NDArray[Any] | Texts

_SQL_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE"}
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")


class TableWriter:
    r"""A table being written; a context manager.

    The file appears under its name when the block ends well; otherwise nothing changes. CSV
    shows numbers by `repr`, which reads back as the same number, or as 181 rather than 181.0
    where all rows given at a time are whole; what is missing (NaN, None) is an empty cell, in
    Parquet NULL.

    Parameters
    ----------
    path : str, path or None
        A file ending in .csv, .tsv, .parquet or .pq; None writes CSV to standard output, where
        a terminal is shown ``\x1b`` and the like in place of what would act on it.
    columns : mapping
        The columns in order, each "text", "integer" or "number".

    Raises
    ------
    TableError
        If the suffix or a kind of column is not known.
    OSError
        If the folder is not there or may not be written to.
    """

    def __init__(self, path: str | os.PathLike[str] | None, columns: Mapping[str, str]) -> None:
        unknown = [kind for kind in columns.values() if kind not in _SQL_TYPES]
        if unknown:
            msg = f"kind {unknown[0]!r} is not known: give 'text', 'integer' or 'number'"
            raise TableError(msg)
        self.columns = dict(columns)
        self.path = None if path is None else _checked(Path(path))
        self._open_files = contextlib.ExitStack()
        self._sink: _CsvSink | _ParquetSink | None = None

    def __enter__(self) -> TableWriter:
        with contextlib.ExitStack() as stack:
            self._sink = self._opened(stack)
            self._open_files = stack.pop_all()
        return self

    def _opened(self, stack: contextlib.ExitStack) -> _CsvSink | _ParquetSink:
        if self.path is None:
            return _CsvSink(sys.stdout, ",", self.columns, stack)
        beside = stack.enter_context(written_whole(self.path))
        suffix = self.path.suffix.lower()
        if suffix in _PARQUET:
            return _ParquetSink(beside, self.path, self.columns, stack)
        file = stack.enter_context(beside.open("w", encoding="utf-8", newline=""))
        return _CsvSink(file, _DELIMITERS[suffix], self.columns, stack)

    def write(self, rows: Mapping[str, Cells]) -> None:
        """Append rows, given as an array for each column, or as `Texts`."""
        if self._sink is None:
            msg = "the table is not open: write to it inside a with block"
            raise TableError(msg)
        if set(rows) != set(self.columns):
            msg = f"columns {sorted(rows)} were given, but the table has {sorted(self.columns)}"
            raise TableError(msg)
        lengths = {len(array) for array in rows.values()}
        if len(lengths) > 1:
            msg = f"the columns differ in length: {sorted(lengths)}"
            raise TableError(msg)
        if lengths != {0}:
            given = (rows[name] for name in self.columns)
            self._sink.write([c if isinstance(c, Texts) else np.asarray(c) for c in given])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sink, self._sink = self._sink, None
        if error is not None:
            self._open_files.__exit__(kind, error, traceback)
            return
        with self._open_files:  # so that a failure to finish also removes what was written
            if sink is not None:
                sink.finish()


class _CsvSink:
    """Rows made into text by DuckDB, a part at a time."""

    def __init__(
        self,
        stream: TextIO,
        delimiter: str,
        columns: Mapping[str, str],
        stack: contextlib.ExitStack,
    ) -> None:
        self.stream, self.delimiter = stream, delimiter
        self.kinds = list(columns.values())
        self.shown = visible if stream is sys.stdout and stream.isatty() else str
        self.storage = Storage()
        stack.callback(self.storage.close)
        self.storage.open(0)
        self.storage.rows("SET threads = 1")  # rows are never to change places
        header = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        header.writerow(map(self.shown, columns))

    def write(self, columns: Sequence[Cells]) -> None:
        batch: dict[str, NDArray[Any]] = {}
        lists: list[list[str]] = []
        parts = [self._part(j, column, batch, lists) for j, column in enumerate(columns)]
        if len(parts) == 1:  # an empty line would be no row
            parts = [f"COALESCE(NULLIF({parts[0]}, ''), '\"\"')"]
        # Joined by ||, a row of k cells would be k texts, each longer than the one before.
        line = f"concat_ws({quoted(self.delimiter)}, {', '.join(parts)})"
        sql = f"SELECT string_agg({line} || chr(10), '') FROM given"
        ((text,),) = self.storage.rows(sql, lists, batch)
        self.stream.write(text)
        if self.stream is sys.stdout:
            self.stream.flush()

    def _part(
        self, j: int, column: Cells, batch: dict[str, NDArray[Any]], lists: list[list[str]]
    ) -> str:
        """The SQL of a cell as it is written; what it refers to goes into batch and lists."""
        name, kind = f"c{j}", self.kinds[j]
        if isinstance(column, Texts):
            batch[name] = column.codes
            lists.append([_quoted(self.shown(text), self.delimiter) for text in column.values])
            return f"COALESCE(list_extract(${len(lists)}, {name} + 1), '')"
        if kind == "number":
            values = np.asarray(column, dtype=np.float64)
            known = values[~np.isnan(values)]
            if _are_whole(known):
                batch[name] = values
                return f"COALESCE(CAST(CAST({name} AS BIGINT) AS VARCHAR), '')"
            if not _are_misspelt(known):
                batch[name] = values
                return f"COALESCE(CAST({name} AS VARCHAR), '')"
            column = np.array([None if x != x else repr(x) for x in values.tolist()], dtype=object)
        batch[name] = _typed(column, "integer" if kind == "integer" else "text", self.shown)
        if kind != "text":
            return f"COALESCE(CAST({name} AS VARCHAR), '')"
        special = f"regexp_matches({name}, '[\"\\n\\r{self.delimiter}]')"
        marked = f"""'"' || replace({name}, '"', '""') || '"'"""
        return f"CASE WHEN {name} IS NULL THEN '' WHEN {special} THEN {marked} ELSE {name} END"

    def finish(self) -> None:
        self.stream.flush()


def _quoted(text: str, delimiter: str) -> str:
    """A text as a cell, in quotation marks if it needs them."""
    needed = any(mark in text for mark in (delimiter, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if needed else text


def _are_whole(values: NDArray[np.float64]) -> bool:
    """Whether the numbers are the same when read back without a decimal point; -0.0 is not."""
    exact = (np.abs(values) < 2**53) & (values == np.rint(values))
    return bool((exact & ~(np.signbit(values) & (values == 0))).all())


def _are_misspelt(values: NDArray[np.float64]) -> bool:
    """Whether DuckDB may write one as another: of large powers of two, 2**81 (seen in 2.0.0)."""
    fraction, exponent = np.frexp(values)
    return bool(((np.abs(fraction) == 0.5) & (np.abs(exponent) > 60)).any())


class _ParquetSink:
    """Rows gathered in a database on disk, since Parquet is written in one go."""

    def __init__(
        self, beside: Path, path: Path, columns: Mapping[str, str], stack: contextlib.ExitStack
    ) -> None:
        self.beside, self.path = beside, path
        self.names = list(columns)
        self.kinds = list(columns.values())
        self.storage = Storage()
        stack.callback(self.storage.close)
        self.storage.open(IN_MEMORY_BYTES + 1)
        self.storage.rows("SET threads = 1")  # rows are never to change places
        types = ", ".join(f"c{j} {_SQL_TYPES[kind]}" for j, kind in enumerate(self.kinds))
        self.storage.rows(f"CREATE TABLE rows ({types})")

    def write(self, columns: Sequence[Cells]) -> None:
        batch: dict[str, NDArray[Any]] = {}
        lists, values = [], []
        for j, (column, kind) in enumerate(zip(columns, self.kinds, strict=True)):
            if isinstance(column, Texts):
                batch[f"c{j}"] = column.codes
                lists.append(column.values.tolist())
                values.append(f"list_extract(${len(lists)}, c{j} + 1)")
            else:
                batch[f"c{j}"] = _typed(column, kind)
                values.append(f"c{j}")
        sql = f"INSERT INTO rows SELECT {', '.join(values)} FROM given"
        self._do(lambda: self.storage.rows(sql, lists, batch))

    def finish(self) -> None:
        names = ", ".join(
            f'c{j} AS "{name.replace(chr(34), chr(34) * 2)}"' for j, name in enumerate(self.names)
        )
        target = quoted(str(self.beside))
        copy = f"COPY (SELECT {names} FROM rows) TO {target} (FORMAT parquet, USE_TMP_FILE false)"
        try:
            self._do(lambda: self.storage.rows(copy))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            # The folder in TMPDIR is not to blame; `written_whole` says which file is.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None

    def _do(self, work: Callable[[], object]) -> None:
        try:
            work()
        except duckdb.Error as error:
            why = first_line(error).replace(str(self.beside), str(self.path))
            msg = f"the table cannot be written as Parquet: {why}"
            raise TableError(msg) from None


def _typed(array: NDArray[Any], kind: str, shown: Callable[[str], str] = str) -> NDArray[Any]:
    if kind == "integer":
        return np.asarray(array, dtype=np.int64)
    if kind == "number":
        return np.asarray(array, dtype=np.float64)
    texts = np.empty(len(array), dtype=object)
    texts[:] = [None if x is None else shown(str(x)) for x in array.tolist()]
    return texts


def _checked(path: Path) -> Path:
    """The path, if a table can be written there."""
    accepted = [*_DELIMITERS, *_PARQUET]
    if path.suffix.lower() not in accepted:
        msg = f"{path} cannot be written: give a name that ends in {', '.join(accepted)}"
        raise TableError(msg)
    check_writable(path)
    return path

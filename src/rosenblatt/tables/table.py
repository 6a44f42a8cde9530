"""Reading tables from files and databases, column by column or in chunks of rows."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rosenblatt.arguments import brief, file_path, instance, names_of, yes_or_no
from rosenblatt.tables.cells import KINDS
from rosenblatt.tables.columns import Asked
from rosenblatt.tables.input_files import shown_path
from rosenblatt.tables.opened_rows import open_rows
from rosenblatt.tables.rows_on_disk import RowsOnDisk
from rosenblatt.tables.staged_rows import StagedRows
from rosenblatt.tables.storage import Storage, TableError, without_room
from rosenblatt.tables.texts import Texts
from rosenblatt.tables.written_dates import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.remarks import Remark
    from rosenblatt.tables.rows_in_memory import RowsInMemory

BLOCK_CELLS = 1 << 22  # of a block, by default
MOST_ROWS_OF_A_BLOCK = 1 << 20

T = TypeVar("T")

__all__ = ["Table", "TableError", "read_table"]


class Table(Mapping[str, "NDArray[Any]"]):
    """A table on disk or in memory whose columns are fetched when asked for.

    Made by `read_table`. A mapping from names to arrays: float64 with NaN where a number is
    missing, datetime64[us] (UTC) with NaT, or object arrays of str with None. Rows keep the
    order of the file.

    Close it, or use it in a `with` block, to remove its temporary files; tables made from it
    by `read_as` and `renamed` share these and are closed with it.

    Attributes
    ----------
    path : str
        The file as it was named.
    names : tuple of str
        The columns in order.
    n_rows : int
    has_header : bool
        Whether the names come from the file.
    kinds : dict
        "number", "date" or "text" for each column; "sparse" for one that is a matrix (CSR), the
        features of an svmlight file.
    notes : tuple of str
        What was done unasked, a sentence each.
    """

    def __init__(
        self,
        rows: StagedRows | RowsInMemory,
        path: str,
        columns: Mapping[str, Column],
        n_rows: int,
        has_header: bool,
        notes: Iterable[str] = (),
        told: Sequence[Remark] = (),
        sparse: Mapping[str, Any] | None = None,
    ) -> None:
        self._sparse = dict(sparse or {})
        self.path = path
        self.names = (*self._sparse, *columns)
        self.n_rows = n_rows
        self.has_header = has_header
        self.kinds = dict.fromkeys(self._sparse, "sparse")
        self.kinds |= {name: column.kind for name, column in columns.items()}
        self._notes, self._told = tuple(notes), told
        self._columns = dict(columns)
        self._rows = rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        return _as_array(self._fetched([name], 0, self.n_rows)[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.kinds

    # Comparing cell by cell, as a mapping would, is never what is meant.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Table {shown_path(self.path)}: {self.n_rows} rows, {len(self)} columns>"

    def chunk(
        self, start: int, stop: int, names: Sequence[str] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The rows from `start` up to, not including, `stop`, counted from 0.

        Numbers of a table that lies in columns on disk are views of these, read-only.
        """
        names = self.names if names is None else names
        self._check_names(names)
        start, stop = max(int(start), 0), min(int(stop), self.n_rows)
        fetched = self._fetched(names, start, max(start, stop))
        as_array = _view if isinstance(self._rows, RowsOnDisk) else _as_array
        return {name: as_array(cells) for name, cells in fetched.items()}

    def columns(self, names: Sequence[str] | None = None) -> dict[str, NDArray[Any] | Texts]:
        """All rows of these columns as they are kept in memory, not to be written to.

        Like `chunk`, but texts come as `Texts`: every different one once, and codes.
        """
        names = self.names if names is None else names
        self._check_names(names)
        return self._fetched(names, 0, self.n_rows)

    def blocks(
        self, names: Sequence[str] | None = None, rows: int | None = None
    ) -> Iterator[tuple[int, dict[str, NDArray[Any] | Texts]]]:
        """All rows once, in the order of the file, in blocks: the first row, and the columns.

        Columns are those of `columns`, not to be written to; the texts of each block have codes of
        their own. A file that is read in place is decoded once, as fast as may be.

        Parameters
        ----------
        names : sequence of str, optional
            The columns; by default all.
        rows : int, optional
            How many rows a block has at most; by default so many that it takes about 32 MB.
        """
        names = self.names if names is None else names
        self._check_names(names)
        if rows is None:
            rows = min(max(BLOCK_CELLS // max(len(names), 1), 1), MOST_ROWS_OF_A_BLOCK)
        others = [name for name in names if name not in self._sparse]
        asked = [self._columns[name] for name in others]
        blocks = self._rows.blocks(asked, self.n_rows, rows)
        if not others:
            blocks = ((start, []) for start in range(0, self.n_rows, rows))
        for start, cells in blocks:
            found = dict(zip(others, cells, strict=True))
            stop = start + len(cells[0]) if cells else min(start + rows, self.n_rows)
            sparse = {name: self._sparse[name][start:stop] for name in names if name not in found}
            yield start, sparse | found

    def _fetched(
        self, names: Sequence[str], start: int, stop: int
    ) -> dict[str, NDArray[Any] | Texts]:
        found = {name: self._sparse[name][start:stop] for name in names if name in self._sparse}
        others = [name for name in names if name not in found]
        asked = [self._columns[name] for name in others]
        return found | dict(zip(others, self._rows.fetched(asked, start, stop), strict=True))

    @property
    def is_held(self) -> bool:
        """Whether `columns` are views of what is held, in memory or mapped, and no copies."""
        from rosenblatt.tables.rows_in_memory import RowsInMemory

        return isinstance(self._rows, RowsInMemory)

    @property
    def dates(self) -> dict[str, str]:
        """The order of dates such as 31.12.2024 ("dmy"), 12/31/2024 and 24/12/31."""
        known = {order: name for name, order in ORDERS.items()}
        found = {name: c.order for name, c in self._columns.items() if c.kind == "date"}
        return {name: known[order] for name, order in found.items() if order in known}

    @property
    def units(self) -> dict[str, str]:
        """The units that stand behind numbers: 62 kg."""
        numbers = {name: c for name, c in self._columns.items() if c.kind == "number"}
        return {name: column.unit for name, column in numbers.items() if column.unit}

    @property
    def decimals(self) -> dict[str, str]:
        """The decimal marks of numbers that are not plain: 16,455 or 1,5."""
        marks = {name: c.writing for name, c in self._columns.items() if c.kind == "number"}
        return {name: mark for name, mark in marks.items() if mark in (".", ",")}

    @property
    def written(self) -> set[str]:
        """The columns of numbers that are not plain: $5, 1,5, 62 kg."""
        numbers = {name: c for name, c in self._columns.items() if c.kind == "number"}
        return {name for name, column in numbers.items() if not column.is_plain}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done unasked, a sentence each."""
        return self.notes_besides(None)

    def notes_besides(self, name: str | None) -> tuple[str, ...]:
        """The same, but for how the cells of this column are read."""
        told = (note for remark in self._told for note in remark.sentences(name))
        return (*self._notes, *told)

    def read_as(self, kinds: Mapping[str, str], *, forgiving: bool = False) -> Self:
        """The same rows, with these columns only, read as these kinds.

        Raises TableError if a column is missing, or if cells that are present cannot be read as
        the kind asked for. Of numbers one in twenty may be none, which is then missing; whoever
        is `forgiving` takes up to half of numbers or dates so, or a single one.
        """
        self._check_names(kinds)
        sparse = {name: self._sparse[name] for name in kinds if name in self._sparse}
        for name, kind in kinds.items():
            if (kind == "sparse") != (name in sparse):
                what = "sparse features" if kind == "sparse" else f"a {kind}"
                msg = f"{shown_path(self.path)}: {name!r} must be {what}: give a file of that kind"
                raise TableError(msg)
            if kind not in (*KINDS, "sparse"):
                msg = f"kind {kind!r} of column {name!r} is not known: give one of {KINDS}"
                raise TableError(msg)
        columns = {
            name: self._rows.readable(name, self._columns[name], kind, forgiving=forgiving)
            for name, kind in kinds.items()
            if name not in sparse
        }
        return self._with(columns, sparse)

    def renamed(self, names: Sequence[str]) -> Self:
        """The same columns under other names, for a file without a header."""
        names = tuple(names)
        if len(names) != len(self) or len(set(names)) != len(names):
            msg = f"{len(names)} names for {len(self)} columns: give each column a name of its own"
            raise TableError(msg)
        n = len(self._sparse)
        sparse = dict(zip(names[:n], self._sparse.values(), strict=True))
        return self._with(dict(zip(names[n:], self._columns.values(), strict=True)), sparse)

    def _with(self, columns: Mapping[str, Column], sparse: Mapping[str, Any]) -> Self:
        told = [column.note for column in columns.values() if column.note]
        shared = (self._rows, self.path, columns, self.n_rows, self.has_header)
        return type(self)(*shared, (*self._notes, *told), self._told, sparse)

    def _check_names(self, names: Iterable[str]) -> None:
        missing = [name for name in names if name not in self.kinds]
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + ", ..." * (len(missing) > 5)
            here = ", ".join(map(repr, self.names[:8])) + ", ..." * (len(self) > 8)
            columns = "column" if len(missing) == 1 else "columns"
            near = _near(missing[0], self.names)
            meant = f", did you mean {near!r}?" if near is not None else ""
            msg = f"{shown_path(self.path)} has no {columns} {shown}{meant}: it has {here}"
            raise TableError(msg)

    def close(self) -> None:
        """Remove the temporary files; the table cannot be read afterwards."""
        self._rows.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _near(name: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant."""
    known = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), known, 1)
    return known[close[0]] if close else None


def _view(cells: NDArray[Any] | Texts) -> NDArray[Any]:
    """A column as an array, without a copy of numbers."""
    return cells.texts() if isinstance(cells, Texts) else cells


def _as_array(cells: NDArray[Any] | Texts) -> NDArray[Any]:
    """A column as an array of its own."""
    if isinstance(cells, Texts):
        return cells.texts()
    return cells.copy() if getattr(cells, "base", None) is not None else cells


def read_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    text: Collection[str] = (),
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    numbers: Collection[str] = (),
    wanted: Collection[str] = (),
    missing: Collection[str] = (),
    decimal: str | Mapping[str, str] | None = None,
    dates: str | Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    skip_bad_lines: bool = False,
    in_parts: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> Table:
    """Read a table from a file, from several with the same columns, or from a database.

    A cell is text without the white space around it. The markers ?, NA, N/A, NaN, null and
    #N/A, in either case, and an empty cell are missing; so are a dash and none among numbers
    and dates, while among words they are words. A column is of kind "number" if every cell
    present is a number, "date" if every one is a date or time, otherwise "text". Numbers are
    also 16,455, 28.246,50, 60 601, 12,34,567, $5, 62.5%, (5), 5-, <5 and, if all have the same
    unit, 62 kg, and times of day, which are read in hours; one cell in twenty that is no number
    is taken as missing. Codes such as 01234 are text. Dates are ISO, 31.12.2024 or 5 May 2024;
    with slashes, 31/12/2024 or 12/31/2024, if some day after the 12th shows which it is, in this
    column or in another. Text in Parquet and JSON may be dates, but no numbers.

    Parameters
    ----------
    path : str or path, or sequence of these, optional
        The file: delimited text, JSON, Parquet, Arrow, NumPy, svmlight, ARFF, a workbook, an
        SQLite or DuckDB database; plain or packed (gzip, zstd, bzip2, xz, zip); "-" is standard
        input. The format is told by the content or, failing that, by the suffix. A pattern such
        as ``data/*.csv`` stands for all files of such a name, ``postgresql://...`` for a database.
    header : bool, optional
        Whether the first line of a delimited file names the columns. By default it is judged
        by whether words stand above numbers. Columns without a name are called column1, ...
    delimiter : str, optional
        What separates the cells of a delimited file; by default judged by its first lines.
    text : collection of str
        Columns that will be read as text. Of a large file the cells of other columns may be kept
        as numbers only, so that 1.50 is 1.5 if it is asked for as text later.
    numbers : collection of str
        Columns that will be read as numbers: even above a single row, words there are units.
    sheet : str, optional
        The sheet of a workbook; by default the first.
    table : str, optional
        The table of a database; by default the only one.
    query : str, optional
        One SELECT, for the database; without a `path` it names files: FROM 'x.parquet'. Nothing
        is fetched from the network, and nothing is changed.
    wanted : collection of str
        Columns that will be asked for: a first line that has all these names is the header,
        whatever it looks like.
    missing : collection of str
        What else stands for a missing cell, such as -999 or unknown.
    decimal : "." or ",", or a mapping from columns to these, optional
        The decimal mark; the other one, blanks and apostrophes may separate thousands. By default
        judged column by column; a mapping is followed where every cell allows it.
    dates : "dmy", "mdy" or "ymd", or a mapping from columns to these, optional
        The order of day, month and year in dates that leave it open, such as 03/04/2024; it is
        followed where every date of a column allows it.
    units : mapping from columns to str, optional
        The units behind their numbers; numbers with another are none. By default looked for.
    skip_bad_lines : bool
        Leave out lines of a delimited file that have too few or too many cells.
    in_parts : bool
        The rows will be asked for in parts, one after the other: keep less of them in memory.
    folder : str or path, optional
        Where temporary files go; by default to the folder in TMPDIR. What is made there is gone
        when the table is, or with the next table if the process was killed.

    Raises
    ------
    TableError
        If there is no such file or it is no table; the message is one line with the remedy.
    OSError
        If temporary files cannot be written.
    """
    parent = None if folder is None else os.fspath(file_path("folder", folder))
    paths, asked = what_is_asked(
        path, header=header, delimiter=delimiter, text=text, sheet=sheet, table=table, query=query,
        numbers=numbers, wanted=wanted, missing=missing, decimal=decimal, dates=dates, units=units,
        skip_bad_lines=skip_bad_lines,
    )  # fmt: skip
    return made(
        Storage(yes_or_no("in_parts", in_parts), parent),
        lambda storage: Table(*open_rows(storage, paths, asked)),
    )


def made(storage: Storage, opened: Callable[[Storage], T]) -> T:
    """The table that is opened in a storage."""
    try:
        return opened(storage)
    except BaseException as error:
        storage.close()
        full = without_room(error)
        if full is not None:
            raise full from None
        raise


def what_is_asked(
    path: Any,
    *,
    header: Any = None,
    delimiter: Any = None,
    text: Any = (),
    numbers: Any = (),
    wanted: Any = (),
    missing: Any = (),
    decimal: Any = None,
    dates: Any = None,
    units: Any = None,
    skip_bad_lines: Any = False,
    **which: Any,
) -> tuple[list[str], Asked]:
    """The arguments of `read_table`, checked; `which` are sheet, table and query."""
    if path is None:
        paths = []
    elif isinstance(path, list | tuple):
        paths = [os.fspath(file_path("path", one)) for one in path]
        if not paths:
            msg = "path=[] names no file: give at least one"
            raise TableError(msg)
    else:
        paths = [os.fspath(file_path("path", path))]
    if header is not None:
        header = yes_or_no("header", header)
    text, wanted = names_of("text", text), names_of("wanted", wanted)
    missing = names_of("missing", missing)
    if delimiter is not None and (
        not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in "\"'\n\r"
    ):
        msg = f"delimiter={brief(delimiter)} is not allowed: give one character, such as ',' or ';'"
        raise TableError(msg)
    sheet, table, query = (which.get(name) for name in ("sheet", "table", "query"))
    _check_choice(sheet, table, query)
    _check_marks("decimal", decimal, (".", ","))
    _check_marks("dates", dates, tuple(ORDERS))
    return paths, Asked(
        header, delimiter, text, sheet, table, query, wanted, missing,
        decimal=decimal or "", skip_bad_lines=yes_or_no("skip_bad_lines", skip_bad_lines),
        dates=dates or "", units=units or {}, numbers=names_of("numbers", numbers),
    )  # fmt: skip


def _check_choice(sheet: Any, table: Any, query: Any) -> None:
    for name, value in (("sheet", sheet), ("table", table), ("query", query)):
        if value is not None:
            instance(name, value, (str,), f"give the {name} as text")
    if table is not None and query is not None:
        msg = "--table and --query (table=, query=) both say what to read: give one of them"
        raise TableError(msg)


def _check_marks(name: str, given: Any, known: Sequence[str]) -> None:
    *others, last = map(repr, known)
    for mark in given.values() if isinstance(given, Mapping) else [given]:
        if mark is not None and mark not in known:
            msg = f"{name}={brief(mark)} is not allowed: give {', '.join(others)} or {last}"
            raise TableError(msg)

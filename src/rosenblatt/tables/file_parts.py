"""Files as parts that workers read: a file, whole lines of one, or row groups of Parquet.

What is here is done by workers, each of which sees the files. A part is read into columns as they
are stored; what these hold is judged by all parts together (`rows_on_workers`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.tables.arrow_blocks import arrow_blocks
from rosenblatt.tables.columns import Column, StagedFile
from rosenblatt.tables.file_states import FileState
from rosenblatt.tables.formats.csv_files import open_csv
from rosenblatt.tables.formats.encodings import starts_in_utf8
from rosenblatt.tables.formats.parquet_files import is_parquet, stage_parts
from rosenblatt.tables.formats.plain_csv import Lines, NotPlainError, read_columns
from rosenblatt.tables.formats.plain_csv_on_disk import rows_begin
from rosenblatt.tables.formats.recognition import CSV, SUFFIXES, recognised
from rosenblatt.tables.input_files import local_copy
from rosenblatt.tables.missing_cells import forgetting, forgotten
from rosenblatt.tables.staged_rows import StagedRows, joined
from rosenblatt.tables.staging import expanded, stage
from rosenblatt.tables.storage import Storage, TableError
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from rosenblatt.tables.columns import Asked

MOST_BYTES = 1 << 26  # of the lines of a part, if a file is cut
MOST_NUMBERS = 1 << 23  # of a part of Parquet, unless a row group has more
BATCH = 1 << 20  # rows that Arrow decodes at a time


class FilePart(NamedTuple):
    """Some rows of a file.

    Attributes
    ----------
    file : str
        Its name, by which every worker finds it.
    shown : str
        As it was named.
    state : FileState
        What it was when it was first looked at; whoever reads it later finds it unchanged.
    kind : str
        "file", all of it; "lines": those that begin from byte `first` on and before `last`;
        "groups": those row groups of a Parquet file.
    number : int
        Of its file among all.
    """

    file: str
    shown: str
    state: FileState
    kind: str
    first: int
    last: int
    number: int

    @property
    def whole(self) -> FilePart:
        """The file, in one part."""
        return self._replace(kind="file", first=0, last=0)


class Plan(NamedTuple):
    """The parts of a table, the files, and whether their first lines are headers, if they may."""

    parts: list[FilePart]
    paths: list[str]
    header: bool | None


@dataclass(eq=False)
class PartRows:
    """The rows of a part: columns of numbers, dates or texts, by their names."""

    staged: StagedFile
    held: dict[str, Any]
    n_rows: int
    is_text: bool

    def __sizeof__(self) -> int:  # by which a worker knows when its memory is full
        return 1000 + sum(
            cells.codes.nbytes + 100 * len(cells.values)
            if isinstance(cells, Texts)
            else cells.nbytes
            for cells in self.held.values()
        )


# What to read -----------------------------------------------------------------------------------


def plan_files(paths: Sequence[str], asked: Asked, wanted: int, least: int) -> Plan:
    """The parts of the files that these names and patterns stand for, about so many.

    Lines are cut into stretches of so many bytes at `least`.
    """
    files = [file for path in paths for file in expanded(path)]
    header = None
    storage = Storage()
    try:
        states = [_state(file) for file in files]
        if all(is_parquet(state.file) for state in states):
            return Plan(_in_groups(states, storage, wanted), files, None)
        n_bytes = max(sum(state.size for state in states) // wanted + 1, least)
        parts = list[FilePart]()
        for number, state in enumerate(states):
            whole = FilePart(str(state.file), state.shown, state, "file", 0, 0, number)
            stretches = _in_lines(whole, storage, asked, min(n_bytes, MOST_BYTES))
            if not number and len(files) > 1 and asked.header is None:
                header = _has_header(whole, storage, asked)
                asked = replace(asked, header=header)
            parts += stretches
        return Plan(parts, files, header)
    finally:
        storage.close()


def _state(path: str) -> FileState:
    """What the system says of a file, which must be there and not be empty."""
    storage = Storage()
    try:
        file = local_copy(path, storage.copies, frozenset(SUFFIXES)).file if _is_odd(path) else path
    finally:
        storage.close()
    return FileState.of(Path(file).absolute(), path)


def _is_odd(path: str) -> bool:
    """Whether a name is none of a file with something in it: `local_copy` says what is wrong."""
    return not Path(path).is_file() or not os.access(path, os.R_OK) or not Path(path).stat().st_size


def _in_lines(whole: FilePart, storage: Storage, asked: Asked, n_bytes: int) -> list[FilePart]:
    """A large file of plain lines in stretches; any other as it is."""
    size = whole.state.size
    if size <= n_bytes or not _is_plain(whole, storage, asked):
        return [whole]
    count = -(-size // n_bytes)
    edges = [size * k // count for k in range(count + 1)]
    return [whole._replace(kind="lines", first=a, last=z) for a, z in pairwise(edges)]


def _is_plain(part: FilePart, storage: Storage, asked: Asked) -> bool:
    """Whether a file is delimited text, not packed, whose lines can be plain."""
    file = part.state.file
    local = local_copy(part.file, storage.copies, frozenset(SUFFIXES))
    if local.file != file or recognised(local.name, file, part.shown) is not CSV:
        return False
    return starts_in_utf8(file) and open_csv(file, part.shown, storage, asked).reader.is_plain()


def _has_header(part: FilePart, storage: Storage, asked: Asked) -> bool | None:
    """Whether a file of delimited text begins with a header; None: it is none."""
    local = local_copy(part.file, storage.copies, frozenset(SUFFIXES))
    if recognised(local.name, local.file, part.shown) is not CSV:
        return None
    if not starts_in_utf8(local.file):
        return stage([part.file], storage, asked).file.has_header
    return open_csv(local.file, part.shown, storage, asked).staged.has_header


def _in_groups(states: list[FileState], storage: Storage, wanted: int) -> list[FilePart]:
    """Parquet files, which must agree, in parts of one or several row groups."""
    staged = stage_parts(states, storage)
    assert staged.parquet is not None
    most = min(staged.parquet.firsts[-1] // wanted, MOST_NUMBERS // len(staged.names)) + 1
    parts = []
    for number, state in enumerate(states):
        rows = _group_rows(state)
        first = n_rows = 0
        for k, n in enumerate(rows):
            if n_rows and n_rows + n > most:
                parts.append(_groups(state, first, k, number))
                first, n_rows = k, 0
            n_rows += n
        parts += [_groups(state, first, len(rows), number)] * bool(n_rows)
    return parts


def _groups(state: FileState, first: int, last: int, number: int) -> FilePart:
    return FilePart(str(state.file), state.shown, state, "groups", first, last, number)


def _group_rows(state: FileState) -> list[int]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(state.file) as opened:
        about = opened.metadata
        return [about.row_group(k).num_rows for k in range(about.num_row_groups)]


# Reading ----------------------------------------------------------------------------------------


def read_part(part: FilePart, asked: Asked, as_texts: Collection[str] = ()) -> PartRows | None:
    """The rows of a part, these columns as texts; None: some line is not plain."""
    _check(part)
    storage = Storage()
    try:
        read = {"file": _read_file, "lines": _read_lines, "groups": _read_groups}[part.kind]
        found = read(part, storage, asked, as_texts)
    finally:
        storage.close()
    _check(part)
    return found


def _check(part: FilePart) -> None:
    """Refuse a file that this worker does not see, or that was changed since it was planned."""
    try:
        found = os.stat(part.file)  # noqa: PTH116
    except OSError as error:
        why = (error.strerror or "it is not there").lower()
        where = f"the worker at {_address()} cannot read {part.shown} ({why})"
        msg = f"{where}: give files that all workers see under this name, as on shared storage"
        raise TableError(msg) from None
    # Not by its number on the disk: it may be a copy on the disk of each worker.
    part.state._replace(inode=found.st_ino, file=Path(part.file)).check()


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # not on a worker
        return "this machine"


def _read_lines(
    part: FilePart, storage: Storage, asked: Asked, as_texts: Collection[str]
) -> PartRows | None:
    """Whole lines of a file of plain delimited text."""
    file = part.state.file
    opened = open_csv(file, part.shown, storage, asked)
    names, reader = opened.staged.names, opened.reader
    guesses = [g if n not in as_texts else "" for n, g in zip(names, opened.guesses, strict=True)]
    roles = ["number" if guess == "number" else "text" for guess in guesses]
    try:
        data = _stretch(file, part.first, part.last)
        data = data[rows_begin(data, reader.n_skipped) :] if not part.first else data
        lines = Lines.within(data)
        n_rows, found = read_columns(lines, reader.start.dialect, roles)
        if n_rows < lines.n_lines and part.last < part.state.size:  # blank lines, not at the end
            return None
    except (NotPlainError, UnicodeDecodeError):
        return None
    held = {name: forgotten(found[j], asked.missing) for j, name in enumerate(names)}
    return PartRows(replace(opened.staged, columns=_columns(held, guesses)), held, n_rows, True)


def _columns(held: dict[str, Any], guesses: Sequence[str]) -> list[Column]:
    """Columns as they are held, as far as the first records tell what they hold."""
    return [
        Column(f"c{j}", "text", "text", declared=guess == "text")
        if isinstance(cells, Texts)
        else Column(f"c{j}", "number", "number", declared=True)
        for j, (cells, guess) in enumerate(zip(held.values(), guesses, strict=True))
    ]


def _stretch(file: Path, first: int, last: int) -> bytes:
    """The lines of a file that begin from this byte on and before that."""
    with file.open("rb") as opened:
        opened.seek(max(first - 1, 0))
        data = opened.read(last - max(first - 1, 0))
        if first:
            begin = data.find(b"\n") + 1
            data = data[begin:] if begin else b""
        more = [data]
        while more[-1] and not more[-1].endswith(b"\n"):
            more.append(opened.readline(MOST_BYTES))
    return b"".join(more)


def _read_groups(
    part: FilePart, storage: Storage, asked: Asked, as_texts: Collection[str]
) -> PartRows:
    """Row groups of a Parquet file."""
    state = part.state._replace(file=Path(part.file), inode=os.stat(part.file).st_ino)  # noqa: PTH116
    staged = stage_parts([state], storage)
    assert staged.parquet is not None
    kept = forgetting(staged.columns, asked.missing)
    rows = StagedRows(storage, part.shown, staged.parquet, asked.missing, kept)
    columns = [_stored(c, n in as_texts) for n, c in zip(staged.names, staged.columns, strict=True)]
    some = range(part.first, part.last)
    blocks = arrow_blocks(staged.parquet, columns, BATCH, asked.missing, rows.fetched, some)
    parts = [cells for _, cells in blocks]
    held = {name: joined(cells) for name, cells in zip(staged.names, zip(*parts), strict=True)}  # noqa: B905
    return PartRows(replace(staged, parquet=None), held, len(next(iter(held.values()))), False)


def _stored(column: Column, as_text: bool) -> Column:
    """A column as it is stored, or as text."""
    return replace(column, kind="text" if as_text else column.stored)


def _read_file(
    part: FilePart, storage: Storage, asked: Asked, as_texts: Collection[str]
) -> PartRows:
    """A file of any format."""
    asked = replace(asked, text=[*asked.text, *as_texts])
    _, staged, is_text = stage([part.file], storage, asked)
    if staged.sparse:
        msg = f"{part.shown} is sparse, which is read on one machine only: leave the cluster out"
        raise TableError(msg)
    names = staged.names
    if staged.in_memory is not None:
        rows = staged.in_memory
        held = {n: _copied(rows.held[c.sql]) for n, c in zip(names, staged.columns, strict=True)}
        guesses = [
            "text" * (column.kind == "text" and column.declared) for column in staged.columns
        ]
        staged = replace(staged, columns=_columns(held, guesses), in_memory=None)
        return PartRows(staged, held, rows.n_rows, is_text)
    kept = forgetting(staged.columns, asked.missing)
    if kept:
        storage.rows(f"CREATE OR REPLACE TABLE rows AS {kept} rows ORDER BY rowid")
    ((n_rows,),) = storage.rows("SELECT count(*) FROM rows")
    columns = [_stored(c, n in as_texts) for n, c in zip(names, staged.columns, strict=True)]
    found = StagedRows(storage, part.shown, staged.parquet).fetched(columns, 0, int(n_rows))
    return PartRows(
        replace(staged, parquet=None), dict(zip(names, found, strict=True)), int(n_rows), is_text
    )


def _copied(cells: Any) -> Any:
    """A column that does not lie on the disk of one worker."""
    if isinstance(cells, Texts):
        return Texts(cells.values, np.array(cells.codes))
    return np.array(cells)

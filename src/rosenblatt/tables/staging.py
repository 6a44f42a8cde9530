"""From what a user names to rows: a file, several as one table, a database, a query."""

from __future__ import annotations

import glob
import os
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rosenblatt.tables.columns import Asked, Column, StagedFile
from rosenblatt.tables.file_states import FileState, unchanged
from rosenblatt.tables.formats.csv_files import (
    MOST_CELLS_IN_MEMORY,
    OpenedCsv,
    open_csv,
    read_on_disk,
)
from rosenblatt.tables.formats.databases import stage_query
from rosenblatt.tables.formats.encodings import starts_in_utf8
from rosenblatt.tables.formats.parquet_files import is_parquet, stage_parts
from rosenblatt.tables.formats.postgres import is_address, stage_postgres, without_password
from rosenblatt.tables.formats.recognition import CSV, PARQUET, SUFFIXES, recognised
from rosenblatt.tables.input_files import local_copy, shown_path
from rosenblatt.tables.rows_in_memory import RowsInMemory
from rosenblatt.tables.storage import IN_MEMORY_BYTES, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.tables.formats.recognition import Format
    from rosenblatt.tables.input_files import LocalFile
    from rosenblatt.tables.storage import Storage

_Joined = tuple[list["Staged"], StagedFile]  # the files, and what they are together
_UNKNOWN = IN_MEMORY_BYTES + 1  # how large an answer is, nobody knows before


class Staged(NamedTuple):
    """What was read: its name, what is known of its rows, and whether it was delimited text."""

    name: str
    file: StagedFile
    is_text: bool


def stage(paths: Sequence[str], storage: Storage, asked: Asked) -> Staged:
    """Read the rows of all these, or of the query alone, into the table `rows` of the storage."""
    if not paths:
        if asked.query is None:
            msg = "nothing to read: give a path, or a query that names files"
            raise TableError(msg)
        _refuse_options(asked, ("query",), "a query over files")
        storage.open(_UNKNOWN)
        return Staged("the query", stage_query(asked.query, "the query", storage), False)
    paths = [path for given in paths for path in expanded(given)]
    if len(paths) == 1:
        return _stage_one(paths[0], storage, asked)
    return _stage_several(paths, storage, asked)


def expanded(path: str) -> list[str]:
    """The files that a pattern such as ``data/*.csv`` or a folder of Parquet files stands for.

    A name is itself.
    """
    if os.path.isdir(path):  # noqa: PTH112 (any name will do)
        return _parts_in(path)
    if not glob.has_magic(path) or is_address(path) or Path(path).exists():
        return [path]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    files = [name for name in found if Path(name).is_file()]
    if not files:
        msg = f"no file is named like {path}: check the pattern and the folder"
        raise TableError(msg)
    return files


def _parts_in(folder: str) -> list[str]:
    """The Parquet files in a folder, and in folders within it, as programs write large tables."""
    found = sorted(Path(folder).rglob("*"))
    parts = [part for part in found if part.suffix.lower() in PARQUET.suffixes and part.is_file()]
    parts = [part for part in parts if not part.name.startswith((".", "_"))]  # no rows of its own
    if not parts:
        msg = f"{folder} is a folder: give the name of a file in it, or a folder of Parquet files"
        raise TableError(msg)
    return [os.fspath(part) for part in parts]


def _stage_one(path: str, storage: Storage, asked: Asked) -> Staged:
    if is_address(path):
        _refuse_options(asked, ("table", "query"), "a database")
        storage.open(_UNKNOWN)
        shown = without_password(path)
        return Staged(shown, stage_postgres(path, shown, storage, asked), False)
    with unchanged_if_kept(path):
        local, known = _recognised(path, storage.copies, asked)
        storage.open(local.file.stat().st_size)
        staged = known.stage(local.file, shown_path(path), storage, asked)
    notes = [*local.notes, *staged.notes]
    return Staged(path, replace(staged, notes=notes), known is CSV)


def _recognised(path: str, folder: Path, asked: Asked) -> tuple[LocalFile, Format]:
    """The file behind a path, copied to the folder if it must be, and its format."""
    shown = shown_path(path)
    local = local_copy(path, folder, frozenset(SUFFIXES))
    known = recognised(local.name, local.file, shown)
    if asked.query is not None and "query" not in known.options:
        msg = (
            f"{shown} is {known.name}, not a database: name it in the query, and not beside it "
            f"(FROM '{shown}')"
        )
        raise TableError(msg)
    _refuse_options(asked, known.options, f"{shown}, {known.name}")
    return local, known


@contextmanager
def unchanged_if_kept(path: str) -> Iterator[None]:
    """Refuse a file that changes meanwhile; what can be read only once is copied first."""
    if path in ("-", "/dev/stdin") or not os.path.isfile(path):  # noqa: PTH113 (any name will do)
        yield
    else:
        with unchanged(Path(path), shown_path(path)):
            yield


def _refuse_options(asked: Asked, accepted: Sequence[str], what: str) -> None:
    meant = {"sheet": "workbooks", "table": "databases", "query": "databases"}
    for name, about in meant.items():
        if getattr(asked, name) is not None and name not in accepted:
            msg = f"--{name} ({name}= in Python) is for {about}, not for {what}: leave it out"
            raise TableError(msg)


# Several files ----------------------------------------------------------------------------------


def _stage_several(paths: Sequence[str], storage: Storage, asked: Asked) -> Staged:
    """Read the files one after another; all must have the same columns, in any order."""
    refuse = next((path for path in paths if path in ("-", "/dev/stdin")), None)
    if refuse is not None:
        msg = "standard input is one table: give files, or standard input alone"
        raise TableError(msg)
    size = sum(Path(path).stat().st_size for path in paths if Path(path).exists())
    storage.open(size)
    if all(map(_is_parquet, paths)):
        return _read_in_place(paths, storage, asked)
    joined = None
    if all(set(Path(path.lower()).suffixes) & set(CSV.suffixes) for path in paths):
        if storage.fits_in_memory(size):
            joined = _held_in_memory(paths, storage, asked)
        joined = joined or _read_on_disk(paths, storage, asked)
    parts, first = joined or _held_in_the_database(paths, storage, asked)
    shown, notes = listed_files([part.name for part in parts])
    for path, part in zip(shown, parts, strict=True):
        notes += [f"{path}: {note}" for note in part.file.notes if note not in notes]
    marks = {name for part in parts for name in part.file.commas}
    likely = {name for part in parts for name in part.file.may_be_thousands}
    first = replace(first, notes=notes, commas=marks, may_be_thousands=likely - marks)
    whole = f"{parts[0].name} and {len(parts) - 1} more"
    return Staged(whole, first, all(part.is_text for part in parts))


def listed_files(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of files without their folders, and the note that they are one table."""
    shown = [os.fspath(Path(path).name) for path in paths]
    listed = ", ".join(shown[:5]) + f" and {len(shown) - 5} more" * (len(shown) > 5)
    return shown, [f"{len(paths)} files are read as one table: {listed}."]


def _is_parquet(path: str) -> bool:
    return os.path.isfile(path) and is_parquet(Path(path))  # noqa: PTH113 (any name will do)


def _read_in_place(paths: Sequence[str], storage: Storage, asked: Asked) -> Staged:
    """Parquet files that are one table where they lie."""
    _refuse_options(asked, PARQUET.options, "Parquet")
    states = [FileState.of(Path(path).absolute(), path) for path in paths]
    staged = stage_parts(states, storage)
    notes = [*listed_files(paths)[1], *staged.notes]
    return Staged(f"{paths[0]} and {len(paths) - 1} more", replace(staged, notes=notes), False)


def _one_by_one(paths: Sequence[str], storage: Storage, asked: Asked) -> Iterator[Staged]:
    """The files, whose columns must be those of the first; that has a header if they have."""
    first: Staged | None = None
    for path in paths:
        if first and first.is_text and asked.header is None:
            asked = replace(asked, header=first.file.has_header)
        part = _stage_one(path, storage, asked)
        first = first or part
        _compare(first, part)
        yield part


def _held_in_memory(paths: Sequence[str], storage: Storage, asked: Asked) -> _Joined | None:
    """The files if all of them, and all together, lie in memory; None if they do not."""
    parts, n_cells = list[Staged](), 0
    for part in _one_by_one(paths, storage, asked):
        held = part.file.in_memory
        n_cells += held.n_rows * len(part.file.names) if held else 0
        if held is None or n_cells > MOST_CELLS_IN_MEMORY:
            if held is None:
                storage.rows("DROP TABLE IF EXISTS rows")
            return None
        parts.append(part)
    first = parts[0].file
    held_cells = [
        (part.file.in_memory, _column(part, name).sql) for name in first.names for part in parts
    ]
    joined = RowsInMemory.joined([(rows, sql) for rows, sql in held_cells if rows], len(parts))
    columns = joined.columns([_guess([_column(p, name) for p in parts]) for name in first.names])
    return parts, replace(first, columns=columns, in_memory=joined)


def _read_on_disk(paths: Sequence[str], storage: Storage, asked: Asked) -> _Joined | None:
    """The files as columns on disk; None if some line is not plain."""
    parts, opened = list[Staged](), list[OpenedCsv]()
    with ExitStack() as states:
        for k, path in enumerate(paths):
            if parts and asked.header is None:
                asked = replace(asked, header=parts[0].file.has_header)
            states.enter_context(unchanged_if_kept(path))
            folder = storage.copies / str(k)
            folder.mkdir(exist_ok=True)
            local, known = _recognised(path, folder, asked)
            if known is not CSV or not starts_in_utf8(local.file):
                return None
            opened.append(open_csv(local.file, shown_path(path), storage, asked, local.notes))
            parts.append(Staged(path, opened[-1].staged, True))
            _compare(parts[0], parts[-1])
        joined = read_on_disk(opened, asked)
    return (parts, joined) if joined else None


def _held_in_the_database(paths: Sequence[str], storage: Storage, asked: Asked) -> _Joined:
    parts = list[Staged]()
    for k, part in enumerate(_one_by_one(paths, storage, replace(asked, in_memory=False))):
        parts.append(part)
        storage.rows(f"ALTER TABLE rows RENAME TO part{k}")
    return parts, _joined_in_the_database(parts, storage)


def _guess(columns: Sequence[Column]) -> str:
    """What the first records of all files show a column to hold."""
    return "text" if all(column.declared and column.kind == "text" for column in columns) else ""


def _joined_in_the_database(parts: Sequence[Staged], storage: Storage) -> StagedFile:
    """The rows of the tables part0, part1, ..., one after another in the table `rows`."""
    names = parts[0].file.names
    columns = [_common([_column(part, name) for part in parts]) for name in names]
    selects = []
    for k, part in enumerate(parts):
        cells = [_as_stored(_column(part, name), c) for name, c in zip(names, columns, strict=True)]
        values = ", ".join(f"{cell} AS c{j}" for j, cell in enumerate(cells))
        selects.append(f"SELECT {values} FROM part{k}")
    storage.rows(f"CREATE TABLE rows AS {' UNION ALL '.join(selects)}")
    for k in range(len(parts)):
        storage.rows(f"DROP TABLE part{k}")
    columns = [replace(column, sql=f"c{j}") for j, column in enumerate(columns)]
    return replace(parts[0].file, columns=columns)


def _compare(first: Staged, other: Staged) -> None:
    """Refuse a file whose columns are not those of the first."""
    if first.file.sparse or (other.file.sparse and first is not other):
        msg = f"{other.name} is sparse: give one such file, or join them first"
        raise TableError(msg)
    missing = [name for name in first.file.names if name not in other.file.names]
    strange = [name for name in other.file.names if name not in first.file.names]
    if not missing and not strange:
        return
    lacks = f"has no column {missing[0]!r}" if missing else ""
    adds = f"has a column {strange[0]!r} of its own" if strange else ""
    msg = (
        f"{other.name} {' and '.join(filter(None, (lacks, adds)))}, unlike {first.name}: "
        "give files with the same columns"
    )
    raise TableError(msg)


def _column(part: Staged, name: str) -> Column:
    return part.file.columns[part.file.names.index(name)]


def _common(columns: Sequence[Column]) -> Column:
    """One column for the cells of all: typed where all files say so, otherwise text."""
    if len({column.stored for column in columns}) == 1:
        declared = all(column.declared for column in columns)
        return replace(columns[0], declared=declared, words=all(c.words for c in columns))
    return Column("", "text", "text")


def _as_stored(column: Column, common: Column) -> str:
    return column.cell() if common.stored != column.stored else column.sql

"""Parquet files, one or many as one table, read where they lie."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from rosenblatt.tables.cells import quoted
from rosenblatt.tables.columns import ParquetParts, StagedFile
from rosenblatt.tables.file_states import FileState
from rosenblatt.tables.formats.typed_files import kind_of, stage_relation
from rosenblatt.tables.input_files import glob_escaped
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.storage import Storage

MARK = b"PAR1"
_COPIED = "read_parquet(?, hive_partitioning=false)"
_DAMAGED = "is a damaged Parquet file or breaks off: download or write it again"


def stage_parquet(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Let `rows` be the file itself, which is quick to read in parts, and not a copy of it.

    A copy is made where the file is one of several of other formats, or about to be removed.
    """
    if asked.in_memory and storage.copies not in file.parents:
        return stage_parts([FileState.of(file.absolute(), shown)], storage)
    source = [glob_escaped(file)]
    try:
        names, finite = _names(storage, source), _finite(storage, source)
        return stage_relation(storage, shown, _COPIED, source, names=names, finite=finite)
    except duckdb.Error:
        msg = f"{shown} {_DAMAGED}"
        raise TableError(msg) from None


def is_parquet(file: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with file.open("rb") as opened:
        return opened.read(4) == MARK


def stage_parts(files: Sequence[FileState], storage: Storage) -> StagedFile:
    """Let `rows` be the rows of these files, one after another; their columns must agree."""
    paths = [glob_escaped(state.file) for state in files]
    try:
        firsts = _firsts(files, paths, storage)
        by_name = _agree(files, paths, storage)
        names, finite = _names(storage, paths[:1]), _finite(storage, paths)
        parts = ParquetParts(tuple(files), tuple(firsts))

        def in_place(values: str) -> str:
            nonlocal parts
            parts = parts._replace(values=values)
            place = "file_row_number"
            if len(files) > 1:
                place += f" + list_extract({firsts}, CAST(file_index + 1 AS BIGINT))"
            relation = parquet(paths, by_name=by_name, numbered=True)
            return f"SELECT {place} AS rowid, {values} FROM {relation}"

        source = parquet(paths, by_name=by_name)
        shown = files[0].shown
        staged = stage_relation(
            storage, shown, source, names=names, finite=finite, in_place=in_place
        )
    except duckdb.Error:
        raise TableError(_fault(files, paths, storage)) from None
    fields = {f"c{j}": name for j, name in enumerate(names) if names.count(name) == 1}
    return replace(staged, parquet=parts._replace(fields=fields))


def parquet(paths: Sequence[str], *, by_name: bool = False, numbered: bool = False) -> str:
    """The SQL of these files, with the numbers of the rows or without."""
    options = ", union_by_name=true" * by_name + ", file_row_number=true" * numbered
    return f"read_parquet([{', '.join(map(quoted, paths))}], hive_partitioning=false{options})"


def _firsts(files: Sequence[FileState], paths: list[str], storage: Storage) -> list[int]:
    """The number of the first row of each file, and that of all rows."""
    asked = "SELECT file_name, num_rows FROM parquet_file_metadata(?)"
    n_rows = {str(name): int(n) for name, n in storage.rows(asked, [paths])}
    firsts = [0]
    for state in files:
        firsts.append(firsts[-1] + n_rows[str(state.file)])
    return firsts


def _agree(files: Sequence[FileState], paths: list[str], storage: Storage) -> bool:
    """Refuse files whose columns differ; whether they are in different orders."""
    first = _types(storage, paths[0])
    if len(files) == 1:
        return False
    in_order = True
    for state, path in zip(files[1:], paths[1:], strict=True):
        types = _types(storage, path)
        in_order = in_order and list(types) == list(first)
        where = f"unlike {files[0].shown}: give files with the same columns"
        for name in (*first, *types):
            if name not in types:
                msg = f"{state.shown} has no column {name!r}, {where}"
            elif name not in first:
                msg = f"{state.shown} has a column {name!r} of its own, {where}"
            elif kind_of(types[name]) != kind_of(first[name]):
                msg = (
                    f"{state.shown}: column {name!r} is of type {types[name]}, but {first[name]} "
                    f"in {files[0].shown}: write it with the same type in all files"
                )
            else:
                continue
            raise TableError(msg)
    return not in_order


def _types(storage: Storage, path: str) -> dict[str, str]:
    """The columns of a file, and the types in SQL."""
    described = storage.rows(f"DESCRIBE SELECT * FROM {parquet([path])}")
    return {str(name): str(sql_type) for name, sql_type, *_ in described}


def _fault(files: Sequence[FileState], paths: Sequence[str], storage: Storage) -> str:
    """What to say of the file at fault."""
    for state, path in zip(files, paths, strict=True):
        state.check()
        try:
            storage.rows(f"SELECT count(*) FROM {parquet([path])}")
            _types(storage, path)
        except duckdb.Error:
            return f"{state.shown} {_DAMAGED}"
    return f"{files[0].shown} {_DAMAGED}"


def _names(storage: Storage, source: list[str]) -> list[str]:
    """The names of the columns as they are; DuckDB changes those that differ only in case."""
    schema = storage.rows("SELECT name, num_children FROM parquet_schema(?)", source)
    names = []
    place = 1  # after the root
    while place < len(schema):
        names.append(str(schema[place][0]))
        open_children = 1
        while open_children:  # over the column and all that is nested in it
            open_children += (schema[place][1] or 0) - 1
            place += 1
    return names


def _finite(storage: Storage, source: list[str]) -> set[str]:
    """The columns of numbers that a Parquet file itself says are finite, in every part."""
    found = storage.rows(
        "SELECT path_in_schema, bool_and(COALESCE(isfinite(low) AND isfinite(high), false)) FROM "
        "(SELECT path_in_schema, TRY_CAST(stats_min_value AS DOUBLE) AS low, "
        "TRY_CAST(stats_max_value AS DOUBLE) AS high FROM parquet_metadata(?)) GROUP BY ALL",
        [source],
    )
    return {str(name) for name, finite in found if finite}

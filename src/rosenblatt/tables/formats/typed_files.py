"""Reading what gives its columns types: JSON, and whatever DuckDB takes as a relation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb

from rosenblatt.tables.columns import Column, StagedFile, guessed, noted, unique_names
from rosenblatt.tables.formats.dialects import FIRST_RECORDS
from rosenblatt.tables.formats.json_layouts import laid_out, written
from rosenblatt.tables.input_files import glob_escaped
from rosenblatt.tables.storage import TableError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.storage import Storage

_NUMBER_TYPES = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|VARINT|FLOAT|DOUBLE|DECIMAL(\(.*\))?"
)
_DATE_TYPES = re.compile(r"DATE|TIMESTAMP.*")
_LEFT_OUT_TYPES = re.compile(r".*\[\d*\]|(STRUCT|MAP|UNION|BLOB|BIT|VARIANT|GEOMETRY)\b.*", re.S)
MOST_BYTES_OF_A_RECORD = 1 << 24  # DuckDB sets aside as much and more, in each thread
_JSON = (
    # Its own search for dates gives up where some have a time, and takes 04-03-2024 for March.
    "read_json(?, sample_size=-1, maximum_object_size={}, dateformat='never %Y', "
    "timestampformat='never %Y', hive_partitioning=false, compression='uncompressed')"
)


def stage_json(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of a JSON file, an array or a record per line, into the table `rows`."""
    layout = laid_out(file)
    notes, has_names = ([layout.note], layout.has_names) if layout else ([], True)
    if layout is not None:
        file = storage.copies / "records"
        written(layout, file)
    try:
        staged = _staged_records(file, shown, storage)
        return replace(staged, notes=[*filter(None, notes), *staged.notes], has_header=has_names)
    except duckdb.Error as error:
        line = re.search(r"line (\d+)|record/value (\d+)", first_line(error))
        place = f" near {line.group()}" if line else ""
        remedy = 'give a list of records or one record per line (in pandas: orient="records")'
        msg = f"{shown} is not valid JSON{place}: {remedy}"
        raise TableError(msg) from None


def _staged_records(file: Path, shown: str, storage: Storage) -> StagedFile:
    """The records of a JSON file, which take little memory unless some are very long."""
    source = [glob_escaped(file)]
    try:
        return stage_relation(storage, shown, _JSON.format(MOST_BYTES_OF_A_RECORD), source)
    except duckdb.Error:
        storage.use_more_memory()
        return stage_relation(storage, shown, _JSON.format(16 * MOST_BYTES_OF_A_RECORD), source)


def stage_relation(
    storage: Storage,
    shown: str,
    relation: str,
    parameters: Sequence[Any] = (),
    *,
    names: Sequence[str] | None = None,
    given: Any = None,
    before: str = "",
    finite: Collection[str] = (),
    in_place: Callable[[str], str] | None = None,
) -> StagedFile:
    """Read the rows of a relation, whose columns have types, into the table `rows`.

    `names` are those of its columns where DuckDB had to change them. What is `given` is the
    table of that name in the relation; `before` are statements to begin with. Numbers in the
    `finite` columns are known to be so. `in_place` makes a SELECT of the same relation, with
    its row numbers, from the SQL of its columns: then `rows` is only a view of it.
    """
    described = storage.rows(f"{before} DESCRIBE SELECT * FROM {relation}", parameters, given)
    names, notes = unique_names(names or [str(name) for name, *_ in described])
    types = [str(sql_type) for _, sql_type, *_ in described]
    kept = [j for j, sql_type in enumerate(types) if not _LEFT_OUT_TYPES.match(sql_type)]
    if not kept:
        msg = f"{shown} holds no column of numbers, dates or text: give a flat table"
        raise TableError(msg)
    values = [f"{_staged_value(described[j][0], types[j])} AS c{j}" for j in kept]
    if in_place is not None:
        storage.rows(f"CREATE VIEW rows AS {in_place(', '.join(values))}")
    else:
        sql = f"{before} CREATE TABLE rows AS SELECT {', '.join(values)} FROM {relation}"
        storage.rows(sql, parameters, given)
    left_out = [name for j, name in enumerate(names) if j not in kept]
    notes += noted(left_out, "is left out: it holds nested or binary values")
    staged = [_staged_column(j, types[j], finite=names[j] in finite) for j in kept]
    columns = _without_plain_words(storage, staged)
    return StagedFile([names[j] for j in kept], columns, notes)


def kind_of(sql_type: str) -> str:
    """What cells of a type of SQL are staged as."""
    if _NUMBER_TYPES.fullmatch(sql_type):
        return "number"
    return "date" if _DATE_TYPES.fullmatch(sql_type) else "text"


def _staged_value(name: str, sql_type: str) -> str:
    """The SQL of a column as it is staged: a number, a time in UTC, or text."""
    column, kind = '"' + name.replace('"', '""') + '"', kind_of(sql_type)
    if kind == "number":
        return column
    if sql_type == "JSON":  # cells of several types: the text in them, without quotation marks
        return f"{column} ->> '$'"
    return f"CAST({column} AS {'TIMESTAMP' if kind == 'date' else 'VARCHAR'})"


def _staged_column(place: int, sql_type: str, *, finite: bool) -> Column:
    kind, words = kind_of(sql_type), sql_type == "VARCHAR"
    declared = not words and sql_type != "JSON"
    tidy = kind == "number" and (finite or sql_type not in ("FLOAT", "DOUBLE"))
    return Column(f"c{place}", kind, kind, declared=declared, words=words, tidy=tidy)


def _without_plain_words(storage: Storage, columns: list[Column]) -> list[Column]:
    """The columns, those declared as text in which some of the first cells are no dates."""
    open_ones = [column.sql for column in columns if column.words]
    if not open_ones:
        return columns
    records = storage.rows(f"SELECT {', '.join(open_ones)} FROM rows LIMIT {FIRST_RECORDS}")
    cells = [[cell or "" for cell in record] for record in records]
    guesses = dict(zip(open_ones, guessed(cells, open_ones), strict=True))
    return [
        replace(column, declared=column.declared or guesses.get(column.sql) in ("text", "number"))
        for column in columns
    ]

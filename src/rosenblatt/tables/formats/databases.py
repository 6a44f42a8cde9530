"""Reading a table or a query from the file of a database: SQLite's or DuckDB's, never changing it.

A query alone (`stage_query`) may name files instead of tables.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import duckdb

from rosenblatt.tables.columns import Column, StagedFile, noted, unique_names
from rosenblatt.tables.formats.row_batches import stage_records
from rosenblatt.tables.formats.typed_files import stage_relation
from rosenblatt.tables.storage import TableError, first_line, interruptible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.storage import Storage

_BINARY = "is left out: it holds nested or binary values"


def chosen_table(names: Sequence[str], wanted: str | None, shown: str) -> tuple[str, list[str]]:
    """The table asked for, or the only one there is, and a note about that."""
    listed = ", ".join(map(repr, names[:8])) + ", ..." * (len(names) > 8)
    if not names:
        msg = f"{shown} holds no tables: give another database"
        raise TableError(msg)
    if wanted is not None and wanted not in names:
        msg = f"{shown} has no table {wanted!r}: it has {listed}"
        raise TableError(msg)
    if wanted is None and len(names) > 1:
        msg = f"{shown} holds {len(names)} tables: choose one with --table, of {listed}"
        raise TableError(msg)
    note = f"{names[0]!r} is read, the only table of {shown}."
    return wanted or names[0], [note] * (wanted is None)


def no_query(shown: str, reason: str, tables: Sequence[str]) -> str:
    """That a database does not take a query, and which tables it has if it knows one not."""
    unknown = re.search(r"no such table|does not exist", reason)
    listed = ", ".join(map(repr, tables[:8])) + ", ..." * (len(tables) > 8)
    remedy = f"it has {listed}" if unknown and tables else "give one that returns rows"
    return f"{shown} does not take this query ({reason[:160]}): {remedy}"


def in_quotes(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


# SQLite -----------------------------------------------------------------------------------------


def stage_sqlite(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of a table or query of an SQLite database into the table `rows`.

    Any cell may be of any type there, so columns are judged by their cells.
    """
    tables: list[str] = []
    if _breaks_off(file):
        msg = f"{shown} is an SQLite database that breaks off: copy it again"
        raise TableError(msg)
    decoder = _Decoder()
    try:
        connection = _opened(file)
        connection.text_factory = decoder
        try:
            tables = _sqlite_tables(connection)
            notes: list[str] = []
            query = asked.query
            if query is None:
                name, notes = chosen_table(tables, asked.table, shown)
                query = f"SELECT * FROM {in_quotes(name)}"
            staged = _staged_sqlite(connection, query.strip().rstrip(";"), shown, storage)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise TableError(_sqlite_trouble(error, shown, asked.query, tables)) from None
    staged.notes[:0] = notes + decoder.notes
    return staged


def _breaks_off(file: Path) -> bool:
    """Whether a database has fewer bytes than its header says; what is there may still be read.

    The header counts pages only if it was written by the program that last changed the file, and
    beside a journal the file may not be complete.
    """
    with file.open("rb") as opened:
        head = opened.read(100)
    if len(head) < 100 or head[24:28] != head[92:96] or file.with_name(f"{file.name}-wal").exists():
        return False
    size = int.from_bytes(head[16:18])
    n_pages = int.from_bytes(head[28:32])
    return file.stat().st_size < n_pages * (65536 if size == 1 else size)


class _Decoder:
    """Text of a database, which should be UTF-8."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def __call__(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            self.notes = ["Some text in it is not UTF-8; it was read as Windows (cp1252)."]
            return text.decode("cp1252", "replace")


def _opened(file: Path) -> sqlite3.Connection:
    # A file that may not be written, or whose folder may not, can still be read as it is.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"{file.as_uri()}?{mode}", uri=True, timeout=5, check_same_thread=False
        )
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if "unable to open" not in str(error) or "immutable" in mode:
                raise
        else:
            return connection
    raise AssertionError


def _sqlite_tables(connection: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY type, rowid"
    names = [str(name) for (name,) in connection.execute(sql)]
    return [name for name in names if not name.startswith("sqlite_")]


def _staged_sqlite(
    connection: sqlite3.Connection, query: str, shown: str, storage: Storage
) -> StagedFile:
    names, notes = unique_names(_names_of(connection, query))
    given = ", ".join(f"c{j}" for j in range(len(names)))
    source = f"WITH given({given}) AS ({query}\n)"
    found = "max(typeof({0}) = 'text'), max(typeof({0}) = 'blob')"
    types = ", ".join(found.format(f"c{j}") for j in range(len(names)))
    flags = _answer(connection, f"{source} SELECT {types} FROM given")[0]
    texts, binary = flags[::2], flags[1::2]
    kept = [j for j in range(len(names)) if not binary[j]]
    if not kept:
        msg = f"{shown} holds no column of numbers or text there: give a flat table"
        raise TableError(msg)
    values = [f"CAST(c{j} AS TEXT)" if texts[j] else f"c{j}" for j in kept]
    kinds = ["text" if texts[j] else "number" for j in kept]
    cursor = connection.execute(f"{source} SELECT {', '.join(values)} FROM given")
    stage_records(storage, _fetched(cursor, connection), kinds)
    notes += noted([names[j] for j in range(len(names)) if binary[j]], _BINARY)
    columns = [
        Column(f"c{place}", kind, kind, declared=kind == "number")
        for place, kind in enumerate(kinds)
    ]
    return StagedFile([names[j] for j in kept], columns, notes)


def _names_of(connection: sqlite3.Connection, query: str) -> list[str]:
    """The names of the columns as the query gives them; what is no query is refused here."""
    described = connection.execute(f"SELECT * FROM ({query}\n) LIMIT 0").description
    names = [str(name) for name, *_ in described]
    # Within brackets, SQLite calls a second x x:1, or x_1: what it says itself takes a first row.
    if any(re.fullmatch(r".*[:_]\d+", name, re.DOTALL) for name in names):
        described = interruptible(connection, lambda: connection.execute(query)).description
        names = [str(name) for name, *_ in described]
    return names


def _fetched(cursor: sqlite3.Cursor, connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    while part := interruptible(connection, lambda: cursor.fetchmany(10_000)):
        yield from part


def _answer(connection: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]]:
    return interruptible(connection, lambda: connection.execute(sql).fetchall())


def _sqlite_trouble(error: Exception, shown: str, query: str | None, tables: Sequence[str]) -> str:
    reason = " ".join(str(error).split())
    if "locked" in reason or "busy" in reason:
        return f"{shown} is being written by another program: wait until it has ended"
    if query is not None and isinstance(error, sqlite3.OperationalError):
        return no_query(shown, reason, tables)
    return f"{shown} is a damaged SQLite database or breaks off ({reason}): copy it again"


# DuckDB -----------------------------------------------------------------------------------------


def stage_duckdb(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of a table or query of a DuckDB database into the table `rows`."""
    path = str(file).replace("'", "''")
    try:
        storage.rows(f"ATTACH '{path}' AS given_file (READ_ONLY)")
    except duckdb.Error as error:
        reason = first_line(error)
        if re.search(r"\block\b", reason, re.IGNORECASE):
            msg = f"{shown} is in use by another program: close it there first"
        elif "version" in reason.lower():
            msg = f"{shown} was written by another version of DuckDB: write it as Parquet there"
        else:
            msg = _damaged(shown)
        raise TableError(msg) from None
    try:
        if asked.query is not None:
            return _staged_query(storage, asked.query, shown, "given_file")
        name, notes = chosen_table(_duckdb_tables(storage), asked.table, shown)
        parts = name.split(".", 1) if name.count(".") == 1 else ["main", name]
        source = ".".join(map(in_quotes, ["given_file", *parts]))
        try:
            staged = stage_relation(storage, shown, source)
        except (duckdb.IOException, duckdb.InternalException, duckdb.FatalException):
            raise TableError(_damaged(shown)) from None
        except duckdb.Error as error:
            what = f"{shown}: table {name!r} cannot be read ({first_line(error)[:80]})"
            msg = f"{what}: write it as Parquet first"
            raise TableError(msg) from None
        staged.notes[:0] = notes
        return staged
    finally:
        with contextlib.suppress(duckdb.Error):  # after some errors nothing works any more
            storage.rows("DETACH given_file")


def _damaged(shown: str) -> str:
    return f"{shown} is a damaged DuckDB database or breaks off: copy it again"


def _duckdb_tables(storage: Storage) -> list[str]:
    """The tables and views, those outside the schema main with its name before them."""
    found = storage.rows(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'given_file' ORDER BY table_type, table_schema, table_name"
    )
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]


# Queries over files -----------------------------------------------------------------------------


def stage_query(query: str, shown: str, storage: Storage) -> StagedFile:
    """Read the answer to a query, in which tables are named files, into the table `rows`."""
    return _staged_query(storage, query, shown, None)


def _staged_query(storage: Storage, query: str, shown: str, database: str | None) -> StagedFile:
    try:
        statements = duckdb.extract_statements(query)
        if len(statements) == 1 and statements[0].type is duckdb.StatementType.SELECT:
            # Names are looked for in the database, too; what is made, is made in the storage.
            ((own,),) = storage.rows("SELECT current_database()")
            before = f"SET search_path = '{own}.main,{database}.main';" if database else ""
            plain = query.strip().rstrip(";")
            return stage_relation(storage, shown, f"({plain}\n)", before=before)
    except duckdb.Error as error:
        if database is None or "extension" in str(error).lower():
            raise TableError(_refused(shown, error)) from None
        reason = first_line(error).rstrip(".!")
        raise TableError(no_query(shown, reason, _duckdb_tables(storage))) from None
    msg = f"{shown}: this is no query that returns rows: give one such query, and nothing else"
    raise TableError(msg)


def _refused(shown: str, error: duckdb.Error) -> str:
    reason = first_line(error).rstrip(".!")
    if "extension" in str(error).lower():
        what = f"{shown} takes something from the network, or an extension of DuckDB"
        return f"{what}, which is not loaded: download the file first"
    remedy = "correct it; files are named in quotes, as FROM 'x.parquet'"
    return f"{shown} does not work ({reason[:200]}): {remedy}"

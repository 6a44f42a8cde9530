"""From what a user names to rows whose columns are judged, of which a table is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables.input_files import shown_path
from rosenblatt.tables.kinds import find_kinds
from rosenblatt.tables.missing_cells import forget, forgetting
from rosenblatt.tables.staged_rows import StagedRows
from rosenblatt.tables.staging import stage
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.written_numbers import COMMA

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rosenblatt.tables.columns import Asked, Column
    from rosenblatt.tables.remarks import Remark
    from rosenblatt.tables.rows_in_memory import RowsInMemory
    from rosenblatt.tables.storage import Storage
    from rosenblatt.tables.written_numbers import Told


class Opened(NamedTuple):
    """What a table is made of: its rows, its name, its columns, and what is said of them."""

    rows: StagedRows | RowsInMemory
    name: str
    columns: Mapping[str, Column]
    n_rows: int
    has_header: bool
    notes: Sequence[str]
    told: Sequence[Remark]
    sparse: Mapping[str, Any]


def open_rows(storage: Storage, paths: Sequence[str], asked: Asked) -> Opened:
    """Read what a user names, and judge what its columns hold."""
    name, staged, is_text = stage(paths, storage, asked)
    columns = as_told(staged.names, staged.columns, staged.commas, asked)
    staged = replace(staged, columns=columns)
    shown, only_header = shown_path(name), is_text and staged.has_header
    kept = forgetting(staged.columns, asked.missing)
    rows: StagedRows | RowsInMemory = StagedRows(
        storage, shown, staged.parquet, asked.missing, kept
    )
    if staged.in_memory is None:
        forget(storage, staged.columns, asked.missing)
        ((n_rows,),) = storage.rows("SELECT count(*) FROM rows")
        _refuse_no_rows(n_rows, shown, asked, only_header=only_header)
        columns, told = find_kinds(storage, staged, n_rows)
    else:
        rows, n_rows = staged.in_memory, staged.in_memory.n_rows
        _refuse_no_rows(n_rows, shown, asked, only_header=only_header)
        columns, told = rows.judged(staged)
    storage.remove_copies()
    named = dict(zip(staged.names, columns, strict=True))
    about = (staged.has_header, staged.notes, told, staged.sparse)
    return Opened(rows, name, named, n_rows, *about)


def as_told(
    names: Sequence[str],
    columns: Sequence[Column],
    commas: Collection[str],
    asked: Asked,
) -> list[Column]:
    """Columns that know how they are written, as somebody said it or the rest of the file shows."""
    if not (asked.decimal or asked.dates or asked.units or commas):
        return list(columns)
    told = [_told(name, commas, asked) for name in names]
    return [replace(column, told=one) for column, one in zip(columns, told, strict=True)]


def _told(name: str, commas: Collection[str], asked: Asked) -> Told:
    told = asked.told(name)
    by_others = name in commas and not told.decimal
    return told._replace(decimal=COMMA, certainly=False) if by_others else told


def _refuse_no_rows(n_rows: int, shown: str, asked: Asked, *, only_header: bool) -> None:
    if not n_rows and asked.query is not None:
        where = "" if shown == "the query" else f"{shown}: "
        msg = f"{where}the answer to the query holds no rows: give one that returns some"
        raise TableError(msg)
    if not n_rows:
        part = next((p for p in ("sheet", "table") if getattr(asked, p) is not None), None)
        shown = f"{part} {getattr(asked, part)!r} of {shown}" if part else shown
        what = "only a header and no rows" if only_header else "no rows"
        remedy = "; if its first line is data, use --no-header (header=False in Python)"
        remedy *= only_header
        msg = f"{shown} holds {what}: give a file with at least one row{remedy}"
        raise TableError(msg)

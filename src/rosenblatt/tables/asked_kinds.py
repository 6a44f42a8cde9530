"""Columns read as a kind that was asked for, by an option or by a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rosenblatt.tables import cells
from rosenblatt.tables.kinds import (
    ALL_ROWS,
    about_bad_cells,
    bad_cells,
    brief,
    date_counts,
    day_place,
    listed,
)
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.written_numbers import COMMA, MOST_BAD, WRITINGS, chosen, matches_sql

if TYPE_CHECKING:
    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.kinds import AllRows
    from rosenblatt.tables.storage import Storage


def readable(
    storage: Storage,
    name: str,
    column: Column,
    kind: str,
    shown: str,
    *,
    day: int = 0,
    places: AllRows = ALL_ROWS,
) -> Column:
    """The column read as this kind; cells that are present but cannot be are refused.

    Dates are read with the day in this place if all of them can be (0: as they look). Among
    numbers a few cells that are none are taken as missing.
    """
    if column.is_read_as(kind, day):
        return replace(column, kind=kind)
    if kind == "number":
        return _as_numbers(storage, name, column, shown, places)
    asked = replace(column, kind=kind)
    if column.stored == "text":
        (counts,) = storage.rows(f"SELECT {', '.join(date_counts(column.cell()))} FROM rows")
        n_cells, n_iso, *n_places = counts
        as_told = day and n_iso < n_cells == n_places[day - 1]
        found = day if as_told else day_place(*counts)
        if found is None:
            msg = (
                f"{shown}: column {name!r} must be a date, but nothing shows whether the day or "
                "the month comes first: write the dates as 2024-12-31"
            )
            raise TableError(msg)
        asked = replace(asked, day_place=found)
    unreadable = f"{asked.as_kind(kind)} IS NULL AND NOT {cells.missing_value(asked.cell())}"
    ((row,),) = storage.rows(f"SELECT min(rowid) FROM rows WHERE {unreadable}")
    if row is not None:
        ((text,),) = storage.rows(f"SELECT {column.cell()} FROM rows WHERE rowid = ?", [row])
        raise _one_cell(shown, name, kind, places.first_row(column, row), text)
    return asked


def _as_numbers(storage: Storage, name: str, column: Column, shown: str, places: AllRows) -> Column:
    cell, writing = column.cell(), ""
    asked = [f"count({cell})", f"count(*) FILTER ({cells.missing_value(cell)})"]
    asked += [f"count({cells.number(cell)})"]
    asked += [f"count(*) FILTER ({matches_sql(cell, writing)})" for writing in WRITINGS]
    ((present, absent, plain, *counts),) = storage.rows(f"SELECT {', '.join(asked)} FROM rows")
    if plain < present - absent or column.told.decimal == COMMA:
        by_writing = dict(zip(WRITINGS, counts, strict=True))
        writing = chosen(by_writing, present - absent, column.told, comma_rather=False)
        writing = writing if by_writing[writing] > plain or column.told.decimal else ""
    found = replace(column, kind="number", writing=writing)
    bad = bad_cells(storage, found, places)
    if not bad:
        return found
    n_bad, n_present = sum(one.n_rows for one in bad), places.rows_present(column, present)
    if n_bad * MOST_BAD <= n_present:
        return replace(found, note=about_bad_cells(name, bad, n_present))
    if n_bad == 1:
        raise _one_cell(shown, name, "number", bad[0].row, bad[0].text)
    msg = (
        f"{shown}: column {name!r} must be a number, but {n_bad} of its {n_present} cells are "
        f"not: {listed(bad)}: correct the cells, or leave them empty"
    )
    raise TableError(msg)


def _one_cell(shown: str, name: str, kind: str, row: int, text: str) -> TableError:
    return TableError(
        f"{shown}: column {name!r} must be a {kind}, but data row {row + 1} holds "
        f"{brief(text)!r}: correct the cell, or leave it empty"
    )

"""Columns read as a kind that was asked for, by an option or by a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rosenblatt.tables import cells
from rosenblatt.tables.kinds import ALL_ROWS, bad_cells, date_counts, unit_counts
from rosenblatt.tables.remarks import FOR_TEXT, about_bad_cells, brief, listed
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.written_dates import Orders
from rosenblatt.tables.written_numbers import COMMA, MOST_BAD, WRITINGS, chosen, matches_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.tables.columns import Column
    from rosenblatt.tables.kinds import AllRows
    from rosenblatt.tables.remarks import BadCell
    from rosenblatt.tables.storage import Storage


def readable(
    storage: Storage,
    name: str,
    column: Column,
    kind: str,
    shown: str,
    *,
    forgiving: bool = False,
    places: AllRows = ALL_ROWS,
) -> Column:
    """The column read as this kind; cells that are present but cannot be are refused.

    A few cells of numbers that are none are taken as missing; whoever is `forgiving`, since it is
    known what the column holds, takes up to half of the cells so, or a single one.
    """
    if column.is_read_as(kind):
        return replace(column, kind=kind)
    if kind == "number" and column.stored == "text":
        found = _as_numbers(storage, column)
    elif kind == "date" and column.stored == "text":
        found = _as_dates(storage, name, column, shown, forgiving)
    else:
        found = replace(column, kind=kind)
    bad = bad_cells(storage, found, places)
    if not bad:
        return found
    ((present,),) = storage.rows(f"SELECT count({column.cell()}) FROM rows")
    n_bad, n_present = sum(one.n_rows for one in bad), places.rows_present(column, present)
    few = n_bad * MOST_BAD <= n_present and kind == "number"
    if few or (forgiving and (n_bad == 1 or 2 * n_bad <= n_present)):
        note = f"{about_bad_cells(name, bad, n_present, kind)} {FOR_TEXT}."
        return replace(found, note=note)
    what = f"{kind} in {column.told.unit}" if column.told.unit and kind == "number" else kind
    raise _too_many(shown, name, what, bad, n_bad, n_present)


def _as_dates(storage: Storage, name: str, column: Column, shown: str, forgiving: bool) -> Column:
    """The column as dates in the order that was told, or that they show."""
    ((*counts,),) = storage.rows(f"SELECT {', '.join(date_counts(column.cell()))} FROM rows")
    orders, told = Orders(*counts), column.told.order
    found = orders.found(told)
    if found is None:
        msg = (
            f"{shown}: column {name!r} must be a date, but nothing shows whether the day or "
            "the month comes first: say so with --dates dmy or mdy (dates= in Python)"
        )
        raise TableError(msg)
    if forgiving and not found and orders.iso < orders.present:  # some are none: most, then
        found = max(range(5), key=lambda one: (orders[1 + one], one == told))
    return replace(column, kind="date", order=found)


def _as_numbers(storage: Storage, column: Column) -> Column:
    """The column as numbers, in the writing in which most cells are."""
    plain, present, writing = _writing(storage, column)
    if plain + 1 > present:
        return replace(column, kind="number", writing=writing)
    units = ", ".join(unit_counts(column.cell()))
    ((unit, *_),) = storage.rows(f"SELECT {units} FROM rows")
    unit = column.told.unit or unit or ""
    column = replace(column, unit=unit)
    return replace(column, kind="number", writing=_writing(storage, column)[2])


def _writing(storage: Storage, column: Column) -> tuple[int, int, str]:
    """How many cells are numbers, how many are expected to be, and in which writing."""
    cell, writing = column.numeral(), ""
    asked = [f"count({cell})", f"count(*) FILTER ({cells.missing_value(cell)})"]
    asked += [f"count({cells.number(cell)})"]
    asked += [f"count(*) FILTER ({matches_sql(cell, writing)})" for writing in WRITINGS]
    ((present, absent, plain, *counts),) = storage.rows(f"SELECT {', '.join(asked)} FROM rows")
    expected, numbers = present - absent, plain
    if plain < expected or column.told.decimal == COMMA:
        by_writing = dict(zip(WRITINGS, counts, strict=True))
        writing = chosen(by_writing, expected, column.told, comma_rather=False)
        writing = writing if by_writing[writing] > plain or column.told.decimal else ""
        numbers = by_writing[writing] if writing else plain
    return numbers, expected, writing


def _too_many(
    shown: str, name: str, kind: str, bad: Sequence[BadCell], n_bad: int, n_present: int
) -> TableError:
    if n_bad == 1:
        return TableError(
            f"{shown}: column {name!r} must be a {kind}, but data row {bad[0].row + 1} holds "
            f"{brief(bad[0].text)!r}: correct the cell, or leave it empty"
        )
    return TableError(
        f"{shown}: column {name!r} must be a {kind}, but {n_bad} of its {n_present} cells are "
        f"not: {listed(bad)}: correct the cells, or leave them empty"
    )

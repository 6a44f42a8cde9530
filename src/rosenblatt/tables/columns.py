"""What the columns of a staged table hold: numbers, dates or text, and the SQL to read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rosenblatt.tables import cells
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rosenblatt.tables.rows_in_memory import RowsInMemory
    from rosenblatt.tables.storage import Storage

_TALL = 10_000  # rows from which on the cells, not the planning of a query, take the time
COLUMNS_PER_QUERY = 50  # planning takes more than proportionally longer with more


@dataclass(frozen=True)
class Column:
    """One column of the table `rows`: its name there, how it is stored, what it holds."""

    sql: str
    stored: str  # "text", or typed by the file itself: "number" or "date"
    kind: str
    declared: bool = False  # what it holds is known: the file says so, or one cell shows it
    words: bool = False  # the file says that it holds text: dates perhaps, but no numbers
    tidy: bool = False  # every cell reads as a number as it stands
    padded: bool = True  # tabs, line ends or the like may stand around a cell, not only blanks
    decimal_comma: bool = False
    day_place: int = 0  # in dates such as 31.12.2024 or 12/31/2024 the day is first or second

    def cell(self) -> str:
        """The SQL of the text of a cell: trimmed, NULL where missing."""
        if self.stored == "number":  # a whole number as most files write it, 1 and not 1.0
            whole = f"abs({self.sql}) < 1e15 AND {self.sql} = floor({self.sql})"
            as_whole = f"CAST(CAST({self.sql} AS BIGINT) AS VARCHAR)"
            return f"CASE WHEN {whole} THEN {as_whole} ELSE CAST({self.sql} AS VARCHAR) END"
        if self.stored != "text":
            return f"CAST({self.sql} AS VARCHAR)"
        return cells.present(self.sql, padded=self.padded)

    def as_kind(self, kind: str) -> str:
        """The SQL that reads the column as numbers, dates or text; NULL where it cannot."""
        if kind == "text":
            return self.cell()
        if kind == self.stored:
            return f"CAST({self.sql} AS {'DOUBLE' if kind == 'number' else 'TIMESTAMP'})"
        if kind == "date":
            return cells.date(self.cell(), self.day_place)
        if self.tidy:
            return f"TRY_CAST({self.sql} AS DOUBLE)"
        return cells.number(self.cell(), self.decimal_comma)

    def is_read_as(self, kind: str, day_place: int) -> bool:
        """Whether every cell that is present can be read so (the day in this place, 0: in any)."""
        if kind == "date" and self.stored == "text" and day_place not in (0, self.day_place):
            return False
        return kind in ("text", self.kind)


FirstRow = Callable[[Column, int], int]


def same_row(_: Column, row: int) -> int:
    """Where a cell first stands, in a table that holds all of them."""
    return row


@dataclass(frozen=True)
class Asked:
    """What a user says of a table: how it is written, and which of several is meant."""

    header: bool | None = None
    delimiter: str | None = None
    text: Collection[str] = ()
    sheet: str | None = None
    table: str | None = None
    query: str | None = None
    wanted: Collection[str] = ()
    missing: Collection[str] = ()
    in_memory: bool = True


@dataclass(frozen=True)
class StagedFile:
    """What is known of a file whose rows lie in the table `rows`, or in memory."""

    names: list[str]
    columns: list[Column]
    notes: list[str]
    has_header: bool = True
    delimiter: str = ","
    in_memory: RowsInMemory | None = None
    sparse: Mapping[str, Any] = field(default_factory=dict)  # columns that are matrices (CSR)


def unique_names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names with columnN for an empty one and name_2 for a second one, and notes."""
    taken = set(given)
    seen: set[str] = set()
    names: list[str] = []
    changed: list[tuple[int, str, str]] = []
    for place, name in enumerate(given, 1):
        wanted = new = name or f"column{place}"
        count = 1
        while new in seen or (new != name and new in taken):
            count += 1
            new = f"{wanted}_{count}"
        seen.add(new)
        names.append(new)
        if new != wanted:
            changed.append((place, wanted, new))
    if len(changed) == 1:
        ((place, wanted, new),) = changed
        return names, [f"The name {wanted!r} is given twice; column {place} is called {new!r}."]
    shown = ", ".join(f"column {place} is called {new!r}" for place, _, new in changed[:5])
    more = f" and {len(changed) - 5} more" * (len(changed) > 5)
    return names, [f"Some names are given twice; {shown}{more}."] * bool(changed)


def guessed(
    records: Sequence[Sequence[str]], names: Sequence[str], as_text: Collection[str] = ()
) -> list[str]:
    """What each of these columns holds as far as the first records of a file go.

    "number": nothing but plain numbers; "text": for certain, since one cell suffices; or "".
    """
    guesses = []
    whole = [record for record in records if len(record) == len(names)]  # not a comment
    for j, name in enumerate(names):
        column = {record[j].strip(cells.WHITE_SPACE) for record in whole}
        numbers = set(filter(cells.is_plain_number, column))
        others = [cell for cell in column - numbers if not cells.is_missing(cell)]
        if name in as_text or any(map(cells.is_certainly_text, others)):
            guesses.append("text")
        else:
            guesses.append("number" if numbers and not others else "")
    return guesses


def find_kinds(
    storage: Storage, staged: StagedFile, n_rows: int, first_row: FirstRow = same_row
) -> tuple[list[Column], list[str]]:
    """The columns with the kind of each, judged by all of its cells, and notes.

    Where the table holds the different cells of each column only, in the order in which they
    first occur, `first_row` tells in which row of the file one does.
    """
    names, found = staged.names, list(staged.columns)
    notes: dict[str, list[str]] = {_CODES: [], _COMMAS: [], _DAYS: [], _MONTHS: []}
    places = [j for j, column in enumerate(found) if not (column.declared or column.words)]
    counts = _measured(storage, n_rows, [found[j].sql for j in places], _tidiness)
    for j, (n_cells, n_numbers, n_odd) in zip(places, counts, strict=True):
        if n_cells == n_numbers > 0 and n_odd == 0:
            found[j] = replace(found[j], kind="number", tidy=True)
    texts = [j for j, column in enumerate(found) if column.stored == "text" and not column.tidy]
    counts = _measured(storage, n_rows, [found[j].sql for j in texts], _padding)
    for j, (padded,) in zip(texts, counts, strict=True):
        found[j] = replace(found[j], padded=bool(padded))
    places = [j for j in texts if not found[j].declared]
    counts = _measured(storage, n_rows, [found[j].cell() for j in places], _likeness)
    for j, count in zip(places, counts, strict=True):
        found[j], wording = _judged(found[j], _Likeness(*count), staged.delimiter)
        if wording:
            notes[wording].append(names[j])
    places = [j for j in places if found[j].kind == "text"]
    counts = _measured(storage, n_rows, [found[j].cell() for j in places], _date_counts)
    for j, count in zip(places, counts, strict=True):
        day_place = _day_place(*count)
        if day_place:
            found[j] = replace(found[j], kind="date", day_place=day_place)
            notes[_DAYS if day_place == 1 else _MONTHS].append(names[j])
    refuse_infinities(storage, names, found, n_rows, first_row)
    return found, [note for wording, about in notes.items() for note in noted(about, wording)]


_CODES = "is read as text: it holds codes that begin with 0"
_COMMAS = "is read as numbers with a decimal comma"
_DAYS = "is read as dates, day before month"
_MONTHS = "is read as dates, month before day"


def noted(names: Sequence[str], one: str) -> list[str]:
    """One note for all of these columns, worded as for one of them; none if there are none."""
    several = one.replace("is ", "are ", 1).replace(" it holds ", " they hold ")
    shown = ", ".join(map(repr, names[:5])) + f" and {len(names) - 5} more" * (len(names) > 5)
    subject = f"Column {shown} {one}" if len(names) == 1 else f"Columns {shown} {several}"
    return [f"{subject}."] * bool(names)


def _measured(
    storage: Storage, n_rows: int, values: Sequence[str], measures: Callable[[str], list[str]]
) -> list[tuple[Any, ...]]:
    """The measures (SQL aggregates) of each of the values (SQL of a column), a tuple for each."""
    answers: list[tuple[Any, ...]] = []
    tall = n_rows >= _TALL
    step = COLUMNS_PER_QUERY * (1 if tall else 10)
    for start in range(0, len(values), step):
        part = values[start : start + step]
        if tall:
            named = ", ".join(f"{value} AS v{j}" for j, value in enumerate(part))
            asked = [measure for j in range(len(part)) for measure in measures(f"v{j}")]
            (flat,) = storage.rows(
                f"SELECT {', '.join(asked)} FROM (SELECT rowid, {named} FROM rows)"
            )
            width = len(flat) // len(part)
            answers += [flat[j : j + width] for j in range(0, len(flat), width)]
        else:
            pairs = f"unnest([{', '.join(part)}]) AS v, unnest(range({len(part)})) AS place"
            sql = f"SELECT place, {', '.join(measures('v'))} FROM (SELECT rowid, {pairs} FROM rows)"
            sql += " GROUP BY place"
            answers += [measured[1:] for measured in sorted(storage.rows(sql))]
    return answers


def _tidiness(c: str) -> list[str]:
    """Counts of cells, of numbers to DuckDB, and of cells that are none as they stand."""
    untidy = f"count(*) FILTER ({cells.untidy(c)})"
    return [f"count({c})", f"count(TRY_CAST({c} AS DOUBLE))", untidy]


def _padding(c: str) -> list[str]:
    return [f"bool_or({cells.padding(c)})"]


@dataclass(frozen=True)
class _Likeness:
    """How many cells of a column are present, and how many of these look like what."""

    present: int
    absent: int  # if they stand among numbers or dates
    numbers: int
    coded: int
    dates: int
    commas: int
    grouped: int


def _likeness(cell: str) -> list[str]:
    return [
        f"count({cell})",
        f"count(*) FILTER ({cells.missing_value(cell)})",
        f"count({cells.number(cell)})",
        f"count(*) FILTER ({cells.code(cell)})",
        f"count({cells.date(cell)})",
        f"count({cells.number(cell, decimal_comma=True)})",
        f"count(*) FILTER ({cells.grouped(cell)})",
    ]


def _judged(column: Column, count: _Likeness, delimiter: str) -> tuple[Column, str | None]:
    """The column with its kind, and how to word a note about it."""
    expected = count.present - count.absent
    if not expected:
        return replace(column, kind="text"), None
    if count.dates == expected:
        return replace(column, kind="date"), None
    if column.words:
        return column, None
    if count.numbers == expected:
        if count.coded:
            return replace(column, kind="text"), _CODES
        return replace(column, kind="number"), None
    # 1,234 may mean a thousand: unless the file has semicolons, some cell must rule that out.
    certain = delimiter == ";" or (delimiter != "," and count.grouped < expected)
    if count.commas == expected and certain and not count.coded:
        return replace(column, kind="number", decimal_comma=True), _COMMAS
    return replace(column, kind="text"), None


def _date_counts(cell: str) -> list[str]:
    """Counts of cells, and of dates: ISO, with the day in the first and in the second place."""
    return [f"count({cell}) FILTER (NOT {cells.missing_value(cell)})"] + [
        f"count({cells.date(cell, day_place)})" for day_place in (0, 1, 2)
    ]


def _day_place(n_cells: int, n_iso: int, n_first: int, n_second: int) -> int | None:
    """Where the day stands in these dates; 0: they are ISO or none, None: it cannot be told."""
    if n_iso == n_cells or n_cells not in (n_first, n_second):
        return 0
    if n_first == n_second:
        return None
    return 1 if n_first == n_cells else 2


def refuse_infinities(
    storage: Storage,
    names: Sequence[str],
    columns: Sequence[Column],
    n_rows: int,
    first_row: FirstRow = same_row,
) -> None:
    """Refuse infinite numbers: no hyperplane can use them."""
    suspects = [j for j, c in enumerate(columns) if c.kind == "number" and not c.tidy]
    if n_rows >= _TALL:  # looking for any is quicker than finding the first of each
        suspects = _with_infinities(storage, columns, suspects)
    values = [columns[j].as_kind("number") for j in suspects]
    firsts = _measured(storage, n_rows, values, lambda v: [f"min(rowid) FILTER (isinf({v}))"])
    for j, (row,) in zip(suspects, firsts, strict=True):
        if row is not None:
            place = first_row(columns[j], row) + 1
            msg = (
                f"column {names[j]!r} holds {text_at(storage, columns[j], row)} in data row "
                f"{place}, which is not finite: correct the cell, or leave it empty if unknown"
            )
            raise TableError(msg)


def _with_infinities(
    storage: Storage, columns: Sequence[Column], places: Sequence[int]
) -> list[int]:
    """Those of the places that share a query with a column that holds an infinite number."""
    found: list[int] = []
    for start in range(0, len(places), COLUMNS_PER_QUERY):
        part = places[start : start + COLUMNS_PER_QUERY]
        infinite = " OR ".join(f"isinf({columns[j].as_kind('number')})" for j in part)
        if storage.rows(f"SELECT 1 FROM rows WHERE {infinite} LIMIT 1"):
            found += part
    return found


def text_at(storage: Storage, column: Column, row: int) -> str:
    """The text of one cell for a message."""
    ((text,),) = storage.rows(f"SELECT {column.cell()} FROM rows WHERE rowid = ?", [row])
    return text if len(text) <= 40 else f"{text[:37]}..."


def readable(
    storage: Storage,
    name: str,
    column: Column,
    kind: str,
    shown: str,
    *,
    day_place: int = 0,
    first_row: FirstRow = same_row,
) -> Column:
    """The column read as this kind; cells that are present but cannot be are refused.

    Dates are read with the day in this place if all of them can be (0: as they look).
    """
    asked = replace(column, kind=kind)
    if column.is_read_as(kind, day_place):
        return asked
    if kind == "date" and column.stored == "text":
        (counts,) = storage.rows(f"SELECT {', '.join(_date_counts(column.cell()))} FROM rows")
        n_cells, n_iso, *n_places = counts
        as_told = day_place and n_iso < n_cells == n_places[day_place - 1]
        found = day_place if as_told else _day_place(*counts)
        if found is None:
            msg = (
                f"{shown}: column {name!r} must be a date, but nothing shows whether the day or "
                "the month comes first: write the dates as 2024-12-31"
            )
            raise TableError(msg)
        asked = replace(asked, day_place=found)
    unreadable = f"{asked.as_kind(kind)} IS NULL AND NOT {cells.missing_value(asked.cell())}"
    if kind == "number":
        unreadable += f" OR isinf({asked.as_kind(kind)})"
    ((row,),) = storage.rows(f"SELECT min(rowid) FROM rows WHERE {unreadable}")
    if row is not None:
        place = first_row(column, row) + 1
        msg = (
            f"{shown}: column {name!r} must be a {kind}, but data row {place} holds "
            f"{text_at(storage, column, row)!r}: correct the cell, or leave it empty"
        )
        raise TableError(msg)
    return asked


def select(columns: Sequence[Column], words: Sequence[Sequence[str] | None] = ()) -> str:
    """The SQL that reads these columns, each as its kind, as v0, v1, ..., and their place.

    A text of a column whose different words are given comes as its place among these, or -1.
    """
    values = []
    for j, column in enumerate(columns):
        value = column.as_kind(column.kind)
        known = words[j] if words else None
        if column.kind == "number":
            value = f"COALESCE({value}, 'NaN'::DOUBLE)"  # NULL would cost a mask
        elif known is not None:
            listed = ", ".join(map(cells.quoted, known))
            code = f"enum_code(CAST({value} AS ENUM({listed})))" if known else "NULL"
            value = f"COALESCE(CAST({code} AS INTEGER), -1)"
        values.append(f"{value} AS v{j}")
    return f"SELECT rowid AS place, {', '.join(values)} FROM rows"

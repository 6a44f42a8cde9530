"""What columns hold, judged by all of their cells: numbers, dates or text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables import cells
from rosenblatt.tables.columns import COLUMNS_PER_QUERY, noted
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.written_numbers import (
    COMMA,
    MOST_BAD,
    POINT,
    SIGNS,
    TIME,
    WRITINGS,
    chosen,
    matches_sql,
    may_be_thousands_sql,
    quoted_pattern,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.tables.columns import Column, StagedFile
    from rosenblatt.tables.storage import Storage

_TALL = 10_000  # rows from which on the cells, not the planning of a query, take the time

CODES = "is read as text: it holds codes that begin with 0"
COMMAS = "is read as numbers with a decimal comma"
EITHER_COMMAS = f"{COMMAS} (--decimal . if it separates thousands)"
BOTH = f"{COMMAS} and thousands separators"
FOR_TEXT = "(--category for text)"
GROUPS = f"is read as numbers with thousands separators {FOR_TEXT}"
EITHER_GROUPS = "is read as numbers with thousands separators (--decimal , for decimal commas)"
MONEY = f"is read as numbers, without the signs of money {FOR_TEXT}"
PERCENT = f"is read as numbers, 62.5% as 62.5 {FOR_TEXT}"
PARENTHESES = f"is read as numbers, (5) as -5 {FOR_TEXT}"
BOUNDS = f"is read as numbers, <5 and >5 as 5 {FOR_TEXT}"
TIMES = f"is read as times of day, in hours {FOR_TEXT}"
DAYS = "is read as dates, day before month"
MONTHS = "is read as dates, month before day"
MAY_BE_THOUSANDS = (
    "is read as numbers with three digits after the point or none (--decimal , if the points "
    "separate thousands)"
)
WORDINGS = (
    *(CODES, COMMAS, EITHER_COMMAS, BOTH, GROUPS, EITHER_GROUPS, MONEY, PERCENT, PARENTHESES),
    *(BOUNDS, TIMES, DAYS, MONTHS, MAY_BE_THOUSANDS),
)


class AllRows:
    """Where the cells stand in a table that holds all of them: in the row of their number."""

    def first_row(self, _: Column, place: int) -> int:
        """The row in which the cell of this place first stands."""
        return place

    def rows_with(self, _: Column, place: int, found: int) -> int:
        """In how many rows the cell of this place stands, if it was found so often."""
        return found

    def rows_present(self, _: Column, found: int) -> int:
        """How many cells of a column are present, if so many were found."""
        return found


ALL_ROWS = AllRows()


@dataclass(frozen=True)
class Likeness:
    """How many cells of a column are present, and how many of these look like what."""

    present: int
    absent: int  # if they stand among numbers or dates
    numbers: int
    coded: int
    dates: int
    points: int
    commas: int
    times: int

    @property
    def expected(self) -> int:
        """How many must be numbers for the column to hold numbers."""
        return self.present - self.absent

    @property
    def surely_commas(self) -> bool:
        """Whether the commas can be nothing but decimal commas."""
        return self.numbers < self.commas == self.expected > self.points and not self.coded


class Signs(NamedTuple):
    """What the cells of a column of written numbers have beside digits, and those that are none."""

    different: int
    bad: int  # different ones that are no numbers
    bounds: int  # different ones such as <5
    found: dict[str, bool]


class BadCell(NamedTuple):
    """A cell that is no number: its first row and in how many rows it stands."""

    text: str
    row: int
    n_rows: int


def find_kinds(
    storage: Storage, staged: StagedFile, n_rows: int, places: AllRows = ALL_ROWS
) -> tuple[list[Column], list[str]]:
    """The columns with the kind of each, judged by all of its cells, and notes.

    Where the table holds the different cells of each column only, in the order in which they
    first occur, `places` tells in which rows of the file they stand.
    """
    found, told = list(staged.columns), Notes()
    open_ones = [j for j, column in enumerate(found) if not (column.declared or column.words)]
    counts = _measured(storage, n_rows, [found[j].sql for j in open_ones], _tidiness)
    for j, (n_cells, n_numbers, n_odd) in zip(open_ones, counts, strict=True):
        if n_cells == n_numbers > 0 and n_odd == 0 and found[j].told.decimal != COMMA:
            found[j] = replace(found[j], kind="number", tidy=True)
    texts = [j for j, column in enumerate(found) if column.stored == "text" and not column.tidy]
    counts = _measured(storage, n_rows, [found[j].sql for j in texts], _padding)
    for j, (padded,) in zip(texts, counts, strict=True):
        found[j] = replace(found[j], padded=bool(padded))
    texts = [j for j in texts if not found[j].declared]
    counts = _measured(storage, n_rows, [found[j].cell() for j in texts], _likeness)
    likeness = [Likeness(*count) for count in counts]
    commas = any(like.surely_commas for like in likeness)
    for j, like in zip(texts, likeness, strict=True):
        found[j], wording = judged(found[j], like, commas or staged.delimiter == ";")
        if found[j].writing:
            signs = _signs(storage, found[j])
            bad = bad_cells(storage, found[j], places) if signs.bad > 0 else []
            present = places.rows_present(found[j], like.present)
            either = like.points == like.commas and not (commas or found[j].told.certainly)
            found[j] = told.say_signs(staged.names[j], found[j], signs, bad, present, either)
        elif wording:
            told.add(wording, staged.names[j])
    texts = [j for j in texts if found[j].kind == "text"]
    counts = _measured(storage, n_rows, [found[j].cell() for j in texts], date_counts)
    for j, count in zip(texts, counts, strict=True):
        place = day_place(*count)
        if place:
            found[j] = replace(found[j], kind="date", day_place=place)
            told.add(DAYS if place == 1 else MONTHS, staged.names[j])
    refuse_infinities(storage, staged.names, found, n_rows, places)
    for name, column in zip(staged.names, found, strict=True):
        if name in staged.may_be_thousands and column.kind == "number" and not column.writing:
            value = column.as_kind("number")
            if storage.rows(f"SELECT bool_and({may_be_thousands_sql(value)}) FROM rows")[0][0]:
                told.add(MAY_BE_THOUSANDS, name)
    return found, told.sentences()


class Notes:
    """What is said about columns: the names that share a wording, and what is about one alone."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._single: list[str] = []

    def add(self, wording: str, name: str) -> None:
        """Say this of a column."""
        self._names.setdefault(wording, []).append(name)

    def sentences(self) -> list[str]:
        """A sentence for each wording."""
        known = [(self._names[wording], wording) for wording in WORDINGS if wording in self._names]
        return [note for names, wording in known for note in noted(names, wording)] + self._single

    def say_signs(
        self,
        name: str,
        column: Column,
        signs: Signs,
        bad: Sequence[BadCell],
        n_present: int,
        either: bool,
    ) -> Column:
        """The column as numbers, and what was assumed; as text if too many cells are none.

        `either` tells whether both marks could be the decimal mark.
        """
        n_bad = sum(cell.n_rows for cell in bad)
        many = signs.bad * MOST_BAD > signs.different or n_bad * MOST_BAD > n_present
        if many or 2 * signs.bounds > signs.different:
            return replace(column, kind="text", writing="")
        if column.writing == COMMA and not (signs.found["commas"] or signs.found["points"]):
            column = replace(column, writing=POINT)  # neither mark is there, so either is right
        for wording in wordings(column.writing, signs.found, either):
            self.add(wording, name)
        if bad:
            self._single.append(about_bad_cells(name, bad, n_present))
        return column


def wordings(writing: str, signs: dict[str, bool], either: bool) -> list[str]:
    """What was assumed about the numbers of a column, as notes are worded."""
    if writing == TIME:
        return [TIMES]
    said = []
    grouped = signs["groups"] or signs["points" if writing == COMMA else "commas"]
    if writing == COMMA and signs["commas"]:
        said.append(BOTH if grouped else EITHER_COMMAS if either else COMMAS)
    elif grouped:
        said.append(EITHER_GROUPS if either and signs["commas"] != signs["points"] else GROUPS)
    if writing == POINT and signs["points"] and not signs["commas"] and either:
        said.append(MAY_BE_THOUSANDS)
    named = {"money": MONEY, "percent": PERCENT, "parentheses": PARENTHESES, "bounds": BOUNDS}
    return said + [wording for sign, wording in named.items() if signs[sign]]


def about_bad_cells(name: str, bad: Sequence[BadCell], n_present: int) -> str:
    """A note about cells of a column of numbers that are none."""
    n = sum(cell.n_rows for cell in bad)
    subject = f"One of {n_present} cells" if n == 1 else f"{n} of {n_present} cells"
    are = "is no number" if n == 1 else "are no numbers"
    taken = f"{subject} of column {name!r} {are}, taken as missing: {listed(bad)}"
    return f"{taken} {FOR_TEXT}."


def listed(bad: Sequence[BadCell]) -> str:
    """The first few cells that are no numbers, and where they stand."""
    shown = [f"{brief(cell.text)!r} in data row {cell.row + 1}" for cell in bad[:3]]
    return ", ".join(shown) + ", ..." * (len(bad) > 3)


def brief(text: str) -> str:
    """A text that is not too long for a message."""
    return text if len(text) <= 40 else f"{text[:37]}..."


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


def _likeness(cell: str) -> list[str]:
    written = [f"count(*) FILTER ({matches_sql(cell, writing)})" for writing in WRITINGS]
    return [
        f"count({cell})",
        f"count(*) FILTER ({cells.missing_value(cell)})",
        f"count({cells.number(cell)})",
        f"count(*) FILTER ({cells.code(cell)})",
        f"count({cells.date(cell)})",
        *written,
    ]


def judged(column: Column, like: Likeness, comma_rather: bool) -> tuple[Column, str | None]:
    """The column with its kind, as far as the counts tell, and how to word a note about it."""
    expected = like.expected
    if not expected:
        return replace(column, kind="text"), None
    if like.dates == expected:
        return replace(column, kind="date"), None
    if column.words:
        return column, None
    if like.numbers == expected and column.told.decimal != COMMA:
        if like.coded:
            return replace(column, kind="text"), CODES
        return replace(column, kind="number"), None
    counts = {POINT: like.points, COMMA: like.commas, TIME: like.times}
    writing = chosen(counts, expected, column.told, comma_rather)
    few_bad = (expected - counts[writing]) * MOST_BAD <= like.present
    if few_bad and (writing == TIME or not like.coded):
        return replace(column, kind="number", writing=writing), None
    return replace(column, kind="text"), None


def _signs(storage: Storage, column: Column) -> Signs:
    bad = f"NOT {matches_sql('v', column.writing)}"
    asked = ["count(DISTINCT v)"]
    asked += [f"count(DISTINCT v) FILTER ({bad} AND NOT {cells.missing_value('v')})"]
    asked += [f"count(DISTINCT v) FILTER ({_has('bounds')} AND NOT ({bad}))"]
    asked += [f"bool_or({_has(sign)} AND NOT ({bad}))" for sign in SIGNS]
    ((different, n_bad, bounds, *found),) = storage.rows(
        f"SELECT {', '.join(asked)} FROM (SELECT {column.cell()} AS v FROM rows)"
    )
    return Signs(different, n_bad, bounds, dict(zip(SIGNS, map(bool, found), strict=True)))


def _has(sign: str) -> str:
    return f"regexp_matches(v, {quoted_pattern(SIGNS[sign])})"


def bad_cells(storage: Storage, column: Column, places: AllRows = ALL_ROWS) -> list[BadCell]:
    """The different cells of a column that are no finite numbers, in the order of the rows."""
    value, cell = column.as_kind("number"), column.cell()
    bad = f"({value} IS NULL OR isinf({value})) AND NOT {cells.missing_value(cell)}"
    answer = storage.rows(
        f"SELECT {cell} AS v, min(rowid) AS place, count(*) FROM rows WHERE {bad} "
        "GROUP BY v ORDER BY place"
    )
    return [
        BadCell(text, places.first_row(column, place), places.rows_with(column, place, n))
        for text, place, n in answer
        if text is not None
    ]


def date_counts(cell: str) -> list[str]:
    """Counts of cells, and of dates: ISO, with the day in the first and in the second place."""
    return [f"count({cell}) FILTER (NOT {cells.missing_value(cell)})"] + [
        f"count({cells.date(cell, place)})" for place in (0, 1, 2)
    ]


def day_place(n_cells: int, n_iso: int, n_first: int, n_second: int) -> int | None:
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
    places: AllRows = ALL_ROWS,
) -> None:
    """Refuse infinite numbers: no hyperplane can use them."""
    suspects = [j for j, c in enumerate(columns) if c.kind == "number" and not c.tidy]
    if n_rows >= _TALL:  # looking for any is quicker than finding the first of each
        suspects = _with_infinities(storage, columns, suspects)
    values = [columns[j].as_kind("number") for j in suspects]
    firsts = _measured(storage, n_rows, values, lambda v: [f"min(rowid) FILTER (isinf({v}))"])
    for j, (row,) in zip(suspects, firsts, strict=True):
        if row is not None:
            place = places.first_row(columns[j], row) + 1
            ((text,),) = storage.rows(
                f"SELECT {columns[j].cell()} FROM rows WHERE rowid = ?", [row]
            )
            raise infinite(names[j], text, place)


def infinite(name: str, text: str, row: int) -> TableError:
    """The error about a cell, in this row of the data, that is no finite number."""
    return TableError(
        f"column {name!r} holds {brief(text)} in data row {row}, which is not finite: correct the "
        "cell, or leave it empty if unknown"
    )


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

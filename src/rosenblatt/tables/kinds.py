"""What columns hold, judged by all of their cells: numbers, dates or text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables import cells
from rosenblatt.tables.columns import COLUMNS_PER_QUERY
from rosenblatt.tables.remarks import (
    CODES,
    MAY_BE_THOUSANDS,
    OPEN_ORDER,
    BadCell,
    Remark,
    Remarks,
    brief,
    without_unit,
    wordings,
)
from rosenblatt.tables.remarks import ORDERS as ORDER_WORDINGS
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.written_dates import DAY_FIRST, MONTH_FIRST, Orders, date, date_like
from rosenblatt.tables.written_numbers import (
    COMMA,
    MOST_BAD,
    MOST_DIFFERENT_BAD,
    POINT,
    SIGNS,
    TIME,
    WRITINGS,
    chosen,
    matches_sql,
    may_be_thousands_sql,
    quoted_pattern,
    unit_sql,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.tables.columns import Column, StagedFile
    from rosenblatt.tables.storage import Storage

Measures = Callable[[str], list[str]]

_TALL = 10_000  # rows from which on the cells, not the planning of a query, take the time


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


def find_kinds(
    storage: Storage, staged: StagedFile, n_rows: int, places: AllRows = ALL_ROWS
) -> tuple[list[Column], list[Remark]]:
    """The columns with the kind of each, judged by all of its cells, and remarks.

    Where the table holds the different cells of each column only, in the order in which they
    first occur, `places` tells in which rows of the file they stand.
    """
    judge = _Judge(storage, staged, n_rows, places)
    judge.tidy_numbers()
    texts = judge.open_texts()
    judge.numbers(texts)
    judge.units(texts)
    judge.dates(texts)
    refuse_infinities(storage, staged.names, judge.found, n_rows, places)
    judge.thousands()
    return judge.found, judge.told.all()


class _Judge:
    """Columns on the way to their kinds, by their places, and what is said of them."""

    def __init__(self, storage: Storage, staged: StagedFile, n_rows: int, places: AllRows) -> None:
        self.storage, self.staged, self.places = storage, staged, places
        self.found, self.told = list(staged.columns), Remarks()
        self._n_rows = n_rows
        self._commas = False  # whether some column has decimal commas for certain

    def _measured(self, values: Sequence[str], measures: Measures) -> list[tuple[Any, ...]]:
        return _measured(self.storage, self._n_rows, values, measures)

    def tidy_numbers(self) -> None:
        """Find the columns in which every cell is a plain number as it stands."""
        columns = self.found
        open_ones = [j for j, c in enumerate(columns) if not (c.declared or c.words)]
        counts = self._measured([columns[j].sql for j in open_ones], _tidiness)
        for j, (n_cells, n_numbers, n_odd) in zip(open_ones, counts, strict=True):
            if n_cells == n_numbers > 0 and n_odd == 0 and columns[j].told.decimal != COMMA:
                columns[j] = replace(columns[j], kind="number", tidy=True)

    def open_texts(self) -> list[int]:
        """The other columns of text that may hold something else."""
        texts = [j for j, c in enumerate(self.found) if c.stored == "text" and not c.tidy]
        # Words that the file declares are mostly not read by SQL, which alone would gain by it.
        texts = [j for j in texts if not (self.found[j].words and self.found[j].declared)]
        counts = self._measured([self.found[j].sql for j in texts], _padding)
        for j, (padded,) in zip(texts, counts, strict=True):
            self.found[j] = replace(
                self.found[j], padded=bool(padded), unit=self.found[j].told.unit
            )
        return [j for j in texts if not self.found[j].declared]

    def numbers(self, texts: Sequence[int]) -> None:
        """Find numbers as people write them, and ISO dates."""
        counts = self._measured([self.found[j].numeral() for j in texts], _likeness)
        likeness = [Likeness(*count) for count in counts]
        self._commas = self._commas or any(like.surely_commas for like in likeness)
        commas = self._commas or self.staged.delimiter == ";"
        for j, like in zip(texts, likeness, strict=True):
            self.found[j], wording = judged(self.found[j], like, commas)
            if self.found[j].kind == "number":
                self._settle(j, like)
            if wording and self.found[j].kind == "text":
                self.told.add(wording, self.staged.names[j])

    def _settle(self, j: int, like: Likeness) -> None:
        """Say what was assumed of a column of numbers; it is text if too many cells are none."""
        column, name = self.found[j], self.staged.names[j]
        if column.writing:
            signs = _signs(self.storage, column)
            bad = bad_cells(self.storage, column, self.places) if signs.bad > 0 else []
            present = self.places.rows_present(column, like.present)
            if signs.are_no_numbers or sum(cell.n_rows for cell in bad) * MOST_BAD > present:
                self.found[j] = replace(column, kind="text", writing="", unit="")
                return
            if column.writing == COMMA and not (signs.found["commas"] or signs.found["points"]):
                column = replace(column, writing=POINT)  # neither mark is there: either is right
                self.found[j] = column
            either = like.points == like.commas and not (self._commas or column.told.certainly)
            for wording in wordings(column.writing, signs.found, either):
                self.told.add(wording, name)
            if bad:
                self.told.add_bad_cells(name, bad, present)
        if column.unit and self._has_unit(column):
            self.told.add(without_unit(column.unit), name)

    def _has_unit(self, column: Column) -> bool:
        sql = f"SELECT 1 FROM rows WHERE {unit_sql(column.cell())} IS NOT NULL LIMIT 1"
        return bool(self.storage.rows(sql))

    def units(self, texts: Sequence[int]) -> None:
        """Find numbers that all have the same unit behind them."""
        left = [j for j in texts if self.found[j].kind == "text" and not self.found[j].words]
        left = [j for j in left if not self.found[j].told.unit]
        counts = self._measured([self.found[j].cell() for j in left], unit_counts)
        with_unit = []
        for j, (unit, n_same, n_cells) in zip(left, counts, strict=True):
            if unit and 2 * n_same > n_cells:
                self.found[j] = replace(self.found[j], unit=unit)
                with_unit.append(j)
        self.numbers(with_unit)
        for j in with_unit:
            if self.found[j].kind != "number":
                self.found[j] = replace(self.found[j], unit="")

    def dates(self, texts: Sequence[int]) -> None:
        """Find dates in other orders than ISO's; one column tells another what theirs is."""
        left = [j for j in texts if self.found[j].kind == "text"]
        counts = self._measured([self.found[j].cell() for j in left], _date_likeness)
        left = [j for j, (n, n_like) in zip(left, counts, strict=True) if n and n == n_like]
        counts = self._measured([self.found[j].cell() for j in left], date_counts)
        orders = [Orders(*count) for count in counts]
        known = {one.found() for one in orders} & {DAY_FIRST, MONTH_FIRST}
        common = sum(filter(None, known)) if len(known) == 1 else 0
        for j, one in zip(left, orders, strict=True):
            order = one.found(self.found[j].told.order or common)
            if order:
                self.found[j] = replace(self.found[j], kind="date", order=order)
            wording = OPEN_ORDER if order is None else ORDER_WORDINGS.get(order)
            if wording:
                self.told.add(wording, self.staged.names[j])

    def thousands(self) -> None:
        """Say of which columns the points may separate thousands."""
        for name, column in zip(self.staged.names, self.found, strict=True):
            likely = name in self.staged.may_be_thousands and column.kind == "number"
            if likely and column.is_plain:
                ask = f"SELECT bool_and({may_be_thousands_sql(column.as_kind('number'))}) FROM rows"
                if self.storage.rows(ask)[0][0]:
                    self.told.add(MAY_BE_THOUSANDS, name)


def _measured(
    storage: Storage, n_rows: int, values: Sequence[str], measures: Measures
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
        f"count({date(cell)})",
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
    few_bad = expected - counts[writing] <= most_bad(like.present)  # of rows, or of different ones
    if few_bad and (writing == TIME or not like.coded):
        return replace(column, kind="number", writing=writing), None
    return replace(column, kind="text"), None


class Signs(NamedTuple):
    """What the cells of a column of written numbers have beside digits, and those that are none."""

    different: int
    bad: int  # different ones that are no numbers
    bounds: int  # different ones such as <5
    found: dict[str, bool]

    @property
    def are_no_numbers(self) -> bool:
        """Whether too many different cells are no numbers, or only bounds."""
        return self.bad > most_bad(self.different) or 2 * self.bounds > self.different


def most_bad(different: int) -> int:
    """How many of so many different cells may be no numbers: one, if two are."""
    return max(int(different > 2), different // MOST_DIFFERENT_BAD)


def _signs(storage: Storage, column: Column) -> Signs:
    bad = f"NOT {matches_sql('v', column.writing)}"
    asked = ["count(DISTINCT v)"]
    asked += [f"count(DISTINCT v) FILTER ({bad} AND NOT {cells.missing_value('v')})"]
    asked += [f"count(DISTINCT v) FILTER ({_has('bounds')} AND NOT ({bad}))"]
    asked += [f"bool_or({_has(sign)} AND NOT ({bad}))" for sign in SIGNS]
    ((different, n_bad, bounds, *found),) = storage.rows(
        f"SELECT {', '.join(asked)} FROM (SELECT {column.numeral()} AS v FROM rows)"
    )
    return Signs(different, n_bad, bounds, dict(zip(SIGNS, map(bool, found), strict=True)))


def _has(sign: str) -> str:
    return f"regexp_matches(v, {quoted_pattern(SIGNS[sign])})"


def bad_cells(storage: Storage, column: Column, places: AllRows = ALL_ROWS) -> list[BadCell]:
    """The different cells of a column that cannot be read as its kind, in the order of the rows."""
    value, cell = column.as_kind(column.kind), column.cell()
    bad = f"{value} IS NULL OR isinf({value})" if column.kind == "number" else f"{value} IS NULL"
    bad = f"({bad}) AND NOT {cells.missing_value(cell)}"
    answer = storage.rows(
        f"SELECT {cell} AS v, min(rowid) AS place, count(*) FROM rows WHERE {bad} "
        "GROUP BY v ORDER BY place"
    )
    return [
        BadCell(text, places.first_row(column, place), places.rows_with(column, place, n))
        for text, place, n in answer
        if text is not None
    ]


def unit_counts(cell: str) -> list[str]:
    """The word that stands behind most numbers, how often any does, and of how many cells."""
    unit = unit_sql(cell)
    return [f"mode({unit})", f"count({unit})", f"count({cell})"]


def _date_likeness(cell: str) -> list[str]:
    present = f"NOT {cells.missing_value(cell)}"
    return [f"count({cell}) FILTER ({present})", f"count(*) FILTER ({date_like(cell)})"]


def date_counts(cell: str) -> list[str]:
    """Counts of cells, and of dates in each of the orders, ISO first."""
    present = f"count({cell}) FILTER (NOT {cells.missing_value(cell)})"
    return [present, *(f"count({date(cell, order)})" for order in range(5))]


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

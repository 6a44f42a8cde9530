"""What the columns of a staged table hold: numbers, dates or text, and the SQL to read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables import cells
from rosenblatt.tables.input_files import glob_escaped
from rosenblatt.tables.written_dates import ORDERS, date
from rosenblatt.tables.written_numbers import (
    COMMA,
    NOBODY,
    Told,
    have_decimal_commas,
    have_three_digits,
    look_like_thousands,
    value_sql,
    without_unit_sql,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rosenblatt.tables.file_states import FileState
    from rosenblatt.tables.rows_in_memory import RowsInMemory

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
    writing: str = ""  # of numbers that are not plain: their decimal mark, or "time"
    unit: str = ""  # that stands behind every number
    told: Told = NOBODY  # how it is written, as somebody said it
    order: int = 0  # of dates that are not written as ISO has them
    note: str = field(default="", compare=False)  # on what was done to read it as asked for

    def cell(self) -> str:
        """The SQL of the text of a cell: trimmed, NULL where missing."""
        if self.stored == "number":  # a whole number as most files write it, 1 and not 1.0
            whole = f"abs({self.sql}) < 1e15 AND {self.sql} = floor({self.sql})"
            as_whole = f"CAST(CAST({self.sql} AS BIGINT) AS VARCHAR)"
            return f"CASE WHEN {whole} THEN {as_whole} ELSE CAST({self.sql} AS VARCHAR) END"
        if self.stored != "text":
            return f"CAST({self.sql} AS VARCHAR)"
        return cells.present(self.sql, padded=self.padded)

    def numeral(self) -> str:
        """The SQL of the same without its unit."""
        return without_unit_sql(self.cell(), self.unit) if self.unit else self.cell()

    def as_kind(self, kind: str) -> str:
        """The SQL that reads the column as numbers, dates or text; NULL where it cannot."""
        if kind == "text":
            return self.cell()
        if kind == self.stored:
            return f"CAST({self.sql} AS {'DOUBLE' if kind == 'number' else 'TIMESTAMP'})"
        if kind == "date":
            return date(self.cell(), self.order)
        if self.tidy:
            return f"TRY_CAST({self.sql} AS DOUBLE)"
        if self.writing:
            return value_sql(self.numeral(), self.writing)
        return cells.number(self.numeral())

    def is_read_as(self, kind: str) -> bool:
        """Whether every cell that is present is known to be readable so."""
        return kind in ("text", self.kind)

    @property
    def is_plain(self) -> bool:
        """Whether its numbers are written in digits, with a point and nothing else."""
        return not (self.writing or self.unit)


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
    decimal: str | Mapping[str, str] = ""
    skip_bad_lines: bool = False
    dates: str | Mapping[str, str] = ""
    units: Mapping[str, str] = field(default_factory=dict)
    numbers: Collection[str] = ()  # columns of these

    def told(self, name: str) -> Told:
        """How a column is written as far as it is known: for certain, or from a model."""
        dates = self.dates if isinstance(self.dates, str) else self.dates.get(name, "")
        order, unit = ORDERS.get(dates, 0), self.units.get(name, "")
        if isinstance(self.decimal, str):
            return Told(self.decimal, bool(self.decimal), unit, order)
        return Told(self.decimal.get(name, ""), False, unit, order)


class ParquetParts(NamedTuple):
    """Parquet files that are one table, and read where they lie.

    Attributes
    ----------
    files : tuple of FileState
    firsts : tuple of int
        The number of the first row of each, and at the end that of all rows.
    values : str
        The SQL of the columns c0, c1, ...
    fields : mapping from str to str
        What these are called in the files, where that is certain.
    """

    files: tuple[FileState, ...]
    firsts: tuple[int, ...]
    values: str = ""
    fields: Mapping[str, str] = {}

    def fits(self, start: int, stop: int) -> bool:
        """Whether rows are better looked for in the files that hold them than in all of them."""
        return stop > start and (start > 0 or stop < self.firsts[-1])

    def source(self, part: int) -> str:
        """The SQL of the rows of one file."""
        file = cells.quoted(glob_escaped(self.files[part].file))
        numbered = f"read_parquet({file}, hive_partitioning=false, file_row_number=true)"
        return f"SELECT file_row_number AS rowid, {self.values} FROM {numbered}"


@dataclass(frozen=True)
class StagedFile:
    """What is known of a file whose rows lie in the table `rows`, or in memory."""

    names: list[str]
    columns: list[Column]
    notes: list[str]
    has_header: bool = True
    delimiter: str = ","
    may_be_thousands: Collection[str] = ()  # columns such as 361, 28.246
    commas: Collection[str] = ()  # columns whose decimal mark is a comma, by the others or as told
    in_memory: RowsInMemory | None = None
    parquet: ParquetParts | None = None  # where `rows` is a view of files
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

    "number": nothing but plain numbers; "text": words, too many to be mistakes; or "".
    """
    guesses = []
    whole = [record for record in records if len(record) == len(names)]  # not a comment
    for j, name in enumerate(names):
        column = {record[j].strip(cells.WHITE_SPACE) for record in whole}
        numbers = set(filter(cells.is_plain_number, column))
        others = [cell for cell in column - numbers if not cells.is_missing(cell)]
        n_texts = sum(map(cells.is_certainly_text, others))
        if name in as_text or 2 * n_texts > len(column):
            guesses.append("text")
        else:
            guesses.append("number" if numbers and not others else "")
    return guesses


def thousands_in(
    records: Sequence[Sequence[str]], names: Sequence[str], guesses: Sequence[str], asked: Asked
) -> tuple[list[str], list[str]]:
    """The columns of numbers whose points separate thousands, for certain and perhaps.

    Beside decimal commas the points of 28.246 are no decimal points.
    """
    certain, likely, three_digits, commas = list[str](), list[str](), list[str](), False
    for j, (name, guess) in enumerate(zip(names, guesses, strict=True)):
        told = asked.told(name).decimal
        if guess == "number" and told == COMMA:
            certain.append(name)
        elif guess != "text" and not told:
            column = {record[j].strip(cells.WHITE_SPACE) for record in records if len(record) > j}
            present = [cell for cell in column if not cells.is_missing_value(cell)]
            if guess == "":
                commas = commas or have_decimal_commas(present)
            elif have_three_digits(present):
                three_digits.append(name)
                likely += [name] * look_like_thousands(present)
    return (certain + three_digits, []) if commas else (certain, likely)


def noted(names: Sequence[str], one: str) -> list[str]:
    """One note for all of these columns, worded as for one of them; none if there are none."""
    several = one.replace("is ", "are ", 1).replace(" it holds ", " they hold ")
    shown = ", ".join(map(repr, names[:5])) + f" and {len(names) - 5} more" * (len(names) > 5)
    subject = f"Column {shown} {one}" if len(names) == 1 else f"Columns {shown} {several}"
    return [f"{subject}."] * bool(names)


def select(
    columns: Sequence[Column], words: Sequence[Sequence[str] | None] = (), source: str = "rows"
) -> str:
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
    return f"SELECT rowid AS place, {', '.join(values)} FROM {source}"

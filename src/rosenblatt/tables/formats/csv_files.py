"""Reading delimited text: how a file is written, where its header is, and its rows.

DuckDB reads the rows, told exactly how the file is written, since its own guesses are made
for typed columns and go wrong with free text. What it cannot read is read again, record by
record, by Python's csv module, which either finds the line at fault or copes.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from rosenblatt.tables.cells import (
    USUAL_MARKERS,
    WHITE_SPACE,
    quoted,
    reads_as_value,
)
from rosenblatt.tables.columns import Asked, Column, StagedFile, guessed, thousands_in, unique_names
from rosenblatt.tables.formats.dialects import (
    Dialect,
    FirstRecords,
    commented_header,
    has_unit_row,
    is_blank,
    is_numbered_header,
    looks_like_header,
    open_quote,
    records_of,
    sniffed,
    unlimited_cells,
)
from rosenblatt.tables.formats.encodings import in_utf8
from rosenblatt.tables.formats.plain_csv import Lines, NotPlainError, can_be_plain, read_columns
from rosenblatt.tables.input_files import HEAD_BYTES, glob_escaped
from rosenblatt.tables.missing_cells import forgotten, recognizer
from rosenblatt.tables.rows_in_memory import RowsInMemory
from rosenblatt.tables.storage import TableError, first_line, fits_in_memory
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from rosenblatt.tables.storage import Storage

# In bytes, what DuckDB is told to be ready for. It reads in parts of sixteen times as much, so
# that too long a line costs memory and, where the parts are few, time.
SHORT_LINE, LONG_LINE, LONGEST_LINE = 200_000, 2_000_000, 100_000_000
# From this size on, columns whose first cells are all numbers are read as numbers at once, which
# takes less than half the time and memory of keeping their text.
LARGE_BYTES = 8_000_000
MOST_CELLS_IN_MEMORY = 50_000_000
_REMEDY = "correct the quotation marks there"


def stage_csv(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of the file into memory, or into the table `rows` of the storage.

    A first line with all the wanted names is the header.
    """
    given, lines, notes = file, _lines_of(file, storage), list[str]()
    if lines is None or not lines.ascii:
        file, notes = in_utf8(given, shown, storage.copies)
        lines = lines if file is given else _lines_of(file, storage)
    text, start = _start_of(file, asked.delimiter)
    if all(not cell.strip(WHITE_SPACE) for record in start.records for cell in record):
        msg = f"{shown} holds nothing but blank lines: give a file with at least one row"
        raise TableError(msg)
    line = open_quote(text, start.dialect)
    if line is not None:
        msg = f"{shown}: line {line} opens a quotation mark that is never closed: {_REMEDY}"
        raise TableError(msg)
    has_header, judged = _header(start.records, asked)
    commented = None if has_header or asked.header is False else commented_header(text, start)
    heading = start.records[0] if has_header else commented
    names, renamed = column_names(heading or [], start, has_header=has_header)
    has_units = has_header and has_unit_row(start.records, asked.numbers)
    skips = asked.skip_bad_lines
    reader = _Reader(file, shown, storage, start, has_header, len(names), has_units, skips)
    if len(start.records[0]) + 1 < start.n_fields:
        bad = _BadLines(start.n_fields)
        bad.add(1 + start.dialect.skipped_lines, len(start.records[0]))
        raise bad.error(shown, start.dialect)
    notes += judged
    notes += renamed
    if has_units:
        units = ", ".join(filter(None, (cell.strip(WHITE_SPACE) for cell in start.records[1])))
        notes.append(f"Line 2 of the table holds units ({units[:60]}); it was left out.")
    notes += _joined_lines(start, has_header)
    rows = _without(asked.missing, start.records[has_header + has_units :])
    guesses = guessed(rows, names, asked.text)
    certain, likely = thousands_in(rows, names, guesses, asked)
    # 1.234 is no plain number with a decimal comma.
    guesses = ["" if name in certain else guesses[j] for j, name in enumerate(names)]
    delimiter = start.dialect.delimiter
    staged = StagedFile(names, [], notes, heading is not None, delimiter, likely, certain)
    if asked.in_memory and lines and (held := reader.in_memory(lines, guesses, asked.missing)):
        return replace(staged, columns=held.columns(guesses), in_memory=held)
    numbers = [guess == "number" for guess in guesses]
    longest = LONG_LINE if max(map(len, text.split("\n"))) > SHORT_LINE // 4 else SHORT_LINE
    large = file.stat().st_size >= LARGE_BYTES
    if not (large and reader.stage_numbers(numbers, longest)):
        numbers = [False] * len(names)
        notes += reader.stage_texts(longest)
    columns = [
        Column(f"c{j}", "number", "number", declared=True)
        if number
        else Column(f"c{j}", "text", "text", declared=guess == "text")
        for j, (number, guess) in enumerate(zip(numbers, guesses, strict=True))
    ]
    return replace(staged, columns=columns)


def _lines_of(file: Path, storage: Storage) -> Lines | None:
    """The lines of a file, unless it is too large to be read into memory."""
    size = file.stat().st_size
    return (
        Lines.of(file, kept=size < LARGE_BYTES) if fits_in_memory(size, storage.in_parts) else None
    )


def _header(records: Sequence[Sequence[str]], asked: Asked) -> tuple[bool, list[str]]:
    """Whether the first record names the columns, and a note if that may surprise."""
    if asked.header is not None:
        return asked.header, []
    first = [cell.strip(WHITE_SPACE) for cell in records[0]]
    if looks_like_header(records) or (asked.wanted and set(asked.wanted) <= set(first)):
        return True, []
    if not is_numbered_header(records):
        return False, []
    shown = ", ".join(filter(None, [*first[:4], "..." * (len(first) > 5), *first[4:][-1:]]))
    return True, [f"The first line ({shown}) is taken as names (--no-header if it is data)."]


def _without(markers: Collection[str], records: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The records with nothing where one of the markers stands."""
    if not markers:
        return records
    gone = recognizer(markers)
    return [["" if gone(cell.strip(WHITE_SPACE)) else cell for cell in row] for row in records]


def _start_of(file: Path, delimiter: str | None) -> tuple[str, FirstRecords]:
    """The start of the file, long enough for some records, and the dialect that fits it."""
    n_bytes = HEAD_BYTES
    while True:
        with file.open("rb") as opened:
            head = opened.read(n_bytes)
            complete = not opened.read(1)
        text = codecs.decode(head, "utf-8", "ignore").removeprefix("\ufeff")
        start = sniffed(text, delimiter, complete=complete)
        if complete or len(start.records) > 2 or n_bytes > LONGEST_LINE:
            return text, start
        n_bytes *= 8


def _joined_lines(start: FirstRecords, has_header: bool) -> list[str]:
    """Notes about rows that quotation marks make of lines each of which could be a row itself."""
    notes = []
    delimiter = start.dialect.delimiter
    for row, record in enumerate(start.records[has_header:], 1):
        if start.n_fields > 1 and any("\n" in cell for cell in record):
            lines = delimiter.join(record).split("\n")
            if all(line.count(delimiter) + 1 == start.n_fields for line in lines):
                joined = f"Data row {row} is {len(lines)} lines long: quotation marks join them"
                notes.append(f"{joined}, perhaps by mistake.")
    return _few(notes)


def column_names(
    heading: Sequence[str], start: FirstRecords, *, has_header: bool
) -> tuple[list[str], list[str]]:
    """A name for each column, none twice, and notes about those that were changed."""
    names = [name.strip(WHITE_SPACE) for name in heading]
    rows = start.records[has_header:]
    if has_header and len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows):
        # Either every row ends with a delimiter, or (R's way) the row names have no heading.
        trailing = not any(row[-1].strip(WHITE_SPACE) for row in rows)
        names.insert(len(names) if trailing else 0, "")
    elif not names:
        names = [""] * max(start.n_fields, len(rows[0]))
    return unique_names(names)


class _Reader(NamedTuple):
    """A delimited file, what its start tells, and where its rows go."""

    file: Path
    shown: str
    storage: Storage
    start: FirstRecords
    has_header: bool
    n_columns: int
    has_units: bool = False  # in a row under the header
    skips_bad_lines: bool = False

    def in_memory(
        self, lines: Lines, guesses: Sequence[str], markers: Collection[str]
    ) -> RowsInMemory | None:
        """The rows in memory, or None: some line is not plain, or there would be too many cells."""
        dialect = self.start.dialect
        few = lines.n_lines * self.n_columns <= MOST_CELLS_IN_MEMORY
        if not (few and can_be_plain(dialect, self.n_columns) and self._starts_plainly()):
            return None
        roles = ["number" if guess == "number" else "text" for guess in guesses]
        try:
            rest = lines.after(dialect.skipped_lines + self.has_header + self.has_units)
            n_rows, found = read_columns(rest, dialect, roles)
        except NotPlainError:
            return None

        def texts_of(sql: str) -> Texts:
            asked = ["text" * (sql == f"c{j}") for j in range(self.n_columns)]
            ((_, cells),) = read_columns(rest, dialect, asked)[1].items()
            texts = forgotten(cells, markers)
            assert isinstance(texts, Texts)
            return texts

        held = {f"c{j}": forgotten(found[j], markers) for j in range(self.n_columns)}
        kept = isinstance(lines.source, bytes)
        return RowsInMemory(self.storage, self.shown, n_rows, held, texts_of if kept else None)

    def stage_numbers(self, numbers: Sequence[bool], longest_line: int) -> bool:
        """Whether the rows could be staged with these columns as numbers, to the last row."""
        # In a file of one column a missing cell could not be told from a blank line.
        if not any(numbers) or len(numbers) == 1 or not self._starts_plainly():
            return False
        with contextlib.suppress(duckdb.Error):
            self._create_rows(self.start.dialect, numbers, longest_line)
            return True
        return False

    def _starts_plainly(self) -> bool:
        """Whether DuckDB can read it: a header has a name for each column, and is in one line.

        A line break in a cell of the first row would be taken for what ends each line. And it
        cannot leave out a line under the header.
        """
        first = self.start.records[0]
        in_one_line = not any("\n" in cell or "\r" in cell for cell in first)
        whole = not (self.has_header and len(first) != self.n_columns)
        return in_one_line and whole and not self.has_units

    def stage_texts(self, longest_line: int) -> list[str]:
        """Fill the table `rows`; notes about lines that had to be mended."""
        tries = [self.start.dialect]
        if tries[0].delimiter == "\t" and tries[0].quote and self.n_columns > 1:
            tries.append(replace(tries[0], quote="", escape=""))
        texts = [False] * self.n_columns
        if self._starts_plainly():
            for dialect in tries:
                for longest in sorted({longest_line, LONG_LINE, LONGEST_LINE}):
                    try:
                        self._create_rows(dialect, texts, longest)
                        return []
                    except duckdb.Error as error:
                        if "line size" not in str(error):
                            break
        tidy = self._replace(file=self.storage.copies / "tidy", has_header=False)
        for dialect in tries:
            try:
                notes = self._write_tidy(dialect, tidy.file)
                tidy._create_rows(Dialect(","), texts, LONGEST_LINE)
            except TableError:
                if dialect is tries[-1]:
                    raise
            except duckdb.Error as error:
                what = f"{self.shown} cannot be read as a table ({first_line(error)[:80]})"
                msg = f"{what}: save it as CSV"
                raise TableError(msg) from None
            else:
                return notes
        raise AssertionError

    def _create_rows(self, dialect: Dialect, numbers: Sequence[bool], longest_line: int) -> None:
        if longest_line == LONGEST_LINE:
            self.storage.use_more_memory()
        types = ("DOUBLE" if number else "VARCHAR" for number in numbers)
        columns = ", ".join(f"'c{j}': '{sql_type}'" for j, sql_type in enumerate(types))
        nulls = f"nullstr=[{', '.join(map(quoted, USUAL_MARKERS))}], " if any(numbers) else ""
        # A blank line is no row; in a file of one column DuckDB would take it for a missing cell.
        rows = "WHERE c0 IS NOT NULL" if len(numbers) == 1 else ""
        self.storage.rows(
            f"CREATE OR REPLACE TABLE rows AS SELECT * FROM read_csv(?, auto_detect=false, "
            f"columns={{{columns}}}, delim={quoted(dialect.delimiter)}, "
            f"quote={quoted(dialect.quote)}, escape={quoted(dialect.escape)}, "
            f"header={str(self.has_header).lower()}, skip={dialect.skipped_lines}, {nulls}"
            f"allow_quoted_nulls=false, compression='none', max_line_size={longest_line}, "
            f"hive_partitioning=false) {rows}",
            [glob_escaped(self.file)],
        )

    def _write_tidy(self, dialect: Dialect, tidy: Path) -> list[str]:
        """Write the rows again, quoted by the book, or say which line has too few or many cells."""
        n_columns, notes, bad = self.n_columns, list[str](), _BadLines(self.n_columns)
        try:
            with (
                unlimited_cells(),
                self.file.open(encoding="utf-8-sig", newline="") as given,
                tidy.open("w", encoding="utf-8", newline="") as written,
            ):
                records = records_of(given, dialect, strict=bool(dialect.quote))
                if n_columns > 1:
                    records = (found for found in records if not is_blank(found[1]))
                for _ in range(self.has_header + self.has_units):
                    next(records)
                if dialect.delimiter == "\t" and not dialect.quote and n_columns > 1:
                    records = _mended(records, n_columns, notes)
                writer = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
                for line, record in records:
                    if len(record) == n_columns:
                        writer.writerow(record)
                    elif record[0].startswith(("#", "%")):
                        notes.append(f"Line {line} is a comment; it was left out.")
                    else:
                        bad.add(line, len(record))
        except csv.Error as error:
            msg = f"{self.shown}: {error}: {_REMEDY}"
            raise TableError(msg) from None
        if bad.count and not self.skips_bad_lines:
            raise bad.error(self.shown, dialect)
        return _few(notes) + bad.notes()


class _BadLines:
    """Lines with too few or too many cells: how many, and the first few."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.count = 0
        self.first: list[tuple[int, int]] = []

    def add(self, line: int, n_cells: int) -> None:
        """Remember a line with so many cells."""
        self.count += 1
        if len(self.first) < 3:
            self.first.append((line, n_cells))

    def _listed(self) -> str:
        (line, n_cells), *others = self.first
        shown = [f"line {line} has {n_cells} field{'s' * (n_cells != 1)}"]
        shown += [f"line {line} has {n_cells}" for line, n_cells in others]
        return ", ".join(shown) + f" and so on, {self.count} lines in all" * (self.count > 3)

    def notes(self) -> list[str]:
        """What is said if they are left out."""
        lines = "line is" if self.count == 1 else "lines are"
        told = f"{self.count} {lines} left out, since the table has {self.n_columns} columns"
        return [f"{told}: {self._listed()}."] if self.count else []

    def error(self, shown: str, dialect: Dialect) -> TableError:
        """The error that names them."""
        them = "the line" if self.count == 1 else "them"
        return TableError(
            f"{shown}: {self._listed()}, but the table has {self.n_columns} columns: correct {them}"
            f", leave {them} out with --skip-bad-lines (skip_bad_lines=True in Python), or give "
            f"the right --delimiter (delimiter= in Python; taken: {dialect.delimiter!r})"
        )


def _mended(
    records: Iterator[tuple[int, list[str]]], n_columns: int, notes: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Join a line without any tab to the row above it if that ends in words: text broken in two."""
    row_line, whole = 0, [""]
    for line, record in records:
        words = len(whole) == n_columns and not reads_as_value(whole[-1].strip(WHITE_SPACE))
        if len(record) == 1 and words:
            whole[-1] += "\n" + record[0]
            notes.append(f"Line {line} has no tab; it was joined to the row above it.")
            continue
        if row_line:
            yield row_line, whole
        row_line, whole = line, record
    if row_line:
        yield row_line, whole


def _few(notes: list[str]) -> list[str]:
    """The notes, or the first of them if they are many."""
    return notes if len(notes) <= 5 else [*notes[:4], f"The same goes for {len(notes) - 4} more."]

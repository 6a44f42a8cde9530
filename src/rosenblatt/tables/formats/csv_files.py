"""Reading delimited text: how a file is written, where its header is, and its rows.

DuckDB reads the rows, told exactly how the file is written, since its own guesses are made
for typed columns and go wrong with free text. What it cannot read is read again, record by
record, by Python's csv module, which either finds the line at fault or copes.
"""

from __future__ import annotations

import contextlib
import csv
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from rosenblatt.tables.cells import (
    USUAL_MARKERS,
    WHITE_SPACE,
    quoted,
)
from rosenblatt.tables.columns import Asked, Column, StagedFile, guessed, thousands_in
from rosenblatt.tables.formats.csv_starts import (
    column_names,
    find_header,
    joined_lines,
    start_of,
    without_markers,
)
from rosenblatt.tables.formats.dialects import (
    Dialect,
    FirstRecords,
    commented_header,
    has_unit_row,
    is_blank,
    open_quote,
    records_of,
    unlimited_cells,
)
from rosenblatt.tables.formats.encodings import in_utf8, starts_in_utf8
from rosenblatt.tables.formats.line_faults import BadLines, few, mended
from rosenblatt.tables.formats.plain_csv import Lines, NotPlainError, can_be_plain, read_columns
from rosenblatt.tables.formats.plain_csv_on_disk import PlainFile, read_to_disk
from rosenblatt.tables.input_files import glob_escaped
from rosenblatt.tables.missing_cells import forgotten
from rosenblatt.tables.rows_in_memory import RowsInMemory
from rosenblatt.tables.rows_on_disk import RowsOnDisk
from rosenblatt.tables.storage import TableError, first_line
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
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
    """Read the rows of the file into memory, into columns on disk, or into the table `rows`.

    A first line with all the wanted names is the header.
    """
    given, notes, lines = file, list[str](), _lines_of(file, storage)
    on_disk = asked.in_memory
    if lines is None and on_disk and starts_in_utf8(file):  # to the end, as will be seen
        staged = read_on_disk([open_csv(file, shown, storage, asked)], asked)
        if staged is not None:
            return staged
        on_disk = False
    if lines is None or not lines.ascii:
        file, notes = in_utf8(given, shown, storage.copies)
        if file is not given:
            lines, on_disk = _lines_of(file, storage), asked.in_memory
    opened = open_csv(file, shown, storage, asked, notes)
    many = lines is None or lines.n_lines * len(opened.guesses) > MOST_CELLS_IN_MEMORY
    staged = None
    if lines is not None and asked.in_memory and not many:
        staged = opened.in_memory(lines, asked.missing)
    elif many and on_disk:
        staged = read_on_disk([opened], asked)
    return opened.in_database() if staged is None else staged


def _lines_of(file: Path, storage: Storage) -> Lines | None:
    """The lines of a file, unless it is too large to be read into memory."""
    size = file.stat().st_size
    return Lines.of(file, kept=size < LARGE_BYTES) if storage.fits_in_memory(size) else None


def open_csv(
    file: Path, shown: str, storage: Storage, asked: Asked, notes: Sequence[str] = ()
) -> OpenedCsv:
    """A file of which the start was looked at: how it is written, and what its columns are."""
    text, start = start_of(file, asked.delimiter)
    if all(not cell.strip(WHITE_SPACE) for record in start.records for cell in record):
        msg = f"{shown} holds nothing but blank lines: give a file with at least one row"
        raise TableError(msg)
    line = open_quote(text, start.dialect)
    if line is not None:
        msg = f"{shown}: line {line} opens a quotation mark that is never closed: {_REMEDY}"
        raise TableError(msg)
    has_header, judged = find_header(start.records, asked)
    commented = None if has_header or asked.header is False else commented_header(text, start)
    heading = start.records[0] if has_header else commented
    names, renamed = column_names(heading or [], start, has_header=has_header)
    has_units = has_header and has_unit_row(start.records, asked.numbers)
    if len(start.records[0]) + 1 < start.n_fields:
        bad = BadLines(start.n_fields)
        bad.add(1 + start.dialect.skipped_lines, len(start.records[0]))
        raise bad.error(shown, start.dialect)
    told = [*notes, *judged, *renamed]
    if has_units:
        units = ", ".join(filter(None, (cell.strip(WHITE_SPACE) for cell in start.records[1])))
        told.append(f"Line 2 of the table holds units ({units[:60]}); it was left out.")
    told += joined_lines(start, has_header)
    rows = without_markers(asked.missing, start.records[has_header + has_units :])
    guesses = guessed(rows, names, asked.text)
    certain, likely = thousands_in(rows, names, guesses, asked)
    # 1.234 is no plain number with a decimal comma.
    guesses = ["" if name in certain else guesses[j] for j, name in enumerate(names)]
    delimiter = start.dialect.delimiter
    staged = StagedFile(names, [], told, heading is not None, delimiter, likely, certain)
    skips = asked.skip_bad_lines
    reader = _Reader(file, shown, storage, start, has_header, len(names), has_units, skips)
    longest = LONG_LINE if max(map(len, text.split("\n"))) > SHORT_LINE // 4 else SHORT_LINE
    return OpenedCsv(reader, staged, guesses, longest)


class OpenedCsv(NamedTuple):
    """A delimited file, what its start tells of its columns, and ways to read its rows."""

    reader: _Reader
    staged: StagedFile  # as yet without columns
    guesses: list[str]
    longest_line: int

    def in_memory(self, lines: Lines, markers: Collection[str]) -> StagedFile | None:
        """The rows in memory, or None: some line is not plain."""
        held = self.reader.in_memory(lines, self.guesses, markers)
        if held is None:
            return None
        return replace(self.staged, columns=held.columns(self.guesses), in_memory=held)

    def in_database(self) -> StagedFile:
        """The rows in the table `rows` of the storage."""
        numbers = [guess == "number" for guess in self.guesses]
        large = self.reader.file.stat().st_size >= LARGE_BYTES
        notes = list[str]()
        if not (large and self.reader.stage_numbers(numbers, self.longest_line)):
            numbers = [False] * len(numbers)
            notes = self.reader.stage_texts(self.longest_line)
        columns = [
            Column(f"c{j}", "number", "number", declared=True)
            if number
            else Column(f"c{j}", "text", "text", declared=guess == "text")
            for j, (number, guess) in enumerate(zip(numbers, self.guesses, strict=True))
        ]
        return replace(self.staged, columns=columns, notes=[*self.staged.notes, *notes])


def read_on_disk(files: Sequence[OpenedCsv], asked: Asked) -> StagedFile | None:
    """The rows of these files, which have the same columns in any order, in columns on disk.

    None: some line is not plain. What is said of the file is said of the first one.
    """
    first = files[0]
    names = first.staged.names
    if not all(opened.reader.is_plain() for opened in files):
        return None
    orders = [[opened.staged.names.index(name) for name in names] for opened in files]
    found = [
        [opened.guesses[j] for j in order] for opened, order in zip(files, orders, strict=True)
    ]
    guesses = [of_all[0] if len(set(of_all)) == 1 else "" for of_all in zip(*found, strict=True)]
    roles = ["number" if guess == "number" else "text" for guess in guesses]
    plain = [opened.reader.plain_file(order) for opened, order in zip(files, orders, strict=True)]
    storage, shown = first.reader.storage, first.reader.shown
    try:
        n_rows, columns = read_to_disk(plain, roles, asked.missing, storage)
    except NotPlainError:
        return None
    rows = RowsOnDisk(storage, shown, n_rows, {f"c{j}": columns[j] for j in range(len(names))})
    return replace(first.staged, columns=rows.columns(guesses), in_memory=rows)


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

    def is_plain(self) -> bool:
        """Whether its lines can be plain, as far as its start tells."""
        return can_be_plain(self.start.dialect, self.n_columns) and self._starts_plainly()

    @property
    def n_skipped(self) -> int:
        """How many lines there are before the rows."""
        return self.start.dialect.skipped_lines + self.has_header + self.has_units

    def plain_file(self, order: Sequence[int]) -> PlainFile:
        """The file for columns in this order."""
        return PlainFile(self.file, self.n_skipped, self.start.dialect, order)

    def in_memory(
        self, lines: Lines, guesses: Sequence[str], markers: Collection[str]
    ) -> RowsInMemory | None:
        """The rows in memory, or None: some line is not plain."""
        dialect = self.start.dialect
        if not self.is_plain():
            return None
        roles = ["number" if guess == "number" else "text" for guess in guesses]
        try:
            rest = lines.after(self.n_skipped)
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
        n_columns, notes, bad = self.n_columns, list[str](), BadLines(self.n_columns)
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
                    records = mended(records, n_columns, notes)
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
        return few(notes) + bad.notes()

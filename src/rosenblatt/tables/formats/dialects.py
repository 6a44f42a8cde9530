"""How a delimited file is written: delimiter, quoting, comments and header, judged by its start."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rosenblatt.tables.cells import (
    WHITE_SPACE,
    is_missing,
    is_missing_value,
    is_plain_number,
    reads_as_value,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

FIRST_RECORDS = 1000
# In this order of preference where the start of a file fits several.
DELIMITERS = ("\t", ";", "|", ",", " ")
_COMMENT = re.compile(r"[#%]([\s#%!=-]|$)")
_DECLARED = re.compile(r"\"?sep=(.)\"?", re.IGNORECASE)  # what spreadsheets write and obey
_FEW_NUMBERS = 4  # so many in order are no chance


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written."""

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skipped_lines: int = 0


@dataclass(frozen=True)
class FirstRecords:
    """The first records of a file under one dialect."""

    dialect: Dialect
    records: list[list[str]]
    n_fields: int
    share: float  # of the records that have n_fields fields

    def numbers(self) -> float:
        """The share of the cells that are numbers or dates."""
        cells = Counter(cell for record in self.records[:200] for cell in record)
        values = (n for cell, n in cells.items() if reads_as_value(cell.strip(WHITE_SPACE)))
        return sum(values) / max(cells.total(), 1)


def sniffed(text: str, delimiter: str | None, *, complete: bool) -> FirstRecords:
    """The dialect that fits the start of a file best, with its records under it."""
    delimiter = delimiter or _declared_delimiter(text)
    plain = Dialect(delimiter or ",", skipped_lines=_leading_comments(text))
    quotings = [('"', '"'), ("", "")]
    if '\\"' in text:
        quotings.insert(1, ('"', "\\"))
    if "'" in text and '"' not in text:
        quotings.insert(0, ("'", "'"))
    fitting = []
    # One that does not occur would make a single column, which the plain one does as well.
    others = [mark for mark in DELIMITERS if mark in text or mark == plain.delimiter]
    for character in [delimiter] if delimiter else others:
        for quote, escape in quotings:
            dialect = replace(plain, delimiter=character, quote=quote, escape=escape)
            start = _first_records(text, dialect, complete)
            if start and not _swallows_lines(start, text, complete):
                fitting.append(start)
                break  # a plainer quoting would only leave quotation marks in the cells
    several = [start for start in fitting if start.n_fields > 1 and start.share >= 0.5]
    while several:
        best = _best(several)
        if delimiter or best.dialect.delimiter != " " or _has_number_column(best):
            return best
        several.remove(best)  # words, not columns
    single = [start for start in fitting if start.dialect.delimiter == plain.delimiter]
    return single[0] if single else FirstRecords(plain, [], 1, 1.0)


def _best(starts: Sequence[FirstRecords]) -> FirstRecords:
    """The one with most records of equal length, and of these the one with most numbers."""
    share = max(start.share for start in starts)
    equal = [start for start in starts if start.share == share]
    return equal[0] if len(equal) == 1 else max(equal, key=FirstRecords.numbers)


def _swallows_lines(start: FirstRecords, text: str, complete: bool) -> bool:
    """Whether quotation marks in tab-separated text join lines that are whole without them."""
    if start.dialect.delimiter != "\t" or not start.dialect.quote:
        return False
    plain = _first_records(text, replace(start.dialect, quote="", escape=""), complete)
    if plain is None or plain.n_fields == 1:
        return False
    return len(plain.records) > len(start.records) and plain.share >= start.share


def _declared_delimiter(text: str) -> str | None:
    """What a first line such as ``sep=;`` says."""
    found = _DECLARED.fullmatch(text.partition("\n")[0].rstrip("\r"))
    return found.group(1) if found else None


def _leading_comments(text: str) -> int:
    """How many lines at the start are comments or blank, or name the delimiter.

    A "#" right before a word, as in `#id,x,y`, makes one only just above the rows; otherwise
    it may belong to the data, such as a colour.
    """
    lines = text.split("\n", 1000)
    count = int(_declared_delimiter(text) is not None)
    while count < len(lines) and (not lines[count].strip() or _COMMENT.match(lines[count])):
        count += 1
    if lines[count : count + 1] and lines[count].startswith(("#", "%")):
        below = lines[count + 1] if count + 1 < len(lines) else ""
        count += bool(below.strip()) and not below.startswith(("#", "%"))
    return count


def _first_records(text: str, dialect: Dialect, complete: bool) -> FirstRecords | None:
    """The start of a file under this dialect; None if its quoting does not fit."""
    if dialect.quote == "'" and not _quotes_singly(text, dialect.delimiter):
        return None
    records = []
    try:
        with unlimited_cells():
            for _, record in records_of(io.StringIO(text, newline=""), dialect, strict=True):
                records.append(record)
                if len(records) > FIRST_RECORDS:
                    break
    except csv.Error:
        if complete or len(records) < 2:
            return None
    if not complete and len(records) <= FIRST_RECORDS:
        records = records[:-1]  # it may go on beyond what was read
    counts = Counter(len(record) for record in records[1:] or records)
    n_fields, _ = counts.most_common(1)[0] if counts else (1, 0)
    if n_fields > 1:
        records = [record for record in records if not is_blank(record)]
    share = sum(len(record) == n_fields for record in records) / max(len(records), 1)
    return FirstRecords(dialect, records, n_fields, share)


def _quotes_singly(text: str, delimiter: str) -> bool:
    """Whether each of the first lines has a cell between single quotation marks."""
    mark = re.escape(delimiter)
    cell = re.compile(rf"(^|{mark})\s*'.*'\s*($|{mark})")
    return all(cell.search(line) for line in text.splitlines()[1:20] if line.strip())


@contextlib.contextmanager
def unlimited_cells() -> Iterator[None]:
    """Let Python's csv module read cells of any length, which by itself it does not."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def is_blank(record: Sequence[str]) -> bool:
    """Whether a record of a table of several columns is nothing but a blank line."""
    return len(record) == 1 and not record[0].strip(WHITE_SPACE)


def records_of(
    lines: Iterable[str], dialect: Dialect, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """The records of a delimited text with the line each ends on, read by Python's csv module.

    Empty lines and the comments at the start are left out. An error names the line on which
    the record begins.
    """
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        doublequote=dialect.escape == dialect.quote,
        escapechar=dialect.escape if dialect.escape != dialect.quote else None,
        skipinitialspace=True,
        strict=strict,
    )
    begins = 1
    try:
        for record in reader:
            begins = reader.line_num + 1
            if reader.line_num <= dialect.skipped_lines or not record:
                continue
            if dialect.delimiter == " " and len(record) > 1 and record[-1] == "":
                record.pop()  # blanks before the end of the line
            yield reader.line_num, record
    except csv.Error as error:
        what = {
            "unexpected end of data": "opens a quotation mark that is never closed",
            f"'{dialect.delimiter}' expected after '{dialect.quote}'": (
                "goes on after a closing quotation mark"
            ),
        }.get(str(error), f"cannot be read ({error})")
        msg = f"line {begins} {what}"
        raise csv.Error(msg) from None


def open_quote(text: str, dialect: Dialect) -> int | None:
    """The line with a cell that begins with a quotation mark where the line does not close it.

    For quotation marks that are taken for plain characters, since by the book they fit nowhere:
    the first line where they do not. Between tabs free text may hold any, so None.
    """
    if dialect.quote or dialect.delimiter == "\t":
        return None
    by_the_book = replace(dialect, quote='"', escape='"')
    last = dialect.skipped_lines
    with unlimited_cells(), contextlib.suppress(csv.Error):
        for line_num, _ in records_of(io.StringIO(text, newline=""), by_the_book, strict=True):
            last = line_num
    opens = re.compile(rf'(^|{re.escape(dialect.delimiter)})\s*"')
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text)[last:], last + 1):
        if line.strip():
            return number if line.count('"') % 2 and opens.search(line) else None
    return None


def _has_number_column(start: FirstRecords) -> bool:
    return any(map(_holds_values, _columns(start.records[1:] or start.records)))


def _holds_values(column: Sequence[str]) -> bool:
    """Whether every cell present, and one at least, is a number or a date."""
    values = 0
    for cell in set(column):
        if reads_as_value(cell):
            values += 1
        elif not is_missing_value(cell):
            return False
    return values > 0


def _columns(records: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    width = max(map(len, records), default=0)
    for j in range(width):
        yield [record[j].strip(WHITE_SPACE) for record in records if j < len(record)]


def looks_like_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns.

    It does if it has words above numbers (or dates) more often than numbers above numbers. If
    no column holds numbers, it does if its words are all different and none occurs below.
    """
    first = [cell.strip(WHITE_SPACE) for cell in records[0]]
    if len(records) == 1:
        return not any(map(reads_as_value, first))
    names = values = 0
    recurring = False
    for name, column in zip(first, _columns(records[1:]), strict=False):
        recurring = recurring or name in column
        if is_missing_value(name) or not _holds_values(column):
            continue
        if reads_as_value(name):
            values += 1
        else:
            names += 1
    if names or values:
        return names > values
    return not recurring and len(set(first)) == len(first) and not any(map(is_missing, first))


def is_numbered_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns 0, 1, 2, ..., as pandas does where none has one.

    Words may follow, for columns that were added, and a blank may stand above the row numbers.
    Numbers alone are names only if they are many, and the next record does not count as well.
    """
    if len(records) < 2:
        return False
    first, second = ([cell.strip(WHITE_SPACE) for cell in record] for record in records[:2])
    first = first[1:] if first[0] == "" else first
    numbers = [k for k, cell in enumerate(first) if reads_as_value(cell)]
    if len(numbers) < 2 or first[: len(numbers)] != [str(k) for k in range(len(numbers))]:
        return False
    words, columns = first[len(numbers) :], list(_columns(records[1:]))
    if words:
        below = columns[len(columns) - len(words) :]
        return all(words) and not any(w in column for w, column in zip(words, below, strict=True))
    pairs = [(a, b) for a, b in pairwise(second) if is_plain_number(a) and is_plain_number(b)]
    counts = all(float(b) - float(a) == 1 for a, b in pairs)
    return len(numbers) >= _FEW_NUMBERS and not counts


def _may_be_unit(cell: str) -> bool:
    """Whether a cell is empty or has a letter or the sign of a unit in it."""
    cell = cell.strip(WHITE_SPACE)
    return is_missing_value(cell) or any(sign.isalpha() or sign in "%°$£¥€" for sign in cell)


def has_unit_row(records: Sequence[Sequence[str]], numbers: Collection[str] = ()) -> bool:
    """Whether units, such as kg and cm, stand between the names and the numbers.

    Words stand above numbers there, no number does, and a word above words does not recur. A
    single row below is enough only if it is known which columns hold `numbers`.
    """
    known = any(name.strip(WHITE_SPACE) in numbers for name in records[0])
    if len(records) < (3 if known else 4) or not all(map(_may_be_unit, records[1])):
        return False
    units = 0
    for unit, column in zip(records[1], _columns(records[2:]), strict=False):
        cell = unit.strip(WHITE_SPACE)
        if reads_as_value(cell) or (not is_missing_value(cell) and cell in column):
            return False
        units += _holds_values(column) and not is_missing_value(cell)
    return units > 0


def commented_header(text: str, start: FirstRecords) -> list[str] | None:
    """The names in the last comment above the rows, if it has one for each column."""
    if not start.dialect.skipped_lines:
        return None
    line = text.splitlines()[start.dialect.skipped_lines - 1].lstrip("#% ")
    if _DECLARED.fullmatch(line):
        return None
    dialect = replace(start.dialect, skipped_lines=0)
    with contextlib.suppress(csv.Error, StopIteration):
        _, names = next(records_of([line], dialect, strict=True))
        if len(names) == start.n_fields and not any(map(reads_as_value, names)):
            return names
    return None

"""What the start of delimited text tells: its dialect, its header, the names of its columns."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from rosenblatt.tables.cells import WHITE_SPACE
from rosenblatt.tables.columns import unique_names
from rosenblatt.tables.formats.dialects import is_numbered_header, looks_like_header, sniffed
from rosenblatt.tables.formats.line_faults import few
from rosenblatt.tables.input_files import HEAD_BYTES
from rosenblatt.tables.missing_cells import recognizer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.formats.dialects import FirstRecords

LONGEST_START = 100_000_000  # bytes of a file that are looked at, if its lines are very long


def find_header(records: Sequence[Sequence[str]], asked: Asked) -> tuple[bool, list[str]]:
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


def without_markers(
    markers: Collection[str], records: Sequence[Sequence[str]]
) -> Sequence[Sequence[str]]:
    """The records with nothing where one of the markers stands."""
    if not markers:
        return records
    gone = recognizer(markers)
    return [["" if gone(cell.strip(WHITE_SPACE)) else cell for cell in row] for row in records]


def start_of(file: Path, delimiter: str | None) -> tuple[str, FirstRecords]:
    """The start of the file, long enough for some records, and the dialect that fits it."""
    n_bytes = HEAD_BYTES
    while True:
        with file.open("rb") as opened:
            head = opened.read(n_bytes)
            complete = not opened.read(1)
        text = codecs.decode(head, "utf-8", "ignore").removeprefix("\ufeff")
        start = sniffed(text, delimiter, complete=complete)
        if complete or len(start.records) > 2 or n_bytes > LONGEST_START:
            return text, start
        n_bytes *= 8


def joined_lines(start: FirstRecords, has_header: bool) -> list[str]:
    """Notes about rows that quotation marks make of lines each of which could be a row itself."""
    notes = []
    delimiter = start.dialect.delimiter
    for row, record in enumerate(start.records[has_header:], 1):
        if start.n_fields > 1 and any("\n" in cell for cell in record):
            lines = delimiter.join(record).split("\n")
            if all(line.count(delimiter) + 1 == start.n_fields for line in lines):
                joined = f"Data row {row} is {len(lines)} lines long: quotation marks join them"
                notes.append(f"{joined}, perhaps by mistake.")
    return few(notes)


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

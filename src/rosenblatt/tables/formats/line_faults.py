"""Lines of delimited text that are not as they should be: left out, joined, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosenblatt.tables.cells import WHITE_SPACE, reads_as_value
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.tables.formats.dialects import Dialect


class BadLines:
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


def mended(
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


def few(notes: list[str]) -> list[str]:
    """The notes, or the first of them if they are many."""
    return notes if len(notes) <= 5 else [*notes[:4], f"The same goes for {len(notes) - 4} more."]

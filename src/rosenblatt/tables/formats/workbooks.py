"""Reading a sheet of a workbook: Excel's, old and new, and OpenDocument's."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rosenblatt.tables.extras import needed
from rosenblatt.tables.formats.csv_files import stage_csv
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rosenblatt.tables.columns import Asked, StagedFile
    from rosenblatt.tables.storage import Storage


# What the part of an encrypted workbook is called that holds it. calamine, unless it sees the
# suffix, does not tell such a file from a damaged one.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def stage_workbook(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of a sheet into the table `rows` of the storage.

    Its cells are written as delimited text, and judged as such: numbers are often kept as text.
    """
    calamine = needed("python_calamine", "excel", shown, "python-calamine")
    try:
        with file.open("rb") as opened, calamine.CalamineWorkbook.from_filelike(opened) as book:
            name, notes = _chosen(book.sheet_names, asked.sheet, shown)
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        if isinstance(error, calamine.PasswordError) or _ENCRYPTED in file.read_bytes():
            msg = f"{shown} needs a password: save it without one, or save its sheet as CSV"
            raise TableError(msg) from None
        msg = f"{shown} is a damaged workbook or breaks off: download or save it again"
        raise TableError(msg) from None
    sheet = storage.copies / "sheet"
    notes += _written(rows, sheet, f"sheet {name!r} of {shown}")
    told = f"sheet {name!r} of {shown}"
    staged = stage_csv(sheet, told, storage, replace(asked, delimiter=","))
    staged = replace(staged, commas=())  # a number is a number here, whatever the texts look like
    return replace(staged, notes=notes + staged.notes)


def _chosen(names: Sequence[str], wanted: str | None, shown: str) -> tuple[str, list[str]]:
    """The sheet asked for, or the first."""
    listed = ", ".join(map(repr, names[:8])) + ", ..." * (len(names) > 8)
    if not names:
        msg = f"{shown} is a workbook without sheets: save its table as CSV"
        raise TableError(msg)
    if wanted is None:
        others = f"The workbook has {len(names)} sheets; {names[0]!r}, the first, is read"
        return names[0], [f"{others} (--sheet for another: {listed})."] * (len(names) > 1)
    if wanted not in names:
        msg = f"{shown} has no sheet {wanted!r}: it has {listed}"
        raise TableError(msg)
    return wanted, []


def _written(rows: list[list[Any]], sheet: Path, told: str) -> list[str]:
    """Write the cells as text, without what stands around the table; notes."""
    texts = [[_text(cell) for cell in row] for row in rows]
    filled = [sum(map(bool, row)) for row in texts]
    if not any(filled):
        msg = f"{told} is empty: choose another with --sheet"
        raise TableError(msg)
    widest = max(filled)
    # A title stands alone in its row, above the table.
    first = next(i for i, n in enumerate(filled) if n > 1 or n == widest)
    skipped = sum(map(bool, filled[:first]))
    notes = [f"The first rows of the {told} have one cell each and are left out."] * bool(skipped)
    kept = [j for j in range(len(texts[0])) if any(row[j] for row in texts[first:])]
    with sheet.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in texts[first:]:
            cells = [row[j] for j in kept]
            if any(cells):
                writer.writerow(cells)
    return notes


def _text(cell: Any) -> str:
    """A cell as it is written in delimited text."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    return "" if cell is None else str(cell)

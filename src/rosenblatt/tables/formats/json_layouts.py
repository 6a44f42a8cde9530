"""Tables that one JSON value holds in another way than record by record, as pandas writes them."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables.storage import fits_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

Record = dict[str, Any]

_HEAD = 1 << 16
_SPLIT = {"columns", "index", "data", "index_names", "column_names"}
_LISTS = re.compile(rb"\s*\[\s*\[")


class Layout(NamedTuple):
    """The records of a table, and what it was taken for."""

    records: Iterable[Record]
    note: str = ""
    has_names: bool = True


def laid_out(file: Path) -> Layout | None:
    """The table in a file, None if that holds records or is no whole JSON value."""
    with file.open("rb") as opened:
        head = opened.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    if not fits_in_memory(file.stat().st_size) or _starts_with_a_record(head):
        return None
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig"))
        return _of_lists(value) if isinstance(value, list) else _of_object(value)
    except (ValueError, RecursionError):  # or several values, one in each line
        return None


def written(layout: Layout, file: Path) -> None:
    """Write the records, one in each line."""
    with file.open("w", encoding="utf-8") as lines:
        for record in layout.records:
            known = {name: _known(cell) for name, cell in record.items()}
            lines.write(json.dumps(known, ensure_ascii=False) + "\n")


def _known(cell: Any) -> Any:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _starts_with_a_record(head: bytes) -> bool:
    """Whether a file begins with a list of records, or with a record of plain cells in a line."""
    if not head.lstrip().startswith(b"{"):
        return not _LISTS.match(head)
    try:
        first = json.loads(head.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(cell, dict | list) for cell in first.values())


def _of_lists(value: Sequence[Any]) -> Layout | None:
    if not value or not all(isinstance(row, list) and len(row) == len(value[0]) for row in value):
        return None
    names = [f"column{j}" for j in range(1, len(value[0]) + 1)]
    return Layout(_named(names, value), has_names=False)


def _of_object(value: Any) -> Layout | None:
    if not isinstance(value, dict) or not value:
        return None
    if {"columns", "data"} <= value.keys() <= _SPLIT and _are_rows(value["data"], value["columns"]):
        return Layout(_named(list(map(str, value["columns"])), value["data"]))
    inner = list(value.values())
    if all(isinstance(part, dict) for part in inner):
        return _of_dicts(value)
    if _are_columns(inner):
        return Layout(_named(list(value), zip(*inner, strict=True)))
    return _of_the_only_list(value)


def _are_rows(rows: Any, names: Any) -> bool:
    if not isinstance(rows, list) or not isinstance(names, list):
        return False
    return all(isinstance(row, list) and len(row) == len(names) for row in rows)


def _are_columns(parts: Sequence[Any]) -> bool:
    if not all(isinstance(part, list) and len(part) == len(parts[0]) for part in parts):
        return False
    return not any(isinstance(cell, dict | list) for part in parts for cell in part)


def _of_dicts(value: Mapping[str, Record]) -> Layout:
    """Of {column: {row: cell}}, or the other way round if the outer keys are those of rows."""
    inner = list(dict.fromkeys(key for part in value.values() for key in part))
    by_row = not _count_up(inner) and (_count_up(list(value)) or len(value) > len(inner))
    if by_row:
        records = ({name: part.get(name) for name in inner} for part in value.values())
        return Layout(records, "Its outer keys are taken for rows, the inner ones for names.")
    records = ({name: part.get(row) for name, part in value.items()} for row in inner)
    return Layout(records, "Its outer keys are taken for names, the inner ones for rows.")


def _count_up(keys: Sequence[str]) -> bool:
    return all(key.isdecimal() for key in keys)


def _of_the_only_list(value: Mapping[str, Any]) -> Layout | None:
    """Of an object with a list of records in it, such as {"data": [...]}."""
    lists = [name for name, part in value.items() if _are_records(part)]
    if len(lists) != 1:
        return None
    (name,) = lists
    schema = value.get("schema")  # of pandas; its key is the number of the row
    keys = schema.get("primaryKey") if isinstance(schema, dict) else None
    keys = keys if isinstance(keys, list) else []
    records = ({k: c for k, c in row.items() if k not in keys} for row in value[name])
    return Layout(records, f"{name!r} is read, the only list of records in the file.")


def _are_records(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(row, dict) for row in part)


def _named(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
    return (dict(zip(names, row, strict=True)) for row in rows)

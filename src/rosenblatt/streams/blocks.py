"""Tables and samples in blocks, to be gone through again and again, from whatever holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.arguments import brief
from rosenblatt.tables.frames import is_named
from rosenblatt.tables.storage import Storage
from rosenblatt.tables.table import read_table

if TYPE_CHECKING:
    from rosenblatt.streams.cache import Cache
    from rosenblatt.tables.table import Table

CELLS = 1 << 21  # cells in a block of a table that is in memory
TABLES = (
    "give a path, a pattern, a folder of Parquet files, an array, a data frame, a relation, or "
    "blocks: pairs (X, y), or data frames"
)


@dataclass(frozen=True)
class TableBlocks:
    """A table in blocks of rows, each a mapping or data frame with all its columns.

    `again` begins a new pass. `kinds` are those of the columns, where they are known.
    """

    name: str
    again: Callable[[], Iterator[Any]]
    names: tuple[str, ...] | None = None
    kinds: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()
    close: Callable[[], None] = lambda: None


def is_path(what: Any) -> bool:
    """Whether it names files."""
    if isinstance(what, list | tuple):
        return bool(what) and all(isinstance(one, str | os.PathLike) for one in what)
    return isinstance(what, str | os.PathLike)


def table_blocks(what: Any, cache: Cache, how: Mapping[str, Any]) -> TableBlocks | None:
    """A table in blocks; None if it is none."""
    if what is None or is_path(what):
        return _of_table(read_table(what, in_parts=True, folder=cache.folder, **how))
    if how:
        msg = f"{next(iter(how))}= says how to read a file, but {brief(what)} is none: leave it out"
        raise ValueError(msg)
    if write := _writer(what):
        return _of_relation(write, cache)
    if is_named(what):
        return _of_frame(what)
    return None


def _of_table(table: Table) -> TableBlocks:
    def again() -> Iterator[Any]:
        return (block for _, block in table.blocks())

    return TableBlocks(
        Path(table.path).name, again, table.names, table.kinds, table.notes, table.close
    )


def _writer(what: Any) -> Callable[[str], Any] | None:
    """What writes a table that is not in memory, but a recipe for one, to a Parquet file."""
    module = type(what).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb") and hasattr(what, "write_parquet"):
        return what.write_parquet  # type: ignore[no-any-return]
    if module == "polars" and hasattr(what, "sink_parquet"):
        return what.sink_parquet  # type: ignore[no-any-return]
    if module == "pyarrow" and not hasattr(what, "column_names"):
        import duckdb

        if hasattr(what, "scanner") or hasattr(what, "read_next_batch"):
            return duckdb.connect().from_arrow(what).write_parquet
    return None


def _of_relation(write: Callable[[str], Any], cache: Cache) -> TableBlocks:
    """The table that a relation makes, which is made once."""
    storage = Storage(in_parts=True, parent=str(cache.folder))
    try:
        file = str(storage.folder / "relation.parquet")
        write(file)
        table = _of_table(read_table(file, in_parts=True, folder=cache.folder))
    except BaseException:
        storage.close()
        raise

    def close() -> None:
        table.close()
        storage.close()

    return replace(table, name="the relation", close=close)


def _of_frame(frame: Any) -> TableBlocks:
    """A data frame, an Arrow table or a mapping, cut into blocks."""
    names = list(frame) if isinstance(frame, Mapping) else None
    if names is None:
        named = getattr(frame, "column_names", frame.columns)
        names = list(named)
    n_rows = len(frame[names[0]]) if isinstance(frame, Mapping) else len(frame)
    step = max(1, CELLS // max(len(names), 1))

    def cut(a: int, z: int) -> Any:
        if hasattr(frame, "iloc"):
            return frame.iloc[a:z]
        if isinstance(frame, Mapping):
            return {name: frame[name][a:z] for name in names}
        return frame.slice(a, z - a)

    def again() -> Iterator[Any]:
        return (cut(a, min(a + step, n_rows)) for a in range(0, n_rows, step))

    return TableBlocks(type(frame).__name__, again, tuple(map(str, names)))


def of_iterable(what: Any) -> Callable[[], Iterator[Any]]:
    """A way to go through the blocks of an iterable, or of what a function returns."""
    if callable(what) and not isinstance(what, Iterable):
        return lambda: iter(what())
    if not isinstance(what, Iterable):
        msg = f"{brief(what)} cannot be opened: {TABLES}"
        raise TypeError(msg)
    return lambda: iter(what)

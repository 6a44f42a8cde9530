"""Reading Arrow files (Feather) and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from rosenblatt.tables.extras import needed
from rosenblatt.tables.formats.typed_files import stage_relation
from rosenblatt.tables.storage import TableError, first_line

if TYPE_CHECKING:
    from pathlib import Path

    from rosenblatt.tables.columns import Asked, StagedFile
    from rosenblatt.tables.storage import Storage


def stage_arrow(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of an Arrow file into the table `rows` of the storage."""
    pyarrow = needed("pyarrow", "arrow", shown)
    try:
        given = _opened(file, shown)
        names = list(given.schema.names)
    except (pyarrow.ArrowException, OSError, UnicodeError):
        raise TableError(_damaged(shown)) from None
    return stage_arrow_table(given, shown, storage, names)


def _opened(file: Path, shown: str) -> Any:
    """The table as pyarrow has it, every cell of it checked.

    What points outside of its file, as in a damaged one, would otherwise end the program.
    """
    with file.open("rb") as opened:
        start = opened.read(6)
    if start.startswith(b"FEA1"):
        given = needed("pyarrow.feather", "arrow", shown).read_table(file)
        given.validate(full=True)
        return given
    ipc = needed("pyarrow.ipc", "arrow", shown)
    if start != b"ARROW1":
        with file.open("rb") as opened, ipc.open_stream(opened) as stream:
            given = stream.read_all()
        given.validate(full=True)
        return given
    with needed("pyarrow", "arrow", shown).memory_map(str(file)) as mapped:
        batches = ipc.open_file(mapped)
        for k in range(batches.num_record_batches):
            batches.get_batch(k).validate(full=True)
    return needed("pyarrow.dataset", "arrow", shown).dataset(file, format="ipc")


def stage_arrow_table(given: Any, shown: str, storage: Storage, names: list[str]) -> StagedFile:
    """Read the rows of what pyarrow holds into the table `rows`; the columns have these names."""
    try:
        return stage_relation(storage, shown, "given", names=names, given=given)
    except duckdb.NotImplementedException as error:
        reason = first_line(error)[:80]
        msg = f"{shown} holds a column that cannot be read ({reason}): write it as Parquet first"
        raise TableError(msg) from None
    except duckdb.Error:
        raise TableError(_damaged(shown)) from None


def _damaged(shown: str) -> str:
    return f"{shown} is a damaged Arrow file or breaks off: download or write it again"

"""Where a table lies while it is used: a DuckDB database in a temporary folder."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# A text file up to this size is staged in memory, which spares small files the making of a
# database file; a larger one goes to disk, where it is compressed and read back in parts.
IN_MEMORY_BYTES = 256_000_000


class TableError(ValueError):
    """A table that cannot be read; the message is one line with the remedy."""


class Storage:
    """A temporary folder and a DuckDB connection that end together.

    Both are gone after `close`, when nothing refers to the storage any more, or when Python
    ends, whichever comes first.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rosenblatt-"))
        self.copies = self.folder / "copies"  # of the file, needed only while it is read
        self.copies.mkdir()
        self._connections: list[duckdb.DuckDBPyConnection] = []
        self._remove = weakref.finalize(self, _remove, os.getpid(), self.folder, self._connections)

    def open(self, n_bytes: int) -> None:
        """Connect, with room for about this many bytes of text."""
        place = ":memory:" if n_bytes <= IN_MEMORY_BYTES else str(self.folder / "rows.duckdb")
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self.folder / "spilled"),
            "preserve_insertion_order": "true",
            # Nothing is ever fetched from the network on the user's behalf.
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        connection = duckdb.connect(place, config=settings)
        self._connections.append(connection)
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        with contextlib.suppress(duckdb.Error):  # DuckDB before 1.4 knows no percentages
            connection.execute("SET memory_limit = '25%'")

    def remove_copies(self) -> None:
        """Give back the room of the copies once the rows are staged."""
        shutil.rmtree(self.copies, ignore_errors=True)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The answer to a query, as tuples."""
        cursor = self._cursor()
        return interruptible(cursor, lambda: cursor.execute(sql, list(parameters)).fetchall())

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """The answer to a query, an array per column (masked where it holds NULL)."""
        cursor = self._cursor()
        return interruptible(cursor, lambda: cursor.execute(sql).fetchnumpy())

    def insert(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Append rows to the table `rows`, given as an array for each of its columns."""
        cursor = self._cursor()
        cursor.register("batch", arrays)
        interruptible(cursor, lambda: cursor.execute("INSERT INTO rows SELECT * FROM batch"))
        cursor.unregister("batch")

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if not self._connections:
            msg = "the table is closed: read it again"
            raise TableError(msg)
        return self._connections[-1].cursor()

    def close(self) -> None:
        """Remove everything; a second call does nothing."""
        self._remove()


def _remove(owner: int, folder: Path, connections: list[duckdb.DuckDBPyConnection]) -> None:
    if os.getpid() != owner:  # a forked child shares the folder but does not own it
        return
    try:
        while connections:
            connections.pop().close()
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:  # impatience must not leave the files behind
        shutil.rmtree(folder, ignore_errors=True)
        raise


Answer = TypeVar("Answer")


def interruptible(connection: duckdb.DuckDBPyConnection, query: Callable[[], Answer]) -> Answer:
    """The answer to a query, with Ctrl-C heeded at once and a full disk as OSError.

    DuckDB looks for Ctrl-C only between its tasks, which can take minutes. So the query runs
    in a thread of its own, and the main thread, where Python notices Ctrl-C, waits.
    """
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(query)
        try:
            return running.result()
        except duckdb.Error as error:
            text = str(error).lower()
            if "no space left" in text or "max_temp_directory_size" in text:
                msg = "no space left on the disk (temporary files go to the folder in TMPDIR)"
                raise OSError(errno.ENOSPC, msg) from None
            raise
        finally:
            while not running.done():  # again and again: it may not have begun yet
                connection.interrupt()
                wait([running], timeout=0.05)


def quoted(text: str) -> str:
    """`text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: BaseException) -> str:
    """What DuckDB complains about, without the lines of advice under it."""
    text = str(error).strip().splitlines()
    line = text[0] if text else type(error).__name__
    return re.sub(r"^[A-Z][A-Za-z -]* Error: ", "", line).strip()

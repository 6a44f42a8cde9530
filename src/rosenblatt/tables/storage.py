"""Where a table lies while it is used: a DuckDB database in a temporary folder."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
import weakref
from concurrent.futures import Future, wait
from functools import cache
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import duckdb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# A text file up to this size is staged in memory, which spares small files the making of a
# database file; a larger one goes to disk, where it is compressed and read back in parts.
IN_MEMORY_BYTES = 256_000_000
IN_PARTS_BYTES = 50_000_000  # the same where the rows are wanted only in parts, one by one
# What DuckDB may use of the memory for a larger one, so that its size does not matter.
MEMORY = "200MB"
NO_SPACE = "no space left on the disk for temporary files: choose another folder (--cache, TMPDIR)"
TOO_LARGE = "a temporary file would be larger than files may be (ulimit -f): raise the limit"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TableError(ValueError):
    """A table that cannot be read; the message is one line with the remedy."""


class ForPythonError(TableError):
    """Numbers that are no table: how to load them in Python, and there to fit `estimator`."""

    estimator = "Perceptron"

    def __str__(self) -> str:
        return f"{super().__str__()} and fit rb.{self.estimator}"


def fits_in_memory(n_bytes: int, in_parts: bool = False) -> bool:
    """Whether a text file of this size is read into memory."""
    return n_bytes <= (min(IN_PARTS_BYTES, IN_MEMORY_BYTES) if in_parts else IN_MEMORY_BYTES)


def without_room(error: BaseException) -> OSError | None:
    """What is said of an error that comes of a full disk, or a limit on files; None of another."""
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        return None
    if error.errno == errno.EFBIG:
        return OSError(errno.EFBIG, TOO_LARGE)
    return OSError(errno.ENOSPC, NO_SPACE)


def _new_folder(parent: str | None) -> Path:
    """A temporary folder of its own, in this one or in that of TMPDIR."""
    where = f"the folder {parent}" if parent else "the folder in TMPDIR"
    try:
        parent = parent or tempfile.gettempdir()
        where = f"the folder {parent}"
        _remove_orphans(parent)
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError as error:
        why = without_room(error)
        if why is not None:
            raise why from None
        text = (error.strerror or str(error)).lower()
        msg = f"no temporary files can be made in {where} ({text}): name another in TMPDIR"
        raise OSError(error.errno, msg) from None


class Storage:
    """A temporary folder and a DuckDB connection that end together.

    The folder is in `parent`, or in that of TMPDIR.

    Both are gone after `close`, when nothing refers to the storage any more, or when Python
    ends, whichever comes first. What a killed process left behind is removed by the next one.
    """

    def __init__(self, in_parts: bool = False, parent: str | None = None) -> None:
        self.in_parts = in_parts
        self.folder = _new_folder(parent)
        self._connections: list[duckdb.DuckDBPyConnection] = []
        self._n_bytes = 0
        self._numbers = count()
        self._remove = weakref.finalize(
            self, _remove, os.getpid(), self.folder, self._connections, _claimed(self.folder)
        )
        self.copies = self.folder / "copies"  # of the file, needed only while it is read
        self.copies.mkdir()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return bool(self._connections)

    def open(self, n_bytes: int) -> None:
        """Be ready for about this many bytes of text, in a database that is made when needed."""
        self._n_bytes = max(n_bytes, self._n_bytes)

    def _connect(self) -> None:
        database = str(self.folder / "rows.duckdb")
        place = ":memory:" if fits_in_memory(self._n_bytes, self.in_parts) else database
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self.folder / "spilled"),
            "preserve_insertion_order": "true",
            # Nothing is ever fetched from the network on the user's behalf.
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # A name in a query is a table or a file, never a variable of the program.
            "python_enable_replacements": "false",
        }
        connection = duckdb.connect(place, config=settings)
        self._connections.append(connection)
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        most = "25%" if place == ":memory:" else MEMORY
        with contextlib.suppress(duckdb.Error):  # DuckDB before 1.4 knows no percentages
            connection.execute(f"SET memory_limit = '{most}'")

    def new_file(self) -> Path:
        """A name for one more file in the folder."""
        self.check_open()
        return self.folder / f"columns-{next(self._numbers)}"

    def fits_in_memory(self, n_bytes: int) -> bool:
        """Whether a file of this size, and all files with it, are read into memory."""
        return fits_in_memory(max(n_bytes, self._n_bytes), self.in_parts)

    def use_more_memory(self) -> None:
        """Lift the limit: lines of a hundred megabytes cannot be read within it."""
        self.rows("SET memory_limit = '80%'")

    def remove_copies(self) -> None:
        """Give back the room of the copies once the rows are staged."""
        shutil.rmtree(self.copies, ignore_errors=True)

    def rows(
        self, sql: str, parameters: Sequence[Any] = (), given: Any = None
    ) -> list[tuple[Any, ...]]:
        """The answer to a query, as tuples; `given`, if any, is the table of that name in it."""
        cursor = self._cursor()
        if given is not None:
            cursor.register("given", given)
        try:
            return interruptible(cursor, lambda: cursor.execute(sql, list(parameters)).fetchall())
        finally:
            if given is not None:
                cursor.unregister("given")

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """The answer to a query, an array per column (masked where it holds NULL)."""
        cursor = self._cursor()
        return interruptible(cursor, lambda: cursor.execute(sql).fetchnumpy())

    def insert(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Append rows to the table `rows`, given as an array for each of its columns."""
        self.rows("INSERT INTO rows SELECT * FROM given", given=arrays)

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        self.check_open()
        if not self._connections:
            self._connect()
        return self._connections[-1].cursor()

    def check_open(self) -> None:
        """Refuse what comes after `close`."""
        if not self._remove.alive:
            msg = "the table is closed: read it again"
            raise TableError(msg)

    def close(self) -> None:
        """Remove everything; a second call does nothing."""
        self._remove()


def _remove(
    owner: int, folder: Path, connections: list[duckdb.DuckDBPyConnection], claim: int | None
) -> None:
    if os.getpid() != owner:  # a forked child shares the folder but does not own it
        return
    try:
        while connections:
            connections.pop().close()
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:  # impatience (Ctrl-C, SIGTERM) must not leave the files behind
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        if claim is not None:
            os.close(claim)


_PREFIX, _CLAIM = "rosenblatt-", "claim"


def _claimed(folder: Path) -> int | None:
    """A lock on a file in the folder, which the system lifts when the process ends, however.

    It gets its name when it is locked already, so that no other process can come in between.
    A process id would not do: machines and containers that share the folder count their own.
    """
    with contextlib.suppress(OSError):
        claim = os.open(folder / "unclaimed", os.O_RDWR | os.O_CREAT, 0o600)
        if _locked(claim):
            (folder / "unclaimed").rename(folder / _CLAIM)
            return claim
        os.close(claim)
    return None


def _locked(file: int) -> bool:
    """Whether this process has the lock of an open file now; False where there are no locks."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):  # Windows; taken by another process
        return False
    return True


@cache  # once is enough
def _remove_orphans(parent: str) -> None:
    """Remove folders of this user whose process was killed."""
    with contextlib.suppress(OSError):
        for folder in Path(parent).glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError, AttributeError):
                if folder.lstat().st_uid != os.getuid():
                    continue
                claim = os.open(folder / _CLAIM, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    if _locked(claim):
                        shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(claim)


T = TypeVar("T")


class Interruptible(Protocol):
    """A connection to a database whose work can be stopped from another thread."""

    def interrupt(self) -> None:
        """Stop it."""


def interruptible(connection: Interruptible, query: Callable[[], T]) -> T:
    """The answer to a query, with Ctrl-C heeded at once and a full disk as OSError.

    DuckDB looks for Ctrl-C only between its tasks, which can take minutes. So the query runs
    in a thread of its own, and the main thread, where Python notices Ctrl-C (and SIGTERM, if
    a handler raises an exception), waits.
    """
    running: Future[T] = Future()

    def run() -> None:
        if running.set_running_or_notify_cancel():
            try:
                running.set_result(query())
            except BaseException as error:
                running.set_exception(error)

    try:
        Thread(target=run).start()
        # In short steps: where another library minds signals, too (Polars), they end no wait.
        while not wait([running], timeout=0.1).done:
            pass
        return running.result()
    except duckdb.Error as error:
        text = str(error).lower()
        if "no space left" in text or "max_temp_directory_size" in text:
            raise OSError(errno.ENOSPC, NO_SPACE) from None
        if "file too large" in text:
            raise OSError(errno.EFBIG, TOO_LARGE) from None
        raise
    finally:
        while not running.cancel() and not running.done():
            # Again and again: DuckDB may not have begun yet. A second signal changes nothing.
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                connection.interrupt()
                wait([running], timeout=0.05)


def first_line(error: BaseException) -> str:
    """What DuckDB complains about, without the lines of advice under it."""
    text = str(error).strip().splitlines()
    line = text[0] if text else type(error).__name__
    return re.sub(r"^[A-Z][A-Za-z -]* Error: ", "", line).strip()

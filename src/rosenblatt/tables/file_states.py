"""Files that may change, or vanish, while they are read."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self


class FileState(NamedTuple):
    """What the system says of a file at some moment; it says something else once it was changed."""

    file: Path
    shown: str
    size: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, file: Path, shown: str) -> Self:
        """The state of a file now."""
        return cls(file, shown, *_looked_at(file, shown))

    def check(self) -> None:
        """Refuse a file that was changed since."""
        size, changed_ns, inode = _looked_at(self.file, self.shown)
        if size != self.size:
            how = f"it had {self.size} bytes and has {size} now"
        elif inode != self.inode:
            how = "another file has its name now"
        elif changed_ns != self.changed_ns:
            how = "somebody wrote to it"
        else:
            return
        msg = f"{self.shown} changed while it was read: {how}; read it again when it is complete"
        raise TableError(msg)


def _looked_at(file: Path, shown: str) -> tuple[int, int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError as error:
        why = (error.strerror or "it is gone").lower()
        msg = f"{shown} can no longer be read ({why}): put it back, and read it again"
        raise TableError(msg) from None
    return found.st_size, found.st_mtime_ns, found.st_ino


@contextmanager
def unchanged(file: Path, shown: str) -> Iterator[FileState]:
    """Refuse what is read from a file that changes meanwhile, or any error that comes of it."""
    state = FileState.of(file, shown)
    try:
        yield state
    except Exception:
        state.check()
        raise
    state.check()

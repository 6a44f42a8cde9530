"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes the name `path` if all went well.

    Until then whatever was at `path` stays there. If anything fails, the disk being full or
    Ctrl-C included, what was written so far is removed.
    """
    target = Path(path)
    if target.is_dir():
        msg = f"{target} is a folder: give the name of a file to write"
        raise IsADirectoryError(msg)
    if not target.parent.is_dir():
        msg = f"there is no folder {target.parent}: make it first, or write somewhere else"
        raise FileNotFoundError(msg)
    # The suffix is kept because some writers choose the format by it.
    handle, name = tempfile.mkstemp(target.suffix, f".{target.stem}-", target.parent)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise

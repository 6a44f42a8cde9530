"""Files: one that is there to read, or one written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def existing(path: str | os.PathLike[str], remedy: str) -> Path:
    """The path, if there is a file to read."""
    source = Path(path)
    if not source.exists():
        msg = f"there is no file {source}"
        raise FileNotFoundError(msg)
    if source.is_dir():
        msg = f"{source} is a folder: {remedy}"
        raise IsADirectoryError(msg)
    return source


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], suffix: str | None = None) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes the name `path` if all went well.

    Until then whatever was at `path` stays there. If anything fails, the disk being full or
    Ctrl-C included, what was written so far is removed. Its name ends in `suffix`, or as `path`
    does, because some writers choose the format by it.
    """
    target = Path(os.path.realpath(path))  # through a link, the file it leads to is replaced
    check_writable(path)
    prefix = _prefix(target)
    try:
        ending = target.suffix if suffix is None else suffix
        handle, name = tempfile.mkstemp(ending, prefix, target.parent)
        os.close(handle)
        beside = Path(name)
        try:
            yield beside
            _copy_mode(target, beside)
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        full = error.errno in FULL and error.strerror == os.strerror(error.errno)
        if not full and not str(error.filename).startswith(str(target.parent / prefix)):
            raise
        why = error.strerror or str(error)
        what = why[0].lower() + why[1:]
        msg = f"{path} could not be written: {what}; {'make room, or ' * full}write somewhere else"
        raise type(error)(msg) from error


def remove_leftovers(path: str | os.PathLike[str], suffix: str) -> None:
    """Remove what writers that were killed have left beside `path`, under names of this suffix."""
    target = Path(os.path.realpath(path))
    for found in target.parent.glob(f"{glob.escape(_prefix(target))}????????{suffix}"):
        with contextlib.suppress(OSError):
            found.unlink()


def _prefix(target: Path) -> str:
    """How the names of files begin that become `target`."""
    return f".{target.stem[:20]}-"  # not so much of the name that it could become too long


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse what cannot be a file to write, in one line."""
    target = Path(path)
    if target.is_symlink():  # what counts is where it leads
        target = Path(os.path.realpath(target))
    if target.is_dir():
        msg = f"{path} is a folder: give the name of a file to write"
        raise IsADirectoryError(msg)
    if target.exists() and not target.is_file():  # writing would put a file in its place
        msg = f"{path} is a {_kind(target)}, not a file: give the name of a file to write"
        raise FileExistsError(msg)
    folder = target.parent
    if not folder.is_dir():
        msg = f"there is no folder {folder}: make it first, or write somewhere else"
        raise FileNotFoundError(msg)
    if not os.access(folder, os.W_OK):
        msg = f"nothing may be written in the folder {folder.absolute()}: write somewhere else"
        raise PermissionError(msg)


def _kind(target: Path) -> str:
    """What something is that is neither a file nor a folder."""
    return "pipe" if target.is_fifo() else "socket" if target.is_socket() else "device"


def _copy_mode(target: Path, beside: Path) -> None:
    """Give a new file the permissions of the old one, or those that new files have."""
    umask = os.umask(0)
    os.umask(umask)
    beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)

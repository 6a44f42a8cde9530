"""Finding the file that a user named, and unpacking it."""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import lzma
import os
import re
import shutil
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from rosenblatt.tables.storage import TableError
from rosenblatt.tables.zip_files import is_archive, unzipped

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

HEAD_BYTES = 1 << 20

_UNPACKERS: dict[bytes, tuple[str, Callable[[Path], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", zstd.open),
}
_PACKED_SUFFIXES = (".gz", ".zst", ".bz2", ".xz", ".zip")


class LocalFile(NamedTuple):
    """A regular, unpacked file; the name by whose suffix its format is told; notes."""

    file: Path
    name: str
    notes: tuple[str, ...] = ()


def local_copy(path: str, folder: Path, suffixes: Collection[str]) -> LocalFile:
    """The regular, unpacked file behind `path`; what has to be copied goes to `folder`.

    Of several files in a zip archive it is the one with one of these suffixes.
    """
    if path in ("-", "/dev/stdin"):
        with _written(folder / "standard-input") as copy:
            shutil.copyfileobj(_standard_input(), copy)
        file = folder / "standard-input"
    else:
        file = _existing(path, folder)
    if file.stat().st_size == 0:
        msg = f"{shown_path(path)} is empty: give a file with at least one row"
        raise TableError(msg)
    return _unpacked(LocalFile(file, Path(path).name), shown_path(path), folder, suffixes)


def shown_path(path: str | os.PathLike[str]) -> str:
    """The name of a table for messages."""
    text = os.fspath(path)
    return "standard input" if text in ("-", "/dev/stdin") else text


def _standard_input() -> IO[bytes]:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        msg = "there is no standard input to read: give the name of a file"
        raise TableError(msg)
    return stream  # type: ignore[no-any-return]


def _written(file: Path) -> IO[bytes]:
    return file.open("wb")


def _existing(text: str, folder: Path) -> Path:
    """The file of this name, copied if it can be read only once (a pipe)."""
    file = Path(text).absolute()
    try:
        if not text:
            raise ValueError
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        with file.open("rb") as opened:
            if stat.S_ISREG(mode):
                return file
            with _written(folder / "piped") as copy:
                shutil.copyfileobj(opened, copy)
            return folder / "piped"
    except (FileNotFoundError, NotADirectoryError):
        raise TableError(_not_there(text, file)) from None
    except IsADirectoryError:
        msg = f"{text} is a folder: give the name of a file in it"
        raise TableError(msg) from None
    except PermissionError:
        msg = f"{text} may not be read: ask for permission to read it (chmod +r)"
        raise TableError(msg) from None
    except OSError as error:
        msg = f"{text[:200]} cannot be read: {error.strerror or error}"
        raise TableError(msg) from None
    except ValueError:
        msg = f"{text!r} cannot be the name of a file"
        raise TableError(msg) from None


def _not_there(text: str, file: Path) -> str:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        return f"{text} is an address: download the file first, then give its name"
    if not file.parent.is_dir():
        return f"there is no folder {Path(text).parent}, so no file {text}"
    with contextlib.suppress(OSError):
        near = difflib.get_close_matches(file.name, os.listdir(file.parent), 1)  # noqa: PTH208
        if near:
            return f"there is no file {text}: did you mean {Path(text).with_name(near[0])}?"
    return f"there is no file {text}: check the name and the folder"


def _unpacked(given: LocalFile, shown: str, folder: Path, suffixes: Collection[str]) -> LocalFile:
    """The file itself, or what was packed in it; what a zip archive holds may be packed, too."""
    with given.file.open("rb") as opened:
        start = opened.read(16)
    target = folder / f"unpacked-{given.file.name}"
    for magic, (name, unpacker) in _UNPACKERS.items():
        if start.startswith(magic):
            try:
                with unpacker(given.file) as packed, _written(target) as copy:
                    shutil.copyfileobj(packed, copy, 1 << 20)
            except (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, OSError) as error:
                if getattr(error, "errno", None):
                    raise
                msg = f"{shown} is damaged or breaks off ({name}): download or copy it again"
                raise TableError(msg) from None
            unpacked = LocalFile(target, _without_packing(given.name), given.notes)
            break
    else:
        if not is_archive(given.file, shown):
            return given
        inside, notes = unzipped(given.file, shown, target, suffixes)
        if inside.lower().endswith(".zip"):
            msg = f"{shown} holds another zip archive, {inside}: unpack it first"
            raise TableError(msg)
        within = LocalFile(target, inside, notes)
        unpacked = _unpacked(within, f"{shown} ({inside})", folder, suffixes)
    if unpacked.file.stat().st_size == 0:
        msg = f"{shown} is empty inside: give a file with at least one row"
        raise TableError(msg)
    return unpacked


def _without_packing(name: str) -> str:
    return name[: -len(Path(name).suffix)] if name.lower().endswith(_PACKED_SUFFIXES) else name


def glob_escaped(file: Path) -> str:
    """The path for DuckDB, which otherwise takes `*`, `?` and `[` for patterns."""
    return re.sub(r"[*?\[]", lambda found: f"[{found.group()}]", str(file))

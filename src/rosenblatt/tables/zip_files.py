"""Zip archives: the one table inside."""

from __future__ import annotations

import errno
import shutil
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_MARKS = (b"PK\x03\x04", b"PK\x05\x06")


def contents_of(file: Path, shown: str) -> list[str] | None:
    """The names of the files in a zip archive; None if it is none."""
    with file.open("rb") as opened:
        if not opened.read(4).startswith(_MARKS):
            return None
    try:
        with zipfile.ZipFile(file) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise TableError(_damaged(shown)) from None


def is_workbook(names: list[str] | None) -> bool:
    """Whether an archive with these files is an Excel or OpenDocument workbook."""
    return any(name.startswith("xl/") or name == "content.xml" for name in names or ())


def is_numpy(names: list[str] | None) -> bool:
    """Whether an archive with these files is NumPy's."""
    return bool(names) and all(name.endswith(".npy") for name in names or ())


def is_model(names: list[str] | None) -> bool:
    """Whether an archive with these files is a model file."""
    return "schema.json" in (names or ())


def is_archive(file: Path, shown: str) -> bool:
    """Whether it is a zip archive of files, not a format that merely is packed as one."""
    names = contents_of(file, shown)
    other = is_workbook(names) or is_numpy(names) or is_model(names)
    return names is not None and not other


def unzipped(
    file: Path, shown: str, target: Path, suffixes: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """Write the one table of the archive to `target`; its name, and notes.

    Of several files it is the one with a suffix of tables.
    """
    inside = [name for name in contents_of(file, shown) or [] if _is_meant(name)]
    if not inside:
        msg = f"{shown} is a zip archive with nothing in it: give one that holds a table"
        raise TableError(msg)
    tables = inside if len(inside) == 1 else [name for name in inside if _named(name, suffixes)]
    if len(tables) != 1:
        listed = ", ".join((tables or inside)[:5]) + ", ..." * (len(tables or inside) > 5)
        what = f"{len(tables)} tables" if tables else f"{len(inside)} files, none named as a table"
        msg = f"{shown} is a zip archive of {what} ({listed}): unpack it and give one of them"
        raise TableError(msg)
    (name,) = tables
    try:
        with zipfile.ZipFile(file) as archive, archive.open(name) as packed, target.open("wb") as o:
            shutil.copyfileobj(packed, o, 1 << 20)
    except NotImplementedError:
        msg = f"{shown} is packed in a way that only some programs know: unpack it first"
        raise TableError(msg) from None
    except RuntimeError:
        msg = f"{shown} needs a password: unpack it first, then give the file inside"
        raise TableError(msg) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
        if getattr(error, "errno", errno.EINVAL) != errno.EINVAL:  # but one before its beginning
            raise
        raise TableError(_damaged(shown)) from None
    others = f"{len(inside) - 1} other files are" if len(inside) > 2 else "1 other file is"
    few = f"{name}, the only table in {shown}, is read; {others} not."
    return PurePosixPath(name).name, (few,) * (len(inside) > 1)


def _is_meant(name: str) -> bool:
    """Whether a file in an archive is the user's, not left there by a program."""
    path = PurePosixPath(name)
    return path.parts[0] != "__MACOSX" and not path.name.startswith(".")


def _named(name: str, suffixes: Collection[str]) -> bool:
    return any(suffix in suffixes for suffix in PurePosixPath(name.lower()).suffixes[-2:])


def _damaged(shown: str) -> str:
    return f"{shown} is damaged or breaks off (zip): download or copy it again"

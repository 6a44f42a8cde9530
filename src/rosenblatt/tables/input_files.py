"""Finding the file that a user named, unpacking it, and recognising what it holds."""

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
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rosenblatt.tables.storage import ForPythonError, TableError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD_BYTES = 1 << 20

_UNPACKERS: dict[bytes, tuple[str, Callable[[Path], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", zstd.open),
}
_PACKED_SUFFIXES = {".gz", ".zst", ".bz2", ".xz"}
_FORMATS = {
    **dict.fromkeys([".parquet", ".pq"], "parquet"),
    **dict.fromkeys([".json", ".jsonl", ".ndjson"], "json"),
    **dict.fromkeys([".csv", ".tsv", ".tab"], "csv"),
}
_NOT_TABLES = {
    b"\x89PNG": "a PNG picture: give a table, such as a CSV file",
    b"\xff\xd8\xff": "a JPEG picture: give a table, such as a CSV file",
    b"GIF8": "a GIF picture: give a table, such as a CSV file",
    b"%PDF": "a PDF document: copy its table to a CSV file first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save its sheet as CSV first",
    b"\x89HDF": "an HDF5 file: write the table you want as CSV or Parquet first",
    b"SQLite format 3": "an SQLite database: write the table you want as CSV first",
    b"ARROW1": "an Arrow (Feather) file: write it as Parquet first",
    b"Obj\x01": "an Avro file: write it as Parquet or CSV first",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"\x80\x04\x95": "a Python pickle: write the table as CSV or Parquet first",
    b"\x80\x05\x95": "a Python pickle: write the table as CSV or Parquet first",
    b"\x7fELF": "a program: give a table, such as a CSV file",
}
_FOR_PYTHON = {
    b"\x93NUMPY": "a NumPy array: load it in Python with numpy.load",
    b"\x00\x00\x08": "an IDX array (as of MNIST): load it in Python",
}


def local_copy(path: str | os.PathLike[str], folder: Path) -> Path:
    """The regular, unpacked file behind `path`; what has to be copied goes to `folder`."""
    text = os.fspath(path)
    if text in ("-", "/dev/stdin"):
        with _written(folder / "standard-input") as copy:
            shutil.copyfileobj(_standard_input(), copy)
        file = folder / "standard-input"
    else:
        file = _existing(text, folder)
    if file.stat().st_size == 0:
        msg = f"{shown_path(path)} is empty: give a file with at least one row"
        raise TableError(msg)
    return _unpacked(file, shown_path(path), folder)


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


def _unpacked(file: Path, shown: str, folder: Path) -> Path:
    """The file itself, or what was packed in it."""
    with file.open("rb") as opened:
        start = opened.read(16)
    target = folder / "unpacked"
    for magic, (name, unpacker) in _UNPACKERS.items():
        if start.startswith(magic):
            try:
                with unpacker(file) as packed, _written(target) as copy:
                    shutil.copyfileobj(packed, copy, 1 << 20)
            except (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, OSError) as error:
                if getattr(error, "errno", None):
                    raise
                msg = f"{shown} is damaged or breaks off ({name}): download or copy it again"
                raise TableError(msg) from None
            if target.stat().st_size == 0:
                msg = f"{shown} is empty inside: give a file with at least one row"
                raise TableError(msg)
            return target
    return file


def glob_escaped(file: Path) -> str:
    """The path for DuckDB, which otherwise takes `*`, `?` and `[` for patterns."""
    return re.sub(r"[*?\[]", lambda found: f"[{found.group()}]", str(file))


def recognised(path: str | os.PathLike[str], file: Path) -> str:
    """What the file holds: "csv", "parquet" or "json", by its name, or else by its content."""
    shown = shown_path(path)
    with file.open("rb") as opened:
        start = opened.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    _refuse_other_formats(start, file, shown)
    suffixes = [suffix.lower() for suffix in Path(os.fspath(path)).suffixes]
    if suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    known = _FORMATS.get(suffixes[-1]) if suffixes else None
    if known == "parquet":
        msg = f"{shown} is named like Parquet but is not: give its true suffix, such as .csv"
        raise TableError(msg)
    return known or ("json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")


def _refuse_other_formats(start: bytes, file: Path, shown: str) -> None:
    for error, formats in ((ForPythonError, _FOR_PYTHON), (TableError, _NOT_TABLES)):
        for magic, advice in formats.items():
            if start.startswith(magic):
                msg = f"{shown} is {advice}"
                raise error(msg)
    if start.startswith(b"PK\x03\x04"):
        raise TableError(f"{shown} is {_kind_of_zip(file, shown)}")  # noqa: EM102
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        msg = f"{shown} is a web page or XML, not a table: download the file itself"
        raise TableError(msg)
    if re.match(rb"(?:%[^\n]*\n|\s)*@relation\b", text):
        msg = f"{shown} is an ARFF file: load it in Python with scipy.io.arff.loadarff"
        raise TableError(msg)
    if not start.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        control = sum(byte < 9 or 13 < byte < 32 for byte in start)
        if control > max(4, 0.05 * len(start)):
            msg = f"{shown} is a binary file: give text (CSV, TSV, JSON) or Parquet"
            raise TableError(msg)


def _kind_of_zip(file: Path, shown: str) -> str:
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        if any(name.startswith("xl/") for name in names):
            return "an Excel workbook: save its sheet as CSV first"
        if "schema.json" in names:
            return "a rosenblatt model (skops), not a table: give a table, such as a CSV file"
        if any(name.endswith(".npy") for name in names):
            msg = f"{shown} is a NumPy archive: load it in Python with numpy.load"
            raise ForPythonError(msg)
    return "a zip archive: unpack it first"

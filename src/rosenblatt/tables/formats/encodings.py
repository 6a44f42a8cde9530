"""Text in encodings other than UTF-8."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from rosenblatt.tables.input_files import HEAD_BYTES
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from pathlib import Path

# How texts begin whose characters take two bytes or four; the latter begins like the former.
WIDE = (
    ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
)


def in_utf8(file: Path, shown: str, folder: Path) -> tuple[Path, list[str]]:
    """The file, or a copy in UTF-8 if it is written in another encoding."""
    with file.open("rb") as opened:
        start = opened.read(4)
        for marks, encoding in WIDE:
            if start.startswith(marks):
                try:
                    return _transcoded(file, encoding, folder), []
                except UnicodeDecodeError:
                    name = encoding.upper()
                    msg = f"{shown} begins as {name} but breaks off or is damaged: copy it again"
                    raise TableError(msg) from None
        opened.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while block := opened.read(1 << 22):
                if not block.isascii() or decoder.getstate()[0]:
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            pass
        else:
            return file, []
    try:
        copy, encoding = _transcoded(file, "cp1252", folder), "Windows (cp1252)"
    except UnicodeDecodeError:
        copy, encoding = _transcoded(file, "latin-1", folder), "Latin-1"
    return copy, [f"The file is not UTF-8; it was read as {encoding}."]


def starts_in_utf8(file: Path) -> bool:
    """Whether the start of a file is in UTF-8."""
    with file.open("rb") as opened:
        start = opened.read(HEAD_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def _transcoded(file: Path, encoding: str, folder: Path) -> Path:
    copy = folder / "utf-8"
    with (
        file.open(encoding=encoding, newline="") as given,
        copy.open("w", encoding="utf-8", newline="") as written,
    ):
        while block := given.read(1 << 20):
            written.write(block)
    return copy

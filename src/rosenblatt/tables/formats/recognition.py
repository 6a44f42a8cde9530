"""The formats of tables: what each is called, how it is recognised, and what stages it.

A file is recognised by its content where that is certain (a mark at its beginning), otherwise by
its suffix, otherwise by what its text looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from rosenblatt.tables.formats.arff_files import looks_like_arff, stage_arff
from rosenblatt.tables.formats.array_files import stage_arrays, stage_npz
from rosenblatt.tables.formats.arrow_files import stage_arrow
from rosenblatt.tables.formats.csv_files import stage_csv
from rosenblatt.tables.formats.databases import stage_duckdb, stage_sqlite
from rosenblatt.tables.formats.parquet_files import MARK as PARQUET_MARK
from rosenblatt.tables.formats.parquet_files import stage_parquet
from rosenblatt.tables.formats.svmlight_files import looks_like_svmlight, stage_svmlight
from rosenblatt.tables.formats.typed_files import stage_json
from rosenblatt.tables.formats.workbooks import stage_workbook
from rosenblatt.tables.storage import ForPythonError, TableError
from rosenblatt.tables.zip_files import contents_of, is_model, is_numpy, is_workbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rosenblatt.tables.columns import Asked, StagedFile
    from rosenblatt.tables.storage import Storage


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    name : str
        As messages call it, with an article.
    stage : callable
        Reads the rows.
    suffixes : tuple of str
        How its files are named.
    marks : tuple of (int, bytes)
        What stands where, at the beginning of every such file and of no other.
    options : tuple of str
        Which of `sheet`, `table` and `query` make sense for it.
    """

    name: str
    stage: Callable[[Path, str, Storage, Asked], StagedFile]
    suffixes: tuple[str, ...]
    marks: tuple[tuple[int, bytes], ...] = ()
    options: tuple[str, ...] = ()


CSV = Format("delimited text", stage_csv, (".csv", ".tsv", ".tab"))
JSON = Format("JSON", stage_json, (".json", ".jsonl", ".ndjson"))
ARFF = Format("an ARFF file", stage_arff, (".arff",))
SVMLIGHT = Format("an svmlight file", stage_svmlight, (".svm", ".libsvm", ".svmlight"))
WORKBOOK = Format(
    "a workbook",
    stage_workbook,
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    ((0, b"\xd0\xcf\x11\xe0"),),
    ("sheet",),
)
PARQUET = Format("Parquet", stage_parquet, (".parquet", ".pq"), ((0, PARQUET_MARK),))
NPZ = Format("a NumPy archive", stage_npz, (".npz",))
FORMATS = (
    CSV,
    JSON,
    PARQUET,
    Format(
        "an Arrow file",
        stage_arrow,
        (".arrow", ".feather", ".ipc", ".arrows"),
        ((0, b"ARROW1"), (0, b"FEA1"), (0, b"\xff\xff\xff\xff")),
    ),
    Format("a NumPy array", stage_arrays, (".npy",), ((0, b"\x93NUMPY"),)),
    NPZ,
    SVMLIGHT,
    ARFF,
    WORKBOOK,
    Format(
        "an SQLite database",
        stage_sqlite,
        (".sqlite", ".sqlite3", ".db", ".db3"),
        ((0, b"SQLite format 3\0"),),
        ("table", "query"),
    ),
    Format(
        "a DuckDB database",
        stage_duckdb,
        (".duckdb", ".ddb"),
        ((8, b"DUCK"),),
        ("table", "query"),
    ),
)
SUFFIXES = {suffix: known for known in FORMATS for suffix in known.suffixes}
# Formats that always begin with their mark, so that a suffix without it is a lie.
_MARKED = [known for known in FORMATS if known.marks or known in (NPZ,)]

_GIVE = "give a table, such as a CSV file"
_WRITE = "write the table as CSV or Parquet first"
_REFUSED = {
    b"\x89PNG": f"a PNG picture: {_GIVE}",
    b"\xff\xd8\xff": f"a JPEG picture: {_GIVE}",
    b"GIF8": f"a GIF picture: {_GIVE}",
    b"%PDF": "a PDF document: copy its table to a CSV file first",
    b"\x89HDF": f"an HDF5 file: {_WRITE}",
    b"Obj\x01": f"an Avro file: {_WRITE}",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"\x80\x04\x95": f"a Python pickle, which could run code: {_WRITE}",
    b"\x80\x05\x95": f"a Python pickle, which could run code: {_WRITE}",
    b"\x7fELF": f"a program: {_GIVE}",
    b"<stata_dta>": f"a Stata file: {_WRITE} (in Stata: export delimited)",
    b"$FL2@(#)": f"an SPSS file: {_WRITE} (in SPSS: Save As, CSV)",
    b"$FL3@(#)": f"an SPSS file: {_WRITE} (in SPSS: Save As, CSV)",
    b"RDX": f"an R file: {_WRITE} (in R: write.csv)",
}
_REFUSED_SUFFIXES = {
    ".dta": f"a Stata file: {_WRITE} (in Stata: export delimited)",
    ".sav": f"an SPSS file: {_WRITE} (in SPSS: Save As, CSV)",
    ".zsav": f"an SPSS file: {_WRITE} (in SPSS: Save As, CSV)",
    ".sas7bdat": f"a SAS file: {_WRITE} (in SAS: proc export)",
    ".mat": f"a MATLAB file: {_WRITE} (in MATLAB: writetable)",
}
_IDX = b"\x00\x00\x08"


class _Seen(NamedTuple):
    """What recognition looks at."""

    start: bytes
    suffix: str
    names: list[str] | None  # of the files in it, if it is packed as a zip archive is


def recognised(name: str, file: Path, shown: str) -> Format:
    """The format of a file that goes by this name; what is no table is refused."""
    with file.open("rb") as opened:
        start = opened.read(4096)
    seen = _Seen(start, PurePath(name).suffix.lower(), contents_of(file, shown))
    known = _marked(seen)
    if known is not None:
        return known
    _refuse_others(seen, shown)
    named = SUFFIXES.get(seen.suffix)
    if named in _MARKED:
        msg = (
            f"{shown} is named like {named.name} but is none, or is damaged: download or copy it "
            "again, or give its true suffix, such as .csv"
        )
        raise TableError(msg)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if looks_like_arff(text):
        return ARFF
    if named is None or named is CSV:
        if looks_like_svmlight(start):
            return SVMLIGHT
        if named is None and text[:1] in (b"{", b"["):
            return JSON
    return named or CSV


def _marked(seen: _Seen) -> Format | None:
    """The format that the content shows for certain."""
    for known in FORMATS:
        for place, mark in known.marks:
            if seen.start.startswith(mark, place):
                return known
    if is_numpy(seen.names):
        return NPZ
    return WORKBOOK if is_workbook(seen.names) else None


def _refuse_others(seen: _Seen, shown: str) -> None:
    start = seen.start
    for mark, advice in _REFUSED.items():
        if start.startswith(mark):
            msg = f"{shown} is {advice}"
            raise TableError(msg)
    if is_model(seen.names):
        msg = f"{shown} is a rosenblatt model (skops), not a table: {_GIVE}"
        raise TableError(msg)
    if start.startswith(_IDX):
        msg = f"{shown} is an IDX array (as of MNIST): load it in Python"
        raise ForPythonError(msg)
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        msg = f"{shown} is a web page or XML, not a table: download the file itself"
        raise TableError(msg)
    if not start.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        control = sum(byte < 9 or 13 < byte < 32 for byte in start)
        if control > max(4, 0.05 * len(start)):
            advice = "a binary file: give text (CSV, TSV, JSON) or Parquet"
            msg = f"{shown} is {_REFUSED_SUFFIXES.get(seen.suffix, advice)}"
            raise TableError(msg)

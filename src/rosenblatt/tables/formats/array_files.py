"""Reading NumPy's files: one array, or several in an archive. Pickles in them are never opened."""

from __future__ import annotations

import sys
import tokenize
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import numpy as np

from rosenblatt.tables.columns import noted
from rosenblatt.tables.formats.typed_files import stage_relation
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Asked, StagedFile
    from rosenblatt.tables.storage import Storage

_BATCH = 1 << 22  # cells that are handed on at a time
# What NumPy raises about damaged files; their headers are Python.
_TROUBLE = (
    *(ValueError, TypeError, KeyError, SyntaxError, tokenize.TokenError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error),
)
_CLASSES = ("y", "label", "labels", "target", "targets", "class", "classes")


class _Columns(NamedTuple):
    """Arrays of one dimension with their names, and whether these come from the file."""

    arrays: dict[str, NDArray[Any]]
    named: bool
    notes: list[str]


def stage_arrays(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read a 2-D or structured array into the table `rows` of the storage."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except _TROUBLE as error:
        raise _unreadable(shown, error) from None
    return _staged(_columns_of(array, shown), shown, storage)


def stage_npz(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the arrays of an archive, side by side and the classes last, into the table `rows`."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except _TROUBLE as error:
        raise _unreadable(shown, error) from None
    arrays = {name: array for name, array in members.items() if isinstance(array, np.ndarray)}
    if len(arrays) < len(members):  # what has not the mark of an array comes as bytes
        raise _unreadable(shown, None)
    if len(arrays) == 1:
        (array,) = arrays.values()
        return _staged(_columns_of(array, shown), shown, storage)
    lengths = {name: array.shape[0] if array.ndim else 0 for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in list(lengths.items())[:6])
        remedy = "save those of one table by themselves, as X and y"
        msg = f"{shown} holds arrays of different lengths ({told}): {remedy}"
        raise TableError(msg)
    return _staged(_side_by_side(arrays, shown), shown, storage)


def _side_by_side(arrays: dict[str, NDArray[Any]], shown: str) -> _Columns:
    """Columns named after their arrays; what is named like classes comes last."""
    columns: dict[str, NDArray[Any]] = {}
    named = True
    for name in sorted(arrays, key=lambda name: name.lower() in _CLASSES):
        array = arrays[name]
        if array.ndim == 1 or array.shape[1:] == (1,):
            columns[name] = array.reshape(-1)
        elif array.ndim == 2:
            named = False
            columns |= {f"{name}{j + 1}": array[:, j] for j in range(array.shape[1])}
        else:
            raise TableError(_wrong_shape(f"{name} in {shown}", array))
    return _Columns(columns, named, [])


def _columns_of(array: NDArray[Any], shown: str) -> _Columns:
    names = array.dtype.names
    if names is not None and array.ndim == 1:
        flat = [name for name in names if _is_cell(array.dtype[name])]
        others = [name for name in names if name not in flat]
        notes = noted(others, "is left out: it holds nested or binary values")
        return _Columns({name: array[name] for name in flat}, True, notes)
    if names is not None or array.ndim != 2 or not array.shape[1]:
        raise TableError(_wrong_shape(shown, array))
    width = array.shape[1]
    return _Columns({f"column{j + 1}": array[:, j] for j in range(width)}, False, [])


def _is_cell(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biufUSM" and not dtype.shape


def _wrong_shape(what: str, array: NDArray[Any]) -> str:
    shape = "x".join(map(str, array.shape)) or "one number"
    remedy = "give a table, one row per sample and one column per feature"
    if array.ndim > 2:
        remedy = "save it as array.reshape(len(array), -1), one row per sample"
    return f"{what} is an array of shape {shape}: {remedy}"


def _staged(columns: _Columns, shown: str, storage: Storage) -> StagedFile:
    arrays = columns.arrays
    strange = [name for name, array in arrays.items() if not _is_cell(array.dtype)]
    if strange or not arrays:
        kinds = {str(arrays[name].dtype) for name in strange} or {"nothing"}
        msg = f"{shown} holds {', '.join(sorted(kinds))}: save numbers, dates or text"
        raise TableError(msg)
    names = list(arrays)
    step = max(1, _BATCH // len(names))
    first, *_ = arrays.values()
    try:
        staged = stage_relation(
            storage, shown, "given", names=names, given=_batch(arrays, slice(0, step))
        )
        for start in range(step, len(first), step):
            batch = _batch(arrays, slice(start, start + step))
            storage.rows("INSERT INTO rows SELECT * FROM given", given=batch)
    except (duckdb.Error, UnicodeError) as error:  # text that is none
        raise _unreadable(shown, error) from None
    # An array of text may be all that could hold numbers and words side by side.
    found = [replace(c, words=False, declared=c.stored != "text") for c in staged.columns]
    return replace(staged, columns=found, has_header=columns.named, notes=columns.notes)


def _batch(arrays: dict[str, NDArray[Any]], rows: slice) -> dict[str, NDArray[Any]]:
    return {f"c{j}": _plain(array[rows]) for j, array in enumerate(arrays.values())}


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The cells as DuckDB takes them."""
    kind = array.dtype.kind
    if kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if kind in "US":
        return _texts(array)
    if kind == "b":
        return np.where(array, "true", "false").astype(object)
    if kind == "M":
        return array.astype("datetime64[us]")
    return np.ascontiguousarray(array, dtype=np.float64)


def _texts(array: NDArray[np.str_]) -> NDArray[np.object_]:
    """Texts one by one; numbers that are no characters are refused, as text is by DuckDB."""
    if array.size and array.itemsize:
        numbers = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).view(np.uint32)
        if int(numbers.max()) > sys.maxunicode:
            msg = "no character"
            raise UnicodeError(msg)
    return array.astype(object)


def _unreadable(shown: str, error: Exception | None) -> TableError:
    if "pickle" in str(error) or "Python objects" in str(error):
        remedy = "save it with a plain dtype, or as CSV or Parquet"
        return TableError(f"{shown} holds Python objects, pickled, which could run code: {remedy}")
    return TableError(f"{shown} is a damaged NumPy file or breaks off: save or copy it again")

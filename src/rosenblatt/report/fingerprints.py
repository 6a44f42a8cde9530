"""A fingerprint of a table: the same for the same values, in whatever file they stand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rosenblatt.report.clustered import ClusteredTraining
from rosenblatt.report.fits import EncodedTable
from rosenblatt.tables.texts import MISSING_CODE, PIECE, Texts


def fingerprint(table: EncodedTable) -> str:
    """SHA-256 of what was learned from: names of columns, their cells, and classes, row by row.

    It runs over the name, the kind and the cells of every column, and over the classes. Numbers
    are little-endian float64 (with one zero and one NaN), dates microseconds since 1970, texts
    numbers in the order in which they first occur, and these texts. What is left out of the table,
    and how its cells were written, makes no difference; the order of rows and columns does.
    """
    whole = hashlib.sha256()
    labels, numbers = table.labels
    classes = Texts(np.array([str(label) for label in labels], object), numbers)
    if isinstance(table, ClusteredTraining):
        columns = [(name, *found) for name, found in _columns_of_parts(table).items()]
    else:
        columns = [(name, *_column(cells)) for name, cells in table.columns.items()]
    for column in [*columns, (table.target, *_column(classes))]:
        whole.update(json.dumps(column).encode())
    return f"sha256:{whole.hexdigest()}"


def _columns_of_parts(table: ClusteredTraining) -> dict[str, tuple[str, str]]:
    """The kind and the hash of each column of a table that is sent for part by part."""
    found = {name: hashlib.sha256() for name in table.columns}
    ranks: dict[str, dict[str, int]] = {name: {} for name in table.columns}
    kinds: dict[str, str] = {}
    for part in table.parts_of_columns():
        for name, cells in part.items():
            if isinstance(cells, Texts):
                kinds[name], (texts, own) = "text", _in_order(cells)
                places = [ranks[name].setdefault(text, len(ranks[name])) for text in texts]
                known = np.array([*places, MISSING_CODE], dtype="<i4")
                found[name].update(known[own[cells.codes]].tobytes())
            elif cells.dtype.kind == "M":
                kinds[name] = "date"
                found[name].update(_whole(cells.astype("datetime64[us]")).tobytes())
            else:
                kinds[name] = "number"
                found[name].update(_plain(cells).tobytes())
    for name, kind in kinds.items():
        if kind == "text":
            found[name].update(json.dumps(list(ranks[name])).encode())
    return {name: (kinds[name], found[name].hexdigest()) for name in table.columns}


def _column(cells: Any) -> tuple[str, str]:
    """The kind of a column, and the hash of its cells."""
    if issparse(cells):
        whole = [_pieces(part, _whole) for part in (cells.indptr, cells.indices)]
        return "sparse", _hash(
            [_whole(np.asarray(cells.shape))], *whole, _pieces(cells.data, _plain)
        )
    if isinstance(cells, Texts):
        texts, ranks = _in_order(cells)
        return "text", _hash(_pieces(cells.codes, ranks.__getitem__), [json.dumps(texts).encode()])
    if cells.dtype.kind == "M":
        return "date", _hash(_pieces(cells, lambda part: _whole(part.astype("datetime64[us]"))))
    return "number", _hash(_pieces(cells, _plain))


def _pieces(cells: NDArray[Any], made: Callable[[Any], Any]) -> Iterator[Any]:
    """What is made of the cells, some at a time, as they may lie on disk."""
    return (made(cells[start : start + PIECE]) for start in range(0, len(cells), PIECE))


def _whole(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers, or dates, as they are hashed."""
    return numbers.astype("<i8")


def _plain(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers that are the same if they are equal: one zero, one NaN."""
    plain: NDArray[np.float64] = np.add(numbers, 0.0, dtype="<f8")
    plain[np.isnan(plain)] = np.nan
    return plain


def _in_order(texts: Texts) -> tuple[list[str], NDArray[np.int32]]:
    """The texts in the order in which they first occur, and for each code its rank there."""
    n, none = len(texts), len(texts.values)
    first = np.full(none + 1, n)
    for start in reversed(range(0, n, PIECE)):
        codes = texts.codes[start : start + PIECE]
        first[codes[::-1]] = np.arange(start, start + len(codes))[::-1]  # the last one stays
    order = np.argsort(first[:none], kind="stable")
    order = order[first[order] < n]
    ranks = np.full(none + 1, MISSING_CODE, dtype="<i4")
    ranks[order] = np.arange(len(order))
    return texts.values[order].tolist(), ranks


def _hash(*parts: Iterable[Any]) -> str:
    found = hashlib.sha256()
    for part in chain.from_iterable(parts):
        found.update(part)
    return found.hexdigest()

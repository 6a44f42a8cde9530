"""What is to be learned of each sample: classes by number, or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from rosenblatt.arguments import as_array, floats, label_vector, real_labels
from rosenblatt.tables.cells import truth_in_one_way
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from rosenblatt.streams.cache import Cache
    from rosenblatt.tables.frames import Cells

MOST_CLASSES = 10_000  # different numbers; more of them, or fractions, are no classes
STEP = 1 << 20  # samples at a time


class Target(NamedTuple):
    """The target of all samples, on disk: classes, numbers, or both where numbers are classes."""

    label: NDArray[np.int32] | None
    classes: NDArray[Any] | None
    targets: NDArray[np.float64] | None


class TargetWriter:
    """Labels that come block by block, of any kind that `fit` takes, but all of one kind."""

    def __init__(self, cache: Cache) -> None:
        self._cache, self._n = cache, 0
        self._kind = ""
        self._dtype: Any = None
        self._codes: dict[Any, int] = {}  # of labels that are no numbers, as they first come
        self._values: NDArray[Any] | None = np.empty(
            0
        )  # the different numbers; None: they are no classes
        self._file: Any = None

    def add(self, y: Any, n: int) -> None:
        """The labels of the next n samples."""
        values = label_vector("y", as_array("y", real_labels("y", y)))
        if len(values) != n:
            first = self._n + 1
            msg = f"the block that begins with row {first} has {n} rows, but y has {len(values)}"
            raise ValueError(msg)
        kind = "number" if values.dtype.kind in "biuf" else "text"
        self._begin(kind, values.dtype)
        if kind == "number":
            self._file.append(self._numbers(values))
        else:
            found, inverse = np.unique(values, return_inverse=True)
            self._file.append(self._places(found.tolist())[inverse])
        self._n += n

    def add_cells(self, cells: Cells, rows: NDArray[np.intp] | None) -> None:
        """The cells of the target in a block of a table; only these rows, if any are named."""
        if cells.kind == "date":
            msg = f"the target {cells.name!r} holds dates: choose a column of classes or numbers"
            raise ValueError(msg)
        values: Any = cells.values
        if isinstance(values, Texts):
            codes = values.codes if rows is None else values.codes[rows]
            self._begin("text", np.dtype(str))
            self._file.append(self._places(truth_in_one_way(values.values))[codes])
        else:
            numbers = values.as_floats()
            numbers = numbers if rows is None else numbers[rows]
            whole = bool((numbers == np.floor(numbers)).all())
            self._begin("number", np.dtype(np.int64 if whole else np.float64))
            self._file.append(self._numbers(numbers))
        self._n += len(cells) if rows is None else len(rows)

    def _begin(self, kind: str, dtype: np.dtype[Any]) -> None:
        """Note the kind of the first labels; refuse another one later."""
        if not self._kind:
            self._kind = kind
            self._file = self._cache.file(np.float64 if kind == "number" else np.int32)
            self._dtype = dtype
        if kind != self._kind:
            msg = (
                f"the target holds {kind}s from row {self._n + 1} on, but {self._kind}s before: "
                "give labels of one kind in all blocks"
            )
            raise ValueError(msg)
        self._dtype = np.result_type(self._dtype, dtype)

    def _numbers(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Labels that are numbers."""
        numbers = floats("y", values)
        if not np.isfinite(numbers).all():
            place = int(np.argmin(np.isfinite(numbers)))
            msg = f"y holds {numbers[place]} in row {self._n + place + 1}: leave such rows out"
            raise ValueError(msg)
        if self._values is not None:
            self._values = np.union1d(self._values, numbers)
            whole = (self._values == np.floor(self._values)).all()
            if len(self._values) > MOST_CLASSES or not whole:
                self._values = None
        return numbers

    def _places(self, labels: Iterable[Any]) -> NDArray[np.int32]:
        """The number of each of some labels that are no numbers, as they first came."""
        places = [self._codes.setdefault(one, len(self._codes)) for one in labels]
        return np.array(places, dtype=np.int32)

    def finished(self) -> Target:
        """All labels, the classes in sorted order."""
        if self._file is None:
            msg = "there are no rows: give at least one"
            raise ValueError(msg)
        stored = self._file.mapped()
        if self._kind == "text":
            # Values that stand in no row are no classes.
            classes, rank = self._in_order(stored)
            return Target(self._numbered(stored, lambda codes: rank[codes]), classes, None)
        if self._values is None:
            return Target(None, None, stored)
        known = self._values
        label = self._numbered(stored, lambda numbers: np.searchsorted(known, numbers))
        return Target(label, known.astype(self._dtype), stored)

    def _in_order(self, stored: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """The labels that occur, sorted, and for every number its place among them."""
        there = np.zeros(len(self._codes), np.bool_)
        for a in range(0, len(stored), STEP):
            there[stored[a : a + STEP]] = True
        labels = list(self._codes)
        used = sorted(labels[k] for k in np.flatnonzero(there))
        place = {label: k for k, label in enumerate(used)}
        rank = np.array([place.get(label, -1) for label in labels], dtype=np.int32)
        return np.array(used), rank

    def _numbered(self, stored: Any, number: Callable[[Any], Any]) -> NDArray[np.int32]:
        label = self._cache.file(np.int32)
        for a in range(0, len(stored), STEP):
            label.append(number(stored[a : a + STEP]))
        return label.mapped()


def target_bytes(cells: Cells) -> bytes:
    """The cells of a target row by row, texts by a number for each; however blocks are cut."""
    values: Any = cells.values
    if not isinstance(values, Texts):
        return np.asarray(values.as_floats()).tobytes()
    numbers = [crc32(text.encode("utf-8", "surrogatepass")) for text in values.values]
    return np.array([*numbers, 0], dtype=np.uint32)[values.codes].tobytes()


def known_rows(cells: Cells) -> NDArray[np.intp] | None:
    """The rows of a target column that have one; None: all."""
    values = cells.values
    if isinstance(values, Texts):
        missing = values.codes == MISSING_CODE
    elif values.complete:
        return None
    else:
        missing = np.isnan(values.as_floats())
    return np.flatnonzero(~missing) if missing.any() else None

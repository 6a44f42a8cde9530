"""From columns to features: numbers scaled, texts one-hot, as an array or as CSR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.contract.parameters import count_threads
from rosenblatt.running.threads import Team
from rosenblatt.tables.cells import MISSING, TRUTH
from rosenblatt.tables.loops import scale, scale_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.frames import Cells, Numbers
    from rosenblatt.tables.texts import Texts

    Spec = dict[str, Any]

HUGE = 1e300
BLOCK = 1 << 16  # numbers of X that stay in the cache while column after column is written


def width(spec: Spec) -> int:
    """How many features a column becomes."""
    if "words" in spec:
        return len(spec["idf"])
    return len(spec["values"]) if spec["kind"] == "text" else 1


def names(spec: Spec) -> list[str]:
    """What the features of a column are called."""
    name = spec["name"]
    if "words" in spec:
        return [f"{name}:{word}" for word in words_of(spec)]
    return [f"{name}={value}" for value in spec["values"]] if spec["kind"] == "text" else [name]


def words_of(spec: Spec) -> list[str]:
    """The words of a column of free text that are features; none holds a space."""
    words: str = spec["words"]
    return words.split(" ")


def scaling(spec: Spec) -> tuple[float, float, float]:
    """The three numbers of the feature ``(x/shrink - mean)/deviation`` of a column."""
    mean, deviation = spec["mean"], spec["deviation"]
    if deviation > HUGE:  # then x - mean may overflow, but x/deviation is small
        return deviation, mean / deviation, 1.0
    return 1.0, mean, deviation


def codes(spec: Spec, texts: Texts) -> NDArray[np.int32]:
    """The number of each cell's value, -1 where it was not there in training."""
    number = {value: k for k, value in enumerate(spec["values"])}
    values = texts.values.tolist()
    if set(number) <= TRUTH:
        values = list(map(str.lower, values))
    places = [number.get(value, -1) for value in [*values, MISSING]]
    found: NDArray[np.int32] = np.array(places, dtype=np.int32)[texts.codes]
    return found


@dataclass(frozen=True)
class _ScaledColumn:
    """Numbers, and how to scale them: ``(x/shrink - mean)/deviation``, missing ones as `fill`."""

    place: int
    numbers: Numbers
    fill: float
    shrink: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, place: int, spec: Spec, numbers: Numbers) -> _ScaledColumn:
        return cls(place, numbers, spec["fill"], *scaling(spec))

    def write(self, start: int, stop: int, out: Floats) -> None:
        """Write the rows from `start` up to `stop` into `out`."""
        values, rows, how = self.numbers.values, self.numbers.rows, (self.mean, self.deviation)
        if self.shrink != 1.0:  # hardly ever
            here = values[start:stop] if rows is None else values[rows[start:stop]]
            here = np.where(np.isnan(here), self.fill, here)
            scale(here / self.shrink, 0.0, *how, out)
        elif rows is None:
            scale(values[start:stop], self.fill, *how, out)
        else:
            scale_rows(values, rows[start:stop], self.fill, *how, out)


@dataclass(frozen=True)
class _CodedColumn:
    """For each row the number of its value, -1 where it has none; `start` is its first feature."""

    place: int
    start: int
    codes: NDArray[np.int32]
    complete: bool

    @classmethod
    def of(cls, place: int, start: int, spec: Spec, texts: Texts) -> _CodedColumn:
        found = codes(spec, texts)
        return cls(place, start, found, bool(found.size and found.min() >= 0))


def _prepared(
    specs: Sequence[Spec], columns: Sequence[Cells]
) -> tuple[list[_ScaledColumn], list[_CodedColumn], NDArray[np.int32], int]:
    """Columns of numbers and of codes, the first feature of each column, and how many there are."""
    scaled, coded = [], []
    starts = np.cumsum([0, *map(width, specs)]).astype(np.int32)
    for k, (spec, column) in enumerate(zip(specs, columns, strict=True)):
        if spec["kind"] == "text":
            coded.append(_CodedColumn.of(k, int(starts[k]), spec, column.values))  # type: ignore[arg-type]
        else:
            scaled.append(_ScaledColumn.of(k, spec, column.values))  # type: ignore[arg-type]
    return scaled, coded, starts[:-1], int(starts[-1])


def _in_blocks(n_rows: int, per_row: int, write: Callable[[int, int], None]) -> None:
    """Have all rows written in blocks that fit the cache, on all threads."""
    step = max(16, BLOCK // per_row)

    def write_range(edges: tuple[int, int]) -> None:
        for start in range(*edges, step):
            write(start, min(start + step, edges[1]))

    with Team(count_threads(None)) as team:
        team.each(write_range, team.ranges(n_rows, n_rows * per_row))


def filled_array(specs: Sequence[Spec], columns: Sequence[Cells], n_rows: int) -> Floats:
    """The features of all rows; a value not seen in training has none."""
    scaled, coded, starts, n_features = _prepared(specs, columns)
    X = np.zeros((n_rows, n_features)) if coded else np.empty((n_rows, n_features))

    def write(start: int, stop: int) -> None:
        block = X[start:stop]
        for column in scaled:
            column.write(start, stop, block[:, starts[column.place]])
        firsts = np.arange(0, block.size, n_features)
        for texts in coded:
            found = texts.codes[start:stop]
            places = firsts + (found + texts.start)
            block.reshape(-1)[places if texts.complete else places[found >= 0]] = 1.0

    _in_blocks(n_rows, n_features, write)
    return X


def filled_csr(specs: Sequence[Spec], columns: Sequence[Cells], n_rows: int) -> csr_matrix:
    """Every row has one entry per column; a value not seen in training has the entry 0."""
    scaled, coded, starts, n_features = _prepared(specs, columns)
    shape = n_rows, len(specs)
    entries, places = np.empty(shape), np.empty(shape, dtype=np.int32)

    def write(start: int, stop: int) -> None:
        rows = slice(start, stop)
        for column in scaled:
            column.write(start, stop, entries[rows, column.place])
        places[rows] = starts
        for texts in coded:
            found = texts.codes[rows]
            entries[rows, texts.place] = 1.0 if texts.complete else found >= 0
            np.add(found if texts.complete else np.maximum(found, 0), texts.start,
                   out=places[rows, texts.place])  # fmt: skip

    _in_blocks(n_rows, 2 * len(specs), write)
    indptr = np.arange(0, entries.size + 1, len(specs))
    return csr_matrix((entries.ravel(), places.ravel(), indptr), shape=(n_rows, n_features))

"""A column of text in memory: every distinct text once, and a code for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.number_loops import count_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

MISSING_CODE = -1
PIECE = 1 << 20  # codes at a time, as they may lie on disk


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of a column, `values[codes]`.

    Attributes
    ----------
    values : object array of str
        The distinct texts. Some may stand in no row.
    codes : int32 array
        For each row the place of its text among the values, -1 where it is missing.
    """

    values: NDArray[np.object_]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, cells: Iterable[str | None]) -> Texts:
        """From texts and None, the values in the order in which they first occur."""
        cells = list(cells)
        found = dict.fromkeys(cells)
        found.pop(None, None)
        places: dict[str | None, int] = {text: k for k, text in enumerate(found)}
        places[None] = MISSING_CODE
        codes = np.fromiter(map(places.__getitem__, cells), np.int32, len(cells))
        values = np.empty(len(found), dtype=object)
        values[:] = list(found)
        return cls(values, codes)

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """These texts one after another."""
        places: dict[str, int] = {}
        codes = []
        for part in parts:
            known = [places.setdefault(text, len(places)) for text in part.values]
            codes.append(np.array([*known, MISSING_CODE], dtype=np.int32)[part.codes])
        values = np.empty(len(places), dtype=object)
        values[:] = list(places)
        return cls(values, np.concatenate(codes))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Texts:
        """These rows (a slice, or an array of places or truth values), of the same values."""
        return Texts(self.values, self.codes[rows])

    def times(self) -> NDArray[np.int64]:
        """In how many rows each value stands, behind the number of missing cells."""
        counts = np.zeros(len(self.values) + 1, dtype=np.int64)
        count_codes(self.codes, counts)
        return counts

    def counts(self) -> NDArray[np.int64]:
        """In how many rows each of the values stands."""
        return counted(self.codes, len(self.values))

    def used(self) -> Texts:
        """The same without values that stand in no row."""
        there = np.flatnonzero(self.counts())
        codes = np.full(len(self.values) + 1, MISSING_CODE, np.int32)
        codes[there] = np.arange(len(there), dtype=np.int32)
        return Texts(self.values[there], codes[self.codes])

    def texts(self) -> NDArray[np.object_]:
        """Row by row: str, and None where it is missing."""
        return with_nothing(self.values)[self.codes]


def counted(codes: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """How many rows have each of `n` codes."""
    counts = np.zeros(n + 1, np.int64)
    for start in range(0, len(codes), PIECE):
        counts += np.bincount(codes[start : start + PIECE] + 1, minlength=n + 1)
    return counts[1:]


def with_nothing(values: NDArray[Any]) -> NDArray[np.object_]:
    """These values and None, so that the code of a missing cell stands for it."""
    longer = np.full(len(values) + 1, None, dtype=object)
    longer[:-1] = values
    return longer

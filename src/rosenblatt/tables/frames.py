"""Tables that Python holds, and their columns: numbers or texts, described once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import brief
from rosenblatt.tables.cells import is_number, missing, only_texts
from rosenblatt.tables.number_loops import gaps_and_infinities
from rosenblatt.tables.texts import Texts, with_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

DAY = np.timedelta64(1, "D")
LEAF = 1 << 14  # numbers that stay in the cache while something is done to them
IN_TRAINING = "it was numbers in training"


def is_named(X: Any) -> bool:
    """Whether it is a table whose columns have names: a mapping, a data frame, an Arrow table."""
    return not issparse(X) and (isinstance(X, Mapping) or hasattr(X, "columns"))


class Frame(NamedTuple):
    """Named columns of equal length, fetched when asked for; `rows`, if they are an array's."""

    names: list[str]
    n_rows: int
    fetch: Callable[[str], Any]
    rows: NDArray[Any] | None = None

    def __getitem__(self, name: Any) -> Any:
        cells = self.fetch(name)
        if _length(name, cells) != self.n_rows:
            msg = f"column {name} has {len(cells)} cells, but {self.names[0]} has {self.n_rows}"
            raise ValueError(msg)
        return cells

    @classmethod
    def of_columns(cls, X: Any) -> Frame:
        """From a mapping, a data frame or an Arrow table."""
        keys = list(_keys(X))
        if not keys:
            msg = "the table has no columns: give at least one"
            raise ValueError(msg)
        by_name = {str(key): key for key in keys}
        if len(by_name) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            msg = f"the table has two columns named {twice}: give every column its own name"
            raise ValueError(msg)
        n_rows = _n_rows(X, keys[0])
        if n_rows == 0:
            msg = "the table has no rows: give at least one"
            raise ValueError(msg)
        return cls(list(by_name), n_rows, lambda name: X[by_name[name]])

    @classmethod
    def of_array(cls, X: NDArray[Any], names: Any) -> Frame:
        """From a 2-D array, by position if the columns had names in training."""
        chosen = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
        place = {name: j for j, name in enumerate(chosen)}
        return cls(chosen, X.shape[0], lambda name: X[:, place[name]], X)

    def cut(self, room: int) -> Iterator[Frame]:
        """An array of numbers in parts of about so many; any other table as it is."""
        if self.rows is None or self.rows.dtype.kind not in "iuf":
            yield self
            return
        step = max(1, room // len(self.names))
        for start in range(0, self.n_rows, step):
            yield self.of_array(self.rows[start : start + step], self.names)


def is_empty(X: Any) -> bool:
    """Whether a table, or an array, has columns but no rows."""
    if not is_named(X):
        shape: Any = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
        return len(shape) > 0 and shape[0] == 0
    keys = list(_keys(X))
    return bool(keys) and _n_rows(X, keys[0]) == 0


def _keys(X: Any) -> Any:
    return X if isinstance(X, Mapping) else getattr(X, "column_names", X.columns)


def _n_rows(X: Any, key: Any) -> int:
    """How many rows there are; a table that is read column by column knows it."""
    known: int | None = getattr(X, "n_rows", None)
    return _length(key, X[key]) if known is None else known


def _length(name: Any, cells: Any) -> int:
    try:
        return len(cells)
    except TypeError:
        msg = f"column {name} is {brief(cells)}: give a list of cells"
        raise TypeError(msg) from None


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a column.

    Attributes
    ----------
    values : float64 array
        NaN where a number is missing.
    complete : bool
        Whether no value is missing.
    rows : int array or None
        The rows chosen; None for all. What is said above is of all the values.
    """

    values: Floats
    complete: bool
    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, values: Floats, before: int = 0) -> Numbers:
        """From floats, after a look at each of them; so many rows came before the first."""
        gaps, infinities = gaps_and_infinities(values.view(np.int64))
        numbers = cls(values, gaps == 0)
        if infinities:
            row = numbers.first(np.isinf)
            msg = f"holds {values[row]} in row {before + row + 1}: give finite numbers"
            raise ValueError(msg)
        return numbers

    def __len__(self) -> int:
        return len(self.values if self.rows is None else self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> Numbers:
        """These rows; nothing is copied."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def pieces(self) -> Iterator[Floats]:
        """The numbers in pieces that fit the cache, each good until the next one comes."""
        n, buffer = len(self), np.empty(0 if self.rows is None else min(LEAF, len(self)))
        for start in range(0, n, LEAF):
            yield self.part(start, min(start + LEAF, n), buffer)

    def first(self, test: Callable[[Floats], NDArray[np.bool_]]) -> int:
        """The first row whose number passes a test; -1 if none does."""
        start = 0
        for piece in self.pieces():
            passed = test(piece)
            if passed.any():
                return start + int(passed.argmax())
            start += len(piece)
        return -1

    def part(self, start: int, stop: int, out: Floats) -> Floats:
        """The numbers from `start` up to `stop`, perhaps in `out`."""
        if self.rows is None:
            return self.values[start:stop]
        # Any other mode would take them by way of one more array.
        return self.values.take(self.rows[start:stop], out=out[: stop - start], mode="clip")

    def as_floats(self) -> Floats:
        """All in one array."""
        return self.values if self.rows is None else self.values[self.rows]


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: its name, its kind and its numbers (dates: days since 1970) or texts."""

    name: str
    kind: str
    values: Numbers | Texts

    @classmethod
    def of(
        cls,
        name: str,
        cells: Any,
        kind: str | None = None,
        *,
        before: int = 0,
        known: str = IN_TRAINING,
    ) -> Cells:
        """Read cells of any type, as the given kind or as the one they look like.

        What is refused is named by its row, `before` of which came in other blocks, and by how it
        is known what the column holds.
        """
        if isinstance(cells, Cells):
            return cells
        if isinstance(cells, Texts):
            if kind in (None, "text"):
                return cls(name, "text", cells)
            cells = cells.texts()
        cells = np.ma.filled(np.ma.asarray(cells), np.nan) if np.ma.isMA(cells) else cells
        cells = np.asarray(cells)
        if cells.ndim != 1:
            msg = f"column {name} has cells with several values: give one number or text a cell"
            raise ValueError(msg)
        if cells.dtype.kind in "iufM" and kind in (None, "number", "date"):
            return cls._of_numbers(name, cells, kind, before)
        cells = cells.astype(object, copy=False)
        all_texts = only_texts(cells)
        if all_texts and kind in (None, "text"):
            return cls(name, "text", Texts.of(cells))
        gone = missing(cells, texts=all_texts)
        if kind is None:
            kind = "number" if all(map(is_number, cells[~gone])) else "text"
        if kind != "text":
            floats = _to_floats(name, cells, gone, before, known)
            return cls._of_numbers(name, floats, kind, before)
        texts = with_nothing(cells)[:-1]
        texts[gone] = None
        texts[~gone] = list(map(str, cells[~gone]))
        return cls(name, "text", Texts.of(texts))

    @classmethod
    def _of_numbers(cls, name: str, cells: NDArray[Any], kind: str | None, before: int) -> Cells:
        found = "date" if cells.dtype.kind == "M" else "number"
        if found == "date":
            cells = _days(cells)
        try:
            numbers = Numbers.of(np.ascontiguousarray(cells, dtype=np.float64), before)
        except ValueError as error:
            msg = f"column {name} {error}"
            raise ValueError(msg) from None
        return cls(name, kind or found, numbers)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: NDArray[np.intp]) -> Cells:
        """The column with these rows only."""
        return replace(self, values=self.values[rows])

    def first_present(self) -> int:
        """The first row whose cell is not missing; -1 if all are."""
        if isinstance(self.values, Numbers):
            return self.values.first(lambda numbers: numbers == numbers)
        codes = self.values.codes
        for start in range(0, len(codes), LEAF):
            present = codes[start : start + LEAF] >= 0
            if present.any():
                return start + int(present.argmax())
        return -1


def _days(dates: NDArray[Any]) -> Floats:
    """Dates as days since 1970, NaN where there is none."""
    days = np.empty(len(dates))
    for start in range(0, len(dates), LEAF):
        piece = slice(start, start + LEAF)
        days[piece] = (dates[piece] - np.datetime64(0, "D")) / DAY
    return days


def _to_floats(
    name: str, cells: NDArray[Any], gone: NDArray[np.bool_], before: int, known: str
) -> Floats:
    """Numbers from single cells, or one line that says which is none."""
    floats = np.full(len(cells), np.nan)
    for i in np.flatnonzero(~gone):
        try:
            floats[i] = float(cells[i])
        except (TypeError, ValueError, OverflowError):
            msg = f"column {name} holds {cells[i]!r} in row {before + i + 1}, but {known}"
            raise ValueError(msg) from None
    return floats

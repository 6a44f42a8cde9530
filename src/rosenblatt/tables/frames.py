"""Tables that Python holds, and their columns: numbers or texts, described once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import brief
from rosenblatt.tables.cells import is_number, missing, only_texts
from rosenblatt.tables.loops import largest_and_tiny
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

DAY = np.timedelta64(1, "D")
LEAF = 1 << 14  # numbers that stay in the cache while something is done to them
# Numbers that are zero or between these in size can be squared and summed as they are.
SMALLEST, LARGEST = 2.0**-200, 2.0**200
SMALLEST_BITS = int(np.float64(SMALLEST).view(np.int64))


def is_named(X: Any) -> bool:
    """Whether it is a table whose columns have names: a mapping, a data frame, an Arrow table."""
    return not issparse(X) and (isinstance(X, Mapping) or hasattr(X, "columns"))


class Frame(NamedTuple):
    """Named columns of equal length, fetched when asked for."""

    names: list[str]
    n_rows: int
    fetch: Callable[[str], Any]

    def __getitem__(self, name: Any) -> Any:
        cells = self.fetch(name)
        if _length(name, cells) != self.n_rows:
            msg = f"column {name} has {len(cells)} cells, but {self.names[0]} has {self.n_rows}"
            raise ValueError(msg)
        return cells

    @classmethod
    def of_columns(cls, X: Any) -> Frame:
        """From a mapping, a data frame or an Arrow table."""
        named = X if isinstance(X, Mapping) else getattr(X, "column_names", X.columns)
        keys = list(named)
        if not keys:
            msg = "the table has no columns: give at least one"
            raise ValueError(msg)
        by_name = {str(key): key for key in keys}
        if len(by_name) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            msg = f"the table has two columns named {twice}: give every column its own name"
            raise ValueError(msg)
        n_rows = getattr(X, "n_rows", None)  # a table that is read column by column knows it
        if n_rows is None:
            n_rows = _length(keys[0], X[keys[0]])
        if n_rows == 0:
            msg = "the table has no rows: give at least one"
            raise ValueError(msg)
        return cls(list(by_name), n_rows, lambda name: X[by_name[name]])

    @classmethod
    def of_array(cls, X: NDArray[Any], names: Any) -> Frame:
        """From a 2-D array, by position if the columns had names in training."""
        chosen = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
        place = {name: j for j, name in enumerate(chosen)}
        return cls(chosen, X.shape[0], lambda name: X[:, place[name]])


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
    missing : bool array or None
        Where that is; None where no number is missing.
    moderate : bool
        Whether all can be squared and summed as they are.
    rows : int array or None
        The rows chosen; None for all. What is said above is of all the values.
    """

    values: Floats
    missing: NDArray[np.bool_] | None
    moderate: bool
    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, values: Floats) -> Numbers:
        """From floats, after a look at each of them."""
        known, gone = values, None
        largest, moderate = _sizes(values)
        if np.isnan(largest):
            gone = np.isnan(values)
            known = values[~gone]
            largest, moderate = _sizes(known)
        if np.isinf(largest):
            row = int(np.flatnonzero(np.isinf(values))[0]) + 1
            msg = f"holds {values[row - 1]} in row {row}: give finite numbers"
            raise ValueError(msg)
        return cls(values, gone, moderate)

    def __len__(self) -> int:
        return len(self.values if self.rows is None else self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> Numbers:
        """These rows; nothing is copied unless numbers are missing."""
        if self.missing is None:
            return replace(self, rows=rows if self.rows is None else self.rows[rows])
        gone = self.missing[rows]
        return replace(self, values=self.values[rows], missing=gone if gone.any() else None)

    @property
    def n_missing(self) -> int:
        """How many are missing."""
        return 0 if self.missing is None else int(np.count_nonzero(self.missing))

    def present(self) -> Numbers:
        """Those that are not missing."""
        if self.missing is None:
            return self
        return Numbers(self.values[~self.missing], None, self.moderate)

    def part(self, start: int, stop: int, out: Floats) -> Floats:
        """The numbers from `start` up to `stop`, perhaps in `out`."""
        if self.rows is None:
            return self.values[start:stop]
        # Any other mode would take them by way of one more array.
        return self.values.take(self.rows[start:stop], out=out[: stop - start], mode="clip")

    def as_floats(self) -> Floats:
        """All in one array."""
        return self.values if self.rows is None else self.values[self.rows]


def _sizes(values: Floats) -> tuple[float, bool]:
    """The largest absolute value (or NaN, if there is one), and whether all are moderate."""
    bits, tiny = largest_and_tiny(values.view(np.int64), SMALLEST_BITS)
    largest = float(np.int64(bits).view(np.float64))
    return largest, not tiny and largest <= LARGEST


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: its name, its kind and its numbers (dates: days since 1970) or texts."""

    name: str
    kind: str
    values: Numbers | Texts

    @classmethod
    def of(cls, name: str, cells: Any, kind: str | None = None) -> Cells:
        """Read cells of any type, as the given kind or as the one they look like."""
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
            return cls._of_numbers(name, cells, kind)
        cells = cells.astype(object)
        all_texts = only_texts(cells)
        gone = missing(cells, texts=all_texts)
        if kind is None:
            numbers = not all_texts and all(map(is_number, cells[~gone]))
            kind = "number" if numbers else "text"
        if kind != "text":
            return cls._of_numbers(name, _to_floats(name, cells, gone), kind)
        if not all_texts:
            cells[~gone] = list(map(str, cells[~gone]))
            cells[gone] = None
        return cls(name, "text", Texts.of(cells))

    @classmethod
    def _of_numbers(cls, name: str, cells: NDArray[Any], kind: str | None) -> Cells:
        found = "date" if cells.dtype.kind == "M" else "number"
        if found == "date":
            cells = (cells - np.datetime64(0, "D")) / DAY
        try:
            numbers = Numbers.of(np.ascontiguousarray(cells, dtype=np.float64))
        except ValueError as error:
            msg = f"column {name} {error}"
            raise ValueError(msg) from None
        return cls(name, kind or found, numbers)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: NDArray[np.intp]) -> Cells:
        """The column with these rows only."""
        return replace(self, values=self.values[rows])


def _to_floats(name: str, cells: NDArray[Any], gone: NDArray[np.bool_]) -> Floats:
    """Numbers from single cells, or one line that says which is none."""
    floats = np.full(len(cells), np.nan)
    for i in np.flatnonzero(~gone):
        try:
            floats[i] = float(cells[i])
        except (TypeError, ValueError, OverflowError):
            msg = f"column {name} holds {cells[i]!r} in row {i + 1}, but it was numbers in training"
            raise ValueError(msg) from None
    return floats


def mean_and_deviation(numbers: Numbers) -> tuple[float, float]:
    """Of numbers of any size, none missing."""
    if not numbers.moderate:
        return _of_any_size(numbers.as_floats())
    n, buffer = len(numbers), np.empty(min(LEAF, len(numbers)))

    def total(start: int, stop: int) -> Any:
        return np.add.reduce(numbers.part(start, stop, buffer))

    def squares(start: int, stop: int) -> Any:
        apart = numbers.part(start, stop, buffer)
        apart = np.subtract(apart, mean, out=buffer[: stop - start])
        return np.add.reduce(np.multiply(apart, apart, out=apart))

    mean = _summed(total, 0, n) / n
    return float(mean), float(np.sqrt(_summed(squares, 0, n) / n))


def _summed(part: Callable[[int, int], Any], start: int, stop: int) -> Any:
    """The sum of all parts, each of which fits the cache.

    They are cut and added as NumPy's own sum does inside, so that `mean` and `std` of the whole
    column would give the same bits.
    """
    n = stop - start
    if n <= LEAF:
        return part(start, stop)
    middle = start + n // 2 - n // 2 % 8
    return _summed(part, start, middle) + _summed(part, middle, stop)


def _of_any_size(values: Floats) -> tuple[float, float]:
    """The same where squares would leave the floating-point range."""
    exponent = np.frexp(np.abs(values).max())[1]
    scaled = np.ldexp(values, -exponent)
    mean, deviation = float(scaled.mean()), float(scaled.std())
    return float(np.ldexp(mean, exponent)), float(np.ldexp(deviation, exponent))


def are_equal(numbers: Numbers, mean: float, deviation: float) -> bool:
    """Whether all are the same number."""
    if numbers.moderate and deviation > 1e-12 * abs(mean):  # much more than rounding makes of none
        return False
    values = numbers.as_floats()
    return bool(values.min() == values.max())

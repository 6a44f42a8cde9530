"""Any table that Python holds, as named columns of cells: a mapping, a data frame, an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.tables.cells import is_number, missing, only_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MISSING = "(missing)"
DAY = np.timedelta64(1, "D")


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
        """From a mapping or a data frame."""
        keys = list(X) if isinstance(X, Mapping) else list(X.columns)
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


class Cells(NamedTuple):
    """The cells of a column: float64 for numbers and dates (in days), otherwise text."""

    name: str
    kind: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, cells: Any, kind: str | None = None) -> Cells:
        """Read cells of any type, as the given kind or as the one they look like."""
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
        texts = np.where(gone, MISSING, cells)
        if not all_texts:
            texts[:] = list(map(str, texts))
        return cls(name, "text", texts, gone)

    @classmethod
    def _of_numbers(cls, name: str, cells: NDArray[Any], kind: str | None) -> Cells:
        found = "date" if cells.dtype.kind == "M" else "number"
        if found == "date":
            days = (cells - np.datetime64(0, "D")) / DAY
            return cls(name, kind or found, days.astype(np.float64), missing(cells))
        floats = cells.astype(np.float64)
        if np.isinf(floats).any():
            row = int(np.flatnonzero(np.isinf(floats))[0]) + 1
            msg = f"column {name} holds {floats[row - 1]} in row {row}: give finite numbers"
            raise ValueError(msg)
        return cls(name, kind or found, floats, missing(floats))


def _to_floats(name: str, cells: NDArray[Any], missing: NDArray[np.bool_]) -> Floats:
    """Numbers from single cells, or one line that says which is none."""
    floats = np.full(len(cells), np.nan)
    for i in np.flatnonzero(~missing):
        try:
            floats[i] = float(cells[i])
        except (TypeError, ValueError, OverflowError):
            msg = f"column {name} holds {cells[i]!r} in row {i + 1}, but it was numbers in training"
            raise ValueError(msg) from None
    return floats


TRUTH = {"true", "false", MISSING}


def truth_in_one_way(texts: NDArray[np.object_]) -> NDArray[np.object_]:
    """Truth values, which formats write as True, TRUE or true, all as true and false."""
    if {text.lower() for text in set(texts)} <= TRUTH:
        return np.array([text.lower() for text in texts], dtype=object)
    return texts

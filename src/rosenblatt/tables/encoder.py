"""Tables as numbers: the first step of a pipeline whose second is a classifier."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping
from itertools import repeat
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.contract.parameters import yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Spec = dict[str, Any]

MISSING = "(missing)"
DAY = np.timedelta64(1, "D")
HUGE = 1e300


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a table as features: numbers standardised, texts one-hot.

    =========  ==================================================================
    column     features
    =========  ==================================================================
    numbers    ``(x - mean)/deviation``; a missing cell becomes the mean
    dates      the same, of the days since 1970
    texts      one feature per value, 1 where the cell has it; missing cells are a
               value of their own, and one not seen in training has no feature
    =========  ==================================================================

    A column is left out if it is the same everywhere, or if it tells the rows apart instead of
    the classes: a text that is different in every row (or in more than half of them, with more
    than 50 different texts), the number of the row, or unique whole numbers named like an id.

    Parameters
    ----------
    standardize : bool
        Whether to standardise numbers; otherwise they stay as they are.
    use : sequence of str
        Columns to use although they look as if they number or name the rows.

    Attributes
    ----------
    columns_ : list of dict
        For every column its name, its kind ("number", "date" or "text"), and either why it was
        left out or what its features are made of.
    n_missing_ : dict
        How many cells were missing, for the columns that had any.

    Examples
    --------
    >>> from rosenblatt.tables.encoder import TableEncoder
    >>> table = {"height": [1.6, 1.7, 1.8], "club": ["A", "B", "A"]}
    >>> encoder = TableEncoder(standardize=False).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['height', 'club=A', 'club=B']
    >>> encoder.transform(table).tolist()
    [[1.6, 1.0, 0.0], [1.7, 0.0, 1.0], [1.8, 1.0, 0.0]]
    """

    def __init__(self, *, standardize: bool = True, use: Iterable[str] = ()) -> None:
        self.standardize = standardize
        self.use = use

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn means, deviations and values.

        Parameters
        ----------
        X : mapping from names to columns, data frame or 2-D array
        y : ignored

        Returns
        -------
        self
        """
        standardize, use = yes_or_no("standardize", self.standardize), set(self.use)
        table = self._open(X, reset=True)
        if table.n_rows == 1:
            msg = "the table has only one sample: columns that never vary tell nothing"
            raise ValueError(msg)
        self.columns_, self.n_missing_ = [], {}
        for name in table.names:
            column = Column.of(name, table[name])
            self.columns_.append(_describe(column, standardize, name in use))
            if column.missing.any():
                self.n_missing_[name] = int(column.missing.sum())
        if not self._used():
            reasons = "; ".join(f"{s['name']}: {s['dropped']}" for s in self.columns_[:3])
            remedy = "--use COLUMN, in Python use=[...], keeps one all the same"
            msg = f"no column is left to learn from ({reasons}); {remedy}"
            raise ValueError(msg)
        # Worth it when rows are mostly zeros: few columns with very many values.
        widths = [_width(spec) for spec in self._used()]
        self.sparse_ = sum(widths) > 50 + 4 * len(widths)
        return self

    def transform(self, X: Any) -> Any:
        """The features of each row: an array, or CSR where most of them are zero."""
        check_is_fitted(self)
        used = self._used()
        table = self._open(X, reset=False, wanted=[spec["name"] for spec in used])
        fill = _filled_csr if self.sparse_ else _filled_array
        return fill(used, table)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features: the column's, or ``column=value``."""
        check_is_fitted(self)
        names: list[str] = []
        for spec in self._used():
            texts = spec["kind"] == "text"
            names += [f"{spec['name']}={v}" for v in spec["values"]] if texts else [spec["name"]]
        return np.array(names, dtype=object)

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of every column in use."""
        check_is_fitted(self)
        return {spec["name"]: spec["kind"] for spec in self._used()}

    def unseen(self, X: Any) -> dict[str, NDArray[np.object_]]:
        """The cells, by column, whose value was not there in training."""
        check_is_fitted(self)
        texts = [spec for spec in self._used() if spec["kind"] == "text"]
        table = self._open(X, reset=False, wanted=[spec["name"] for spec in texts])
        found = {}
        for spec in texts:
            column = Column.of(spec["name"], table[spec["name"]], "text")
            strange = _codes(spec, column) < 0
            if strange.any():
                found[column.name] = column.values[strange]
        return found

    def _used(self) -> list[Spec]:
        return [spec for spec in self.columns_ if "dropped" not in spec]

    def _open(self, X: Any, *, reset: bool, wanted: Iterable[str] = ()) -> _Table:
        """Any kind of table as named columns; in training their names are noted."""
        if not issparse(X) and (isinstance(X, Mapping) or hasattr(X, "columns")):
            table = _Table.of_columns(X)
            if reset:
                self.n_features_in_ = len(table.names)
                self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            table = _Table.of_array(X, getattr(self, "feature_names_in_", None))
        absent = [name for name in wanted if name not in table.names]
        if absent:
            msg = f"columns are missing that were there in training: {', '.join(absent)}"
            raise ValueError(msg)
        return table

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "columns_") and not self._fits_together():
            msg = "the parts of this TableEncoder do not fit together"
            raise ValueError(msg)

    def _fits_together(self) -> bool:
        """Whether the columns are described as `fit` would."""
        names = [spec["name"] for spec in self.columns_]
        given = getattr(self, "feature_names_in_", names)
        missing = self.n_missing_.items()
        return (
            all(map(_is_whole, self.columns_))
            and len(set(names)) == len(names) == self.n_features_in_
            and list(given) == names
            and all(name in names and type(n) is int and n > 0 for name, n in missing)
            and isinstance(self.sparse_, bool | np.bool_)
            and bool(self._used())
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class _Table(NamedTuple):
    """Named columns of equal length, fetched when asked for."""

    names: list[str]
    n_rows: int
    fetch: Callable[[str], Any]

    def __getitem__(self, name: Any) -> Any:
        return self.fetch(name)

    @classmethod
    def of_columns(cls, X: Any) -> _Table:
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
            n_rows = len(X[keys[0]])
        if n_rows == 0:
            msg = "the table has no rows: give at least one"
            raise ValueError(msg)
        return cls(list(by_name), n_rows, lambda name: X[by_name[name]])

    @classmethod
    def of_array(cls, X: NDArray[Any], names: Any) -> _Table:
        """From a 2-D array, by position if the columns had names in training."""
        chosen = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
        place = {name: j for j, name in enumerate(chosen)}
        return cls(chosen, X.shape[0], lambda name: X[:, place[name]])


class Column(NamedTuple):
    """The cells of a column: float64 for numbers and dates (in days), otherwise text."""

    name: str
    kind: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, cells: Any, kind: str | None = None) -> Column:
        """Read cells of any type, as the given kind or as the one they look like."""
        cells = np.ma.filled(np.ma.asarray(cells), np.nan) if np.ma.isMA(cells) else cells
        cells = np.asarray(cells)
        if cells.ndim != 1:
            msg = f"column {name} has cells with several values: give one number or text a cell"
            raise ValueError(msg)
        if cells.dtype.kind in "iufM" and kind in (None, "number", "date"):
            return cls._of_numbers(name, cells, kind)
        cells = cells.astype(object)
        if set(map(type, cells)) <= {str, NoneType}:
            missing = (cells == None).astype(np.bool_)  # noqa: E711 (cell by cell)
            if kind is None or kind == "text":
                return cls(name, "text", np.where(missing, MISSING, cells), missing)
        missing = np.fromiter(map(_is_missing, cells), np.bool_, len(cells))
        if kind is None:
            kind = "number" if all(map(_is_number, cells[~missing])) else "text"
        if kind != "text":
            return cls._of_numbers(name, _to_floats(name, cells, missing), kind)
        texts = np.empty(len(cells), dtype=object)
        texts[:] = [MISSING if gone else str(c) for c, gone in zip(cells, missing, strict=True)]
        return cls(name, "text", texts, missing)

    @classmethod
    def _of_numbers(cls, name: str, cells: NDArray[Any], kind: str | None) -> Column:
        found = "date" if cells.dtype.kind == "M" else "number"
        if found == "date":
            days = (cells - np.datetime64(0, "D")) / DAY
            return cls(name, kind or found, days.astype(np.float64), np.isnat(cells))
        floats = cells.astype(np.float64)
        if np.isinf(floats).any():
            row = int(np.flatnonzero(np.isinf(floats))[0]) + 1
            msg = f"column {name} holds {floats[row - 1]} in row {row}: give finite numbers"
            raise ValueError(msg)
        return cls(name, kind or found, floats, np.isnan(floats))


def _is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA, none of which is certainly equal to itself."""
    return cell is None or cell is not cell or type(cell).__name__ == "NAType" or cell != cell


def _is_number(cell: Any) -> bool:
    return isinstance(cell, numbers.Real) and not isinstance(cell, bool | np.bool_)


TRUTH = {"true", "false", MISSING}


def truth_in_one_way(texts: NDArray[np.object_]) -> NDArray[np.object_]:
    """Truth values, which formats write as True, TRUE or true, all as true and false."""
    if {text.lower() for text in set(texts)} <= TRUTH:
        return np.array([text.lower() for text in texts], dtype=object)
    return texts


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


def _describe(column: Column, standardize: bool, wanted: bool) -> Spec:
    """What the features of a column are made of, or why it has none."""
    spec: Spec = {"name": column.name, "kind": column.kind}
    present = column.values[~column.missing]
    if not present.size:
        return spec | {"dropped": "every cell is missing"}
    if column.kind == "text":
        values = sorted(set(truth_in_one_way(present)))
        if len(values) == 1 and not column.missing.any():
            return spec | {"dropped": "the same text in every row"}
        if not wanted and (reason := _names_rows(len(values), present.size)):
            return spec | {"dropped": reason}
        return spec | {"values": values + [MISSING] * bool(column.missing.any())}
    mean, deviation = _mean_and_deviation(present)
    if present.min() == present.max():
        return spec | {"dropped": "the same number in every row"}
    if not wanted and column.kind == "number" and _counts_rows(column.name, column.values):
        return spec | {"dropped": "it numbers the rows"}
    return spec | {
        "fill": mean,
        "mean": mean if standardize else 0.0,
        "deviation": deviation if standardize else 1.0,
    }


def _is_whole(spec: Spec) -> bool:
    """Whether it is what `_describe` might have said."""
    if not isinstance(spec["name"], str) or spec["kind"] not in ("number", "date", "text"):
        return False
    if "dropped" in spec:
        return isinstance(spec["dropped"], str)
    if spec["kind"] == "text":
        values = spec["values"]
        plain = isinstance(values, list) and all(isinstance(value, str) for value in values)
        return plain and 0 < len(values) == len(set(values))
    sizes = [spec[part] for part in ("fill", "mean", "deviation")]
    return all(map(_is_number, sizes)) and bool(np.isfinite(sizes).all()) and sizes[2] > 0


def _names_rows(n_values: int, n_cells: int) -> str | None:
    """Why a text column would tell rows apart instead of classes, if it would."""
    if n_values == n_cells > 2:
        return "a different text in every row"
    if n_values > 50 and n_values > n_cells / 2:
        return f"{n_values} different texts in {n_cells} rows"
    return None


def _counts_rows(name: str, values: Floats) -> bool:
    """Whether a column is 1, 2, 3, ... (or from 0), or whole, unique and named like ``user_id``.

    Too long a column, in both cases, for that to be chance.
    """
    if values.size < 20 or (values != np.floor(values)).any():
        return False
    if values[0] in (0.0, 1.0) and np.array_equal(values, values[0] + np.arange(values.size)):
        return True
    named = re.search(r"(^|[^A-Za-z])[iI][dD]$|[a-z]I[dD]$", name.strip())
    return named is not None and len(np.unique(values)) == values.size


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Of numbers of any size: squares of huge or tiny ones leave the floating-point range."""
    exponent = np.frexp(np.abs(values).max())[1]
    scaled = np.ldexp(values, -exponent)
    mean, deviation = float(scaled.mean()), float(scaled.std())
    return float(np.ldexp(mean, exponent)), float(np.ldexp(deviation, exponent))


def _width(spec: Spec) -> int:
    return len(spec["values"]) if spec["kind"] == "text" else 1


def _codes(spec: Spec, column: Column) -> NDArray[np.int32]:
    """The number of each cell's value, -1 where it was not there in training."""
    number = {value: k for k, value in enumerate(spec["values"])}
    cells = map(str.lower, column.values) if set(number) <= TRUTH else column.values
    found = map(number.get, cells, repeat(-1))
    return np.fromiter(found, np.int32, len(column.values))


def _scaled(spec: Spec, column: Column) -> Floats:
    values = np.where(column.missing, spec["fill"], column.values)
    if spec["deviation"] > HUGE:  # then x - mean may overflow, but x/deviation is small
        values /= spec["deviation"]
        values -= spec["mean"] / spec["deviation"]
    else:
        values -= spec["mean"]
        values /= spec["deviation"]
    return values


def _filled_array(specs: list[Spec], table: _Table) -> Floats:
    X = np.zeros((table.n_rows, sum(map(_width, specs))))
    start = 0
    for spec in specs:
        column = Column.of(spec["name"], table[spec["name"]], spec["kind"])
        if spec["kind"] == "text":
            codes = _codes(spec, column)
            rows = np.flatnonzero(codes >= 0)
            X[rows, start + codes[rows]] = 1.0
        else:
            X[:, start] = _scaled(spec, column)
        start += _width(spec)
    return X


def _filled_csr(specs: list[Spec], table: _Table) -> csr_matrix:
    """Every row has one entry per column; a value not seen in training has the entry 0."""
    shape = table.n_rows, len(specs)
    entries, places = np.empty(shape), np.empty(shape, dtype=np.int32)
    start = 0
    for k, spec in enumerate(specs):
        column = Column.of(spec["name"], table[spec["name"]], spec["kind"])
        if spec["kind"] == "text":
            codes = _codes(spec, column)
            entries[:, k], places[:, k] = codes >= 0, start + np.maximum(codes, 0)
        else:
            entries[:, k], places[:, k] = _scaled(spec, column), start
        start += _width(spec)
    indptr = np.arange(0, entries.size + 1, len(specs))
    return csr_matrix((entries.ravel(), places.ravel(), indptr), shape=(table.n_rows, start))

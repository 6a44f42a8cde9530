"""Tables as numbers: the first step of a pipeline whose second is a classifier."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.arguments import names_of, yes_or_no
from rosenblatt.tables.cells import (
    KINDS,
    MISSING,
    TRUTH,
    Cells,
    Frame,
    is_number,
    truth_in_one_way,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

    Spec = dict[str, Any]

HUGE = 1e300
# Why a column is left out in which no rows differ. The other reasons are that it names the rows.
EMPTY = "every cell is missing"
SAME_TEXT = "the same text in every row"
SAME_NUMBER = "the same number in every row"


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
    keep_constant : bool
        Whether to keep the columns that are the same everywhere if there are no others, instead
        of refusing a table from which nothing can be learned.

    Attributes
    ----------
    columns_ : list of dict
        For every column its name, its kind ("number", "date" or "text"), and either why it was
        left out or what its features are made of.
    kinds_ : dict
        The kind of every column in use.
    spans_ : dict
        The numbers of the features, a range, that every column in use became.
    identifiers_ : list of str
        The columns left out because they tell the rows apart.
    n_missing_ : dict
        How many cells were missing, for the columns that had any.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> table = {"height": [1.6, 1.7, 1.8], "club": ["A", "B", "A"]}
    >>> encoder = rb.TableEncoder(standardize=False).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['height', 'club=A', 'club=B']
    >>> encoder.transform(table).tolist()
    [[1.6, 1.0, 0.0], [1.7, 0.0, 1.0], [1.8, 1.0, 0.0]]

    It is made to be the first step of a pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit(table, ["no", "yes", "no"])
    >>> model.predict({"height": [1.9, 1.5], "club": ["B", "A"]}).tolist()
    ['yes', 'no']
    """

    def __init__(
        self,
        *,
        standardize: bool = True,
        use: Iterable[str] = (),
        keep_constant: bool = False,
    ) -> None:
        self.standardize = standardize
        self.use = use
        self.keep_constant = keep_constant

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
        yes_or_no("standardize", self.standardize)
        keep_constant = yes_or_no("keep_constant", self.keep_constant)
        table = self._open(X, reset=True)
        if table.n_rows == 1:
            msg = "the table has only one sample: columns that never vary tell nothing"
            raise ValueError(msg)
        self._describe(table)
        if keep_constant and not (self._used() or self.identifiers_):
            self._describe(table, constant=True)
        if not self._used():
            reasons = "; ".join(f"{s['name']}: {s['dropped']}" for s in self.columns_[:3])
            remedy = "--use COLUMN, in Python use=[...], keeps one all the same"
            msg = f"no column is left to learn from ({reasons}); {remedy}"
            raise ValueError(msg)
        # Worth it when rows are mostly zeros: few columns with very many values.
        widths = [_width(spec) for spec in self._used()]
        self.sparse_ = sum(widths) > 50 + 4 * len(widths)
        return self

    def _describe(self, table: Frame, *, constant: bool = False) -> None:
        """Note of every column what its features are made of, or why it has none."""
        use = names_of("use", self.use)
        self.columns_: list[Spec] = []
        self.n_missing_: dict[str, int] = {}
        for name in table.names:
            column = Cells.of(name, table[name])
            spec = {"name": name, "kind": column.kind}
            self.columns_.append(spec | _described(column, self.standardize, name in use, constant))
            if column.missing.any():
                self.n_missing_[name] = int(column.missing.sum())

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

    @property
    def spans_(self) -> dict[str, range]:
        """The numbers of the features that every column in use became."""
        check_is_fitted(self)
        spans, start = {}, 0
        for spec in self._used():
            spans[spec["name"]] = range(start, start := start + _width(spec))
        return spans

    @property
    def identifiers_(self) -> list[str]:
        """The columns left out because they tell the rows apart."""
        check_is_fitted(self)
        used_or_constant = (None, EMPTY, SAME_TEXT, SAME_NUMBER)
        return [s["name"] for s in self.columns_ if s.get("dropped") not in used_or_constant]

    def unscaled(self) -> TableEncoder:
        """The same encoder with numbers as they stand in the table, not standardised."""
        check_is_fitted(self)
        other: TableEncoder = copy(self).set_params(standardize=False)
        scale = {"mean": 0.0, "deviation": 1.0}
        other.columns_ = [s | scale if "mean" in s else s for s in self.columns_]
        return other

    def unseen(self, X: Any) -> dict[str, NDArray[np.object_]]:
        """The cells, by column, whose value was not there in training."""
        check_is_fitted(self)
        texts = [spec for spec in self._used() if spec["kind"] == "text"]
        table = self._open(X, reset=False, wanted=[spec["name"] for spec in texts])
        found = {}
        for spec in texts:
            column = Cells.of(spec["name"], table[spec["name"]], "text")
            strange = _codes(spec, column) < 0
            if strange.any():
                found[column.name] = column.values[strange]
        return found

    def _used(self) -> list[Spec]:
        return [spec for spec in self.columns_ if "dropped" not in spec]

    def _open(self, X: Any, *, reset: bool, wanted: Iterable[str] = ()) -> Frame:
        """Any kind of table as named columns; in training their names are noted."""
        if not issparse(X) and (isinstance(X, Mapping) or hasattr(X, "columns")):
            table = Frame.of_columns(X)
            if reset:
                self.n_features_in_ = len(table.names)
                self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            table = Frame.of_array(X, getattr(self, "feature_names_in_", None))
        absent = [name for name in wanted if name not in table.names]
        if absent:
            msg = f"columns are missing that were there in training: {', '.join(absent)}"
            raise ValueError(msg)
        return table

    def __setstate__(self, state: dict[str, Any]) -> None:
        keep_constant = state.get("keep_constant", False)  # version 0.1.0 had none
        super().__setstate__(state | {"keep_constant": keep_constant})
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


def _described(column: Cells, standardize: bool, wanted: bool, constant: bool) -> Spec:
    """What the features of a column are made of, or why it has none."""
    present = column.values[~column.missing]
    if not present.size:
        return {"dropped": EMPTY}
    if column.kind == "text":
        values = sorted(set(truth_in_one_way(present)))
        if len(values) == 1 and not column.missing.any() and not constant:
            return {"dropped": SAME_TEXT}
        if not wanted and (reason := _names_rows(len(values), present.size)):
            return {"dropped": reason}
        return {"values": values + [MISSING] * bool(column.missing.any())}
    mean, deviation = _mean_and_deviation(present)
    if present.min() == present.max():
        if not constant:
            return {"dropped": SAME_NUMBER}
        mean, deviation = float(present[0]), 1.0
    elif not wanted and column.kind == "number" and _counts_rows(column.name, column.values):
        return {"dropped": "it numbers the rows"}
    return {
        "fill": mean,
        "mean": mean if standardize else 0.0,
        "deviation": deviation if standardize else 1.0,
    }


def _is_whole(spec: Spec) -> bool:
    """Whether it is what `_described` might have said."""
    if not isinstance(spec["name"], str) or spec["kind"] not in KINDS:
        return False
    if "dropped" in spec:
        return isinstance(spec["dropped"], str)
    if spec["kind"] == "text":
        values = spec["values"]
        plain = isinstance(values, list) and all(isinstance(value, str) for value in values)
        return plain and 0 < len(values) == len(set(values))
    sizes = [spec[part] for part in ("fill", "mean", "deviation")]
    return all(map(is_number, sizes)) and bool(np.isfinite(sizes).all()) and sizes[2] > 0


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


def _codes(spec: Spec, column: Cells) -> NDArray[np.int32]:
    """The number of each cell's value, -1 where it was not there in training."""
    number = {value: k for k, value in enumerate(spec["values"])}
    cells = map(str.lower, column.values) if set(number) <= TRUTH else column.values
    found = map(number.get, cells, repeat(-1))
    return np.fromiter(found, np.int32, len(column.values))


def _scaled(spec: Spec, column: Cells) -> Floats:
    values = np.where(column.missing, spec["fill"], column.values)
    if spec["deviation"] > HUGE:  # then x - mean may overflow, but x/deviation is small
        values /= spec["deviation"]
        values -= spec["mean"] / spec["deviation"]
    else:
        values -= spec["mean"]
        values /= spec["deviation"]
    return values


def _filled_array(specs: list[Spec], table: Frame) -> Floats:
    X = np.zeros((table.n_rows, sum(map(_width, specs))))
    start = 0
    for spec in specs:
        column = Cells.of(spec["name"], table[spec["name"]], spec["kind"])
        if spec["kind"] == "text":
            codes = _codes(spec, column)
            rows = np.flatnonzero(codes >= 0)
            X[rows, start + codes[rows]] = 1.0
        else:
            X[:, start] = _scaled(spec, column)
        start += _width(spec)
    return X


def _filled_csr(specs: list[Spec], table: Frame) -> csr_matrix:
    """Every row has one entry per column; a value not seen in training has the entry 0."""
    shape = table.n_rows, len(specs)
    entries, places = np.empty(shape), np.empty(shape, dtype=np.int32)
    start = 0
    for k, spec in enumerate(specs):
        column = Cells.of(spec["name"], table[spec["name"]], spec["kind"])
        if spec["kind"] == "text":
            codes = _codes(spec, column)
            entries[:, k], places[:, k] = codes >= 0, start + np.maximum(codes, 0)
        else:
            entries[:, k], places[:, k] = _scaled(spec, column), start
        start += _width(spec)
    indptr = np.arange(0, entries.size + 1, len(specs))
    return csr_matrix((entries.ravel(), places.ravel(), indptr), shape=(table.n_rows, start))

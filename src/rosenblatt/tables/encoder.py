"""Tables as numbers: the first step of a pipeline whose second is a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.arguments import names_of, yes_or_no
from rosenblatt.cluster.engine import is_of_dask
from rosenblatt.contract.parameters import count_threads
from rosenblatt.running.threads import WORTHWHILE, Team
from rosenblatt.tables.cells import KINDS, MISSING, is_number
from rosenblatt.tables.dask_frames import (
    features_on_cluster,
    names_of_dask,
    tallied_on_cluster,
)
from rosenblatt.tables.date_parts import are_parts, cells_with_parts, with_parts
from rosenblatt.tables.feature_values import codes, filled_array, filled_csr, names, width
from rosenblatt.tables.frames import Cells, Frame, is_empty, is_named
from rosenblatt.tables.free_text import (
    NO_WORDS,
    are_words,
    filled_with_words,
    free_columns,
    has_words,
)
from rosenblatt.tables.table_tally import TableTally
from rosenblatt.tables.tallies import EMPTY, SAME_NUMBER, SAME_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.feature_values import Spec

ROOM = 1 << 22  # numbers of an array whose columns are copied, to lie side by side, at a time


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a table as features: numbers standardised, texts one-hot.

    =========  ==================================================================
    column     features
    =========  ==================================================================
    numbers    ``(x - mean)/deviation``; a missing cell becomes the mean
    dates      the same, of the days since 1970 and, where they are not all at the
               same time, of the hour; beside them, as texts, the day of the week if
               they span two weeks, and the month if they span two years
    texts      one feature per value, 1 where the cell has it; missing cells are a
               value of their own, and one not seen in training has no feature
    free text  one feature per word that two rows have, 20 000 at most: how often it
               is there, the more the fewer rows have it (TF-IDF, as scikit-learn's
               `TfidfVectorizer`); all features together are then sparse
    =========  ==================================================================

    Means and deviations are the floats nearest to the exact ones, so that neither the order of the
    rows nor blocks of them (`fit_blocks`) make a difference.

    A column is left out if it is the same everywhere, or if it tells the rows apart instead of
    the classes: a text that is different in every row (or in more than half of them, with more
    than 50 different texts; where there are more than 262 144, the rows up to there tell), the
    number of the row, or whole numbers named like an id, unique in the first 2 097 152 rows.

    Parameters
    ----------
    standardize : bool
        Whether to standardise numbers; otherwise they stay as they are.
    use : sequence of str
        Columns to use although they look as if they number or name the rows.
    text : sequence of str
        Columns of free text, whose words become features.
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
        text: Iterable[str] = (),
        keep_constant: bool = False,
    ) -> None:
        self.standardize = standardize
        self.use = use
        self.text = text
        self.keep_constant = keep_constant

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn means, deviations and values.

        Parameters
        ----------
        X : mapping from names to columns, data frame, Arrow table or 2-D array
            Also a data frame or array of Dask's, whose parts stay where they are.
        y : ignored

        Returns
        -------
        self
        """
        if is_of_dask(X):
            return self._fit_on_cluster(X)
        table = self._open(X, reset=True)
        tally = self._tally(table.names, {})
        with _team_for(table) as team:
            for rows in table.cut(ROOM):
                tally.add(rows, team)
        self._describe(tally)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """`fit` and `transform` of the same table, whose columns are read only once."""
        if is_of_dask(X):
            return self.fit(X).transform(X)
        table = self._open(X, reset=True)
        tally = self._tally(table.names, {})
        with _team_for(table) as team:
            columns = {column.name: column for column in tally.add(table, team)}
        self._describe(tally)
        return self._features([columns[spec["name"]] for spec in self._used()])

    def fit_blocks(
        self, blocks: Iterable[Any], *, kinds: Mapping[str, str] | None = None
    ) -> TableEncoder:
        """Learn the same as `fit` does of all rows together, from blocks of rows gone through once.

        Sums are exact and rounded once, so that it makes no difference how the rows are cut. At any
        time one block is in memory and what is known of the columns: sums, and the different texts
        or, of free text, words.

        Parameters
        ----------
        blocks : iterable of tables
            Anything that `fit` takes, all with the same columns. What a column holds, numbers,
            dates or texts, is what it holds in the first block in which a cell is not missing.
        kinds : mapping from names to "number", "date" or "text", optional
            What columns hold, where that is known beforehand.

        Returns
        -------
        self

        Examples
        --------
        >>> import rosenblatt as rb
        >>> blocks = ({"x": [k, k + 0.5], "w": ["a", "b"]} for k in range(3))
        >>> rb.TableEncoder().fit_blocks(blocks).columns_[0]["mean"]
        1.25
        """
        if is_named(blocks) or isinstance(blocks, np.ndarray):
            msg = "blocks is one table: give an iterable of tables, or this one to fit"
            raise ValueError(msg)
        tally = None
        with Team(count_threads(None)) as team:
            for block in blocks:
                if is_empty(block):
                    continue
                if tally is not None:
                    tally.check_width(block)
                table = self._open(block, reset=tally is None)
                tally = tally or self._tally(table.names, kinds or {})
                tally.add(table, team if _is_large(table) else Team(1))
        if tally is None:
            msg = "the blocks have no rows: give at least two"
            raise ValueError(msg)
        self._describe(tally)
        return self

    def _fit_on_cluster(self, X: Any) -> TableEncoder:
        """The same of a collection of Dask's."""
        names, named = names_of_dask(X)
        return fitted_to(self, names, tallied_on_cluster(X, *asked_of(self, names)), named)

    def _note_names(self, names: Sequence[str], named: bool) -> None:
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _tally(self, columns: Sequence[str], kinds: Mapping[str, str]) -> TableTally:
        free = free_columns(self.text, columns)
        return TableTally(columns, kinds, names_of("use", self.use), free)

    def _describe(self, tally: TableTally) -> None:
        """Note of every column what its features are made of, or why it has none."""
        standardize = yes_or_no("standardize", self.standardize)
        keep_constant = yes_or_no("keep_constant", self.keep_constant)
        if tally.n_rows == 1:
            msg = "the table has only one sample: columns that never vary tell nothing"
            raise ValueError(msg)
        found = [column.described(standardize) for column in tally.columns]
        self.columns_: list[Spec] = [spec for spec, _ in found]
        self.n_missing_: dict[str, int] = {spec["name"]: n for spec, n in found if n}
        if keep_constant and not (self._used() or self.identifiers_):
            again = [column.described(standardize, constant=True) for column in tally.columns]
            self.columns_ = [spec for spec, _ in again]
        if not self._used():
            reasons = "; ".join(f"{s['name']}: {s['dropped']}" for s in self.columns_[:3])
            remedy = "--use COLUMN, in Python use=[...], keeps one all the same"
            msg = f"no column is left to learn from ({reasons}); {remedy}"
            raise ValueError(msg)
        # Worth it when rows are mostly zeros: few columns with very many values.
        widths = [width(spec) for spec in with_parts(self._used())]
        self.sparse_ = has_words(self._used()) or sum(widths) > 50 + 4 * len(widths)

    def transform(self, X: Any) -> Any:
        """The features of each row: an array, or CSR where most of them are zero.

        Of a data frame or array of Dask's, a Dask array of these, made when it is asked for.
        """
        check_is_fitted(self)
        kinds = self.kinds_
        if is_of_dask(X):
            self._check_names(names_of_dask(X), kinds)
            return features_on_cluster(self, X)
        table = self._open(X, reset=False, wanted=kinds)
        with _team_for(table) as team:
            columns = _read(table, kinds, team)
        return self._features(columns)

    def _features(self, columns: Sequence[Cells]) -> Any:
        """The features of the columns in use."""
        used = self._used()
        fill = filled_csr if self.sparse_ else filled_array
        fill = filled_with_words if has_words(used) else fill
        return fill(with_parts(used), cells_with_parts(used, columns), len(columns[0]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features: the column's, ``column=value``, ``column:word or part``."""
        check_is_fitted(self)
        used = with_parts(self._used())
        return np.array([name for spec in used for name in names(spec)], dtype=object)

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
            size = sum(map(width, with_parts([spec])))
            spans[spec["name"]] = range(start, start := start + size)
        return spans

    @property
    def identifiers_(self) -> list[str]:
        """The columns left out because they tell the rows apart."""
        check_is_fitted(self)
        used_or_constant = (None, EMPTY, SAME_TEXT, SAME_NUMBER, NO_WORDS)
        return [s["name"] for s in self.columns_ if s.get("dropped") not in used_or_constant]

    def unscaled(self) -> TableEncoder:
        """The same encoder with numbers as they stand in the table, not standardised."""
        check_is_fitted(self)
        other: TableEncoder = copy(self).set_params(standardize=False)
        other.columns_ = list(map(_unscaled, self.columns_))
        return other

    def unseen(self, X: Any) -> dict[str, NDArray[np.object_]]:
        """The cells, by column, whose value was not there in training."""
        check_is_fitted(self)
        specs = [spec for spec in self._used() if "values" in spec]
        table = self._open(X, reset=False, wanted=[spec["name"] for spec in specs])
        found = {}
        for spec in specs:
            texts: Any = Cells.of(spec["name"], table[spec["name"]], "text").values
            strange = codes(spec, texts) < 0
            if strange.any():
                found[spec["name"]] = np.append(texts.values, MISSING)[texts.codes[strange]]
        return found

    def _used(self) -> list[Spec]:
        return [spec for spec in self.columns_ if "dropped" not in spec]

    def _open(self, X: Any, *, reset: bool, wanted: Iterable[str] = ()) -> Frame:
        """Any kind of table as named columns; in training their names are noted."""
        if is_named(X):
            table = Frame.of_columns(X)
            if reset:
                self._note_names(table.names, named=True)
        else:
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            table = Frame.of_array(X, getattr(self, "feature_names_in_", None))
        _refuse_absent(wanted, table.names)
        return table

    def _check_names(self, given: tuple[list[str], bool], wanted: Iterable[str]) -> None:
        """Refuse a collection of Dask's without the columns of training."""
        names, named = given
        if named:
            _refuse_absent(wanted, names)
        elif len(names) != self.n_features_in_:
            msg = f"X has {len(names)} columns, not the {self.n_features_in_} of training: "
            msg += "give the same"
            raise ValueError(msg)

    def __setstate__(self, state: dict[str, Any]) -> None:
        later = {"text": (), "keep_constant": False}  # version 0.1.0 had neither
        super().__setstate__(state | {name: state.get(name, later[name]) for name in later})
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


def asked_of(encoder: TableEncoder, names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Of a table with these columns those to use in any case, and those of free text."""
    return names_of("use", encoder.use), free_columns(encoder.text, names)


def fitted_to(
    encoder: TableEncoder, names: Sequence[str], tally: TableTally, named: bool = True
) -> TableEncoder:
    """The encoder, fitted to what was gathered elsewhere of a table with these columns."""
    encoder._note_names(names, named)
    encoder._describe(tally)
    return encoder


def _refuse_absent(wanted: Iterable[str], names: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in names]
    if absent:
        msg = f"columns are missing that were there in training: {', '.join(absent)}"
        raise ValueError(msg)


def _unscaled(spec: Spec) -> Spec:
    """What its features are made of if numbers are not standardised."""
    scale = {"mean": 0.0, "deviation": 1.0} if "mean" in spec else {}
    parts = {"parts": list(map(_unscaled, spec["parts"]))} if "parts" in spec else {}
    return spec | scale | parts


def _is_large(table: Frame) -> bool:
    """Whether it is worth waking threads for a table."""
    return table.n_rows * len(table.names) >= WORTHWHILE


def _team_for(table: Frame) -> Team:
    """Threads, if the table is large enough for them."""
    return Team(count_threads(None) if _is_large(table) else 1)


def _read(table: Frame, kinds: Mapping[str, str], team: Team) -> list[Cells]:
    """These columns, each read as its kind."""
    fetched = [(name, table[name], kind) for name, kind in kinds.items()]
    return team.each(lambda column: Cells.of(*column), fetched)


def _is_whole(spec: Spec) -> bool:
    """Whether it is what `ColumnTally` might have said."""
    if not isinstance(spec["name"], str) or spec["kind"] not in KINDS:
        return False
    if not (are_parts(spec) and all(map(_is_whole, spec.get("parts", ())))):
        return False
    if "dropped" in spec:
        return isinstance(spec["dropped"], str)
    if "words" in spec:
        return spec["kind"] == "text" and are_words(spec)
    if spec["kind"] == "text":
        values = spec["values"]
        plain = isinstance(values, list) and all(isinstance(value, str) for value in values)
        return plain and 0 < len(values) == len(set(values))
    sizes = [spec[part] for part in ("fill", "mean", "deviation")]
    return all(map(is_number, sizes)) and bool(np.isfinite(sizes).all()) and sizes[2] > 0

"""Rows of a table with their cells: the closest to the boundary, the wrong, those of a proof.

The lead of a row is its decision value, with the sign that speaks for its own class; of more than
two classes the value of its own less the highest of the others. Below 0 the row is taken for
another class, and near 0 it is close to the boundary.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.contract.classifier import choose, classifier_of
from rosenblatt.report.contributions import Contributions, Sides
from rosenblatt.report.facts import VerdictFacts
from rosenblatt.report.fits import EncodedTable, positive_classes
from rosenblatt.results import Verdict
from rosenblatt.tables.cells import missing
from rosenblatt.tables.sparse_features import is_sparse
from rosenblatt.tables.texts import Texts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cells = Mapping[str, Any]  # of a row, by column: texts, numbers, None where nothing stands


@dataclass(frozen=True)
class JudgedRow:
    """A row of the file, its class, and what the model takes it for, by how much."""

    row: int
    label: str
    predicted: str
    lead: float
    cells: Cells


@dataclass(frozen=True)
class ProvingRow:
    """A row of a proof, and its share of the mean of its side, if that is known."""

    row: int
    label: str
    share: float | None
    cells: Cells


@dataclass(frozen=True)
class ProofTable:
    """The rows that prove a verdict; `positive` is the class of the problem, None of all."""

    positive: str | None
    verdict: Verdict
    rows: tuple[ProvingRow, ...]


@dataclass(frozen=True)
class RowsFacts:
    """Rows worth a look: `closest` to the boundary, `errors` with the worst first, and proofs.

    `wrong` counts all errors. `columns` are those of the cells, with what contributes most to the
    decision values of these rows first; of a sparse table a row has only the cells that are not 0.
    """

    columns: tuple[str, ...]
    wrong: int
    closest: tuple[JudgedRow, ...]
    errors: tuple[JudgedRow, ...]
    proofs: tuple[ProofTable, ...] = ()


# Cells ------------------------------------------------------------------------------------------


def cells_of(table: EncodedTable, samples: NDArray[Any] | Sequence[int]) -> list[dict[str, Any]]:
    """What stands in these rows, by column; of a sparse table what is not 0."""
    places = np.asarray(samples, dtype=np.intp)
    return cells_at(table.columns, table.X, table.features, places)


def column_names(table: EncodedTable) -> tuple[str, ...]:
    """The columns that every row has cells of: none of a sparse table."""
    return () if is_sparse(table.columns) else tuple(table.columns)


def cells_at(
    columns: Mapping[str, Any], X: Any, features: Sequence[str], places: NDArray[Any]
) -> list[dict[str, Any]]:
    """The same of columns by name, which became these features."""
    if is_sparse(columns):
        some = X[places]
        spans = zip(some.indptr, some.indptr[1:], strict=False)
        return [
            {features[j]: float(x) for j, x in zip(some.indices[a:b], some.data[a:b], strict=True)}
            for a, b in spans
        ]
    found = {name: _plain(column[places]) for name, column in columns.items()}
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def _plain(cells: Any) -> list[Any]:
    """Cells as Python has them: texts, numbers, None where nothing stands; dates as texts."""
    values = cells.texts() if isinstance(cells, Texts) else np.asarray(cells)
    gaps = missing(values)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        values = (days if (gaps | (days == values)).all() else values).astype(str)
    return [None if gap else value for value, gap in zip(values.tolist(), gaps, strict=True)]


# Closest and wrong ------------------------------------------------------------------------------


def leads(values: Floats, true: NDArray[Any]) -> Floats:
    """By how much decision values speak for the class of each row."""
    if values.shape[1] == 1:
        return np.where(true == 1, values[:, 0], -values[:, 0])
    at = np.arange(len(true)), true
    others = values.copy()
    others[at] = -np.inf
    return np.asarray(values[at] - others.max(axis=1))


class Seen(NamedTuple):
    """A row that may be shown, and what its columns contribute, if they do."""

    row: JudgedRow
    shares: Floats


class RowKeeper:
    """The `n` rows closest to the boundary and the `n` worst errors among all that pass by.

    They are the same in however many parts the rows come: ties go to the earlier row.
    """

    def __init__(self, model: Any, n: int) -> None:
        self.n, self.wrong = n, 0
        self.classes = [str(label) for label in classifier_of(model).classes_]
        from rosenblatt.report.terminal import feature_names  # late: it loads Rich

        self._features, self._columns = feature_names(model), dict[str, None]()
        self._closest: list[Seen] = []
        self._errors: list[Seen] = []
        self._contributions: Contributions | None = None
        with contextlib.suppress(ValueError):  # other models have no weights for columns
            self._contributions = Contributions.of(model, "")

    def add(
        self,
        rows: Ints,
        columns: Mapping[str, Any],
        X: Any,
        values: Floats,
        chosen: NDArray[Any],
        true: NDArray[Any],
    ) -> None:
        """Meet some rows: their numbers in the file, columns, features, answers and classes.

        Where a class is -1 it is not known, and nothing is said of the row.
        """
        known, bad = np.flatnonzero(true >= 0), np.flatnonzero((chosen != true) & (true >= 0))
        if not self.n or not len(known):
            return
        lead = leads(values, true)
        near = known[_least(np.abs(lead[known]), self.n)]
        far = bad[_least(lead[bad], self.n)]
        self.wrong += len(bad)
        self._columns |= dict.fromkeys(() if is_sparse(columns) else columns)
        places = np.union1d(near, far)
        cells = cells_at(columns, X, self._features, places)
        shares = self._shares(X, values, chosen, places)
        found = {
            place: Seen(
                JudgedRow(
                    row=int(rows[place]),
                    label=self.classes[true[place]],
                    predicted=self.classes[chosen[place]],
                    lead=float(lead[place]),
                    cells=cells[k],
                ),
                shares[k],
            )
            for k, place in enumerate(places.tolist())
        }
        self._closest += [found[place] for place in near.tolist()]
        self._closest = sorted(self._closest, key=lambda one: abs(one.row.lead))[: self.n]
        self._errors += [found[place] for place in far.tolist()]
        self._errors = sorted(self._errors, key=lambda one: one.row.lead)[: self.n]

    def _shares(self, X: Any, values: Floats, chosen: NDArray[Any], places: NDArray[Any]) -> Floats:
        """The size of what each column contributes to the answers to these rows."""
        if self._contributions is None:
            return np.zeros((len(places), 0))
        sides = Sides.of(values[places], chosen[places])
        return np.abs(np.vstack(list(self._contributions.of_rows(X[places], sides))))

    def facts(self, proofs: Sequence[ProofTable] = ()) -> RowsFacts:
        """What was found."""
        columns = list(self._columns)
        if self._contributions is not None and (shown := self._closest + self._errors):
            total = np.sum([one.shares for one in shown], axis=0)
            order = np.argsort(-total, kind="stable")
            first = [self._contributions.names[j] for j in order if total[j] or self._columns]
            columns = [*first, *(name for name in columns if name not in first)]
        closest, errors = (tuple(one.row for one in kept) for kept in (self._closest, self._errors))
        return RowsFacts(tuple(columns), self.wrong, closest, errors, tuple(proofs))


def _least(values: Floats, n: int) -> NDArray[np.intp]:
    """The places of the `n` smallest, in order; of equal ones the first."""
    if len(values) > n:
        most = np.partition(values, n - 1)[n - 1]
        places = np.flatnonzero(values <= most)
    else:
        places = np.arange(len(values))
    return places[np.argsort(values[places], kind="stable")][:n]


def rows_facts(
    model: Any, training: EncodedTable, n: int, verdicts: Sequence[VerdictFacts] = ()
) -> RowsFacts:
    """The `n` rows of a table that are closest to the boundary of a model, and its worst errors.

    Parameters
    ----------
    model : the pipeline of the encoder and the classifier that were fitted to the table.
    training : the table, encoded.
    n : how many of each.
    verdicts : on the problems of the fit, for the rows that prove them.
    """
    keeper, classifier = RowKeeper(model, n), classifier_of(model)
    true, rows = training.label, training.rows
    for part in training.parts():
        X = training.X[part]
        values = classifier.decision_function(X).reshape(X.shape[0], -1)
        chosen = choose(values, getattr(classifier, "at_zero", None))
        columns = {name: column[part] for name, column in training.columns.items()}
        keeper.add(rows[part], columns, X, values, chosen, true[part])
    return keeper.facts(proof_tables(classifier, training, verdicts))


# Proofs -----------------------------------------------------------------------------------------


def proof_tables(
    classifier: Any, training: EncodedTable, verdicts: Sequence[VerdictFacts]
) -> tuple[ProofTable, ...]:
    """The rows that prove the verdicts, of those that rows prove."""
    positives = [str(label) for label in positive_classes(classifier)]
    if len(verdicts) < len(positives):
        positives = [""]  # all classes are one problem
    several = len(positives) > 1
    return tuple(
        ProofTable(positive if several else None, one.verdict, _proving(one, training, positive))
        for one, positive in zip(verdicts, positives, strict=False)
        if one.rows
    )


def _proving(
    verdict: VerdictFacts, training: EncodedTable, positive: str
) -> tuple[ProvingRow, ...]:
    """The rows of a proof, those of the positive class last, with the largest shares first."""
    samples = np.searchsorted(training.rows, verdict.rows)
    shares: list[float | None] = [None] * len(samples)
    if verdict.proof is not None and len(verdict.proof.weights) == len(samples):
        shares = verdict.proof.weights.tolist()
    cells, labels = cells_of(training, samples), training.named(samples)
    found = list(map(ProvingRow, verdict.rows, labels, shares, cells))
    return tuple(sorted(found, key=lambda one: (one.label == positive, -(one.share or 0.0))))

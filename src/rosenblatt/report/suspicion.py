"""Rows whose class is suspicious: what speaks against it, and who is to be looked at first."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.identical import distinct
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.margin.estimator import SoftMarginClassifier
from rosenblatt.report.fits import EncodedTable
from rosenblatt.report.rows import cells_of, column_names, leads
from rosenblatt.results import StopReason

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = Iterable[tuple[Rows, Rows]]  # to learn from, and to judge

FOLDS = 5
C, TOL = 30.0, 1e-2  # of the soft margin; a ranking needs no exact optimum
EPOCHS, COUNTED = 3, 10  # of the kernel perceptron that judges, and of the one that is counted
MOST_ROWS = 20_000  # that a kernel perceptron learns from at a time
MOST_TWINS = 5  # identical rows that are named


@dataclass(frozen=True)
class Evidence:
    """What speaks against the class of each row, a number for each: the more, the stranger.

    `hyperplane` and `kernel` are the values of the strongest other class less that of the given
    one, by a soft margin and by a kernel perceptron that have not seen the row: above 0 it is
    wrong. `slack` is that of a soft margin which has seen it, summed over the classes, `mistakes`
    how often it was one of a kernel perceptron. `twins` is the share of rows of another class
    among those identical with it, less that of its own; 0 where there are none.
    """

    hyperplane: Floats
    kernel: Floats
    slack: Floats
    mistakes: Floats
    twins: Floats
    rather: Rows  # the number of the class that speaks against it

    @property
    def parts(self) -> dict[str, Floats]:
        """The numbers of every row by name."""
        return {name: part for name, part in vars(self).items() if name != "rather"}

    @property
    def suspicion(self) -> Floats:
        """The mean of a row's ranks by each of them, from 0 to 1 (Borda 1781)."""
        from scipy.stats import rankdata

        n = len(self.rather)
        ranks = [(rankdata(part) - 0.5) / n for part in self.parts.values()]
        return np.asarray(np.mean(ranks, axis=0))

    @property
    def suspects(self) -> NDArray[np.bool_]:
        """Wrong by both models that have not seen it, or outvoted by identical rows."""
        return ((self.hyperplane > 0) & (self.kernel > 0)) | (self.twins > 0)


@dataclass(frozen=True)
class SuspectRow:
    """A row whose class is suspicious; None where a reason does not hold.

    `identical`: rows of the file that are the same but for their class, the first few.
    `hyperplane`, `kernel`: by how much a model that has not seen it prefers another class, in
    units of the mean such value. `slack` of a soft margin where that is more than 1; `mistakes`
    of a kernel perceptron, in all its epochs, where it had the row wrong in half of them.
    """

    row: int
    cells: Mapping[str, Any]
    given: str
    rather: str
    suspicion: float
    identical: tuple[int, ...] | None = None
    hyperplane: float | None = None
    kernel: float | None = None
    slack: float | None = None
    mistakes: int | None = None


@dataclass(frozen=True)
class SuspicionFacts:
    """The suspicious rows of a table, the most suspicious first.

    The models that had not seen a row come from so many `folds`; `epochs` are those in which the
    mistakes of a kernel perceptron were counted. `columns` are those that every row has cells of:
    none of a sparse table, whose rows have those that are not 0.
    """

    file: str
    target: str
    rows: int
    columns: tuple[str, ...]
    counts: Mapping[str, int]
    folds: int
    seed: int
    epochs: int
    suspects: tuple[SuspectRow, ...]


def gather(
    X: Any,
    y: Rows,
    folds: Folds,
    parts: Folds,
    seed: int = 0,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Evidence:
    """Look for what speaks against the class of each row.

    Parameters
    ----------
    X : the features.
    y : the number of each row's class, from 0; each has at least two rows.
    folds : rows to learn from and to judge, so that each row is judged once.
    parts : the rows in so few parts (the second of each pair) that a kernel perceptron can take
        one: of the rows to learn from it takes no more than there are in the first.
    seed : of the order in which kernel perceptrons take rows.
    tell : hears what is being done, and how much of it is.
    """
    n, k = len(y), int(y.max()) + 1
    every, pieces = list(folds), [part for _, part in parts]
    total, done = 2 * len(every) + len(pieces) + 1, 0

    def learned(what: str, model: Any, rows: Rows) -> Any:
        nonlocal done
        tell(what, done, total)
        done += 1
        return _fitted(model, X[rows], y[rows])

    linear, kernel = np.zeros((n, k)), np.zeros((n, k))
    random, most = np.random.default_rng(seed), len(pieces[0])
    for number, (learn, judged) in enumerate(every, 1):
        what = f"fold {number} of {len(every)}"
        linear[judged] = _values(learned(what, _soft(), learn), X[judged])
        curved, some = _curved(seed, EPOCHS, keep="average"), _drawn(learn, y, most, random)
        kernel[judged] = _values(learned(what, curved, some), X[judged])
    mistakes = np.zeros(n)
    for part in pieces:
        if len(np.unique(y[part])) == 1:
            continue  # of a class this rare other parts have more
        model = learned("counting mistakes", _curved(seed, COUNTED), part)
        mistakes[part[model.support_]] = model.alpha_.sum(axis=0)
    values = _values(learned("measuring slack", _soft(), np.arange(n)), X)
    twins, same = _twins(X, y, k)
    both = _scaled(linear) + _scaled(kernel)
    both[np.arange(n), y] = -np.inf
    return Evidence(
        hyperplane=_scaled(-leads(linear, y)),
        kernel=_scaled(-leads(kernel, y)),
        slack=_slack(values, y),
        mistakes=mistakes,
        twins=twins,
        rather=np.where(twins > 0, same, both.argmax(axis=1)),
    )


def _soft() -> SoftMarginClassifier:
    return SoftMarginClassifier(C=C, tol=TOL)


def _curved(seed: int, epochs: int, keep: str = "last") -> KernelPerceptron:
    return KernelPerceptron(keep=keep, order="shuffled", max_epochs=epochs, random_state=seed)


def _fitted(model: Any, X: Any, y: Rows) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    if any(fit.stop_reason is StopReason.INTERRUPTED for fit in model.fits_):
        raise KeyboardInterrupt
    return model


def _drawn(rows: Rows, y: Rows, most: int, random: np.random.Generator) -> Rows:
    """All of these rows, or at most so many, drawn at random, with one of each class at least."""
    if len(rows) <= most:
        return rows
    drawn = random.permutation(rows)
    _, first = np.unique(y[drawn], return_index=True)
    rest = np.delete(drawn, first)[: max(0, most - len(first))]
    return np.sort(np.concatenate([drawn[first], rest]))


def _values(model: Any, X: Any) -> Floats:
    """Decision values, a column for each class."""
    found = model.decision_function(X)
    return np.column_stack([-found, found]) if found.ndim == 1 else found


def _scaled(values: Floats) -> Floats:
    """In units of their mean size, so that those of two models can be compared."""
    return values / (float(np.abs(values).mean()) or 1.0)


def _slack(values: Floats, y: Rows) -> Floats:
    """``max(0, 1 - y f(x))``, summed over the problems of one class against the rest."""
    if values.shape[1] == 2:
        values, y = values[:, 1:], y - 1
    signs = np.where(y[:, None] == np.arange(values.shape[1]), 1, -1)
    return np.asarray(np.maximum(0, 1 - signs * values).sum(axis=1))


def _twins(X: Any, y: Rows, k: int) -> tuple[Floats, Rows]:
    """The vote of identical rows against the class of each, and the class they are for."""
    _, kind = distinct(X)
    cells, counts = np.unique(kind * k + y, return_counts=True)
    own = counts[np.searchsorted(cells, kind * k + y)]
    everyone = np.bincount(kind)[kind]
    strongest, most = np.zeros(len(y), dtype=np.intp), np.zeros(len(y), dtype=np.intp)
    by_kind = dict[int, list[tuple[int, int]]]()
    for cell, number in zip(cells.tolist(), counts.tolist(), strict=True):
        by_kind.setdefault(cell // k, []).append((number, cell % k))
    for i in np.flatnonzero(own < everyone):
        others = [pair for pair in by_kind[int(kind[i])] if pair[1] != y[i]]
        most[i], strongest[i] = max(others, key=lambda pair: (pair[0], -pair[1]))
    return (most - (own - 1)) / np.maximum(1, everyone - 1), strongest


# Facts ------------------------------------------------------------------------------------------


def suspicion_facts(
    table: EncodedTable, evidence: Evidence, folds: int, seed: int
) -> SuspicionFacts:
    """The suspicious rows of a table with their cells, the most suspicious first."""
    suspicion, doubted = evidence.suspicion, np.flatnonzero(evidence.suspects)
    order = doubted[np.argsort(-suspicion[doubted], kind="stable")]
    same = _same_rows(table, order)
    classes, rows = [str(label) for label in table.labels[0]], table.rows
    y, cells = table.labels[1], cells_of(table, order)

    def above(name: str, i: int, least: float) -> float | None:
        value = float(getattr(evidence, name)[i])
        return value if value > least else None

    suspects = tuple(
        SuspectRow(
            row=int(rows[i]),
            cells=cells[k],
            given=classes[y[i]],
            rather=classes[evidence.rather[i]],
            suspicion=float(suspicion[i]),
            identical=same.get(int(i)),
            hyperplane=above("hyperplane", i, 0),
            kernel=above("kernel", i, 0),
            slack=above("slack", i, 1),
            mistakes=int(evidence.mistakes[i]) if evidence.mistakes[i] >= COUNTED / 2 else None,
        )
        for k, i in enumerate(order)
    )
    return SuspicionFacts(
        file=table.file,
        target=table.target,
        rows=len(table.y),
        columns=column_names(table),
        counts=table.counts,
        folds=folds,
        seed=seed,
        epochs=COUNTED,
        suspects=suspects,
    )


def _same_rows(table: EncodedTable, samples: Rows) -> dict[int, tuple[int, ...]]:
    """For samples with identical ones of another class the first few of these, as rows."""
    _, kind = distinct(table.X)
    y, rows = table.labels[1], table.rows
    groups = dict[int, list[int]]()
    for i in np.flatnonzero(np.isin(kind, kind[samples])).tolist():
        groups.setdefault(int(kind[i]), []).append(i)
    found = {}
    for i in samples.tolist():
        others = (int(rows[j]) for j in groups[int(kind[i])] if y[j] != y[i])
        if few := tuple(islice(others, MOST_TWINS)):
            found[i] = few
    return found

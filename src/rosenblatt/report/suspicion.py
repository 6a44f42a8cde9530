"""Rows whose class is suspicious: what speaks against it, and who is to be looked at first."""

from __future__ import annotations

import math
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
from rosenblatt.running.clock import Cancel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = Iterable[tuple[Rows, Rows]]  # to learn from, and to judge

FOLDS = 5
SHORTEST = 0.05  # seconds that a model is given, at least
C, TOL = 30.0, 1e-2  # of the soft margin; a ranking needs no exact optimum
EPOCHS, COUNTED = 3, 10  # of the kernel perceptron that judges, and of the one that is counted
MOST_ROWS = 20_000  # that a kernel perceptron learns from at a time
BLOCK = 2000  # rows that a kernel perceptron judges between two looks at the clock
PARTS = ("hyperplane", "kernel", "slack", "mistakes", "twins")  # what speaks against a row
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
    judged: NDArray[np.bool_] | None = None  # by both models, if that is not every row
    left_out: tuple[str, ...] = ()  # slack, mistakes; training: not to the end, for want of time
    stopped: bool = False  # by Ctrl-C

    @property
    def parts(self) -> dict[str, Floats]:
        """The numbers of every row by name."""
        return {name: getattr(self, name) for name in PARTS}

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
    judged: int | None = None  # rows that both models judged, where there was time for some only
    left_out: tuple[str, ...] = ()  # what there was no time for: slack, mistakes, all of training
    stopped: bool = False  # by Ctrl-C


def gather(
    X: Any,
    y: Rows,
    folds: Folds,
    parts: Folds,
    seed: int = 0,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
    max_time: float | None = None,
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
    max_time : seconds after which nothing new is begun. Hyperplanes judge all rows first; kernel
        perceptrons then judge those on the wrong side of them before the others. What is left
        is told by the evidence, as it is after Ctrl-C, unless that comes before any row is judged.
    """
    search = _Search(X, y, list(folds), [part for _, part in parts], seed, tell, Cancel(max_time))
    stopped = False
    try:
        search.all()
    except KeyboardInterrupt:
        if not search.judged.any():
            raise
        stopped = True
    return search.evidence(stopped)


class _Search:
    """What has been found out so far, and how to go on."""

    def __init__(
        self,
        X: Any,
        y: Rows,
        folds: list[tuple[Rows, Rows]],
        pieces: list[Rows],
        seed: int,
        tell: Callable[[str, int, int], None],
        clock: Cancel,
    ) -> None:
        self.X, self.y, self.folds, self.pieces = X, y, folds, pieces
        self.seed, self.tell, self.clock = seed, tell, clock
        n, k = len(y), int(y.max()) + 1
        self.linear, self.kernel = np.zeros((n, k)), np.zeros((n, k))
        self.by_line, self.judged = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self.mistakes, self.counted = np.zeros(n), False
        self.slack: Floats | None = None
        self.hurried = False  # whether a model was not trained to its end
        self.done, self.total = 0, 2 * len(folds) + len(pieces) + 1

    def all(self) -> None:
        """Everything for which there is time, the most telling first."""
        for number, (learn, judged) in enumerate(self.folds, 1):
            if self.clock.asked:
                return
            model = self._learned(f"fold {number} of {len(self.folds)}", _soft(), learn)
            self.linear[judged] = _values(model, self.X[judged])
            self.by_line[judged] = True
        self._judge_by_kernels()
        if self.clock.asked:
            return
        everyone = self._learned("measuring slack", _soft(), np.arange(len(self.y)))
        self.slack = _slack(_values(everyone, self.X), self.y)
        self._count_mistakes()

    def _judge_by_kernels(self) -> None:
        random, most = np.random.default_rng(self.seed), len(self.pieces[0])
        lead = leads(self.linear, self.y)
        wrong = lead < 0
        waiting = list[tuple[Any, Rows]]()
        for number, (learn, judged) in enumerate(self.folds, 1):
            if self.clock.asked:
                return
            curved = _curved(self.seed, EPOCHS, keep="average")
            some = _drawn(learn, self.y, most, random)
            model = self._learned(f"kernel, fold {number} of {len(self.folds)}", curved, some)
            own = judged[wrong[judged]]
            self._judge(model, own[np.argsort(lead[own], kind="stable")])  # the worst first
            waiting.append((model, judged[~wrong[judged]]))
        for model, judged in waiting:
            self._judge(model, judged)

    def _judge(self, model: Any, rows: Rows) -> None:
        for start in range(0, len(rows), BLOCK):
            if self.clock.asked:
                return
            some = rows[start : start + BLOCK]
            self.kernel[some] = _values(model, self.X[some])
            self.judged[some] = True

    def _count_mistakes(self) -> None:
        for part in self.pieces:
            if self.clock.asked:
                return
            if len(np.unique(self.y[part])) == 1:
                continue  # of a class this rare other parts have more
            model = self._learned("counting mistakes", _curved(self.seed, COUNTED), part)
            self.mistakes[part[model.support_]] = model.alpha_.sum(axis=0)
        self.counted = True

    def _learned(self, what: str, model: Any, rows: Rows) -> Any:
        self.tell(what, self.done, self.total)
        self.done += 1
        left = self.clock.left / max(1, 2 * len(self.folds) - self.done + 1)  # each has its share
        model.set_params(max_time=max(left, SHORTEST) if math.isfinite(left) else None)
        _fitted(model, self.X[rows], self.y[rows])
        self.hurried |= any(fit.stop_reason is StopReason.TIME_LIMIT for fit in model.fits_)
        return model

    def evidence(self, stopped: bool) -> Evidence:
        """What there is, after all or in between."""
        n, y = len(self.y), self.y
        twins, same = _twins(self.X, y, self.linear.shape[1])
        if not self.counted:
            self.mistakes[:] = 0.0  # counts of some rows would rank them before the others
        slack = np.zeros(n) if self.slack is None else self.slack
        both = _scaled(self.linear, self.by_line) + _scaled(self.kernel, self.judged)
        both[np.arange(n), y] = -np.inf
        return Evidence(
            hyperplane=_scaled(-leads(self.linear, y), self.by_line),
            kernel=_scaled(-leads(self.kernel, y), self.judged),
            slack=slack,
            mistakes=self.mistakes,
            twins=twins,
            rather=np.where(twins > 0, same, both.argmax(axis=1)),
            judged=None if self.judged.all() else self.judged,
            left_out=tuple(
                name
                for name, missed in (
                    ("training", self.hurried),
                    ("slack", self.slack is None),
                    ("mistakes", not self.counted),
                )
                if missed
            ),
            stopped=stopped,
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


def _scaled(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """In units of the mean size of those known, so that those of two models can be compared."""
    sizes = np.abs(values) if known.all() else np.abs(values[known])
    return values / ((float(sizes.mean()) if sizes.size else 0.0) or 1.0)


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
        rows=len(table.label),
        columns=column_names(table),
        counts=table.counts,
        folds=folds,
        seed=seed,
        epochs=COUNTED,
        suspects=suspects,
        judged=None if evidence.judged is None else int(evidence.judged.sum()),
        left_out=evidence.left_out,
        stopped=evidence.stopped,
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

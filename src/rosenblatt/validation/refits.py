"""Candidates fitted again in each fold of a plan, and their answers to the rows left out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.contract.classifier import choose, classifier_of
from rosenblatt.contract.parameters import count_threads
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Cancel, cancelled_by
from rosenblatt.running.threads import WORTHWHILE, Team
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.frames import Cells
from rosenblatt.tables.free_text import with_counts
from rosenblatt.tables.mapped_features import MappedEncoder, plain
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.validation.plans import Plan, Rows

if TYPE_CHECKING:
    from rosenblatt.validation.tuning import Choice

T = TypeVar("T")
Encoder = TableEncoder | SparseEncoder | MappedEncoder
ROOM = 1 << 27  # numbers of the features of the folds that are done side by side
LOWEST = -np.finfo(np.float64).max  # the decision value of a class that a fold knows nothing of


class EncodedFold(NamedTuple):
    """A fold in numbers: the rows to learn from and those to judge by."""

    number: int  # from 1, through all repeats
    learn: Rows
    test: Rows
    X: Any
    X_test: Any


class Fitting(NamedTuple):
    """A model that is to be fitted to a fold; `y` has the labels of its rows to learn from."""

    model: Any
    X: Any
    y: NDArray[Any]
    groups: Rows | None  # of these rows, if there are groups
    fold: int  # from 1
    candidate: int  # from 0


def fit_alone(one: Fitting) -> None:
    """Have a model learn, without a word on how far it is."""
    if hasattr(one.model, "choose"):
        one.model.fit(one.X, one.y, one.groups)
    else:
        one.model.fit(one.X, one.y)


class Answers(NamedTuple):
    """What a model says of the rows of a fold, which it has not learned from."""

    rows: Rows
    chosen: Rows  # numbers of classes
    values: NDArray[np.float64]  # decision values: a column for each class, or one
    seconds: float  # that the fit took
    choice: Choice | None = None  # what it chose to begin with, if anything


@dataclass
class OutOfFold:
    """The answers of one candidate, fold by fold, as far as there was time.

    `y` has the number of each row's class.
    """

    y: Rows
    plan: Plan
    folds: list[Answers] = field(default_factory=list)

    @property
    def choices(self) -> list[Choice]:
        """What the folds chose; none where there is nothing to choose."""
        return [one.choice for one in self.folds if one.choice is not None]

    @property
    def scores(self) -> tuple[float, ...]:
        """The share of right answers in each fold."""
        return tuple(float(np.mean(one.chosen == self.y[one.rows])) for one in self.folds)


class FoldedTable:
    """A table whose folds are encoded by themselves, as candidates learn from them.

    Parameters
    ----------
    columns : of the table.
    labels : the classes in order, and the number of each row's class among them.
    encoder : fitted to all of them: what it used is used in each fold, whatever it looks like
        there.
    plan : of the folds.
    n_jobs : threads, as the estimators take it.
    keep : whether to keep folds that are encoded, if there is room, for the next candidates.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        labels: tuple[NDArray[Any], Rows],
        encoder: Encoder,
        plan: Plan,
        n_jobs: int | None = None,
        *,
        keep: bool = False,
    ) -> None:
        (self.classes, self.y), self.plan = labels, plan
        self.at_once = _at_once(columns, encoder, plan, count_threads(n_jobs))
        self._kept: dict[int, EncodedFold] | None = None
        if keep and _numbers(columns, encoder, plan) * len(plan) <= ROOM:
            self._kept = {}
        self._encoder, self._columns = clone(encoder), dict(columns)
        own = plain(self._encoder)
        if isinstance(own, TableEncoder):
            own.set_params(use=tuple(encoder.kinds_))
            # What a column holds is the same in every fold; means, deviations and values are not.
            cells = {name: Cells.of(name, column) for name, column in columns.items()}
            self._columns = dict(with_counts(cells, own.text))

    def encoded(self, number: int, fold: tuple[Rows, Rows]) -> EncodedFold:
        """A fold in numbers, by what its rows to learn from tell."""
        if self._kept is not None and number in self._kept:
            return self._kept[number]
        learn, test = fold
        own = clone(self._encoder)
        X, X_test = (
            turn({name: column[rows] for name, column in self._columns.items()})
            for turn, rows in ((own.fit_transform, learn), (own.transform, test))
        )
        encoded = EncodedFold(number, learn, test, X, X_test)
        if self._kept is not None:
            self._kept[number] = encoded
        return encoded

    def refit(
        self,
        candidates: Sequence[Any],
        fit: Callable[[Fitting], None] = fit_alone,
        *,
        max_time: float | None = None,
        found: list[OutOfFold] | None = None,
        cancel: Cancel | None = None,
    ) -> list[OutOfFold]:
        """The answers of all candidates, each fitted to the same encoded folds.

        Ctrl-C ends the fits that are under way. Folds are begun as long as another is expected to
        end within `max_time` seconds, one at least.

        Parameters
        ----------
        candidates : classifiers, none of which is changed.
        fit : how to fit a model, if not by calling its `fit`; in any thread.
        max_time : seconds.
        found : if given, what is filled fold by fold and returned: it is there after Ctrl-C, too.
        cancel : what else ends the fits, as Ctrl-C does.
        """
        found = [] if found is None else found
        found += [OutOfFold(self.y, self.plan) for _ in candidates]
        cancel = cancel or Cancel()

        def answered(task: tuple[EncodedFold, int]) -> Answers:
            with cancelled_by(cancel):
                return self._answered(*task, candidates[task[1]], fit)

        parts = batched(enumerate(self.plan, 1), self.at_once)
        with warnings.catch_warnings(), Team(self.at_once) as team:
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", IndefiniteKernelWarning)
            # What are classes was settled for the whole table: a fold may well have few rows.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            try:
                for part in within_time(parts, max_time):
                    ready = [self.encoded(*fold) for fold in part]  # each on all threads
                    tasks = [(fold, j) for fold in ready for j in range(len(candidates))]
                    for (_, j), one in zip(tasks, team.each(answered, tasks), strict=True):
                        found[j].folds.append(one)
            except KeyboardInterrupt:
                if not cancel.asked:
                    cancel.ask()
                raise
        return found

    def _answered(
        self, fold: EncodedFold, j: int, candidate: Any, fit: Callable[[Fitting], None]
    ) -> Answers:
        """What a candidate that has learned from a fold says of the other rows."""
        model = clone(candidate)
        if self.at_once > 1:
            names = [name for name in model.get_params() if name.split("__")[-1] == "n_jobs"]
            model.set_params(**dict.fromkeys(names, 1))
        last = classifier_of(model)
        y = self.y[fold.learn]
        known = np.unique(y)
        if isinstance(getattr(last, "class_weight", None), dict):
            y = self.classes[y]  # otherwise numbers do, which are sorted like them, but shorter
        began = time.perf_counter()
        groups = None if self.plan.groups is None else self.plan.groups[fold.learn]
        fit(Fitting(model, fold.X, y, groups, fold.number, j))
        seconds = time.perf_counter() - began
        if was_interrupted(last):
            raise KeyboardInterrupt
        values = model.decision_function(fold.X_test).reshape(len(fold.test), -1)
        chosen = choose(values, getattr(last, "at_zero", None))
        if len(known) < len(self.classes):
            values, chosen = _among_all(values, known, len(self.classes)), known[chosen]
        return Answers(fold.test, chosen, values, seconds, getattr(model, "choice_", None))


def was_interrupted(classifier: Any) -> bool:
    """Whether Ctrl-C ended a fit."""
    fits = getattr(classifier, "fits_", ())
    return any(fit.stop_reason is StopReason.INTERRUPTED for fit in fits)


def _among_all(values: NDArray[np.float64], known: Rows, k: int) -> NDArray[np.float64]:
    """Decision values for all of `k` classes, of which a model knows only some."""
    every = np.full((len(values), k), LOWEST)
    every[:, known] = np.column_stack([-values, values]) if values.shape[1] == 1 else values
    return every


def _numbers(columns: Mapping[str, Any], encoder: Encoder, plan: Plan) -> int:
    """How many numbers the rows of a table become, about."""
    if isinstance(encoder, MappedEncoder):
        return int(plan.fold_of.shape[1]) * encoder.n_features_out_
    sparse = not isinstance(encoder, TableEncoder) or encoder.sparse_
    features = len(columns) if sparse else len(encoder.get_feature_names_out())
    return int(plan.fold_of.shape[1]) * features


def _at_once(columns: Mapping[str, Any], encoder: Encoder, plan: Plan, threads: int) -> int:
    """How many folds to do side by side: as many as there are threads, and there is room for."""
    numbers = _numbers(columns, encoder, plan)
    if numbers < WORTHWHILE or is_sparse(columns):
        return 1
    return max(1, min(len(plan), threads, ROOM // numbers))


def batched(items: Iterable[T], n: int) -> Iterator[list[T]]:
    """The items, `n` at a time."""
    rest = iter(items)
    while part := list(islice(rest, n)):
        yield part


def within_time(
    tasks: Iterator[T], limit: float | None, clock: Callable[[], float] = time.monotonic
) -> Iterator[T]:
    """Tasks, one at least, as long as another like the longest so far would end in time."""
    began = at = clock()
    longest = 0.0
    for task in tasks:
        if longest and limit is not None and at + longest - began > limit:
            return
        yield task
        now = clock()
        longest, at = max(longest, now - at), now

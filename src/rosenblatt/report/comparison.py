"""Which kind of model does best on a table: the facts about kinds that were judged alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import (
    canonical,
    floats,
    is_sparse,
    label_vector,
    positive_int,
    real_labels,
    whole_number,
)
from rosenblatt.contract.parameters import time_limit
from rosenblatt.report.choice import ChoiceFacts, choice_facts
from rosenblatt.report.cross_validation import ValidationFacts, validation_facts
from rosenblatt.validation.kinds import MAJORITY
from rosenblatt.validation.paired import PairedTest, corrected_t_test

FOLDS, REPEATS, FEW_ROWS = 5, 3, 2_000  # small tables are judged again and again

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.report.fits import EncodedTable
    from rosenblatt.validation.comparing import Comparison, Judged


@dataclass(frozen=True)
class KindFacts:
    """What a kind of model came to on all folds.

    `scores` are the shares of right answers, fold by fold, `validation` all there is to say of
    these answers. `seconds` are those of all its fits, what was tried included. `behind` is by how
    much the mean of its scores is below that of the best, `p` what the corrected resampled t-test
    makes of that; None of the best itself.
    """

    name: str
    options: tuple[str, ...]  # of rosenblatt fit
    scores: tuple[float, ...]
    validation: ValidationFacts
    seconds: float
    behind: float
    p: float | None
    choice: ChoiceFacts | None  # None: there is nothing to choose

    @property
    def accuracy(self) -> float:
        """The share of right answers to all rows."""
        return self.validation.result.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Of the accuracy, for 95 of 100 cases."""
        return self.validation.result.interval

    @property
    def balanced_accuracy(self) -> float:
        """The mean share of each class that is found."""
        return self.validation.result.balanced_accuracy


@dataclass(frozen=True)
class ComparisonFacts:
    """Kinds of models on the same folds, and which of them to take.

    `kinds` are those that were done on all folds, the best first; of `best` and those `alike`,
    which cannot be told from it, `preferred` is the simplest; None where nothing but the majority
    was done. `useful` says whether the best can be told from `majority`, always the same answer.
    `unfinished` has why there is nothing to say of the others. `command` does `preferred` again,
    with the same scores.
    """

    file: str
    target: str
    rows: int
    columns: int
    features: int
    counts: Mapping[str, int]  # rows of each class
    folds: int
    repeats: int
    seed: int
    groups: str | None  # the column whose groups no fold parts
    kinds: tuple[KindFacts, ...]
    best: str | None
    alike: tuple[str, ...]
    preferred: str | None
    useful: bool
    unfinished: Mapping[str, str]
    interrupted: bool
    seconds: float
    command: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        from rosenblatt.report.comparison_report import comparison_text

        return comparison_text(self)

    @property
    def by_name(self) -> Mapping[str, KindFacts]:
        """The kinds by their names."""
        return {kind.name: kind for kind in self.kinds}

    @property
    def majority_class(self) -> str:
        """The most frequent class."""
        return max(self.counts, key=lambda name: self.counts[name])


def comparison_facts(
    found: Comparison,
    table: EncodedTable,
    seed: int,
    command: Callable[[tuple[str, ...]], Sequence[str]] = lambda options: (),
) -> ComparisonFacts:
    """What came of a comparison on a table.

    `command` makes a command of the options of a kind; without it there is none.
    """
    plan = found.folded.plan
    means = {one.kind.name: fmean(one.found.scores) for one in found.done}
    models = [name for name in means if name != MAJORITY]
    best = max(models, key=lambda name: means[name], default=None)
    tests = _beside(best, found.done, judged_share(found)) if best else {}
    alike = tuple(name for name in models if name in tests and not tests[name].differ)
    preferred = next((name for name in models if name == best or name in alike), None)
    kinds = sorted(
        (_kind(one, table, means, best, tests.get(one.kind.name)) for one in found.done),
        key=lambda kind: -means[kind.name],
    )
    options = {one.kind.name: one.kind.options for one in found.done}
    useless = tests.get(MAJORITY)
    return ComparisonFacts(
        file=table.file,
        target=table.target,
        rows=len(table.label),
        columns=len(table.columns),
        features=len(table.features),
        counts=table.counts,
        folds=plan.folds,
        repeats=plan.repeats,
        seed=seed,
        groups=table.grouped_by or None,
        kinds=tuple(kinds),
        best=best,
        alike=alike,
        preferred=preferred,
        useful=useless is not None and useless.differ and useless.difference > 0,
        unfinished=dict(found.unfinished),
        interrupted=found.interrupted,
        seconds=round(found.seconds, 3),
        command=tuple(command(options[preferred])) if preferred else (),
        notes=tuple(table.notes),
    )


def judged_share(found: Comparison) -> float:
    """How many rows are judged by, for each that is learned from."""
    return fmean(len(test) / len(learn) for learn, test in found.folded.plan)


def _beside(best: str, done: Sequence[Judged], share: float) -> dict[str, PairedTest]:
    """The best kind beside each other."""
    scores = {one.kind.name: one.found.scores for one in done}
    tests = {
        name: corrected_t_test(scores[best], others, share)
        for name, others in scores.items()
        if name != best
    }
    return {name: test for name, test in tests.items() if test is not None}


def _kind(
    one: Judged,
    table: EncodedTable,
    means: Mapping[str, float],
    best: str | None,
    test: PairedTest | None,
) -> KindFacts:
    name, choices = one.kind.name, one.found.choices
    classes = [str(label) for label in table.labels[0]]
    return KindFacts(
        name=name,
        options=one.kind.options,
        scores=one.found.scores,
        validation=validation_facts(one.found, one.kind.candidate, classes, table.grouped_by),
        seconds=round(one.seconds, 3),
        behind=means[best] - means[name] if best else 0.0,
        p=None if test is None else test.p,
        choice=choice_facts(choices) if choices else None,
    )


def compare_table(
    table: EncodedTable,
    *,
    folds: int = FOLDS,
    repeats: int | None = None,
    seed: int = 0,
    max_time: float | None = None,
    n_jobs: int | None = None,
    command: Callable[[tuple[str, ...], str], Sequence[str]] = lambda options, folds: (),
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> ComparisonFacts:
    """Compare the usual kinds of models on a table, by the same folds.

    Parameters
    ----------
    table : in numbers, with its columns, which every fold encodes anew.
    folds, repeats : how many folds, and how often; None: three times, of a large table once.
    seed : of folds, orders and rows that are drawn.
    max_time : seconds after which what is done is told.
    n_jobs : threads, as the estimators take it.
    command : makes a command of the options of a kind, and of its folds as ``--cv`` takes them.
    tell : hears which kind is on, and how many of its folds are done.
    """
    from rosenblatt.validation.comparing import compare_kinds
    from rosenblatt.validation.kinds import usual_kinds
    from rosenblatt.validation.plans import plan_folds
    from rosenblatt.validation.refits import FoldedTable

    repeats = repeats or (REPEATS if len(table.label) < FEW_ROWS else 1)
    plan = plan_folds(table.labels, folds, groups=table.group_of, repeats=repeats, seed=seed)
    if not len(plan):
        why = "; ".join(plan.notes).removeprefix("no cross-validation: ")
        msg = f"{table.file or 'X'} has no folds by which kinds could be compared: {why}"
        raise ValueError(msg)
    table.notes.extend(plan.notes)
    folded = FoldedTable(table.columns, table.labels, table.encoder, plan, n_jobs, keep=True)
    numbers = table.X.nnz if hasattr(table.X, "nnz") else table.X.size
    kinds = usual_kinds(len(table.label), int(numbers), seed, n_jobs)
    found = compare_kinds(folded, kinds, max_time, tell)
    often = f"{folds}x{repeats}" if repeats > 1 else str(folds)
    return comparison_facts(found, table, seed, lambda options: command(options, often))


def compare(
    X: Any,
    y: Any,
    *,
    cv: int = FOLDS,
    repeats: int | None = None,
    groups: Any = None,
    random_state: int = 0,
    max_time: float | None = None,
    n_jobs: int | None = None,
) -> ComparisonFacts:
    """Compare kinds of models on a table by the same folds, as ``rosenblatt compare`` does.

    Perceptron, average, pocket, maximum and soft margin, kernel perceptrons, and always the most
    frequent class. C, gamma and degree are chosen in each fold by its own rows to learn from. Of
    the kinds that a corrected resampled t-test (Nadeau and Bengio 2003) cannot tell from the best
    the simplest is `preferred`.

    Parameters
    ----------
    X : array, CSR matrix, data frame or dict of columns
        Numbers are standardised and texts made features of anew in each fold, as `TableEncoder`
        does.
    y : array of n labels
    cv, repeats : int
        How many folds, and how often; None: three times, once from 2000 rows on.
    groups : array of n labels, optional
        Rows with the same one are never on both sides of a fold.
    random_state : int
        Of folds, orders and rows that are drawn.
    max_time : float, optional
        Seconds after which what is done is told.
    n_jobs : int, optional
        Threads; None: one per core. The scores do not depend on it.

    Returns
    -------
    rosenblatt.report.comparison.ComparisonFacts
        Its `kinds` have the scores; ``print`` shows what the command prints.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.circles(60, random_state=0)
    >>> found = rb.compare(X, y, cv=3, repeats=2)
    >>> found.preferred, found.by_name["perceptron"].p < 0.05
    ('poly kernel', True)
    """
    labels = label_vector("y", np.asarray(real_labels("y", y)))
    of = None
    if groups is not None:
        of = np.unique(label_vector("groups", real_labels("groups", groups)), return_inverse=True)[
            1
        ]
    table = _table(X, labels, of)
    return compare_table(
        table,
        folds=whole_number("cv", cv, 2, "give at least 2 folds"),
        repeats=None if repeats is None else positive_int("repeats", repeats),
        seed=whole_number("random_state", random_state),
        max_time=time_limit(max_time),
        n_jobs=n_jobs,
    )


def _table(X: Any, y: NDArray[Any], groups: NDArray[np.intp] | None) -> EncodedTable:
    """What Python gives as a table in numbers."""
    from rosenblatt.report.encoding_notes import notes_about
    from rosenblatt.report.fits import EncodedTable, numbered
    from rosenblatt.report.given import columns_of
    from rosenblatt.tables.encoder import TableEncoder
    from rosenblatt.tables.frames import is_named
    from rosenblatt.tables.sparse_features import SparseEncoder

    sparse = is_sparse(X)
    if not sparse and not is_named(X):
        X = floats("X", X, 2, "give rows of numbers, or a table")
    encoder = SparseEncoder() if sparse else TableEncoder()
    try:
        columns = {"x": canonical(X)} if sparse else columns_of(X, None)
        features = encoder.fit_transform(columns)
    except (TypeError, ValueError) as error:
        msg = f"X is no table that can be used: {error}"
        raise ValueError(msg) from None
    n = features.shape[0]
    for name, given in (("y", y), ("groups", groups)):
        if given is not None and len(given) != n:
            msg = f"{name} has {len(given)} samples but X has {n} rows"
            raise ValueError(msg)
    if len(np.unique(y)) < 2:
        msg = "y holds only one class: a classifier needs samples of at least two"
        raise ValueError(msg)
    return EncodedTable(
        file="",
        names=[*columns],
        target="",
        columns=columns,
        **numbered(y),
        notes=notes_about(encoder),
        grouped_by="groups" if groups is not None else "",
        group_of=groups,
        encoder=encoder,
        X=features,
    )

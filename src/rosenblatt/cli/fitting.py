"""From a table to a fitted pipeline and the facts about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from rosenblatt.cli.effort import CHOSEN, Effort, within_time
from rosenblatt.cli.folds import Rows, stratified
from rosenblatt.cli.options import (
    chosen_model,
    estimator_options,
    how_to_encode,
    how_to_read,
    shown_tables,
    tables_of,
)
from rosenblatt.cli.reading import encoder_of, notes_about, read_file
from rosenblatt.cli.waiting import FoldProgress, HeldCtrlC, ProgressLine
from rosenblatt.contract.classifier import positives_of
from rosenblatt.contract.parameters import count_threads
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.fits import (
    EncodedTable,
    LabelledTable,
    fit_facts,
    margins_of,
    proof_facts,
    table_facts,
)
from rosenblatt.report.judging import judge, was_stopped
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Cancel, cancelled_by
from rosenblatt.running.threads import WORTHWHILE, Team
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.frames import Cells
from rosenblatt.tables.free_text import with_counts
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.visible import count

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from rosenblatt.report.terminal import NamedWeights

T = TypeVar("T")
Encoder = TableEncoder | SparseEncoder
Telling = ProgressLine | FoldProgress
ROOM = 1 << 27  # numbers of the features of the folds that are done side by side
MODELS = {  # by name: the loops of all of them would take a while to load
    "perceptron": "Perceptron",
    "adaline": "Adaline",
    "kernel": "KernelPerceptron",
    "max-margin": "MaxMarginClassifier",
    "soft-margin": "SoftMarginClassifier",
}


@dataclass(frozen=True)
class TrainedModel:
    """A classifier, the table it was trained on with its encoder, and what there is to say."""

    classifier: Any
    training: EncodedTable
    facts: FitFacts
    interrupted: bool

    @property
    def pipeline(self) -> Pipeline:
        """What is saved: the encoder and the classifier as one."""
        from sklearn.pipeline import Pipeline  # late: a fit that is not saved does without

        return Pipeline([("encode", self.training.encoder), ("classify", self.classifier)])

    @property
    def weights(self) -> NamedWeights | None:
        """The hyperplanes with the names of the features."""
        from rosenblatt.report.terminal import NamedWeights

        return NamedWeights.of(self.classifier, self.training.encoder)


class EncodedFold(NamedTuple):
    """A fold: the rows to learn from, in numbers, and the rows to judge by."""

    number: str
    encoder: Encoder
    X: Any
    learn: Rows
    test: Rows


def estimator(model: str) -> Any:
    """The class of a model, which is imported only now."""
    return getattr(rosenblatt, MODELS[model])


def prepare(
    options: Mapping[str, Any], progress: ProgressLine, **more: Any
) -> tuple[LabelledTable, Any, Encoder]:
    """The table that a command was given, with the classifier and the encoder to fit to it."""
    name = chosen_model(options)
    rule, files = estimator(name), tables_of(options)
    progress.say(f"reading {shown_tables(files)}")
    table = read_file(files, options["target"], rule, how_to_read(options))
    classifier = rule(**estimator_options(name, rule, options, table.y), **more)
    encoder = encoder_of(table, standardize=not options["raw"], **how_to_encode(options))
    return table, classifier, encoder


def train(
    table: LabelledTable,
    classifier: Any,
    encoder: Encoder,
    folds: int,
    progress: ProgressLine,
    ctrl_c: HeldCtrlC,
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
) -> TrainedModel:
    """Fit the pipeline, judge it by cross-validation, and sum up.

    From then on Ctrl-C is held back, so that the model can be written.
    """
    began = time.perf_counter()
    progress.say("encoding")
    X = encoder.fit_transform(table.columns)
    try:
        table.notes.extend(run(classifier, X, table.y, progress, effort=effort))
        ctrl_c.hold()
    except KeyboardInterrupt:
        if not hasattr(classifier, "fits_"):
            raise
        ctrl_c.hold()  # it came when all was done
        ctrl_c.pressed = True
    took = round(time.perf_counter() - began, 3)
    if _was_chosen(classifier):
        epochs = count(int(classifier.n_iter_), "epoch")
        table.notes.append(f"{epochs}, by the course of the mistakes (--max-epochs for others)")
    training = EncodedTable(**vars(table), encoder=encoder, X=X)
    margins = margins_of(classifier, training)
    facts = replace(fit_facts(classifier, training), seconds=took, margins=margins)
    interrupted = _was_interrupted(classifier) or ctrl_c.pressed
    if not interrupted:
        judged = ctrl_c.unless_stopped(lambda: _judged(facts, classifier, training, progress))
        facts = judged or facts
        interrupted = not facts.verdicts or was_stopped(facts.verdicts)
    table.notes.extend(notes_about(encoder))
    scores: tuple[float, ...] | None = ()
    if folds and not (interrupted or ctrl_c.pressed):
        scores = ctrl_c.unless_stopped(
            lambda: cross_validate(table, classifier, encoder, folds, progress, effort)
        )
        if scores is None:
            table.notes.append("no cross-validation: stopped with Ctrl-C")
    about = table_facts(training, scores or (), min(folds, min(training.counts.values())))
    facts = replace(facts, table=about, notes=tuple(table.notes))
    return TrainedModel(classifier, training, facts, interrupted or ctrl_c.pressed)


def _judged(
    facts: FitFacts, classifier: Any, training: EncodedTable, progress: ProgressLine
) -> FitFacts:
    """The facts with verdicts, and with proofs that were found when time was up."""
    tell = partial(progress.say, "looking for a hyperplane")
    verdicts, optima = judge(classifier, training, facts.margins, tell), facts.optima
    if facts.model == MODELS["max-margin"]:
        late = [proof_facts(verdict.proof, training) for verdict in verdicts]
        both = zip(optima, late, strict=True)
        optima = tuple(replace(one, proof=one.proof or proof) for one, proof in both)
    return replace(facts, verdicts=verdicts, optima=optima)


def run(
    classifier: Any,
    X: Any,
    y: NDArray[Any],
    progress: ProgressLine,
    what: str = "training",
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
) -> list[str]:
    """Train; what there is to say about the kernel."""
    with warnings.catch_warnings(record=True) as caught:
        # The report says why it stopped and what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("always", IndefiniteKernelWarning)
        fit(classifier, X, y, progress, what, effort)
    notes = []
    for warning in caught:
        if isinstance(warning.message, IndefiniteKernelWarning):
            notes.append(warning.message.told("--kernel rbf or poly"))
        else:
            warnings.warn(warning.message, stacklevel=2)
    return notes


def fit(
    classifier: Any, X: Any, y: NDArray[Any], progress: Telling, what: str, effort: Effort
) -> None:
    """Train, and tell how far it is."""
    n_problems = len(positives_of(np.unique(y)))
    callback: Any
    if not hasattr(classifier, "max_epochs"):  # margins are found in scans
        callback = partial(progress.after_scan, what, n_problems)
    else:
        course = effort.course(classifier, X, n_problems)
        callback = partial(progress.after_epoch, what, course)
    classifier.set_params(callback=callback)
    try:
        classifier.fit(X, y)
    finally:
        classifier.set_params(callback=None)


def _was_interrupted(classifier: Any) -> bool:
    return any(fit.stop_reason is StopReason.INTERRUPTED for fit in classifier.fits_)


def cross_validate(
    table: LabelledTable,
    classifier: Any,
    encoder: Encoder,
    folds: int,
    progress: ProgressLine,
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
) -> tuple[float, ...]:
    """The share of right predictions on each fold, by a model trained on all the others.

    Where the command chose how long to train the classifier, the others are trained no longer.
    """
    labels, numbers, counts = np.unique(table.y, return_inverse=True, return_counts=True)
    least = int(counts.min())
    if least < 2:
        single = labels[counts.argmin()]
        table.notes.append(f"no cross-validation: class {single} has only one row")
        return ()
    if folds > least:
        folds = least
        table.notes.append(f"{least} folds: the smallest class has only {count(least, 'row')}")
    # What was used with all the rows is used with some of them, whatever it looks like there.
    used, at_once = tuple(encoder.kinds_), _at_once(table, encoder, classifier, folds)
    encoder = clone(encoder)
    columns: dict[str, Any] = table.columns
    if isinstance(encoder, TableEncoder):
        encoder.set_params(use=used)
        # What a column holds is the same in every fold; means, deviations and values are not.
        cells = {name: Cells.of(name, column) for name, column in columns.items()}
        columns = with_counts(cells, encoder.text)
    weights = getattr(classifier, "class_weight", None)
    y = table.y if isinstance(weights, dict) else numbers  # sorted like the classes, but shorter
    classifier, effort_of_each = _as_long(classifier, effort)
    cancel, told = Cancel(), FoldProgress(progress, folds)

    def encoded(fold: tuple[int, tuple[Rows, Rows]]) -> EncodedFold:
        k, (learn, test) = fold
        own = clone(encoder)
        X = own.fit_transform({name: column[learn] for name, column in columns.items()})
        return EncodedFold(str(k), own, X, learn, test)

    def trained(fold: EncodedFold) -> Any:
        model = clone(classifier).set_params(n_jobs=1 if at_once > 1 else classifier.n_jobs)
        with cancelled_by(cancel):
            fit(model, fold.X, y[fold.learn], told, fold.number, effort_of_each)
        if _was_interrupted(model):
            raise KeyboardInterrupt
        return model

    def score(fold: EncodedFold, model: Any) -> float:
        new = {name: column[fold.test] for name, column in columns.items()}
        return float(np.mean(model.predict(fold.encoder.transform(new)) == y[fold.test]))

    scores: list[float] = []
    parts = batched(enumerate(stratified(numbers, folds), 1), at_once)
    with warnings.catch_warnings(), Team(at_once) as team:
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        try:
            for part in within_time(parts, effort.folds_time):
                ready = list(map(encoded, part))  # one by one, each on all threads
                scores += map(score, ready, team.each(trained, ready))
        except KeyboardInterrupt:
            cancel.ask()
            raise
    if len(scores) < folds:
        done = f"{len(scores)} of {folds} folds, for which {effort.folds_time:g} seconds are kept"
        table.notes.append(f"{done} (--cv {folds} does all of them)")
    return tuple(scores)


def _at_once(table: LabelledTable, encoder: Encoder, classifier: Any, folds: int) -> int:
    """How many folds to do side by side: as many as there are threads, and there is room for."""
    sparse = not isinstance(encoder, TableEncoder) or encoder.sparse_
    features = len(table.columns) if sparse else len(encoder.get_feature_names_out())
    numbers = len(table.y) * features
    if numbers < WORTHWHILE or is_sparse(table.columns):
        return 1
    return max(1, min(folds, count_threads(classifier.n_jobs), ROOM // numbers))


def batched(items: Iterable[T], n: int) -> Iterator[list[T]]:
    """The items, `n` at a time."""
    rest = iter(items)
    while part := list(islice(rest, n)):
        yield part


def _was_chosen(classifier: Any) -> bool:
    """Whether the command itself ended the training."""
    return not CHOSEN.isdisjoint(fit.stop_reason for fit in classifier.fits_)


def _as_long(classifier: Any, effort: Effort) -> tuple[Any, Effort]:
    """A classifier to train in each fold, and how much of that is still to be chosen."""
    if not _was_chosen(classifier):
        return classifier, effort
    return clone(classifier).set_params(max_epochs=int(classifier.n_iter_)), Effort()

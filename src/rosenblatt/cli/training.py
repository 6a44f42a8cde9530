"""From a table to a fitted pipeline and the facts about it."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from rosenblatt.cli.progress import HeldCtrlC
from rosenblatt.cli.reading import is_standardised, leaves_out, notes_about
from rosenblatt.contract.classifier import positives_of
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
from rosenblatt.margin.classifiers import MarginClassifier
from rosenblatt.margin.estimator import MaxMarginClassifier, SoftMarginClassifier
from rosenblatt.perceptron.adaline import Adaline
from rosenblatt.perceptron.estimator import Perceptron
from rosenblatt.report.facts import TableFacts
from rosenblatt.report.fits import TrainingRows, fit_facts, margins_of, proof_facts
from rosenblatt.report.kernel_report import indefinite_note
from rosenblatt.report.phrases import count
from rosenblatt.report.verdicts import judge, was_stopped
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.cli.progress import ProgressLine
    from rosenblatt.cli.reading import Task
    from rosenblatt.report.facts import FitFacts, VerdictFacts
    from rosenblatt.tables.encoder import TableEncoder

MODELS = {
    "perceptron": Perceptron,
    "adaline": Adaline,
    "kernel": KernelPerceptron,
    "max-margin": MaxMarginClassifier,
    "soft-margin": SoftMarginClassifier,
}


@dataclass(frozen=True)
class TrainedModel:
    """A fitted pipeline, what its classifier was trained on, and what there is to say."""

    pipeline: Pipeline
    training: TrainingRows
    facts: FitFacts
    interrupted: bool = False


@dataclass(frozen=True)
class Folds:
    """The share of right predictions on each fold; none, and why not, if it is not known."""

    scores: tuple[float, ...] = ()
    interrupted: bool = False
    single: Any = None  # a class with only one row


def train(
    task: Task,
    classifier: Any,
    encoder: TableEncoder,
    folds: int,
    progress: ProgressLine,
    ctrl_c: HeldCtrlC | None = None,
) -> TrainedModel:
    """Fit the pipeline, judge it by cross-validation, and sum up.

    `ctrl_c`, if given, is held back from then on, so that the model can be written.
    """
    began = time.perf_counter()
    progress.say("encoding")
    X = encoder.fit_transform(task.columns)
    with nullcontext(ctrl_c) if ctrl_c else HeldCtrlC() as stops:
        try:
            task.notes.extend(run(classifier, X, task.y, progress))
            stops.hold()
        except KeyboardInterrupt:
            if not hasattr(classifier, "fits_"):
                raise
            stops.hold()  # it came when all was done
            stops.pressed = True
        took = round(time.perf_counter() - began, 3)
        left = leaves_out(task, encoder)
        training = TrainingRows(X, task.y, task.rows, task.columns, encoder, left)
        margins = margins_of(classifier, training)
        interrupted = _was_interrupted(classifier) or stops.pressed
        verdicts: tuple[VerdictFacts, ...] = ()
        if not interrupted:
            found = stops.unless_stopped(lambda: _judged(classifier, training, margins, progress))
            verdicts = found or ()
            interrupted = not verdicts or was_stopped(verdicts)
        task.notes.extend(notes_about(encoder))
        scored = Folds()
        if folds and not (interrupted or stops.pressed):
            scored = stops.unless_stopped(
                lambda: cross_validate(task, classifier, encoder, folds, progress)
            ) or Folds(interrupted=True)
            task.notes.extend(_why_not(scored))
        facts = replace(
            fit_facts(classifier, training),
            table=_table_facts(task, encoder, scored.scores),
            margins=margins,
            verdicts=verdicts,
            seconds=took,
            notes=tuple(task.notes),
        )
        if verdicts and isinstance(classifier, MaxMarginClassifier):  # proved when time was up
            facts = facts.with_proofs(tuple(proof_facts(v.proof, training) for v in verdicts))
        pipeline = Pipeline([("encode", encoder), ("classify", classifier)])
        interrupted = interrupted or scored.interrupted or stops.pressed
        return TrainedModel(pipeline, training, facts, interrupted)


def _judged(
    classifier: Any,
    training: TrainingRows,
    margins: tuple[float | None, ...] | None,
    progress: ProgressLine,
) -> tuple[VerdictFacts, ...]:
    def tell(done: int, total: int) -> None:
        progress.say("looking for a hyperplane", done, total)

    return judge(classifier, training, margins, tell)


def _table_facts(task: Task, encoder: TableEncoder, scores: tuple[float, ...]) -> TableFacts:
    labels, counts = np.unique(task.y, return_counts=True)
    return TableFacts(
        file=task.origin["file"],
        has_header=task.origin.get("has_header"),
        names=tuple(task.origin["names"]),
        trained=datetime.now(UTC).isoformat(timespec="seconds"),
        target=task.target,
        rows=len(task.y),
        rows_without_class=0 if task.known is None else int((~task.known).sum()),
        counts={str(label): int(n) for label, n in zip(labels, counts, strict=True)},
        columns=len(task.columns),
        standardized=is_standardised(encoder),
        scores=scores,
        majority=float(counts.max() / counts.sum()),
    )


def run(
    classifier: Any, X: Any, y: NDArray[Any], progress: ProgressLine, what: str = "training"
) -> list[str]:
    """Train; what there is to say about the kernel."""
    if isinstance(classifier, MarginClassifier):
        callback: Any = progress.after_scans(what, len(positives_of(np.unique(y))))
    else:
        callback = progress.after_epochs(what, classifier.max_epochs)
    classifier.set_params(callback=callback)
    with warnings.catch_warnings(record=True) as caught:
        # The report says why it stopped and what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("always", IndefiniteKernelWarning)
        try:
            classifier.fit(X, y)
        finally:
            classifier.set_params(callback=None)
    notes = []
    for warning in caught:
        if isinstance(warning.message, IndefiniteKernelWarning):
            notes.append(indefinite_note(warning.message))
        else:
            warnings.warn(warning.message, stacklevel=2)
    return notes


def _was_interrupted(classifier: Any) -> bool:
    return any(fit.stop_reason is StopReason.INTERRUPTED for fit in classifier.fits_)


def cross_validate(
    task: Task, classifier: Any, encoder: TableEncoder, folds: int, progress: ProgressLine
) -> Folds:
    """Train on all folds but one, and predict that one; in turn."""
    from sklearn.base import clone

    labels, counts = np.unique(task.y, return_counts=True)
    if counts.min() < 2:
        return Folds(single=labels[counts.argmin()])
    if folds > counts.min():
        few = count(int(counts.min()), "row")
        task.notes.append(f"{counts.min()} folds: the smallest class has only {few}")
    folds = min(folds, int(counts.min()))
    # What was used with all the rows is used with some of them, whatever it looks like there.
    encoder = clone(encoder).set_params(use=tuple(encoder.kinds_))
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = []
    try:
        for k, (learn, test) in enumerate(split.split(np.zeros(len(task.y)), task.y), 1):
            what = f"cross-validation {k}/{folds}"
            progress.say(what)
            model = clone(classifier)
            X = encoder.fit_transform({name: c[learn] for name, c in task.columns.items()})
            run(model, X, task.y[learn], progress, what)
            if _was_interrupted(model):
                return Folds(interrupted=True)
            X = encoder.transform({name: c[test] for name, c in task.columns.items()})
            scores.append(float(np.mean(model.predict(X) == task.y[test])))
    except KeyboardInterrupt:
        return Folds(interrupted=True)
    return Folds(tuple(scores))


def _why_not(scored: Folds) -> list[str]:
    """Why there was no cross-validation, if there was none."""
    if scored.interrupted:
        return ["no cross-validation: stopped with Ctrl-C"]
    if scored.single is not None:
        return [f"no cross-validation: class {scored.single} has only one row"]
    return []

"""From a table to a fitted pipeline and the facts about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from rosenblatt.cli.reading import notes_about
from rosenblatt.cli.waiting import HeldCtrlC, ProgressLine
from rosenblatt.contract.classifier import positives_of
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.kernels.definiteness import IndefiniteKernelWarning
from rosenblatt.margin.classifiers import MarginClassifier
from rosenblatt.margin.estimator import MaxMarginClassifier, SoftMarginClassifier
from rosenblatt.perceptron.adaline import Adaline
from rosenblatt.perceptron.estimator import Perceptron
from rosenblatt.report.encoded import EncodedTable, LabelledTable, table_facts
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.fits import fit_facts, margins_of, proof_facts
from rosenblatt.report.judging import judge, was_stopped
from rosenblatt.report.sentences import count
from rosenblatt.results import StopReason
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
    training: EncodedTable
    facts: FitFacts
    interrupted: bool


@dataclass(frozen=True)
class Folds:
    """The share of right predictions on each fold; none, and why not, if it is not known."""

    scores: tuple[float, ...] = ()
    interrupted: bool = False
    single: Any = None  # a class with only one row

    def notes(self) -> Iterator[str]:
        """Why there was no cross-validation, if there was none."""
        if self.interrupted:
            yield "no cross-validation: stopped with Ctrl-C"
        elif self.single is not None:
            yield f"no cross-validation: class {self.single} has only one row"


def train(
    table: LabelledTable,
    classifier: Any,
    encoder: TableEncoder,
    folds: int,
    progress: ProgressLine,
    ctrl_c: HeldCtrlC,
) -> TrainedModel:
    """Fit the pipeline, judge it by cross-validation, and sum up.

    From then on Ctrl-C is held back, so that the model can be written.
    """
    began = time.perf_counter()
    progress.say("encoding")
    X = encoder.fit_transform(table.columns)
    try:
        table.notes.extend(run(classifier, X, table.y, progress))
        ctrl_c.hold()
    except KeyboardInterrupt:
        if not hasattr(classifier, "fits_"):
            raise
        ctrl_c.hold()  # it came when all was done
        ctrl_c.pressed = True
    took = round(time.perf_counter() - began, 3)
    training = EncodedTable(**vars(table), encoder=encoder, X=X)
    facts = replace(fit_facts(classifier, training), seconds=took)
    facts = replace(facts, margins=margins_of(classifier, training))
    interrupted = _was_interrupted(classifier) or ctrl_c.pressed
    if not interrupted:
        judged = ctrl_c.unless_stopped(lambda: _judged(facts, classifier, training, progress))
        facts = judged or facts
        interrupted = not facts.verdicts or was_stopped(facts.verdicts)
    table.notes.extend(notes_about(encoder))
    scored = Folds()
    if folds and not (interrupted or ctrl_c.pressed):
        scored = ctrl_c.unless_stopped(
            lambda: cross_validate(table, classifier, encoder, folds, progress)
        ) or Folds(interrupted=True)
        table.notes.extend(scored.notes())
    facts = replace(facts, table=table_facts(training, scored.scores), notes=tuple(table.notes))
    pipeline = Pipeline([("encode", encoder), ("classify", classifier)])
    interrupted = interrupted or scored.interrupted or ctrl_c.pressed
    return TrainedModel(pipeline, training, facts, interrupted)


def _judged(
    facts: FitFacts, classifier: Any, training: EncodedTable, progress: ProgressLine
) -> FitFacts:
    """The facts with verdicts, and with proofs that were found when time was up."""

    def tell(done: int, total: int) -> None:
        progress.say("looking for a hyperplane", done, total)

    verdicts = judge(classifier, training, facts.margins, tell)
    facts = replace(facts, verdicts=verdicts)
    if isinstance(classifier, MaxMarginClassifier):
        return facts.with_proofs(tuple(proof_facts(one.proof, training) for one in verdicts))
    return facts


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
            notes.append(warning.message.told("--kernel rbf or poly"))
        else:
            warnings.warn(warning.message, stacklevel=2)
    return notes


def _was_interrupted(classifier: Any) -> bool:
    return any(fit.stop_reason is StopReason.INTERRUPTED for fit in classifier.fits_)


def cross_validate(
    table: LabelledTable, classifier: Any, encoder: TableEncoder, folds: int, progress: ProgressLine
) -> Folds:
    """Train on all folds but one, and predict that one; in turn."""
    labels, counts = np.unique(table.y, return_counts=True)
    if counts.min() < 2:
        return Folds(single=labels[counts.argmin()])
    if folds > counts.min():
        few = count(int(counts.min()), "row")
        table.notes.append(f"{counts.min()} folds: the smallest class has only {few}")
    folds = min(folds, int(counts.min()))
    # What was used with all the rows is used with some of them, whatever it looks like there.
    encoder = clone(encoder).set_params(use=tuple(encoder.kinds_))
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = []
    try:
        for k, (learn, test) in enumerate(split.split(np.zeros(len(table.y)), table.y), 1):
            what = f"cross-validation {k}/{folds}"
            progress.say(what)
            model = clone(classifier)
            X = encoder.fit_transform({name: c[learn] for name, c in table.columns.items()})
            run(model, X, table.y[learn], progress, what)
            if _was_interrupted(model):
                return Folds(interrupted=True)
            X = encoder.transform({name: c[test] for name, c in table.columns.items()})
            scores.append(float(np.mean(model.predict(X) == table.y[test])))
    except KeyboardInterrupt:
        return Folds(interrupted=True)
    return Folds(tuple(scores))

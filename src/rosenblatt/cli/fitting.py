"""From a table to a fitted pipeline and the facts about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from rosenblatt.cli.bending import bend_facts, worth_bending
from rosenblatt.cli.effort import CHOSEN, Effort
from rosenblatt.cli.feature_maps import split_options, with_map
from rosenblatt.cli.folding import Folding, with_folds
from rosenblatt.cli.on_cluster import MACHINE, without_what_needs_all_rows
from rosenblatt.cli.options import (
    chosen_model,
    estimator_options,
    how_to_encode,
    how_to_read,
    refuse,
    shown_tables,
    tables_of,
)
from rosenblatt.cli.reading import encoded_table, encoder_of, read_file
from rosenblatt.cli.room import Room
from rosenblatt.cli.waiting import FoldProgress, HeldCtrlC, ProgressLine
from rosenblatt.cluster.opened import ClusteredSamples
from rosenblatt.contract.classifier import positives_of
from rosenblatt.data.opened import OpenedSource
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
from rosenblatt.report.encoding_notes import notes_about
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.fits import (
    EncodedTable,
    LabelledTable,
    fit_facts,
    margins_of,
)
from rosenblatt.report.judging import was_stopped, with_verdicts
from rosenblatt.results import StopReason
from rosenblatt.running.checkpoints import Checkpoint, Keeper
from rosenblatt.running.clock import Cancel
from rosenblatt.tables.mapped_features import MappedEncoder, steps_of
from rosenblatt.validation.plans import Plan
from rosenblatt.validation.refits import Encoder, Fitting, FoldedTable, OutOfFold, was_interrupted
from rosenblatt.visible import count

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.report.terminal import NamedWeights

Telling = ProgressLine | FoldProgress
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
    out_of_fold: OutOfFold | None = None  # the answers of a cross-validation
    # Those to another table: the numbers of the true classes, and decision values.
    test_answers: tuple[NDArray[Any], NDArray[np.float64]] | None = None

    @property
    def pipeline(self) -> Pipeline:
        """What is saved: the encoder, the feature map if there is one, and the classifier."""
        from sklearn.pipeline import Pipeline  # late: a fit that is not saved does without

        return Pipeline([*steps_of(self.training.encoder), ("classify", self.classifier)])

    def made_by(self, command: str) -> TrainedModel:
        """The same, with what made it: a command, and these versions."""
        from rosenblatt.files.models import versions

        facts = replace(self.facts, command=command, versions=versions())
        return replace(self, facts=facts)

    @property
    def has_map(self) -> bool:
        """Whether there is a feature map between the encoder and the classifier."""
        return isinstance(self.training.encoder, MappedEncoder)

    @property
    def weights(self) -> NamedWeights | None:
        """The hyperplanes with the names of the features."""
        from rosenblatt.report.terminal import NamedWeights

        return NamedWeights.of(self.classifier, self.training.encoder)


def estimator(model: str) -> Any:
    """The class of a model, which is imported only now."""
    return getattr(rosenblatt, MODELS[model])


def prepare(
    options: Mapping[str, Any],
    progress: ProgressLine,
    engine: Engine | None = None,
    **more: Any,
) -> tuple[LabelledTable, Any, Encoder]:
    """The table that a command was given, with the classifier and the encoder to fit to it."""
    options, of_map = split_options(options)
    name = chosen_model(options)
    rule, files = estimator(name), tables_of(options)
    progress.say(f"reading {shown_tables(files)}")
    if engine is not None:
        refuse(name == "kernel", f"--model kernel {MACHINE}, or take a linear model")
        without_what_needs_all_rows({**options, "features": of_map or None})
    room = Room.of(options)
    table = read_file(files, options["target"], rule, how_to_read(options), room, engine)
    if engine is not None:
        options = _in_turn(name, options, table)
    classifier = rule(**estimator_options(name, rule, options, table.classes), **more)
    if options.get("tune"):
        from rosenblatt.cli.tuning import tuned

        classifier = tuned(classifier, name, options)
    encoder: Encoder = encoder_of(table, standardize=not options["raw"], **how_to_encode(options))
    return table, classifier, with_map(encoder, of_map) if of_map else encoder


def _in_turn(name: str, options: Mapping[str, Any], table: LabelledTable) -> Mapping[str, Any]:
    """The options with rows in turn, as a cluster takes them, unless the rule knows no order."""
    if "margin" in name or options["order"] is not None or options["update"] == "batch":
        return options
    table.notes.append("rows in turn, as a cluster takes them (elsewhere: --order cyclic)")
    return {**options, "order": "cyclic"}


def train(
    table: LabelledTable,
    classifier: Any,
    encoder: Encoder,
    folding: Folding,
    progress: ProgressLine,
    ctrl_c: HeldCtrlC,
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
    checkpoint: Checkpoint | None = None,
) -> TrainedModel:
    """Fit the pipeline, judge it by cross-validation, and sum up.

    From then on Ctrl-C is held back, so that the model can be written. The `checkpoint` is for the
    training alone.
    """
    began = time.perf_counter()
    progress.say("encoding")
    training = encoded_table(table, encoder)
    judged_as = classifier  # by folds: its choices are a part of it
    limit = None
    if hasattr(classifier, "choose"):
        from rosenblatt.cli.tuning import choose_by_all

        limit = classifier.classifier.max_time
        classifier = choose_by_all(classifier, training, limit, progress)
    try:
        table.notes.extend(run(classifier, training.source, progress, effort, checkpoint))
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
    margins = margins_of(classifier, training)
    facts = replace(fit_facts(classifier, training), seconds=took, margins=margins)
    interrupted = was_interrupted(classifier) or ctrl_c.pressed
    if not interrupted:
        tell = partial(progress.say, "looking for a hyperplane")
        judged = ctrl_c.unless_stopped(lambda: with_verdicts(facts, classifier, training, tell))
        facts = judged or facts
        interrupted = not facts.verdicts or was_stopped(facts.verdicts)
    table.notes.extend(notes_about(encoder))
    found = None
    if folding.folds and not (interrupted or ctrl_c.pressed):

        def validated() -> OutOfFold:
            left = None if limit is None else limit - (time.perf_counter() - began)
            plan = folding.plan(training)
            return cross_validate(training, judged_as, plan, progress, effort, left)

        found = ctrl_c.unless_stopped(validated)
        if found is None:
            table.notes.append(f"no cross-validation: stopped {ctrl_c.how}")
    facts = with_folds(facts, found, classifier, training, folding.calibrate)
    if found is not None and worth_bending(facts, classifier, training):
        bend = ctrl_c.unless_stopped(lambda: bend_facts(classifier, training, found, folding.seed))
        facts = replace(facts, bend=bend)
    if judged_as is not classifier:
        from rosenblatt.report.choice import choice_facts

        chosen = [] if found is None else found.choices
        facts = replace(facts, choice=choice_facts(chosen, judged_as.choice_))
    facts = replace(facts, notes=tuple(table.notes))
    return TrainedModel(classifier, training, facts, interrupted or ctrl_c.pressed, found)


def run(
    classifier: Any,
    source: OpenedSource,
    progress: ProgressLine,
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
    checkpoint: Checkpoint | None = None,
) -> list[str]:
    """Train; what there is to say about the kernel."""
    with warnings.catch_warnings(record=True) as caught:
        # The report says why it stopped and what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("always", IndefiniteKernelWarning)
        fit(classifier, source, None, progress, "training", effort, checkpoint)
    notes = []
    for warning in caught:
        if isinstance(warning.message, IndefiniteKernelWarning):
            notes.append(warning.message.told("--kernel rbf or poly"))
        else:
            warnings.warn(warning.message, stacklevel=2)
    return notes


def fit(
    classifier: Any,
    X: Any,
    y: NDArray[Any] | None,
    progress: Telling,
    what: str,
    effort: Effort,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Train, and tell how far it is; an opened source has its own y."""
    n_problems = len(positives_of(X.classes if y is None else np.unique(y)))
    given: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    before, ended = {name: getattr(classifier, name) for name in given}, None
    if not hasattr(classifier, "max_epochs"):  # margins are found in scans
        given["callback"] = partial(progress.after_scan, what, n_problems)
    else:
        course = effort.course(classifier, _extent(X) if y is None else X, n_problems)
        given["callback"] = partial(progress.after_epoch, what, course)
        if checkpoint is not None and (state := Keeper(checkpoint).found) is not None:
            ended = course.recall(state)
            before |= {"max_epochs": classifier.max_epochs}
            given |= {"max_epochs": state["epochs"]} if ended is not None else {}
    classifier.set_params(**given)
    try:
        classifier.fit(X, y)
    finally:
        classifier.set_params(callback=None, **before)
    if ended is not None:  # by the command, before: nothing was left to do
        classifier.fits_ = tuple(_ended(one, ended) for one in classifier.fits_)


def _extent(source: Any) -> Any:
    """The features of an opened source, or as much of them as tells how many they are."""
    return source if isinstance(source, ClusteredSamples) else source.X


def _ended(fit: Any, reason: StopReason) -> Any:
    """A fit that went no further than the run before, which ended for this reason."""
    at_once = fit.stop_reason is StopReason.EPOCH_LIMIT
    return replace(fit, stop_reason=reason) if at_once else fit


def cross_validate(
    training: EncodedTable,
    classifier: Any,
    plan: Plan,
    progress: ProgressLine,
    effort: Effort = Effort(),  # noqa: B008, as it cannot change
    max_time: float | None = None,
) -> OutOfFold:
    """What models that have not learned from them say of the rows of each fold.

    Where the command chose how long to train the classifier, the others are trained no longer.
    After `max_time` seconds there are only the folds that are done.
    """
    training.notes.extend(plan.notes)
    classifier, effort_of_each = as_long(classifier, effort)
    told = FoldProgress(progress, len(plan))

    def trained(one: Fitting) -> None:
        model = one.model
        if hasattr(model, "choose"):
            model = model.choose(one.X, one.y, one.groups)
        fit(model, one.X, one.y, told, str(one.fold), effort_of_each)

    folded = FoldedTable(
        training.columns, training.labels, training.encoder, plan, classifier.n_jobs
    )
    all_found, cancel = list[OutOfFold](), Cancel(max_time)
    with suppress(KeyboardInterrupt) if max_time is not None else nullcontext():
        folded.refit(
            [classifier], trained, max_time=effort.folds_time, found=all_found, cancel=cancel
        )
    if cancel.pressed:
        raise KeyboardInterrupt
    (found,) = all_found
    if len(found.folds) < len(plan):
        of = f"{len(found.folds)} of {len(plan)} folds"
        if cancel.asked:
            training.notes.append(f"{of}: no time was left for the others (--max-time)")
        else:
            done = f"{of}, for which {effort.folds_time:g} seconds are kept"
            training.notes.append(f"{done} (--cv {plan.folds} does all of them)")
    return found


def _was_chosen(classifier: Any) -> bool:
    """Whether the command itself ended the training."""
    return not CHOSEN.isdisjoint(fit.stop_reason for fit in classifier.fits_)


def as_long(classifier: Any, effort: Effort) -> tuple[Any, Effort]:
    """A classifier to train in each fold, and how much of that is still to be chosen."""
    if not _was_chosen(classifier):
        return classifier, effort
    own = (name for name in classifier.get_params() if name.split("__")[-1] == "max_epochs")
    return clone(classifier).set_params(**dict.fromkeys(own, int(classifier.n_iter_))), Effort()

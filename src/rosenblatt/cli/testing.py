"""Rows that a fit does not learn from, and what its model says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import refuse
from rosenblatt.report.evaluation import evaluated
from rosenblatt.report.sentences import listing
from rosenblatt.validation.plans import held_groups
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.cli.fitting import TrainedModel
    from rosenblatt.cli.waiting import ProgressLine
    from rosenblatt.report.fits import LabelledTable


def share_of(text: str) -> float:
    """``20%`` or ``0.2`` as a number between 0 and 1."""
    wanted = "give a share such as 20% or 0.2"
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    refuse(not 0 < share < 1, f"--holdout {text} is not possible: {wanted}")
    return share


def held_out(table: LabelledTable, share: float, seed: int) -> tuple[LabelledTable, LabelledTable]:
    """A table in two: to learn from, and to judge by, with so large a share of each class.

    Of every class one row stays on either side, at least; groups are not parted, though that may
    leave none to judge by.
    """
    (classes, numbers), counts = table.labels, np.array(list(table.counts.values()))
    if counts.min() < 2:
        lone = classes[counts.argmin()]
        msg = f"--holdout needs two rows of every class: {table.target} has only one of {lone}"
        raise ValueError(msg)
    if table.group_of is not None:
        return _groups_held_out(table, numbers, share, seed)
    random = np.random.default_rng(seed)
    tests = []
    for k, n in enumerate(counts.tolist()):
        rows = random.permutation(np.flatnonzero(numbers == k))
        tests.append(rows[: min(n - 1, max(1, round(share * n)))])
    return _parted(table, np.sort(np.concatenate(tests)))


def _parted(table: LabelledTable, test: NDArray[np.intp]) -> tuple[LabelledTable, LabelledTable]:
    learn = np.setdiff1d(np.arange(len(table.label)), test)
    return table.taken(learn), table.taken(test)


def _groups_held_out(
    table: LabelledTable, numbers: NDArray[np.intp], share: float, seed: int
) -> tuple[LabelledTable, LabelledTable]:
    """The same by whole groups; what that leaves uneven is told."""
    assert table.group_of is not None
    test = held_groups(numbers, table.group_of, share, seed)
    none = f"--holdout needs more groups in column {table.grouped_by!r}: without those that it"
    refuse(not len(test), f"{none} would hold out, a class has no rows to learn from")
    learn, rest = _parted(table, test)
    lacking = np.setdiff1d(table.classes, rest.classes)
    if len(lacking):
        few = f"of {listing(map(str, lacking))} no rows are held out: its groups are too few"
        table.notes.append(few)
    groups, of = (len(np.unique(part)) for part in (table.group_of[test], table.group_of))
    share = len(rest.label) / len(table.label)
    held = f"{share:.1%} of the rows are held out, {groups} of {of} groups"
    table.notes.append(held)
    return learn, rest


def judged_by_rows(trained: TrainedModel, rows: LabelledTable) -> TrainedModel:
    """The model with what it says of rows that were held out."""
    classifier = trained.classifier
    X = trained.training.encoder.transform(rows.columns)
    found = evaluated(classifier, X, rows.y, rows.group_of)
    told = f"{count(len(rows.label), 'row')} held out"
    return replace(trained, facts=replace(trained.facts, test=found, tested_on=told))


class AnswerKeeper:
    """Keeps the decision values of all rows that pass by, and the numbers of their classes."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], NDArray[np.float64]]] = []

    def add(
        self,
        rows: NDArray[Any],
        columns: Mapping[str, Any],
        X: Any,
        values: NDArray[np.float64],
        chosen: NDArray[Any],
        true: NDArray[Any],
    ) -> None:
        """Meet some rows; those whose class is unknown do not count."""
        self._parts.append((true[true >= 0], values[true >= 0]))

    @property
    def answers(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Classes, and decision values."""
        true, values = zip(*self._parts, strict=True)
        return np.concatenate(true), np.concatenate(values)


def judged_by_file(
    trained: TrainedModel, file: str, how: Mapping[str, Any], progress: ProgressLine
) -> TrainedModel:
    """The model with what it says of another table."""
    from rosenblatt.cli.evaluate import judged
    from rosenblatt.cli.reading import open_table
    from rosenblatt.cli.saved_models import Application, Tally

    pipeline = trained.pipeline
    pipeline.summary_ = trained.facts.as_json()
    application, tally, keeper = Application(pipeline, "the model"), Tally(), AnswerKeeper()
    with open_table([file], how, **application.how_to_read, in_parts=True) as table:
        found = judged(application, table, tally, progress, keeper)
    notes = tuple(f"{Path(file).name}: {note}" for note in tally.notes(trained.classifier.classes_))
    facts = trained.facts
    facts = replace(facts, test=found, tested_on=Path(file).name, notes=facts.notes + notes)
    return replace(trained, facts=facts, test_answers=keeper.answers)

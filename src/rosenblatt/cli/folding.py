"""The cross-validation of a fit: what was asked for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.report.cross_validation import validation_facts
from rosenblatt.report.facts import CalibrationFacts, FitFacts
from rosenblatt.report.fingerprints import fingerprint
from rosenblatt.report.fits import EncodedTable, table_facts
from rosenblatt.validation.plans import Plan, plan_folds
from rosenblatt.validation.refits import OutOfFold


@dataclass(frozen=True)
class Folding:
    """So many folds, so many times, and what for."""

    folds: int = 0
    repeats: int = 1
    seed: int = 0
    calibrate: str | None = None  # "sigmoid" or "isotonic"

    def plan(self, training: EncodedTable) -> Plan:
        """The rows of each fold."""
        groups, repeats, seed = training.group_of, self.repeats, self.seed
        return plan_folds(training.labels, self.folds, groups=groups, repeats=repeats, seed=seed)


def with_folds(
    facts: FitFacts,
    found: OutOfFold | None,
    classifier: Any,
    training: EncodedTable,
    calibrate: str | None,
) -> FitFacts:
    """The facts with the table and its folds, by which the classifier is calibrated if asked."""
    scores, planned = (found.scores, len(found.plan)) if found is not None else ((), 0)
    about = replace(table_facts(training, scores, planned), fingerprint=fingerprint(training))
    facts = replace(facts, table=about)
    if found is None or not found.folds:
        if calibrate is not None:
            training.notes.append("not calibrated: there are no answers to rows left out")
        return facts
    names = [str(name) for name in classifier.classes_]
    valid = validation_facts(found, classifier, names, training.grouped_by)
    facts = replace(facts, validation=valid)
    if calibrate is None:
        return facts
    return replace(facts, calibration=_calibration(classifier, found, training, calibrate))


def _calibration(
    classifier: Any, found: OutOfFold, training: EncodedTable, method: str
) -> CalibrationFacts | None:
    """Give the classifier probabilities, if the answers to rows left out allow it."""
    from rosenblatt.validation.calibration import NotCalibratedError, calibrated

    try:
        classifier.calibration_ = calibrated(found, method)
    except NotCalibratedError as error:
        training.notes.append(f"not calibrated: {error}")
        return None
    rows = np.unique(np.concatenate([one.rows for one in found.folds]))
    return CalibrationFacts(method, len(rows))

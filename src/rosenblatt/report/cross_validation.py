"""What a model is worth by cross-validation: facts made of answers to the rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.report.evaluation import (
    EvaluationFacts,
    evaluate,
    grouped_interval,
    mean_known,
    ranking_values,
    wilson_interval,
)

if TYPE_CHECKING:
    from rosenblatt.validation.refits import OutOfFold


@dataclass(frozen=True)
class FoldScores:
    """One fold: its rows, how many of them are right, and the ranking of their values."""

    rows: int
    right: int
    balanced_accuracy: float
    roc_auc: float | None
    average_precision: float | None


@dataclass(frozen=True)
class ValidationFacts:
    """What models that had not learned from them say of the rows of a table.

    `result` counts every row as often as it was judged. Its `interval` knows that there are only
    so many rows, and groups where these are kept together; its rankings are means over the folds,
    as decision values of several models cannot be compared.
    """

    folds: int  # of each repeat
    repeats: int
    each: tuple[FoldScores, ...]
    result: EvaluationFacts
    groups: int | None = None
    grouped_by: str = ""


def validation_facts(
    found: OutOfFold, classifier: Any, names: Sequence[str], grouped_by: str = ""
) -> ValidationFacts:
    """The facts about answers to rows left out, in one fold at least."""
    facts = []
    for one in found.folds:
        ranks = ranking_values(classifier, one.values)
        facts.append(evaluate(found.y[one.rows], one.chosen, ranks, names))
    each = tuple(
        FoldScores(one.rows, one.right, one.balanced_accuracy, one.roc_auc, one.average_precision)
        for one in facts
    )
    plan = found.plan
    groups = None if plan.groups is None else int(plan.groups.max()) + 1
    result = replace(_pooled(found, facts, names), interval=_interval(found))
    return ValidationFacts(plan.folds, plan.repeats, each, result, groups, grouped_by)


def _pooled(
    found: OutOfFold, facts: Sequence[EvaluationFacts], names: Sequence[str]
) -> EvaluationFacts:
    """All answers counted together, with the means of the rankings of each fold.

    See G. Forman and M. Scholz (2010), "Apples-to-apples in cross-validation studies".
    """
    true = np.concatenate([found.y[one.rows] for one in found.folds])
    chosen = np.concatenate([one.chosen for one in found.folds])
    whole = evaluate(true, chosen, None, names)
    classes = tuple(
        replace(
            one,
            roc_auc=mean_known(fold.classes[j].roc_auc for fold in facts),
            average_precision=mean_known(fold.classes[j].average_precision for fold in facts),
        )
        for j, one in enumerate(whole.classes)
    )
    return replace(
        whole,
        classes=classes,
        roc_auc=mean_known(fold.roc_auc for fold in facts),
        average_precision=mean_known(fold.average_precision for fold in facts),
    )


def _interval(found: OutOfFold) -> tuple[float, float]:
    """Wilson's interval for the share of right answers, of as many rows as there really are.

    That answers of a cross-validation may be counted like those of a test is shown by P. Bayle
    and others (2020), "Cross-validation confidence intervals for test error".
    """
    n = found.plan.fold_of.shape[1]
    judged, right = np.zeros(n), np.zeros(n)
    for one in found.folds:
        judged[one.rows] += 1
        right[one.rows] += one.chosen == found.y[one.rows]
    rows, groups = np.flatnonzero(judged), found.plan.groups
    shares = right[rows] / judged[rows]
    if groups is None:
        return wilson_interval(float(shares.sum()), len(rows))
    return grouped_interval(shares, groups[rows])

"""What a model is worth on rows whose class is known: shares of right answers, and rankings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.contract.classifier import choose
from rosenblatt.report.probabilities import ProbabilityFacts, probability_facts
from rosenblatt.results.calibration import probabilities

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class ClassScores:
    """How well one class is told from the rest; None where there is nothing to divide by.

    Of its `rows` the share `recall` was found, of the rows `predicted` to be of it the share
    `precision` are; `f1` is their harmonic mean. `roc_auc` and `average_precision` judge the
    decision values, whatever the threshold.
    """

    name: str
    rows: int
    predicted: int
    right: int
    precision: float | None
    recall: float | None
    f1: float | None
    roc_auc: float | None
    average_precision: float | None


@dataclass(frozen=True)
class EvaluationFacts:
    """What came of a model's answers to rows whose class is known.

    `interval` has the true share of right answers in 95 of 100 cases (Wilson 1927), if the rows
    are a sample and were not learned from. `balanced_accuracy` is the mean recall of the classes
    that occur. `roc_auc` and `average_precision` are those of the second of two classes, and the
    means over all that occur of more. `majority` is the share of the class that is most frequent
    here, `confusion` counts the rows of a class (a line each) by what they were taken for.
    """

    rows: int
    right: int
    accuracy: float
    interval: tuple[float, float]
    balanced_accuracy: float
    roc_auc: float | None
    average_precision: float | None
    majority_class: str
    majority: float
    classes: tuple[ClassScores, ...]
    confusion: tuple[tuple[int, ...], ...]
    probabilities: ProbabilityFacts | None = None  # of a model that is calibrated


def wilson_interval(right: float, n: float, z: float = Z) -> tuple[float, float]:
    """Bounds on a share of which a sample of `n` has `right`: Wilson's score interval.

    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    Unlike p ± z·sqrt(p(1 − p)/n) it stays within 0 and 1, and holds for few rows, too.
    """
    share, z2 = right / n, z * z / n
    middle = share + z2 / 2
    reach = z * ((share * (1 - share) + z2 / 4) / n) ** 0.5
    low, high = ((middle + sign * reach) / (1 + z2) for sign in (-1, 1))
    return (0.0 if right == 0 else low, 1.0 if right == n else high)


def grouped_interval(right: NDArray[np.float64], groups: NDArray[np.intp]) -> tuple[float, float]:
    """Wilson's interval for rows in groups, each right (1) or not (0), or right so often.

    Rows of a group are right or wrong together. They count for fewer, by as much as the shares of
    the groups differ more than chance would have them; and Student's t allows for few groups.
    """
    from scipy.special import stdtrit

    _, group = np.unique(groups, return_inverse=True)
    sizes, n, mean = np.bincount(group), len(right), float(right.mean())
    k = len(sizes)
    worth = float(k)
    if 0 < mean < 1 and k > 1:
        apart = float(((np.bincount(group, right) - mean * sizes) ** 2).sum())
        variance = max(apart * k / (k - 1) / n**2, np.finfo(float).tiny)
        worth = min(max(mean * (1 - mean) / variance, 1.0), n)
    z = float(stdtrit(k - 1, (1 + CONFIDENCE) / 2)) if k > 1 else Z
    return wilson_interval(mean * worth, worth, z)


def ranking_values(classifier: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The decision values by which each class is told from the rest.

    Where all classes are one problem, a value says something only beside the others': it is the
    lead of the class over the highest of these.
    """
    if getattr(classifier, "multiclass", None) != "joint" or values.shape[1] == 1:
        return values
    ordered = np.sort(values, axis=1)
    rival = np.where(values == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
    return values - rival


def evaluate(
    true: NDArray[Any],
    chosen: NDArray[Any],
    values: NDArray[np.float64] | None,
    names: Sequence[str],
) -> EvaluationFacts:
    """Judge answers to rows whose class is known.

    Parameters
    ----------
    true, chosen : the number of each row's class, and of the one it was taken for.
    values : decision values, a column for each class, or one, for the second of two; None: the
        rankings are left open.
    names : of the classes.
    """
    k, n = len(names), len(true)
    confusion = np.bincount(true * k + chosen, minlength=k * k).reshape(k, k)
    if values is not None and values.shape[1] == 1:
        values = np.column_stack([-values, values])
    each = [None] * k if values is None else values.T
    classes = tuple(_scores(j, names[j], confusion, true, each[j]) for j in range(k))
    judged = [one for one in classes[1:] if k == 2] or list(classes)
    right, most = int(np.trace(confusion)), int(confusion.sum(axis=1).argmax())
    return EvaluationFacts(
        rows=n,
        right=right,
        accuracy=right / n,
        interval=wilson_interval(right, n),
        balanced_accuracy=fmean(one.recall for one in classes if one.recall is not None),
        roc_auc=mean_known([one.roc_auc for one in judged]),
        average_precision=mean_known([one.average_precision for one in judged]),
        majority_class=names[most],
        majority=classes[most].rows / n,
        classes=classes,
        confusion=tuple(map(tuple, confusion.tolist())),
    )


def evaluated(
    classifier: Any, X: Any, y: NDArray[Any], groups: NDArray[np.intp] | None = None
) -> EvaluationFacts:
    """Judge what one of the library's classifiers says of features whose classes are known.

    Of `groups`, if given, the rows are right or wrong together.
    """
    values = classifier.decision_function(X).reshape(X.shape[0], -1)
    true, chosen = np.searchsorted(classifier.classes_, y), choose(values, classifier.at_zero)
    found = evaluated_answers(classifier, true, chosen, values)
    if groups is None:
        return found
    return replace(found, interval=grouped_interval((true == chosen).astype(float), groups))


def evaluated_answers(
    classifier: Any, true: NDArray[Any], chosen: NDArray[Any], values: NDArray[np.float64]
) -> EvaluationFacts:
    """Judge answers of a classifier by its decision values: probabilities, too, if it has any."""
    names = [str(label) for label in classifier.classes_]
    found = evaluate(true, chosen, ranking_values(classifier, values), names)
    if not hasattr(classifier, "calibration_"):
        return found
    P = probabilities(classifier.calibration_, values)
    return replace(found, probabilities=probability_facts(true, P))


def _scores(
    j: int,
    name: str,
    confusion: NDArray[Any],
    true: NDArray[Any],
    values: NDArray[np.float64] | None,
) -> ClassScores:
    right, rows, predicted = (
        int(n) for n in (confusion[j, j], confusion[j].sum(), confusion[:, j].sum())
    )
    auc = area = None
    if values is not None and 0 < rows < len(true):
        auc, area = ranked(true == j, values)
    return ClassScores(
        name=name,
        rows=rows,
        predicted=predicted,
        right=right,
        precision=right / predicted if predicted else None,
        recall=right / rows if rows else None,
        f1=2 * right / (rows + predicted) if rows + predicted else None,
        roc_auc=auc,
        average_precision=area,
    )


def mean_known(shares: Iterable[float | None]) -> float | None:
    """Their mean, without those that are None."""
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


def ranked(own: NDArray[np.bool_], values: NDArray[np.float64]) -> tuple[float, float]:
    """ROC AUC and average precision of values that should be high for rows of one's own.

    Equal values are one threshold, as in scikit-learn's ``roc_auc_score`` and
    ``average_precision_score``, whose import and checks take longer than all this.
    """
    order = np.argsort(-values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), len(order) - 1)
    found = np.cumsum(own[order])[ends]
    others = ends + 1 - found
    pairs = np.diff(others, prepend=0) @ (found + np.append(0, found[:-1]))  # twice their number
    gained = np.diff(found, prepend=0) / found[-1]
    return float(pairs / (2 * found[-1] * others[-1])), float(gained @ (found / (ends + 1)))

"""The facts of a page, from a fitted classifier and the table it was fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.contract.classifier import choose
from rosenblatt.report.evaluation import EvaluationFacts, evaluate, ranking_values
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.fits import EncodedTable, positive_classes
from rosenblatt.report.page.bounds import BOUND_TIME, mistakes_and_bounds
from rosenblatt.report.page.curves import course, histogram, ranking_curves
from rosenblatt.report.page.facts import (
    ColumnFacts,
    Histogram,
    Judgement,
    PageFacts,
)
from rosenblatt.report.terminal import NamedWeights
from rosenblatt.results import JointFit
from rosenblatt.tables.cells import missing
from rosenblatt.tables.mapped_features import plain
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.validation.refits import OutOfFold

BLOCK = 1 << 16  # rows whose decision values are computed at a time
VALUES = 3  # of a column of texts that are named


def page_facts(
    classifier: Any,
    training: EncodedTable,
    fit: FitFacts,
    *,
    bound_time: float = BOUND_TIME,
    **more: Any,
) -> PageFacts:
    """What a page shows of a fit; `more` are those of `PageFacts` that are found elsewhere.

    Without a judgement by rows that were not learned from, there is one by those that were.
    """
    values = decision_values(classifier, training.X)
    true = training.label
    if more.get("judgement") is None:
        more["judgement"] = judgement("training", classifier, values, true)
    left_out = more.pop("left_out", ())
    bounds, missing_ones = mistakes_and_bounds(classifier, training, fit, bound_time)
    return PageFacts(
        fit=fit,
        weights=_weights(classifier, training, fit),
        columns=tuple(_columns(training)),
        distances=_distances(classifier, fit, values, true),
        course=course(classifier.fits_, _problems(classifier)),
        bounds=bounds,
        left_out=(*left_out, *missing_ones),
        **more,
    )


def _weights(classifier: Any, training: EncodedTable, fit: FitFacts) -> NamedWeights | None:
    """The weights of features that mean something."""
    if fit.feature_map is not None and fit.feature_map.random:
        return None
    return NamedWeights.of(classifier, training.encoder)


def decision_values(classifier: Any, X: Any) -> Floats:
    """Decision values of all rows, a column for each class, or one, for the second of two."""
    n = X.shape[0]
    parts = (classifier.decision_function(X[a : a + BLOCK]) for a in range(0, n, BLOCK))
    return np.concatenate([part.reshape(len(part), -1) for part in parts])


def judgement(
    by: str, classifier: Any, values: Floats, true: NDArray[Any], **more: Any
) -> Judgement:
    """What decision values are worth, given the number of each row's class."""
    names = [str(label) for label in classifier.classes_]
    ranks = ranking_values(classifier, values)
    chosen = choose(values, getattr(classifier, "at_zero", None))
    found = evaluate(true, chosen, ranks, names)
    return Judgement(by, found, ranking_curves([(true, ranks)], names), **more)


def judgement_by_folds(classifier: Any, evaluation: EvaluationFacts, found: OutOfFold) -> Judgement:
    """The same by models that had not learned from the rows, whose answers were evaluated."""
    names = [str(label) for label in classifier.classes_]
    parts = [(found.y[one.rows], ranking_values(classifier, one.values)) for one in found.folds]
    return Judgement("folds", evaluation, ranking_curves(parts, names), folds=len(found.folds))


def _problems(classifier: Any) -> list[str]:
    """The two-class problems by name."""
    if isinstance(classifier.fits_[0], JointFit):
        return ["all classes as one problem"]
    return [str(name) for name in positive_classes(classifier)]


# The table --------------------------------------------------------------------------------------


def _columns(table: EncodedTable) -> Iterator[ColumnFacts]:
    """What there is to say of every column."""
    encoder = plain(table.encoder)
    for spec in encoder.columns_:
        name, cells = spec["name"], table.columns[spec["name"]]
        if spec["kind"] == "sparse":
            yield ColumnFacts(name=name, kind="features", features=len(table.features))
            continue
        kind = "words" if "words" in spec else spec["kind"]
        spans = getattr(encoder, "spans_", {})
        yield ColumnFacts(
            name=name,
            kind=kind,
            features=len(spans.get(name, ())),
            left_out=spec.get("dropped", ""),
            **_contents(cells, kind),
        )


def _contents(cells: Any, kind: str) -> dict[str, Any]:
    """The range of numbers, the most frequent of texts, and the cells that are missing."""
    values = cells.texts() if isinstance(cells, Texts) else np.asarray(cells)
    gaps = missing(values)
    known = values[~gaps]
    found: dict[str, Any] = {"missing": int(gaps.sum())}
    if kind == "number" and len(known) and known.dtype.kind in "fiub":
        numbers = known.astype(np.float64)
        low, high = float(numbers.min()), float(numbers.max())
        with np.errstate(over="ignore", invalid="ignore"):
            found |= {"low": low, "mean": float(numbers.mean()), "high": high}
            found |= {"deviation": float(numbers.std())}
    elif kind == "text":
        texts, counts = np.unique(known.astype(str), return_counts=True)
        first = np.argsort(-counts, kind="stable")[:VALUES]
        common = tuple((str(texts[k]), int(counts[k])) for k in first)
        found |= {"values": common, "n_values": len(texts)}
    return found


# The rows ---------------------------------------------------------------------------------------


def _distances(
    classifier: Any, fit: FitFacts, values: Floats, true: NDArray[Any]
) -> Histogram | None:
    if values.shape[1] > 1:
        at = np.arange(len(true)), true
        others = values.copy()
        others[at] = -np.inf
        return histogram({"all": values[at] - others.max(axis=1)}, "lead")
    unit, size, margin = "value", 1.0, None
    if hasattr(classifier, "coef_") and (length := float(np.linalg.norm(classifier.coef_))) > 0:
        unit, size = "distance", length
        margin = fit.margins[0] if fit.margins else None
        margin = 1 / length if fit.optima else margin
    names = [str(label) for label in classifier.classes_]
    by_class = {name: values[true == k, 0] / size for k, name in enumerate(names)}
    return histogram(by_class, unit, margin)

"""The facts about kernel perceptrons: the kernel, support vectors, dropped rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.contract.classifier import positives_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.cli.optima import Training

    Facts = dict[str, Any]

FEW = 20  # support vectors that are named


def expansion_of(classifier: Any, training: Training | None = None) -> Facts:
    """What a fitted kernel perceptron consists of, in so few words that a model file can hold them.

    Without the training data samples are counted from 1, and nothing is said of their classes.
    """
    return {
        "kernel": kernel_facts(classifier),
        "support": _support(classifier, training),
        "dropped": _dropped(classifier, training),
    }


def coefficients_of(classifier: Any, rows: NDArray[np.int64] | None) -> Facts:
    """The whole sum, as JSON has it; `rows`, if known: the row of the file that each sample is."""
    sample = classifier.support_
    facts: Facts = {"mistakes": classifier.alpha_.tolist(), "coef": classifier.dual_coef_.tolist()}
    if rows is not None:
        facts = {"rows": [int(rows[i]) if i >= 0 else None for i in sample]} | facts
    return {"expansion": facts}


def kernel_facts(classifier: Any) -> Facts:
    """The kernel with its numbers."""
    kernel = classifier.kernel_
    given = asdict(kernel) if kernel.needs_features else {}
    formula = f"{kernel.formula}{' + 1' * bool(classifier.fit_intercept)}"
    return {"name": kernel.name, "formula": formula} | given


def _support(classifier: Any, training: Training | None) -> Facts:
    """How many support vectors there are, and those with the most mistakes."""
    total, sample = classifier.alpha_.sum(axis=0), classifier.support_
    first = [k for k in np.argsort(-total, kind="stable") if sample[k] >= 0 and total[k]][:FEW]
    rows = _rows(sample[first], training)
    pairs = zip(rows, total[first].tolist(), strict=True)
    hardest = [{"row": row, "mistakes": n} for row, n in pairs]
    facts: Facts = {"count": len(sample), "hardest": hardest}
    if training is not None:
        labels = training.y[sample]
        facts["classes"] = {str(c): int((labels == c).sum()) for c in classifier.classes_}
        for one, label in zip(hardest, labels[first], strict=True):
            one["class"] = str(label)
    return facts


def _dropped(classifier: Any, training: Training | None) -> list[Facts]:
    """The rows that were left out as probable outliers, for each problem in the order of it."""
    found = []
    positives = [str(classifier.classes_[k]) for k in positives_of(classifier.classes_)]
    for fit, positive in zip(classifier.fits_, positives, strict=True):
        gone = fit.dropped
        rows = _rows(gone.sample, training)
        for k, (row, n) in enumerate(zip(rows, gone.count.tolist(), strict=True)):
            facts: Facts = {"row": row, "mistakes": n, "epoch": int(gone.epoch[k])}
            if training is not None:
                facts["class"] = str(training.y[gone.sample[k]])
            found.append(facts | {"positive": positive})
    return found


def _rows(sample: Any, training: Training | None) -> list[int]:
    """Rows of the file, counted from 1."""
    rows = sample + 1 if training is None else training.rows[sample]
    return rows.tolist()  # type: ignore[no-any-return]

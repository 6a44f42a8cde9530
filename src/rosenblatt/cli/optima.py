"""The facts about best hyperplanes: margins, support vectors, slack, how good they are proved."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.contract.classifier import positives_of
from rosenblatt.contract.parameters import class_weights, find_classes
from rosenblatt.results import Inseparable, QuasiSeparable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.results import MarginFit, Sides

    Facts = dict[str, Any]
    Ints = NDArray[np.int64]


class Training(NamedTuple):
    """What a classifier was trained on, and the row of the file that each sample is."""

    X: Any
    y: NDArray[Any]
    rows: Ints


def optima_of(classifier: Any, training: Training | None = None) -> list[Facts]:
    """What each two-class problem of a fitted margin classifier came to, as JSON has it.

    Without the training data samples are counted from 1, and nothing is said about slack.
    """
    positives = [classifier.classes_[k] for k in positives_of(classifier.classes_)]
    rows = None if training is None else training.rows
    optima = [
        _facts(fit, rows) | {"positive": str(name)}
        for fit, name in zip(classifier.fits_, positives, strict=True)
    ]
    if training is None:
        return optima
    sides = classifier.sides(training.X, training.y)
    sides = sides if isinstance(sides, tuple) else (sides,)
    weights = _weights(classifier, find_classes(training.y, classifier.classes_))
    for facts, side, weight in zip(optima, sides, weights, strict=True):
        facts |= _about(side, weight)
    for facts, fit in zip(optima, classifier.fits_, strict=True):
        if facts["proof"] is not None:
            facts["proof"] = proof_of(fit.certificate, training.rows, training.y)
    return optima


def _facts(fit: MarginFit, rows: Ints | None) -> Facts:
    optimum = fit.optimum
    found = optimum.C is not None or optimum.margin > 0  # or nothing that separates
    return {
        "C": optimum.C,
        "margin": _finite(optimum.margin) if found else None,
        "primal": _finite(optimum.primal),
        "dual": _finite(optimum.dual),
        "gap": optimum.gap if found else None,
        "scans": len(fit.trace),
        "support": _numbers(optimum.support, rows),
        "conditions": {name: _finite(x) for name, x in asdict(fit.conditions).items()},
        "proof": proof_of(fit.certificate, rows),
    }


def _numbers(samples: Ints, rows: Ints | None) -> list[int]:
    numbers = samples + 1 if rows is None else rows[samples]
    return numbers.tolist()  # type: ignore[no-any-return]


def _finite(x: float) -> float | None:
    """A number, or what JSON has instead of infinity."""
    return float(x) if math.isfinite(x) else None


def proof_of(proof: Any, rows: Ints | None, y: NDArray[Any] | None = None) -> Facts | None:
    """The rows whose convex hulls meet, where no hyperplane separates the classes."""
    if not isinstance(proof, Inseparable | QuasiSeparable):
        return None
    facts: Facts = {"rows": _numbers(proof.support, rows), "shares": proof.weights.tolist()}
    if y is not None:
        facts["classes"] = [str(label) for label in y[proof.support]]
    return facts


def _about(side: Sides, weight: NDArray[np.float64]) -> Facts:
    """How many samples lie where, their slack, and N, what their weights sum to."""
    places = ("outside", "on", "inside", "wrong")
    return {
        "N": float(weight.sum()),
        "slack": float(weight @ side.slack),
        **{name: len(getattr(side, name)) for name in places},
    }


def _weights(classifier: Any, label: NDArray[np.int32]) -> Iterator[NDArray[np.float64]]:
    """The weight of every sample in each two-class problem."""
    classes, given = classifier.classes_, classifier.class_weight
    factors = np.ones(len(classes)) if given is None else class_weights(given, classes, label)
    for positive in positives_of(classes):
        if len(classes) == 2:
            yield factors[label]
        else:
            yield np.where(label == positive, factors[positive], 1.0)

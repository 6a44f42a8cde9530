"""Weights as lines of a table, the largest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rosenblatt.report.page.names import isolated
from rosenblatt.report.terminal import NamedWeights, slope_text

MOST = 1000  # features whose weights are laid out
LEADING = 4  # features that are named for a class of many


class WeightLine(NamedTuple):
    """A feature, its weight, how long its bar is, and the weight per unit in words."""

    feature: str
    weight: float
    share: float
    per_unit: str


class ClassWeights(NamedTuple):
    """A feature, and its weight in every class."""

    feature: str
    weights: list[float]


class LeadingWeights(NamedTuple):
    """A class, and what speaks most for it and against it."""

    positive: str
    most: str
    least: str


def signed_weights(weights: NamedWeights, units: Mapping[str, str]) -> list[WeightLine]:
    """The weights of one hyperplane."""
    w = weights.coef[0]
    largest, slopes = float(abs(w).max()) or 1.0, weights.per_unit(w)
    order = np.argsort(-abs(w), kind="stable")
    return [
        WeightLine(
            weights.features[j],
            float(w[j]),
            abs(float(w[j])) / largest,
            slope_text(weights, j, slopes[j], units) if slopes.get(j) else "",
        )
        for j in order.tolist()
    ]


def by_class(weights: NamedWeights) -> list[ClassWeights]:
    """The weights of a few classes side by side."""
    order = np.argsort(-abs(weights.coef).max(axis=0), kind="stable").tolist()
    return [ClassWeights(weights.features[j], weights.coef[:, j].tolist()) for j in order[:MOST]]


def leading(weights: NamedWeights) -> list[LeadingWeights]:
    """Of each of many classes the features with the largest weights."""

    def told(w: np.ndarray, order: list[int]) -> str:
        named = [f"{isolated(weights.features[j], 24)} {w[j]:+.3g}" for j in order]
        return ", ".join(named).replace("-", "−") or "–"

    found = []
    for name, w in zip(weights.classes, weights.coef, strict=True):
        order = np.argsort(-w, kind="stable").tolist()
        most = [j for j in order[:LEADING] if w[j] > 0]
        least = [j for j in order[::-1][:LEADING] if w[j] < 0]
        found.append(LeadingWeights(name, told(w, most), told(w, least)))
    return found

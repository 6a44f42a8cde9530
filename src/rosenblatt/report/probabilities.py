"""What probabilities are worth on rows whose class is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 10
LEAST = float(np.finfo(np.float64).eps)  # what is thought impossible and comes true costs so much


@dataclass(frozen=True)
class SaidAndTrue:
    """Probabilities from `low` to `high`: how often said, their mean, and how often it was so."""

    low: float
    high: float
    said: int
    mean: float
    true: float  # the share of them


@dataclass(frozen=True)
class ProbabilityFacts:
    """How good probabilities are: the less of either score, the better.

    `log_loss` is the mean of -log(probability of the true class), `brier` the mean squared
    distance from what is true: of the second of two classes, or summed over more. The two of
    `majority` are those of always saying the shares of the classes here. `reliability` counts
    the probabilities of the second of two classes, or of all of more.
    """

    log_loss: float
    brier: float
    majority_log_loss: float
    majority_brier: float
    reliability: tuple[SaidAndTrue, ...]


def probability_facts(true: NDArray[Any], P: NDArray[np.float64]) -> ProbabilityFacts:
    """Judge probabilities, a column for each class, by the numbers of the true classes."""
    k = P.shape[1]
    shares = np.bincount(true, minlength=k) / len(true)
    always = np.broadcast_to(shares, P.shape)
    return ProbabilityFacts(
        log_loss=_log_loss(true, P),
        brier=_brier(true, P),
        majority_log_loss=_log_loss(true, always),
        majority_brier=_brier(true, always),
        reliability=_reliability(true, P),
    )


def _log_loss(true: NDArray[Any], P: NDArray[np.float64]) -> float:
    own = P[np.arange(len(true)), true]
    return float(-np.log(np.clip(own, LEAST, 1 - LEAST)).mean())


def _brier(true: NDArray[Any], P: NDArray[np.float64]) -> float:
    apart = ((P - (true[:, np.newaxis] == np.arange(P.shape[1]))) ** 2).sum(axis=1)
    return float(apart.mean() / (2 if P.shape[1] == 2 else 1))


def _reliability(true: NDArray[Any], P: NDArray[np.float64]) -> tuple[SaidAndTrue, ...]:
    """Tenths of the way from 0 to 1 in which anything was said."""
    classes = np.arange(P.shape[1])[-1 if P.shape[1] == 2 else 0 :]
    said, was = P[:, classes].ravel(), (true[:, np.newaxis] == classes).ravel()
    bins = np.minimum((said * BINS).astype(np.intp), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    sums, right = (np.bincount(bins, part, minlength=BINS) for part in (said, was))
    return tuple(
        SaidAndTrue(i / BINS, (i + 1) / BINS, n, float(sums[i] / n), float(right[i] / n))
        for i, n in enumerate(counts.tolist())
        if n
    )

"""Whether a boundary that bends would help: one try, on one fold that a straight one has judged."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from rosenblatt.features.estimators import Polynomial
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.validation.refits import Answers, FoldedTable

SURE = 0.01  # how seldom chance may look as good
EPOCHS = 30  # of the kernel perceptron
MOST_PRODUCTS = 500  # features of the second degree that are tried


class Bend(NamedTuple):
    """What bends a boundary, in options of the command, and what came of it on one fold."""

    options: str
    rows: int
    right: int
    straight: int  # right answers of the model as it is


def try_bending(
    folded: FoldedTable, classifier: Any, straight: Answers, n_features: int, seed: int
) -> Bend | None:
    """What makes more right answers to the first fold than chance would, if anything does.

    Products of two features before the same linear model, and the Gaussian kernel. Whether more
    is more than chance is told by the rows that one model has right and the other wrong: if both
    were equally good, each would be right in about half of these.
    """
    kernel = KernelPerceptron(keep="auto", order="shuffled", max_epochs=EPOCHS, random_state=seed)
    tried: dict[str, Any] = {"--kernel rbf": kernel}
    if math.comb(n_features + 2, 2) <= MOST_PRODUCTS:
        tried = {"--features poly:2": make_pipeline(Polynomial(2), clone(classifier)), **tried}
    every = folded.refit([*tried.values()], max_time=0.0)  # one fold is done in any case
    y = folded.y[straight.rows]
    before, found = straight.chosen == y, list[Bend]()
    for options, answers in zip(tried, every, strict=True):
        after = answers.folds[0].chosen == y
        if chance(int(np.sum(after & ~before)), int(np.sum(before & ~after))) <= SURE:
            found.append(Bend(options, len(y), int(after.sum()), int(before.sum())))
    return max(found, key=lambda bend: bend.right, default=None)


def chance(better: int, worse: int) -> float:
    """How often a fair coin falls on one side at least `better` times of all of these."""
    n = better + worse
    return float(sum(math.comb(n, k) for k in range(better, n + 1)) / 2**n)

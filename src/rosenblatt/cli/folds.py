"""The rows of each fold of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def stratified(y: NDArray[np.intp], folds: int, seed: int = 0) -> Iterator[tuple[Rows, Rows]]:
    """For each fold the rows to learn from and those to judge by, classes shared out evenly.

    `y` holds the numbers of the classes, from 0. The folds are those of scikit-learn's
    ``StratifiedKFold(folds, shuffle=True, random_state=seed)``, whose import alone takes longer
    than to learn from a small table: the classes, in the order in which they first appear, are
    dealt out like cards, which says how many rows of a class each fold gets; then they are
    shuffled.
    """
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    by_appearance = np.argsort(first)
    dealt = np.repeat(by_appearance, counts[by_appearance])
    shares = np.stack([np.bincount(dealt[k::folds], minlength=len(counts)) for k in range(folds)])
    random = np.random.RandomState(seed)
    fold_of = np.empty(len(y), dtype=np.intp)
    for label in by_appearance:
        of_class = np.repeat(np.arange(folds), shares[:, label])
        random.shuffle(of_class)
        fold_of[y == label] = of_class
    for k in range(folds):
        yield np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)

"""How much more rows would help: right answers after learning from some of them only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.validation.plans import Plan, Rows
from rosenblatt.validation.refits import Fitting, FoldedTable, OutOfFold

LEAST, LEAST_EACH = 10, 3  # rows to learn from, and those of each class
HALVINGS = 4


class Lesson(NamedTuple):
    """How many rows were learned from, and the share of right answers in each fold."""

    rows: int
    right: tuple[float, ...]


@dataclass(frozen=True)
class ShortPlan(Plan):
    """A plan with so few rows to learn from in each fold; `y` has the numbers of the classes."""

    size: int = 0
    y: Rows | None = None

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        assert self.y is not None
        for learn, test in super().__iter__():
            yield np.sort(nested(learn, self.y)[: self.size]), test


def nested(learn: Rows, y: Rows, seed: int = 0) -> Rows:
    """The rows in an order of which every beginning has the classes in their shares, about.

    First comes a row of each class.
    """
    shuffled = np.random.default_rng(seed).permutation(learn)
    labels = y[shuffled]
    place = np.empty(len(shuffled))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        place[own] = np.arange(len(own)) / len(own)
    return shuffled[np.argsort(place, kind="stable")]


def lessons(
    folded: Callable[[Plan], FoldedTable],
    whole: OutOfFold,
    candidate: Any,
    fit: Callable[[Fitting], None],
    max_time: float,
) -> list[Lesson]:
    """Right answers after learning from a half, a quarter and so on of the rows of each fold.

    Parameters
    ----------
    folded : the table with the folds of a plan.
    whole : the answers after learning from all of them.
    candidate, fit : as `FoldedTable.refit` takes them.
    max_time : seconds; the fewest rows come first, and what there is no time for is left out.
    """
    plan, y, end = whole.plan, whole.y, time.monotonic() + max_time
    size = min((len(learn) for learn, _ in plan), default=0)
    sizes = [size >> k for k in range(HALVINGS, 0, -1)]
    found = []
    for n in sizes:
        left = end - time.monotonic()
        if n < max(LEAST, LEAST_EACH * len(np.unique(y))) or left <= 0:
            continue
        part = ShortPlan(plan.fold_of, plan.folds, plan.groups, size=n, y=y)
        (answers,) = folded(part).refit([candidate], fit, max_time=left)
        found.append(Lesson(n, answers.scores))
    if not found:
        return []
    done = min(len(lesson.right) for lesson in found)
    return [Lesson(n, right[:done]) for n, right in [*found, (size, whole.scores)]]

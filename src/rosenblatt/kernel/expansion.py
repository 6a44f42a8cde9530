"""Vectors in dual form on their way: problems, coefficients, updates and scores."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.kernel.loops import Dual
from rosenblatt.running.run import TwoClassProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.kernel.support_vectors import Batch

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(kw_only=True, eq=False)
class DualProblem(TwoClassProblem):
    """A two-class problem in dual form.

    `path` holds the updates in order, if they are wanted for a vote: slots, steps and visits
    before each. `dropped` holds the rows that were dropped, their counts and the epochs.
    """

    path: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[Any, ...]] = field(default_factory=list)

    def ready(self) -> DualProblem:
        """Return a copy to go on with: what fails half-way leaves the original as it was."""
        lists = ("mistakes", "changes", "seconds", "pocket_errors", "records", "path", "dropped")
        copies: dict[str, Any] = {name: list(getattr(self, name)) for name in lists}
        return replace(self, rng=deepcopy(self.rng), stop=None, cycle=None, cycles=None, **copies)


@dataclass
class Standing:
    """Where a run stands, for a later one to go on: problems, and the support vectors.

    Arrays have a row for each support vector and, but for `age` and `sample`, a column for each
    problem; see `rosenblatt.kernel.loops.Dual`. `time` counts all visits ever.
    """

    problems: list[DualProblem]
    coef: Floats
    counts: Ints
    lag: Floats
    age: Ints
    sample: Ints
    time: int


class Expansion:
    """Support vectors' coefficients, counters and ages, for all problems; it can grow."""

    def __init__(self, n: int, k: int, *, lag: bool, drops: bool) -> None:
        self.size, self.time = 0, 0
        self._arrays = Dual(
            coef=np.zeros((0, k)),
            counts=np.zeros((0, k), np.int64),
            lag=np.zeros((0, k if lag else 0)),
            age=np.zeros(0, np.int64),
            sample=np.zeros(0, np.int64),
            slot=np.full(n, -1),
            dropped=np.zeros((n if drops else 0, k), np.bool_),
        )

    @property
    def arrays(self) -> Dual:
        """All there is, with room for more."""
        return self._arrays

    def load(self, standing: Standing, sample: Ints) -> None:
        """Begin with these support vectors; `sample` says which rows of the data they are."""
        size = len(standing.age)
        self.reserve(size)
        self.size, self.time = size, standing.time
        a = self._arrays
        a.coef[:size], a.counts[:size], a.age[:size] = standing.coef, standing.counts, standing.age
        a.lag[:size, : standing.lag.shape[1]] = standing.lag[:, : a.lag.shape[1]]
        a.sample[:size] = sample
        a.slot[sample[sample >= 0]] = np.flatnonzero(sample >= 0)

    def reserve(self, size: int) -> None:
        """Make room for so many support vectors."""
        have = len(self._arrays.age)
        if size <= have:
            return
        more = max(size, 2 * have) - have
        a = self._arrays
        self._arrays = a._replace(
            **{
                name: np.concatenate([old, np.full((more, *old.shape[1:]), fill, old.dtype)])
                for name, old, fill in (
                    ("coef", a.coef, 0.0),
                    ("counts", a.counts, 0),
                    ("lag", a.lag, 0.0),
                    ("age", a.age, -1),
                    ("sample", a.sample, -1),
                )
            }
        )


class Events:
    """The updates of an epoch in order: slots, and the factors of their kernel values.

    The factors are, a column for each problem, the steps, their lags where an average is wanted,
    and the sizes of the steps.
    """

    def __init__(self, columns: int) -> None:
        self._slots, self._factors = np.empty(64, np.int64), np.empty((64, columns))
        self.size = 0

    def append(self, slots: Ints, *factors: Floats) -> None:
        """Add some updates."""
        end = self.size + len(slots)
        while end > len(self._slots):
            self._slots = np.concatenate([self._slots, np.empty_like(self._slots)])
            self._factors = np.concatenate([self._factors, np.empty_like(self._factors)])
        self._slots[self.size : end] = slots
        np.concatenate(factors, axis=1, out=self._factors[self.size : end])
        self.size = end

    def since(self, first: int) -> tuple[Ints, Floats]:
        """The updates from number `first` on."""
        return self._slots[first : self.size], self._factors[first : self.size]


@dataclass
class Sheet:
    """A wide block of samples on its way: scores, lags and sizes of the samples, side by side.

    `base` is the number of updates of the epoch that all of them contain, `done` for each narrow
    block that was visited the number at its end.
    """

    batch: Batch
    sums: Floats
    base: int
    done: list[tuple[int, int, int]] = field(default_factory=list)

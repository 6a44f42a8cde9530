"""Vectors in dual form: on their way, with coefficients and updates, and what comes of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.kernel.loops import Dual
from rosenblatt.kernel.scores import visits_of
from rosenblatt.results import Dropped, KernelFit, Mistakes, Path
from rosenblatt.running.run import NO_RECORD, TwoClassProblem, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernel.dual_rule import DualRule
    from rosenblatt.kernel.loops import Doubt, Forgetting, Visited, VisitRule
    from rosenblatt.kernel.support_vectors import Batch


@dataclass(kw_only=True, eq=False)
class DualProblem(TwoClassProblem):
    """A two-class problem in dual form.

    `path` holds the updates in order, if they are wanted for a vote: slots, steps and visits
    before each. `dropped` holds the rows that were dropped, their counts and the epochs.
    """

    path: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[Any, ...]] = field(default_factory=list)


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
        self.arrays = Dual(  # with room for more
            coef=np.zeros((0, k)),
            counts=np.zeros((0, k), np.int64),
            lag=np.zeros((0, k if lag else 0)),
            age=np.zeros(0, np.int64),
            sample=np.zeros(0, np.int64),
            slot=np.full(n, -1),
            dropped=np.zeros((n if drops else 0, k), np.bool_),
        )

    def load(self, standing: Standing, sample: Ints) -> None:
        """Begin with these support vectors; `sample` says which rows of the data they are."""
        size = len(standing.age)
        self.reserve(size)
        self.size, self.time = size, standing.time
        a = self.arrays
        a.coef[:size], a.counts[:size], a.age[:size] = standing.coef, standing.counts, standing.age
        a.lag[:size, : standing.lag.shape[1]] = standing.lag[:, : a.lag.shape[1]]
        a.sample[:size] = sample
        a.slot[sample[sample >= 0]] = np.flatnonzero(sample >= 0)

    def reserve(self, size: int) -> None:
        """Make room for so many support vectors."""
        a, have = self.arrays, len(self.arrays.age)
        if size <= have:
            return
        more = max(size, 2 * have) - have
        self.arrays = a._replace(
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
class Turn:
    """Some samples that are visited one after the other, and all that `visit` has to know."""

    running: list[DualProblem]
    sums: Floats
    seen: Visited
    doubt: Doubt
    forgetting: Forgetting
    rule: VisitRule
    free: Ints


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


NO_ROWS = (np.empty(0, np.int64),) * 3
NO_STEPS = (np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


class DualFits:
    """The fits of a run, over the support vectors that matter, in the order of `slots`."""

    def __init__(self, rule: DualRule) -> None:
        self.rule, settings = rule, rule.settings
        a = rule.expansion.arrays
        self.kept = (
            a.coef - a.lag / visits_of(rule.problems) if settings.keep == "average" else a.coef
        )
        if rule.pocket is not None:
            self.kept = rule.pocket.coef(len(a.coef))
        wanted = (a.coef != 0).any(axis=1) | (self.kept != 0).any(axis=1)
        for p in rule.problems:
            for slots, _, _ in p.path:
                wanted[slots] = True
        self.slots = np.flatnonzero(wanted)
        if settings.budget is not None:  # slots are used again there
            self.slots = self.slots[np.argsort(a.age[self.slots], kind="stable")]
        self.sample = a.sample[self.slots].copy()
        problems = [self._problem(p) for p in rule.problems]
        self.fits = tuple(self._fit(c, p) for c, p in enumerate(problems))
        self.standing = Standing(
            problems=problems,
            coef=a.coef[self.slots],
            counts=a.counts[self.slots],
            lag=a.lag[self.slots],
            age=a.age[self.slots],
            sample=self.sample,
            time=rule.expansion.time,
        )

    def _problem(self, p: DualProblem) -> DualProblem:
        """The problem at rest, its records joined, slots numbered anew."""
        position = np.zeros(len(self.rule.expansion.arrays.age), np.int64)
        position[self.slots] = np.arange(len(self.slots))
        vector, step, when = joined(NO_STEPS, p.path)
        return replace(
            p,
            cycles=None,
            records=[joined(NO_RECORD, p.records)],
            path=[(position[vector], step, when)],
            dropped=[joined(NO_ROWS, p.dropped)],
        )

    def _fit(self, c: int, p: DualProblem) -> KernelFit:
        a, settings = self.rule.expansion.arrays, self.rule.settings
        return KernelFit(
            coef=self.kept[self.slots, c],
            last=a.coef[self.slots, c],
            alpha=self._counters(c),
            dropped=Dropped(*p.dropped[0]),
            path=_path(p) if settings.keep == "vote" else None,
            **p.outcome(settings, Mistakes(*p.records[0]) if settings.record else None),
        )

    def _counters(self, c: int) -> Ints:
        """The mistakes on each support vector; zero for those that were dropped."""
        a = self.rule.expansion.arrays
        counts: Ints = a.counts[self.slots, c]
        if a.dropped.size:
            counts[(self.sample >= 0) & a.dropped[self.sample, c]] = 0
        return counts

    def choices(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Scores of the training samples with what was kept, and whether they can be relied on.

        They can where no other class comes within the doubt that rounding leaves.
        """
        rule = self.rule
        n, k = rule.scores.now.shape
        if rule.settings.keep in ("pocket", "vote") or rule.settings.budget is not None:
            return rule.scores.now, np.zeros(n, np.bool_)
        scores = (
            rule.scores.average(rule.problems)
            if rule.settings.keep == "average"
            else rule.scores.now
        )
        off = 3.0 * rule.scores.doubts(np.arange(n))
        if k == 1:
            return scores, np.abs(scores[:, 0]) > off[:, 0]
        top = np.partition(scores, -2, axis=1)[:, -2:]
        return scores, top[:, 1] - top[:, 0] > 2.0 * off.max(axis=1)


def _path(p: DualProblem) -> Path:
    """The path of a problem, with the lives of its vectors."""
    vector, step, when = p.path[0]
    ends = np.append(when[1:], p.visits + p.within)
    first = int(when[0]) if len(when) else p.visits + p.within
    return Path(vector, step, ends[: len(when)] - when, first)

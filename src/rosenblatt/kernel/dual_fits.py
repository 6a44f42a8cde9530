"""What comes of a run in dual form: fits, the support vectors to keep, and where it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.kernel.expansion import DualProblem, Standing
from rosenblatt.kernel.scores import visits_of
from rosenblatt.results import Dropped, KernelFit, Mistakes, Path, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.kernel.rule import DualRule

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NO_ROWS = (np.empty(0, np.int64),) * 3
NO_STEPS = (np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
NO_RECORD = (*NO_ROWS[:2], np.empty(0), np.empty(0), np.empty(0, np.int64))


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
        vector, step, when = _joined(NO_STEPS, p.path)
        return replace(
            p,
            cycles=None,
            records=[_joined(NO_RECORD, p.records)],
            path=[(position[vector], step, when)],
            dropped=[_joined(NO_ROWS, p.dropped)],
        )

    def _fit(self, c: int, p: DualProblem) -> KernelFit:
        assert p.stop is not None
        a, settings = self.rule.expansion.arrays, self.rule.settings
        return KernelFit(
            coef=self.kept[self.slots, c],
            last=a.coef[self.slots, c],
            alpha=self._counters(c),
            stop_reason=p.stop,
            n_mistakes=sum(p.mistakes),
            n_updates=p.n_updates,
            n_epochs=len(p.mistakes),
            trace=Trace(
                mistakes=np.array(p.mistakes, np.int64),
                change=np.array(p.changes),
                seconds=np.array(p.seconds),
                pocket_errors=np.array(p.pocket_errors) if settings.keep == "pocket" else None,
                updates=Mistakes(*p.records[0]) if settings.record else None,
            ),
            dropped=Dropped(*p.dropped[0]),
            path=_path(p) if settings.keep == "vote" else None,
            certificate=p.cycle,
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


def _joined(none: tuple[Any, ...], parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Columns of several records as one."""
    return tuple(np.concatenate(column) for column in zip(none, *parts, strict=True))

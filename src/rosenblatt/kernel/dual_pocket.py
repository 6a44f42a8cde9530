"""The pocket in dual form: of all vectors of a run, the one with the fewest training errors.

As for hyperplanes the choice is exact: fewest (weighted) errors over the start and every update,
of several the earliest. At the end of an epoch each sample's score is followed through all its
updates; where rounding leaves a vector's errors in doubt, and it may win, they are counted anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.kernel.loops import count_errors
from rosenblatt.kernel.sums import exact_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.kernel.training import Kernelized

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class DualPocket:
    """The best coefficients so far, for each problem, and their errors."""

    def __init__(self, run: Kernelized) -> None:
        self.run = run
        size = run.expansion.size
        self.best = [run.expansion.arrays.coef[:size, c].copy() for c in range(run.k)]
        self.errors = np.array([self._errors(c, self.best[c]) for c in range(run.k)])

    def coef(self, size: int) -> Floats:
        """The best coefficients, over so many support vectors."""
        coef = np.zeros((size, self.run.k))
        for c, best in enumerate(self.best):
            coef[: len(best), c] = best
        return coef

    def follow(self) -> None:
        """Judge the vectors of the epoch's updates; the scores are those of its beginning."""
        run = self.run
        slots, factors = run.events.since(0)
        steps = factors[:, : run.k]
        sure, unsure = np.zeros((2, run.k, len(slots)))
        start = run.total - np.abs(steps).sum(axis=0)

        for sample in run.blocks(np.arange(run.n_rows)):
            batch = run.values.batch(sample)
            rounding = run.values.rounding(sample, float(run.total.max(initial=0.0)), run.additions)
            scores = np.ascontiguousarray(run.scores[sample].T)
            sizes = np.ascontiguousarray(run.sizes[sample].T)
            total = start.copy()
            step = run.values.chunk
            for a in range(0, len(slots), step):
                part = slice(a, a + step)
                K = run.values.across(batch, slots[part])

                def task(c: int, K: Floats = K, part: slice = part) -> None:
                    y, weight = run.signs(c, sample, dropped=True)  # noqa: B023
                    total[c] = count_errors(  # noqa: B023
                        K,
                        np.ascontiguousarray(steps[part, c]),
                        y,
                        weight,
                        scores[c],  # noqa: B023
                        sizes[c],  # noqa: B023
                        rounding.relative,  # noqa: B023
                        rounding.absolute,  # noqa: B023
                        total[c],  # noqa: B023
                        sure[c, part],
                        unsure[c, part],
                    )

                run.values.team.each(task, range(run.k))
        for c in range(run.k):
            self._choose(c, slots, steps[:, c], sure[c], unsure[c])

    def _choose(self, c: int, slots: Ints, steps: Floats, sure: Floats, unsure: Floats) -> None:
        """Take the earliest vector with the fewest errors, if it beats the pocket."""
        errors = sure.copy()
        limit = min(float((sure + unsure).min(initial=np.inf)), float(self.errors[c]))
        for t in np.flatnonzero((unsure > 0) & (sure <= limit)).tolist():
            errors[t] = self._errors(c, self._coef_at(c, slots, steps, t))
        errors[(unsure > 0) & (sure > limit)] = np.inf
        if errors.min(initial=np.inf) < self.errors[c]:
            first = int(np.argmin(errors))
            self.best[c], self.errors[c] = self._coef_at(c, slots, steps, first), errors[first]

    def _coef_at(self, c: int, slots: Ints, steps: Floats, t: int) -> Floats:
        """The coefficients after the first t + 1 updates of the epoch."""
        coef = np.zeros(self.run.expansion.size)
        before = self.run.coef_before[:, c]
        coef[: len(before)] = before
        np.add.at(coef, slots[: t + 1], steps[: t + 1])
        return coef

    def _errors(self, c: int, coef: Floats) -> float:
        """Weight of the errors of the vector with these coefficients, exactly."""
        run, slots, errors = self.run, np.flatnonzero(coef), 0.0
        total = float(np.abs(coef).sum())
        for sample in run.blocks(np.arange(run.n_rows)):
            batch = run.values.batch(sample)
            factors = np.column_stack([coef[slots], np.abs(coef[slots])])
            scores, sizes = run.values.sums(batch, slots, factors, 1).T
            rounding = run.values.rounding(sample, total, len(slots))
            with np.errstate(invalid="ignore"):
                off = rounding.relative * sizes + rounding.absolute * total
            for k in np.flatnonzero((off != 0) & ~(np.abs(scores) > off)):
                scores[k] = exact_sum(coef[slots], run.values.exact(int(sample[k]), slots))
            y, weight = run.signs(c, sample, dropped=True)
            for w in weight[
                (scores > 0) != (y > 0)
            ].tolist():  # one after the other: sums in row order
                errors += w
        return errors

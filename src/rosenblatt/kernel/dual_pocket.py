"""The pocket in dual form: of all vectors of a run, the one with the fewest training errors.

As for hyperplanes the choice is exact: fewest (weighted) errors over the start and every update,
of several the earliest. At the end of an epoch each sample's score is followed through all its
updates; where rounding leaves a vector's errors in doubt, and it may win, the samples in doubt
are followed anew, without rounding.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.kernel.loops import count_errors
from rosenblatt.kernel.registers import rounded_sum, signs_after

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernel.dual_rule import DualRule


ROOM = 1 << 22  # exact values that may be kept


class DualPocket:
    """The best coefficients so far, for each problem, and their errors."""

    def __init__(self, rule: DualRule) -> None:
        self.rule = rule
        self.values: dict[int, Floats] = {}
        size = rule.expansion.size
        self.best = [rule.expansion.arrays.coef[:size, c].copy() for c in range(rule.k)]
        self.errors = np.array([self._errors(c, self.best[c]) for c in range(rule.k)])

    def coef(self, size: int) -> Floats:
        """The best coefficients, over so many support vectors."""
        coef = np.zeros((size, self.rule.k))
        for c, best in enumerate(self.best):
            coef[: len(best), c] = best
        return coef

    def follow(self) -> None:
        """Judge the vectors of the epoch's updates; the scores are those of its beginning."""
        rule = self.rule
        slots, factors = rule.ledger.events.since(0)
        steps = np.ascontiguousarray(factors[:, : rule.k].T)
        doubtful = np.zeros((rule.k, rule.n_rows), np.bool_)
        errors, unsure = self._count(slots, steps, doubtful)
        most = np.minimum((errors + unsure).min(axis=1, initial=np.inf), self.errors)
        open_ = ((unsure > 0) & (errors <= most[:, np.newaxis])).any(axis=1)
        if open_.any():
            doubtful[~open_] = False
            errors[open_] = self._count(slots, steps, doubtful, settle=True)[0][open_]
        for c in range(rule.k):
            # Where it is not settled whether more are wrong, too many are.
            errors[c, (unsure[c] > 0) & ~open_[c]] = np.inf
            if errors[c].min(initial=np.inf) < self.errors[c]:
                first = int(np.argmin(errors[c]))
                self.best[c] = self._coef_before(c)
                np.add.at(self.best[c], slots[: first + 1], steps[c, : first + 1])
                self.errors[c] = errors[c, first]

    def _count(
        self, slots: Ints, steps: Floats, doubtful: NDArray[np.bool_], settle: bool = False
    ) -> tuple[Floats, Floats]:
        """For each problem and update the weight of the errors, and that of those in doubt.

        Samples in doubt are marked, or, with `settle`, those marked are settled exactly.
        """
        rule = self.rule
        sure, unsure = np.zeros((2, *steps.shape))
        start = rule.scores.total - np.abs(steps).sum(axis=1)
        for sample in rule.blocks(np.arange(rule.n_rows)):
            batch = rule.values.batch(sample)
            rounding = rule.scores.rounding(sample)
            scores = np.ascontiguousarray(rule.scores.now[sample].T)
            sizes = np.ascontiguousarray(rule.scores.sizes[sample].T)
            total, places = start.copy(), np.full((rule.k, len(sample)), -1)
            known = [np.empty((0, 0), np.bool_)] * rule.k
            if settle:
                known = [self._settled(c, sample, slots, steps[c], doubtful) for c in range(rule.k)]
                for place, marked in zip(places, doubtful[:, sample], strict=True):
                    place[marked] = np.arange(marked.sum())
            signs = [rule.scores.signs(c, sample, dropped=True) for c in range(rule.k)]
            in_doubt = np.zeros((rule.k, len(sample)), np.bool_)
            for a in range(0, len(slots), rule.values.chunk):
                part = slice(a, a + rule.values.chunk)
                found = rule.values.team.mapper(rule.k)(
                    count_errors,
                    repeat(rule.values.across(batch, slots[part])),
                    steps[:, part],
                    *zip(*signs, strict=True),
                    scores,
                    sizes,
                    repeat(rounding.relative),
                    repeat(rounding.absolute),
                    total,
                    sure[:, part],
                    unsure[:, part],
                    in_doubt,
                    [rows[:, part] for rows in known],
                    places,
                )
                total[:] = list(found)
            doubtful[:, sample] |= in_doubt
        return sure, unsure

    def _settled(
        self, c: int, sample: Ints, slots: Ints, steps: Floats, doubtful: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """For the samples in doubt whether their scores are positive after each update, exactly."""
        coef = self._coef_before(c)
        signs = [
            signs_after(coef, slots, steps, self._exact_values(i))
            for i in sample[doubtful[c, sample]].tolist()
        ]
        return np.array(signs, np.bool_).reshape(-1, len(steps))

    def _exact_values(self, i: int) -> Floats:
        """Values of a sample with all vectors; kept, where there is room, for the next epoch."""
        size, known = self.rule.expansion.size, self.values.get(i, np.empty(0))
        if len(known) < size:
            new = self.rule.values.exact(i, np.arange(len(known), size))
            known = np.append(known, new)
            if self.rule.n_rows * size <= ROOM:
                self.values[i] = known
        return known[:size]

    def _coef_before(self, c: int) -> Floats:
        """The coefficients at the beginning of the epoch."""
        coef, before = np.zeros(self.rule.expansion.size), self.rule.coef_before[:, c]
        coef[: len(before)] = before
        return coef

    def _errors(self, c: int, coef: Floats) -> float:
        """Weight of the errors of the vector with these coefficients, exactly."""
        rule, slots, errors = self.rule, np.flatnonzero(coef), 0.0
        total = float(np.abs(coef).sum())
        for sample in rule.blocks(np.arange(rule.n_rows)):
            batch = rule.values.batch(sample)
            factors = np.column_stack([coef[slots], np.abs(coef[slots])])
            scores, sizes = np.hsplit(rule.values.sums(batch, slots, factors, 1), 2)
            off = rule.values.rounding(sample, total, len(slots)).off(sizes, total)
            for k in np.flatnonzero((off != 0) & ~(np.abs(scores) > off)):
                scores[k] = rounded_sum(coef[slots], rule.values.exact(int(sample[k]), slots))
            y, weight = rule.scores.signs(c, sample, dropped=True)
            for w in weight[(scores[:, 0] > 0) != (y > 0)].tolist():  # one by one, in row order
                errors += w
        return errors

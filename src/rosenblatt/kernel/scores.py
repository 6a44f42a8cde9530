"""The scores of all samples, how far rounding can have moved them, and what settles a doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.rows import row_weights
from rosenblatt.kernel.loops import Doubt
from rosenblatt.kernel.sums import rounded_sum, signed_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Block
    from rosenblatt.kernel.expansion import DualProblem, Expansion
    from rosenblatt.kernel.values import Values

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Scores:
    """Scores of the samples with the support vectors of an expansion.

    Attributes
    ----------
    sums : float64 array
        For each sample, side by side: the scores in all problems, their lags where an average is
        wanted, and the sums of the sizes of all terms that the scores were ever given.
    total : float64 array
        The sum of the sizes of all steps, in each problem.
    additions : int
        How many terms the sums can have been made of.
    """

    def __init__(
        self, values: Values, block: Block, positives: list[int], expansion: Expansion
    ) -> None:
        self.values, self.block, self.expansion = values, block, expansion
        self.n, self.k, self.positives = values.n, len(positives), np.array(positives)
        self.columns = 2 * self.k + expansion.arrays.lag.shape[1]
        self.sums = np.zeros((self.n, self.columns))
        self.total = np.zeros(self.k)
        self.additions = 64
        self.twins: NDArray[np.intp] | None = None

    @property
    def now(self) -> Floats:
        """The scores of all samples, a column for each problem."""
        return self.sums[:, : self.k]

    @property
    def sizes(self) -> Floats:
        """The sums of the sizes of all terms that the scores were ever given."""
        return self.sums[:, -self.k :]

    def average(self, problems: list[DualProblem]) -> Floats:
        """The scores with the mean of the vectors after every visit."""
        scores: Floats = self.now - self.sums[:, self.k : -self.k] / visits_of(problems)
        return scores

    def blocks(self, order: Ints) -> Iterator[Ints]:
        """The samples in this order, a wide block at a time."""
        m = self.values.wide_rows
        return (order[a : a + m] for a in range(0, len(order), m))

    def add_all(self) -> None:
        """Give all samples their share of all support vectors."""
        a, size = self.expansion.arrays, self.expansion.size
        sizes = np.abs(a.coef[:size])
        self.total[:] = sizes.sum(axis=0)
        factors = np.hstack([a.coef[:size], a.lag[:size], sizes])
        for sample in self.blocks(np.arange(self.n)):
            batch = self.values.batch(sample)
            self.sums[sample] += self.values.sums(batch, np.arange(size), factors, self.k)

    def doubt_while(self, sample: Ints) -> Doubt:
        """How far scores can be off while these samples are visited."""
        m = len(sample)
        total = float(self.total.max(initial=0.0)) + self.values.weights.heaviest * m
        rounding = self.values.rounding(sample, total, self.additions + 2 * m)
        return Doubt(rounding.relative, rounding.absolute, self.total)

    def doubts(self, sample: Ints) -> Floats:
        """How far the scores of some samples can be off, in each problem."""
        total = float(self.total.max(initial=0.0))
        rounding = self.values.rounding(sample, total, self.additions)
        with np.errstate(invalid="ignore"):  # endless doubt about nothing is doubt
            off: Floats = (
                rounding.relative[:, np.newaxis] * self.sizes[sample]
                + rounding.absolute[:, np.newaxis] * self.total
            )
        return off

    def settled(self, sample: int, c: int, *, exactly: bool = True) -> float:
        """``Σ a_s K(x_s, x)`` for a sample, rounded once: what any blocking must agree with.

        Unless it is wanted exactly, only its sign has to be right.
        """
        coef = self.expansion.arrays.coef[:, c]
        slots = np.flatnonzero(coef)
        terms = coef[slots], self.values.exact(sample, slots)
        return rounded_sum(*terms) if exactly else signed_sum(*terms)

    def mistakes(self, c: int, blocks: Iterable[Ints]) -> tuple[Ints, Floats, Floats]:
        """Rows that are mistakes now, exactly, ``y`` times their scores, and doubt in these."""
        parts = []
        for sample in blocks:
            y, weight = self.signs(c, sample)
            scores, off = self.now[sample, c], self.doubts(sample)[:, c]
            doubtful = (off != 0) & ~(np.abs(scores) > off) & (weight > 0)
            self.values.fetch(sample[doubtful])
            for k in np.flatnonzero(doubtful):
                scores[k], off[k] = self.settled(int(sample[k]), c), 0.0
            wrong = ~(y * scores > 0) & (weight > 0)
            parts.append((sample[wrong], (y * scores)[wrong], off[wrong]))
        rows, values, offs = (np.concatenate(column) for column in zip(*parts, strict=True))
        return rows, values, offs

    def signs(self, c: int, sample: Ints, *, dropped: bool = False) -> tuple[Floats, Floats]:
        """Labels and weights of some rows; dropped ones have no weight, unless wanted."""
        positive = int(self.positives[c])
        y = np.where(self.block.label[sample] == positive, 1.0, -1.0)
        weight = row_weights(self.block, positive, sample).astype(np.float64)
        gone = self.expansion.arrays.dropped
        return y, weight if dropped or not gone.size else np.where(gone[sample, c], 0.0, weight)

    def all_that_matters(self, c: int, scores: Floats, coef: Floats) -> Floats | None:
        """What the rest of the run depends on, exactly; None if it cannot come twice."""
        if self.values.exact_sums(float(self.total.max(initial=0.0))):
            return scores[:, c]
        if self.twins is None:
            self.twins, nothing = self.values.twins(), self.values.nothings()
            if nothing.any():
                self.twins = self.twins if self.twins.size else np.arange(self.n)
                self.twins[nothing] = -1
        if not self.twins.size:
            return None
        sample = self.expansion.arrays.sample[: len(coef)]
        mine = np.flatnonzero((sample >= 0) & (self.twins[sample] >= 0))
        sums: Floats = np.bincount(self.twins[sample[mine]], coef[mine, c], self.n).astype(
            np.float64
        )
        return sums


def visits_of(problems: list[DualProblem]) -> Ints:
    """The visits that each problem has had."""
    return np.array([max(p.visits + p.within, 1) for p in problems])

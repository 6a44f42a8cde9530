"""Vectors in dual form while a rule is trained: support vectors, updates, scores of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.rows import row_weights
from rosenblatt.kernel.loops import Dual
from rosenblatt.kernel.registers import rounded_sum, signed_sum
from rosenblatt.running.problems import TwoClassProblem, joined, saved_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block
    from rosenblatt.kernel.kernel_values import Values
    from rosenblatt.kernel.loops import Slots, Visited, VisitRule
    from rosenblatt.kernel.support_vectors import Batch
    from rosenblatt.kernels.functions import Rounding


MANY = 32  # wide blocks that are scored at a time where nothing depends on the next
NO_ROWS = (np.empty(0, np.int64),) * 3
NO_STEPS = (np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


@dataclass(kw_only=True, eq=False)
class DualProblem(TwoClassProblem):
    """A two-class problem in dual form.

    `path` holds the updates in order, if they are wanted for a vote: slots, steps and visits
    before each. `dropped` holds the rows that were dropped, their counts and the epochs.
    """

    path: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[Any, ...]] = field(default_factory=list)

    def state(self) -> dict[str, Any]:
        """What a run needs to go on with it, as plain values."""
        # The next time there will be fewer to join.
        self.path, self.dropped = [joined(NO_STEPS, self.path)], [joined(NO_ROWS, self.dropped)]
        return {**super().state(), "path": list(self.path[0]), "dropped": list(self.dropped[0])}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""
        super().restore(state)
        for name, none in (("path", NO_STEPS), ("dropped", NO_ROWS)):
            parts, kinds = state[name], [part.dtype for part in none]
            shape = parts[0].shape
            found = zip(parts, kinds, strict=True)
            setattr(self, name, [tuple(saved_array(part, kind, shape) for part, kind in found)])


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
                for fill, names in ((0, ("coef", "counts", "lag")), (-1, ("age", "sample")))
                for name, old in ((name, getattr(a, name)) for name in names)
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
    """Some samples that are visited one after the other, and all that `visit` has to know.

    `sums` are their scores, lags and sizes, side by side; `rows` rows of G are filled.
    """

    running: list[DualProblem]
    batch: Batch
    sums: Floats
    seen: Visited
    slots: Slots
    rule: VisitRule
    rows: int = 0


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

    def blocks(self, order: Ints, times: int = 1) -> Iterator[Ints]:
        """The samples in this order, a wide block at a time, or so many of them."""
        m = self.values.wide_rows * times
        return (order[a : a + m] for a in range(0, len(order), m))

    def add_all(self) -> None:
        """Give all samples their share of all support vectors."""
        a, size = self.expansion.arrays, self.expansion.size
        sizes = np.abs(a.coef[:size])
        self.total[:] = sizes.sum(axis=0)
        factors = np.hstack([a.coef[:size], a.lag[:size], sizes])
        for sample in self.blocks(np.arange(self.n), MANY if self.values.side_by_side else 1):
            self.sums[sample] += self.values.sums_of(sample, np.arange(size), factors, self.k)

    def rounding(self, sample: Ints, visited: int = 0) -> Rounding:
        """How far scores can be off, after `visited` more visits at most."""
        total = float(self.total.max(initial=0.0)) + self.values.weights.heaviest * visited
        return self.values.rounding(sample, total, self.additions + 2 * visited)

    def doubts(self, sample: Ints) -> Floats:
        """How far the scores of some samples can be off, in each problem."""
        return self.rounding(sample).off(self.sizes[sample], self.total)

    def settled(self, sample: int, c: int, *, exactly: bool = True) -> float:
        """``Σ a_s K(x_s, x)`` for a sample, rounded once: what any blocking must agree with.

        Unless it is wanted exactly, only its sign has to be right.
        """
        coef = self.expansion.arrays.coef[:, c]
        slots = np.flatnonzero(coef != 0)
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

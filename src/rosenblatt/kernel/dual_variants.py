"""Other ways to train in dual form: with a budget, and by picking one of the mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.kernel.dual_rule import BLOCK_WORTH, DualRule
from rosenblatt.kernel.dual_states import bounded
from rosenblatt.kernel.loops import Slots
from rosenblatt.kernel.scores import DualProblem
from rosenblatt.kernel.support_vectors import appended
from rosenblatt.running.problems import saved_array
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernel.scores import Turn
    from rosenblatt.kernel.support_vectors import Batch
    from rosenblatt.running.run import Run


GONE = -1  # the age of a slot without a support vector


class Budgeted(DualRule):
    """At most so many support vectors: the one whose last mistake lies longest ago is forgotten.

    Blocks are scored from the support vectors alone, so nothing grows with the length of a
    stream. Slots are used again once a block is done.
    """

    stops_together = True  # the problems share what is forgotten

    @property
    def budget(self) -> int:
        """The most support vectors."""
        assert self.settings.budget is not None
        return self.settings.budget

    def prepare(self, problems: list[DualProblem], run: Run[DualProblem], stack: ExitStack) -> None:
        """Forget what is too much to begin with."""
        self.look_up, self.pause = run.look_up, run.pause
        stack.enter_context(one_blas_thread())
        a = self.expansion.arrays
        for s in self._by_age()[: -self.budget]:
            a.coef[s], a.age[s] = 0.0, -1
            if a.sample[s] >= 0:
                a.slot[a.sample[s]] = -1

    def _by_age(self) -> Ints:
        """The slots of the support vectors, the oldest last mistake first."""
        age = self.expansion.arrays.age[: self.expansion.size]
        order = np.argsort(age, kind="stable")
        slots: Ints = order[age[order] != GONE]
        return slots

    def blocks(self, order: Ints) -> Iterator[Ints]:
        """Blocks of no more samples than the budget: so a block never forgets its own."""
        m = min(self.values.block_rows, self.budget)
        return (order[a : a + m] for a in range(0, len(order), m))

    def begin(self, running: list[DualProblem]) -> None:
        """Remember the vector that the epoch begins with."""
        super().begin(running)
        slots, a = self._by_age(), self.expansion.arrays
        self.before = self.values.support.matrix(slots), a.coef[slots]
        self.began_with = slots, a.sample[slots], a.coef[slots]

    def state(self, running: list[DualProblem]) -> dict[str, Any]:
        """What the run needs to go on beside the problems, as plain values."""
        before = list(self.began_with) if self.begun else None
        return {**super().state(running), "before": before}

    def restore(self, running: list[DualProblem], state: Any) -> None:
        """Go on from such a state. Slots are used again: those of the epoch's beginning first."""
        if state["before"] is not None:
            slots, sample, own = state["before"]
            size = len(saved_array(state["expansion"]["age"], np.int64))
            slots = bounded(slots, 0, size)
            sample = bounded(sample, -1, self.n_rows, slots.shape)
            if (sample[slots >= self.expansion.size] < 0).any():
                msg = "support vectors that are no samples"
                raise ValueError(msg)
            self.values.support.reserve(size)
            self.values.add(sample[sample >= 0], slots[sample >= 0])
            own = saved_array(own, np.float64, (len(slots), self.k))
            self.before = self.values.support.matrix(slots), own
            self.began_with = slots, sample, own
        super().restore(running, state)

    def scored(self, batch: Batch) -> Floats:
        """The scores of some samples with the support vectors as they are now."""
        coef = self.expansion.arrays.coef[: self.expansion.size]
        sizes, slots = np.abs(coef), np.arange(len(coef))
        self.scores.total[:] = sizes.sum(axis=0)
        self.scores.additions = 64 + len(coef)
        return self.values.sums(batch, slots, np.hstack([coef, sizes]), self.k)

    def slots(self, batch: Batch) -> Slots:
        """Free slots, and the oldest support vectors with their kernel values."""
        m, size, queue = len(batch.sample), self.expansion.size, self._by_age()
        free = np.flatnonzero(self.expansion.arrays.age[:size] == GONE)[:m]
        free = np.append(free, np.arange(size, size + m - len(free)))
        H, state = self.values.across(batch, queue[:m]), np.array([len(queue), 0, 0])
        return Slots(free, self.budget, queue[:m], H, state)

    def changes(self) -> Floats:
        """``‖w - w before‖`` over the epoch."""
        if not any(p.mistakes[-1] for p in self.problems if p.mistakes):
            return np.zeros(self.k)
        slots = self._by_age()
        V, coef = self.before
        V = appended([V, self.values.support.matrix(slots)])
        delta = np.concatenate([-coef, self.expansion.arrays.coef[slots]])
        return np.sqrt(self.values.form(V, delta))

    def separates(self, p: DualProblem) -> bool:
        """Whether no sample is a mistake now."""
        for sample in self.blocks(np.arange(self.n_rows)):
            self.scores.sums[sample] = self.scored(self.values.batch(sample))
        return super().separates(p)


class Picking(DualRule):
    """Orders random-mistake and worst-mistake: an epoch picks one of the current mistakes."""

    def turns(self, running: list[DualProblem]) -> Iterator[Turn]:
        """For each problem the mistake that is picked, alone."""
        for p in running[self.turned :]:
            chosen = self._pick(p)
            if chosen is not None:
                batch = self.values.batch(np.array([chosen]))
                yield self.turn([p], batch, self.scored(batch))
                self.values.computed += BLOCK_WORTH
                p.within = 0
            else:
                self.expansion.time += 1
            p.visits += 1
            self.turned += 1
            self.pause()

    def _pick(self, p: DualProblem) -> int | None:
        c = self.problems.index(p)
        rows, values, off = self.mistakes(c)
        if not rows.size:
            return None
        if self.settings.order == "random-mistake":
            return int(rows[p.rng.integers(rows.size)])
        close = np.flatnonzero(values - off <= (values + off).min())
        exact = [abs(self.scores.settled(int(rows[k]), c)) if off[k] else -values[k] for k in close]
        return int(rows[close[int(np.argmax(exact))]])

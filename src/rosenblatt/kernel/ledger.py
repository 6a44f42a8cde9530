"""Which updates of an epoch the scores of the samples contain, and how they get the others.

A block of samples needs all updates when it is visited, and once more at the end of the epoch. In
between there is time. Whenever enough updates have come together, all blocks get them in the
background, those that come next first; and while a block is visited, the one after it gets what
there was before. So few are left for the moment when a block is needed, and the other threads have
something to do while one of them goes from sample to sample.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.kernel.backlog import Backlog
from rosenblatt.kernel.scores import Events
from rosenblatt.kernel.support_vectors import as_slice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernel.scores import Scores
    from rosenblatt.kernel.support_vectors import Addends, Batch


WAVE = 512  # updates that all samples are given together
TASK = 512  # samples that one task gives them to
LITTLE = 1 << 14  # values that are not worth a task


class Ledger:
    """The updates of an epoch, and how many of them the kept scores of each block contain.

    What is added to a score, and in which order, does not depend on threads or time: only when it
    is computed does.

    Attributes
    ----------
    events : Events
        The updates so far.
    blocks : list of int arrays
        The samples, a block at a time.
    contained : list of int
        How many updates are in their scores.
    """

    def __init__(self, scores: Scores) -> None:
        self.scores, self.values = scores, scores.values
        self.backlog = Backlog(self.values.team)
        self.begin(np.arange(scores.n))

    def begin(self, order: Ints) -> None:
        """Begin an epoch with the samples in this order."""
        self.backlog.wait()
        self.events, self.blocks = Events(self.scores.columns), list(self.scores.blocks(order))
        self.contained = [0] * len(self.blocks)

    def scored(self, number: int, batch: Batch) -> Floats:
        """The scores of a block with all updates so far."""
        self.backlog.wait(number)
        later = self.events.since(self.contained[number])
        sums = self.values.sums(batch, *later, self.scores.k)
        sums += self.scores.sums[as_slice(batch.sample)]
        return sums

    def keep(self, number: int, sums: Floats) -> None:
        """Keep the scores of a block, which contain all updates."""
        self.scores.sums[as_slice(self.blocks[number])] = sums
        self.contained[number] = self.events.size

    def look_ahead(self, number: int) -> None:
        """Give a block that will be visited soon the updates so far."""
        if self.values.waves and number < len(self.blocks):
            self.backlog.wait(number)
            self._add_to([number])

    def go_on(self, number: int, before: int) -> None:
        """After a block was visited, when there were so many updates `before`: a wave, if due.

        The block with this number is needed next.
        """
        if self.values.waves and self.events.size // WAVE > before // WAVE:
            self.backlog.wait()
            self._add_to([*range(number, len(self.blocks)), *range(number)])

    def catch_up(self) -> None:
        """Give all samples all updates."""
        self.backlog.wait()
        self._add_to(range(len(self.blocks)))
        self.backlog.wait()

    def _add_to(self, numbers: Iterable[int]) -> None:
        """Give blocks, none of which has a task left, the updates that they do not contain."""
        ready: dict[int, list[Addends]] = {}
        k, size = self.scores.k, self.events.size
        for number in numbers:
            first, sample = self.contained[number], self.blocks[number]
            if first == size:
                continue
            self.contained[number] = size
            if len(sample) * (size - first) <= LITTLE:
                later = self.events.since(first)
                self.scores.sums[sample] += self.values.sums_of(sample, *later, k)
                continue
            if first not in ready:
                ready[first] = self.values.addends(*self.events.since(first), k)
            self.values.computed += len(sample) * (size - first)
            for a in range(0, len(sample), TASK):
                task = partial(self._add, sample[a : a + TASK], ready[first])
                if self.values.side_by_side:
                    self.backlog.add(number, task)
                else:
                    task()

    def _add(self, sample: Ints, addends: list[Addends]) -> None:
        sums = self.values.added(self.values.batch(sample), addends, self.scores.k)
        self.scores.sums[as_slice(sample)] += sums

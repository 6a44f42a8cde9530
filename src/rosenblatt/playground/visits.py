"""When recorded mistakes were made: the number of the visit of each, which records do not hold.

The orders of the epochs are drawn again from the seed. Where a sample may come more than once in
an epoch, a mistake was made at its first place after the mistake before: the weights stay as they
are between two mistakes, so it would have been one there already. (In batches they stay as they
are from the end of a batch with a mistake to the end of the next one.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.running.orders import PICKING, Orders

if TYPE_CHECKING:
    from rosenblatt.array_types import Ints
    from rosenblatt.results import Mistakes


@dataclass(frozen=True)
class Timetable:
    """How a run visits n samples: in which order, and how many are one visit."""

    order: str
    n: int
    seed: int
    size: int = 1

    @property
    def per_epoch(self) -> int:
        """Visits in an epoch."""
        return 1 if self.order in PICKING else -(-self.n // self.size)

    def visits(self, record: Mistakes) -> Ints:
        """The visit, from 0, of each recorded mistake."""
        if self.order in PICKING:
            return record.epoch - 1
        found: Ints = (record.epoch - 1) * self.per_epoch + self._positions(record) // self.size
        return found

    def _positions(self, record: Mistakes) -> Ints:
        """The place of each mistake in its epoch."""
        if self.order == "cyclic" or not len(record.sample):
            return record.sample
        position = np.empty_like(record.sample)
        orders = (np.asarray(order) for order in Orders(self.order, self.n, 1, self.seed))
        last = int(record.epoch[-1])
        ends = np.searchsorted(record.epoch, np.arange(last + 1), side="right")
        for epoch, order in zip(range(last), orders, strict=False):
            part = slice(int(ends[epoch]), int(ends[epoch + 1]))
            if self.order == "shuffled":
                position[part] = np.argsort(order)[record.sample[part]]
            else:
                position[part] = self._first_places(order, record.sample[part], record.update[part])
        return position

    def _first_places(self, order: Ints, sample: Ints, update: Ints) -> list[int]:
        """Of an order that may have a sample more than once."""
        places: dict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(order.tolist()):
            places[row].append(place)
        found: list[int] = []
        free, before = 0, -1
        for row, number in zip(sample.tolist(), update.tolist(), strict=True):
            if number != before and found:  # the batch before has ended
                free = (found[-1] // self.size + 1) * self.size
            place = places[row][bisect_left(places[row], free)]
            found.append(place)
            free, before = place + 1, number
        return found

"""The order in which an epoch visits the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.orders import TileOrder, rows_to_shuffle
from rosenblatt.data.sources import IN_ORDER

if TYPE_CHECKING:
    from rosenblatt.data.sources import Order

ORDERS = ("cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake")
PICKING = ORDERS[4:]  # from the present mistakes
IN_TURN = ORDERS[:4]
ONCE = ("cyclic", "shuffled", "blocks")  # every row comes once in an epoch


class Orders:
    """The n rows in the order of each epoch, one after the other; empty: as they stand.

    `done` epochs have been before. The `state` before an epoch gives its order again.
    """

    def __init__(self, order: str, n: int, d: int, seed: int, done: int = 0) -> None:
        self.order, self.n, self.rows = order, n, rows_to_shuffle(d)
        self.key, self.epoch = [seed, 3, done], 0
        self._rng = np.random.default_rng([seed, 1, done])

    def __iter__(self) -> Orders:
        return self

    def __next__(self) -> Order:
        self.epoch += 1
        if self.order == "shuffled":
            return self._rng.permutation(self.n)
        if self.order == "sampled":
            return self._rng.integers(0, self.n, self.n)
        if self.order != "blocks":
            return IN_ORDER
        tiles = TileOrder(self.n, self.rows, [*self.key, self.epoch])
        return tiles.whole() if self.n <= self.rows else tiles

    @property
    def state(self) -> Any:
        """Where it stands, as plain values."""
        return [self.epoch, self._rng.bit_generator.state]

    @state.setter
    def state(self, state: Any) -> None:
        self.epoch, self._rng.bit_generator.state = state

"""Tables that the server holds, read-only, under their fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.playground.samples import Samples

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.schemas import FromTable


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Rows in features that are numbers, with the numbers of their classes."""

    name: str
    target: str
    X: Floats
    y: Ints
    features: tuple[str, ...]
    names: tuple[str, ...]
    drawn: Ints
    sentence: str


class UnknownTableError(Exception):
    """A table was asked for that is not held."""


class Tables:
    """The tables by their fingerprints."""

    def __init__(self) -> None:
        self._held: dict[str, HeldTable] = {}

    def get(self, fingerprint: str) -> HeldTable:
        """The table, or why there is none."""
        if fingerprint not in self._held:
            msg = f"no table {fingerprint} is held here: give it again"
            raise UnknownTableError(msg)
        return self._held[fingerprint]

    def samples(self, data: FromTable) -> Samples:
        """What a question about a table is about."""
        table = self.get(data.table)
        along = data.columns == "along-w"
        X, features = table.X, table.features
        if not along:
            places = [self._place(table, name) for name in data.columns]
            X, features = np.ascontiguousarray(X[:, places]), tuple(data.columns)
        return Samples(X, table.y, table.names, features, table, along)

    @staticmethod
    def _place(table: HeldTable, name: str) -> int:
        if name not in table.features:
            msg = f"{table.name} has no feature {name!r}"
            raise ValueError(msg)
        return table.features.index(name)

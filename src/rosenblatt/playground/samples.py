"""The data of a question as the estimators take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.playground.schemas import Points

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.held_tables import HeldTable, Tables
    from rosenblatt.playground.schemas import Data


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows and the numbers of their classes.

    `table` is where they come from, None for points; `along` says whether they are seen along w.
    """

    X: Floats
    y: Ints
    names: tuple[str, ...] = ()
    features: tuple[str, ...] = ("x1", "x2")
    table: HeldTable | None = None
    along: bool = False

    @property
    def classes(self) -> list[int]:
        """The classes that there are samples of."""
        return [int(k) for k in np.unique(self.y)]

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.y)

    def named(self, k: int) -> str:
        """What class number k is called."""
        return self.names[k] if k < len(self.names) and self.names[k] else f"class {k}"


def samples_of(data: Data, tables: Tables) -> Samples:
    """The samples that `data` stands for."""
    if isinstance(data, Points):
        X = np.array(data.points, dtype=np.float64).reshape(-1, 2)
        samples = Samples(X, np.array(data.labels, dtype=np.int64), tuple(data.names))
    else:
        samples = tables.samples(data)
    if len(samples.classes) < 2:
        one = f"only of {samples.named(samples.classes[0])!r}" if samples.n else "none"
        msg = f"there must be points of two classes at least, but there are {one}: add some"
        raise ValueError(msg)
    return samples

"""What a fit in dual form returns: coefficients of samples instead of weights of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.results.runs import Cycle, StopReason, Trace

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dropped:
    """The samples that were left out as probable outliers, in the order in which that happened.

    Iterating gives pairs of a row number and its count of mistakes.

    Attributes
    ----------
    sample : int array
        Row numbers.
    count : int array
        Their mistakes by then.
    epoch : int array
        The epochs, from 1, in which they were dropped.
    """

    sample: Ints
    count: Ints
    epoch: Ints

    def __post_init__(self) -> None:
        for column in (self.sample, self.count, self.epoch):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.sample)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.sample.tolist(), self.count.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Path:
    """All vectors of a run, as the steps between them; there with ``keep="vote"``.

    Attributes
    ----------
    vector : int array
        The support vector of each update, as a position in ``support_``.
    step : float array
        What was added to its coefficient.
    lives : int array
        The visits for which the vector after the update lived.
    first : int
        The visits for which the start, zero, lived.
    """

    vector: Ints
    step: Floats
    lives: Ints
    first: int

    def __post_init__(self) -> None:
        for column in (self.vector, self.step, self.lives):
            column.setflags(write=False)


@dataclass(frozen=True, eq=False)
class KernelFit:
    """The outcome of one two-class problem in dual form.

    Arrays have an entry for each support vector, in the order of ``support_``.

    Attributes
    ----------
    coef : float array
        What was to be kept: the coefficients of the last vector, the pocket's or the average.
    last : float array
        Those where the run ended, ``α*y`` times the weight of the sample.
    alpha : int array
        The mistake counters.
    stop_reason : StopReason
    n_mistakes, n_updates, n_epochs : int
    trace : Trace
    dropped : Dropped
    path : Path or None
        All vectors of the run, for a vote.
    certificate : Cycle or None
        The proof, where the run repeats itself.
    """

    coef: Floats
    last: Floats
    alpha: Ints
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    trace: Trace
    dropped: Dropped
    path: Path | None = None
    certificate: Cycle | None = None

    def __post_init__(self) -> None:
        for column in (self.coef, self.last, self.alpha):
            column.setflags(write=False)

"""Where the search for a margin stands: the best so far, and where the next round begins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.threads import Team

FAR = 100.0  # a bound so many times the largest multiplier is out of sight


class Best(NamedTuple):
    """The best hyperplane and the best multipliers so far.

    Attributes
    ----------
    w, b : float array, float
    primal : float
        The objective there.
    alpha : column
    dual : float
        What they prove the objective to be at least.
    """

    w: Floats
    b: float
    primal: float
    alpha: Column
    dual: float

    @property
    def gap(self) -> float:
        """``(primal - dual)/primal``; 1 where there is no hyperplane yet, or no telling."""
        return (self.primal - self.dual) / self.primal if 0 < self.primal < np.inf else 1.0


class Start(NamedTuple):
    """A hyperplane to begin with.

    Attributes
    ----------
    w, b : float array, float
    largest : float
        About as large as its largest multiplier.
    alpha : column, optional
        Multipliers of the same samples.
    """

    w: Floats
    b: float
    largest: float
    alpha: Column | None = None

    def multipliers(self, samples: Samples, c: Column) -> Column:
        """Where to begin: half-way to the bounds, unless these are out of sight."""
        if self.alpha is not None:
            return samples.written(_within, self.alpha, c)
        return samples.written(partial(_half_way, FAR * self.largest), c)

    @property
    def reach(self) -> float:
        """How far multipliers may go for a slack of μ."""
        return 2 * self.largest

    def moved(self, done: Round) -> Start:
        """The start of the next round."""
        return Start(done.w, done.b, done.largest or self.largest, done.alpha)


def _within(piece: Piece, team: Team, out: Any, alpha: Any, c: Any) -> None:
    np.minimum(alpha, c, out=out)


def _half_way(far: float, piece: Piece, team: Team, out: Any, c: Any) -> None:
    out[:] = np.where(c < far, c / 2, 0.0)


class Stand(NamedTuple):
    """Where the rounds stand.

    Attributes
    ----------
    at : Start
    mu : float
    alpha : column
        The multipliers.
    awake : column
        The rows that take part in the next round.
    late : int
        Rounds since there was much progress; or, on a part of the rows, their number.
    descent : bool
        Whether the next round is one of coordinate descent.
    """

    at: Start
    mu: float
    alpha: Column
    awake: Column
    late: int
    descent: bool = False


class Progress(NamedTuple):
    """What is told after every round over all the data."""

    primal: float
    dual: float
    awake: int
    seconds: float


def standing_from(samples: Samples, saved: tuple[Any, ...]) -> Stand:
    """Where the rounds on some samples stood, from what was noted."""
    (w, b, largest, alpha), mu, multipliers, awake, *rest = saved
    if len(multipliers) != samples.n:
        raise ValueError(len(multipliers))
    at = Start(w, b, largest, None if alpha is None else samples.column(alpha))
    return Stand(at, mu, samples.column(multipliers), samples.column(awake), *rest)

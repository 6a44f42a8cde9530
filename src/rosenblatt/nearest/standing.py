"""Where the search for a margin stands: the best so far, and where the next round begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.nearest.newton import Round

FAR = 100.0  # a bound so many times the largest multiplier is out of sight


class Best(NamedTuple):
    """The best hyperplane and the best multipliers so far.

    Attributes
    ----------
    w, b : float array, float
    primal : float
        The objective there.
    alpha : float array
    dual : float
        What they prove the objective to be at least.
    """

    w: Floats
    b: float
    primal: float
    alpha: Floats
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
    alpha : float array, optional
        Multipliers of the same samples.
    """

    w: Floats
    b: float
    largest: float
    alpha: Floats | None = None

    def multipliers(self, c: Floats) -> Floats:
        """Where to begin: half-way to the bounds, unless these are out of sight."""
        if self.alpha is not None:
            return np.minimum(self.alpha, c)
        return np.where(c < FAR * self.largest, c / 2, 0.0)

    def steps(self, c: Floats) -> Floats:
        """How far multipliers may go for a slack of μ."""
        return np.minimum(c / 2, 2 * self.largest)

    def moved(self, done: Round) -> Start:
        """The start of the next round."""
        return Start(done.w, done.b, float(done.alpha.max()) or self.largest, done.alpha)


class Stand(NamedTuple):
    """Where the rounds stand.

    Attributes
    ----------
    at : Start
    mu : float
    alpha : float array
        The multipliers.
    awake : bool array
        The rows that take part in the next round.
    late : int
        Rounds since there was much progress; or, on a part of the rows, their number.
    descent : bool
        Whether the next round is one of coordinate descent.
    """

    at: Start
    mu: float
    alpha: Floats
    awake: NDArray[np.bool_]
    late: int
    descent: bool = False


class Progress(NamedTuple):
    """What is told after every round over all the data."""

    primal: float
    dual: float
    awake: int
    seconds: float


def standing_from(saved: tuple[Any, ...]) -> Stand:
    """Where the rounds stood, from what was noted."""
    at, *rest = saved
    return Stand(Start(*at), *rest)

"""Which rows can be mistakes at all, while the hyperplane stays near where it was last measured.

If ``y(θ·x̃) > r‖x̃‖`` then no ``θ'`` within r of θ makes row x̃ = (x, 1) a mistake, so an epoch
need not look at it. One pass over the data lists the other rows; the list is good until the
hyperplane has moved by r. (Molecular dynamics keeps neighbour lists by the same argument:
Verlet, Phys. Rev. 159, 1967.) Only dot products that cannot matter are left out: the mistakes
are those of the plain loop, one for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.loops.perceptron import Tether, drift
from rosenblatt.loops.scan import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.rows import Block
    from rosenblatt.solvers.threads import Team
    from rosenblatt.sources import Source

FEW_MISTAKES = 0.05  # share of mistakes in an epoch above which a list cannot last
FEW_ROWS = 0.25  # share of rows above which a list saves nothing
PATIENCE = 3  # lists in a row that did not pay


def find_rows(
    source: Source, team: Team, positive: int, theta: NDArray[np.float64], bias: float, guard: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """`loops.scan.find` over the whole source, in row order."""
    found, values = [], []
    for piece in source.pieces():

        def search(
            part: tuple[int, int], block: Block = piece.block, start: int = piece.start
        ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            rows, value = np.empty(part[1] - part[0], np.int64), np.empty(part[1] - part[0])
            count = find(block, positive, theta, bias, guard, *part, rows, value)
            return rows[:count] + start, value[:count].copy()

        share = source.n_entries * piece.length // source.n_rows
        for rows, value in team.each(search, team.ranges(piece.length, share)):
            found.append(rows)
            values.append(value)
    return np.concatenate(found), np.concatenate(values)


class Watch:
    """The list of one problem, and the judgement of whether it pays.

    Costs are counted in dot products, never in seconds, so that a run is reproducible. `reach`
    is tuned so that walking the list costs about as much as making it.
    """

    def __init__(self, source: Source, team: Team, positive: int, bias: float) -> None:
        self.source, self.team, self.positive, self.bias = source, team, positive, bias
        self.rows: NDArray[np.int64] | None = None
        self.tether = Tether(np.empty(0), np.inf)
        self.reach = 0.0
        self._walked = self._passed = self._losses = self._resting = 0
        self._rest = 1

    def ready(self, mistakes: int, change: float) -> bool:
        """Whether to use a list in the coming epoch, given what the last one was like."""
        if self.rows is not None:
            return True
        if self._resting:
            self._resting -= 1
            return False
        self.reach = 2.0 * change
        return mistakes <= FEW_MISTAKES * self.source.n_rows and np.isfinite(self.reach)

    def holds(self, theta: NDArray[np.float64]) -> bool:
        """Whether the list covers every possible mistake of theta."""
        return self.rows is not None and bool(drift(theta, self.tether.center) < self.tether.reach)

    def count(self, walked: int, passed: int) -> None:
        """Note that `walked` rows were looked at on the way past `passed` positions."""
        self._walked += walked
        self._passed += passed

    def renew(self, theta: NDArray[np.float64]) -> bool:
        """Make the list anew around theta; False if that no longer pays (and rest a while)."""
        if self.rows is not None and not self._worth_it():
            return self._give_up()
        self.make(theta)
        assert self.rows is not None
        return len(self.rows) <= FEW_ROWS * self.source.n_rows or self._give_up()

    def refresh(self, theta: NDArray[np.float64], change: float) -> NDArray[np.int64]:
        """Make the list anew for a rule that takes any: where none pays, of mistakes alone."""
        if self.rows is not None and self.reach > 0:
            long = len(self.rows) > FEW_ROWS * self.source.n_rows
            if not self._worth_it() or long:
                self._give_up()
        if self._resting:
            self._resting -= 1
            self.reach = 0.0
        elif self.reach == 0.0:
            self.reach = 2.0 * change
        return self.make(theta)

    def make(self, theta: NDArray[np.float64]) -> NDArray[np.int64]:
        """List the rows that a hyperplane within `reach` of theta can get wrong."""
        reach = self.reach + float(drift(theta, theta))
        self.rows, _ = find_rows(self.source, self.team, self.positive, theta, self.bias, reach)
        self.tether = Tether(theta.copy(), reach)
        self._walked = self._passed = 0
        return self.rows

    def _worth_it(self) -> bool:
        scan = self.source.n_rows / self.team.size
        walk = 2.0 * self._walked  # rows out of line cost more to fetch
        self._losses = 0 if scan + walk < self._passed else self._losses + 1
        if walk < scan / 2:
            self.reach *= 1.5
        elif walk > scan * 2:
            self.reach /= 1.5
        return self._losses < PATIENCE

    def _give_up(self) -> bool:
        self.rows, self._losses = None, 0
        self._resting, self._rest = self._rest, min(2 * self._rest, 64)
        return False

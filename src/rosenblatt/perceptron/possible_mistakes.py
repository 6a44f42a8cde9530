"""Which rows can be mistakes at all, while the hyperplane stays near where it was last measured.

If ``y(θ·x̃) > r‖x̃‖`` then no ``θ'`` within r of θ makes row x̃ = (x, 1) a mistake, so an epoch
need not look at it. One pass, on all threads, lists the other rows; the list is good until the
hyperplane has moved by r. (Molecular dynamics keeps neighbour lists by the same argument:
Verlet, Phys. Rev. 159, 1967.) Only dot products that cannot matter are left out: the mistakes
are those of the plain loop, one for one. On separable data with a small margin a list serves
many epochs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.perceptron.loops import Tether
from rosenblatt.running.scanner import drift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.running.scanner import Scanner

FEW_MISTAKES = 0.02  # share of rows above which no list is tried
EPOCHS = (1, 2, 4, 8, 16, 32, 64)  # how long a list may be meant to last
SCAN, WALK = 1.1, 2.0  # cost of a row, in dot products, when listing and when fetching it alone
START = 1 << 16  # cost of beginning a list, in numbers to read
WORTHWHILE = 0.5  # share of a plain epoch's cost that a list may cost


class PossibleMistakes:
    """The list of one problem, and the judgement of whether one pays.

    Costs are counted in dot products, never in seconds, so that a run is reproducible.
    """

    def __init__(self, scanner: Scanner, positive: int) -> None:
        self.scanner, self.positive = scanner, positive
        self.n = scanner.source.n_rows
        self.rows: NDArray[np.int64] = np.empty(0, np.int64)
        self.tether: Tether | None = None
        self._speed = 0.0  # how far the hyperplane moves in an epoch
        self._passed = 0
        self._resting, self._rest = 0, 1

    def ready(self, mistakes: int, change: float) -> bool:
        """Whether to try lists in the coming epoch, given what the last one was like."""
        self._speed = max(change, self._speed / 2)
        if self._resting:
            self._resting -= 1
            return False
        return mistakes <= FEW_MISTAKES * self.n and bool(np.isfinite(self._speed))

    def holds(self, theta: NDArray[np.float64]) -> bool:
        """Whether the list names every possible mistake of theta."""
        if self.tether is None:
            return False
        return bool(drift(theta, self.tether.center) < self.tether.reach)

    def passed(self, positions: int, theta: NDArray[np.float64]) -> None:
        """Note how far the hyperplane has gone in how many positions."""
        assert self.tether is not None
        self._passed += positions
        moved = float(np.linalg.norm(theta - self.tether.center))
        self._speed = max(moved * self.n / max(self._passed, 1), self._speed / 2)

    def renew(self, theta: NDArray[np.float64]) -> bool:
        """Make a list around theta; False (and rest) if none pays."""
        cost, reach = self._best(theta)
        if cost > WORTHWHILE:
            self._resting, self._rest = self._rest, min(2 * self._rest, 32)
            return False
        self._rest = 1
        self._make(theta, reach)
        return True

    def covering(self, theta: NDArray[np.float64], change: float) -> NDArray[np.int64]:
        """Rows among which are all mistakes of theta: at worst, these and no others."""
        if not self.holds(theta):
            self._speed = max(change, self._speed / 2)
            cost, reach = self._best(theta)
            self._make(theta, reach if cost < SCAN / self.scanner.team.size else 0.0)
        self.passed(self.n, theta)
        return self.rows

    def _best(self, theta: NDArray[np.float64]) -> tuple[float, float]:
        """The cheapest plan: its cost per epoch, in plain epochs, and the reach of its list."""
        sample = self.scanner.sample(self.positive, theta)
        source, threads = self.scanner.source, self.scanner.team.size
        plans = []
        for lasting in EPOCHS:
            reach = self._speed * lasting
            share = float(np.mean(~(sample > reach)))
            listing = SCAN / threads + START / source.n_entries
            plans.append((listing / lasting + WALK * share, reach))
        return min(plans)

    def _make(self, theta: NDArray[np.float64], reach: float) -> None:
        guard = reach + float(drift(theta, theta)) if reach > 0 else 0.0
        self.rows = self.scanner.find(self.positive, theta, guard)
        self.tether, self._passed = Tether(theta.copy(), guard), 0

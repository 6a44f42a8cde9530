"""Which rows can be mistakes at all, while the hyperplane stays near where it was last measured.

If ``y(θ·x̃) > r‖x̃‖`` then no ``θ'`` within r of θ makes row x̃ = (x, 1) a mistake, so an epoch
need not look at it. One pass, on all threads, lists the other rows; the list is good until the
hyperplane has moved by r. (Molecular dynamics keeps neighbour lists by the same argument:
Verlet, Phys. Rev. 159, 1967.) Only dot products that cannot matter are left out: the mistakes
are those of the plain loop, one for one.

On separable data with a small margin a list serves many epochs. Where the hyperplane moves too
much for that, a list of the next part of an epoch still lets all threads work ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.loops.perceptron import Tether, drift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.solvers.scanner import Scanner

FEW_MISTAKES = 0.02  # share of rows above which no list is tried
EPOCHS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)  # how long a list may be meant to last
SCAN, WALK = 1.1, 2.0  # cost of a row, in dot products, when listing and when fetching it alone
START = 1 << 16  # cost of beginning a list, in numbers to read
WORTHWHILE = 0.8  # share of a plain epoch's cost that a list may cost


class Watch:
    """The list of one problem, and the judgement of whether one pays.

    Costs are counted in dot products, never in seconds, so that a run is reproducible.
    """

    def __init__(self, scanner: Scanner, positive: int) -> None:
        self.scanner, self.positive = scanner, positive
        self.n = scanner.source.n_rows
        self.rows: NDArray[np.int64] = np.empty(0, np.int64)
        self.span = (0, 0)
        self.tether = Tether(np.empty(0), 0.0)
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

    def holds(self, theta: NDArray[np.float64], position: int = 0) -> bool:
        """Whether the list names every possible mistake of theta from `position` on."""
        inside = self.span[0] <= position < self.span[1]
        return inside and bool(drift(theta, self.tether.center) < self.tether.reach)

    def passed(self, positions: int, theta: NDArray[np.float64]) -> None:
        """Note how far the hyperplane has gone in how many positions."""
        self._passed += positions
        moved = float(np.linalg.norm(theta - self.tether.center))
        self._speed = max(moved * self.n / max(self._passed, 1), self._speed / 2)

    def renew(self, theta: NDArray[np.float64], position: int, *, parts: bool) -> bool:
        """Make a list around theta from `position` on; False (and rest) if none pays.

        Only with `parts` may it cover less than an epoch.
        """
        cost, lasting, reach = self._best(theta, parts)
        if cost > WORTHWHILE:
            self._resting, self._rest = self._rest, min(2 * self._rest, 32)
            return False
        self._rest = 1
        if lasting < 1:
            self._make(theta, reach, (position, min(self.n, position + int(lasting * self.n) + 1)))
        else:
            self._make(theta, reach, (0, self.n))
        return True

    def covering(self, theta: NDArray[np.float64], change: float) -> NDArray[np.int64]:
        """Rows among which are all mistakes of theta: at worst, these and no others."""
        if not self.holds(theta):
            self._speed = max(change, self._speed / 2)
            cost, _, reach = self._best(theta, parts=False)
            self._make(theta, reach if cost < SCAN / self.scanner.team.size else 0.0, (0, self.n))
        self.passed(self.n, theta)
        return self.rows

    def _best(self, theta: NDArray[np.float64], parts: bool) -> tuple[float, float, float]:
        """The cheapest plan: cost per epoch in plain epochs, epochs to last, reach."""
        sample = self.scanner.sample(self.positive, theta)
        source, threads = self.scanner.source, self.scanner.team.size
        plans = []
        for lasting in EPOCHS if parts else EPOCHS[3:]:
            reach = self._speed * lasting
            share = float(np.mean(~(sample > reach)))
            start = START / (source.n_entries * lasting)
            cost = start + SCAN / threads / max(lasting, 1) + WALK * share
            plans.append((cost, lasting, reach))
        return min(plans)

    def _make(self, theta: NDArray[np.float64], reach: float, span: tuple[int, int]) -> None:
        guard = reach + float(drift(theta, theta)) if reach > 0 else 0.0
        self.rows = self.scanner.find(self.positive, theta, guard, span)
        self.tether, self.span, self._passed = Tether(theta.copy(), guard), span, 0

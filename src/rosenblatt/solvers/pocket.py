"""The pocket: of all the vectors a run passes through, the one with the fewest errors.

Exactly: fewest (weighted) training errors over the start vector and the vector after every
update; of several the earliest (Gallant, IEEE Trans. Neural Networks 1, 1990, without his
shortcut of judging only by runs of correct answers).

Consecutive vectors lie close together, so most rows get the same prediction from all of them.
One pass around a middle vector counts the errors that all share and lists the doubtful rows; each
vector is then judged on these alone, likely errors first, and given up as soon as it cannot win.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.loops.perceptron import drift
from rosenblatt.loops.pocket import count_errors, doubtful, replay, total_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.rows import Block, Rows
    from rosenblatt.solvers.threads import Team
    from rosenblatt.sources import Source

    Floats = NDArray[np.float64]

MOST_NUMBERS = 1 << 21  # in the vectors that are judged together


class Pocket:
    """The best vector so far, and how to judge the next ones.

    Parameters
    ----------
    theta : array
        The start vector, the first to be judged.
    """

    def __init__(
        self, source: Source, team: Team, positive: int, bias: float, theta: Floats
    ) -> None:
        self.source, self.team, self.positive, self.bias = source, team, positive, bias
        self.theta, self.errors = theta.copy(), self._all_errors(theta)
        self._together = 8
        self._waiting: list[Floats] = []

    def offer(self, theta: Floats) -> None:
        """Judge theta, now or together with the next ones."""
        self._waiting.append(theta.copy())
        if len(self._waiting) >= min(self._together, max(1, MOST_NUMBERS // len(theta))):
            self.flush()

    def flush(self) -> None:
        """Judge whatever is waiting."""
        if self._waiting:
            waiting, self._waiting = np.stack(self._waiting), []
            self.judge(waiting)

    def follow(self, rows: Rows, sample: Any, step: Any, theta: Floats) -> None:
        """Judge every vector on the way from theta through the given updates."""
        theta = theta.copy()
        done = 0
        while done < len(sample):
            most = max(1, min(self._together, MOST_NUMBERS // len(theta), len(sample) - done))
            thetas = np.empty((most, len(theta)))
            part = slice(done, done + most)
            replay(rows, sample[part], step[part], self.bias, theta, thetas)
            self.judge(thetas)
            done += most

    def judge(self, thetas: Floats) -> None:
        """Take the earliest of the vectors with the fewest errors, if it beats the pocket."""
        tolerance = 1e-9 * self.errors if self.source.weighted else -0.5
        limit = self.errors + tolerance
        errors = self._errors_up_to(thetas, limit)
        hopeful = np.flatnonzero(errors <= limit)
        if not self.source.weighted:
            hopeful = hopeful[errors[hopeful] == errors[hopeful].min(initial=np.inf)][:1]
        for t in hopeful:
            exact = self._all_errors(thetas[t])
            if exact < self.errors:
                self.theta, self.errors = thetas[t].copy(), exact

    def _all_errors(self, theta: Floats) -> float:
        """Weight of theta's errors, added up in row order whatever the blocks."""
        errors = 0.0
        for piece in self.source.pieces():
            errors = total_errors(piece.block, self.positive, theta, errors)
        return errors

    def _errors_up_to(self, thetas: Floats, limit: float) -> Floats:
        """Errors of each vector, exact (up to the order of additions) where at most `limit`."""
        center = thetas[len(thetas) // 2]
        guard = max(drift(theta, center) for theta in thetas)
        errors, looks = np.zeros(len(thetas)), 0
        for piece in self.source.pieces():
            rows, certain = self._doubtful(piece.block, piece.length, center, guard)
            errors += certain
            looks += count_errors(piece.block, self.positive, thetas, rows, errors, limit)
            if errors.min() > limit:
                break
        if 2 * looks < self.source.n_rows:
            self._together = min(2 * self._together, 1024)
        elif looks > 2 * self.source.n_rows:
            self._together = max(self._together // 2, 1)
        return errors

    def _doubtful(
        self, block: Block, n: int, center: Floats, guard: float
    ) -> tuple[NDArray[np.int64], float]:
        def split(part: tuple[int, int]) -> tuple[Any, Any, float]:
            wrong, right = np.empty((2, part[1] - part[0]), np.int64)
            a, z, certain = doubtful(
                block, self.positive, center, self.bias, guard, *part, wrong, right
            )
            return wrong[:a], right[:z], certain

        share = self.source.n_entries * n // self.source.n_rows
        parts = self.team.each(split, self.team.ranges(n, share))
        rows = [wrong for wrong, _, _ in parts] + [right for _, right, _ in parts]
        return np.concatenate(rows), sum(certain for _, _, certain in parts)

"""The online perceptron: one update per mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.sources import IN_ORDER, Piece
from rosenblatt.perceptron.loops import Log, Step, Tether, Visit, online, online_problems
from rosenblatt.perceptron.possible_mistakes import Watch
from rosenblatt.perceptron.training import Problem, Training
from rosenblatt.running.scan_loops import mistakes_among
from rosenblatt.running.scanner import TILE

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sequential(Training):
    """Shared by the online rules: what to do with the mistakes of a visit."""

    @property
    def step(self) -> Step:
        """Learning rate and bias."""
        return Step(self.settings.eta, float(self.settings.fit_intercept))

    @property
    def logging(self) -> bool:
        """Whether every single mistake is wanted."""
        return self.settings.record or self.settings.keep == "pocket"

    def logs(self, *shape: int) -> Log:
        """Room for mistakes, if anyone wants to know them."""
        size = shape if self.logging else (*shape[:-1], 0)
        return Log(np.empty(size, np.int64), np.empty(size), np.empty(size))

    def take(self, p: Problem, piece: Piece, before: Any, log: Log, count: int) -> None:
        """Book `count` mistakes made on a piece, where theta was `before`."""
        if self.settings.record:
            p.note(log, count, piece.start, p.n_updates + np.arange(count))
        p.mistakes[-1] += count
        p.n_updates += count
        if p.pocket is not None:
            p.pocket.follow(piece.block.rows, log.row[:count], log.step[:count], before)

    def watch_of(self, p: Problem) -> Watch:
        """The problem's list of possible mistakes."""
        if p.watch is None:
            p.watch = Watch(self.scanner, p.positive)
        return p.watch

    def possible_mistakes(self, p: Problem) -> NDArray[np.int64]:
        """Rows in order, among them every mistake of theta."""
        return self.watch_of(p).covering(p.theta, p.changes[-1] if p.changes else 0.0)

    def separates(self, problem: Problem) -> bool:
        """After a pass over samples drawn with replacement, look at those not drawn."""
        if problem.mistakes[-1] or self.settings.order != "sampled":
            return problem.mistakes[-1] == 0
        return not self.scanner.find(problem.positive, problem.theta, 0.0).size


class Online(Sequential):
    """``order`` cyclic, shuffled or sampled."""

    def epoch(self, problems: list[Problem], order: NDArray[np.int64]) -> None:
        """Visit the rows in the given order; every problem for itself, all in one pass."""
        if len(problems) == 1 and self._watchable(problems[0], order):
            self._walk(problems[0], order)
        else:  # one pass that serves them all beats lists for each
            self._pass(problems, order, 0)
        for p in problems:
            p.visits, p.within = p.visits + self.source.n_rows, 0

    def _watchable(self, p: Problem, order: NDArray[np.int64]) -> bool:
        scattered = order.size and next(iter(self.source.pieces(order))).length < order.size
        if scattered or len(p.changes) == 0:
            return False
        return self.watch_of(p).ready(p.mistakes[-2], p.changes[-1])

    def _pass(self, problems: list[Problem], order: NDArray[np.int64], first: int) -> None:
        """Look at every row from position `first` on."""
        per_row = max(1, self.source.n_entries // self.source.n_rows)
        tile = self.source.n_rows if len(problems) == 1 else max(1, TILE // per_row)
        groups = [problems[k :: self.team.size] for k in range(self.team.size)]
        for piece in self.source.pieces(order):
            begin = max(first - piece.offset, 0)
            for a, z in self.segments(begin, piece.length, len(problems) if self.logging else 1):

                def work(
                    group: list[Problem], piece: Piece = piece, a: int = a, z: int = z
                ) -> None:
                    self._pass_group(group, piece, a, z, tile)

                self.team.each(work, [group for group in groups if group])
                self.look_up()

    def _pass_group(self, group: list[Problem], piece: Piece, a: int, z: int, tile: int) -> None:
        before = np.stack([p.theta for p in group])
        thetas, lags = before.copy(), np.stack([p.lag for p in group])
        logs, counts = self.logs(len(group), z - a), np.zeros(len(group), np.int64)
        positives = np.array([p.positive for p in group])
        clocks = np.array([p.visits for p in group])
        visit = Visit(piece.order, IN_ORDER, a, z, piece.offset)
        online_problems(
            piece.block, positives, visit, thetas, self.step, clocks, lags, logs, counts, tile
        )
        for k, p in enumerate(group):
            p.theta, p.lag, p.within = thetas[k], lags[k], piece.offset + z
            self.take(p, piece, before[k], Log(*(part[k] for part in logs)), int(counts[k]))

    def _walk(self, p: Problem, order: NDArray[np.int64]) -> None:
        """Look only at rows that can be mistakes; the same mistakes as `_pass` makes."""
        watch, position = self.watch_of(p), 0
        while position < self.source.n_rows:
            if not watch.holds(p.theta) and not watch.renew(p.theta):
                self._pass([p], order, position)
                return
            position = self._walk_on(p, watch, order, position)

    def _walk_on(self, p: Problem, watch: Watch, order: NDArray[np.int64], first: int) -> int:
        """Walk from position `first` until the epoch or the list's validity ends; return where."""
        assert watch.tether is not None
        positions = watch.rows
        if order.size:
            listed = np.zeros(self.source.n_rows, bool)
            listed[watch.rows] = True
            positions = np.flatnonzero(listed[order])
        for piece in self.source.pieces(order):
            edges = max(first, piece.offset), piece.offset + piece.length
            a, z = np.searchsorted(positions, edges)
            part = positions[a:z] - piece.offset
            for k, last in self.segments(0, len(part)):
                visit = Visit(piece.order, part, k, last, p.visits + piece.offset)
                log, before = self.logs(last - k), p.theta.copy()
                reached, count = online(
                    piece.block, p.positive, visit, p.theta, self.step, watch.tether, p.lag, log
                )
                self.take(p, piece, before, log, count)
                p.within = piece.offset + int(part[reached - 1]) + 1
                self.look_up()
                if not watch.holds(p.theta):
                    watch.passed(p.within - first, p.theta)
                    return p.within
        watch.passed(self.source.n_rows - first, p.theta)
        return self.source.n_rows


class Picked(Sequential):
    """``order`` random-mistake or worst-mistake: an epoch picks one of the current mistakes."""

    def epoch(self, problems: list[Problem], order: NDArray[np.int64]) -> None:
        """Find the mistakes, pick one, update."""
        for p in problems:
            self._pick(p)
            self.look_up()

    def _pick(self, p: Problem) -> None:
        rows, values = self._mistakes(p)
        if rows.size:
            worst = self.settings.order == "worst-mistake"
            chosen = int(rows[np.argmin(values) if worst else p.rng.integers(rows.size)])
            piece = next(q for q in self.source.pieces() if q.start + q.length > chosen)
            here = np.array([chosen - piece.start])
            visit = Visit(here, IN_ORDER, 0, 1, p.visits)
            log, before = self.logs(1), p.theta.copy()
            free = Tether(p.theta, np.inf)
            online(piece.block, p.positive, visit, p.theta, self.step, free, p.lag, log)
            self.take(p, piece, before, log, 1)
        p.visits += 1

    def _mistakes(self, p: Problem) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All rows that are mistakes now, and ``y(w·x + b)`` of each."""
        rows, total = self.possible_mistakes(p), 0
        found, values = np.empty(len(rows), np.int64), np.empty(len(rows))
        for piece in self.source.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            part = rows[a:z] - piece.start
            rest = found[total:], values[total:]
            count = mistakes_among(piece.block, p.positive, p.theta, part, *rest)
            found[total : total + count] += piece.start
            total += count
        return found[:total], values[:total]

"""The training of hyperplanes, whatever the rule: changes, cycles, traces."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.rows import row_weights
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.perceptron.pocket import Pocket
from rosenblatt.results import Cycle, Fit, Hyperplane, StopReason, Trace, Updates
from rosenblatt.running.run import Course, Run
from rosenblatt.running.scanner import Scanner, exact_decisions
from rosenblatt.running.stopping import CycleFinder
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Source
    from rosenblatt.perceptron.loops import Log
    from rosenblatt.perceptron.possible_mistakes import Watch
    from rosenblatt.running.run import Settings
    from rosenblatt.running.threads import Team

    Floats = NDArray[np.float64]

HISTORY = ("mistakes", "changes", "seconds", "losses", "pocket_errors", "records")
SEGMENT = 1 << 23  # numbers to read between two looks at the clock and at Ctrl-C


@dataclass(kw_only=True, eq=False)
class Problem(Course):
    """A two-class problem with its hyperplane.

    `theta`, `lag`, the visits, the counts and the generator are the state that a later run needs
    to go on; `watch` and `cycles` only serve the present run.
    """

    theta: Floats
    start: Floats
    lag: Floats = field(default_factory=lambda: np.empty(0))
    losses: list[float] = field(default_factory=list)
    pocket: Pocket | None = None
    watch: Watch | None = None

    def note(self, log: Log, count: int, start: int, updates: NDArray[np.int64] | int) -> None:
        """Keep the first `count` entries of a log, for rows that begin at row `start`."""
        update = np.broadcast_to(updates, count)
        rows, values, steps = (part[:count].copy() for part in log)
        self.records.append(
            (np.full(count, len(self.mistakes)), rows + start, values, steps, update)
        )

    def ready_for(self, settings: Settings) -> Problem:
        """Return a copy to go on with: what fails half-way leaves the original as it was."""
        p = replace(self, theta=self.theta.copy(), lag=self.lag.copy(), stop=None, cycle=None)
        for name in HISTORY:
            setattr(p, name, list(getattr(self, name)))
        if settings.keep != "average":
            p.lag = np.empty(0)
        elif not p.lag.size:
            p.lag, p.visits = np.zeros_like(p.theta), 0
        if not settings.fit_intercept:
            p.theta[-1:], p.lag[-1:] = 0.0, 0.0
        return p

    def at_rest(self) -> Problem:
        """Return it without what only serves a run and keeps the data in memory."""
        return replace(self, pocket=None, watch=None, cycles=None)

    def average(self) -> Floats:
        """Mean of theta after every visit."""
        return self.theta - self.lag / max(self.visits + self.within, 1)


class Training(Run[Problem]):
    """A run over a source of rows; a subclass says how an epoch moves the hyperplanes."""

    looks_for_cycles = True

    def __init__(
        self,
        source: Source,
        settings: Settings,
        problems: list[Problem],
        team: Team,
        callback: Callable[[int, list[Problem]], None] | None = None,
    ) -> None:
        super().__init__(settings, problems, source.n_rows, callback)
        self.source, self.team = source, team
        self.scanner = Scanner(source, team, float(settings.fit_intercept))
        per_row = max(1, source.n_entries // source.n_rows)
        self.segment = max(64, SEGMENT // per_row)

    def prepare(self, stack: ExitStack) -> None:
        """Judge the start vectors, if the best is to be kept."""
        if self.settings.keep == "pocket":
            # The threads of the team multiply matrices: BLAS must not add its own.
            stack.enter_context(one_blas_thread())
            for p in self.problems:
                p.pocket = Pocket(self.scanner, p.positive, p.theta, self.look_up)

    @abstractmethod
    def epoch(self, problems: list[Problem], order: NDArray[np.int64]) -> None:
        """Take every problem once through the data; add to the last entry of its `mistakes`."""

    def separates(self, problem: Problem) -> bool:
        """Whether an epoch without mistakes proves that no row is a mistake."""
        return problem.mistakes[-1] == 0

    def segments(self, start: int, stop: int, share: int = 1) -> Iterator[tuple[int, int]]:
        """`start` to `stop` in steps short enough to look up between them.

        Steps are shorter by the factor `share` where that many need memory for each row.
        """
        step = max(64, self.segment // share)
        for a in range(start, stop, step):
            yield a, min(a + step, stop)

    def one_epoch(self, running: list[Problem]) -> None:
        """Take every problem once through the data, and see whether it is done."""
        before = [p.theta.copy() for p in running]
        for p in running:
            p.mistakes.append(0)
        try:
            self.epoch(running, self.draw_order())
        finally:  # a run that is halted half-way still has a whole trace
            for p, theta in zip(running, before, strict=True):
                with np.errstate(over="ignore", invalid="ignore"):
                    p.changes.append(float(np.linalg.norm(p.theta - theta)))
                p.seconds.append(time.perf_counter() - self.began)
                if p.pocket is not None:
                    p.pocket.flush()
                    p.pocket_errors.append(p.pocket.errors)
        for p in running:
            if not np.isfinite(p.theta).all():
                msg = (
                    "the weights have grown beyond what floating point can hold: "
                    "scale the features, or give smaller weights or a smaller eta0"
                )
                raise ValueError(msg)
            p.stop = self._reason(p)

    def _reason(self, p: Problem) -> StopReason | None:
        if self.separates(p):
            return StopReason.SEPARATED if self._really(p) else StopReason.ROUNDING
        if self.settings.tol is not None and p.changes[-1] < self.settings.tol:
            return StopReason.SMALL_CHANGE
        if self.looks_for_cycles and self.settings.order in ("cyclic", "worst-mistake"):
            p.cycle = self._find_cycle(p)
            if p.cycle is not None:
                return StopReason.CYCLE
        return None

    def _really(self, p: Problem) -> bool:
        """Whether theta separates the rows in exact arithmetic as well."""
        for piece in self.source.pieces():
            for a, z in self.segments(0, piece.length):
                values = exact_decisions(piece.block.rows, p.theta[np.newaxis], (a, z), self.team)
                own = piece.block.label[a:z] == p.positive
                wrong = np.flatnonzero(np.where(own, values[:, 0] <= 0, values[:, 0] >= 0))
                if wrong.size and row_weights(piece.block, p.positive, wrong + a).any():
                    return False
        return True

    def _find_cycle(self, p: Problem) -> Cycle | None:
        if p.cycles is None:
            p.cycles = CycleFinder()
            if len(p.mistakes) == 1:
                p.cycles.met_before(p.start, 0)
        epoch = len(p.mistakes)
        first = p.cycles.met_before(p.theta, epoch)
        if first is None:
            return None
        again = Problem(positive=p.positive, theta=p.theta.copy(), start=p.start, rng=p.rng)
        for _ in range(epoch - first):
            again.mistakes.append(0)
            self.epoch([again], IN_ORDER)
        return Cycle(first, epoch - first) if np.array_equal(again.theta, p.theta) else None

    def fits(self) -> tuple[Fit, ...]:
        """What came of each problem."""
        return tuple(self._fit(p) for p in self.problems)

    def _fit(self, p: Problem) -> Fit:
        assert p.stop is not None
        kept = p.average() if self.settings.keep == "average" else p.theta
        if p.pocket is not None:
            kept = p.pocket.theta
        return Fit(
            hyperplane=Hyperplane(kept[:-1], kept[-1]),
            last=Hyperplane(p.theta[:-1], p.theta[-1]),
            stop_reason=p.stop,
            n_mistakes=sum(p.mistakes),
            n_updates=p.n_updates,
            n_epochs=len(p.mistakes),
            trace=Trace(
                mistakes=np.array(p.mistakes, np.int64),
                change=np.array(p.changes),
                seconds=np.array(p.seconds),
                loss=np.array(p.losses) if p.losses else None,
                pocket_errors=np.array(p.pocket_errors) if p.pocket is not None else None,
                updates=self._updates(p) if self.settings.record else None,
            ),
            certificate=p.cycle,
        )

    def _updates(self, p: Problem) -> Updates:
        none = (np.empty(0, np.int64),) * 2 + (np.empty(0),) * 2 + (np.empty(0, np.int64),)
        columns = zip(none, *p.records, strict=True)
        whole = [np.concatenate(parts) for parts in columns]
        made = whole[-1] < p.n_updates  # a run that is halted in a batch does not make its update
        p.records = [tuple(column[made] for column in whole)]
        epoch, sample, value, step, update = p.records[0]
        return Updates(
            epoch=epoch,
            sample=sample,
            value=value,
            step=step,
            update=update,
            start=Hyperplane(p.start[:-1], p.start[-1]),
            eta=1.0 if self.settings.update == "online" else self.settings.eta,
            fit_intercept=self.settings.fit_intercept,
        )

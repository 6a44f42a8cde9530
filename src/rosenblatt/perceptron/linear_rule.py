"""What the rules that move hyperplanes share: changes, cycles, the pocket, traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rosenblatt.data.rows import row_weights
from rosenblatt.data.sources import IN_ORDER, copied
from rosenblatt.perceptron.loops import Log, Step
from rosenblatt.perceptron.pocket import Pocket
from rosenblatt.perceptron.possible_mistakes import PossibleMistakes
from rosenblatt.results import Cycle, Fit, Hyperplane, StopReason, Updates
from rosenblatt.running.run import NO_RECORD, TwoClassProblem, joined
from rosenblatt.running.scanner import Scanner, exact_decisions
from rosenblatt.running.stopping import CycleFinder
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.run import Settings
    from rosenblatt.running.threads import Team


SEGMENT = 1 << 23  # numbers to read between two looks at the clock and at Ctrl-C


@dataclass(kw_only=True, eq=False)
class LinearProblem(TwoClassProblem):
    """A two-class problem with its hyperplane.

    `theta`, `lag`, the visits, the counts and the generator are the state that a later run needs
    to go on; `possible` and `cycles` only serve the present run.
    """

    theta: Floats
    start: Floats
    lag: Floats = field(default_factory=lambda: np.empty(0))
    losses: list[float] = field(default_factory=list)
    pocket: Pocket | None = None
    possible: PossibleMistakes | None = None

    formerly: ClassVar = {"Problem": "LinearProblem", "watch": "possible"}  # in model files

    def note(self, log: Log, count: int, start: int, updates: NDArray[np.int64] | int) -> None:
        """Keep the first `count` entries of a log, for rows that begin at row `start`."""
        update = np.broadcast_to(updates, count)
        rows, values, steps = (part[:count].copy() for part in log)
        self.records.append(
            (np.full(count, len(self.mistakes)), rows + start, values, steps, update)
        )

    def ready_for(self, settings: Settings) -> LinearProblem:
        """Return a copy to go on with."""
        p = replace(self.ready(), theta=self.theta.copy(), lag=self.lag.copy())
        if settings.keep != "average":
            p.lag = np.empty(0)
        elif not p.lag.size:
            p.lag, p.visits = np.zeros_like(p.theta), 0
        if not settings.fit_intercept:
            p.theta[-1:], p.lag[-1:] = 0.0, 0.0
        return p

    def at_rest(self) -> LinearProblem:
        """Return it without what only serves a run and keeps the data in memory."""
        return replace(self, pocket=None, possible=None, cycles=None)

    def average(self) -> Floats:
        """Mean of theta after every visit."""
        return self.theta - self.lag / max(self.visits + self.within, 1)


class LinearRule(ABC):
    """A rule that moves hyperplanes over a source of rows; a subclass says what an epoch does."""

    looks_for_cycles = True
    stops_together = False

    def __init__(self, source: Source, settings: Settings, team: Team) -> None:
        self.source, self.settings, self.team = source, settings, team
        self.n_rows = source.n_rows
        self.scanner = Scanner(source, team, float(settings.fit_intercept))
        self.step = Step(settings.eta, float(settings.fit_intercept))
        self.logging = settings.record or settings.keep == "pocket"  # of every single mistake
        per_row = max(1, source.n_entries // source.n_rows)
        self.segment = max(64, SEGMENT // per_row)
        self.before: list[Floats] = []

    def prepare(
        self, problems: list[LinearProblem], look_up: Callable[[], None], stack: ExitStack
    ) -> None:
        """Judge the start vectors, if the best is to be kept."""
        self.look_up, self.positives = look_up, [p.positive for p in problems]
        self.pockets: list[Pocket] = []
        if self.settings.keep == "pocket":
            # The threads of the team multiply matrices: BLAS must not add its own.
            stack.enter_context(one_blas_thread())
            for p in problems:
                p.pocket = Pocket(self.scanner, p.positive, p.theta, look_up)
                self.pockets.append(p.pocket)

    def begin(self, running: list[LinearProblem]) -> None:
        """Remember where the hyperplanes stand."""
        self.before = [p.theta.copy() for p in running]

    @abstractmethod
    def epoch(self, problems: list[LinearProblem], order: NDArray[np.int64]) -> None:
        """Take every problem once through the data; add to the last entry of its `mistakes`."""

    def end(self, running: list[LinearProblem]) -> Sequence[float]:
        """Judge what waits for the pocket; how far each hyperplane has moved."""
        for p in running:
            if p.pocket is not None:
                p.pocket.flush()
                p.pocket_errors.append(p.pocket.errors)
        with np.errstate(over="ignore", invalid="ignore"):
            return [
                float(np.linalg.norm(p.theta - theta))
                for p, theta in zip(running, self.before, strict=True)
            ]

    def finishing(self, seconds: float) -> float:
        """Seconds, at the pace so far, to judge what waits for the pockets."""
        return sum(pocket.flushing() for pocket in self.pockets)

    def pieces(self, order: NDArray[np.int64] = IN_ORDER) -> Iterator[Piece]:
        """The data in this order.

        While they learn from one block pockets pass over all: of a stream it has to be a copy.
        """
        pieces = self.source.pieces(order)
        if self.settings.keep != "pocket" or self.source.resident:
            return pieces
        d = self.source.n_features
        return (piece._replace(block=copied(piece.block, d)) for piece in pieces)

    def parts(
        self, order: NDArray[np.int64], first: int = 0, share: int = 1
    ) -> Iterator[tuple[Piece, int, int]]:
        """The epoch from position `first` on, in steps short enough to look up between them.

        Steps are shorter by the factor `share` where that many need memory for each row.
        """
        for piece in self.pieces(order) if first < self.n_rows else ():
            begin = max(first - piece.offset, 0)
            for a, z in self.segments(begin, piece.length, share):
                yield piece, a, z

    def segments(self, start: int, stop: int, share: int = 1) -> Iterator[tuple[int, int]]:
        """`start` to `stop` in such steps."""
        step = max(64, self.segment // share)
        for a in range(start, stop, step):
            yield a, min(a + step, stop)

    def listed(self, rows: NDArray[np.int64]) -> Iterator[tuple[Piece, NDArray[np.int64]]]:
        """Each block, and which of the listed rows, numbered within, are in it."""
        for piece in self.source.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            yield piece, rows[a:z] - piece.start

    def log(self, *shape: int) -> Log:
        """Room for mistakes, if anyone wants to know them."""
        size = shape if self.logging else (*shape[:-1], 0)
        return Log(np.empty(size, np.int64), np.empty(size), np.empty(size))

    def book(self, p: LinearProblem, piece: Piece, before: Floats, log: Log, count: int) -> None:
        """Book `count` updates made on a piece, where theta was `before`."""
        if self.settings.record:
            p.note(log, count, piece.start, p.n_updates + np.arange(count))
        p.mistakes[-1] += count
        p.n_updates += count
        if p.pocket is not None:
            p.pocket.follow(piece.block.rows, log.row[:count], log.step[:count], before)

    def possible(self, p: LinearProblem) -> PossibleMistakes:
        """The problem's list of possible mistakes."""
        if p.possible is None:
            p.possible = PossibleMistakes(self.scanner, p.positive)
        return p.possible

    def rows_in_question(self, p: LinearProblem) -> NDArray[np.int64]:
        """Rows in order, among them every mistake of theta."""
        return self.possible(p).covering(p.theta, p.changes[-1] if p.changes else 0.0)

    def separates(self, p: LinearProblem) -> bool:
        """Whether an epoch without mistakes proves that no row is a mistake.

        After a pass over samples drawn with replacement, look at those not drawn.
        """
        if p.mistakes[-1] or self.settings.order != "sampled":
            return p.mistakes[-1] == 0
        return not self.scanner.find(p.positive, p.theta, 0.0).size

    def reason(self, p: LinearProblem) -> StopReason | None:
        """Why the problem stops after this epoch, if it does."""
        if not np.isfinite(p.theta).all():
            msg = (
                "the weights have grown beyond what floating point can hold: "
                "scale the features, or give smaller weights or a smaller eta0"
            )
            raise ValueError(msg)
        if p.pocket is not None and p.pocket.behind:
            return None  # the time was over first
        if self.separates(p):
            return StopReason.SEPARATED if self._really(p) else StopReason.ROUNDING
        if self.settings.tol is not None and p.changes[-1] < self.settings.tol:
            return StopReason.SMALL_CHANGE
        if self.looks_for_cycles and self.settings.order in ("cyclic", "worst-mistake"):
            p.cycle = self._find_cycle(p)
            if p.cycle is not None:
                return StopReason.CYCLE
        return None

    def _really(self, p: LinearProblem) -> bool:
        """Whether theta separates the rows in exact arithmetic as well."""
        for piece, a, z in self.parts(IN_ORDER):
            values = exact_decisions(piece.block.rows, p.theta[np.newaxis], (a, z), self.team)
            own = piece.block.label[a:z] == p.positive
            wrong = np.flatnonzero(np.where(own, values[:, 0] <= 0, values[:, 0] >= 0))
            if wrong.size and row_weights(piece.block, p.positive, wrong + a).any():
                return False
        return True

    def _find_cycle(self, p: LinearProblem) -> Cycle | None:
        if p.cycles is None:
            p.cycles = CycleFinder()
            if len(p.mistakes) == 1:
                p.cycles.met_before(p.start, 0)
        epoch = len(p.mistakes)
        first = p.cycles.met_before(p.theta, epoch)
        if first is None:
            return None
        again = LinearProblem(positive=p.positive, theta=p.theta.copy(), start=p.start, rng=p.rng)
        for _ in range(epoch - first):
            again.mistakes.append(0)
            self.epoch([again], IN_ORDER)
        return Cycle(first, epoch - first) if np.array_equal(again.theta, p.theta) else None


def fit_of(p: LinearProblem, settings: Settings) -> Fit:
    """What came of a problem."""
    kept = p.average() if settings.keep == "average" else p.theta
    if p.pocket is not None:
        kept = p.pocket.theta
    return Fit(
        hyperplane=Hyperplane(kept[:-1], kept[-1]),
        last=Hyperplane(p.theta[:-1], p.theta[-1]),
        **p.outcome(settings, _updates(p, settings) if settings.record else None),
    )


def _updates(p: LinearProblem, settings: Settings) -> Updates:
    whole = joined(NO_RECORD, p.records)
    made = whole[-1] < p.n_updates  # a run that is halted in a batch does not make its update
    p.records = [tuple(column[made] for column in whole)]
    epoch, sample, value, step, update = p.records[0]
    return Updates(
        *(epoch, sample, value, step, update),
        start=Hyperplane(p.start[:-1], p.start[-1]),
        eta=1.0 if settings.update == "online" else settings.eta,
        fit_intercept=settings.fit_intercept,
    )

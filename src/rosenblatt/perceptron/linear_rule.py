"""What the rules that move hyperplanes share: possible mistakes, changes, cycles, traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rosenblatt.data.dots import aligned
from rosenblatt.data.rows import n_entries, row_weights
from rosenblatt.data.sources import IN_ORDER, copied, map_pieces
from rosenblatt.perceptron.loops import Log, Step, Tether
from rosenblatt.perceptron.pocket import Pocket
from rosenblatt.results import Cycle, Fit, Hyperplane, StopReason, Updates
from rosenblatt.running.problems import (
    NO_RECORD,
    CycleFinder,
    TwoClassProblem,
    joined,
    saved_array,
)
from rosenblatt.running.scanner import Scanner, drift, exact_decisions, mistakes_among
from rosenblatt.running.threads import Team, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import ExitStack

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece, Source
    from rosenblatt.running.problems import Settings
    from rosenblatt.running.run import Run


SEGMENT = 1 << 23  # numbers to read between two looks at the clock and at Ctrl-C
FEW_MISTAKES = 0.02  # share of rows above which no list is tried
EPOCHS = (1, 2, 4, 8, 16, 32, 64)  # how long a list may be meant to last
SCAN, WALK = 1.1, 2.0  # cost of a row, in dot products, when listing and when fetching it alone
START = 1 << 16  # cost of beginning a list, in numbers to read
MOST_COST = 0.5  # share of a plain epoch's cost that a list may cost
PER_MISTAKE = 1 << 16  # numbers to read for each mistake, from which on scouts pay
AT_A_TIME = 1 << 15  # rows of a thread whose values are looked at


@dataclass(kw_only=True, eq=False)
class LinearProblem(TwoClassProblem):
    """A problem with its hyperplane; or with several, where all classes are one problem.

    Several stand in `theta` one after the other. `theta`, `lag`, the visits, the counts and the
    generator are the state that a later run needs to go on; `possible` and `cycles` only serve the
    present run.
    """

    theta: Floats
    start: Floats
    lag: Floats = field(default_factory=lambda: np.empty(0))
    losses: list[float] = field(default_factory=list)
    pocket: Pocket | None = None
    possible: PossibleMistakes | None = None
    n_planes: int = 1

    formerly: ClassVar = {"Problem": "LinearProblem", "watch": "possible"}  # in model files
    lists: ClassVar = {**TwoClassProblem.lists, "losses": float}

    def note(self, log: Any, count: int, start: int, updates: Ints | int) -> None:
        """Keep the first `count` entries of a log, for rows that begin at row `start`."""
        update = np.broadcast_to(updates, count)
        rows, values, steps, *sides = (part[:count].copy() for part in log)
        epoch = np.full(count, len(self.mistakes))
        self.records.append((epoch, rows + start, values, steps, update, *sides))

    def ready_for(self, settings: Settings) -> LinearProblem:
        """Return a copy to go on with."""
        theta = aligned([self.theta])[0, : len(self.theta)]
        p = replace(self.ready(), theta=theta, lag=self.lag.copy())
        if not settings.averaging:
            p.lag = np.empty(0)
        elif not p.lag.size:
            p.lag, p.visits = np.zeros_like(p.theta), 0
        if not settings.fit_intercept:
            size = len(p.theta) // p.n_planes
            p.theta[size - 1 :: size], p.lag[size - 1 :: size] = 0.0, 0.0
        return p

    def afresh(self) -> LinearProblem:
        """Return one that begins where this one stands."""
        return LinearProblem(
            positive=self.positive,
            theta=self.theta.copy(),
            start=self.start,
            rng=self.rng,
            n_planes=self.n_planes,
        )

    def at_rest(self) -> LinearProblem:
        """Return it without what only serves a run and keeps the data in memory."""
        return replace(self, pocket=None, possible=None, cycles=None)

    def state(self) -> dict[str, Any]:
        """What a run needs to go on with it, as plain values."""
        pocket = None if self.pocket is None else self.pocket.state()
        return {**super().state(), "theta": self.theta, "lag": self.lag, "pocket": pocket}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""
        super().restore(state)
        self.theta = saved_array(state["theta"], np.float64, self.theta.shape)
        self.lag = saved_array(state["lag"], np.float64, self.lag.shape)
        if self.pocket is not None:
            self.pocket.restore(state["pocket"])

    def planes(self, theta: Floats) -> tuple[Hyperplane, ...]:
        """A vector of this problem as the hyperplanes that it stands for."""
        return tuple(Hyperplane(part[:-1], part[-1]) for part in np.split(theta, self.n_planes))

    def average(self) -> Floats:
        """Mean of theta after every visit."""
        return self.theta - self.lag / max(self.visits + self.within, 1)


class LinearRule(ABC):
    """A rule that moves hyperplanes over a source of rows; a subclass says what an epoch does."""

    looks_for_cycles = True
    stops_together = False
    lasts = False

    def __init__(self, source: Source, settings: Settings, team: Team) -> None:
        self.source, self.settings, self.team = source, settings, team
        n = self.n_rows = source.n_rows
        self.n_features = source.n_features
        sizes = {"batch": n, "minibatch": min(settings.batch_size or n, n)}
        self.batch_size = sizes.get(settings.update, 1)
        bias, zero = float(settings.fit_intercept), float(settings.at_zero or 0)
        self.scanner = Scanner(source, team, bias)
        self.step = Step(settings.eta, bias, zero)
        self.logging = settings.record or settings.keep == "pocket"  # of every single mistake
        self.per_row = max(1, source.n_entries // source.n_rows)  # numbers, about
        self.segment = max(64, SEGMENT // self.per_row)
        self.before: list[Floats] = []
        self.middle: dict[str, Any] | None = None  # of an epoch to go on with

    def prepare(
        self, problems: list[LinearProblem], run: Run[LinearProblem], stack: ExitStack
    ) -> None:
        """Judge the start vectors, if the best is to be kept."""
        self.look_up, self.pause = run.look_up, run.pause
        self.positives = [p.positive for p in problems]
        self.pockets: list[Pocket] = []
        if self.settings.keep == "pocket":
            # The threads of the team multiply matrices: BLAS must not add its own.
            stack.enter_context(one_blas_thread())
            for p in problems:
                p.pocket = self.new_pocket(p)
                self.pockets.append(p.pocket)

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        judging = self.look_up, self.pause, self.step.at_zero
        return Pocket(self.scanner, p.positive, p.theta, *judging)

    def begin(self, running: list[LinearProblem]) -> None:
        """Remember where the hyperplanes stand."""
        self.before, self.middle = [p.theta.copy() for p in running], None

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on, beside the problems."""
        return {"before": np.array(self.before)}

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        size = len(running), len(running[0].theta)
        self.before, self.middle = list(saved_array(state["before"], np.float64, size)), state

    @abstractmethod
    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Take every problem once through the data; add to the last entry of its `mistakes`."""

    def end(self, running: list[LinearProblem]) -> Sequence[float]:
        """Judge what waits for the pocket; how far each hyperplane has moved."""
        pockets = [(p, p.pocket) for p in running if p.pocket is not None]
        for _, pocket in pockets:
            pocket.flush()
        for p, pocket in pockets:
            p.pocket_errors.append(pocket.errors)
        with np.errstate(over="ignore", invalid="ignore"):
            return [
                float(np.linalg.norm(p.theta - theta))
                for p, theta in zip(running, self.before, strict=True)
            ]

    def finishing(self, seconds: float) -> float:
        """Seconds, at the pace so far, to judge what waits for the pockets."""
        return sum(pocket.flushing() for pocket in self.pockets)

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """The data in this order.

        While they learn from one block pockets pass over all: of a stream it has to be a copy.
        """
        pieces = self.source.pieces(order)
        if self.settings.keep != "pocket" or self.source.lasting:
            return pieces
        d = self.source.n_features
        return (piece._replace(block=copied(piece.block, d)) for piece in pieces)

    def parts(
        self, order: Order, first: int = 0, share: float = 1, stop: int | None = None
    ) -> Iterator[tuple[Piece, int, int]]:
        """The epoch from position `first` to `stop`, in steps short enough to look up between.

        Steps are shorter by the factor `share` where that many need memory for each row.
        """
        stop = self.n_rows if stop is None else stop
        for piece in self.pieces(order) if first < stop else ():
            begin, end = max(first - piece.offset, 0), min(stop - piece.offset, piece.length)
            for a, z in self.segments(begin, end, share):
                yield piece, a, z

    def segments(self, start: int, stop: int, share: float = 1) -> Iterator[tuple[int, int]]:
        """`start` to `stop` in such steps."""
        step = max(64, int(self.segment / share))
        for a in range(start, stop, step):
            yield a, min(a + step, stop)

    def listed(self, rows: Ints) -> Iterator[tuple[Piece, Ints]]:
        """Each block, and which of the listed rows, numbered within, are in it."""
        for piece in self.source.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            yield piece, rows[a:z] - piece.start

    def log(self, *shape: int) -> Any:
        """Room for mistakes, if anyone wants to know them."""
        size = shape if self.logging else (*shape[:-1], 0)
        return Log(np.empty(size, np.int64), np.empty(size), np.empty(size))

    def book(self, p: LinearProblem, piece: Piece, before: Floats, log: Any, count: int) -> None:
        """Book `count` updates made on a piece, where theta was `before`."""
        if self.settings.record:
            p.note(log, count, piece.start, p.n_updates + np.arange(count))
        p.mistakes[-1] += count
        p.n_updates += count
        if p.pocket is not None:
            found = type(log)(*(part[:count] for part in log))
            p.pocket.follow(piece.block.rows, found, before, piece.start + found.row)

    def possible(self, p: LinearProblem) -> PossibleMistakes:
        """The problem's list of possible mistakes."""
        if p.possible is None:
            p.possible = PossibleMistakes(self.scanner, p.positive)
        return p.possible

    def rows_in_question(self, p: LinearProblem) -> Ints:
        """Rows in order, among them every mistake of theta."""
        return self.possible(p).covering(p.theta, p.changes[-1] if p.changes else 0.0)

    def mistakes_in(self, p: LinearProblem, rows: Ints) -> tuple[Ints, Floats]:
        """Which of the rows, all with a weight, are mistakes now, and ``y(w·x + b)`` of each."""
        total, zero = 0, self.step.at_zero
        found, values = np.empty(len(rows), np.int64), np.empty(len(rows))
        for piece, part in self.listed(rows):
            rest = found[total:], values[total:]
            count = mistakes_among(piece.block, p.positive, p.theta, zero, part, *rest)
            found[total : total + count] += piece.start
            total += count
        return found[:total], values[:total]

    def separates(self, p: LinearProblem) -> bool:
        """Whether an epoch without mistakes proves that no row is a mistake.

        After a pass over samples drawn with replacement, look at those not drawn.
        """
        if p.mistakes[-1] or self.settings.order != "sampled":
            return p.mistakes[-1] == 0
        return not self.mistakes_in(p, self.scanner.find(p.positive, p.theta, 0.0))[0].size

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
            return self._without_mistakes(p)
        if self.settings.tol is not None and p.changes[-1] < self.settings.tol:
            return StopReason.SMALL_CHANGE
        if self.looks_for_cycles and self.settings.order in ("cyclic", "worst-mistake"):
            p.cycle = self._find_cycle(p)
            if p.cycle is not None:
                return StopReason.CYCLE
        return None

    def _without_mistakes(self, p: LinearProblem) -> StopReason:
        """What an epoch without mistakes comes to in exact arithmetic."""
        task = partial(_not_right, p.theta, p.positive, self.step.at_zero)
        reason = StopReason.SEPARATED
        for wrong, on_it in map_pieces(self.source, task, self.team):
            if wrong:
                return StopReason.ROUNDING
            if on_it:
                reason = StopReason.NO_MISTAKES
        return reason

    def _find_cycle(self, p: LinearProblem) -> Cycle | None:
        if p.cycles is None:
            p.cycles = CycleFinder()
            if len(p.mistakes) == 1:
                p.cycles.met_before(p.start, 0)
        epoch = len(p.mistakes)
        first = p.cycles.met_before(p.theta, epoch)
        if first is None:
            return None
        again = p.afresh()
        for _ in range(epoch - first):
            again.mistakes.append(0)
            self.epoch([again], IN_ORDER)
        return Cycle(first, epoch - first) if np.array_equal(again.theta, p.theta) else None


def _not_right(
    theta: Floats, positive: int, right_at: float, piece: Piece, team: Team
) -> tuple[bool, bool]:
    """Whether a block has rows on the wrong side; and on the hyperplane, where that is right."""
    block, alone = piece.block, Team(1)

    def look(span: tuple[int, int]) -> tuple[bool, bool]:
        on_it = False
        for a in range(*span, AT_A_TIME):
            z = min(a + AT_A_TIME, span[1])
            values = exact_decisions(block.rows, theta[np.newaxis], (a, z), alone)[:, 0]
            own = block.label[a:z] == positive
            doubtful = np.flatnonzero(((values > 0) != own) | (values == 0))
            if doubtful.size:
                doubtful = doubtful[row_weights(block, positive, doubtful + a) > 0]
            side = np.where(own[doubtful], 1.0, -1.0)
            if np.any((values[doubtful] != 0) | (side != right_at)):
                return True, on_it
            on_it = on_it or bool(doubtful.size)
        return False, on_it

    wrong, on_it = zip(
        *team.each(look, team.ranges(piece.length, n_entries(block.rows))), strict=True
    )
    return any(wrong), any(on_it)


def fit_of(p: LinearProblem, settings: Settings) -> Fit:
    """What came of a problem."""
    kept = p.average() if p.keeps_average(settings) else p.theta
    if p.pocket is not None:
        kept = p.pocket.theta
    return Fit(
        hyperplane=Hyperplane(kept[:-1], kept[-1]),
        last=Hyperplane(p.theta[:-1], p.theta[-1]),
        **p.outcome(settings, _updates(p, settings) if settings.record else None),
    )


def _updates(p: LinearProblem, settings: Settings) -> Updates:
    mixed = settings.update == "mixed"
    whole = joined((*NO_RECORD, np.empty(0, np.int64)) if mixed else NO_RECORD, p.records)
    made = whole[4] < p.n_updates  # a run that is halted in a batch does not make its update
    if mixed:
        made = by_shards(whole)
    p.records = [tuple(column[made] for column in whole)]
    epoch, sample, value, step, update, *shard = p.records[0]
    return Updates(
        *(epoch, sample, value, step, update),
        start=Hyperplane(p.start[:-1], p.start[-1]),
        eta=1.0 if settings.update in ("online", "mixed") else settings.eta,
        fit_intercept=settings.fit_intercept,
        shard=shard[0] if mixed else None,
        shards=settings.shards or 1,
        tile=settings.tile,
    )


def by_shards(record: tuple[Any, ...]) -> Ints:
    """The mistakes of a record in order: of an update those of each shard together."""
    *_, update, shard = record
    return np.lexsort((shard, update))


class PossibleMistakes:
    """Which rows can be mistakes at all, while the hyperplane stays near where it was measured.

    If ``y(θ·x̃) > r‖x̃‖`` then no ``θ'`` within r of θ makes row x̃ = (x, 1) a mistake, so an epoch
    need not look at it. One pass, on all threads, lists the other rows; the list is good until the
    hyperplane has moved by r. (Molecular dynamics keeps neighbour lists by the same argument:
    Verlet, Phys. Rev. 159, 1967.) Only dot products that cannot matter are left out: the mistakes
    are those of the plain loop, one for one.

    Whether a list pays is judged in dot products, never in seconds, so that a run is reproducible.
    """

    def __init__(self, scanner: Scanner, positive: int) -> None:
        self.scanner, self.positive = scanner, positive
        self.n = scanner.source.n_rows
        self.rows: Ints = np.empty(0, np.int64)
        self.tether: Tether | None = None
        self._speed = 0.0  # how far the hyperplane moves in an epoch
        self._passed = 0
        self._resting, self._rest = 0, 1
        self._plain = 1.0  # what an epoch without a list costs

    def ready(self, mistakes: int, change: float) -> bool:
        """Whether to try lists in the coming epoch, given what the last one was like."""
        self._speed = max(change, self._speed / 2)
        scouts = mistakes * PER_MISTAKE <= self.scanner.source.n_entries
        self._plain = 1 / self.scanner.team.size if scouts else 1.0
        if self._resting:
            self._resting -= 1
            return False
        return mistakes <= FEW_MISTAKES * self.n and bool(np.isfinite(self._speed))

    def holds(self, theta: Floats) -> bool:
        """Whether the list names every possible mistake of theta."""
        if self.tether is None:
            return False
        return bool(drift(theta, self.tether.center) < self.tether.reach)

    def passed(self, positions: int, theta: Floats) -> None:
        """Note how far the hyperplane has gone in how many positions."""
        assert self.tether is not None
        self._passed += positions
        moved = float(np.linalg.norm(theta - self.tether.center))
        self._speed = max(moved * self.n / max(self._passed, 1), self._speed / 2)

    def renew(self, theta: Floats) -> bool:
        """Make a list around theta; False (and rest) if none pays."""
        cost, reach = self._best(theta)
        if cost > MOST_COST * self._plain:
            self._resting, self._rest = self._rest, min(2 * self._rest, 32)
            return False
        self._rest = 1
        self._make(theta, reach)
        return True

    def covering(self, theta: Floats, change: float) -> Ints:
        """Rows among which are all mistakes of theta: at worst, these and no others."""
        if not self.holds(theta):
            self._speed = max(change, self._speed / 2)
            cost, reach = self._best(theta)
            self._make(theta, reach if cost < SCAN / self.scanner.team.size else 0.0)
        self.passed(self.n, theta)
        return self.rows

    def _best(self, theta: Floats) -> tuple[float, float]:
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

    def _make(self, theta: Floats, reach: float) -> None:
        guard = reach + float(drift(theta, theta)) if reach > 0 else 0.0
        self.rows = self.scanner.find(self.positive, theta, guard)
        self.tether, self._passed = Tether(theta.copy(), guard), 0

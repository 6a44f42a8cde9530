"""The run of a fit, whatever the rule: epochs, stop reasons, orders."""

from __future__ import annotations

import hashlib
import time
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.results import StopReason, Trace
from rosenblatt.running.clock import Cancel, Halt, catch_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results import Cycle, Mistakes


ORDERS = ("cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake")
PICKING = ORDERS[3:]  # from the present mistakes
# After these the last vector has every sample that takes part on its side.
WITHOUT_MISTAKES = (StopReason.SEPARATED, StopReason.NO_MISTAKES)


@dataclass(frozen=True)
class Settings:
    """How to train. Already validated; the words are those of the estimators' parameters."""

    update: str = "online"
    batch_size: int | None = None
    order: str = "cyclic"
    eta: float = 1.0
    fit_intercept: bool = True
    keep: str = "last"
    multiclass: str = "ovr"
    at_zero: int | None = None
    drop_after: int | None = None
    budget: int | None = None
    max_epochs: int = 1000
    max_time: float | None = None
    tol: float | None = None
    record: bool = False
    seed: int = 0

    @property
    def averaging(self) -> bool:
        """Whether the mean of the vectors may be wanted at the end."""
        return self.keep in ("average", "auto")

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed."""
        return replace(self, **changes)


def epoch_orders(order: str, n: int, seed: int, done: int = 0) -> Iterator[Ints]:
    """The n rows in the order of each epoch, after `done` of them; empty: as they stand."""
    rng = np.random.default_rng([seed, 1, done])
    while True:
        if order == "shuffled":
            yield rng.permutation(n)
        elif order == "sampled":
            yield rng.integers(0, n, n)
        else:
            yield IN_ORDER


class CycleFinder:
    """Remembers a digest of the weights after every epoch, to see whether a run repeats itself."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def met_before(self, theta: Floats, epoch: int) -> int | None:
        """The earlier epoch that ended with the same weights, as far as digests can tell."""
        state = theta + 0.0  # -0.0 and 0.0 are the same weight
        digest = hashlib.blake2b(state.tobytes(), digest_size=16).digest()
        first = self._seen.setdefault(digest, epoch)
        return first if first != epoch else None


@dataclass(kw_only=True, eq=False)
class TwoClassProblem:
    """One problem on its way, "class `positive` against the rest", and what has happened to it.

    `visits` are in whole epochs, and `within` the present one.
    """

    positive: int
    rng: np.random.Generator
    visits: int = 0
    within: int = 0
    n_updates: int = 0
    mistakes: list[int] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    pocket_errors: list[float] = field(default_factory=list)
    records: list[tuple[Any, ...]] = field(default_factory=list)
    cycles: CycleFinder | None = None
    cycle: Cycle | None = None
    stop: StopReason | None = None

    def ready(self) -> Self:
        """Return a copy to go on with: what fails half-way leaves the original as it was."""
        parts: dict[str, Any] = {k: list(v) for k, v in vars(self).items() if isinstance(v, list)}
        if self.mistakes:  # before, nobody has drawn from it
            parts["rng"] = deepcopy(self.rng)
        parts |= {"stop": None, "cycle": None, "cycles": None}
        return replace(self, **parts)

    def keeps_average(self, settings: Settings) -> bool:
        """Whether the mean of its vectors is kept, and not another of them."""
        return settings.keep == "average" or (
            settings.keep == "auto" and self.stop not in WITHOUT_MISTAKES
        )

    def outcome(self, settings: Settings, updates: Mistakes | None) -> dict[str, Any]:
        """What came of it, whatever the rule."""
        assert self.stop is not None
        losses = getattr(self, "losses", [])
        return {
            "stop_reason": self.stop,
            "n_mistakes": sum(self.mistakes),
            "n_updates": self.n_updates,
            "n_epochs": len(self.mistakes),
            "certificate": self.cycle,
            "trace": Trace(
                mistakes=np.array(self.mistakes, np.int64),
                change=np.array(self.changes),
                seconds=np.array(self.seconds),
                loss=np.array(losses) if losses else None,
                pocket_errors=np.array(self.pocket_errors) if settings.keep == "pocket" else None,
                updates=updates,
            ),
        }


NO_RECORD = tuple(np.empty(0, kind) for kind in (np.int64, np.int64, float, float, np.int64))


def joined(none: tuple[Any, ...], parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Columns of several records as one; `none` is a record of nothing."""
    return tuple(np.concatenate(column) for column in zip(none, *parts, strict=True))


P = TypeVar("P", bound=TwoClassProblem)


class Rule(Protocol[P]):
    """A learning rule: what an epoch does to the problems that are still running."""

    n_rows: int  # that an epoch has
    stops_together: bool  # whether a problem stops only if all do

    def prepare(self, problems: list[P], look_up: Callable[[], None], stack: ExitStack) -> None:
        """Do what has to be done before the first epoch; `stack` undoes it at the end.

        `look_up` is to be called between two pieces of work: it may raise to end the run.
        """

    def begin(self, running: list[P]) -> None:
        """Remember what an epoch begins with."""

    def epoch(self, running: list[P], order: Ints) -> None:
        """Take every problem once through the data; add to the last entry of its `mistakes`."""

    def end(self, running: list[P]) -> Sequence[float]:
        """Complete an epoch, or one that was halted half-way; how far each vector has moved."""
        ...

    def reason(self, problem: P) -> StopReason | None:
        """Why the problem stops after this epoch, if it does."""

    def finishing(self, seconds: float) -> float:
        """Seconds that `end` will take if the run, so many seconds old, is halted now."""
        ...


class Run(Generic[P]):
    """Epochs of a rule until every problem has a reason to stop."""

    def __init__(
        self,
        rule: Rule[P],
        problems: list[P],
        settings: Settings,
        callback: Callable[[int, list[P]], None] | None = None,
    ) -> None:
        self.rule, self.problems, self.settings, self.callback = rule, problems, settings, callback
        done = len(problems[0].mistakes)  # a run that goes on draws new orders
        self.orders = epoch_orders(settings.order, rule.n_rows, settings.seed, done)
        self.began = time.perf_counter()
        self.cancel = Cancel()

    def run(self) -> None:
        """Train until every problem has its stop reason."""
        with ExitStack() as stack:
            self.cancel = stack.enter_context(catch_interrupts())
            try:
                self.rule.prepare(self.problems, self.look_up, stack)
                for epoch in range(self.settings.max_epochs):
                    running = [p for p in self.problems if p.stop is None]
                    if not running:
                        break
                    order = next(self.orders)
                    self.rule.begin(running)
                    for p in running:
                        p.mistakes.append(0)
                    try:
                        self.rule.epoch(running, order)
                    except (Halt, KeyboardInterrupt):  # which leave a whole trace, too
                        self._book(running)
                        raise
                    self._book(running)
                    self._stop_those_done(running)
                    if self.callback is not None:
                        self.callback(epoch + 1, self.problems)
                    self.look_up()
                self._stop_all(StopReason.EPOCH_LIMIT)
            except Halt as halt:
                self._stop_all(halt.reason)
            except KeyboardInterrupt:
                if self.cancel.asked:  # the second time: now really
                    raise
                self._stop_all(StopReason.INTERRUPTED)
            for p in self.problems:
                p.visits, p.within = p.visits + p.within, 0

    def look_up(self) -> None:
        """Between two pieces of work, see whether there is time left and nobody wants to stop."""
        if all(p.stop is not None for p in self.problems):
            return
        if self.cancel.asked:
            raise Halt(StopReason.INTERRUPTED)
        limit, spent = self.settings.max_time, time.perf_counter() - self.began
        if limit is not None and spent + self.rule.finishing(spent) >= limit:
            raise Halt(StopReason.TIME_LIMIT)

    def _book(self, running: list[P]) -> None:
        """Complete the epoch, and its line in the trace of each problem."""
        changes = self.rule.end(running)
        for p, change in zip(running, changes, strict=True):
            p.changes.append(float(change))
            p.seconds.append(time.perf_counter() - self.began)

    def _stop_those_done(self, running: list[P]) -> None:
        for p in running:
            p.stop = self.rule.reason(p)
        if self.rule.stops_together and any(p.stop is None for p in running):
            for p in running:
                p.stop = None

    def _stop_all(self, reason: StopReason) -> None:
        for p in self.problems:
            p.stop = p.stop or reason

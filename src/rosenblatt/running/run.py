"""The run of a fit, whatever the rule: epochs, stop reasons, orders."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from rosenblatt.data.sources import IN_ORDER
from rosenblatt.results import StopReason
from rosenblatt.running.stopping import Halt, Interrupts, catch_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.results import Cycle
    from rosenblatt.running.stopping import CycleFinder


ORDERS = ("cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake")
PICKING = ORDERS[3:]  # from the present mistakes


@dataclass(frozen=True)
class Settings:
    """How to train. Already validated; the words are those of the estimators' parameters."""

    update: str = "online"
    batch_size: int | None = None
    order: str = "cyclic"
    eta: float = 1.0
    fit_intercept: bool = True
    keep: str = "last"
    drop_after: int | None = None
    budget: int | None = None
    max_epochs: int = 1000
    max_time: float | None = None
    tol: float | None = None
    record: bool = False
    seed: int = 0

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed."""
        return replace(self, **changes)


@dataclass(kw_only=True, eq=False)
class Course:
    """One two-class problem on its way, "class `positive` against the rest": what happened.

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


P = TypeVar("P", bound=Course)


class Run(ABC, Generic[P]):
    """Epochs until every problem has a reason to stop.

    A subclass says what an epoch is. Problems that are still running go through it together.
    """

    def __init__(
        self,
        settings: Settings,
        problems: list[P],
        n_rows: int,
        callback: Callable[[int, list[P]], None] | None = None,
    ) -> None:
        self.settings, self.problems, self.callback = settings, problems, callback
        self.n_rows = n_rows
        epochs = len(problems[0].mistakes)  # a run that goes on draws new orders
        self.order_rng = np.random.default_rng([settings.seed, 1, epochs])
        self.began = time.perf_counter()
        self.interrupts = Interrupts()

    def prepare(self, stack: ExitStack) -> None:
        """Do what has to be done before the first epoch; `stack` undoes it at the end."""

    @abstractmethod
    def one_epoch(self, running: list[P]) -> None:
        """Take every problem once through the data; give it a stop reason if it has one."""

    def run(self) -> None:
        """Train until every problem has its stop reason."""
        with ExitStack() as stack:
            self.interrupts = stack.enter_context(catch_interrupts())
            try:
                self.prepare(stack)
                for epoch in range(self.settings.max_epochs):
                    running = [p for p in self.problems if p.stop is None]
                    if not running:
                        return
                    self.one_epoch(running)
                    if self.callback is not None:
                        self.callback(epoch + 1, self.problems)
                    self.look_up()
                self._stop_all(StopReason.EPOCH_LIMIT)
            except Halt as halt:
                self._stop_all(halt.reason)
            except KeyboardInterrupt:
                if self.interrupts.pressed:  # the second time: now really
                    raise
                self._stop_all(StopReason.INTERRUPTED)
            for p in self.problems:
                p.visits, p.within = p.visits + p.within, 0

    def look_up(self) -> None:
        """Between two pieces of work, see whether there is time left and nobody wants to stop."""
        if all(p.stop is not None for p in self.problems):
            return
        if self.interrupts.pressed:
            raise Halt(StopReason.INTERRUPTED)
        limit = self.settings.max_time
        if limit is not None and time.perf_counter() - self.began + self.finishing() >= limit:
            raise Halt(StopReason.TIME_LIMIT)

    def finishing(self) -> float:
        """Seconds that the end of a run takes if it is halted now."""
        return 0.0

    def _stop_all(self, reason: StopReason) -> None:
        for p in self.problems:
            p.stop = p.stop or reason

    def draw_order(self) -> NDArray[np.int64]:
        """The rows in the order of the next epoch; empty: as they stand."""
        n = self.n_rows
        if self.settings.order == "shuffled":
            return self.order_rng.permutation(n)
        if self.settings.order == "sampled":
            return self.order_rng.integers(0, n, n)
        return IN_ORDER

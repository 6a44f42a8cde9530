"""The run of a fit, whatever the rule: epochs, stop reasons, going on with what was written."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rosenblatt.data.sources import IN_ORDER, Elsewhere
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Cancel, Halt, catch_interrupts
from rosenblatt.running.orders import Orders
from rosenblatt.running.problems import NONSENSE, TwoClassProblem, saved_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rosenblatt.data.sources import Order
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.running.problems import Settings

PHASES = ("between", "within", "ending", "judging")
UNREADY = ("new", "beginning")  # before the first epoch, or the next one, has begun

P = TypeVar("P", bound=TwoClassProblem)


class Rule(Protocol[P]):
    """A learning rule: what an epoch does to the problems that are still running."""

    n_rows: int  # that an epoch has
    n_features: int
    stops_together: bool  # whether a problem stops only if all do
    lasts: bool  # whether there is a `state` between epochs, too

    def prepare(self, problems: list[P], run: Run[P], stack: ExitStack) -> None:
        """Do what has to be done before the first epoch; `stack` undoes it at the end.

        Between two pieces of work ``run.look_up`` is to be called, which may raise to end the run;
        or ``run.pause``, which may also ask for the `state`, where that is whole.
        """

    def begin(self, running: list[P]) -> None:
        """Remember what an epoch begins with."""

    def epoch(self, running: list[P], order: Order) -> None:
        """Take every problem once through the data; add to the last entry of its `mistakes`.

        After `restore` it goes on where that says.
        """

    def end(self, running: list[P]) -> Sequence[float]:
        """Complete an epoch, or one that was halted half-way; how far each vector has moved."""
        ...

    def reason(self, problem: P) -> StopReason | None:
        """Why the problem stops after this epoch, if it does. It may be asked again."""

    def finishing(self, seconds: float) -> float:
        """Seconds that `end` will take if the run, so many seconds old, is halted now."""
        ...

    def state(self, running: list[P]) -> Any:
        """What an epoch that has begun needs to go on, beside the problems, as plain values.

        If the state `lasts`, what the run needs between epochs as well.
        Asked for at every ``run.pause``, and whenever an epoch was halted.
        """

    def restore(self, running: list[P], state: Any) -> None:
        """Go on from such a state; what makes no sense raises one of `NONSENSE`."""


class Run(Generic[P]):
    """Epochs of a rule until every problem has a reason to stop.

    With a `keeper` the state is written now and then, and at the end; if the keeper has one, the
    run goes on from there. A run is in one of four phases: between two epochs; within one; at its
    end, where what the epoch has left over is done; or judging why to stop.
    """

    def __init__(
        self,
        rule: Rule[P],
        problems: list[P],
        settings: Settings,
        callback: Callable[[int, list[P]], None] | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self.rule, self.problems, self.settings, self.callback = rule, problems, settings, callback
        done = len(problems[0].mistakes)  # a run that goes on draws new orders
        args = settings.order, rule.n_rows, rule.n_features, settings.seed, done
        self.orders = Orders(*args)
        self.order: Order = IN_ORDER
        self.began = self.entered = time.perf_counter()
        self.cancel = Cancel()
        self.keeper, self.phase, self.epochs = keeper, "new", 0
        self._thread, self._before = threading.get_ident(), self.orders.state
        self._worked = self._left = False
        self._judged = -1  # the epoch whose judging has been written, which does not change
        self._cut: StopReason | None = None
        self._far = isinstance(getattr(rule, "source", None), Elsewhere)

    def run(self) -> None:
        """Train until every problem has its stop reason."""
        with ExitStack() as stack:
            self.cancel = stack.enter_context(catch_interrupts())
            try:
                self.rule.prepare(self.problems, self, stack)
                self._resume()
                while running := self._next():
                    try:
                        if self.phase == "within":
                            self.rule.epoch(running, self.order)
                    except (Halt, KeyboardInterrupt) as cut:  # which leave a whole trace, too
                        self._leave(whole=isinstance(cut, Halt))
                        self._book(running)
                        raise
                    if self.phase != "judging":
                        self.phase = "ending"
                        self._book(running)
                    self.phase = "judging"
                    self._stop_those_done(running)
                    self.phase, self.epochs = "between", self.epochs + 1
                    if self.callback is not None:
                        self.callback(self.epochs, self.problems)
                    self.pause()
                self._leave()
                self._stop_all(StopReason.EPOCH_LIMIT)
            except Halt as halt:
                self._leave()
                self._stop_all(halt.reason)
            except KeyboardInterrupt:
                if self.cancel.asked:  # the second time: now really
                    raise
                self._leave(whole=self.phase == "between")
                self._stop_all(StopReason.INTERRUPTED)
            except Exception:
                if self.keeper is not None and not self._left:
                    self.keeper.write_held()
                raise
            for p in self.problems:
                p.visits, p.within = p.visits + p.within, 0

    def _next(self) -> list[P]:
        """The problems that are running, with an epoch begun; none if that was all."""
        running = [p for p in self.problems if p.stop is None]
        if self.phase == "between" and running:
            if self.epochs >= self.settings.max_epochs:
                return []
            self.phase = "beginning"
            if self.keeper is not None:
                self._before = self.orders.state
            self.order = next(self.orders)
            self.rule.begin(running)
            for p in running:
                p.mistakes.append(0)
            self.phase = "within"
        self._worked = self._worked or bool(running)
        return running

    def look_up(self) -> None:
        """Between two pieces of work, see whether there is time left and nobody wants to stop."""
        if all(p.stop is not None for p in self.problems):
            return
        limit, spent = self.settings.max_time, time.perf_counter() - self.entered
        if self.cancel.asked:
            self._cut = StopReason.INTERRUPTED
            raise Halt(self._cut)
        if limit is not None and spent + self.rule.finishing(spent) >= limit:
            self._cut = StopReason.TIME_LIMIT
            raise Halt(self._cut)

    def pause(self) -> None:
        """Look up where the state is whole, and write it if it is time to.

        Other threads than that of the run leave the writing to it.
        """
        self.look_up()
        if self._cut is not None and any(p.stop is None for p in self.problems):
            raise Halt(self._cut)  # one that was held back
        if self.keeper is None or self._left or self.phase in UNREADY:
            return
        if not self._far and not self.keeper.due():
            return
        if threading.get_ident() == self._thread and self._judged < self.epochs:
            if not self.keeper.due():  # but what is elsewhere may be lost before it is
                self.keeper.hold(self._state)
                return
            self.keeper.write(self._state())
            self._judged = self.epochs if self.phase == "judging" else -1

    def _leave(self, *, whole: bool = True) -> None:
        """Write the last state, unless there is nothing new or whole to write."""
        new = self.keeper is not None and (self._worked or self.keeper.saved is None)
        if self.keeper is not None and new and whole and not self._left and self.phase != "new":
            self.keeper.write(self._state(), last=True)
        self._left = True

    def _resume(self) -> None:
        """Go on from where the keeper's state says, if it has one."""
        saved = None if self.keeper is None else self.keeper.saved
        if self.keeper is None or saved is None:
            self.phase = "between"
            return
        try:
            if saved["phase"] not in PHASES:
                raise KeyError(saved["phase"])
            self.epochs, self.began = saved_number(saved["epochs"]), self.entered - saved["seconds"]
            self.orders.state = self._before = saved["orders"]
            for p, state in zip(self.problems, saved["problems"], strict=True):
                p.restore(state)
            if saved["phase"] != "between":
                self.order = next(self.orders)
            if saved["phase"] in PHASES[1:3] or self.rule.lasts:
                running = [p for p in self.problems if p.stop is None]
                self.rule.restore(running, saved["rule"])
        except NONSENSE as error:
            self.keeper.refuse(f"is damaged ({' '.join(str(error).split())[:80]})")
        self.phase = saved["phase"]
        self._judged = self.epochs if self.phase == "judging" else -1

    def _state(self) -> dict[str, Any]:
        """All that the run needs to go on, as plain values."""
        running = [p for p in self.problems if p.stop is None]
        has = self.rule.lasts or self.phase in PHASES[1:3]
        return {
            "phase": "between" if self.phase == "beginning" else self.phase,
            "epochs": self.epochs,
            "orders": self.orders.state if self.phase == "between" else self._before,
            "seconds": time.perf_counter() - self.began,
            "eta": self.settings.eta,
            "problems": [p.state() for p in self.problems],
            "rule": self.rule.state(running) if has else None,
        }

    def _book(self, running: list[P]) -> None:
        """Complete the epoch, and its line in the trace of each problem."""
        changes = self.rule.end(running)
        if self._cut is not None:  # it may have left something undone
            self._leave()
        for p, change in zip(running, changes, strict=True):
            p.changes.append(float(change))
            p.seconds.append(time.perf_counter() - self.began)

    def _stop_those_done(self, running: list[P]) -> None:
        reasons = [self.rule.reason(p) for p in running]
        if self.rule.stops_together and None in reasons:
            return
        for p, reason in zip(running, reasons, strict=True):
            p.stop = reason

    def _stop_all(self, reason: StopReason) -> None:
        for p in self.problems:
            p.stop = p.stop or reason

"""When to stop: time, in seconds and in operations, Ctrl-C, and a wish from outside."""

from __future__ import annotations

import enum
import math
import signal
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rosenblatt.results import StopReason
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Found = TypeVar("Found")

LONG = 1e9  # products from which on work is waited for
STEP = 0.1  # seconds between two looks at the clock while waiting
GRACE = 0.05  # seconds that nobody minds
NOTICEABLE = 1e-3  # seconds from which on a piece of work tells how long the next will take
CAREFUL = 3.0  # times what a small matrix product takes is expected of others
SQUARE = 200  # the size of that
BUILDING = 20  # times to read the numbers of a linear program, until a solver can be stopped
MOST_WORK = 10**8  # units of exact arithmetic


class Halt(Exception):
    """Raised between two pieces of work to end the run where it is."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.name)
        self.reason = reason


class Cancel:
    """Ends a run where it is, from outside: asked for by Ctrl-C, by another thread, or by time.

    With `seconds` it asks by itself when these are over.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self.pressed = False

    @property
    def asked(self) -> bool:
        """Whether somebody wants the run to end, or its time is over."""
        return self.pressed or time.perf_counter() >= self._end

    @property
    def left(self) -> float:
        """Seconds until it asks by itself."""
        return self._end - time.perf_counter()

    def ask(self) -> None:
        """Let the run end as soon as the piece of work in hand is done."""
        self.pressed = True


_given: ContextVar[Cancel | None] = ContextVar("cancel", default=None)


@contextmanager
def cancelled_by(cancel: Cancel) -> Iterator[None]:
    """Let the runs that begin here, in this thread, end when `cancel` is asked to end them.

    They end as by Ctrl-C: with what they have, and the stop reason INTERRUPTED.
    """
    token = _given.set(cancel)
    try:
        yield
    finally:
        _given.reset(token)


@contextmanager
def catch_interrupts() -> Iterator[Cancel]:
    """Let the first Ctrl-C only ask for an end, so that the work in hand ends cleanly.

    The second one interrupts as usual. Outside the main thread, or where the program handles
    the signal itself, nothing is changed.
    """
    cancel = _given.get() or Cancel()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is not signal.default_int_handler:
        yield cancel
        return

    def press(number: int, frame: Any) -> None:
        if cancel.asked:
            raise KeyboardInterrupt
        cancel.ask()

    signal.signal(signal.SIGINT, press)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)


@enum.unique
class Kind(enum.Enum):
    """Kinds of work; with the seconds that one operation takes, until one has been timed."""

    READING = 5e-9  # a number read, and multiplied
    PRODUCTS = 0.0  # one of those that a matrix product or a factorisation takes: timed at once
    NEWTON = 7e-9  # a number in samples of which Newton's method takes a step
    SIDES = 6e-9  # a number in samples whose exact sides are looked for, most told by floats
    MULTIPLIERS = 2e-8  # a number in samples with multipliers that prove something
    EXACT = 2.5e-8  # a unit of exact arithmetic, see `exact.systems`


class OutOfWork(Exception):
    """Exact arithmetic has taken as much work as it may."""


class _Apart:
    """A task that a thread of its own does; nobody may be waiting for it any more."""

    def __init__(self, task: Callable[[], Any]) -> None:
        self.found: Any = None
        self.error: BaseException | None = None
        self.done, self.left_alone = threading.Event(), False
        context = copy_context()  # with what NumPy is to say of overflows
        threading.Thread(target=context.run, args=(self._do, task), daemon=True).start()

    def _do(self, task: Callable[[], Any]) -> None:
        _at.task = self
        try:
            self.found = task()
        except BaseException as error:
            self.error = error
        self.done.set()


_at = threading.local()  # the task that this thread does


class Clock:
    """Ends the work when its time is over, or when Ctrl-C has been pressed.

    Work that cannot be stopped is not begun unless there is time for it. How long it will take is
    told by its number of operations, and by how long operations of its kind took when they were
    timed, in this run: machines differ, and so do the hours of one machine. The `max_time`,
    in seconds, began at `began`, by ``time.perf_counter``, or begins now.
    """

    def __init__(
        self,
        max_time: float | None = None,
        cancel: Cancel | None = None,
        began: float | None = None,
    ) -> None:
        began = time.perf_counter() if began is None else began
        self.end = None if max_time is None else began + max_time
        self.cancel = cancel or Cancel()
        self.pace = {kind: kind.value for kind in Kind}
        self._operations = dict.fromkeys(Kind, 0.0)  # those that the pace was told by
        self.kept = 0.0
        self.work = self.systems = 0.0  # of exact arithmetic, in its units: all, and linear systems

    def look_up(self) -> None:
        """Between two pieces of work, see whether to go on."""
        if getattr(_at, "task", None) is not None and _at.task.left_alone:
            raise Halt(StopReason.INTERRUPTED)
        if self.cancel.asked:
            raise Halt(StopReason.INTERRUPTED)
        if self.left() <= 0:
            raise Halt(StopReason.TIME_LIMIT)

    def left(self) -> float:
        """Seconds left."""
        return np.inf if self.end is None else self.end - time.perf_counter()

    def seconds(self, kind: Kind, operations: float) -> float:
        """How long work will take, as far as one can tell."""
        if self.end is not None and not self.pace[kind]:
            self.pace[kind] = CAREFUL * _product_time()
        return operations * self.pace[kind]

    def afford(self, seconds: float) -> None:
        """Before work that cannot be stopped, see whether there is time for it."""
        self.look_up()
        if self.left() < seconds:
            raise Halt(StopReason.TIME_LIMIT)

    def keep(self, seconds: float, most: float = 0.5) -> None:
        """Keep some of the time, at most half or a share, for what is to be done in the end."""
        if self.end is not None:
            self.kept = max(0.0, min(seconds, self.left() * most))
            self.end -= self.kept

    def use_kept(self) -> None:
        """Add the time that was kept, and a little."""
        if self.end is not None:
            self.end = max(self.end + self.kept, time.perf_counter()) + GRACE
            self.kept = 0.0

    def timed(self, kind: Kind, operations: float, seconds: float) -> None:
        """Learn how long operations take.

        Around a few of them there is much else to do: a piece of work that is smaller than one
        timed before counts for as much less.
        """
        if seconds >= NOTICEABLE and operations > 0:
            self._operations[kind] = max(self._operations[kind], operations)
            share = operations / self._operations[kind]
            self.pace[kind] += share * (seconds / operations - self.pace[kind])

    @contextmanager
    def task(self, kind: Kind, operations: float) -> Iterator[None]:
        """Work that cannot be stopped: begun if there is time for it, and timed."""
        self.afford(self.seconds(kind, operations))
        began = time.perf_counter()
        yield
        self.timed(kind, operations, time.perf_counter() - began)

    def pieces(self, kind: Kind = Kind.PRODUCTS) -> Callable[[float], None]:
        """What to call before each of many pieces of work, with its number of operations.

        With 0 it may also be called while a piece is under way.
        """
        last: list[tuple[float, float]] = []

        def look_up(operations: float) -> None:
            if not operations:
                self.look_up()
                return
            now = time.perf_counter()
            if last:
                before, began = last.pop()
                self.timed(kind, before, now - began)
            self.afford(self.seconds(kind, operations))
            last.append((operations, now))

        return look_up

    def waiting_for(self, task: Callable[[], Found], operations: float) -> Found:
        """What a task returns, which may take long in one piece: another thread does it.

        This one waits, in short steps, and so heeds Ctrl-C and the time. A task that is then left
        alone ends at its next look at the clock, or with the process. One of few operations is
        done here.
        """
        if operations < LONG:
            return task()
        apart = _Apart(task)
        try:
            while not apart.done.wait(STEP):
                self.look_up()
        finally:
            apart.left_alone = True
        if apart.error is not None:
            raise apart.error
        found: Found = apart.found
        return found

    def whole(self, kind: Kind, operations: float) -> Callable[[float], None]:
        """`pieces` of work of so many operations that is worth nothing unless all is done.

        After the first piece, which tells how long the others will take, it ends at once if there
        is not enough time.
        """
        look_up, left = self.pieces(kind), [operations]

        def go_on(part: float) -> None:
            look_up(part)
            self.afford(self.seconds(kind, left[0]))
            left[0] -= part

        return go_on

    def spend(self, units: float) -> None:
        """Before a piece of exact arithmetic, see whether there is work left for it."""
        self.work += units
        if self.work > MOST_WORK:
            raise OutOfWork

    def options(self, numbers: int) -> dict[str, float]:
        """What a linear program has to know of the time, which begins when it has been built."""
        self.afford(self.seconds(Kind.READING, BUILDING * numbers))
        return {} if self.end is None else {"time_limit": max(self.left(), 1e-3)}


def _product_time() -> float:
    """Seconds for each product of a matrix product."""
    A = np.ones((SQUARE, SQUARE))
    seconds = []
    with one_blas_thread():
        for _ in range(3):
            began = time.perf_counter()
            A @ A
            seconds.append(time.perf_counter() - began)
    return min(seconds) / SQUARE**3

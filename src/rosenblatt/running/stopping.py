"""When to stop: time, Ctrl-C, a wish from outside, and the proof that a run repeats itself."""

from __future__ import annotations

import hashlib
import signal
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.results import StopReason


class Halt(Exception):
    """Raised between two pieces of work to end the run where it is."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.name)
        self.reason = reason


class Cancel:
    """Ends a run where it is, from outside: asked for by Ctrl-C, or from another thread."""

    asked = False

    def ask(self) -> None:
        """Let the run end as soon as the piece of work in hand is done."""
        self.asked = True


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


class CycleFinder:
    """Remembers a digest of the weights after every epoch."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def met_before(self, theta: NDArray[np.float64], epoch: int) -> int | None:
        """The earlier epoch that ended with the same weights, as far as digests can tell."""
        state = theta + 0.0  # -0.0 and 0.0 are the same weight
        digest = hashlib.blake2b(state.tobytes(), digest_size=16).digest()
        first = self._seen.setdefault(digest, epoch)
        return first if first != epoch else None

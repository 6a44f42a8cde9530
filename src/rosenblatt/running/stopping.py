"""When to stop: time, Ctrl-C, and the proof that a run goes round in circles."""

from __future__ import annotations

import hashlib
import signal
import threading
from contextlib import contextmanager
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


class Interrupts:
    """Whether Ctrl-C has been pressed since the run began."""

    pressed = False


@contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """Let the first Ctrl-C only set a flag, so that the work in hand ends cleanly.

    The second one interrupts as usual. Outside the main thread, or where the program handles
    the signal itself, nothing is changed.
    """
    interrupts = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is not signal.default_int_handler:
        yield interrupts
        return

    def press(number: int, frame: Any) -> None:
        if interrupts.pressed:
            raise KeyboardInterrupt
        interrupts.pressed = True

    signal.signal(signal.SIGINT, press)
    try:
        yield interrupts
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

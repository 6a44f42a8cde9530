"""Ctrl-C once there is a model: what can be left out ends, and the model is still written."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

T = TypeVar("T")


class Interrupts:
    """Whether Ctrl-C was pressed while it was held back; it is, from `hold` to the end."""

    def __init__(self) -> None:
        self.pressed = False
        self._holding = False

    def __enter__(self) -> Interrupts:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def hold(self) -> None:
        """From now on take Ctrl-C down only; where others handle the signal nothing changes."""
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self._holding = True
            signal.signal(signal.SIGINT, self._note)

    def unless_stopped(self, work: Callable[[], T]) -> T | None:
        """Do what can be left out: None if Ctrl-C ended it."""
        try:
            self._release()
            result = work()
            self.hold()
        except KeyboardInterrupt:
            self.hold()
            self.pressed = True
            return None
        return result

    def _release(self) -> None:
        if self._holding:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._holding = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True

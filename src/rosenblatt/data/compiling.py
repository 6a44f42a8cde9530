"""How much this process has had to compile, told to whoever watches.

It imports nothing large, so that the command can watch before anything else is loaded.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ONCE = "compiling loops, once after installing"
LOG = logging.getLogger("rosenblatt")


class Compiling:
    """What was compiled here.

    Attributes
    ----------
    loops : int
        How many loops, without those that only became part of others.
    seconds : float
        How long it took.
    folder : pathlib.Path or None
        Where the last one lies for the next process; None if it could be written nowhere.
    """

    def __init__(self) -> None:
        self.loops, self.seconds = 0, 0.0
        self.folder: Path | None = None
        self._began: list[float] = []  # one loop can make it necessary to compile another
        self._watchers: list[Callable[[bool], None]] = []

    @contextmanager
    def watched(self, watcher: Callable[[bool], None]) -> Iterator[None]:
        """Call `watcher` with True when a loop begins to be compiled, with False at the end."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    def begins(self, name: str) -> None:
        """A loop is to be compiled."""
        if not self._began:
            LOG.info("compiling the loop %s", name)
            self._tell(True)
        self._began.append(time.perf_counter())

    def ends(self, name: str) -> None:
        """It is compiled, or could not be."""
        seconds = time.perf_counter() - self._began.pop()
        if not self._began:
            self.loops, self.seconds = self.loops + 1, self.seconds + seconds
            LOG.info("compiled the loop %s in %.2f seconds", name, seconds)
            self._tell(False)

    def _tell(self, begins: bool) -> None:
        for watcher in [*self._watchers]:
            watcher(begins)


COMPILING = Compiling()

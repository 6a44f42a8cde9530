"""Work that can wait: done by the threads of a team that have nothing more urgent to do."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.running.threads import Team


class Backlog:
    """Tasks that are begun in their order; each belongs to a number, to wait for it by.

    After each task a thread takes its place behind those who have asked the team for something
    else, so that these wait for one task at most. With one thread a task is done when it is added.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self._tasks: deque[tuple[int, Callable[[], None]]] = deque()
        self._left: Counter[int] = Counter()
        self._hands = 0  # threads that are at it
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def add(self, number: int, task: Callable[[], None]) -> None:
        """Add a task that belongs to this number."""
        with self._changed:
            self._tasks.append((number, task))
            self._left[number] += 1
            more = self._hands < self.team.size
            self._hands += more
        if more:
            self.team.start(self._go_on)

    def _go_on(self) -> None:
        """Do one task, then ask for the next."""
        with self._changed:
            if not self._tasks:
                self._hands -= 1
                return
            number, task = self._tasks.popleft()
        try:
            task()
        except BaseException as error:  # to be raised where it is waited for
            self._error = error
        with self._changed:
            self._left[number] -= 1
            self._changed.notify_all()
        self.team.start(self._go_on)

    def wait(self, number: int | None = None) -> None:
        """Wait until all tasks of this number are done (None: all tasks)."""
        with self._changed:
            while self._error is None and (
                self._left.total() if number is None else self._left[number]
            ):
                self._changed.wait(0.1)  # in short steps: a signal may come to another thread
        if self._error is not None:
            raise self._error

    def drop(self) -> None:
        """Begin no more of the tasks."""
        with self._changed:
            self._tasks.clear()

"""Where a kernel perceptron's time goes, and what more threads could make of it.

``python -m benchmarks.kernel --serial`` runs a fit in one thread, and writes down how much time of
the processor each task took that a team's threads could have done side by side, and how much passed
between them. From that follows an *estimate* for any number of threads: the tasks are given to as
many in their order, each to the first that is free, and whoever waited for them waits again. It
leaves out what threads take from each other: memory, caches, clock rates, the interpreter's lock.
"""

from __future__ import annotations

import heapq
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Account:
    """What happened in a run, in order.

    An event is its name and what it needs: "alone" seconds, "together" a list of the seconds of
    tasks that were waited for, "later" a number and the seconds of a task of the backlog, "wait" a
    number of the backlog (None: all).
    """

    events: list[tuple[str, Any]] = field(default_factory=list)
    last: float = field(default_factory=time.thread_time)

    def alone(self) -> None:
        """What has passed since the last event had nobody beside it."""
        now = time.thread_time()
        self.events.append(("alone", now - self.last))
        self.last = now

    def timed(self, task: Callable[[], Any]) -> tuple[float, Any]:
        """Seconds of a task, and its result."""
        began = time.thread_time()
        result = task()
        self.last = time.thread_time()
        return self.last - began, result

    def seconds(self, name: str) -> float:
        """Of all events of this name."""
        amounts = [amount for kind, amount in self.events if kind == name]
        if name == "together":
            return float(sum(map(sum, amounts)))
        return float(sum(amount[1] for amount in amounts) if name == "later" else sum(amounts))

    def estimate(self, threads: int) -> float:
        """Seconds with so many threads."""
        now, free = 0.0, [0.0] * threads
        ends: dict[int, float] = {}
        for name, amount in self.events:
            if name == "alone":
                now += amount
            elif name == "wait":
                now = max(
                    now, max(ends.values(), default=0) if amount is None else ends.get(amount, 0)
                )
            else:
                tasks = [amount[1]] if name == "later" else amount
                done = now
                for seconds in tasks:
                    end = max(heapq.heappop(free), now) + seconds
                    heapq.heappush(free, end)
                    done = max(done, end)
                if name == "later":
                    ends[amount[0]] = max(ends.get(amount[0], 0), done)
                else:
                    now = done
        return now


@contextmanager
def accounting() -> Iterator[Account]:
    """An account of what the teams of this process do within, with one thread."""
    from rosenblatt.kernel.backlog import Backlog
    from rosenblatt.running.threads import Team

    account, mapper, add, wait = Account(), Team.mapper, Backlog.add, Backlog.wait
    inside = False

    def watched_mapper(team: Team, tasks: int) -> Any:
        if inside or tasks < 2:
            return mapper(team, tasks)
        return together

    def together(task: Callable[..., Any], *columns: Any) -> list[Any]:
        nonlocal inside
        account.alone()
        inside = True
        done = [account.timed(lambda e=e: task(*e)) for e in zip(*columns, strict=False)]
        inside = False
        account.events.append(("together", [seconds for seconds, _ in done]))
        return [result for _, result in done]

    def watched_add(backlog: Backlog, number: int, task: Callable[[], None]) -> None:
        nonlocal inside
        account.alone()
        inside = True
        seconds, _ = account.timed(lambda: add(backlog, number, task))
        inside = False
        account.events.append(("later", (number, seconds)))

    def watched_wait(backlog: Backlog, number: int | None = None) -> None:
        account.alone()
        account.events.append(("wait", number))
        wait(backlog, number)

    Team.mapper, Backlog.add, Backlog.wait = watched_mapper, watched_add, watched_wait  # type: ignore[method-assign]
    try:
        yield account
        account.alone()
    finally:
        Team.mapper, Backlog.add, Backlog.wait = mapper, add, wait  # type: ignore[method-assign]

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
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Table, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Account:
    """What happened in a run, in order.

    An event is its name and what it needs: "alone" seconds, "together" a list of the seconds of
    tasks that were waited for, "shared" the same where who waits takes part, "later" a number and
    the seconds of a task of the backlog, "wait" a number of the backlog (None: all).
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
        if name in ("together", "shared"):
            return float(sum(map(sum, amounts)))
        return float(sum(amount[1] for amount in amounts) if name == "later" else sum(amounts))

    def estimate(self, threads: int) -> float:
        """Seconds with so many threads."""
        now, free = 0.0, [0.0] * threads
        ends: dict[int, float] = {}
        for name, amount in self.events:
            if name == "alone":
                _work(free, now, amount)
                now += amount
            elif name == "wait":
                numbers = ends if amount is None else (amount,)
                now = max([now, *(ends.get(number, 0.0) for number in numbers)])
            elif name == "later":
                number, seconds = amount
                ends[number] = max(ends.get(number, 0.0), _done(free, now, [seconds]))
            else:
                now = _done(free, now, amount, own=name == "shared")
        return now


def _work(free: list[float], now: float, seconds: float) -> None:
    """Let one more than the threads of the team work: of a core that is busy, if all are."""
    if free[0] > now:
        heapq.heapreplace(free, free[0] + seconds)


def _done(free: list[float], now: float, tasks: list[float], own: bool = False) -> float:
    """When all tasks are done, by threads that are `free` then, and (`own`) by who asks for it."""
    end = mine = now
    if own:  # in the place of one of them
        last = free.pop(free.index(max(free)))
        heapq.heapify(free)
    for seconds in tasks:
        if own and (not free or mine <= free[0]):
            mine += seconds
            end = max(end, mine)
        else:
            done = max(heapq.heappop(free), now) + seconds
            heapq.heappush(free, done)
            end = max(end, done)
    if own:
        heapq.heappush(free, max(last, now) + mine - now)
    return end


@contextmanager
def accounting() -> Iterator[Account]:
    """An account of what the teams of this process do within, with one thread."""
    from rosenblatt.kernel.backlog import Backlog
    from rosenblatt.running.threads import Team

    account, inside = Account(), False
    before = Team.mapper, Team.shared, Backlog.add, Backlog.wait

    def timed_tasks(name: str, tasks: list[Callable[[], Any]]) -> list[Any]:
        nonlocal inside
        account.alone()
        inside = True
        done = [account.timed(task) for task in tasks]
        inside = False
        account.events.append((name, [seconds for seconds, _ in done]))
        return [result for _, result in done]

    def together(task: Callable[..., Any], *columns: Any) -> list[Any]:
        entries = zip(*columns, strict=False)
        return timed_tasks("together", [partial(task, *entry) for entry in entries])

    def watched_mapper(team: Team, tasks: int) -> Any:
        return map if inside or tasks < 2 else together

    def shared(team: Team, task: Callable[[Any], Any], items: Any) -> list[Any]:
        if inside or len(items) < 2:
            return [task(item) for item in items]
        return timed_tasks("shared", [partial(task, item) for item in items])

    def add(backlog: Backlog, number: int, task: Callable[[], None]) -> None:
        timed_tasks("later", [partial(before[2], backlog, number, task)])
        account.events[-1] = ("later", (number, account.events[-1][1][0]))

    def wait(backlog: Backlog, number: int | None = None) -> None:
        account.alone()
        account.events.append(("wait", number))
        before[3](backlog, number)

    Team.mapper, Team.shared = watched_mapper, shared  # type: ignore[method-assign]
    Backlog.add, Backlog.wait = add, wait  # type: ignore[method-assign]
    try:
        yield account
        account.alone()
    finally:
        Team.mapper, Team.shared, Backlog.add, Backlog.wait = before  # type: ignore[method-assign]


def the_case(quick: bool) -> tuple[str, Any, Any, Any]:
    """MNIST (or few small digits) to train with and to predict, and a model of it."""
    import rosenblatt as rb
    from benchmarks.kernel_data import digits, small_digits

    train = small_digits("train", 4_000) if quick else digits("train")
    test = small_digits("t10k", 2_000) if quick else digits("t10k")
    if train is None or test is None:
        msg = "no MNIST: set ROSENBLATT_DATA"
        raise SystemExit(msg)
    model = rb.KernelPerceptron(kernel="poly", degree=4, gamma=1, keep="average", max_epochs=3)
    _fit(model, 1, train[0][:500], train[1][:500]).predict(test[0][:10])  # compile
    n, d = train[0].shape
    return f"digits {n} x {d}, (x·y + 1)^4, average, 3 epochs", train, test, model


def measure_threads(table: Table, counts: list[int], repeats: int, quick: bool) -> None:
    """Seconds with each number of threads, in turns; faster than with the first of them."""
    from threadpoolctl import threadpool_limits

    from benchmarks.kernel import columns_of, gemm_rate

    name, (X, y), (T, _), model = the_case(quick)
    work = 2.0 * len(X) * columns_of(model, X, y) * X.shape[1]

    def fit(n: int) -> Any:
        return _fit(model, n, X, y)

    def predict(n: int) -> Any:
        return model.set_params(n_jobs=n).predict(T)

    tasks = [partial(task, n) for n in counts for task in (fit, predict)]
    seconds, _ = side_by_side(*tasks, repeats=repeats)
    for n, train, test in zip(counts, seconds[::2], seconds[1::2], strict=True):
        with threadpool_limits(n):
            rate = gemm_rate()
        table.add(
            case=name,
            threads=n,
            train=train,
            predict=test,
            **{
                "times faster, training": seconds[0] / train,
                "times faster, predicting": seconds[1] / test,
                "share of GEMM": work / train / rate,
            },
        )


def measure_serial(table: Table, counts: list[int], quick: bool) -> None:
    """Seconds of the processor that nothing could pass beside, and estimates for more threads."""
    name, (X, y), (T, _), model = the_case(quick)
    for what, task in (
        ("train", lambda: _fit(model, 1, X, y)),
        ("predict", lambda: model.predict(T)),
    ):
        task()
        with accounting() as account:
            task()
        one = account.estimate(1)
        table.add(
            case=f"{name}: {what}",
            alone=account.seconds("alone"),
            **{
                "urgent tasks": account.seconds("together") + account.seconds("shared"),
                "background": account.seconds("later"),
                "limit by Amdahl": one / account.seconds("alone"),
            },
            **{f"estimate, {n}": account.estimate(n) for n in counts},
            **{f"times faster, {n}": one / account.estimate(n) for n in counts[-1:]},
        )


def _fit(model: Any, n_jobs: int, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_params(n_jobs=n_jobs).fit(X, y)

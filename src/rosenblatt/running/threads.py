"""Threads over loops that run without the GIL: plain ones, kept from one call to the next."""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_blas = threading.Lock()
_limits: list[Any] = []
_blas_users = 0

WORTHWHILE = 1 << 18  # numbers to read: for fewer, waking a thread costs more than it saves
BIG = 10**9  # products of a matrix product or a factorisation: the same
PER_THREAD = 4  # ranges for each thread, so that one that is late leaves the rest to the others
MOST = 1024  # threads in all


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _find_blas() -> ThreadpoolController:
    """Look for the BLAS libraries of the process, once: it takes milliseconds."""
    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread set limits: recent versions of threadpoolctl heed but the first."""
    for library in _find_blas().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the matrix products of this process use one thread each, for all who ask for it.

    The limit is the whole process's, so the first to ask sets it and the last one lifts it.
    """
    global _blas_users
    with _blas:
        _blas_users += 1
        if _blas_users == 1:
            _take_control()
            _limits.append(_find_blas().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _blas:
            _blas_users -= 1
            if _blas_users == 0:
                _take_control()
                _limits.pop().restore_original_limits()
                _take_control()  # and leave it to whoever comes next


def blas_threads_for(products: float) -> AbstractContextManager[None]:
    """One thread for matrix products of no more products than this, if these are not many."""
    return one_blas_thread() if products < BIG else nullcontext()


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads of the process: as many as were ever at work at a time."""
    return ThreadPoolExecutor(MOST, "rosenblatt", _begin)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # which has none of the threads


_here = threading.local()


def _begin() -> None:
    _here.at_work = True


def _wait_for(future: Future[Any]) -> None:
    """Wait in short steps: a signal that came to another thread ends none of them."""
    while not future.done():
        with suppress(TimeoutError):
            future.exception(0.1)


class Team:
    """`size` threads of the process's, which do the tasks that they are given side by side.

    Nothing that a fit returns depends on the size.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._tasks: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._running = 0  # threads at it
        self._changing = threading.Condition()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *error: object) -> None:
        with self._changing:
            while self._running:  # after Ctrl-C some may be at their last task
                self._changing.wait(0.1)

    @property
    def _alone(self) -> bool:
        """Whether this thread has to do all by itself.

        One that is at work for a team does: if it waited for others, all could end up waiting.
        """
        return self.size == 1 or getattr(_here, "at_work", False)

    def _begin(self, task: Callable[[], Any]) -> Future[Any]:
        """Have a task done by the next thread of the team that is free."""
        future: Future[Any] = Future()
        with self._changing:
            self._tasks.append((future, task))
            if self._running < self.size:
                self._running += 1
                _pool().submit(self._run)
        return future

    def _run(self) -> None:
        """Do tasks until none is left."""
        while True:
            with self._changing:
                if not self._tasks:
                    self._running -= 1
                    self._changing.notify_all()
                    return
                future, task = self._tasks.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(task())
                except BaseException as error:
                    future.set_exception(error)

    def each(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """``task(item)`` for every item, side by side; results in the items' order."""
        return list(self.mapper(len(items))(task, items))

    def each_product(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`each` for tasks that make matrix products, which take one thread each."""
        with one_blas_thread():
            return self.each(task, items)

    def mapper(self, tasks: int) -> Callable[..., Iterable[Any]]:
        """What maps a function over so many tasks: `map` itself, or the threads side by side.

        Those let all tasks end before an error of one is raised.
        """
        return map if tasks < 2 or self._alone else self._map

    def _map(self, task: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
        calls = zip(*columns, strict=False)
        futures = [self._begin(lambda entries=entries: task(*entries)) for entries in calls]  # type: ignore[misc]
        try:
            for future in futures:
                _wait_for(future)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]

    def shared(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """As `each`, but this thread takes part, and does alone what finds no other thread free."""
        if len(items) < 2 or self._alone:
            return [task(item) for item in items]
        results: list[Any] = [None] * len(items)
        numbers = iter(range(len(items)))

        def work() -> None:
            for k in numbers:
                results[k] = task(items[k])

        others = [self._begin(work) for _ in range(min(self.size, len(items)) - 1)]
        _here.at_work = True
        try:
            work()
        finally:
            _here.at_work = False
            for future in others:
                if not future.cancel():
                    _wait_for(future)
        for future in others:
            if not future.cancelled():
                future.result()
        return results

    def start(self, task: Callable[[], Any]) -> None:
        """Have a task done by and by, by the next thread that is free; at once if there is one.

        Nobody hears of its end, or of its error, but from the task itself.
        """
        if self.size == 1:
            task()
        else:
            self._begin(task)

    @contextmanager
    def helped_by(self, task: Callable[[], Any]) -> Iterator[None]:
        """Have the other threads do a task beside what is done here, which ends it.

        Not more of them than there are other cores: they may spin while there is nothing to do.
        """
        helpers = 0 if self._alone else min(self.size, cores()) - 1
        others = [self._begin(task) for _ in range(helpers)]
        try:
            yield
        finally:
            for future in others:
                if not future.cancel():
                    _wait_for(future)

    def ranges(self, n: int, entries: int) -> list[tuple[int, int]]:
        """0 to n cut into ranges for the threads, or one in all if there are few `entries`."""
        parts = 1 if self.size == 1 else min(self.size * PER_THREAD, entries // WORTHWHILE, n)
        parts = max(parts, 1)
        return list(pairwise(n * k // parts for k in range(parts + 1)))

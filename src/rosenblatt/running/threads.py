"""Threads over loops that run without the GIL: plain ones, kept from one call to the next."""

from __future__ import annotations

import os
import threading
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

WORTHWHILE = 1 << 17  # numbers to read: below, waking a thread costs more than it saves
BIG = 10**9  # products of a matrix product or a factorisation: the same
PER_THREAD = 4  # ranges for each thread, so that one that is late leaves the rest to the others
MOST = 1024  # threads in all


@cache
def _find_blas() -> ThreadpoolController:
    """Look for the BLAS libraries of the process, once: it takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the matrix products of this process use one thread each, for all who ask for it.

    The limit is the whole process's, so the first to ask sets it and the last one lifts it.
    """
    global _blas_users
    with _blas:
        _blas_users += 1
        if _blas_users == 1:
            _limits.append(_find_blas().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _blas:
            _blas_users -= 1
            if _blas_users == 0:
                _limits.pop().restore_original_limits()


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
        self._futures: list[Future[None]] = []

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *error: object) -> None:
        for future in self._futures:  # after Ctrl-C some may be at their last task
            _wait_for(future)

    def each(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """``task(item)`` for every item, side by side; results in the items' order."""
        return list(self.mapper(len(items))(task, items))

    def each_product(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`each` for tasks that make matrix products, which take one thread each."""
        with one_blas_thread():
            return self.each(task, items)

    def mapper(self, tasks: int) -> Callable[..., Iterable[Any]]:
        """What maps a function over so many tasks: `map` itself, or the threads side by side.

        Those let all tasks end before an error of one is raised. A task that asks for this again
        gets its own tasks done one after the other, in its own thread: if it waited for the
        others, all could end up waiting.
        """
        if self.size == 1 or tasks < 2 or getattr(_here, "at_work", False):
            return map
        return self._map

    def _map(self, task: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
        calls = list(zip(*columns, strict=False))
        outcomes: list[Any] = [None] * len(calls)
        left = iter(enumerate(calls))

        def work() -> None:
            for k, entries in left:
                outcomes[k] = _outcome(task, entries)

        self._futures = [_pool().submit(work) for _ in range(min(self.size, len(calls)))]
        try:
            for future in self._futures:
                _wait_for(future)
        except BaseException:
            list(left)  # there is nothing more to do
            raise
        return [_result(outcome) for outcome in outcomes]

    @contextmanager
    def helped_by(self, task: Callable[..., Any], *entries: Any) -> Iterator[None]:
        """Have the other threads do a task beside what is done here, which ends it."""
        alone = getattr(_here, "at_work", False)
        futures = [_pool().submit(task, *entries) for _ in range(0 if alone else self.size - 1)]
        try:
            yield
        finally:
            for future in futures:
                _wait_for(future)
        for future in futures:
            future.result()

    def ranges(self, n: int, entries: int) -> list[tuple[int, int]]:
        """0 to n cut into ranges for the threads, or one in all if there are few `entries`."""
        parts = 1 if self.size == 1 else min(self.size * PER_THREAD, entries // WORTHWHILE, n)
        parts = max(parts, 1)
        return list(pairwise(n * k // parts for k in range(parts + 1)))


def _outcome(task: Callable[..., Any], entries: Any) -> tuple[Any, BaseException | None]:
    try:
        return task(*entries), None
    except BaseException as error:
        return None, error


def _result(outcome: tuple[Any, BaseException | None]) -> Any:
    result, error = outcome
    if error is not None:
        raise error
    return result

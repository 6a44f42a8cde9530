"""A plain thread pool over loops that run without the GIL."""

from __future__ import annotations

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


def _wait_for(future: Future[Any]) -> None:
    """Wait in short steps: a signal that came to another thread ends none of them."""
    while not future.done():
        with suppress(TimeoutError):
            future.exception(0.1)


class Team:
    """`size` threads, started when first needed and ended with the ``with`` block.

    Nothing that a fit returns depends on the size.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None
        self._here = threading.local()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

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
        if self.size == 1 or tasks < 2 or getattr(self._here, "at_work", False):
            return map
        self._pool = self._pool or ThreadPoolExecutor(self.size, initializer=self._begin)
        return self._map

    def _map(self, task: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
        assert self._pool is not None
        futures = [self._pool.submit(task, *entries) for entries in zip(*columns, strict=False)]
        for future in futures:
            _wait_for(future)
        return [future.result() for future in futures]

    def _begin(self) -> None:
        self._here.at_work = True

    def ranges(self, n: int, entries: int) -> list[tuple[int, int]]:
        """0 to n cut into one range per thread, or one in all if there are few `entries`."""
        parts = self.size if entries >= WORTHWHILE else 1
        return list(pairwise(n * k // parts for k in range(parts + 1)))

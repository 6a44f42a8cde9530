"""The work of requests: a few threads, a bounded queue, and an end when the page is gone."""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rosenblatt.running.clock import Cancel, cancelled_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.requests import Request

T = TypeVar("T")
MOST_WAITING = 512  # requests; more are asked to come again


class BusyError(Exception):
    """More is waiting than can be done in good time."""


class GoneError(Exception):
    """Nobody is there any more to take the answer."""


class Workers:
    """Threads that compute, so that the server can go on answering what is quick."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or max(1, min(4, os.cpu_count() or 1))
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="playground")
        self._cancels: set[Cancel] = set()
        self._running = 0
        self._lock = threading.Lock()

    async def do(self, request: Request, work: Callable[[], T]) -> T:
        """The result of some work, unless the page that asks for it goes away."""
        if len(self._cancels) >= MOST_WAITING:
            raise BusyError
        cancel = Cancel()
        self._cancels.add(cancel)

        def cancellable() -> T:
            with self._counted(), cancelled_by(cancel), without_warnings():
                return work()

        future = asyncio.get_running_loop().run_in_executor(self._pool, cancellable)
        gone = asyncio.ensure_future(_until_gone(request))
        try:
            both: set[asyncio.Future[Any]] = {future, gone}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise GoneError
            return await future
        finally:
            cancel.ask()
            future.cancel()
            gone.cancel()
            self._cancels.discard(cancel)

    @property
    def busy(self) -> bool:
        """Whether a thread is computing."""
        return self._running > 0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def stop(self) -> None:
        """End all work as soon as may be; nothing more is begun."""
        for cancel in list(self._cancels):
            cancel.ask()
        self._pool.shutdown(wait=False, cancel_futures=True)


async def _until_gone(request: Request) -> None:
    """Wait for the end of the connection; the body of the request has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


_quiet = threading.Lock()
_depth = 0
_before = warnings.catch_warnings()


@contextmanager
def without_warnings() -> Iterator[None]:
    """Say nothing on the terminal of the server: what a run has to say is in the answer.

    The filters belong to the whole process: the first thread sets them, the last one sets them
    back.
    """
    global _depth, _before
    with _quiet:
        if not _depth:
            _before = warnings.catch_warnings()
            _before.__enter__()
            warnings.simplefilter("ignore")
        _depth += 1
    try:
        yield
    finally:
        with _quiet:
            _depth -= 1
            if not _depth:
                _before.__exit__(None, None, None)

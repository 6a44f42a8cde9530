"""Work that goes on while other work is done: reading ahead of computing, computing of writing."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

T = TypeVar("T")
END = object()
MOST_HEAPS = -8  # the number of that option of the C library's


def share_one_heap() -> None:
    """Have all threads take memory from the same heap, where the C library has several.

    Items are made in one thread and freed in another: heaps of their own would grow with each.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(MOST_HEAPS, 1)


def ahead(items: Iterator[T], room: int = 1) -> Generator[T, None, None]:
    """The items, made in a thread of their own, at most `room` of them before they are asked for.

    An error there is raised here, in its place. When this is closed or left, the thread ends after
    the item it is at.
    """
    ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(room)
    left = threading.Event()
    thread = threading.Thread(target=_work, args=(items, ready, left))
    thread.start()
    try:
        while True:
            item, error = _taken(ready)
            if error is not None:
                raise error
            if item is END:
                return
            yield item
    finally:
        left.set()
        thread.join()


def _work(items: Iterator[Any], ready: queue.Queue[Any], left: threading.Event) -> None:
    def put(item: Any, error: BaseException | None = None) -> bool:
        while not left.is_set():
            try:
                ready.put((item, error), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    try:
        for item in items:
            if not put(item):
                break
        else:
            put(END)
    except BaseException as error:
        put(None, error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()


def _taken(ready: queue.Queue[Any]) -> Any:
    """The next item, waited for in short steps: some libraries let no signal end a long one."""
    while True:
        try:
            return ready.get(timeout=0.1)
        except queue.Empty:
            continue

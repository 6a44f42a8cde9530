"""Memory that a worker's task gives back and asks for again, many times a second.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``: the C library then returns what is
freed to the system at once, and each array of some size comes in pages that the system has to make
and clear first. Passes over blocks of rows by way of such arrays took four times as long. While a
task of ours is at work what it frees is kept for it; when none is any longer, it is given back.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTING = "MALLOC_TRIM_THRESHOLD_"  # of the environment that a worker was started with
TRIM, MAPPED = -1, -3  # numbers of settings in malloc.h
KEPT = 1 << 26  # bytes that need not be returned
LARGE = 1 << 25  # bytes, the most there may be, that a single array comes from elsewhere with
USUAL = 1 << 17

_lock, _at_work = Lock(), 0


@cache
def _library() -> Any:
    """The C library, where it is one that has been told to return what is freed."""
    if not os.environ.get(SETTING, "").isdecimal():
        return None
    try:
        library = ctypes.CDLL(None)
        library.mallopt, library.malloc_trim  # noqa: B018  # only glibc has both
    except (OSError, AttributeError):
        return None
    return library


@contextmanager
def kept_while_at_work() -> Iterator[None]:
    """Keep what is freed within."""
    global _at_work
    library = _library()
    if library is None:
        yield
        return
    with _lock:
        _at_work += 1
        if _at_work == 1:
            library.mallopt(TRIM, KEPT)
            library.mallopt(MAPPED, LARGE)
    try:
        yield
    finally:
        with _lock:
            _at_work -= 1
            if _at_work == 0:
                library.mallopt(TRIM, int(os.environ[SETTING]))
                library.mallopt(MAPPED, USUAL)
                library.malloc_trim(0)

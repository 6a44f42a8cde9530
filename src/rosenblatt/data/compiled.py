"""The algorithms themselves, compiled: one epoch or one step each, written like the textbook.

A loop works on one `Block` and updates arrays in place. Under ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python, with the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def loop(function: F) -> F:
    """Compile without the GIL and keep the machine code on disk where a folder allows it.

    Without Numba's memory manager (``_nrt``) a loop cannot allocate, and does not count
    references to the arrays of a block at every row.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    try:
        compiled: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        compiled = numba.njit(**options)(function)
    return compiled

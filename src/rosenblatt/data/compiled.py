"""The algorithms themselves, compiled: one epoch or one step each, written like the textbook.

A loop works on one `Block` and updates arrays in place. Under ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python, with the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.extending import overload

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

# Without Numba's memory manager (``_nrt``) a loop cannot allocate, and does not count references
# to the arrays of a block at every row.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def loop(function: F) -> F:
    """Compile without the GIL and keep the machine code on disk where a folder allows it."""
    try:
        compiled: F = numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        compiled = numba.njit(**OPTIONS)(function)
    _forgive_leftovers(compiled)
    _load_alone(compiled)
    return compiled


def _forgive_leftovers(compiled: Any) -> None:
    """Compile anew where what lies on disk names types that this version has no more.

    Numba reads what is there before it asks whether the source has changed.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is None:
        return
    load = file._load_index

    def load_index() -> Any:
        try:
            return load()
        except (AttributeError, ImportError, TypeError, ValueError):
            return {}

    file._load_index = load_index


def _load_alone(compiled: Any) -> None:
    """Load machine code from disk without what only compiling needs.

    Before it loads anything, Numba imports all that it can compile, which takes longer than the
    rest of a small fit; before it compiles anything, it does so, too.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if not hasattr(cache, "_load_overload"):
        return

    def load_overload(signature: Any, target: Any) -> Any:
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    cache.load_overload = load_overload


def part_of_loops(function: F) -> F:
    """Compile a function that only loops call, which have its machine code in their own."""
    options: Any = {**OPTIONS, "forceinline": True}
    compiled: F = numba.njit(**options)(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate the compiled version of `function`: loops have its machine code in their own.

    LLVM puts it there. Where Numba does (``inline="always"``), it compiles the version first, for
    its type alone, and then all that it says once more at every place.
    """
    options: Any = {**OPTIONS, "forceinline": True}
    decorate: Callable[[F], F] = overload(function, jit_options=options)
    return decorate

"""The algorithms themselves, compiled: one epoch or one step each, written like the textbook.

A loop works on one `Block` and updates arrays in place. Under ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python, with the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher
from numba.extending import overload

from rosenblatt.data.compiling import COMPILING
from rosenblatt.data.machine_code import KeptCode, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

# Without Numba's memory manager (``_nrt``) a loop cannot allocate, and does not count references
# to the arrays of a block at every row.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def loop(function: F) -> F:
    """Compile without the GIL, and keep the machine code on disk."""
    compiled: F = numba.njit(**OPTIONS)(function)
    stamp = stamp_of(function.__module__)
    if stamp is not None and isinstance(compiled, Dispatcher):
        compiled._cache = KeptCode(function, stamp)  # type: ignore[attr-defined]
    return compiled


class Listener(event.Listener):
    """Hears from Numba what is compiled, and passes on what is ours."""

    def on_start(self, heard: Any) -> None:
        """Numba begins to compile something."""
        code = heard.data["dispatcher"]._cache
        if isinstance(code, KeptCode):
            COMPILING.begins(code.name)

    def on_end(self, heard: Any) -> None:
        """It is done, or has failed."""
        code = heard.data["dispatcher"]._cache
        if isinstance(code, KeptCode):
            COMPILING.ends(code.name)


event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


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

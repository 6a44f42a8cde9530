"""Whole numbers that several threads change at the same time, for loops that share work.

The bodies run as plain Python under ``NUMBA_DISABLE_JIT=1``. Compiled, each is one instruction that
no other thread comes between, and what a thread has written before it, others see after theirs.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.data.compiled import inlined

ORDERING = "seq_cst"
GIVE_WAY = "SwitchToThread" if os.name == "nt" else "sched_yield"  # of the operating system
_lock = threading.Lock()


def peek(numbers: Any, k: Any) -> Any:
    """``numbers[k]`` as it is now."""
    return numbers[k]


def raise_by(numbers: Any, k: Any, step: Any) -> Any:
    """Add `step` to ``numbers[k]``; what it was before."""
    with _lock:
        before = numbers[k]
        numbers[k] += step
    return before


def lower_to(numbers: Any, k: Any, value: Any) -> Any:
    """Make ``numbers[k]`` the value if that is less; what it was before."""
    with _lock:
        before = numbers[k]
        numbers[k] = min(before, value)
    return before


def give_way() -> None:
    """Let other threads of the machine work for a moment, if any wait."""
    time.sleep(0)


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of ``numbers[k]``."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def _peek_at(typing_context: Any, numbers: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature, args)
        return builder.load_atomic(place, ORDERING, 8)

    return types.int64(numbers, types.int64), generate


def _changing(operation: str) -> Any:
    @intrinsic
    def change(typing_context: Any, numbers: Any, k: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _place(context, builder, signature, args)
            return builder.atomic_rmw(operation, place, args[2], ORDERING)

        return types.int64(numbers, types.int64, types.int64), generate

    return change


_add_at, _min_at = _changing("add"), _changing("min")


@intrinsic
def _yield(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        insert: Any = cgutils.get_or_insert_function
        builder.call(insert(builder.module, kind, GIVE_WAY), [])
        return context.get_dummy_value()

    return types.void(), generate


@inlined(peek)
def _peek(numbers: Any, k: Any) -> Any:
    def compiled(numbers: Any, k: Any) -> Any:
        return _peek_at(numbers, k)  # type: ignore[call-arg]  # the compiler adds the context

    return compiled


@inlined(raise_by)
def _raise_by(numbers: Any, k: Any, step: Any) -> Any:
    def compiled(numbers: Any, k: Any, step: Any) -> Any:
        return _add_at(numbers, k, step)

    return compiled


@inlined(lower_to)
def _lower_to(numbers: Any, k: Any, value: Any) -> Any:
    def compiled(numbers: Any, k: Any, value: Any) -> Any:
        return _min_at(numbers, k, value)

    return compiled


@inlined(give_way)
def _give_way() -> Any:
    def compiled() -> None:
        _yield()  # type: ignore[call-arg]

    return compiled

"""A pass over all rows, block by block: one after the other, or several side by side."""

from __future__ import annotations

import threading
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.blocks import Stack, block_of, end_of_block, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Ints
    from rosenblatt.exact.blocks import RowBlock

    # What calls a function with each of some items: one after the other, or side by side.
    Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]

SPAN = 2**20  # entries that are looked at by one thread, block by block


def in_turn(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """``task(item)`` for every item, one after the other."""
    return [task(item) for item in items]


def map_blocks(
    X: Any,
    task: Callable[..., Any],
    each: Each = in_turn,
    among: Ints | None = None,
    look_up: Callable[[float], None] | None = None,
    columns: Sequence[NDArray[Any]] = (),
    sift: Callable[[list[Any]], list[Any]] = list,
) -> Iterator[Any]:
    """``task(block, rows, ...)`` for every block and the numbers of its rows, in their order.

    `each` may do several of them side by side. With `among`, row numbers in ascending order, only
    these rows. `look_up` is called before each block, with how many numbers it has; it may raise
    to end the work. Of `columns`, which have a number for each row, the task is given its rows'.
    `sift` leaves out what is not needed of what some blocks in a row have given, where they are.
    """
    if isinstance(X, Stack) and X.far is not None:
        yield from _map_far(X, task, among, look_up, columns, sift)
        return
    first, one_by_one = 0, threading.Lock()
    for matrix in X if isinstance(X, Stack) else (X,):

        def run(span: tuple[int, int], matrix: Any = matrix, first: int = first) -> list[Any]:
            found = []
            with np.errstate(all="ignore"):  # which each thread has its own of
                for block, rows in _parts(matrix, first, *span, among):
                    if look_up is not None:
                        with one_by_one:
                            look_up(block.floats.size)
                    found.append(task(block, rows, *(column[rows] for column in columns)))
            return sift(found)

        for found in each(run, list(pairwise(_edges(matrix)))):
            yield from found
        first += matrix.shape[0]


def _map_far(
    X: Stack,
    task: Callable[..., Any],
    among: Ints | None,
    look_up: Callable[[float], None] | None,
    columns: Sequence[NDArray[Any]],
    sift: Callable[[list[Any]], list[Any]],
) -> Iterator[Any]:
    """`map_blocks` in other processes, in one piece of work, while which `look_up` is called."""
    meanwhile = None
    if look_up is not None:
        look_up(X.shape[0] * X.shape[1])
        meanwhile = partial(look_up, 0)
    asked: list[NDArray[Any]] = []
    if among is not None:
        asked = [np.zeros(X.shape[0], np.bool_)]
        asked[0][among] = True
    assert X.far is not None
    task = partial(_on_matrix, task, among is not None, sift)
    for found in X.far.map(task, *asked, *columns, look_up=meanwhile):
        yield from found


def _on_matrix(
    task: Callable[..., Any],
    some: bool,
    sift: Callable[[list[Any]], list[Any]],
    matrix: Any,
    first: int,
    *columns: NDArray[Any],
) -> list[Any]:
    """What a task finds in each block of a matrix, where that is."""
    among = None
    if some:
        asked, *columns = columns  # type: ignore[assignment]
        among = first + np.flatnonzero(asked)
    found = []
    with np.errstate(all="ignore"):
        for block, rows in _parts(matrix, first, 0, matrix.shape[0], among):
            here = slice(rows.start - first, rows.stop - first) if not some else rows - first
            found.append(task(block, rows, *(column[here] for column in columns)))
    return sift(found)


def _edges(matrix: Any) -> list[int]:
    """Row numbers, from the first to beyond the last, with about `SPAN` entries in between."""
    m, d = shape(matrix)
    if not hasattr(matrix, "indptr"):
        return [*range(0, m, max(1, SPAN // max(d, 1))), m]
    wanted = np.arange(SPAN, matrix.indptr[-1], SPAN)
    inner = np.searchsorted(matrix.indptr, wanted)
    rows = np.arange(SPAN, m, SPAN)  # of empty rows there may be many
    return [0, *np.setdiff1d(np.append(inner, rows), [0, m]).tolist(), m]


def _parts(
    matrix: Any, first: int, start: int, stop: int, among: Ints | None
) -> Iterator[tuple[RowBlock, Any]]:
    """The blocks of some rows of a matrix, and their numbers where its first one is `first`."""
    while start < stop:
        end = min(end_of_block(matrix, start), stop)
        rows, block = slice(first + start, first + end), block_of(matrix, start, end)
        if among is None:
            yield block, rows
        else:
            low, high = np.searchsorted(among, [rows.start, rows.stop])
            if low < high:
                some = among[low:high]
                yield block if high - low == len(block) else block.take(some - rows.start), some
        start = end

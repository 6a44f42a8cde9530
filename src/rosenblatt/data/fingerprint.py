"""A fingerprint of all that a source holds: the same for the same rows, however they come.

Each number is mixed with its column, each row's sum of these with its label, its weight and its
number, and the rows are summed in 64-bit integers, twice with different mixing. Such sums do not
depend on the order of their terms: neither blocks nor threads matter. (The mixing is the finaliser
of MurmurHash3 by A. Appleby with the steps of SplitMix64: G. L. Steele, D. Lea and C. H. Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014.) It tells data apart that differ by
accident, by a single bit or by any number; it is no protection against those who want a clash.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.data.compiled import inlined, loop, part_of_loops
from rosenblatt.data.rows import Block, DenseRows, n_entries
from rosenblatt.data.sources import map_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Piece, Source

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
OTHER = np.uint64(0xD6E8FEB86659FD93)
THIRTY, MIDDLE, LATE = np.uint64(30), np.uint64(27), np.uint64(31)
ONE = np.uint64(1)


def bits(x: Any) -> Any:
    """The 64 bits of a number, as float64."""
    return np.float64(x).view(np.uint64)


@inlined(bits)
def _bits(x: Any) -> Any:
    def compiled(x: Any) -> Any:
        return _as_integer(np.float64(x))  # type: ignore[call-arg]

    return compiled


@intrinsic
def _as_integer(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@part_of_loops
def mixed(x: Any) -> Any:
    """Every bit of the result depends on every bit of x, and no two x have the same."""
    x = (x ^ (x >> THIRTY)) * FIRST
    x = (x ^ (x >> MIDDLE)) * SECOND
    return x ^ (x >> LATE)


@part_of_loops
def mixed_again(x: Any) -> Any:
    """The same with other numbers, for what is mixed already."""
    return (x ^ (x >> LATE)) * OTHER


def row_sums(rows: Any, i: Any) -> Any:
    """The two sums over the entries of row i, each mixed with its column."""
    first = second = np.uint64(0)
    if isinstance(rows, DenseRows):
        columns, entries = np.arange(rows.X.shape[1], dtype=np.uint64), rows.X[i]
    else:
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        columns, entries = rows.indices[part].astype(np.uint64), rows.data[part]
    for j, x in zip(columns, entries, strict=True):
        one = mixed(bits(x) + STEP * (j + ONE))
        first, second = first + one, second + mixed_again(one)
    return first, second


@inlined(row_sums)
def _row_sums(rows: Any, i: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any) -> Any:
            x, first, second, key = rows.X[i], np.uint64(0), np.uint64(0), np.uint64(0)
            for j in range(len(x)):
                key += STEP
                one = mixed(bits(x[j]) + key)
                first, second = first + one, second + mixed_again(one)
            return first, second

        return dense

    def csr(rows: Any, i: Any) -> Any:
        first, second = np.uint64(0), np.uint64(0)
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            k = np.uint64(entry)
            key = STEP * (np.uint64(rows.indices[k]) + ONE)
            one = mixed(bits(rows.data[k]) + key)
            first, second = first + one, second + mixed_again(one)
        return first, second

    return csr


@loop
def add_rows(block: Block, base: Any, start: int, stop: int, sums: Any) -> None:
    """Add rows `start` to `stop` of a block to the two sums; its first row has number `base`."""
    for row in range(start, stop):
        i = np.uint64(row)
        first, second = row_sums(block.rows, i)
        own = mixed(np.uint64(block.label[i]) + STEP * (np.uint64(base) + i + ONE))
        if block.weight.size:
            own = mixed(own + bits(block.weight[i]))
        sums[0] += mixed(first + own)
        sums[1] += mixed(second ^ own)


class Threads(Protocol):
    """What maps a function over tasks, side by side, and cuts rows for them."""

    def each(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """``task(item)`` for every item."""
        ...

    def ranges(self, n: int, entries: int) -> list[tuple[int, int]]:
        """0 to n cut into ranges of rows."""
        ...


def _of_block(piece: Piece, threads: Threads) -> tuple[Any, bool, NDArray[np.float64]]:
    """The two sums of a block, whether it is dense, and its class factors."""
    block, n = piece.block, piece.length

    def add(part: tuple[int, int]) -> Any:
        found = np.zeros(2, np.uint64)
        with np.errstate(over="ignore"):  # in plain Python
            add_rows(block, piece.start, *part, found)
        return found

    sums = sum(threads.each(add, threads.ranges(n, n_entries(block.rows))), np.zeros(2, np.uint64))
    return sums, isinstance(block.rows, DenseRows), block.factor


def fingerprint(source: Source, threads: Threads, *more: NDArray[Any]) -> str:
    """A digest of the rows, labels, weights and class factors of a source, and of `more` arrays.

    Numbers have the same bits if they are equal, but for zero, which has two. Dense and sparse
    rows differ: sums over them are rounded in another order.
    """
    sums, factor, dense = np.zeros(2, np.uint64), np.empty((0, 0)), False
    for found, dense, factor in map_pieces(source, _of_block, threads):  # noqa: B007
        sums += found
    whole = hashlib.blake2b(digest_size=16)
    sizes = np.array([source.n_rows, source.n_features, dense, factor.size, len(more)], "<i8")
    for part in (sizes, sums.astype("<u8"), factor.astype("<f8"), *more):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()

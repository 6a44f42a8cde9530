"""The dot product, always added in the same order.

Compilers speed up a sum by re-associating it, and how they do so depends on the processor and on
where the code is inlined; the last bits of the result then depend on them too. Here the order is
written down once: sixteen running sums, halved to eight, four, two and one, the leftover entries
joining at the stage that has their width. Products and sums are rounded separately (never fused).
Hence the same bits on every machine, in every loop, and in plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.data.compiled import inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = 16
LINE = 64  # bytes that the memory brings at a time
INDEX = ir.IntType(64)


def aligned(vectors: Any) -> NDArray[np.float64]:
    """A copy of vectors, one in a row, that each begin where a line of the cache does.

    No load of a dot product then has to wait for two lines. Rows are filled up with zeros.
    """
    (k, n), per_line = np.shape(vectors), LINE // 8
    width = -(-n // per_line) * per_line
    room = np.zeros(k * width + per_line)
    first = -room.__array_interface__["data"][0] % LINE // 8
    rows = room[first : first + k * width].reshape(k, width)
    rows[:, :n] = vectors
    return rows


def dot(x: Any, w: Any) -> Any:
    """``Σ_j x_j w_j`` in float64, always added in the same order."""
    x, w = np.asarray(x, dtype=np.float64), np.asarray(w, dtype=np.float64)
    n, j, width = len(x), 0, LANES
    sums = np.zeros(width)
    while j + width <= n:
        sums += x[j : j + width] * w[j : j + width]
        j += width
    while width > 1:
        width //= 2
        sums = sums[:width] + sums[width:]
        if j + width <= n:
            sums += x[j : j + width] * w[j : j + width]
            j += width
    return sums[0]


def two_dots(x: Any, w: Any, v: Any) -> tuple[Any, Any]:
    """``x·w`` and ``x·v``, the same as `dot` has them, in one reading of x."""
    return dot(x, w), dot(x, v)


@inlined(dot)
def _dot(x: Any, w: Any) -> Any:
    def compiled(x: Any, w: Any) -> Any:
        return _dot_lanes(x, w)  # type: ignore[call-arg]  # the compiler adds the context

    return compiled


@inlined(two_dots)
def _two_dots(x: Any, w: Any, v: Any) -> Any:
    def compiled(x: Any, w: Any, v: Any) -> Any:
        return _two_dots_lanes(x, w, v)  # type: ignore[call-arg]

    return compiled


@intrinsic
def _dot_lanes(typing_context: Any, x: Any, w: Any) -> Any:
    """`dot` for two contiguous arrays of float32 or float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _sums(context, builder, signature, args)[0]

    return (types.float64(x, w), generate) if _contiguous(x, w) else None


@intrinsic
def _two_dots_lanes(typing_context: Any, x: Any, w: Any, v: Any) -> Any:
    """`two_dots` for such arrays."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        both = _sums(context, builder, signature, args)
        return context.make_tuple(builder, signature.return_type, both)

    pair: Any = types.UniTuple(types.float64, 2)  # type: ignore[no-untyped-call]
    return (pair(x, w, v), generate) if _contiguous(x, w, v) else None


def _contiguous(*arrays: Any) -> bool:
    return all(isinstance(a, types.Array) and a.ndim == 1 and a.layout == "C" for a in arrays)


def _sums(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """The dot products of the first array with each of the others."""
    arrays = [
        (context.make_array(kind)(context, builder, value), context.get_data_type(kind.dtype))
        for kind, value in zip(signature.args, args, strict=True)
    ]
    n = builder.extract_value(arrays[0][0].shape, 0)
    whole = builder.and_(n, INDEX(-LANES))
    sums = _sums_of_whole(builder, arrays, whole)
    return _sums_of_rest(builder, arrays, n, whole, sums)


def _with_products(builder: Any, arrays: Any, j: Any, width: int, sums: list[Any]) -> list[Any]:
    """Each sum with ``x[j:j+width] * w[j:j+width]`` added, in doubles."""
    wide = ir.VectorType(ir.DoubleType(), width)
    factors = []
    for array, kind in arrays:
        narrow = ir.VectorType(kind, width)
        address = builder.bitcast(builder.gep(array.data, [j]), narrow.as_pointer())
        values = builder.load(address, align=8 if kind == ir.DoubleType() else 4)
        factors.append(values if narrow == wide else builder.fpext(values, wide))
    x, *others = factors
    return [builder.fadd(s, builder.fmul(x, w)) for s, w in zip(sums, others, strict=True)]


def _sums_of_whole(builder: Any, arrays: Any, whole: Any) -> list[Any]:
    """The running sums of all lanes, over the first `whole` entries."""
    before = builder.block
    loop = builder.append_basic_block("dot.all")
    after = builder.append_basic_block("dot.halves")
    zeros = ir.Constant(ir.VectorType(ir.DoubleType(), LANES), [0.0] * LANES)
    builder.cbranch(builder.icmp_signed(">", whole, INDEX(0)), loop, after)

    builder.position_at_end(loop)
    j, sums = builder.phi(INDEX), [builder.phi(zeros.type) for _ in arrays[1:]]
    more = _with_products(builder, arrays, j, LANES, sums)
    ahead = builder.add(j, INDEX(LANES))
    firsts = [INDEX(0), *[zeros] * len(sums)]
    for phi, first, then in zip([j, *sums], firsts, [ahead, *more], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed("<", ahead, whole), loop, after)

    builder.position_at_end(after)
    return [_joined(builder, (zeros, before), (one, loop)) for one in more]


def _sums_of_rest(builder: Any, arrays: Any, n: Any, j: Any, sums: list[Any]) -> list[Any]:
    """The sums halved until one is left; entries from j on join where there are enough lanes."""
    width = LANES
    while width > 1:
        width //= 2
        sums = [
            builder.fadd(*(_lanes(builder, one, start, width) for start in (0, width)))
            for one in sums
        ]
        here = builder.block
        with builder.if_then(builder.icmp_signed("!=", builder.and_(n, INDEX(width)), INDEX(0))):
            inside = builder.block
            more = _with_products(builder, arrays, j, width, sums)
            ahead = builder.add(j, INDEX(width))
        j, *sums = [
            _joined(builder, (skipped, here), (taken, inside))
            for skipped, taken in zip([j, *sums], [ahead, *more], strict=True)
        ]
    return [builder.extract_element(one, ir.IntType(32)(0)) for one in sums]


def _joined(builder: Any, *ways: tuple[Any, Any]) -> Any:
    """The value that comes with the way taken."""
    phi = builder.phi(ways[0][0].type)
    for value, block in ways:
        phi.add_incoming(value, block)
    return phi


def _lanes(builder: Any, vector: Any, start: int, width: int) -> Any:
    """Some lanes of a vector."""
    numbers = ir.Constant(ir.VectorType(ir.IntType(32), width), [*range(start, start + width)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), numbers)

"""A dot product with a fixed order of additions, spelled out in vector instructions.

Compilers speed up a sum by re-associating it, and how they do so depends on the processor and on
where the code is inlined; the last bits of the result then depend on them too. Here the order is
written down once: sixteen running sums, halved to eight, four, two and one, the leftover entries
joining at the stage that has their width. Products and sums are rounded separately (never fused).
Hence the same bits on every machine, in every loop, and in plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.data.compiled import inlined

LANES = 16


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


@inlined(dot)
def _dot(x: Any, w: Any) -> Any:
    def compiled(x: Any, w: Any) -> Any:
        return _dot_lanes(x, w)  # type: ignore[call-arg]  # the compiler adds the context

    return compiled


@intrinsic
def _dot_lanes(typing_context: Any, x: Any, w: Any) -> Any:
    """`dot` for two contiguous arrays of float32 or float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        xs, ws = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        )
        index = ir.IntType(64)
        n = builder.extract_value(xs.shape, 0)

        def products(j: Any, width: int) -> Any:
            """``x[j:j+width] * w[j:j+width]`` as a vector of doubles."""
            wide = ir.VectorType(ir.DoubleType(), width)
            factors = []
            for array, kind in ((xs, signature.args[0]), (ws, signature.args[1])):
                narrow = ir.VectorType(context.get_data_type(kind.dtype), width)
                address = builder.bitcast(builder.gep(array.data, [j]), narrow.as_pointer())
                values = builder.load(address, align=kind.dtype.bitwidth // 8)
                factors.append(values if narrow == wide else builder.fpext(values, wide))
            return builder.fmul(*factors)

        def part(vector: Any, start: int, width: int) -> Any:
            lanes = ir.Constant(
                ir.VectorType(ir.IntType(32), width), [*range(start, start + width)]
            )
            return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)

        before = builder.block
        loop = builder.append_basic_block("dot.all")
        after = builder.append_basic_block("dot.halves")
        zeros = ir.Constant(ir.VectorType(ir.DoubleType(), LANES), [0.0] * LANES)
        whole = builder.and_(n, index(-LANES))
        builder.cbranch(builder.icmp_signed(">", whole, index(0)), loop, after)

        builder.position_at_end(loop)
        j, sums = builder.phi(index), builder.phi(zeros.type)
        more, ahead = builder.fadd(sums, products(j, LANES)), builder.add(j, index(LANES))
        for phi, first, then in ((j, index(0), ahead), (sums, zeros, more)):
            phi.add_incoming(first, before)
            phi.add_incoming(then, loop)
        builder.cbranch(builder.icmp_signed("<", ahead, whole), loop, after)

        builder.position_at_end(after)
        sums = builder.phi(zeros.type)
        sums.add_incoming(zeros, before)
        sums.add_incoming(more, loop)
        j, width = whole, LANES
        while width > 1:
            width //= 2
            sums = builder.fadd(part(sums, 0, width), part(sums, width, width))
            here = builder.block
            with builder.if_then(
                builder.icmp_signed("!=", builder.and_(n, index(width)), index(0))
            ):
                inside = builder.block
                more = builder.fadd(sums, products(j, width))
                ahead = builder.add(j, index(width))
            joined, moved = builder.phi(sums.type), builder.phi(index)
            for phi, skipped, taken in ((joined, sums, more), (moved, j, ahead)):
                phi.add_incoming(skipped, here)
                phi.add_incoming(taken, inside)
            sums, j = joined, moved
        return builder.extract_element(sums, ir.IntType(32)(0))

    for array in (x, w):
        if not (isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"):
            return None
    return types.float64(x, w), generate

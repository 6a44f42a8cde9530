"""How many rows many vectors get wrong: products in single precision, in panels of vectors.

A panel is some vectors side by side, ``W[j, t]`` the j-th number of the t-th. Four rows at a time
are multiplied with a whole panel in the registers of the processor, and the signs counted at once,
so that no product is ever written to memory, and no thread waits for another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.data.compiled import inlined, loop, part_of_loops
from rosenblatt.data.dots import INDEX
from rosenblatt.data.rows import Block, DenseRows, fetch_row, weight_of

WIDTH = 64  # vectors in a panel
LANES = 16  # of them in a register
FOUR = 4  # rows at a time
AT_HAND = 1 << 13  # numbers of panels that stay in the nearest cache
LOOK = 1024  # rows after which to see whether any vector is left
AHEAD = 16  # rows that the memory is asked for before their turn
FLOAT, LANE = ir.FloatType(), ir.IntType(32)


def multiply_four(near: Any, W: Any, sums: Any) -> None:
    """``sums = near @ W``, added in the order of the features, in single precision."""
    sums[:] = 0
    for j in range(len(W)):
        sums += near[:, j : j + 1] * W[j]


@inlined(multiply_four)
def _multiply_four(near: Any, W: Any, sums: Any) -> Any:
    def compiled(near: Any, W: Any, sums: Any) -> None:
        _four_rows(near, W, sums)  # type: ignore[call-arg]  # the compiler adds the context

    return compiled


@intrinsic
def _four_rows(typing_context: Any, near: Any, W: Any, sums: Any) -> Any:
    """`multiply_four` for contiguous arrays of float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near, W, sums = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        )
        n = builder.extract_value(W.shape, 0)
        totals = _sum_products(builder, near.data, W.data, n)
        for r in range(FOUR):
            for g, total in enumerate(totals[r]):
                builder.store(total, _lanes_at(builder, sums.data, INDEX(r * WIDTH + g * LANES)), 4)
        return context.get_dummy_value()

    return types.void(near, W, sums), generate


def _lanes_at(builder: Any, data: Any, k: Any) -> Any:
    """The address of the k-th number and those that follow it."""
    vector = ir.VectorType(FLOAT, LANES)
    return builder.bitcast(builder.gep(data, [k]), vector.as_pointer())


def _sum_products(builder: Any, near: Any, W: Any, n: Any) -> list[list[Any]]:
    """The sums over n features, for each row and each group of lanes."""
    zeros = ir.Constant(ir.VectorType(FLOAT, LANES), [0.0] * LANES)
    before, body = builder.block, builder.append_basic_block("panel.features")
    after = builder.append_basic_block("panel.done")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(INDEX)
    sums = [[builder.phi(zeros.type) for _ in range(WIDTH // LANES)] for _ in range(FOUR)]
    start = builder.mul(j, INDEX(WIDTH))
    panel = [
        builder.load(_lanes_at(builder, W, builder.add(start, INDEX(g * LANES))), align=4)
        for g in range(WIDTH // LANES)
    ]
    more = []
    for r in range(FOUR):
        place = builder.add(builder.mul(n, INDEX(r)), j)
        x = _splat(builder, builder.load(builder.gep(near, [place])))
        more.append(
            [builder.fadd(s, builder.fmul(x, w)) for s, w in zip(sums[r], panel, strict=True)]
        )
    ahead = builder.add(j, INDEX(1))
    builder.cbranch(builder.icmp_signed("<", ahead, n), body, after)
    j.add_incoming(INDEX(0), before)
    j.add_incoming(ahead, body)
    for r in range(FOUR):
        for s, then in zip(sums[r], more[r], strict=True):
            s.add_incoming(zeros, before)
            s.add_incoming(then, body)
    builder.position_at_end(after)
    return more


def _splat(builder: Any, value: Any) -> Any:
    """The same number in every lane."""
    undefined = ir.Constant(ir.VectorType(FLOAT, LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, LANE(0))
    places = ir.Constant(ir.VectorType(LANE, LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, places)


def bring_near(rows: Any, listed: Any, scale: Any, bias: float, near: Any) -> None:
    """``near[r] = scale[r] (x, bias)`` of the r-th listed row, where rows are dense."""
    if not isinstance(rows, DenseRows):
        return
    for r in range(len(listed)):
        near[r, :-1] = (scale[r] * rows.X[listed[r]].astype(np.float64)).astype(np.float32)
        near[r, -1] = np.float32(scale[r] * bias)


@inlined(bring_near)
def _bring_near(rows: Any, listed: Any, scale: Any, bias: float, near: Any) -> Any:
    def dense(rows: Any, listed: Any, scale: Any, bias: float, near: Any) -> None:
        for r in range(len(listed)):
            x = rows.X[np.uint64(listed[r])]
            for j in range(len(x)):
                near[r, j] = np.float32(scale[r] * x[j])
            near[r, len(x)] = np.float32(scale[r] * bias)

    def csr(rows: Any, listed: Any, scale: Any, bias: float, near: Any) -> None:
        pass

    return dense if rows.instance_class is DenseRows else csr


def multiply(rows: Any, listed: Any, scale: Any, bias: float, near: Any, W: Any, sums: Any) -> None:
    """``sums[r] = scale[r] (x, bias)·W`` for the listed rows, at most four, brought near."""
    if isinstance(rows, DenseRows):
        multiply_four(near, W, sums)
        return
    for r in range(len(listed)):
        sums[r] = 0
        for entry in range(rows.indptr[listed[r]], rows.indptr[listed[r] + 1]):
            x = np.float32(scale[r] * np.float64(rows.data[entry]))
            sums[r] += x * W[rows.indices[entry]]
        sums[r] += np.float32(scale[r] * bias) * W[-1]


@inlined(multiply)
def _multiply(rows: Any, listed: Any, scale: Any, bias: float, near: Any, W: Any, sums: Any) -> Any:
    def dense(
        rows: Any, listed: Any, scale: Any, bias: float, near: Any, W: Any, sums: Any
    ) -> None:
        multiply_four(near, W, sums)

    def csr(rows: Any, listed: Any, scale: Any, bias: float, near: Any, W: Any, sums: Any) -> None:
        for r in range(len(listed)):
            total, i = sums[r], np.uint64(listed[r])
            total[:] = 0.0
            for entry in range(rows.indptr[i], rows.indptr[i + 1]):
                x, w = np.float32(scale[r] * rows.data[entry]), W[rows.indices[entry]]
                for t in range(WIDTH):
                    total[t] += x * w[t]
            x, w = np.float32(scale[r] * bias), W[len(W) - 1]
            for t in range(WIDTH):
                total[t] += x * w[t]

    return dense if rows.instance_class is DenseRows else csr


class Work(NamedTuple):
    """Room for four rows: as numbers in single precision; products, of all and by class; scales."""

    near: Any
    sums: Any
    own: Any
    rivals: Any
    scale: Any


def room(size: int) -> Work:
    """Room to multiply rows with vectors of so many numbers."""
    sums, own, rivals = np.zeros((3, FOUR, WIDTH), np.float32)
    return Work(np.zeros((FOUR, size), np.float32), sums, own, rivals, np.zeros(FOUR))


@part_of_loops
def bring(block: Block, positive: int, bias: float, listed: Any, k: int, norm: Any, w: Work) -> Any:
    """The k-th listed row and those that follow, at most four, ready to be multiplied."""
    some = listed[k : min(k + FOUR, len(listed))]
    for r in range(len(some)):
        if k + r + AHEAD < len(listed):
            fetch_row(block.rows, np.uint64(listed[k + r + AHEAD]))
        y = 1.0 if positive < 0 or block.label[some[r]] == positive else -1.0
        w.scale[r] = y / norm[some[r]]
    bring_near(block.rows, some, w.scale, bias, w.near)
    return len(some)


@part_of_loops
def write_leads(block: Block, bias: float, some: Any, panel: Any, w: Work) -> None:
    """``y(w·x + b)/‖(x, 1)‖`` of some rows for every vector of a panel.

    Where all classes are one problem, ``panel[c]`` are the hyperplanes of class c, and it is how
    far the own class is ahead of its strongest rival.
    """
    if len(panel) == 1:
        multiply(block.rows, some, w.scale, bias, w.near, panel[0], w.sums)
        return
    for r in range(FOUR):
        for t in range(WIDTH):
            w.rivals[r, t] = -np.inf
    for c in range(len(panel)):
        multiply(block.rows, some, w.scale, bias, w.near, panel[c], w.sums)
        for r in range(len(some)):
            own = block.label[some[r]] == c
            for t in range(WIDTH):
                if own:
                    w.own[r, t] = w.sums[r, t]
                else:
                    w.rivals[r, t] = max(w.rivals[r, t], w.sums[r, t])
    for r in range(len(some)):
        for t in range(WIDTH):
            w.sums[r, t] = w.own[r, t] - w.rivals[r, t]


@part_of_loops
def any_within(errors: Any, limit: float) -> bool:
    """Whether any vector has at most so many errors."""
    left = 0
    for t in range(WIDTH):
        left += errors[t] <= limit
    return left > 0


@part_of_loops
def add_errors(block: Block, positive: int, some: Any, slack: Any, sums: Any, errors: Any) -> None:
    """Add the weight of each of the rows that is below ``-slack[t]`` to ``errors[t]``."""
    if len(some) == FOUR and not block.weight.size and not block.factor.size:
        a, b, c, d = sums[0], sums[1], sums[2], sums[3]
        for t in range(WIDTH):
            least = -slack[t]
            wrong = np.float32(a[t] < least) + np.float32(b[t] < least)
            errors[t] += wrong + np.float32(c[t] < least) + np.float32(d[t] < least)
        return
    for r in range(len(some)):
        own = block.label[some[r]] if positive < 0 else positive
        weight = weight_of(block, own, some[r])
        for t in range(WIDTH):
            errors[t] += weight if sums[r, t] < -slack[t] else 0.0


@loop
def count_sure_errors(
    block: Block,
    positive: int,
    bias: float,
    listed: Any,
    norm: Any,
    panels: Any,
    slack: Any,
    limit: float,
    work: Work,
    errors: Any,
) -> None:
    """Add to ``errors[p, t]`` the weight of the listed rows that the t-th of panel p gets wrong.

    Surely: a lead is off by at most ``slack[p, t]``, and a row within that of the hyperplane is not
    counted. A panel is done with when all its vectors have more than `limit`. A row whose norm is
    infinite says nothing.
    """
    together = max(1, AT_HAND // panels[0].size)
    for first in range(0, len(listed), LOOK):
        rows = listed[first : min(first + LOOK, len(listed))]
        left = 0
        for start in range(0, len(panels), together):
            stop = min(start + together, len(panels))
            for p in range(start, stop):
                left += any_within(errors[p], limit)
            for k in range(0, len(rows) if left else 0, FOUR):
                some = rows[k : k + bring(block, positive, bias, rows, k, norm, work)]
                for p in range(start, stop):
                    write_leads(block, bias, some, panels[p], work)
                    add_errors(block, positive, some, slack[p], work.sums, errors[p])
        if not left:
            return


@loop
def count_wrong(
    block: Block,
    positive: int,
    bias: float,
    listed: Any,
    norm: Any,
    panel: Any,
    work: Work,
    counts: Any,
) -> None:
    """Write how many vectors of a panel seem to get each of the listed rows wrong, by weight."""
    for k in range(0, len(listed), FOUR):
        some = listed[k : k + bring(block, positive, bias, listed, k, norm, work)]
        write_leads(block, bias, some, panel, work)
        for r in range(len(some)):
            wrong = 0
            for t in range(WIDTH):
                wrong += work.sums[r, t] < 0
            own = block.label[some[r]] if positive < 0 else positive
            counts[k + r] = wrong * weight_of(block, own, some[r])

"""Passes over the samples of a soft-margin problem; most do not touch the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.dots import dot
from rosenblatt.data.rows import Block, CsrRows, DenseRows, Rows, add_row, row_dot, row_norm2

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Multipliers(NamedTuple):
    """What coordinate descent knows of each sample: its class, and the bound of its multiplier.

    `scale` is how far its slack falls for each unit of the multiplier, or 0 if nobody knows yet.
    """

    y: NDArray[np.int8]
    c: NDArray[np.float64]
    scale: NDArray[np.float64]
    alpha: NDArray[np.float64]


# What is known of each sample of a part: written from `start` to `stop` --------------------------


@loop
def clip(
    y: Any, s: Any, c: Any, alpha: Any, reach: float, mu: float, b: float, start: int, stop: int,
    out: Any,
) -> None:  # fmt: skip
    """Write the multipliers ``clip(α + k t/μ, 0, c)``, with ``k = min(c/2, reach)``.

    The slacks are ``t = 1 - s - yb``.
    """
    for i in range(start, stop):
        a = alpha[i] + min(0.5 * c[i], reach) * (1.0 - s[i] - y[i] * b) / mu
        a = a if a > 0.0 else 0.0
        out[i] = c[i] if a >= c[i] else a


@loop
def bend(c: Any, a: Any, reach: float, mu: float, start: int, stop: int, out: Any) -> None:
    """Write by how much the multipliers that are not clipped bend the function: ``k/μ``."""
    for i in range(start, stop):
        inside = (a[i] > 0.0) & (a[i] < c[i])
        out[i] = min(0.5 * c[i], reach) / mu if inside else 0.0


@loop
def shift(s: Any, ds: Any, step: float, start: int, stop: int, out: Any) -> None:
    """Write ``s + step ds``."""
    for i in range(start, stop):
        out[i] = s[i] + step * ds[i]


@loop
def awaken(
    y: Any, s: Any, before: Any, c: Any, alpha: Any, b: float, times: float, least: float,
    start: int, stop: int, out: Any,
) -> None:  # fmt: skip
    """Write which samples are not held at a bound by `times` as much as their values moved.

    By at least `least` of it, that is; those without a price are not awake.
    """
    for i in range(start, stop):
        t = 1.0 - s[i] - y[i] * b
        held = t if alpha[i] == c[i] else 0.0
        held = -t if alpha[i] == 0.0 else held
        moved = abs(s[i] - before[i])
        out[i] = (c[i] > 0.0) & (held <= times * (moved if moved > least else least))


@loop
def near(y: Any, s: Any, c: Any, b: float, reach: float, start: int, stop: int, out: Any) -> None:
    """Write which samples have a price and are within `reach` of the margin."""
    for i in range(start, stop):
        out[i] = (c[i] > 0.0) & (abs(1.0 - s[i] - y[i] * b) <= reach)


@loop
def settle(
    y: Any, s: Any, c: Any, alpha: Any, close: Any, b: float, start: int, stop: int, out: Any
) -> None:
    """Write the multipliers, those of samples that are not `close` at the bound they belong to."""
    for i in range(start, stop):
        if close[i]:
            out[i] = alpha[i]
        else:
            out[i] = c[i] if 1.0 - s[i] - y[i] * b > 0.0 else 0.0


@loop
def as_elsewhere(
    y: Any, s: Any, c: Any, alpha: Any, close: Any, b: float, inside: float, outside: float,
    start: int, stop: int, out: Any,
) -> None:  # fmt: skip
    """Write the multipliers, those of samples that are `close` as shares of their prices.

    One share is for samples inside of the margin, and one for those outside.
    """
    for i in range(start, stop):
        share = inside if 1.0 - s[i] - y[i] * b > 0.0 else outside
        out[i] = share * c[i] if close[i] else alpha[i]


# Sums over tiles: tile k has rows ``edges[k]`` to ``edges[k+1]``, and its sum is ``out[k-first]`` -


@loop
def measure(
    y: Any, s: Any, c: Any, a: Any, b: float, edges: Any, first: int, last: int, out: Any
) -> None:
    """Add, for multipliers a and slacks ``t = 1 - s - yb``, five sums over samples.

    How many multipliers are between their bounds; ``Σ a``; ``Σ y a``; the loss ``Σ c max(0, t)``;
    and ``Σ c max(0, t) - a t``. (A sample with an infinite c has no part in the loss, and ``|a t|``
    in the last sum.)
    """
    for k in range(first, last):
        count, total, balance = out[k - first, 0], out[k - first, 1], out[k - first, 2]
        loss, rest = out[k - first, 3], out[k - first, 4]
        for i in range(edges[k], edges[k + 1]):
            t = 1.0 - s[i] - y[i] * b
            count += 1.0 if (a[i] > 0.0) & (a[i] < c[i]) else 0.0
            total += a[i]
            balance += y[i] * a[i]
            if c[i] == np.inf:
                rest += abs(a[i] * t)
            else:
                hinge = c[i] * max(t, 0.0)
                loss += hinge
                rest += hinge - a[i] * t
        out[k - first, 0], out[k - first, 1], out[k - first, 2] = count, total, balance
        out[k - first, 3], out[k - first, 4] = loss, rest


@loop
def slopes(
    y: Any, s: Any, ds: Any, c: Any, alpha: Any, reach: float, mu: float, b: float, db: float,
    step: float, edges: Any, first: int, last: int, out: Any,
) -> None:  # fmt: skip
    """Add ``Σ a (ds + y db)`` with the multipliers a after a step along (ds, db)."""
    for k in range(first, last):
        total = out[k - first, 0]
        for i in range(edges[k], edges[k + 1]):
            d = ds[i] + y[i] * db
            t = 1.0 - s[i] - y[i] * b - step * d
            a = alpha[i] + min(0.5 * c[i], reach) * t / mu
            total += min(max(a, 0.0), c[i]) * d
        out[k - first, 0] = total


@loop
def losses(
    y: Any, s: Any, before: Any, c: Any, b: float, edges: Any, first: int, last: int, out: Any
) -> None:
    """Add ``Σ c max(0, 1 - s - yb)``, and ``Σ |s - before|``."""
    for k in range(first, last):
        loss, moves = out[k - first, 0], out[k - first, 1]
        for i in range(edges[k], edges[k + 1]):
            loss += c[i] * max(1.0 - s[i] - y[i] * b, 0.0)
            moves += abs(s[i] - before[i])
        out[k - first, 0], out[k - first, 1] = loss, moves


@loop
def hefts(y: Any, u: Any, unit: float, edges: Any, first: int, last: int, out: Any) -> None:
    """Add ``Σ u/unit`` of class -1, and of class +1."""
    for k in range(first, last):
        others, own = out[k - first, 0], out[k - first, 1]
        for i in range(edges[k], edges[k + 1]):
            part = u[i] / unit
            others += 0.0 if y[i] > 0 else part
            own += part if y[i] > 0 else 0.0
        out[k - first, 0], out[k - first, 1] = others, own


@loop
def pulls(rows: Rows, y: Any, u: Any, edges: Any, first: int, last: int, out: Any) -> None:
    """Add ``Σ u x`` of class -1, and behind it that of class +1."""
    for k in range(first, last):
        d = out.shape[1] // 2
        for i in range(edges[k], edges[k + 1]):
            if u[i] != 0.0:
                at = d if y[i] > 0 else 0
                add_row(rows, np.uint64(i), u[i], out[k - first, at : at + d])


@loop
def ranks(
    y: Any, s: Any, c: Any, low: float, high: float, unit: float, edges: Any, first: int,
    last: int, out: Any,
) -> None:  # fmt: skip
    """Add ``Σ c/unit`` over samples with ``y - ys < low``, and over those from there to `high`."""
    for k in range(first, last):
        below, within = out[k - first, 0], out[k - first, 1]
        for i in range(edges[k], edges[k + 1]):
            edge, share = y[i] - y[i] * s[i], c[i] / unit
            below += share if edge < low else 0.0
            within += share if (edge >= low) & (edge <= high) else 0.0
        out[k - first, 0], out[k - first, 1] = below, within


@loop
def centres(rows: DenseRows, u: Any, edges: Any, first: int, last: int, out: Any) -> None:
    """Add ``Σ u x``, and behind it ``Σ u``."""
    for k in range(first, last):
        d = out.shape[1] - 1
        for i in range(edges[k], edges[k + 1]):
            if u[i] != 0.0:
                add_row(rows, np.uint64(i), u[i], out[k - first, :d])
                out[k - first, d] += u[i]


@loop
def curvatures(
    rows: DenseRows, u: Any, centre: Any, edges: Any, first: int, last: int, out: Any
) -> None:
    """Add ``Σ u (x - centre)(x - centre)ᵀ``: the lower triangle, line after line."""
    for k in range(first, last):
        for row in range(edges[k], edges[k + 1]):
            if u[row] != 0.0:
                x, at = rows.X[row], 0
                for i in range(len(centre)):
                    pull = u[row] * (x[i] - centre[i])
                    for j in range(i + 1):
                        out[k - first, at + j] += pull * (x[j] - centre[j])
                    at += i + 1


# Other passes ------------------------------------------------------------------------------------


@loop
def between(
    y: Any, s: Any, c: Any, low: float, high: float, start: int, stop: int, found: Any
) -> int:
    """List the samples with a price and ``low <= y - ys <= high``; returned is how many."""
    count = 0
    for i in range(start, stop):
        edge = y[i] - y[i] * s[i]
        found[count] = i  # written over unless it counts: nobody can guess which does
        count += 1 if (edge >= low) & (edge <= high) & (c[i] > 0.0) else 0
    return count


@loop
def fold(sums: Any) -> None:
    """Add up the sums of all tiles, in a tree of pairs: the first is then that of all."""
    m = len(sums)
    while m > 1:
        for k in range(m // 2):
            for j in range(sums.shape[1]):
                sums[k, j] = sums[2 * k, j] + sums[2 * k + 1, j]
        if m % 2 == 1:
            for j in range(sums.shape[1]):
                sums[m // 2, j] = sums[m - 1, j]
        m = (m + 1) // 2


@loop
def values(rows: Rows, y: Any, theta: Any, start: int, stop: int, out: Any) -> None:
    """Write ``y_i(w·x_i + b)`` of rows `start` to `stop`."""
    w, b = theta[:-1], theta[-1]
    for row in range(start, stop):
        i = np.uint64(row)
        out[i] = y[i] * (row_dot(rows, i, w) + b)


@loop
def closest(
    block: Block, positive: int, theta: Any, b: float, level: float, used: Any, start: int,
    stop: int, found: Any, values: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """The smallest ``s = y(w·x + theta_d)`` of each class among rows `start` to `stop`, +1 first.

    What is not a number is smaller than all that is. Listed are the rows with ``s + yb < level``,
    and these values; returned is how many, too. Where `used` is not empty other rows are left out.
    """
    own, others, count = np.inf, np.inf, 0
    for row in range(start, stop):
        i = np.uint64(row)
        if used.size and not used[i]:
            continue
        y = 1.0 if block.label[i] == positive else -1.0
        s = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        if y > 0.0:
            own = s if s < own or s != s else own
        else:
            others = s if s < others or s != s else others
        s += y * b
        if s < level:
            found[count], values[count] = row, s
            count += 1
    return own, others, count


@loop
def least(s: Any, y: Any) -> tuple[float, float]:
    """The smallest s of class +1, and of class -1."""
    positive, negative = np.inf, np.inf
    for i in range(len(s)):
        if y[i] > 0.0:
            positive = min(positive, s[i])
        else:
            negative = min(negative, s[i])
    return positive, negative


@loop
def total_of(rows: Rows, at: Any, u: Any, out: Any) -> None:
    """``out += Σ u_k x`` over the listed rows."""
    for k in range(len(at)):
        if u[k] != 0.0:
            add_row(rows, np.uint64(at[k]), u[k], out)


@loop
def squares(rows: Rows, at: Any, out: Any) -> None:
    """Write ``‖x‖²`` of the listed rows."""
    for k in range(len(at)):
        out[k] = row_norm2(rows, np.uint64(at[k]))


class Line(NamedTuple):
    """Where coordinate descent stands: the samples it visits are the first `size` of a line.

    ``β Σ α y`` beside `b` is the bias; `total` is ``Σ α``; `low` and `high` are the extremes, in
    the last epoch, of the slacks that no bound explains, and `rest` is what `clip` calls it.
    """

    seed: int
    size: int
    b: float
    balance: float
    total: float
    low: float
    high: float
    rest: float


@loop
def visit(rows: Rows, at: Any, m: Multipliers, order: Any, w: Any, lean: float, line: Line) -> Line:
    """One epoch of coordinate descent, in random order; sample k is row ``at[k]``.

    The multiplier goes to where its own slack, which falls by ``m.scale[k]`` for each unit of it,
    becomes 0, within its bounds. A sample whose slack holds it at a bound more firmly than the
    extremes of the last epoch could shake goes to the end of the line.
    """
    seed, count, balance, total = line.seed, line.size, line.balance, line.total
    low, high, rest, k = 0.0, 0.0, 0.0, 0
    while k < count:
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        j = k + (seed * (count - k) >> 31)
        p = order[j]
        order[j], order[k] = order[k], p
        i, y, a, c = np.uint64(at[p]), m.y[p], m.alpha[p], m.c[p]
        t = 1.0 - y * (row_dot(rows, i, w) + line.b + lean * balance)
        if (a == 0.0 and t < line.low) or (a == c and t > line.high):
            count -= 1
            order[k], order[count] = order[count], p
            continue
        k += 1
        rest += abs(a * t) if c == np.inf else c * max(t, 0.0) - a * t
        if (a == 0.0 and t <= 0.0) or (a == c and t >= 0.0):
            continue
        low, high = min(low, t), max(high, t)
        if m.scale[p] == 0.0:
            m.scale[p] = row_norm2(rows, i) + lean
        m.alpha[p] = min(max(a + t / m.scale[p], 0.0), c)
        step = m.alpha[p] - a
        balance, total = balance + y * step, total + step
        add_row(rows, i, y * step, w)
    return Line(seed, count, line.b + lean * balance, balance, total, low, high, rest)


@loop
def descend(
    rows: Rows,
    at: Any,
    m: Multipliers,
    order: Any,
    w: Any,
    lean: float,
    line: Line,
    tol: float,
    visits: int,
) -> tuple[Line, int, float]:
    """Epochs until so many visits, or until the gap, as far as an epoch can tell, is below `tol`.

    Returned are where it stands, the visits, and that gap.
    """
    done, left = 0, np.inf
    while done < visits:
        size, low, high = line.size, line.low, line.high
        moved = lean * abs(line.balance)  # and with b, every slack
        low = low - moved if low < 0.0 else -np.inf
        high = high + moved if high > 0.0 else np.inf
        if line.low == 0.0 and line.high == 0.0:  # what could move is no longer in the line
            size = len(order)
        begin = Line(line.seed, size, line.b, line.balance, line.total, low, high, line.rest)
        line = visit(rows, at, m, order, w, lean, begin)
        done += max(size, 1)
        bound = line.total - 0.5 * dot(w, w)
        left = line.rest + abs(line.balance) * (1.0 + abs(line.b))
        if m.c[0] == np.inf:  # as far as a sample is inside the margin, this has to be narrower
            left = 2.0 * max(line.high, -line.low) * bound
        left = left / bound if bound > 0.0 else np.inf
        if left <= tol:
            break
    return line, done, left


@loop
def gram(rows: CsrRows, chosen: Any, weight: Any, total: Any, out: Any) -> None:
    """Add ``Σ weight_k x xᵀ`` over the chosen rows, and ``Σ weight_k x``.

    Of the first only the lower triangle with the diagonal.
    """
    for number in range(len(chosen)):
        i = np.uint64(chosen[number])
        add_row(rows, i, weight[number], total)
        start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + np.uint64(1)])
        for k in range(start, stop):
            product = weight[number] * rows.data[k]
            line = out[rows.indices[k]]
            for j in range(start, k + np.uint64(1)):
                line[rows.indices[j]] += product * rows.data[j]

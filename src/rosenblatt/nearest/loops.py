"""Passes over the samples of a soft-margin problem; all but one do not touch the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.dots import dot
from rosenblatt.data.rows import Block, CsrRows, DenseRows, Rows, add_row, row_dot, row_norm2
from rosenblatt.tree_sums import TILE

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Multipliers(NamedTuple):
    """What the loops know of each sample: its class, the bound and the value of its multiplier.

    After a slack of t the multiplier becomes ``α + scale*t/μ``, clipped to 0 and c.
    """

    y: NDArray[np.int8]
    c: NDArray[np.float64]
    scale: NDArray[np.float64]
    alpha: NDArray[np.float64]


@loop
def clip(
    m: Multipliers, s: Any, mu: float, b: float, out: Any, band: Any
) -> tuple[int, float, float, float, float]:
    """Write the multipliers for the slacks ``t_i = 1 - s_i - y_i b``.

    Rows that were not clipped are listed in `band`. Returned are how many these are, ``Σ a_i``,
    ``Σ y_i a_i``, the loss ``Σ c_i max(0, t_i)``, and ``Σ c_i max(0, t_i) - a_i t_i``. (A row
    with an infinite c has no part in the loss, and ``|a_i t_i|`` in the last sum.)
    """
    count, total, balance, loss, rest = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(s)):
        t = 1.0 - s[i] - m.y[i] * b
        a = m.alpha[i] + m.scale[i] * t / mu
        if not a > 0.0:
            a = 0.0
        elif a >= m.c[i]:
            a = m.c[i]
        else:
            band[count] = i
            count += 1
        out[i] = a
        total += a
        balance += m.y[i] * a
        if m.c[i] == np.inf:
            rest += abs(a * t)
        else:
            hinge = m.c[i] * max(t, 0.0)
            loss += hinge
            rest += hinge - a * t
    return count, total, balance, loss, rest


@loop
def losses(s: Any, y: Any, c: Any, b: float, start: int, stop: int, out: Any) -> None:
    """Write ``Σ c_i max(0, 1 - s_i - y_i b)`` over each of the tiles `start` to `stop`."""
    for tile in range(start, stop):
        out[tile] = 0.0
        for i in range(tile * TILE, min((tile + 1) * TILE, len(s))):
            out[tile] += c[i] * max(1.0 - s[i] - y[i] * b, 0.0)


@loop
def moves(s: Any, before: Any, start: int, stop: int, out: Any) -> None:
    """Write ``Σ |s_i - before_i|`` over each of the tiles `start` to `stop`."""
    for tile in range(start, stop):
        out[tile] = 0.0
        for i in range(tile * TILE, min((tile + 1) * TILE, len(s))):
            out[tile] += abs(s[i] - before[i])


@loop
def edges(
    s: Any, y: Any, low: float, high: float, start: int, stop: int, found: Any
) -> tuple[int, int]:
    """List the ``y_i - y_i s_i`` from `low` to `high` among samples `start` to `stop`.

    Returned are how many are below, and how many are listed, from the place `start` on.
    """
    below, listed = 0, 0
    for i in range(start, stop):
        edge = y[i] - y[i] * s[i]
        if edge < low:
            below += 1
        elif edge <= high:
            found[start + listed] = edge
            listed += 1
    return below, listed


@loop
def awaken(
    m: Multipliers, s: Any, before: Any, b: float, times: float, least: float, start: int,
    stop: int, out: Any,
) -> None:  # fmt: skip
    """Write which samples are not held at a bound by `times` as much as their values moved.

    By at least `least` of it, that is; those without a price are not awake.
    """
    for i in range(start, stop):
        t = 1.0 - s[i] - m.y[i] * b
        held = -t if m.alpha[i] == 0.0 else (t if m.alpha[i] == m.c[i] else 0.0)
        out[i] = m.c[i] > 0.0 and held <= times * max(abs(s[i] - before[i]), least)


@loop
def settle(m: Multipliers, s: Any, b: float, reach: float, start: int, stop: int, out: Any) -> None:
    """Put multipliers of samples farther than `reach` from the margin to the bound they belong to.

    Written is which are not so far, and have a price.
    """
    for i in range(start, stop):
        t = 1.0 - s[i] - m.y[i] * b
        out[i] = m.c[i] > 0.0 and abs(t) <= reach
        if not out[i]:
            m.alpha[i] = m.c[i] if t > 0.0 else 0.0


@loop
def slope(m: Multipliers, s: Any, ds: Any, mu: float, b: float, db: float, step: float) -> float:
    """``Σ a_i (ds_i + y_i db)`` with the multipliers `a` after a step along ``(ds, db)``."""
    total = 0.0
    for i in range(len(s)):
        d = ds[i] + m.y[i] * db
        t = 1.0 - s[i] - m.y[i] * b - step * d
        total += min(max(m.alpha[i] + m.scale[i] * t / mu, 0.0), m.c[i]) * d
    return total


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
def totals(
    rows: Rows, u: Any, begin: int, start: int, stop: int, tile: int, out: Any, used: Any
) -> None:
    """Add ``u_i x_i`` of rows `start` to `stop` to the sum of its tile, `out[0]` that of the first.

    Row i has the number `begin` + i in all the data, by which it is in a tile of so many rows;
    `used` counts the rows that were added there.
    """
    first = (begin + start) // tile
    for row in range(start, stop):
        if u[row] != 0.0:
            k = (begin + row) // tile - first
            add_row(rows, np.uint64(row), u[row], out[k])
            used[k] += 1


@loop
def curvatures(
    rows: DenseRows, weight: Any, centre: Any, begin: int, start: int, stop: int, tile: int,
    out: Any, used: Any,
) -> None:  # fmt: skip
    """Add ``weight_i (x_i - centre)(x_i - centre)ᵀ`` of rows to the sums of their tiles, likewise.

    Of the matrix only the lower triangle with the diagonal, line after line.
    """
    first, d = (begin + start) // tile, len(centre)
    for row in range(start, stop):
        if weight[row] != 0.0:
            k, x = (begin + row) // tile - first, rows.X[row]
            at = 0
            for i in range(d):
                pull = weight[row] * (x[i] - centre[i])
                for j in range(i + 1):
                    out[k, at + j] += pull * (x[j] - centre[j])
                at += i + 1
            used[k] += 1


@loop
def total_in(rows: Rows, u: Any, into: Any, out: Any) -> None:
    """Add ``u_i x_i`` of all rows, each to the sum that `into` says."""
    for row in range(len(u)):
        add_row(rows, np.uint64(row), u[row], out[into[row]])


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

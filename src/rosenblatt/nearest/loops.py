"""Passes over the samples of a soft-margin problem; all but one do not touch the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import CsrRows, Rows, add_row

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Multipliers(NamedTuple):
    """What the loops know of each sample: its class, the bound and the value of its multiplier.

    After a slack of t the multiplier becomes ``α + scale*t/μ``, clipped to 0 and c.
    """

    y: NDArray[np.float64]
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
def slope(m: Multipliers, s: Any, ds: Any, mu: float, b: float, db: float, step: float) -> float:
    """``Σ a_i (ds_i + y_i db)`` with the multipliers `a` after a step along ``(ds, db)``."""
    total = 0.0
    for i in range(len(s)):
        d = ds[i] + m.y[i] * db
        t = 1.0 - s[i] - m.y[i] * b - step * d
        total += min(max(m.alpha[i] + m.scale[i] * t / mu, 0.0), m.c[i]) * d
    return total


@loop
def total(rows: Rows, u: Any, start: int, stop: int, out: Any) -> None:
    """``out += Σ u_i x_i`` over rows `start` to `stop`."""
    for row in range(start, stop):
        i = np.uint64(row)
        if u[i] != 0.0:
            add_row(rows, i, u[i], out)


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

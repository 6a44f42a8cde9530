"""The smallest whole weights of a threshold function, by integer programming."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

MOST_FOR_SUMS = 8  # variables; with so few, equal sums are there unless one unit does it


def directions(values: Bools) -> Ints | None:
    """For each variable +1 where the function rises with it, -1 where it falls, 0 where neither.

    None where a function does both with one variable: then no unit computes it, because a unit
    rises with an input if its weight is positive and falls if it is negative.
    """
    n = values.size.bit_length() - 1
    found = np.zeros(n, dtype=np.int64)
    for j in range(n):
        off, on = np.moveaxis(values.reshape(2**j, 2, -1), 1, 0)
        rises, falls = bool((on & ~off).any()), bool((off & ~on).any())
        if rises and falls:
            return None
        found[j] = rises - falls
    return found


def equal_sums(values: Bools) -> list[int] | None:
    """Two inputs on which it is 0 and two on which it is 1 that have the same sum, if found.

    Then no unit computes it: both pairs have the same mean, and a hyperplane cannot have it on
    both sides. A function that both rises and falls with a variable always has them; for others
    they are not looked for where there are many variables.
    """
    n = values.size.bit_length() - 1
    if directions(values) is None:
        return _rise_and_fall(values)
    if n > MOST_FOR_SUMS:
        return None
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    codes = bits @ 3 ** np.arange(n)  # digits 0, 1, 2 of a sum of two do not carry
    zeros, ones = np.flatnonzero(~values), np.flatnonzero(values)
    below, above = (codes[i][:, None] + codes[i] for i in (zeros, ones))
    common = np.intersect1d(below, above)
    if not common.size:
        return None
    first, second = np.argwhere(below == common[0])[0], np.argwhere(above == common[0])[0]
    return [*zeros[first].tolist(), *ones[second].tolist()]


def _rise_and_fall(values: Bools) -> list[int]:
    """The four inputs where it rises with a variable and where it falls with the same one.

    What is 0 before the rise and after the fall has the same sum as what is 1.
    """
    n = values.size.bit_length() - 1
    for place in (1 << j for j in reversed(range(n))):
        at = np.flatnonzero(np.arange(values.size) & place == 0)
        change = values[at + place].astype(np.int64) - values[at]
        if change.max() - change.min() == 2:
            rise, fall = int(at[np.argmax(change)]), int(at[np.argmin(change)])
            return [rise, fall + place, rise + place, fall]
    raise AssertionError


def weights(values: Bools, *, smallest: bool = True) -> tuple[tuple[int, ...], int] | None:
    """``(w, k)`` with the least ``Σ|w|``, or None if the solver finds that there are none.

    `smallest` also chooses among those of the same sum: least ``|k|``, then largest ``|w1|``, …
    """
    signs = directions(values)
    if signs is None:
        return None
    n = signs.size
    if not signs.any():
        return (0,) * n, int(not values.any())
    # With inputs mirrored where the function falls it only rises, and no weight is negative.
    falling = signs < 0
    rising = np.flip(values.reshape((2,) * n), tuple(np.flatnonzero(falling)))
    A, low = _constraints(rising, falling)
    # Σw; |k| of the function as it was given; then the weights one by one
    stages = [np.r_[np.ones(n), 0, 0], np.eye(n + 2)[n + 1], *-np.eye(n + 2)[:n]]
    solution = _solved(stages[0], A, low)
    for before, cost in pairwise(stages if smallest else ()):
        if solution is None:
            break
        A, low = np.vstack([A, -before]), np.r_[low, -(before @ solution)]
        solution = _solved(cost, A, low)
    if solution is None:
        return None
    w = np.where(falling, -solution[:n], solution[:n])
    return tuple(w.tolist()), int(solution[n] - solution[:n][falling].sum())


def _constraints(rising: Bools, falling: Bools) -> tuple[Any, Any]:
    """``A v >= low`` for ``v = (w, k, t)`` with ``t >= |k - Σ w over falling|``.

    If the smallest inputs that make it 1 and the largest that make it 0 are on their sides, so
    are all the others, because no weight is negative.
    """
    n = rising.ndim
    least, most = rising.copy(), ~rising
    for j in range(n):
        view, full = np.moveaxis(least, j, 0), np.moveaxis(rising, j, 0)
        view[1] &= ~full[0]
        view, full = np.moveaxis(most, j, 0), np.moveaxis(~rising, j, 0)
        view[0] &= ~full[1]
    on, off = np.argwhere(least), np.argwhere(most)
    above = np.column_stack([on, -np.ones(len(on)), np.zeros(len(on))])
    below = np.column_stack([-off, np.ones(len(off)), np.zeros(len(off))])
    threshold = np.r_[-falling.astype(float), 1, 0]
    size = np.eye(n + 2)[n + 1]
    A = np.vstack([above, below, size - threshold, size + threshold])
    return A, np.r_[np.zeros(len(on)), np.ones(len(off)), 0, 0]


def _solved(cost: Any, A: Any, low: Any) -> Ints | None:
    """The whole numbers with least cost, the first ones and the last not negative."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    least = np.r_[np.zeros(cost.size - 2), -np.inf, 0]
    answer = milp(
        cost,
        integrality=np.ones(cost.size),
        bounds=Bounds(least, np.inf),
        constraints=LinearConstraint(A, low, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    return None if answer.x is None else np.rint(answer.x).astype(np.int64)

"""Slacks of all samples: the loss, the bias that makes it least, multipliers that balance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats

ASKED = 4000  # numbers that tell where one of a certain rank is, roughly


def loss(s: Floats, y: Floats, c: Floats, b: float) -> float:
    """``Σ c_i max(0, 1 - s_i - y_i b)``."""
    return float(np.maximum(1.0 - s - y * b, 0.0) @ c)


def evened(alpha: Floats, y: Floats) -> Floats:
    """The multipliers with ``Σ α_i y_i = 0``: the heavier class's are scaled down."""
    rows = np.flatnonzero(alpha)
    some, of_first = alpha[rows], y[rows] > 0
    positive, negative = float(some[of_first].sum()), float(some[~of_first].sum())
    if positive == negative or min(positive, negative) <= 0:
        return alpha if positive == negative else np.zeros_like(alpha)
    ratio, even = min(positive, negative) / max(positive, negative), alpha.copy()
    heavy = of_first == (positive > negative)
    even[rows[heavy]] = ratio * some[heavy]
    return even


def best_bias(s: Floats, y: Floats, c: Floats) -> float:
    """The b with the smallest loss; the middle one where there are more.

    A slack begins at ``b_i = y_i - y_i s_i``. As b grows through it, a sample of class +1 stops
    adding to the loss and one of class -1 begins to: the slope rises by c_i either way. It starts
    at ``-Σ c`` over class +1, so the minimum is where the c of the b_i passed reach that sum.
    """
    edges = 1.0 - s
    edges *= y
    if (c == c[0]).all():
        low, high = _neighbours(edges, int(np.count_nonzero(y > 0)))
        return (low + high) / 2
    wanted, order = float(c[y > 0].sum()), np.argsort(edges[c > 0])
    edges, passed = edges[c > 0][order], np.cumsum(c[c > 0][order])
    few = 1e-12 * float(passed[-1])  # what rounding can do to these sums
    first = int(np.searchsorted(passed, wanted - few))
    last = int(np.searchsorted(passed, wanted + few, side="right"))
    return float(edges[first] + edges[min(last, len(edges) - 1)]) / 2


def _neighbours(numbers: Floats, k: int) -> tuple[float, float]:
    """The k-th smallest of some numbers, and the next; most need only be counted."""
    n = len(numbers)
    some = np.sort(numbers[:: max(1, n // ASKED)])
    at, room = k * len(some) // n, 2 * int(len(some) ** 0.5) + 2
    low, high = some[max(at - room, 0)], some[min(at + room, len(some) - 1)]
    passed = int(np.count_nonzero(numbers < low))
    between = numbers[(numbers >= low) & (numbers <= high)]
    if not passed < k < passed + len(between):
        passed, between = 0, numbers
    between = np.partition(between, (k - 1 - passed, k - passed))
    return float(between[k - 1 - passed]), float(between[k - passed])

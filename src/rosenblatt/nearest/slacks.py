"""Passes over the values of all samples, in threads: the loss, the best bias, who is near.

Sums are taken over tiles of samples by their numbers, so that they do not depend on the threads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.nearest import loops
from rosenblatt.nearest.loops import Multipliers
from rosenblatt.running.threads import Team
from rosenblatt.tree_sums import TILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Signs
    from rosenblatt.nearest.working_set import Samples

ASKED = 4000  # numbers that tell where one of a certain rank is, roughly
ALONE = Team(1)


class Pull(NamedTuple):
    """What samples whose multipliers stay as they are add up to.

    Attributes
    ----------
    w : float array
        ``Σ α y x``.
    balance, total : float
        ``Σ α y`` and ``Σ α``.
    """

    w: Floats
    balance: float = 0.0
    total: float = 0.0


def pull_of(samples: Samples, alpha: Floats) -> Pull:
    """What all samples with these multipliers add up to."""
    return Pull(samples.total(alpha), float(alpha @ samples.y), float(alpha.sum()))


def nobody(d: int) -> Pull:
    """What no samples add up to."""
    return Pull(np.zeros(d))


def _side_by_side(task: Callable[..., Any], n: int, numbers: int, team: Team) -> list[Any]:
    """``task(start, stop)`` for the parts of 0 to n that the threads take."""
    return team.each(lambda part: task(*part), team.ranges(n, numbers))


def _in_tiles(loop: Callable[..., Any], team: Team, s: Floats, *rest: Any) -> float:
    """The sum of what a loop writes for each tile."""
    sums = np.empty(-(-len(s) // TILE))
    task = partial(loop, s, *rest)
    _side_by_side(lambda start, stop: task(start, stop, sums), len(sums), len(s), team)
    return float(sums.sum())


def loss(s: Floats, y: Signs, c: Floats, b: float, team: Team = ALONE) -> float:
    """``Σ c_i max(0, 1 - s_i - y_i b)``."""
    return _in_tiles(loops.losses, team, s, y, c, b)


def best_bias(s: Floats, y: Signs, c: Floats, team: Team = ALONE) -> float:
    """The b with the smallest loss; the middle one where there are more.

    A slack begins at ``b_i = y_i - y_i s_i``. As b grows through it, a sample of class +1 stops
    adding to the loss and one of class -1 begins to: the slope rises by c_i either way. It starts
    at ``-Σ c`` over class +1, so the minimum is where the c of the b_i passed reach that sum.
    """
    if (c == c[0]).all():
        low, high = _neighbours(s, y, int(np.count_nonzero(y > 0)), team)
        return (low + high) / 2
    edges, wanted = y - y * s, float(c[y > 0].sum())
    order = np.argsort(edges[c > 0])
    edges, passed = edges[c > 0][order], np.cumsum(c[c > 0][order])
    few = 1e-12 * float(passed[-1])  # what rounding can do to these sums
    first = int(np.searchsorted(passed, wanted - few))
    last = int(np.searchsorted(passed, wanted + few, side="right"))
    return float(edges[first] + edges[min(last, len(edges) - 1)]) / 2


def _neighbours(s: Floats, y: Signs, k: int, team: Team) -> tuple[float, float]:
    """The k-th smallest of the ``y_i - y_i s_i``, and the next; most need only be counted."""
    n, some = len(s), slice(None, None, max(1, len(s) // ASKED))
    asked = np.sort(y[some] - y[some] * s[some])
    at, room = k * len(asked) // n, 2 * int(len(asked) ** 0.5) + 2
    low, high = asked[max(at - room, 0)], asked[min(at + room, len(asked) - 1)]
    found = np.empty(n)
    task = partial(loops.edges, s, y, low, high)
    parts = [start for start, _ in team.ranges(n, n)]
    counts = _side_by_side(lambda start, stop: task(start, stop, found), n, n, team)
    passed = sum(below for below, _ in counts)
    lists = [found[a : a + m] for a, (_, m) in zip(parts, counts, strict=True)]
    between = np.concatenate(lists)
    if not passed < k < passed + len(between):
        passed, between = 0, y - y * s
    between = np.partition(between, (k - 1 - passed, k - passed))
    return float(between[k - 1 - passed]), float(between[k - passed])


def awakened(
    m: Multipliers, s: Floats, before: Floats, b: float, times: float, team: Team
) -> NDArray[np.bool_]:
    """The samples not held at a bound by `times` as much as their values moved since `before`."""
    found = np.empty(len(s), np.bool_)
    task = partial(loops.awaken, m, s, before, b, times, moved(s, before, team))
    _side_by_side(lambda start, stop: task(start, stop, found), len(s), len(s), team)
    return found


def settled(m: Multipliers, s: Floats, b: float, reach: float, team: Team) -> NDArray[np.bool_]:
    """The samples within `reach` of the margin; the multipliers of the others go to a bound."""
    near = np.empty(len(s), np.bool_)
    task = partial(loops.settle, m, s, b, reach)
    _side_by_side(lambda start, stop: task(start, stop, near), len(s), len(s), team)
    return near


def size_of(s: Floats) -> float:
    """How large values are, by some of them, or 1 if that is more."""
    return max(1.0, float(np.abs(s[:: max(1, len(s) // ASKED)]).mean()))


def moved(s: Floats, before: Floats, team: Team) -> float:
    """How far values have moved, on average."""
    return _in_tiles(loops.moves, team, s, before) / len(s)


def evened(alpha: Floats, y: Signs) -> Floats:
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

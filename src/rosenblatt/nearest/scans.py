"""One reading of all rows for those that a hyperplane has on the wrong side, or too close.

Rows are read where they are; of those elsewhere only the few that were looked for travel.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.sources import Elsewhere, map_pieces
from rosenblatt.nearest import loops
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.clock import Clock
    from rosenblatt.running.threads import Team

STEP = 1 << 20  # rows to scan between two looks at the clock


class Wanted(NamedTuple):
    """Up to `k` rows with the smallest ``s + yb`` below `level`, s being ``y(w·x + theta_d)``.

    Class `positive` is +1. Rows in `known`, ascending, are not among them.
    """

    positive: int
    theta: Floats
    b: float
    level: float
    k: int
    known: Ints


class Found(NamedTuple):
    """The smallest s of class +1 and of class -1; rows that were wanted, and their values."""

    least: tuple[float, float]
    rows: Ints
    values: Floats


def closest(
    source: Source | Elsewhere, wanted: Wanted, team: Team, clock: Clock, *used: NDArray[np.bool_]
) -> Found:
    """What is wanted of all rows, or of those that are `used`."""
    task = partial(_search, wanted, source.n_entries / source.n_rows)
    if isinstance(source, Elsewhere):
        clock.look_up()
        found = list(source.map(task, *used, look_up=clock.look_up))
    else:
        task = partial(task, look_up=clock.pieces(Kind.READING))
        found = list(map_pieces(source, task, team, *used))
    rows = np.concatenate([one.rows for one in found])
    values = np.concatenate([one.values for one in found])
    best = worst(values, wanted.level, wanted.k, wanted.known[:0])
    positive, negative = np.min([one.least for one in found], axis=0)
    return Found((float(positive), float(negative)), rows[best], values[best])


def _search(
    wanted: Wanted,
    per_row: float,
    piece: Piece,
    team: Team,
    *used: NDArray[np.bool_],
    look_up: Callable[[float], None] | None = None,
) -> Found:
    """The same of a block; the numbers of its rows are those in all the data."""
    asked, found = used[0] if used else np.empty(0, np.bool_), []
    for a in range(0, piece.length, STEP):
        z = min(a + STEP, piece.length)
        if look_up is not None:
            look_up((z - a) * per_row)
        rows, values = np.empty(z - a, np.int64), np.empty(z - a)

        def part(edges: tuple[int, int]) -> tuple[float, float, Ints, Floats]:
            here = slice(*edges)
            out = rows[here], values[here]  # noqa: B023
            span = a + edges[0], a + edges[1]  # noqa: B023
            own, others, count = loops.closest(piece.block, *wanted[:4], asked, *span, *out)
            return own, others, out[0][:count], out[1][:count]

        found += team.each(part, team.ranges(z - a, int((z - a) * per_row)))
    positive, negative, low, s = zip(*found, strict=True)
    numbers, values = np.concatenate(low), np.concatenate(s)
    a, z = np.searchsorted(wanted.known, (piece.start, piece.start + piece.length))
    left = ~np.isin(numbers, wanted.known[a:z] - piece.start, assume_unique=True)
    if not left.all():
        numbers, values = numbers[left], values[left]
    best = worst(values, wanted.level, wanted.k, wanted.known[:0])
    least = float(np.min(positive)), float(np.min(negative))
    return Found(least, numbers[best] + piece.start, values[best])


def worst(values: Floats, level: float, k: int, known: Ints) -> Ints:
    """Up to `k` rows with the smallest values below `level`, without those in `known`.

    In ascending order; of rows with the same value the first ones.
    """
    low = np.flatnonzero(values < level)
    low = low[~np.isin(low, known, assume_unique=True)] if low.size and known.size else low
    if len(low) > k:
        found = values[low]
        last = np.partition(found, k - 1)[k - 1]
        less, tied = np.flatnonzero(found < last), np.flatnonzero(found == last)
        low = low[np.sort(np.append(less, tied[: k - len(less)]))]
    return low

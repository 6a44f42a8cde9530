"""Which updates of a long run are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.playground.answers import Thinned
from rosenblatt.playground.schemas import MOST_ENTRIES
from rosenblatt.results import StopReason
from rosenblatt.visible import grouped

if TYPE_CHECKING:
    from rosenblatt.array_types import Ints

MOST = MOST_ENTRIES  # over all courses of a run
MOST_MISTAKES = 100_000  # in these
WINDOW = 500  # updates on either side of one that is asked about
HALTED = (StopReason.TIME_LIMIT, StopReason.INTERRUPTED)  # within an epoch
MOST_EPOCHS = 1_000  # lines in the table of epochs


class Extent(NamedTuple):
    """How much of a run is told: at most so many entries, or all `around` one update."""

    around: int | None = None
    most: int | None = None  # None: MOST


def chosen(total: int, mistakes: int, courses: int, extent: Extent, must: Ints) -> Ints:
    """Updates to tell, from 0 to `total`: all, or the first and last and some between.

    Where each has several `mistakes`, fewer. `must` are told in any case.
    """
    if extent.around is not None:
        first = max(0, min(extent.around, total) - WINDOW)
        return np.arange(first, min(total, first + 2 * WINDOW) + 1)
    most = max(20, (extent.most or MOST) // courses)
    if mistakes > MOST_MISTAKES:
        most = max(20, min(most, MOST_MISTAKES * total // mistakes))
    if total < most:
        return np.arange(total + 1)
    ends = most // 5
    between = np.linspace(ends, total - ends, most - 2 * ends, dtype=np.int64)
    parts = [np.arange(ends), between, np.arange(total - ends, total + 1), must]
    return np.unique(np.concatenate(parts))


def chosen_epochs(fit: Any, rows: int) -> Ints:
    """Whole epochs for the table, from 1; fewer of many rows, which are all looked at."""
    total = fit.n_epochs - (fit.stop_reason in HALTED)
    most = int(np.clip(20_000_000 // max(rows, 1), 20, MOST_EPOCHS))
    if total <= most:
        return np.arange(1, total + 1)
    return np.unique(np.linspace(1, total, most, dtype=np.int64))


def told(shown: int, total: int, around: int | None, unit: str) -> Thinned | None:
    """What to say of entries that are left out, if any are."""
    if shown == total:
        return None
    where = f"all near number {around}" if around is not None else "first, last and some between"
    count = f"{grouped(shown)} of {grouped(total)} {unit}s are shown"
    return Thinned(shown=shown, total=total, sentence=f"{count}: {where}")

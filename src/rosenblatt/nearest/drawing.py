"""Rows drawn at random, by nothing but their numbers: whoever has some of them draws the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rosenblatt.array_types import Ints

# The constants of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
# number generators", OOPSLA 2014).
STEP, FIRST, SECOND = (
    np.array([c], np.uint64) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def mixed(numbers: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Numbers that look like random ones, one for each."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * STEP
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    drawn: np.ndarray[tuple[int], np.dtype[np.uint64]] = z ^ (z >> np.uint64(31))
    return drawn


def drawn(start: int, stop: int, step: int) -> Ints:
    """One at random of every `step` rows: those from `start` to `stop`, counted from there."""
    if step == 1:
        return np.arange(stop - start)
    strata = np.arange(start // step, -(-stop // step))
    rows = strata * step + (mixed(strata) % np.uint64(step)).astype(np.int64) - start
    a, z = np.searchsorted(rows, (0, stop - start))
    return rows[a:z]

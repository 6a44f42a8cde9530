"""Sums whose rounding depends neither on who adds up what nor on when: a fixed tree of additions.

The summands are numbered 0, 1, 2 and so on, and each is a leaf of the complete binary tree over
these numbers: node k of level L covers the leaves from ``k*2^L`` on, ``2^L`` of them, and is the
sum of its left and its right half. A half that has nothing is left out, not added as zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints

TILE = 256  # rows that are added one by one to be a leaf, or a power of two times as many


class PartialSum:
    """A sum of vectors in the making; what others have summed up can be merged into it.

    It holds as few nodes as cover what is done: of leaves that follow one another there are never
    more than two of a level. Any cutting of the leaves into parts, merged in any order, leads to
    the same bits.

    Parameters
    ----------
    size : int
        The numbers in a vector.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.nodes: dict[tuple[int, int], Floats | None] = {}  # by level and number; None: nothing

    def add(self, first: int, stop: int, leaves: Ints, vectors: Floats) -> None:
        """Say of the leaves from `first` to `stop` that all but those listed have nothing.

        `leaves` is ascending, and the vector of each is a row of `vectors`.
        """
        first, stop = int(first), int(stop)
        while first < stop:
            level = (stop - first).bit_length() - 1
            if first:
                level = min(level, (first & -first).bit_length() - 1)
            after = first + (1 << level)
            a, z = np.searchsorted(leaves, (first, after))
            self._put(level, first >> level, folded(leaves[a:z], vectors[a:z]))
            first = after

    def merge(self, other: PartialSum) -> None:
        """Take over what another has summed up, of other leaves."""
        for (level, k), vector in other.nodes.items():
            self._put(level, k, vector)

    def _put(self, level: int, k: int, vector: Floats | None) -> None:
        """A node is done; where its sibling is, too, so is what is above them."""
        while (level, k ^ 1) in self.nodes:
            sibling = self.nodes.pop((level, k ^ 1))
            vector = joined(vector, sibling) if k % 2 == 0 else joined(sibling, vector)
            level, k = level + 1, k >> 1
        self.nodes[level, k] = vector

    def total(self) -> Floats:
        """The sum, once all leaves are in, from the first to the last; zeros if there are none."""
        left = sorted((k << level, level, vector) for (level, k), vector in self.nodes.items())
        above: Floats | None = None
        at = 0
        for begin, level, _ in left:
            if begin != at:
                msg = f"leaf {at} is missing: the sum is not complete"
                raise ValueError(msg)
            at += 1 << level
        # From the last one on, each is the left half of what has it and all that follow.
        for _, _, vector in reversed(left):
            above = joined(vector, above)
        return np.zeros(self.size) if above is None else above.copy()


def joined(left: Floats | None, right: Floats | None) -> Floats | None:
    """Two halves as one."""
    if left is None or right is None:
        return right if left is None else left
    both: Floats = left + right
    return both


def folded(leaves: Ints, vectors: Floats) -> Floats | None:
    """The node above all of some leaves, ascending; None if there are none."""
    while len(leaves) > 1:
        parents = leaves >> 1
        new = np.append(True, parents[1:] != parents[:-1])
        firsts = np.flatnonzero(new)
        seconds = np.flatnonzero(~new)
        sums = vectors[firsts]
        sums[np.searchsorted(firsts, seconds) - 1] += vectors[seconds]
        leaves, vectors = parents[firsts], sums
    return vectors[0].copy() if len(leaves) else None


def sum_in_tiles(rows: Ints, tile: int, size: int, add: Callable[[int, Floats], None]) -> Floats:
    """The sum over the listed rows, ascending: ``add(k, out)`` adds the k-th of them."""
    if not len(rows):
        return np.zeros(size)
    tiles, begins = np.unique(rows // tile, return_index=True)
    ends = np.append(begins[1:], len(rows))
    sums = np.zeros((len(tiles), size))
    for out, begin, end in zip(sums, begins.tolist(), ends.tolist(), strict=True):
        for k in range(begin, end):
            add(k, out)
    whole = PartialSum(size)
    whole.add(0, int(tiles[-1]) + 1 if len(tiles) else 0, tiles, sums)
    return whole.total()

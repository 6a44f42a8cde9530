"""Passes over the values of all samples, where these are: the loss, the best bias, who is near.

Sums are taken over tiles of samples by their numbers, so that they depend neither on threads nor
on where the samples are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.sources import map_pieces
from rosenblatt.nearest import loops
from rosenblatt.nearest.drawing import drawn
from rosenblatt.nearest.sums import added
from rosenblatt.tree_sums import TILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece
    from rosenblatt.nearest.sums import Adding
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.threads import Team

ASKED, ROOT = 1 << 13, 4  # numbers that tell where one of a certain rank is; at least, and of all
SURE = 1e-12  # what rounding can do to sums of prices, as a share


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


class Sides(NamedTuple):
    """What the samples of each class add up to, class -1 first: ``Σ α``, and ``Σ α x``."""

    hefts: Floats
    sums: Floats

    def pull(self) -> Pull:
        """What they add up to."""
        others, own = self.hefts.tolist()
        return Pull(self.sums[1] - self.sums[0], own - others, own + others)

    def evened(self) -> tuple[Floats, Pull]:
        """What to multiply the multipliers of each class by so that ``Σ α y = 0``; and the pull.

        Those of the heavier class are scaled down.
        """
        least, most = float(self.hefts.min()), float(self.hefts.max())
        if least == most:
            factors = np.ones(2)
        elif least <= 0:
            factors = np.zeros(2)
        else:
            factors = np.where(self.hefts > least, least / most, 1.0)
        others, own = factors.tolist()
        total = 2 * least if others or own else 0.0
        return factors, Pull(own * self.sums[1] - others * self.sums[0], 0.0, total)


def nobody(d: int) -> Pull:
    """What no samples add up to."""
    return Pull(np.zeros(d))


def filled(
    loop: Callable[..., Any], numbers: tuple[Any, ...], piece: Piece, team: Team, out: Any,
    *columns: Any,
) -> None:  # fmt: skip
    """Have a loop write the part of a column, by all threads, from other columns and numbers."""
    n = piece.length
    team.each(lambda part: loop(*columns, *numbers, *part, out), team.ranges(n, n))


# Sums over samples ------------------------------------------------------------------------------


def sides_of(samples: Samples, alpha: Column) -> Sides:
    """What all samples with these multipliers add up to, class by class."""
    sizes = [(2, TILE), (2 * samples.d, samples.tile)]
    (hefts, sums), _ = samples.added(sizes, partial(_weigh, samples.width), samples.sign, alpha)
    return Sides(hefts, sums.reshape(2, -1))


def _weigh(width: int, piece: Piece, team: Team, add: Adding, y: Any, alpha: Any) -> None:
    add(0, loops.hefts, y, alpha, 1.0)
    add(1, loops.pulls, piece.block.rows, y, alpha, width=width)


def evened(samples: Samples, alpha: Column) -> tuple[Any, Pull]:
    """The multipliers with ``Σ α y = 0``, and what they add up to."""
    factors, pull = sides_of(samples, alpha).evened()
    if (factors == 1.0).all():
        return alpha, pull
    return samples.written(partial(_scaled, factors), samples.sign, alpha), pull


def _scaled(factors: Floats, piece: Piece, team: Team, out: Any, y: Any, alpha: Any) -> None:
    np.multiply(alpha, np.where(y > 0, factors[1], factors[0]), out=out)


def losses(samples: Samples, s: Column, before: Column, c: Column, b: float) -> tuple[float, float]:
    """``Σ c max(0, 1 - s - yb)``, and how far values have moved, on average."""
    columns = samples.sign, s, before, c
    (found,), _ = samples.added([(2, TILE)], partial(_lose, b), *columns)
    return float(found[0]), float(found[1]) / samples.n


def _lose(b: float, piece: Piece, team: Team, add: Adding, *columns: Any) -> None:
    add(0, loops.losses, *columns, b)


def largest(samples: Samples, column: Column) -> float:
    """The largest of the numbers of a column, or 0."""
    return float(max(samples.asked(_largest, column), default=0.0))


def _largest(piece: Piece, team: Team, column: Any) -> float:
    return float(column.max(initial=0.0))


def count(samples: Samples, mask: Column) -> int:
    """How many samples there are in a mask."""
    return int(sum(samples.asked(_count, mask)))


def _count(piece: Piece, team: Team, mask: Any) -> int:
    return int(np.count_nonzero(mask))


# Prices -----------------------------------------------------------------------------------------


class Prices(NamedTuple):
    """The prices of slack.

    Attributes
    ----------
    c : column
    most : float
        The highest.
    shares : float array
        What those of each class sum to, -1 first, in units of that: a number of samples if all
        prices are alike.
    counts : int array
        The samples of each class that have a price.
    """

    c: Column
    most: float
    shares: Floats
    counts: Ints

    @property
    def totals(self) -> Floats:
        """What those of each class sum to."""
        return self.most * self.shares

    @property
    def n(self) -> int:
        """The samples that have a price."""
        return int(self.counts.sum())


def prices_of(samples: Samples, c: Column) -> Prices:
    """What is to be known of prices, whatever the time."""
    source, team = samples.source, samples.team
    most = max(map_pieces(source, _largest, team, c))
    args = [(2, TILE)], partial(_price, most), team, samples.sign, c
    (shares,), counts = added(source, samples.extent, *args)
    return Prices(c, most, shares, np.sum(counts, axis=0))


def _price(most: float, piece: Piece, team: Team, add: Adding, y: Any, c: Any) -> Ints:
    add(0, loops.hefts, y, c, most)
    own, both = np.count_nonzero((c > 0) & (y > 0)), np.count_nonzero(c)
    return np.array([both - own, own])


def as_if_all(part: Samples, c: Column, totals: Floats) -> Prices:
    """Prices of some samples as if they were all of their classes."""
    factors = totals / prices_of(part, c).totals
    return prices_of(part, part.written(partial(_scaled, factors), part.sign, c))


# The best bias ----------------------------------------------------------------------------------


def best_bias(samples: Samples, s: Column, prices: Prices) -> float:
    """The b with the smallest loss; the middle one where there are more.

    A slack begins at ``b_i = y_i - y_i s_i``. As b grows through it, a sample of class +1 stops
    adding to the loss and one of class -1 begins to: the slope rises by c_i either way. It starts
    at ``-Σ c`` over class +1, so the minimum is where the c of the b_i passed reach that sum.

    Few of many samples tell roughly where that is; of those there, few tell it more closely.
    """
    wanted, few = float(prices.shares[1]), SURE * float(prices.shares.sum())
    asked = max(ASKED, int(ROOT * samples.n**0.5))
    step, below = max(1, prices.n // asked), 0.0
    low, high = -np.inf, np.inf
    edges, shares = _edges(samples, s, prices, low, high, step)
    while step > 1 and len(edges):
        at = int(np.searchsorted(below + step * np.cumsum(shares), wanted))
        room = 2 * int(len(edges) ** 0.5) + 2
        low = edges[at - room] if at >= room else low
        high = edges[at + room] if at + room < len(edges) else high
        step = max(1, 2 * room * step // asked)
        below, within, edges, shares = _ranked(samples, s, prices, low, high, step)
        if not below < wanted - few < wanted + few < below + within:  # misled by the few
            low, high, step, edges = -np.inf, np.inf, 1, edges[:0]
        elif low == high:
            return float(low)
    if not len(edges):
        below = 0.0
        edges, shares = _edges(samples, s, prices, -np.inf, np.inf, 1)
    passed = below + np.cumsum(shares)
    first = int(np.searchsorted(passed, wanted - few))
    last = int(np.searchsorted(passed, wanted + few, side="right"))
    return float(edges[first] + edges[min(last, len(edges) - 1)]) / 2


def _edges(
    samples: Samples, s: Column, prices: Prices, low: float, high: float, step: int
) -> tuple[Floats, Floats]:
    """The b_i from `low` to `high`, ascending, of one of every `step` samples, and their shares."""
    task = partial(_list, low, high, prices.most, step)
    return _sorted(samples.asked(task, samples.sign, s, prices.c))


def _ranked(
    samples: Samples, s: Column, prices: Prices, low: float, high: float, step: int
) -> tuple[float, float, Floats, Floats]:
    """The shares of what is below `low`, and of what is from there to `high`; and `_edges`."""
    task = partial(_rank, low, high, prices.most, step)
    (found,), lists = samples.added([(2, TILE)], task, samples.sign, s, prices.c)
    return float(found[0]), float(found[1]), *_sorted(lists)


def _sorted(lists: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    edges, shares = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    order = np.argsort(edges, kind="stable")
    return edges[order], shares[order]


def _rank(
    low: float, high: float, most: float, step: int, piece: Piece, team: Team, add: Adding,
    *columns: Any,
) -> tuple[Floats, Floats]:  # fmt: skip
    add(0, loops.ranks, *columns, low, high, most)
    return _list(low, high, most, step, piece, team, *columns)


def _list(
    low: float, high: float, most: float, step: int, piece: Piece, team: Team, y: Any, s: Any,
    c: Any,
) -> tuple[Floats, Floats]:  # fmt: skip
    if step > 1:
        rows = drawn(piece.start, piece.start + piece.length, step)
        edges = y[rows] - y[rows] * s[rows]
        rows = rows[(edges >= low) & (edges <= high) & (c[rows] > 0)]
    else:
        found = np.empty(piece.length, np.int64)

        def part(span: tuple[int, int]) -> Ints:
            here = found[slice(*span)]
            return here[: loops.between(y, s, c, low, high, *span, here)]

        rows = np.concatenate(team.each(part, team.ranges(piece.length, piece.length)))
    return y[rows] - y[rows] * s[rows], c[rows] / most


# Who is near ------------------------------------------------------------------------------------


def awakened(
    samples: Samples, s: Column, before: Column, c: Column, alpha: Column, b: float, times: float,
    move: float,
) -> Column:  # fmt: skip
    """The samples not held at a bound by `times` as much as their values moved since `before`.

    `move` is how far these have moved, on average.
    """
    task, columns = partial(filled, loops.awaken, (b, times, move)), (s, before, c, alpha)
    return samples.written(task, samples.sign, *columns, dtype=np.bool_)


def close_to(samples: Samples, s: Column, c: Column, b: float, reach: float) -> Column:
    """The samples within `reach` of the margin."""
    return samples.written(
        partial(filled, loops.near, (b, reach)), samples.sign, s, c, dtype=np.bool_
    )


def settled(
    samples: Samples, s: Column, c: Column, alpha: Column, close: Column, b: float
) -> Column:
    """The multipliers, those of samples that are not `close` at the bound they belong to."""
    return samples.written(partial(filled, loops.settle, (b,)), samples.sign, s, c, alpha, close)


def size_of(samples: Samples, s: Column) -> float:
    """How large values are, by some of them, or 1 if that is more."""
    found = samples.asked(partial(_sizes, max(1, samples.n // ASKED)), s)
    return max(1.0, float(np.concatenate(found).mean()))


def _sizes(step: int, piece: Piece, team: Team, s: Any) -> Floats:
    sizes: Floats = np.abs(s[drawn(piece.start, piece.start + piece.length, step)])
    return sizes

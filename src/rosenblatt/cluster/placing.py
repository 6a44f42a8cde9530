"""Blocks of any sizes laid out in tiles, so that no sum depends on how the data were cut."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.cluster.source import ClusterSource, Held, Share
from rosenblatt.data.rows import Block, DenseRows, as_matrix, as_rows, n_entries, slice_rows
from rosenblatt.data.sources import IN_ORDER, Piece
from rosenblatt.data.tile_sums import tile_rows
from rosenblatt.exact.blocks import stacked

if TYPE_CHECKING:
    from rosenblatt.cluster.engine import Engine

PER_THREAD = 2  # shares for each thread of a worker, so that a late one leaves the rest to others


class Part(NamedTuple):
    """A future of a block, and the worker that it is on, as far as one knows."""

    block: Any
    home: str


class Size(NamedTuple):
    """What is known of a block from afar."""

    rows: int
    entries: int
    dense: bool
    dtype: str


class Sizes(NamedTuple):
    """What is known of all the data, as far as the size of a tile depends on it."""

    n_rows: int
    n_entries: int
    n_features: int


class Cut(NamedTuple):
    """Rows of one part, counted in it and in all the data, that lie in one tile or in many."""

    part: int
    first: int
    last: int
    start: int


class Piecewise(NamedTuple):
    """A piece of the data: rows `first` to `last` of a block, and those of so many `others`.

    Its first row has the number `start` in all the data, and there are `length` of them.
    """

    start: int
    length: int
    first: int
    last: int
    others: int


class Planned(NamedTuple):
    """A piece to be made on a worker, its home, of these futures."""

    home: str
    plan: Piecewise
    blocks: list[Any]


def placed_in_tiles(
    engine: Engine, parts: list[Part], n_features: int, weighted: bool
) -> ClusterSource:
    """A source of the parts, one below the other.

    Each stays where it is, but for the rows of a tile that straddles two or more of them: these
    travel once, to where the tile begins. Nothing else is copied.
    """
    sizes = [Size(*one) for one in engine.gather([engine.submit(_size, p.block) for p in parts])]
    kept = [k for k, size in enumerate(sizes) if size.rows]
    parts, sizes = [parts[k] for k in kept], [sizes[k] for k in kept]
    homes = engine.homes([part.block for part in parts])
    parts = [part._replace(home=home or part.home) for part, home in zip(parts, homes, strict=True)]
    whole = Sizes(sum(s.rows for s in sizes), max(1, sum(s.entries for s in sizes)), n_features)
    cuts = _cuts([size.rows for size in sizes], tile_rows(whole))  # type: ignore[arg-type]
    pieces = [_planned(engine, parts, some, n_features) for some in cuts]
    shares = _shares(engine, pieces, n_features)
    engine.gather([engine.submit(_is_there, share.held) for share in shares])
    return ClusterSource(
        engine,
        shares,
        n_features=n_features,
        n_entries=whole.n_entries,
        weighted=weighted,
        dense=sizes[0].dense,
        dtype=np.result_type(*{size.dtype for size in sizes}),
    )


def _cuts(lengths: list[int], tile: int) -> list[list[Cut]]:
    """Each run of whole tiles within a part; and the rows of each tile that lies in several."""
    edges = [0, *np.cumsum(lengths).tolist()]
    n, inner = edges[-1], []
    across: dict[int, list[Cut]] = {}
    for k, (start, stop) in enumerate(pairwise(edges)):
        low = min(-(-start // tile) * tile, stop)  # what is before it, and after `high`, is shared
        high = max(stop if stop == n else stop // tile * tile, low)
        if low < high:
            inner.append([Cut(k, low - start, high - start, low)])
        for a, z in ((start, low), (high, stop)):
            if a < z:
                across.setdefault(a // tile, []).append(Cut(k, a - start, z - start, a))
    return inner + list(across.values())


def _planned(engine: Engine, parts: list[Part], cuts: list[Cut], n_features: int) -> Planned:
    """A piece: rows of the part that it begins in, and copies of the rows of others."""
    first, *others = cuts
    home = parts[first.part].home
    slices = [
        engine.submit(
            _cut, parts[c.part].block, c.first, c.last, n_features, worker=parts[c.part].home
        )
        for c in others
    ]
    length = sum(cut.last - cut.first for cut in cuts)
    return Planned(home, Piecewise(first.start, length, first.first, first.last, len(slices)),
                   [parts[first.part].block, *slices])  # fmt: skip


def _shares(engine: Engine, pieces: list[Planned], n_features: int) -> list[Share]:
    """What each worker holds, in as many shares as it has threads, or a few times that."""
    threads = engine.threads()
    by_home: dict[str, list[Planned]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.plan.start):
        home = piece.home if piece.home in threads else next(iter(threads))
        by_home.setdefault(home, []).append(piece)
    shares = []
    for home, held in by_home.items():
        rows = np.cumsum([piece.plan.length for piece in held])
        count = min(PER_THREAD * threads[home], len(held))
        numbers = np.minimum((rows - 1) * count // rows[-1], count - 1)
        for number in np.unique(numbers):
            some = [piece for piece, k in zip(held, numbers, strict=True) if k == number]
            plans = [piece.plan for piece in some]
            blocks = [block for piece in some for block in piece.blocks]
            future = engine.submit(_held, plans, n_features, *blocks, worker=home)
            spans = [(plan.start, plan.start + plan.length) for plan in plans]
            shares.append(Share(future, spans, home))
    return shares


# What workers do -------------------------------------------------------------------------------


def _size(block: Block) -> tuple[int, int, bool, str]:
    rows = block.rows
    dense = isinstance(rows, DenseRows)
    dtype = (rows.X if isinstance(rows, DenseRows) else rows.data).dtype.str
    return len(block.label), n_entries(rows), dense, dtype


def _sliced(block: Block, first: int, last: int) -> Block:
    weight = block.weight[first:last] if block.weight.size else block.weight
    rows = slice_rows(block.rows, first, last)
    return Block(rows, block.label[first:last], weight, block.factor)


def _cut(block: Block, first: int, last: int, n_features: int) -> tuple[Any, Any, Any, Any]:
    """A copy of a few rows, to travel."""
    part = _sliced(block, first, last)
    X = as_matrix(part.rows, n_features).copy()
    return X, part.label.copy(), part.weight.copy(), block.factor


def _held(plans: list[Piecewise], n_features: int, *blocks: Any) -> Held:
    """The pieces of a share: views of blocks, but for tiles that had to be put together."""
    pieces, at = [], iter(blocks)
    for plan in plans:
        block = _sliced(next(at), plan.first, plan.last)
        if plan.others:
            own = _cut(block, 0, len(block.label), n_features)
            parts = [own, *(next(at) for _ in range(plan.others))]
            Xs, labels, weights, factors = zip(*parts, strict=True)
            X, label = stacked(list(Xs)), np.concatenate(labels)
            block = Block(as_rows(X), label, np.concatenate(weights), factors[0])
        pieces.append(Piece(block, plan.start, IN_ORDER, plan.start, plan.length))
    return Held(pieces)


def _is_there(held: Held) -> bool:
    return len(held.pieces) > 0

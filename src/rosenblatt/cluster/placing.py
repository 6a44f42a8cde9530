"""Blocks of any sizes laid out in tiles, so that no sum depends on how the data were cut."""

from __future__ import annotations

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
    inner, across = _cuts([size.rows for size in sizes], tile_rows(whole))  # type: ignore[arg-type]
    pieces = [(cut.start, cut.last - cut.first, parts[cut.part], cut.first) for cut in inner]
    for cuts in across:
        home = parts[cuts[0].part].home
        slices = [
            engine.submit(_cut, parts[c.part].block, c.first, c.last, n_features,
                          worker=parts[c.part].home)
            for c in cuts
        ]  # fmt: skip
        joined = Part(engine.submit(_joined, *slices, worker=home), home)
        pieces.append((cuts[0].start, sum(c.last - c.first for c in cuts), joined, 0))
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


def _cuts(lengths: list[int], tile: int) -> tuple[list[Cut], list[list[Cut]]]:
    """The whole tiles within each part, and the rows of every tile that lies in several."""
    edges = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    n, inner = edges[-1], []
    across: dict[int, list[Cut]] = {}
    for k, length in enumerate(lengths):
        start, stop = edges[k], edges[k + 1]
        low = -(-start // tile) * tile
        high = stop if stop == n else stop // tile * tile
        if low < high:
            inner.append(Cut(k, low - start, high - start, low))
        for a, z in ((start, min(low, stop)), (max(high, low, start), stop)):
            if a < z and (low < high or a == start):
                across.setdefault(a // tile, []).append(Cut(k, a - start, z - start, a))
        assert length == stop - start
    return inner, list(across.values())


def _shares(engine: Engine, pieces: list[Any], n_features: int) -> list[Share]:
    """What each worker holds, in as many shares as it has threads, or a few times that."""
    threads = engine.threads()
    by_home: dict[str, list[Any]] = {}
    for piece in sorted(pieces, key=lambda piece: piece[0]):
        home = piece[2].home if piece[2].home in threads else next(iter(threads))
        by_home.setdefault(home, []).append(piece)
    shares = []
    for home, held in by_home.items():
        rows = np.cumsum([length for _, length, _, _ in held])
        count = min(PER_THREAD * threads[home], len(held))
        numbers = np.minimum((rows - 1) * count // rows[-1], count - 1)
        for number in np.unique(numbers):
            some = [piece for piece, k in zip(held, numbers, strict=True) if k == number]
            plan = [(start, length, first) for start, length, _, first in some]
            blocks = [part.block for _, _, part, _ in some]
            future = engine.submit(_held, plan, n_features, *blocks, worker=home)
            shares.append(Share(future, [(s, s + length) for s, length, _ in plan], home))
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


def _joined(*parts: tuple[Any, Any, Any, Any]) -> Block:
    Xs, labels, weights, factors = zip(*parts, strict=True)
    X = Xs[0] if len(Xs) == 1 else stacked(list(Xs))
    return Block(as_rows(X), np.concatenate(labels), np.concatenate(weights), factors[0])


def _held(plan: list[tuple[int, int, int]], n_features: int, *blocks: Block) -> Held:
    pieces = []
    for (start, length, first), block in zip(plan, blocks, strict=True):
        part = _sliced(block, first, first + length)
        pieces.append(Piece(part, start, IN_ORDER, start, length))
    return Held(pieces)


def _is_there(held: Held) -> bool:
    return len(held.pieces) > 0

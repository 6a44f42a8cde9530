"""Blocks of any sizes laid out in tiles, so that no sum depends on how the data were cut."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.cluster.source import ClusterSource, Held, Share
from rosenblatt.data.rows import Block, DenseRows, as_matrix, as_rows, n_entries, slice_rows
from rosenblatt.data.sources import IN_ORDER, Piece, copied
from rosenblatt.data.tile_sums import tile_rows
from rosenblatt.exact.blocks import stacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.cluster.engine import Engine

HALF = 2  # of a worker's memory is for the shares that it works on at a time


class Part(NamedTuple):
    """A future of a block, or the k-th of a future of several, and the worker that it is on."""

    block: Any
    k: int
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


class Span(NamedTuple):
    """Rows `first` to `last` of what a task is given: of its n-th argument, or the k-th in that."""

    given: int
    k: int
    first: int
    last: int


class Piecewise(NamedTuple):
    """A piece of the data, rows of one block or of several.

    Its first row has the number `start` in all the data, and there are `length` of them.
    """

    start: int
    length: int
    spans: list[Span]


INDEX = 4  # bytes of an entry's column
ONE = -1  # the k of a future of one block


def groups(engine: Engine, homes: list[str]) -> list[tuple[str, list[int]]]:
    """The numbers of what is on each worker, in as many groups as it may have at a time.

    They are in order; what is nowhere goes to a worker that is there.
    """
    workers, by_home = engine.workers(), dict[str, list[int]]()
    for number, home in enumerate(homes):
        by_home.setdefault(home if home in workers else next(iter(workers)), []).append(number)
    found = []
    for home, numbers in by_home.items():
        count = min(workers[home].threads, len(numbers))
        edges = [len(numbers) * k // count for k in range(count + 1)]
        found += [(home, numbers[a:z]) for a, z in pairwise(edges)]
    return found


def ask(engine: Engine, task: Callable[..., Any], parts: list[Any], homes: list[str]) -> list[Any]:
    """What a task says of some blocks, each told by the worker that has it, many at a time."""
    some = groups(engine, homes)
    futures = [
        engine.submit(task, *(parts[n] for n in numbers), worker=home) for home, numbers in some
    ]
    found: list[Any] = [None] * len(parts)
    for (_, numbers), told in zip(some, engine.gather(futures), strict=True):
        for number, one in zip(numbers, told, strict=True):
            found[number] = one
    return found


def placed_in_tiles(
    engine: Engine,
    parts: list[Part],
    sizes: list[Size],
    n_features: int,
    weighted: bool,
    make: Callable[[Any], Block] | None = None,
) -> ClusterSource:
    """A source of the parts, one below the other; blocks, or what `make` makes blocks of.

    Each stays where it is, but for the rows of a tile that straddles two or more workers: these
    travel once, to where the tile begins. Of a tile that straddles two or more parts a copy is
    made; nothing else is copied.
    """
    kept = [k for k, size in enumerate(sizes) if size.rows]
    parts, sizes = [parts[k] for k in kept], [sizes[k] for k in kept]
    whole = Sizes(sum(s.rows for s in sizes), max(1, sum(s.entries for s in sizes)), n_features)
    cuts = _cuts([size.rows for size in sizes], tile_rows(whole))  # type: ignore[arg-type]
    pieces, task = sorted(cuts, key=lambda cut: cut[0].start), partial(_held, make, n_features)
    shares = [
        _share(engine, parts, some, home, task)
        for home, some in _shared_out(engine, parts, pieces, _row_bytes(sizes))
    ]
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


def _row_bytes(sizes: list[Size]) -> float:
    """About how many bytes a row has."""
    rows = sum(size.rows for size in sizes)
    entry = [np.dtype(size.dtype).itemsize + (0 if size.dense else INDEX) for size in sizes]
    return sum(size.entries * n for size, n in zip(sizes, entry, strict=True)) / rows


def _shared_out(
    engine: Engine, parts: list[Part], pieces: list[list[Cut]], row_bytes: float
) -> list[tuple[str, list[list[Cut]]]]:
    """The pieces of each worker, in as many shares as it has threads.

    None then waits for another, or is moved to a worker that is done with its own. There are more
    where a worker could not hold all at a time.
    """
    workers, by_home = engine.workers(), dict[str, list[list[Cut]]]()
    for piece in pieces:
        home = parts[piece[0].part].home
        by_home.setdefault(home if home in workers else next(iter(workers)), []).append(piece)
    found = []
    for home, held in by_home.items():
        rows = np.cumsum([sum(cut.last - cut.first for cut in piece) for piece in held])
        threads, memory = workers[home]
        times = ceil(HALF * float(rows[-1]) * row_bytes / memory) if memory else 1
        count = min(threads * times, len(held))
        numbers = np.minimum((rows - 1) * count // rows[-1], count - 1)
        for number in np.unique(numbers):
            found.append((home, [p for p, k in zip(held, numbers, strict=True) if k == number]))
    return found


def _share(
    engine: Engine,
    parts: list[Part],
    pieces: list[list[Cut]],
    home: str,
    task: Callable[..., Any],
) -> Share:
    """A share of these pieces: of what its worker has, and copies of rows of other workers."""
    abroad: dict[str, list[Cut]] = {}
    for cut in (cut for piece in pieces for cut in piece[1:]):
        if parts[cut.part].home != home:
            abroad.setdefault(parts[cut.part].home, []).append(cut)
    given: dict[str, Any] = {}  # the arguments, by the keys of futures
    sent: dict[Cut, Span] = {}
    for there, cuts in abroad.items():
        own: dict[str, Any] = {parts[cut.part].block.key: parts[cut.part].block for cut in cuts}
        at = {key: number for number, key in enumerate(own)}
        spans = [_span(parts, cut, at) for cut in cuts]
        future = engine.submit(_copies, task, spans, *own.values(), worker=there)
        for k, cut in enumerate(cuts):
            sent[cut] = Span(len(given), k, 0, cut.last - cut.first)
        given[future.key] = future
    for cut in (cut for piece in pieces for cut in piece if cut not in sent):
        given[parts[cut.part].block.key] = parts[cut.part].block
    at = {key: number for number, key in enumerate(given)}
    plans = [
        Piecewise(
            piece[0].start,
            sum(cut.last - cut.first for cut in piece),
            [sent[cut] if cut in sent else _span(parts, cut, at) for cut in piece],
        )
        for piece in pieces
    ]
    future = engine.submit(task, plans, *given.values(), worker=home)
    return Share(future, [(plan.start, plan.start + plan.length) for plan in plans], home)


def _span(parts: list[Part], cut: Cut, at: dict[str, int]) -> Span:
    part = parts[cut.part]
    return Span(at[part.block.key], part.k, cut.first, cut.last)


# What workers do -------------------------------------------------------------------------------


def size_of(block: Block) -> Size:
    """What is to be known of a block."""
    rows = block.rows
    dense = isinstance(rows, DenseRows)
    dtype = (rows.X if isinstance(rows, DenseRows) else rows.data).dtype.str
    return Size(len(block.label), n_entries(rows), dense, dtype)


def _sliced(block: Block, first: int, last: int) -> Block:
    weight = block.weight[first:last] if block.weight.size else block.weight
    rows = slice_rows(block.rows, first, last)
    return Block(rows, block.label[first:last], weight, block.factor)


def _blocks(make: Callable[[Any], Block] | None, given: tuple[Any, ...]) -> Callable[[Span], Block]:
    """What gives the rows of a span of some arguments; each block is made once."""
    made: dict[tuple[int, int], Block] = {}

    def block_of(span: Span) -> Block:
        if span[:2] not in made:
            one = given[span.given] if span.k == ONE else given[span.given][span.k]
            made[span[:2]] = one if make is None or isinstance(one, Block) else make(one)
        return _sliced(made[span[:2]], span.first, span.last)

    return block_of


def _joined(blocks: list[Block], n_features: int) -> Block:
    """Rows one below the other: a copy."""
    X = stacked([as_matrix(block.rows, n_features) for block in blocks])
    label, weight = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[1:3])
    return Block(as_rows(X), label, weight, blocks[0].factor)


def _copies(task: Any, spans: list[Span], *given: Any) -> list[Block]:
    """Copies of a few rows, to travel."""
    make, n_features = task.args
    block_of = _blocks(make, given)
    return [copied(block_of(span), n_features) for span in spans]


def _held(
    make: Callable[[Any], Block] | None, n_features: int, plans: list[Piecewise], *given: Any
) -> Held:
    """The pieces of a share: views of blocks, but for tiles that had to be put together."""
    pieces, block_of = [], _blocks(make, given)
    for plan in plans:
        parts = [block_of(span) for span in plan.spans]
        block = parts[0] if len(parts) == 1 else _joined(parts, n_features)
        pieces.append(Piece(block, plan.start, IN_ORDER, plan.start, plan.length))
    return Held(pieces)

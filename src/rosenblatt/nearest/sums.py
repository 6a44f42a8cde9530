"""Sums over rows in tiles, by the threads of this process or where the rows are.

What is summed up has the same bits whoever does it, and however the rows are cut into blocks.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import Elsewhere, stack
from rosenblatt.data.tile_sums import TileSums, tile_rows
from rosenblatt.exact import tile_passes
from rosenblatt.nearest import loops
from rosenblatt.tree_sums import TILE, PartialSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.threads import Team

AT_A_TIME = 1 << 20  # numbers in sums of tiles


def are_many(source: Source | Elsewhere, rows: int) -> bool:
    """Whether so many rows are more than one place should hold beside all others."""
    return rows * source.n_entries > tile_passes.FEW_NUMBERS * source.n_rows


def weighted_total(
    source: Source | Elsewhere,
    weight: Floats,
    team: Team,
    look_up: Callable[[], None] = lambda: None,
    y: NDArray[np.int8] | None = None,
) -> Floats:
    """``Σ weight_i x_i``, or ``Σ weight_i y_i x_i`` for y of 1 and -1."""
    tile = tile_rows(source)
    if isinstance(source, Elsewhere):
        used = np.flatnonzero(weight)
        if not are_many(source, len(used)):
            few = weight[used] if y is None else weight[used] * y[used]
            return _of_few(source, used, few, tile)
    weight = weight if y is None else weight * y
    return _summed(source, loops.totals, (), weight, source.n_features, tile, team, look_up)


def _of_few(source: Elsewhere, used: Any, weight: Floats, tile: int) -> Floats:
    """The same of a few rows that are brought here."""
    whole = PartialSum(source.n_features)
    leaves, into = np.unique(used // tile, return_inverse=True)
    sums = np.zeros((len(leaves), source.n_features))
    if len(used):
        rows = as_rows(stack(source)[used].astype(np.float64, copy=False))
        loops.total_in(rows, weight, into, sums)
    whole.add(0, -(-source.n_rows // tile), leaves, sums)
    return whole.total()


def curvature(
    source: Source | Elsewhere,
    weight: Floats,
    centre: Floats,
    team: Team,
    look_up: Callable[[], None] = lambda: None,
) -> Floats:
    """The lower triangle of ``Σ weight_i (x_i - centre)(x_i - centre)ᵀ``, of dense rows."""
    d = source.n_features
    args = source, loops.curvatures, (centre,), weight, d * (d + 1) // 2, TILE, team, look_up
    H = np.zeros((d, d))
    H[np.tril_indices(d)] = _summed(*args)
    return H


def _summed(
    source: Source | Elsewhere,
    loop: Callable[..., Any],
    args: tuple[Any, ...],
    weight: Floats,
    size: int,
    tile: int,
    team: Team,
    look_up: Callable[[], None] = lambda: None,
) -> Floats:
    """What a loop writes for each tile, summed up."""
    if isinstance(source, Elsewhere):
        look_up()
        whole = PartialSum(size)
        task = partial(_part, loop, args, size, tile, source.n_rows)
        for part in source.map(task, weight, look_up=look_up):
            whole.merge(part)
        return whole.total()
    sums = TileSums(source.n_rows, tile, size)
    for piece in source.pieces():
        look_up()
        here = weight[piece.start : piece.start + piece.length]
        per_row = max(1, source.n_entries // source.n_rows)
        _add(sums, loop, args, piece, here, team, per_row)
    return sums.total()


def _part(
    loop: Callable[..., Any],
    args: tuple[Any, ...],
    size: int,
    tile: int,
    n_rows: int,
    piece: Piece,
    team: Team,
    weight: Floats,
) -> PartialSum:
    """The sums over the tiles of a block, which begins with one."""
    sums = TileSums(n_rows, tile, size)
    _add(sums, loop, args, piece, weight, team, 1)
    return sums.done


def _add(
    sums: TileSums,
    loop: Callable[..., Any],
    args: tuple[Any, ...],
    piece: Piece,
    weight: Floats,
    team: Team,
    per_row: int,
) -> None:
    """Add the rows of a block, some tiles at a time."""
    rows, first, stop = piece.block.rows, piece.start, piece.start + piece.length

    def write(a: int, z: int, out: Floats, used: Any) -> None:
        loop(rows, weight, *args, first, a - first, z - first, sums.tile, out, used)

    step = sums.tile * max(1, AT_A_TIME // sums.size)
    for a, z in pairwise([first, *range(first // sums.tile * sums.tile + step, stop, step), stop]):
        sums.add(a, z, write, team.each, len(team.ranges(z - a, (z - a) * per_row)))

"""Dask's arrays and data frames as labelled blocks on the workers."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.arguments import label_vector
from rosenblatt.cluster.engine import ClusterError, is_of_dask, one_line
from rosenblatt.cluster.placing import ONE, Part, Size, ask, groups, placed_in_tiles, size_of
from rosenblatt.data.rows import Block, as_rows
from rosenblatt.visible import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.cluster.source import ClusterSource

SMALL = 1 << 16  # numbers in a block, below which tasks cost more than what is in them
MANY = 100  # blocks from which on that matters
TASKS = 1000  # blocks above which one task reads several
TOGETHER = 1 << 22  # numbers in those at most
HERE = Path(__file__).parents[1]  # where the files of this library are


class ChunkWarning(UserWarning):
    """The data are cut in a way that makes work on them slow."""


class RawBlock(NamedTuple):
    """A block of validated samples, the labels in it, sorted, which one each has, and weights."""

    X: Any
    labels: NDArray[Any]
    numbers: NDArray[np.int32]
    weight: NDArray[np.float64] | None


class Told(NamedTuple):
    """What a worker tells of a block: its size, the labels in it, how many samples have each.

    `plain`: no sample has another weight than 1; `weighs`: one has another than 0.
    """

    size: Size
    columns: int
    labels: NDArray[Any]
    counts: NDArray[np.int64]
    plain: bool
    weighs: bool


class Unread(NamedTuple):
    """What is in the place of a block that cannot be used, and why, in one line."""

    why: str


class Given(NamedTuple):
    """Blocks as futures, and how many rows each has, where that is known; or an array."""

    blocks: list[Any] | NDArray[Any]
    lengths: list[int] | None


class Labelled(NamedTuple):
    """Blocks of samples on the workers, with their labels as given, and which of these there are.

    Attributes
    ----------
    parts : list of Part
        Each a `RawBlock`.
    sizes : list of Size
    labels : array
        All different labels, sorted.
    counts : int array
        How many samples have each.
    n_features : int
    weighted : bool
        Whether a sample has another weight than 1.
    weightless : bool
        Whether no sample has another weight than 0.
    """

    parts: list[Part]
    sizes: list[Size]
    labels: NDArray[Any]
    counts: NDArray[np.int64]
    n_features: int
    weighted: bool
    weightless: bool = False


def column_names(X: Any) -> list[Any] | None:
    """The names of a data frame's columns; None for an array."""
    return list(X.columns) if hasattr(X, "columns") else None


def read_labelled(
    engine: Engine,
    X: Any,
    y: Any,
    sample_weight: Any,
    read: Callable[[Any, Any, Any], RawBlock],
) -> Labelled:
    """Samples and labels, each block validated where it is by `read`.

    `y` and the weights, a number for each row, may be Dask's, too, cut as X is or in any other
    way, or arrays in this process.
    """
    given = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    cut = {name: _given(engine, one, name) for name, one in given.items()}
    lengths, columns = _cut_alike(engine, cut)
    numbers = sum(lengths) * int(X.shape[1]) // max(1, len(lengths))  # in a block, about
    task = partial(_read, read, len(columns) > 2)
    parts = _parts(engine, task, columns, TOGETHER // max(1, numbers))
    told = described(engine, parts)
    lengths = [one.size.rows for one in told]
    if not any(lengths):
        msg = "X has no rows: there is nothing to learn from"
        raise ValueError(msg)
    _require_alike(told)
    filled = [one for one in told if one.size.rows]
    labels, counts = _together([(one.labels, one.counts) for one in filled])
    d, plain = filled[0].columns, all(one.plain for one in filled)
    _advise(len(lengths), sum(lengths), d)
    weightless = not any(one.weighs for one in filled)
    sizes = [one.size for one in told]
    return Labelled(parts, sizes, labels, counts, d, not plain, weightless)


def _parts(
    engine: Engine, read: Callable[..., Any], columns: list[list[Any]], together: int
) -> list[Part]:
    """Every block read where it is; if there are very many, some `together` by one task."""
    count = len(columns[0])
    if count <= TASKS or together <= 1:
        return placed_blocks(engine, engine.map(read, range(count), *columns))
    homes = engine.gather(columns[0], bring=False)
    some = [
        (home, numbers[a : a + together])
        for home, numbers in groups(engine, homes)
        for a in range(0, len(numbers), together)
    ]
    futures = [
        engine.submit(
            _read_several, read, numbers, *(c[k] for c in columns for k in numbers), worker=home
        )
        for home, numbers in some
    ]
    parts: list[Any] = [None] * count
    there = engine.gather(futures, bring=False)
    for future, home, (_, numbers) in zip(futures, there, some, strict=True):
        for k, number in enumerate(numbers):
            parts[number] = Part(future, k, home)
    return parts


def placed_blocks(engine: Engine, futures: list[Any]) -> list[Part]:
    """Blocks with a future each, when they are made."""
    homes = engine.gather(futures, bring=False)
    return [Part(future, ONE, home) for future, home in zip(futures, homes, strict=True)]


def described(engine: Engine, parts: list[Part]) -> list[Told]:
    """What the workers tell of raw blocks."""
    futures = list({part.block.key: part.block for part in parts}.values())
    homes = {part.block.key: part.home for part in parts}
    told = ask(engine, _told, futures, [homes[future.key] for future in futures])
    of_key = {future.key: some for future, some in zip(futures, told, strict=True)}
    found = [of_key[part.block.key][max(part.k, 0)] for part in parts]
    for one in found:
        if isinstance(one, Unread):
            raise ClusterError(one.why)
    return found


def placed(
    engine: Engine, data: Labelled, classes: NDArray[Any], factor: NDArray[np.float64] | None
) -> ClusterSource:
    """The samples with the numbers of their classes, in tiles."""
    factors = np.empty((0, 0)) if factor is None else factor
    weighted = data.weighted or factor is not None
    coded = partial(_coded, classes, factors, data.weighted)
    return placed_in_tiles(engine, data.parts, data.sizes, data.n_features, weighted, coded)


WANTED = {
    "X": (2, "rows of samples and columns of features"),
    "y": (1, "a label for each row"),
    "sample_weight": (1, "a number for each row"),
}


def require_collection(given: Any, name: str) -> None:
    """Refuse collections of Dask's that are neither arrays nor data frames or their columns."""
    kind = type(given)
    if kind.__module__.split(".")[1] not in ("array", "dataframe"):
        msg = f"{name} is a {kind.__name__} of Dask's: give a Dask array or data frame"
        raise TypeError(msg)


def require_shape(given: Any, name: str) -> None:
    """Refuse what is no table, of X, or no column, of `y` and weights."""
    require_collection(given, name)
    ndim, wanted = WANTED[name]
    if given.ndim != ndim:
        msg = f"{name} has {count(given.ndim, 'dimension')}: give {wanted}"
        raise ValueError(msg)


def block_futures(engine: Engine, given: Any, name: str) -> list[Any]:
    """Futures of the blocks of a collection."""
    require_shape(given, name)
    if name == "X" and hasattr(given, "numblocks") and given.numblocks[1] > 1:
        warnings.warn(
            f"the columns of X are cut into {given.numblocks[1]} blocks and are put together "
            "first: give X.rechunk({1: -1})",
            ChunkWarning,
            stacklevel=_outside(),
        )
        given = given.rechunk({1: -1})
    found = engine.present(given, name)
    if found is not None:
        return found
    # Arrays as they are: optimised each for itself, tasks of one name would differ.
    how = {"optimize_graph": False} if hasattr(given, "numblocks") else {}
    found = given.to_delayed(**how)  # an array of them, or a list
    delayed = list(getattr(found, "flat", found))
    # What is made of blocks that are somewhere already is best made there.
    homes = [] if engine.holds(given) else engine.neighbours(len(delayed))
    return engine.begin(delayed, name, homes)


def _given(engine: Engine, given: Any, name: str) -> Given:
    """The blocks of a collection; an array that is here as it is."""
    if not is_of_dask(given):
        return Given(np.asarray(given), None)
    blocks = block_futures(engine, given, name)
    lengths: list[Any] = list(given.chunks[0]) if hasattr(given, "numblocks") else [np.nan]
    return Given(blocks, None if np.isnan(lengths).any() else lengths)


def _cut_alike(engine: Engine, given: dict[str, Given]) -> tuple[list[int], list[list[Any]]]:
    """The lengths of blocks, and blocks of X, y, weights with these: those of X as they are."""
    given = _with_lengths(engine, given)
    X = given.pop("X")
    assert X.lengths is not None
    alike: list[list[Any]] = [list(X.blocks)]
    for name, (blocks, lengths) in given.items():
        if isinstance(blocks, np.ndarray):
            alike.append(_sent(blocks, X.lengths, name))
        elif lengths != X.lengths:
            assert lengths is not None
            alike.append(_cut_again(engine, blocks, lengths, X.lengths, name))
        else:
            alike.append(blocks)
    return X.lengths, alike


def _with_lengths(engine: Engine, given: dict[str, Given]) -> dict[str, Given]:
    """The same, the lengths of blocks looked up where Dask does not know them."""
    unknown = [
        name
        for name, one in given.items()
        if one.lengths is None and not isinstance(one.blocks, np.ndarray)
    ]
    blocks = [block for name in unknown for block in given[name].blocks]
    if not blocks:
        return given
    found = iter(ask(engine, _each_length, blocks, engine.gather(blocks, bring=False)))
    looked = {name: list(islice(found, len(given[name].blocks))) for name in unknown}
    return given | {name: Given(given[name].blocks, looked[name]) for name in unknown}


def _sent(given: NDArray[Any], lengths: list[int], name: str) -> list[Any]:
    """An array of this process, cut as X is."""
    if given.ndim != 1 or len(given) != sum(lengths):
        rows = f"{len(given)} entries" if given.ndim == 1 else f"the shape {given.shape}"
        msg = f"{name} has {rows} but X has {sum(lengths)} rows"
        raise ValueError(msg)
    edges = np.concatenate([[0], np.cumsum(lengths)])
    return [given[a:z].copy() for a, z in pairwise(edges)]


def _cut_again(
    engine: Engine, blocks: list[Any], sizes: list[int], lengths: list[int], name: str
) -> list[Any]:
    """Blocks of labels or weights of these sizes, cut to the lengths of those of X."""
    if sum(sizes) != sum(lengths):
        msg = f"{name} has {sum(sizes)} entries but X has {sum(lengths)} rows"
        raise ValueError(msg)
    ends = np.cumsum(sizes)
    found: list[Any] = []
    edges = [0, *np.cumsum(lengths).tolist()]
    for start, stop in pairwise(edges):
        first, last = np.searchsorted(ends, [start, max(stop - 1, start)], side="right")
        some = blocks[first : last + 1] if stop > start else blocks[:1]
        begin = start - (int(ends[first - 1]) if first else 0)
        found.append(engine.submit(_stretch, begin, stop - start, *some))
    return found


def _require_alike(told: list[Told]) -> None:
    """Refuse blocks of different widths, or dense and sparse ones, by the first that differ."""
    filled = [(number, one) for number, one in enumerate(told) if one.size.rows]
    first, usual = filled[0]
    for number, one in filled:
        if one.columns != usual.columns:
            found = f"has {one.columns} columns, but block {first} has {usual.columns}"
        elif one.size.dense != usual.size.dense:
            kinds = ("dense", "sparse") if one.size.dense else ("sparse", "dense")
            found = f"is {kinds[0]}, but block {first} is {kinds[1]}"
        else:
            continue
        msg = f"block {number} of X {found}: give all the same"
        raise ClusterError(msg)


def _together(found: list[tuple[NDArray[Any], NDArray[np.int64]]]) -> tuple[Any, Any]:
    """All different labels, and how many samples have each."""
    labels, places = np.unique(joined_labels([some for some, _ in found]), return_inverse=True)
    counts = np.zeros(len(labels), np.int64)
    np.add.at(counts, places, np.concatenate([count for _, count in found]))
    return labels, counts


def joined_labels(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Labels one after the other, if they can be sorted."""
    return label_vector("y", _one_after_the_other(parts))


def _one_after_the_other(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """All of these in one array; numbers stay numbers beside texts."""
    if len({part.dtype.kind == "U" for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _advise(blocks: int, rows: int, d: int) -> None:
    """Warn of blocks so small that there are mostly tasks."""
    if blocks >= MANY and rows * d < SMALL * blocks:
        each = rows // blocks
        wanted = max(1, 16 * SMALL // d)
        warnings.warn(
            f"X comes in {blocks} blocks of about {each} rows, which mostly costs time: "
            f"give blocks of about {wanted} rows",
            ChunkWarning,
            stacklevel=_outside(),
        )


def _outside() -> int:
    """How many calls up from the caller the caller of this library is, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and Path(frame.f_code.co_filename).is_relative_to(HERE):
        frame, level = frame.f_back, level + 1
    return level


# What workers do -------------------------------------------------------------------------------


def _read(
    read: Callable[[Any, Any, Any], Any], weighted: bool, number: int, X: Any, y: Any, *more: Any
) -> Any:
    """A block, validated; or what is wrong with it, which it would be in vain to try again."""
    n = len_of(X)
    try:
        # Whatever Dask says: loops would read what lies beyond the end.
        for m, what in zip(map(len_of, (y, *more)), ("labels", "weights"), strict=False):
            if m != n:
                msg = f"{n} rows of X but {m} {what}"
                raise ValueError(msg)
        if n == 0:
            none = np.empty(0)
            return RawBlock(np.empty((0, X.shape[1])), none, none.astype(np.int32), none)
        return read(X, y, more[0] if weighted else None)
    except Exception as error:
        return Unread(f"block {number} of X: {one_line(error)}")


def _read_several(read: Callable[..., Any], numbers: list[int], *given: Any) -> list[Any]:
    """Several blocks; given are those of X, then as many of labels, and so on."""
    columns = [given[k : k + len(numbers)] for k in range(0, len(given), len(numbers))]
    return [read(number, *some) for number, *some in zip(numbers, *columns, strict=True)]


def len_of(block: Any) -> int:
    """How many rows a block has."""
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)


def _each_length(*blocks: Any) -> list[int]:
    return [len_of(block) for block in blocks]


def _stretch(begin: int, length: int, *blocks: Any) -> Any:
    return _one_after_the_other([np.asarray(block) for block in blocks])[begin : begin + length]


def _told(*futures: Any) -> list[list[Told | Unread]]:
    """What is to be told of blocks, or of lists of them."""
    lists = [one if isinstance(one, list) else [one] for one in futures]
    return [[b if isinstance(b, Unread) else _told_of(b) for b in some] for some in lists]


def _told_of(part: RawBlock) -> Told:
    return Told(
        size_of(Block(as_rows(part.X), part.numbers, np.empty(0), np.empty((0, 0)))),
        part.X.shape[1],
        part.labels,
        _counts(part.numbers, len(part.labels)),
        part.weight is None or bool((part.weight == 1.0).all()),
        part.weight is None or bool(part.weight.any()),
    )


def _counts(numbers: NDArray[np.int32], kinds: int) -> NDArray[np.int64]:
    """How many there are of each number."""
    if kinds != 2:
        return np.bincount(numbers, minlength=kinds)
    ones = np.count_nonzero(numbers)
    return np.array([len(numbers) - ones, ones])


def _coded(classes: NDArray[Any], factor: Any, weighted: bool, part: RawBlock) -> Block:
    places = np.searchsorted(classes, part.labels).astype(np.int32)
    weight = np.empty(0) if part.weight is None or not weighted else part.weight
    here = np.array_equal(places, np.arange(len(places)))  # nothing needs to be copied
    return Block(as_rows(part.X), part.numbers if here else places[part.numbers], weight, factor)

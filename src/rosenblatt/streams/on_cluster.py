"""`rosenblatt.open` with ``engine=``: tables that workers read, and whose features stay there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rosenblatt.arguments import brief, instance
from rosenblatt.cluster.engine import Engine, is_of_dask
from rosenblatt.cluster.opened import ClusteredSamples, block_of
from rosenblatt.cluster.reading import block_futures, require_collection
from rosenblatt.streams.blocks import is_path
from rosenblatt.streams.targets import Target, TargetWriter, known_rows
from rosenblatt.tables.dask_frames import Columns, common_kinds, looked_at, merged_tallies
from rosenblatt.tables.encoder import TableEncoder, asked_of, fitted_to
from rosenblatt.tables.frames import Cells, Frame, Numbers
from rosenblatt.tables.table_on_workers import read_on_workers
from rosenblatt.tables.texts import Texts
from rosenblatt.visible import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.streams.cache import Cache


class PartedTable(NamedTuple):
    """A table whose parts are on workers.

    Attributes
    ----------
    engine : Engine
    parts : list of futures
    lengths : list of int
    read : callable
        Makes columns of a part: of these names, a mapping.
    names : tuple of str
    kinds : mapping
        Those of the columns, where they are known.
    name : str
    notes : tuple of str
    """

    engine: Engine
    parts: list[Any]
    lengths: list[int]
    read: Any
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    name: str
    notes: tuple[str, ...] = ()


def engine_of(client: Any) -> Engine:
    """The engine that a client of Dask's is."""
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        msg = f"engine={brief(client)} is no cluster: give a dask.distributed.Client, or None"
        raise TypeError(msg)
    return Engine(client)


def opened_on_cluster(
    what: Any, target: Any, encoder: Any, engine: Engine, cache: Cache, reading: dict[str, Any]
) -> ClusteredSamples:
    """The samples of a table in files that the workers see, or of a data frame of Dask's."""
    if is_path(what):
        table = read_on_workers(engine, what, folder=cache.folder, **reading)
        with table:
            names, read = tuple(table.names), table.reading()
            parted = PartedTable(
                engine, table.parts, table.lengths, read, names, table.kinds,
                Path(table.path).name, table.notes,
            )  # fmt: skip
            return samples_of(parted, target, encoder, cache)
    if is_of_dask(what):
        require_collection(what, "X")
    if not (is_of_dask(what) and hasattr(what, "columns")):
        given = "a query" if what is None else brief(what)
        msg = f"{given} cannot be read by workers: give files, or a data frame of Dask's"
        raise ValueError(msg)
    if reading:
        msg = f"{next(iter(reading))}= says how to read a file, but X is none: leave it out"
        raise ValueError(msg)
    return samples_of(_of_frame(engine, what, target), target, encoder, cache)


def _of_frame(engine: Engine, frame: Any, target: Any) -> PartedTable:
    """A data frame of Dask's."""
    names = tuple(map(str, frame.columns))
    parts = block_futures(engine, frame, "X")
    found = engine.gather([engine.submit(looked_at, k, names, p) for k, p in enumerate(parts)])
    kinds = common_kinds(names, [kinds for _, kinds in found])
    lengths = [n for n, _ in found]
    return PartedTable(engine, parts, lengths, named_columns, names, kinds, type(frame).__name__)


def samples_of(table: PartedTable, target: Any, encoder: Any, cache: Cache) -> ClusteredSamples:
    """The features of a table, made where its parts are, with the targets of the rows."""
    known: NDArray[np.bool_] | None = None
    found, notes = Target(None, None, None), table.notes
    if not any(table.lengths):
        msg = f"{table.name} has no rows: give at least one"
        raise ValueError(msg)
    if target is not None:
        _check_target(table, target)
        found, known, told = _targets(table, target, cache)
        notes = (*notes, *told)
    names = [name for name in table.names if name != target]
    if encoder is None:
        encoder = TableEncoder()
    instance("encoder", encoder, TableEncoder, "give a TableEncoder, or None")
    if not hasattr(encoder, "columns_"):
        encoder = fitted(table, clone(encoder), names, known)
    return encoded_samples(table, encoder, found, known, notes)


def _check_target(table: PartedTable, target: Any) -> None:
    instance("target", target, str, "give the name of a column")
    if target not in table.names:
        shown = ", ".join(map(repr, table.names[:8])) + ", ..." * (len(table.names) > 8)
        msg = f"{table.name} has no column {target!r}: it has {shown}"
        raise ValueError(msg)


def _targets(
    table: PartedTable, target: str, cache: Cache
) -> tuple[Target, NDArray[np.bool_] | None, tuple[str, ...]]:
    """The target of all rows that have one, which these are, and a note on the others."""
    writer = TargetWriter(cache)
    cells = target_cells(table, target)
    rows = known_rows(cells)
    if rows is None:
        writer.add_cells(cells, None)
        return writer.finished(), None, ()
    if not len(rows):
        msg = f"the target {target!r} is missing in every row: choose another"
        raise ValueError(msg)
    writer.add_cells(cells, rows)
    known = np.zeros(len(cells), np.bool_)
    known[rows] = True
    told = f"{count(len(cells) - len(rows), 'row')} without a class left out"
    return writer.finished(), known, (told,)


def target_cells(table: PartedTable, target: str) -> Cells:
    """The cells of the target of all rows, sent for part by part."""
    task = partial(_target_cells, table.read, target, table.kinds.get(target))
    used = [(part,) for part, n in zip(table.parts, table.lengths, strict=True) if n]
    parts = list(_made(table, task, used))
    values: list[Any] = [cells.values for cells in parts]
    if isinstance(values[0], Texts):
        return Cells(target, "text", Texts.joined(values))
    numbers = np.concatenate([one.as_floats() for one in values])
    return Cells(target, parts[0].kind, Numbers(numbers, all(one.complete for one in values)))


def sent_in_turn(
    table: PartedTable, names: list[str], known: NDArray[np.bool_] | None
) -> Iterator[dict[str, Any]]:
    """These columns of the rows that are known, part by part."""
    parts, lengths = known_parts(table, known)
    used = [part for part, n in zip(parts, lengths, strict=True) if n]
    task = partial(_chosen, table.read, names)
    return _made(table, task, used)


def _made(
    table: PartedTable, task: Callable[..., Any], parts: list[tuple[Any, ...]]
) -> Iterator[Any]:
    """What workers make of each part, in order."""
    return table.engine.in_turn(lambda part: table.engine.submit(task, *part), parts)


def fitted(
    table: PartedTable, encoder: TableEncoder, names: list[str], known: NDArray[np.bool_] | None
) -> TableEncoder:
    """The encoder, fitted to these columns of the rows that are known, where they are."""
    kinds = {name: kind for name, kind in table.kinds.items() if name in names}
    columns = Columns(names, kinds, *asked_of(encoder, names))
    parts, lengths = known_parts(table, known)
    read = partial(_chosen, table.read, names)
    return fitted_to(encoder, names, merged_tallies(table.engine, parts, lengths, columns, read))


def known_parts(
    table: PartedTable, known: NDArray[np.bool_] | None
) -> tuple[list[tuple[Any, Any]], list[int]]:
    """The parts with the rows that are known of each (None: all), and how many these are."""
    rows = _cut(table, known)
    both = list(zip(table.parts, rows, strict=True))
    lengths = [
        n if some is None else len(some) for n, some in zip(table.lengths, rows, strict=True)
    ]
    return both, lengths


def _cut(table: PartedTable, known: NDArray[np.bool_] | None) -> list[NDArray[np.intp] | None]:
    """The rows of each part that are known; None: all."""
    if known is None:
        return [None] * len(table.parts)
    starts = accumulate(table.lengths, initial=0)
    both = [known[a : a + n] for a, n in zip(starts, table.lengths, strict=False)]
    return [None if here.all() else np.flatnonzero(here) for here in both]


def encoded_samples(
    table: PartedTable,
    encoder: TableEncoder,
    found: Target,
    known: NDArray[np.bool_] | None,
    notes: tuple[str, ...],
) -> ClusteredSamples:
    """The features that a fitted encoder makes of the rows that are known, where they are."""
    engine = table.engine
    parts, lengths = known_parts(table, known)
    shared = engine.sent(encoder)
    blocks, start = list[Any](), 0
    for (part, rows), n in zip(parts, lengths, strict=True):
        label = None if found.label is None else np.array(found.label[start : start + n])
        if n:
            task = partial(_encoded, table.read, list(encoder.kinds_))
            blocks.append(engine.submit(task, part, rows, shared, label, found.classes))
        start += n
    told = engine.gather([engine.submit(_kind_of, block) for block in blocks])
    return ClusteredSamples(
        engine,
        blocks,
        [n for n in lengths if n],
        len(encoder.get_feature_names_out()),
        dtype=told[0][0],
        sparse=told[0][1],
        n_entries=sum(n for *_, n in told),
        **found._asdict(),
        features=tuple(map(str, encoder.get_feature_names_out())),
        encoder=encoder,
        notes=notes,
        name=table.name,
    )


# What workers do -------------------------------------------------------------------------------


def named_columns(part: Any) -> Mapping[str, Any]:
    """The columns of a data frame."""
    frame = Frame.of_columns(part)
    return {name: frame[name] for name in frame.names}


def _read(read: Any, names: list[str], part: Any) -> Any:
    if hasattr(read, "of"):
        return read.of(names)(part)
    found = read(part)
    return {name: found[name] for name in names}


def _target_cells(read: Any, target: str, kind: str | None, part: Any) -> Cells:
    """The target of a part; its texts without those that stand nowhere."""
    cells = Cells.of(target, _read(read, [target], part)[target], kind)
    texts = cells.values
    return replace(cells, values=texts.used()) if isinstance(texts, Texts) else cells


def _chosen(read: Any, names: list[str], part: Any, rows: Any) -> dict[str, Any]:
    """The known rows of a part."""
    columns = _read(read, names, part)
    return columns if rows is None else {name: taken(c, rows) for name, c in columns.items()}


def taken(cells: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a column."""
    return cells.iloc[rows] if hasattr(cells, "iloc") else cells[rows]


def _encoded(
    read: Any, names: list[str], part: Any, rows: Any, encoder: Any, label: Any, classes: Any
) -> Any:
    """A block of features, with the numbers of the classes."""
    X = encoder.transform(_chosen(read, names, part, rows))
    return block_of(X, label, classes)


def _kind_of(block: Any) -> tuple[str, bool, int]:
    return block.X.dtype.str, not isinstance(block.X, np.ndarray), int(block.X.size)

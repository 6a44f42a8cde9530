"""`rosenblatt.open`: from whatever holds samples to numbers on disk."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from rosenblatt.arguments import brief, instance
from rosenblatt.data.opened import OpenedSource
from rosenblatt.running.ahead import ahead
from rosenblatt.streams.blocks import TableBlocks, of_iterable, table_blocks
from rosenblatt.streams.cache import Cache
from rosenblatt.streams.targets import Target, TargetWriter, known_rows, target_bytes
from rosenblatt.streams.writing import FeatureWriter, checked_rows
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.frames import Cells, Frame, is_empty, is_named
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.tables.table import read_table
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.cluster.opened import ClusteredSamples

NOTHING = Target(None, None, None)
FLOATS = (np.float32, np.float64)
ENCODERS = (TableEncoder, SparseEncoder)
STEP = 1 << 22  # numbers of an array at a time


def open(
    what: Any = None,
    target: Any = None,
    *,
    encoder: TableEncoder | None = None,
    cache: Any = None,
    cache_size: Any = None,
    engine: Any = None,
    **reading: Any,
) -> OpenedSource | ClusteredSamples:
    """Samples of any amount, as numbers on disk that are taken in place of ``X, y``.

    What is given is read once into a temporary file, block by block; estimators,
    `rosenblatt.separability`, `rosenblatt.mistake_bound`, `rosenblatt.certify.check` and the
    predictions of models then read that file as often as they need to, and give the answers that
    they would give for the same numbers in memory, to the bit.

    Parameters
    ----------
    what : path, list of paths, array, data frame, relation, or blocks
        A file or several as `rosenblatt.io.read_table` takes them, a pattern such as
        ``part-*.csv``, a folder of Parquet files, the address of a database; None with ``query=``.
        A NumPy array, which may be a memory map: of floats it is used where it lies. A data frame
        (pandas, polars), an Arrow table or a dict of columns; a recipe for one that is not in
        memory (a DuckDB relation, a polars LazyFrame, an Arrow data set or stream). Or an iterable
        of blocks: pairs ``(X, y)`` of numbers and labels, or data frames; those are gone through
        twice, so give a list, or a function that returns an iterator anew.
    target : str, array, or int, optional
        What to learn: of a table the name of a column; of an array the number of one, or n
        labels. Rows without one are left out. None: there is no target, as for predictions. Numbers
        are classes if they are whole, below 2^53, and no more than 10 000 different ones.
    encoder : TableEncoder, optional
        What makes features of the columns of a table; None: ``TableEncoder()``, as
        ``rosenblatt fit`` does. One that is not fitted yet is fitted, as a copy, in one scan. One
        that is, such as the `encoder` of the training data, is used as it is.
    cache : path, optional
        The folder for temporary files; None: the system's (TMPDIR).
    cache_size : int or str, optional
        The most bytes that features may take there, such as ``"50GB"``; None: what is free.
    engine : distributed.Client, optional
        A Dask cluster whose workers read the files, which all of them see under the same names, or
        hold the parts of a Dask data frame. The features are made there and stay there.
    **reading
        How to read files: the arguments of `rosenblatt.io.read_table`, such as ``query=``.

    Returns
    -------
    OpenedSource
        With an `engine` `rosenblatt.cluster.opened.ClusteredSamples`, which is taken in the same
        places and gives the same answers.

    Raises
    ------
    ValueError, OSError
        In one line: what cannot be read; blocks that differ, with the row and the column; a file
        that changes while it is read; blocks that are fewer the second time; a full disk.

    Examples
    --------
    >>> import numpy as np
    >>> import rosenblatt as rb
    >>> parts = [(np.array([[0.0, 1.0], [2.0, 0.5]]), ["no", "yes"]), (np.eye(2), ["yes", "no"])]
    >>> with rb.open(parts) as source:
    ...     print(source.shape, rb.Perceptron().fit(source).stop_reason_)
    (4, 2) StopReason.SEPARATED
    """
    if encoder is not None:
        instance("encoder", encoder, ENCODERS, "give a TableEncoder, or None")
    for name in reading:
        if name not in inspect.signature(read_table).parameters or name in ("in_parts", "folder"):
            msg = f"{name}= is not known: give arguments of open, or of rosenblatt.io.read_table"
            raise TypeError(msg)
    with Cache(cache, cache_size) as room:
        if engine is not None:
            from rosenblatt.streams.on_cluster import engine_of, opened_on_cluster

            return opened_on_cluster(what, target, encoder, engine_of(engine), room, reading)
        return _opened(what, target, encoder, room, reading)


def _opened(
    what: Any, target: Any, encoder: TableEncoder | None, room: Cache, reading: dict[str, Any]
) -> OpenedSource:
    """The samples, written into the cache unless they are on disk already."""
    blocks = table_blocks(what, room, reading)
    if blocks is not None:
        return opened_table(blocks, target, encoder, room)
    if isinstance(what, np.ndarray) or issparse(what):
        return _opened_array(what, target, room)
    again = of_iterable(what)
    given = again()
    first = next(given, None)
    if first is None:
        msg = f"{brief(what)} holds no blocks: give at least one with a row"
        raise ValueError(msg)
    if not is_named(first):
        refuse_for_numbers(target, encoder)
        return _opened_pairs(chain([first], given), room)
    if isinstance(what, Iterator):
        msg = (
            f"{brief(what)} can be gone through only once, but its tables are read twice: "
            "give a list, or a function that returns an iterator anew"
        )
        raise ValueError(msg)
    passes = chain([chain([first], given)], iter(again, None))  # the first has begun already
    return opened_table(TableBlocks("blocks", lambda: next(passes)), target, encoder, room)


def refuse_for_numbers(target: Any, encoder: Any) -> None:
    """Refuse what only tables have."""
    if target is not None or encoder is not None:
        given = "target" if target is not None else "encoder"
        msg = f"{given}= is for tables, but the blocks are pairs (X, y): leave it out"
        raise ValueError(msg)


# Tables -----------------------------------------------------------------------------------------


def opened_table(blocks: TableBlocks, target: Any, encoder: Any, cache: Cache) -> OpenedSource:
    """The features of a table, which is closed at the end."""
    try:
        if target is not None:
            _check_target(blocks, target)
        table, kinds = SplitTable(blocks, target, cache), dict(blocks.kinds or {})
        if encoder is None:
            encoder = SparseEncoder() if "sparse" in kinds.values() else TableEncoder()
        if not hasattr(encoder, "columns_"):
            encoder = clone(encoder)
            if isinstance(encoder, SparseEncoder):
                encoder.fit(next(table.features()))
                table = SplitTable(blocks, target, cache)
            else:
                kinds.pop(target, None)
                with closing(ahead(table.features())) as features:
                    encoder.fit_blocks(features, kinds=kinds)
        X = encoded(table.features(), encoder, cache)
        found = table.finished()
        return OpenedSource(
            X,
            **found._asdict(),
            features=tuple(map(str, encoder.get_feature_names_out())),
            encoder=encoder,
            notes=(*blocks.notes, *table.notes),
            name=blocks.name,
        )
    finally:
        blocks.close()


def encoded(blocks: Iterator[Any], encoder: Any, cache: Cache) -> Any:
    """The features that an encoder makes of a table, on disk.

    Blocks are read, encoded and written side by side.
    """
    writer = FeatureWriter(cache)
    with closing(ahead(blocks)) as ready:
        made = (encoder.transform(block) for block in ready)
        with closing(ahead(made)) as features:
            for part in features:
                writer.add(part)
    return writer.finished()


def _check_target(blocks: TableBlocks, target: Any) -> None:
    instance("target", target, str, "give the name of a column")
    if blocks.names is not None and target not in blocks.names:
        shown = ", ".join(map(repr, blocks.names[:8])) + ", ..." * (len(blocks.names) > 8)
        msg = f"{blocks.name} has no column {target!r}: it has {shown}"
        raise ValueError(msg)


class SplitTable:
    """A table in blocks without its target, and without the rows that have none.

    The target is written when it is first gone through. Every later pass has to give as many rows.
    """

    def __init__(self, blocks: TableBlocks, target: str | None, cache: Cache) -> None:
        self._blocks, self._target = blocks, target
        self._writer = None if target is None else TargetWriter(cache)
        self._n_rows = self._left_out = 0
        self._passes, self._seen = 0, b""

    def features(self) -> Iterator[Mapping[str, Any]]:
        """Go through the table once more."""
        self._passes += 1
        n_rows, first_time = 0, self._passes == 1
        self._digest = hashlib.blake2b(digest_size=16)
        for block in self._blocks.again():
            if not is_named(block):
                msg = (
                    f"row {n_rows + 1} begins {brief(block)}: give tables only, as the first is one"
                )
                raise ValueError(msg)
            if not _has_matrix(block) and is_empty(block):
                continue
            frame, columns = self._columns(block)
            n_rows += frame.n_rows
            known = self._known(frame, first_time) if self._target is not None else None
            if known is not None:
                columns = {name: _chosen(cells, known) for name, cells in columns.items()}
            if known is None or len(known):
                yield columns
        if first_time and n_rows and n_rows == self._left_out:
            msg = f"the target {self._target!r} is missing in every row: choose another"
            raise ValueError(msg)
        if first_time:
            self._n_rows, self._seen = n_rows, self._digest.digest()
        elif n_rows != self._n_rows:
            msg = (
                f"{self._blocks.name} gave {self._n_rows} rows the first time, but {n_rows} the "
                "second: give what is the same each time"
            )
            raise ValueError(msg)
        elif self._digest.digest() != self._seen:
            msg = (
                f"{self._blocks.name} gave other targets the second time, or in another order: "
                "give what is the same each time"
            )
            raise ValueError(msg)

    def _columns(self, block: Any) -> tuple[Frame, dict[str, Any]]:
        """A block, and its columns but for the target; of a sparse table the only matrix."""
        if _has_matrix(block):
            columns = {name: cells for name, cells in block.items() if issparse(cells)}
            (matrix,) = columns.values()
            return Frame(list(block), matrix.shape[0], block.__getitem__), columns
        frame = Frame.of_columns(block)
        return frame, {name: frame[name] for name in frame.names if name != self._target}

    def _known(self, frame: Frame, first_time: bool) -> Any:
        """The rows of a block that have a target; None: all of them."""
        assert self._target is not None
        if self._target not in frame.names:
            msg = f"a block has no column {self._target!r}: give all blocks the same columns"
            raise ValueError(msg)
        cells = Cells.of(self._target, frame[self._target])
        known = known_rows(cells)
        self._digest.update(target_bytes(cells))
        if first_time:
            assert self._writer is not None
            if known is None or len(known):
                self._writer.add_cells(cells, known)
            self._left_out += 0 if known is None else len(cells) - len(known)
        return known

    def finished(self) -> Target:
        """The target of all rows that have one."""
        return NOTHING if self._writer is None else self._writer.finished()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done unasked."""
        told = f"{count(self._left_out, 'row')} without a class left out"
        return (told,) * bool(self._left_out)


def _has_matrix(block: Any) -> bool:
    """Whether it is a block of a sparse table."""
    return isinstance(block, dict) and is_sparse(block)


def _chosen(cells: Any, rows: Any) -> Any:
    """Some rows of a column, whatever holds it."""
    if hasattr(cells, "iloc"):
        return cells.iloc[rows]
    if hasattr(cells, "take") and not isinstance(cells, np.ndarray):
        return cells.take(rows)
    return (
        cells[rows]
        if hasattr(cells, "dtype") or hasattr(cells, "codes")
        else [cells[k] for k in rows]
    )


# Numbers ----------------------------------------------------------------------------------------


def _opened_pairs(pairs: Iterator[Any], cache: Cache) -> OpenedSource:
    """Blocks of numbers with their labels, which are gone through once."""
    rows, target = FeatureWriter(cache), TargetWriter(cache)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            msg = f"a block is {brief(pair)}: give pairs (X, y), or data frames"
            raise ValueError(msg)
        X = checked_rows(pair[0], rows.n_rows + 1)
        if X.shape[0]:
            target.add(pair[1], X.shape[0])
            rows.add(X)
    return OpenedSource(rows.finished(), **target.finished()._asdict(), name="blocks")


def _opened_array(X: Any, target: Any, cache: Cache) -> OpenedSource:
    """An array or sparse matrix: where it lies if its numbers are floats, row after row."""
    if X.ndim != 2 or not X.shape[0]:
        msg = f"the array has shape {X.shape}: give a table with a row per sample"
        raise ValueError(msg)
    column = target if isinstance(target, int | np.integer) else None
    if column is not None and not -X.shape[1] <= column < X.shape[1]:
        msg = f"target={column} is no column: the array has {X.shape[1]}, counted from 0"
        raise ValueError(msg)
    labels, step = None if target is None else TargetWriter(cache), max(1, STEP // X.shape[1])
    if labels is not None and column is None:
        labels.add(target, X.shape[0])
    in_place = column is None and _is_ready(X)
    rows = FeatureWriter(cache)
    for a in range(0, X.shape[0], step):
        block = X[a : a + step]
        if labels is not None and column is not None:
            labels.add(np.asarray(block[:, column]), block.shape[0])
            block = np.delete(block, column, axis=1)
        block = checked_rows(block, a + 1)
        if not in_place:
            rows.add(block)
    found = NOTHING if labels is None else labels.finished()
    return OpenedSource(X if in_place else rows.finished(), **found._asdict(), name="the array")


def _is_ready(X: Any) -> bool:
    """Whether an array or sparse matrix is as loops want it."""
    if issparse(X):
        return bool(X.format == "csr" and X.dtype in FLOATS and X.has_canonical_format)
    return bool(X.dtype in FLOATS and X.flags.c_contiguous and X.dtype.isnative)

"""Where blocks of rows come from. A solver sees a source, never a matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from mmap import mmap
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.columns import OfBlock, part_of
from rosenblatt.data.orders import TileOrder
from rosenblatt.data.rows import (
    Block,
    DenseRows,
    Rows,
    as_matrix,
    as_rows,
    csr_of_parts,
    n_entries,
    n_rows,
    slice_rows,
)
from rosenblatt.data.scratch import scratch
from rosenblatt.exact.blocks import LabelledStack, Stack, stacked
from rosenblatt.exact.sides import as_signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.data.columns import Column, Given, There

IN_ORDER = np.empty(0, np.int64)
MAPPED = 1 << 23  # numbers in a block of rows that lie on disk
LARGE = 1 << 21  # numbers from which on a copy of such rows is on disk, too


Order = NDArray[np.int64] | TileOrder  # rows by their numbers


class Piece(NamedTuple):
    """A run of positions of an epoch that lie in one block.

    The block's first row has the number `start` in the whole data. `order` has its rows in the
    order of the run; empty: all of them as they stand. The run's first position in the epoch is
    `offset`, and there are `length` of them. Where rows were `chosen` from others, `among` says
    which of these the block is of: from the first to the last.
    """

    block: Block
    start: int
    order: NDArray[np.int64]
    offset: int
    length: int
    among: tuple[int, int] = (0, 0)


class Source(Protocol):
    """Labelled rows in blocks, to be passed over again and again, always in the same order.

    A block need not outlast the next one, unless they are `lasting`: what is needed of it later is
    copied.
    """

    n_rows: int
    n_features: int
    n_entries: int
    weighted: bool
    lasting: bool  # whether blocks outlast the next one
    resident: bool  # whether they are in memory, so that what is made of one may be kept

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """The data in the given order of rows; empty: block after block, as it stands."""
        ...


class Elsewhere(ABC):
    """Blocks in other processes: what is to be done with one is done there (`map_pieces`).

    `pieces` brings them here one by one, for what nobody has taught to work elsewhere.
    """

    n_rows: int
    n_features: int
    n_entries: int
    weighted: bool
    lasting = resident = False
    dtype: np.dtype[Any]
    dense: bool

    @abstractmethod
    def map(
        self,
        task: Callable[..., Any],
        *columns: Given,
        look_up: Callable[[], None] | None = None,
    ) -> Iterator[Any]:
        """`map_pieces` with a team of the other process; `look_up` may raise to give up."""

    @abstractmethod
    def merged(
        self,
        task: Callable[..., Any],
        begin: Callable[[], Any],
        end: Callable[[Any], Any],
        *columns: Given,
        look_up: Callable[[], None] | None = None,
    ) -> tuple[list[Any], list[Any]]:
        """`map` with ``task(piece, team, state, ...)``, where the blocks of a place share a state.

        That is what `begin` makes; what `end` makes of each is returned, in any order, and what
        the tasks return, in the order of the blocks.
        """

    @abstractmethod
    def column(self, task: Callable[..., Any], dtype: Any, *columns: Given) -> There:
        """`written` with a team of the other process; nobody waits for it."""

    @abstractmethod
    def chosen(self, used: Any, *columns: Any) -> tuple[Elsewhere, There, list[Any]]:
        """The rows that are `used`, in as many blocks as here, their numbers, and their columns.

        They have no weights; columns are beside them.
        """

    @abstractmethod
    def replaced(self, column: Any, used: Any, new: There) -> There:
        """A column in which the rows that are `used`, and were `chosen`, have `new` numbers."""

    @abstractmethod
    def through(self, task: Callable[[Piece, Any], Any], state: Any) -> Any:
        """`through_pieces`, from process to process."""

    @abstractmethod
    def rows(self, numbers: NDArray[np.int64]) -> Block:
        """A copy of the rows with these numbers, ascending."""

    @abstractmethod
    def changed(
        self, *changes: Callable[[Piece], Block], n_features: int, weighted: bool
    ) -> Elsewhere:
        """The blocks made into others, as by `ChangedSource`."""

    @abstractmethod
    def taken(self, used: NDArray[np.bool_]) -> Elsewhere:
        """Copies of the rows that are `used`, without their weights, where they are."""

    @abstractmethod
    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """Block after block, brought here."""


def map_pieces(
    source: Source | Elsewhere, task: Callable[..., Any], team: Any, *columns: Given
) -> Iterator[Any]:
    """``task(piece, team)`` for every block, where the block is, in their order.

    Of `columns`, with a number for each row of the data, the task is given those of the rows of its
    block. It should return little: for blocks elsewhere that travels, as does the task.
    """
    if isinstance(source, Elsewhere):
        yield from source.map(task, *columns)
        return
    for piece in source.pieces():
        yield task(piece, team, *(part_of(column, piece) for column in columns))


def written(
    source: Source | Elsewhere,
    task: Callable[..., Any],
    team: Any,
    *columns: Given,
    dtype: Any = np.float64,
) -> Column:
    """A new column, of which ``task(piece, team, out, ...)`` writes the part of every block."""
    if isinstance(source, Elsewhere):
        return source.column(task, dtype, *columns)
    out = np.empty(source.n_rows, dtype)
    for piece in source.pieces():
        here = out[piece.start : piece.start + piece.length]
        task(piece, team, here, *(part_of(column, piece) for column in columns))
    return out


def through_pieces(
    source: Source | Elsewhere, task: Callable[[Piece, Any], Any], state: Any
) -> Any:
    """``state = task(piece, state)`` for one block after the other, where the block is."""
    if isinstance(source, Elsewhere):
        return source.through(task, state)
    for piece in source.pieces():
        state = task(piece, state)
    return state


def is_mapped(array: Any) -> bool:
    """Whether an array is a view of a file."""
    while array is not None:
        if isinstance(array, mmap | np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


class MemorySource:
    """Rows that can be addressed: one block, or several of `block_size` rows, with what it has.

    Those of a memory-mapped file are as good as in memory, but nothing as large as they are is
    made of them: they come in blocks unless a random order is asked for. The result of a fit does
    not depend on the size of blocks.
    """

    lasting = True

    def __init__(
        self,
        rows: Rows,
        label: NDArray[np.int32],
        n_features: int,
        weight: NDArray[np.float64] | None = None,
        factor: NDArray[np.float64] | None = None,
        block_size: int | None = None,
    ) -> None:
        self.n_rows = n_rows(rows)
        self.n_features = n_features
        self.n_entries = max(1, n_entries(rows))
        self.weighted = weight is not None or factor is not None
        mapped = is_mapped(rows.X if isinstance(rows, DenseRows) else rows.data)
        self.resident = not mapped
        at_a_time = MAPPED * self.n_rows // self.n_entries if mapped else self.n_rows
        size = block_size or max(at_a_time, 1)
        weights = np.empty(0) if weight is None else weight
        factors = np.empty((0, 0)) if factor is None else factor
        self._starts = list(range(0, self.n_rows, size))
        self._blocks = [
            Block(slice_rows(rows, a, z), label[a:z], weights[a:z], factors)
            for a, z in ((a, a + size) for a in self._starts)
        ]
        self._pieces = [
            Piece(block, start, IN_ORDER, start, len(block.label))
            for start, block in zip(self._starts, self._blocks, strict=True)
        ]
        whole = mapped or len(self._blocks) == 1
        self._whole = Block(rows, label, weights, factors) if whole else None

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """The data in the given order of rows; empty: block after block, as it stands."""
        if not order.size:
            yield from self._pieces
            return
        for offset, rows in order if isinstance(order, TileOrder) else [(0, order)]:
            yield from self._some(rows, offset)

    def _some(self, rows: NDArray[np.int64], offset: int) -> Iterator[Piece]:
        """Some rows in this order, from a position of the epoch on."""
        if self._whole is not None:
            yield Piece(self._whole, 0, rows, offset, len(rows))
            return
        home = np.searchsorted(self._starts, rows, side="right") - 1
        cuts = [0, *(np.flatnonzero(np.diff(home)) + 1), len(rows)]
        for a, z in pairwise(int(cut) for cut in cuts):
            start = self._starts[home[a]]
            yield Piece(self._blocks[home[a]], start, rows[a:z] - start, offset + a, z - a)


def changed(
    source: Source,
    *changes: Callable[[Piece], Block],
    n_features: int | None = None,
    weighted: bool = False,
) -> Source:
    """The blocks of a source, each made into another by a function: where they are."""
    n_features = source.n_features if n_features is None else n_features
    if isinstance(source, Elsewhere):
        return source.changed(*changes, n_features=n_features, weighted=weighted)
    return ChangedSource(source, *changes, n_features=n_features, weighted=weighted)


class ChangedSource:
    """The blocks of a source, each made into another by a function.

    If the source's blocks stay in memory, so do these; otherwise they are made on each pass. The
    new block may have fewer rows, and `n_features` other features. With several functions there
    are as many passes, one after the other.
    """

    def __init__(
        self,
        source: Source,
        *changes: Callable[[Piece], Block],
        n_features: int | None = None,
        weighted: bool = False,
    ) -> None:
        self._source, self._changes = source, changes
        self._kept: list[Piece] = []
        self.n_features = source.n_features if n_features is None else n_features
        self.weighted, self.resident = weighted, source.resident
        self.lasting = self.resident
        self.n_rows, self.n_entries = 0, 0
        for piece in self._make():
            self.n_rows += piece.length
            self.n_entries += n_entries(piece.block.rows)
            if self.resident:
                self._kept.append(piece)
        self.n_entries = max(1, self.n_entries)

    def _make(self) -> Iterator[Piece]:
        start = 0
        for change in self._changes:
            for piece in self._source.pieces():
                block = change(piece)
                n = len(block.label)
                if n:
                    yield Piece(block, start, IN_ORDER, start, n)
                start += n

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """Block after block, as they stand."""
        assert not order.size
        yield from self._kept if self.resident else self._make()


def is_dense(source: Source) -> bool:
    """Whether its blocks are dense, not sparse."""
    if isinstance(source, Elsewhere):
        return source.dense
    return isinstance(next(source.pieces()).block.rows, DenseRows)


def stack(source: Source | Elsewhere) -> Stack:
    """The rows of a source as a matrix in blocks."""
    shape = (source.n_rows, source.n_features)
    if isinstance(source, Elsewhere):
        there = source.pieces
        return Stack(
            shape, lambda: (as_matrix(p.block.rows, shape[1]) for p in there()), FarRows(source)
        )
    kept: list[Any] = []  # of sparse rows a matrix is slow to make

    def make() -> Iterator[Any]:
        if kept:
            yield from kept
            return
        matrices = (as_matrix(piece.block.rows, shape[1]) for piece in source.pieces())
        if source.resident:
            kept.extend(matrices)
            yield from kept
        else:
            yield from matrices

    return Stack(shape, make)


class FarRows:
    """The rows of a source that is elsewhere, as blocks of a matrix there."""

    def __init__(self, source: Elsewhere) -> None:
        self._source, self.dense = source, source.dense
        self._known: list[tuple[ref[NDArray[Any]], OfBlock]] = []

    def knows(self, column: NDArray[Any], make: Callable[[Any], NDArray[Any]]) -> None:
        """A column that need not travel: whoever has a block makes its part of that."""
        self._known.append((ref(column), OfBlock(make)))

    def _sent(self, column: Any) -> Any:
        return next((made for known, made in self._known if known() is column), column)

    def map(
        self,
        task: Callable[..., Any],
        *columns: Any,
        look_up: Callable[[], None] | None = None,
    ) -> Iterator[Any]:
        """``task(matrix, first, *parts)`` for every block; `look_up` may raise to give up."""
        task = partial(_of_matrix, task, self._source.n_features)
        yield from self._source.map(task, *map(self._sent, columns), look_up=look_up)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """A copy of the listed rows, ascending, which may be changed."""
        X = as_matrix(self._source.rows(rows).rows, self._source.n_features)
        return X if not isinstance(X, np.ndarray) or X.flags.writeable else X.copy()


def _of_matrix(
    task: Callable[..., Any], n_features: int, piece: Piece, team: Any, *columns: NDArray[Any]
) -> Any:
    return task(as_matrix(piece.block.rows, n_features), piece.start, *columns)


def whole(source: Source) -> Any:
    """All rows as one matrix, for what needs them all: a copy unless they are one block."""
    if source.resident:
        first, *more = stack(source)
        return stacked([first, *more]) if more else first
    return stack(source)[np.arange(source.n_rows)]


def labels(source: Source) -> NDArray[np.int32]:
    """The number of each row's class."""
    return np.concatenate(list(map_pieces(source, _labels, None)))


def _labels(piece: Piece, team: Any) -> NDArray[np.int32]:
    return piece.block.label


def signs_of(positive: int, piece: Piece) -> NDArray[np.int8]:
    """1 for the rows of a block that are of a class, -1 for the others."""
    return as_signs(piece.block.label == positive)


def signed_stack(source: Source | Elsewhere, positive: int, y: NDArray[np.int8]) -> Stack:
    """The rows of a source; y, 1 for a class and -1 for the others, need not travel with them."""
    X = stack(source)
    if X.far is not None:
        X.far.knows(y, partial(signs_of, positive))
    return X


def members(source: Source | Elsewhere, positive: int) -> NDArray[np.bool_]:
    """The rows that are of a class: a bit of each travels."""
    found = map_pieces(source, partial(_members, positive), None)
    parts = [np.unpackbits(bits, count=n).view(np.bool_) for n, bits in found]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _members(positive: int, piece: Piece, team: Any) -> tuple[int, NDArray[np.uint8]]:
    return piece.length, np.packbits(piece.block.label == positive)


def labelled(source: Source | Elsewhere, positive: int) -> Labelled | LabelledStack:
    """The rows of a source for those who check something, 1 for a class and 0 for the rest."""
    if isinstance(source, Elsewhere):
        return LabelledStack(stack(source), members(source, positive), partial(signs_of, positive))
    return Labelled(source, positive)


class Labelled:
    """The blocks of a source as pairs of a matrix and labels, 1 for a class and 0 for the rest."""

    def __init__(self, source: Source, positive: int) -> None:
        self._source, self._positive = source, positive

    def __iter__(self) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        for piece in self._source.pieces():
            matrix = as_matrix(piece.block.rows, self._source.n_features)
            yield matrix, piece.block.label == self._positive


def copied(block: Block, n_features: int) -> Block:
    """A block that outlasts the next one."""
    X = as_matrix(block.rows, n_features).copy()
    return Block(as_rows(X), block.label.copy(), block.weight.copy(), block.factor)


def take_rows(source: Source, rows: NDArray[np.int64]) -> tuple[Block, NDArray[np.int64]]:
    """A block that has the listed rows, and their numbers in it.

    It is a copy, made in one pass, unless there is only one block.
    """
    order = np.argsort(rows, kind="stable")
    wanted, parts = rows[order], []
    if isinstance(source, Elsewhere):
        numbers, places = np.unique(rows, return_inverse=True)
        return source.rows(numbers), places.astype(np.int64)
    for piece in source.pieces():
        if piece.length == source.n_rows:
            return piece.block, rows
        a, z = np.searchsorted(wanted, (piece.start, piece.start + piece.length))
        if a < z:
            here, block = wanted[a:z] - piece.start, piece.block
            X = as_matrix(block.rows, source.n_features)[here]
            weight = block.weight[here] if block.weight.size else block.weight
            parts.append((X, block.label[here], weight, block.factor))
    Xs, labels, weights, factors = zip(*parts, strict=True)
    X = Xs[0] if len(Xs) == 1 else stacked(list(Xs))
    block = Block(as_rows(X), np.concatenate(labels), np.concatenate(weights), factors[0])
    return block, np.argsort(order)


def some_rows(source: Source, rows: NDArray[np.int64]) -> Any:
    """A copy of the listed rows, ascending, in float64: an array or a CSR matrix.

    Of a source that is not in memory a large copy is on disk as well.
    """
    X = stack(source)
    if (
        isinstance(source, Elsewhere)
        or source.resident
        or len(rows) * source.n_entries < LARGE * source.n_rows
    ):
        return X[rows].astype(np.float64, copy=False)
    at = 0
    if is_dense(source):
        out = scratch((len(rows), source.n_features), np.float64)
        for matrix, here in _wanted(X, rows):
            out[at : at + len(here)] = matrix[here]
            at += len(here)
        return out
    lengths = np.concatenate([np.diff(matrix.indptr)[here] for matrix, here in _wanted(X, rows)])
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    entries, columns = scratch((starts[-1],), np.float64), scratch((starts[-1],), np.int64)
    for matrix, here in _wanted(X, rows):
        part = matrix[here]
        entries[at : at + part.nnz], columns[at : at + part.nnz] = part.data, part.indices
        at += part.nnz
    return csr_of_parts(entries, columns, starts, (len(rows), source.n_features))


def _wanted(X: Stack, rows: NDArray[np.int64]) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """Each block of a matrix that has some of the rows, and their numbers in it."""
    start = 0
    for matrix in X:
        a, z = np.searchsorted(rows, (start, start + matrix.shape[0]))
        if a < z:
            yield matrix, rows[a:z] - start
        start += matrix.shape[0]


class RowsByNumber:
    """The rows of a source, as a matrix whose rows are asked for by number, or in blocks.

    Those asked for in turn are read in one pass; those asked for last stay at hand. Any others
    take a pass of their own.
    """

    def __init__(self, source: Source) -> None:
        self._stack, self.shape = stack(source), (source.n_rows, source.n_features)
        rows = next(source.pieces()).block.rows
        self.sparse = not isinstance(rows, DenseRows)
        self.dtype = (rows.X if isinstance(rows, DenseRows) else rows.data).dtype
        self.size = self.nnz = source.n_entries
        self._held: tuple[Any, Any] = IN_ORDER, as_matrix(rows, self.shape[1])[:0]
        self._pass: Iterator[Any] = iter(())
        self._block: Any = None  # what is left of one
        self._at = -1  # the number of its first row

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stack)

    def __getitem__(self, rows: Any) -> Any:
        rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else np.asarray(rows)
        numbers, held = self._held
        at = np.searchsorted(numbers, rows)
        if not (at < len(numbers)).all() or (numbers[at] != rows).any():
            numbers = np.unique(rows)
            follow = len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1
            held = self._in_turn(numbers) if follow else self._stack[numbers]
            self._held, at = (numbers, held), np.searchsorted(numbers, rows)
        return held if np.array_equal(at, np.arange(len(numbers))) else held[at]

    def _in_turn(self, rows: NDArray[np.int64]) -> Any:
        """Rows that follow one another, where the pass stands, or in a new one."""
        first, last = int(rows[0]), int(rows[-1]) + 1
        if self._at != first:
            self._pass, self._block, self._at = iter(self), None, 0
        parts = []
        while self._at < last:
            if self._block is None:
                self._block = next(self._pass)
                if self._at + self._block.shape[0] > first:
                    self._block = self._block.copy()  # which outlasts other passes
            begin, end = max(first - self._at, 0), min(last - self._at, self._block.shape[0])
            if begin < end:
                parts.append(self._block[begin:end])
            self._at += end
            self._block = self._block[end:] if end < self._block.shape[0] else None
        return parts[0] if len(parts) == 1 else stacked(parts)


def only(source: Source, used: NDArray[np.bool_]) -> Source:
    """Some rows of a source, without their weights."""
    if isinstance(source, Elsewhere):
        return source.taken(used)
    d = source.n_features

    def change(piece: Piece) -> Block:
        here = np.flatnonzero(used[piece.start : piece.start + piece.length])
        X = as_matrix(piece.block.rows, d)[here]
        return Block(as_rows(X), piece.block.label[here], np.empty(0), np.empty((0, 0)))

    return changed(source, change)

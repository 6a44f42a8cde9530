"""Samples in blocks that fit the cache, dense or CSR: the only place where the two differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from scipy.sparse import csr_array, vstack

from rosenblatt.exact.rationals import NONE, as_objects, decompose, rows_as_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask, Objects

ENTRIES = 2**18  # per block
NARROW = 8  # features
SQUARES_LOST = 1e-300  # more than squares too small for floats add up to


@dataclass(frozen=True)
class RowBlock:
    """Rows of an array: their entries as they are in `values`, and as floats."""

    values: NDArray[Any]
    floats: Floats

    def __len__(self) -> int:
        return len(self.values)

    def dot(self, t: Floats) -> Floats:
        """``x_i · t``, rounded."""
        products: Floats = self.floats @ t
        return products

    def dot_apart(self, t: Floats) -> Floats:
        """The same; what becomes of a row depends on nothing but its numbers.

        That is, neither on its neighbours nor on the order in which an array has its entries: they
        are multiplied one by one, and the products added along a row that is in one piece.
        """
        products = np.multiply(self.floats, t, order="C")
        if len(t) > NARROW:
            return np.asarray(np.add.reduce(products, axis=1))
        total = np.zeros(len(products))
        for column in products.T:  # which is the quicker the more rows are as short as this
            total += column
        return total

    def times(self, T: Floats) -> Floats:
        """``x_i · t`` for every column t of a matrix, rounded."""
        products: Floats = self.floats @ T
        return products

    def size_dot(self, t: Floats) -> Floats:
        """``|x_i| · t``, rounded."""
        return replace(self, floats=np.abs(self.floats)).dot(t)

    def sum(self, v: Floats) -> Floats:
        """``Σ_i v_i x_i``, rounded."""
        total: Floats = v @ self.floats
        return total

    def longest(self) -> tuple[int, int]:
        """How many terms a sum along a row has at most, and one along a column."""
        m, d = self.floats.shape
        return d, m

    def length(self) -> float:
        """A bound on ``‖x_i‖`` for all rows: the length of all of them as one vector."""
        entries = self.floats.ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            return 1.01 * float(np.sqrt(entries @ entries + SQUARES_LOST))

    def finite(self) -> bool:
        """Whether no entry is infinite or not a number."""
        # Large ones, squared, may only seem so.
        return bool(np.isfinite(self.length()) or np.isfinite(self.floats).all())

    def whole(self) -> bool:
        """Whether all floats are whole numbers."""
        return bool((np.rint(self.floats) == self.floats).all())

    def largest(self) -> Floats:
        """The largest size in each column."""
        sizes: Floats = np.abs(self.floats).max(axis=0, initial=0.0)
        return sizes

    def scaled(self, exponents: Ints) -> Self:
        """Columns times powers of two, among the floats."""
        return replace(self, floats=np.ldexp(self.floats, self._spread(exponents.astype(np.intc))))

    def units(self, low: Ints) -> Ints:
        """The smallest ``E_ij + low_j`` in each row, where ``x_ij`` is odd times ``2**E_ij``."""
        M, E = decompose(self.floats)
        return self._by_row(np.minimum, np.where(M == 0, NONE, E + self._spread(low)), NONE)

    def rounded(self) -> Mask:
        """Rows whose floats may not be the numbers given: integers too long for a float."""
        if self.values.dtype.kind not in "iu" or self.values.dtype.itemsize < 8:
            return np.zeros(len(self), dtype=bool)
        return self._by_row(np.logical_or, np.abs(self.floats) >= 2.0**53, False)

    def take(self, rows: Any) -> RowBlock:
        """The chosen rows."""
        return RowBlock(self.values[rows], self.floats[rows])

    def exact(self, numbers: Objects) -> tuple[Objects, Ints]:
        """``Σ_j x_ij numbers_j`` for each row: n and e, the sum being ``n * 2**e``."""
        used = np.unique(np.nonzero(numbers)[0])
        numbers, values = numbers[used], self.values[:, used]
        if values.dtype.kind in "iu":
            return values.astype(object) @ numbers, np.zeros(len(values), dtype=np.int64)
        whole, e = rows_as_integers(values)
        return whole @ numbers, e

    def _spread(self, row: NDArray[Any]) -> NDArray[Any]:
        """A number for each column, given to its entries."""
        return row

    def _by_row(self, ufunc: np.ufunc, entries: NDArray[Any], empty: Any) -> NDArray[Any]:
        """A sum, minimum, ... over the entries of each row."""
        return np.asarray(ufunc.reduce(entries, axis=1, initial=empty))


@dataclass(frozen=True)
class Sparse(RowBlock):
    """Rows in compressed form; `starts` has one entry more than there are rows."""

    columns: NDArray[Any]
    starts: NDArray[Any]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def dot(self, t: Floats) -> Floats:
        """``x_i · t``, rounded."""
        return self._by_row(np.add, self.floats * t[self.columns], 0.0)

    def dot_apart(self, t: Floats) -> Floats:
        """The same, which it is of each row by itself."""
        return self.dot(t)

    def times(self, T: Floats) -> Floats:
        """``x_i · t`` for every column t of a matrix, rounded."""
        shape = len(self), self.width
        products: Floats = csr_array((self.floats, self.columns, self.starts), shape=shape) @ T
        return products

    def sum(self, v: Floats) -> Floats:
        """``Σ_i v_i x_i``, rounded."""
        products = self.floats * np.repeat(v, np.diff(self.starts))
        total = np.bincount(self.columns, products, self.width)
        return total.astype(np.float64, copy=False)

    def longest(self) -> tuple[int, int]:
        """How many terms a sum along a row has at most, and one along a column."""
        columns = np.bincount(self.columns, minlength=1)
        return int(np.diff(self.starts).max(initial=0)), int(columns.max())

    def largest(self) -> Floats:
        """The largest size in each column."""
        sizes = np.zeros(self.width)
        np.maximum.at(sizes, self.columns, np.abs(self.floats))
        return sizes

    def take(self, rows: Any) -> Sparse:
        """The chosen rows."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.starts[:-1][rows] - starts[:-1], lengths) + np.arange(starts[-1])
        values, floats, columns = self.values[entries], self.floats[entries], self.columns[entries]
        return Sparse(values, floats, columns, starts, self.width)

    def exact(self, numbers: Objects) -> tuple[Objects, Ints]:
        """``Σ_j x_ij numbers_j`` for each row: n and e, the sum being ``n * 2**e``."""
        lines = numbers if numbers.ndim > 1 else numbers[:, np.newaxis]
        used = lines != 0
        entries = np.flatnonzero(used.any(axis=1)[self.columns])
        columns = self.columns[entries]
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))[entries]
        whole, e = self._as_integers(entries, rows)
        sums = np.zeros((len(self), lines.shape[1]), dtype=object)
        for k, line in enumerate(lines.T):
            some = np.flatnonzero(used[columns, k])
            first = np.flatnonzero(np.diff(rows[some], prepend=-1))
            if some.size:
                products = whole[some] * line[columns[some]]
                sums[rows[some[first]], k] = np.add.reduceat(products, first)
        return (sums if numbers.ndim > 1 else sums[:, 0]), e

    def _as_integers(self, entries: Ints, rows: Ints) -> tuple[Objects, Ints]:
        """Entries in integers, and for each row the power of two that they are to be times."""
        values, e = self.values[entries], np.full(len(self), NONE)
        if values.dtype.kind in "iu":
            return values.astype(object), np.zeros_like(e)
        M, E = decompose(values)
        used = M != 0
        np.minimum.at(e, rows[used], E[used])
        e[e == NONE] = 0
        return as_objects(M, np.where(used, E - e[rows], 0)), e

    def _spread(self, row: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(row[self.columns])

    def _by_row(self, ufunc: np.ufunc, entries: NDArray[Any], empty: Any) -> NDArray[Any]:
        result = np.full(len(self), empty, dtype=entries.dtype)
        filled = np.diff(self.starts) > 0
        if filled.any():
            result[filled] = ufunc.reduceat(entries, self.starts[:-1][filled])
        return result


def without_rounding(block: RowBlock, low: Ints, sizes: Floats) -> Mask:
    """Rows for which floats compute ``(x_i, 1)·t`` exactly, in any order of the sums.

    All products are multiples of one power of two there, and together below ``2**53`` times it.
    The numbers of t are multiples of ``2**low``, and at most `sizes`; the bias comes last.
    """
    with np.errstate(all="ignore"):
        total = 1.01 * (block.size_dot(sizes[:-1]) + sizes[-1])
        unit = int(low.min(initial=NONE))
        small = -1022 <= unit <= 900 and float(total.max(initial=0.0)) < 2.0 ** (unit + 53)
        if small and block.whole():  # no need to look at each number
            return ~block.rounded()
        units = np.minimum(block.units(low[:-1]), low[-1])
        limit = np.ldexp(1.0, np.clip(units + 53, -2000, 2000).astype(np.intc))
    certain: Mask = (total < limit) & (units >= -1022) & ~block.rounded()
    return certain


def rounds_nothing(block: RowBlock, low: Ints, sizes: Floats) -> bool:
    """Whether that holds for all rows, as is soon told where they are of small whole numbers."""
    unit = int(low.min(initial=NONE))
    with np.errstate(over="ignore", invalid="ignore"):
        total = 1.01 * (block.length() * float(sizes[:-1].sum()) + float(sizes[-1]))
    small = -1022 <= unit <= 900 and total < 2.0 ** (unit + 53)
    return small and block.whole() and not block.rounded().any()


class Far(Protocol):
    """Blocks of a matrix that are in other processes."""

    dense: bool

    def map(
        self,
        task: Callable[..., Any],
        *columns: Any,
        look_up: Callable[[], None] | None = None,
    ) -> Iterator[Any]:
        """``task(matrix, first, *parts)`` for every block, done where it is, in their order.

        `first` is the number of its first row, and the parts are those of `columns`, with a number
        for each row, that belong to it. `look_up` is called meanwhile, and may raise.
        """
        ...

    def take(self, rows: Ints) -> Any:
        """A copy of the listed rows, ascending."""
        ...

    def knows(self, column: NDArray[Any], make: Callable[[Any], NDArray[Any]]) -> None:
        """A column that need not travel: whoever has a block makes its part of that."""
        ...


@dataclass(frozen=True, eq=False)
class LabelledStack:
    """Samples in blocks in other processes, and a label for each: 1 or 0.

    `signs` makes 1 and -1 of these, of a block, where that is.
    """

    X: Stack
    y: NDArray[np.bool_]
    signs: Callable[[Any], NDArray[np.int8]]


class Stack:
    """A matrix in blocks of rows, one below the other, that are made anew on each pass.

    It stands in for a matrix wherever rows are looked at in turn, or a few are chosen. While a
    block is looked at no other is needed: what is kept of it is a copy. `make` begins a pass: it
    returns the blocks, arrays or CSR matrices, from the first to the last. If the blocks are in
    other processes, `far` says how to work on them there.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        make: Callable[[], Iterable[Any]],
        far: Far | None = None,
    ) -> None:
        self.shape, self._make, self.far = shape, make, far

    def __iter__(self) -> Iterator[Any]:
        return iter(self._make())

    def __getitem__(self, rows: Ints) -> Any:
        """A copy of the listed rows, in one pass."""
        if self.far is not None:
            numbers, places = np.unique(rows, return_inverse=True)
            some = self.far.take(numbers)
            return some if np.array_equal(numbers, rows) else some[places]
        parts: list[Any] = []
        start, order = 0, rows[:0]
        for matrix in self:
            stop = start + matrix.shape[0]
            if stop - start == self.shape[0]:
                return matrix[rows]
            order = order if start else np.argsort(rows, kind="stable")
            low, high = np.searchsorted(rows, [start, stop], sorter=order)
            if low < high or (stop == self.shape[0] and not parts):
                parts.append(matrix[rows[order[low:high]] - start])
            start = stop
        found = parts[0] if len(parts) == 1 else stacked(parts)
        return found if (rows[1:] >= rows[:-1]).all() else found[np.argsort(order)]


def stacked(parts: list[Any]) -> Any:
    """Arrays, or CSR matrices, one below the other: a copy."""
    return np.vstack(parts) if isinstance(parts[0], np.ndarray) else vstack(parts, format="csr")


def shape(X: Any) -> tuple[int, int]:
    """Rows and columns."""
    n, d = X.shape
    return int(n), int(d)


def blocks(X: Any) -> Iterator[tuple[int, RowBlock]]:
    """The first row number and the rows, block by block; nothing larger is copied.

    X is an array of floats or integers, a CSR matrix of these without duplicate entries, or a
    `Stack`. Where a block ends depends on the rows alone, not on how they are stacked.
    """
    yield from _cut_rows(X, end_of_block, block_of, _joined)


def tiles(X: Any, size: int) -> Iterator[tuple[int, Any]]:
    """The first row number and the rows, as a matrix, `size` of them at a time."""

    def end(matrix: Any, start: int, begun: Any) -> int:
        return start + size - (0 if begun is None else begun.shape[0])

    def rows(matrix: Any, start: int, stop: int) -> Any:
        return matrix if stop - start == matrix.shape[0] else matrix[start:stop]

    yield from _cut_rows(X, end, rows, stacked)


def _cut_rows(X: Any, end: Any, rows: Any, join: Any) -> Iterator[tuple[int, Any]]:
    """Parts that end where `end` says; beyond a matrix, they go on in the next one."""
    n = shape(X)[0]
    first, begun = 0, None
    for matrix in X if isinstance(X, Stack) else (X,):
        m = matrix.shape[0]
        start = 0
        while start < m:
            stop = end(matrix, start, begun)
            part = rows(matrix, start, min(stop, m))
            part = part if begun is None else join([begun, part])
            start, size = min(stop, m), _length(part)
            if stop > m and first + size < n:
                # The matrix is lost with the next one.
                begun = join([part]) if begun is None else part
                break
            yield first, part
            first, begun = first + size, None


def _length(part: Any) -> int:
    return len(part) if isinstance(part, RowBlock) else int(part.shape[0])


def end_of_block(matrix: Any, start: int, begun: RowBlock | None = None) -> int:
    """Where a block that starts here ends; one that has begun earlier is to be completed."""
    rows, entries = (0, 0) if begun is None else (len(begun), begun.floats.size)
    m, d = shape(matrix)
    if not hasattr(matrix, "indptr"):
        return start + max(1, ENTRIES // max(d, 1)) - rows
    within = matrix.indptr[start] + ENTRIES - entries
    stop = int(np.searchsorted(matrix.indptr, within, side="right")) - 1
    most = start + ENTRIES - rows
    if most <= min(stop, m):
        return most
    return m + 1 if stop >= m else max(stop, start + (0 if rows else 1))


def block_of(matrix: Any, start: int, stop: int) -> RowBlock:
    """Some rows of a matrix; nothing is copied unless it takes another type."""
    if not hasattr(matrix, "indptr"):
        values = matrix[start:stop]
        return RowBlock(values, values.astype(np.float64, copy=False))
    part = slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))
    values = matrix.data[part]
    starts = matrix.indptr[start : stop + 1].astype(np.int64) - part.start
    floats = values.astype(np.float64, copy=False)
    return Sparse(values, floats, matrix.indices[part], starts, shape(matrix)[1])


def _joined(parts: list[Any]) -> RowBlock:
    """Blocks of one kind as one: a copy."""
    values = np.concatenate([part.values for part in parts])
    floats = values.astype(np.float64, copy=False)
    if not isinstance(parts[0], Sparse):
        return RowBlock(values, floats)
    columns = np.concatenate([part.columns for part in parts])
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Sparse(values, floats, columns, starts, parts[0].width)


def chosen(X: Any, rows: Ints) -> Iterator[tuple[RowBlock, slice]]:
    """Some rows of X, in ascending order, block by block, and where they stand among `rows`."""
    if isinstance(X, Stack) and X.far is not None and X.far.dense:
        # Blocks of dense rows end at multiples of a number: only these rows need travel.
        numbers, some = rows // end_of_block(np.empty((0, X.shape[1])), 0), X[rows]
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(rows)]
        for low, high in pairwise(cuts) if len(rows) else ():
            yield block_of(some, low, high), slice(low, high)
        return
    for start, block in blocks(X):
        low, high = np.searchsorted(rows, [start, start + len(block)])
        if low < high:
            yield block.take(rows[low:high] - start), slice(int(low), int(high))

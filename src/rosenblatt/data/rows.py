"""Samples as rows, dense or CSR: the only place where the two differ.

Every loop reads a sample through `row_dot`, `row_norm2` and `add_row`. The bodies below run as
plain Python under ``NUMBA_DISABLE_JIT=1`` and are the definition; the compiled versions under
them do the same additions in the same order, which `dot` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from scipy.sparse import csr_array

from rosenblatt.data.compiled import inlined, loop
from rosenblatt.data.dots import LINE, dot, two_dots

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DenseRows(NamedTuple):
    """Rows of a C-ordered float32 or float64 matrix."""

    X: NDArray[Any]


class CsrRows(NamedTuple):
    """Rows of a matrix in compressed sparse row form, without duplicate entries.

    Column numbers are unsigned, which saves the compiled code a test for negative ones. The dot
    product keeps two running sums, of the entries at even and at odd places.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]


Rows = DenseRows | CsrRows


class Block(NamedTuple):
    """Rows with their labels.

    Attributes
    ----------
    rows : DenseRows or CsrRows
    label : int32 array
        The number of each row's class. In the two-class problem "class p against the rest" row i
        has ``y = +1`` if ``label[i] == p``, otherwise ``-1``.
    weight : float64 array
        A weight per row, or empty where all are 1.
    factor : float64 array
        In the problem "class p against the rest" the weight of a row of class p is multiplied by
        ``factor[p, 1]``, that of any other row by ``factor[p, 0]``. Empty where all are 1.
    """

    rows: Rows
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    factor: NDArray[np.float64]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through, so that all input compiles to one set of types."""
    view = array.view(np.ndarray)
    view.setflags(write=False)
    return view


def as_rows(X: Any) -> Rows:
    """A view of validated data (C-ordered array or canonical CSR) as rows; nothing is copied.

    But the starts of the rows where they are of another kind than the column numbers, so that
    loops need not be compiled for two kinds at once.
    """
    if isinstance(X, np.ndarray):
        return DenseRows(_read_only(X))
    starts, kind = X.indptr, X.indices.dtype
    if starts[-1] <= np.iinfo(kind).max:
        starts = starts.astype(kind, copy=False)
    unsigned = X.indices.view(f"u{X.indices.itemsize}")
    return CsrRows(_read_only(X.data), _read_only(unsigned), _read_only(starts))


def n_rows(rows: Rows) -> int:
    """How many samples there are."""
    return len(rows.X) if isinstance(rows, DenseRows) else len(rows.indptr) - 1


def n_entries(rows: Rows) -> int:
    """How many numbers are stored: the work of one pass."""
    return rows.X.size if isinstance(rows, DenseRows) else rows.data.size


def row_bytes(rows: Rows) -> int:
    """The memory that the rows take."""
    if isinstance(rows, DenseRows):
        return rows.X.nbytes
    return sum(part.nbytes for part in (rows.data, rows.indices, rows.indptr))


def slice_rows(rows: Rows, start: int, stop: int) -> Rows:
    """Rows ``start`` to ``stop`` as a view."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.X[start:stop])
    return CsrRows(rows.data, rows.indices, rows.indptr[start : stop + 1])


def as_matrix(rows: Rows, n_features: int) -> Any:
    """The rows as something with a matrix product; nothing is copied."""
    if isinstance(rows, DenseRows):
        return rows.X
    a, z = rows.indptr[0], rows.indptr[-1]
    shape = (n_rows(rows), n_features)
    signed = rows.indices[a:z].view(f"i{rows.indices.itemsize}")
    return csr_of_parts(rows.data[a:z], signed, rows.indptr - a, shape)


def csr_of_parts(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """A CSR array of validated parts as they are: its constructor reads them, and copies some."""
    X = csr_array((1, 1))
    X.data, X.indices, X.indptr = data, indices, indptr
    X._shape = shape
    return X


def row_weights(block: Block, positive: Any, part: Any = slice(None)) -> NDArray[np.float64]:
    """Weights of the chosen rows in the problem "class `positive` against the rest".

    `positive` may be an array, too: for each of the rows its own problem.
    """
    own = (block.label[part] == positive).astype(np.intp)
    weights = block.weight[part] if block.weight.size else np.ones(len(own))
    return weights * block.factor[positive, own] if block.factor.size else weights


@loop
def weight_of(block: Block, positive: int, i: Any) -> Any:
    """Weight of row i in the problem "class `positive` against the rest"."""
    weight = block.weight[i] if block.weight.size else 1.0
    if block.factor.size:
        weight *= block.factor[positive, 1 if block.label[i] == positive else 0]
    return weight


def row_dot(rows: Any, i: Any, w: Any) -> Any:
    """``x_i · w``."""
    if isinstance(rows, DenseRows):
        return dot(rows.X[i], w)
    sums, start = np.zeros(2), rows.indptr[i]
    for k in range(start, rows.indptr[i + 1]):
        sums[(k - start) % 2] += np.float64(rows.data[k]) * w[rows.indices[k]]
    return sums[0] + sums[1]


def two_row_dots(rows: Any, i: Any, w: Any, v: Any) -> tuple[Any, Any]:
    """``x_i · w`` and ``x_i · v``, the same as `row_dot` has them."""
    return row_dot(rows, i, w), row_dot(rows, i, v)


def row_norm2(rows: Any, i: Any) -> Any:
    """``‖x_i‖²``."""
    if isinstance(rows, DenseRows):
        return dot(rows.X[i], rows.X[i])
    total = np.float64(0.0)
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        total += np.float64(rows.data[k]) * np.float64(rows.data[k])
    return total


def span_norm2(rows: Any, start: Any, stop: Any) -> Any:
    """``Σ ‖x_i‖²`` over the rows from `start` to `stop`."""
    if isinstance(rows, DenseRows):
        entries = rows.X[start:stop].reshape(-1)
    else:
        entries = rows.data[rows.indptr[start] : rows.indptr[stop]]
    return dot(entries, entries)


def add_row(rows: Any, i: Any, a: Any, w: Any) -> None:
    """``w += a * x_i``, in place."""
    if isinstance(rows, DenseRows):
        w += a * rows.X[i].astype(np.float64)
        return
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        w[rows.indices[k]] += a * np.float64(rows.data[k])


def fetch_row(rows: Any, i: Any) -> None:
    """Have the memory bring row i near, to be read soon; it changes nothing."""


LINES = 16  # of a row: the rest comes by itself


@intrinsic
def _fetch(typing_context: Any, array: Any, k: Any) -> Any:
    """Bring the line near that the k-th number of an array lies in."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(made.data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        insert: Any = cgutils.get_or_insert_function
        fetch = insert(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@inlined(fetch_row)
def _fetch_row(rows: Any, i: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any) -> None:
            x = rows.X[i]
            step = LINE // rows.X.itemsize
            for j in range(0, min(len(x), LINES * step), step):
                _fetch(x, j)  # type: ignore[call-arg]

        return dense

    def csr(rows: Any, i: Any) -> None:
        k = np.int64(rows.indptr[i])
        for _ in range(2):
            if k < np.int64(rows.indptr[i + 1]):
                _fetch(rows.data, k)  # type: ignore[call-arg]
                _fetch(rows.indices, k)
            k += 8

    return csr


ONE, EIGHT = np.uint64(1), np.uint64(8)


@inlined(row_dot)
def _row_dot(rows: Any, i: Any, w: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any, w: Any) -> Any:
            return dot(rows.X[i], w)

        return dense

    def csr(rows: Any, i: Any, w: Any) -> Any:
        k, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
        even = odd = 0.0
        while k + EIGHT <= end:
            for pair in range(4):
                a = k + np.uint64(2 * pair)
                even += rows.data[a] * w[rows.indices[a]]
                odd += rows.data[a + ONE] * w[rows.indices[a + ONE]]
            k += EIGHT
        if k < end:  # whose length the processor cannot guess: it chooses, and does not jump
            for pair in range(4):
                a = k + np.uint64(2 * pair)
                b = a + ONE
                at, after = min(a, end - ONE), min(b, end - ONE)
                here, there = (
                    rows.data[at] * w[rows.indices[at]],
                    rows.data[after] * w[rows.indices[after]],
                )
                even += here if a < end else 0.0
                odd += there if b < end else 0.0
        return even + odd

    return csr


@inlined(two_row_dots)
def _two_row_dots(rows: Any, i: Any, w: Any, v: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any, w: Any, v: Any) -> Any:
            return two_dots(rows.X[i], w, v)

        return dense

    def csr(rows: Any, i: Any, w: Any, v: Any) -> Any:
        return row_dot(rows, i, w), row_dot(rows, i, v)

    return csr


@inlined(row_norm2)
def _row_norm2(rows: Any, i: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any) -> Any:
            return dot(rows.X[i], rows.X[i])

        return dense

    def csr(rows: Any, i: Any) -> Any:
        total = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += np.float64(rows.data[k]) * np.float64(rows.data[k])
        return total

    return csr


@inlined(span_norm2)
def _span_norm2(rows: Any, start: Any, stop: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, start: Any, stop: Any) -> Any:
            entries = rows.X[start:stop].reshape(-1)
            return dot(entries, entries)

        return dense

    def csr(rows: Any, start: Any, stop: Any) -> Any:
        entries = rows.data[rows.indptr[start] : rows.indptr[stop]]
        return dot(entries, entries)

    return csr


# At every place it stands in, this one makes the faster machine code.
@overload(add_row, inline="always")
def _add_row(rows: Any, i: Any, a: Any, w: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any, a: Any, w: Any) -> None:
            x = rows.X[i]
            for j in range(len(x)):
                w[j] += a * x[j]

        return dense

    def csr(rows: Any, i: Any, a: Any, w: Any) -> None:
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            k = np.uint64(entry)
            w[rows.indices[k]] += a * rows.data[k]

    return csr

"""Which rows are identical: by a number for each row, and equal numbers by the rows themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints


BLOCK = 1 << 20  # numbers at a time


def distinct(X: Any) -> tuple[Ints, Ints]:
    """The first row of each kind of identical rows, in order, and for every row its kind.

    X is an array, or a CSR matrix without duplicate entries; -0.0 is 0.0.
    """
    _, first, kind = np.unique(row_keys(X), return_index=True, return_inverse=True)
    first, kind = _in_order(first, kind)
    later = np.flatnonzero(first[kind] != np.arange(len(kind)))
    step = max(1, BLOCK // max(X.shape[1], 1))
    parts = (later[a : a + step] for a in range(0, len(later), step))
    if not any((X[part] != X[first[kind[part]]]).sum() for part in parts):
        return first, kind
    known: dict[bytes, int] = {}  # two that differ have the same number: hardly ever
    rows = (X[[i]].toarray() if hasattr(X, "tocsr") else X[[i]] for i in range(X.shape[0]))
    numbers = [known.setdefault((row + 0.0).tobytes(), len(known)) for row in rows]
    _, first, kind = np.unique(numbers, return_index=True, return_inverse=True)
    return first, kind


def first_of_equals(X: Any, mark: Floats) -> Ints:
    """For each row the first identical one, where identical rows have equal marks."""
    first = np.arange(len(mark))
    order = np.lexsort([first, mark])
    begins = np.r_[True, np.diff(mark[order]) != 0]
    first[order] = order[begins][np.cumsum(begins) - 1]
    twins = np.flatnonzero(first != np.arange(len(mark)))
    step = max(1, 4 * BLOCK // X.shape[1])
    for part in (twins[a : a + step] for a in range(0, len(twins), step)):
        apart = np.asarray((X[part] != X[first[part]]).sum(axis=1)).ravel() > 0
        first[part[apart]] = part[apart]
    return first


def _in_order(first: Ints, kind: Ints) -> tuple[Ints, Ints]:
    """The kinds numbered as they first appear."""
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[kind]


def row_keys(X: Any) -> NDArray[np.uint64]:
    """A number for each row; equal rows have equal ones, others almost never."""
    factors = np.random.default_rng(0).integers(1 << 62, size=X.shape[1], dtype=np.uint64)
    factors = 2 * factors + np.uint64(1)
    keys = np.zeros(X.shape[0], dtype=np.uint64)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        step = max(1, BLOCK * X.shape[0] // max(X.nnz, 1))
        for start in range(0, X.shape[0], step):
            entries, part = X[start : start + step].tocoo(), keys[start : start + step]
            np.add.at(part, entries.row, _mixed(entries.data, factors[entries.col]))
        return keys
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, len(X), step):
        keys[start : start + step] = _mixed(X[start : start + step], factors).sum(axis=1)
    return keys


def _mixed(values: Floats, factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Their bits well mixed; 0 of 0, so that dense and sparse rows agree."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    for shift in (32, 29, 31):  # whole numbers have all their ones at the upper end
        bits = (bits ^ (bits >> np.uint64(shift))) * factors
    return bits

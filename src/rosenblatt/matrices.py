"""Samples as callers may give them: arrays, data frames and sparse matrices, nothing rounded."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import (
    WHOLE,
    as_array,
    canonical,
    exact,
    floats_hold,
    floats_of_objects,
    is_sparse,
    not_allowed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def table(name: str, X: Any) -> Any:
    """Samples as something that a matrix can be made of without harm and without rounding.

    A CSR matrix of floats, an array of numbers and a data frame come back as they are. Sparse
    matrices of other kinds, arrays of other libraries and lists come back as CSR matrices and
    arrays. Neither the number of dimensions nor whether numbers are finite is looked at.
    """
    if is_sparse(X):
        return _sparse(name, X)
    if hasattr(X, "__array__") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        for j, dtype in enumerate(X.dtypes):
            if not floats_hold(dtype):
                exact(name, as_array(name, X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]))
        return X
    array = as_array(name, X)
    if not array.ndim and array.dtype.kind not in "biufc":
        raise not_allowed(name, X, "give a table of numbers, a row per sample", TypeError)
    made_here = isinstance(X, list | tuple) and array.dtype == np.float64 and array.size
    if made_here and max(array.max(), -array.min()) >= WHOLE:  # NumPy may have rounded one
        floats_of_objects(name, np.array(X, dtype=object))
    return exact(name, array)


@contextlib.contextmanager
def told_in_one_line(name: str, X: Any) -> Iterator[None]:
    """Where scikit-learn refuses samples in several lines, say it in one, and say where."""
    try:
        yield
    except ValueError as error:
        if "\n" not in str(error) and "NaN" not in str(error):
            raise
        shape = np.shape(X)
        if len(shape) != 2:
            msg = (
                f"{name} has shape {shape}: give a table with a row per sample. Reshape your data: "
                f"{name}.reshape(-1, 1) makes one feature of it, {name}.reshape(1, -1) one sample"
            )
        elif "NaN" in str(error):
            msg = f"{name} contains NaN{_first_missing(X)}: give finite numbers, fill gaps before"
        else:
            msg = " ".join(str(error).split())
        raise ValueError(msg) from None


def _first_missing(X: Any) -> str:
    """The place of the first number that is none, counted from 0."""
    if is_sparse(X):
        X = X.tocoo()
        missing = np.flatnonzero(X.data != X.data)
        places = sorted(zip(X.row[missing].tolist(), X.col[missing].tolist(), strict=True))
    else:
        array = np.asarray(X)
        places = np.argwhere(array != array)[:1].tolist()
    return f" (row {places[0][0]}, column {places[0][1]})" if places else ""


def matrix(name: str, X: Any, wanted: str = "give a table with one row per sample") -> Any:
    """Samples as a 2-D array of numbers or a canonical CSR matrix, nothing rounded."""
    made = table(name, X)
    made = canonical(made) if is_sparse(made) else exact(name, np.asarray(made))
    if made.ndim != 2:
        msg = f"{name} has shape {made.shape}: {wanted}"
        raise ValueError(msg)
    return made


# Sparse matrices --------------------------------------------------------------------------------


def _sparse(name: str, X: Any) -> Any:
    """A CSR matrix of floats; sums of entries given twice are those of floats."""
    _check_structure(name, X)
    made = X
    if X.dtype not in (np.float64, np.float32):
        made = _with_floats(name, X)
    if made.format != "csr":
        try:
            made = made.tocsr()
        except (ValueError, IndexError):
            raise _broken(name, "its entries do not lie within it") from None
        _check_structure(name, made)
    return made


def _with_floats(name: str, X: Any) -> Any:
    """The same sparse matrix with float64 entries."""
    if X.format in ("csr", "csc", "coo", "bsr", "dia"):
        exact(name, X.data)
    elif X.format == "lil":
        for row in X.data:
            exact(name, np.array(row, dtype=X.dtype))
    else:
        exact(name, np.array(list(X.values()), dtype=X.dtype))
    return X.astype(np.float64)


def _check_structure(name: str, X: Any) -> None:
    """Refuse a sparse matrix whose parts do not fit together.

    SciPy and compiled loops would read and write beyond its arrays, which ends the program.
    """
    if X.ndim != 2:
        msg = f"{name} has shape {X.shape}: give a table with one row per sample"
        raise ValueError(msg)
    n, d = X.shape
    if X.format in ("csr", "csc", "bsr"):
        R, C = X.data.shape[1:] if X.format == "bsr" and X.data.ndim == 3 else (1, 1)
        if X.format == "bsr" and (X.data.ndim != 3 or n % max(R, 1) or d % max(C, 1)):
            raise _broken(name, f"blocks of shape {X.data.shape[1:]} do not fill it")
        rows, columns = (d, n) if X.format == "csc" else (n // max(R, 1), d // max(C, 1))
        _check_compressed(name, X.indptr, X.indices, len(X.data), rows, columns)
    elif X.format == "coo":
        _check_numbers(name, X.row, n, "row")
        _check_numbers(name, X.col, d, "column")
        if not len(X.row) == len(X.col) == len(X.data):
            raise _broken(name, "it has not as many rows and columns as entries")
    elif X.format == "dia":
        offsets, data = np.asarray(X.offsets), np.asarray(X.data)
        if offsets.ndim != 1 or data.ndim != 2 or len(offsets) != len(data):
            raise _broken(name, "it has not as many offsets as diagonals")
    elif X.format == "lil":
        if [len(row) for row in X.rows] != [len(row) for row in X.data] or len(X.rows) != n:
            raise _broken(name, "it has not as many columns as entries in each row")
        for row in X.rows:
            _check_numbers(name, np.array(row, dtype=np.int64), d, "column")


def _check_compressed(
    name: str, indptr: Any, indices: Any, entries: int, rows: int, columns: int
) -> None:
    """The check of CSR, CSC and BSR: one pass over the column numbers, one over the rows."""
    indptr, indices = np.asarray(indptr), np.asarray(indices)
    if indptr.shape != (rows + 1,) or indptr.dtype.kind != "i" or indices.ndim != 1:
        raise _broken(name, f"indptr has shape {indptr.shape}, not {(rows + 1,)}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise _broken(name, "indptr does not go up from 0")
    if indptr[-1] > min(len(indices), entries):
        raise _broken(name, f"indptr counts {indptr[-1]} entries, not {min(len(indices), entries)}")
    _check_numbers(name, indices[: indptr[-1]], columns, "column")


def _check_numbers(name: str, found: Any, size: int, what: str) -> None:
    """Every one has to be from 0 to ``size - 1``."""
    found = np.asarray(found)
    if found.ndim != 1 or found.dtype.kind != "i":
        raise _broken(name, f"its {what} numbers are {found.dtype} of shape {found.shape}")
    if not found.size:
        return
    low, high = int(found.min()), int(found.max())
    if not 0 <= low <= high < size:
        has = f"it has {what}s 0 to {size - 1}" if size else f"it has no {what}s"
        msg = f"{name} names {what} {low if low < 0 else high}, but {has}"
        raise ValueError(msg)


def _broken(name: str, why: str) -> ValueError:
    what = f"{name} is no sparse matrix that can be read, {why}"
    return ValueError(f"{what}: make it anew from its entries")

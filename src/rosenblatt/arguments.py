"""What callers may give: numbers, words, vectors and tables, each checked once where it comes in.

Every check takes the name of the argument and answers with one line: what was given, what to give.
Numbers are taken for what they are: one that no float is equal to is refused, not rounded, because
an answer would be about other data than those given.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import os
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LONGEST = 60  # letters of what was given, in a message
WHOLE = 2**53  # up to here every whole number is a float
MISSING = ("NoneType", "NAType", "NaTType")  # become nan, and are refused as such
PLAIN = ("Float", "Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "Boolean")  # of Polars


def brief(value: Any) -> str:
    """What was given, in one line that is not long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of a whole number with thousands of digits, or whatever objects do
        text = f"<a {type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


# One value --------------------------------------------------------------------------------------


def one_of(name: str, value: Any, accepted: Sequence[str]) -> str:
    """`value`, if it is among the accepted words."""
    if not isinstance(value, str) or value not in accepted:
        words = ", ".join(map(repr, accepted))
        msg = f"{name}={brief(value)} is not known: give one of {words}"
        raise ValueError(msg)
    return value


def text(name: str, value: Any, wanted: str = "give a text") -> str:
    """`value`, if it is a text."""
    if not isinstance(value, str):
        msg = f"{name}={brief(value)} is not allowed: {wanted}"
        raise TypeError(msg)
    return value


def yes_or_no(name: str, value: Any) -> bool:
    """`value`, if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name}={brief(value)} is not allowed: give True or False"
        raise ValueError(msg)
    return bool(value)


def whole_number(name: str, value: Any, least: int = 0, wanted: str = "") -> int:
    """`value`, if it is a whole number from `least` on."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value < 2**63:
        wanted = wanted or f"give a whole number from {least}"
        large = " (and below 2^63)" if whole and value > least else ""
        msg = f"{name}={brief(value)} is not allowed: {wanted}{large}"
        raise ValueError(msg)
    return int(value)


def positive_int(name: str, value: Any, *, hint: str = "") -> int:
    """`value`, if it is a whole number from 1."""
    return whole_number(name, value, 1, f"give a whole number from 1{hint}")


def number(
    name: str,
    value: Any,
    allowed: Callable[[float], bool] = math.isfinite,
    wanted: str = "give a finite number",
) -> float:
    """`value` as a float, if it is a number that is allowed."""
    found = math.nan
    if not isinstance(value, bool | np.bool_) and isinstance(value, numbers.Real):
        try:
            found = float(value)
        except OverflowError:  # of a whole number beyond floating point
            found = math.inf if value > Fraction(0) else -math.inf
    if not allowed(found):
        msg = f"{name}={brief(value)} is not allowed: {wanted}"
        raise ValueError(msg)
    return found


def positive_number(name: str, value: Any, *, hint: str = "") -> float:
    """`value`, if it is a finite number above 0."""
    return number(name, value, lambda x: 0 < x < math.inf, f"give a positive number{hint}")


def proportion(name: str, value: Any, wanted: str = "give a number from 0 to 1") -> float:
    """`value`, if it is a number from 0 to 1."""
    return number(name, value, lambda x: 0 <= x <= 1, wanted)


def instance(name: str, value: Any, kind: type | tuple[type, ...], wanted: str) -> Any:
    """`value`, if it is of this kind."""
    if not isinstance(value, kind):
        msg = f"{name}={brief(value)} is not allowed: {wanted}"
        raise TypeError(msg)
    return value


def file_path(name: str, value: Any) -> Any:
    """`value`, if it is the path of a file."""
    return instance(name, value, (str, os.PathLike), "give the path of a file")


def names_of(name: str, value: Any) -> tuple[str, ...]:
    """`value`, a sequence of names, as texts."""
    try:
        if isinstance(value, bytes):
            raise TypeError
        return tuple(map(str, value))
    except TypeError:
        msg = f"{name}={brief(value)} is not allowed: give a list of names"
        raise TypeError(msg) from None


# Arrays -----------------------------------------------------------------------------------------


def is_foreign(values: Any) -> bool:
    """Whether it is an array of another library than NumPy, with the array API."""
    if isinstance(values, np.ndarray | np.generic | type):
        return False
    if type(values).__module__.split(".")[0] == "torch":
        return True
    return hasattr(values, "__array_namespace__") or (
        hasattr(values, "__dlpack__") and not hasattr(values, "__array__")
    )


def to_host(values: Any) -> Any:
    """An array of any library as a NumPy array; what is one already, or sparse, as it is."""
    if isinstance(values, np.ndarray) or is_sparse(values):
        return values
    if hasattr(values, "detach"):  # PyTorch
        values = values.detach().cpu()
    if hasattr(values, "__array__") or not hasattr(values, "__dlpack__"):
        with contextlib.suppress(TypeError, RuntimeError, ValueError):
            return np.asarray(values)
    if hasattr(values, "get"):  # CuPy
        return np.asarray(values.get())
    return np.from_dlpack(values)


def is_sparse(values: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy, not a class of them."""
    return hasattr(values, "tocsr") and hasattr(values, "format") and not isinstance(values, type)


def as_array(name: str, values: Any) -> NDArray[Any]:
    """`values` as a NumPy array of whatever they are."""
    if np.ma.is_masked(values):
        msg = f"{name} is an array with masked entries: fill them in, or leave these rows out"
        raise ValueError(msg)
    try:
        array = to_host(values) if is_foreign(values) else np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError):
        msg = f"{name} cannot be read as an array: give numbers, in rows of the same length"
        raise ValueError(msg) from None
    return array


def exact(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers that floats hold as they are: as given, or else as float64.

    Floats up to double precision and short whole numbers cost nothing, long whole numbers one
    look at the largest and the smallest.
    """
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "b" or (kind == "f" and size <= 8) or (kind in "iu" and size < 8):
        return values
    if kind in "iu":
        if values.size and (values.max() > WHOLE or values.min() < -WHOLE):
            _compare(name, values, values.astype(np.float64))
        return values
    if kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            floats: Floats = values.astype(np.float64)
        _compare(name, values, floats)
        return floats
    if kind == "O":
        return _objects(name, values)
    if kind == "c":
        msg = f"Complex data not supported: {name} holds complex numbers, give real ones"
        raise ValueError(msg)
    what = "text" if kind in "SUT" else str(values.dtype)
    msg = f"{name} holds {what}: give numbers"
    raise ValueError(msg)


def _compare(name: str, values: NDArray[Any], floats: Floats) -> None:
    """Refuse values that differ from the floats they were turned into."""
    given, found = values.ravel(), floats.ravel()
    if given.dtype.kind in "iu":  # Python compares them exactly, NumPy rounds first
        given, found = given.astype(object), found.astype(object)
    with np.errstate(invalid="ignore"):
        unequal = (given != found) & (given == given)
    if unequal.any():
        _refuse(name, given[np.argmax(unequal)])


def _refuse(name: str, value: Any) -> None:
    msg = (
        f"{name} holds {_digits(value)}, which no float is equal to: give {name} as the floats you "
        "mean, for instance after subtracting a number from the whole column"
    )
    raise ValueError(msg)


def _digits(value: Any) -> str:
    """A number with all its digits, if these are not too many."""
    try:
        digits = str(value)
    except ValueError:  # thousands of digits
        return "a number of thousands of digits"
    return digits if len(digits) <= LONGEST else f"{digits[: LONGEST - 3]}..."


def _objects(name: str, values: NDArray[Any]) -> Floats:
    """Numbers of any kind as floats: fractions, decimals, whole numbers of any length."""
    floats = np.empty(values.size)
    for i, value in enumerate(values.ravel().tolist() if values.ndim else [values.item()]):
        if isinstance(value, str | bytes):
            msg = f"{name} holds the text {brief(value)}: give numbers"
            raise ValueError(msg)
        if type(value).__name__ in MISSING and values.ndim:
            floats[i] = math.nan
            continue
        if not isinstance(value, numbers.Real | Decimal | np.bool_):
            what = f"a {type(value).__name__}"
            msg = f"{name} holds {what}: the argument must be without strings, of numbers only"
            raise TypeError(msg)
        value = int(value) if isinstance(value, numbers.Integral) else value
        try:
            found = float(value)
        except (OverflowError, ValueError):
            found = math.inf
        if not (found == value or value != value):  # Python compares exactly, NumPy rounds first
            _refuse(name, value)
        floats[i] = found
    return floats.reshape(values.shape)


def floats(name: str, values: Any, ndim: int | None = None, wanted: str = "") -> Floats:
    """`values` as an array of float64, none of them rounded; the same array if it is one."""
    array = as_array(name, values)
    if ndim is not None and array.ndim != ndim:
        msg = f"{name} has shape {array.shape}: {wanted or 'give numbers'}"
        raise ValueError(msg)
    return exact(name, array).astype(np.float64, copy=False)


def label_vector(name: str, y: Any) -> NDArray[Any]:
    """`y` as a vector of labels that can be sorted."""
    labels = as_array(name, y)
    if labels.ndim != 1:
        msg = f"{name} has shape {labels.shape}: give one label per sample, a vector"
        raise ValueError(msg)
    try:
        np.unique(labels[:0] if labels.dtype.kind != "O" else labels)
        if labels.dtype.kind == "V":
            raise TypeError
    except TypeError:
        msg = f"{name} holds labels that cannot be sorted: give labels of one type"
        raise ValueError(msg) from None
    return labels


def real_labels(name: str, y: Any) -> Any:
    """`y` in memory, unless it holds complex numbers, which have no order."""
    y = to_host(y) if is_foreign(y) else y
    if np.iscomplexobj(as_array(name, y)):
        msg = f"{name} holds complex numbers: give labels that can be sorted"
        raise ValueError(msg)
    return y


def signed_labels(name: str, y: Any, n: int) -> Floats:
    """Labels -1 and +1 of n samples, as floats."""
    labels = as_array(name, y)
    if labels.ndim != 1:
        msg = f"{name} has shape {labels.shape}: give one label per sample, a vector"
        raise ValueError(msg)
    if len(labels) != n:
        msg = f"{name} has {len(labels)} samples but X has {n} rows"
        raise ValueError(msg)
    if labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        msg = f"{name} holds labels other than -1 and +1: map the two classes to these first"
        raise ValueError(msg)
    return labels.astype(np.float64)


# Tables -----------------------------------------------------------------------------------------


def table(name: str, X: Any) -> Any:
    """Samples as something that a matrix can be made of without harm and without rounding.

    A CSR matrix of floats, an array of numbers and a data frame come back as they are. Sparse
    matrices of other kinds, arrays of other libraries and lists come back as CSR matrices and
    arrays. Neither the number of dimensions nor whether numbers are finite is looked at.
    """
    if is_sparse(X):
        return _sparse(name, X)
    if hasattr(X, "__array__") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        _look_at_columns(name, X)
        return X
    array = as_array(name, X)
    if not array.ndim and array.dtype.kind not in "biufc":
        msg = f"{name}={brief(X)} is not allowed: give a table of numbers, a row per sample"
        raise TypeError(msg)
    made_here = isinstance(X, list | tuple) and array.dtype == np.float64 and array.size
    if made_here and max(array.max(), -array.min()) >= WHOLE:  # NumPy may have rounded one
        _objects(name, np.array(X, dtype=object))
    return exact(name, array)


@contextlib.contextmanager
def told_in_one_line(name: str, X: Any) -> Iterator[None]:
    """Where scikit-learn refuses samples in several lines, say it in one, and say where."""
    try:
        yield
    except ValueError as error:
        if "\n" not in str(error):
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


def canonical(X: Any) -> Any:
    """CSR without duplicate entries; arrays as they are.

    Entries given twice are added as float64, which neither overflows nor rounds as bytes and
    single precision do.
    """
    if isinstance(X, np.ndarray) or X.has_canonical_format:
        return X
    X = X.astype(np.float64)
    with np.errstate(over="ignore"):
        X.sum_duplicates()
    if not np.isfinite(X.data).all():
        msg = "X has entries given twice whose sum is not finite: scale the features"
        raise ValueError(msg)
    return X


def matrix(name: str, X: Any, wanted: str = "give a table with one row per sample") -> Any:
    """Samples as a 2-D array of numbers or a canonical CSR matrix, nothing rounded."""
    made = table(name, X)
    made = canonical(made) if is_sparse(made) else exact(name, np.asarray(made))
    if made.ndim != 2:
        msg = f"{name} has shape {made.shape}: {wanted}"
        raise ValueError(msg)
    return made


def _look_at_columns(name: str, X: Any) -> None:
    """Refuse a data frame with numbers that floats cannot hold; plain columns cost nothing."""
    for j, dtype in enumerate(X.dtypes):
        kind = getattr(dtype, "kind", None)
        if kind is None and str(dtype).startswith(PLAIN):
            continue
        if kind == "b" or (kind in ("i", "u", "f") and getattr(dtype, "itemsize", 8) < 8):
            continue
        if kind == "f" and getattr(dtype, "itemsize", 8) == 8:
            continue
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        exact(name, as_array(name, column))


def _sparse(name: str, X: Any) -> Any:
    """A CSR matrix of floats; sums of entries given twice are those of floats."""
    check_structure(name, X)
    made = X
    if X.dtype not in (np.float64, np.float32):
        made = _with_floats(name, X)
    if made.format != "csr":
        try:
            made = made.tocsr()
        except (ValueError, IndexError):
            _broken(name, "its entries do not lie within it")
        check_structure(name, made)
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


def check_structure(name: str, X: Any) -> None:
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
            _broken(name, f"blocks of shape {X.data.shape[1:]} do not fill it")
        rows, columns = (d, n) if X.format == "csc" else (n // max(R, 1), d // max(C, 1))
        _check_compressed(name, X.indptr, X.indices, len(X.data), rows, columns)
    elif X.format == "coo":
        _check_numbers(name, X.row, n, "row")
        _check_numbers(name, X.col, d, "column")
        if not len(X.row) == len(X.col) == len(X.data):
            _broken(name, "it has not as many rows and columns as entries")
    elif X.format == "dia":
        offsets, data = np.asarray(X.offsets), np.asarray(X.data)
        if offsets.ndim != 1 or data.ndim != 2 or len(offsets) != len(data):
            _broken(name, "it has not as many offsets as diagonals")
    elif X.format == "lil":
        if [len(row) for row in X.rows] != [len(row) for row in X.data] or len(X.rows) != n:
            _broken(name, "it has not as many columns as entries in each row")
        for row in X.rows:
            _check_numbers(name, np.array(row, dtype=np.int64), d, "column")


def _check_compressed(
    name: str, indptr: Any, indices: Any, entries: int, rows: int, columns: int
) -> None:
    """The check of CSR, CSC and BSR: one pass over the column numbers, one over the rows."""
    indptr, indices = np.asarray(indptr), np.asarray(indices)
    if indptr.shape != (rows + 1,) or indptr.dtype.kind != "i" or indices.ndim != 1:
        _broken(name, f"indptr has shape {indptr.shape}, not {(rows + 1,)}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        _broken(name, "indptr does not go up from 0")
    if indptr[-1] > min(len(indices), entries):
        _broken(name, f"indptr counts {indptr[-1]} entries, not {min(len(indices), entries)}")
    _check_numbers(name, indices[: indptr[-1]], columns, "column")


def _check_numbers(name: str, found: Any, size: int, what: str) -> None:
    """Every one has to be from 0 to ``size - 1``."""
    found = np.asarray(found)
    if found.ndim != 1 or found.dtype.kind != "i":
        _broken(name, f"its {what} numbers are {found.dtype} of shape {found.shape}")
    if not found.size:
        return
    low, high = int(found.min()), int(found.max())
    if not 0 <= low <= high < size:
        has = f"it has {what}s 0 to {size - 1}" if size else f"it has no {what}s"
        msg = f"{name} names {what} {low if low < 0 else high}, but {has}"
        raise ValueError(msg)


def _broken(name: str, why: str) -> None:
    msg = f"{name} is no sparse matrix that can be read, {why}: make it anew from its entries"
    raise ValueError(msg)

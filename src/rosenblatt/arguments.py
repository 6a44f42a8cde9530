"""What callers may give: numbers, words, arrays and labels, each checked once where it comes in.

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
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats


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


def not_allowed(
    name: str, value: Any, wanted: str, kind: type[Exception] = ValueError
) -> Exception:
    """The error that refuses a value: what was given, what to give."""
    return kind(f"{name}={brief(value)} is not allowed: {wanted}")


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
    return str(instance(name, value, str, wanted))


def yes_or_no(name: str, value: Any) -> bool:
    """`value`, if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise not_allowed(name, value, "give True or False")
    return bool(value)


def whole_number(name: str, value: Any, least: int = 0, wanted: str = "") -> int:
    """`value`, if it is a whole number from `least` on."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value < 2**63:
        wanted = wanted or f"give a whole number from {least}"
        large = " (and below 2^63)" if whole and value > least else ""
        raise not_allowed(name, value, f"{wanted}{large}")
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
        raise not_allowed(name, value, wanted)
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
        raise not_allowed(name, value, wanted, TypeError)
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
        raise not_allowed(name, value, "give a list of names", TypeError) from None


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
        return np.asarray(to_host(values) if is_foreign(values) else values)
    except (TypeError, ValueError, RuntimeError, BufferError):
        msg = f"{name} cannot be read as an array: give numbers, in rows of the same length"
        raise ValueError(msg) from None


def exact(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers that floats hold as they are: as given, or else as float64.

    Floats up to double precision and short whole numbers cost nothing, long whole numbers one
    look at the largest and the smallest.
    """
    kind = values.dtype.kind
    if floats_hold(values.dtype):
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
        return floats_of_objects(name, values)
    if kind == "c":
        msg = f"Complex data not supported: {name} holds complex numbers, give real ones"
        raise ValueError(msg)
    what = "text" if kind in "SUT" else str(values.dtype)
    msg = f"{name} holds {what}: give numbers"
    raise ValueError(msg)


def floats_hold(dtype: Any) -> bool:
    """Whether floats hold every number of this type: truth values, floats, short whole numbers."""
    kind, size = getattr(dtype, "kind", None), getattr(dtype, "itemsize", 8)
    if kind is None:
        return str(dtype).startswith(PLAIN)
    return kind == "b" or (kind == "f" and size <= 8) or (kind in "iu" and size < 8)


def _compare(name: str, values: NDArray[Any], floats: Floats) -> None:
    """Refuse values that differ from the floats they were turned into."""
    given, found = values.ravel(), floats.ravel()
    if given.dtype.kind in "iu":  # Python compares them exactly, NumPy rounds first
        given, found = given.astype(object), found.astype(object)
    with np.errstate(invalid="ignore"):
        unequal = (given != found) & (given == given)
    if unequal.any():
        raise _rounded(name, given[np.argmax(unequal)])


def _rounded(name: str, value: Any) -> ValueError:
    try:
        digits = str(value)
    except ValueError:
        digits = "a number of thousands of digits"
    digits = digits if len(digits) <= LONGEST else f"{digits[: LONGEST - 3]}..."
    return ValueError(
        f"{name} holds {digits}, which no float is equal to: give {name} as the floats you mean, "
        "for instance after subtracting a number from the whole column"
    )


def floats_of_objects(name: str, values: NDArray[Any]) -> Floats:
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
            what = f"{name} holds a {type(value).__name__}"
            msg = f"{what}: the argument must be without strings, of numbers only"
            raise TypeError(msg)
        value = int(value) if isinstance(value, numbers.Integral) else value
        try:
            found = float(value)
        except (OverflowError, ValueError):
            found = math.inf
        if not (found == value or value != value):  # Python compares exactly, NumPy rounds first
            raise _rounded(name, value)
        floats[i] = found
    return floats.reshape(values.shape)


def floats(name: str, values: Any, ndim: int | None = None, wanted: str = "") -> Floats:
    """`values` as an array of float64, none of them rounded; the same array if it is one."""
    array = as_array(name, values)
    if ndim is not None and array.ndim != ndim:
        msg = f"{name} has shape {array.shape}: {wanted or 'give numbers'}"
        raise ValueError(msg)
    return exact(name, array).astype(np.float64, copy=False)


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


def _vector(name: str, y: Any) -> NDArray[Any]:
    labels = as_array(name, y)
    if labels.ndim != 1:
        msg = f"{name} has shape {labels.shape}: give one label per sample, a vector"
        raise ValueError(msg)
    return labels


def label_vector(name: str, y: Any) -> NDArray[Any]:
    """`y` as a vector of labels that can be sorted."""
    labels = _vector(name, y)
    try:
        if labels.dtype.kind == "V":
            raise TypeError
        if labels.dtype.kind == "O" and not are_texts(set(labels.tolist())):
            np.unique(labels)
    except TypeError:
        msg = f"{name} holds labels that cannot be sorted: give labels of one type"
        raise ValueError(msg) from None
    return labels


def are_texts(labels: set[Any]) -> bool:
    """Whether different labels are all texts, which can be sorted."""
    return all(type(name) is str for name in labels)


def real_labels(name: str, y: Any) -> Any:
    """`y` in memory, unless it holds complex numbers, which have no order."""
    y = to_host(y) if is_foreign(y) else y
    if np.iscomplexobj(as_array(name, y)):
        msg = f"{name} holds complex numbers: give labels that can be sorted"
        raise ValueError(msg)
    return y


def signed_labels(name: str, y: Any, n: int) -> Floats:
    """Labels -1 and +1 of n samples, as floats."""
    labels = _vector(name, y)
    if len(labels) != n:
        msg = f"{name} has {len(labels)} samples but X has {n} rows"
        raise ValueError(msg)
    if labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        msg = f"{name} holds labels other than -1 and +1: map the two classes to these first"
        raise ValueError(msg)
    return labels.astype(np.float64)


def real_targets(name: str, y: Any, n: int) -> Floats:
    """Numbers to be learned of n samples, as floats."""
    targets = floats(name, y, 1, "give one target per sample, a vector")
    if len(targets) != n:
        msg = f"{name} has {len(targets)} samples but X has {n} rows"
        raise ValueError(msg)
    if not np.isfinite(targets).all():
        msg = f"{name} holds targets that are not finite: give finite numbers"
        raise ValueError(msg)
    return targets

"""The fields of a certificate, read with suspicion."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class WrongError(Exception):
    """A certificate does not prove its verdict; the text says why."""


def require(condition: Any, why: str) -> None:
    """Go on only if a condition holds."""
    if not condition:
        raise WrongError(why)


def _array(values: Any, kinds: str, name: str) -> NDArray[Any]:
    require(isinstance(values, np.ndarray), f"{name} is not an array")
    require(values.dtype.kind in kinds, f"{name} has dtype {values.dtype}")
    require(values.ndim == 1, f"{name} has shape {values.shape} instead of one dimension")
    array: NDArray[Any] = values
    return array


def read_rows(values: Any, n: int, name: str) -> Ints:
    """Distinct row numbers below `n`, ascending, at least one."""
    rows = _array(values, "iu", name).astype(np.int64)
    require(rows.size, f"{name} names no samples")
    require(rows.min() >= 0 and rows.max() < n, f"{name} names samples that do not exist")
    require((np.diff(rows) > 0).all(), f"{name} is not in ascending order without repeats")
    return rows


def read_weights(values: Any, count: int, name: str) -> Floats:
    """`count` positive numbers."""
    weights = _array(values, "f", name).astype(np.float64)
    require(len(weights) == count, f"{name} has {len(weights)} entries for {count} samples")
    positive = np.isfinite(weights).all() and (weights > 0).all()
    require(positive, f"{name} has entries that are not positive numbers")
    return weights


def read_point(values: Any, d: int) -> Floats:
    """A point with `d` coordinates."""
    point = _array(values, "f", "point").astype(np.float64)
    require(len(point) == d, f"point has {len(point)} coordinates instead of {d}")
    require(np.isfinite(point).all(), "point has coordinates that are not finite")
    return point


def read_theta(hyperplane: Any, exact: Any, d: int) -> list[Any]:
    """``(w, b)``, bias last: in fractions if there are any, otherwise in floats."""
    require(isinstance(hyperplane, Hyperplane), "hyperplane is not a Hyperplane")
    floats = np.append(_array(hyperplane.w, "f", "w"), hyperplane.b).tolist()
    require(len(floats) == d + 1, f"hyperplane has {len(floats) - 1} weights instead of {d}")
    if exact is None:
        return floats
    require(
        isinstance(exact, tuple) and all(isinstance(v, Fraction | int) for v in exact),
        "exact is not a tuple of fractions",
    )
    require(len(exact) == d + 1, f"exact has {len(exact)} entries instead of {d + 1}")
    for near, number in zip(floats, exact, strict=True):
        # A float below the normal ones has fewer digits.
        tolerance = abs(number) / 10**12 + Fraction(5e-324)
        require(
            abs(Fraction(near) - number) <= tolerance, "hyperplane is not the exact one, rounded"
        )
    return list(exact)

"""``w·x + b`` as the nearest float, its sign exact, at little more than the cost of ``X @ w``.

As in `sides`, a bound on the error tells which values are in doubt; only these are settled in
integers.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.blocks import Block, blocks, shape
from rosenblatt.exact.integers import as_objects, decompose, nearest_float
from rosenblatt.exact.sums import exact_parts, rounded_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHUNK = 2**12  # rows settled in integers at a time
LARGEST, NORMAL = sys.float_info.max, sys.float_info.min
SMALLEST = math.ulp(0.0)
LOST = 1e-290  # more than all the products that are too small for floats can add up to


def values(X: Any, theta: Floats) -> Floats:
    """``w·x_i + b`` for every row of X, near the exact value and on its side of zero.

    It is zero exactly where the value is, and the largest float where it is larger.

    Parameters
    ----------
    X : array of shape (n, d), or CSR matrix
        Floats or integers, finite. Entries given twice add up.
    theta : float array of size d + 1
        ``(w, b)``, bias last.
    """
    n, d = shape(X)
    compressed = hasattr(X, "indptr")
    terms = int(np.diff(X.indptr).max(initial=0)) if compressed else d
    w, b, size = theta[:-1], float(theta[-1]), np.abs(theta)
    # Twice what products and sums need, and so enough for integers rounded to floats, too.
    unit = 1.01 * (terms + 4) * 2.0**-52
    with np.errstate(all="ignore"):
        result: Floats = X @ w + b if compressed else np.empty(n)
    for start, block in blocks(X):
        here = result[start : start + len(block)]
        with np.errstate(all="ignore"):
            if not compressed:
                np.add(block.dot(w), b, out=here)
            floats = block.floats
            largest = max(floats.max(initial=0.0), -floats.min(initial=0.0))
            if not np.isfinite(largest):
                msg = "X holds numbers that are not finite: give finite numbers"
                raise ValueError(msg)
            doubtful = _below(here, unit * (largest * size[:-1].sum() + size[-1]))
            if doubtful.size:
                part = block.take(doubtful)
                errors = unit * (part.size_dot(size[:-1]) + size[-1])
                doubtful = doubtful[_below(here[doubtful], errors)]
        if doubtful.size:
            here[doubtful] = _settled(block.take(doubtful), theta)
    return result


def _below(values: Floats, errors: Any) -> NDArray[np.intp]:
    """Where an error may be larger than the value, or the value is no number."""
    sizes = np.abs(values)
    return np.flatnonzero(~((sizes > errors + LOST) & (sizes <= LARGEST)))


def settled(X: Any, theta: Floats) -> Floats:
    """`values`, each the float nearest to the exact value whether in doubt or not."""
    parts = [_settled(block, theta) for _, block in blocks(X)]
    return np.concatenate([np.empty(0), *parts])


def _settled(block: Block, theta: Floats) -> Floats:
    """The nearest floats: of a few floats that sum to the value, or else from integers."""
    with np.errstate(all="ignore"):
        parts, sure, top = exact_parts(block, theta)
        sums = rounded_sums(parts[sure])
        result = np.zeros(len(block))
        result[sure] = np.ldexp(sums, top)
        sizes = np.abs(result[sure])
        sure[sure] = (sums == 0) | ((sizes > NORMAL) & (sizes <= LARGEST))
    rest = np.flatnonzero(~sure)
    for at in range(0, rest.size, CHUNK):
        rows = rest[at : at + CHUNK]
        result[rows] = list(_nearest_values(block.take(rows), theta))
    return result


def _nearest_values(block: Block, theta: Floats) -> Iterator[float]:
    """``w·x_i + b`` by integers, rounded once."""
    M, E = decompose(theta)
    low = int(E.min())
    numbers = as_objects(M, np.where(M == 0, 0, E - low))
    bias = int(numbers[-1])
    for n, e in block.exact(numbers[:-1]):
        value = (int(n) << e) + bias if e >= 0 else int(n) + (bias << -e)
        yield clipped(value, low + min(e, 0))


def clipped(n: int, e: int) -> float:
    """``n * 2**e`` as the nearest float that is not zero (unless n is) and not infinite."""
    if n == 0:
        return 0.0
    size = min(max(nearest_float(abs(n) << max(e, 0), 1 << max(-e, 0)), SMALLEST), LARGEST)
    return size if n > 0 else -size

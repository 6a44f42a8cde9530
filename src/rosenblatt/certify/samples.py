"""Samples and labels as given, read without rounding anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import as_array, table
from rosenblatt.exact.blocks import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples with signed labels.

    Attributes
    ----------
    X : array of shape (n, d), or CSR matrix without duplicate entries
        Finite numbers, every one of which is a float.
    y : int8 array
        -1 for the first class in sorted order, 1 for the second.
    """

    X: Any
    y: NDArray[np.int8]

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.y)

    @property
    def d(self) -> int:
        """How many features they have."""
        return int(self.X.shape[1])

    def points(self, rows: Any) -> Floats:
        """The chosen samples, as a dense array."""
        chosen = self.X[rows]
        dense = chosen.toarray() if hasattr(chosen, "toarray") else chosen
        return np.asarray(dense, dtype=np.float64)

    def signed(self, rows: Any) -> Floats:
        """``z_i = y_i (x_i, 1)`` for the chosen samples."""
        points = self.points(rows)
        z: Floats = np.hstack([points, np.ones((len(points), 1))]) * self.y[rows][:, None]
        return z


def read_samples(X: Any, y: Any) -> Samples:
    """X and y as samples; ValueError says in one line what is wrong with them."""
    X = _sparse(X) if hasattr(X, "tocsr") else _dense(X)
    if X.ndim != 2 or X.shape[0] == 0:
        msg = f"X has shape {X.shape}: give a matrix with one row per sample"
        raise ValueError(msg)
    for _, block in blocks(X):
        if not np.isfinite(block.floats).all():
            msg = "X contains NaN or infinite values: remove or replace them"
            raise ValueError(msg)
        if block.rounded().any() and _differ(block.values, block.floats):
            msg = "X has integers that are too long for float64: give X as the floats you mean"
            raise ValueError(msg)
    return Samples(X, _signed_labels(y, X.shape[0]))


def _differ(numbers: Any, floats: Floats) -> bool:
    """Whether a number is not the same as a float; Python compares them exactly."""
    pairs = zip(numbers.ravel().tolist(), floats.ravel().tolist(), strict=True)
    return any(a != b and b == b for a, b in pairs)


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """An array of floats or integers that NumPy computes with directly."""
    kind = values.dtype.kind
    if kind == "b":
        return values.view(np.uint8)
    if kind in "iu" or (kind == "f" and values.dtype.itemsize <= 8):
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind not in "fO":
        msg = f"X has dtype {values.dtype}: give numbers"
        raise ValueError(msg)
    try:
        floats = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        msg = "X has entries that are not numbers, or too large for float64: give numbers"
        raise ValueError(msg) from None
    if any(isinstance(v, str | bytes) for v in values.ravel().tolist()):
        msg = "X has text among its entries: give numbers"
        raise ValueError(msg)
    if _differ(values, floats):
        msg = "X has numbers that float64 must round: give X as the floats you mean"
        raise ValueError(msg)
    return floats


def _dense(X: Any) -> NDArray[Any]:
    return _numbers(as_array("X", X))


def _sparse(X: Any) -> Any:
    """A CSR matrix in canonical form; the one given is left as it is."""
    matrix = table("X", X)
    numbers = _numbers(matrix.data)
    if numbers is not matrix.data or not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.data = numbers.copy()
        matrix.sum_duplicates()
    return matrix


def _signed_labels(y: Any, n: int) -> NDArray[np.int8]:
    """-1 for the first of two classes in sorted order, 1 for the second."""
    labels = as_array("y", y)
    if labels.ndim != 1:
        msg = f"y has shape {labels.shape}: give one label per sample"
        raise ValueError(msg)
    if len(labels) != n:
        msg = f"y has {len(labels)} samples but X has {n} rows"
        raise ValueError(msg)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
        missing = bool((classes != classes).any())
    except TypeError:
        msg = "y has labels that cannot be sorted: give labels of one type"
        raise ValueError(msg) from None
    if missing:
        msg = "y contains NaN: give every sample a label"
        raise ValueError(msg)
    if len(classes) != 2:
        msg = f"y has {len(classes)} class{'es' * (len(classes) != 1)}: give exactly two"
        raise ValueError(msg)
    return (2 * codes.ravel() - 1).astype(np.int8)

"""Samples and labels as given, read without rounding anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import as_array, matrix
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
    wanted = "give a matrix with one row per sample"
    X = _native(matrix("X", X, wanted))
    if X.shape[0] == 0:
        msg = f"X has shape {X.shape}: {wanted}"
        raise ValueError(msg)
    for _, block in blocks(X):
        if not np.isfinite(block.floats).all():
            msg = "X contains NaN or infinite values: remove or replace them"
            raise ValueError(msg)
    return Samples(X, _signed_labels(y, X.shape[0]))


def _native(X: Any) -> Any:
    """An array of floats or integers that NumPy computes with directly; CSR as it is."""
    if not isinstance(X, np.ndarray):
        return X
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    return X.astype(X.dtype.newbyteorder("="), copy=False)


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

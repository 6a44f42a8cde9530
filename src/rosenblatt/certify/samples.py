"""Samples and labels as given, read without rounding anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import as_array
from rosenblatt.exact.blocks import Stack, blocks
from rosenblatt.matrices import matrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SignedRows:
    """Samples with signed labels.

    Attributes
    ----------
    X : array of shape (n, d), CSR matrix without duplicate entries, or Stack of these
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


WANTED = "give a matrix with one row per sample"


def read_samples(X: Any, y: Any) -> SignedRows:
    """X and y, or blocks of them, as samples; ValueError says in one line what is wrong."""
    if y is None:
        return _read_blocks(X)
    X = _read_matrix(X)
    if X.shape[0] == 0:
        msg = f"X has shape {X.shape}: {WANTED}"
        raise ValueError(msg)
    _require_finite(X)
    return SignedRows(X, _signs_of(_label_vector(y, X.shape[0])))


def _read_blocks(given: Any) -> SignedRows:
    """Samples in blocks, pairs of X and y; they are gone through once for their labels."""
    labels, n, kinds = [], 0, set()
    for X, y in _pairs(given):
        labels.append(_label_vector(y, X.shape[0]))
        kinds.add((type(X) is np.ndarray, X.shape[1]))
        n += X.shape[0]
        _require_finite(X)
    if len(kinds) > 1:
        msg = "the blocks differ in kind: give all of them as many columns, and none or all sparse"
        raise ValueError(msg)
    if not n:
        msg = "there are no samples: give blocks as pairs (X, y), to be gone through several times"
        raise ValueError(msg)
    ((_, d),) = kinds
    X = Stack((n, d), lambda: (X for X, _ in _pairs(given)))
    return SignedRows(X, _signs_of(np.concatenate(labels)))


def _pairs(given: Any) -> Iterator[tuple[Any, Any]]:
    """The blocks that are not empty."""
    wanted = "give y, the labels, or blocks as pairs (X, y)"
    if not hasattr(given, "__iter__") or hasattr(given, "__next__"):
        msg = f"X is a {type(given).__name__} and there is no y: {wanted} in a list or the like"
        raise ValueError(msg)
    for pair in given:
        if not isinstance(pair, tuple) or len(pair) != 2:
            msg = f"y is missing: {wanted}"
            raise ValueError(msg)
        X = _read_matrix(pair[0])
        if X.shape[0]:
            yield X, pair[1]


def _read_matrix(X: Any) -> Any:
    return _native(matrix("X", X, WANTED))


def _require_finite(X: Any) -> None:
    for _, block in blocks(X):
        if not np.isfinite(block.floats).all():
            msg = "X contains NaN or infinite values: remove or replace them"
            raise ValueError(msg)


def _native(X: Any) -> Any:
    """An array of floats or integers that NumPy computes with directly; CSR as it is."""
    if not isinstance(X, np.ndarray):
        return X
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    return X.astype(X.dtype.newbyteorder("="), copy=False)


def _label_vector(y: Any, n: int) -> NDArray[Any]:
    """A label for each of n samples."""
    labels = as_array("y", y)
    if labels.ndim != 1:
        msg = f"y has shape {labels.shape}: give one label per sample"
        raise ValueError(msg)
    if len(labels) != n:
        msg = f"y has {len(labels)} samples but X has {n} rows"
        raise ValueError(msg)
    return labels


def _signs_of(labels: NDArray[Any]) -> NDArray[np.int8]:
    """-1 for the first of two classes in sorted order, 1 for the second."""
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

"""Data on a device: validation, and answers in the same kind of array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.rows import Block, as_rows
from rosenblatt.data.sources import IN_ORDER, RowsByNumber, stack
from rosenblatt.kernel.device import Place, is_on_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Piece, Source


def check_on_device(model: Any, X: Any, *, reset: bool) -> Any:
    """X, if it is a matrix of finite floating-point numbers that fits the model."""
    place = Place(X)
    xp = place.xp
    if len(X.shape) != 2:
        msg = f"X has shape {tuple(X.shape)}: give a matrix with one sample in each row"
        raise ValueError(msg)
    if X.dtype not in (xp.float32, xp.float64):
        msg = f"X holds {X.dtype}: on a device give float32 or float64"
        raise ValueError(msg)
    n, d = X.shape
    if not n or not d:
        msg = f"X has shape {(n, d)}: give at least one sample with one feature"
        raise ValueError(msg)
    if not bool(xp.all(xp.isfinite(X))):
        msg = "X holds numbers that are not finite: give finite numbers"
        raise ValueError(msg)
    if reset:
        model.n_features_in_ = d
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
    elif model.n_features_in_ != d:
        msg = (
            f"X has {d} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
        raise ValueError(msg)
    return X


class DeviceSource:
    """Samples on a device, all at once, with labels and weights in memory.

    Blocks have no features; `X` has.
    """

    def __init__(self, labels: Source, X: Any) -> None:
        self.labels, self.X = labels, X
        self.n_rows, self.n_features = labels.n_rows, labels.n_features
        self.n_entries, self.weighted = self.n_rows * self.n_features, labels.weighted

    def pieces(self, order: NDArray[np.int64] = IN_ORDER) -> Iterator[Piece]:
        """The labels and weights in the given order of rows."""
        return self.labels.pieces(order)


def samples_of(source: Source) -> Any:
    """The samples of a source: on the device, as one matrix, or by number where they pass by."""
    if isinstance(source, DeviceSource):
        return source.X
    matrices = list(stack(source)) if source.resident else []
    return matrices[0] if len(matrices) == 1 else RowsByNumber(source)


def only_labels(source: Source) -> Block:
    """Labels and weights of all rows, without features."""
    blocks = [piece.block for piece in source.pieces()]
    label = np.concatenate([block.label for block in blocks])
    weight = np.concatenate([block.weight for block in blocks])
    return Block(label_rows(len(label)), label, weight, blocks[0].factor)


def label_rows(n: int) -> Rows:
    """Rows without features, for labels and weights that are in memory."""
    return as_rows(np.empty((n, 0)))


def pick_rows(X: Any, sample: NDArray[np.int64]) -> Any:
    """Some rows of X, wherever X is."""
    return Place(X).rows(X, sample) if is_on_device(X) else X[sample]


def answer(values: Any, X: Any) -> Any:
    """Numbers where X is; labels that are no numbers stay in memory."""
    if not is_on_device(X) or values.dtype.kind not in "biuf":
        return values
    return Place(X).put(values)

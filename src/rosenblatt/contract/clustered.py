"""Estimators and data on a Dask cluster: reading, and answers that are made block by block."""

from __future__ import annotations

import warnings
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt.arguments import floats, label_vector
from rosenblatt.cluster.engine import Engine, is_of_dask, one_line
from rosenblatt.cluster.opened import ClusteredSamples, is_on_cluster
from rosenblatt.cluster.reading import RawBlock, column_names, placed, read_labelled
from rosenblatt.contract.parameters import at_least_two, check_weights, find_classes
from rosenblatt.contract.samples import FEW, number_labels, read_samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.cluster.source import ClusterSource


def read_clustered(
    X: Any,
    y: Any,
    sample_weight: Any,
    known: NDArray[Any] | None,
    factors: Callable[[NDArray[Any], NDArray[np.int64]], NDArray[np.float64] | None],
) -> tuple[ClusterSource, NDArray[Any]]:
    """Validated samples on the workers, and the classes: those of y, or all that are `known`.

    `factors` has the weights of the classes, given these and how many samples each has.
    """
    if isinstance(X, ClusteredSamples):
        X.refuse(y)
        weight = None if sample_weight is None else _weights(sample_weight, X)
        engine = Engine(X.engine.client)
        data = X.labelled(engine, weight)
    elif y is None:
        msg = "y is missing: give a label for each row of X"
        raise ValueError(msg)
    else:
        engine = Engine.at_hand()
        data = read_labelled(engine, X, y, sample_weight, _read_block)
    labels = data.labels
    check_classification_targets(labels if len(labels) <= FEW else np.repeat(labels, 2))
    if known is None:
        classes, counts = at_least_two(labels), data.counts
    else:
        classes, counts = known, np.zeros(len(known), np.int64)
        counts[find_classes(labels, known)] = data.counts
    return placed(engine, data, classes, factors(classes, counts)), classes


def _weights(given: Any, X: ClusteredSamples) -> NDArray[np.float64]:
    """A weight for each sample of an opened source."""
    weight = floats("sample_weight", np.asarray(given))
    if weight.shape != (len(X),):
        msg = f"sample_weight has the shape {weight.shape} but X has {len(X)} rows"
        raise ValueError(msg)
    check_weights("sample_weight", weight)
    return weight


def _read_block(X: Any, y: Any, weight: Any) -> RawBlock:
    """A block as scikit-learn has it: floats, all of them finite, labels, weights."""
    X = read_samples(X, check_array, 1)
    labels, numbers = number_labels(label_vector("y", y), 1)
    if weight is not None:
        weight = floats("sample_weight", weight)
        if weight.any():
            check_weights("sample_weight", weight)
    return RawBlock(X, labels, numbers, weight)


def refuse_clustered(X: Any, model: Any) -> None:
    """Refuse samples on a cluster, for a model that needs them in memory."""
    if is_on_cluster(X):
        opened = isinstance(X, ClusteredSamples)
        remedy = "open the data without engine=" if opened else "give X.compute()"
        msg = f"{type(model).__name__} works on one machine only: {remedy}"
        raise ValueError(msg)


def names_of(X: Any) -> NDArray[Any] | None:
    """The names of the features, where all columns have names that are texts."""
    if isinstance(X, ClusteredSamples):
        return None if X.features is None else np.array(X.features, dtype=object)
    names = column_names(X)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def lazily(model: Any, asked: str, X: Any, dtype: Any, width: int = 0) -> Any:
    """What the model answers for each block of X, as a Dask array computed when it is asked for.

    The answers are those of the model as it is now, a number for each row, or `width` of them.
    """
    if isinstance(X, ClusteredSamples):
        X = X.X
    elif hasattr(X, "columns"):
        X = X.to_dask_array()
    elif X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    chunks = (X.chunks[0], (width,)) if width else (X.chunks[0],)
    model = copy(model)  # which another fit does not change
    model.callback = None  # which may be something that cannot travel
    model.__dict__.pop("feature_names_in_", None)  # which were compared before
    meta = np.empty((0, width) if width else (0,), dtype)
    dropped = {} if width else {"drop_axis": 1}
    task = partial(_answers, getattr(model, asked), meta)
    return X.map_blocks(task, dtype=dtype, chunks=chunks, meta=meta, **dropped)


def _answers(
    answer: Callable[[Any], NDArray[Any]], none: NDArray[Any], X: Any, block_info: Any = None
) -> Any:
    """The answers for a block; what is wrong with it is said with its number."""
    number, (begin, end) = block_info[0]["chunk-location"][0], block_info[0]["array-location"][0]
    try:
        if end - begin not in (X.shape[0], np.inf) and not np.isnan(end - begin):
            msg = f"it has {X.shape[0]} rows, not {end - begin} as its array says"
            raise ValueError(msg)
        return answer(X) if X.shape[0] else none
    except (ValueError, TypeError) as error:
        msg = f"block {number} of X: {one_line(error)}"
        raise ValueError(msg) from error


def share_of_hits(answers: Any, y: Any, sample_weight: Any = None) -> float:
    """How many of the answers, a Dask array, are right: their share, or that of their weight."""
    import dask.array as da

    if hasattr(y, "to_dask_array"):
        with warnings.catch_warnings():  # of texts, which become the objects they are here
            warnings.filterwarnings("ignore", "Dask currently has limited support", UserWarning)
            y = y.to_dask_array()
    answers = _with_lengths(answers)
    y = _with_lengths(y) if is_of_dask(y) else da.from_array(np.asarray(y), chunks=answers.chunks)
    right = answers == y
    if sample_weight is None:
        return float(right.mean().compute())
    weight = _with_lengths(da.asarray(sample_weight))
    hits, total = da.compute((right * weight).sum(), weight.sum())
    return float(hits / total)


def _with_lengths(column: Any) -> Any:
    """A Dask array of a number for each row, the lengths of its chunks known."""
    if not np.isnan(column.shape[0]):
        return column
    return column.persist().compute_chunk_sizes()

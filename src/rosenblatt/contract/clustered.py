"""Estimators and data on a Dask cluster: reading, and answers that are made block by block."""

from __future__ import annotations

import warnings
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt.arguments import floats, label_vector, real_labels
from rosenblatt.cluster.engine import Engine, is_of_dask, one_line
from rosenblatt.cluster.opened import ClusteredSamples, is_on_cluster
from rosenblatt.cluster.reading import (
    RawBlock,
    column_names,
    joined_labels,
    placed,
    read_labelled,
    require_collection,
    require_shape,
)
from rosenblatt.contract.parameters import (
    at_least_two,
    check_weights,
    find_classes,
    sample_weights,
)
from rosenblatt.contract.samples import FEW, number_labels, read_samples
from rosenblatt.visible import count

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
        engine = Engine(X.engine.client)
        weight = sample_weights(_here(sample_weight, engine.client), np.empty(len(X)))
        data = X.labelled(engine, weight)
    elif y is None:
        msg = "y is missing: give a label for each row of X"
        raise ValueError(msg)
    else:
        engine = Engine.at_hand()
        data = read_labelled(engine, X, _label_column(y), sample_weight, _read_block)
        if data.weightless:
            sample_weights(np.zeros(1), np.empty(1))  # which says it as in memory
    labels = data.labels
    check_classification_targets(labels if len(labels) <= FEW else np.repeat(labels, 2))
    if known is None:
        classes, counts = at_least_two(labels), data.counts
    else:
        classes, counts = known, np.zeros(len(known), np.int64)
        counts[find_classes(labels, known)] = data.counts
    return placed(engine, data, classes, factors(classes, counts)), classes


def _label_column(y: Any, *, warn: bool = True) -> Any:
    """Labels as a vector; those in a table of one column are taken, with the warning of memory."""
    if not is_of_dask(y):
        return column_or_1d(real_labels("y", y), warn=warn)
    require_collection(y, "y")
    if y.ndim != 2:
        return y
    width = int(y.shape[1])
    if width != 1:
        msg = f"y has {count(width, 'column')}: give one, a label for each row"
        raise ValueError(msg)
    column_or_1d(np.empty((1, 1)), warn=warn)
    return y[y.columns[0]] if hasattr(y, "columns") else y[:, 0]


def _read_block(X: Any, y: Any, weight: Any) -> RawBlock:
    """A block as scikit-learn has it: floats, all of them finite, labels, weights."""
    X = read_samples(X, check_array, 1)
    labels, numbers = number_labels(label_vector("y", y), 1)
    if weight is not None:
        weight = floats("sample_weight", weight, 1, "give a number for each row")
        if weight.any():
            check_weights("sample_weight", weight)
    return RawBlock(X, labels, numbers, weight)


def refuse_clustered(X: Any, what: str) -> None:
    """Refuse samples on a cluster, for something that needs them in memory."""
    if is_on_cluster(X):
        opened = isinstance(X, ClusteredSamples)
        remedy = "open the data without engine=" if opened else "give X.compute()"
        msg = f"{what} works on one machine only: {remedy}"
        raise ValueError(msg)


def names_of(X: Any) -> NDArray[Any] | None:
    """The names of the features, where all columns have names that are texts."""
    if isinstance(X, ClusteredSamples):
        return None if X.features is None else np.array(X.features, dtype=object)
    require_shape(X, "X")
    names = column_names(X)
    texts = [isinstance(name, str) for name in names or ()]
    if any(texts) and not all(texts):
        msg = "the names of X's columns are texts and others: give X.rename(columns=str)"
        raise TypeError(msg)
    return np.array(names, dtype=object) if any(texts) else None


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
    model.n_jobs = 1  # a worker does as many tasks at a time as it has threads
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


def share_of_hits(answers: Any, y: Any, sample_weight: Any = None, client: Any = None) -> float:
    """How many of the answers, a Dask array, are right: their share, or that of their weight.

    It is what scikit-learn says of the same in memory. Labels that are Dask's stay where they are
    if there are no weights.
    """
    from sklearn.metrics import accuracy_score  # which takes a while

    if sample_weight is not None or not is_of_dask(y):
        y, answers, weight = (_here(one, client) for one in (y, answers, sample_weight))
        return float(accuracy_score(y, answers, sample_weight=weight))
    y = _label_column(y, warn=False)
    if hasattr(y, "to_dask_array"):
        with warnings.catch_warnings():  # of texts, which become the objects they are here
            warnings.filterwarnings("ignore", "Dask currently has limited support", UserWarning)
            y = y.to_dask_array()
    found = [one for one in _computed(_pairs_of_blocks(y, answers), client) if len(one[0])]
    if not found:
        msg = "X has no rows: there is nothing to judge"
        raise ValueError(msg)
    labels, chosen, counts = (list(parts) for parts in zip(*found, strict=True))
    pairs = joined_labels(labels), np.concatenate(chosen)
    return float(accuracy_score(*pairs, sample_weight=np.concatenate(counts)))


def _here(given: Any, client: Any) -> Any:
    """What comes of a collection of Dask's; anything else as it is."""
    return _computed([given], client)[0] if is_of_dask(given) else given


def _computed(given: list[Any], client: Any) -> Any:
    """What comes of collections, by a client, or by whatever computes them without one."""
    import dask

    return dask.compute(*given) if client is None else client.compute(given, sync=True)


def _pairs_of_blocks(y: Any, answers: Any) -> list[Any]:
    """`_pairs` of each block of the answers, to be computed."""
    from dask import delayed

    y, answers = _with_lengths(y), _with_lengths(answers)
    check_consistent_length(y, answers)
    # As they are: optimised each for itself, tasks of one name would differ.
    blocks = [one.to_delayed(optimize_graph=False) for one in (y.rechunk(answers.chunks), answers)]
    return [delayed(_pairs)(*pair) for pair in zip(*blocks, strict=True)]


def _pairs(y: Any, answers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """The labels and answers that go together in a block, and how often they do."""
    check_consistent_length(y, answers)  # whatever Dask says
    labels, numbers = number_labels(label_vector("y", y), 1)
    chosen, places = np.unique(answers, return_inverse=True)
    pairs, counts = np.unique(numbers * np.int64(len(chosen)) + places, return_counts=True)
    return labels[pairs // len(chosen)], chosen[pairs % len(chosen)], counts


def _with_lengths(column: Any) -> Any:
    """A Dask array of a number for each row, the lengths of its chunks known."""
    if not np.isnan(column.shape[0]):
        return column
    return column.persist().compute_chunk_sizes()

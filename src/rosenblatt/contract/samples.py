"""Samples as they come in: laid out for loops, every number of them finite, labels by number."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt.arguments import are_texts, canonical, is_sparse, label_vector, real_labels
from rosenblatt.contract.loops import are_finite, write_numbers
from rosenblatt.contract.parameters import at_least_two, count_threads, find_classes
from rosenblatt.matrices import table, told_in_one_line
from rosenblatt.running.threads import WORTHWHILE, Team

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LAYOUT = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": (np.float64, np.float32),
    "order": "C",
}
FIRST = 4096  # labels among which the classes are looked for first
FEW = 20  # classes up to which they alone say what kind of labels there are


def read_samples(
    X: Any, validate: Callable[..., Any], n_jobs: Any = None, *, finite: bool = True
) -> Any:
    """Samples as a C-ordered float array or a canonical CSR matrix; `validate` is scikit-learn's.

    Where the caller finds out by itself whether all numbers are `finite`, nobody else looks.
    """
    X = table("X", X)
    large = _is_large(X)
    with np.errstate(invalid="ignore"), told_in_one_line("X", X):
        X = canonical(validate(X, ensure_all_finite=not large, **LAYOUT))
        return require_finite(X, n_jobs) if large and finite else X


def read_labelled_samples(
    X: Any, y: Any, validate: Callable[..., Any], n_jobs: Any = None
) -> tuple[Any, NDArray[Any]]:
    """Such samples with their labels, as given."""
    X, y = table("X", X), real_labels("y", y)
    large = _is_large(X)
    with np.errstate(invalid="ignore"), told_in_one_line("X", X):
        X, y = validate(X, y, ensure_all_finite=not large, **LAYOUT)
        X = canonical(X)
        return require_finite(X, n_jobs) if large else X, y


def _is_large(X: Any) -> bool:
    """Whether there are enough numbers for threads to look whether all are finite.

    Otherwise scikit-learn looks, in one thread. (Its sums of the largest floats are not finite.)
    """
    return bool((X.nnz if is_sparse(X) else math.prod(X.shape)) >= WORTHWHILE)


def require_finite(X: Any, n_jobs: Any = None) -> Any:
    """X, if all its numbers are finite; scikit-learn says it where they are not."""
    values, team = X.reshape(-1) if isinstance(X, np.ndarray) else X.data, _team(n_jobs)
    if not all(team.each(lambda part: are_finite(values, *part), team.ranges(*2 * [values.size]))):
        assert_all_finite(X, input_name="X")
    return X


def _team(n_jobs: Any) -> Team:
    return Team(count_threads(n_jobs))


def class_numbers(
    y: Any, known: NDArray[Any] | None = None, n_jobs: Any = None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The classes, those of y or all that are `known`, and the number of each sample's."""
    y = label_vector("y", y)
    classes, label = number_labels(y, n_jobs)
    check_classification_targets(classes if len(classes) <= FEW else y)
    if known is None:
        return at_least_two(classes), label
    return known, find_classes(classes, known)[label]


def number_labels(y: NDArray[Any], n_jobs: Any = None) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The different labels in sorted order, and the number of each sample's.

    Many labels are not sorted if the first ones show all there are.
    """
    if len(y) > FIRST and y.dtype.kind in "biuf" and y.dtype not in (np.uint64, np.longdouble):
        classes, label = np.unique(y[:FIRST]), np.empty(len(y), np.int32)
        if len(classes) <= FEW and _write(y, classes, label, _team(n_jobs)):
            return classes, label
    if len(y) > FIRST and y.dtype.kind == "O":
        names = sorted(found) if are_texts(found := set(y.tolist())) else []
        if names:
            places = dict(zip(names, range(len(names)), strict=True))
            return np.array(names, object), np.fromiter(map(places.get, y), np.int32, len(y))
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int32)


def _write(y: NDArray[Any], classes: NDArray[Any], label: NDArray[np.int32], team: Team) -> bool:
    """Write the number of each label, unless there are other ones than those listed."""
    kind = np.float64 if y.dtype.kind == "f" else np.int64  # of which loops are compiled
    plain = np.ascontiguousarray(y, kind)
    task = partial(write_numbers, plain, classes.astype(kind), label)
    return all(team.each(lambda part: task(*part), team.ranges(len(y), len(y))))

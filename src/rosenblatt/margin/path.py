"""`soft_margin_path`: soft-margin hyperplanes as the price of slack varies."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight

from rosenblatt.arguments import as_array, floats, positive_number
from rosenblatt.contract.clustered import refuse_clustered
from rosenblatt.contract.parameters import check_weights, class_weights, shown
from rosenblatt.contract.samples import class_numbers
from rosenblatt.margin.estimator import MaxMarginClassifier, NotSeparableError, SoftMarginClassifier
from rosenblatt.results import SoftMarginPath
from rosenblatt.separation.function import read_labelled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.results import Optimum


RANGE, PER_DECADE = (1e-2, 1e4), 3  # of C, in units in which 1 is typical
LOOK = 10.0  # seconds to look for the maximum margin
STEEP, SAME, MOST = 10.0, 1e-3, 40  # then farther, until the margin does not change any more


def soft_margin_path(
    X: Any,
    y: Any,
    Cs: ArrayLike | None = None,
    *,
    tol: float = 1e-6,
    class_weight: Any = None,
    sample_weight: ArrayLike | None = None,
    max_time: float | None = None,
    n_jobs: int | None = None,
) -> SoftMarginPath:
    """Soft-margin hyperplanes from a tiny C to the maximum margin, each from the one before.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, d)
    y : array of n labels of two classes
    Cs : array of positive numbers, optional
        In any order. By default from a tiny C, three for each power of ten, to the maximum margin
        if there is one, otherwise to where the margin hardly changes any more.
    tol, class_weight, sample_weight, n_jobs
        As for `SoftMarginClassifier`.
    max_time : float, optional
        Seconds for each C.

    Returns
    -------
    SoftMarginPath

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> path = rb.soft_margin_path(X, y, [0.1, 1, 100])
    >>> path.margin.round(2).tolist(), path.errors.tolist()
    ([4.34, 2.17, 1.41], [0, 0, 0])
    """
    refuse_clustered(X, "soft_margin_path")
    model = SoftMarginClassifier(
        tol=tol, class_weight=class_weight, max_time=max_time, warm_start=True, n_jobs=n_jobs
    )
    X, y = read_labelled(X, y)
    classes, label = class_numbers(y)
    if len(classes) > 2:
        msg = f"y holds {len(classes)} classes ({shown(classes)}): a path is of two"
        raise ValueError(msg)
    weight = _weights(sample_weight, class_weight, classes, label)
    prices = _read(Cs) if Cs is not None else _prices(X, y, label, weight)
    found: dict[float, tuple[Optimum, float, int]] = {}

    def solve(C: float) -> Optimum:
        optimum = model.set_params(C=C).fit(X, y, sample_weight).optimum_
        found[C] = optimum, float(model.sides(X, y).slack @ weight), model.n_errors_
        return optimum  # type: ignore[no-any-return]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gaps are in the result
        margins = [solve(C).margin for C in sorted(prices.tolist())]
        while Cs is None and margins[-1] < (1 - SAME) * margins[-2] and len(margins) < MOST:
            margins.append(solve(max(found) * STEEP).margin)
    return _path(found, prices.tolist() if Cs is not None else sorted(found))


def _path(found: dict[float, tuple[Optimum, float, int]], Cs: list[float]) -> SoftMarginPath:
    """The solutions as columns."""
    optima, slack, errors = zip(*(found[C] for C in Cs), strict=True)
    return SoftMarginPath(
        np.array(Cs),
        tuple(optimum.hyperplane for optimum in optima),
        np.array([optimum.margin for optimum in optima]),
        np.array(slack),
        np.array(errors),
        np.array([len(optimum.support) for optimum in optima]),
        np.array([optimum.primal for optimum in optima]),
        np.array([optimum.dual for optimum in optima]),
        tuple(optima),
    )


def _weights(
    sample_weight: ArrayLike | None, class_weight: Any, classes: Any, label: NDArray[np.int32]
) -> Floats:
    """A weight for each sample, validated; 1 if none are given."""
    weight = np.ones(len(label))
    if sample_weight is not None:
        weight = floats("sample_weight", sample_weight)
        weight = _check_sample_weight(weight, label, dtype=np.float64)
        check_weights("sample_weight", weight)
    if class_weight is not None:
        weight = weight * class_weights(class_weight, classes, np.bincount(label))[label]
    return weight


def _read(Cs: ArrayLike) -> Floats:
    given = as_array("Cs", Cs)
    if given.ndim != 1 or not given.size:
        msg = f"Cs has shape {given.shape}: give a list of positive numbers"
        raise ValueError(msg)
    return np.array([positive_number(f"Cs[{k}]", C) for k, C in enumerate(given.tolist())])


def _prices(X: Any, y: Any, label: NDArray[np.int32], weight: Floats) -> Floats:
    """From a tiny C to a large one; to the maximum margin's, if there is one."""
    low, high = (_scale(X, label) * end for end in RANGE)
    hard = MaxMarginClassifier(tol=1e-3, on_inseparable="raise", max_time=LOOK)
    with warnings.catch_warnings(), suppress(NotSeparableError):
        warnings.simplefilter("ignore", ConvergenceWarning)
        optimum = hard.fit(X, y, weight).optimum_
        if optimum.gap <= 0.1:  # no multiplier is at its bound from this C on
            shares = optimum.multipliers / weight[optimum.support]
            high = max(high, 2 * float(shares.max()) * float(weight.sum()))
    return np.geomspace(low, high, 1 + round(PER_DECADE * np.log10(high / low)))


def _scale(X: Any, label: NDArray[np.int32]) -> float:
    """The C at which the means of the two classes would be on the edges of the margin."""
    low, high = (np.asarray(X[label == k].mean(axis=0)).ravel() for k in (0, 1))
    apart = float(((high - low) ** 2).sum())
    return 4.0 / apart if apart > 0 else 1.0

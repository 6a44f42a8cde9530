"""`soft_margin_path`: soft-margin hyperplanes as the price of slack varies."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_X_y

from rosenblatt.estimators._base import LAYOUT
from rosenblatt.estimators._validation import number_classes, positive_number
from rosenblatt.estimators.margin import SoftMarginClassifier
from rosenblatt.margins import SoftMarginPath

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.margins import MarginFit

    Floats = NDArray[np.float64]

STEPS = 25
WIDEST, NARROWEST = 1e-2, 1e6  # the first and the last C, in units in which 1 is typical


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
        In any order. By default 25 of them, equally spaced on a logarithmic scale.
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
    model = SoftMarginClassifier(
        tol=tol, class_weight=class_weight, max_time=max_time, warm_start=True, n_jobs=n_jobs
    )
    X, y = check_X_y(X, y, **LAYOUT)
    prices = _scale(X, y) * np.geomspace(WIDEST, NARROWEST, STEPS) if Cs is None else _read(Cs)
    fits: list[MarginFit] = [None] * len(prices)  # type: ignore[list-item]
    slack, errors = np.empty(len(prices)), np.empty(len(prices), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gaps are in the result
        for k in np.argsort(prices):
            model.set_params(C=float(prices[k])).fit(X, y, sample_weight)
            if len(model.classes_) > 2:
                msg = f"y holds {len(model.classes_)} classes: give two, a path is one problem's"
                raise ValueError(msg)
            fits[k] = model.fits_[0]
            weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
            slack[k], errors[k] = model.sides(X, y).slack @ weight, model.n_errors_
    optima = tuple(fit.optimum for fit in fits)
    return SoftMarginPath(
        prices,
        tuple(fit.hyperplane for fit in fits),
        np.array([optimum.margin for optimum in optima]),
        slack,
        errors,
        np.array([len(optimum.support) for optimum in optima]),
        np.array([optimum.primal for optimum in optima]),
        np.array([optimum.dual for optimum in optima]),
        optima,
    )


def _read(Cs: ArrayLike) -> Floats:
    given = np.asarray(Cs)
    if given.ndim != 1 or not given.size:
        msg = f"Cs has shape {given.shape}: give a list of positive numbers"
        raise ValueError(msg)
    return np.array([positive_number("C", C) for C in given.tolist()])


def _scale(X: Any, y: NDArray[Any]) -> float:
    """The C at which the means of the two classes would be on the edges of the margin."""
    _, label = number_classes(y)
    low, high = (np.asarray(X[label == k].mean(axis=0)).ravel() for k in (0, 1))
    apart = float(((high - low) ** 2).sum())
    return 4.0 / apart if apart > 0 else 1.0

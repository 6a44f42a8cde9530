"""Curves that turn decision values into probabilities, by answers to rows left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.contract.classifier import choose
from rosenblatt.results.calibration import Curve, IsotonicCurve, SigmoidCurve
from rosenblatt.validation.refits import LOWEST, OutOfFold


class NotCalibratedError(ValueError):
    """Answers that no curve can be drawn through."""


class Remembered(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of row numbers, whose decision values are known beforehand."""

    def __init__(self, values: Any = None) -> None:
        self.values = values

    def fit(self, X: NDArray[np.intp], y: NDArray[np.intp]) -> Remembered:
        """Note the classes."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: NDArray[np.intp]) -> NDArray[np.float64]:
        """The values of these rows."""
        values: NDArray[np.float64] = self.values[X[:, 0]]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: NDArray[np.intp]) -> NDArray[np.intp]:
        """What the values speak for."""
        return choose(self.values[X[:, 0]])


def calibrated(found: OutOfFold, method: str) -> tuple[Curve, ...]:
    """The curve of each class, or the one of the second of two.

    They are those of scikit-learn's ``CalibratedClassifierCV(ensemble=False)`` with the folds of
    the plan, without fitting once more. Folds that did not know all classes are left out.

    Parameters
    ----------
    found : answers to rows left out.
    method : "sigmoid" or "isotonic".
    """
    from sklearn.calibration import CalibratedClassifierCV  # late, as few ask for it

    folds = [one for one in found.folds if not (one.values == LOWEST).any()]
    y = np.concatenate([found.y[one.rows] for one in folds]) if folds else found.y[:0]
    if len(np.unique(y)) < len(np.unique(found.y)):
        msg = "there are no answers to rows of every class, by models that knew all of them"
        raise NotCalibratedError(msg)
    values, rows = np.concatenate([one.values for one in folds]), np.arange(len(y))
    model = CalibratedClassifierCV(
        Remembered(values), method=method, cv=[(rows, rows)], ensemble=False
    )
    (fitted,) = model.fit(rows[:, np.newaxis], y).calibrated_classifiers_
    return tuple(map(_curve, fitted.calibrators))


def _curve(calibrator: Any) -> Curve:
    if hasattr(calibrator, "a_"):
        return SigmoidCurve(float(calibrator.a_), float(calibrator.b_))
    places, shares = calibrator.X_thresholds_, calibrator.y_thresholds_
    return IsotonicCurve(np.asarray(places, float), np.clip(np.asarray(shares, float), 0, 1))

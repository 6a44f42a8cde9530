"""Numbers of a model that are chosen by folds of the rows it learns from: C, gamma, degree.

The choice is a part of learning. Where a model is judged by folds, each fold therefore chooses
anew, among its own rows to learn from: `Tuned` is a classifier that does so when it is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

from rosenblatt.kernel.choice import find_gamma
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.margin.estimator import SoftMarginClassifier
from rosenblatt.running.clock import Cancel
from rosenblatt.validation.plans import Rows, plan_folds
from rosenblatt.validation.refits import was_interrupted

FOLDS = 3  # by which values are judged
MOST_ROWS = {"C": 10_000, "gamma": 3_000, "degree": 3_000}  # among which they are
ROUGH = 1e-3  # the gap of a soft margin that is only tried
DECADES = 6  # of C, from where slack begins to matter
WIDER, NARROWER = 10.0, 30.0  # widths to try, beside gamma="scale"
DEGREES = (2, 3, 4)
PARAMETERS = {"rbf": "gamma", "gaussian": "gamma", "poly": "degree"}  # of kernels, chosen
VALUES = 4e9  # kernel values that the epochs of a kernel perceptron may take, about
MOST_EPOCHS = 30


@dataclass(frozen=True)
class Choice:
    """A value of a parameter, and the shares of right answers by which it was chosen.

    `scores` has those of the values `tried`, the simplest first: of these the first with the
    highest score is taken. There are none, and the value is the default, where no folds could be
    made, or time was up. `rows` were judged, in so many `folds`; `n_rows` were there.
    """

    parameter: str
    value: float
    tried: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    folds: int = 0
    rows: int = 0
    n_rows: int = 0
    untried: tuple[float, ...] = ()  # for want of time


def chosen_parameter(classifier: Any) -> str | None:
    """The parameter of a classifier that can be chosen, if there is one."""
    if isinstance(classifier, SoftMarginClassifier):
        return "C"
    if isinstance(classifier, KernelPerceptron) and classifier.sigma is None:
        return PARAMETERS.get(classifier.kernel)
    return None


def ladder(low: float, high: float) -> list[float]:
    """The numbers 1, 3, 10, 30 and so on, and their like below 1, from `low` to `high`."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    steps = (float(f"{step}e{power}") for power in powers for step in (1, 3))
    return [step for step in steps if low <= step <= high]


def values_to_try(parameter: str, X: Any) -> list[float]:
    """What to try for features like these, the simplest first: a wide margin, a wide kernel."""
    if parameter == "degree":
        return list(DEGREES)
    if parameter == "gamma":
        scale = find_gamma("scale", X)
        return ladder(scale / WIDER, scale * NARROWER)
    # ½‖w‖² and C times the mean slack are of one size where w·x is about 1.
    first = round(-math.log10(_total_variance(X)))
    return [float(f"1e{power}") for power in range(first, first + DECADES + 1)]


def kernel_epochs(n_rows: int) -> int:
    """Epochs of a kernel perceptron that so many rows leave time for."""
    return int(min(MOST_EPOCHS, max(1, VALUES // n_rows**2)))


class Tuned(BaseEstimator):  # type: ignore[misc]
    """A classifier that chooses one of its parameters when it is fitted.

    Parameters
    ----------
    classifier : SoftMarginClassifier or KernelPerceptron
        The parameter that is chosen, `chosen_parameter`, does not matter in it.
    seed : of folds, and of rows that are drawn.

    Attributes
    ----------
    model_ : the classifier with the value that was chosen, fitted.
    choice_ : Choice
    """

    def __init__(self, classifier: Any, seed: int = 0) -> None:
        self.classifier = classifier
        self.seed = seed

    def fit(self, X: Any, y: NDArray[Any], groups: Rows | None = None) -> Tuned:
        """Choose, then learn from all rows; rows of one group are never on both sides of a fold."""
        self.choose(X, y, groups).fit(X, y)
        return self

    def choose(
        self, X: Any, y: NDArray[Any], groups: Rows | None = None, cancel: Cancel | None = None
    ) -> Any:
        """The classifier with the value that does best, not fitted yet; it is `model_`, too.

        When `cancel` asks, values that have not been tried are left out.
        """
        self.choice_ = choose(self.classifier, X, y, groups, self.seed, cancel)
        value = {self.choice_.parameter: self.choice_.value}
        self.model_ = clone(self.classifier).set_params(**value)
        return self.model_

    def decision_function(self, X: Any) -> Any:
        """That of the model."""
        return self.model_.decision_function(X)

    @property
    def fits_(self) -> Any:
        """Those of the model."""
        return getattr(self.model_, "fits_", ())

    @property
    def n_iter_(self) -> int:
        """That of the model."""
        return int(self.model_.n_iter_)

    @property
    def n_jobs(self) -> int | None:
        """The threads of the classifier."""
        return self.classifier.n_jobs  # type: ignore[no-any-return]

    @property
    def class_weight(self) -> Any:
        """The weights of the classes, as the classifier has them."""
        return self.classifier.class_weight


def choose(
    classifier: Any,
    X: Any,
    y: NDArray[Any],
    groups: Rows | None = None,
    seed: int = 0,
    cancel: Cancel | None = None,
) -> Choice:
    """Judge values by folds of the rows, of many rows some drawn at random."""
    parameter = chosen_parameter(classifier)
    assert parameter is not None
    usual = getattr(type(classifier)(), parameter)
    usual = find_gamma(usual, X) if parameter == "gamma" else usual
    default = Choice(parameter, usual, n_rows=len(y))
    rows = _drawn(y, MOST_ROWS[parameter], seed)
    of = None if groups is None else groups[rows]
    plan = plan_folds(np.unique(y[rows], return_inverse=True), FOLDS, groups=of, seed=seed)
    folds = list(plan)
    values, right = values_to_try(parameter, X), list[float]()
    if not folds:
        return default
    models = [_rough(classifier, len(learn)) for learn, _ in folds]
    for value in values:
        try:
            n_right = sum(
                _right(model.set_params(**{parameter: value}), X, y, rows[learn], rows[test])
                for model, (learn, test) in zip(models, folds, strict=True)
            )
        except KeyboardInterrupt:
            if cancel is None or cancel.pressed or not cancel.asked:
                raise KeyboardInterrupt(_so_far(parameter, values, right)) from None
            break
        right.append(n_right / len(rows))
    if not right:
        return replace(default, untried=tuple(values))
    done = len(right)
    return Choice(
        parameter,
        values[int(np.argmax(right))],
        tried=tuple(values[:done]),
        scores=tuple(right),
        folds=len(folds),
        rows=len(rows),
        n_rows=len(y),
        untried=tuple(values[done:]),
    )


def _so_far(parameter: str, values: Sequence[float], right: Sequence[float]) -> str:
    """What there is to say where Ctrl-C ends a choice."""
    if not right:
        return f"before any {parameter} was tried"
    best = values[int(np.argmax(right))]
    share = f"{100 * max(right):.1f}% right"
    return f"after {len(right)} of {len(values)} values: {parameter} {best:g} was best, {share}"


def _rough(classifier: Any, n_rows: int) -> Any:
    """A classifier as it is tried on so many rows: less exactly, and from one value to the next."""
    model = clone(classifier)
    if isinstance(model, SoftMarginClassifier):
        return model.set_params(tol=max(ROUGH, model.tol), warm_start=True)
    return model.set_params(max_epochs=min(model.max_epochs, kernel_epochs(n_rows)))


def _right(model: Any, X: Any, y: NDArray[Any], learn: Rows, test: Rows) -> int:
    """How many rows a model has right that it has not learned from."""
    model.fit(X[learn], y[learn])
    if was_interrupted(model):
        raise KeyboardInterrupt
    return int(np.sum(model.predict(X[test]) == y[test]))


def _drawn(y: NDArray[Any], most: int, seed: int) -> Rows:
    """All rows, or so many drawn at random, with as many of a rare class as there are folds."""
    if len(y) <= most:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    first = [order[y[order] == label][:FOLDS] for label in np.unique(y)]
    kept = np.concatenate(first)
    rest = order[~np.isin(order, kept)][: max(0, most - len(kept))]
    return np.sort(np.concatenate([kept, rest]))


def _total_variance(X: Any) -> float:
    """The sum of the variances of all features; 1 if they are constant."""
    if issparse(X):
        squares = X.multiply(X).sum(axis=0) / X.shape[0]
        total = float(np.sum(squares) - np.sum(np.square(X.mean(axis=0))))
    else:
        total = float(np.var(X, axis=0, dtype=np.float64).sum())
    return min(max(total, 1e-200), 1e200) if total > 0 else 1.0  # nan: 1

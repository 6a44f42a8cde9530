"""The kinds of models that are compared on a table, and how long each may learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.margin.estimator import MaxMarginClassifier, SoftMarginClassifier
from rosenblatt.perceptron.estimator import Perceptron
from rosenblatt.validation.tuning import Tuned, kernel_epochs

MAJORITY = "majority"
NUMBERS = 1e7  # read in all epochs of a perceptron, about
LEAST_EPOCHS, MOST_EPOCHS = 10, 1000


@dataclass(frozen=True)
class Kind:
    """A kind of model: its name, what to fit, and the options of ``rosenblatt fit`` that do so."""

    name: str
    candidate: Any
    options: tuple[str, ...]


class Majority(BaseEstimator):  # type: ignore[misc]
    """Always the class that was most frequent; of several such the first."""

    def fit(self, X: Any, y: NDArray[Any]) -> Majority:
        """Count."""
        self.classes_, self._counts = np.unique(y, return_counts=True)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The share of each class, or, of two, by how much more frequent the second is."""
        shares = self._counts / self._counts.sum()
        row = np.diff(shares) if len(shares) == 2 else shares
        values = np.broadcast_to(row, (X.shape[0], len(row)))
        return values[:, 0] if len(row) == 1 else values


def epochs_for(numbers: int) -> int:
    """Epochs of a perceptron in a table of so many numbers: few where there are many."""
    return int(min(MOST_EPOCHS, max(LEAST_EPOCHS, NUMBERS // max(1, numbers))))


def usual_kinds(n_rows: int, numbers: int, seed: int = 0, n_jobs: int | None = None) -> list[Kind]:
    """The kinds to compare on a table of so many rows and numbers, the simplest first.

    Straight boundaries come before curved ones and, among either, those of which nothing has to
    be chosen before the others.
    """
    epochs, curved = epochs_for(numbers), kernel_epochs(n_rows)
    shuffled: dict[str, Any] = {"order": "shuffled", "random_state": seed, "n_jobs": n_jobs}

    def perceptron(name: str, keep: str) -> Kind:
        model = Perceptron(keep=keep, max_epochs=epochs, **shuffled)
        return Kind(name, model, ("--keep", keep, "--max-epochs", str(epochs)))

    def kernel(name: str) -> Kind:
        model = KernelPerceptron(kernel=name, keep="auto", max_epochs=curved, **shuffled)
        options = ("--kernel", name, "--max-epochs", str(curved), "--tune")
        return Kind(f"{name} kernel", Tuned(model, seed), options)

    soft = Tuned(SoftMarginClassifier(n_jobs=n_jobs), seed)
    hard = MaxMarginClassifier(on_inseparable="raise", n_jobs=n_jobs)
    return [
        Kind(MAJORITY, Majority(), ()),
        perceptron("perceptron", "last"),
        perceptron("average", "average"),
        perceptron("pocket", "pocket"),
        Kind("max margin", hard, ("--model", "max-margin")),
        Kind("soft margin", soft, ("--model", "soft-margin", "--tune")),
        kernel("poly"),
        kernel("rbf"),
    ]

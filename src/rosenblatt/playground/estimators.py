"""The library's estimator for some settings: which class, with which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import rosenblatt as rb
from rosenblatt.playground import schemas

if TYPE_CHECKING:
    from rosenblatt.playground.samples import Samples

KEEPS = {"pocket": "pocket", "average": "average", "vote": "vote"}
NAMES = {
    "perceptron": "Perceptron",
    "pocket": "Perceptron",
    "average": "Perceptron",
    "adaline": "Adaline",
    "kernel": "KernelPerceptron",
    "vote": "KernelPerceptron",
    "max-margin": "MaxMarginClassifier",
    "soft-margin": "SoftMarginClassifier",
}

MOST_VISITS = 2_000_000  # in a run, over all its problems
FEWEST_EPOCHS = 10


class Recipe(NamedTuple):
    """An estimator by the name of its class and its parameters."""

    name: str
    parameters: dict[str, Any]

    def make(self, **more: Any) -> Any:
        """The estimator, unfitted."""
        return getattr(rb, self.name)(**(self.parameters | more))

    def chosen(self) -> dict[str, Any]:
        """The parameters that are not as they are by default."""
        default = getattr(rb, self.name)().get_params()
        return {k: v for k, v in self.parameters.items() if v != default[k]}


def recipe(settings: schemas.Settings, samples: Samples) -> Recipe:
    """The estimator that these settings describe, for these samples.

    So many epochs that every update can be kept and told.
    """
    given, classes = settings.model_dump(exclude={"algorithm"}), samples.classes
    if "max_epochs" in given:
        given["max_epochs"] = min(given["max_epochs"], most_epochs(samples))
    weights = given.get("class_weight")
    if isinstance(weights, list):
        if len(weights) <= max(classes, default=0):
            msg = f"class_weight has {len(weights)} weights: give one for each class"
            raise ValueError(msg)
        given["class_weight"] = {k: weights[k] for k in classes}
    if settings.algorithm in KEEPS:
        given["keep"] = KEEPS[settings.algorithm]
    return Recipe(NAMES[settings.algorithm], given)


def most_epochs(samples: Samples) -> int:
    """How many epochs a run over these samples may have."""
    problems = len(samples.classes) if len(samples.classes) > 2 else 1
    return max(FEWEST_EPOCHS, MOST_VISITS // (problems * max(samples.n, 1)))

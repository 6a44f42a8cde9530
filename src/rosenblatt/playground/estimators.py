"""The library's estimator for some settings: which class, with which parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import rosenblatt as rb
from rosenblatt.playground import schemas

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


def recipe(settings: schemas.Settings, classes: list[int]) -> Recipe:
    """The estimator that these settings describe, for data with these classes."""
    given = settings.model_dump(exclude={"algorithm"})
    weights = given.get("class_weight")
    if isinstance(weights, list):
        if len(weights) <= max(classes, default=0):
            msg = f"class_weight has {len(weights)} weights: give one for each class"
            raise ValueError(msg)
        given["class_weight"] = {k: weights[k] for k in classes}
    if settings.algorithm in KEEPS:
        given["keep"] = KEEPS[settings.algorithm]
    return Recipe(NAMES[settings.algorithm], given)

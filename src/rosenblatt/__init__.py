"""rosenblatt: the perceptron and its family.

Give it labelled points. It finds the hyperplane, and proves what it found.

>>> import rosenblatt as rb
>>> X, y = rb.datasets.eight_points()
>>> rb.Perceptron().fit(X, y).stop_reason_
StopReason.SEPARATED
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt import boolean, certify, datasets, features, io, kernels, plot, theory
    from rosenblatt.certificates import (
        Inseparable,
        Optimum,
        QuasiSeparable,
        Separable,
        Undecided,
        Verdict,
    )
    from rosenblatt.estimators.adaline import Adaline
    from rosenblatt.estimators.bounds import mistake_bound
    from rosenblatt.estimators.kernel import KernelPerceptron
    from rosenblatt.estimators.margin import (
        MaxMarginClassifier,
        NotSeparableError,
        NotSeparableWarning,
        SoftMarginClassifier,
    )
    from rosenblatt.estimators.path import soft_margin_path
    from rosenblatt.estimators.perceptron import Perceptron
    from rosenblatt.estimators.separability import separability
    from rosenblatt.reports import MistakeBound
    from rosenblatt.results import Hyperplane, StopReason
    from rosenblatt.solvers.delta import DivergenceError

__version__ = "0.1.0"

__all__ = [
    "Adaline",
    "DivergenceError",
    "Hyperplane",
    "Inseparable",
    "KernelPerceptron",
    "MaxMarginClassifier",
    "MistakeBound",
    "NotSeparableError",
    "NotSeparableWarning",
    "Optimum",
    "Perceptron",
    "QuasiSeparable",
    "Separable",
    "SoftMarginClassifier",
    "StopReason",
    "Undecided",
    "Verdict",
    "boolean",
    "certify",
    "datasets",
    "features",
    "io",
    "kernels",
    "mistake_bound",
    "plot",
    "separability",
    "soft_margin_path",
    "theory",
]

# Public name -> where it is; imported when first used, so that `import rosenblatt` is instant.
_HOMES = {
    "Adaline": "rosenblatt.estimators.adaline",
    "DivergenceError": "rosenblatt.solvers.delta",
    "Hyperplane": "rosenblatt.results",
    "Inseparable": "rosenblatt.certificates",
    "KernelPerceptron": "rosenblatt.estimators.kernel",
    "MaxMarginClassifier": "rosenblatt.estimators.margin",
    "MistakeBound": "rosenblatt.reports",
    "NotSeparableError": "rosenblatt.estimators.margin",
    "NotSeparableWarning": "rosenblatt.estimators.margin",
    "Optimum": "rosenblatt.certificates",
    "Perceptron": "rosenblatt.estimators.perceptron",
    "QuasiSeparable": "rosenblatt.certificates",
    "Separable": "rosenblatt.certificates",
    "SoftMarginClassifier": "rosenblatt.estimators.margin",
    "StopReason": "rosenblatt.results",
    "Undecided": "rosenblatt.certificates",
    "Verdict": "rosenblatt.certificates",
    "mistake_bound": "rosenblatt.estimators.bounds",
    "separability": "rosenblatt.estimators.separability",
    "soft_margin_path": "rosenblatt.estimators.path",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"rosenblatt.{name}")
    else:
        msg = f"module 'rosenblatt' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

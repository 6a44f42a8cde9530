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
    from rosenblatt import (
        boolean,
        certify,
        datasets,
        exercises,
        features,
        io,
        kernels,
        plot,
        theory,
    )
    from rosenblatt.kernel.estimator import KernelPerceptron
    from rosenblatt.margin.estimator import (
        MaxMarginClassifier,
        NotSeparableError,
        NotSeparableWarning,
        SoftMarginClassifier,
    )
    from rosenblatt.margin.path import soft_margin_path
    from rosenblatt.perceptron.adaline import Adaline
    from rosenblatt.perceptron.delta import DivergenceError
    from rosenblatt.perceptron.estimator import Perceptron
    from rosenblatt.perceptron.regressor import AdalineRegressor
    from rosenblatt.questions import mistake_bound, separability
    from rosenblatt.report.comparison import compare
    from rosenblatt.report.summary import report
    from rosenblatt.results import (
        Hyperplane,
        Inseparable,
        MistakeBound,
        Optimum,
        QuasiSeparable,
        Separable,
        StopReason,
        Undecided,
        Verdict,
    )
    from rosenblatt.running.checkpoints import Checkpoint, CheckpointError, CheckpointWarning
    from rosenblatt.streams.opening import open as open
    from rosenblatt.tables.encoder import TableEncoder

__version__ = "0.2.0.dev0"

__all__ = [
    "Adaline",
    "AdalineRegressor",
    "Checkpoint",
    "CheckpointError",
    "CheckpointWarning",
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
    "TableEncoder",
    "Undecided",
    "Verdict",
    "boolean",
    "certify",
    "compare",
    "datasets",
    "exercises",
    "features",
    "io",
    "kernels",
    "mistake_bound",
    "plot",
    "report",
    "separability",
    "soft_margin_path",
    "theory",
]

# Public name -> where it is; imported when first used, so that `import rosenblatt` is instant.
_HOMES = {
    "Adaline": "rosenblatt.perceptron.adaline",
    "AdalineRegressor": "rosenblatt.perceptron.regressor",
    "Checkpoint": "rosenblatt.running.checkpoints",
    "CheckpointError": "rosenblatt.running.checkpoints",
    "CheckpointWarning": "rosenblatt.running.checkpoints",
    "DivergenceError": "rosenblatt.perceptron.delta",
    "Hyperplane": "rosenblatt.results",
    "Inseparable": "rosenblatt.results",
    "KernelPerceptron": "rosenblatt.kernel.estimator",
    "MaxMarginClassifier": "rosenblatt.margin.estimator",
    "MistakeBound": "rosenblatt.results",
    "NotSeparableError": "rosenblatt.margin.estimator",
    "NotSeparableWarning": "rosenblatt.margin.estimator",
    "Optimum": "rosenblatt.results",
    "Perceptron": "rosenblatt.perceptron.estimator",
    "QuasiSeparable": "rosenblatt.results",
    "Separable": "rosenblatt.results",
    "SoftMarginClassifier": "rosenblatt.margin.estimator",
    "StopReason": "rosenblatt.results",
    "TableEncoder": "rosenblatt.tables.encoder",
    "Undecided": "rosenblatt.results",
    "Verdict": "rosenblatt.results",
    "compare": "rosenblatt.report.comparison",
    "mistake_bound": "rosenblatt.questions",
    "open": "rosenblatt.streams.opening",  # not in __all__: import * would hide Python's own
    "separability": "rosenblatt.questions",
    "soft_margin_path": "rosenblatt.margin.path",
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
    return [*__all__, "__version__", "open"]

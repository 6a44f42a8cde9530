"""What the library returns: frozen values, free of any solver.

Begin with `hyperplane` and `runs`. Imports nothing but `exact` and `arguments`.
"""

from rosenblatt.results.hyperplane import Hyperplane
from rosenblatt.results.joint import JointCertificate, JointFit, JointUpdates
from rosenblatt.results.margins import (
    Conditions,
    MarginFit,
    MarginRound,
    MarginTrace,
    Optimum,
    Sides,
    SoftMarginPath,
)
from rosenblatt.results.reports import (
    BoundReport,
    CycleReport,
    MistakeBound,
    at_every,
    power_of_ten,
)
from rosenblatt.results.runs import (
    Cycle,
    Dropped,
    Epoch,
    Fit,
    KernelFit,
    Path,
    StopReason,
    Trace,
)
from rosenblatt.results.step_table import StepLine, StepTable
from rosenblatt.results.updates import Mistakes, Updates
from rosenblatt.results.verdicts import (
    Certificate,
    CheckResult,
    CheckResults,
    Inseparable,
    Problem,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)

__all__ = [
    "BoundReport",
    "Certificate",
    "CheckResult",
    "CheckResults",
    "Conditions",
    "Cycle",
    "CycleReport",
    "Dropped",
    "Epoch",
    "Fit",
    "Hyperplane",
    "Inseparable",
    "JointCertificate",
    "JointFit",
    "JointUpdates",
    "KernelFit",
    "MarginFit",
    "MarginRound",
    "MarginTrace",
    "MistakeBound",
    "Mistakes",
    "Optimum",
    "Path",
    "Problem",
    "QuasiSeparable",
    "Separable",
    "Sides",
    "SoftMarginPath",
    "StepLine",
    "StepTable",
    "StopReason",
    "Trace",
    "Undecided",
    "Updates",
    "Verdict",
    "at_every",
    "power_of_ten",
]

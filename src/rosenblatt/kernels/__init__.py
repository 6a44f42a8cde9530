"""Kernel functions, what is known of them, and their features spelled out.

`functions` has the kernels; begin there. `maps` writes the features of the polynomial kernel down,
`definiteness` tells whether a matrix can come from inner products, `rounding` bounds what floats
do to computed values. Imports nothing but `arguments`.
"""

from rosenblatt.kernels.definiteness import Definiteness, is_positive_semidefinite
from rosenblatt.kernels.functions import (
    RBF,
    Function,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "RBF",
    "Definiteness",
    "Function",
    "Gaussian",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "is_positive_semidefinite",
]

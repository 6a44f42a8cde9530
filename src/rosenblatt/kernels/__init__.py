"""Kernel functions, what is known of them, and their features spelled out.

`functions` has the kernels and bounds on what floats do to computed values; begin there. `maps`
writes the features of the polynomial kernel down; `gram_matrices` has kernels known by their values
alone, and tells whether these can come from inner products. Imports nothing but `arguments`.
"""

from rosenblatt.kernels.functions import RBF, Gaussian, Kernel, Linear, Polynomial, Sigmoid
from rosenblatt.kernels.gram_matrices import (
    Definiteness,
    Function,
    Precomputed,
    is_positive_semidefinite,
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

"""The inputs of boolean functions, and all functions of a few variables."""

import itertools

import numpy as np


def tables(n):
    """The values of every boolean function of n variables."""
    return (np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=2**n))


def corners(n):
    return np.array(list(itertools.product([0, 1], repeat=n))).reshape(2**n, n)

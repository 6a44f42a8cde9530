"""Samples and kernels that feature spaces are tried on, and how far hulls are there from zero."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import nnls

from rosenblatt.kernels import RBF, Gaussian, Polynomial

CURVED = [
    Polynomial(2),
    Polynomial(3, 0.5, 2.0),
    Polynomial(2, coef0=0.0),
    RBF(0.3),
    Gaussian(2.0),
]
WHOLE = st.integers(-3, 3).map(float)
EIGHTHS = st.integers(-24, 24).map(lambda k: k / 8)


@st.composite
def labelled(draw, numbers=WHOLE, most=9):
    """Such numbers, with both labels."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=numbers))
    y = draw(arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    assume(len(set(y.tolist())) == 2)
    return X, y


def distance(K, y):
    """How far from the origin the convex hull of the yφ(x) is: as far as a margin is wide."""
    sizes, axes = np.linalg.eigh(K)
    Z = axes * np.sqrt(np.maximum(sizes, 0)) * y[:, np.newaxis]
    weights = nnls(np.vstack([Z.T, np.ones(len(y))]), np.append(np.zeros(len(y)), 1.0))[0]
    return np.linalg.norm(weights @ Z) / weights.sum()

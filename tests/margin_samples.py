"""Samples that margins are tried on."""

import numpy as np

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.nearest.working_set import Clock, Samples


def noisy(n=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ np.arange(1, d + 1) + 2 * rng.standard_normal(n) > 0, 1, -1)


def apart(n=50, d=3, gap=0.3, seed=0):
    """Classes with a gap between them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = np.arange(1.0, d + 1) / np.linalg.norm(np.arange(1, d + 1))
    y = np.where(X @ w > 0, 1, -1)
    y[:2] = 1, -1
    X[:2] = np.outer([1, -1], w)
    return X + gap * np.outer(y, w), y


def as_samples(X, y, team, size=None, clock=None):
    """What solvers see of them: blocks of so many rows."""
    label = (np.asarray(y) > 0).astype(np.int32)
    source = MemorySource(as_rows(X), label, X.shape[1], block_size=size)
    return Samples(source, team, 1, clock or Clock())

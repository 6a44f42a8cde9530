"""Data for `benchmarks.kernel` and `benchmarks.kernel_device`."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np

from benchmarks.measure import data_file


def digits(part: str = "train") -> tuple[Any, Any] | None:
    """MNIST, "train" (60 000) or "t10k" (10 000): pixels from 0 to 1 in float32, or None."""
    images = data_file(f"mnist-{part}-images-idx3-ubyte.gz")
    labels = data_file(f"mnist-{part}-labels-idx1-ubyte.gz")
    if images is None or labels is None:
        return None
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    y = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    return (pixels.reshape(-1, 784) / np.float32(255)).astype(np.float32), y.astype(np.int64)


def small_digits(part: str, n: int) -> tuple[Any, Any] | None:
    """The first n digits of MNIST as 16 x 16 pixels: means over squares of 2 x 2."""
    data = digits(part)
    if data is None:
        return None
    X, y = data
    square = np.pad(X[:n].reshape(-1, 28, 28), ((0, 0), (2, 2), (2, 2)))
    means = square.reshape(-1, 16, 2, 16, 2).mean(axis=(2, 4))
    return np.ascontiguousarray(means.reshape(len(means), 256)), y[:n]


def shells(n: int, d: int, noise: float = 0.0, seed: int = 0) -> tuple[Any, Any]:
    """Normal vectors; the class is whether they lie far from the origin, with some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    far = (X**2).sum(axis=1) > d
    return X, np.where(far ^ (rng.random(n) < noise), 1, 0)


def waves(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Uniform vectors; the class is the sign of a wave through the first features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)).astype(np.float32)
    return X, (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] - 0.5 * X[:, 3] > 0).astype(np.int64)

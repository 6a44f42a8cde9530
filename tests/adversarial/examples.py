"""Data that the library once got wrong, crashed on, or took minutes for."""

import numpy as np

from .families import LARGEST, Case

P = 84886727.0 * 84886717.0


def _simplex(d, size, point):
    rows = [[0.0] * d, *(size * np.eye(d)).tolist(), point]
    return rows, [0] * (d + 1) + [1]


def _nearly_collinear():
    rng = np.random.default_rng(0)
    t = rng.normal(size=150)
    X = np.outer(t, rng.normal(size=4)) + 1e-12 * rng.normal(size=(150, 4))
    return X, X @ rng.normal(size=4) > 0


def _powers():
    t = np.linspace(0.005, 1.0, 200)
    return t[:, np.newaxis] ** np.arange(1, 16), np.arange(200) // 14 % 2


def _coordinate_primes():
    """Six multiples of coordinate vectors by primes, and a column of zeros."""
    primes = [84886727.0, 84886717.0, 84886681.0, 84886651.0, 67108859.0, 67108837.0]
    X = np.zeros((8, 7))
    X[:6, :6] = np.diag(primes)
    X[6] = X[:6].mean(axis=0)
    return X, [0, 0, 0, 0, 0, 0, 1, 0]


def _meetings_apart():
    """Samples that cancel in two ways, one so much heavier that no float is its weight."""
    L, s = -LARGEST, -5e-324
    X = [
        [s, s, 1, s], [s, L, s, L], [1, 1, L, s], [s, 1, 1, L], [1, s, 1, L],
        [s, 1, 1, 1], [1, 1, 1, L], [1, 1, 1, 1], [L, s, 1, 1], [s, L, 1, 1],
    ]  # fmt: skip
    return X, [0, 0, 0, 1, 1, 1, 0, 0, 1, 0]


def _mixed_extremes():
    """Weights that exact arithmetic finds, too large for a float by far."""
    L, s = LARGEST, 2.2e-308
    X = [
        [s, s, -1], [-L, L, -L], [-1, L, -L], [-L, s, -1],
        [-L, L, -L], [-L, L, L], [-1, -L, -1], [s, -L, -L],
    ]  # fmt: skip
    return X, [1, 0, 0, 0, 1, 1, 1, 0]


EXAMPLES = {
    "beside an edge": (
        [[0, 0], [3, 0], [0, 3], [0.23164798481511584, 2.7683520151848846]],
        [0, 0, 0, 1],
    ),
    "beside a face": _simplex(4, 3.0, [2.3455332038098677, 0.6544667961901326, 0, 0]),
    "nearly collinear": _nearly_collinear(),
    "dear slack": ([[1, 2], [-3, 2], [0, 0], [8, -1], [10, -3], [5, -1]], [0, 0, 0, 1, 1, 1]),
    "dearer slack": (
        [[-1, -2], [-1, -1], [0, 3], [10, -1], [10, 1], [7, 0]],
        [0, 0, 0, 1, 1, 1],
    ),
    "far away": (1e9 + np.array([[0, 0], [1, 0.5], [3, 4], [4, 3.0]]), [0, 0, 1, 1]),
    "farther away": (1e12 + np.array([[0, 0], [1, 0.5], [3, 4], [4, 3.0]]), [0, 0, 1, 1]),
    "tiny": ([[0.0], [1e-200]], [0, 1]),
    "rounding hides a mistake": (
        [
            [2e-07, -1.000000001e16, -1.0000000002e16],
            [3e-07, -9999999980000000, 1e16],
            [0, -1e16, -1e16],
        ],
        [0, 0, 1],
    ),
    "cancels to less than half": ([[1e16, 1.0, -1e16], [0.0, 0.0, 1.0]], [0, 1]),
    "XOR of a product of primes": ([[0, 0], [P, 0], [0, 1], [P, 1]], [0, 1, 1, 0]),
    "primes along the axes": _coordinate_primes(),
    "subnormal": ([[0, 0], [-5e-324, 1e-323], [-1e-323, -1e-323], [0, 1e-323]], [0, 0, 1, 1]),
    "largest beside smallest": (
        [[-1, -LARGEST], [1, 5e-324], [1, -1], [1, 5e-324], [-1, 0]],
        [1, 0, 0, 1, 0],
    ),
    "largest of both signs": ([[LARGEST], [-LARGEST], [5e-324]], [0, 1, 1]),
    "meetings that floats cannot join": _meetings_apart(),
    "largest and smallest, mixed": _mixed_extremes(),
    "a margin beyond the largest": (
        [
            [LARGEST, -LARGEST, LARGEST],
            [1.0, 1.0, -LARGEST],
            [-LARGEST, LARGEST, 1.0],
        ],
        [0, 1, 1],
    ),
    "inside, but only just": ([[0.0], [5e-324], [142.857]], [0, 1, 0]),
    "powers": _powers(),
}


def example(name):
    X, y = EXAMPLES[name]
    return Case(name, np.array(X, dtype=float), np.array(y).astype(np.int64))


def once(rng):
    """One of them."""
    return example(str(rng.choice(list(EXAMPLES))))

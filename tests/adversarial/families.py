"""Small, hard data sets: ``family(rng) -> Case``. NumPy here only makes numbers."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from . import exact

LARGEST = 1.797e308
PRIMES = (84886727, 84886717, 84886681, 84886651, 67108859, 67108837, 2147483629, 2147483587)
SMALL_PRIMES = (1000003, 1000033, 8388593, 8388587, 46337, 46349, 65521, 94906249)
ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Case:
    """Samples, labels 0 and 1, and what is known of them beforehand.

    Attributes
    ----------
    name : str
        The family.
    X, y : float array (n, d), int array (n,)
    known : str or None
        The verdict, where the way the data were made tells it.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    known: str | None = field(default=None)

    @cached_property
    def signs(self):
        """-1 for label 0, +1 for label 1."""
        return [1 if label else -1 for label in self.y.tolist()]

    @cached_property
    def _integers(self):
        numbers, unit = exact.whole(self.X.ravel().tolist())
        d = self.X.shape[1]
        return [numbers[i * d : (i + 1) * d] for i in range(len(self.X))], unit

    @property
    def rows(self):
        """The samples as integers: X is these times `unit`."""
        return self._integers[0]

    @property
    def unit(self):
        return self._integers[1]

    @cached_property
    def signed(self):
        """``y(x, 1)`` in integers, each column in its own unit, which changes no verdict."""
        columns = [exact.whole(column)[0] for column in self.X.T.tolist()]
        return [
            (*(sign * number for number in row), sign)
            for sign, row in zip(self.signs, zip(*columns, strict=True), strict=True)
        ]

    @cached_property
    def verdict(self):
        """The name of the true verdict: by linear programs, the first of which takes long."""
        if self.X.size <= 800:
            return exact.verdict(self.signed)
        if self.apart:
            return "SEPARABLE"
        return "INSEPARABLE" if exact.cancels(self.signed) else "QUASI_SEPARABLE"

    @cached_property
    def apart(self):
        """Twice the widest margin, squared: the distance of the hulls."""
        high = [row for row, sign in zip(self.rows, self.signs, strict=True) if sign > 0]
        low = [row for row, sign in zip(self.rows, self.signs, strict=True) if sign < 0]
        vector = exact.nearest(high, low)
        return exact.dot(vector, vector) * self.unit**2

    def with_rows(self, rows):
        """The case of these samples only."""
        return Case(self.name, self.X[rows], self.y[rows], None)


def two_classes(y, rng):
    """Labels 0 and 1 with at least one of each."""
    y = np.asarray(y).astype(np.int64)
    if len(set(y.tolist())) < 2:
        y[rng.integers(len(y))] = 1 - y[0]
    return y


def threshold(X, rng):
    """Labels from a hyperplane with small whole weights: separable, or nearly."""
    w = rng.integers(-3, 4, X.shape[1]).astype(float)
    scores = [sum(a * b for a, b in zip(row, w.tolist(), strict=True)) for row in X.tolist()]
    order = sorted(scores)
    return two_classes(np.array(scores) > order[rng.integers(len(order))], rng)


def some_labels(X, rng):
    """Labels from a threshold, with or without a few flipped, or at random."""
    y = threshold(X, rng) if rng.random() < 0.6 else rng.integers(0, 2, len(X))
    if rng.random() < 0.3:
        flips = rng.integers(0, len(X), rng.integers(1, 3))
        y = np.array(y)
        y[flips] = 1 - y[flips]
    return two_classes(y, rng)


def sizes(rng, most=30, features=6):
    return int(rng.integers(2, most + 1)), int(rng.integers(1, features + 1))


# Families ---------------------------------------------------------------------------------------


def lattice(rng):
    n, d = sizes(rng, 40)
    X = rng.integers(0, rng.integers(2, 6), (n, d)).astype(float)
    return Case("lattice", X, some_labels(X, rng))


def grid(rng):
    """All of {0, ..., k-1}^d."""
    d = int(rng.integers(1, 5))
    k = int(rng.integers(2, {1: 30, 2: 7, 3: 4, 4: 3}[d] + 1))
    X = np.stack(np.meshgrid(*[np.arange(float(k))] * d), -1).reshape(-1, d)
    return Case("grid", X, some_labels(X, rng))


def duplicates(rng):
    """Rows that come again, with their own label or with the other one."""
    n, d = sizes(rng, 15)
    X = rng.normal(size=(n, d)).round(1)
    y = threshold(X, rng)
    again = rng.integers(0, n, rng.integers(1, n + 1))
    other = rng.random(len(again)) < rng.choice([0.0, 0.1, 0.5])
    X = np.concatenate([X, X[again]])
    return Case(
        "duplicates", X, two_classes(np.append(y, np.where(other, 1 - y[again], y[again])), rng)
    )


def gaussian(rng):
    n, d = sizes(rng, 60, 8)
    y = two_classes(rng.integers(0, 2, n), rng)
    X = rng.normal(size=(n, d)) + y[:, np.newaxis] * rng.choice([0.0, 1.0, 3.0, 10.0])
    return Case("gaussian", X, y)


def collinear(rng):
    """On a line, or as near to it as rounding."""
    n, d = int(rng.integers(3, 40)), int(rng.integers(2, 7))
    t = rng.permutation(n).astype(float) if rng.random() < 0.5 else rng.normal(size=n)
    X = rng.normal(size=d) + np.outer(t, rng.normal(size=d))
    y = (t > np.median(t)) if rng.random() < 0.6 else rng.integers(0, 2, n)
    return Case("collinear", X, two_classes(y, rng))


def nearly_collinear(rng):
    n, d = int(rng.integers(3, 60)), int(rng.integers(2, 7))
    off = 10.0 ** rng.integers(-16, -5)
    t = rng.normal(size=n)
    X = np.outer(t, rng.normal(size=d)) + off * rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d) if rng.random() < 0.3 else t + off * rng.normal(size=n)
    y = (scores > np.median(scores)) if rng.random() < 0.7 else rng.integers(0, 2, n)
    return Case("nearly_collinear", X, two_classes(y, rng))


def low_rank(rng):
    n, d = int(rng.integers(4, 40)), int(rng.integers(3, 9))
    k = int(rng.integers(1, d))
    X = rng.integers(-3, 4, (n, k)).astype(float) @ rng.integers(-3, 4, (k, d)).astype(float)
    return Case("low_rank", X, some_labels(X, rng))


def repeated_columns(rng):
    n, d = sizes(rng, 30, 4)
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(0, 3, (n, d)).astype(float)
    columns = rng.integers(0, d, rng.integers(1, 4))
    extra = X[:, columns] * 2.0 ** rng.integers(-3, 4, len(columns))
    if rng.random() < 0.5:
        extra = np.append(extra, np.full((n, 1), rng.choice([0.0, 1.0, 1e10])), axis=1)
    X = np.append(X, extra, axis=1)
    return Case("repeated_columns", X, some_labels(X, rng))


def moment_curve(rng):
    """(t, t², ..., t^k) with labels in runs: separable exactly with at most k changes."""
    n, k = int(rng.integers(3, 40)), int(rng.integers(1, 8))
    t = np.arange(1.0, n + 1) if rng.random() < 0.5 else np.linspace(-1, 1, n)
    run = int(rng.integers(1, n))
    X = t[:, np.newaxis] ** np.arange(1, k + 1)
    return Case("moment_curve", X, two_classes(np.arange(n) // run % 2, rng))


def hilbert(rng):
    n, d = int(rng.integers(2, 20)), int(rng.integers(2, 9))
    X = 1.0 / (np.arange(1, n + 1)[:, np.newaxis] + np.arange(d))
    y = rng.integers(0, 2, n) if rng.random() < 0.5 else np.arange(n) >= rng.integers(1, n)
    return Case("hilbert", X, two_classes(y, rng))


def simplex_face(rng):
    """A simplex, and a point of the other class on its largest face, or an ulp beside it."""
    d, size = int(rng.integers(2, 7)), float(rng.choice([1.0, 3.0, 7.0]))
    X = np.concatenate([np.zeros((1, d)), size * np.eye(d)])
    shares = np.zeros(d)
    used = rng.permutation(d)[: rng.integers(2, d + 1)]
    shares[used] = rng.dirichlet(np.ones(len(used)))
    point = size * shares
    point[used[0]] = size - np.delete(point, used[0]).sum()
    for _ in range(int(rng.integers(0, 3))):
        k = rng.choice(used)
        point[k] = np.nextafter(point[k], rng.choice([-np.inf, np.inf]))
    X = np.vstack([X, point])
    return Case("simplex_face", X, np.append(np.zeros(d + 1, np.int64), 1))


def one_ulp(rng):
    """Numbers 1 + k·2⁻⁵², and neighbours of others."""
    n, d = sizes(rng, 20, 4)
    k = rng.integers(0, int(rng.choice([3, 20, 1000])), (n, d))
    X = 1.0 + k * ULP
    if rng.random() < 0.3:
        X = X * float(rng.choice([0.1, 1e10, 3e-7]))
    return Case("one_ulp", X, some_labels(k.astype(float), rng))


def neighbours(rng):
    """Pairs of one value and the next float, of different classes."""
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    low = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    high = low.copy()
    high[:, 0] = np.nextafter(high[:, 0], np.inf)
    return Case("neighbours", np.concatenate([low, high]), np.repeat([0, 1], n))


def scaled(rng):
    """A whole data set times 1e±150, 1e±308, or a column of it."""
    inner = rng.choice([lattice, gaussian, duplicates, moment_curve])(rng)
    factor = float(rng.choice([1e-150, 1e150, 1e-300, 1e-308, 1e300, 1e70, 1e-70]))
    scale = np.full(inner.X.shape[1], factor)
    if rng.random() < 0.6:
        scale = rng.choice([factor, 1.0, 1 / factor], inner.X.shape[1])
    largest = np.abs(inner.X).max(axis=0)
    with np.errstate(all="ignore"):
        X = inner.X / np.where(largest > 0, largest, 1.0) * scale
    return Case("scaled", np.where(np.isfinite(X), X, 0.0), inner.y)


def extremes(rng):
    """Subnormal numbers beside the largest."""
    n, d = sizes(rng, 10, 4)
    few = np.array([0.0, 5e-324, -5e-324, 1e-323, -1e-323, 1.0, -1.0, LARGEST, -LARGEST, 2.2e-308])
    X = rng.choice(rng.choice(few, rng.integers(2, 6)), (n, d))
    return Case("extremes", X, two_classes(rng.integers(0, 2, n), rng))


def subnormal(rng):
    n, d = sizes(rng, 12, 4)
    k = rng.integers(-4, 5, (n, d))
    return Case("subnormal", k * 5e-324, some_labels(k.astype(float), rng))


def prime_products(rng):
    """Whole numbers that are products of primes, also of those that are near 2²⁶ and 2³¹."""
    n, d = sizes(rng, 10, 5)
    pool = PRIMES if rng.random() < 0.6 else SMALL_PRIMES
    factors = rng.choice(pool, 2, replace=False)
    P = float(int(factors[0]) * int(factors[1]))
    kind = rng.integers(3)
    if kind == 0:  # XOR
        X, y = np.array([[0, 0], [P, 0], [0, 1], [P, 1.0]]), np.array([0, 1, 1, 0])
        return Case("prime_products", X, y, "INSEPARABLE")
    if kind == 1:  # multiples of coordinate vectors, and a column of zeros
        X = np.diag(rng.choice(pool, d).astype(float) * rng.choice([1.0, float(factors[0])]))
        X = np.append(np.concatenate([X, -X[: rng.integers(1, d + 1)]]), np.zeros((1, d)), axis=0)
        X = np.append(X, np.zeros((len(X), 1)), axis=1)
        return Case("prime_products", X, two_classes(rng.integers(0, 2, len(X)), rng))
    X = rng.choice([0.0, 1.0, P, -P, float(factors[0])], (n, d))
    return Case("prime_products", X, some_labels(X / P, rng))


def offset(rng):
    """Small data far from the origin."""
    n, d = sizes(rng, 30, 5)
    X = rng.integers(-5, 6, (n, d)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, d))
    y = some_labels(X, rng)
    far = 10.0 ** rng.integers(3, 16)
    X = X + (far if rng.random() < 0.5 else far * rng.choice([0.0, 1.0, -1.0], d))
    return Case("offset", X, y)


def touching(rng):
    """Hulls that touch in a face: no sample on a wrong side, some on the hyperplane."""
    d = int(rng.integers(1, 6))
    n = int(rng.integers(2, 12))
    shared = rng.integers(-3, 4, (n, d)).astype(float)
    shared[:, 0] = 0.0
    high, low = (rng.integers(-3, 4, (rng.integers(1, 8), d)).astype(float) for _ in range(2))
    high[:, 0], low[:, 0] = np.abs(high[:, 0]), -np.abs(low[:, 0])
    X = np.concatenate([shared, high, low])
    y = np.concatenate([rng.integers(0, 2, n), np.ones(len(high)), np.zeros(len(low))])
    if rng.random() < 0.5:  # turned, exactly
        turn = np.eye(d) + np.triu(rng.integers(-2, 3, (d, d)), 1)
        X = X @ turn
    return Case("touching", X, two_classes(y, rng))


def one_feature(rng):
    n = int(rng.integers(2, 30))
    X = rng.choice([rng.normal(size=n), rng.integers(-3, 4, n) * 1.0, 1 / rng.integers(1, 9, n)])
    X = X[:, np.newaxis]
    return Case("one_feature", X, some_labels(X, rng))


def wide(rng):
    """More features than samples."""
    n = int(rng.integers(2, 9))
    d = n + int(rng.integers(1, 20))
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(-1, 2, (n, d)) * 1.0
    return Case("wide", X, two_classes(rng.integers(0, 2, n), rng))


def one_each(rng):
    """A single sample of a class, or of both."""
    n, d = sizes(rng, 12, 8)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 9, d)
    y = np.zeros(n, np.int64)
    y[rng.integers(n)] = 1
    if rng.random() < 0.3:
        X[y == 1] = X[y == 0].mean(axis=0)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = 0.0
    return Case("one_each", X, y)


def random_columns(rng):
    """Columns of very different size."""
    n, d = sizes(rng, 30, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 13, d)
    return Case("random_columns", X, some_labels(X / np.abs(X).max(axis=0), rng))


def cancelling(rng):
    """Large numbers whose sums cancel, as where rounding hides a mistake."""
    n, d = sizes(rng, 8, 4)
    big = rng.choice([1e16, -1e16, 1.000000001e16, -9999999980000000.0, 0.0], (n, d))
    X = np.where(rng.random((n, d)) < 0.4, rng.integers(-3, 4, (n, d)) * 1e-7, big)
    return Case("cancelling", X, two_classes(rng.integers(0, 2, n), rng))


# Larger: up to 10 000 numbers -------------------------------------------------------------------


def long_moment_curve(rng):
    k = int(rng.integers(5, 16))
    t = np.linspace(0.005, 1, 200) if rng.random() < 0.5 else np.arange(1.0, 201)
    run = int(rng.integers(8, 40))
    X = t[:, np.newaxis] ** np.arange(1, k + 1)
    return Case("long_moment_curve", X, np.arange(200) // run % 2)


def long_nearly_collinear(rng):
    d = int(rng.integers(2, 6))
    off = 10.0 ** rng.integers(-15, -7)
    t = rng.normal(size=2000)
    X = np.outer(t, rng.normal(size=d)) + off * rng.normal(size=(2000, d))
    return Case("long_nearly_collinear", X, (t > rng.normal()).astype(np.int64))


def long_gaussian(rng):
    d = int(rng.integers(2, 11))
    n = 10000 // d
    y = two_classes(rng.integers(0, 2, n), rng)
    X = rng.normal(size=(n, d)) + np.outer(y, rng.normal(size=d) * rng.choice([0.5, 2, 5]))
    return Case("long_gaussian", X, y)


SMALL = (
    lattice, grid, duplicates, gaussian, collinear, nearly_collinear, low_rank, repeated_columns,
    moment_curve, hilbert, simplex_face, one_ulp, neighbours, scaled, extremes, subnormal,
    prime_products, offset, touching, one_feature, wide, one_each, random_columns, cancelling,
)  # fmt: skip
LONG = (long_moment_curve, long_nearly_collinear, long_gaussian)
FAMILIES = {family.__name__: family for family in SMALL + LONG}

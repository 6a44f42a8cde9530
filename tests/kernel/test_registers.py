"""Sums of products without rounding, against fractions; what rests on them: pocket and votes."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from reference_kernel import gram
from rosenblatt.kernel.registers import exact_votes, rounded_sum, signs_after

EXTREMES = [5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**-1022, 0.0, -0.0, 1.0, 1 + 2.0**-52, 0.1]


def numbers(rng, n):
    """Floats of all sizes, among them such as cancel."""
    kinds = (
        lambda: rng.choice(EXTREMES),
        lambda: float(rng.randrange(-2, 3)),
        lambda: rng.gauss(0, 1) * 10.0 ** rng.randrange(-320, 300),
    )
    return np.array([rng.choice(kinds)() for _ in range(n)])


def total(a, b):
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))


def rounded(x):
    """The nearest float, but that of what is not zero is not zero."""
    try:
        return float(x) or (x > 0) * 5e-324 - (x < 0) * 5e-324
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def test_sums_are_rounded_once():
    for seed in range(300):
        rng = random.Random(seed)
        n = rng.randrange(8)
        a, b = numbers(rng, n), numbers(rng, n)
        assert rounded_sum(a, b) == rounded(total(a, b)), seed
        again = rounded_sum(np.concatenate([a, -a]), np.concatenate([b, b]))
        assert again == 0, seed


def test_signs_after_updates():
    for seed in range(300):
        rng = random.Random(seed)
        n, m = rng.randrange(1, 6), rng.randrange(12)
        coef, values = numbers(rng, n) / 4, numbers(rng, n)
        vector = np.array([rng.randrange(n) for _ in range(m)], dtype=np.int64)
        step = np.array([rng.choice([1.0, -1.0, 0.1, -0.1, 5e-324]) for _ in range(m)])
        now, truth = coef.copy(), []
        for k, change in zip(vector, step, strict=True):
            now[k] += change
            truth.append(total(now, values) > 0)
        assert signs_after(coef, vector, step, values).tolist() == truth, seed


def test_votes_of_sums_that_cancel():
    step = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
    values = np.array([1.0, 2.0**-60, 1.0, 2.0**-60, 5e-324])
    lives = np.array([1, 10, 100, 1000, 10_000])
    # 1, 1 + 2^-60, 2^-60, 0 (counts as negative), 5e-324
    assert exact_votes(step, values, lives, 7) == 1 + 10 + 100 - 1000 + 10_000 - 7


def lattice():
    """Points of a lattice, each many times and with both labels, so that scores cancel."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(60, 2)).astype(float)
    return X, rng.integers(0, 2, size=60)


def judged(K, order, y):
    """Errors of the best vector so far after every epoch, by the definition, in fractions."""
    coef = [0] * len(y)
    best = sum(1 for label in y if label > 0)
    for epoch in order:
        for i in epoch:
            coef[i] += int(y[i])
            scores = [sum(c * K[j][s] for s, c in enumerate(coef) if c) for j in range(len(y))]
            wrong = sum((s > 0) != (label > 0) for s, label in zip(scores, y, strict=True))
            best = min(best, wrong)
        yield best


def test_the_pocket_of_scores_that_cancel():
    X, y = lattice()
    model = rb.KernelPerceptron(
        kernel="gaussian", sigma=0.1, keep="pocket", max_epochs=3, record=True
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    sign = np.where(y == model.classes_[1], 1, -1)
    values = gram(model.kernel_, X).tolist()
    K = [[Fraction(v) for v in row] for row in values]
    trace = model.trace_
    ends = np.cumsum(trace.mistakes)
    epochs = np.split(np.asarray(trace.updates.sample), ends[:-1])
    assert list(judged(K, [e.tolist() for e in epochs], sign)) == list(trace.pocket_errors)

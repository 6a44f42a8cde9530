"""Bounds on rounding, compared with rational numbers on data made to break them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rosenblatt.exact import enclosure
from rosenblatt.exact.enclosure import enclose, enclose_combination, enclosed_floats


def exactly(A, x):
    """``A x`` in rational numbers."""
    numbers = [Fraction(v) for v in x.tolist()]
    return [
        sum((Fraction(a) * v for a, v in zip(row, numbers, strict=True)), Fraction(0))
        for row in A.tolist()
    ]


def cancelling(rng, k, n):
    """Products that cancel to all digits but a few, of all sizes, in any order."""
    A = rng.normal(size=(k, n)) * 2.0 ** rng.integers(-60, 1, (k, n))
    x = rng.normal(size=n) * 2.0 ** rng.integers(-40, 40, n)
    for row in A:
        half = n // 2
        row[half : 2 * half] = -row[:half] * (1 + rng.integers(-2, 3, half) * 2.0**-52)
    x[n // 2 : n // 2 * 2] = x[: n // 2]
    order = rng.permutation(n)
    return A[:, order], x[order]


def mixed(rng, k, n):
    """Numbers of all sizes, down to those below the normal ones."""
    A = rng.normal(size=(k, n)) * 2.0 ** rng.integers(-1070, 1, (k, n)).astype(np.float64)
    return A, rng.normal(size=n) * 2.0 ** rng.integers(-1000, 30, n).astype(np.float64)


def tiny(rng, k, n):
    """Products that are all below the smallest float."""
    return rng.normal(size=(k, n)) * 2.0**-540, rng.normal(size=n) * 2.0**-540


def halfway(rng, k, n):
    """Ones, each with a number half a last digit beside it: every sum is rounded, to even."""
    A = np.where(rng.random((k, n)) < 0.5, 1.0, rng.choice([2.0**-53, -(2.0**-53)], (k, n)))
    return A, 1 + rng.integers(0, 4, n) * 2.0**-52


def upwards(rng, k, n):
    """Every product and every sum loses half a digit, all in the same direction."""
    return np.full((k, n), 1 + 2.0**-52), np.full(n, 1 + 2.0**-52 * (2**26 + 1))


@pytest.mark.parametrize("chunk", [1, 40, 1 << 18])
@pytest.mark.parametrize("make", [cancelling, mixed, tiny, halfway, upwards])
def test_sums_are_within_their_bounds(make, chunk, monkeypatch):
    monkeypatch.setattr(enclosure, "CHUNK", chunk)
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 64, 257):
        A, x = make(rng, 5, n)
        found, bound = enclosure._residual(A, x)
        for one, off, true in zip(found.tolist(), bound.tolist(), exactly(A, x), strict=True):
            assert abs(Fraction(one) - true) <= Fraction(off)


def test_sums_are_bounded_closely():
    """As in twice the precision: where all cancels, some 2⁻⁹⁰ of the terms are in doubt."""
    rng = np.random.default_rng(1)
    for n in (100, 4000):
        A = rng.normal(size=(3, n))
        A, x = np.hstack([A, -A]), np.tile(rng.normal(size=n), 2)
        found, bound = enclosure._residual(A, x)
        assert (np.abs(found) <= bound).all()
        assert (bound <= 2.0**-85 * (np.abs(A) @ np.abs(x))).all()


def systems(rng):
    """Systems that floats have trouble with, of a few unknowns."""
    for k in (1, 2, 5, 9):
        A = rng.normal(size=(k, k))
        yield A, rng.normal(size=(k, 3)), rng.normal(size=3)
        near = A.copy()
        near[-1] = near[0] * (1 + 2.0**-40) + rng.normal(size=k) * 2.0**-40
        yield near, rng.normal(size=(k, 2)), np.ones(2)
        sizes = 2.0 ** rng.integers(-300, 300, k).astype(np.float64)
        yield A * sizes, rng.normal(size=(k, 2)) * 2.0**-200, rng.normal(size=2)
        yield A * sizes[:, np.newaxis], rng.normal(size=(k, 1)), np.array([2.0**-700])
        whole = rng.integers(-3, 4, (k, k)).astype(np.float64)
        yield whole, whole @ rng.integers(-2, 3, (k, 1)).astype(np.float64), np.ones(1)
        # A solution that all but cancels in A x - B t.
        x = rng.normal(size=k)
        yield A, (A @ x)[:, np.newaxis], np.ones(1)


def test_solutions_are_within_their_bounds():
    """Put into the equations, exactly: the error of a bound is the solution of others."""
    rng, shown = np.random.default_rng(2), 0
    for _ in range(20):
        for A, B, t in systems(rng):
            found = enclose_combination(A, B, t)
            if found is None:
                continue
            true = solved(A, exactly(B, t))
            assert true is not None  # None is for what is singular
            shown += 1
            for low, x, high in zip(found[0].tolist(), true, found[1].tolist(), strict=True):
                assert Fraction(low) <= x <= Fraction(high)
            floats = enclosed_floats(A, B, t)
            if floats is not None:
                assert floats.tolist() == [float(x) for x in true]
    assert shown > 300
    assert enclose(np.ones((2, 2)), np.ones(2)) is None


def solved(A, right):
    """The solution of a system by Gaussian elimination in rational numbers; None: singular."""
    rows = [[Fraction(v) for v in row] + [b] for row, b in zip(A.tolist(), right, strict=True)]
    k = len(rows)
    for j in range(k):
        pivot = next((i for i in range(j, k) if rows[i][j]), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(k):
            if i != j and rows[i][j]:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[-1] for row in rows]

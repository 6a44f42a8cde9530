"""Optima in rational numbers and by slow solvers, and what was tampered with."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from sklearn.svm import SVC

import rosenblatt as rb
from rosenblatt.proofs import duality
from rosenblatt.results import Optimum

check, conditions = rb.certify.check, rb.certify.conditions
Plane = rb.Hyperplane


def fractions(values):
    return [Fraction(v) for v in np.asarray(values, dtype=float).tolist()]


def exact_primal(X, y, optimum, s=None):
    """The objective of a soft margin, straight from its definition."""
    w, b, C = fractions(optimum.hyperplane.w), Fraction(optimum.hyperplane.b), Fraction(optimum.C)
    s = fractions(np.ones(len(y)) if s is None else s)
    total = sum(v * v for v in w) / 2
    for x, label, weight in zip(X, y.tolist(), s, strict=True):
        value = sum(a * v for a, v in zip(fractions(x), w, strict=True)) + b
        total += C * weight / sum(s) * max(Fraction(0), 1 - label * value)
    return total


def exact_dual(X, y, rows, alpha):
    """The dual value of multipliers in rational numbers."""
    u = [Fraction(0)] * X.shape[1]
    for i, a in zip(rows, alpha, strict=True):
        u = [v + a * int(y[i]) * x for v, x in zip(u, fractions(X[i]), strict=True)]
    return sum(alpha) - sum(v * v for v in u) / 2


def feasible(y, rows, alpha, c):
    """Multipliers in rational numbers that are feasible, and as near as scaling comes."""
    alpha = [min(a, c[i]) for i, a in zip(rows, fractions(alpha), strict=True)]
    sums_ = {
        side: sum(a for i, a in zip(rows, alpha, strict=True) if y[i] == side) for side in (-1, 1)
    }
    least = min(sums_.values())
    return [a * least / sums_[int(y[i])] for i, a in zip(rows, alpha, strict=True)]


def claimed(plane, support, multipliers, C, X, y, s=None):
    """An optimum that claims what is true."""
    support, multipliers = np.asarray(support), np.asarray(multipliers, dtype=float)
    X, y = X if hasattr(X, "indptr") else np.asarray(X), np.asarray(y)
    problem, theta = duality.Judged(X, y, s, C), np.append(plane.w, plane.b)
    found = duality.prove(problem, theta, support, multipliers, 0.0)
    margin = found.margin
    return Optimum(plane, support, multipliers, C, *found[:3], margin=margin)


def accepted(optimum, X, y, s=None):
    found = check(optimum, X, y, s)
    assert found, found.why
    assert found.why.startswith("proved: no ")
    return found.why


def refused(optimum, X, y, why="", s=None):
    found = check(optimum, X, y, s)
    assert not found, found.why
    assert re.search(why, found.why), found.why
    assert "\n" not in found.why


TWO = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([-1, 1])


# w = 2(x1 - x2)/‖x1 - x2‖², multipliers 2/‖x1 - x2‖²
TWO_BEST = Optimum(Plane([6 / 25, 8 / 25], -1.0), [0, 1], [2 / 25, 2 / 25], None, 2 / 25, 2 / 25)


EIGHT = rb.datasets.eight_points()


EIGHT = EIGHT.X, EIGHT.y


# The nearest points of the hulls are (1, 1) and (-1, -1): the samples 0 and 4.
EIGHT_BEST = Optimum(Plane([0.5, 0.5], 0.0), [0, 4], [0.25, 0.25], None, 0.25, 0.25)


LINE = np.array([[0.0], [2.0], [5.0]]), np.array([-1, 1, 1])


LINE_BEST = Optimum(Plane([1.0], -1.0), [0, 1], [0.5, 0.5], None, 0.5, 0.5)


TWICE = np.array([[0.0], [0.0], [2.0], [2.0], [2.0]]), np.array([-1, -1, 1, 1, 1])


TWICE_BEST = Optimum(
    Plane([1.0], -1.0), [0, 1, 2, 3, 4], [0.2, 0.3, 0.1, 0.15, 0.25], None, 0.5, 0.5
)


def soft_by_svc(X, y, C, s=None):
    """scikit-learn's soft margin; its C is ours divided by N."""
    N = len(y) if s is None else s.sum()
    there = np.arange(len(y)) if s is None else np.flatnonzero(s)  # others confuse its numbers
    weights = None if s is None else s[there]
    model = SVC(kernel="linear", C=C / N, tol=1e-11).fit(X[there], y[there], sample_weight=weights)
    order = np.argsort(model.support_)
    alpha = np.abs(model.dual_coef_[0][order])
    plane = Plane(model.coef_[0], model.intercept_[0])
    rows = there[model.support_[order]]
    return claimed(plane, rows[alpha > 0], alpha[alpha > 0], C, X, y, s)


def noisy(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ np.arange(1, d + 1) + rng.standard_normal(n) > 0, 1, -1)
    return X, y


@st.composite
def problems(draw):
    """Samples, feasible or nearly feasible multipliers, a hyperplane: not optimal at all."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    scale = 10.0 ** rng.integers(-6, 7, d)
    offset = draw(st.sampled_from([0.0, 1.0, 1e3, 1e5, 1e8]))
    X = (rng.standard_normal((n, d)) + offset) * scale
    y = rng.permutation(np.append([-1, 1], rng.choice([-1, 1], n - 2)))
    s = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.01]))
    C = float(10.0 ** rng.integers(-3, 6))
    total = n if s is None else s.sum()
    alpha = rng.random(n) * C * (np.ones(n) if s is None else s) / total
    w = rng.standard_normal(d) / scale
    plane = Plane(w, rng.standard_normal() - w @ X.mean(axis=0))
    return X, y, s, C, alpha, plane


def soft_example():
    X, y = noisy()
    return soft_by_svc(X, y, 30.0), X, y


def hard_example():
    X, y, _ = separated()
    return hard_by_svc(X, y), X, y


def separated(n=60, d=3, seed=0, gap=0.5):
    """Samples at least `gap` from a hyperplane."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    y = np.where(X @ w > 0, 1, -1)
    return X + gap * y[:, None] * w, y, w


def canonical(plane, X, y):
    smallest = (y * (X @ plane.w + plane.b)).min()
    return Plane(plane.w / smallest, plane.b / smallest)


def hard_by_svc(X, y):
    soft = soft_by_svc(X, y, 1e6 * len(y))
    plane = canonical(soft.hyperplane, X, y)
    return claimed(plane, soft.support, soft.multipliers, None, X, y)


def nudged(optimum, X, y, by=1e-6):
    """Optima that claim what is not so, and what is to be said of them."""
    plane, rows, alpha = optimum.hyperplane, optimum.support, optimum.multipliers
    free = next(i for i in range(len(y)) if i not in rows and y[i] == y[rows[0]])
    moved = np.sort(np.append(rows[1:], free))
    order = np.argsort(np.append(rows[1:], free))
    yield replace(optimum, support=moved, multipliers=np.append(alpha[1:], alpha[0])[order]), "dual"
    yield replace(optimum, support=rows[1:], multipliers=alpha[1:]), "dual|one class"
    yield replace(optimum, multipliers=alpha[::-1]), "dual|exceeds its bound"
    yield replace(optimum, primal=optimum.primal * (1 - by)), "primal value is"
    yield replace(optimum, primal=optimum.primal * (1 + by)), "primal value is"
    yield replace(optimum, dual=optimum.dual + by * optimum.primal), "dual value is at most"
    w = plane.w * np.append(1 + by, np.ones(len(plane.w) - 1))
    yield replace(optimum, hyperplane=Plane(w, plane.b)), "primal value|canonical"
    yield replace(optimum, hyperplane=Plane(-plane.w, -plane.b)), "primal value|wrong side"

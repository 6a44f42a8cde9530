"""Certificates made by hand, right ones and ones that were tampered with."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from rosenblatt import certify
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
)

check = certify.check

with np.errstate(over="ignore"):  # where it is no longer than a double
    HUGE = np.longdouble(2.0) ** 1100


EPS = np.longdouble(2.0**-60)


def signed(X, y):
    return np.hstack([X, np.ones((len(X), 1))]) * y[:, None]


def rank(rows):
    """Over the rationals, one row at a time."""
    basis = []
    for row in rows:
        rest = [Fraction(v) for v in row]
        for pivot, b in basis:
            factor = rest[pivot] / b[pivot]
            rest = [v - factor * u for v, u in zip(rest, b, strict=True)]
        pivot = next((j for j, v in enumerate(rest) if v), None)
        if pivot is not None:
            basis.append((pivot, rest))
    return len(basis)


def spread(rng, X, y, size):
    """The same samples among `size` others, in random order; and where they went."""
    extra = rng.integers(-9, 10, (size, X.shape[1])).astype(float)
    order = rng.permutation(len(X) + size)
    where = np.argsort(order)[: len(X)]
    everything = np.vstack([X, extra])[order]
    labels = np.append(y, rng.choice([-1, 1], size))[order]
    return everything, labels, where


def shares(weights, y):
    """Weights scaled to sum 1 in each class."""
    return weights / weights[y > 0].sum()


def mean(X, y, certificate):
    """Of the support in the second class."""
    positive = y[certificate.support] > 0
    return certificate.weights[positive] @ X[certificate.support[positive]]


def inseparable(X, y, support, weights, spanning=None, spanning_weights=None):
    """A certificate with its samples put in ascending order."""
    order = np.argsort(support)
    S, w = support[order], shares(weights, y[support])[order]
    if spanning is None:
        spanning, spanning_weights = support, weights
    there = np.argsort(spanning)
    plus = y[S] > 0
    return Inseparable(S, w, w[plus] @ X[S[plus]], spanning[there], spanning_weights[there])


@st.composite
def meetings(draw, most=5):
    """Integer samples of both classes whose hulls meet, d + 2 of them, weights known."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, most))
    ahead = draw(st.integers(1, d + 1))
    a = rng.integers(1, 6, ahead)
    b = rng.integers(1, 6, d + 2 - ahead)
    # Equal sums, and a last weight of 1, which keeps the last point an integer.
    a[0] += max(0, b.sum() - a.sum())
    b[0] += a.sum() - b.sum()
    b[-1], X = 1 if len(b) > 1 else b[-1], rng.integers(-9, 10, (d + 2, d))
    if len(b) > 1:
        b[0] += a.sum() - b.sum()
        X[-1] = a @ X[:ahead] - b[:-1] @ X[ahead:-1]
    else:
        X[:ahead] *= b[0]
        X[-1] = a @ X[:ahead] // b[0]
    X = X.astype(float)
    y = np.append(np.ones(ahead), -np.ones(d + 2 - ahead))
    weights = np.append(a, b).astype(float)
    assert not (weights @ signed(X, y)).any()
    assume(rank(signed(X, y)) == d + 1)
    everything, labels, where = spread(rng, X, y, draw(st.integers(0, 12)))
    return everything, labels, inseparable(everything, labels, where, weights)


def quasi_from(X, y, certificate, rng):
    """One more column: 0 so far, and not 0 for new samples, with the sign of their class."""
    m = int(rng.integers(1, 5))
    classes = rng.choice([-1.0, 1.0], m)
    new = np.hstack(
        [rng.integers(-9, 10, (m, X.shape[1])), (classes * rng.integers(1, 4, m))[:, None]]
    )
    return (
        np.vstack([np.hstack([X, np.zeros((len(X), 1))]), new]),
        np.append(y, classes),
        QuasiSeparable(
            certificate.support,
            certificate.weights,
            np.append(certificate.point, 0.0),
            Hyperplane(np.append(np.zeros(X.shape[1]), 1.0), 0.0),
            np.arange(len(X)),
            certificate.spanning_support,
            certificate.spanning_weights,
        ),
    )


@st.composite
def touchings(draw):
    """Quasi-separable samples with their certificate."""
    X, y, certificate = draw(meetings(most=4))
    return quasi_from(X, y, certificate, np.random.default_rng(draw(st.integers(0, 99))))


@st.composite
def separations(draw):
    """Integer samples strictly on their sides of a hyperplane."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, 5))
    w = rng.integers(-3, 4, d).astype(float)
    w[0] = draw(st.sampled_from([-2.0, 1.0]))
    X = rng.integers(-9, 10, (30, d)).astype(float)
    values = X @ w + 1
    X, y = X[values != 0], np.sign(values[values != 0])
    assume(len(set(y)) == 2)
    margin = float(np.abs(values[values != 0]).min() / np.linalg.norm(w))
    return X, y, Separable(Hyperplane(w, 1.0), margin)


def with_field(certificate, name, value):
    """A certificate with a field as it is, not converted by the constructor."""
    other = replace(certificate)
    object.__setattr__(other, name, value)
    return other


def bent(values, i, factor):
    changed = np.array(values)
    changed[i] *= factor
    return changed


def without(values, i):
    return np.delete(values, i)


def tampered_weights(c, rows, weights):
    """Every way to spoil samples and their weights, named by their fields."""
    S, w = getattr(c, rows), getattr(c, weights)
    k = len(S)
    slight = 1 + (1e-6 if weights == "weights" else 1e-4)
    for i in range(k):
        yield f"{weights} bent", replace(c, **{weights: bent(w, i, slight)})
        yield f"{rows} dropped", replace(c, **{rows: without(S, i), weights: without(w, i)})
        yield f"{rows} dropped, not its weight", replace(c, **{rows: without(S, i)})
        yield f"{weights} dropped", replace(c, **{weights: without(w, i)})
        for j in range(i):
            order = np.arange(k)
            order[[i, j]] = j, i
            if w[i] != w[j]:
                yield f"{weights} swapped", replace(c, **{weights: w[order]})
            yield f"{rows} swapped", replace(c, **{rows: S[order], weights: w[order]})
    for factor in (0.0, -1.0, np.nan, np.inf):
        yield f"{weights} times {factor}", replace(c, **{weights: bent(w, 0, factor)})
        yield f"{weights} times {factor}", replace(c, **{weights: bent(w, k - 1, factor)})
    yield f"{rows} empty", replace(c, **{rows: [], weights: []})
    yield f"{rows} below 0", replace(c, **{rows: S - S[-1] - 1})
    yield f"{rows} too large", replace(c, **{rows: S + 10**6})
    yield f"{rows} repeated", replace(c, **{rows: [S[0], *S], weights: [w[0], *w]})
    yield f"{rows} floats", with_field(c, rows, S.astype(float))
    yield f"{rows} list", with_field(c, rows, S.tolist())
    yield f"{rows} matrix", with_field(c, rows, S[None])
    yield f"{weights} text", with_field(c, weights, w.astype(str))
    yield f"{weights} none", with_field(c, weights, None)


def tampered_support(c, X, y):
    """What nobody may do to support, weights and point."""
    yield from tampered_weights(c, "support", "weights")
    yield "scaled", replace(c, weights=2 * c.weights)
    sizes = np.abs(X[c.support]).max(axis=0)
    for j in np.flatnonzero(sizes):
        point = np.array(c.point)
        point[j] += 1e-6 * sizes[j]
        yield "point", replace(c, point=point)
    yield "point nan", replace(c, point=np.full(X.shape[1], np.nan))
    yield "point short", replace(c, point=np.append(c.point, 0.0))
    outside = np.setdiff1d(np.arange(len(X)), c.support)
    if outside.size:
        S = np.append(c.support, outside[0])
        w = np.append(c.weights, 1e-12)
        yield "added", replace(c, support=np.sort(S), weights=w[np.argsort(S)])


def reject(cases, X, y):
    seen = 0
    for name, certificate in cases:
        result = check(certificate, X, y)
        assert not result, name
        assert result.valid is False
        assert result.why
        assert "\n" not in result.why
        seen += 1
    assert seen

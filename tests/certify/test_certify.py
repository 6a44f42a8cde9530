"""Certificates made by hand: valid ones are accepted, and none that was tampered with."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array

import rosenblatt as rb
from rosenblatt import certify
from rosenblatt.certify import checking
from rosenblatt.exact import solve
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)

check = certify.check

EPS = np.longdouble(2.0**-60)
with np.errstate(over="ignore"):  # where it is no longer than a double
    HUGE = np.longdouble(2.0) ** 1100


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


class TestInseparable:
    @given(meetings())
    def test_valid(self, case):
        X, y, certificate = case
        result = check(certificate, X, y)
        assert result.valid, result.why
        k = len(certificate.support)
        assert result.why == (
            f"proved: the convex hulls of {k} samples meet, and {k} that cancel span all {len(X)}"
        )

    @given(meetings(most=4))
    def test_tampered(self, case):
        X, y, certificate = case
        reject(tampered_support(certificate, X, y), X, y)
        reject(tampered_weights(certificate, "spanning_support", "spanning_weights"), X, y)
        flipped = with_flipped(y, certificate.support[0])
        if len(set(flipped)) == 2:
            reject([("labels", certificate)], X, flipped)
        moved = X.copy()
        moved[certificate.support[0]] += 1
        reject([("sample", certificate)], moved, y)

    @given(meetings(), st.floats(1e-8, 1e8))
    def test_spanning_weights_may_have_any_scale(self, case, scale):
        X, y, certificate = case
        scaled = replace(certificate, spanning_weights=scale * certificate.spanning_weights)
        assert check(scaled, X, y)

    @given(meetings())
    def test_shifted_samples_are_others(self, case):
        X, y, certificate = case
        X, y = np.vstack([X, X[:1] + 0.5]), np.append(y, -y[0])
        shifted = replace(certificate, support=certificate.support + 1)
        truth = (
            rank(signed(X, y)[shifted.support]) == len(shifted.support) - 1
            and not (np.abs(shifted.weights @ signed(X, y)[shifted.support]) > 1e-9).any()
            and np.allclose(mean(X, y, shifted), shifted.point, rtol=0, atol=1e-9)
        )
        assert check(shifted, X, y).valid == truth

    def test_xor(self):
        X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
        y = np.array(["even", "even", "odd", "odd"])
        half = np.full(4, 0.5)
        certificate = Inseparable(range(4), half, [0.5, 0.5], range(4), half)
        assert check(certificate, X, y)
        assert certify.exact_weights(certificate, X, y) == (Fraction(1, 2),) * 4

    def test_identical_samples_in_a_plane(self):
        # Rank 2 in three dimensions: the spanning samples need not span what no sample does.
        X = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
        y = [0, 0, 1, 1, 1]
        certificate = Inseparable([0, 2], [1, 1], [1, 1], [0, 1, 2, 3], [1, 2, 1, 2])
        assert check(certificate, X, y)
        reject(
            [("rank 1", replace(certificate, spanning_support=[0, 2], spanning_weights=[1, 1]))],
            X,
            y,
        )
        off = X.copy()
        off[4, 1] = np.nextafter(5, 6)
        assert check(certificate, off, y).why == (
            "the spanning support does not span all samples that it should"
        )
        many = np.vstack([off, off])
        assert not check(certificate, many, y + y)
        assert check(certificate, np.vstack([X, X]), y + y)

    def test_collinear_samples(self):
        X = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 6.0]])
        y = np.array([1, -1, 1])
        w = [0.5, 1.0, 0.5]
        certificate = Inseparable([0, 1, 2], w, [1.0, 3.0], [0, 1, 2], w)
        assert check(certificate, X, y)
        X[1, 1] = np.nextafter(3, 4)
        assert check(certificate, X, y).why == "the weights of the support do not cancel"

    def test_a_support_that_is_not_minimal(self):
        X = np.array([[0.0], [1.0], [2.0], [1.0]])
        y = np.array([1, -1, 1, 1])
        certificate = Inseparable([0, 1, 2, 3], [0.3, 1.0, 0.3, 0.4], [1.0], [0, 1, 2], [1, 2, 1])
        assert "not minimal" in check(certificate, X, y).why
        X = np.hstack([X, [[0.0], [0.0], [0.0], [0.0]]])
        certificate = replace(certificate, point=[1.0, 0.0])
        assert "not unique" in check(certificate, X, y).why
        minimal = replace(certificate, support=[1, 3], weights=[1.0, 1.0])
        assert check(minimal, X, y)

    def test_weights_that_cancel_with_other_signs_only(self):
        X = np.array([[0.0], [1.0], [2.0]])
        certificate = Inseparable([0, 1, 2], [0.5, 0.5, 1.0], [0.5], [0, 1, 2], [1, 1, 2])
        assert check(certificate, X, [1, 1, -1]).why == (
            "the weights of the support cancel only with other signs"
        )

        with pytest.raises(ValueError, match="cancel only with other signs"):
            certify.exact_weights(certificate, X, [1, 1, -1])
        flat = np.hstack([X, X])
        same = replace(certificate, point=[0.5, 0.5])
        assert check(same, flat, [1, 1, -1]).why == (
            "the weights of the support cancel only with other signs"
        )

    def test_a_support_of_one_class(self):
        X, y = np.array([[0.0], [1.0], [0.0], [5.0]]), [0, 0, 1, 1]
        certificate = Inseparable([0, 2], [1, 1], [0.0], [0, 1, 2], [1, 1, 1])
        assert check(replace(certificate, support=[0, 1]), X, y).why == (
            "the support has samples of one class only"
        )
        assert check(replace(certificate, support=range(4), weights=np.ones(4)), X, y).why == (
            "the support is not minimal: it has more than d + 2 samples"
        )

    def test_another_verdict(self):
        X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), [0, 0, 1, 1]
        four = np.ones(4)
        certificate = Inseparable([0, 2], [1, 1], [0.0], range(4), four)
        assert check(certificate, X, y)
        assert not check(with_field(certificate, "verdict", Verdict.QUASI_SEPARABLE), X, y)
        # Every sample lies on a "hyperplane" without a direction.
        quasi = QuasiSeparable([0, 2], [1, 1], [0.0], Hyperplane([0.0]), range(4), range(4), four)
        assert check(quasi, X, y).why == "all samples lie on the hyperplane"

    def test_negative_weights_among_spanning_ones(self):
        X, y = np.array([[0.0], [2.0], [1.0], [0.0]]), [1, 1, -1, -1]
        certificate = Inseparable([0, 3], [1, 1], [0.0], range(4), [1.5, 1.0, 2.0, 0.5])
        assert check(certificate, X, y)
        negative = replace(certificate, spanning_weights=[0.5, 1.0, 2.0, -0.5])
        assert not (negative.spanning_weights @ signed(X, np.array(y))).any()
        assert "not positive numbers" in check(negative, X, y).why
        assert not check(with_field(certificate, "point", certificate.point[None]), X, y)

    def test_more_spanning_samples_than_needed(self):
        X = np.zeros((3, 0))
        certificate = Inseparable([0, 1], [1, 1], [], [0, 1, 2], [1.0, 2.0, 1.0])
        assert "more samples than it needs" in check(certificate, X, [0, 1, 0]).why
        assert check(
            replace(certificate, spanning_support=[0, 1], spanning_weights=[1, 1]), X, [0, 1, 0]
        )


def with_flipped(y, i):
    flipped = np.array(y)
    flipped[i] *= -1
    return flipped


def radon(rng, d):
    """d + 2 random points, labelled by the signs of their only affine relation."""
    X = rng.standard_normal((d + 2, d))
    z = np.hstack([X, np.ones((d + 2, 1))])
    relation = np.append(np.linalg.solve(z[:-1].T, -z[-1]), 1.0)
    y = np.sign(relation)
    return X, y, inseparable(X, y, np.arange(d + 2), np.abs(relation))


class TestManyFeatures:
    @pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
    def test_radon_points(self, scale):
        rng = np.random.default_rng(0)
        X, y, certificate = radon(rng, 60)
        columns = np.where(rng.random(60) < 0.5, scale, 1.0)
        X = X * columns
        weights = np.array([float(w) for w in certify.exact_weights(certificate, X, y)])
        certificate = inseparable(X, y, np.arange(62), weights)
        assert check(certificate, X, y)
        assert check(certificate, csr_array(X), y)
        for i in (0, 30, 61):
            assert not check(replace(certificate, weights=bent(weights, i, 1 + 1e-6)), X, y)
            assert not check(replace(certificate, spanning_weights=bent(weights, i, 1.001)), X, y)
        assert not check(certificate, X, with_flipped(y, 5))

    def test_no_long_arithmetic_where_floats_suffice(self, monkeypatch):
        X, y, certificate = radon(np.random.default_rng(1), 80)
        monkeypatch.setattr(checking, "solve", lambda *_, **__: pytest.fail("solved in integers"))
        assert check(certificate, X, y)

    def test_both_ways_agree(self, monkeypatch):
        X, y, certificate = radon(np.random.default_rng(2), 12)
        assert check(certificate, X, y)
        monkeypatch.setattr(checking, "enclose", lambda *_: None)
        monkeypatch.setattr(checking, "enclose_combination", lambda *_: None)
        assert check(certificate, X, y)
        reject(tampered_support(certificate, X, y), X, y)
        reject(tampered_weights(certificate, "spanning_support", "spanning_weights"), X, y)

    def test_one_hot_columns_depend_on_the_bias(self):
        rng = np.random.default_rng(3)
        group = rng.integers(0, 4, 400)
        X = np.hstack([np.eye(4)[group], rng.integers(0, 2, (400, 2)).astype(float)])
        cells = {}
        for i, row in enumerate(X.tolist()):
            cells.setdefault(tuple(row), []).append(i)
        y = rng.choice([-1, 1], 400)
        both = [(min(r), max(r)) for r in cells.values() if len(r) > 1]
        for a, b in both:
            y[a], y[b] = -1, 1
        T = np.sort([i for pair in both[:6] for i in pair])
        assert rank(signed(X, y)[T]) == rank(signed(X, y)) == 6
        S = np.sort(both[0])
        certificate = Inseparable(S, [1, 1], X[S[0]], T, np.ones(len(T)))
        assert check(certificate, X, y)
        assert check(certificate, csr_array(X), y)
        X[np.setdiff1d(np.arange(400), T)[7], 0] += 1
        assert "does not span" in check(certificate, X, y).why
        assert "does not span" in check(certificate, csr_array(X), y).why


class TestQuasiSeparable:
    @given(touchings())
    def test_valid(self, case):
        X, y, certificate = case
        result = check(certificate, X, y)
        assert result.valid, result.why
        assert result.why.startswith(f"proved: {len(X) - len(certificate.on)} of {len(X)} samples")

    @given(touchings())
    def test_tampered(self, case):
        X, y, c = case
        n, m = len(X), len(c.on)
        w, b = c.hyperplane.w, c.hyperplane.b
        reject(tampered_support(c, X, y), X, y)
        reject(tampered_weights(c, "spanning_support", "spanning_weights"), X, y)
        shifted = np.array(w)
        shifted[0] = 1e-300
        cases = [
            ("w turned", replace(c, hyperplane=Hyperplane(-w, b))),
            ("w moved", replace(c, hyperplane=Hyperplane(shifted, b)) if X[:m, 0].any() else None),
            ("b moved", replace(c, hyperplane=Hyperplane(w, 5e-324))),
            ("w zero", replace(c, hyperplane=Hyperplane(0 * w, 0.0))),
            ("w longer", replace(c, hyperplane=Hyperplane(np.append(w, 0.0), b))),
            ("on less", replace(c, on=c.on[1:])),
            ("on more", replace(c, on=np.append(c.on, n - 1))),
            ("on all", replace(c, on=np.arange(n))),
            ("on none", replace(c, on=[])),
            ("on turned", replace(c, on=c.on[::-1])),
            ("on floats", with_field(c, "on", c.on.astype(float))),
            ("on and off swapped", replace(c, on=np.arange(m, n))),
            ("spanning off", with_sample(c, n - 1)),
        ]
        reject([case for case in cases if case[1] is not None], X, y)
        reject([("labels", c)], X, with_flipped(y, n - 1))

    def test_half_of_the_plane(self):
        # One-hot columns: the class of the third is always 1, the others are mixed.
        group = np.array([0, 0, 1, 1, 2, 2])
        X = np.eye(3)[group]
        y = np.array([0, 1, 0, 1, 1, 1])
        four = np.ones(4)
        certificate = QuasiSeparable(
            [0, 1], [1, 1], X[0], Hyperplane([0.0, 0.0, 1.0], 0.0), range(4), range(4), four
        )
        assert check(certificate, X, y)
        assert check(replace(certificate, hyperplane=Hyperplane([-1.0, -1.0, 0.0], 1.0)), X, y)
        assert not check(with_field(certificate, "verdict", Verdict.INSEPARABLE), X, y)
        five = replace(certificate, spanning_support=range(5), spanning_weights=np.ones(5))
        assert check(five, X, y).why == (
            "the spanning support has samples that are not on the hyperplane"
        )
        # A hyperplane with more on it than need be cannot be passed off as one with the fewest.
        more = replace(certificate, on=range(2), spanning_support=range(2), spanning_weights=[1, 1])
        assert not check(more, X, y)
        assert (
            "spanning support"
            in check(
                replace(certificate, spanning_support=range(2), spanning_weights=[1, 1]), X, y
            ).why
        )

    def test_exact_hyperplane(self):
        # Two places on it, whose difference is not a float.
        X = np.array([[0.0, 0.1], [0.0, 0.1], [1.0, 3.1], [1.0, 3.1], [1.0, 2.1]])
        y = np.array([0, 1, 0, 1, 1])
        step = Fraction(X[2, 1]) - Fraction(X[0, 1])
        exact = (step, Fraction(-1), Fraction(X[0, 1]))
        hyperplane = Hyperplane([float(step), -1.0], X[0, 1])
        four = np.ones(4)
        certificate = QuasiSeparable(
            [0, 1], [1, 1], X[0], hyperplane, range(4), range(4), four, exact
        )
        assert check(certificate, X, y)
        nudged = (step + Fraction(1, 10**40), *exact[1:])
        assert check(replace(certificate, exact=nudged), X, y).why.startswith("sample 2 lies")
        assert not check(replace(certificate, exact=tuple(2 * v for v in exact)), X, y)
        assert not check(replace(certificate, exact=exact[1:]), X, y)
        assert not check(replace(certificate, exact=(*exact, Fraction(0))), X, y)
        assert not check(replace(certificate, exact=list(exact)), X, y)
        assert not check(replace(certificate, exact=tuple(map(str, exact))), X, y)


def with_sample(c, i):
    """The certificate with one more spanning sample, of a weight like the others."""
    return replace(
        c,
        spanning_support=np.append(c.spanning_support, i),
        spanning_weights=np.append(c.spanning_weights, 1.0),
    )


class TestSeparable:
    @given(separations(), st.sampled_from([1.0, 2.0**-400, 2.0**400]))
    def test_valid(self, case, scale):
        X, y, certificate = case
        result = check(certificate, X, y)
        assert result.why == f"proved: all {len(X)} samples lie strictly on their sides"
        assert result.valid
        w, b = certificate.hyperplane.w, certificate.hyperplane.b
        assert check(replace(certificate, hyperplane=Hyperplane(w * scale, b * scale)), X, y)
        small = replace(
            certificate, hyperplane=Hyperplane(w, b * scale), margin=certificate.margin * scale
        )
        assert check(small, X * scale, y)

    @given(separations())
    def test_tampered(self, case):
        X, y, c = case
        w, b = c.hyperplane.w, c.hyperplane.b
        through = Hyperplane(w, -float(X[0] @ w))
        cases = [
            ("turned", replace(c, hyperplane=Hyperplane(-w, -b))),
            ("w turned", replace(c, hyperplane=Hyperplane(-w, b))),
            ("through a sample", replace(c, hyperplane=through)),
            ("margin", replace(c, margin=c.margin * (1 + 1e-6))),
            ("margin 0", replace(c, margin=0.0)),
            ("margin nan", replace(c, margin=float("nan"))),
            ("margin negative", replace(c, margin=-c.margin)),
            ("margin text", replace(c, margin="1")),
            ("margin none", replace(c, margin=None)),
            ("longer", replace(c, hyperplane=Hyperplane(np.append(w, 0.0), b))),
            ("array", replace(c, hyperplane=np.append(w, b))),
            ("verdict", with_field(c, "verdict", Verdict.INSEPARABLE)),
        ]
        reject(cases, X, y)
        flipped = with_flipped(y, 0)
        reject([("labels", c)], X, flipped if len(set(flipped)) == 2 else -y)
        reject([("classes", c)], X, np.where(y > 0, "a", "b"))

    def test_says_where(self):
        X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 1]
        on = Separable(Hyperplane([1.0], -2.0), 1.0)
        assert check(on, X, y).why == "sample 1 lies on the hyperplane"
        wrong = Separable(Hyperplane([1.0], -2.5), 0.5)
        assert check(wrong, X, y).why == "sample 1 lies on the wrong side"
        margin = Separable(Hyperplane([1.0], -1.5), 0.25)
        assert check(margin, X, y).why == "the margin is 0.5, not 0.25"

    def test_between_neighbouring_floats(self):
        X, y = np.array([[1.0], [1.0 + 2**-52]]), [0, 1]
        for b in (-1.0, -(1.0 + 2**-52)):
            assert not check(Separable(Hyperplane([1.0], b), 2**-53), X, y)
        exact = (Fraction(1), -1 - Fraction(1, 2**53))
        certificate = Separable(Hyperplane([1.0], float(exact[1])), 2.0**-53, exact)
        assert check(certificate, X, y)
        assert not check(replace(certificate, exact=None), X, y)
        assert not check(replace(certificate, hyperplane=Hyperplane([1.0], -1.0 - 1e-9)), X, y)


class TestWhatIsGiven:
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [4.0, 1.0]])
    y = np.array([0, 1, 0, 1])
    certificate = Separable(Hyperplane([1.0, 0.0], -1.0), 1.0)

    @pytest.mark.parametrize(
        "kind",
        [
            np.float32,
            np.float16,
            np.int8,
            np.uint64,
            ">f8",
            ">i4",
            np.longdouble,
            object,
            np.asfortranarray,
            pd.DataFrame,
            lambda X: pd.DataFrame(X).astype("Int64"),
            lambda X: X.tolist(),
            csr_array,
            coo_array,
            lambda X: csr_array(X.astype(np.float32)),
        ],
    )
    def test_matrices_of_all_kinds(self, kind):
        X = kind(self.X) if callable(kind) and not isinstance(kind, type) else None
        if X is None:
            is_type = isinstance(kind, str) or kind is object or issubclass(kind, np.generic)
            X = self.X.astype(kind) if is_type else kind(self.X)
        assert check(self.certificate, X, self.y)
        assert not check(self.certificate, X, 1 - self.y)

    def test_booleans(self):
        certificate = Separable(Hyperplane([1.0], -0.5), 0.5)
        assert check(certificate, np.array([[True], [False]]), [True, False])
        assert check(certificate, csr_array(np.array([[True], [False]])), [True, False])

    def test_duplicate_entries_of_a_sparse_matrix_are_added_up(self):
        X = csr_array(([1.0, 1.0, 4.0], ([0, 0, 1, 1])[:3], [0, 2, 3]), shape=(2, 2))
        X.indices[:] = [0, 0, 0]
        given_data = X.data.copy()
        certificate = Separable(Hyperplane([1.0, 0.0], -3.0), 1.0)
        assert check(certificate, X, [0, 1])
        np.testing.assert_array_equal(X.data, given_data)

    @pytest.mark.parametrize("labels", [["a", "b", "a", "b"], [-1, 1, -1, 1], [False, True] * 2])
    def test_labels_of_all_kinds(self, labels):
        assert check(self.certificate, self.X, labels)
        assert check(self.certificate, self.X, pd.Series(labels, index=[9, 8, 7, 6]))

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            ([[1.0], [np.nan]], [0, 1], "X contains NaN or infinite values"),
            ([[1.0], [None]], [0, 1], "X contains NaN or infinite values"),
            (csr_array([[1.0], [np.inf]]), [0, 1], "X contains NaN or infinite values"),
            ([[1.0], [2.0]], [0, 0], "y has 1 class: give exactly two"),
            ([[1.0], [2.0], [3.0]], [0, 1, 2], "y has 3 classes: give exactly two"),
            ([[1.0], [2.0]], [0, 1, 1], "y has 3 samples but X has 2 rows"),
            ([[1.0], [2.0]], [[0], [1]], r"y has shape \(2, 1\)"),
            ([[1.0], [2.0]], [0, np.nan], "y contains NaN"),
            ([[1.0], [2.0]], np.array(["a", None], dtype=object), "y has labels that cannot be"),
            ([1.0, 2.0], [0, 1], r"X has shape \(2,\)"),
            (np.zeros((0, 2)), [], r"X has shape \(0, 2\)"),
            ([["a"], ["b"]], [0, 1], "X holds text: give numbers"),
            (np.array([["1"], [2]], dtype=object), [0, 1], "X holds the text '1': give numbers"),
            (np.array([["x"], [2]], dtype=object), [0, 1], "X holds the text 'x': give numbers"),
            ([[1j], [2]], [0, 1], "X holds complex numbers"),
            ([[2**53 + 1], [0]], [0, 1], "X holds 9007199254740993, which no float is equal to"),
            ([[2**70 + 1], [0]], [0, 1], "X holds 1180591620717411303425, which no float is equal"),
            ([[10**400], [0]], [0, 1], "X holds 10{56}.*, which no float is equal to"),
            ([[2**53 + 1], [0.5]], [0, 1], "which no float is equal to"),
            ([[Fraction(1, 3)], [1]], [0, 1], "which no float is equal to"),
            ([[Decimal("0.1")], [1]], [0, 1], "which no float is equal to"),
            ([[np.int64(2**53 + 1)], [Decimal(1)]], [0, 1], "which no float is equal to"),
            (coo_array([[2**53 + 1], [0]]), [0, 1], "which no float is equal to"),
        ],
    )
    def test_unusable_data(self, X, y, message):
        with pytest.raises(ValueError, match=message) as error:
            check(self.certificate, X, y)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("number", [Fraction, Decimal, np.longdouble, np.int64])
    def test_other_numbers_that_are_floats(self, number):
        X = np.array([[number(int(v)) for v in row] for row in self.X], dtype=object)
        assert check(self.certificate, X, self.y)

    @pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="longdouble is float64 here")
    @pytest.mark.parametrize("X", [[[1.0], [1 + EPS]], [[0.0], [HUGE]], [[0.0], [1 / HUGE]]])
    def test_long_doubles_are_not_rounded(self, X):
        with pytest.raises(ValueError, match="which no float is equal to"):
            check(self.certificate, np.array(X, np.longdouble), [0, 1])

    @pytest.mark.parametrize("kind", [csr_array, coo_array, csc_array])
    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32])
    def test_entries_given_twice_do_not_overflow(self, kind, dtype):
        data = np.array([120, 120, 20, 20, 1, 90], dtype=dtype)
        X = csr_array((data, [0] * 6, [0, 4, 6]), shape=(2, 1))
        X = X if kind is csr_array else kind(X)
        assert check(Separable(Hyperplane([1.0], -185.5), 94.5), X, [1, 0])
        np.testing.assert_array_equal(X.data, data)

    def test_long_integers_that_are_floats(self):
        certificate = Separable(Hyperplane([1.0], -1.0), 1.0)
        assert check(certificate, np.array([[2**60], [0]]), [1, 0])

    @pytest.mark.parametrize(
        "thing", [None, 1, "separable", Verdict.SEPARABLE, Hyperplane([1.0, 0.0])]
    )
    def test_no_certificate_at_all(self, thing):
        assert "is not a certificate" in check(thing, self.X, self.y).why

    def test_undecided_proves_nothing(self):
        result = check(Undecided((-1.0, 1.0)), self.X, self.y)
        assert (result.valid, result.why) == (
            False,
            "undecided: nothing is claimed, so nothing is proved",
        )


RUBBISH = [
    None,
    0,
    1.5,
    math.nan,
    math.inf,
    10**400,
    "text",
    b"x",
    True,
    [],
    (),
    (1.0, 2.0, 3.0),
    (Fraction(1), "x", None),
    (Fraction(10) ** 400,) * 3,
    {},
    object(),
    1j,
    Fraction(1, 3),
    Verdict.UNDECIDED,
    Hyperplane([0.0, 0.0], 1.0),
    Hyperplane([1.0], 1.0),
    np.array(1.0),
    np.array([]),
    np.array([], int),
    np.array([1, 2], object),
    np.array(["a", "b"]),
    np.array([1j, 2]),
    np.array([[1.0, 2.0]]),
    np.array([np.nan, 1.0]),
    np.array([np.inf, 1.0]),
    np.array([True, False]),
    np.array([1, 2], "M8[s]"),
    np.array([1, 2], np.longdouble),
    np.array([0, 2**64 - 1], np.uint64),
    np.array([1e308, 1e308]),
    np.array([5e-324, 5e-324]),
    np.array([0.0, 0.0]),
    np.array([-1, 1]),
    np.arange(100),
    np.ma.array([1.0, 2.0], mask=[0, 1]),
]


def forged(number):
    """A fraction past its constructor."""
    fraction = Fraction(1, 2)
    fraction._numerator, fraction._denominator = number, 0
    return fraction


class TestForged:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])
    cases = (
        (X[:2], [0, 1], Separable(Hyperplane([1.0, 1.0], -1.0), 0.5**0.5)),
        (
            X,
            [0, 0, 1, 1, 1],
            Inseparable([0, 1, 2, 3], [0.5] * 4, [0.5, 0.5], [0, 1, 2, 3], [1] * 4),
        ),
        (
            X[[0, 2, 2, 1]],
            [0, 0, 1, 1],
            QuasiSeparable([1, 2], [1, 1], X[2], Hyperplane([1.0, 0.0]), [0, 1, 2], [1, 2], [1, 1]),
        ),
    )

    @pytest.mark.parametrize("thing", [*RUBBISH, (forged(1),) * 3, (forged("a"),) * 3])
    def test_no_rubbish_in_any_field_is_an_error(self, thing):
        for X, y, certificate in self.cases:
            for name in vars(certificate):
                result = check(with_field(certificate, name, thing), X, y)
                assert "\n" not in result.why
                assert not result or (name.startswith("exact") and thing is None)
            if hasattr(certificate, "hyperplane"):
                for name in ("w", "b"):
                    plane = with_field(certificate.hyperplane, name, thing)
                    assert not check(with_field(certificate, "hyperplane", plane), X, y)

    def test_missing_fields(self):
        for X, y, certificate in self.cases:
            for name in vars(certificate):
                other = replace(certificate)
                object.__delattr__(other, name)
                optional = name.startswith("exact")
                assert optional or check(other, X, y).why == f"{name} is missing"


class TestPrimes:
    """Numbers made of the primes that elimination once took, which these made look like 0."""

    primes = (84886727, 84886717, 84886699, 84886661, 84886651, 84886643)

    def test_a_parallelogram(self):
        P = float(self.primes[0] * self.primes[1])
        X, y = np.array([[0.0, 0.0], [P, 0.0], [0.0, 1.0], [P, 1.0]]), [0, 1, 1, 0]
        every, ones = np.arange(4), np.ones(4)
        assert check(Inseparable(every, ones / 2, [P / 2, 0.5], every, ones), X, y)

    def test_everything_that_needs_a_verdict(self):
        P = float(self.primes[0] * self.primes[1])
        X, y = np.array([[0.0, 0.0], [P, 0.0], [0.0, 1.0], [P, 1.0]]), [0, 1, 1, 0]
        found = rb.separability(X, y)
        assert check(found, X, y)
        assert found.verdict is Verdict.INSEPARABLE
        with pytest.warns(rb.NotSeparableWarning):
            model = rb.MaxMarginClassifier().fit(X, y)
        assert model.stop_reason_ is rb.StopReason.INSEPARABLE
        assert rb.mistake_bound(X, y, epochs=3).bound > 0
        with pytest.raises(ValueError, match="no hyperplane separates"):
            rb.mistake_bound(X, y)

    def test_a_simplex_and_a_column_of_zeros(self):
        p = np.array([float(a * b) for a, b in pairwise((*self.primes, self.primes[0]))])
        X = np.vstack([np.diag(p), np.zeros(6), p / 8])
        X = np.hstack([X, np.zeros((8, 1))])
        y = [0] * 7 + [1]
        weights = np.array([1 / 8] * 6 + [1 / 4] + [1])
        every = np.arange(8)
        assert check(Inseparable(every, weights, X[7], every, weights), X, y)
        assert not check(Inseparable(every, weights[::-1], X[7], every, weights), X, y)

    def test_more_equations_than_unknowns(self):
        p = np.array([float(a * b) for a, b in pairwise(self.primes[:4])])
        X = np.array([[0.0, 0.0, 0.0], p, p / 2])
        weights = np.array([0.5, 0.5, 1.0])
        assert check(Inseparable([0, 1, 2], weights, p / 2, [0, 1, 2], weights), X, [0, 0, 1])


class TestExactWeights:
    @given(meetings())
    def test_cancel_exactly_and_sum_to_one(self, case):
        X, y, certificate = case
        weights = certify.exact_weights(certificate, X, y)
        z = signed(X, y)[certificate.support].tolist()
        for column in zip(*z, strict=True):
            assert sum(w * Fraction(v) for w, v in zip(weights, column, strict=True)) == 0
        for side in (-1, 1):
            chosen = y[certificate.support] == side
            assert sum(w for w, c in zip(weights, chosen, strict=True) if c) == 1

    def test_needs_a_support(self):
        X, y = np.array([[0.0], [1.0]]), [0, 1]
        with pytest.raises(ValueError, match="only a support has weights"):
            certify.exact_weights(Separable(Hyperplane([1.0], -0.5), 0.5), X, y)
        wrong = Inseparable([0, 1], [1, 1], [0.5], [0, 1], [1, 1])
        with pytest.raises(ValueError, match="do not cancel"):
            certify.exact_weights(wrong, X, y)


@given(meetings(most=3), st.sampled_from([2.0**-500, 2.0**500]))
def test_powers_of_two_change_nothing(case, scale):
    X, y, certificate = case
    far = replace(certificate, point=certificate.point * scale)
    assert check(far, X * scale, y)
    assert check(far, csr_array(X * scale), y)
    assert check(certificate, X.astype(np.float32), y)
    assert not check(certificate, X * scale, y) or not certificate.point.any()


def test_thirds_are_not_floats():
    # The exact weights are thirds; the solver's floats are the nearest, and accepted.
    X, y = np.array([[0.0], [3.0], [1.0]]), np.array([1, 1, -1])
    certificate = Inseparable([0, 1, 2], [2 / 3, 1 / 3, 1.0], [1.0], [0, 1, 2], [2.0, 1.0, 3.0])
    assert check(certificate, X, y)
    assert certify.exact_weights(certificate, X, y) == (Fraction(2, 3), Fraction(1, 3), Fraction(1))
    assert solve(np.array([[3.0, -1.0], [1.0, -1.0]]), [0, -1]).fractions() == (
        Fraction(1, 2),
        Fraction(3, 2),
    )

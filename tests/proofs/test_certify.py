"""Certificates made by hand: valid ones are accepted, and none that was tampered with."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from reference_certificates import (
    bent,
    inseparable,
    mean,
    meetings,
    rank,
    reject,
    separations,
    signed,
    tampered_support,
    tampered_weights,
    touchings,
    with_field,
)
from rosenblatt import certify
from rosenblatt.exact import solve
from rosenblatt.proofs import checking
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
    Verdict,
)

check = certify.check


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

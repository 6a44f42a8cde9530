"""Vectors known by kernel values: sums with their rounding, and margins from a working set."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from kernel_samples import CURVED, EIGHTHS, distance, labelled
from rosenblatt.kernels import RBF, Polynomial
from rosenblatt.running.clock import Clock, Halt
from rosenblatt.running.threads import Team
from rosenblatt.separation import dual_margin, feature_space, feature_vectors, kernel_vectors
from rosenblatt.separation.dual_margin import dual_weights, widest
from rosenblatt.separation.kernel_vectors import KernelSums, KernelVectors


@pytest.fixture
def always(monkeypatch):
    """Ask the working set however small the data are."""
    monkeypatch.setattr(feature_space, "WHOLE", 0)
    monkeypatch.setattr(feature_vectors, "FEW", 0)


def contradicts(X, y):
    """Whether two samples are the same but for their classes."""
    seen = {}
    for row, label in zip(map(tuple, (X + 0.0).tolist()), y.tolist(), strict=True):
        seen.setdefault(row, set()).add(label)
    return any(len(labels) > 1 for labels in seen.values())


# Sums and their rounding --------------------------------------------------------------------------


def exact_value(kernel, u, v):
    """The kernel's value with 60 digits; a polynomial's in fractions."""
    u, v = [Fraction(t) for t in u.tolist()], [Fraction(t) for t in v.tolist()]
    if isinstance(kernel, Polynomial):
        dot = sum(a * b for a, b in zip(u, v, strict=True))
        return (Fraction(kernel.gamma) * dot + Fraction(kernel.coef0)) ** kernel.degree
    apart = -Fraction(kernel.rate) * sum((a - b) ** 2 for a, b in zip(u, v, strict=True))
    with localcontext(prec=60):
        return Fraction((Decimal(apart.numerator) / Decimal(apart.denominator)).exp())


@pytest.mark.parametrize("kernel", CURVED, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_are_within_their_rounding(kernel, form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) + 5.0
    coef = rng.standard_normal(7) * 10.0 ** rng.integers(-3, 6, 7)
    values, off = KernelSums(kernel, 1.0, form(X)).of(form(X[:7]), coef)
    for x, value, doubt in zip(X, values, off, strict=True):
        pairs = zip(coef.tolist(), X[:7], strict=True)
        exact = sum(Fraction(c) * (exact_value(kernel, v, x) + 1) for c, v in pairs)
        assert abs(Fraction(value) - exact) <= Fraction(doubt)
        assert doubt < 1e-10 * np.abs(coef).sum() * float(abs(exact_value(kernel, x, x)) + 1)


@given(labelled(EIGHTHS, most=12), st.sampled_from(CURVED), st.booleans())
def test_lengths_and_margins_are_rounded_to_the_safe_side(data, kernel, bias):
    X, y = data
    c = np.append(np.linspace(0.0, 1.0, len(y)), 0.0)
    z = KernelVectors(X, y, kernel, float(bias), Team(1))
    K = [[exact_value(kernel, u, v) + int(bias) for v in X] for u in X]
    coef = [Fraction(a) * int(s) for a, s in zip(c, y, strict=False)]
    values = [sum(a * k for a, k in zip(coef, row, strict=True)) for row in K]
    square = sum(a * v for a, v in zip(coef, values, strict=True))
    least = min(int(s) * v for s, v in zip(y, values, strict=True))
    assert Fraction(z.length(c)) ** 2 >= square
    assert Fraction(z.radius()) ** 2 >= max(K[i][i] for i in range(len(y)))
    assert z.radius() <= 1.001 * math.sqrt(max(K[i][i] for i in range(len(y))))
    if least > 0:
        assert Fraction(max(z.margin(c, 1.0), 0.0)) ** 2 * square <= least**2


# The widest margin --------------------------------------------------------------------------------


@given(labelled(EIGHTHS, most=12), st.sampled_from(CURVED), st.booleans())
def test_the_widest_margin_is_that_of_the_hull(data, kernel, bias):
    X, y = data
    z = KernelVectors(X, y, kernel, float(bias), Team(1))
    R, true = z.radius(), distance(kernel(X) + bias, y)
    found = widest(z, R)
    assert found.high >= true - 1e-6 * R
    if R > 0 and true > 1e-3 * R:
        assert found.low == pytest.approx(true, rel=1e-6)
        assert found.high == pytest.approx(true, rel=1e-6)
        assert z.margin(found.theta, R) == pytest.approx(true, rel=1e-6)


def test_a_working_set_finds_what_all_samples_do(monkeypatch):
    """However few begin and join."""
    X, y = rb.datasets.circles(300, noise=0.05, random_state=3)
    y = np.where(y == y[0], 1.0, -1.0)
    z = KernelVectors(X, y, RBF(2.0), 0.0, Team(1))
    whole = 1 / math.sqrt(
        dual_weights(z.gram(np.arange(300)), np.zeros(300), z.clock.look_up).sum()
    )
    for first, join in ((1, 1), (3, 7), (50, 100)):
        monkeypatch.setattr(dual_margin, "FIRST", first)
        monkeypatch.setattr(dual_margin, "JOIN", join)
        assert widest(z, 1.0).low == pytest.approx(whole, rel=1e-8)


def test_samples_without_weight_do_not_count():
    X, y = rb.datasets.circles(100, random_state=0)
    sign = np.where(y == y[0], 1.0, -2.0)
    alone = KernelVectors(X, sign, RBF(1.0), 0.0, Team(1))
    more = np.vstack([X, X[:5]])
    with_more = KernelVectors(more, np.append(sign, np.zeros(5)), RBF(1.0), 0.0, Team(1))
    assert with_more.n == 100
    found = widest(with_more, 2.0)
    assert found.low == pytest.approx(widest(alone, 2.0).low, rel=1e-8)
    assert with_more.values(found.theta).shape == (100,)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_same_bits_with_any_number_of_threads(form, monkeypatch):
    monkeypatch.setattr(kernel_vectors, "BLOCK", 40)
    X, y = rb.datasets.circles(500, noise=0.08, random_state=2)
    y, found = np.where(y == y[0], 1.0, -1.0), []
    for size in (1, 2, 3):
        with Team(size) as team:
            z = KernelVectors(form(X), y, RBF(3.0), 1.0, team)
            best = widest(z, z.radius())
            found.append((best.theta.tobytes(), best.low, best.high, z.margin(best.theta, 1.0)))
    assert found[0] == found[1] == found[2]


def test_time_is_up():
    X, y = rb.datasets.circles(400, random_state=0)
    z = KernelVectors(X, np.where(y == y[0], 1.0, -1.0), RBF(1.0), 0.0, Team(1), Clock(1e-9))
    with pytest.raises(Halt):
        widest(z, 1.0)


# Verdicts -----------------------------------------------------------------------------------------


def checked(X, y, kernel, **more):
    """The verdict, its certificate checked again."""
    found = rb.separability(X, y, kernel=kernel, **more)
    assert rb.certify.check(found.certificate, found.vectors, found.labels).valid
    return found


@given(labelled(EIGHTHS, most=12), st.sampled_from(CURVED), st.booleans(), st.booleans())
def test_the_working_set_agrees_with_the_whole_matrix(data, kernel, bias, as_csr):
    X, y = data
    how = {"kernel": kernel, "fit_intercept": bias}
    whole = rb.separability(X, y, **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feature_space, "WHOLE", 0)
        patch.setattr(feature_vectors, "FEW", 0)
        found = checked(sparse.csr_array(X) if as_csr else X, y, **how)
    assert found.separable is whole.separable
    assert found.exact or not whole.exact
    if contradicts(X, y):
        i, j = found.support
        assert np.array_equal(X[i], X[j])
        assert y[i] != y[j]
    elif distance(kernel(X) + bias, y) > 1e-3:
        assert found.basis is not None
        values = kernel(X, X[found.basis]) + bias
        np.testing.assert_allclose(found.vectors, values, rtol=1e-12)
        assert ((values @ found.certificate.hyperplane.w) * y > 0).all()


def test_beyond_the_whole_matrix(monkeypatch):
    X, y = rb.datasets.circles(4500, noise=0.1, random_state=0)
    monkeypatch.setattr(feature_space, "from_values", lambda *_: pytest.fail("all values"))
    found = checked(X, y, RBF(20.0))
    assert found.separable
    assert found.exact
    assert found.dimension < 1000
    assert str(found).endswith(
        "separable in the feature space of K(x, y) = exp(-20·‖x - y‖²): proved"
    )
    X, y = np.vstack([X, X[4321]]), np.append(y, -y[4321])
    found = checked(X, y, RBF(20.0))
    assert found.separable is False
    assert found.exact
    assert found.support.tolist() == [4321, 4500]


def test_what_rounding_hides_is_undecided(always, monkeypatch):
    X, y = np.linspace(0, 1, 40)[:, np.newaxis], np.arange(40) % 2
    monkeypatch.setattr(feature_vectors, "SAMPLES", 39)
    found = rb.separability(X, y, kernel=RBF(0.01))
    assert found.verdict is rb.Verdict.UNDECIDED
    assert not found.exact
    low, high = found.certificate.bracket
    assert low <= 0 < high < 1e-6
    assert f": {feature_space.HIDDEN} (with exact numbers it is" in str(found)


def test_values_that_overflow(always):
    X, y = rb.datasets.circles(50, random_state=0)
    for ask in (rb.separability, rb.mistake_bound):
        with pytest.raises(ValueError, match="overflow: scale the features"):
            ask(X * 1e200, y, kernel=Polynomial(2))


def test_no_time_is_undecided_unless_two_samples_settle_it(always):
    X, y = rb.datasets.circles(200, random_state=0)
    found = rb.separability(X, y, kernel=RBF(1.0), max_time=1e-9)
    assert found.verdict is rb.Verdict.UNDECIDED
    assert found.certificate.why == "time ran out"
    X[7] = X[np.flatnonzero(y != y[7])[0]]
    for kernel in (RBF(1.0), Polynomial(2)):
        assert checked(X, y, kernel, max_time=1e-9).separable is False

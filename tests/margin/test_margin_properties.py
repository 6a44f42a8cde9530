"""What is true of every best hyperplane, on small whole numbers full of ties."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

import reference_margin as slow
import rosenblatt as rb
from reference_margin import assert_honest, assert_same

pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.NotSeparableWarning")


@st.composite
def problems(draw, most=40, features=6):
    """Samples on a small grid, both classes among them."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, features))
    size = draw(st.integers(1, 4))
    X = draw(arrays.arrays(np.int64, (n, d), elements=st.integers(-size, size))).astype(float)
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=int)
    if draw(st.booleans()):  # labels that a hyperplane gives, where it does
        w = draw(arrays.arrays(np.int64, d, elements=st.integers(-3, 3)))
        y = (X @ w > draw(st.integers(-2, 2))).astype(int)
    y[draw(st.integers(0, n - 1))] ^= y.min() == y.max()
    return X, y


def weights_for(y, seed):
    """Whole weights, some of them 0, with something left of either class."""
    s = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    for side in (0, 1):
        s[np.flatnonzero(y == side)[0]] += 1
    return s


prices = st.sampled_from([1e-5, 1e-3, 0.03, 0.5, 4.0, 100.0, 1e4, 1e6])


@given(problems())
def test_maximum_margin_or_a_proof_that_there_is_none(problem):
    X, y = problem
    model = rb.MaxMarginClassifier().fit(X, y)
    expected = slow.max_margin(X, y)
    if expected is None:
        assert model.stop_reason_ is rb.StopReason.INSEPARABLE
        assert isinstance(model.certificate_, rb.Inseparable | rb.QuasiSeparable)
        found = rb.certify.check(model.certificate_, X, y)
        assert found, found.why
        found = rb.certify.check(model.optimum_, X, y)
        assert found, found.why
        assert model.gap_ <= 1e-6
        assert len(y) == model.optimum_.C
    else:
        best = assert_honest(model, X, y)
        w, b = expected
        assert best.margin == pytest.approx(1 / np.linalg.norm(w), rel=1e-7)
        np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-3 * np.linalg.norm(w))
        assert model.intercept_[0] == pytest.approx(b, abs=1e-3 * (1 + abs(b)))
        assert model.n_errors_ == 0


@given(problems(), prices, st.one_of(st.none(), st.integers(0, 99)))
def test_soft_margin_lies_between_any_dual_and_any_primal_value(problem, C, seed):
    X, y = problem
    s = None if seed is None else weights_for(y, seed)
    model = rb.SoftMarginClassifier(C=C).fit(X, y, s)
    best = assert_honest(model, X, y, s)
    rng = np.random.default_rng(0)
    w, b = model.coef_[0], model.intercept_[0]
    for size in (0.0, 1e-6, 1e-3, 1.0):
        other = w + size * rng.standard_normal(len(w)), b + size * rng.standard_normal()
        assert best.dual <= slow.objective(X, y, C, *other, s) * (1 + 1e-12)
    c = slow.prices(C, len(y), s)
    for alpha in (c, c * rng.random(len(y))):
        assert slow.dual_value(X, y, alpha) <= best.primal * (1 + 1e-12)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] * slow.signs(y)[model.support_]
    assert (alpha >= 0).all()
    assert (alpha <= c * (1 + 1e-12)).all()
    assert (alpha @ slow.signs(y)) == pytest.approx(0, abs=1e-12 * alpha.sum())


@given(problems(most=20, features=3), st.sampled_from([1e-3, 0.1, 2.0, 50.0]))
def test_soft_margin_is_libsvms(problem, C):
    X, y = problem
    model = rb.SoftMarginClassifier(C=C).fit(X, y)
    slow.assert_no_worse_than_libsvm(model.optimum_, X, y, C)


NO_SLACK = (
    np.array([[0, 3, 3, 3], [0, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 1, 3.0]]),
    np.array([0, 0, 1, 1, 0]),
)


@example(NO_SLACK, 100.0, None)
@given(problems(), prices, st.one_of(st.none(), st.integers(0, 99)))
def test_b_is_a_best_one_and_the_middle_of_them(problem, C, seed):
    X, y = problem
    s = None if seed is None else weights_for(y, seed)
    model = rb.SoftMarginClassifier(C=C).fit(X, y, s)
    c, values = slow.prices(C, len(y), s), X @ model.coef_[0]
    first, last = slow.bias_range(values, slow.signs(y), c)
    b = model.intercept_[0]
    assert first - 1e-9 <= b <= last + 1e-9
    # Corners that rounding has pushed apart are one.
    assert b == pytest.approx((first + last) / 2, abs=1e-6 + 1e-3 * (last - first))


@given(problems(), st.one_of(st.none(), prices))
def test_flipping_the_labels_flips_the_hyperplane(problem, C):
    X, y = problem
    one, other = fitted(C, X, y), fitted(C, X, 1 - y)
    assert one.stop_reason_ is other.stop_reason_
    assert_same(one, other, scale=-1.0)


@given(problems(), st.one_of(st.none(), prices), st.sampled_from([2.0**-20, 0.1, 3.0, 2.0**20]))
def test_scaling_the_samples_scales_the_margin(problem, C, scale):
    X, y = problem
    one = fitted(C, X, y)
    if one.stop_reason_ is rb.StopReason.INSEPARABLE:
        return
    other = fitted(None if C is None else C / scale**2, X * scale, y)
    assert_honest(other, X * scale, y)
    assert one.optimum_.primal == pytest.approx(other.optimum_.primal * scale**2, rel=2e-6)


@given(problems(), st.one_of(st.none(), prices), st.sampled_from([-3.0, 100.0, 2.0**20]))
def test_moving_the_samples_moves_the_bias_only(problem, C, by):
    X, y = problem
    if C is not None and C > 10:  # a large price counts the last bits of distant slacks
        by = min(by, 100.0)
    one, other = fitted(C, X, y), fitted(C, X + by, y)
    assert one.stop_reason_ is other.stop_reason_
    assert_same(one, other, off=1e-15 * abs(by))


@given(problems(most=15), prices, st.integers(0, 99))
def test_whole_weights_are_repeated_rows(problem, C, seed):
    X, y = problem
    s = weights_for(y, seed)
    rows = np.repeat(np.arange(len(y)), s.astype(int))
    repeated, weighted = fitted(C, X[rows], y[rows]), rb.SoftMarginClassifier(C=C).fit(X, y, s)
    assert_same(repeated, weighted)
    there = np.flatnonzero(s)
    removed = rb.SoftMarginClassifier(C=C).fit(X[there], y[there], s[there])
    assert_same(removed, weighted)


@given(
    problem=problems(),
    C=st.one_of(st.none(), prices),
    size=st.sampled_from([1, 3, 11]),
    layout=st.sampled_from([np.asarray, np.float32, csr_array]),
)
def test_dense_is_sparse_is_in_blocks(problem, C, size, layout, in_blocks):
    X, y = problem
    in_blocks(len(y))
    plain = fitted(C, X, y)
    in_blocks(size)
    other = fitted(C, layout(X), y)
    assert other.stop_reason_ is plain.stop_reason_
    assert_same(plain, other)


@given(problems(most=15, features=3))
def test_margin_and_slack_shrink_as_slack_gets_dearer(problem):
    X, y = problem
    path = rb.soft_margin_path(X, y, [1e-3, 0.1, 1.0, 10.0, 1e3])
    assert (path.gap <= 1e-6).all()
    squares = np.array([plane.w @ plane.w for plane in path.hyperplanes])
    # Two best hyperplanes for two prices, each compared by the other's price: the total slack
    # cannot grow and the norm cannot shrink, but for what the gaps leave open.
    gaps = path.primal - path.dual
    open_ = gaps[1:] + gaps[:-1] * path.Cs[1:] / path.Cs[:-1]
    assert (np.diff(squares) / 2 >= -2 * open_ - 1e-12).all()
    mean = path.slack / len(y)
    apart = np.diff(path.Cs)
    assert (np.diff(mean) * apart <= open_ + 1e-12).all()


def fitted(C, X, y):
    """A maximum margin where C is None."""
    model = rb.MaxMarginClassifier() if C is None else rb.SoftMarginClassifier(C=C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotSeparableWarning)
        return model.fit(X, y)

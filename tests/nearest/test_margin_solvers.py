"""The pieces under margins, each against its definition; also without the compiler."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array, csr_matrix

import reference_margin as slow
import rosenblatt as rb
from margin_samples import as_samples
from rosenblatt.data.rows import as_rows
from rosenblatt.nearest import directions, newton
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.directions import direction, newton_step
from rosenblatt.nearest.max_margin import centred
from rosenblatt.nearest.newton import Live, improve
from rosenblatt.nearest.scans import worst
from rosenblatt.nearest.slacks import Pull, best_bias, evened, losses, nobody, prices_of
from rosenblatt.nearest.soft_margin import SoftMargin
from rosenblatt.nearest.working_set import Clock
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Halt
from rosenblatt.running.threads import Team


def data(n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)) * (rng.random((n, d)) < 0.7) / 2.0
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1, -1
    return X, y


def labelled(y):
    """Samples of which only the labels matter."""
    return as_samples(np.ones((len(y), 1)), y, Team(1))


def loss(s, y, c, b):
    return losses(labelled(y), s, s, c, b)[0]


def live(samples, c, alpha, reach, pull=None):
    return Live(samples, c, float(c.max()), alpha, reach, pull or nobody(samples.d))


# ----------------------------------------------------------------------------------------- the bias


@st.composite
def values_and_prices(draw):
    """Whole values with many ties, labels of both classes, and prices that may be equal or 0."""
    n = draw(st.integers(2, 12))
    values = draw(arrays.arrays(np.int64, n, elements=st.integers(-3, 3))).astype(float)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[:2] = 1, -1
    c = draw(arrays.arrays(np.int64, n, elements=st.integers(0, draw(st.integers(1, 4)))))
    c[:2] += 1
    return values, y, c.astype(float) if draw(st.booleans()) else np.ones(n)


@given(values_and_prices(), st.sampled_from([1.0, 0.1, 1e-9, 1e9]))
def test_the_best_bias_is_the_middle_of_the_best(problem, price):
    values, y, c = problem
    samples = labelled(y)
    found = best_bias(samples, y * values, prices_of(samples, price * c))
    first, last = slow.bias_range(values, y, c)
    assert found == (first + last) / 2
    others = [found + 0.25, found - 0.25, first, last]
    least = loss(y * values, y, c, found)
    assert least <= min(loss(y * values, y, c, b) for b in others) * (1 + 1e-12)


def test_the_loss():
    s, y, c = np.array([2.0, 0.5, -1.0]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 3.0])
    # slacks 1 - s - y b for b = 0.5: -1.5, 1, 1.5
    assert loss(s, y, c, 0.5) == 2 * 1 + 3 * 1.5


# -------------------------------------------------------------------------------- the multipliers


@given(
    arrays.arrays(np.float64, st.integers(2, 9), elements=st.floats(0, 1e3)),
    st.integers(0, 2**9),
)
def test_balanced_multipliers_sum_to_nothing_and_none_is_larger(alpha, bits):
    y = np.where([bits >> k & 1 for k in range(len(alpha))], 1.0, -1.0)
    even, pull = evened(labelled(y), alpha)
    assert pull.total == pytest.approx(even.sum())
    assert pull.w[0] == pytest.approx(even @ y, abs=1e-12 * (alpha.sum() + 1e-300))
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    assert (even <= alpha).all()
    assert (even >= 0).all()
    assert even @ y == pytest.approx(0, abs=1e-12 * (alpha.sum() + 1e-300))
    if positive >= 1e-300 <= negative:
        lighter = y == (1 if positive <= negative else -1)
        np.testing.assert_array_equal(even[lighter], alpha[lighter])
    else:
        assert even.sum() <= 2e-300


@pytest.mark.parametrize("infinite", [False, True])
def test_clipping(infinite):
    rng = np.random.default_rng(0)
    n, mu, b, reach = 50, 0.3, 0.7, 0.3
    c, y = np.full(n, np.inf) if infinite else rng.random(n), np.where(rng.random(n) < 0.5, 1, -1)
    alpha, s, out = rng.random(n) * np.minimum(c, 1), rng.standard_normal(n), np.empty(n)
    slack.clip(y, s, c, alpha, reach, mu, b, 0, n, out)
    t = 1 - s - y * b
    scale = np.minimum(c / 2, reach)
    a = np.clip(alpha + scale * t / mu, 0, c)
    np.testing.assert_allclose(out, a, rtol=1e-14)
    inside, bent = (a > 0) & (a < c), np.empty(n)
    assert 0 < inside.sum() < n
    slack.bend(c, out, reach, mu, 0, n, bent)
    np.testing.assert_allclose(bent, np.where(inside, scale / mu, 0), rtol=1e-14)
    sums, edges = np.zeros((2, 5)), np.array([0, 20, n])
    slack.measure(y, s, c, out, b, edges, 0, 2, sums)
    count, total, balance, hinges, rest = sums.sum(axis=0)
    assert sums[0, 0] == inside[:20].sum()
    assert count == inside.sum()
    assert total == pytest.approx(a.sum(), rel=1e-12)
    assert balance == pytest.approx(a @ y, abs=1e-12)
    if infinite:
        assert hinges == 0
        assert rest == pytest.approx(np.abs(a * t).sum(), rel=1e-12)
    else:
        assert hinges == pytest.approx(c @ np.maximum(t, 0), rel=1e-12)
        assert rest == pytest.approx(c @ np.maximum(t, 0) - a @ t, rel=1e-9)
        assert rest >= 0


def test_the_slope_is_the_derivative_of_the_rounded_loss():
    """``Σ max_a a t - (μ/2k)(a - α)²`` along a line, by finite differences."""
    rng = np.random.default_rng(1)
    n, mu, b, db, reach = 40, 0.5, 0.2, -0.4, 0.3
    y, c, alpha = np.where(rng.random(n) < 0.5, 1, -1), rng.random(n), 0.3 * rng.random(n)
    s, ds = rng.standard_normal(n), rng.standard_normal(n)
    scale, edges = np.minimum(c / 2, reach), np.array([0, 13, n])

    def rounded(step):
        t = 1 - s - y * b - step * (ds + y * db)
        a = np.clip(alpha + scale * t / mu, 0, c)
        return (a * t - mu / (2 * scale) * (a - alpha) ** 2).sum()

    for step in (0.0, 0.3, 2.0):
        numeric, sums = (rounded(step + 1e-6) - rounded(step - 1e-6)) / 2e-6, np.zeros((2, 1))
        slack.slopes(y, s, ds, c, alpha, reach, mu, b, db, step, edges, 0, 2, sums)
        assert -sums.sum() == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_the_products_of_sparse_rows(kind):
    X, _ = data(12, 5)
    matrix = csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
    chosen, out, total = np.array([1, 4, 5, 11]), np.zeros((5, 5)), np.zeros(5)
    weight = np.array([1.0, 2.0, 3.0, 0.5])
    for times in (1, 2):  # what is there already is added to
        slack.gram(as_rows(matrix), chosen, weight, total, out)
        np.testing.assert_allclose(out, times * np.tril((X[chosen].T * weight) @ X[chosen]))
        np.testing.assert_allclose(total, times * weight @ X[chosen])


# ------------------------------------------------------------------------------------ Newton's step


def exact_step(X, weight, gradient, slope_b, least=0.0):
    """The whole system, w and b together."""
    A = np.column_stack([slow.dense(X), np.ones(len(weight))])
    H = (A.T * weight) @ A + np.diag(np.append(np.ones(A.shape[1] - 1), least))
    solved = np.linalg.solve(H, -np.append(gradient, slope_b))
    return solved[:-1], solved[-1]


STEPS = pytest.mark.parametrize(("k", "d"), [(1, 1), (40, 5), (5, 40), (6, 6), (1, 9), (90, 1)])


@STEPS
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("size", [None, 7])
@pytest.mark.parametrize("full", [0.0, 0.3, 1.0])
def test_newtons_step(k, d, layout, shift, size, full, team, monkeypatch):
    """Of some of the rows; `full` decides which sparse matrices are made arrays."""
    monkeypatch.setattr(directions, "FULL", full)
    rng = np.random.default_rng(k + d)
    X, weight, rows = rng.standard_normal((2 * k, d)), rng.random(k) + 0.1, np.arange(0, 2 * k, 2)
    gradient, slope_b = rng.standard_normal(d), float(rng.standard_normal())
    w, b = exact_step(X[rows], weight, gradient - shift * slope_b, slope_b)
    samples = as_samples(layout(X + shift), np.ones(2 * k), team, size)
    every = np.zeros(2 * k)
    every[rows] = weight
    found, bias = newton_step(samples, every, k, gradient, slope_b, 0.0)
    digits = 1e-9 if not shift else 1e-4
    np.testing.assert_allclose(found, w, rtol=0, atol=digits * np.abs(w).max())
    # b is counted from another origin there.
    assert bias + shift * found.sum() == pytest.approx(b, abs=digits * (1 + abs(shift * b)))


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("scale", [1e6, 1e8])
@pytest.mark.parametrize("k", [60, 3])
def test_newtons_step_for_columns_of_very_different_size(scale, layout, k, team):
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((k, 4)), rng.random(k) + 0.1
    sizes = np.array([scale, 1.0, 1.0 / scale, 1.0])
    gradient, slope_b = rng.standard_normal(4), 0.3
    samples = as_samples(layout(X * sizes), np.ones(k), team)
    assert not samples.alike
    dw, db = newton_step(samples, weight, k, gradient, slope_b, 0.0)
    # Checked by what it has to satisfy, each equation in its own units.
    A = np.column_stack([X * sizes, np.ones(k)])
    step = np.append(dw, db)
    left = A.T @ (weight * (A @ step)) + np.append(dw, 0.0) + np.append(gradient, slope_b)
    units = np.abs(A).T @ (weight * (np.abs(A) @ np.abs(step))) + np.abs(np.append(gradient, 1.0))
    assert (np.abs(left) <= 1e-7 * units).all()


@STEPS
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_conjugate_gradients_come_close(k, d, layout, monkeypatch):
    monkeypatch.setattr(directions, "DIRECT", 0)
    rng = np.random.default_rng(k + d)
    X, weight = rng.standard_normal((k, d)), rng.random(k) + 0.1
    gradient, slope_b = rng.standard_normal(d), float(rng.standard_normal())
    least = 1e-3
    w, b = exact_step(X, weight, gradient, slope_b, least)
    found, bias = direction(layout(X), weight, gradient, slope_b, least)
    assert gradient @ found + slope_b * bias < 0
    best = gradient @ w + slope_b * b

    def gain(dw, db):
        curved = X @ dw + db
        rest = dw @ dw + weight @ curved**2 + least * db**2
        return gradient @ dw + slope_b * db + 0.5 * rest

    assert gain(found, bias) <= 0.9 * gain(w, b)
    assert gain(w, b) == pytest.approx(best / 2, rel=1e-9)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (40, 6), (6, 1)])
def test_panels_are_a_product_that_knows_no_threads(shape, monkeypatch):
    monkeypatch.setattr(directions, "PANEL", 3)
    X = np.random.default_rng(1).standard_normal(shape)
    for matrix in (X, X.T):
        with Team(3) as three:
            found = directions._gram(matrix, three)
        assert np.array_equal(found, directions._gram(matrix, Team(1)))
        np.testing.assert_allclose(np.tril(found), np.tril(matrix.T @ matrix), atol=1e-12)


def test_no_rows_bend_the_function(team):
    samples = as_samples(*data(5, 3), team)
    dw, db = newton_step(samples, np.zeros(5), 0, np.array([1.0, 2, 3]), 4.0, 0.5)
    assert dw.tolist() == [-1, -2, -3]
    assert db == -8


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_nothing_to_do_is_no_step(layout):
    """At the minimum the step is zero, by every method; nothing is divided by nothing."""
    X, _ = data(6, 3)
    for direct in (directions.DIRECT, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(directions, "DIRECT", direct)
            dw, db = direction(layout(X.copy()), np.ones(6), np.zeros(3), 0.0, 1e-9)
        assert not dw.any()
        assert db == 0


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_a_round_ends_near_the_minimum(layout, team):
    """As near as a tenth of the gap that is left; and it says how near."""
    X, y = data(40, 3)
    c, w, b, mu = np.full(40, 0.5), np.zeros(3), 0.0, 0.3
    alpha = c / 2
    for _ in range(12):
        samples = as_samples(layout(X), y, team)
        done = improve(live(samples, c, alpha, 1.0), w, b, mu, 1e-9)
        t = 1 - y * (X @ done.w + done.b)
        np.testing.assert_allclose(done.alpha, np.clip(alpha + c / 2 * t / mu, 0, c), atol=1e-6)
        off = done.w - (done.alpha * y) @ X
        error = 0.5 * off @ off + abs(done.alpha @ y) * (1 + abs(done.b))
        rest = c @ np.maximum(t, 0) - done.alpha @ t
        objective = 0.5 * done.w @ done.w + c @ np.maximum(t, 0)
        assert done.error == pytest.approx(error, abs=1e-9)
        assert done.rest == pytest.approx(rest, abs=1e-9)
        assert done.error <= 0.1 * max(done.rest, 1e-9 * objective) * (1 + 1e-6)
        w, b, mu, alpha = done.w, done.b, 0.3 * mu, done.alpha
    assert rest <= 1e-6 * objective
    theirs = slow.objective(X, y, 20.0, *slow.soft_margin(X, y, 20.0)[:2])
    assert objective == pytest.approx(theirs, rel=1e-5)


def test_rows_that_sleep_count_as_their_sum(team):
    """The rows at their bounds held where they are, the others see the same function."""
    X, y = data(40, 3)
    c, mu, w, b = np.full(40, 0.5), 0.05, np.array([-0.15, -0.17, -0.83]), -0.4
    t = 1 - y * (X @ w + b)
    alpha = np.clip(c / 2 + c / 2 * t / mu, 0, c)
    stuck, rest = np.flatnonzero(np.abs(t) > 0.2), np.flatnonzero(np.abs(t) <= 0.2)
    assert min(len(stuck), len(rest)) > 2
    samples, held = as_samples(X, y, team), alpha[stuck] * y[stuck]
    whole = live(samples, c, c / 2, 1.0)
    pull = Pull(held @ X[stuck], held.sum(), alpha[stuck].sum())
    part = live(samples.part(rest), c[rest], c[rest] / 2, 1.0, pull)
    one, other = (newton._State(some, w, b, mu) for some in (whole, part))
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-12)
    assert one.slope_b == pytest.approx(other.slope_b, abs=1e-12)
    assert one.error() == pytest.approx(other.error(), rel=1e-9)
    np.testing.assert_array_equal(one.a[rest], other.a)
    assert one.step()
    assert other.step()
    # A row that sleeps may wake within the step, so they need not go equally far.
    a, b = one.w - w, other.w - w
    assert a @ b == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b), rel=1e-9)


# -------------------------------------------------------------------------------- canonical form


def test_canonical_form():
    y = np.array([1.0, 1.0, -1.0])
    w, b, primal = centred(np.array([5.0, 7.0, -1.0]), y, np.array([3.0, 4.0]))
    # w·x is 5, 7 and 1: half-way between 1 and 5 is 3, and 2 to either side
    assert w.tolist() == [1.5, 2.0]
    assert b == -1.5
    assert primal == 0.5 * 6.25
    w, b, primal = centred(np.array([5.0, 7.0, -6.0]), y, np.array([3.0, 4.0]))
    assert w.tolist() == [3.0, 4.0]
    assert primal == np.inf
    assert centred(np.array([5.0, 7.0, -5.0]), y, np.array([3.0, 4.0]))[2] == np.inf


# ----------------------------------------------------------------------------- samples in blocks


LAYOUTS = {
    "dense": np.asarray,
    "float32": np.float32,
    "sparse": csr_array,
    "sparse float32": lambda X: csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("size", [None, 1, 7, 16, 29])
def test_samples_are_the_rows_in_order(layout, size, team):
    X, y = data()
    samples = as_samples(layout(X), y, team, size)
    assert (samples.n, samples.d) == X.shape
    np.testing.assert_array_equal(samples.y, y)
    u = np.random.default_rng(0).standard_normal(30)
    np.testing.assert_allclose(samples.total(u), (u * y) @ X, atol=1e-12)
    theta = np.array([1.0, -2, 3, 0.5, 0.25])
    np.testing.assert_allclose(samples.values(theta), y * (X @ theta[:-1] + 0.25), atol=1e-12)
    rows = np.array([0, 3, 8, 9, 28])
    np.testing.assert_array_equal(slow.dense(samples.take(rows)), X[rows])
    assert samples.take(rows).dtype == np.float64
    assert samples.take(rows[:0]).shape == (0, 4)
    np.testing.assert_array_equal(samples.gather(rows), np.column_stack([X[rows], np.ones(5)]))
    np.testing.assert_array_equal(
        samples.signed(rows), y[rows, None] * np.column_stack([X[rows], np.ones(5)])
    )
    part = samples.part(rows)
    np.testing.assert_array_equal(part.y, y[rows])
    np.testing.assert_allclose(part.total(u[rows]), (u * y)[rows] @ X[rows], atol=1e-12)


def test_some_rows_of_each_class(team):
    X, y = data(50)
    samples = as_samples(X, y, team)
    rows = samples.some(6)
    assert (np.diff(rows) > 0).all()
    assert ((y[rows] > 0).sum(), (y[rows] < 0).sum()) == (6, 6)
    among = np.arange(50) % 5 == 0
    among[:2] = True
    assert set(samples.some(100, among)) == set(np.flatnonzero(among))


def test_the_worst_rows_that_are_new():
    values = np.array([0.5, -1.0, 3.0, 0.9, 0.1])
    assert sorted(worst(values, 1.0, 2, np.array([4]))) == [0, 1]
    assert sorted(worst(values, 1.0, 9, np.array([], np.int64))) == [0, 1, 3, 4]
    assert worst(values, -5.0, 9, np.array([1])).size == 0


def test_the_clock_ends_the_work(team):
    X, y = data()
    samples = as_samples(X, y, team, clock=Clock(1e-12))
    for work in (lambda: samples.total(np.ones(30)), lambda: samples.values(np.ones(5))):
        with pytest.raises(Halt) as caught:
            work()
        assert caught.value.reason is StopReason.TIME_LIMIT


# ------------------------------------------------------------------------ whole fits, on few rows


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("C", [0.1, 20.0])
def test_a_soft_margin_from_here_to_there(layout, C, team):
    X, y = data(25, 3)
    solver = SoftMargin(as_samples(layout(X), y, team, 10), np.full(25, C / 25), 1e-6)
    assert solver.run() is StopReason.GAP_CLOSED
    best = solver.best
    primal = slow.objective(X, y, C, best.w, best.b)
    assert best.primal == pytest.approx(primal, rel=1e-12)
    assert best.dual == pytest.approx(slow.dual_value(X, y, best.alpha), rel=1e-12)
    assert 0 <= best.gap <= 1e-6
    w, b, _ = slow.soft_margin(X, y, C)
    assert slow.objective(X, y, C, w, b) == pytest.approx(primal, rel=2e-6)


def test_a_maximum_margin_on_few_rows():
    X, y = rb.datasets.eight_points()
    assert rb.MaxMarginClassifier().fit(X, y).margin_ == pytest.approx(np.sqrt(2), rel=1e-7)


@pytest.mark.compiled
def test_many_rows_start_from_a_few_of_them(team):
    """More rows than a start takes: the same optimum as scaled weights on fewer would have."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 2))
    y = np.where(X @ [1.0, 2.0] + rng.standard_normal(9000) > 0, 1, -1)
    s = rng.integers(0, 3, 9000).astype(float)
    for weights in (None, s):
        model = rb.SoftMarginClassifier(C=5.0, tol=1e-7).fit(X, y, weights)
        slow.assert_honest(model, X, y, weights)
        assert model.trace_.rows[-1] < 9000
    assert model.trace_.rows.max() <= np.count_nonzero(s)

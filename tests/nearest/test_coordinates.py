"""Coordinate descent against its definition, and the margins that are found by it."""

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack, random_array

import reference_margin as slow
import rosenblatt as rb
from margin_samples import as_samples
from rosenblatt.data.rows import as_rows
from rosenblatt.margin import proving
from rosenblatt.nearest import loops, max_margin, soft_margin
from rosenblatt.nearest.coordinates import descend
from rosenblatt.nearest.loops import Line, Multipliers
from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.nearest.slacks import (
    Pull,
    awakened,
    best_bias,
    close_to,
    evened,
    losses,
    nobody,
    prices_of,
    settled,
    size_of,
)
from rosenblatt.nearest.working_set import largest_number
from rosenblatt.proofs import duality
from rosenblatt.running.threads import Team

LAYOUTS = [np.asarray, csr_array]


def data(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)) / 4.0
    y = np.where(X @ np.arange(1, d + 1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    return X, y


def naive_epoch(X, y, c, alpha, order, seed, b, beta, low, high):
    """The textbook's epoch; returned are the samples left, slacks no bound explains, the rest."""
    order, left, k, open_slacks, rest = list(order), len(order), 0, [0.0], 0.0
    while k < left:
        seed = (1103515245 * seed + 12345) % 2**31
        j = k + seed * (left - k) // 2**31
        order[j], order[k] = order[k], order[j]
        i = order[k]
        w, bias = (alpha * y) @ X, b + beta * (alpha @ y)
        t = 1 - y[i] * (X[i] @ w + bias)
        if (alpha[i] == 0 and t < low) or (alpha[i] == c[i] and t > high):
            left -= 1
            order[k], order[left] = order[left], order[k]
            continue
        k += 1
        rest += c[i] * max(t, 0) - alpha[i] * t
        if not ((alpha[i] == 0 and t <= 0) or (alpha[i] == c[i] and t >= 0)):
            open_slacks.append(t)
            alpha[i] = min(max(alpha[i] + t / (X[i] @ X[i] + beta), 0), c[i])
    return order[:left], open_slacks, rest, seed


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_epoch_is_the_textbooks(layout):
    X, y = data()
    rows, n = np.arange(5, 37), 32
    c = np.linspace(0.1, 2.0, n)
    m = Multipliers(y[rows], c, np.zeros(n), c * (np.arange(n) % 3) / 2)
    alpha, order, w, beta = m.alpha.copy(), np.arange(n), (m.alpha * m.y) @ X[rows], 0.5
    line = Line(7, n, -0.2, float(m.alpha @ m.y), float(m.alpha.sum()), -np.inf, np.inf, 0.0)
    low, high, left, seed, b = -np.inf, np.inf, list(range(n)), 7, -0.2
    for _ in range(4):
        found = naive_epoch(X[rows], y[rows], c, alpha, left, seed, b, beta, low, high)
        left, slacks, rest, seed = found
        line = loops.visit(as_rows(layout(X)), rows, m, order, w, beta, line)
        np.testing.assert_allclose(m.alpha, alpha, atol=1e-12)
        np.testing.assert_allclose(w, (alpha * y[rows]) @ X[rows], atol=1e-12)
        assert order[: line.size].tolist() == left
        assert line.low == pytest.approx(min(slacks), abs=1e-12)
        assert line.high == pytest.approx(max(slacks), abs=1e-12)
        assert line.rest == pytest.approx(rest)
        assert line.total == pytest.approx(alpha.sum())
        b += beta * (alpha @ y[rows])
        assert line.b == pytest.approx(b)
        low, high, line = min(slacks), max(slacks), line._replace(low=min(slacks), high=max(slacks))
    assert len(left) < n


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [None, 7])
def test_some_multipliers_move_while_others_stay(layout, size, team):
    """The optimum with the others as they are: it has the slacks that its multipliers allow."""
    X, y = data()
    c, held = np.full(40, 0.2), np.zeros(40)
    held[:10] = 0.1
    rows = np.arange(10, 40)
    pull = Pull((held * y) @ X, float(held @ y), float(held.sum()))
    samples = as_samples(layout(X), y, team, size)
    done = descend(samples, rows, c[rows], held[rows], pull, 0.0, 1e-9, 200)
    for _ in range(5):  # samples that have left the line come back with the next one
        assert done.closed
        done = descend(samples, rows, c[rows], done.alpha, pull, done.b, 1e-9, 200)
    alpha = held.copy()
    alpha[rows] = done.alpha
    np.testing.assert_allclose(done.w, (alpha * y) @ X, atol=1e-12)
    assert abs(alpha @ y) < 1e-6
    t = (1 - y * (X @ done.w + done.b))[rows]
    assert (t[done.alpha < c[rows]] < 1e-3).all()
    assert (t[done.alpha > 0] > -1e-3).all()


def test_what_is_slow_is_left(team):
    X, y = data(60, 3)
    samples, c = as_samples(X * [1, 30, 900], y, team), np.full(60, 1e4)
    done = descend(samples, np.arange(60), c, np.zeros(60), nobody(3), 0.0, 1e-12, 2)
    assert not done.closed
    assert np.isfinite(done.w).all()


@pytest.mark.compiled
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cheap_slack(layout, in_blocks, monkeypatch):
    """Found by coordinates, from a part of the rows: the same bits for any threads and blocks."""
    monkeypatch.setattr("rosenblatt.margin.classifiers.MANY", 1)
    monkeypatch.setattr("rosenblatt.running.threads.WORTHWHILE", 1)
    rounds = []
    improve = soft_margin.improve
    monkeypatch.setattr(soft_margin, "improve", lambda *a: rounds.append(1) or improve(*a))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 8))
    y = np.where(X[:, 0] + rng.standard_normal(20_000) > 0, 1, -1)
    fits = []
    for jobs, size in ((1, None), (2, None), (5, 3333)):
        if size is not None:
            in_blocks(size)
        model = rb.SoftMarginClassifier(C=20.0, tol=1e-4, n_jobs=jobs).fit(layout(X), y)
        slow.assert_honest(model, X, y)
        assert model.trace_.rows[0] < 10_000
        fits.append([model.coef_, model.intercept_, model.support_, model.dual_coef_, model.gap_])
    assert not rounds
    for other in fits[1:]:
        for one, same in zip(fits[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.compiled
def test_weights_of_nothing_take_no_part():
    X, y = data(9000, 2)
    weight = (np.arange(9000) % 3).astype(float)
    model = rb.SoftMarginClassifier(C=2.0).fit(X, y, weight)
    slow.assert_honest(model, X, y, weight)
    assert weight[model.support_].all()


def wide(n=1200, d=1500):
    """Sparse rows with more features than interior points are for, and a gap between classes."""
    rng = np.random.default_rng(0)
    X, side = random_array((n, d - 1), density=0.01, rng=rng), np.where(np.arange(n) % 2, 1, -1)
    apart = csr_array((side * (0.5 + rng.random(n)))[:, np.newaxis])
    return csr_array(hstack([apart, X])), side


@pytest.mark.compiled
def test_a_wide_maximum_margin(monkeypatch, in_blocks):
    monkeypatch.setattr("rosenblatt.margin.classifiers.MANY", 1)
    monkeypatch.setattr("rosenblatt.running.threads.WORTHWHILE", 1)
    monkeypatch.setattr(MaxMargin, "_by_rounds", None)
    X, y = wide()
    fits = []
    for jobs, size in ((1, None), (2, None), (5, 500)):
        if size is not None:
            in_blocks(size)
        model = rb.MaxMarginClassifier(n_jobs=jobs).fit(X, y)
        assert model.stop_reason_ is rb.StopReason.GAP_CLOSED
        assert rb.certify.check(model.certificate_, X, y)
        fits.append(model)
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        np.testing.assert_array_equal(other.dual_coef_, fits[0].dual_coef_)


def test_no_maximum_margin_by_coordinates(monkeypatch):
    monkeypatch.setattr(max_margin, "SMALL", 1)
    X, y = data(30, 2)
    with pytest.warns(rb.NotSeparableWarning):
        model = rb.MaxMarginClassifier().fit(X, y)
    assert rb.certify.check(model.certificate_, X, y)


# --------------------------------------------------------------------------- passes over all rows


@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("kind", ["random", "ascending", "ties", "two", "one"])
def test_a_bias_by_rank(kind, priced, team, monkeypatch):
    """By a few samples, and fewer of these, as by all: in the middle of two neighbours in rank."""
    monkeypatch.setattr("rosenblatt.nearest.slacks.ASKED", 100)
    rng = np.random.default_rng(0)
    n = 300_000 if kind == "ascending" else 9001
    numbers = rng.standard_normal(n)
    if kind == "ascending":
        numbers = np.sort(numbers)
    elif kind == "ties":
        numbers = np.floor(3 * numbers)
    elif kind == "two":
        numbers = np.sign(numbers)
    elif kind == "one":
        numbers[:] = 0.5
    c = rng.integers(0, 3, n).astype(float) if priced else np.full(n, 0.1)
    for k in (1, 2, 17, n // 3, n // 2, n - 2, n - 1):
        y = np.full(n, -1.0)
        y[rng.permutation(n)[:k]] = 1
        s, X = y * (y - numbers), np.ones((n, 1))
        # Some slack of each class has to have a price.
        c[[np.argmax(y), np.argmin(y)]] = 1 if priced else 0.1
        samples = as_samples(X, y, team)
        order = np.argsort(y - y * s, kind="stable")
        order, units = order[c[order] > 0], np.rint(c / c[c > 0].min())
        wanted, passed = units[y > 0].sum(), np.cumsum(units[order])
        first, last = np.argmax(passed >= wanted), np.argmax(passed > wanted)
        edges = (y - y * s)[order]
        assert best_bias(samples, s, prices_of(samples, c)) == (edges[first] + edges[last]) / 2


def test_multipliers_that_balance(team):
    y = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
    samples = as_samples(np.ones((5, 1)), y, team)
    alpha = np.array([1.0, 2.0, 0.5, 0.0, 0.0])
    even, _ = evened(samples, alpha)
    np.testing.assert_allclose(even, [1 / 6, 1 / 3, 0.5, 0, 0])
    np.testing.assert_array_equal(alpha, [1, 2, 0.5, 0, 0])
    np.testing.assert_array_equal(evened(samples, np.array([1.0, 0, 1, 0, 0]))[0], [1, 0, 1, 0, 0])
    assert not evened(samples, np.array([1.0, 0, 0, 0, 0]))[0].any()


@pytest.mark.parametrize("block", [None, 1234])
def test_sums_depend_neither_on_threads_nor_on_blocks(monkeypatch, block):
    monkeypatch.setattr("rosenblatt.running.threads.WORTHWHILE", 1)
    monkeypatch.setattr("rosenblatt.nearest.slacks.ASKED", 100)
    rng = np.random.default_rng(0)
    s, before, y = rng.standard_normal((3, 5001))
    y, c, alpha = np.sign(y), rng.random(5001), np.zeros(5001)
    alpha[::3], c[::7] = c[::3], 0.0
    found = []
    for size in (1, 2, 5):
        with Team(size) as team:
            samples = as_samples(rng.random((5001, 1)), y, team, block if size > 1 else None)
            near = close_to(samples, s, c, 0.1, 0.5)
            stay = settled(samples, s, c, alpha, near, 0.1)
            lost, moved = losses(samples, s, before, c, 0.1)
            awake = awakened(samples, s, before, c, stay, 0.1, 0.5, moved)
            one, other = (prices_of(samples, p) for p in (c + 1, np.ones(5001)))
            biases = best_bias(samples, s, one), best_bias(samples, s, other)
            passes = (part.tobytes() for part in (near, stay, awake))
            found.append((lost, moved, size_of(samples, s), *biases, *passes))
    assert found[0] == found[1] == found[2]
    t = 1 - s - 0.1 * y
    assert lost == pytest.approx(c @ np.maximum(t, 0))
    assert moved == pytest.approx(np.abs(s - before).mean())
    np.testing.assert_array_equal(near, (np.abs(t) <= 0.5) & (c > 0))
    np.testing.assert_array_equal(stay, np.where(near, alpha, np.where(t > 0, c, 0)))
    held = np.where(stay == 0, -t, np.where(stay == c, t, 0.0))
    reach = 0.5 * np.maximum(np.abs(s - before), np.abs(s - before).mean())
    np.testing.assert_array_equal(awake, (held <= reach) & (c > 0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_largest_number(layout, team):
    X = np.zeros((700, 300))
    assert largest_number([layout(X)], team) == 0
    X[650, 7] = -3.0
    X[1, 1] = 2.0
    assert largest_number([layout(X)], team) == largest_number([layout(X)]) == 3


# ------------------------------------------------------------------------------------- the proof


@pytest.mark.parametrize("C", [None, 0.1, 30.0])
@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-11])
def test_what_is_not_proved_twice_would_be_the_same(C, tol, monkeypatch):
    """A proof that the check takes as found is, to the bit, what the check would find."""
    reused, accepted = [], proving._accepted

    def watched(optimum, problem, found=None):
        reused.append((optimum, problem.judged(C), found))
        return accepted(optimum, problem, found)

    monkeypatch.setattr(proving, "_accepted", watched)
    for seed in range(3):
        X, y = data(50, 4, seed)
        if C is None:
            X[:, 0] += 9 * y
        model = rb.MaxMarginClassifier if C is None else rb.SoftMarginClassifier
        model = model(tol=tol) if C is None else model(C=C, tol=tol)
        model.fit(X, y)
        assert rb.certify.check(model.certificate_, X, y)
    found = [one for one in reused if one[2] is not None]
    assert found or tol < 1e-8  # beyond that floats do not suffice
    for optimum, judged, proof in found:
        theta = np.append(optimum.hyperplane.w, optimum.hyperplane.b)
        again = duality.prove(judged, theta, optimum.support, optimum.multipliers, optimum.gap)
        assert again[:-2] == proof[:-2]
        assert again.spread == proof.spread

"""The pieces under separability and margins, each against its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.svm import SVC

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.exact.rationals import rows_as_integers
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.nearest.working_set import widest
from rosenblatt.running.threads import Team
from rosenblatt.separation.coordinates import careful_product
from rosenblatt.separation.programs import decide


def problem(seed, m, d, gap=0.0):
    rng = np.random.default_rng([seed, m, d])
    X = rng.normal(size=(m, d))
    w = rng.normal(size=d)
    y = np.where(X @ w > 0, 1.0, -1.0)
    X += gap * np.outer(y, w / np.linalg.norm(w))
    return X, y


# The nearest points of two hulls -----------------------------------------------------------------


@pytest.mark.parametrize(("m", "d"), [(40, 3), (200, 20), (10, 60), (500, 2)])
def test_nearest_points_are_optimal(m, d):
    """The conditions of Karush, Kuhn and Tucker, which do not know the method."""
    X, y = problem(0, m, d, gap=0.1)
    Z, groups = y[:, None] * X, np.column_stack([y < 0, y > 0]).astype(float)
    found = shortest_sum(Z, groups)
    assert not found.meets
    assert np.allclose(groups.T @ found.weights, 1, rtol=1e-9)
    assert np.allclose(found.weights @ Z, found.theta, rtol=0, atol=1e-7 * np.abs(Z).max())
    slack = Z @ found.theta - groups @ found.t
    assert slack.min() >= -1e-9
    assert found.weights.min() > 0
    assert abs(found.weights @ slack) <= 1e-6 * found.theta @ found.theta


def test_nearest_points_give_the_maximum_margin_of_an_svm():
    X, y = problem(1, 120, 4, gap=0.3)
    Z, groups = y[:, None] * X, np.column_stack([y < 0, y > 0]).astype(float)
    found = shortest_sum(Z, groups)
    svm = SVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
    assert found.t.sum() / 2 / np.linalg.norm(found.theta) == pytest.approx(
        1 / np.linalg.norm(svm.coef_), rel=1e-5
    )


def test_hulls_that_cross_meet():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), np.where(rng.random(100) < 0.5, 1.0, -1.0)
    Z, groups = y[:, None] * X, np.column_stack([y < 0, y > 0]).astype(float)
    found = shortest_sum(Z, groups)
    assert found.meets
    assert np.abs(found.weights @ Z).max() <= 1e-10


def test_random_costs_lead_to_a_vertex():
    """As many samples as unknowns and one more, and the costs of linear programming."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), np.where(rng.random(100) < 0.5, 1.0, -1.0)
    Z, groups = y[:, None] * X, np.column_stack([y < 0, y > 0]).astype(float)
    costs = 0.5 + rng.random(100)
    found = shortest_sum(Z, groups, costs, 1e8)
    assert (found.weights > found.slack).sum() == 7
    exact = linprog(costs, A_eq=np.column_stack([Z, groups]).T, b_eq=[0] * 5 + [1, 1])
    assert costs @ found.weights == pytest.approx(exact.fun, rel=1e-5)


def test_the_time_is_looked_at():
    class OverError(Exception):
        pass

    def look_up(products):
        raise OverError

    with pytest.raises(OverError):
        shortest_sum(np.ones((2, 1)), np.ones((2, 1)), look_up=look_up)


# The widest margin ------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize(("n", "d"), [(5000, 5), (60, 100)])
@pytest.mark.parametrize("layout", ["dense", "csr", "blocks"])
def test_widest_margin(bias, n, d, layout):
    """Its margin and the bound from above agree, and nothing nearby is wider."""
    X, y = problem(2, n, d, gap=0.05)
    rows = as_rows(csr_array(X) if layout == "csr" else X)
    size = 700 if layout == "blocks" else None
    source = MemorySource(rows, (y > 0).astype(np.int32), d, block_size=size)
    with Team(2) as team:
        found = widest(source, team, 1, bias)
    augmented = np.column_stack([X, np.full(n, bias)])
    values = y * (augmented @ found.theta)
    assert np.linalg.norm(found.theta) == pytest.approx(1, rel=1e-12)
    assert values.min() == pytest.approx(found.gamma, rel=1e-12)
    assert found.gamma <= found.upper <= found.gamma * (1 + 1e-8)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = found.theta + 1e-4 * rng.normal(size=d + 1)
        other[-1] *= bias
        other /= np.linalg.norm(other)
        assert (y * (augmented @ other)).min() <= found.upper


def test_widest_margin_of_two_points():
    """Between (0, 1) and (2, 1), augmented: the difference of the two, halved."""
    source = MemorySource(as_rows(np.array([[0.0], [2.0]])), np.array([0, 1], np.int32), 1)
    with Team(1) as team:
        found = widest(source, team, 1, 1.0)
    # y(x, 1) = (0, -1) and (2, 1): the point of their segment nearest to 0 is (1/2, -1/2).
    assert found.gamma == pytest.approx(np.sqrt(0.5), rel=1e-9)
    assert np.allclose(found.theta, [np.sqrt(0.5), -np.sqrt(0.5)], rtol=1e-6)


def test_no_widest_margin_where_nothing_separates():
    source = MemorySource(
        as_rows(np.array([[0.0], [1.0], [2.0]])), np.array([0, 1, 0], np.int32), 1
    )
    with Team(1) as team:
        assert widest(source, team, 1, 1.0) is None


# Without rounding -------------------------------------------------------------------------------

vectors = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=1, max_size=9)
)


@settings(max_examples=200, deadline=None)
@given(vectors)
def test_exactly_one_of_the_two_alternatives(V):
    theta, support, _ = decide(V, lambda products, bits: None)
    matrix = np.array(V)
    found = linprog(
        np.zeros(matrix.shape[1]), A_ub=-matrix, b_ub=-np.ones(len(V)), bounds=(None, None)
    )
    if theta is not None:
        assert (matrix @ np.array(theta) > 0).all()
        assert found.status == 0
    else:
        assert found.status == 2
        assert np.linalg.matrix_rank(matrix[support]) == len(support) - 1


numbers = st.floats(-1e6, 1e6).map(lambda v: v if abs(v) > 1e-100 else 0.0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=4))
def test_whole_numbers_are_the_floats(rows):
    Z = np.array(rows)
    powers = np.array([3, -5, 0])
    whole, exponents = rows_as_integers(Z, powers)
    for row, integers, e in zip(rows, whole, exponents.tolist(), strict=True):
        for value, integer, power in zip(row, integers, powers.tolist(), strict=True):
            assert Fraction(value) / Fraction(2) ** power == integer * Fraction(2) ** e


def test_products_keep_their_digits_where_almost_all_cancels():
    Z = np.array([[1e17, 1.0, -1e17], [1.0, 2.0, 3.0]])
    basis = [[1, 1, 1], [3, 0, 3]]
    V = np.array(basis, dtype=float).T
    assert careful_product(Z, basis, [1, 2], V / [2, 4]).tolist() == [[0.5, 0.0], [3.0, 3.0]]

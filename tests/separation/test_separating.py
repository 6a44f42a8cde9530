"""Which features carry a separation: against a definition written out, dense and sparse."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

import rosenblatt as rb
from rosenblatt.data import identical
from rosenblatt.exact import null_basis
from rosenblatt.separation import explaining as separating
from rosenblatt.separation.explaining import Twins, chance, estimates, single_features, twins


def naive(X, y):
    """Feature, class above and completeness, by looking at every pair of samples."""
    found = set()
    for j in range(X.shape[1]):
        for above in (-1, 1):
            pairs = [(a, b) for a in X[y == above, j] for b in X[y == -above, j]]
            if all(a >= b for a, b in pairs) and any(a > b for a, b in pairs):
                found.add((j, above, all(a > b for a, b in pairs)))
    return found


tables = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=n, max_size=n
        ),
        st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(
            lambda y: len(set(y)) == 2
        ),
    )
)  # fmt: skip


@given(tables)
def test_they_are_those_of_the_definition(table):
    X, y = np.array(table[0], dtype=float), np.array(table[1])
    found = single_features(X, y)
    assert {(one.feature, one.above, one.complete) for one in found} == naive(X, y)
    for one in found:
        values = X[:, one.feature]
        upper, lower = values[y == one.above], values[y == -one.above]
        if one.complete:
            assert lower.max() < one.threshold < upper.min()
            assert (one.n_above, one.n_below) == (len(upper), len(lower))
        else:
            assert lower.max() == one.threshold == upper.min()
            assert one.n_above == (values > one.threshold).sum() == (upper > one.threshold).sum()
            assert one.n_below == (values < one.threshold).sum() == (lower < one.threshold).sum()
    assert single_features(csr_matrix(X), y) == found


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_in_blocks_and_sparse_with_stored_zeros(monkeypatch, block):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 50)
    X = rng.integers(-3, 4, (50, 5)).astype(float)
    X[:, 0] = np.where(y > 0, rng.integers(0, 3, 50), 0)
    X[:, 1] = y * 1e-300
    X[:, 2] = np.where(y > 0, np.nextafter(1.0, 2), 1.0)
    X[:, 3] = np.where(y > 0, -2.0, rng.integers(-2, 1, 50))
    monkeypatch.setattr(separating, "BLOCK", block)
    found = single_features(X, y)
    shown = [(one.feature, one.above, one.complete) for one in found]
    assert shown[:2] == [(1, 1, True), (2, 1, True)]
    assert sorted(shown[2:]) == [(0, 1, False), (3, -1, False)]
    offs = [one.n_above + one.n_below for one in found[2:]]
    assert offs == sorted(offs, reverse=True)
    stored = csr_matrix(X + 9)
    stored.data -= 9  # not X again: 1 + 1e-16 is rounded. What counts are the stored zeros
    assert single_features(stored, y) == single_features(stored.toarray(), y)


def test_a_threshold_where_no_float_lies_between():
    X = np.array([[1.0], [np.nextafter(1.0, 2)]])
    (one,) = single_features(X, np.array([-1, 1]))
    assert one.complete
    assert one.threshold == 1.0
    assert (one.n_above, one.n_below) == (1, 1)
    (one,) = single_features(np.array([[-1.7e308], [1.7e308]]), np.array([1, -1]))
    assert one.threshold == 0.0
    assert one.above == -1


def test_a_constant_says_nothing():
    assert single_features(np.ones((4, 2)), np.array([-1, 1, 1, -1])) == []


# ------------------------------------------------------------------------------------- twins


@given(tables)
def test_twins_are_those_of_the_definition(table):
    X, y = np.array(table[0], dtype=float), np.array(table[1])
    sets = {}
    for i, row in enumerate(table[0]):
        sets.setdefault(tuple(row), []).append(i)
    mixed = [rows for rows in sets.values() if len({table[1][i] for i in rows}) == 2]
    pairs = {tuple(min(i for i in rows if y[i] == s) for s in (-1, 1)) for rows in mixed}
    found = twins(X, y)
    assert len(found.pairs) == len(pairs)
    assert set(found.pairs) == pairs
    assert found.n_samples == sum(map(len, mixed))
    assert twins(csr_matrix(X), y) == found
    assert twins(np.where(X == 0, -0.0, X), y) == found


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_many_rows_without_twins_and_one_pair(monkeypatch, block):
    """Whole numbers, halves, tiny ones: the keys must not fall together."""
    monkeypatch.setattr(identical, "BLOCK", block)
    grid = np.array(np.meshgrid(*[np.arange(-8.0, 8)] * 3)).reshape(3, -1).T
    for scale in (1.0, 0.5, 1e-308, 2.0**900, np.pi):
        X = grid * scale
        y = np.where(np.arange(len(X)) % 3 == 0, 1, -1)
        assert len(np.unique(identical.row_keys(X))) == len(X)
        assert twins(X, y) == Twins([], 0)
        X[70] = X[30]
        assert y[70] != y[30]
        (pair,) = twins(X, y).pairs
        assert sorted(pair) == [30, 70]


@pytest.mark.parametrize("layout", [np.array, csr_matrix])
def test_rows_are_identical_by_themselves_not_by_their_numbers(monkeypatch, layout):
    X = layout([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [3.0, 0.0], [0.0, 2.0]])
    for keys in (identical.row_keys, lambda X: np.zeros(X.shape[0], np.uint64)):
        monkeypatch.setattr(identical, "row_keys", keys)
        first, kind = identical.distinct(X)
        assert first.tolist() == [0, 1, 3]
        assert kind.tolist() == [0, 1, 0, 2, 1]


# ------------------------------------------------------------------ coefficients without estimate


def test_coefficients_against_the_first_value_of_a_column():
    # A number, then the values of a text column. On it: a number of either class, in value 0.
    X = np.array(
        [[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1.0]]
    )
    y = np.array([-1, -1, 1, 1, 1, -1])
    plane = rb.Hyperplane([0.0, 5.0, 6.0, 1.0], -5.0)
    touch = [0, 2], [1.0, 1.0], X[0], plane, [0, 1, 2, 3], [0, 1, 2, 3], [1.0] * 4
    proof = rb.QuasiSeparable(*touch)
    assert rb.certify.check(proof, X, y)
    for other in (X, csr_matrix(X)):
        assert estimates(proof, other, y, [[1, 2, 3]]) == ([(2, 1), (3, -1)], [])
    thirds = (Fraction(0), Fraction(5, 3), Fraction(6, 3), Fraction(1, 3), Fraction(-5, 3))
    exactly = rb.QuasiSeparable(*touch, thirds)
    assert estimates(exactly, X, y, [[1, 2, 3]]) == ([(2, 1), (3, -1)], [])
    # A column that the others settle has no coefficient of its own.
    wide = np.column_stack([X, X[:, 0] + 2 * X[:, 2]])
    proof = rb.QuasiSeparable(*touch[:2], wide[0], rb.Hyperplane([0, 5, 4, 1, 1], -5), *touch[4:])
    assert not rb.certify.check(proof, wide, y)
    plane = rb.Hyperplane([-1.0, 5.0, 4.0, 1.0, 1.0], -5.0)
    proof = rb.QuasiSeparable(*touch[:2], wide[0], plane, *touch[4:])
    assert rb.certify.check(proof, wide, y)
    assert estimates(proof, wide, y, [[1, 2, 3]]) == ([(2, 1), (3, -1)], [4])


groups = st.integers(3, 9).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-1, 1), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(
            lambda y: len(set(y)) == 2
        ),
    )
)  # fmt: skip


@given(groups)
def test_finite_are_those_that_no_weak_hyperplane_moves(table):
    """Exactly: the weak hyperplanes span the null space of the samples that are on all of them."""
    x, text, y = (np.array(part) for part in table)
    values = [np.flatnonzero(text == value) for value in np.unique(text)]
    X = np.zeros((len(x), 1 + len(values)))
    X[:, 0] = x
    for k, rows in enumerate(values):
        X[rows, 1 + k] = 1
    if np.linalg.matrix_rank(np.column_stack([X[:, 0], X[:, 2:], np.ones(len(X))])) <= len(values):
        return  # the number is settled by the text: its coefficient has no meaning
    certificate = rb.separability(X, y)
    if not isinstance(certificate, rb.QuasiSeparable):
        return
    group = list(range(1, 1 + len(values)))
    running, left_out = estimates(certificate, X, y, [group])
    assert left_out == []
    plane = certificate.hyperplane
    planes = [certificate.exact or [*plane.w.tolist(), plane.b]]
    planes += null_basis(np.column_stack([X, np.ones(len(X))])[certificate.on])
    found = [
        {0: theta[0], len(theta) - 1: theta[-1] + theta[1]}
        | {j: theta[j] - theta[1] for j in group[1:]}
        for theta in planes
    ]
    assert {j for j, _ in running} == {
        j for relative in found for j, x in relative.items() if x != 0
    }
    # Floats decide about the small whole numbers here: the signs that a weak hyperplane can have.
    Z = np.column_stack([X, np.ones(len(X))]) * y[:, np.newaxis]
    for j, sign in running:
        unit = np.eye(len(X[0]) + 1)[j] - np.eye(len(X[0]) + 1)[1] * (j in group)
        unit[1] += j == len(X[0])
        least, most = (
            c * linprog(c * unit, A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1)).fun
            for c in (1, -1)
        )
        assert sign == (most > 1e-6 and least > -1e-6) - (least < -1e-6 and most < 1e-6)


def test_signs_that_are_not_forced():
    X, y = np.array([[0, 0], [0, 0], [1, 2], [1, -1.0]]), np.array([-1, 1, -1, -1])
    found = estimates(rb.separability(X, y), X, y, [])
    assert found.running == [(0, -1), (1, 0)]
    assert estimates(rb.separability(X, -y), X, -y, []).running == [(0, 1), (1, 0)]


def test_too_much_work_leaves_signs_open(monkeypatch):
    X, y = np.array([[0, 0], [0, 0], [1, 2], [1, -1.0]]), np.array([-1, 1, -1, -1])
    monkeypatch.setattr(separating, "MOST_WORK", 0)
    assert estimates(rb.separability(X, y), X, y, []).running == [(0, 0), (1, 0)]


# ------------------------------------------------------------------------------------- chance


@settings(max_examples=12)
@given(
    st.lists(st.lists(st.integers(-1, 1), min_size=2, max_size=2), min_size=2, max_size=5)
)  # fmt: skip
def test_chance_is_an_upper_bound(points):
    """Against all labelings, each put to the exact test."""
    X = np.array(points, dtype=float)
    n = len(X)
    separable = 2  # all labels the same
    for labels in product([-1, 1], repeat=n - 1):
        if 1 in labels:  # the opposite labels have the same answer
            separable += 2 * isinstance(rb.separability(X, np.array([-1, *labels])), rb.Separable)
    found = chance(X, 0)
    assert separable / 2**n <= found.at_most
    assert found.any_labels == (separable == 2**n)
    assert found.n_distinct == len(set(map(tuple, points)))
    assert chance(csr_matrix(X), 0) == found


def test_chance_without_a_rank(monkeypatch):
    X = np.eye(4)
    assert chance(X, 0) == (1.0, True, 4, 3)
    monkeypatch.setattr(separating, "MOST_ELIMINATION", 0)
    assert chance(X, 0) == (1.0, False, 4, None)

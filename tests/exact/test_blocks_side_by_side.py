"""Blocks of rows that are looked at side by side: answers as one by one, and as naive ones."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.exact import blocks as blocks_module
from rosenblatt.exact import independent_rows, margin_of, passes, signs, smallest
from rosenblatt.exact.blocks import RowBlock, Stack
from rosenblatt.exact.passes import in_turn, map_blocks
from rosenblatt.exact.sides import _digits, _packed, first_not_annihilated
from rosenblatt.exact.systems import null_basis, row_space, spanning_rows
from rosenblatt.proofs.inputs import _numbered
from rosenblatt.running.threads import Team


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Many blocks of few rows."""
    monkeypatch.setattr(blocks_module, "ENTRIES", 24)
    monkeypatch.setattr(passes, "SPAN", 60)


def backwards(task, items):
    """As threads may: the last one first."""
    return [task(item) for item in reversed(items)][::-1]


def kinds(X):
    """The same rows as an array, sparse, in a stack of both, with the zeros of empty rows."""
    cuts = [0, 7, 8, len(X) // 2, len(X)]
    parts = [X[a:z] for a, z in pairwise(cuts)]
    yield from (X, csr_array(X))
    yield Stack(X.shape, lambda: iter(parts))
    yield Stack(X.shape, lambda: (csr_array(part) for part in parts))


def table(n=101, d=4):
    X = np.random.default_rng(0).integers(-3, 4, size=(n, d)).astype(float)
    X[20:60] = 0.0
    return X


def test_every_row_comes_once_and_in_order():
    X = table()
    among = np.r_[0, 3, 22:31, 58:90]
    for matrix in kinds(X):
        for each in (in_turn, backwards):
            told = []

            def rows_of(block, rows):
                values = block.times(np.eye(4))
                numbers = np.r_[rows]
                assert (values == X[numbers]).all()
                return numbers

            found = list(map_blocks(matrix, rows_of, each, look_up=told.append))
            assert np.concatenate(found).tolist() == list(range(len(X)))
            assert len(told) == len(found) > 4
            found = list(map_blocks(matrix, rows_of, each, among))
            assert np.concatenate(found).tolist() == among.tolist()


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-200, 1e300])
def test_signs_and_margins_do_not_depend_on_who_looks(scale):
    X, y = table() * scale, np.where(np.arange(101) % 3, 1, -1)
    theta = [1.0, -2.0, 0.5, 3.0, 0.0]
    values = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, theta, strict=False)) for x in X]
    naive = [(v > 0) - (v < 0) for v in values]
    least = min(v * int(side) for v, side in zip(values, y, strict=True))
    some = np.array([1, 2, 50, 61, 99])
    few = min(values[i] * int(y[i]) for i in some)
    margins = set()
    for matrix in kinds(X):
        for size in (1, 2, 5):
            with Team(size) as team:
                assert signs(matrix, theta, each=team.each_product).tolist() == naive
                assert smallest(matrix, y, theta, each=team.each_product) == least
                assert smallest(matrix, y, theta, some, each=team.each_product) == few
                margins.add(margin_of(matrix, y, theta, team.each_product))
    assert len(margins) == 1


@pytest.mark.parametrize("d", [1, 3, 8, 9, 130, 9000])
def test_a_row_apart_knows_nothing_of_its_neighbours(d):
    rng = np.random.default_rng(d)
    X, t = rng.standard_normal((7, d)), rng.standard_normal(d)
    alone = [RowBlock(x, x).dot_apart(t).item() for x in np.split(X, 7)]
    for rows in (X, np.asfortranarray(X), np.ascontiguousarray(X[:, ::-1])[:, ::-1]):
        assert RowBlock(rows, rows).dot_apart(t).tolist() == alone
    np.testing.assert_allclose(alone, X @ t, atol=1e-11)
    none = RowBlock(X[:0], X[:0])
    assert none.dot_apart(t).shape == (0,)


def test_the_clock_can_end_it_from_any_thread():
    def end(numbers):
        raise TimeoutError

    with Team(3) as team, pytest.raises(TimeoutError):
        signs(table(), np.ones(5), end, team.each)


def test_what_is_not_finite():
    for x, finite in ((1e300, True), (-1e-320, True), (np.inf, False), (np.nan, False)):
        X = np.array([[1.0, x], [-1e200, 0.0]])
        assert RowBlock(X, X).finite() is finite


def test_no_row_that_is_not_zero_along_a_vector_is_missed():
    # Several vectors are looked at as the digits of one: each has to count.
    rng = np.random.default_rng(1)
    basis = rng.integers(-4, 5, size=(3, 9)).astype(float)
    null = [[*vector, 0] for vector in null_basis(basis)]
    X = rng.integers(-3, 4, size=(40, 3)) @ basis
    for matrix in kinds(X):
        assert first_not_annihilated(matrix, null) is None
    for k in range(len(null)):
        # Orthogonal to all vectors but one.
        others = [vector[:-1] for i, vector in enumerate(null) if i != k]
        x = next(v for v in null_basis(np.array(others, float)) if np.dot(v, null[k][:-1]))
        off = X.copy()
        off[31] += x
        for matrix in kinds(off):
            for each in (in_turn, backwards):
                assert first_not_annihilated(matrix, null, each=each) == 31
                assert first_not_annihilated(matrix, null, np.arange(31), each) is None
        halves = first_not_annihilated(off / 2, null)  # not whole numbers
        assert halves == 31


def test_digits_have_room():
    block = RowBlock(np.array([[3.0, -2.0]]), np.array([[3.0, -2.0]]))
    bits = _digits(block, np.array([5.0, 1.0, 2.0]))  # at most 19 either way
    assert 2**bits > 2 * 19 + 1
    V = np.array([[1.0, -4, 0, 5, 2, -3, 1, 1, 0, -1], [0, 1, -1, 1, 0, 1, 0, -1, 1, 0]])
    packed = _packed(V, bits)
    assert packed.shape[1] == -(-10 // (53 // bits)) < 10
    assert np.abs(packed).max() < 2**53
    for x in ([3, -2], [-1, 1], [2, 2]):
        digits = []
        for total in (np.array(x, object) @ packed.astype(int).astype(object)).tolist():
            rest = total
            for _ in range(53 // bits):
                digit = (rest + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
                digits, rest = [*digits, digit], (rest - digit) >> bits
        assert digits[:10] == (np.array(x) @ V).tolist()


def test_independent_rows_of_a_tall_matrix_are_the_first():
    # So tall that most of its rows are only looked at along a random vector.
    rng = np.random.default_rng(2)
    low = rng.integers(-2, 3, size=(900, 2)) @ rng.integers(-2, 3, size=(2, 6))
    Z = low.astype(float)
    Z[700] += [0, 0, 0, 0, 0.25, 0]
    Z[850] += [0, 1e-9, 0, 0, 0, 0]
    Z[851] = Z[850]
    taken: list[int] = []
    reduced: list[list[Fraction]] = []
    for i, row in enumerate(Z.tolist()):  # elimination as it is taught
        rest = [Fraction(v) for v in row]
        for other in reduced:
            j = next(j for j, v in enumerate(other) if v)
            rest = [v - rest[j] / other[j] * u for v, u in zip(rest, other, strict=True)]
        if any(rest):
            taken, reduced = [*taken, i], [*reduced, rest]
    assert len(taken) == 4
    for again in (True, False):
        assert independent_rows(Z, again)[0].tolist() == taken
    basis, null = row_space(Z)
    assert basis.tolist() == spanning_rows(Z).tolist() == taken
    assert null == null_basis(Z)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2, 2, 1, 2]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([True, False]),
        np.array([3, 1, 2, 1]),
        np.array([1.5, 1.5]),
    ],
)
def test_two_classes_are_numbered_like_many(labels):
    classes, codes = _numbered(labels)
    expected, wanted = np.unique(labels, return_inverse=True)
    assert classes.tolist() == expected.tolist()
    assert codes.astype(int).tolist() == wanted.tolist()

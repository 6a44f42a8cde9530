"""The exact toolkit against ten lines of Gaussian elimination in fractions."""

import math
from fractions import Fraction
from itertools import islice, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.exact import (
    Solution,
    enclose,
    independent_rows,
    margin_of,
    null_basis,
    signs,
    solve,
    spanning_rows,
    systems,
)
from rosenblatt.exact import blocks as blocks_module
from rosenblatt.exact.enclosure import enclosed_floats
from rosenblatt.exact.rationals import as_objects, decompose, scaled
from rosenblatt.exact.sides import Form, first_not_annihilated


def naive_echelon(rows):
    """``(taken, pivots, reduced rows)`` of a matrix of numbers, greedily from the top."""
    taken, pivots, basis = [], [], []
    for i, row in enumerate(rows):
        rest = [Fraction(v) for v in row]
        for j, b in zip(pivots, basis, strict=True):
            rest = [v - rest[j] * u for v, u in zip(rest, b, strict=True)]
        j = next((j for j, v in enumerate(rest) if v), None)
        if j is not None:
            rest = [v / rest[j] for v in rest]
            basis = [[v - b[j] * u for v, u in zip(b, rest, strict=True)] for b in basis]
            taken, pivots, basis = [*taken, i], [*pivots, j], [*basis, rest]
    return taken, pivots, basis


def naive_solve(A, b):
    """The solution of a system of full column rank in fractions, or None."""
    k = A.shape[1]
    _, pivots, basis = naive_echelon([[*row, v] for row, v in zip(A.tolist(), b, strict=True)])
    if k in pivots:
        return None
    x = [Fraction(0)] * k
    for j, row in zip(pivots, basis, strict=True):
        x[j] = row[k]
    return tuple(x)


def naive_value(x, theta):
    return sum(
        (Fraction(a) * Fraction(t) for a, t in zip([*x, 1], theta, strict=True)), Fraction(0)
    )


wide = st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False)
small = st.integers(-3, 3).map(float)
rounded = st.integers(-(2**60), 2**60).map(float)
halves = st.tuples(st.integers(-5, 5), st.integers(-1000, 1000)).map(lambda t: math.ldexp(*t))
entries = st.sampled_from([small, small, wide, rounded, halves])


@st.composite
def matrices(draw, least=0, most=6):
    """Matrices of one kind of numbers, many of them rank-deficient by repeated columns and rows."""
    kind = draw(entries)
    m, d = draw(st.integers(least, most)), draw(st.integers(least, most))
    Z = np.array([[draw(kind) for _ in range(d)] for _ in range(m)]).reshape(m, d)
    if m > 1 and draw(st.booleans()):
        Z[draw(st.integers(0, m - 1))] = Z[draw(st.integers(0, m - 1))]
    if d > 1 and draw(st.booleans()):
        Z[:, draw(st.integers(0, d - 1))] = 2 * Z[:, draw(st.integers(0, d - 1))]
    return np.where(np.isfinite(Z), Z, 0.0)


class TestIntegers:
    @given(st.lists(wide | rounded | halves))
    def test_decompose_loses_nothing(self, values):
        M, E = decompose(values)
        assert [Fraction(int(m)) * Fraction(2) ** int(e) for m, e in zip(M, E, strict=True)] == [
            Fraction(v) for v in values
        ]
        assert all(m % 2 or (m, e) == (0, 0) for m, e in zip(M.tolist(), E.tolist(), strict=True))

    def test_the_smallest_float(self):
        M, E = decompose(np.array([5e-324, -1.5e-323, 1.7976931348623157e308]))
        assert M.tolist() == [1, -3, 2**53 - 1]
        assert E.tolist() == [-1074, -1074, 971]

    @given(matrices())
    def test_scaled_matrices_are_integers(self, Z):
        S = scaled(Z)
        integers = as_objects(S.M, S.E)
        for (i, j), value in np.ndenumerate(Z):
            assert Fraction(2) ** int(S.r[i] + S.c[j]) * Fraction(value) == integers[i, j]

    def test_powers_of_two_cost_nothing(self):
        Z = np.array([[1.0, 3.0], [5.0, 7.0]])
        far = Z * 2.0 ** np.array([[-900], [700]]) * 2.0 ** np.array([100, -100])
        assert as_objects(*scaled(far)[:2]).tolist() == Z.tolist()


class TestIndependentRows:
    @given(matrices())
    def test_rows_are_the_greedy_ones_and_the_block_is_regular(self, Z):
        rows, columns = independent_rows(Z)
        assert rows.tolist() == naive_echelon(Z.tolist())[0]
        assert len(naive_echelon(Z[rows][:, columns].tolist())[0]) == len(rows) == len(columns)

    @pytest.mark.parametrize("shape", [(40, 40), (300, 30), (30, 70), (700, 9)])
    @pytest.mark.parametrize("rank", [0, 1, 7, 9])
    def test_products_of_thin_integer_matrices(self, shape, rank):
        rng = np.random.default_rng(shape[0] + rank)
        Z = rng.integers(-9, 10, (shape[0], rank)) @ rng.integers(-9, 10, (rank, shape[1]))
        Z = Z.astype(float)
        Z[: shape[0] // 2] = Z[0]
        rows, columns = independent_rows(Z)
        assert rows.tolist() == naive_echelon(Z.tolist())[0]
        assert abs(np.linalg.slogdet(Z[np.ix_(rows, columns)])[0]) == 1

    def test_nearly_dependent_rows_are_independent(self):
        Z = np.array([[1.0, 1.0], [1.0, 1.0 + 2**-52], [1.0, 3.0]])
        assert independent_rows(Z)[0].tolist() == [0, 1]

    def test_a_prime_that_divides_a_row_misleads_nobody(self, monkeypatch):
        p, q, r = 84886727, 84886717, 84886699
        monkeypatch.setattr(systems, "primes", lambda terms: iter([p, q, r]))
        Z = np.array(
            [[0.0, p, 0.0], [0.0, 0.0, p], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 7.0, 7.0]]
        )
        assert independent_rows(Z)[0].tolist() == [0, 1, 2]

    def test_primes_are_prime_and_others_every_time(self):
        drawn = [p for _ in range(3) for p in islice(systems.primes(50), 20)]
        assert len(set(drawn)) > 50
        for p in drawn:
            assert all(p % f for f in range(2, math.isqrt(p) + 1))
            assert 52 * (p // 2) ** 2 < 2**53


def misled(Z):
    """`independent_rows` as it would be if all primes divided all numbers but the first."""
    return np.array([0]), np.array([0])


class TestSpanningRows:
    @given(matrices(), st.booleans())
    def test_span_all_whatever_primes_say(self, Z, lie):
        Z = np.insert(np.insert(Z, 0, 1.0, axis=1), 0, 1.0, axis=0)
        with pytest.MonkeyPatch.context() as patch:
            if lie:
                patch.setattr("rosenblatt.exact.systems.independent_rows", misled)
            rows = spanning_rows(Z)
        rank = len(naive_echelon(Z.tolist())[0])
        assert len(rows) == rank == len(naive_echelon(Z[rows].tolist())[0])
        assert (np.diff(rows) > 0).all()

    @pytest.mark.parametrize("shape", [(9, 40), (40, 9)])
    def test_long_dependent_rows(self, shape):
        rng = np.random.default_rng(0)
        Z = rng.standard_normal(shape)
        Z[2] = Z[0] / 4
        Z[:, 3] = Z[:, 1] - Z[:, 1] / 2
        assert 2 not in spanning_rows(Z)
        assert len(spanning_rows(Z)) == 8


class TestSolve:
    @given(matrices(least=1), st.data())
    def test_equals_elimination_in_fractions(self, Z, data):
        rows, _ = independent_rows(Z)
        A = Z[rows].T
        kind = st.one_of(small, wide, st.fractions(max_denominator=1000))
        if data.draw(st.booleans()):
            b = [data.draw(kind) for _ in range(len(A))]
        else:
            x = [data.draw(st.fractions(max_denominator=99)) for _ in rows]
            b = [sum((Fraction(a) * v for a, v in zip(r, x, strict=True)), Fraction(0)) for r in A]
        expected = naive_solve(A, b)
        solution = solve(A, b)
        assert (solution if solution is None else solution.fractions()) == expected

    def test_hilbert(self):
        n = 12
        H = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
        assert solve(H, np.ones(n)).fractions() == naive_solve(H, [1] * n)

    def test_large_random_floats(self):
        rng = np.random.default_rng(0)
        A, b = rng.standard_normal((60, 40)), rng.standard_normal(40)
        x = solve(A, [sum(map(Fraction, np.zeros(0)), Fraction(0)) for _ in range(60)])
        assert x == Solution([0] * 40, 1)
        S = A[:40]
        x = solve(S, b)
        assert x.denominator.bit_length() > 1500
        np.testing.assert_allclose(x.floats(), np.linalg.solve(S, b), rtol=1e-9)
        for row, side in zip(S, b, strict=True):
            assert naive_value(row, [*x.fractions(), -Fraction(side)]) == 0

    def test_inconsistent_only_in_long_numbers(self):
        p = 2 * 3 * 5 * 7 * 10**300
        assert solve(np.array([[1.0], [1.0]]), [1, 1 + p]) is None
        assert solve(np.array([[1.0], [1.0]]), [1, 1]) == Solution([1], 1)

    def test_numpy_integers_inside_fractions_do_not_overflow(self):
        A = np.random.default_rng(0).standard_normal((9, 9))
        b = [Fraction(np.int64(j == 2)) for j in range(9)]
        assert solve(A, b).fractions() == naive_solve(A, [int(v) for v in b])

    def test_primes_that_divide_every_number(self, monkeypatch):
        monkeypatch.setattr("rosenblatt.exact.systems.independent_rows", misled)
        A = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 7.0]])
        assert solve(A, [0, 0, 3]).fractions() == (Fraction(2), Fraction(-1))
        with pytest.raises(ValueError, match="linearly dependent"):
            solve(A[[0, 1, 1]], [0, 0, 0])

    def test_from_the_smallest_to_the_largest_float(self):
        big, small = 1.7976931348623157e308, 5e-324
        A = np.array([[big, small, 1.0], [small, -big, big], [3.0, small, -small]])
        b = [big, small, 1.0]
        assert solve(A, b).fractions() == naive_solve(A, b)

    def test_dependent_columns_and_wrong_lengths_are_refused(self):
        with pytest.raises(ValueError, match="linearly dependent"):
            solve(np.ones((3, 2)), [1, 1, 1])
        with pytest.raises(ValueError, match="b has 2 entries but A has 3 rows"):
            solve(np.eye(3), [1, 1])

    def test_floats_are_nearest_even_for_long_integers_and_out_of_range(self):
        huge = 10**5000
        numbers = Solution([huge + 1, 2 * huge // 3, 10**9000, -(10**9000), 1], huge)
        expected = [1.0, 2 / 3, math.inf, -math.inf, 0.0]
        assert numbers.floats().tolist() == expected

    def test_no_unknowns(self):
        assert solve(np.zeros((2, 0)), [0, 0]) == Solution([], 1)
        assert solve(np.zeros((2, 0)), [0, 1]) is None


class TestNullBasis:
    @given(matrices(least=1))
    def test_spans_exactly_what_the_matrix_kills(self, Z):
        basis = null_basis(Z)
        assert len(basis) == Z.shape[1] - len(naive_echelon(Z.tolist())[0])
        for vector in basis:
            assert all(naive_value(row, [*vector, 0]) == 0 for row in Z.tolist())
            assert math.gcd(*vector) == 1
            assert all(type(n) is int for n in vector)
        assert len(naive_echelon(basis)[0]) == len(basis)
        heads = [
            [
                i
                for i in range(Z.shape[1])
                if v[i] > 0 and not any(w[i] for w in basis if w is not v)
            ]
            for v in basis
        ]
        assert all(heads)

    def test_one_hot_columns_give_signs(self):
        rng = np.random.default_rng(0)
        groups = [np.eye(k)[np.append(np.arange(k), rng.integers(0, k, 60 - k))] for k in (3, 5, 2)]
        Z = np.hstack([*groups, rng.standard_normal((60, 2)), np.ones((60, 1))])
        basis = null_basis(Z)
        assert len(basis) == 3
        assert {n for vector in basis for n in vector} <= {-1, 0, 1}

    def test_rows_that_all_primes_miss_are_found(self, monkeypatch):
        monkeypatch.setattr("rosenblatt.exact.systems.independent_rows", misled)
        assert null_basis(np.array([[1.0, 1.0], [1.0, 2.0]])) == []
        assert null_basis(np.array([[1.0, 1.0, 0], [1.0, 2.0, 0], [2, 3, 0]])) == [[0, 0, 1]]


class TestEnclose:
    @given(st.integers(1, 7), st.integers(0, 2**32), st.sampled_from([0, 3, 40, 300]))
    def test_contains_the_exact_solution(self, k, seed, spread):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((k, k)) * 2.0 ** rng.integers(-spread, spread + 1, k)
        A *= 2.0 ** rng.integers(-spread, spread + 1, (k, 1))
        b = rng.standard_normal(k) * 2.0 ** rng.integers(-40, 41, k)
        found = enclose(A, b)
        assert found is not None
        exact = naive_solve(A, b)
        for low, value, high in zip(
            *map(np.ndarray.tolist, found[:1]), exact, found[1], strict=True
        ):
            assert Fraction(low) <= value <= Fraction(high)

    def test_is_narrow(self):
        rng = np.random.default_rng(1)
        A, b = rng.standard_normal((80, 80)), rng.standard_normal(80)
        low, high = enclose(A, b)
        assert ((high - low) <= 1e-14 * np.abs(low)).all()

    def test_ill_conditioned_systems_are_contained_or_refused(self):
        for n in range(2, 14):
            H = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
            found = enclose(H, np.ones(n))
            if n <= 8:
                assert found is not None
            if found is not None:
                exact = naive_solve(H, [1] * n)
                assert all(
                    Fraction(low) <= v <= Fraction(high)
                    for low, v, high in zip(
                        found[0].tolist(), exact, found[1].tolist(), strict=True
                    )
                )
        assert found is None

    @pytest.mark.parametrize(
        "A",
        [
            np.zeros((2, 2)),
            np.ones((2, 2)),
            np.array([[1.0, 2.0], [2.0, 4.0]]),
            np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]),
            np.array([[0.1, 0.7], [0.3, 2.1]]) * 3,
        ],
    )
    def test_singular_systems_are_refused(self, A):
        if naive_echelon(A.tolist())[0] != list(range(len(A))):
            assert enclose(A, np.ones(len(A))) is None

    def test_answers_out_of_range_are_bounded_outwards(self):
        low, high = enclose(np.array([[1e-200]]), np.array([1e200]))
        assert low[0] == np.finfo(float).max
        assert high[0] == np.inf
        low, high = enclose(np.array([[1e200]]), np.array([-1e-200]))
        assert low[0] < 0 <= high[0]

    def test_numbers_too_far_apart_to_scale_are_refused(self):
        assert enclose(np.array([[1e300, 1e-300], [1e-300, 1e300]]) + 0.0, np.ones(2)) is None


def nearest_solution(A, b):
    """The floats nearest to a solution, by an enclosure if it tells them."""
    floats = enclosed_floats(A, b[:, None], np.ones(1))
    return solve(A, b).floats() if floats is None else floats


class TestNearestSolution:
    @given(st.integers(1, 7), st.integers(0, 2**32), st.sampled_from(["floats", "whole", "far"]))
    def test_rounds_every_number_once(self, k, seed, kind):
        rng = np.random.default_rng(seed)
        A, b = rng.standard_normal((k, k)), rng.standard_normal(k)
        if kind == "whole":
            A, b = rng.integers(-4, 5, (k, k)) + 20.0 * np.eye(k), rng.integers(-4, 5, k) + 0.0
        if kind == "far":
            A *= 2.0 ** rng.integers(-300, 300, k) * 2.0 ** rng.integers(-99, 99, (k, 1))
        expected = [float(x) for x in naive_solve(A, b)]
        assert nearest_solution(A, b).tolist() == expected
        assert solve(A, [Fraction(v) for v in b.tolist()]).floats().tolist() == expected

    def test_halfway_between_two_floats(self):
        for b, x in ((2.0**53 + 2, 2.0**52 + 1), (3.0 * 2**-1074, 2 * 2.0**-1074)):
            assert nearest_solution(np.array([[2.0]]), np.array([b])).tolist() == [x]
        # The first number is 2**53 + 1 + 2**-52: above the middle, though just.
        A, b = np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([2.0**53, 1.0 + 2.0**-52])
        assert nearest_solution(A, b).tolist() == [2.0**53 + 2, 1.0 + 2.0**-52]

    def test_an_ill_conditioned_system(self):
        n = 12
        H = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
        expected = [float(x) for x in naive_solve(H, [1] * n)]
        assert nearest_solution(H, np.ones(n)).tolist() == expected

    def test_more_equations_than_unknowns(self):
        A = np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 1.0]])
        assert solve(A, np.array([1.0, 0.0, 2.0])).floats().tolist() == [0.5, 0.5]
        assert solve(A, np.array([1.0, 0.0, 3.0])) is None


def theta_kinds(width):
    return st.one_of(
        st.lists(st.one_of(small, wide, halves), min_size=width, max_size=width),
        st.lists(st.fractions(max_denominator=50), min_size=width, max_size=width),
        st.lists(st.integers(-3, 3), min_size=width, max_size=width),
    )


class TestSigns:
    @given(matrices(least=1), st.data())
    def test_equal_signs_of_fractions(self, X, data):
        theta = data.draw(theta_kinds(X.shape[1] + 1))
        if data.draw(st.booleans()):
            i = data.draw(st.integers(0, len(X) - 1))
            theta[-1] = -naive_value(X[i], [*theta[:-1], 0])
        expected = [(v > 0) - (v < 0) for v in (naive_value(x, theta) for x in X.tolist())]
        assert signs(X, theta).tolist() == expected
        assert signs(csr_array(X), theta).tolist() == expected
        assert signs(np.asfortranarray(X), theta).tolist() == expected

    def test_rounding_would_be_wrong(self):
        X = np.array([[1.0, 2.0**-53], [1.0, -(2.0**-53)], [1.0, 0.0]])
        assert np.sign(X @ [1.0, 1.0] - 1.0).tolist() != [1, -1, 0]
        assert signs(X, [1.0, 1.0, -1.0]).tolist() == [1, -1, 0]

    def test_float32_and_integers_of_any_length(self):
        x = np.array([[0.1]], dtype=np.float32)
        assert signs(x, [1.0, -0.1]).tolist() == [1]
        long = np.array([[2**53 + 1], [2**53 - 1], [-(2**63)]])
        assert signs(long, [1.0, -(2.0**53)]).tolist() == [1, -1, -1]
        assert signs(csr_array(long), [1.0, -(2.0**53)]).tolist() == [1, -1, -1]
        assert signs(np.array([[2**64 - 1]], dtype=np.uint64), [1.0, -(2.0**64)]).tolist() == [-1]
        assert signs(np.array([[-128]], dtype=np.int8), [1, 128]).tolist() == [0]

    @pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
    def test_overflow_and_underflow(self, scale):
        X = np.array([[1e300, 1e300], [1e300, -1e300], [5e-324, 5e-324], [0.0, 5e-324]])
        theta = [scale, -scale, 0.0]
        assert signs(X, theta).tolist() == [0, 1, 0, -1]

    @pytest.mark.parametrize("order", list(permutations(range(4))))
    def test_sums_that_overflow_on_the_way(self, order, monkeypatch):
        monkeypatch.setattr(blocks_module, "ENTRIES", 4)
        X = np.array([[0.5, 0.5, 0.5, 0.5], [1e308, 1e308, 1.5e308, 0.6e308]])[:, order]
        theta = [*np.array([1.0, 1.0, -1.0, -1.0])[list(order)], 0.5]
        assert signs(X, theta).tolist() == [1, -1]
        assert signs(csr_array(X), theta).tolist() == [1, -1]

    @pytest.mark.parametrize("kind", [np.asarray, csr_array])
    def test_many_blocks(self, kind, monkeypatch):
        monkeypatch.setattr(blocks_module, "ENTRIES", 50)
        monkeypatch.setattr("rosenblatt.exact.sides.CHUNK", 2)
        rng = np.random.default_rng(0)
        X = np.where(rng.random((300, 7)) < 0.5, 0.0, rng.standard_normal((300, 7)))
        X[10:40] = 0.0
        theta = [Fraction(int(v), 7) for v in rng.integers(-5, 6, 8)]
        X[::3] = np.rint(X[::3] * 4)
        expected = [int(np.sign(naive_value(x, theta))) for x in X.tolist()]
        assert 0 in expected
        assert signs(kind(X), theta).tolist() == expected

    def test_wrong_length_is_refused(self):
        with pytest.raises(ValueError, match="theta has 2 entries but X has 2 columns: give 3"):
            signs(np.eye(2), [1.0, 1.0])

    @given(matrices(least=1), st.data())
    def test_rows_not_annihilated(self, X, data):
        vectors = data.draw(
            st.lists(
                st.lists(
                    st.sampled_from([0, 0, 1, -1, 2, 3**50]),
                    min_size=X.shape[1] + 1,
                    max_size=X.shape[1] + 1,
                ),
                max_size=3,
            )
        )
        bad = [i for i, x in enumerate(X.tolist()) if any(naive_value(x, v) for v in vectors)]
        assert first_not_annihilated(X, vectors) == (bad[0] if bad else None)
        assert first_not_annihilated(csr_array(X), vectors) == (bad[0] if bad else None)


class TestMargin:
    @given(matrices(least=1), st.data())
    def test_equals_the_exact_quotient(self, X, data):
        theta = data.draw(theta_kinds(X.shape[1] + 1))
        y = np.array([data.draw(st.sampled_from([-1, 1])) for _ in X])
        lowest = min(s * naive_value(x, theta) for x, s in zip(X.tolist(), y.tolist(), strict=True))
        norm2 = sum(Fraction(t) ** 2 for t in theta[:-1])
        found = margin_of(X, y, theta)
        if norm2 == 0:
            assert math.isnan(found) if lowest == 0 else found == math.copysign(math.inf, lowest)
        elif abs(found) == math.inf:
            assert lowest**2 / norm2 > Fraction(1e308) ** 2
        elif abs(found) < 1e-300:
            assert lowest**2 / norm2 < Fraction(1e-299) ** 2
        else:
            assert abs(Fraction(found) ** 2 * norm2 / lowest**2 - 1) < Fraction(1, 10**15)
            assert (found > 0) == (lowest > 0)

    def test_too_small_for_floats_keeps_its_sign(self):
        X = np.array([[5e-324], [3.0]])
        assert margin_of(X, [1, 1], [2.0**60, 0.0]) == 5e-324
        assert margin_of(X, [-1, 1], [2.0**-60, 0.0]) == -5e-324
        assert margin_of(X, [1, 1], [1.0, -5e-324]) == 0
        tiny = [Fraction(1), Fraction(1, 10**400)]
        assert margin_of(np.zeros((1, 1)), [1], tiny) == 5e-324

    def test_survives_cancellation(self):
        X = np.array([[1.0, 2.0**-60], [1.0, 2.0**-59]])
        assert margin_of(X, [1, 1], [1.0, 1.0, -1.0]) == pytest.approx(2.0**-60.5, rel=1e-15)

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    def test_a_sample_that_rounding_moves_away(self, order):
        X = np.array([[0.0, 220.0, 0.0], [2.0**60, 200.0, -(2.0**60)]])[:, order]
        assert margin_of(X, [1, 1], [1.0, 1.0, 1.0, 0.0]) == pytest.approx(200 / 3**0.5, rel=1e-15)

    def test_many_ties_and_blocks(self, monkeypatch):
        monkeypatch.setattr(blocks_module, "ENTRIES", 40)
        X = np.random.default_rng(0).integers(-3, 4, (200, 2)).astype(float)
        y = np.where(X @ [3, 4] > 0, 1, -1)
        assert margin_of(X, y, [3.0, 4.0, 0.5]) == float(np.min(y * (X @ [3, 4] + 0.5)) / 5)
        assert margin_of(csr_array(X), y, [3.0, 4.0, 0.5]) == margin_of(X, y, [3.0, 4.0, 0.5])


@pytest.mark.parametrize("columns", [None, 3])
def test_exact_sums_of_sparse_rows_are_those_of_dense_ones(columns):
    """Rows without entries, zeros that are written down, powers of two far apart, long integers."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((60, 9)) < 0.4, rng.standard_normal((60, 9)), 0.0)
    X *= 2.0 ** rng.integers(-60, 60, (60, 1))
    X[::7] = 0.0
    shape = (9,) if columns is None else (9, columns)
    numbers = rng.integers(-3, 4, shape).astype(object) << 80
    sparse = csr_array(X)
    sparse.data[::5] = 0.0
    whole = sparse.astype(np.int64)
    for matrix in (sparse, whole):
        found = []
        for one in (matrix, matrix.toarray()):
            ((_, block),) = blocks_module.blocks(one)
            n, e = block.exact(numbers)
            scale = np.array([Fraction(2) ** int(k) for k in e], dtype=object)
            found.append((n.T * scale).tolist())
        assert found[0] == found[1]


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_a_form_of_floats_is_that_of_their_fractions(scale):
    """Floats are read without integers, to the same bits; sparse rows need but a few of these."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(41) * 10.0 ** rng.integers(-30, 5, 41) * scale
    theta[[3, 7]] = 0.0, 5e-324
    sizes = np.abs(rng.standard_normal(40)) * (np.arange(40) % 5 > 0)
    quick, slow = Form(theta.tolist(), sizes), Form([Fraction(v) for v in theta.tolist()], sizes)
    assert (quick.scale, quick.exact) == (slow.scale, slow.exact)
    np.testing.assert_array_equal(quick.t, slow.t)
    np.testing.assert_array_equal(quick.g, slow.g)
    few = csr_array(([2.0, -0.5, 3.0], ([0, 0, 1], [1, 39, 7])), shape=(3, 40))
    for form in (quick, slow):
        found = [
            value for _, block in blocks_module.blocks(few) for value in form.exact_values(block)
        ]
        w, b = [Fraction(v) for v in theta[:-1].tolist()], Fraction(float(theta[-1]))
        assert found == [2 * w[1] - w[39] / 2 + b, 3 * w[7] + b, b]

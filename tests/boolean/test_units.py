"""Threshold units, and which boolean functions one of them computes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from reference_boolean import corners, tables
from rosenblatt import boolean


def reordered(values, n):
    """The values of the same function with its variables in every order."""
    cube = values.reshape((2,) * n)
    return (tuple(cube.transpose(order).ravel()) for order in itertools.permutations(range(n)))


class TestUnits:
    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_and_and_or_of_any_number_of_inputs(self, n):
        for x in corners(n):
            assert boolean.and_unit(n)(*x) == all(x)
            assert boolean.or_unit(n)(*x) == any(x)

    def test_weights_and_thresholds_are_the_textbooks(self):
        assert (boolean.and_unit().w, boolean.and_unit().k) == ((1, 1), 1.5)
        assert (boolean.or_unit().w, boolean.or_unit().k) == ((1, 1), 1)
        assert (boolean.not_unit().w, boolean.not_unit().k) == ((-1,), 0)

    def test_not(self):
        assert boolean.not_unit()(0) is True
        assert boolean.not_unit()(1) is False
        assert boolean.not_unit()(np.array([0, 1, 0])).tolist() == [True, False, True]

    def test_inputs_broadcast(self):
        found = boolean.and_unit()(np.array([[0], [1]]), [0, 1, 1])
        assert found.tolist() == [[False, False, False], [False, True, True]]
        X = corners(2)
        assert boolean.or_unit().fires(X).tolist() == boolean.or_unit()(*X.T).tolist()

    def test_units_feed_units(self):
        both, either, no = boolean.and_unit(), boolean.or_unit(), boolean.not_unit()
        x, y = corners(2).T
        assert both(either(x, y), no(both(x, y))).tolist() == (x != y).tolist()

    def test_a_unit_cannot_be_changed(self):
        unit = boolean.or_unit()
        with pytest.raises(AttributeError):
            unit.k = 2
        assert unit == boolean.Unit([1, 1], np.float64(1.0), names=["a", "b"])
        assert hash(unit) == hash(boolean.Unit((1, 1), 1))
        assert unit != boolean.and_unit()

    @pytest.mark.parametrize(
        ("w", "k", "text"),
        [
            ((2, 1, -1), 2, "fires where 2 x1 + x2 - x3 >= 2"),
            ((-1, 0, 3), 0, "fires where -x1 + 3 x3 >= 0"),
            ((0.5, -2.5), -1, "fires where 0.5 x1 - 2.5 x2 >= -1"),
            ((0, 0), 0, "always fires (w = 0, k = 0)"),
            ((0,), 1, "never fires (w = 0, k = 1)"),
        ],
    )
    def test_text(self, w, k, text):
        assert str(boolean.Unit(w, k)) == text

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda: boolean.and_unit()(1), "1 inputs were given where there are 2"),
            (lambda: boolean.and_unit()(1, 2), "inputs are 0 and 1"),
            (lambda: boolean.or_unit()("0", "1"), "inputs are 0 and 1"),
            (lambda: boolean.and_unit(0), "n=0 is not allowed"),
            (lambda: boolean.Unit([[1]], 0), "make no unit"),
            (lambda: boolean.Unit(["a"], 0), "make no unit"),
            (lambda: boolean.Unit((1, 2), "x"), "make no unit"),
            (lambda: boolean.Unit((1, 2), [1]), "make no unit"),
            (lambda: boolean.Unit([[1], [1, 2]], 0), "make no unit"),
            (lambda: boolean.and_unit(2.5), "n=2.5 is not allowed"),
            (lambda: boolean.Unit([1], np.nan), "make no unit"),
            (lambda: boolean.Unit([1], 1, names=["a", "b"]), "2 names for 1 weights"),
        ],
    )
    def test_nonsense(self, call, says):
        with pytest.raises(ValueError, match=says):
            call()


def smallest_by_trial(n, most):
    """The smallest unit of every function that weights up to `most` compute, by trying them."""
    best = {}
    for w in itertools.product(range(-most, most + 1), repeat=n):
        sums = corners(n) @ np.array(w, dtype=int)
        for k in range(-n * most, n * most + 2):
            size = (sum(map(abs, w)), abs(k), [-abs(v) for v in w])
            key = tuple(sums >= k)
            if key not in best or size < best[key][0]:
                best[key] = (size, boolean.Unit(w, k))
    return {key: unit for key, (_, unit) in best.items()}


def enumerated(n, most):
    """Every function that whole weights up to `most` compute, as a set of numbers."""
    W = np.array(list(itertools.product(range(-most, most + 1), repeat=n)))
    sums = corners(n) @ W.T
    places = 1 << np.arange(2**n)
    return set().union(
        *((places @ (sums >= k)).tolist() for k in range(-n * most, n * most + 2))
    )  # fmt: skip


class TestThresholdUnit:
    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_every_function_of_few_variables(self, n):
        """A proof is asked for once of the functions that are the same but for the variables."""
        known = smallest_by_trial(n, 3)
        assert len(known) == [2, 4, 14, 104][n]
        for values in tables(n):
            assert boolean.is_threshold(values) == (tuple(values) in known)
            if tuple(values) in known:
                found = boolean.threshold_unit(values)
                assert found == known[tuple(values)]
                assert found.fires(corners(n)).tolist() == values.tolist()
            elif tuple(values) == min(reordered(values, n)):
                found = boolean.threshold_unit(values)
                assert found.verdict in (rb.Verdict.INSEPARABLE, rb.Verdict.QUASI_SEPARABLE)
                assert rb.certify.check(found, corners(n).astype(float), values)
                assert len(found.support) == 4

    @pytest.mark.parametrize(("n", "number"), [*enumerate([2, 4, 14, 104, 1882])])
    def test_how_many_there_are(self, n, number):
        """Counted as regions of an arrangement: nothing is rounded. (A page counts for five.)"""
        assert boolean.count_threshold_functions(n) == number

    @pytest.mark.parametrize(
        ("n", "says"),
        [
            (7, "n=7 takes too long to count: give at most 6"),
            (2.5, r"n=2.5 is not allowed: give a number of variables, 0 to 6"),
            ("3", "n='3' is not allowed"),
            (-1, "n=-1 is not allowed"),
        ],
    )
    def test_what_is_not_counted(self, n, says):
        with pytest.raises(ValueError, match=says):
            boolean.count_threshold_functions(n)

    def test_all_tables_of_four_variables(self):
        """Weights up to 3 give 1882 of the 65 536 functions; as there are no more, exactly these.

        Neighbours of threshold functions, which differ from them in one value, are the hard ones.
        """
        known = enumerated(4, 3)
        assert len(known) == 1882 == boolean.count_threshold_functions(4)
        rng = np.random.default_rng(0)
        for number in rng.choice(sorted(known), 60, replace=False):
            for near in (number, number ^ (1 << rng.integers(16))):
                values = (int(near) >> np.arange(16)) & 1
                assert boolean.is_threshold(values) == (int(near) in known)

    @settings(max_examples=25)
    @given(st.integers(1, 10), st.integers(0, 2**32 - 1))
    def test_units_are_found_again_and_never_larger(self, n, seed):
        rng = np.random.default_rng(seed)
        w, k = rng.integers(-9, 10, n), int(rng.integers(-9, 10))
        values = corners(n) @ w >= k
        found = boolean.threshold_unit(values)
        assert found.fires(corners(n)).tolist() == values.tolist()
        assert sum(map(abs, found.w)) <= abs(w).sum()
        assert all(isinstance(v, int) for v in (*found.w, found.k))
        assert boolean.is_threshold(values)

    @settings(max_examples=15)
    @given(st.integers(4, 10), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
    def test_proofs_of_larger_functions(self, n, share, seed):
        values = np.random.default_rng(seed).random(2**n) < share
        found = boolean.threshold_unit(values)
        if isinstance(found, boolean.Unit):
            assert boolean.is_threshold(values)
            return
        zeros, ones = (found.support[values[found.support] == value] for value in (0, 1))
        assert corners(n)[zeros].sum(axis=0).tolist() == corners(n)[ones].sum(axis=0).tolist()
        assert len(zeros) == len(ones) == 2
        assert rb.certify.check(found, corners(n).astype(float), values)

    def test_proofs_where_it_only_rises(self):
        """Two pairs of four variables: no variable both rises and falls, and yet no unit."""
        proof = boolean.threshold_unit("a & b | c & d")
        assert boolean.parse("a & b | c & d").inputs[proof.support].tolist() == [
            [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]
        ]  # fmt: skip

    def test_sixteen_variables(self):
        names = [f"x{j + 1}" for j in range(16)]
        unit = boolean.threshold_unit(" & ".join(names))
        assert (unit.w, unit.k) == ((1,) * 16, 16)
        assert not boolean.is_threshold(" ^ ".join(names))

    def test_xor(self):
        proof = boolean.threshold_unit("x1 ^ x2")
        assert proof.verdict is rb.Verdict.INSEPARABLE
        assert sorted(proof.support) == [0, 1, 2, 3]
        assert proof.weights.tolist() == [0.5] * 4
        assert proof.point.tolist() == [0.5, 0.5]

    def test_names_are_those_of_the_expression(self):
        assert str(boolean.threshold_unit("rain & ~umbrella")) == "fires where rain - umbrella >= 1"

    def test_variables_that_do_not_matter_have_no_weight(self):
        assert boolean.threshold_unit(boolean.parse("b", names="abc")).w == (0, 1, 0)
        assert boolean.threshold_unit("a | ~a") == boolean.Unit([0], 0)
        assert boolean.threshold_unit("a & ~a") == boolean.Unit([0], 1)


@pytest.mark.parametrize("part", ["truth_tables", "units", "networks", "dichotomies"])
def test_docstrings(part):
    import doctest
    import importlib

    failed, tried = doctest.testmod(importlib.import_module(f"rosenblatt.boolean.{part}"))
    assert (failed, tried > 0) == (0, True)

"""Checking whatever is given: all kinds of data, rubbish in any field, forged proofs."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

from reference_certificates import (
    EPS,
    HUGE,
    check,
    with_field,
)
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)


class TestWhatIsGiven:
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [4.0, 1.0]])
    y = np.array([0, 1, 0, 1])
    certificate = Separable(Hyperplane([1.0, 0.0], -1.0), 1.0)

    @pytest.mark.parametrize(
        "kind",
        [
            np.float32,
            np.float16,
            np.int8,
            np.uint64,
            ">f8",
            ">i4",
            np.longdouble,
            object,
            np.asfortranarray,
            pd.DataFrame,
            lambda X: pd.DataFrame(X).astype("Int64"),
            lambda X: X.tolist(),
            csr_array,
            coo_array,
            lambda X: csr_array(X.astype(np.float32)),
        ],
    )
    def test_matrices_of_all_kinds(self, kind):
        X = kind(self.X) if callable(kind) and not isinstance(kind, type) else None
        if X is None:
            is_type = isinstance(kind, str) or kind is object or issubclass(kind, np.generic)
            X = self.X.astype(kind) if is_type else kind(self.X)
        assert check(self.certificate, X, self.y)
        assert not check(self.certificate, X, 1 - self.y)

    def test_booleans(self):
        certificate = Separable(Hyperplane([1.0], -0.5), 0.5)
        assert check(certificate, np.array([[True], [False]]), [True, False])
        assert check(certificate, csr_array(np.array([[True], [False]])), [True, False])

    def test_duplicate_entries_of_a_sparse_matrix_are_added_up(self):
        X = csr_array(([1.0, 1.0, 4.0], ([0, 0, 1, 1])[:3], [0, 2, 3]), shape=(2, 2))
        X.indices[:] = [0, 0, 0]
        given_data = X.data.copy()
        certificate = Separable(Hyperplane([1.0, 0.0], -3.0), 1.0)
        assert check(certificate, X, [0, 1])
        np.testing.assert_array_equal(X.data, given_data)

    @pytest.mark.parametrize("labels", [["a", "b", "a", "b"], [-1, 1, -1, 1], [False, True] * 2])
    def test_labels_of_all_kinds(self, labels):
        assert check(self.certificate, self.X, labels)
        assert check(self.certificate, self.X, pd.Series(labels, index=[9, 8, 7, 6]))

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            ([[1.0], [np.nan]], [0, 1], "X contains NaN or infinite values"),
            ([[1.0], [None]], [0, 1], "X contains NaN or infinite values"),
            (csr_array([[1.0], [np.inf]]), [0, 1], "X contains NaN or infinite values"),
            ([[1.0], [2.0]], [0, 0], "y has 1 class: give exactly two"),
            ([[1.0], [2.0], [3.0]], [0, 1, 2], "y has 3 classes: give exactly two"),
            ([[1.0], [2.0]], [0, 1, 1], "y has 3 samples but X has 2 rows"),
            ([[1.0], [2.0]], [[0], [1]], r"y has shape \(2, 1\)"),
            ([[1.0], [2.0]], [0, np.nan], "y contains NaN"),
            ([[1.0], [2.0]], np.array(["a", None], dtype=object), "y has labels that cannot be"),
            ([1.0, 2.0], [0, 1], r"X has shape \(2,\)"),
            (np.zeros((0, 2)), [], r"X has shape \(0, 2\)"),
            ([["a"], ["b"]], [0, 1], "X holds text: give numbers"),
            (np.array([["1"], [2]], dtype=object), [0, 1], "X holds the text '1': give numbers"),
            (np.array([["x"], [2]], dtype=object), [0, 1], "X holds the text 'x': give numbers"),
            ([[1j], [2]], [0, 1], "X holds complex numbers"),
            ([[2**53 + 1], [0]], [0, 1], "X holds 9007199254740993, which no float is equal to"),
            ([[2**70 + 1], [0]], [0, 1], "X holds 1180591620717411303425, which no float is equal"),
            ([[10**400], [0]], [0, 1], "X holds 10{56}.*, which no float is equal to"),
            ([[2**53 + 1], [0.5]], [0, 1], "which no float is equal to"),
            ([[Fraction(1, 3)], [1]], [0, 1], "which no float is equal to"),
            ([[Decimal("0.1")], [1]], [0, 1], "which no float is equal to"),
            ([[np.int64(2**53 + 1)], [Decimal(1)]], [0, 1], "which no float is equal to"),
            (coo_array([[2**53 + 1], [0]]), [0, 1], "which no float is equal to"),
        ],
    )
    def test_unusable_data(self, X, y, message):
        with pytest.raises(ValueError, match=message) as error:
            check(self.certificate, X, y)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("number", [Fraction, Decimal, np.longdouble, np.int64])
    def test_other_numbers_that_are_floats(self, number):
        X = np.array([[number(int(v)) for v in row] for row in self.X], dtype=object)
        assert check(self.certificate, X, self.y)

    @pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="longdouble is float64 here")
    @pytest.mark.parametrize("X", [[[1.0], [1 + EPS]], [[0.0], [HUGE]], [[0.0], [1 / HUGE]]])
    def test_long_doubles_are_not_rounded(self, X):
        with pytest.raises(ValueError, match="which no float is equal to"):
            check(self.certificate, np.array(X, np.longdouble), [0, 1])

    @pytest.mark.parametrize("kind", [csr_array, coo_array, csc_array])
    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32])
    def test_entries_given_twice_do_not_overflow(self, kind, dtype):
        data = np.array([120, 120, 20, 20, 1, 90], dtype=dtype)
        X = csr_array((data, [0] * 6, [0, 4, 6]), shape=(2, 1))
        X = X if kind is csr_array else kind(X)
        assert check(Separable(Hyperplane([1.0], -185.5), 94.5), X, [1, 0])
        np.testing.assert_array_equal(X.data, data)

    def test_long_integers_that_are_floats(self):
        certificate = Separable(Hyperplane([1.0], -1.0), 1.0)
        assert check(certificate, np.array([[2**60], [0]]), [1, 0])

    @pytest.mark.parametrize(
        "thing", [None, 1, "separable", Verdict.SEPARABLE, Hyperplane([1.0, 0.0])]
    )
    def test_no_certificate_at_all(self, thing):
        assert "is not a certificate" in check(thing, self.X, self.y).why

    def test_undecided_proves_nothing(self):
        result = check(Undecided((-1.0, 1.0)), self.X, self.y)
        assert (result.valid, result.why) == (
            False,
            "undecided: nothing is claimed, so nothing is proved",
        )


RUBBISH = [
    None,
    0,
    1.5,
    math.nan,
    math.inf,
    10**400,
    "text",
    b"x",
    True,
    [],
    (),
    (1.0, 2.0, 3.0),
    (Fraction(1), "x", None),
    (Fraction(10) ** 400,) * 3,
    {},
    object(),
    1j,
    Fraction(1, 3),
    Verdict.UNDECIDED,
    Hyperplane([0.0, 0.0], 1.0),
    Hyperplane([1.0], 1.0),
    np.array(1.0),
    np.array([]),
    np.array([], int),
    np.array([1, 2], object),
    np.array(["a", "b"]),
    np.array([1j, 2]),
    np.array([[1.0, 2.0]]),
    np.array([np.nan, 1.0]),
    np.array([np.inf, 1.0]),
    np.array([True, False]),
    np.array([1, 2], "M8[s]"),
    np.array([1, 2], np.longdouble),
    np.array([0, 2**64 - 1], np.uint64),
    np.array([1e308, 1e308]),
    np.array([5e-324, 5e-324]),
    np.array([0.0, 0.0]),
    np.array([-1, 1]),
    np.arange(100),
    np.ma.array([1.0, 2.0], mask=[0, 1]),
]


def forged(number):
    """A fraction past its constructor."""
    fraction = Fraction(1, 2)
    fraction._numerator, fraction._denominator = number, 0
    return fraction


class TestForged:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])
    cases = (
        (X[:2], [0, 1], Separable(Hyperplane([1.0, 1.0], -1.0), 0.5**0.5)),
        (
            X,
            [0, 0, 1, 1, 1],
            Inseparable([0, 1, 2, 3], [0.5] * 4, [0.5, 0.5], [0, 1, 2, 3], [1] * 4),
        ),
        (
            X[[0, 2, 2, 1]],
            [0, 0, 1, 1],
            QuasiSeparable([1, 2], [1, 1], X[2], Hyperplane([1.0, 0.0]), [0, 1, 2], [1, 2], [1, 1]),
        ),
    )

    @pytest.mark.parametrize("thing", [*RUBBISH, (forged(1),) * 3, (forged("a"),) * 3])
    def test_no_rubbish_in_any_field_is_an_error(self, thing):
        for X, y, certificate in self.cases:
            for name in vars(certificate):
                result = check(with_field(certificate, name, thing), X, y)
                assert "\n" not in result.why
                assert not result or (name.startswith("exact") and thing is None)
            if hasattr(certificate, "hyperplane"):
                for name in ("w", "b"):
                    plane = with_field(certificate.hyperplane, name, thing)
                    assert not check(with_field(certificate, "hyperplane", plane), X, y)

    def test_missing_fields(self):
        for X, y, certificate in self.cases:
            for name in vars(certificate):
                other = replace(certificate)
                object.__delattr__(other, name)
                optional = name.startswith("exact")
                assert optional or check(other, X, y).why == f"{name} is missing"

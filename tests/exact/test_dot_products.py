"""Sums of a few floats that are exactly ``w·x + b``, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.exact import settled, sides, signs, smallest
from rosenblatt.exact.blocks import RowBlock, Sparse, blocks
from rosenblatt.exact.dot_products import exact_parts, smallest_sum

KINDS = {
    "ulps": st.integers(0, 7).map(lambda k: 1 + k * 2.0**-52),
    "near ten": st.floats(9.0, 11.0),
    "around zero": st.floats(-1.0, 1.0),
    "whole": st.integers(-(2**53), 2**53).map(float),
    "any": st.floats(allow_nan=False, allow_infinity=False),
    "powers": st.integers(-1074, 1023).map(lambda e: math.ldexp(1.0, e)),
}


@st.composite
def forms(draw):
    """Rows, and a form that is zero on one of them as far as floats can tell."""
    kind, other = (KINDS[draw(st.sampled_from(sorted(KINDS)))] for _ in range(2))
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    X = np.array([[draw(kind) for _ in range(d)] for _ in range(n)])
    theta = np.array([draw(other) for _ in range(d)] + [0.0])
    with np.errstate(all="ignore"):
        bias = -float(X[0] @ theta[:-1])
    theta[-1] = bias if math.isfinite(bias) and draw(st.booleans()) else draw(other)
    return X, theta


def values_of(X, theta):
    return [
        sum((Fraction(a) * Fraction(t) for a, t in zip([*x, 1.0], theta, strict=True)), Fraction(0))
        for x in X.tolist()
    ]


def nearest(value):
    """The nearest float that is not zero unless the value is, and not infinite."""
    if not value:
        return 0.0
    largest = float.fromhex("0x1.fffffffffffffp+1023")
    size = largest if abs(value) >= Fraction(largest) else max(float(abs(value)), 5e-324)
    return size if value > 0 else -size


@given(forms())
def test_parts_sum_to_the_value(form):
    X, theta = form
    for matrix in (X, csr_array(X)):
        ((_, block),) = blocks(matrix)
        parts, sure, top = exact_parts(block, theta)
        for i, value in enumerate(values_of(X, theta.tolist())):
            total = sum(map(Fraction, parts[i].tolist()), Fraction(0)) * Fraction(2) ** top
            assert total == value or not sure[i]


@given(forms(), st.sampled_from([0, 16]))
def test_signs_least_and_nearest_floats_are_those_of_fractions(form, few):
    X, theta = form
    values = values_of(X, theta.tolist())
    y = np.resize([1, -1, -1], len(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sides, "FEW", few)
        for matrix in (X, csr_array(X)):
            assert signs(matrix, theta).tolist() == [(v > 0) - (v < 0) for v in values]
            least = min(v * s for v, s in zip(values, y.tolist(), strict=True))
            assert smallest(matrix, y, theta) == least
            assert settled(matrix, theta).tolist() == [nearest(v) for v in values]


@pytest.mark.parametrize("d", [1, 20, 300])
def test_rows_one_ulp_apart_need_no_integers(d, monkeypatch):
    rng = np.random.default_rng(d)
    X = 1 + rng.integers(0, 8, (200, d)) * 2.0**-52
    theta = rng.standard_normal(d + 1)
    theta[-1] = -theta[:-1].sum()
    y = np.resize([1, -1], len(X))
    values = values_of(X, theta.tolist())
    asked = []
    for kind in (RowBlock, Sparse):

        def counted(self, numbers, exact=kind.exact):
            asked.append(len(self))
            return exact(self, numbers)

        monkeypatch.setattr(kind, "exact", counted)
    for matrix in (X, csr_array(X)):
        assert signs(matrix, theta).tolist() == [(v > 0) - (v < 0) for v in values]
        assert settled(matrix, theta).tolist() == [float(v) for v in values]
        least = min(v * s for v, s in zip(values, y.tolist(), strict=True))
        assert smallest(matrix, y, theta) == least
    assert asked == [1, 1]  # the smallest itself


def test_what_rounding_makes_equal_is_told_apart():
    parts = np.array([[1.0, 2.0**-60, 2.0**-130], [1.0, 2.0**-60, 0.0], [1.0, 2.0**-60, 0.0]])
    assert smallest_sum(parts) == 1
    assert smallest_sum(-parts) == 0
    assert smallest_sum(np.zeros((3, 2))) == 0

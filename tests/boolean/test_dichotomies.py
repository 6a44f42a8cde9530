"""How many dichotomies there are."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt import boolean, theory


def realised(X, y, fit_intercept):
    """Whether a hyperplane realises this labeling, as `rb.separability` judges."""
    if not fit_intercept:  # all y·x on one side of it: separated from their mirror images
        X, y = np.vstack([y[:, None] * X, -y[:, None] * X]), np.repeat([1, -1], len(X))
    if len(set(y.tolist())) < 2:
        return True
    return rb.separability(X.astype(float), y).verdict is rb.Verdict.SEPARABLE


def count_by_trial(X, fit_intercept=True):
    labelings = itertools.product([-1, 1], repeat=len(X))
    return sum(realised(X, np.array(y), fit_intercept) for y in labelings)


@st.composite
def few_points(draw):
    """Points on a small grid: often on one line, or twice the same."""
    d = draw(st.integers(1, 3))
    point = st.lists(st.integers(-1, 1), min_size=d, max_size=d)
    return np.array(draw(st.lists(point, min_size=1, max_size=5)))


class TestDichotomies:
    @settings(max_examples=15)
    @given(few_points(), st.booleans())
    def test_as_many_as_are_found_by_trial(self, X, fit_intercept):
        found = boolean.count_dichotomies(X, fit_intercept=fit_intercept)
        assert found == count_by_trial(X, fit_intercept)
        assert boolean.shatters(X, fit_intercept=fit_intercept) == (found == 2 ** len(X))

    @pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 2), (9, 2), (8, 3), (9, 4), (7, 6), (6, 9)])
    def test_cover(self, n, d):
        X = np.random.default_rng(n + d).standard_normal((n, d))
        assert boolean.count_dichotomies(X) == theory.cover_count(n, d)
        through_zero = boolean.count_dichotomies(X, fit_intercept=False)
        assert through_zero == theory.cover_count(n, d - 1)

    @pytest.mark.parametrize("n", [1, 2, 5, 12])
    def test_points_on_a_line(self, n):
        X = np.outer(np.arange(n), [1, 2, -1]) + np.array([5, 0, 1])
        assert boolean.count_dichotomies(X) == 2 * n
        assert boolean.shatters(X) == (n <= 2)

    def test_a_point_given_twice_has_one_label(self):
        X = np.random.default_rng(0).standard_normal((5, 2))
        assert boolean.count_dichotomies(X[[0, 1, 2, 3, 4, 4, 0]]) == boolean.count_dichotomies(X)
        assert not boolean.shatters(X[[0, 0]])

    @pytest.mark.parametrize("scale", [1.0, 2.0**900, 2.0**-900])
    def test_nothing_is_rounded(self, scale):
        """The middle one of three points on a line, moved by the least a float can be moved."""
        line = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 6.0]])
        assert boolean.count_dichotomies(line * scale) == 6
        line[1, 0] = np.nextafter(1.0, 2.0)
        assert boolean.count_dichotomies(line * scale) == 8
        assert boolean.shatters(line * scale)

    def test_numbers_beyond_64_bits(self):
        X = np.random.default_rng(1).integers(0, 2, (8, 3)) * 1e300 + [[0], [1]] * 4
        small = X.copy()
        small[small > 1] = 10**6
        assert boolean.count_dichotomies(X) == boolean.count_dichotomies(small) > 8

    def test_nothing_at_all(self):
        assert boolean.count_dichotomies(np.zeros((0, 2))) == 1
        assert boolean.count_dichotomies(np.zeros((3, 0))) == 2
        assert boolean.count_dichotomies([[0, 0], [1, 1]], fit_intercept=False) == 0
        assert boolean.shatters(np.zeros((0, 2)))

    @pytest.mark.parametrize(
        ("X", "says"),
        [([1, 2], "shape"), ([["a"]], "X holds text: give numbers"), ([[np.nan]], "not finite")],
    )
    def test_nonsense(self, X, says):
        with pytest.raises(ValueError, match=says):
            boolean.count_dichotomies(X)

    @pytest.mark.parametrize(("n", "d"), [(30, 10), (20_000, 2)])
    def test_too_much_to_count(self, n, d):
        X = np.random.default_rng(0).integers(-(10**6), 10**6, (n, d))
        with pytest.raises(ValueError, match=r"^\d+ points .* too many .*theory\.cover_count"):
            boolean.count_dichotomies(X)

    def test_many_points_in_as_many_dimensions(self):
        X = np.vstack([np.eye(30), np.arange(30)])[:, :29]
        assert boolean.count_dichotomies(X) > 2**29  # work for a few dozen steps


class TestPointsInThePlane:
    """The classroom's questions: which labelings of two, three and four points have a line?"""

    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    triangle = np.array([[0, 0], [1, 0], [0, 1]])
    line = np.array([[0, 0], [1, 1], [2, 2], [3, 3]])
    inside = np.array([[0, 0], [4, 0], [0, 4], [1, 1]])

    def test_two(self):
        """Every two different points, in every labeling."""
        assert boolean.count_dichotomies(self.line[:2]) == 4
        assert boolean.shatters(self.line[:2])

    def test_three(self):
        """Some sets of three in every labeling, but not those on a line."""
        assert boolean.shatters(self.triangle)
        assert boolean.count_dichotomies(self.line[:3]) == 6
        assert not realised(self.line[:3], np.array([1, -1, 1]), fit_intercept=True)

    @pytest.mark.parametrize(
        ("points", "number", "impossible"),
        [("square", 14, [1, -1, -1, 1]), ("inside", 14, [1, 1, 1, -1]), ("line", 8, [1, -1, 1, 1])],
    )
    def test_four(self, points, number, impossible):
        """No set of four in every labeling; in general position all but two of the sixteen."""
        X = getattr(self, points)
        assert boolean.count_dichotomies(X) == number
        assert not boolean.shatters(X)
        assert not realised(X, np.array(impossible), fit_intercept=True)

    @given(st.lists(st.tuples(*[st.integers(-50, 50)] * 2), min_size=4, max_size=4))
    def test_no_four_points_are_shattered(self, points):
        assert not boolean.shatters(points)
        assert boolean.count_dichotomies(points) <= 14


class TestCover:
    def test_formula(self):
        for n in range(1, 12):
            for d in range(12):
                exact = 2 * sum(comb(n - 1, k) for k in range(d + 1))
                assert rb.theory.cover_count(n, d) == exact
                assert rb.theory.cover_probability(n, d) == exact / 2**n

    @pytest.mark.parametrize("d", [0, 1, 2, 10, 100, 3000])
    def test_half_at_twice_as_many_points_as_parameters(self, d):
        assert rb.theory.cover_probability(2 * (d + 1), d) == pytest.approx(0.5, rel=1e-11)
        assert rb.theory.cover_probability(d + 1, d) == 1.0

    def test_many_points(self):
        assert rb.theory.cover_probability(10**6, 20) == 0.0
        assert 0 < rb.theory.cover_probability(1000, 3) < 1e-290
        exact = Fraction(rb.theory.cover_count(6000, 2900), 2**6000)
        assert rb.theory.cover_probability(6000, 2900) == pytest.approx(float(exact), rel=1e-10)

    def test_names(self):
        assert theory.cover_count(4, 2) == 14
        assert theory.cover_probability(4, 2) == 14 / 16
        assert theory.cover_probability(0, 2) == 1.0

    @pytest.mark.parametrize(("n", "d"), [(-1, 2), (3, -1), (2.5, 1)])
    def test_nonsense(self, n, d):
        with pytest.raises(ValueError, match="is not allowed: give a whole number"):
            rb.theory.cover_count(n, d)

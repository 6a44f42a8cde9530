"""The corrected resampled t-test: formula, level and power, on scores that need no refits."""

import math
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rosenblatt.validation.paired import LEVEL, corrected_t_test

SHARES = st.lists(st.integers(0, 40).map(lambda k: k / 40), min_size=2, max_size=12)


def reference(scores, others, test_share):
    """The formula as Nadeau and Bengio have it, with Student's distribution of SciPy."""
    d = [a - b for a, b in zip(scores, others, strict=True)]
    J, m = len(d), mean(d)
    s2 = sum((x - m) ** 2 for x in d) / (J - 1)
    t = m / math.sqrt((1 / J + test_share) * s2)
    return t, 2 * stats.t.sf(abs(t), J - 1)


def folds_of(right):
    """The shares of right answers in five folds of a line of answers each."""
    return right.reshape(len(right), 5, -1).mean(axis=2)


@given(SHARES, st.data(), st.sampled_from([0.0, 0.25, 1.0]))
def test_formula(scores, data, share):
    others = data.draw(
        st.lists(
            st.integers(0, 40).map(lambda k: k / 40), min_size=len(scores), max_size=len(scores)
        )
    )
    found = corrected_t_test(scores, others, share)
    if np.ptp(np.subtract(scores, others)) < 1e-9:
        same = abs(scores[0] - others[0]) < 1e-9
        assert (found.p, found.error) == (1.0 if same else 0.0, 0.0)
        assert found.t == 0 if same else math.isinf(found.t)
        return
    t, p = reference(scores, others, share)
    assert found.t == pytest.approx(t)
    assert found.p == pytest.approx(p)
    assert found.difference == pytest.approx(mean(scores) - mean(others))
    back = corrected_t_test(others, scores, share)
    assert (back.t, back.p) == (pytest.approx(-found.t), pytest.approx(found.p))


def test_without_correction_it_is_the_usual_one():
    a, b = [0.9, 0.8, 0.85, 0.95], [0.7, 0.75, 0.8, 0.7]
    usual = stats.ttest_rel(a, b)
    found = corrected_t_test(a, b, 0.0)
    assert (found.t, found.p) == (pytest.approx(usual.statistic), pytest.approx(usual.pvalue))
    assert corrected_t_test(a, b, 0.25).p > found.p


def test_one_fold_tells_nothing():
    assert corrected_t_test([0.9], [0.1], 0.25) is None


def test_models_that_are_equally_good_are_seldom_told_apart():
    """Also the best of seven beside the last of them: that it was picked is worth something."""
    random = np.random.default_rng(17)
    pairs = best = 0
    for _ in range(400):
        scores = folds_of(random.random((7, 300)) < 0.7)
        pairs += corrected_t_test(scores[0], scores[1], 0.25).differ
        top = scores[scores[:-1].mean(axis=1).argmax()]
        best += corrected_t_test(top, scores[-1], 0.25).differ
    assert pairs <= LEVEL * 400
    assert best <= 2 * LEVEL * 400


def test_a_planted_difference_is_found():
    random = np.random.default_rng(3)
    found = 0
    for _ in range(100):
        easy = random.random(2000) < 0.8  # rows that both have right
        better, worse = (easy | (random.random(2000) < chance) for chance in (0.6, 0.2))
        a, b = folds_of(np.stack([better, worse]))
        test = corrected_t_test(a, b, 0.25)
        found += test.differ and test.difference > 0
    assert found >= 95

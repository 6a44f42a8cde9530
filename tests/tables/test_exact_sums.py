"""Sums that do not round: against fractions, to the last bit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.tables.exact_sums import ExactSums, nearest_root

LARGEST, LEAST = 1.7976931348623157e308, 5e-324
finite = st.floats(allow_nan=False, allow_infinity=False)
hard = st.sampled_from([0.0, -0.0, LEAST, -LEAST, 2.0**-1022, LARGEST, -LARGEST, 1e308, 0.1, 1 / 3])
number = st.one_of(finite, hard, st.integers(-9, 9).map(float), st.floats(-10, 10))


def naive(numbers):
    """Mean and deviation: fractions, rounded once, the root by comparing the squares of floats."""
    exact = [Fraction(x) for x in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact)
    return float(mean), naive_root(variance)


def naive_root(square):
    """The float whose neighbours are no nearer to the root of a fraction."""
    low, high = 0, int(np.float64(LARGEST).view(np.int64))  # bits of floats, in their order
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if as_float(middle) ** 2 <= square else (low, middle - 1)
    below, above = as_float(low), as_float(low + 1)
    tie = (below + above) / 2
    up = tie**2 < square or (tie**2 == square and low % 2)
    return float(above if up else below)


def as_float(bits):
    value = np.int64(bits).view(np.float64)
    return Fraction(float(value)) if np.isfinite(value) else Fraction(2) ** 1024


def summed(blocks):
    sums = ExactSums()
    for block in blocks:
        sums.add(np.array(block, dtype=np.float64))
    return sums


@given(st.lists(number, min_size=1, max_size=12))
@example([0.0, LEAST])
@example([LARGEST, LARGEST, -LARGEST])
@example([LARGEST, -LARGEST])
@example([0.1] * 10)
@example([1e308, 1.0, -1e308])
def test_mean_and_deviation_are_those_of_fractions_to_the_bit(numbers):
    sums = summed([numbers])
    assert (sums.mean, sums.deviation) == naive(numbers)
    assert sums.same == (len(set(numbers)) == 1)
    assert not (sums.same and sums.deviation)


@given(
    st.lists(st.one_of(number, st.just(math.nan)), min_size=1, max_size=40),
    st.data(),
)
def test_blocks_and_their_order_do_not_matter(numbers, data):
    whole = summed([numbers])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(numbers)), max_size=5)))
    edges = list(zip([0, *cuts], [*cuts, len(numbers)], strict=True))
    blocks = data.draw(st.permutations([numbers[a:b] for a, b in edges]))
    together = ExactSums()
    for block in blocks:
        together.merge(summed([block]))
    present = [x for x in numbers if x == x]
    for sums in (whole, summed(blocks), together):
        assert (sums.n, sums.n_missing) == (len(present), len(numbers) - len(present))
        if present:
            assert (sums.mean, sums.deviation) == naive(present)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1.0, 1e300])
def test_many_numbers_to_the_bit(size):
    numbers = (np.random.default_rng(0).standard_normal(5_000) + 3) * size
    expected = naive(numbers.tolist())
    for sums in (summed([numbers]), summed([numbers[:77], numbers[77:]])):
        assert (sums.mean, sums.deviation) == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_64_bits_have_room_for_the_largest_fractions_to_the_bit(sign):
    largest = math.nextafter(2.0, 0)
    odd = [1.0, -1.0, 2 - 2.0**-26, 1 + 2.0**-26 - 2.0**-52]  # either part is large, or none
    numbers = np.array([sign * largest] * 1023 + odd)
    sums = summed([numbers, numbers[:255], numbers])
    assert (sums.mean, sums.deviation) == naive([*numbers, *numbers[:255], *numbers])
    assert 256 * (2**27 - 1) ** 2 + 2**32 < 2**63


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e-300, LEAST, 7e290, LARGEST])
def test_equal_numbers_have_no_deviation(value):
    values = np.full(10_007, value)
    sums = summed([values])
    assert (sums.same, sums.mean, sums.deviation) == (True, value, 0.0)
    values[77] = np.nextafter(value, 1)
    assert not summed([values]).same


@given(st.integers(0, 2**140), st.integers(1, 2**70), st.integers(0, 1100))
@example(2**106 - 2**53, 1, 0)  # the root lies just below the middle of two floats
def test_the_nearest_root(numerator, denominator, halvings):
    square = Fraction(numerator, denominator) / 4**halvings
    assert nearest_root(numerator, denominator, halvings) == naive_root(square)

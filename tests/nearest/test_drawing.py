"""Rows drawn by their numbers: one of so many, the same whoever has them, and at random."""

from itertools import pairwise

import numpy as np
import pytest

from rosenblatt.nearest.drawing import drawn, mixed


@pytest.mark.parametrize("step", [1, 2, 3, 7, 256, 1000, 5000])
def test_one_of_every_so_many_rows(step):
    rows = drawn(0, 5 * step, step)
    assert (rows // step).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("step", [1, 2, 5, 100, 3000])
def test_whoever_has_some_rows_draws_the_same(step):
    whole, edges = drawn(0, 2999, step), [0, 1, 2, 250, 251, 1000, 2999]
    parts = [drawn(a, z, step) + a for a, z in pairwise(edges)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(drawn(256, 256, step), [])


def test_numbers_that_look_like_random_ones():
    """SplitMix64's first numbers from the seed 0, and places in a stratum alike often."""
    assert mixed(np.arange(2)).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    places = drawn(0, 800_000, 8) % 8
    often = np.bincount(places)
    assert len(often) == 8
    expected = len(places) / 8
    assert ((often - expected) ** 2 / expected).sum() < 30  # chi square, 7 degrees: 1 in 10 000
    later = places[1:] * 8 + places[:-1]  # nor do neighbours know of each other
    pairs = np.bincount(later, minlength=64)
    expected = len(later) / 64
    assert ((pairs - expected) ** 2 / expected).sum() < 120  # 63 degrees: about 1 in 50 000

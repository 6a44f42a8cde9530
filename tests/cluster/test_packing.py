"""What is packed for its way to a worker is the same to the bit afterwards."""

import numpy as np
import pytest

from rosenblatt.cluster.packing import FEW, Packed, packed, unpacked


def multipliers(n, others, seed=0):
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(n) < 0.5, 0.0, 0.1)
    here = rng.random(n) < others
    numbers[here] = rng.uniform(0, 0.1, here.sum())
    return numbers * rng.choice([-1.0, 1.0], n)


CASES = {
    "multipliers": multipliers(5000, 0.1),
    "all zero, of either sign": multipliers(3000, 0.0) * 0,
    "one size": np.full(2000, -3.5),
    "tiny": multipliers(2000, 0.2) * 1e-323,
    "not all numbers": np.append(multipliers(5000, 0.1), [np.nan, -np.nan]),
    "an infinite one": np.append(np.zeros(2000), -np.inf),
}


@pytest.mark.parametrize("name", CASES)
def test_not_a_bit_is_lost(name):
    small = packed(CASES[name])
    assert isinstance(small, Packed)
    assert unpacked(small).tobytes() == CASES[name].tobytes()


@pytest.mark.parametrize(
    "numbers",
    [
        multipliers(5000, 0.9),
        multipliers(FEW - 1, 0.1),
        np.ones(5000, np.int8),
        np.ones(5000, np.bool_),
    ],
    ids=["others", "few", "labels", "a mask"],
)
def test_what_does_not_become_smaller_is_left_alone(numbers):
    assert packed(numbers) is numbers


def test_it_takes_less_room():
    small = packed(multipliers(100_000, 0.01))
    assert small.others.nbytes + sum(part.nbytes for part in small.places) < 100_000 * 8 / 15


def test_each_class_may_have_a_size_of_its_own():
    numbers = np.where(np.arange(20_000) % 3, np.where(np.arange(20_000) % 2, 0.1, 0.07), 0.0)
    numbers[::1000] = 0.05
    small = packed(numbers)
    assert sorted(small.sizes) == [0.07, 0.1]
    assert len(small.others) == 20
    assert small.negative is None
    assert unpacked(small).tobytes() == numbers.tobytes()

"""Columns that Python holds: described once, whatever rows are chosen, with NumPy's own bits."""

import math

import numpy as np
import pytest
from scipy.sparse import issparse

from rosenblatt import TableEncoder
from rosenblatt.tables.frames import LEAF, Cells, Numbers, are_equal, mean_and_deviation
from rosenblatt.tables.texts import Texts


@pytest.mark.parametrize("n", [1, 7, 129, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF + 13, 5 * LEAF])
@pytest.mark.parametrize("size", [1e-250, 1e-3, 1.0, 1e250])
def test_means_and_deviations_are_numpys_to_the_bit(n, size):
    values = (np.random.default_rng(n).standard_normal(n) + 3) * size
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    expected = np.ldexp([scaled.mean(), scaled.std()], exponent).tolist()
    numbers = Numbers.of(values)
    assert numbers.moderate == (size in (1e-3, 1.0))
    assert list(mean_and_deviation(numbers)) == expected
    if numbers.moderate:
        assert expected == [values.mean(), values.std()]


def test_chosen_rows_are_those_of_the_array():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(40_000)
    rows = np.flatnonzero(rng.random(40_000) < 0.8)
    chosen = Numbers.of(values)[rows]
    assert len(chosen) == len(rows)
    assert mean_and_deviation(chosen) == (values[rows].mean(), values[rows].std())
    np.testing.assert_array_equal(chosen[np.array([5, 2])].as_floats(), values[rows][[5, 2]])
    values[::3] = np.nan
    some = Numbers.of(values)[rows]
    assert some.n_missing == np.isnan(values[rows]).sum()
    known = values[rows][~np.isnan(values[rows])]
    assert mean_and_deviation(some.present()) == (known.mean(), known.std())


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e-300, 7e290])
def test_equal_numbers_are_found_in_spite_of_rounding(value):
    numbers = Numbers.of(np.full(100_003, value))
    assert are_equal(numbers, *mean_and_deviation(numbers))
    values = numbers.values.copy()
    values[77] = np.nextafter(value, 1)
    other = Numbers.of(values)
    assert not are_equal(other, *mean_and_deviation(other))


def table(n, n_words):
    """Numbers of every sort, dates and texts, some missing."""
    rng = np.random.default_rng(n)
    words = np.array([f"w{k}" for k in range(n_words)] + [None], dtype=object)
    return {
        "x": rng.standard_normal(n),
        "huge": rng.standard_normal(n) * 1e305,
        "holes": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
        "day": np.datetime64("2024-01-01", "us") + rng.integers(0, 10**12, n),
        "word": rng.choice(words, n),
        "truth": rng.choice(np.array(["True", "FALSE", None], dtype=object), n),
    }


@pytest.mark.parametrize("n_words", [3, 90])
def test_columns_described_once_give_the_features_of_arrays(n_words):
    columns = table(3000, n_words)
    once = {name: Cells.of(name, cells) for name, cells in columns.items()}
    coded = {
        name: Texts.of(cells) if cells.dtype == object else cells for name, cells in columns.items()
    }
    rng = np.random.default_rng(1)
    learn, test = np.split(rng.permutation(3000), [2400])
    honest, shared = TableEncoder(), TableEncoder()
    expected = honest.fit_transform({name: cells[learn] for name, cells in columns.items()})
    for given in (once, coded):
        X = shared.fit_transform({name: cells[learn] for name, cells in given.items()})
        assert shared.columns_ == honest.columns_
        assert shared.n_missing_ == honest.n_missing_
        assert issparse(X) == issparse(expected) == (n_words == 90)
        same(X, expected)
        X = shared.transform({name: cells[test] for name, cells in given.items()})
        same(X, honest.transform({name: cells[test] for name, cells in columns.items()}))
    strange = {**coded, "word": Texts.of(["new", None, "new"] * 1000)}
    assert set(shared.unseen(strange)) == {"word"}
    assert set(shared.unseen(strange)["word"]) == {"new"}


def same(X, expected):
    """Equal to the bit."""
    if issparse(X):
        assert X.has_canonical_format
        X, expected = X.toarray(), expected.toarray()
    assert X.tobytes() == expected.tobytes()


def test_texts_where_numbers_were_in_training():
    encoder = TableEncoder(standardize=False).fit({"x": [1.0, 2.0, 4.0]})
    assert encoder.transform({"x": Texts.of(["7", "2", None])}).tolist()[:2] == [[7.0], [2.0]]
    with pytest.raises(ValueError, match="column x holds 'tall' in row 2, but it was numbers"):
        encoder.transform({"x": Texts.of(["1", "tall"])})


@pytest.mark.parametrize(
    ("values", "moderate", "n_missing"),
    [
        ([0.0, -0.0, 1.0, -(2.0**200), 2.0**-200], True, 0),
        ([1.0, -math.nextafter(2.0**-200, 0)], False, 0),
        ([1.0, 5e-324], False, 0),
        ([-math.nextafter(2.0**200, math.inf), 0.0], False, 0),
        ([math.nan, -1.0, -math.nan], True, 2),
        ([math.nan], True, 1),
    ],
)
def test_numbers_that_can_be_squared(values, moderate, n_missing):
    found = Numbers.of(np.array(values))
    assert (found.moderate, found.n_missing) == (moderate, n_missing)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_numbers_are_named(value):
    with pytest.raises(ValueError, match=f"holds {value} in row 2"):
        Numbers.of(np.array([1.0, value, math.nan]))

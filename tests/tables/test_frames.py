"""Columns that Python holds: described once, whatever rows are chosen."""

import math

import numpy as np
import pytest
from scipy.sparse import issparse

from rosenblatt import TableEncoder
from rosenblatt.tables.frames import LEAF, Cells, Numbers
from rosenblatt.tables.texts import Texts


@pytest.mark.parametrize("n", [0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF + 13])
def test_chosen_rows_are_those_of_the_array(n):
    rng = np.random.default_rng(n)
    values = np.where(rng.random(40_000) < 0.2, np.nan, rng.standard_normal(40_000))
    numbers, rows = Numbers.of(values), rng.permutation(40_000)[:n]
    chosen = numbers[rows]
    assert len(chosen) == n
    np.testing.assert_array_equal(chosen.as_floats(), values[rows])
    pieces = [piece.copy() for piece in chosen.pieces()]
    assert all(len(piece) == LEAF for piece in pieces[:-1])
    np.testing.assert_array_equal(np.concatenate([[], *pieces]), values[rows])
    np.testing.assert_array_equal(chosen[np.arange(n)[::-2]].as_floats(), values[rows][::-2])
    assert np.shares_memory(chosen.values, values)


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
    ("values", "complete"),
    [([0.0, -0.0, 5e-324, -1.7e308], True), ([1.0, -math.nan], False), ([math.nan], False)],
)
def test_gaps_are_found(values, complete):
    assert Numbers.of(np.array(values)).complete == complete


def test_the_first_number_that_passes_a_test():
    numbers = Numbers.of(np.arange(3.0 * LEAF))
    assert numbers.first(lambda x: x >= 2 * LEAF + 5) == 2 * LEAF + 5
    assert numbers.first(lambda x: x < 0) == -1


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_numbers_are_named(value):
    with pytest.raises(ValueError, match=f"holds {value} in row 2"):
        Numbers.of(np.array([1.0, value, math.nan]))
    with pytest.raises(ValueError, match=f"holds {value} in row 102"):
        Numbers.of(np.array([1.0, value, math.nan]), 100)

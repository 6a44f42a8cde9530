"""Tables as features: against a naive encoder, for every kind of table."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse

from checks import every_check
from rosenblatt import TableEncoder
from rosenblatt.tables.cells import MISSING


@every_check(TableEncoder(), variants=[TableEncoder(standardize=False)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def naive(train, test, standardize=True):
    """The features of `test`, cell by cell; columns of None, floats or texts, none left out."""
    columns = []
    for name, cells in train.items():
        known = [c for c in cells if c is not None]
        if isinstance(known[0], float):
            mean = sum(known) / len(known)
            deviation = math.sqrt(sum((c - mean) ** 2 for c in known) / len(known))
            filled = [mean if c is None else c for c in test[name]]
            columns.append([(c - mean) / deviation if standardize else c for c in filled])
        else:
            values = sorted(set(known)) + [None] * (None in cells)
            columns += [[float(c == value) for c in test[name]] for value in values]
    return np.array(columns).T


cell = st.one_of(st.none(), st.integers(-50, 50).map(float))
word = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "", " é"]))


@st.composite
def tables(draw):
    """Two values, one of them twice, are always there, so that both columns are used."""
    n = draw(st.integers(0, 9))
    numbers = [1.0, 2.0, 2.0, *draw(st.lists(cell, min_size=n, max_size=n))]
    words = ["a", "b", "b", *draw(st.lists(word, min_size=n, max_size=n))]
    return {"number": draw(st.permutations(numbers)), "word": draw(st.permutations(words))}


@given(tables(), st.booleans())
def test_equals_the_naive_encoder(table, standardize):
    encoder = TableEncoder(standardize=standardize)
    X = encoder.fit_transform(table)
    np.testing.assert_allclose(X, naive(table, table, standardize), atol=1e-12)
    assert X.shape[1] == len(encoder.get_feature_names_out())


@given(tables())
def test_frames_mappings_and_arrays_agree(table):
    X = TableEncoder().fit_transform(table)
    for frame in (pd.DataFrame(table), pl.DataFrame(table, strict=False)):
        np.testing.assert_array_equal(TableEncoder().fit_transform(frame), X)
    array = np.array(list(table.values()), dtype=object).T
    np.testing.assert_array_equal(TableEncoder().fit_transform(array), X)


@given(tables(), st.permutations(["number", "word", "other"]))
def test_columns_are_found_by_name_in_any_order(table, order):
    encoder = TableEncoder().fit(table)
    more = {**table, "other": ["?"] * len(table["word"])}
    np.testing.assert_array_equal(
        encoder.transform({name: more[name] for name in order}), encoder.transform(table)
    )


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(200)] * 3
    table = {"word": words, "x": rng.standard_normal(600), "few": ["a", "b", "c"] * 200}
    encoder = TableEncoder()
    X = encoder.fit_transform(table)
    assert issparse(X)
    assert X.has_canonical_format
    encoder.sparse_ = False
    np.testing.assert_array_equal(X.toarray(), encoder.transform(table))
    strange = {"word": ["new", "w3"], "x": [0.0, np.nan], "few": ["c", None]}
    dense = encoder.transform(strange)
    encoder.sparse_ = True
    np.testing.assert_array_equal(encoder.transform(strange).toarray(), dense)
    assert dense[0, :-4].sum() == 0


def test_dates_count_in_days():
    days = np.array(["2024-01-01", "2024-01-03", "NaT", "2024-01-08"], dtype="datetime64[us]")
    encoder = TableEncoder(standardize=False)
    X = encoder.fit_transform({"day": days, "x": [1.0, 2.0, 3.0, 4.0]})
    assert (X[[0, 1, 3], 0] - X[0, 0]).tolist() == [0, 2, 7]
    assert X[2, 0] - X[0, 0] == pytest.approx(3)  # the mean of those that are there
    assert X[0, 0] == 19723  # days since 1970
    assert encoder.kinds_ == {"day": "date", "x": "number"}


DROPPED = {
    "every cell is missing": [None] * 30,
    "the same text in every row": ["a"] * 30,
    "the same number in every row": [7.0] * 30,
    "a different text in every row": [f"row {k}" for k in range(30)],
    "it numbers the rows": list(range(30)),
}


@pytest.mark.parametrize("reason", DROPPED)
def test_columns_that_tell_nothing_are_left_out(reason):
    table = {"x": [1.0, 2.0, 4.0] * 10, "odd": DROPPED[reason]}
    encoder = TableEncoder().fit(table)
    assert encoder.columns_[1]["dropped"] == reason
    assert encoder.get_feature_names_out().tolist() == ["x"]
    # At prediction it need not even be there.
    assert encoder.transform({"x": [1.0]}).shape == (1, 1)


def test_nearly_unique_texts_are_left_out_and_frequent_ones_are_not():
    names = [f"name {k}" for k in range(60)] + ["Smith"] * 40
    assert "61" in TableEncoder().fit({"x": [1, 2] * 50, "n": names}).columns_[1]["dropped"]
    cities = [f"city {k % 40}" for k in range(100)]
    assert "dropped" not in TableEncoder().fit({"x": [1, 2] * 50, "n": cities}).columns_[1]


@pytest.mark.parametrize(
    ("form", "advice"),
    [
        ("{0:02d}/{1:02d}/2024", "written as 2024-12-31"),
        ("{0} May 20{1:02d}", "written as 2024-12-31"),
        ("May {0}, 20{1:02d} 10:30", "written as 2024-12-31"),
        ("{0}.{1}", "--number COLUMN"),
        ("this is number {0} of {1}", "--text COLUMN"),
        ("item{0}of{1}", None),
    ],
)
def test_what_may_be_done_about_a_column_that_is_left_out(form, advice):
    texts = [form.format(k % 12 + 1, k // 12 + 1) for k in range(60)] + ["unsure"]
    spec = TableEncoder().fit({"x": [1.0, 2.0, 3.0] * 20 + [1.0], "odd": texts}).columns_[1]
    assert (advice or "a different text in every row") in spec["dropped"]
    assert (";" in spec["dropped"]) == (advice is not None)


def test_a_column_can_be_used_in_spite_of_its_looks():
    table = {"row": list(range(30)), "id": [f"row {k}" for k in range(30)]}
    with pytest.raises(ValueError, match=r"no column is left to learn from \(row: it numbers"):
        TableEncoder().fit(table)
    encoder = TableEncoder(use=["row", "id"]).fit(table)
    assert len(encoder.get_feature_names_out()) == 31


def test_a_short_count_is_a_feature_like_any_other():
    assert TableEncoder().fit({"x": [1, 2, 3, 4]}).kinds_ == {"x": "number"}


def test_missing_cells_are_counted_and_filled():
    table = {"x": [1.0, None, 3.0], "w": ["a", None, "a"], "full": [1, 2, 4]}
    encoder = TableEncoder(standardize=False)
    X = encoder.fit_transform(table)
    assert encoder.n_missing_ == {"x": 1, "w": 1}
    assert X.tolist() == [[1, 1, 0, 1], [2, 0, 1, 2], [3, 1, 0, 4]]
    assert encoder.get_feature_names_out().tolist() == ["x", "w=a", f"w={MISSING}", "full"]


def test_unseen_values_have_no_feature_and_are_told():
    encoder = TableEncoder().fit({"w": ["a", "b", "a"], "x": [1, 2, 4]})
    table = {"w": ["c", "a", None, "c"], "x": [1, 2, 4, 4]}
    assert encoder.transform(table)[:, :2].tolist() == [[0, 0], [1, 0], [0, 0], [0, 0]]
    assert {k: v.tolist() for k, v in encoder.unseen(table).items()} == {"w": ["c", MISSING, "c"]}


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_numbers_of_any_size(size):
    X = TableEncoder().fit_transform({"x": [-size, 0.0, size, size]})
    assert np.isfinite(X).all()
    np.testing.assert_allclose(X.mean(), 0, atol=1e-3)
    np.testing.assert_allclose(X.std(), 1, atol=1e-3)


def test_truth_values_are_texts_however_they_come():
    as_text = TableEncoder().fit({"b": ["true", "false", "true"]})
    as_bool = TableEncoder().fit(pd.DataFrame({"b": [True, False, True]}))
    assert as_text.columns_ == as_bool.columns_


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no columns"),
        ({"x": []}, "no rows"),
        ({"x": [1.0, np.inf, 2.0]}, "column x holds inf in row 2: give finite numbers"),
        ({"x": np.ones((3, 2))}, "column x has cells with several values"),
        ({"x": [1, 2, 4], "y": [1, 2]}, "column y has 2 cells, but x has 3"),
        ({"x": [1, 2, 4], "y": 7}, "column y is 7: give a list of cells"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]), "two columns named x"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        TableEncoder().fit(table)
    assert "\n" not in str(caught.value)


def test_bad_tables_at_prediction():
    encoder = TableEncoder().fit({"x": [1.0, 2.0, 4.0], "w": ["a", "b", "a"]})
    with pytest.raises(ValueError, match="missing that were there in training: x"):
        encoder.transform({"w": ["a"]})
    with pytest.raises(ValueError, match="column x holds 'tall' in row 2, but it was numbers"):
        encoder.transform({"x": ["1", "tall"], "w": ["a", "a"]})


def test_every_column_has_its_span_of_features():
    table = {"x": [1, 2, 4] * 10, "w": ["a", "b", None] * 10, "row": range(30), "y": [3, 1] * 15}
    encoder = TableEncoder().fit(table)
    assert encoder.spans_ == {"x": range(1), "w": range(1, 4), "y": range(4, 5)}
    assert encoder.identifiers_ == ["row"]
    names = encoder.get_feature_names_out()
    assert names[list(encoder.spans_["w"])].tolist() == ["w=a", "w=b", f"w={MISSING}"]


def test_unscaled_features_are_the_numbers_of_the_table():
    table = {"x": [1.0, 2.0, None], "w": ["a", "b", "a"], "day": np.array([1, 2, 4], "M8[D]")}
    encoder = TableEncoder().fit(table)
    before = encoder.transform(table)
    raw = TableEncoder(standardize=False).fit_transform(table)
    np.testing.assert_array_equal(encoder.unscaled().transform(table), raw)
    assert not encoder.unscaled().standardize
    np.testing.assert_array_equal(encoder.transform(table), before)


@pytest.mark.parametrize("standardize", [True, False])
def test_columns_that_are_the_same_everywhere_can_be_kept(standardize):
    table = {"x": [0.1] * 3, "w": ["a"] * 3, "gone": [None] * 3, "y": [7.0, None, 7.0]}
    with pytest.raises(ValueError, match="no column is left"):
        TableEncoder().fit(table)
    encoder = TableEncoder(standardize=standardize, keep_constant=True)
    x, y = (0.0, 0.0) if standardize else (0.1, 7.0)
    assert encoder.fit_transform(table).tolist() == [[x, 1.0, y]] * 3
    # Only where there are no others, and none that name the rows.
    assert encoder.fit({"x": [1, 1, 1], "y": [1, 2, 4]}).kinds_ == {"y": "number"}
    with pytest.raises(ValueError, match="no column is left"):
        encoder.fit({"x": [1, 1, 1], "id": ["a", "b", "c"]})


def test_an_encoder_of_version_0_1_0_has_no_keep_constant():
    encoder = TableEncoder().fit({"x": [1, 2, 4]})
    state = dict(encoder.__getstate__())
    del state["keep_constant"]
    old = TableEncoder.__new__(TableEncoder)
    old.__setstate__(state)
    assert old.get_params() == encoder.get_params()

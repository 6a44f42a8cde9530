"""Free text as features: against scikit-learn's TF-IDF, and word by word."""

import math

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt import TableEncoder
from rosenblatt.tables import free_text
from rosenblatt.tables.frames import Cells
from rosenblatt.tables.texts import Texts

WORDS = ["Free", "call", "now", "see", "you", "ÉTÉ", "été", "x", "42", "a_b1", "中文", "don't"]
WORD = r"[^\W_]{2,}"


def messages(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n)]


def words(encoder):
    return [name.partition(":")[2] for name in encoder.get_feature_names_out()]


@pytest.mark.parametrize("as_texts", [False, True])
def test_features_are_those_of_scikit_learn(as_texts):
    train, test = messages(80), messages(40, seed=1)
    peer = TfidfVectorizer(token_pattern=WORD, min_df=2)
    wanted = peer.fit_transform(train)
    encoder = TableEncoder(text=["m"])
    X = encoder.fit_transform({"m": Texts.of(train) if as_texts else train})
    assert issparse(X)
    assert X.format == "csr"
    assert words(encoder) == peer.get_feature_names_out().tolist()
    np.testing.assert_allclose(X.toarray(), wanted.toarray(), rtol=1e-14)
    np.testing.assert_array_equal(X.toarray(), encoder.transform({"m": train}).toarray())
    found = encoder.transform({"m": Texts.of(test) if as_texts else test})
    np.testing.assert_allclose(found.toarray(), peer.transform(test).toarray(), rtol=1e-14)


def test_the_formula():
    table = {"m": ["good good day", "Good night", "night"]}
    encoder = TableEncoder(text=["m"])
    X = encoder.fit_transform(table).toarray()
    assert words(encoder) == ["good", "night"]
    assert encoder.columns_[0]["left_out"] == 1
    idf = math.log(4 / 3) + 1  # both stand in two of three rows
    np.testing.assert_allclose(encoder.columns_[0]["idf"], idf)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(X, [[1, 0], [half, half], [0, 1]], rtol=1e-15)


def test_words_counted_once_are_words_counted_for_some_rows():
    table = {"m": [*messages(60), None, ""]}
    rows, others = np.arange(0, 62, 2), np.arange(1, 62, 2)
    cells = free_text.with_counts({"m": Cells.of("m", table["m"])}, ["m"])
    one, other = TableEncoder(text=["m"]), TableEncoder(text=["m"])
    X = one.fit_transform({"m": cells["m"][rows]})
    Y = other.fit_transform({"m": np.array(table["m"], dtype=object)[rows]})
    np.testing.assert_array_equal(X.toarray(), Y.toarray())
    assert words(one) == words(other)
    X = one.transform({"m": cells["m"][others]})
    Y = other.transform({"m": np.array(table["m"], dtype=object)[others]})
    np.testing.assert_array_equal(X.toarray(), Y.toarray())


def test_other_columns_stay_as_they_are_in_their_places():
    rng = np.random.default_rng(0)
    table = {
        "size": rng.standard_normal(30),
        "m": messages(30),
        "club": rng.choice(["A", "B"], 30),
        "age": rng.integers(1, 90, 30).astype(float),
        "n": messages(30, seed=2),
    }
    encoder = TableEncoder(text=["m", "n"])
    X = encoder.fit_transform(table)
    spans, names = encoder.spans_, encoder.get_feature_names_out()
    assert list(spans) == list(table)
    assert X.shape == (30, len(names))
    for name, column in table.items():
        alone = TableEncoder(text=[name] if name in "mn" else [])
        wanted = alone.fit_transform({name: column})
        wanted = wanted.toarray() if issparse(wanted) else wanted
        np.testing.assert_array_equal(X[:, list(spans[name])].toarray(), wanted)
        assert names[list(spans[name])].tolist() == alone.get_feature_names_out().tolist()
    assert encoder.kinds_ == {"size": "number", "age": "number"} | dict.fromkeys(
        ["m", "n", "club"], "text"
    )
    raw = encoder.unscaled().transform(table)
    np.testing.assert_array_equal(raw[:, 0].toarray().ravel(), table["size"])


def test_rows_without_a_known_word_are_zero():
    encoder = TableEncoder(text=["m"]).fit({"m": ["good day", "good night", "day", None, ""]})
    assert encoder.n_missing_ == {"m": 1}
    X = encoder.transform({"m": [None, "", "!? x", "unheard of", "GOOD, unheard"]}).toarray()
    assert X.tolist() == [[0, 0]] * 4 + [[0, 1]]
    assert encoder.unseen({"m": ["unheard"]}) == {}


def test_which_words_are_kept(monkeypatch):
    once = TableEncoder(text=["m"]).fit({"m": ["one two", "three", "four"]})
    assert words(once) == ["four", "one", "three", "two"]  # none is there twice
    monkeypatch.setattr(free_text, "MOST_WORDS", 3)
    table = {"m": ["cc bb aa dd", "cc bb aa dd", "cc zz", "zz"]}
    encoder = TableEncoder(text=["m"]).fit(table)
    assert words(encoder) == ["aa", "bb", "cc"]  # the most frequent, then by the alphabet
    assert encoder.columns_[0]["left_out"] == 2


def test_accents_in_one_or_two_characters_are_the_same():
    encoder = TableEncoder(text=["m"]).fit({"m": ["cafe\u0301", "caf\u00e9", "tea"]})
    assert words(encoder) == ["caf\u00e9"]


def test_columns_without_words():
    table = {"x": [1.0, 2.0, 4.0], "m": ["?!", "a b", "-"], "n": [None] * 3}
    encoder = TableEncoder(text=["m", "n"]).fit(table)
    assert [spec.get("dropped") for spec in encoder.columns_] == [
        None,
        "no word in any row",
        "every cell is missing",
    ]
    assert encoder.identifiers_ == []
    with pytest.raises(ValueError, match=r"no column is left.*no word in any row"):
        TableEncoder(text=["m"]).fit({"m": table["m"]})
    with pytest.raises(ValueError, match=r"text=\['zz'\] names no column: the table has x, m, n"):
        TableEncoder(text=["zz"]).fit(table)


def test_numbers_can_be_read_as_words():
    encoder = TableEncoder(text=["m"]).fit({"m": [12, 13, 12]})
    assert words(encoder) == ["12"]


def test_text_that_is_left_out_is_told_how_to_be_used():
    rng = np.random.default_rng(0)
    free = [f"{' '.join(rng.choice(['good', 'bad', 'late', 'soon'], 5))} {k}" for k in range(60)]
    table = {"m": free, "id": [f"user-{k}" for k in range(60)], "x": rng.standard_normal(60)}
    encoder = TableEncoder().fit(table)
    by_words = "; --text COLUMN, in Python text=[...], makes features of the words"
    why = "a different text in every row"
    assert [spec.get("dropped") for spec in encoder.columns_] == [why + by_words, why, None]
    assert encoder.identifiers_ == ["m", "id"]


def test_models_with_words_are_saved(tmp_path):
    table = {"m": messages(60), "x": np.arange(60.0)}
    y = ["free" in text.lower() for text in table["m"]]
    model = make_pipeline(TableEncoder(text=["m"]), rb.Perceptron()).fit(table, y)
    rb.io.save(model, tmp_path / "m.skops")
    again = rb.io.load(tmp_path / "m.skops")
    assert again[0].get_params() == {**model[0].get_params()}
    test = {"m": messages(20, seed=3), "x": np.arange(20.0)}
    np.testing.assert_array_equal(again.decision_function(test), model.decision_function(test))
    assert clone(again[0]).fit(table).columns_[0]["words"] == model[0].columns_[0]["words"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": "good good"},
        {"words": ["day", "good"]},
        {"words": "day"},
        {"words": "day  good"},
        {"idf": [1.5, 1.5]},
        {"idf": np.array([1.5, np.nan])},
        {"idf": np.array([1.5, 0.5])},
        {"idf": np.array([[1.5, 1.5]])},
        {"left_out": -1},
        {"kind": "number"},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(wrong):
    encoder = TableEncoder(text=["m"]).fit({"m": ["good day", "good", "day"]})
    state = encoder.__getstate__()
    clone(encoder).__setstate__(state)
    changed = state | {"columns_": [state["columns_"][0] | wrong]}
    with pytest.raises(ValueError, match="do not fit together"):
        TableEncoder().__setstate__(changed)

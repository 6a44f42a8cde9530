"""Blocks of rows, gone through once, tell the encoder what the whole table does."""

import math
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.tables import frames, tallies
from rosenblatt.tables.frames import Cells
from rosenblatt.tables.table_tally import ColumnTally
from rosenblatt.tables.texts import Texts

number = st.one_of(
    st.floats(allow_infinity=False), st.sampled_from([0.0, 1.0, 5e-324, 1.7e308, -1e308, math.nan])
)
word = st.sampled_from(["a", "b", "True", "false", "", "é", None])
sentence = st.one_of(
    st.none(),
    st.lists(st.sampled_from(["red", "Red", "fish", "x", "42"]), max_size=4).map(" ".join),
)
moment = st.one_of(st.just("NaT"), st.integers(-(10**5), 10**5).map(str))


@st.composite
def tables(draw):
    """Columns of every kind, as arrays, and where to cut them."""
    n = draw(st.integers(2, 30))

    def column(cell):
        return draw(st.lists(cell, min_size=n, max_size=n))

    start, step = draw(st.sampled_from([(0, 1), (1, 1), (2, 1), (5, -3)]))
    n_names = draw(st.sampled_from([3, 30]))
    hours = np.array(column(moment), dtype="timedelta64[h]")
    return {
        "x": np.array(column(number)),
        "few": np.array(column(st.sampled_from([0.1, 0.1, 0.3]))),
        "row": start + step * np.arange(n),
        "user_id": np.array(column(st.integers(0, 2**53))),
        "when": np.datetime64("2001-01-01T00", "s") + hours,
        "word": np.array(column(word), dtype=object),
        "text": np.array(column(sentence), dtype=object),
        "names": np.array([f"n{k % n_names}" for k in range(n)], dtype=object),
        "gone": np.full(n, draw(st.sampled_from([None, math.nan])), dtype=object),
    }


def cut(table, cuts):
    """The rows of a table up to each cut."""
    n = len(next(iter(table.values())))
    edges = [0, *sorted(min(k, n) for k in cuts), n]
    return [{name: cells[a:b] for name, cells in table.items()} for a, b in pairwise(edges)]


def learned(encoder, fit, *given):
    """What an encoder has learned, or why not."""
    try:
        getattr(encoder, fit)(*given)
    except ValueError as error:
        return str(error)
    specs = [{**spec, "idf": list(spec.get("idf", ()))} for spec in encoder.columns_]
    return specs, encoder.n_missing_, encoder.sparse_, encoder.feature_names_in_.tolist()


@given(
    tables(),
    st.lists(st.integers(0, 30), max_size=6),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(), ("row", "names")]),
    st.sampled_from([1 << 14, 4]),
)
def test_blocks_equal_the_whole_table(table, cuts, standardize, keep_constant, use, leaf):
    how = {"standardize": standardize, "keep_constant": keep_constant, "use": use}
    how["text"] = ["text"]
    whole = learned(rb.TableEncoder(**how), "fit", table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "LEAF", leaf)
        assert learned(rb.TableEncoder(**how), "fit_blocks", iter(cut(table, cuts))) == whole
        known = cut({name: table[name] for name in table if name != "gone"}, cuts)
        coded = [
            {name: Texts.of(c) if c.dtype == object else c for name, c in block.items()}
            for block in known
        ]
        less = learned(rb.TableEncoder(**how), "fit_blocks", coded)
    if not isinstance(whole, str) and not isinstance(less, str):
        assert less[0] == whole[0][:-1]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames_and_arrow_tables(frame):
    rng = np.random.default_rng(0)
    table = {
        "x": rng.standard_normal(90),
        "word": rng.choice(np.array(["a", "b", None], dtype=object), 90),
        "day": np.datetime64("2020-01-01", "us") + rng.integers(0, 10**14, 90),
    }
    blocks = [frame(block) for block in cut(table, [1, 40])]
    found = learned(rb.TableEncoder(), "fit_blocks", blocks)
    assert found == learned(rb.TableEncoder(), "fit", table)
    assert found == learned(rb.TableEncoder(), "fit_blocks", [blocks[0], *cut(table, [1])[1:]])


def test_arrays_and_empty_blocks():
    X = np.random.default_rng(0).standard_normal((50, 3))
    blocks = [X[:0], X[:20], X[20:20], X[20:]]
    encoder = rb.TableEncoder().fit_blocks(blocks)
    assert encoder.columns_ == rb.TableEncoder().fit(X).columns_
    assert encoder.n_features_in_ == 3
    np.testing.assert_array_equal(encoder.transform(X), rb.TableEncoder().fit_transform(X))
    named = rb.TableEncoder().fit_blocks([{"x": []}, {"x": [1.0, 2.0]}, {"x": []}])
    assert named.columns_[0]["mean"] == 1.5


def test_a_block_of_missing_cells_fits_every_kind():
    gaps = [np.full(2, math.nan), np.array([None, None]), np.array(["NaT"] * 2, "M8[s]")]
    for gone in gaps:
        for cells in ([1.0, 2.0], ["a", "b"], np.array([3, 4], "M8[D]")):
            for blocks in ([gone, cells], [cells, gone]):
                encoder = rb.TableEncoder().fit_blocks({"c": block} for block in blocks)
                assert encoder.n_missing_ == {"c": 2}
                expected = rb.TableEncoder().fit({"c": cells})
                assert encoder.kinds_ == expected.kinds_
                if encoder.kinds_ != {"c": "text"}:
                    assert encoder.columns_ == expected.columns_


WRONG_KINDS = [
    ([[1.0, 2.0], [None, "tall", 3]], "holds 'tall' in row 4, but numbers before"),
    ([[1.0, 2.0], Texts.of([None, "tall"])], "holds 'tall' in row 4, but numbers before"),
    ([["a", "b"], [math.nan, 7.5]], "holds 7.5 in row 4, but texts before"),
    ([["a", "b"], [True], [7]], "row 4, but texts before"),
    ([[1, 2], np.array([3, 4], "M8[D]")], "holds 1970-01-04 in row 3, but numbers before"),
    ([np.array(["NaT", "2024-01-01"], "M8[D]"), [None, None], ["x"]], "'x' in row 5, but dates"),
    ([[1, 2], [3.0, math.inf]], "holds inf in row 4: give finite numbers"),
]


@pytest.mark.parametrize(("blocks", "message"), WRONG_KINDS)
def test_a_block_of_another_kind_is_refused_by_row_and_column(blocks, message):
    with pytest.raises(ValueError, match=f"column c .*{message}") as caught:
        rb.TableEncoder().fit_blocks({"c": cells} for cells in blocks)
    assert "\n" not in str(caught.value)
    if "before" in message:
        assert "kinds={'c': 'text'}" in str(caught.value)


def test_kinds_known_beforehand():
    blocks = [{"c": [1, 2], "d": ["5", "7"]}, {"c": ["a", 2], "d": [None, "8"]}]
    encoder = rb.TableEncoder().fit_blocks(blocks, kinds={"c": "text", "d": "number"})
    assert encoder.columns_[0]["values"] == ["1", "2", "a"]
    assert encoder.kinds_ == {"c": "text", "d": "number"}
    with pytest.raises(ValueError, match=r"'a' in row 3, but kinds=\{'c': 'number'\} says numbers"):
        rb.TableEncoder().fit_blocks(blocks, kinds={"c": "number"})
    for kinds in ({"e": "text"}, {"c": "words"}):
        with pytest.raises(ValueError, match="is not allowed: give a column") as caught:
            rb.TableEncoder().fit_blocks(blocks, kinds=kinds)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([{"x": [1, 2], "y": [1, 2]}, {"x": [3]}], "begins with row 3 has no column 'y'"),
        ([{"x": [1, 2]}, {"x": [3], "z": [1]}], "begins with row 3 has a column 'z'"),
        ([np.ones((4, 2)), np.ones((4, 3))], "row 5 has 3 columns, but the rows before have 2"),
        ([], "the blocks have no rows"),
        ([{"x": []}], "the blocks have no rows"),
        ([{"x": [1.0]}], "only one sample"),
        ({"x": [1, 2]}, "blocks is one table"),
        (np.ones((3, 2)), "blocks is one table"),
    ],
)
def test_bad_blocks(blocks, message):
    with pytest.raises(ValueError, match=message) as caught:
        rb.TableEncoder().fit_blocks(blocks)
    assert "\n" not in str(caught.value)


# Bounds ------------------------------------------------------------------------------------------


def described(cells, cuts, **how):
    column = ColumnTally("c" if "name" not in how else how.pop("name"), **how)
    for block in cut({"c": cells}, cuts):
        assert column.add(Cells.of(column.name, block["c"]))
    return column.described(standardize=True)


def by_rows(texts, limit):
    """Row by row: whether the column is left out before its end, and in which cell."""
    known, n_cells = set(), 0
    for text in texts:
        n_cells += text is not None
        known |= {text} - {None}
        if len(known) > limit:
            if 2 * len(known) > n_cells:
                return f"more than {limit} different texts in the first {n_cells} cells"
            limit *= 2
    return None


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 60)), min_size=60, max_size=200),
    st.lists(st.integers(0, 200), max_size=4),
)
def test_too_many_different_texts_are_given_up_in_the_same_row(numbers, cuts):
    texts = [None if k is None else f"t{k}" for k in numbers]
    cells = np.array(texts, dtype=object)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallies, "MOST_TEXTS", 8)
        spec, n_missing = described(cells, cuts)
        wanted, _ = described(cells, cuts, wanted=True)
    assert n_missing == texts.count(None)
    expected = by_rows(texts, 8)
    if expected:
        assert spec["dropped"] == expected
    else:
        assert "more than" not in spec.get("dropped", "")
    different = sorted(set(texts) - {None})
    assert wanted.get("values", different)[: len(different)] == different


@pytest.mark.parametrize("name", ["user_id", "amount"])
def test_ids_are_judged_by_the_first_rows(name, monkeypatch):
    monkeypatch.setattr(tallies, "MOST_IDS", 50)
    ids = np.random.default_rng(0).permutation(100)[:60] + 1000.0
    late, early = ids.copy(), ids.copy()
    late[55] = ids[3]  # is there twice, but not in the first 50 rows
    early[45] = ids[3]
    for cuts in ([], [7, 48, 52]):
        for cells, same in ((ids, False), (late, False), (early, True)):
            spec, _ = described(cells, cuts, name=name)
            assert ("dropped" in spec) == (name == "user_id" and not same)


def peak(do):
    """Bytes that were in use at once, beyond those before."""
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_nothing_of_the_size_of_a_column_is_copied(tmp_path, monkeypatch):
    n = 1 << 20
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=n)
    mapped[:] = np.random.default_rng(0).standard_normal(n)
    mapped[::7] = math.nan
    codes = np.arange(n, dtype=np.int32) % 5 - 1
    table = {"x": mapped, "word": Texts(np.array(list("abcd"), dtype=object), codes)}
    rows = np.memmap(tmp_path / "x", np.float64, "r", shape=(n // 2, 2))
    monkeypatch.setattr("rosenblatt.tables.encoder.ROOM", 1 << 15)
    blocks = ({"x": mapped[k : k + 4096]} for k in range(0, n, 4096))
    for some in ({"x": mapped[:9], "word": ["a", "b", "c"] * 3}, rows[:9]):
        rb.TableEncoder().fit(some)  # compiles the loops
    assert peak(lambda: rb.TableEncoder().fit(table)) < codes.nbytes // 2
    assert peak(lambda: rb.TableEncoder().fit(rows)) < codes.nbytes // 2
    assert peak(lambda: rb.TableEncoder().fit_blocks(blocks)) < codes.nbytes // 2


def test_the_sums_of_a_column_give_up_their_room():
    tally = ColumnTally("x")
    tally.add(Cells.of("x", np.arange(1000.0)))
    assert tally._tally._sums._sums is None

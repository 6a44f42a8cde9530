"""`rb.open` of tables, whatever holds them: the features that the encoder makes in memory."""

import sqlite3
from itertools import pairwise

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline

import rosenblatt as rb

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ROWS = 700


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("rosenblatt.data.sources.MAPPED", 900)
    monkeypatch.setattr("rosenblatt.streams.blocks.CELLS", 1000)


def frame(n=ROWS, seed=0):
    """Numbers, words, dates, all with gaps, and a class that some rows have not."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(50, 9, n).round(3),
            "colour": rng.choice(["red", "green", "blue"], n),
            "count": rng.integers(0, 40, n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    table["kind"] = np.where(table["size"] + 9 * (table["colour"] == "red") > 52, "yes", "no")
    table.loc[::53, "size"] = np.nan
    table.loc[::41, "colour"] = None
    table.loc[[3, n // 2], "kind"] = None
    return table


@pytest.fixture(scope="module")
def whole():
    return frame()


@pytest.fixture(scope="module")
def wanted(whole):
    """The features and classes as memory has them."""
    known = whole[whole["kind"].notna()]
    encoder = rb.TableEncoder()
    X = encoder.fit_transform(known.drop(columns="kind"))
    return encoder, X, known["kind"].to_numpy(dtype=str)


def agrees(source, wanted):
    encoder, X, y = wanted
    assert source.encoder.columns_ == encoder.columns_
    assert source.features == tuple(encoder.get_feature_names_out())
    assert np.asarray(source.X).tobytes() == X.tobytes()
    assert source.classes.tolist() == ["no", "yes"]
    assert source.y.tolist() == y.tolist()
    return source


def ways(table, folder):
    """Everything that a table may lie in."""
    csv, parquet = folder / "table.csv", folder / "table.parquet"
    table.to_csv(csv, index=False)
    table.to_parquet(parquet, index=False)
    parts = folder / "parts"
    for k, a in enumerate(range(0, len(table), 300)):
        (parts / f"year={2020 + k}").mkdir(parents=True)
        part = table.iloc[a : a + 300]
        part.to_parquet(parts / f"year={2020 + k}" / "part-0.parquet", index=False)
        part.to_csv(folder / f"piece-{k}.csv", index=False)
    database = folder / "table.db"
    with sqlite3.connect(database) as connection:
        table.assign(seen=table["seen"].astype(str)).to_sql("things", connection, index=False)
    connection.close()
    return {
        "csv": lambda: rb.open(csv, target="kind"),
        "gzip": lambda: rb.open(_packed(csv), target="kind"),
        "pattern": lambda: rb.open(folder / "piece-*.csv", target="kind"),
        "list": lambda: rb.open(sorted(folder.glob("piece-*.csv")), target="kind"),
        "parquet": lambda: rb.open(str(parquet), target="kind"),
        "folder of parquet": lambda: rb.open(parts, target="kind"),
        "query": lambda: rb.open(query=f"SELECT * FROM '{parquet}'", target="kind"),
        "sqlite": lambda: rb.open(database, target="kind"),
        "pandas": lambda: rb.open(table, target="kind"),
        "polars": lambda: rb.open(pl.from_pandas(table), target="kind"),
        "polars, lazy": lambda: rb.open(pl.scan_parquet(parquet), target="kind"),
        "arrow": lambda: rb.open(pa.Table.from_pandas(table), target="kind"),
        "arrow reader": lambda: rb.open(pa.Table.from_pandas(table).to_reader(100), target="kind"),
        "arrow data set": lambda: rb.open(_data_set(parquet), target="kind"),
        "relation": lambda: rb.open(duckdb.connect().read_parquet(str(parquet)), target="kind"),
        "dict": lambda: rb.open({c: table[c].to_numpy() for c in table}, target="kind"),
        "frames": lambda: rb.open([table[:200], table[200:201], table[201:]], target="kind"),
        "function": lambda: rb.open(
            lambda: (table[a : a + 99] for a in range(0, ROWS, 99)), "kind"
        ),
    }


def _packed(path):
    import gzip

    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def _data_set(path):
    from pyarrow import dataset

    return dataset.dataset(path)


NAMES = ["csv", "gzip", "pattern", "list", "parquet", "folder of parquet", "query", "sqlite",
         "pandas", "polars", "polars, lazy", "arrow", "arrow reader", "arrow data set", "relation",
         "dict", "frames", "function"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("large", [False, True])
def test_whatever_holds_it(name, large, whole, wanted, tmp_path, monkeypatch):
    """The same from memory and, with files said to be large, from columns on disk."""
    if large:
        for limit in ("IN_MEMORY_BYTES", "IN_PARTS_BYTES"):
            monkeypatch.setattr(f"rosenblatt.tables.storage.{limit}", 100)
    with agrees(ways(whole, tmp_path)[name](), wanted) as source:
        assert any("2 rows without a class" in note for note in source.notes)


@settings(max_examples=6)
@given(cuts=st.sets(st.integers(1, ROWS - 1), max_size=6))
def test_any_cut_of_frames(cuts, whole, wanted):
    edges = [0, *sorted(cuts), ROWS]
    frames = [whole[a:z] for a, z in pairwise(edges)]
    agrees(rb.open(frames, target="kind"), wanted).close()


def test_models_and_pipelines(whole, wanted):
    encoder, _, y = wanted
    known = whole[whole["kind"].notna()].drop(columns="kind")
    with rb.open(whole, target="kind") as source, rb.open(known, encoder=source.encoder) as new:
        model = rb.Perceptron(max_epochs=5).fit(source)
        pipeline = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=5)).fit(known, y)
        assert model.coef_.tobytes() == pipeline[-1].coef_.tobytes()
        assert model.predict(new).tolist() == pipeline.predict(known).tolist()
        assert model.feature_names_in_.tolist() == encoder.get_feature_names_out().tolist()
        assert new.classes is None
        verdict = rb.separability(source)
        assert verdict.problem.features == source.features


def test_an_encoder_of_ones_own(whole):
    plain = rb.TableEncoder(standardize=False)
    source = rb.open(whole, target="kind", encoder=plain)
    assert not hasattr(plain, "columns_")  # it was a copy that was fitted
    assert source.X[0, source.features.index("count")] == whole["count"][0]


def test_sparse_files(tmp_path):
    rng = np.random.default_rng(0)
    X = csr_array(rng.normal(size=(90, 7)).round(3) * (rng.random((90, 7)) < 0.4))
    y = (X.toarray()[:, 0] > 0).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    name = rb.io.read_table(tmp_path / "a.svm").names[-1]
    with rb.open(tmp_path / "a.svm", target=name) as source:
        assert issparse(source.X)
        assert (source.X != X).sum() == 0
        assert source.y.tolist() == y.tolist()
        wanted = rb.Perceptron(max_epochs=9).fit(X, y)
        found = rb.Perceptron(max_epochs=9).fit(source)
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        dump_svmlight_file(X[:30, :5], y[:30], str(tmp_path / "b.svm"))
        narrow = rb.open(tmp_path / "b.svm", encoder=source.encoder)
        assert found.predict(narrow).tolist() == wanted.predict(_padded(X[:30, :5], 7)).tolist()


def _padded(X, d):
    return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))


def test_numbers_as_target(whole):
    source = rb.open(whole.drop(columns="kind"), target="count")
    assert source.classes.dtype == np.int64
    assert source.targets.tolist() == whole["count"].tolist()
    assert rb.AdalineRegressor(max_epochs=2).fit(source).n_iter_ == 2
    assert rb.open(whole, target="size").classes is None


# What is wrong ------------------------------------------------------------------------------------


def test_blocks_that_differ(whole):
    with pytest.raises(ValueError, match="column size holds 'tall' in row 101, but numbers before"):
        rb.open([whole[10:110], whole[110:120].assign(size="tall")], target="kind")
    with pytest.raises(ValueError, match="begins with row 101 has no column 'size'"):
        rb.open([whole[10:110], whole[110:120].drop(columns="size")], target="kind")
    with pytest.raises(ValueError, match="a block has no column 'kind'"):
        rb.open([whole[10:110], whole[110:120].drop(columns="kind")], target="kind")
    with pytest.raises(ValueError, match="the target holds numbers from row 101 on, but texts"):
        rb.open([whole[10:110], whole[110:120].assign(kind=3)], target="kind")


def test_fewer_rows_the_second_time(whole):
    passes = []

    def shrinking():
        passes.append(None)
        return iter([whole[: ROWS if len(passes) < 2 else 500]])

    with pytest.raises(ValueError, match="gave 700 rows the first time, but 500 the second"):
        rb.open(shrinking, target="kind")
    assert len(passes) == 2
    with pytest.raises(ValueError, match="can be gone through only once, but its tables are read"):
        rb.open(iter([whole]), target="kind")


def test_another_order_the_second_time(whole):
    orders = iter([whole, whole[::-1]])
    with pytest.raises(ValueError, match="gave other targets the second time, or in another order"):
        rb.open(lambda: iter([next(orders)]), target="kind")
    cuts = iter([[whole[:300], whole[300:]], [whole[:500], whole[500:]]])
    assert rb.open(lambda: iter(next(cuts)), target="kind").shape[0] == ROWS - 2


def test_empty_blocks_and_others_that_are_no_tables(whole, wanted):
    agrees(rb.open([whole[:0], whole[:9], whole[:0], whole[9:]], target="kind"), wanted)
    with pytest.raises(
        ValueError, match=r"row 701 begins \(array.*: give tables only, as the first"
    ):
        rb.open([whole, (np.eye(2), [0, 1])], target="kind")
    with pytest.raises(TypeError, match="foo= is not known: give arguments of open, or of"):
        rb.open(whole, target="kind", foo=1)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("sort", "has no column 'sort': it has 'size', 'colour'"),
        ("seen", "the target 'seen' holds dates: choose a column of classes or numbers"),
        (3, "target=3 is not allowed: give the name of a column"),
        ("empty", "the target 'empty' is missing in every row: choose another"),
    ],
)
def test_targets_that_are_none(target, told, whole):
    with pytest.raises((ValueError, TypeError), match=told):
        rb.open(whole.assign(empty=None), target=target)


def test_a_file_that_changes_while_it_is_read(whole, tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    whole.to_parquet(path, index=False)
    fit_blocks = rb.TableEncoder.fit_blocks

    def changing(self, blocks, **how):
        found = fit_blocks(self, blocks, **how)
        whole[:600].to_parquet(path, index=False)
        return found

    monkeypatch.setattr(rb.TableEncoder, "fit_blocks", changing)
    with pytest.raises(ValueError, match="changed while it was read"):
        rb.open(path, target="kind")

"""Tables on a cluster as numbers: the encoder, the features and the model of one machine."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import rosenblatt as rb

pd = pytest.importorskip("pandas", reason="pandas is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    words = ["spam and eggs", "eggs again", "nothing of that kind", "kind words, again"]
    size = rng.lognormal(10, 3, n)
    return pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "user_id": rng.permutation(n * 3)[:n],
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "huge": rng.choice([1e300, -1e300, 1e-300], n),
            "club": rng.choice(["B", "a", None, "Ä"], n),
            "name": [f"person {k}" for k in rng.permutation(n)],
            "born": pd.to_datetime("1990-01-01")
            + pd.to_timedelta(rng.integers(0, 30_000, n), unit="h"),
            "sort": pd.Categorical(rng.choice(["x", "y", "z"], n)),
            "two": np.where(np.arange(n) < n // 2, 1.5, 2.5),
            "same": 1.0,
            "empty": np.full(n, np.nan),
            "said": rng.choice(words, n),
        }
    )


def state(encoder):
    return {k: v for k, v in vars(encoder).items() if k.endswith("_")}


def assert_same(one, other):
    assert state(one).keys() == state(other).keys()
    for name, value in state(one).items():
        if name == "columns_":
            for a, b in zip(value, other.columns_, strict=True):
                assert a.keys() == b.keys()
                assert all(np.array_equal(a[k], b[k]) for k in a), (a, b)
        else:
            assert np.array_equal(value, getattr(other, name)), name


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("given", [{}, {"text": ["said"]}, {"standardize": False, "use": ["id"]}])
def test_an_encoder_is_that_of_one_machine(client, parts, given):
    frame = table()
    here = rb.TableEncoder(**given).fit(frame)
    there = rb.TableEncoder(**given)
    lazy = there.fit_transform(dd.from_pandas(frame, npartitions=parts))
    assert_same(here, there)
    assert lazy.dtype == np.float64
    assert lazy.shape[1] == len(here.get_feature_names_out())
    X, made = here.transform(frame), lazy.compute()
    assert type(made) is type(X)
    assert np.array_equal(made.toarray() if "text" in given else made,
                          X.toarray() if "text" in given else X)  # fmt: skip


def test_a_column_of_numbers_and_texts_is_one_of_texts(client):
    frame = pd.DataFrame({"a": np.array([1.5, 2.0, "x", 1.5, None, "y"], object), "b": range(6)})
    with_objects = dd.from_map(lambda k: frame.iloc[2 * k : 2 * k + 2], range(3), meta=frame[:0])
    here = rb.TableEncoder(use=["a", "b"]).fit(frame)
    there = rb.TableEncoder(use=["a", "b"]).fit(with_objects)
    assert_same(here, there)
    assert there.kinds_ == {"a": "text", "b": "number"}
    assert np.array_equal(here.transform(frame), there.transform(with_objects).compute())


def test_empty_parts_and_parts_without_a_cell(client):
    frame = table(60)
    frame.loc[:19, ["club", "size"]] = None
    cut = dd.from_map(lambda at: frame.iloc[at[0] : at[1]], [(0, 0), (0, 20), (20, 20), (20, 60)],
                      meta=frame[:0])  # fmt: skip
    here, there = rb.TableEncoder().fit(frame), rb.TableEncoder().fit(cut)
    assert_same(here, there)
    assert np.array_equal(here.transform(frame), there.transform(cut).compute())


def test_very_many_texts_are_left_out_at_the_same_row(client, monkeypatch):
    from rosenblatt.tables import tallies

    monkeypatch.setattr(tallies, "MOST_TEXTS", 50)
    frame = pd.DataFrame({"name": [f"n{k % 170}" for k in range(300)], "x": range(1, 601, 2)})
    here = rb.TableEncoder().fit(frame)
    assert "more than 50" in here.columns_[0]["dropped"]
    for parts in (1, 3, 8):
        assert_same(here, rb.TableEncoder().fit(dd.from_pandas(frame, npartitions=parts)))


def test_an_array_of_dask_has_the_features_of_an_array(client):
    X = np.column_stack([table()["size"], table()["two"]])
    there = rb.TableEncoder()
    made = there.fit_transform(da.from_array(X, chunks=(90, -1)))
    here = rb.TableEncoder().fit(X)
    assert_same(here, there)
    assert made.chunks == ((90, 90, 90, 90, 40), (2,))
    assert np.array_equal(made.compute(), here.transform(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_pipeline_on_a_data_frame(client):
    frame = table()
    y = np.where(frame["size"].fillna(0) > 20_000, "large", "small")
    lazy, labels = dd.from_pandas(frame, npartitions=4), da.from_array(y, chunks=100)
    here = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=5, keep="average"))
    there = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=5, keep="average"))
    here.fit(frame, y)
    there.fit(lazy, labels)
    assert np.array_equal(here[-1].coef_, there[-1].coef_)
    assert np.array_equal(here.predict(frame), there.predict(lazy).compute())
    assert here.score(frame, y) == there.score(lazy, labels)


def test_what_is_wrong_is_said_in_one_line_that_names_the_part(client):
    frame = table(100)
    frame.loc[70, "size"] = np.inf
    lazy = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(RuntimeError, match=r"^part 2 of the table: column size holds inf in row"):
        rb.TableEncoder().fit(lazy)
    fitted = rb.TableEncoder().fit(table(100))
    with pytest.raises(ValueError, match=r"columns are missing .* born$"):
        fitted.transform(lazy.drop(columns="born"))

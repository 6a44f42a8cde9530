"""Tables in files that workers read: what one machine makes of them, to the bit."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cluster.engine import ClusterError
from rosenblatt.cluster.opened import ClusteredSamples
from rosenblatt.tables import rows_on_workers
from rosenblatt.tables.storage import TableError

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.05, np.nan, size.round(4)),
            "price": [f"${x:.2f}" for x in rng.lognormal(3, 1, n)],
            "weight": [f"{k} kg" for k in rng.integers(50, 90, n)],
            "when": [f"{d:02}.{m:02}.2023" for d, m in rng.integers(1, 13, (n, 2))],
            "born": pd.to_datetime("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 20_000, n), unit="h"),
            "town": rng.choice(["Bonn", "Köln", "São Paulo", "-"], n),
            "code": [f"{k:05}" for k in rng.integers(0, 30, n)],
            "odd": [*map(str, rng.integers(0, 9, n - 1)), "many"],
            "class": np.where(size + rng.normal(size=n) / 3 > 0, "yes", "no"),
        }
    )


def made_by_both(client, what, target="class", **given):
    with rb.open(what, target=target, **given) as here:
        X = here.X.toarray() if hasattr(here.X, "toarray") else np.array(here.X)
        told = (here.notes, here.features, here.shape, here.name, here.y.tolist())
        columns = here.encoder.columns_
    with rb.open(what, target=target, engine=client, **given) as there:
        assert isinstance(there, ClusteredSamples)
        assert (there.notes, there.features, there.shape, there.name, there.y.tolist()) == told
        assert repr(there.encoder.columns_) == repr(columns)
        made = there.X.compute()
        assert np.array_equal(made.toarray() if hasattr(made, "toarray") else made, X)
        return len(there.blocks)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(rows_on_workers, "LEAST_BYTES", 2000)


def test_a_file_in_stretches_of_its_bytes(client, small_parts, tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    assert made_by_both(client, tmp_path / "a.csv") > 5
    (tmp_path / "b.csv").write_bytes(
        (tmp_path / "a.csv").read_bytes().rstrip().replace(b"\n", b"\r\n")
    )
    assert made_by_both(client, tmp_path / "b.csv") > 5


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("Bonn", '"Bonn\nam Rhein"'),  # a cell of two lines
        lambda text: text.replace("Bonn", '"a,b\n1,2,3,4,5,6,7,8,yes"', 1),  # which look like rows
        lambda text: text.replace("\n", "\n\n", 50),  # blank lines
        lambda text: text + "\n\n\n",
    ],
)
def test_lines_that_are_not_plain_are_no_stretches(client, small_parts, tmp_path, change):
    text = change(frame().to_csv(index=False))
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    made_by_both(client, tmp_path / "a.csv")


def test_text_that_is_not_in_utf8(client, small_parts, tmp_path):
    text = frame().to_csv(index=False)
    (tmp_path / "a.csv").write_text(text, encoding="latin-1")
    assert made_by_both(client, tmp_path / "a.csv") == 1


def test_several_files_of_which_one_has_texts_for_numbers(client, small_parts, tmp_path):
    table = frame()
    table["level"] = [f"{k}.50" for k in range(len(table))]
    table.loc[500, "level"] = "high"
    table.loc[501:510, "level"] = "low"
    table[:250].to_csv(tmp_path / "part-1.csv", index=False)
    table[250:400][table.columns[::-1]].to_csv(tmp_path / "part-2.csv", index=False)
    table[400:].to_csv(tmp_path / "part-3.csv.gz", index=False)
    made_by_both(client, str(tmp_path / "part-*"))


def test_rows_without_a_class_are_left_out(client, small_parts, tmp_path):
    table = frame()
    table["id"] = range(1, len(table) + 1)
    table.loc[table.index % 7 == 3, "class"] = None
    table.loc[100:250, "class"] = None  # a whole part, and more
    table.to_csv(tmp_path / "a.csv", index=False)
    made_by_both(client, tmp_path / "a.csv")


@pytest.mark.parametrize("how", [{"missing": ["0", "Bonn"]}, {"text": ["odd"]}, {"decimal": ","}])
def test_how_to_read(client, small_parts, tmp_path, how):
    frame().to_csv(tmp_path / "a.csv", index=False)
    made_by_both(client, tmp_path / "a.csv", **how)


def test_parquet_in_row_groups_and_folders(client, tmp_path):
    table = frame()
    table["whole"] = range(len(table))
    table["truth"] = table["size"] > 0
    table["sort"] = pd.Categorical(table["town"])
    (tmp_path / "deep").mkdir()
    table[:400].to_parquet(tmp_path / "a.parquet", row_group_size=37)
    table[400:][table.columns[::-1]].to_parquet(tmp_path / "deep" / "b.parquet", row_group_size=90)
    assert made_by_both(client, tmp_path) > 5
    assert made_by_both(client, tmp_path / "a.parquet", missing=["Bonn", "3"]) > 5


@pytest.mark.parametrize("name", ["a.jsonl", "a.feather"])
def test_other_formats_are_one_part_each(client, tmp_path, name):
    table = frame()
    path = tmp_path / name
    if name == "a.jsonl":
        table.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        table.to_feather(path)
    assert made_by_both(client, path) == 1


def test_classes_that_are_numbers_and_an_encoder_that_is_fitted(client, small_parts, tmp_path):
    table = frame()
    table["class"] = (table["class"] == "yes") + 1
    table.to_csv(tmp_path / "a.csv", index=False)
    made_by_both(client, tmp_path / "a.csv")
    with rb.open(tmp_path / "a.csv", target="class") as here:
        encoder = here.encoder
    made_by_both(client, tmp_path / "a.csv", encoder=encoder)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_verdicts_and_proofs_are_those_of_one_machine(client, small_parts, tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    here = rb.open(tmp_path / "a.csv", target="class")
    there = rb.open(tmp_path / "a.csv", target="class", engine=client)
    models = [
        rb.Perceptron(tol=1e9),
        rb.Adaline(max_epochs=2, tol=1e9),
        rb.SoftMarginClassifier(C=9),
    ]
    for model in models:
        one = model.fit(here)
        coef, score, values = one.coef_, one.score(here), one.decision_function(here)
        other = type(model)(**model.get_params()).fit(there)
        assert np.array_equal(coef, other.coef_)
        assert score == other.score(there)
        assert other.feature_names_in_.tolist() == list(here.features)
        assert np.array_equal(values, other.decision_function(there).compute())
    one, other = rb.separability(here), rb.separability(there)
    assert one.verdict is other.verdict
    assert one.problem == other.problem
    assert np.array_equal(one.support, other.support)
    assert rb.certify.check(one, there)
    bounds = [rb.mistake_bound(source, epochs=3).most for source in (here, there)]
    assert bounds[0] == bounds[1]
    weight = np.random.default_rng(0).random(len(there))
    a, b = (rb.Adaline(max_epochs=2).fit(s, sample_weight=weight) for s in (here, there))
    assert np.array_equal(a.coef_, b.coef_)


def test_a_data_frame_of_dask_may_be_opened(client):
    table = frame()
    with rb.open(dd.from_pandas(table, npartitions=5), target="class", engine=client) as there:
        here = rb.TableEncoder().fit(table.drop(columns="class"))
        assert np.array_equal(there.X.compute().toarray(), here.transform(table).toarray())
        assert there.y.tolist() == table["class"].tolist()


def test_a_lost_worker_has_its_blocks_made_again_from_the_files(new_cluster, tmp_path, monkeypatch):
    import os
    import signal

    monkeypatch.setattr(rows_on_workers, "LEAST_BYTES", 2000)
    client = new_cluster()
    frame().to_csv(tmp_path / "a.csv", index=False)
    here = rb.SoftMarginClassifier(C=9).fit(rb.open(tmp_path / "a.csv", target="class"))
    there = rb.open(tmp_path / "a.csv", target="class", engine=client)
    processes = list(client.run(os.getpid).values())
    os.kill(processes[0], signal.SIGKILL)
    assert np.array_equal(here.coef_, rb.SoftMarginClassifier(C=9).fit(there).coef_)
    frame(seed=1).to_csv(tmp_path / "a.csv", index=False)
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)
    with pytest.raises(
        (TableError, ClusterError), match=r"^[^\n]*a\.csv changed while it was read"
    ):
        rb.Perceptron().fit(there)


def test_what_is_wrong_is_said_in_one_line(client, small_parts, tmp_path):
    def refused(what, pattern, **given):
        with pytest.raises((ValueError, ClusterError, TypeError), match=pattern) as found:
            rb.open(what, engine=client, **({"target": "class"} | given))
        assert "\n" not in str(found.value)

    table = frame()
    table.to_csv(tmp_path / "a.csv", index=False)
    refused(tmp_path / "none.csv", "there is no file .*none.csv")
    refused(str(tmp_path / "x*.csv"), "no file is named like")
    refused(tmp_path / "a.csv", "has no column 'name'", target="name")
    (tmp_path / "empty.csv").touch()
    refused(tmp_path / "empty.csv", "empty.csv is empty")
    (tmp_path / "head.csv").write_text("a,class\n")
    refused(tmp_path / "head.csv", "head.csv holds (no rows|only a header)")
    table.rename(columns={"size": "length"}).to_csv(tmp_path / "b.csv", index=False)
    refused([tmp_path / "a.csv", tmp_path / "b.csv"], "b.csv has no column 'size' .*unlike .*a.csv")
    table["size"] = [*map(str, table["size"][:-1]), "inf"]
    table.to_csv(tmp_path / "c.csv", index=False)
    refused(tmp_path / "c.csv", "column 'size' holds '?inf'? in data row 600")
    (tmp_path / "s.svm").write_text("1 1:0.5\n-1 2:1\n")
    refused(tmp_path / "s.svm", "sparse")
    refused(np.eye(3), "cannot be read by workers")
    refused(None, "a query cannot be read by workers", query="SELECT 1")
    with pytest.raises(TypeError, match="engine='x' is no cluster"):
        rb.open(tmp_path / "a.csv", engine="x")
    only = rb.open(tmp_path / "a.csv", engine=client)
    with pytest.raises(ValueError, match="has no target"):
        rb.Perceptron().fit(only)
    only.close()
    with pytest.raises(ValueError, match="is closed: open it again"):
        only.X  # noqa: B018


def test_a_worker_that_does_not_see_a_file_says_which(client, tmp_path):
    from rosenblatt.cluster.engine import Engine
    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.file_parts import plan_files, read_part

    frame(30).to_csv(tmp_path / "a.csv", index=False)
    plan = plan_files([str(tmp_path / "a.csv")], Asked(), 2, 1 << 22)
    (tmp_path / "a.csv").unlink()
    with pytest.raises(TableError, match=r"worker at tcp://\S+ cannot read .*a.csv \(no such file"):
        Engine(client).call(read_part, plan.parts[0], Asked())

"""A fit on a cluster has the bits of the same fit in memory, however the data are cut."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.cluster import reading
from rosenblatt.cluster.engine import ClusterError, Engine
from rosenblatt.cluster.reading import ChunkWarning
from rosenblatt.cluster.source import ClusterSource
from rosenblatt.perceptron import afar, pocket
from rosenblatt.running.clock import Halt
from rosenblatt.running.run import Run

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
delayed = pytest.importorskip("dask").delayed
wait = pytest.importorskip("distributed").wait

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]

N, D = 1500, 6


def samples(classes=2, noise=0.5, n=N, d=D, dtype=np.float64):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d))
    values = X @ rng.normal(size=(d, classes)) + noise * rng.normal(size=(n, classes))
    if np.dtype(dtype).kind == "i":
        X = np.round(4 * X)
    return X.astype(dtype), values.argmax(axis=1)


def fitted(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)


def perceptron(**given):
    return rb.Perceptron(**({"max_epochs": 4} | given))


def bits(model):
    """All that a fit has found, as values that compare."""
    many = isinstance(model.trace_, tuple)
    traces = model.trace_ if many else (model.trace_,)
    cycles = model.certificate_ if many else (model.certificate_,)
    return {
        "coef": model.coef_.tobytes(),
        "intercept": model.intercept_.tobytes(),
        "errors": model.n_errors_,
        "stop": model.stop_reason_,
        "mistakes": [trace.mistakes.tolist() for trace in traces],
        "change": [trace.change.tobytes() for trace in traces],
        "updates": [
            None if trace.updates is None else trace.updates.sample.tolist() for trace in traces
        ],
        "cycles": [None if one is None else repr(one) for one in cycles],
        "classes": model.classes_.tolist(),
    }


def same(model, there, here, **given):
    """Fit the model to Dask's data and another like it to those in memory, and compare."""
    afar, near = rb.Perceptron(**model.get_params()), rb.Perceptron(**model.get_params())
    fitted(afar, *there, **{k: v[0] for k, v in given.items()})
    fitted(near, *here, **{k: v[1] for k, v in given.items()})
    assert bits(afar) == bits(near)
    return afar


def chunked(X, *sizes):
    """A Dask array of X in blocks of these numbers of rows; the last takes what is left."""
    sizes = [*sizes, len(X) - sum(sizes)] if sum(sizes) < len(X) else list(sizes)
    return da.from_array(X, chunks=(tuple(sizes), *((-1,) * (X.ndim - 1))))


def sparse_blocks(X, size):
    """A Dask array of CSR matrices."""
    parts = [
        da.from_delayed(
            delayed(csr_matrix)(X[a : a + size]), (len(X[a : a + size]), X.shape[1]), X.dtype,
            meta=csr_matrix((0, X.shape[1])),
        )
        for a in range(0, len(X), size)
    ]  # fmt: skip
    return da.concatenate(parts)


@pytest.mark.parametrize("keep", ["last", "average", "pocket", "auto"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_keep(client, keep, classes):
    X, y = samples(classes)
    there = chunked(X, 700, 300), chunked(y, 700, 300)
    same(perceptron(keep=keep, record=True), there, (X, y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8])
def test_every_type_of_numbers(client, dtype):
    X, y = samples(dtype=dtype)
    same(perceptron(record=True), (chunked(X, 700), chunked(y, 700)), (X, y))


def test_proven_cycles(client):
    X = np.tile([[0.0, 0], [0, 1], [1, 0], [1, 1]], (300, 1))
    y = np.tile([0, 1, 1, 0], 300)
    model = same(perceptron(max_epochs=100), (chunked(X, 257), chunked(y, 257)), (X, y))
    assert model.stop_reason_ is rb.StopReason.CYCLE
    assert model.certificate_ is not None


def test_sparse_blocks(client):
    X, y = samples(classes=3)
    X[np.abs(X) < 1] = 0
    for keep in ("last", "pocket"):
        there = sparse_blocks(X, 400), chunked(y, 400, 400, 400)
        model = same(perceptron(keep=keep, max_epochs=2), there, (csr_array(X), y))
    assert np.array_equal(model.predict(there[0]).compute(), model.predict(csr_array(X)))


def test_data_frames(client):
    X, y = samples()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = np.where(y, "yes", "no")
    there = dd.from_pandas(frame, npartitions=4)
    columns = list("abcdef")
    model = same(
        perceptron(record=True), (there[columns], there["kind"]), (frame[columns], frame["kind"])
    )
    assert model.feature_names_in_.tolist() == columns
    assert np.array_equal(model.predict(there[columns]).compute(), model.predict(frame[columns]))
    assert model.score(there[columns], there["kind"]) == model.score(frame[columns], frame["kind"])


@pytest.mark.parametrize("weighing", ["sample_weight", "balanced", "dict", "both", "ones"])
def test_weights(client, weighing):
    X, y = samples(classes=3)
    weight = np.random.default_rng(1).uniform(size=N)
    weight[:600] = 0
    if weighing == "ones":
        weight[:] = 1
    given = {"balanced": "balanced", "dict": {1: 2.5}, "both": "balanced"}.get(weighing)
    model = perceptron(class_weight=given, keep="pocket")
    more = {}
    if weighing in ("sample_weight", "both", "ones"):
        more = {"sample_weight": (chunked(weight, 500), weight)}
    same(model, (chunked(X, 500), chunked(y, 500)), (X, y), **more)


def test_other_settings(client):
    X, y = samples()
    there = chunked(X, 999), chunked(y, 999)
    for given in (
        {"fit_intercept": False},
        {"at_zero": 1},
        {"at_zero": -1},
        {"tol": 0.5},
        {"init": "random", "random_state": 3},
        {"eta0": 0.1},
    ):
        same(perceptron(**given), there, (X, y))


CUTS = {
    "one block": (N,),
    "single rows": (1, 1, 1, 1000, 1, 1),
    "a tile and a row less": (255, 255, 255),
    "tiles": (256, 256, 256),
    "a tile and a row more": (257, 257, 257),
    "empty blocks": (0, 300, 0, 0, 500, 0, 700, 0),
    "tiles of many blocks": (100, 3, 50, 3, 0, 200, 10, 10, 10),
}


@pytest.mark.parametrize("cut", CUTS)
def test_every_cut(client, cut):
    X, y = samples(classes=3)
    there = chunked(X, *CUTS[cut])
    for labels in (chunked(y, 700, 1), y):
        same(perceptron(max_epochs=2), (there, labels), (X, y))
    model = perceptron(keep="pocket", record=True, max_epochs=2)
    model = same(model, (there, chunked(y, *CUTS[cut])), (X, y))
    answer = model.predict(there)
    assert answer.chunks[0] == there.chunks[0]
    assert answer.dtype == model.classes_.dtype
    assert np.array_equal(answer.compute(), model.predict(X))


def test_unknown_lengths(client):
    X, y = samples()
    there, labels = chunked(X, 300, 300, 300), chunked(y, 300, 300, 300)
    some = X[:, 0] > 0
    which = there[:, 0] > 0
    model = same(perceptron(), (there[which], labels[which]), (X[some], y[some]))
    same(perceptron(), (there[which], y[some]), (X[some], y[some]))
    none = there[:, 0] > np.r_[np.full(300, 9.0), np.full(N - 300, 0.0)]  # an empty first block
    keeps = X[:, 0] > np.r_[np.full(300, 9.0), np.full(N - 300, 0.0)]
    same(perceptron(), (there[none], labels[none]), (X[keeps], y[keeps]))
    assert np.array_equal(model.predict(there[none]).compute(), model.predict(X[keeps]))
    assert model.score(there[which], labels[which]) == model.score(X[some], y[some])
    assert model.score(there[which], y[some]) == model.score(X[some], y[some])


def test_split_columns_work_and_are_warned_of_where_fit_was_called(client):
    X, y = samples()
    there = da.from_array(X, chunks=(500, 4))
    near = fitted(perceptron(), X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        afar = perceptron().fit(there, chunked(y, 500, 500))
    (advice,) = [one for one in told if issubclass(one.category, ChunkWarning)]
    assert "rechunk({1: -1})" in str(advice.message)
    assert advice.filename == __file__
    assert bits(afar) == bits(near)
    assert np.array_equal(afar.predict(there).compute(), near.predict(X))


def test_many_small_blocks_are_warned_of_where_fit_was_called(client):
    X, y = samples()
    for call in (
        lambda: perceptron().fit(da.from_array(X, chunks=(10, -1)), y),
        lambda: perceptron().partial_fit(da.from_array(X, chunks=(10, -1)), y, classes=[0, 1]),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        (advice,) = [one for one in told if issubclass(one.category, ChunkWarning)]
        assert "150 blocks of about 10 rows" in str(advice.message)
        assert advice.filename == __file__


@pytest.mark.filterwarnings("ignore::rosenblatt.cluster.reading.ChunkWarning")
def test_thousands_of_blocks_take_a_few_tasks(client, monkeypatch):
    X, y = samples()
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    sent, map_all, submit = [], Engine.map, Engine.submit

    def mapped(self, function, *columns, **given):
        sent.extend(columns[0])
        return map_all(self, function, *columns, **given)

    def submitted(self, function, *args, **given):
        sent.append(function)
        return submit(self, function, *args, **given)

    there = da.from_array(X, chunks=(7, -1)), da.from_array(y, chunks=7)
    monkeypatch.setattr(Engine, "map", mapped)
    monkeypatch.setattr(Engine, "submit", submitted)
    here = fitted(perceptron(update="batch"), X, y, weight)
    alone = fitted(perceptron(update="batch"), *there, weight)
    assert len(sent) > len(there[0].chunks[0])
    sent.clear()
    monkeypatch.setattr(reading, "TASKS", 100)
    monkeypatch.setattr(reading, "TOGETHER", 7 * D * 50)
    together = fitted(perceptron(update="batch"), *there, weight)
    assert len(sent) < len(there[0].chunks[0]) / 4
    assert bits(together) == bits(alone) == bits(here)
    X[7 * 33 + 2, 1] = np.inf
    there = da.from_array(X, chunks=(7, -1)), there[1]
    with pytest.raises(ClusterError, match=r"block 33 of X: .*infinity"):
        perceptron().fit(*there)


def test_going_on(client):
    X, y = samples(classes=3)
    there = chunked(X, 400), chunked(y, 400)
    afar, near = perceptron(warm_start=True), perceptron(warm_start=True)
    for _ in range(2):
        fitted(afar, *there)
        fitted(near, X, y)
        assert bits(afar) == bits(near)
    afar, near = perceptron(keep="average"), perceptron(keep="average")
    for rows in (slice(0, 700), slice(700, N)):
        part = X[rows], y[rows]
        afar.partial_fit(chunked(part[0], 300), chunked(part[1], 300), classes=[0, 1, 2, 3])
        near.partial_fit(*part, classes=[0, 1, 2, 3])
        assert bits(afar) == bits(near)


@pytest.mark.parametrize("keep", ["last", "pocket"])
@pytest.mark.parametrize("first", ["cluster", "memory"])
def test_checkpoints_go_from_cluster_to_memory_and_back(client, tmp_path, first, keep):
    X, y = samples()
    weight = np.ones(N)
    there = chunked(X, 600), chunked(y, 600), chunked(weight, 600)
    places = [there, (X, y, weight)]
    path = str(tmp_path / "run.checkpoint")
    for epochs, data in zip((2, 5), places if first == "cluster" else places[::-1], strict=True):
        model = perceptron(
            max_epochs=epochs, keep=keep, checkpoint=rb.Checkpoint(path, every=0, resume=True)
        )
        fitted(model, *data)
    assert model.n_iter_ == 5
    assert bits(model) == bits(fitted(perceptron(max_epochs=5, keep=keep), X, y))


@pytest.mark.parametrize("stride", [1, 5000, 1 << 27])
def test_pauses_change_no_bit(client, monkeypatch, stride):
    monkeypatch.setattr(afar, "STRIDE", stride)
    X, y = samples(classes=3)
    there, weight = (chunked(X, 300, 100), chunked(y, 300, 100)), np.linspace(0, 1, N)
    for form in ({"keep": "pocket", "record": True}, {"update": "minibatch", "batch_size": 77}):
        same(perceptron(**form, max_epochs=2), there, (X, y))
    far, near = (
        fitted(rb.Adaline(eta0=1e-3, max_epochs=2), *data, sample_weight=weight)
        for data in (there, (X, y))
    )
    assert far.coef_.tobytes() == near.coef_.tobytes()


def halted_at(monkeypatch, k):
    """Let the time be over at the k-th pause of a run."""
    pause, left = Run.pause, [k]

    def counted(self):
        left[0] -= 1
        if left[0] == 0:
            raise Halt(rb.StopReason.TIME_LIMIT)
        pause(self)

    monkeypatch.setattr(Run, "pause", counted)


@pytest.mark.parametrize("k", [1, 3, 25, 60])
@pytest.mark.parametrize("places", ["cluster, memory", "memory, cluster", "cluster, cluster"])
def test_a_run_that_was_halted_while_pockets_judged_goes_on(
    client, tmp_path, monkeypatch, places, k
):
    monkeypatch.setattr(pocket, "TOGETHER", 20)  # many moments in which to halt
    X, y = samples(classes=4)
    data = {"memory": (X, y), "cluster": (chunked(X, 300, 900), chunked(y, 300, 900))}
    first, then = (data[place] for place in places.split(", "))
    given = {"keep": "pocket", "record": True, "max_epochs": 2, "n_jobs": 1}
    checkpoint = rb.Checkpoint(str(tmp_path / "run.checkpoint"), every=1e9, resume=True)
    with monkeypatch.context() as patch:
        halted_at(patch, k)
        halted = fitted(perceptron(**given, checkpoint=checkpoint), *first)
    assert rb.StopReason.TIME_LIMIT in halted.stop_reason_
    model = fitted(perceptron(**given, checkpoint=checkpoint), *then)
    assert bits(model) == bits(fitted(perceptron(**given), X, y))


def test_wide_vectors_travel(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 120_000))  # vectors of a megabyte, more than is sent in one frame
    y = rng.integers(0, 3, size=40)
    for keep in ("average", "pocket"):
        model = perceptron(keep=keep, record=True, max_epochs=2)
        same(model, (chunked(X, 15), chunked(y, 15)), (X, y))


class TestAnswers:
    def test_are_lazy_and_those_of_memory(self, client):
        for classes in (2, 3):
            X, y = samples(classes)
            names = np.array(["no", "perhaps", "yes"])[y]
            model = fitted(perceptron(), X, names)
            ran = []

            def block(part, ran=ran):
                ran.append(1)
                return part

            there = chunked(X, 500, 0, 500).map_blocks(block, dtype=X.dtype, meta=X[:0])
            values, answers = model.decision_function(there), model.predict(there)
            assert not ran
            assert values.dtype == np.float64
            assert answers.dtype == names.dtype
            assert values.chunks[0] == answers.chunks[0] == (500, 0, 500, 500)
            assert np.array_equal(values.compute(), model.decision_function(X))
            assert np.array_equal(answers.compute(), model.predict(X))
            assert model.score(there, chunked(names, 300)) == model.score(X, names)
            assert model.score(there, names) == model.score(X, names)
            weight = np.linspace(0, 1, N)
            weighted = model.score(there, names, chunked(weight, 700))
            assert weighted == pytest.approx(model.score(X, names, weight), rel=1e-14)

    def test_are_those_of_the_model_as_it_was_asked(self, client):
        X, y = samples()
        model = fitted(perceptron(), X, y)
        lazily, at_once = model.predict(chunked(X, 500)), model.predict(X)
        fitted(model, X, 1 - y)
        assert np.array_equal(lazily.compute(), at_once)

    def test_wrong_columns_are_refused_at_once(self, client):
        X, y = samples()
        model = fitted(perceptron(), X, y)
        for answer in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match="X has 5 features, not the 6 of training") as told:
                answer(chunked(X[:, :5], 500))
            assert "\n" not in str(told.value)
        frame = pd.DataFrame(X, columns=list("abcdef"))
        model = fitted(perceptron(), frame, y)
        other = dd.from_pandas(frame.rename(columns={"b": "q"}), npartitions=2)
        with pytest.raises(ValueError, match="X has a feature 'q', unlike the training data"):
            model.predict(other)

    def test_need_no_cluster(self):
        X, y = samples()
        model = fitted(perceptron(), X, y)
        answers = model.predict(chunked(X, 500)).compute(scheduler="synchronous")
        assert np.array_equal(answers, model.predict(X))


def test_blocks_in_a_row_are_made_by_the_same_worker(client, monkeypatch):
    X, y = samples()
    there = da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20)
    found = []
    runs = ClusterSource.runs

    def noted(source, first=0):
        found.append([(run.start, run.stop) for run in runs(source, first)])
        return runs(source, first)

    monkeypatch.setattr(ClusterSource, "runs", noted)
    fitted(perceptron(), *there)
    assert {len(some) for some in found} == {2}  # a run of blocks for each of two workers
    addresses, spread = list(client.scheduler_info()["workers"]), []
    for k in range(3):  # what is made of blocks on one worker, the other, the first
        part = da.from_array(X[500 * k :][:500], chunks=(500, -1))
        spread.append(client.persist(part, workers=[addresses[k % 2]]))
        wait(spread)
    found.clear()
    fitted(perceptron(), da.concatenate(spread) + 0, y)
    assert {len(some) for some in found} == {3}  # stays with these

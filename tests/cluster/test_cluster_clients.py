"""Clients of a cluster: whose futures are waited for, which are given up, what stays as it was."""

import threading
import time

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cluster import engine
from rosenblatt.cluster.engine import LARGE, Engine

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    rows = (f"{a},{b},{'yes' if a + b > 0 else 'no'}\n" for a, b in X.tolist())
    path = tmp_path / "rows.csv"
    path.write_text("a,b,class\n" + "".join(rows))
    return path


@pytest.mark.parametrize("others", [0, 1])
def test_a_client_that_is_not_the_default_one_is_enough(shared_client, file, others):
    address = shared_client.scheduler.address  # by which a client has a thread of its own
    clients = [distributed.Client(address, set_as_default=True) for _ in range(others)]
    try:
        with rb.open(file, target="class", engine=shared_client) as there:
            model = rb.MaxMarginClassifier().fit(there)
            share = model.score(there)
            answers = shared_client.compute(model.predict(there)).result()
    finally:
        for client in clients:
            client.close()
    with rb.open(file, target="class") as here:
        assert np.array_equal(model.coef_, rb.MaxMarginClassifier().fit(here).coef_)
        assert np.array_equal(answers, model.predict(here))
        assert share == model.score(here)


def interrupt():
    raise KeyboardInterrupt


def test_persisted_blocks_survive_an_interrupted_fit(client):
    def late(block):
        time.sleep(0.5)
        return block

    X = da.ones((20, 2), chunks=(10, -1)).map_blocks(late, dtype=float, meta=np.empty((0, 2)))
    X = client.persist(X)
    ours = Engine(client)
    with pytest.raises(KeyboardInterrupt):
        ours.gather(ours.present(X, "X"), interrupt)
    ours.release()
    ours.workers()  # by then a client has told its scheduler
    assert X.sum().compute() == 40


def test_an_opened_source_survives_an_interrupted_look(client, file, monkeypatch):
    with rb.open(file, target="class", engine=client) as source:
        with monkeypatch.context() as patch:
            patch.setattr(engine, "wait_for", lambda *_, **__: interrupt())
            with pytest.raises(KeyboardInterrupt):
                next(source.brought())
        source.engine.release()
        assert rb.Perceptron().fit(source).score(source) == 1


def test_sending_in_threads_leaves_the_settings_as_they_were(client):
    before, ours = dask.config.get(LARGE), Engine(client)
    first, second = threading.Event(), threading.Event()

    def hold(mine, others):
        with ours._sending():
            mine.set()
            others.wait(0.2)

    def follow():
        first.wait()
        hold(second, threading.Event())

    threads = [threading.Thread(target=hold, args=(first, second)), threading.Thread(target=follow)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert dask.config.get(LARGE) == before

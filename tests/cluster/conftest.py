"""A cluster of two worker processes, which the tests of a process share."""

import pytest

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


def start_cluster(workers=2, threads=1, **given):
    """Worker processes on this machine."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        **given,
    )


@pytest.fixture(scope="session")
def shared_client():
    with start_cluster() as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(shared_client):
    """The client of the shared cluster, at hand in this test only."""
    with shared_client.as_current():
        yield shared_client


@pytest.fixture
def new_cluster():
    """``new_cluster(...)``: a cluster of one's own, to break, and a client at hand."""
    started = []

    def start(**given):
        cluster = start_cluster(**given)
        started.append(cluster)
        client = distributed.Client(cluster)
        started.append(client)
        return client

    yield start
    for one in reversed(started):
        one.close()

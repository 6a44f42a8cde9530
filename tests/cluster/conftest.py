"""A cluster of two worker processes, which the tests of a process share."""

import pytest

from cluster_of_tests import start_cluster

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


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

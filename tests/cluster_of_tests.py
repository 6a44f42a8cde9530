"""Clusters of worker processes on this machine, for tests."""

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

"""Clusters of worker processes on this machine, for tests.

Workers are forked from a process that has imported for all of them what they need.
"""

import multiprocessing

import pytest

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

IMPORTED = [
    "distributed",
    "distributed.nanny",
    "dask.array",
    "pandas",
    "rosenblatt.cluster.placing",
    "rosenblatt.cluster.source",
    "rosenblatt.contract.classifier",
    "rosenblatt.nearest.sums",
    "rosenblatt.perceptron.afar",
    "rosenblatt.perceptron.mixed_afar",
    "rosenblatt.perceptron.whole_batches_afar",
    "rosenblatt.tables.rows_on_workers",
]

if "forkserver" in multiprocessing.get_all_start_methods():
    # For good: a worker that was lost is started again later.
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    distributed.utils.get_mp_context().set_forkserver_preload(IMPORTED)


def start_cluster(workers=2, threads=1, **given):
    """Worker processes on this machine."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        **given,
    )

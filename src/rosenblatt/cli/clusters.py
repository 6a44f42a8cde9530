"""The cluster that a command works on: one of its own for as long as it runs, or another's."""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import rosenblatt
from rosenblatt.cli.options import refuse
from rosenblatt.cluster.engine import ClusterError, Engine, one_line

if TYPE_CHECKING:
    from rosenblatt.cli.waiting import ProgressLine

PATIENCE = 10.0  # seconds for a scheduler to answer
LOCAL = re.compile(r"local(?::(\d{1,4}))?")
ADDRESS = re.compile(r"(?:[a-z]+://)?\S+:\d+")
# What workers do first: Ctrl-C goes to all processes of a terminal, and is for this one alone.
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
INSTALL = 'a cluster takes Dask: pip install "rosenblatt[dask]"'


@contextmanager
def cluster_at(where: str | None, progress: ProgressLine) -> Iterator[Engine | None]:
    """The cluster at an address, or with ``local`` one of processes here; None for none.

    Whatever happens, processes that were started end.
    """
    if where is None:
        yield None
        return
    local = LOCAL.fullmatch(where)
    wanted = "give local, local:4, or the address of a scheduler, such as tcp://10.0.0.1:8786"
    refuse(not local and not ADDRESS.fullmatch(where), f"--cluster {where} is no cluster: {wanted}")
    count = int(local[1]) if local and local[1] else os.cpu_count() or 1
    refuse(count < 1, f"--cluster {where} has no workers: {wanted}")
    _silence()
    progress.say("starting a cluster" if local else f"connecting to {where}")
    started = _started(count) if local else _connected(where)
    with started as client:
        yield Engine(client)


def _silence() -> None:
    """Have Dask say nothing beside what is said here: a worker that ends is no news."""
    os.environ["DASK_LOGGING__DISTRIBUTED"] = "critical"  # for the workers, too
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(INSTALL) from None
    for name in [*logging.root.manager.loggerDict, "distributed", "tornado", "asyncio"]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _started(n_workers: int) -> Iterator[Any]:
    """A client of a cluster of processes of its own."""
    from distributed import Client, LocalCluster

    with _later():
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            # Dask opens a port for its page even so, and would warn where the usual one is taken.
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL + 1,
            preload=[DEAF],
        )
    try:
        client = Client(cluster, set_as_default=True)
        try:
            yield client
        finally:
            with suppress(Exception):
                client.close(timeout=2)
    finally:
        with suppress(Exception):
            cluster.close(timeout=10)


@contextmanager
def _later() -> Iterator[None]:
    """Heed Ctrl-C when what is begun here is whole, and can be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    except Exception:
        if not pressed:
            raise
        raise KeyboardInterrupt from None  # the workers have heard it, too
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A client of somebody else's cluster, whose workers have the same rosenblatt."""
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE, set_as_default=True)
    except (OSError, ValueError, RuntimeError) as error:
        why = "nothing answers there" if isinstance(error, OSError) else one_line(error)[:100]
        remedy = "start one (dask scheduler), or give --cluster local"
        msg = f"there is no scheduler at {address} ({why}): {remedy}"
        raise ClusterError(msg) from None
    try:
        Engine(client).workers()  # refuses a cluster without workers
        _check_versions(client)
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=5)


def _check_versions(client: Any) -> None:
    """Refuse a scheduler or workers that have another rosenblatt, or none."""
    asked = "__import__('rosenblatt').__version__"
    found = {f"worker at {worker}": version
             for worker, version in client.run(eval, asked, on_error="return").items()}  # fmt: skip
    try:
        found["scheduler"] = client.run_on_scheduler(eval, asked)
    except Exception as error:  # whatever it is made of
        found["scheduler"] = error
    for who, version in found.items():
        if version != rosenblatt.__version__:
            has = "has no rosenblatt" if isinstance(version, Exception) else f"has {version}"
            wanted = f"install rosenblatt {rosenblatt.__version__} there"
            msg = f"the {who} {has}: {wanted}"
            raise ClusterError(msg)

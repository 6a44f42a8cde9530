"""The same work on the processes of a Dask cluster: one, two, and in memory without any.

``python -m benchmarks.cluster``: 20 000 000 x 20 by default (``--rows``, ``--features``), made by
tasks on the workers, each with one thread, and the same rows in this process for one thread.
Whole calls, reading and checking the data on the workers included, medians of turns; every
answer is compared with that of one thread, bit for bit. Beside it the tasks, and the bytes that
travel through the client, counted as they are pickled. ``--blocks 10000`` cuts the rows that often.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle
import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster, wait

import rosenblatt as rb
from benchmarks.measure import Table, write_json, write_report
from rosenblatt.cluster.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator

EPOCHS = 5
TIMES = 500  # as many workers, and rows, as the two here
NETWORK = 1e9  # bytes a second to and from the client, of the thousand workers
MANY = 10_000  # blocks
ONE_BY_ONE = "online"  # work in which workers wait for one another


def rows_of_block(number: int, rows: int, d: int) -> Any:
    """Some rows, the same whoever makes them: halves of space with a gap, features and label."""
    rng = np.random.default_rng([7, number])
    X = rng.standard_normal((rows, d))
    w = np.random.default_rng(0).standard_normal(d)
    w /= np.linalg.norm(w)
    s = X @ w
    X += np.outer(np.sign(s) * 0.05, w)
    return np.column_stack([X, s > 0])


def on_workers(client: Any, n: int, d: int, blocks: int) -> tuple[Any, Any]:
    """The rows in the memory of the workers, of each as many, those of one after those of another.

    So they are where they have been read by `rb.open`, or given without `persist`.
    """
    sizes = np.diff([n * k // blocks for k in range(blocks + 1)]).tolist()
    parts = [
        da.from_delayed(delayed(rows_of_block)(k, size, d), (size, d + 1), dtype=float)
        for k, size in enumerate(sizes)
    ]
    homes, held = Engine(client).neighbours(blocks), list[tuple[Any, Any]]()
    for home in dict.fromkeys(homes):
        some = da.concatenate([p for p, h in zip(parts, homes, strict=True) if h == home])
        mine = some[:, :-1].map_blocks(np.ascontiguousarray), some[:, -1].map_blocks(np.array)
        held.append(client.persist(mine, workers=[home]))
        wait(held[-1])
    X, y = client.persist([da.concatenate(column) for column in zip(*held, strict=True)])
    wait([X, y])
    return X, y


def here(n: int, d: int, blocks: int) -> tuple[Any, Any]:
    """The same rows in this process."""
    X, y, at = np.empty((n, d)), np.empty(n), 0
    for k in range(blocks):
        part = rows_of_block(k, n * (k + 1) // blocks - n * k // blocks, d)
        X[at : at + len(part)], y[at : at + len(part)] = part[:, :-1], part[:, -1]
        at += len(part)
    return X, y


class Traffic:
    """Tasks, and bytes to and from the workers, of all engines while it is counting."""

    def __init__(self) -> None:
        self.tasks = self.rounds = self.sent = self.received = 0

    @contextmanager
    def counting(self) -> Iterator[Traffic]:
        """Count."""
        submit, gather, map_all = Engine.submit, Engine.gather, Engine.map

        def counted(engine: Any, function: Any, *args: Any, **more: Any) -> Any:
            self.tasks += 1
            plain = [a for a in args if not hasattr(a, "key")]
            self.sent += len(cloudpickle.dumps((function, plain)))
            return submit(engine, function, *args, **more)

        def mapped(engine: Any, function: Any, *columns: Any, **more: Any) -> Any:
            self.tasks += len(columns[0])
            plain = [c for column in columns for c in column if not hasattr(c, "key")]
            self.sent += len(cloudpickle.dumps((function, plain)))
            return map_all(engine, function, *columns, **more)

        def received(engine: Any, futures: Any, *more: Any, **how: Any) -> Any:
            found = gather(engine, futures, *more, **how)
            self.rounds += 1
            self.received += len(pickle.dumps(found))
            return found

        Engine.submit, Engine.gather = counted, received  # type: ignore[method-assign]
        Engine.map = mapped  # type: ignore[method-assign]
        try:
            yield self
        finally:
            Engine.submit, Engine.gather = submit, gather  # type: ignore[method-assign]
            Engine.map = map_all  # type: ignore[method-assign]


def answer(model: Any) -> Any:
    """What is compared."""
    if hasattr(model, "coef_"):
        return model.coef_.tobytes(), model.intercept_.tobytes(), int(model.n_errors_)
    return model.verdict, model.hyperplane.w.tobytes(), model.hyperplane.b


def works(wanted: str = "") -> dict[str, Callable[[Any, Any], Any]]:
    """What is measured: a name and a call; those with a word in their names."""
    every = {
        "separability, with its proof": rb.separability,
        "maximum margin, proved": rb.MaxMarginClassifier(n_jobs=1).fit,
        "soft margin, C=100, proved": rb.SoftMarginClassifier(C=100.0, n_jobs=1).fit,
        f"perceptron, batch, {EPOCHS} epochs": rb.Perceptron(
            update="batch", max_epochs=EPOCHS, n_jobs=1
        ).fit,
        f"Adaline, batch, {EPOCHS} epochs": rb.Adaline(
            update="batch", eta0=0.1, max_epochs=EPOCHS, n_jobs=1
        ).fit,
        f"perceptron, mixed, 16 shards, {EPOCHS} epochs": rb.Perceptron(
            update="mixed", max_epochs=EPOCHS, n_jobs=1
        ).fit,
        f"perceptron, online, {EPOCHS} epochs (no faster by nature)": rb.Perceptron(
            max_epochs=EPOCHS, n_jobs=1
        ).fit,
    }
    return {name: call for name, call in every.items() if wanted in name}


class Share(NamedTuple):
    """Where the time of a call goes."""

    busy: float  # seconds of tasks and transfers, of the worker that has the most; or of all
    client: float  # CPU seconds of the client and the scheduler


def share_of_time(client: Any, call: Callable[[], Any], one_by_one: bool) -> Share:
    """Watch a call."""
    began, cpu = time.time(), time.process_time()
    call()
    cpu, busy = time.process_time() - cpu, dict[str, float]()
    for task in client.get_task_stream(start=began):
        spent = sum(part["stop"] - part["start"] for part in task["startstops"])
        busy[task["worker"]] = busy.get(task["worker"], 0.0) + spent
    return Share((sum if one_by_one else max)(busy.values()), cpu)


def empty_round(client: Any) -> float:
    """Seconds that a round waits in which nobody has anything to do."""
    engine, waited = Engine(client), []
    workers = list(engine.workers())
    for _ in range(20):
        began, cpu = time.perf_counter(), time.process_time()
        engine.gather(engine.ask(abs, [1.0] * len(workers), homes=workers))
        waited.append(time.perf_counter() - began - (time.process_time() - cpu))
    engine.release()
    return statistics.median(waited)


def measure(n: int, d: int, blocks: int, repeats: int, wanted: str = "") -> list[Table]:
    """All figures: medians of as many turns, in each of which one has its turn after the other."""
    import numba

    numba.config.NUMBA_NUM_THREADS = 1  # of this process
    data, passes, waited = here(n, d, blocks), dict[str, list[float]](), list[float]()
    results = {name: Result({}, {}, [], []) for name in works(wanted)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            passes.setdefault("memory", []).append(_one_pass(data[0]))
            for name, call in works(wanted).items():
                results[name].timed("memory", partial(call, *data))
            for workers in ("1", "2"):
                with cluster_of(int(workers)) as client:
                    X, y = on_workers(client, n, d, blocks)
                    passing = partial(_pass_there, X)
                    share_of_time(client, passing, one_by_one=False)
                    passed = share_of_time(client, passing, one_by_one=False)
                    passes.setdefault(workers, []).append(passed.busy)
                    waited.append(empty_round(client))
                    for name, call in works(wanted).items():
                        results[name].timed(workers, partial(call, X, y))
                        print(workers, name, results[name].times[workers], flush=True)
                        if workers == "2":
                            results[name].watched(client, name, partial(call, X, y))
                    del X, y
    return _tables(results, n, d, blocks, passes, statistics.median(waited))


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """The client of a cluster of so many processes with one thread each, which is watched."""
    options = {"threads_per_worker": 1, "memory_limit": 0, "host": "127.0.0.1"}
    options["dashboard_address"] = "127.0.0.1:0"
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        client.get_task_stream()  # from now on
        yield client


class Result(NamedTuple):
    """Times and answers by where the rows are, and what travels and takes time on two workers."""

    times: dict[str, list[float]]
    answers: dict[str, Any]
    traffic: list[int]
    shares: list[Share]

    def timed(self, where: str, call: Callable[[], Any]) -> None:
        """Take the time of a call, after one that does not count."""
        call()
        began = time.perf_counter()
        found = call()
        self.times.setdefault(where, []).append(time.perf_counter() - began)
        self.answers[where] = answer(found)

    def watched(self, client: Any, name: str, call: Callable[[], Any]) -> None:
        """See where the time of a call goes; the first time also what travels."""
        if not self.traffic:
            with Traffic().counting() as counted:
                call()
            self.traffic.extend((counted.rounds, counted.tasks, counted.sent, counted.received))
        self.shares.append(share_of_time(client, call, ONE_BY_ONE in name))


def _pass_there(X: Any) -> float:
    """One pass over all rows by Dask itself: of what it finds only a number comes here."""
    return float(X.map_blocks(_summed, dtype=float, chunks=(1, 1)).sum().compute())


def _summed(X: Any) -> Any:
    return (X @ np.ones(X.shape[1])).sum(keepdims=True)[:, np.newaxis]


def _one_pass(X: Any) -> float:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        began = time.perf_counter()
        X @ np.ones(X.shape[1])
        return time.perf_counter() - began


def _tables(
    results: dict[str, Result],
    n: int,
    d: int,
    blocks: int,
    passes: dict[str, list[float]],
    waited: float,
) -> list[Table]:
    one = {where: statistics.median(times) for where, times in passes.items()}
    speed = Table(
        f"{n} x {d} in {blocks} blocks; a pass by X @ w takes {one['memory']:.3g} s in memory, by "
        f"one worker {one['1']:.3g} s, by each of two {one['2']:.3g} s",
        ["work", "memory, 1 thread (s)", "1 worker (s)", "2 workers (s)", "1 worker / memory",
         "1 worker / 2 workers", "same bits"],
    )  # fmt: skip
    travel = Table(
        "What travels through the client in a whole call, two workers",
        ["work", "rounds", "tasks", "bytes to workers", "bytes from workers"],
    )
    thousand = Table(
        f"By the model, a round of {waited:.2g} s: 2 workers, and 1000 with {TIMES} times the rows",
        ["work", "a worker (s)", "the client (s)", "rounds (s)", "2 workers, model (s)",
         "measured (s)", "1000 workers, model (s)"],
    )  # fmt: skip
    for name, result in results.items():
        memory, first, two = (statistics.median(result.times[k]) for k in ("memory", "1", "2"))
        same = result.answers["memory"] == result.answers["1"] == result.answers["2"]
        _fill(speed, name, memory, first, two, first / memory, first / two, same)
        _fill(travel, name, *result.traffic)
        busy, cpu = (statistics.median(part) for part in zip(*result.shares, strict=True))
        waits = result.traffic[0] * waited
        # As many rows on each worker as here; who is one, or has to be one, has more to do.
        large = (TIMES if ONE_BY_ONE in name else 1) * busy + TIMES * cpu + waits
        large += TIMES * sum(result.traffic[2:]) / NETWORK
        _fill(thousand, name, busy, cpu, waits, busy + cpu + waits, two, large)
    return [speed, travel, thousand]


def in_many_blocks(n: int, d: int, wanted: str = "") -> Table:
    """The same work where the rows come in thousands of blocks, on two workers."""
    names = ["work", "seconds", "rounds", "tasks"]
    table = Table(f"{n} x {d} in {MANY} blocks, two workers", names)
    with warnings.catch_warnings(), cluster_of(2) as client:
        warnings.simplefilter("ignore")
        X, y = on_workers(client, n, d, MANY)
        for name, call in works(wanted).items():
            call(X, y)
            with Traffic().counting() as counted:
                began = time.perf_counter()
                call(X, y)
                _fill(table, name, time.perf_counter() - began, counted.rounds, counted.tasks)
    return table


def _fill(table: Table, *row: Any) -> None:
    table.add(**dict(zip(table.columns, row, strict=True)))


INTRODUCTION = """
# On a cluster

Whole calls on the processes of a Dask cluster on one machine, one thread each, the data in their
memory; and the same in one process with one thread. `python -m benchmarks.cluster` makes these
tables. The answers are compared bit for bit. Each worker has a run of the rows, as it has where
`rb.open` or a fit has them read; an online epoch, and shards that go from worker to worker, take
more tasks where somebody else's blocks lie scattered.

What limits it here: two processes read the memory of this machine not twice as fast as one, and
client and scheduler, which have machines of their own elsewhere, share the two cores with the two
workers. The pass by `X @ w`, one task for each block and no more, says what that leaves.

The model behind the third table: a call takes what its tasks take on the worker that has the most
to do, what the client and the scheduler compute, and for every round the time in which messages are
on their way, which is measured with rounds in which there is nothing to do. A thousand workers have
as many rows each as the two here; what the client and the scheduler do grows with the rows and the
tasks, {times} times, and so do the bytes, which take a second for each GB, and work that goes from
worker to worker.
"""


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--only", default="", help="a word in the names of the work")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", type=int, default=1_000_000, help="rows beside dask-ml; or 0")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/cluster.json"))
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    if given.peers:  # first of all, to be told now if they are not installed
        from benchmarks.cluster_peers import measure as beside_peers

    tables = measure(given.rows, given.features, given.blocks, given.repeats, given.only)
    tables.append(in_many_blocks(given.rows, given.features, given.only))
    if given.peers:
        tables.append(beside_peers(given.peers, given.features, 20, given.repeats))
    write_json(given.results, tables)
    if given.report is not None:
        write_report(given.results, given.report, INTRODUCTION.format(times=TIMES))


if __name__ == "__main__":
    main()

"""Beside dask-ml's linear models, on the same rows of the same two workers.

Whole fits in turns, medians; who takes long has fewer of them. What was reached is computed in the
same way for both, by Dask: the mean squared error that the delta rule and `LinearRegression`
minimise, and the training errors of classifiers. `benchmarks.cluster` calls it.
"""

from __future__ import annotations

import statistics
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
from dask_ml.linear_model import LinearRegression, LogisticRegression
from distributed import Client, LocalCluster, wait

import rosenblatt as rb
from benchmarks.cluster import on_workers
from benchmarks.measure import Table

if TYPE_CHECKING:
    from collections.abc import Callable

NOISE = 0.1  # of the labels are flipped
PATIENCE = 20.0  # seconds of fits after which there is no further turn


class Contest(NamedTuple):
    """Two models that are to reach the same, and what tells whether they did, less being better."""

    what: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    reached: Callable[[Any, Any, Any], float]


def squared_error(model: Any, X: Any, y: Any) -> float:
    """The mean of ``(y - w·x - b)²``, y being -1 and 1."""
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return float((((2 * y - 1) - (X @ w + b)) ** 2).mean().compute())


def share_of_errors(model: Any, X: Any, y: Any) -> float:
    """The share of rows on the wrong side."""
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return float(((X @ w + b > 0) != (y > 0)).mean().compute())


def contests(epochs: int) -> list[Contest]:
    """What is compared."""
    found = [
        Contest(
            f"mean squared error: Adaline, batch, {epochs} epochs; LinearRegression, {solver}",
            lambda: rb.Adaline(update="batch", eta0=0.9, max_epochs=epochs),
            lambda solver=solver: LinearRegression(solver=solver, penalty="l2", C=1e12),
            squared_error,
        )
        for solver in ("lbfgs", "newton")
    ]
    for name, model in (
        ("Perceptron, mixed, average, 10 epochs", _mixed),
        ("SoftMarginClassifier, C=1000, gap proved", _soft),
    ):
        for solver in ("lbfgs", "admm"):
            found.append(
                Contest(
                    f"training errors: {name}; LogisticRegression, {solver}",
                    model,
                    lambda solver=solver: LogisticRegression(solver=solver, C=1e3),
                    share_of_errors,
                )
            )
    return found


def _mixed() -> Any:
    return rb.Perceptron(update="mixed", keep="average", max_epochs=10)


def _soft() -> Any:
    return rb.SoftMarginClassifier(C=1000.0, tol=1e-3)


def measure(n: int, d: int, blocks: int, repeats: int) -> Table:
    """Seconds of both, and what they reached."""
    names = ["what", "ours s", "dask-ml s", "ours/peer", "ours reached", "dask-ml reached"]
    table = Table(f"Beside dask-ml, {n} x {d}, a tenth of the labels flipped, two workers", names)
    options = {"threads_per_worker": 1, "memory_limit": 0, "host": "127.0.0.1"}
    options["dashboard_address"] = "127.0.0.1:0"
    with (
        warnings.catch_warnings(),
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        X, y = on_workers(client, n, d, blocks)
        flipped = da.map_blocks(_flipped, y, dtype=float)
        (y,) = client.persist([flipped])
        wait(y)
        for contest in contests(epochs=5):
            times: dict[str, list[float]] = {"ours": [], "theirs": []}
            reached = {}
            for _ in range(repeats):
                for who, spent in times.items():
                    if sum(spent) > PATIENCE:
                        continue
                    began = time.perf_counter()
                    model = getattr(contest, who)().fit(X, _labels(who, contest, y))
                    spent.append(time.perf_counter() - began)
                    reached[who] = contest.reached(model, X, y)
            ours, theirs = (statistics.median(some) for some in times.values())
            values = contest.what, ours, theirs, ours / theirs, reached["ours"], reached["theirs"]
            table.add(**dict(zip(names, values, strict=True)))
            print(values, flush=True)
    return table


def _labels(who: str, contest: Contest, y: Any) -> Any:
    """A regression is asked for -1 and 1."""
    return 2 * y - 1 if who == "theirs" and contest.reached is squared_error else y


def _flipped(y: Any, block_info: Any = None) -> Any:
    number = block_info[0]["chunk-location"][0] if block_info else 0
    flip = np.random.default_rng([8, number]).random(len(y)) < NOISE
    return np.where(flip, 1 - y, y)

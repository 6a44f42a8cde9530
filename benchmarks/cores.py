"""How the work is shared between cores, and how far it is from the limit of the memory.

``python -m benchmarks.cores``; the folder ROSENBLATT_DATA has MNIST. Whole calls, input checked and
proofs included, warm, medians. A *pass* is one reading of X: ``X @ w`` by NumPy in one thread, or
in several that have a part each (a *threaded* pass). ``--threads 1 2 4 8 16`` says how many threads
to try; each answer is compared, bit for bit, with that of one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits

import rosenblatt as rb
from benchmarks.cores_picture import draw_growth
from benchmarks.measure import (
    Table,
    load_mnist,
    write_json,
    write_report,
)
from benchmarks.separability import halves

if TYPE_CHECKING:
    from collections.abc import Iterator

Task = Callable[[], Any]
ROWS, FEATURES = 1_000_000, 20
EPOCHS = 10


# Data and measuring ---------------------------------------------------------------------------


@contextmanager
def threads(k: int) -> Iterator[None]:
    """As if the machine had k cores, for all who ask how many there are."""
    before = numba.config.NUMBA_NUM_THREADS
    numba.config.NUMBA_NUM_THREADS = k
    with threadpool_limits(k):
        try:
            yield
        finally:
            numba.config.NUMBA_NUM_THREADS = before


def seconds(task: Task, repeats: int) -> float:
    """Median seconds of a task that has been done before."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def one_pass(X: Any, k: int) -> float:
    """Seconds of one reading of X by k threads."""
    n, w = len(X), np.ones(X.shape[1], X.dtype)
    parts = list(pairwise(n * i // (4 * k) for i in range(4 * k + 1)))
    with threadpool_limits(1), ThreadPoolExecutor(k) as pool:

        def read() -> None:
            if k == 1:
                X @ w
            else:
                list(pool.map(lambda part: X[slice(*part)] @ w, parts))

        read()
        return seconds(read, 15)


# What is measured -----------------------------------------------------------------------------


def perceptron(X: Any, y: Any, epochs: int = EPOCHS, **more: Any) -> Task:
    """A fit of so many epochs."""
    return lambda: rb.Perceptron(max_epochs=epochs, **more).fit(X, y)


def bits(answer: Any) -> Any:
    """What must be the same for any number of threads."""
    if isinstance(answer, np.ndarray):
        return answer.tobytes()
    if hasattr(answer, "alpha_"):
        return [a.tobytes() for a in answer.alpha_]
    if hasattr(answer, "coef_"):
        return answer.coef_.tobytes(), answer.intercept_.tobytes(), answer.n_errors_
    if hasattr(answer, "hyperplane"):
        return answer.verdict, answer.hyperplane.w.tobytes(), answer.hyperplane.b
    return answer.verdict, answer.support.tobytes(), [str(w) for w in answer.weights]


def cases(quick: bool) -> Iterator[tuple[str, Task, int]]:
    """What is done, how, and how often."""
    n = ROWS // 20 if quick else ROWS
    name = f"{n} x {FEATURES}"
    X, y = halves(n, FEATURES, 4, 0.5)
    model = rb.Perceptron(max_epochs=1).fit(X, y)
    yield f"decision_function, {name}", lambda: model.decision_function(X), 15
    yield f"perceptron, 10 epochs, few mistakes, {name}", perceptron(X, y), 9
    shuffled = {"order": "shuffled", "random_state": 0}
    yield f"the same, shuffled, {name}", perceptron(X, y, **shuffled), 5
    X, y = halves(n, FEATURES, n // 10, 0.0)
    yield f"perceptron, 10 epochs, 10 % flipped, {name}", perceptron(X, y), 5
    yield f"the same, mixed, 16 shards, {name}", perceptron(X, y, update="mixed"), 5
    yield f"the same, batch, {name}", perceptron(X, y, update="batch"), 5
    m = n // 10
    task = perceptron(X[:m], y[:m], 1, keep="pocket")
    yield f"pocket, 1 epoch, 10 % flipped, {m} x {FEATURES}", task, 5
    yield f"separability, 10 % flipped, {name}", lambda: rb.separability(X, y), 5
    X, y = halves(n, FEATURES, 0, 0.01)
    yield f"separability, separable, {name}", lambda: rb.separability(X, y), 5
    yield f"maximum margin, {name}", lambda: rb.MaxMarginClassifier().fit(X, y), 5
    yield f"soft margin, C = N, {name}", lambda: rb.SoftMarginClassifier(C=len(y)).fit(X, y), 3
    digits = load_mnist()
    if digits is None:
        return
    X, y = digits[0], digits[1]
    if quick:
        X, y = X[:3000], y[:3000]
    yield f"ten classes, 10 epochs, MNIST {len(X)}", perceptron(X, y), 3
    X = X.astype(np.float32)
    curved = rb.KernelPerceptron(kernel="poly", degree=4, gamma=1, keep="average", max_epochs=3)
    yield f"kernel perceptron, 3 epochs, MNIST {len(X)}", lambda: curved.fit(X, y), 1
    yield "kernel perceptron, predict 10000", lambda: curved.predict(X[:10_000]), 3


def by_threads(quick: bool, counts: list[int]) -> list[Table]:
    """Seconds of each case with so many threads."""
    columns = ["case" + " " * 48, *map(str, counts), "speed-up", "slower", "same "]
    table = Table("Seconds by threads", columns)
    for name, task, repeats in cases(quick):
        times, answers = {}, []
        for k in counts:
            with threads(k):
                answers.append(bits(task()))
                times[str(k)] = seconds(task, repeats)
        found = list(times.values())
        slower = max((b / min(found[: i + 1]) for i, b in enumerate(found[1:])), default=1.0)
        row = {"speed-up": found[0] / found[-1], "slower": slower}
        same = all(answer == answers[0] for answer in answers)
        table.add(**{columns[0]: name, **times, **row, "same ": same})
    return [table]


def in_passes(quick: bool, counts: list[int]) -> list[Table]:
    """Whole calls in units of one reading of X."""
    n = ROWS // 20 if quick else ROWS
    table = Table(
        f"In passes over X, {n} x {FEATURES}",
        ["work" + " " * 36, "threads", "seconds", "passes", "one-thread passes", "aim"],
    )
    X, y = halves(n, FEATURES, 4, 0.5)
    Z, z = halves(n, FEATURES, 0, 0.01)
    model = rb.Perceptron(max_epochs=1).fit(X, y)
    alone = one_pass(X, 1)
    for k in sorted({1, counts[-1]}):
        unit = one_pass(X, k)
        with threads(k):
            perceptron(X, y)()
            ten, twenty = (seconds(perceptron(X, y, e), 9) for e in (EPOCHS, 2 * EPOCHS))
            epoch = (twenty - ten) / EPOCHS
            found = [
                ("one pass", unit, ""),
                ("decision_function", seconds(lambda: model.decision_function(X), 15), "1.5"),
                ("one more epoch, few mistakes", epoch, "1.5" if k == 1 else "1.3"),
                ("a fit of 10 epochs less its epochs", ten - EPOCHS * epoch, "1.5 of one thread"),
                ("separability, separable", seconds(lambda: rb.separability(Z, z), 5), "40"),
                ("maximum margin", seconds(lambda: rb.MaxMarginClassifier().fit(Z, z), 5), "50"),
                ("soft margin, C = N", seconds(lambda: rb.SoftMarginClassifier(C=n).fit(Z, z), 3),
                 "120"),
            ]  # fmt: skip
        for work, took, aim in found:
            row = {table.columns[0]: work, "threads": k, "seconds": took, "passes": took / unit}
            table.add(**row, **{"one-thread passes": took / alone, "aim": aim})
    return [table]


def outside(quick: bool, counts: list[int]) -> list[Table]:
    """Fits in the processes of a grid search, which share the cores by themselves."""
    table = Table(
        "Inside GridSearchCV, 4 folds x 4 values", ["n_jobs", "ours s", "peer s", "ours/peer"]
    )
    X, y = halves(20_000 if quick else 200_000, FEATURES, 200, 0.2)
    folds = StratifiedKFold(4)
    for k in counts:
        times = []
        for model, values in (
            (rb.Perceptron(max_epochs=EPOCHS), {"eta0": [1.0, 2.0, 4.0, 8.0]}),
            (Peer(max_iter=EPOCHS, tol=None), {"eta0": [1.0, 2.0, 4.0, 8.0]}),
        ):
            search = GridSearchCV(model, values, cv=folds, n_jobs=k)
            search.fit(X, y)
            times.append(seconds(lambda search=search: search.fit(X, y), 3))
        names = ("ours s", "peer s", "ours/peer")
        row = dict(zip(names, (*times, times[0] / times[1]), strict=True))
        table.add(n_jobs=k, **row)
    return [table]


def growth(quick: bool, counts: list[int]) -> list[Table]:
    """How the time grows with rows and with features, on all cores."""
    table = Table("Growth", ["grows   ", "rows   ", "features", "work" + " " * 24, "seconds"])
    top = 5 if quick else 7
    sizes = [("rows", 10**k, FEATURES) for k in range(4, top)]
    sizes += [("rows", 3 * 10**k, FEATURES) for k in range(4, top - 1)]
    sizes += [("features", 10**top // 100, d) for d in (5, 10, 20, 50, 100, 200)]
    with threads(counts[-1]):
        for grows, n, d in sorted(sizes, key=lambda size: (size[0], size[1], size[2])):
            X, y = halves(n, d, 4, 0.5)
            Z, z = halves(n, d, 0, 0.05)
            model = rb.Perceptron(max_epochs=1).fit(X, y)
            works: dict[str, Task] = {
                "one pass": lambda X=X, d=d: X @ np.ones(d),
                "decision_function": lambda model=model, X=X: model.decision_function(X),
                "perceptron, 10 epochs": perceptron(X, y),
                "separability": lambda Z=Z, z=z: rb.separability(Z, z),
                "maximum margin": lambda Z=Z, z=z: rb.MaxMarginClassifier().fit(Z, z),
            }
            for work, task in works.items():
                task()
                row = {table.columns[0]: grows, "rows   ": n, "features": d}
                row[table.columns[3]] = work
                table.add(**row, seconds=seconds(task, 3))
    return [table]


INTRODUCTION = """
# Cores, and the limit of the memory

Made by `python -m benchmarks.cores --report docs/benchmarks/cores.md`, with `ROSENBLATT_DATA`
naming a folder that holds MNIST. Whole calls, validation and proofs included, medians, warm.
`speed-up` is one thread's time over that of the most threads, `slower` how many times as long a
number of threads takes as the best of fewer, at worst, and `same` whether all gave the same answer
to the bit. A *pass* is one reading of X; the aims are in passes by all threads.

What the limits are:

- **Answers** read X once, and wait for the memory. Whether every number is finite is found out on
  the way: a row with one that is not has no finite value.
- **The perceptron with few mistakes** reads X once an epoch: all threads look ahead for the next
  mistake, and none has to wait for another but at a mistake. In a random order rows are asked for
  forty visits before their turn, so that the memory works while others are looked at; drawing the
  order, in one thread, then takes about as long as the visits.
- **The perceptron with many mistakes** is one chain of dot products, each of which needs the
  weights that the one before has left: one thread, whatever there is. What an epoch then takes
  above a pass are the updates, and branches that no processor can guess.
- **The pocket** multiplies rows with all vectors of a path, 64 at a time, in single precision; what
  is in doubt is counted by the dot product of training. Its limit is the rate of multiplications.
- **Sparse rows** are short, and where each ends no processor can guess: that, not the memory, is
  what an epoch over them takes.
- **Separability and margins** read X once for each working set, and once more to prove the answer;
  the small problems in between are solved in one thread, and the sides of samples are looked at by
  many short calls of NumPy, of which each waits for the interpreter.
- **Grid searches** in two processes take the cores that the threads of one process take otherwise:
  they gain little where fits are short, as each maps the data anew and copies its fold.
- **Kernels** wait for matrix products, but for what one thread has to do by itself:
  `python -m benchmarks.kernel --serial` accounts for it.

Two cores were at hand when this was measured: what sixteen are worth is not known.

![Time against rows, features and threads](cores-growth.png)
"""

PARTS = {f.__name__: f for f in (by_threads, in_passes, outside, growth)}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--threads", nargs="+", type=int, help="how many to try, from 1 up")
    parser.add_argument("--quick", action="store_true", help="small data, to try the script")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/cores.json"))
    parser.add_argument("--report", type=Path, help="also write the tables as a page, here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    most = len(os.sched_getaffinity(0))
    counts = arguments.threads or sorted({k for k in (1, 2, 4, 8, 16) if k <= most} | {most})
    tables = [t for name in arguments.only for t in PARTS[name](arguments.quick, counts)]
    write_json(arguments.json, tables)
    if arguments.report:
        write_report(arguments.json, arguments.report, INTRODUCTION)
        draw_growth(tables, arguments.report.parent / "cores-growth.png")


if __name__ == "__main__":
    main()

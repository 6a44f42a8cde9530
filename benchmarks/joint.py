"""Several classes as one problem, beside one against the rest: time, and unseen digits right.

``python -m benchmarks.joint`` prints a table and writes ``benchmarks/results/joint.json``;
``--report docs/benchmarks/joint.md`` makes a page of it. scikit-learn has no joint perceptron: the
peer for time is its `Perceptron`, one against the rest, and for accuracy
`LinearSVC(multi_class="crammer_singer")`, which minimises the hinge loss of the joint problem.
Times are of the processor, not the clock.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron as Peer
from sklearn.svm import LinearSVC

import rosenblatt as rb
from benchmarks.measure import (
    Table,
    load_mnist,
    write_json,
    write_report,
)

EPOCHS, REPEATS = 10, 3
ROWS = 10_000  # of MNIST to learn from, and as many to be tested on
INTRODUCTION = """# Benchmarks of several classes as one problem

Made by `python -m benchmarks.joint --report docs/benchmarks/joint.md`, with `ROSENBLATT_DATA`
naming a folder that holds MNIST. Seconds of the processor for a fit of ten epochs, in a new order
each, on one thread; the least of three that took turns. "right" is the share of unseen digits,
after the same ten epochs. [What the two ways are](../how-it-works/joint.md). The last line of each
is a support vector machine with the joint hinge loss, trained until liblinear is content.
"""


def ours(**more: Any) -> rb.Perceptron:
    """A perceptron of ten epochs."""
    return rb.Perceptron(max_epochs=EPOCHS, order="shuffled", random_state=0, n_jobs=1, **more)


MODELS: dict[str, Callable[[], Any]] = {
    "joint, last": lambda: ours(multiclass="joint"),
    "joint, average": lambda: ours(multiclass="joint", keep="average"),
    "against the rest, last": ours,
    "against the rest, average": lambda: ours(keep="average"),
    "scikit-learn Perceptron": lambda: Peer(max_iter=EPOCHS, tol=None, random_state=0),
    "LinearSVC crammer_singer": lambda: LinearSVC(multi_class="crammer_singer", random_state=0),
}


def measured(name: str, X: Any, y: Any, n: int) -> Table:
    """Every model on the first n rows, tested on the others."""
    table = Table(f"{name}, {n} rows", ["model", "CPU s", "right"])
    times: dict[str, list[float]] = {model: [] for model in MODELS}
    right = {}
    for turn in range(REPEATS):
        for model, make in MODELS.items():
            if turn and times[model][0] > 10:
                continue  # once is enough
            began = time.process_time()
            fitted = make().fit(X[:n], y[:n])
            times[model].append(time.process_time() - began)
            right[model] = float((fitted.predict(X[n:]) == y[n:]).mean())
    for model in MODELS:
        table.add(model=model, **{"CPU s": min(times[model]), "right": right[model]})
    return table


def main() -> None:
    """Measure digits, and MNIST if it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/joint.json"))
    parser.add_argument("--report", type=Path, help="also write the tables as a page, here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    tables = [measured("Digits, 64 pixels", X[order], y[order], 1200)]
    data = load_mnist()
    if data is None:
        print("skipped: set ROSENBLATT_DATA to a folder that holds MNIST")
    else:
        X, y = (np.asarray(part[: 2 * ROWS]) for part in data)
        tables.append(measured("MNIST, 784 pixels", X, y, ROWS))
    write_json(arguments.json, tables)
    if arguments.report:
        write_report(arguments.json, arguments.report, INTRODUCTION)


if __name__ == "__main__":
    main()

"""Two versions beside each other: the same work in turns, and whether the answers are the same.

``python -m benchmarks.versions OTHER/src`` starts a process for each of the two folders of sources
and lets them take turns, case by case. ``--case`` picks cases by parts of their names, ``--json``
keeps the table. Ratios are medians over the repeats, each of a run of ours and the run of the other
version next to it; CPU seconds count all threads. Answers are compared bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]

if TYPE_CHECKING:
    from collections.abc import Callable


def cases() -> dict[str, Callable[[], Callable[[], Any]]]:
    """Each makes its data and returns the work that is measured; public names alone are used."""
    import numpy as np
    from scipy import sparse

    import rosenblatt as rb

    def points(n: int, d: int, noise: float = 0.0, dtype: Any = np.float64) -> Any:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        scores = X @ rng.standard_normal(d) + noise * rng.standard_normal(n)
        return X.astype(dtype), np.where(scores > 0, 1, -1)

    def rows(n: int, d: int, each: int) -> Any:
        rng = np.random.default_rng(0)
        X = sparse.random_array((n, d), density=each / d, format="csr", rng=rng)
        return X, np.where(X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0, 1, -1)

    def classes(n: int, d: int, k: int) -> Any:
        X, _ = points(n, d)
        return X, np.argmax(X[:, :k] + 0.5 * X[:, k : 2 * k], axis=1)

    def fit(model: Any, data: Any) -> Callable[[], Any]:
        return lambda: bits(model.fit(*data))

    def bits(model: Any) -> Any:
        return [getattr(model, name, None) for name in ("coef_", "intercept_", "dual_coef_")]

    def verdict(data: Any) -> Callable[[], Any]:
        def work() -> Any:
            found = rb.separability(*data)
            return [found.verdict.name, getattr(found, "support", None)]

        return work

    def curved(n: int) -> Any:
        X, _ = points(n, 8)
        return X, np.where(np.linalg.norm(X, axis=1) > np.sqrt(8), 1, -1)

    quiet: Any = {"max_epochs": 20}
    margin = {"on_inseparable": "raise"}
    return {
        "perceptron dense": lambda: fit(rb.Perceptron(**quiet), points(200_000, 30, 1)),
        "perceptron float32": lambda: fit(
            rb.Perceptron(**quiet), points(200_000, 30, 1, np.float32)
        ),
        "perceptron CSR": lambda: fit(rb.Perceptron(**quiet), rows(100_000, 5000, 20)),
        "perceptron shuffled": lambda: fit(
            rb.Perceptron(order="shuffled", random_state=0, **quiet), points(200_000, 30, 1)
        ),
        "perceptron average": lambda: fit(
            rb.Perceptron(keep="average", **quiet), points(200_000, 30, 1)
        ),
        "perceptron pocket": lambda: fit(
            rb.Perceptron(keep="pocket", max_epochs=3), points(100_000, 30, 1)
        ),
        "perceptron batch": lambda: fit(
            rb.Perceptron(update="batch", max_epochs=100), points(200_000, 30, 1)
        ),
        "perceptron 10 classes": lambda: fit(rb.Perceptron(**quiet), classes(100_000, 30, 10)),
        "pocket 10 classes": lambda: fit(
            rb.Perceptron(keep="pocket", max_epochs=5), classes(20_000, 30, 10)
        ),
        "perceptron, many small": lambda: _many(fit, rb.Perceptron, points(100, 4), 40),
        "adaline batch": lambda: fit(
            rb.Adaline(update="batch", max_epochs=100), points(200_000, 30, 1)
        ),
        "adaline online": lambda: fit(rb.Adaline(eta0=0.001, **quiet), points(200_000, 30, 1)),
        "kernel rbf": lambda: fit(rb.KernelPerceptron(max_epochs=5), curved(4000)),
        "kernel average, 4 classes": lambda: fit(
            rb.KernelPerceptron(kernel="poly", keep="average", max_epochs=5), classes(2000, 20, 4)
        ),
        "kernel vote": lambda: fit(rb.KernelPerceptron(keep="vote", max_epochs=5), curved(2000)),
        "separable": lambda: verdict(points(200_000, 30)),
        "inseparable": lambda: verdict(points(20_000, 100, 1)),
        "inseparable, wide": lambda: verdict(points(2000, 600, 10)),
        "verdict, many small": lambda: _times(verdict(points(40, 5, 1)), 50),
        "max margin": lambda: fit(rb.MaxMarginClassifier(**margin), points(20_000, 20)),
        "max margin, wide": lambda: fit(rb.MaxMarginClassifier(**margin), points(300, 700)),
        "max margin, many small": lambda: _times(
            fit(rb.MaxMarginClassifier(**margin), points(40, 5)), 50
        ),
        "soft margin": lambda: fit(rb.SoftMarginClassifier(), points(50_000, 20, 1)),
        "soft margin, wide": lambda: fit(rb.SoftMarginClassifier(), points(300, 700, 1)),
        "soft margin CSR": lambda: fit(rb.SoftMarginClassifier(), rows(20_000, 2000, 20)),
        "mistake bound": lambda: _bound(rb, points(20_000, 20)),
        "mistake bound, inseparable": lambda: _bound(rb, points(5000, 20, 1)),
        "predict": lambda: _predict(rb.Perceptron(**quiet), points(500_000, 30, 1)),
        "check": lambda: _check(rb, points(100_000, 30)),
        "command": _command,
    }


def _times(work: Callable[[], Any], count: int) -> Callable[[], Any]:
    return lambda: [work() for _ in range(count)][-1]


def _many(fit: Any, model: Any, data: Any, count: int) -> Callable[[], Any]:
    return lambda: [fit(model(), data)() for _ in range(count)][-1]


def _bound(rb: Any, data: Any) -> Callable[[], Any]:
    def work() -> Any:
        found = rb.mistake_bound(*data, epochs=100)
        return [found.R, found.gamma, found.bound]

    return work


def _predict(model: Any, data: Any) -> Callable[[], Any]:
    X, y = data
    model.fit(X, y)
    return lambda: model.predict(X)


def _check(rb: Any, data: Any) -> Callable[[], Any]:
    found = rb.separability(*data)
    return lambda: rb.certify.check(found, *data).valid


def _command() -> Callable[[], Any]:
    table = str(ROOT / "examples" / "banknotes.csv")
    line = [sys.executable, "-m", "rosenblatt.cli", "fit", table, "--json"]
    return lambda: subprocess.run(line, capture_output=True, check=True).stdout[:40]


def serve() -> None:
    """The other end: names of cases come in, seconds and a digest of the answer go out."""
    import hashlib
    import pickle
    import warnings

    warnings.simplefilter("ignore")
    prepared: dict[str, Callable[[], Any]] = {}
    table = cases()
    for line in sys.stdin:
        name = line.strip()
        if name not in prepared:
            prepared.clear()
            prepared[name] = table[name]()
        wall, cpu = time.perf_counter(), _cpu()
        answer = prepared[name]()
        seconds = time.perf_counter() - wall, _cpu() - cpu
        digest = hashlib.sha1(pickle.dumps(answer), usedforsecurity=False).hexdigest()
        print(json.dumps([*seconds, digest]), flush=True)


def _cpu() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class Version:
    """A process that works with one folder of sources."""

    def __init__(self, sources: Path) -> None:
        cache = sources.resolve().parent / ".numba_cache" / "versions"
        env = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(cache)}
        line = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(line, env=env, stdin=pipe, stdout=pipe, text=True)

    def run(self, name: str) -> tuple[float, float, str]:
        """Wall and CPU seconds of a case, and a digest of its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        wall, cpu, digest = json.loads(self.process.stdout.readline())
        return wall, cpu, digest


def main() -> None:
    """Print the table; keep it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the folder `src` of the other version")
    parser.add_argument("--case", nargs="+", default=[""], help="parts of the names of the cases")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="where to keep the table")
    options = parser.parse_args()
    from benchmarks.measure import Table, write_json

    columns = ["case" + " " * 24, "ours s ", "other s", "wall ratio", "CPU ratio", "same"]
    table = Table("This version beside the other", columns)
    ours, other = Version(ROOT / "src"), Version(options.other)
    for name in cases():
        if not any(part in name for part in options.case):
            continue
        for version in (ours, other):  # compiled, and the data made
            version.run(name)
        pairs = [(ours.run(name), other.run(name)) for _ in range(options.repeats)]
        values = (
            name,
            statistics.median(a[0] for a, _ in pairs),
            statistics.median(b[0] for _, b in pairs),
            statistics.median(a[0] / b[0] for a, b in pairs),
            statistics.median(a[1] / b[1] for a, b in pairs if b[1]),
            "yes" if all(a[2] == b[2] for a, b in pairs) else "no",
        )
        table.add(**dict(zip(columns, values, strict=True)))
    if options.json:
        write_json(options.json, [table])


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()

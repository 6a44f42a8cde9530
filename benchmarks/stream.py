"""Tables larger than memory: reading them once, and learning from them again and again.

``python -m benchmarks.stream --gigabytes 10`` makes a CSV file of that size on the spot (in the
folder TMPDIR, twice and a half as much room is needed), the same rows as a Parquet file, and sets
beside each other, on the same rows:

- the first pass, from the file to features on disk, and DuckDB that merely decodes all columns;
- an epoch of the perceptron over these features, and one product ``X @ w`` with the same map;
- the whole way, and `SGDClassifier.partial_fit` over chunks of pandas, and Vowpal Wabbit (where the
  package vowpalwabbit is installed), which reads a format of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from benchmarks.measure import (
    Table,
    side_by_side,
    write_json,
    write_report,
)
from rosenblatt.streams.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

FEATURES = 20
ROW_BYTES = 163  # of a row in the CSV file, about
EPOCHS = 6
CHUNK = 200_000  # rows that pandas reads at a time
NAMES = [f"x{j}" for j in range(FEATURES)]

INTRODUCTION = """# Benchmarks of streams

Made by `python -m benchmarks.stream --gigabytes 10 --report docs/benchmarks/stream.md`. The table
has 20 columns of decimals with four digits behind the point, two classes that a hyperplane
separates, and is made on the spot. "DuckDB decodes" is the time of `SELECT sum(x0), sum(x1),
...`, which reads and decodes every column with all threads and keeps nothing. "ours" is the whole
of `rb.open(file, target="y")`: the same, and the statistics of the encoder, and the standardised
features written to disk. `rate/DuckDB` is our rows per second over DuckDB's. Then epochs of
`rb.Perceptron` over the mapped features, beside a single product `X @ w` with the same map by
NumPy: `rate/map` is our rows per second in a later epoch over that. "anonymous" is the largest
amount of memory that belongs to no file (RssAnon) beyond what the process had before.

Where it falls short: Parquet is decoded twice, for the statistics and for the features, and its
decoding is so quick that adding exactly, standardising and writing the features take several
times as long. CSV is parsed once, into columns on disk.

The peers read the same CSV: `SGDClassifier(loss="perceptron").partial_fit` over chunks of pandas,
standardised by the means of the first pass of `StandardScaler.partial_fit`; and Vowpal Wabbit,
which is given the rows in its own format (the time to write that is not counted) and keeps a
cache of its own for later passes. Errors are those on all rows (of `SGDClassifier` on the first
two million) after the epochs named; the perceptron ends earlier, when an epoch had no mistakes.
In later epochs it need not look at rows that cannot be mistakes while the hyperplane has hardly
moved, which is why it can be quicker than one product with all of them.
"""


def make(folder: Path, gigabytes: float) -> tuple[Path, Path, int]:
    """The same rows as CSV and as Parquet, and how many there are."""
    n = int(gigabytes * 1e9 / ROW_BYTES)
    noise = ", ".join(
        f"round((hash(i * 64 + {j}) % 2000000)::DOUBLE / 1e5 - 10, 4) AS x{j}"
        for j in range(1, FEATURES)
    )
    side = "(CASE WHEN hash(i * 64 + 63) % 2 = 0 THEN 1 ELSE -1 END)"
    first = f"round({side} * (2 + (hash(i * 64) % 800000)::DOUBLE / 1e5), 4) AS x0"
    rows = f"SELECT {first}, {noise}, CASE WHEN {side} > 0 THEN 'yes' ELSE 'no' END AS y"
    csv, parquet = folder / "table.csv", folder / "table.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows} FROM range({n}) t(i)) TO '{parquet}' (FORMAT parquet)")
        connection.execute(f"COPY (FROM '{parquet}') TO '{csv}' (FORMAT csv, HEADER)")
    return csv, parquet, n


def decode(path: Path) -> Any:
    """DuckDB reads and decodes all columns, and keeps nothing."""
    reader = "read_parquet" if path.suffix == ".parquet" else "read_csv"
    # The largest numbers of a Parquet file would be known without decoding it.
    sums = ", ".join(f"sum({name})" for name in NAMES)
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {sums}, count(y) FROM {reader}('{path}')").fetchall()


def anonymous() -> int:
    """Bytes of memory that belong to no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def watched(task: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a task gives, its seconds, and the megabytes of memory it took at most."""
    before, peak, done = anonymous(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, anonymous())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    try:
        found = task()
    finally:
        seconds = time.perf_counter() - began
        done.set()
        thread.join()
    return found, seconds, (peak - before) / 1e6


def first_passes(csv: Path, parquet: Path, n: int, repeats: int) -> tuple[Table, Any]:
    """From files to features, beside DuckDB that decodes them."""
    table = Table(
        "First pass", ["file", "GB", "ours", "DuckDB decodes", "rate/DuckDB", "anonymous MB"]
    )
    source: Any = None
    for path in (csv, parquet):
        times: list[list[float]] = [[], []]
        most = 0.0
        for _ in range(repeats):
            source = None  # its room is given back
            source, seconds, memory = watched(lambda path=path: rb.open(path, target="y"))
            times[0].append(seconds)
            most = max(most, memory)
            times[1].append(side_by_side(lambda path=path: decode(path), repeats=1)[0][0])
        ours, theirs = (float(np.median(t)) for t in times)
        row = {"file": path.name, "GB": path.stat().st_size / 1e9, "ours": ours}
        table.add(
            **row | {"DuckDB decodes": theirs, "rate/DuckDB": theirs / ours, "anonymous MB": most}
        )
        assert source.shape == (n, FEATURES)
    return table, source


def later_epochs(source: Any, repeats: int) -> Table:
    """Epochs over features on disk, beside one product with the same map."""
    table = Table(
        "Later epochs",
        ["keep", "order", "epochs", "mistakes/row", "rows/s", "rate/map", "errors", "anonymous MB"],
    )
    n, X, w = source.shape[0], source.X, np.ones(FEATURES)
    step = 1 << 20

    def product() -> float:
        return sum(float((X[a : a + step] @ w)[-1]) for a in range(0, n, step))

    (one_pass,), _ = side_by_side(product, repeats=repeats)
    cases = [("last", "cyclic"), ("average", "cyclic"), ("last", "blocks")]
    for keep, order in cases:
        model = rb.Perceptron(keep=keep, order=order, max_epochs=EPOCHS, random_state=0, tol=1e-300)
        model, _, memory = watched(lambda model=model: model.fit(source))
        seconds = np.diff(model.trace_.seconds)
        later = float(np.median(seconds)) if len(seconds) else float(model.trace_.seconds[0])
        table.add(
            keep=keep,
            order=order,
            epochs=int(model.n_iter_),
            **{"mistakes/row": model.n_mistakes_ / n / model.n_iter_},
            **{"rows/s": n / later, "rate/map": one_pass / later},
            errors=model.n_errors_,
            **{"anonymous MB": memory},
        )
    return table


def whole_ways(csv: Path, folder: Path) -> Table:
    """From the CSV file to a model, by us and by others."""
    size = csv.stat().st_size / 1e9
    table = Table(
        f"From a file of {size:.2g} GB to a model",
        ["what", "most epochs", "seconds", "errors"],
    )

    def ours(epochs: int) -> int:
        with rb.open(csv, target="y") as source:
            return int(rb.Perceptron(max_epochs=epochs).fit(source).n_errors_)

    def add(what: str, epochs: int, seconds: float, errors: int) -> None:
        table.add(what=what, **{"most epochs": epochs}, seconds=seconds, errors=errors)

    for epochs in (1, EPOCHS):
        (seconds,), (errors,) = side_by_side(lambda e=epochs: ours(e), repeats=1)
        add("rosenblatt", epochs, seconds, errors)
    (seconds,), (errors,) = side_by_side(lambda: in_chunks(csv), repeats=1)
    add("SGDClassifier.partial_fit over pandas", 1, seconds, errors)
    wabbit(csv, folder, add)
    return table


def in_chunks(csv: Path) -> int:
    """scikit-learn's perceptron over chunks of pandas: statistics, then one epoch."""
    scaler = StandardScaler()
    for part in pd.read_csv(csv, chunksize=CHUNK):
        scaler.partial_fit(part[NAMES].to_numpy())
    model = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0)
    for part in pd.read_csv(csv, chunksize=CHUNK):
        X = scaler.transform(part[NAMES].to_numpy())
        model.partial_fit(X, part["y"], classes=["no", "yes"])
    return sum(
        int((model.predict(scaler.transform(p[NAMES].to_numpy())) != p["y"]).sum())
        for p in pd.read_csv(csv, chunksize=CHUNK, nrows=2_000_000)
    )


def wabbit(csv: Path, folder: Path, add: Callable[[str, int, float, int], None]) -> None:
    """Vowpal Wabbit, one pass and several, on the same rows in its own format."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        print("vowpalwabbit is not installed: left out")
        return
    data = folder / "table.vw"
    cells = " || ".join(f"' {name}:' || {name}" for name in NAMES)
    label = "CASE WHEN y = 'yes' THEN '1' ELSE '-1' END"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {label} || ' |' || {cells} FROM read_csv('{csv}')) TO '{data}' "
            "(FORMAT csv, HEADER false, QUOTE '', DELIMITER '\t')"
        )
    for passes in (1, EPOCHS):
        options = "--loss_function hinge --holdout_off --quiet -k --random_seed 0"
        cache = f" --cache_file {folder / 'vw.cache'} --passes {passes}" if passes > 1 else ""
        model = folder / "vw.model"
        began = time.perf_counter()
        Workspace(f"-d {data} {options}{cache} -f {model}").finish()
        seconds = time.perf_counter() - began
        judge = Workspace(f"-d {data} -i {model} -t --binary --quiet")
        errors = round(judge.get_sum_loss())
        judge.finish()
        add("Vowpal Wabbit, its format", passes, seconds, errors)
    data.unlink()


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the CSV file")
    parser.add_argument("--peers", type=float, default=1.0, help="size of that for slow peers")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/stream.json"))
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rb.Perceptron(keep="average").fit([[1.0], [-1.0]], [1, 0])  # to have it compiled
    with tempfile.TemporaryDirectory(dir=Cache().folder) as name:
        folder = Path(name)
        csv, parquet, n = make(folder, options.gigabytes)
        print(f"{n} rows, {csv.stat().st_size / 1e9:.2f} GB as CSV")
        rb.open(small(csv, folder), target="y").close()
        first, source = first_passes(csv, parquet, n, options.repeats)
        later = later_epochs(source, options.repeats)
        source.close()
        if options.peers != options.gigabytes:
            csv.unlink()
            parquet.unlink()
            csv, _, _ = make(folder, options.peers)
        whole = whole_ways(csv, folder)
    write_json(options.results, [first, later, whole])
    if options.report:
        write_report(options.results, options.report, INTRODUCTION)


def small(csv: Path, folder: Path) -> Path:
    """The first rows, to have everything compiled."""
    path = folder / "small.csv"
    with csv.open() as file, path.open("w") as out:
        out.writelines(line for _, line in zip(range(2000), file, strict=False))
    return path


if __name__ == "__main__":
    main()

"""The speed of the command: from a file to features, to a model, to answers.

``python -m benchmarks.command`` prints tables and writes ``benchmarks/results/command.json``; it
needs ``ROSENBLATT_DATA``, a folder with covtype.csv.gz and adult-train.csv.gz. The peer is what one
would write otherwise: pandas, scikit-learn's `ColumnTransformer` and its `Perceptron`.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Perceptron as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt as rb
from benchmarks import command_large
from benchmarks.measure import (
    Table,
    data_file,
    side_by_side,
    write_json,
    write_report,
)

FILES = {"covtype.csv.gz": {}, "adult-train.csv.gz": {"header": None, "skipinitialspace": True}}
EPOCHS = 10


def read(path: Path) -> dict[str, Any]:
    """All columns of a table, our way."""
    with rb.io.read_table(path) as table:
        return table.chunk(0, table.n_rows)


def read_columns(path: Path) -> dict[str, Any]:
    """The same, texts as codes."""
    with rb.io.read_table(path) as table:
        return table.columns()


def peers_read(path: Path) -> pd.DataFrame:
    """The same with pandas."""
    options = FILES.get(path.name) or FILES.get(f"{path.name}.gz", {})
    return pd.read_csv(path, na_values="?", **options)


def duckdb_reads(path: Path) -> dict[str, Any]:
    """The same with DuckDB's own reader."""
    with duckdb.connect() as connection:
        return connection.execute("SELECT * FROM read_csv(?)", [str(path)]).fetchnumpy()


def made_up(folder: Path) -> Path:
    """A CSV file of a million rows: 14 columns of decimals, 3 of whole numbers, 3 of words."""
    rng, n = np.random.default_rng(0), 1_000_000
    columns: dict[str, Any] = {f"x{j}": rng.normal(0, 10, n).round(4) for j in range(14)}
    columns |= {f"n{j}": rng.integers(0, 1000, n) for j in range(3)}
    colours = np.array(["red", "green", "blue", "dark yellow", "none"])
    columns |= {f"t{j}": colours[rng.integers(0, 5, n)] for j in range(2)}
    columns["y"] = np.array(["yes", "no"])[rng.integers(0, 2, n)]
    path = folder / "made-up.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def reading(repeats: int) -> list[Table]:
    """Reading all columns of CSV files, packed and unpacked."""
    table = Table(
        "Reading (seconds, and CPU seconds)",
        ["file                ", "rows x columns", "ours", "pandas", "DuckDB", "ours/pandas",
         "ours/DuckDB", "CPU ours", "CPU ours/pandas", "CPU ours/DuckDB", "unpacking alone"],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [made_up(folder)]
        for packed in filter(None, map(data_file, list(FILES))):
            plain = folder / packed.stem
            plain.write_bytes(gzip.decompress(packed.read_bytes()))
            paths += [plain, packed]
        paths.append(Path(__file__).parents[1] / "examples" / "banknotes.csv")
        # DuckDB last of all: what it leaves behind in memory slows down whoever comes after it.
        turns = [reading_of(path, repeats) for path in paths]
        for path, found in zip(paths, turns, strict=True):
            wall, cpu = measured(duckdb_reads, path, repeats)
            found |= {"DuckDB": wall, "ours/DuckDB": found["ours"] / wall}
            table.add(**found, **{"CPU ours/DuckDB": found["CPU ours"] / cpu})
    return [table]


def measured(reader: Any, path: Path, repeats: int) -> tuple[float, float]:
    """Seconds and CPU seconds of a reader alone."""
    times = []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        reader(path)
        times.append((time.perf_counter() - began, time.process_time() - worked))
    wall, cpu = np.median(times, axis=0)
    return float(wall), float(cpu)


def reading_of(path: Path, repeats: int) -> dict[str, Any]:
    """One file, read by pandas and by us in turn."""
    readers = [read_columns, peers_read]
    if path.suffix == ".gz":
        readers.append(lambda path: gzip.decompress(path.read_bytes()))
    turns = np.array([[measured(reader, path, 1) for reader in readers] for _ in range(repeats)])
    wall, cpu = np.median(turns, axis=0).T.tolist()
    shape = peers_read(path).shape
    return {
        "file                ": path.name, "rows x columns": f"{shape[0]} x {shape[1]}",
        "ours": wall[0], "pandas": wall[1], "ours/pandas": wall[0] / wall[1],
        "CPU ours": cpu[0], "CPU ours/pandas": cpu[0] / cpu[1],
        "unpacking alone": wall[2] if len(wall) > 2 else "",
    }  # fmt: skip


def peers_encoder(frame: pd.DataFrame) -> ColumnTransformer:
    """Numbers standardised, texts one-hot, missing texts a value of their own."""
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    fill = SimpleImputer(strategy="constant", fill_value="(missing)")
    return ColumnTransformer(
        [
            ("numbers", StandardScaler(), [name for name in frame if name not in texts]),
            ("texts", make_pipeline(fill, OneHotEncoder()), texts),
        ],
        sparse_threshold=0.3,
    )


def same_features(X: Any, Z: Any) -> bool:
    """Whether two matrices have the same columns in some order."""
    sums = []
    for matrix in (X, Z):
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        weights = np.random.default_rng(0).standard_normal(dense.shape[0])
        sums.append(np.sort(weights @ dense))
    return bool(np.allclose(*sums, atol=1e-6))


def tables(repeats: int) -> list[Table]:
    """Encoding, and the way from the file to a model."""
    encoding = Table(
        "Encoding (seconds)",
        ["file              ", "features", "ours", "peer ", "ours/peer", "same"],
    )
    fitting = Table(
        f"From the file to a model, {EPOCHS} epochs (seconds)",
        ["file              ", "ours", "peer ", "ours/peer", "errors (ours, peer)"],
    )
    for name in FILES:
        path = data_file(name)
        if path is None:
            print(f"{name}: not in ROSENBLATT_DATA, left out")
            continue
        columns, frame = read(path), peers_read(path)
        frame.columns = frame.columns.astype(str)
        target = list(columns)[-1]
        y = np.asarray(frame.iloc[:, -1])
        features = {k: v for k, v in columns.items() if k != target}
        rest = frame.iloc[:, :-1]
        times, (X, Z) = side_by_side(
            lambda features=features: rb.TableEncoder().fit_transform(features),
            lambda rest=rest: peers_encoder(rest).fit_transform(rest),
            repeats=repeats,
        )
        encoding.add(**{
            "file              ": name, "features": X.shape[1], "ours": times[0], "peer ": times[1],
            "ours/peer": times[0] / times[1], "same": same_features(X, Z),
        })  # fmt: skip
        times, (ours, peer) = side_by_side(
            lambda path=path: our_job(path), lambda path=path: peers_job(path), repeats=repeats
        )
        fitting.add(**{
            "file              ": name, "ours": times[0], "peer ": times[1],
            "ours/peer": times[0] / times[1], "errors (ours, peer)": (ours, int((peer != y).sum())),
        })  # fmt: skip
    return [encoding, fitting]


def our_job(path: Path) -> int:
    """From the file to a model; its training errors."""
    columns = read(path)
    y = columns.pop(list(columns)[-1])
    y = y.astype(np.int64) if y.dtype.kind == "f" else y.astype(str)
    X = rb.TableEncoder().fit_transform(columns)
    return int(rb.Perceptron(max_epochs=EPOCHS).fit(X, y).n_errors_)


def peers_job(path: Path) -> Any:
    """The same otherwise; its predictions."""
    frame = peers_read(path)
    frame.columns = frame.columns.astype(str)
    y, rest = np.asarray(frame.iloc[:, -1]), frame.iloc[:, :-1]
    Z = peers_encoder(rest).fit_transform(rest)
    return Peer(shuffle=False, tol=None, max_iter=EPOCHS, n_jobs=-1).fit(Z, y).predict(Z)


WATCHED = """
import re, sys, time
began = time.perf_counter()
from rosenblatt.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
# Not ru_maxrss, which begins with the memory of the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(time.perf_counter() - began, peak, file=sys.stderr)
"""


def watched(*arguments: Any) -> tuple[float, float]:
    """Seconds and peak memory (MB) of the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, peak = done.stderr.split()[-2:]
    return float(seconds), float(peak)


def streams(repeats: int) -> list[Table]:
    """Whether the memory of ``predict`` grows with the file."""
    table = Table("predict, streaming", ["rows   ", "file MB", "seconds", "rows/s ", "peak MB"])
    path = data_file("covtype.csv.gz")
    if path is None:
        return [table]
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    with tempfile.TemporaryDirectory() as folder:
        model, big, out = (Path(folder, name) for name in ("m.skops", "big.csv", "out.csv"))
        watched("fit", path, "-q", "-o", model, "--cv", 0, "--max-epochs", 1)
        for times in (1, 4, 8):
            with big.open("wb") as file:
                file.write(lines[0])
                for _ in range(times):
                    file.writelines(lines[1:])
            runs = [watched("predict", model, big, "-q", "-o", out) for _ in range(min(repeats, 3))]
            seconds, peak = np.median(runs, axis=0)
            rows = times * (len(lines) - 1)
            table.add(**{
                "rows   ": rows, "file MB": big.stat().st_size / 1e6, "seconds": float(seconds),
                "rows/s ": float(rows / seconds), "peak MB": float(peak),
            })  # fmt: skip
    return [table]


def processes_seconds(command: list[str]) -> tuple[float, float]:
    """The seconds that a process takes, by the wall and of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start(repeats: int) -> list[Table]:
    """How long the shortest commands take, whole process, beside an import; all take turns."""
    notes = Path(__file__).parent.parent / "examples" / "banknotes.csv"
    cli = [sys.executable, "-m", "rosenblatt.cli"]
    peer = "python -c 'import sklearn.linear_model'"
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder, "notes.skops"))
        commands = {
            peer: [sys.executable, "-c", "import sklearn.linear_model"],
            "rosenblatt --help": [*cli, "--help"],
            "rosenblatt fit --help": [*cli, "fit", "--help"],
            "rosenblatt fit banknotes.csv -o notes.skops": [*cli, "fit", str(notes), "-o", model],
            "rosenblatt fit banknotes.csv": [*cli, "fit", str(notes)],
            "rosenblatt show notes.skops": [*cli, "show", model],
        }
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(repeats + 1):  # the first finds nothing compiled
            for name, command in commands.items():
                took[name].append(processes_seconds(command))
    columns = ["command                         ", "wall", "CPU", "wall/import", "CPU/import"]
    table = Table("Start of a process (seconds)", columns)
    middle = {name: np.median(times[1:], axis=0).tolist() for name, times in took.items()}
    for name, (wall, cpu) in middle.items():
        ratios = wall / middle[peer][0], cpu / middle[peer][1]
        table.add(**dict(zip(columns, (name, wall, cpu, *ratios), strict=True)))
    return [table]


INTRODUCTION = """
# Benchmarks of the command

Made by `python -m benchmarks.command --report docs/benchmarks/command.md`, with `ROSENBLATT_DATA`
naming a folder that holds covtype.csv.gz and adult-train.csv.gz. Medians of runs in which both took
turns. The peer is pandas, scikit-learn's `ColumnTransformer` (standardising, one-hot) and its
`Perceptron` without shuffling. `ours/peer` is the ratio of the times: 0.5 means twice as fast.
"same": both made the same features. "Unpacking alone" is the time that gzip takes, before anything
is read: no reader of a packed file can be faster. DuckDB's own `read_csv` gives all columns as
arrays, too (`fetchnumpy`).

Plain CSV files are read straight into columns in memory, on all cores, each text as a code; every
cell is judged on the way. Files of more than 256 MB, or whose lines are not plain (a line end
between quotation marks), go through a database, which takes longer than pandas.

In "fit with five folds" the peer is Polars, a pipeline of the same steps and `cross_val_score` over
the same folds; ours also looks for a proof that the classes can be separated or not, for up to ten
seconds. In "predict" the seconds are those of the whole process, the start of which takes most of
them for a small file; the rate is compared with that of DuckDB, which reads the whole table and
writes it again.

Where it falls short: pandas reads small files faster. How a file is written, whether it has a
header and what its columns hold is found out from its first thousand rows in Python, which takes
some milliseconds whatever the size. DuckDB is measured last, for what it leaves behind in memory
slows down whoever comes after it. A fit of a small table takes longer than the import of
scikit-learn beside it, most of which it needs, too. On the adult table most of the time of a fit is
that of the proof, which the peer does not look for.

In "predict, streaming" the same rows come once, four and eight times: the memory that it takes is
to stay the same.
"""


def answers(repeats: int) -> list[Table]:
    """``predict`` from format to format."""
    return command_large.answers(repeats, watched)


PARTS = {f.__name__: f for f in (reading, tables, streams, start, command_large.folds, answers)}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/command.json"))
    parser.add_argument("--report", type=Path, help="also write the tables as a page, here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [table for name in arguments.only for table in PARTS[name](arguments.repeats)]
    write_json(arguments.json, found)
    if arguments.report:
        write_report(arguments.json, arguments.report, INTRODUCTION)


if __name__ == "__main__":
    main()

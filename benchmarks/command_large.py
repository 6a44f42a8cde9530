"""The command on large tables: five folds beside scikit-learn's, answers beside DuckDB's copy."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.measure import Table, data_file, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable

N_NUMBERS = 20
EPOCHS = 10


def large_table(path: Path, n_rows: int) -> Path:
    """Numbers with three decimals, and a class that a hyperplane tells with some noise."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(n_rows).round(3) for j in range(N_NUMBERS)}
    noise = rng.standard_normal(n_rows)
    value = sum(columns.values(), noise)
    batch = columns | {"y": (value > 0).astype(np.int64)}
    connection = duckdb.connect()
    connection.register("batch", batch)
    form = "parquet" if path.suffix == ".parquet" else "csv"
    connection.execute(f"COPY (SELECT * FROM batch) TO '{path}' (FORMAT {form})")
    return path


def our_folds(path: Path) -> list[float]:
    """The scores of ``rosenblatt fit``, in this process."""
    from rosenblatt.cli.app import app

    printed = io.StringIO()
    options = ["--json", "--quiet", "--max-epochs", str(EPOCHS), "--order", "cyclic"]
    with redirect_stdout(printed), suppress(SystemExit):
        app(["fit", str(path), *options, "--keep", "last"], prog_name="rosenblatt")
    scores: list[float] = json.loads(printed.getvalue())["cross_validation"]
    return scores


def peers_folds(path: Path) -> Any:
    """The same with Polars, a pipeline of scikit-learn's and `cross_val_score`."""
    import polars as pl

    if path.suffix == ".parquet":
        frame = pl.read_parquet(path).to_pandas()
    else:
        cells = pl.read_csv(path, has_header=False, null_values=["?", " ?"])
        cells = cells.filter(pl.col(cells.columns[-1]).is_not_null())  # not the blank line
        texts = pl.col(pl.String).str.strip_chars().fill_null("(missing)")
        frame = cells.with_columns(texts).to_pandas()
    y, X = frame.iloc[:, -1].to_numpy(), frame.iloc[:, :-1]
    numbers = [name for name in X if X[name].dtype.kind in "if"]
    encoder = ColumnTransformer([
        ("numbers", StandardScaler(), numbers),
        ("texts", OneHotEncoder(handle_unknown="ignore"), [n for n in X if n not in numbers]),
    ])  # fmt: skip
    model = make_pipeline(encoder, Peer(shuffle=False, tol=None, max_iter=EPOCHS, n_jobs=-1))
    model.fit(X, y)  # as the command does, which also gives the model
    split = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(model, X, y, cv=split)


def folds(repeats: int) -> list[Table]:
    """``fit`` with its five folds, from the file to the scores."""
    table = Table(
        f"fit with five folds, {EPOCHS} epochs (seconds)",
        ["file              ", "ours", "peer ", "ours/peer", "score (ours, peer)"],
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [large_table(Path(folder, "1000000x20.parquet"), 1_000_000)]
        adult = data_file("adult-train.csv.gz")
        for path in [*files, *filter(None, [adult])]:
            times, (ours, peer) = side_by_side(
                lambda path=path: our_folds(path),
                lambda path=path: peers_folds(path),
                repeats=min(repeats, 3),
            )
            table.add(**{
                "file              ": path.name, "ours": times[0], "peer ": times[1],
                "ours/peer": times[0] / times[1],
                "score (ours, peer)": f"{np.mean(ours):.4f}, {np.mean(peer):.4f}",
            })  # fmt: skip
    return [table]


COPY = """
import sys, time, duckdb
given, written = sys.argv[1:]
began = time.perf_counter()
connection = duckdb.connect()
form = "FORMAT parquet" if written.endswith(".parquet") else "FORMAT csv"
connection.execute(f"COPY (SELECT * FROM '{given}') TO '{written}' ({form})")
print(time.perf_counter() - began, file=sys.stderr)
"""


def copied(given: Path, written: Path) -> float:
    """Seconds that DuckDB takes to read a table and write it again."""
    command = [sys.executable, "-c", COPY, str(given), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1])


def answers(repeats: int, watched: Callable[..., tuple[float, float]]) -> list[Table]:
    """``predict`` from format to format, beside a plain copy of the table by DuckDB."""
    table = Table(
        "predict, 20 number columns",
        ["rows   ", "from ", "to     ", "seconds", "rows/s   ", "peak MB", "rate/copy's"],
    )
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "m.skops")
        small = large_table(Path(folder, "small.parquet"), 10_000)
        watched("fit", small, "-q", "-o", model, "--cv", 0, "--max-epochs", 1)
        for n_rows, given, written in (
            (2_000_000, "parquet", "parquet"), (8_000_000, "parquet", "parquet"),
            (1_000_000, "csv", "csv"), (4_000_000, "csv", "csv"),
        ):  # fmt: skip
            path = large_table(Path(folder, f"big.{given}"), n_rows)
            out = Path(folder, f"out.{written}")
            runs = []
            for _ in range(min(repeats, 3)):
                seconds, peak = watched("predict", model, path, "-q", "-o", out)
                runs.append((seconds, peak, copied(path, out)))
            seconds, peak, plain = np.median(runs, axis=0)
            table.add(**{
                "rows   ": n_rows, "from ": given, "to     ": written, "seconds": float(seconds),
                "rows/s   ": float(n_rows / seconds), "peak MB": float(peak),
                "rate/copy's": float(plain / seconds),
            })  # fmt: skip
            path.unlink()
    return [table]

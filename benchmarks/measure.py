"""Timing, tables and data for the benchmarks."""

from __future__ import annotations

import gzip
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def side_by_side(*tasks: Callable[[], Any], repeats: int = 5) -> tuple[list[float], list[Any]]:
    """Median seconds of each task and its last result; the tasks take turns."""
    times: list[list[float]] = [[] for _ in tasks]
    results: list[Any] = [None for _ in tasks]
    for _ in range(repeats):
        for k, task in enumerate(tasks):
            began = time.perf_counter()
            results[k] = task()
            times[k].append(time.perf_counter() - began)
    return [statistics.median(t) for t in times], results


def bandwidth() -> float:
    """Bytes per second that ``X @ w`` reads from a matrix far larger than the caches."""
    X, w = np.ones((2_000_000, 32)), np.ones(32)
    (seconds,), _ = side_by_side(lambda: X @ w, repeats=9)
    return X.nbytes / seconds


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    from importlib.metadata import version

    names = ("numpy", "scipy", "numba", "scikit-learn")
    return {
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "bandwidth_GB_per_s": round(bandwidth() / 1e9, 1),
        **{name: version(name) for name in names},
    }


def data_file(name: str) -> Path | None:
    """A file of the folder ROSENBLATT_DATA, if there is one."""
    folder = os.environ.get("ROSENBLATT_DATA")
    path = Path(folder, name) if folder else None
    return path if path is not None and path.exists() else None


def load_svmlight(name: str) -> tuple[Any, Any] | None:
    """A sparse data set with 32-bit indices, or None."""
    from sklearn.datasets import load_svmlight_file

    path = data_file(name)
    if path is None:
        return None
    X, y = load_svmlight_file(str(path))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def load_mnist() -> tuple[Any, Any] | None:
    """The 60 000 training digits, pixels from 0 to 1, or None."""
    images = data_file("mnist-train-images-idx3-ubyte.gz")
    labels = data_file("mnist-train-labels-idx1-ubyte.gz")
    if images is None or labels is None:
        return None
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    y = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    return pixels.reshape(-1, 784) / 255.0, y


class Table:
    """Rows that are printed as they come and kept for the JSON file."""

    def __init__(self, title: str, columns: list[str]) -> None:
        self.title, self.columns = title, columns
        self.rows: list[dict[str, Any]] = []
        print(f"\n{title}\n{'-' * len(title)}")
        print("  ".join(columns))

    def add(self, **row: Any) -> None:
        """Print a row; values in the order of the columns."""
        self.rows.append(row)
        cells = [self._text(row.get(name, "")) for name in self.columns]
        print(
            "  ".join(c.ljust(len(n)) for c, n in zip(cells, self.columns, strict=True)), flush=True
        )

    @staticmethod
    def _text(value: Any) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_json(path: Path, tables: list[Table]) -> None:
    """All tables with a description of the machine."""
    body = {"machine": machine(), "tables": {t.title: t.rows for t in tables}}
    temporary = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_text(json.dumps(body, indent=1, default=str) + "\n")
    temporary.replace(path)
    print(f"\nwritten: {path}")


def write_report(results: Path, report: Path, introduction: str) -> None:
    """Turn a JSON file of results into a page of tables."""
    body = json.loads(results.read_text())
    lines = [introduction.strip(), "", "Measured on: " + _facts(body["machine"]) + "."]
    for title, rows in body["tables"].items():
        columns = list(rows[0]) if rows else []
        lines += ["", f"## {title}", ""]
        lines += [_line(name.strip() for name in columns), _line("---" for _ in columns)]
        lines += [_line(Table._text(row.get(name, "")) for name in columns) for row in rows]
    report.write_text("\n".join(lines) + "\n")
    print(f"written: {report}")


def _facts(facts: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items())


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"

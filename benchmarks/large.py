"""Large in memory: how long fits, answers and verdicts take there, and what memory beside X.

``python -m benchmarks.large --rows 100_000_000 --features 10`` makes a dense matrix of float32 on
the spot, block by block. ``--entries 300_000_000`` makes a CSR matrix instead, with that many
stored numbers and 64-bit indices. ``--repeated`` has the same rows over and over in the same
memory, so that a matrix with more entries than 32-bit indices can number needs room for few of
them; and as a fit to it is a fit to the few rows for many epochs, its weights are known.

Rows of two classes that a hyperplane separates by a margin of 0.05, and the same rows with one
label in a thousand turned around. "extra" is the most memory beyond X and y (what belongs to no
file, RssAnon) that a task took at any time, and "per row" the same divided by the rows.
"""

from __future__ import annotations

import argparse
import ctypes
import mmap
import os
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rosenblatt as rb
from benchmarks.measure import Table
from benchmarks.stream import watched
from rosenblatt.data.rows import csr_of_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20  # rows made at a time
PER_ROW = 64  # stored entries
MARGIN = 0.05
SEED = 0


def dense(n: int, d: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Normal deviates, moved away from a hyperplane."""
    rng = np.random.default_rng(SEED)
    w = np.full(d, 1 / np.sqrt(d), np.float32)
    X, y = np.empty((n, d), np.float32), np.empty(n, np.int8)
    for a in range(0, n, BLOCK):
        part, labels = X[a : a + BLOCK], y[a : a + BLOCK]
        rng.standard_normal(out=part, dtype=np.float32)
        labels[:] = np.where(part @ w > 0, 1, -1)
        part += (1.01 * MARGIN * labels.astype(np.float32))[:, None] * w
    return X, y


def sparse(n: int, d: int) -> tuple[Any, NDArray[np.int8]]:
    """The same with entries at `PER_ROW` places in each row, one in each part of the columns."""
    rng = np.random.default_rng(SEED)
    data, indices = np.empty((n, PER_ROW), np.float32), np.empty((n, PER_ROW), np.int64)
    y, width = np.empty(n, np.int8), d // PER_ROW
    starts = np.arange(PER_ROW) * width
    for a in range(0, n, BLOCK // 16):
        part = slice(a, a + BLOCK // 16)
        indices[part] = starts + rng.integers(0, width, (len(y[part]), PER_ROW), np.int32)
        rng.standard_normal(out=data[part], dtype=np.float32)
        y[part] = np.where(data[part].sum(axis=1) > 0, 1, -1)
        data[part] += (1.01 * MARGIN * np.sqrt(d) / PER_ROW * y[part].astype(np.float32))[:, None]
    return csr(data.reshape(-1), indices.reshape(-1), d), y


def csr(data: NDArray[np.float32], indices: NDArray[np.int64], d: int) -> Any:
    """A matrix of these parts, none of which is copied."""
    starts = np.arange(0, len(data) + 1, PER_ROW, dtype=np.int64)
    return csr_of_parts(data, indices, starts, (len(starts) - 1, d))


def repeated(array: NDArray[Any], times: int) -> NDArray[Any]:
    """An array again and again, at addresses that all lead to the same memory."""
    assert array.nbytes % mmap.PAGESIZE == 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    total, anywhere, fixed = array.nbytes * times, 0x22, 0x11  # PRIVATE|ANONYMOUS, SHARED|FIXED
    start = libc.mmap(None, total, 0, anywhere, -1, 0)
    file = os.memfd_create("rows")
    os.truncate(file, array.nbytes)
    with mmap.mmap(file, array.nbytes) as place:
        place[:] = array.tobytes()
    for k in range(times):
        at = start + k * array.nbytes
        found = libc.mmap(at, array.nbytes, mmap.PROT_READ, fixed, file, 0)
        assert found == at, os.strerror(ctypes.get_errno())
    os.close(file)
    memory = (ctypes.c_char * total).from_address(start)
    return np.frombuffer(memory, array.dtype)


def with_noise(y: NDArray[np.int8]) -> NDArray[np.int8]:
    """The labels, one in a thousand turned around: in repeated rows the same ones each time."""
    other = y.copy()
    other[::1024] *= -1
    return other


def measure(X: Any, y: NDArray[np.int8], epochs: int, max_time: float, table: Table) -> list[Any]:
    """Fit, answer and judge; the models."""
    models = []
    for labels, kind in ((y, "separable"), (with_noise(y), "noisy")):
        model = rb.Perceptron(max_epochs=epochs)
        add(table, f"{kind}, fit", y, partial(model.fit, X, labels))
        found = add(table, f"{kind}, predict", y, partial(model.predict, X))
        errors = int((found != labels).sum())
        assert errors == model.n_errors_, (errors, model.n_errors_)
        table.add(task=f"{kind}, errors left", answer=errors)
        del found
        asked = partial(rb.separability, X, labels, max_time=max_time)
        verdict = add(table, f"{kind}, verdict", y, asked)
        table.add(task=f"{kind}, it is", answer=verdict.verdict.name)
        models.append(model)
    return models


def add(table: Table, name: str, y: Any, task: Any) -> Any:
    """Do a task and tell what it took."""
    found, seconds, megabytes = watched(task)
    per_row = megabytes * 1e6 / len(y)
    table.add(task=name, seconds=seconds, extra_MB=megabytes, per_row=per_row)
    return found


def main() -> None:
    """Make the matrix, and ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--features", type=int)
    parser.add_argument("--entries", type=int, help="of a CSR matrix")
    parser.add_argument("--repeated", type=int, default=1, help="the same rows so many times")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--max-time", type=float, default=120.0, help="seconds for a verdict")
    asked = parser.parse_args()
    how = asked.epochs, asked.max_time
    warnings.simplefilter("ignore")  # what is left undone is told
    columns = ["task", "seconds", "extra_MB", "per_row", "answer"]
    if asked.entries is None:
        d = asked.features or 10
        X, y = dense(asked.rows, d)
        measure(X, y, *how, Table(f"{asked.rows:,} x {d} float32", columns))
        return
    d = asked.features or 1024
    X, y = sparse(asked.entries // PER_ROW // asked.repeated, d)
    few, few_labels = X, y
    if asked.repeated > 1:
        y = np.tile(y, asked.repeated)
        X = csr(repeated(X.data, asked.repeated), repeated(X.indices, asked.repeated), d)
    table = Table(f"{X.shape[0]:,} x {d} in CSR form, {X.nnz:,} entries", columns)
    models = measure(X, y, *how, table)
    for model, labels in zip(models, (few_labels, with_noise(few_labels)), strict=True):
        again = rb.Perceptron(max_epochs=asked.epochs * asked.repeated).fit(few, labels)
        same = np.array_equal(again.coef_, model.coef_)
        table.add(task="weights of the few rows", answer="the same" if same else "others")


if __name__ == "__main__":
    main()

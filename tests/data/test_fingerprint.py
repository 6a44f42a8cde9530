"""A fingerprint of the data: the same however they come, another if a single bit differs."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.data.fingerprint import fingerprint
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.running import threads
from rosenblatt.running.threads import Team

FACTOR = np.array([[1.0, 2.0], [0.5, 1.0]])


def table(n=700, d=5, kind=np.float64):
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (n, d)).astype(kind)
    return X, rng.integers(0, 2, n).astype(np.int32), rng.random(n)


def of(X, y, weight=None, factor=None, block_size=None, jobs=1, more=()):
    source = MemorySource(as_rows(X), y, X.shape[1], weight, factor, block_size)
    with Team(jobs) as team:
        return fingerprint(source, team, *more)


def naive(X, y, weight, factor):
    """The definition in Python's own integers, by columns that are not zero in a sparse matrix."""
    whole = 2**64

    def mixed(x):
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % whole
        x = (x ^ x >> 27) * 0x94D049BB133111EB % whole
        return x ^ x >> 31

    sums = [0, 0]
    dense = isinstance(X, np.ndarray)
    for i, label in enumerate(y.tolist()):
        if dense:
            entries = list(enumerate(X[i]))
        else:
            part = slice(X.indptr[i], X.indptr[i + 1])
            entries = list(zip(X.indices[part].tolist(), X.data[part], strict=True))
        ones = [
            mixed((int(np.float64(x).view(np.uint64)) + 0x9E3779B97F4A7C15 * (j + 1)) % whole)
            for j, x in entries
        ]
        first = sum(ones) % whole
        second = sum((x ^ x >> 31) * 0xD6E8FEB86659FD93 for x in ones) % whole
        own = mixed((label + 0x9E3779B97F4A7C15 * (i + 1)) % whole)
        if weight is not None:
            own = mixed((own + int(weight[i].view(np.uint64))) % whole)
        sums = [(sums[0] + mixed((first + own) % whole)) % whole, (sums[1] + mixed(second ^ own))]
        sums[1] %= whole
    size = 0 if factor is None else factor.size
    head = np.array([*X.shape, dense, size, 0], "<i8").tobytes() + np.array(sums, "<u8").tobytes()
    tail = b"" if factor is None else factor.tobytes()
    return hashlib.blake2b(head + tail, digest_size=16).hexdigest()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_definition(sparse, weighted):
    X, y, weight = table(40)
    X = csr_array(X) if sparse else X
    weight, factor = (weight, FACTOR) if weighted else (None, None)
    assert of(X, y, weight, factor) == naive(X, y, weight, factor)


@pytest.mark.parametrize("sparse", [False, True])
def test_neither_blocks_nor_threads_nor_single_precision_matter(sparse, monkeypatch):
    monkeypatch.setattr(threads, "WORTHWHILE", 1)
    X, y, weight = table()
    found = {
        of(csr_array(X.astype(kind)) if sparse else X.astype(kind), y, weight, FACTOR, size, jobs)
        for kind in (np.float64, np.float32)
        for size in (None, 1, 255, 256, 600)
        for jobs in (1, 3)
    }
    assert len(found) == 1


def test_a_single_bit_matters():
    X, y, weight = table(30, 3)
    known = {of(X, y, weight, FACTOR)}

    def differs(*given, **more):
        found = of(*given, **more)
        assert found not in known
        known.add(found)

    for place in np.ndindex(X.shape):
        for bit in (0, 31, 51, 63):
            other = X.copy()
            other.view(np.uint64)[place] ^= np.uint64(1 << bit)
            differs(other, y, weight, FACTOR)
    for i in range(len(y)):
        other = y.copy()
        other[i] = 1 - other[i]
        differs(X, other, weight, FACTOR)
        other = weight.copy()
        other.view(np.uint64)[i] ^= np.uint64(1)
        differs(X, y, other, FACTOR)
    differs(X, y, weight)
    differs(X, y, None, FACTOR)
    differs(X, y, weight, FACTOR * 2)
    differs(csr_array(X), y, weight, FACTOR)
    differs(X, y, weight, FACTOR, more=[np.arange(3.0)])
    differs(X, y, weight, FACTOR, more=[np.arange(1.0, 4.0)])


@pytest.mark.parametrize(
    "change",
    [
        lambda X: -X,
        lambda X: X * [-1, -1, 1, 1, 1],
        lambda X: X[:, [1, 0, 2, 3, 4]],
        lambda X: X[::-1],
        lambda X: X[[1, 0, *range(2, len(X))]],
        lambda X: X[:-1],
        lambda X: np.vstack([X, X[:1]]),
        lambda X: np.where(X == 0, -0.0, X),
    ],
    ids=["signs", "two signs", "columns", "turned", "two rows", "fewer", "more", "zeros"],
)
def test_other_data(change):
    X, y, _ = table()
    other = np.ascontiguousarray(change(X))
    labels = np.resize(y, len(other))
    assert of(other, labels) != of(X, y)


def test_explicit_zeros_of_a_sparse_matrix_count():
    """They have a place among the sums of a row, and so a say in how they are rounded."""
    X, y, _ = table(20)
    stored = csr_array(np.where(X == 0, 1.0, X))
    stored.data[(X == 0).ravel()] = 0.0
    assert of(stored, y) != of(csr_array(X), y)


def test_the_same_without_the_compiler():
    code = """
import numpy as np
from test_fingerprint import of, table, FACTOR
from scipy.sparse import csr_array
X, y, weight = table(20)
print(of(X, y, weight, FACTOR), of(csr_array(X), y))
"""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    command = [sys.executable, "-W", "error", "-c", code]
    plain = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    X, y, weight = table(20)
    assert plain.stdout.split() == [of(X, y, weight, FACTOR), of(csr_array(X), y)]

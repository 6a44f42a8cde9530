"""The speed of `rb.separability`, beside a linear-programming solver and beside `X @ w`.

``python -m benchmarks.separability`` prints tables and writes
``benchmarks/results/separability.json``. ``--only drawn real memory`` picks parts; ``--quick`` is
for trying the script; ``--patience`` is how many seconds each may take for one case.

The peer is ``scipy.optimize.linprog`` (HiGHS) on the whole question: is there a θ with ``Zθ >= 1``,
``z_i = y_i(x_i, 1)``? It tells whether there is a hyperplane that separates strictly, to within
its tolerances, and no more. Ours tells touching from overlapping too, and its time includes
checking the certificate, which `certify.check` does once more for a column of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import rosenblatt as rb
from benchmarks.measure import (
    Table,
    data_file,
    load_svmlight,
    side_by_side,
    write_json,
    write_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = tuple[str, Callable[[], tuple[Any, Any] | None], rb.Verdict | None]

CASE = "case" + " " * 28
COLUMNS = [CASE, "rows   ", "features", "verdict        ", "ours s", "linprog s", "ours/linprog",
           "ours/(X @ w)", "check s"]  # fmt: skip
PRODUCTS = 5  # X @ w is over so soon that it is measured several times in a row
SEPARABLE, INSEPARABLE = rb.Verdict.SEPARABLE, rb.Verdict.INSEPARABLE


# Data -----------------------------------------------------------------------------------------


def halves(n: int, d: int, flips: int, gap: float = 0.01, seed: int = 0) -> tuple[Any, Any]:
    """Normal points on either side of a hyperplane, a gap between them, some labels flipped."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1, -1)
    X += gap * np.outer(y, w)
    y[rng.choice(n, flips, replace=False)] *= -1
    return X, y


def core(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Three quarters normal points, the other class close to their mean, deep inside the hull."""
    rng = np.random.default_rng(seed)
    outer = rng.standard_normal((3 * n // 4, d))
    inner = outer.mean(axis=0) + 1e-6 * rng.standard_normal((n - len(outer), d))
    order = rng.permutation(n)
    y = np.repeat([1, -1], [len(outer), len(inner)])
    return np.vstack([outer, inner])[order], y[order]


def drawn_cases(quick: bool) -> Iterator[Case]:
    """Made-up data: name, how to make them, the verdict they are made for."""
    k = 20 if quick else 1
    for n, d in ((100_000 // k, 20), (1_000_000 // k, 20)):
        for flips, verdict in ((0, SEPARABLE), (4, INSEPARABLE), (n // 10, INSEPARABLE)):
            name = f"{n} x {d}, {flips} labels flipped" if flips else f"{n} x {d}, a gap of 0.02"
            yield name, lambda n=n, d=d, flips=flips: halves(n, d, flips), verdict  # type: ignore[misc]
    n, d = 4_000 // k, 2_000 // k
    yield f"{n} x {d}, a gap of 0.02", lambda: halves(n, d, 0), SEPARABLE
    yield f"{n} x {d}, one class inside", lambda: core(n, d), INSEPARABLE


def numbers(name: str, *, header: bool, first: int, positive: str) -> tuple[Any, Any] | None:
    """A table of numbers with the class in its last column."""
    path = data_file(name)
    if path is None:
        return None
    table = np.loadtxt(path, dtype=str, delimiter=",", skiprows=int(header))
    return table[:, first:-1].astype(np.float64), np.where(table[:, -1] == positive, 1, -1)


def covtype(rows: int | None) -> tuple[Any, Any] | None:
    """Forest cover, class 2 against the rest."""
    path = data_file("covtype.csv.gz")
    if path is None:
        return None
    table = np.loadtxt(path, delimiter=",", skiprows=1, max_rows=rows)
    return np.ascontiguousarray(table[:, :-1]), np.where(table[:, -1] == 2, 1, -1)


def real_cases(quick: bool) -> Iterator[Case]:
    """Data from the folder ROSENBLATT_DATA."""

    def plain(name: str, header: bool, first: int, positive: str) -> Any:
        return lambda: numbers(name, header=header, first=first, positive=positive)

    yield "sonar", plain("sonar.csv", False, 0, "M"), SEPARABLE
    yield "colon", plain("colon.csv.gz", True, 1, "Abnormal"), SEPARABLE
    yield "spambase", plain("spambase.data", False, 0, "1"), None
    yield "mushrooms", lambda: load_svmlight("agaricus.txt.train.gz"), SEPARABLE
    yield "a9a", lambda: load_svmlight("a9a.gz"), None
    yield "w8a", lambda: load_svmlight("w8a.gz"), None
    yield "covtype, 2 against the rest", lambda: covtype(20_000 if quick else None), None


# The peer -------------------------------------------------------------------------------------


def ask_linprog(X: Any, y: Any, patience: float) -> bool | str:
    """Whether linprog finds a separating hyperplane, or why it does not say."""
    if sparse.issparse(X):
        Z = sparse.hstack([X, np.ones((X.shape[0], 1))], format="csr")
        Z = sparse.diags_array(-y.astype(np.float64)) @ Z
    else:
        Z = -y[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])
    answer = linprog(
        np.zeros(X.shape[1] + 1), A_ub=Z, b_ub=-np.ones(X.shape[0]), bounds=(None, None),
        method="highs", options={"time_limit": patience},
    )  # fmt: skip
    return {0: True, 1: f"over {patience:g}", 2: False}.get(answer.status, "gave up")


# Tables ---------------------------------------------------------------------------------------


def measured(table: Table, case: Case, patience: float) -> None:
    """Add the row of one case; the verdicts must agree and the certificate must hold."""
    name, make, expected = case
    data = make()
    if data is None:
        print(f"{name}: skipped, set ROSENBLATT_DATA to a folder that holds it")
        return
    X, labels = data
    y = np.where(labels == np.max(labels), 1, -1)
    w = np.ones(X.shape[1], X.dtype)
    (once,), _ = side_by_side(lambda: rb.separability(X, y, max_time=patience), repeats=1)
    times, (found, _) = side_by_side(
        lambda: rb.separability(X, y, max_time=patience),
        lambda: [X @ w for _ in range(PRODUCTS)],
        repeats=5 if once < 1 else 1 if once > 10 else 3,
    )
    began = time.perf_counter()
    proved = rb.certify.check(found, X, y)
    checking = time.perf_counter() - began
    decided = found.verdict is not rb.Verdict.UNDECIDED
    assert proved.valid or not decided, proved.why
    assert not decided or expected in (None, found.verdict), f"{name} should be {expected}"
    (theirs,), (says,) = side_by_side(lambda: ask_linprog(X, y, patience), repeats=1)
    peer: dict[str, Any] = {"linprog s": says, "ours/linprog": ""}
    if not isinstance(says, str):
        # The certificate has been proved: where they differ, linprog's tolerances are to blame.
        wrong = ", and wrong" if decided and says != (found.verdict is SEPARABLE) else ""
        peer = {"linprog s": f"{theirs:.3g}{wrong}", "ours/linprog": times[0] / theirs}
    row = {"rows   ": X.shape[0], "features": X.shape[1], "verdict        ": found.verdict.name}
    row |= {"ours s": times[0], **peer, "ours/(X @ w)": times[0] / (times[1] / PRODUCTS)}
    table.add(**{CASE: name, **row, "check s": checking})


def drawn(quick: bool, patience: float) -> list[Table]:
    """Made-up data of both verdicts."""
    rb.separability(*halves(500, 5, 50))  # what is compiled is compiled now
    table = Table("Made-up data", COLUMNS)
    for case in drawn_cases(quick):
        measured(table, case, patience)
    return [table]


def real(quick: bool, patience: float) -> list[Table]:
    """Real data."""
    rb.separability(*halves(500, 5, 50))
    table = Table("Real data", COLUMNS)
    for case in real_cases(quick):
        measured(table, case, patience)
    return [table]


MEMORY = """
import pathlib, sys
from benchmarks.separability import halves
import rosenblatt as rb
def peak():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
n, flips = int(sys.argv[1]), int(sys.argv[2])
rb.separability(*halves(500, 5, 0)), rb.separability(*halves(500, 5, 50))
X, y = halves(n, 20, flips)
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
before = peak()
found = rb.separability(X, y)
after = peak()
print(X.nbytes, after - before, found.verdict.name)
"""


def memory(quick: bool, patience: float) -> list[Table]:
    """What is needed beyond X itself."""
    n = 50_000 if quick else 1_000_000
    table = Table(
        f"Memory for {n} x 20 (MB)", ["verdict        ", "X    ", "more at the peak", "share"]
    )
    for flips in (0, n // 10):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(n), str(flips)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        size, more, verdict = done.stdout.split()
        row = {"X    ": float(size) / 1e6, "more at the peak": float(more) / 1e6}
        table.add(**{"verdict        ": verdict, **row, "share": float(more) / float(size)})
    return [table]


INTRODUCTION = """
# Benchmarks of separability

Made by `python -m benchmarks.separability --report docs/benchmarks/separability.md`, with
`ROSENBLATT_DATA` naming a folder that holds the real data. `ours s` is the time of
`rb.separability`, validation and check of the certificate included, the median of several runs.
The peer is `scipy.optimize.linprog` (HiGHS), asked once for a θ with `Zθ >= 1`. It can only say
whether the classes are strictly separable, and only to within its tolerances; where a checked
certificate proves it wrong, that is noted. `ours/linprog` is the ratio of the times: 0.1 means ten
times as fast. `ours/(X @ w)` is in units of one product of the data with a vector: what reading
them costs at least. `check s` is the time of `rb.certify.check` alone. Where the classes touch,
linprog may be sooner done: a pair of identical rows ends its work, while ours has to find and prove
which rows every hyperplane without a row on its wrong side must hold.
"""

PARTS = {f.__name__: f for f in (drawn, real, memory)}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="small data, to try the script")
    parser.add_argument(
        "--patience", type=float, default=600, help="most seconds per case, for each"
    )
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/separability.json"))
    parser.add_argument("--report", type=Path, help="also write the tables as a page, here")
    arguments = parser.parse_args()
    tables = [
        table
        for name in arguments.only
        for table in PARTS[name](arguments.quick, arguments.patience)
    ]
    write_json(arguments.json, tables)
    if arguments.report:
        write_report(arguments.json, arguments.report, INTRODUCTION)


if __name__ == "__main__":
    main()

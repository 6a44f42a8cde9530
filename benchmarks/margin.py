"""The speed of the maximum and the soft margin, beside other solvers at equal quality.

``python -m benchmarks.margin`` prints tables and merges them into
``benchmarks/results/margin.json``. ``--only hard soft growth qp`` picks parts, ``--case a9a`` the
cases with this in their name, ``--peer SVC`` the peers; ``--quick`` is for trying the script;
``--patience`` is how many seconds one run of a peer may take. ``--report`` turns all that has been
measured so far into a page; with ``--only`` and nothing after it, nothing is measured.

Every answer, ours too, is judged by its ``w`` alone, with the bias that is best for it: by how much
is its objective above the dual value that our multipliers prove? Of its settings, a peer is given
the one that reaches a gap in the shortest time.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import (
    Table,
    key_the_cache_by_sources,
    machine,
    side_by_side,
    write_report,
)

key_the_cache_by_sources()

import numpy as np  # noqa: E402

import rosenblatt as rb  # noqa: E402
from benchmarks import margin_qp  # noqa: E402
from benchmarks.margin_data import hard_cases, soft_cases  # noqa: E402
from benchmarks.margin_peers import PEERS, Problem, Run, quickest, try_all  # noqa: E402
from benchmarks.margin_picture import draw  # noqa: E402
from benchmarks.separability import halves  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

GAPS = (1e-4, 1e-6)
TIGHT = 1e-9  # the gap of the dual value that all are judged by
PRICES = (0.01, 1.0, 100.0)  # C/N
PRODUCTS = 5  # X @ w is over so soon that it is measured several times in a row
OURS = "rosenblatt"
HARD, SOFT, GROWTH = "Hard margin, every solver", "Soft margin, every solver", "Growth"
KEYS = ("case", "C/N", "features", "rows", "solver", "size")  # what tells rows of a table apart
COLUMNS = ["case" + " " * 16, "C/N ", "solver    ", "to 1e-4 s", "peer/ours", "to 1e-6 s",
           "peer/ours ", "objective    ", "shortfall", "ours/(X @ w)", "setting"]  # fmt: skip


# Ours -----------------------------------------------------------------------------------------


def fitted(problem: Problem, tol: float, max_time: float) -> Any:
    """Our classifier, fitted."""
    model: Any = (
        rb.MaxMarginClassifier(tol=tol, max_time=max_time)
        if problem.price is None
        else rb.SoftMarginClassifier(C=problem.price * len(problem.y), tol=tol, max_time=max_time)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap that was reached is in the table
        return model.fit(problem.X, problem.y)


def proved(problem: Problem, patience: float) -> float:
    """The dual value that all are judged by, checked."""
    optimum = fitted(problem, TIGHT, 5 * patience).optimum_
    check = rb.certify.check(optimum, problem.X, problem.y)
    assert check.valid, check.why
    return float(optimum.dual)


def our_runs(problem: Problem, dual: float, gaps: tuple[float, ...], patience: float) -> list[Run]:
    """One run for each gap."""
    runs = []
    for gap in gaps:
        (once,), (model,) = side_by_side(lambda gap=gap: fitted(problem, gap, patience), repeats=1)
        if once < 5:
            (once,), (model,) = side_by_side(
                lambda gap=gap: fitted(problem, gap, patience), repeats=5 if once < 1 else 3
            )
        w = model.coef_.ravel()
        short = problem.shortfall(w, dual)
        runs.append(Run(f"tol={gap:g}", once, problem.objective(w), short))
    return runs


# Tables ---------------------------------------------------------------------------------------


def measured(
    table: Table, problem: Problem, names: dict[str, Any], patience: float, peers: list[str]
) -> list[dict[str, Any]]:
    """Add the rows of one problem, ours first; returns every single run."""
    dual = proved(problem, patience)
    hard = problem.price is None
    runs = our_runs(problem, dual, (1e-8,) if hard else GAPS, patience)
    w = np.ones(problem.X.shape[1])
    (product,), _ = side_by_side(lambda: [problem.X @ w for _ in range(PRODUCTS)])
    ours = {gap: quickest(runs, gap, patience) for gap in GAPS}
    last = runs[-1].seconds or patience
    row = {**names, "solver    ": OURS, **_cells(runs, ours, {}, patience)}
    table.add(**{**row, "ours/(X @ w)": last / (product / PRODUCTS)})
    kept = [{**names, "solver": OURS, **run._asdict()} for run in runs]
    times = {gap: run.seconds for gap, run in ours.items() if run is not None}
    for peer in PEERS:
        if not peer.installed or (peers and peer.name not in peers):
            continue
        runs = try_all(peer, problem, dual, min(GAPS), patience)
        reached = {gap: quickest(runs, gap, patience) for gap in GAPS}
        row = {**names, "solver    ": peer.name, **_cells(runs, reached, times, patience)}
        table.add(**row)
        kept += [{**names, "solver": peer.name, **run._asdict()} for run in runs]
    return kept


def _cells(
    runs: list[Run], reached: dict[float, Run | None], ours: dict[float, Any], patience: float
) -> dict[str, Any]:
    """Times to the gaps, as ratios too, and the best that was reached at all."""
    cells: dict[str, Any] = {}
    for gap, name, ratio in ((GAPS[0], "to 1e-4 s", "peer/ours"),
                             (GAPS[1], "to 1e-6 s", "peer/ours ")):  # fmt: skip
        run = reached[gap]
        over = "" if run is not None else ">"
        seconds = patience if run is None or run.seconds is None else run.seconds
        cells[name] = f"{over}{seconds:.3g}"
        times = seconds / ours[gap] if gap in ours else None
        cells[ratio] = "" if times is None else f"{over}{times:.3g}"
    best = reached[GAPS[1]] or reached[GAPS[0]] or min(runs, key=lambda run: run.shortfall)
    known = np.isfinite(best.objective)
    cells["objective    "] = f"{best.objective:.9g}" if known else "none"
    cells["shortfall"] = f"{max(best.shortfall, 0.0):.2g}" if known else ""
    cells["ours/(X @ w)"] = ""
    cells["setting"] = best.setting + (", cut short" if best.cut else "") if known else ""
    return cells


def chosen(cases: Iterator[Any], wanted: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Names and data of the cases asked for that are there."""
    for name, make in cases:
        if wanted and not any(part in name for part in wanted):
            continue
        data = make()
        if data is None:
            print(f"{name}: skipped, set ROSENBLATT_DATA to a folder that holds it")
            continue
        X, labels = data
        yield name, X, np.where(labels == np.max(labels), 1.0, -1.0)


def hard(options: argparse.Namespace) -> Iterator[Table]:
    """The maximum margin of separable data; ours to a gap of 1e-8 throughout."""
    table = Table(HARD, [name for name in COLUMNS if name != "C/N "])
    for name, X, y in chosen(hard_cases(options.quick), options.case):
        names = {COLUMNS[0]: name}
        table.runs = measured(table, Problem(X, y), names, options.patience, options.peer)  # type: ignore[attr-defined]
        yield table


def soft(options: argparse.Namespace) -> Iterator[Table]:
    """The soft margin, to two gaps and with three prices of slack."""
    table = Table(SOFT, COLUMNS)
    for name, X, y in chosen(soft_cases(options.quick), options.case):
        for price in PRICES:
            names = {COLUMNS[0]: name, "C/N ": price}
            problem = Problem(X, y, price)
            table.runs = measured(table, problem, names, options.patience, options.peer)  # type: ignore[attr-defined]
            yield table

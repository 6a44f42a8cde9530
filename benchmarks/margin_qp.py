"""The small problems under every margin: our interior-point method beside three solvers of QPs."""

from __future__ import annotations

import statistics
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.margin_peers import Problem, program
from benchmarks.margin_results import OURS
from benchmarks.measure import Table, side_by_side
from benchmarks.separability import halves
from rosenblatt.nearest.hulls import shortest_sum

if TYPE_CHECKING:
    import argparse

    from benchmarks.margin_results import Results

SMALL = "Small problems: the nearest points of two hulls"
SIZES = ((300, 20), (500, 50), (1000, 200), (2000, 500))
TOL = 1e-9
SETS = 5  # random working sets of each size


def ours(problem: Problem) -> Any:
    """The dual: weights of the samples, each class sums to 1."""
    Z = problem.y[:, np.newaxis] * problem.X
    groups = np.column_stack([problem.y > 0, problem.y < 0]).astype(np.float64)
    return lambda: shortest_sum(Z, groups, tol=TOL).theta


def piqp(problem: Problem) -> Any:
    """The primal, dense."""
    solve = import_module("piqp")
    P, q, G, h, _ = program(problem, dense=True)

    def run() -> Any:
        solver = solve.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = TOL
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = TOL
        solver.setup(P, q, None, None, G, None, h, None, None)
        solver.solve()
        return np.array(solver.result.x)[:-1]

    return run


def clarabel(problem: Problem) -> Any:
    """The primal, sparse because it knows nothing else."""
    solve = import_module("clarabel")
    P, q, G, h, _ = program(problem)

    def run() -> Any:
        options = solve.DefaultSettings()
        options.verbose = False
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = TOL
        cones = [solve.NonnegativeConeT(len(h))]
        return np.array(solve.DefaultSolver(P, q, G, h, cones, options).solve().x)[:-1]

    return run


def daqp(problem: Problem) -> Any:
    """The primal; a dual active-set method."""
    solve = import_module("daqp")
    P, q, G, h, _ = program(problem, dense=True)
    G = np.ascontiguousarray(G)

    def run() -> Any:
        found = solve.solve(P, q, G, h, np.full(len(h), -1e30), iter_limit=100_000)
        return np.array(found[0])[:-1]

    return run


SOLVERS = {OURS: ours, "PIQP": piqp, "Clarabel": clarabel, "DAQP": daqp}


def bound(problem: Problem) -> float:
    """The dual value of our weights, once each class of them sums to 1: no ``½‖w‖²`` is below."""
    Z = problem.y[:, np.newaxis] * problem.X
    groups = np.column_stack([problem.y > 0, problem.y < 0]).astype(np.float64)
    weights = shortest_sum(Z, groups, tol=1e-13).weights
    across = Z.T @ (weights / (groups @ (groups.T @ weights)))
    return float(2 / (across @ across))


def qp(options: argparse.Namespace, results: Results) -> None:
    """Milliseconds for random working sets, the median, and the largest shortfall."""
    columns = ["rows", "features", "solver    ", "ms     ", "peer/ours", "shortfall"]
    table = Table(SMALL, columns)
    wanted = [OURS, *(options.peer or SOLVERS)]
    names = [n for n in SOLVERS if n in wanted and (n == OURS or find_spec(n.lower()))]
    for n, d in SIZES[:2] if options.quick else SIZES:
        problems = [Problem(X, y.astype(np.float64)) for X, y in _sets(n, d)]
        times: dict[str, list[float]] = {name: [] for name in names}
        short: dict[str, list[float]] = {name: [] for name in names}
        for problem in problems:
            tasks = [SOLVERS[name](problem) for name in names]
            seconds, found = side_by_side(*tasks, repeats=3)
            dual = bound(problem)
            for name, spent, w in zip(names, seconds, found, strict=True):
                times[name].append(1e3 * spent)
                short[name].append(max(problem.shortfall(w, dual), 0.0))
        for name in names:
            ms = statistics.median(times[name])
            ratio: Any = "" if name == OURS else ms / statistics.median(times[OURS])
            row = dict(zip(columns, (n, d, name, ms, ratio, max(short[name])), strict=True))
            table.add(**row)
            results.put(SMALL, row)
    results.save()


def _sets(n: int, d: int) -> Any:
    return [halves(n, d, 0, seed=seed) for seed in range(SETS)]

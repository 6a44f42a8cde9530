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
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rosenblatt as rb
from benchmarks.margin_data import hard_cases, soft_cases
from benchmarks.margin_peers import PEERS, Problem, Run, quickest, try_all
from benchmarks.margin_picture import draw_growth
from benchmarks.margin_qp import SMALL, qp
from benchmarks.margin_results import OURS, Results
from benchmarks.measure import Table, side_by_side, write_report
from benchmarks.separability import halves

if TYPE_CHECKING:
    from collections.abc import Iterator

GAPS = (1e-4, 1e-6)
LINES = [OURS, *(peer.name for peer in PEERS)]
TIGHT = 1e-9  # the gap of the dual value that all are judged by
PRICES = (0.01, 1.0, 100.0)  # C/N
PRODUCTS = 5  # X @ w is over so soon that it is measured several times in a row
HARD, SOFT, GROWTH = "Hard margin, every solver", "Soft margin, every solver", "Growth"
CASE, PRICE = "case" + " " * 16, "C/N "
COLUMNS = [CASE, PRICE, "solver    ", "to 1e-4 s", "peer/ours", "to 1e-6 s",
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


class Measuring:
    """Measures problems with the options given, prints rows and keeps them."""

    def __init__(self, options: argparse.Namespace, results: Results, title: str) -> None:
        self.patience, self.wanted = options.patience, options.peer
        self.results, self.title = results, title
        self.peers = [
            peer
            for peer in PEERS
            if peer.installed and (not self.wanted or peer.name in self.wanted)
        ]
        self.table = Table(title, COLUMNS)

    def keep(self, names: dict[str, Any], solver: str, cells: dict[str, Any], runs: Any) -> None:
        """Print a row and write it down, with every run behind it."""
        row = {**names, "solver    ": solver, **cells}
        self.table.add(**row)
        self.results.put(self.title, row)
        self.results.put_runs(self.title, {**names, "solver": solver}, [r._asdict() for r in runs])

    def measure(self, names: dict[str, Any], problem: Problem) -> None:
        """The rows of one problem, ours first."""
        dual = proved(problem, self.patience)
        gaps = (*GAPS, 1e-8) if problem.price is None else GAPS
        runs = our_runs(problem, dual, gaps, self.patience)
        w = np.ones(problem.X.shape[1])
        (product,), _ = side_by_side(lambda: [problem.X @ w for _ in range(PRODUCTS)])
        ours = {gap: quickest(runs, gap, self.patience) for gap in GAPS}
        times = {gap: run.seconds for gap, run in ours.items() if run is not None}
        cells = _cells(runs, {}, self.patience)
        cells["ours/(X @ w)"] = (runs[-1].seconds or 0.0) / (product / PRODUCTS)
        self.keep(names, OURS, cells, runs)
        for peer in self.peers:
            runs = try_all(peer, problem, dual, min(GAPS), self.patience)
            self.keep(names, peer.name, _cells(runs, times, self.patience), runs)
        self.results.save()


def _cells(runs: list[Run], ours: dict[float, Any], patience: float) -> dict[str, Any]:
    """Times to the gaps, as ratios too, and the best that was reached at all."""
    cells: dict[str, Any] = {}
    reached = [quickest(runs, gap, patience) for gap in GAPS]
    for run, gap, name, ratio in zip(reached, GAPS, COLUMNS[3::2], COLUMNS[4::2], strict=False):
        over = "" if run is not None else ">"
        seconds = patience if run is None or run.seconds is None else run.seconds
        cells[name] = f"{over}{seconds:.3g}"
        cells[ratio] = f"{over}{seconds / ours[gap]:.3g}" if gap in ours else ""
    best = (reached[1] if ours else runs[-1]) or min(
        runs, key=lambda run: (run.shortfall, run.seconds is None)
    )
    there = best.seconds is not None
    cells["objective    "] = f"{best.objective:.9g}" if there else "none"
    cells["shortfall"] = f"{max(best.shortfall, 0.0):.2g}" if there else ""
    cells["ours/(X @ w)"] = ""
    cells["setting"] = best.setting + (", cut short" if best.cut else "") if there else ""
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


def hard(options: argparse.Namespace, results: Results) -> None:
    """The maximum margin of separable data; ours to a gap of 1e-8 too."""
    measuring = Measuring(options, results, HARD)
    for name, X, y in chosen(hard_cases(options.quick), options.case):
        measuring.measure({CASE: name}, Problem(X, y))


def soft(options: argparse.Namespace, results: Results) -> None:
    """The soft margin, to two gaps and with three prices of slack."""
    measuring = Measuring(options, results, SOFT)
    for name, X, y in chosen(soft_cases(options.quick), options.case):
        for price in PRICES:
            measuring.measure({CASE: name, PRICE: price}, Problem(X, y, price))


# Growth ---------------------------------------------------------------------------------------


def growth(options: argparse.Namespace, results: Results) -> None:
    """Time to a gap of 1e-6 as rows or features grow; who is too slow once is not asked again."""
    rows = [10**k * m for k in (3, 4, 5) for m in (1, 3)] + [10**6]
    features = [5, 10, 20, 50, 100, 200, 500, 1000]
    if options.quick:
        rows, features = rows[:3], features[:4]
    fixed = 2_000 if options.quick else 20_000
    table = Table(GROWTH, ["problem", "grows   ", "rows   ", "features", *LINES])
    for kind, flipped, price in (("hard", 0, None), ("soft", 10, 1.0)):
        if options.case and kind not in options.case:
            continue
        sweeps = [("rows", [(n, 20) for n in rows]), ("features", [(fixed, d) for d in features])]
        for grows, sizes in sweeps:
            follow_growth(options, results, table, (kind, grows), sizes, (flipped, price))


def follow_growth(
    options: argparse.Namespace, results: Results, table: Table, names: tuple[str, str],
    sizes: list[tuple[int, int]], kind: tuple[int, float | None],
) -> None:  # fmt: skip
    """One line of the picture for each solver."""
    flipped, price = kind
    gap = GAPS[1]
    following = [p for p in PEERS if p.installed and (not options.peer or p.name in options.peer)]
    asked = [peer.name for peer in following]
    for n, d in sizes:
        X, y = halves(n, d, n * flipped // 100)
        problem = Problem(X, y.astype(np.float64), price)
        dual = proved(problem, options.patience)
        row = {"problem": names[0], "grows   ": names[1], "rows   ": n, "features": d}
        row |= dict.fromkeys([OURS, *asked], "")
        ours = quickest(our_runs(problem, dual, (gap,), options.patience), gap, options.patience)
        row[OURS] = "" if ours is None else ours.seconds
        for peer in list(following):
            runs = try_all(peer, problem, dual, gap, options.patience)
            run = quickest(runs, gap, options.patience)
            row[peer.name] = "" if run is None else run.seconds
            following = [p for p in following if p is not peer or run is not None]
        table.add(**row)
        results.put(GROWTH, row)
        results.save()


# The page -------------------------------------------------------------------------------------

INTRODUCTION = """
# Benchmarks of the margin

Made by `python -m benchmarks.margin --report docs/benchmarks/margin.md`, with `ROSENBLATT_DATA`
naming a folder that holds the real data and `pip install "rosenblatt[bench]"` for the peers.

All solve the same problem, ½‖w‖² + C/N Σ slack with a bias that is not regularised, or the maximum
margin, and all are judged in the same way: from `w` alone, with the bias that is best for it, by
how far the objective is above the dual value that our multipliers prove and `rb.certify.check` has
checked. `shortfall` is (objective − dual)/objective; for the maximum margin the objective is 1/(2
margin²). `to 1e-4 s` is the time until the shortfall is at most 1e-4. For a peer many settings are
tried, from loose to strict, and the one that gets there first counts; a time with `>` means that no
run got there in so many seconds, and then the shortfall is the best of all that it returned.
`peer/ours` is the ratio of the times: 10 means that we are ten times as fast. Ours is a whole fit:
input checked, multipliers and proof included; our objective, shortfall and `ours/(X @ w)`, the time
in units of one product of the data with a vector, are those of the smaller gap, and of 1e-8 for
maximum margins. Peers are not charged for bringing the data into the form that they want.

The peers: `SVC(kernel="linear")` (LIBSVM) with a cache of 4 GB, whose kernel values are 32-bit
floats, so that small gaps may be out of its reach; `LinearSVC(loss="hinge")` (LIBLINEAR) with
`intercept_scaling` from 1 to 100, because it regularises the bias; PIQP and Clarabel on the whole
quadratic program; skglm's `LinearSVC`, which has no bias, with one more column. Ours uses all cores
where that helps, the peers use one. A peer begins no further setting when it has used up twice the
time that one run may take; "cut short" are answers of a run that was told to stop after as many
iterations as fit into that time.

Maximum margins are found on working sets, and small sets are solved by an interior-point method of
our own. The table of small problems has it beside three solvers of quadratic programs. On the
smallest, as 300 × 20, DAQP and PIQP are faster, but such a set is a few milliseconds of a fit; from
1000 × 200 on they are level with it. It is kept because it also returns the weights that prove it
when the hulls meet, and takes working sets of any width.
"""

PICTURE = """
![Time against the number of rows and of features](margin-growth.png)

Made-up data as in the tables. A line ends where a solver needs more than the patience for the next
size, or does not come within a gap of 1e-6 at all.
"""

PARTS = {f.__name__: f for f in (hard, soft, growth, qp)}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--case", nargs="+", default=[], help="parts of the names of the cases")
    parser.add_argument("--peer", nargs="+", default=[], choices=[*LINES[1:], "DAQP"])
    parser.add_argument("--quick", action="store_true", help="small data, to try the script")
    parser.add_argument("--patience", type=float, default=60, help="most seconds for one run")
    parser.add_argument("--json", type=Path, help="where results are merged")
    parser.add_argument("--report", type=Path, help="also write the tables as a page, here")
    options = parser.parse_args()
    name = "margin-quick.json" if options.quick else "margin.json"
    results = Results(options.json or Path("benchmarks/results") / name)
    for peer in PEERS:
        if not peer.installed:
            print(f'{peer.name}: not installed, left out (pip install "rosenblatt[bench]")')
    fitted(Problem(*halves(500, 5, 0)), 1e-6, 60)  # what is compiled is compiled now
    fitted(Problem(*halves(500, 5, 50), 1.0), 1e-6, 60)
    for part in options.only:
        PARTS[part](options, results)
    results.save()
    if options.report:
        for title, summary, cases in ((HARD, "Hard margin", hard_cases),
                                      (SOFT, "Soft margin", soft_cases)):  # fmt: skip
            results.summarise(title, summary, [c[0] for c in cases(options.quick)], COLUMNS[3:7:2])
        results.arrange(["Hard margin", "Soft margin", HARD, SOFT, SMALL, GROWTH])
        results.save()
        grown = results.rows(GROWTH)
        write_report(results.path, options.report, INTRODUCTION + (PICTURE if grown else ""))
        draw_growth(grown, options.report.with_name("margin-growth.png"))


if __name__ == "__main__":
    main()

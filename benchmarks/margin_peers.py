"""The peers of `benchmarks.margin`: how each is called, at its best, and never for too long.

A peer has tracks of settings, each track from loose to strict. Every setting runs in a forked
child that is ended when the patience is over; the clock is read inside the child, after the data
are in the form that the peer wants, so that forking and converting cost it nothing.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Solve = Callable[[int | None], tuple[Any, int]]

MEMORY = 14 * 2**30  # bytes for one child: a peer that wants more fails alone
HARD = 1e10  # a price of slack that nobody pays
MANY = 2**31 - 1
BUDGET = 2  # no setting is begun when so many patiences have gone into a peer
SHORT, REPEATS = 0.5, 5  # runs that take less are repeated, and the median counts


# Problems -------------------------------------------------------------------------------------


@dataclass
class Problem:
    """Data, labels 1 and -1, and the price of slack of one sample; no price: the hard margin."""

    X: Any
    y: Any
    price: float | None = None

    def objective(self, w: Any) -> float:
        """The value of ``w`` with the bias that is best for it.

        Soft margin: ``½‖w‖² + price Σ max(0, 1 - y(w·x + b))``, least where as many kinks lie to
        the left of b as there are positive samples. Hard margin: ``1/(2 margin²)``, what ``½‖w‖²``
        is when the direction is scaled to canonical form; infinite if it does not separate.
        """
        values = self.X @ w
        positive = self.y > 0
        if self.price is None:
            width = (values[positive].min() - values[~positive].max()) / np.linalg.norm(w)
            return float(2 / width**2) if width > 0 else float("inf")
        kinks, k = self.y - values, int(positive.sum())
        b = np.partition(kinks, k - 1)[k - 1]
        slack = np.maximum(0, 1 - self.y * (values + b))
        return float(w @ w / 2 + self.price * slack.sum())

    def shortfall(self, w: Any, dual: float) -> float:
        """``(objective - dual)/objective``: 0 for the best, 1 if nothing is separated."""
        reached = self.objective(w) if np.isfinite(w).all() and w.any() else float("inf")
        return 1.0 if reached == float("inf") else (reached - dual) / reached


# One run --------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """A name, and what returns ``w`` and how many iterations that took, at most as many as told."""

    name: str
    solve: Solve


class Run(NamedTuple):
    """What came of a setting; seconds are None if it was ended, or failed."""

    setting: str
    seconds: float | None
    objective: float
    shortfall: float
    cut: bool = False


def limited(task: Callable[[], Any], seconds: float) -> tuple[float, Any] | None:
    """Seconds of the task and its result, or None if it takes much longer or fails."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_work, args=(task, there))
    child.start()
    there.close()
    try:
        # Runs that are repeated need more time, and what comes a little late is still of interest.
        answer = here.recv() if here.poll(1.25 * seconds + 1) else None
    except EOFError:
        answer = None
    child.kill()
    child.join()
    return answer


def _work(task: Callable[[], Any], there: Any) -> None:
    """Run the task and send what came of it; to be called in a child."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    times: list[float] = []
    try:
        while not times or (len(times) < REPEATS and sum(times) < SHORT):
            began = time.perf_counter()
            result = task()
            times.append(time.perf_counter() - began)
    except Exception as error:
        print(f"  failed: {type(error).__name__}: {error}".splitlines()[0][:100])
        there.close()
        return
    there.send((statistics.median(times), result))


# Many runs ------------------------------------------------------------------------------------


@dataclass
class Peer:
    """A name, the package it needs, its tracks of settings, and how long a trial run is."""

    name: str
    package: str
    tracks: Callable[[Problem, float], list[list[Setting]]]
    trial: int
    prepare: Callable[[], None] = field(default=lambda: None)

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return find_spec(self.package) is not None


class Trials:
    """All runs of one peer on one problem, until the smallest gap is reached or time is up."""

    def __init__(self, problem: Problem, dual: float, gap: float, patience: float) -> None:
        self.problem, self.dual, self.gap, self.patience = problem, dual, gap, patience
        self.runs: list[Run] = []
        self.spent = 0.0
        self.ended: Setting | None = None  # the first that ran out of patience

    def best(self) -> float:
        """The shortest time in which the gap was reached so far, or the patience."""
        reached = [
            r.seconds for r in self.runs if r.seconds is not None and r.shortfall <= self.gap
        ]
        return min([*reached, self.patience])

    def run(self, setting: Setting, cut: int | None = None) -> tuple[Run, int]:
        """Try a setting for as long as it can still be of use."""
        limit = self.best() if cut is None else 1.5 * self.patience
        began = time.perf_counter()
        got = limited(lambda: setting.solve(cut), limit)
        self.spent += time.perf_counter() - began
        if got is None:
            run, effort = Run(setting.name, None, float("inf"), 1.0, cut is not None), 0
        else:
            seconds, (w, effort) = got
            objective, shortfall = self.problem.objective(w), self.problem.shortfall(w, self.dual)
            run = Run(setting.name, seconds, objective, shortfall, cut is not None)
        self.runs.append(run)
        return run, effort

    def follow(self, track: list[Setting]) -> None:
        """From loose to strict, as long as that helps."""
        best, in_vain = 1.01, 0
        for setting in track:
            if self.spent > BUDGET * self.patience:
                return
            run, _ = self.run(setting)
            late = run.seconds is None or run.seconds > self.patience
            self.ended = self.ended or (setting if late else None)
            if late or run.shortfall <= self.gap:
                return
            if run.shortfall < 1:  # what does not even separate the classes may do so next time
                in_vain = 0 if run.shortfall < 0.9 * best else in_vain + 1
            if in_vain == 2:  # the settings have come to the end of what they can do
                return
            best = min(best, run.shortfall)

    def cut_short(self, trial: int) -> None:
        """What the first setting that took too long has when the patience is over."""
        if self.ended is None or not trial or self.best() < self.patience:
            return
        setting = self.ended
        run, effort = self.run(setting, trial)
        if run.seconds and effort:
            most = int(effort * self.patience / run.seconds)
            if most > effort:
                self.run(setting, most)


def try_all(peer: Peer, problem: Problem, dual: float, gap: float, patience: float) -> list[Run]:
    """All that a peer can do for a problem."""
    peer.prepare()
    trials = Trials(problem, dual, gap, patience)
    for track in peer.tracks(problem, patience):
        trials.follow(track)
    trials.cut_short(peer.trial)
    return trials.runs


def quickest(runs: Sequence[Run], gap: float, patience: float) -> Run | None:
    """The run that was the first to reach a gap."""
    reached = [
        r for r in runs if r.seconds is not None and r.seconds <= patience and r.shortfall <= gap
    ]
    return min(reached, key=lambda r: r.seconds or 0.0, default=None)


# The peers ------------------------------------------------------------------------------------


def _tens(first: int, last: int) -> list[float]:
    return [10.0**-k for k in range(first, last + 1)]


def _svc(problem: Problem, patience: float) -> list[list[Setting]]:
    from sklearn.svm import SVC

    def setting(tol: float) -> Setting:
        def solve(cut: int | None) -> tuple[Any, int]:
            model = SVC(
                kernel="linear", C=problem.price or HARD, tol=tol, cache_size=4000,
                max_iter=-1 if cut is None else cut,
            ).fit(problem.X, problem.y)  # fmt: skip
            w = model.coef_
            return np.ravel(w.toarray() if sparse.issparse(w) else w), int(np.max(model.n_iter_))

        return Setting(f"tol={tol:g}", solve)

    return [[setting(tol) for tol in _tens(1, 8)]]


def _linear_svc(problem: Problem, patience: float) -> list[list[Setting]]:
    from sklearn.svm import LinearSVC

    def setting(scaling: float, tol: float) -> Setting:
        def solve(cut: int | None) -> tuple[Any, int]:
            model = LinearSVC(
                loss="hinge", C=problem.price or HARD, tol=tol, intercept_scaling=scaling,
                max_iter=MANY if cut is None else cut, random_state=0,
            ).fit(problem.X, problem.y)  # fmt: skip
            return model.coef_.ravel(), int(model.n_iter_)

        return Setting(f"intercept_scaling={scaling:g}, tol={tol:g}", solve)

    return [[setting(scaling, tol) for tol in _tens(1, 7)] for scaling in (1, 10, 3, 30, 100)]


class Program(NamedTuple):
    """``½uᵀPu + q·u`` with ``Gu <= h``, and the variables after the first `free` at least 0.

    The variables are w, b and, if slack has a price, the slacks. As many of the constraints as
    there are samples, and none more: w and b are the first of the variables.
    """

    P: Any
    q: Any
    G: Any
    h: Any
    free: int


def program(problem: Problem, dense: bool = False) -> Program:
    """The whole problem as a quadratic program."""
    n, d = problem.X.shape
    y = problem.y[:, np.newaxis]
    slacks = 0 if problem.price is None else n
    q = np.concatenate([np.zeros(d + 1), np.full(slacks, problem.price or 0.0)])
    bends = np.concatenate([np.ones(d), np.zeros(1 + slacks)])
    if dense:
        return Program(np.diag(bends), q, -y * np.column_stack([problem.X, np.ones(n)]),
                       -np.ones(n), d + 1)  # fmt: skip
    P = sparse.csc_matrix((np.ones(d), (np.arange(d), np.arange(d))), shape=(len(q), len(q)))
    Z = sparse.diags_array(-problem.y) @ sparse.csr_array(problem.X)
    blocks = [Z, sparse.csr_array(-y), *([-sparse.eye_array(n)] if slacks else [])]
    return Program(P, q, sparse.csc_matrix(sparse.hstack(blocks)), -np.ones(n), d + 1)


def _clarabel(problem: Problem, patience: float) -> list[list[Setting]]:
    clarabel = import_module("clarabel")
    P, q, G, h, free = program(problem)
    slacks = len(q) - free
    if slacks:
        signs = sparse.hstack([sparse.csc_array((slacks, free)), -sparse.eye_array(slacks)])
        G, h = sparse.csc_matrix(sparse.vstack([G, signs])), np.concatenate([h, np.zeros(slacks)])

    def setting(tol: float) -> Setting:
        def solve(cut: int | None) -> tuple[Any, int]:
            options = clarabel.DefaultSettings()
            options.verbose, options.time_limit = False, 0.95 * patience
            options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = tol
            cones = [clarabel.NonnegativeConeT(len(h))]
            found = clarabel.DefaultSolver(P, q, G, h, cones, options).solve()
            return np.array(found.x)[: free - 1], int(found.iterations)

        return Setting(f"tol={tol:g}", solve)

    return [[setting(tol) for tol in (*_tens(2, 5), 1e-7, 1e-9, 1e-11, 1e-13)]]


def _piqp(problem: Problem, patience: float) -> list[list[Setting]]:
    piqp = import_module("piqp")
    dense = problem.price is None and not sparse.issparse(problem.X)
    P, q, G, h, free = program(problem, dense)
    least = np.concatenate([np.full(free, -np.inf), np.zeros(len(q) - free)])

    def setting(eps: float) -> Setting:
        def solve(cut: int | None) -> tuple[Any, int]:
            solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
            options = solver.settings
            options.eps_abs = options.eps_rel = eps
            options.eps_duality_gap_abs = options.eps_duality_gap_rel = eps
            options.max_iter = 1000 if cut is None else cut
            solver.setup(P, q, None, None, G, None, h, least, None)
            solver.solve()
            return np.array(solver.result.x)[: free - 1], int(solver.result.info.iter)

        return Setting(f"eps={eps:g}", solve)

    return [[setting(eps) for eps in (*_tens(1, 5), 1e-7, 1e-9, 1e-11, 1e-13)]]


def _skglm(problem: Problem, patience: float) -> list[list[Setting]]:
    from skglm import LinearSVC

    n = problem.X.shape[0]

    def setting(scaling: float, rounds: int, epochs: int, X: Any) -> Setting:
        def solve(cut: int | None) -> tuple[Any, int]:
            model = LinearSVC(
                C=problem.price or HARD, tol=1e-9, p0=n, max_epochs=epochs, max_iter=rounds,
                ws_strategy="fixpoint",
            ).fit(X, problem.y)  # fmt: skip
            return np.ravel(model.coef_)[:-1], int(model.n_iter_)

        name = f"a column of {scaling:g}, max_iter={rounds}, max_epochs={epochs}"
        return Setting(name, solve)

    def with_column(scaling: float) -> Any:
        column = np.full((n, 1), scaling)
        if sparse.issparse(problem.X):
            return sparse.csc_matrix(sparse.hstack([problem.X, column]))
        return np.asfortranarray(np.hstack([problem.X, column]))

    efforts = ((1, 10), (1, 100), (1, 1000), (4, 1000), (16, 1000), (64, 1000))
    columns = [(scaling, with_column(scaling)) for scaling in (1.0, 10.0)]
    return [[setting(s, *effort, X) for effort in efforts] for s, X in columns]


def _compile_skglm() -> None:
    """Let it compile what it compiles before it is measured."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), np.repeat([1.0, -1.0], 25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in (X, sparse.csr_matrix(X)):
            _skglm(Problem(data, y, 1.0), 1.0)[0][0].solve(None)


PEERS = [
    Peer("SVC", "sklearn", _svc, trial=1000),
    Peer("LinearSVC", "sklearn", _linear_svc, trial=20),
    Peer("PIQP", "piqp", _piqp, trial=5),
    Peer("Clarabel", "clarabel", _clarabel, trial=0),
    Peer("skglm", "skglm", _skglm, trial=0, prepare=_compile_skglm),
]

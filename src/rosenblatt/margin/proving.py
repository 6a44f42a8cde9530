"""What a solver found, with values that are proved; without rounding where rounding spoiled it."""

from __future__ import annotations

import math
import sys
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact import signs, smallest
from rosenblatt.exact.rationals import (
    candidates,
    closest,
    exact_product,
    multiples,
    square_sum,
    with_less_slack,
)
from rosenblatt.nearest.working_set import Samples
from rosenblatt.proofs import duality
from rosenblatt.proofs.inputs import SignedRows, WrongError
from rosenblatt.proofs.optimum import optimum_conditions, prove_optimum
from rosenblatt.results import Hyperplane, MarginFit, MarginTrace, Optimum, StopReason
from rosenblatt.running.clock import GRACE, Clock, Halt, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints, Signs
    from rosenblatt.margin.exact_margin import Exactly
    from rosenblatt.margin.solver import MarginProblem
    from rosenblatt.nearest.max_margin import MaxMargin
    from rosenblatt.nearest.soft_margin import SoftMargin


FEW_NUMBERS = 5000  # with which objectives of many candidates are computed exactly
TRIAL = 1 << 17  # numbers on which a proof is timed
QUICK = 1 << 20  # numbers up to which it is not worth it; a quarter far from the origin
END = 1.2  # what comes after solving, in terms of that
ERRORS = 0.3  # of it, for training errors
AGAIN = 3  # proofs that the first step to a smaller gap takes
CHECK = 2.5  # proofs that a check takes, and what comes after it
LESS = 0.9  # as a share, a gap that is worth fractions
CLOSE = 1e-6  # so far may y(w·x + b) be from 1 for a sample to have a say in rounding
UNSETTLED = (StopReason.GAP_CLOSED, StopReason.ROUNDING)  # there was time to go on


@np.errstate(all="ignore")
def keep_time(problem: MarginProblem, C: float | None, problems: int) -> None:
    """Keep as much time as the evidence will take, by what it takes on some of the rows.

    That of the multipliers only if it leaves most of the time for solving; where there is not
    even enough for that of the hyperplane, what counting its training errors takes.
    """
    clock, numbers = problem.samples.clock, problem.source.n_entries
    if clock.end is None:
        return
    with suppress(Halt):
        _time_evidence(problem, C)
    sides, more = (clock.seconds(kind, numbers) for kind in (Kind.SIDES, Kind.MULTIPLIERS))
    sides, more, left = problems * END * sides, problems * END * more, clock.left()
    if sides > left:
        clock.keep(ERRORS * sides)
    else:
        clock.keep(sides + more if sides + more < left / 3 else sides, most=1.0)


def _time_evidence(problem: MarginProblem, C: float | None) -> None:
    """Tell the clock how long evidence takes, if there may be much of it."""
    samples, numbers = problem.samples, problem.source.n_entries
    rows = np.arange(max(8, samples.n * TRIAL // numbers))
    few = rows[: len(rows) // 4]
    quick = QUICK if problem.moved.origin is None else QUICK // 4
    if numbers <= quick or np.ptp(samples.y[few]) == 0:
        return
    part = samples.part(rows)
    w = part.total(np.where(part.y > 0, 1 / (part.y > 0).sum(), 1 / (part.y < 0).sum()))
    values = part.values(np.append(w, 0.0)) * part.y
    theta = problem.plane(w, -(values[part.y > 0].mean() + values[part.y < 0].mean()) / 2)
    _evidence_times(problem, few, theta, C)  # to load what was compiled
    short, long = (_evidence_times(problem, some, theta, C) for some in (few, rows))
    size = len(rows) * numbers / samples.n
    for kind, begin, end in zip((Kind.SIDES, Kind.MULTIPLIERS), short, long, strict=True):
        samples.clock.pace[kind] = max(end - begin, end / 4) * 4 / 3 / size


def _evidence_times(
    problem: MarginProblem, rows: Ints, theta: Floats, C: float | None
) -> tuple[float, float]:
    """Seconds to prove something about a hyperplane on some rows, and about multipliers."""
    X, y, every = problem.X[rows], problem.samples.y[rows], np.arange(len(rows))
    judged, alpha = duality.Judged(X, y, None, C), np.full(len(rows), (C or 1.0) / len(rows))
    began = time.perf_counter()
    signs(X, theta.tolist())
    proof = duality.prove(judged, theta, every[:0], alpha[:0], 1.0)
    half = time.perf_counter()
    with suppress(WrongError):
        duality.feasible(judged, every, alpha, proof.primal)
    return half - began, time.perf_counter() - half


@np.errstate(all="ignore")  # what overflows is settled exactly
def proved_fit(
    problem: MarginProblem,
    C: float | None,
    solver: SoftMargin | MaxMargin,
    reason: StopReason,
    tol: float,
    planes: Iterable[Floats] = (),
) -> MarginFit:
    """What was found, with values that have been proved, unless there is no time for that."""
    best, y = solver.best, problem.samples.y
    rows, alpha = solver.multipliers()
    alpha = np.ldexp(alpha, -2 * problem.moved.exponent)
    alpha[~np.isfinite(alpha)] = 0.0
    search = _Evidence(problem, C, tol)
    search.use(rows, alpha)
    began, clock = time.perf_counter(), problem.samples.clock
    found = [problem.plane(best.w, best.b), *planes]
    numbers, left = problem.source.n_entries, max(0.0, clock.left() + clock.kept) + GRACE
    proof = clock.seconds(Kind.SIDES, numbers)
    share = len(search.rows) / problem.samples.n
    if left < proof + clock.seconds(Kind.MULTIPLIERS, share * numbers):
        search.use(rows[:0], alpha[:0])
        reason = _in_short(reason)
    if left < proof:
        search.leave_open(found[-1])
    else:
        search.offer(found)
    proving = time.perf_counter() - began
    if reason in UNSETTLED and search.best.gap > tol:
        try:
            problem.samples.clock.afford(AGAIN * proving)
            search.improve()
        except Halt as halt:
            reason = halt.reason
    problem.samples.clock = Clock()  # the rest has to be done
    optimum = search.best
    if reason in UNSETTLED:
        if optimum.gap <= tol and clock.left() + clock.kept < CHECK * proving:
            reason = StopReason.TIME_LIMIT  # what was not checked is not called closed
        else:
            closed = optimum.gap <= tol and _accepted(optimum, problem, search.known())
            reason = StopReason.GAP_CLOSED if closed else StopReason.ROUNDING
    columns = [np.array(column) for column in zip(*solver.trace, strict=True)]
    empty = [np.empty(0), np.empty(0), np.empty(0, np.int64), np.empty(0)]
    return MarginFit(
        optimum.hyperplane,
        reason,
        optimum,
        optimum.multipliers * y[optimum.support],
        optimum_conditions(optimum, problem.X, y, problem.weights),
        _nearest(problem, optimum) if C is None else None,
        MarginTrace(*(columns or empty)),
        optimum if reason is StopReason.GAP_CLOSED else None,
    )


def proved_again(problem: MarginProblem, fit: MarginFit) -> MarginFit:
    """A fit from a file that anyone can write; ValueError if it claims what is not proved."""
    optimum = fit.optimum
    if len(fit.hyperplane.w) != problem.samples.d or optimum.support.max(initial=0) >= len(
        problem.samples.y
    ):
        raise ValueError(fit)
    if fit.stop_reason is not StopReason.GAP_CLOSED:
        return fit
    if not _accepted(optimum, problem):
        raise ValueError(fit)
    return replace(fit, certificate=optimum)


def _in_short(reason: StopReason) -> StopReason:
    """The reason to stop where there was no time for all of the evidence."""
    return StopReason.TIME_LIMIT if reason in UNSETTLED else reason


def _accepted(optimum: Optimum, problem: MarginProblem, found: duality.Proof | None = None) -> bool:
    """Whether the evidence passes its check, which knows nothing of how it was found."""
    try:
        data = SignedRows(problem.X, problem.samples.y)
        return bool(prove_optimum(optimum, data, problem.weights, found))
    except WrongError:
        return False


class _Evidence:
    """The best hyperplane and the best multipliers so far, with the gap that they prove."""

    def __init__(self, problem: MarginProblem, C: float | None, tol: float) -> None:
        self.problem, self.tol, self.judged = problem, tol, problem.judged(C)
        self.rows: Ints = np.empty(0, np.int64)
        self.multipliers: Any = np.empty(0)
        nowhere = Hyperplane(np.zeros(problem.samples.d))
        self.best = Optimum(nowhere, self.rows, self.multipliers, C, np.inf, 0.0, margin=-np.inf)
        self.last: tuple[Optimum, duality.Proof] | None = None

    def known(self) -> duality.Proof | None:
        """What a check of the best would find, if it would do what was done last."""
        if self.last is None or self.last[0] is not self.best:
            return None
        proof = self.last[1]
        return proof if duality.decides_alike(proof, self.best.gap) else None

    def use(self, rows: Ints, alpha: Floats) -> None:
        """Take the multipliers of some samples, within their bounds."""
        if self.judged.C is not None:  # the solver may have reckoned with another price
            alpha = np.minimum(alpha, self.judged.enclosed_bounds()[0][rows])
        self.rows, self.multipliers = rows[alpha > 0], alpha[alpha > 0]

    def offer(self, planes: Iterable[Floats]) -> None:
        """Take a hyperplane if its objective is smaller."""
        for theta in planes:
            if not np.isfinite(theta).all():
                continue
            found = self._proved(theta)
            if _smaller(found) < _smaller(self.best):
                self.best = found
            if self.best.gap <= self.tol:
                break

    def leave_open(self, theta: Floats) -> None:
        """Take a hyperplane of which nothing is proved."""
        if np.isfinite(theta).all():
            plane = Hyperplane(theta[:-1], float(theta[-1]))
            self.best = replace(self.best, hyperplane=plane)

    def _proved(self, theta: Floats) -> Optimum:
        exact = None if isinstance(self.multipliers, np.ndarray) else tuple(self.multipliers)
        floats = self.multipliers if exact is None else np.array([closest(v) for v in exact])
        proof = duality.prove(self.judged, theta, self.rows, self.multipliers, self.tol)
        optimum = Optimum(
            Hyperplane(theta[:-1], float(theta[-1])),
            self.rows,
            floats,
            self.judged.C,
            proof.primal,
            proof.dual,
            min(1.0, proof.gap + proof.width),
            exact,
            proof.margin,
        )
        self.last = optimum, proof
        return optimum

    def improve(self) -> None:
        """Do without rounding what rounding has spoiled."""
        theta = np.append(self.best.hyperplane.w, self.best.hyperplane.b)
        if self.judged.C is None:
            self.offer(_best_bias(self.judged, theta))
        else:  # slack that is only rounding may cost dearly: a narrower margin has none
            self.offer(theta * (1 + more) for more in (2.0**-46, 2.0**-40, 2.0**-34))
        if self.best.gap <= self.tol or not self.problem.is_small():
            return
        found = self._exactly()
        if found is not None:
            self._take(found, [theta, self._best_floats([*found.w, found.b], found.rows)])

    def _exactly(self) -> Exactly | None:
        """The best hyperplane by exact arithmetic, of X itself."""
        from rosenblatt.margin import exact_margin  # late: most fits do not need it

        problem, near = self.problem, self.problem.samples
        whole = Samples(problem.source, near.team, problem.positive, near.clock)
        every, alpha = np.arange(whole.n), np.zeros(whole.n)
        alpha[self.rows] = self.multipliers
        c = None if self.judged.C is None else self.judged.exact_bounds(every)
        return exact_margin.best_hyperplane(whole, self.problem.used, alpha, c)

    def _take(self, found: Exactly, planes: list[Floats]) -> None:
        """Take multipliers, as floats unless these prove less, and the best of some hyperplanes."""
        floats = np.array([closest(v) for v in found.alpha])
        if self.judged.C is not None:
            floats = np.minimum(floats, self.judged.enclosed_bounds()[0][found.rows])
        self.rows = found.rows
        for multipliers in (floats, found.alpha) if floats.all() else (found.alpha,):
            self.multipliers = multipliers
            claims = [self._proved(theta) for theta in planes]
            best = min(claims, key=_smaller)
            if best.gap < LESS * self.best.gap or not self.best.primal < np.inf:
                self.best = best
            if self.best.gap <= self.tol:
                break

    def _objective(self, theta: Floats) -> Any:
        """The objective of a hyperplane, exactly where there are few samples."""
        if self.judged.X.shape[0] * len(theta) <= FEW_NUMBERS:
            return duality.exact_objective(self.judged, theta)
        return duality.objective(self.judged, theta)[1]

    def _best_floats(self, theta: list[Fraction], support: Ints) -> Floats:
        """Those near an exact hyperplane with the smallest objective."""
        judged, y = self.judged, self.problem.samples.y
        edges = np.column_stack([judged.points(support), np.ones(len(support))])
        edges *= y[support, np.newaxis]
        if judged.C is not None:
            on = [value == 1 for value in exact_product(edges, theta)]
            found = with_less_slack(theta, edges[on])
            return min(found, key=self._objective)
        floats = np.array([closest(v) for v in theta])
        sides = np.concatenate([X @ floats[:-1] for X in judged.X]) + floats[-1]
        sides *= y
        near = np.flatnonzero((np.abs(sides - 1) <= CLOSE) & self.problem.used)
        rows = np.union1d(support, near[:1000])
        X, y = judged.points(rows), y[rows]

        def square_margin(theta: Floats) -> Fraction:
            least = smallest(X, y, theta.tolist())
            return abs(least) * least / (square_sum(theta[:-1]) or 1)

        def with_own_bias(theta: Floats) -> Floats:
            low, high = _ends(X, y, theta, np.ones(len(y), bool))
            return np.append(theta[:-1], closest((low - high) / 2))

        best = max(candidates(theta, edges), key=square_margin)
        if square_margin(best) > 0:
            return best
        others = map(with_own_bias, [*with_less_slack(theta, edges), *multiples(theta)])
        return max([best, *others], key=square_margin)


def _smaller(optimum: Optimum) -> tuple[float, ...]:
    """What is smaller for the better hyperplane; the objective itself may be too large or small."""
    return optimum.primal, optimum.gap, -optimum.margin


def canonical_planes(judged: duality.Judged, theta: Floats) -> list[Floats]:
    """The hyperplane scaled so that the smallest ``y(w·x + b)`` is about 1.

    Where rounding spoils that, also scaled by a power of two, as far as floats go.
    """

    def least_of(theta: Floats) -> Any:
        return smallest(judged.X, judged.y, theta.tolist(), judged.weighing())

    least = least_of(theta)
    if not least > 0:
        return [theta]
    with np.errstate(over="ignore"):
        scaled = theta * closest(1 / least)
    if np.isfinite(scaled).all() and least_of(scaled) > Fraction(1, 2):
        return [scaled]
    power = least.denominator.bit_length() - least.numerator.bit_length()
    room = sys.float_info.max_exp - math.frexp(float(np.abs(theta).max()))[1]
    return [scaled, np.ldexp(theta, min(power, room))]


def _best_bias(judged: duality.Judged, theta: Floats) -> Iterable[Floats]:
    """The hyperplane with the b that is best for its w, rounded once."""
    used = np.ones(judged.n, bool) if judged.weights is None else judged.weights > 0
    low, high = _ends(judged.X, judged.y, theta, used)
    if low + high > 0:
        yield np.append(theta[:-1], closest((low - high) / 2)) * closest(2 / (low + high))


def _ends(X: Any, y: Signs, theta: Floats, used: NDArray[np.bool_]) -> list[Fraction]:
    """The smallest ``y(w·x)`` of each class, -1 first."""
    w = [*theta[:-1].tolist(), 0.0]
    return [smallest(X, y, w, np.flatnonzero((y == side) & used)) for side in (-1, 1)]


def _nearest(problem: MarginProblem, optimum: Optimum) -> Floats:
    """The weighted means of the two classes: the points of their hulls nearest to each other."""
    y, means = problem.samples.y[optimum.support], []
    points, alpha = problem.X[optimum.support], optimum.multipliers
    if optimum.exact_multipliers is not None:
        largest = max(optimum.exact_multipliers)
        alpha = np.array([float(v / largest) for v in optimum.exact_multipliers])
    for side in (-1.0, 1.0):
        weights = np.where(y == side, alpha, 0.0)
        total = float(weights.sum()) or 1.0
        means.append((weights / total) @ points)
    return np.array(means)

"""One two-class problem solved to its best hyperplane, with the evidence."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certify import duality
from rosenblatt.certify.fields import WrongError
from rosenblatt.certify.optimum import optimum_conditions, prove_optimum
from rosenblatt.certify.samples import Samples as Read
from rosenblatt.data.rows import as_rows, row_weights
from rosenblatt.data.sources import MemorySource
from rosenblatt.exact import smallest
from rosenblatt.exact.nearby import closest, exact_product, square_sum
from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.nearest.soft_margin import SoftMargin, Start
from rosenblatt.nearest.working_set import NotSeparable, Samples
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    MarginFit,
    MarginRound,
    MarginTrace,
    Optimum,
    QuasiSeparable,
    Separable,
    StopReason,
)
from rosenblatt.running.clock import Clock
from rosenblatt.running.stopping import Halt
from rosenblatt.separation.function import proved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from rosenblatt.contract.classifier import Data
    from rosenblatt.margin.exact_margin import Exactly
    from rosenblatt.nearest.soft_margin import Best, Progress
    from rosenblatt.running.threads import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Report = Callable[[int, Best, Progress], None]


SOME, DISTANT = 500, 1e3  # rows to look at; distances from the origin in terms of their spread
DEAREST = 1e40  # C in units of the data, as far as solvers can reckon with it
CHEAPEST = 1e-30  # the smallest price of a sample, as a share of the largest
LARGEST = 230  # powers of two: the fourth power of a number this large, and its inverse, are floats
FULL = 0.5  # entries of a sparse matrix, as a share, with which it is an array in disguise
MOST_NUMBERS, MOST_FEATURES = 300_000, 400  # up to which exact arithmetic is tried
FEW_NUMBERS = 5000  # with which objectives of many candidates are computed exactly
AGAIN = 3  # proofs that the first step to a smaller gap takes
LESS = 0.9  # as a share, a gap that is worth fractions
CLOSE = 1e-6  # so far may y(w·x + b) be from 1 for a sample to have a say in rounding
UNSETTLED = (StopReason.GAP_CLOSED, StopReason.ROUNDING)  # there was time to go on


class Moved(NamedTuple):
    """Where the samples of a solver are: ``x/2**exponent - origin``; None: no origin."""

    origin: Floats | None
    exponent: int


class Problem(NamedTuple):
    """A two-class problem, ready to be solved.

    Attributes
    ----------
    X : array or CSR matrix
    samples : Samples
        Those of X, or moved.
    weights : float array or None
        A weight per sample; None: all 1.
    moved : Moved
    """

    X: Any
    samples: Samples
    weights: Floats | None
    moved: Moved

    @classmethod
    def of(cls, data: Data, moved: Moved, positive: int, team: Team, clock: Clock) -> Problem:
        """Class `positive` against the rest, with its own weights, some of both sides positive."""
        samples = Samples(data.source, team, positive, clock)
        if not data.source.weighted:
            return cls(data.X, samples, None, moved)
        parts = [row_weights(piece.block, positive) for piece in data.source.pieces()]
        weights = np.concatenate(parts)
        for side in (1.0, -1.0):
            if not weights[samples.y == side].any():
                name = data.classes.tolist()[positive if side > 0 or len(data.classes) > 2 else 0]
                who = "the others than" if side < 0 and len(data.classes) > 2 else "class"
                msg = (
                    f"every sample of {who} {name!r} has weight 0: "
                    "a margin needs samples of both sides"
                )
                raise ValueError(msg)
        return cls(data.X, samples, None if (weights == 1.0).all() else weights, moved)

    def plane(self, w: Floats, b: float) -> Floats:
        """``(w, b)`` for X of a hyperplane for the samples; a multiple where floats end."""
        origin, exponent = self.moved
        b = b if origin is None else b - float(origin @ w)
        if not exponent:
            return np.append(w, b)
        largest = int(np.frexp(np.abs(w).max())[1]) - exponent
        excess = max(0, largest - sys.float_info.max_exp)
        return np.append(np.ldexp(w, -exponent - excess), np.ldexp(b, -excess))

    @property
    def used(self) -> NDArray[np.bool_]:
        """The samples that count."""
        return np.ones(self.samples.n, bool) if self.weights is None else self.weights > 0

    @property
    def total(self) -> float:
        """``N``, what the weights sum to."""
        total = float(self.samples.n if self.weights is None else self.weights.sum())
        return min(total, sys.float_info.max)

    def judged(self, C: float | None) -> duality.Problem:
        """The problem as it is judged."""
        return duality.Problem(self.X, self.samples.y, self.weights, C)

    def prices(self, C: float) -> Floats:
        """``c_i = C s_i/N`` for the samples, within what a solver can reckon with."""
        with np.errstate(over="ignore"):
            unit = float(np.ldexp(C, 2 * self.moved.exponent))
        size = float(self.samples.largest) or 1.0
        near = min(max(unit, 1 / DEAREST / size**2), DEAREST / size**2)
        c = self.judged(near).bounds()
        return np.where(self.used, np.maximum(c, CHEAPEST * c.max()), 0.0)


def soft_margin(
    problem: Problem,
    C: float,
    tol: float,
    start: Start | None = None,
    report: Report | None = None,
) -> MarginFit:
    """The soft-margin hyperplane; `start` is one that may be close."""
    solver = SoftMargin(problem.samples, problem.prices(C), tol, report)
    reason = solver.run(start)
    return _fit(problem, C, solver, reason, tol)


def warm(problem: Problem, fit: MarginFit, C: float) -> Start | None:
    """A start for this C from an earlier fit, if it has to do with the data."""
    plane, optimum = fit.hyperplane, fit.optimum
    samples, support, alpha = problem.samples, optimum.support, optimum.multipliers
    if plane.w.shape != (samples.d,) or not len(support) or support[-1] >= samples.n:
        return None
    if problem.moved.exponent:  # powers of two away from what the solver knows
        return None
    c, start = problem.prices(C), np.zeros(samples.n)
    # Multipliers at their bound are so at another price too, as far as one can tell.
    at_bound = alpha >= (1 - 1e-9) * c[support] * (optimum.C or np.inf) / C
    start[support] = np.where(at_bound, c[support], np.minimum(alpha, c[support]))
    if not start.any():
        return None
    b = 2 * plane.b - float(problem.plane(plane.w, plane.b)[-1])
    return Start(plane.w, b, float(start.max()), start)


def max_margin(problem: Problem, tol: float, report: Report | None = None) -> MarginFit:
    """The maximum-margin hyperplane.

    Raises
    ------
    Overlap
        If there is none.
    """
    solver = MaxMargin(problem.samples, problem.used, tol, report)
    planes: list[Floats] = []
    try:
        reason = solver.run()
    except NotSeparable:
        certificate = _verdict(problem)
        if isinstance(certificate, Inseparable | QuasiSeparable):
            raise Overlap(certificate) from None
        reason = StopReason.ROUNDING
        if isinstance(certificate, Separable):
            plane = certificate.hyperplane
            planes += _canonical(problem.judged(None), np.append(plane.w, plane.b))
            if not _is_small(problem.samples):
                solver.begin_at(np.ldexp(plane.w, problem.moved.exponent))
                reason = solver.run()
        else:
            reason = solver.run()
    fit = _fit(problem, None, solver, reason, tol, planes)
    if planes or fit.optimum.margin > 0 or fit.stop_reason is not StopReason.ROUNDING:
        return fit
    # Nobody knows whether there is a hyperplane that separates: better one with slack than none.
    soft = soft_margin(problem, problem.total, tol, None, report)
    return replace(soft, stop_reason=StopReason.ROUNDING, certificate=None)


class Overlap(Exception):
    """No hyperplane separates the classes; with the proof."""

    def __init__(self, certificate: Inseparable | QuasiSeparable) -> None:
        super().__init__(certificate)
        self.certificate = certificate


def _verdict(problem: Problem) -> Any:
    """Whether a hyperplane separates the samples that count, proved; row numbers are X's."""
    X, y, team, used = problem.X, problem.samples.y, problem.samples.team, problem.used
    left = problem.samples.clock.left()
    clock = Clock(None if left == np.inf else max(0.0, left))
    rows = np.flatnonzero(used)
    if len(rows) < len(used):
        X, y = X[rows], y[rows]
    labels = (y > 0).astype(np.int32)
    source = MemorySource(as_rows(X), labels, X.shape[1])
    found = proved(source, team, X, labels, clock)
    names = [name for name in ("support", "on", "spanning_support") if hasattr(found, name)]
    return replace(found, **{name: rows[getattr(found, name)] for name in names})


# Evidence -----------------------------------------------------------------------------------------


@np.errstate(all="ignore")  # what overflows is settled exactly
def _fit(
    problem: Problem,
    C: float | None,
    solver: SoftMargin | MaxMargin,
    reason: StopReason,
    tol: float,
    planes: Iterable[Floats] = (),
) -> MarginFit:
    """What was found, with values that have been proved."""
    best, y = solver.best, problem.samples.y
    alpha = np.ldexp(best.alpha, -2 * problem.moved.exponent)
    alpha[~np.isfinite(alpha)] = 0.0
    search = _Evidence(problem, C, tol)
    alpha = search.use(alpha)
    began = time.perf_counter()
    search.offer([problem.plane(best.w, best.b), *planes])
    proving = time.perf_counter() - began
    if reason in UNSETTLED and search.best.gap > tol:
        try:
            problem.samples.clock.afford(AGAIN * proving)
            search.improve(alpha)
        except Halt as halt:
            reason = halt.reason
    problem.samples.clock = Clock()  # what is left is to be done also when time is over
    optimum = search.best
    if reason in UNSETTLED:
        closed = optimum.gap <= tol and _accepted(optimum, problem)
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


def _accepted(optimum: Optimum, problem: Problem) -> bool:
    """Whether the evidence passes its check, which knows nothing of how it was found."""
    try:
        data = Read(problem.X, problem.samples.y.astype(np.int8))
        return bool(prove_optimum(optimum, data, problem.weights))
    except WrongError:
        return False


class _Evidence:
    """The best hyperplane and the best multipliers so far, with the gap that they prove."""

    def __init__(self, problem: Problem, C: float | None, tol: float) -> None:
        self.problem, self.tol, self.judged = problem, tol, problem.judged(C)
        self.rows: Ints = np.empty(0, np.int64)
        self.multipliers: Any = np.empty(0)
        nowhere = Hyperplane(np.zeros(problem.samples.d))
        self.best = Optimum(nowhere, self.rows, self.multipliers, C, np.inf, 0.0, margin=-np.inf)

    def use(self, alpha: Floats) -> Floats:
        """Take multipliers, one for each sample, within their bounds; returned are these."""
        if self.judged.C is not None:  # the solver may have reckoned with another price
            alpha = np.minimum(alpha, self.judged.enclosed_bounds()[0])
        self.rows = np.flatnonzero(alpha > 0)
        self.multipliers = alpha[self.rows]
        return alpha

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

    def _proved(self, theta: Floats) -> Optimum:
        exact = None if isinstance(self.multipliers, np.ndarray) else tuple(self.multipliers)
        floats = self.multipliers if exact is None else np.array([closest(v) for v in exact])
        proof = duality.prove(self.judged, theta, self.rows, self.multipliers, self.tol)
        return Optimum(
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

    def improve(self, alpha: Floats) -> None:
        """Do without rounding what rounding has spoiled."""
        theta = np.append(self.best.hyperplane.w, self.best.hyperplane.b)
        if self.judged.C is None:
            self.offer(_best_bias(self.judged, theta))
        else:  # slack that is only rounding may cost dearly: a narrower margin has none
            self.offer(theta * (1 + more) for more in (2.0**-46, 2.0**-40, 2.0**-34))
        if self.best.gap <= self.tol or not _is_small(self.problem.samples):
            return
        found = self._exactly(alpha)
        if found is not None:
            self._take(found, [theta, self._best_floats([*found.w, found.b], found.rows)])

    def _exactly(self, alpha: Floats) -> Exactly | None:
        """The best hyperplane by exact arithmetic, of X itself."""
        from rosenblatt.margin import exact_margin  # late: most fits do not need it

        samples = self.problem.samples
        whole = replace_rows(samples, self.problem.X)
        every = np.arange(samples.n)
        c = None if self.judged.C is None else self.judged.exact_bounds(every)
        return exact_margin.best_hyperplane(whole, self.problem.used, alpha, c)

    def _take(self, found: Exactly, planes: list[Floats]) -> None:
        """Take multipliers, as floats unless these prove less, and the best of some hyperplanes."""
        alpha = np.zeros(self.problem.samples.n)
        alpha[found.rows] = [closest(v) for v in found.alpha]
        floats = self.use(alpha)[found.rows]
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
        from rosenblatt.exact.plane_floats import candidates, with_less_slack  # late, too

        judged, y = self.judged, self.problem.samples.y
        edges = np.column_stack([judged.points(support), np.ones(len(support))])
        edges *= y[support, np.newaxis]
        if judged.C is not None:
            on = [value == 1 for value in exact_product(edges, theta)]
            found = with_less_slack(theta, edges[on])
            return min(found, key=self._objective)
        floats = np.array([closest(v) for v in theta])
        sides = y * (judged.X @ floats[:-1] + floats[-1])
        near = np.flatnonzero((np.abs(sides - 1) <= CLOSE) & self.problem.used)
        rows = np.union1d(support, near[:1000])
        X, y = judged.points(rows), y[rows]

        def square_margin(theta: Floats) -> Fraction:
            least = smallest(X, y, theta.tolist())
            return abs(least) * least / (square_sum(theta[:-1]) or 1)

        return max(candidates(theta, edges), key=square_margin)


def _is_small(samples: Samples) -> bool:
    """Whether the data are small enough for exact arithmetic."""
    return samples.n * samples.d <= MOST_NUMBERS and samples.d <= MOST_FEATURES


def _smaller(optimum: Optimum) -> tuple[float, ...]:
    """What is smaller for the better hyperplane; the objective itself may be too large or small."""
    return optimum.primal, optimum.gap, -optimum.margin


def _canonical(judged: duality.Problem, theta: Floats) -> list[Floats]:
    """The hyperplane scaled so that the smallest ``y(w·x + b)`` is about 1; or as it is."""
    X, y, _ = judged.weighing()
    least = smallest(X, y, theta.tolist())
    with np.errstate(over="ignore"):
        return [theta * closest(1 / least), theta] if least > 0 else [theta]


def _best_bias(judged: duality.Problem, theta: Floats) -> Iterable[Floats]:
    """The hyperplane with the b that is best for its w, rounded once."""
    w = [*theta[:-1].tolist(), 0.0]
    X, y, _ = judged.weighing()
    ends = [smallest(X[y == side], y[y == side], w) for side in (-1, 1)]
    if sum(ends) > 0:
        b = closest((ends[0] - ends[1]) / 2)
        scale = closest(2 / sum(ends, Fraction(0)))
        yield np.append(theta[:-1], b) * scale


def _nearest(problem: Problem, optimum: Optimum) -> Floats:
    """The weighted means of the two classes: the points of their hulls nearest to each other."""
    y, means = problem.samples.y[optimum.support], []
    points, alpha = problem.judged(None).X[optimum.support], optimum.multipliers
    if optimum.exact_multipliers is not None:
        largest = max(optimum.exact_multipliers)
        alpha = np.array([float(v / largest) for v in optimum.exact_multipliers])
    for side in (-1.0, 1.0):
        weights = np.where(y == side, alpha, 0.0)
        total = float(weights.sum()) or 1.0
        means.append((weights / total) @ points)
    return np.array(means)


def replace_rows(samples: Samples, X: Any) -> Samples:
    """Samples with the same labels and other rows."""
    label = (samples.y > 0).astype(np.int32)
    return Samples(MemorySource(as_rows(X), label, X.shape[1]), samples.team, 1, samples.clock)


def placed(data: Data) -> tuple[Data, Moved]:
    """The data moved to where solvers are at ease, if they are not.

    Sums over numbers that differ only in their last digits lose the others, so that samples far
    from the origin for how close they are get another one; and powers of very large or small
    numbers are no floats. Either takes a copy.
    """
    X = data.X
    numbers = X if isinstance(X, np.ndarray) else X.data
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1]) if largest else 0
    exponent = exponent if abs(exponent) > LARGEST else 0
    moved = X
    if exponent:
        moved = X.astype(np.float64)
        part = moved if isinstance(moved, np.ndarray) else moved.data
        np.ldexp(part, -exponent, out=part)
    dense = isinstance(X, np.ndarray)
    origin = _origin(moved) if dense or X.nnz >= FULL * X.shape[0] * X.shape[1] else None
    if origin is None and not exponent:
        return data, Moved(None, 0)
    if origin is not None:
        moved = (moved if dense else moved.toarray()) - origin
    return data._replace(source=data.source.with_rows(as_rows(moved))), Moved(origin, exponent)


def _origin(X: Any) -> Floats | None:
    """A sample to measure from, if the samples are far from 0 for how close they are."""
    some = X[:: max(1, X.shape[0] // SOME)]
    some = (some if isinstance(X, np.ndarray) else some.toarray()).astype(np.float64)
    origin: Floats = some[0]  # the difference of two close floats is exact
    spread = np.abs(some - origin).max(axis=0)
    far = (np.abs(origin) > DISTANT * spread)[spread > 0].any()
    return origin if far else None


def rounds(
    callback: Callable[[MarginRound], None] | None, number: int, problem: Problem
) -> Report | None:
    """What tells the callback of each scan of a problem."""
    if callback is None:
        return None

    def report(count: int, best: Best, progress: Progress) -> None:
        theta = problem.plane(best.w, best.b)
        plane = Hyperplane(theta[:-1], float(theta[-1]))
        callback(
            MarginRound(
                number,
                count,
                plane,
                best.primal,
                best.dual,
                best.gap,
                progress.awake,
                progress.seconds,
            )
        )

    return report

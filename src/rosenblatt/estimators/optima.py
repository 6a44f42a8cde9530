"""One two-class problem solved to its best hyperplane, with the evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certificates import Inseparable, Optimum, QuasiSeparable, Separable
from rosenblatt.certify.duality import proved_values
from rosenblatt.certify.optimum import optimum_conditions
from rosenblatt.estimators.separability import proved
from rosenblatt.margins import MarginFit, MarginRound, MarginTrace
from rosenblatt.results import Hyperplane, StopReason
from rosenblatt.rows import as_rows, row_weights
from rosenblatt.solvers.max_margin import MaxMargin
from rosenblatt.solvers.soft_margin import SoftMargin, Start
from rosenblatt.solvers.working_set import Clock, NotSeparable, Samples
from rosenblatt.sources import MemorySource

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.estimators._base import Data
    from rosenblatt.solvers.soft_margin import Best, Progress
    from rosenblatt.solvers.threads import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Report = Callable[[int, Best, Progress], None]


SOME, DISTANT = 500, 1e3  # rows to look at; distances from the origin in terms of their spread
DEAREST = 1e40  # C in units of the data
LARGEST = 1e70  # its fourth power and that of its inverse are floats
FULL = 0.5  # entries of a sparse matrix, as a share, with which it is an array in disguise
AGREE = 1e-10  # so close are values that two ways to compute them are trusted


class Problem(NamedTuple):
    """A two-class problem, ready to be solved.

    Attributes
    ----------
    X : array or CSR matrix
    samples : Samples
    weights : float array or None
        A weight per sample; None: all 1.
    origin : float array or None
        What has been subtracted from the samples, but not from X; None: nothing.
    """

    X: Any
    samples: Samples
    weights: Floats | None
    origin: Floats | None

    @classmethod
    def of(
        cls, data: Data, origin: Floats | None, positive: int, team: Team, clock: Clock
    ) -> Problem:
        """Class `positive` against the rest, with its own weights, some of both sides positive."""
        samples = Samples(data.source, team, positive, clock)
        if not data.source.weighted:
            return cls(data.X, samples, None, origin)
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
        return cls(data.X, samples, None if (weights == 1.0).all() else weights, origin)

    def bias(self, w: Floats, b: float) -> float:
        """The bias for X of a hyperplane for the samples."""
        return b if self.origin is None else b - float(self.origin @ w)

    @property
    def total(self) -> float:
        """``N``, what the weights sum to."""
        return float(self.samples.n if self.weights is None else self.weights.sum())

    def prices(self, C: float) -> Floats:
        """``c_i = C s_i/N``."""
        if self.weights is None:
            return np.full(self.samples.n, C / self.samples.n)
        return C * (self.weights / self.total)


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
    c, start = problem.prices(C), np.zeros(samples.n)
    # Multipliers at their bound are so at another price too, as far as one can tell.
    at_bound = alpha >= (1 - 1e-9) * c[support] * (optimum.C or np.inf) / C
    start[support] = np.where(at_bound, c[support], np.minimum(alpha, c[support]))
    if not start.any():
        return None
    b = 2 * plane.b - problem.bias(plane.w, plane.b)
    return Start(plane.w, b, float(start.max()), start)


def max_margin(problem: Problem, tol: float, report: Report | None = None) -> MarginFit:
    """The maximum-margin hyperplane.

    Raises
    ------
    Overlap
        If there is none.
    """
    used = np.ones(problem.samples.n, bool) if problem.weights is None else problem.weights > 0
    solver = MaxMargin(problem.samples, used, tol, report)
    try:
        reason = solver.run()
    except NotSeparable:
        certificate = _verdict(problem, used)
        if isinstance(certificate, Inseparable | QuasiSeparable):
            raise Overlap(certificate) from None
        if isinstance(certificate, Separable) and certificate.exact is None:
            solver.begin_at(certificate.hyperplane.w)
        reason = solver.run()
        if reason is StopReason.ROUNDING and not solver.best.primal < np.inf:
            soft = soft_margin(problem, problem.total, tol, None, report)
            return replace(soft, stop_reason=reason, certificate=None)
    return _fit(problem, None, solver, reason, tol)


class Overlap(Exception):
    """No hyperplane separates the classes; with the proof."""

    def __init__(self, certificate: Inseparable | QuasiSeparable) -> None:
        super().__init__(certificate)
        self.certificate = certificate


def _verdict(problem: Problem, used: NDArray[np.bool_]) -> Any:
    """Whether a hyperplane separates the samples that count, proved; row numbers are X's."""
    X, y, team = problem.X, problem.samples.y, problem.samples.team
    left = problem.samples.clock.left()
    max_time = None if left == np.inf else max(0.0, left)
    rows = np.flatnonzero(used)
    if len(rows) < len(used):
        X, y = X[rows], y[rows]
    labels = (y > 0).astype(np.int32)
    source = MemorySource(as_rows(X), labels, X.shape[1])
    found = proved(source, team, X, labels, max_time)
    names = [name for name in ("support", "on", "spanning_support") if hasattr(found, name)]
    return replace(found, **{name: rows[getattr(found, name)] for name in names})


def _fit(
    problem: Problem,
    C: float | None,
    solver: SoftMargin | MaxMargin,
    reason: StopReason,
    tol: float,
) -> MarginFit:
    """What was found, with values that have been proved."""
    problem.samples.clock = Clock()  # this is to be done also when time is over
    X, y, w = problem.X, problem.samples.y, solver.best.w
    best = solver.best._replace(b=problem.bias(w, solver.best.b))
    support = np.flatnonzero(best.alpha > 0)
    plane, alpha = Hyperplane(best.w, best.b), best.alpha[support]
    optimum = Optimum(plane, support, alpha, C, best.primal, min(best.dual, best.primal))
    conditions = optimum_conditions(optimum, X, y, problem.weights)
    if not abs(conditions.gap - optimum.gap) <= AGREE:  # rounding matters
        optimum = _proved(problem, C, best, support, tol)
        conditions = optimum_conditions(optimum, X, y, problem.weights)
    if reason in (StopReason.GAP_CLOSED, StopReason.ROUNDING):
        reason = StopReason.GAP_CLOSED if optimum.gap <= tol else StopReason.ROUNDING
    columns = [np.array(column) for column in zip(*solver.trace, strict=True)]
    empty = [np.empty(0), np.empty(0), np.empty(0, np.int64), np.empty(0)]
    return MarginFit(
        optimum.hyperplane,
        reason,
        optimum,
        optimum.multipliers * y[support],
        conditions,
        _nearest(problem, best.alpha) if C is None else None,
        MarginTrace(*(columns or empty)),
        optimum if reason is StopReason.GAP_CLOSED else None,
    )


def _proved(problem: Problem, C: float | None, best: Best, support: Ints, tol: float) -> Optimum:
    """The hyperplane and multipliers with the values that can be proved of them."""
    alpha, found = best.alpha[support], []
    # Slack that is only rounding may cost dearly: a slightly narrower margin has none.
    for more in (0.0, 2.0**-46, 2.0**-40, 2.0**-34) if C is not None else (0.0,):
        plane = Hyperplane(best.w * (1 + more), best.b * (1 + more))
        values = proved_values(
            plane, support, alpha, C, problem.X, problem.samples.y, problem.weights
        )
        # A hyperplane that does not separate is no candidate for the maximum margin.
        primal = values[0] if best.primal < np.inf else np.inf
        found.append(Optimum(plane, support, alpha, C, primal, values[1]))
        if found[-1].gap <= tol:
            break
    return min(found, key=lambda optimum: optimum.gap)


def _nearest(problem: Problem, alpha: Floats) -> Floats:
    """The weighted means of the two classes: the points of their hulls nearest to each other."""
    y, means = problem.samples.y, []
    for side in (-1.0, 1.0):
        weights = np.where(y == side, alpha, 0.0)
        total = float(weights.sum()) or 1.0
        means.append(side * problem.samples.total(weights) / total)
    return np.array(means) + (0.0 if problem.origin is None else problem.origin)


def distant(data: Data, C: float | None) -> tuple[Data, Floats | None]:
    """The data moved to where they are, if that is far from the origin for how close they are.

    Sums over numbers that differ only in their last digits lose the others. This takes a copy.
    """
    X = data.X
    numbers = X if isinstance(X, np.ndarray) else X.data
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))
    if largest and not 1 / LARGEST < largest < LARGEST:
        msg = (
            f"the largest number in X is {largest:g}, whose powers floats cannot hold: "
            f"scale the features so that it is between {1 / LARGEST:g} and {LARGEST:g}"
        )
        raise ValueError(msg)
    if C and largest and not 1 / DEAREST < float(C) * largest**2 < DEAREST:
        msg = (
            f"C={C:g} times the square of the largest number in X, {largest:g}, is beyond what "
            f"floats can reckon with ({1 / DEAREST:g} to {DEAREST:g}): scale the features or C, "
            "or use MaxMarginClassifier for no slack at all"
        )
        raise ValueError(msg)
    dense = isinstance(X, np.ndarray)
    if not dense and X.nnz < FULL * X.shape[0] * X.shape[1]:
        return data, None
    some = X[:: max(1, X.shape[0] // SOME)]
    some = (some if dense else some.toarray()).astype(np.float64)
    origin = some[0]  # the difference of two close floats is exact
    spread = np.abs(some - origin).max(axis=0)
    if not (np.abs(origin) > DISTANT * spread)[spread > 0].any():
        return data, None
    moved = (X if dense else X.toarray()) - origin
    return data._replace(source=data.source.with_rows(as_rows(moved))), origin


def rounds(
    callback: Callable[[MarginRound], None] | None, number: int, problem: Problem
) -> Report | None:
    """What tells the callback of each scan of a problem."""
    if callback is None:
        return None

    def report(count: int, best: Best, progress: Progress) -> None:
        plane = Hyperplane(best.w, problem.bias(best.w, best.b))
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

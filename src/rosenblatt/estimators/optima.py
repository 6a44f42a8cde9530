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


AGREE = 1e-10  # so close are values that two ways to compute them are trusted


class Problem(NamedTuple):
    """A two-class problem, class `positive` against the rest.

    Attributes
    ----------
    X : array or CSR matrix
    samples : Samples
    weights : float array or None
        A weight per sample; None: all 1.
    positive : int
        The number of the class that is +1.
    """

    X: Any
    samples: Samples
    weights: Floats | None
    positive: int

    @classmethod
    def of(cls, data: Data, positive: int, team: Team, clock: Clock) -> Problem:
        """The problem with its own weights, some of both classes positive."""
        samples = Samples(data.source, team, positive, clock)
        if not data.source.weighted:
            return cls(data.X, samples, None, positive)
        parts = [row_weights(piece.block, positive) for piece in data.source.pieces()]
        weights = np.concatenate(parts)
        for side in (1.0, -1.0):
            if not weights[samples.y == side].any():
                name = data.classes[positive if side > 0 or len(data.classes) > 2 else 0]
                who = "the others than" if side < 0 and len(data.classes) > 2 else "class"
                msg = (
                    f"every sample of {who} {name!r} has weight 0: "
                    "a margin needs samples of both sides"
                )
                raise ValueError(msg)
        return cls(data.X, samples, None if (weights == 1.0).all() else weights, positive)

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
    best, X, y = solver.best, problem.X, problem.samples.y
    support = np.flatnonzero(best.alpha > 0)
    plane, alpha = Hyperplane(best.w, best.b), best.alpha[support]
    optimum = Optimum(plane, support, alpha, C, best.primal, best.dual)
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
    return np.array(means)


def rounds(callback: Callable[[MarginRound], None] | None, number: int) -> Report | None:
    """What tells the callback of each scan of a problem."""
    if callback is None:
        return None

    def report(count: int, best: Best, progress: Progress) -> None:
        plane = Hyperplane(best.w, best.b)
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

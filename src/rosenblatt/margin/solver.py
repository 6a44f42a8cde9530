"""One two-class problem solved to its best hyperplane, with or without slack."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.sources import only
from rosenblatt.margin.proving import canonical_planes, proved_fit
from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.nearest.soft_margin import SoftMargin, Start
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    MarginFit,
    MarginRound,
    QuasiSeparable,
    Separable,
    StopReason,
)
from rosenblatt.running.clock import Clock, Kind
from rosenblatt.running.stopping import Halt
from rosenblatt.separation.function import proved

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats
    from rosenblatt.margin.problem import MarginProblem
    from rosenblatt.nearest.soft_margin import Best, Progress

    Report = Callable[[int, Best, Progress], None]


CANONICAL = 2  # proofs that a canonical form takes


def soft_margin(
    problem: MarginProblem,
    C: float,
    tol: float,
    start: Start | None = None,
    report: Report | None = None,
) -> MarginFit:
    """The soft-margin hyperplane; `start` is one that may be close."""
    solver = SoftMargin(problem.samples, problem.prices(C), tol, report)
    reason = solver.run(start)
    return proved_fit(problem, C, solver, reason, tol)


def warm(problem: MarginProblem, fit: MarginFit, C: float) -> Start | None:
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


def max_margin(
    problem: MarginProblem, tol: float, report: Report | None = None
) -> MarginFit | Inseparable | QuasiSeparable:
    """The maximum-margin hyperplane, or the proof that there is none."""
    solver = MaxMargin(problem.samples, problem.used, tol, report)
    planes: list[Floats] = []
    clock, reason = problem.samples.clock, solver.run()
    if reason is StopReason.INSEPARABLE:  # as far as floats can tell
        certificate = _verdict(problem)
        if isinstance(certificate, Inseparable | QuasiSeparable):
            return certificate
        reason = StopReason.ROUNDING
        if isinstance(certificate, Separable):
            plane = certificate.hyperplane
            planes.append(np.append(plane.w, plane.b))
            with suppress(Halt), clock.task(Kind.SIDES, CANONICAL * problem.source.n_entries):
                planes = canonical_planes(problem.judged(None), planes[0])
            if not problem.is_small():
                solver.begin_at(np.ldexp(plane.w, problem.moved.exponent))
                reason = solver.run()
        else:
            reason = solver.run()
    fit = proved_fit(problem, None, solver, reason, tol, planes)
    if planes or fit.optimum.margin > 0 or fit.stop_reason is not StopReason.ROUNDING:
        return fit
    # Nobody knows whether there is a hyperplane that separates: better one with slack than none.
    soft = soft_margin(problem, problem.total, tol, None, report)
    return replace(soft, stop_reason=StopReason.ROUNDING, certificate=None)


def _verdict(problem: MarginProblem) -> Any:
    """Whether a hyperplane separates the samples that count, proved; row numbers are the data's."""
    left, used = problem.samples.clock.left(), problem.used
    clock = Clock(None if left == np.inf else max(0.0, left))
    rows, source = np.flatnonzero(used), problem.source
    if len(rows) < len(used):
        source = only(source, used)
    # The maximum margin has just been looked for.
    found = proved(source, problem.samples.team, problem.positive, clock, quick=False)
    names = [name for name in ("support", "on", "spanning_support") if hasattr(found, name)]
    return replace(found, **{name: rows[getattr(found, name)] for name in names})


def rounds(
    callback: Callable[[MarginRound], None] | None, number: int, problem: MarginProblem
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

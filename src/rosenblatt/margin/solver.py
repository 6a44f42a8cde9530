"""A two-class problem, moved to where solvers are at ease, and its best hyperplane."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.rows import as_matrix, as_rows, row_weights
from rosenblatt.data.sources import changed, is_dense, map_pieces, only, signed_stack, stack
from rosenblatt.margin.proving import canonical_planes, proved_fit
from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.nearest.soft_margin import SoftMargin
from rosenblatt.nearest.standing import Start
from rosenblatt.nearest.working_set import Samples, largest_number
from rosenblatt.proofs import duality
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    MarginFit,
    MarginRound,
    QuasiSeparable,
    Separable,
    StopReason,
)
from rosenblatt.running.clock import Clock, Halt, Kind
from rosenblatt.running.notes import Notes
from rosenblatt.separation.function import proved

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.columns import Column
    from rosenblatt.data.rows import Block
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.exact.blocks import Stack
    from rosenblatt.nearest.standing import Best, Progress
    from rosenblatt.running.threads import Team

    Report = Callable[[int, Best, Progress], None]

SOME, DISTANT = 500, 1e3  # rows to look at; distances from the origin in terms of their spread
DEAREST = 1e40  # C in units of the data, as far as solvers can reckon with it
CHEAPEST = 1e-30  # the smallest price of a sample, as a share of the largest
LARGEST = 230  # powers of two: the fourth power of a number this large, and its inverse, are floats
FULL = 0.5  # entries of a sparse matrix, as a share, with which it is an array in disguise
MOST_NUMBERS, MOST_FEATURES = 300_000, 400  # up to which exact arithmetic is tried
CANONICAL = 2  # proofs that a canonical form takes

# The problem ------------------------------------------------------------------------------------


class Moved(NamedTuple):
    """Where the samples of a solver are: ``x/2**exponent - origin``; None: no origin."""

    origin: Floats | None
    exponent: int


class Place(NamedTuple):
    """Data, and the same moved to where solvers are at ease, if they are not there."""

    source: Source
    near: Source
    moved: Moved
    largest: float | None = None  # the largest size of a number, if none is moved


class MarginProblem(NamedTuple):
    """A two-class problem, ready to be solved."""

    source: Source
    X: Stack  # its rows
    samples: Samples  # those of the source, or moved
    weights: Floats | None  # a weight per sample; None: all 1
    moved: Moved
    positive: int  # the class that is +1

    @classmethod
    def of(cls, place: Place, positive: int, team: Team, clock: Clock) -> MarginProblem:
        """Class `positive` against the rest, with its own weights."""
        source, near, moved, largest = place
        weights = None
        if source.weighted:
            parts = list(map_pieces(source, partial(_weights, positive), team))
            weights = np.concatenate(parts)
            weights = None if (weights == 1.0).all() else weights
        samples = Samples(near, team, positive, clock)
        if largest is not None:
            samples.largest = largest
        X = signed_stack(source, positive, samples.y)
        return cls(source, X, samples, weights, moved, positive)

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

    def judged(self, C: float | None) -> duality.Judged:
        """The problem as it is judged."""
        return duality.Judged(self.X, self.samples.y, self.weights, C)

    def prices(self, C: float) -> Column:
        """``c_i = C s_i/N`` for the samples, within what a solver can reckon with."""
        with np.errstate(over="ignore"):
            unit = float(np.ldexp(C, 2 * self.moved.exponent))
        size = float(self.samples.largest) or 1.0
        near = min(max(unit, 1 / DEAREST / size**2), DEAREST / size**2)
        c = self.judged(near).bounds()
        if self.weights is None:  # all alike
            return self.samples.constant(float(c[0]))
        return self.samples.column(np.where(self.used, np.maximum(c, CHEAPEST * c.max()), 0.0))

    def is_small(self) -> bool:
        """Whether the data are small enough for exact arithmetic."""
        n, d = self.X.shape
        return n * d <= MOST_NUMBERS and d <= MOST_FEATURES


def _weights(positive: int, piece: Piece, team: Team) -> Floats:
    return row_weights(piece.block, positive)


def placed(source: Source, team: Team) -> Place:
    """The data, moved if that helps.

    Sums over numbers that differ only in their last digits lose the others, so that samples far
    from the origin for how close they are get another one; and powers of very large or small
    numbers are no floats. Either takes a copy.
    """
    X, (n, d) = stack(source), (source.n_rows, source.n_features)
    largest = largest_number(X, team)
    exponent = int(np.frexp(largest)[1]) if largest else 0
    exponent = exponent if abs(exponent) > LARGEST else 0
    origin = None
    if is_dense(source) or source.n_entries >= FULL * n * d:
        some = _smaller(X[np.arange(0, n, max(1, n // SOME))], exponent)
        origin = _origin(some if isinstance(some, np.ndarray) else some.toarray())
    moved = Moved(origin, exponent)
    if origin is None and not exponent:
        return Place(source, source, moved, largest)

    def change(piece: Piece) -> Block:
        rows = _smaller(as_matrix(piece.block.rows, d), exponent)
        if origin is not None:
            rows = (rows if isinstance(rows, np.ndarray) else rows.toarray()) - origin
        return piece.block._replace(rows=as_rows(rows))

    return Place(source, changed(source, change, weighted=source.weighted), moved)


def _smaller(X: Any, exponent: int) -> Any:
    """The rows over ``2**exponent``; a copy, unless that is 1."""
    if not exponent:
        return X
    X = X.astype(np.float64)
    part = X if isinstance(X, np.ndarray) else X.data
    np.ldexp(part, -exponent, out=part)
    return X


def _origin(some: Any) -> Floats | None:
    """A sample to measure from, if the samples are far from 0 for how close they are."""
    some = some.astype(np.float64, copy=False)
    origin: Floats = some[0].copy()  # the difference of two close floats is exact
    spread = np.abs(some - origin).max(axis=0)
    far = (np.abs(origin) > DISTANT * spread)[spread > 0].any()
    return origin if far else None


# Its solution -----------------------------------------------------------------------------------


def soft_margin(
    problem: MarginProblem,
    C: float,
    tol: float,
    start: Start | None = None,
    report: Report | None = None,
    notes: Notes | None = None,
) -> MarginFit:
    """The soft-margin hyperplane; `start` is one that may be close."""
    solver = SoftMargin(problem.samples, problem.prices(C), tol, report, notes)
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
    (c,) = samples.at(support, problem.prices(C))
    # Multipliers at their bound are so at another price too, as far as one can tell.
    at_bound = alpha >= (1 - 1e-9) * c * (optimum.C or np.inf) / C
    start = np.where(at_bound, c, np.minimum(alpha, c))
    if not start.any():
        return None
    b = 2 * plane.b - float(problem.plane(plane.w, plane.b)[-1])
    return Start(plane.w, b, float(start.max()), samples.only_at(support, start))


def max_margin(
    problem: MarginProblem, tol: float, report: Report | None = None, notes: Notes | None = None
) -> MarginFit | Inseparable | QuasiSeparable:
    """The maximum-margin hyperplane, or the proof that there is none."""
    notes = notes or Notes()
    used = None if problem.weights is None else problem.used
    solver = MaxMargin(problem.samples, used, tol, report, notes)
    clock, reason = problem.samples.clock, solver.run()
    fit = None
    if reason is not StopReason.INSEPARABLE:  # as far as floats can tell
        fit = proved_fit(problem, None, solver, reason, tol)
        if fit.optimum.margin > 0 or fit.stop_reason is not StopReason.ROUNDING:
            return fit
        problem.samples.clock = clock
    certificate, reason = _verdict(problem, notes.of("verdict")), StopReason.ROUNDING
    if isinstance(certificate, Inseparable | QuasiSeparable):
        return certificate
    planes: list[Floats] = []
    if isinstance(certificate, Separable):
        plane = certificate.hyperplane
        planes.append(np.append(plane.w, plane.b))
        with suppress(Halt), clock.task(Kind.SIDES, CANONICAL * problem.source.n_entries):
            planes = canonical_planes(problem.judged(None), planes[0])
        if not problem.is_small():
            solver.begin_at(np.ldexp(plane.w, problem.moved.exponent))
            reason = solver.run()
    elif fit is None:
        reason = solver.run()
    fit = proved_fit(problem, None, solver, reason, tol, planes)
    if planes or fit.optimum.margin > 0 or fit.stop_reason is not StopReason.ROUNDING:
        return fit
    # Nobody knows whether there is a hyperplane that separates: better one with slack than none.
    soft = soft_margin(problem, problem.total, tol, None, report, notes.of("soft"))
    return replace(soft, stop_reason=StopReason.ROUNDING, certificate=None)


def _verdict(problem: MarginProblem, notes: Notes) -> Any:
    """Whether a hyperplane separates the samples that count, proved; row numbers are the data's."""
    left, used = problem.samples.clock.left(), problem.used
    clock = Clock(None if left == np.inf else max(0.0, left))
    rows, source = np.flatnonzero(used), problem.source
    if len(rows) < len(used):
        source = only(source, used)
    # The maximum margin has just been looked for.
    team, positive = problem.samples.team, problem.positive
    found = proved(source, team, positive, clock, quick=False, notes=notes)
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

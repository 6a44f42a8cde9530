"""Mistake bounds, and the two lemmas of their proof along a run.

A bound must hold in spite of rounding. So radii are rounded up and margins down before they go
into a formula (`theory` has them), by what the dot products of the data can be off.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt import theory
from rosenblatt.bounds.hinge import least_sum
from rosenblatt.bounds.loops import replay
from rosenblatt.data.rows import as_rows
from rosenblatt.nearest.signed_vectors import Projected, U
from rosenblatt.results import Hyperplane, MistakeBound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.nearest.signed_vectors import Vectors
    from rosenblatt.results import Updates

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ENTRIES = 1 << 24  # numbers to go through between two chances to interrupt


class Run(NamedTuple):
    """What kind of run a bound is for.

    Attributes
    ----------
    start : float array
        The start guess, bias last.
    eta : float
    update : str
    size : int
        Samples per update.
    epochs : int or None
    visits : int
        Samples used in an epoch.
    once : bool
        Whether an epoch uses no sample twice.
    """

    start: Floats
    eta: float
    update: str
    size: int
    epochs: int | None
    visits: int
    once: bool = True


class Found(NamedTuple):
    """A bound, and its vector ``θ*`` (bias last) of length one, or zero."""

    bound: MistakeBound
    theta: Floats


class Bounds:
    """The bounds for one problem and one kind of run."""

    def __init__(self, vectors: Vectors, run: Run) -> None:
        self.z, self.run = vectors, run
        self.R = vectors.radius()
        self.length = math.hypot(*run.start.tolist())
        # Squares must neither overflow nor vanish; a power of two divides all lengths exactly.
        self._exponent = 0 if 1e-100 < self.R < 1e100 else math.frexp(self.R)[1]
        up = 1 + vectors.slack
        self._reach = math.sqrt(run.size) * self._scaled(self.R) * up
        self._guess = self._scaled(self.length) / run.eta * up

    def _scaled(self, length: float) -> float:
        """A length over ``2^exponent``."""
        return math.ldexp(length, -self._exponent)

    def best(self, theta: Floats | None, separable: bool | None) -> Found | None:
        """The smallest bound that is known; None: there is none.

        `theta` is the best vector that separates, if there is one.
        """
        found = [] if theta is None else [self._for_ever(theta)]
        if self.run.epochs is not None:
            found += self._in_epochs(None)
        return self._smallest(found, separable)

    def of(self, theta: Floats) -> Found | None:
        """The smallest bound with ``θ*`` along theta; None: there is none, it does not separate."""
        separates = self.z.margin(theta, self.R) > 0
        found = [self._for_ever(theta)] if separates else []
        if self.run.epochs is not None:
            found += self._in_epochs(theta)
        return self._smallest(found, True if separates else None)

    def _smallest(self, found: list[Found], separable: bool | None) -> Found | None:
        if not found:
            return None
        bound, theta = min(found, key=lambda one: one.bound.bound)
        return Found(replace(bound, separable=separable), theta)

    def _along(self, theta: Floats) -> tuple[float, float]:
        """``θ₀·θ*``, and the same over ``η``, scaled and rounded down."""
        along = float(self.run.start @ theta)
        return along, self._scaled(along) / self.run.eta - self.z.slack * self._guess

    def _made(self, theta: Floats, bound: float, gamma: float, shortfall: float = 0.0) -> Found:
        """A bound with all that it follows from."""
        run = self.run
        made = MistakeBound(
            R=self.R,
            gamma=gamma,
            bound=bound,
            hyperplane=Hyperplane(theta[:-1], theta[-1]) if theta.any() else None,
            update=run.update,
            batch_size=run.size,
            eta0=run.eta,
            epochs=run.epochs,
            shortfall=shortfall,
            along=self._along(theta)[0],
            length=self.length,
        )
        return Found(made, theta)

    def _for_ever(self, theta: Floats) -> Found:
        """``(R/γ)²`` and its kin, however many epochs there are."""
        unit = _unit(theta)
        gamma = self.z.margin(unit, self.R)
        if not gamma > 0:  # rounding the length to one has turned it too far
            unit = np.ldexp(theta, -int(np.frexp(np.abs(theta).max())[1]))
            if not self.z.margin(unit, self.R) > 0:  # or numbers have vanished
                unit = theta
            gamma = self.z.margin(unit, self.R)
        low = self._scaled(gamma) * (1 - self.z.slack)
        if not low > 0:  # a margin too small for floats
            return self._made(unit, math.inf, max(gamma, 0.0))
        if self.length:
            along = self._along(unit)[1]
            bound = theory.mistake_bound_from_guess(self._reach, low, along, self._guess)
        else:
            bound = theory.mistake_bound_value(self._reach, low)
        return self._made(unit, bound * (1 + 16 * U), gamma)

    def _in_epochs(self, given: Floats | None) -> list[Found]:
        """What holds for so many epochs, separable or not."""
        run = self.run
        assert run.epochs is not None
        visits = float(run.epochs * run.visits)
        zero = np.zeros(self.z.size)
        found = [self._made(zero, visits, 1.0, math.sqrt(run.visits))]
        v = self._trade(given) if run.once and math.isfinite(self.R) else zero
        if v.any():
            found.append(self._short(v))
        return found

    def _trade(self, given: Floats | None) -> Floats:
        """The vector, of any length or of a given direction, with the smallest bound.

        It is the one for the data divided by ``2^exponent``.
        """
        assert self.run.epochs is not None
        root, reach, exponent = math.sqrt(self.run.epochs), self._reach, self._exponent
        if given is None:
            return least_sum(self.z.divided(exponent), reach, root)
        unit = _unit(given)
        scale = least_sum(Projected(np.ldexp(self.z.values(unit), -exponent)), reach, root)
        return max(float(scale[0]), 0.0) * unit

    def _short(self, v: Floats) -> Found:
        """``((R + √E·D)/γ)²`` for ``γ = 2^exponent/‖v‖``; it holds for any v, best or not."""
        z, run = self.z, self.run
        assert run.epochs is not None
        norm = float(np.linalg.norm(v))
        unit, gamma = v / norm, 1 / norm
        missing = np.maximum(gamma - z.divided(self._exponent).values(unit), 0.0)
        shortfall = float(np.linalg.norm(missing)) * (1 + z.n * U)
        shortfall += math.sqrt(z.n) * z.slack * self._scaled(self.R)
        along = self._along(unit)[1] if self.length else 0.0
        low = gamma * (1 - 4 * U)
        bound = theory.mistake_bound_in_epochs(
            self._reach, low, shortfall, run.epochs, along=along, length=self._guess
        )
        terms = (float(np.ldexp(length, self._exponent)) for length in (gamma, shortfall))
        return self._made(unit, bound * (1 + 16 * U), *terms)


def _unit(theta: Floats) -> Floats:
    """The vector at length one, whatever its scale."""
    scaled = np.ldexp(theta, -int(np.frexp(np.abs(theta).max())[1]))
    unit: Floats = scaled / np.linalg.norm(scaled)
    return unit


# The run --------------------------------------------------------------------------------------


class Course(NamedTuple):
    """A run at its start and after each update.

    Attributes
    ----------
    mistakes : int array
        So far.
    progress, length2 : float arrays
        ``θ·θ*`` and ``‖θ‖²``.
    theta : float array
        Where it ended.
    """

    mistakes: Ints
    progress: Floats
    length2: Floats
    theta: Floats


def follow(updates: Updates, n_updates: int, X: Any, star: Floats) -> Course:
    """Do the recorded updates once more, and measure θ after each.

    X is a matrix, or a Stack: of it, as many rows as are needed in turn.

    Of a batch that was halted, mistakes are recorded though it never became an update:
    `n_updates` leaves it out.
    """
    theta = np.append(updates.start.w, updates.start.b)
    ends = np.searchsorted(updates.update, np.arange(n_updates), side="right")
    progress, length2 = np.empty(n_updates + 1), np.empty(n_updates + 1)
    progress[0], length2[0] = theta @ star, theta @ theta
    sums, begin = np.zeros_like(theta), 0
    share, bias = max(1, ENTRIES // len(theta)), float(updates.fit_intercept)
    for a in range(0, n_updates, share):
        z = min(a + share, n_updates)
        part = slice(begin, int(ends[z - 1]))
        needed, sample = np.unique(updates.sample[part], return_inverse=True)
        replay(
            as_rows(X[needed]),
            sample.astype(np.uint64),
            updates.step[part],
            ends[a:z] - begin,
            updates.eta,
            bias,
            theta,
            sums,
            star,
            progress[a + 1 : z + 1],
            length2[a + 1 : z + 1],
        )
        begin = part.stop
    return Course(np.append(0, ends), progress, length2, theta)


def allowances(course: Course, bound: MistakeBound, slack: float) -> tuple[Floats, Floats]:
    """By how much rounding can have moved ``θ·θ*`` and ``‖θ‖²``, in the run and in measuring them.

    An update of k mistakes, in all ``r = ηkR`` long, is off by ``e <= u‖θ‖ + (k + 3)u·r``. That
    changes ``θ·θ*`` by e and ``‖θ‖²`` by ``2e(‖θ‖ + r)``. And a mistake is one by its rounded
    value, so that ``y(θ·x̃)`` can be above zero by ``slack·‖θ‖R``.
    """
    length = np.sqrt(course.length2)
    k = np.diff(course.mistakes)
    r = bound.eta0 * bound.R * k
    larger = np.maximum(length[1:], length[:-1])
    off = U * larger + (k + 3) * U * r
    longer = 2 * slack * length[:-1] * r + 2 * off * (larger + r) + off**2
    scale = np.abs(bound.along) + bound.eta0 * course.mistakes * bound.gamma
    progress = np.append(0.0, np.cumsum(off)) + slack * (length + scale)
    length2 = np.append(0.0, np.cumsum(longer)) + 2 * slack * (
        course.length2 + bound.length2_bound(course.mistakes)
    )
    return 2 * progress, 2 * length2

"""Mistake bounds, and the two lemmas of their proof along a run.

A bound must hold in spite of rounding. So radii are rounded up and margins down before they go
into a formula (`theory` has them), by what the dot products of the data can be off.

Where nothing separates, the best bound is a trade between a short vector and one that leaves
little to be desired: ``f(v) = a‖v‖ + b‖(1 - Zv)₊‖₂`` over the signed vectors ``z`` is convex. It is
minimised by Newton's method with exact line searches; for squared norms this is how O. Chapelle
trains a support vector machine in the primal (Neural Computation 19, 2007). The second norm has
a kink at zero, where the minimum may be if the data are separable: it is rounded off,
``√(‖·‖² + ε²)``, less and less. Any v gives a bound, so that nothing rests on finding the best.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from rosenblatt import theory
from rosenblatt.nearest.directions import conjugate_gradients
from rosenblatt.nearest.signed_vectors import Projected, U
from rosenblatt.results import Hyperplane, MistakeBound
from rosenblatt.running.clock import Halt
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats
    from rosenblatt.nearest.signed_vectors import Vectors

    Signed = Vectors | Projected

DIRECT = 1200  # numbers in a vector up to which systems are solved by Cholesky's method
QUICK = 5e9  # products that setting up such a system may take in any case
STEPS, CONJUGATE_STEPS = 100, 100
ENOUGH = 1e-11  # what a step would gain, as a share of the value, when it is good enough
ROUND, SHARP = 1e-2, 1e-9  # the first ε and the last, as shares of √n


class KindOfRun(NamedTuple):
    """What kind of run a bound is for."""

    start: Floats  # the start guess, bias last
    eta: float
    update: str
    size: int  # samples per update
    epochs: int | None
    visits: int  # samples used in an epoch
    once: bool = True  # whether an epoch uses no sample twice
    rivals: int = 1  # vectors of each sample, of which a visit may add one
    shards: int = 1  # that are mixed: what is said of mistakes holds for their mean


class Found(NamedTuple):
    """A bound, and its vector ``θ*`` (bias last) of length one, or zero."""

    bound: MistakeBound
    theta: Floats


class Bounds:
    """The bounds for one problem and one kind of run.

    `late` tells that some of them were not found because the vectors' time was over.
    """

    def __init__(self, vectors: Any, run: KindOfRun) -> None:
        self.z: Any = vectors
        self.run, self.late = run, False
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

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Do something, unless there is no time for it."""
        try:
            yield
        except Halt:
            self.late = True

    def best(self, theta: Floats | None, separable: bool | None) -> Found | None:
        """The smallest bound that is known; None: there is none.

        `theta` is the best vector that separates, if there is one.
        """
        found = []
        if theta is not None:
            with self.in_time():
                found.append(self._for_ever(theta))
        if self.run.epochs is not None:
            found += self._in_epochs(None)
        return self._smallest(found, separable)

    def of(self, theta: Floats) -> Found | None:
        """The smallest bound with ``θ*`` along theta; None: there is none, it does not separate."""
        separates, found = False, []
        with self.in_time():
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
            shards=run.shards,
            eta0=run.eta,
            epochs=run.epochs,
            shortfall=shortfall,
            along=self._along(theta)[0],
            length=self.length,
        )
        return Found(made, theta)

    def _for_ever(self, theta: Floats) -> Found:
        """``(R/γ)²`` and its kin, however many epochs there are."""
        run = self.run
        unit = self._unit(theta)
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
        return self._made(unit, run.shards * bound * (1 + 16 * U), gamma)

    def _in_epochs(self, given: Floats | None) -> list[Found]:
        """What holds for so many epochs, separable or not."""
        run = self.run
        assert run.epochs is not None
        visits = float(run.epochs * run.visits)
        zero = np.zeros(self.z.size)
        found = [self._made(zero, visits, 1.0, math.sqrt(run.visits))]
        if not run.once or not math.isfinite(self.R):
            return found
        with self.in_time():
            v = self._trade(given)
            if v.any():
                found.append(self._short(v))
        return found

    def _trade(self, given: Floats | None) -> Floats:
        """The vector, of any length or of a given direction, with the smallest bound.

        It is the one for the data divided by ``2^exponent``.
        """
        assert self.run.epochs is not None
        root = math.sqrt(self.run.epochs / self.run.shards)
        reach, exponent = self._reach, self._exponent
        if given is None:
            return least_sum(self.z.divided(exponent), reach, root)
        unit = self._unit(given)
        scale = least_sum(Projected(np.ldexp(self.z.values(unit), -exponent)), reach, root)
        return max(float(scale[0]), 0.0) * unit

    def _short(self, v: Floats) -> Found:
        """``((R + √E·D)/γ)²`` for ``γ = 2^exponent/‖v‖``; it holds for any v, best or not."""
        z, run = self.z, self.run
        assert run.epochs is not None
        norm = self._length(v)
        unit, gamma = v / norm, 1 / norm
        missing = np.maximum(gamma - self._values(unit), 0.0)
        missing = missing.reshape(-1, run.rivals).max(axis=1)
        shortfall = float(np.linalg.norm(missing)) * (1 + z.n * U)
        shortfall += math.sqrt(z.n) * z.slack * self._scaled(self.R)
        along = self._along(unit)[1] if self.length else 0.0
        low = gamma * (1 - 4 * U)
        missed = shortfall / math.sqrt(run.shards) * (1 + 4 * U)
        bound = theory.mistake_bound_in_epochs(
            self._reach, low, missed, run.epochs, along=along, length=self._guess
        )
        terms = (float(np.ldexp(length, self._exponent)) for length in (gamma, shortfall))
        return self._made(unit, run.shards * bound * (1 + 16 * U), *terms)

    def _unit(self, theta: Floats) -> Floats:
        """The vector at length one, whatever its scale."""
        scaled = np.ldexp(theta, -int(np.frexp(np.abs(theta).max())[1]))
        unit: Floats = scaled / self._length(scaled)
        return unit

    def _length(self, theta: Floats) -> float:
        """``‖θ‖``."""
        return float(np.linalg.norm(theta))

    def _values(self, unit: Floats) -> Floats:
        """``z·θ`` of every sample over ``2^exponent``."""
        values: Floats = self.z.divided(self._exponent).values(unit)
        return values


# The trade ------------------------------------------------------------------------------------


def least_sum(z: Signed, a: float, b: float) -> Floats:
    """``argmin_v a‖v‖ + b‖(1 - Zv)₊‖₂`` for positive a and b; zeros if that is it."""
    with one_blas_thread():  # with more of them the order of additions depends on how many
        return _least_sum(z, a, b)


def _least_sum(z: Signed, a: float, b: float) -> Floats:
    v, values = np.zeros(z.size), np.zeros(z.n)
    pull = z.gather(np.ones(z.n))
    if b * float(np.linalg.norm(pull)) <= a * math.sqrt(z.n):
        return v  # no direction falls at zero
    direction = pull / np.linalg.norm(pull)
    eps, sharp = (e * math.sqrt(z.n) for e in (ROUND, SHARP))
    for _ in range(STEPS):
        moved = z.values(direction)
        step = _line(a, b, eps, (v, direction), (values, moved))
        v, values = v + step * direction, values + step * moved
        short = np.maximum(1.0 - values, 0.0)
        gradient, direction = _newton(z, a, b, eps, v, short)
        value = a * float(np.linalg.norm(v)) + b * math.hypot(float(np.linalg.norm(short)), eps)
        if step == 0.0 or -float(gradient @ direction) <= ENOUGH * value:
            if eps == sharp:
                break
            blunt = float(np.linalg.norm(short)) < 30 * eps
            eps = max(eps / 20, sharp) if blunt else sharp
            gradient, direction = _newton(z, a, b, eps, v, short)
    return v


def _newton(
    z: Signed, a: float, b: float, eps: float, v: Floats, short: Floats
) -> tuple[Floats, Floats]:
    """The gradient at v, and Newton's step from there; it goes down in any case."""
    length, missing = float(np.linalg.norm(v)), math.hypot(float(np.linalg.norm(short)), eps)
    active, pull = short > 0, z.gather(short) / missing
    unit, first, second = v / length, a / length, b / missing
    gradient = a * unit - b * pull
    if z.size <= DIRECT or z.n * z.size**2 <= QUICK:
        matrix = second * (z.gram(active) - np.outer(pull, pull))
        matrix[np.diag_indices(z.size)] += first
        matrix -= first * np.outer(unit, unit)
        solved = _solve(matrix, -gradient)
    else:

        def times(d: Floats) -> Floats:
            curved = z.gather(np.where(active, z.values(d), 0.0)) - pull * float(pull @ d)
            product: Floats = first * (d - unit * float(unit @ d)) + second * curved
            return product

        solved = conjugate_gradients(times, -gradient, 1.0, CONJUGATE_STEPS)
    return gradient, solved if float(solved @ gradient) < 0 else -gradient


def _solve(matrix: Floats, right: Floats) -> Floats:
    """The solution for a positive matrix, which rounding may have made a little less so."""
    diagonal = matrix.diagonal()
    scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-14 * float(diagonal.max())))
    matrix = matrix * scale[:, np.newaxis] * scale
    matrix[np.diag_indices(len(scale))] += 1e-12
    try:
        solved: Floats = scale * cho_solve(cho_factor(matrix), scale * right)
    except LinAlgError:
        solved = scale * np.linalg.lstsq(matrix, scale * right, rcond=1e-12)[0]
    return solved


def _line(
    a: float, b: float, eps: float, v: tuple[Floats, Floats], values: tuple[Floats, Floats]
) -> float:
    """The step that minimises f from ``v[0]`` along ``v[1]``; 0 if there is none."""
    (x, p), (here, moved) = v, values
    xx, xp, pp = float(x @ x), float(x @ p), float(p @ p)

    def slope(s: float) -> float:
        short = np.maximum(1.0 - here - s * moved, 0.0)
        length = math.sqrt(max(xx + s * (2 * xp + s * pp), 1e-300))
        missing = math.hypot(float(np.linalg.norm(short)), eps)
        return a * (xp + s * pp) / length - b * float(short @ moved) / missing

    low, high = 0.0, 1.0
    if xx and not slope(0.0) < 0:
        return 0.0
    while slope(high) < 0 and high < 1e100:
        low, high = high, 4 * high
    while not low and high > 1e-100:  # of the first step even the scale is unknown
        if slope(high / 4) < 0:
            low = high / 4
        else:
            high /= 4
    if not low or slope(high) < 0:
        return low
    return float(brentq(slope, low, high, xtol=1e-4 * low, maxiter=60, disp=False))

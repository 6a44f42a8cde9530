"""The trade between a short vector and one that leaves little to be desired.

``f(v) = a‖v‖ + b‖(1 - Zv)₊‖₂`` over the signed vectors ``z`` of the samples is convex. It is
minimised by Newton's method with exact line searches; for squared norms this is how O. Chapelle
trains a support vector machine in the primal (Neural Computation 19, 2007). The second norm has
a kink at zero, where the minimum may be if the data are separable: it is rounded off,
``√(‖·‖² + ε²)``, less and less.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DIRECT = 1200  # numbers in a vector up to which systems are solved by Cholesky's method
STEPS, CONJUGATE_STEPS = 100, 100
ENOUGH = 1e-11  # what a step would gain, as a share of the value, when it is good enough
ROUND, SHARP = 1e-2, 1e-9  # the first ε and the last, as shares of √n


class Signed(Protocol):
    """Vectors ``z``, the rows of ``Z``."""

    n: int
    size: int

    def values(self, v: Floats) -> Floats:
        """``Zv``."""
        ...

    def gather(self, u: Floats) -> Floats:
        """``Zᵀu``."""
        ...

    def gram(self, chosen: NDArray[np.bool_]) -> Floats:
        """``ZᵀZ`` over the chosen rows."""
        ...


def least_sum(z: Signed, a: float, b: float) -> Floats:
    """``argmin_v a‖v‖ + b‖(1 - Zv)₊‖₂``, zeros if that is it.

    Parameters
    ----------
    z : Signed
    a, b : float
        Positive.
    """
    v, values = np.zeros(z.size), np.zeros(z.n)
    pull = z.gather(np.ones(z.n))
    if b * float(np.linalg.norm(pull)) <= a * math.sqrt(z.n):
        return v  # no direction falls at zero
    direction, eps, sharp = (
        pull / np.linalg.norm(pull),
        *(e * math.sqrt(z.n) for e in (ROUND, SHARP)),
    )
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
    if z.size <= DIRECT:
        matrix = second * (z.gram(active) - np.outer(pull, pull))
        matrix[np.diag_indices(z.size)] += first
        matrix -= first * np.outer(unit, unit)
        solved = _solve(matrix, -gradient)
    else:

        def times(d: Floats) -> Floats:
            curved = z.gather(np.where(active, z.values(d), 0.0)) - pull * float(pull @ d)
            product: Floats = first * (d - unit * float(unit @ d)) + second * curved
            return product

        solved = _conjugate_gradients(times, -gradient)
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


def _conjugate_gradients(times: Callable[[Floats], Floats], right: Floats) -> Floats:
    """An approximate solution; every iterate of the method is a direction of descent."""
    p, r = np.zeros_like(right), right
    d, rr = r, float(r @ r)
    enough = 1e-4 * rr
    for _ in range(CONJUGATE_STEPS):
        product = times(d)
        curvature = float(d @ product)
        if curvature <= 0:
            return p if p.any() else right
        p, r = p + rr / curvature * d, r - rr / curvature * product
        rr, before = float(r @ r), rr
        if rr <= enough:
            break
        d = r + rr / before * d
    return p


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

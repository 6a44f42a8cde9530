"""Between what the widest margin lies, whatever rounding did: for when the question stays open.

``max_(w,b) min_i y_i(w·x_i + b)/‖w‖`` is at least the margin of any hyperplane, and at most half
the distance of any two points of the two convex hulls. Both are computed in floats, with all
that rounding may have done to them on the safe side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.exact.blocks import blocks
from rosenblatt.exact.sides import Form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.nearest.working_set import Samples

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ULP = 2.0**-52  # twice the relative error of one rounding


class Mixture(NamedTuple):
    """A point in each convex hull: rows of both classes and weights that are not negative."""

    rows: Ints
    weights: Floats


def means(rows: Ints) -> Mixture:
    """The means of the classes over some rows."""
    return Mixture(rows, np.ones(len(rows)))


class Points(NamedTuple):
    """The points of the two hulls over ``2**power``, at most about 1, with bounds on errors."""

    one: tuple[Floats, Floats]
    other: tuple[Floats, Floats]
    power: int


def points(samples: Samples, mixture: Mixture) -> Points:
    """The two points of a mixture."""
    X = samples.gather(mixture.rows)[:, :-1]
    power = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    X, y = np.ldexp(X, -power), samples.y[mixture.rows]
    one, other = (_point(X[y == side], mixture.weights[y == side]) for side in (1.0, -1.0))
    return Points(one, other, power)


def _point(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The weighted mean, and bounds on its error."""
    total = weights.sum()
    mean, size = weights @ X / total, weights @ np.abs(X) / total
    return mean, size * (2 * (len(weights) + 8) * ULP) + 2.0**-1000


def line(points: Points) -> Floats | None:
    """``(w, b)`` halfway between the two points; None where floats cannot hold it."""
    one, other, power = points.one[0], points.other[0], points.power
    w = one - other
    size = float(np.abs(w).max(initial=0.0))
    if not 0 < size < np.inf:
        return None
    w = np.ldexp(w, -int(np.frexp(size)[1]))
    b = -float(w @ (one + other)) / 2
    lift = max(0, power + int(np.frexp(b)[1]) - 1000)
    theta = np.append(np.ldexp(w, -lift), np.ldexp(b, power - lift))
    return theta if theta[:-1].any() else None


def at_most(points: Points) -> float:
    """Half the distance of the two points, rounded up; infinite where that fails."""
    one, other, power = points
    apart = np.abs(one[0] - other[0])
    apart += apart * ULP + one[1] + other[1]
    length = float(np.linalg.norm(apart)) * (1 + (len(apart) + 8) * ULP)
    half = np.nextafter(np.ldexp(length, power - 1), np.inf)
    return float(half) if half >= 0 else np.inf


def at_least(samples: Samples, theta: Floats) -> float:
    """The margin of a hyperplane, rounded down; minus infinity where that fails."""
    least, sizes = np.inf, np.zeros(samples.d)
    for _, block in blocks(samples.matrix):
        sizes = np.maximum(sizes, block.largest())
    form = Form(theta.tolist(), sizes)
    for start, block in blocks(samples.matrix):
        values, errors = form.values(block)
        side = samples.y[start : start + len(block)]
        low = float((values * side - 2 * errors).min(initial=np.inf))
        least = min(least, _over_length(low, form.scale, theta[:-1]))
    return least


def _over_length(low: float, scale: int, w: Floats) -> float:
    """``low * 2**scale / ‖w‖``, rounded down."""
    power = int(np.frexp(np.abs(w).max(initial=0.0))[1])
    length = float(np.linalg.norm(np.ldexp(w, -power)))
    length *= 1 + (1 if low > 0 else -1) * (len(w) + 8) * ULP
    if not (0 < length < np.inf and np.isfinite(low)):
        return -np.inf
    mantissa, exponent = np.frexp(low)
    found = np.ldexp(mantissa / length, int(exponent) + scale - power)
    return float(np.nextafter(found, -np.inf)) if np.isfinite(found) else -np.inf

"""One round of the method of multipliers for margins with slack.

For samples with multipliers ``α``, bounds ``c`` and slacks ``t = 1 - y(w·x + b)``, the round
minimises over (w, b) ::

    ½‖w‖² + Σ max { a t - (μ/2k)(a - α)² : 0 <= a <= c }

which is the soft-margin objective with the corner of every hinge rounded off around the present
multiplier [1]_. The maximising ``a = clip(α + k t/μ, 0, c)`` are the next multipliers: they
satisfy ``w = Σ a y x`` and ``Σ a y = 0`` at the minimum, so that they bound the optimum from
below. Only the samples in the *band*, whose ``a`` is not clipped, bend the function, and the
smaller μ and the better the multipliers, the fewer they are. It is piecewise quadratic, and
Newton's method with a line search finds its minimum in a few steps.

References
----------
.. [1] R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm
   in convex programming", Mathematics of Operations Research 1(2), 1976.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.linalg.blas import dsyrk

from rosenblatt.loops import slack
from rosenblatt.rows import as_rows
from rosenblatt.solvers.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.loops.slack import Multipliers
    from rosenblatt.solvers.working_set import Samples

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DIRECT = 3000  # unknowns up to which systems are solved by Cholesky's method
SPARSE = 600  # unknowns from which few entries make conjugate gradients quicker
FULL, MANY = 0.3, 10**7  # entries, as a share, and in all, to make a sparse matrix an array
ALIKE = 1e4
SMALL = 10**8  # operations below which a second thread is not worth waking
STEPS, CONJUGATE_STEPS = 60, 200


class Live(NamedTuple):
    """The samples that take part in a round, and the others as what their multipliers sum to.

    Attributes
    ----------
    samples : Samples
    multipliers : Multipliers
    pull : float array
        ``Σ α y x`` over the others.
    balance, constant : float
        ``Σ α y`` and ``Σ α`` over them.
    """

    samples: Samples
    multipliers: Multipliers
    pull: Floats
    balance: float = 0.0
    constant: float = 0.0


class Round(NamedTuple):
    """Where a round ended.

    Attributes
    ----------
    w, b : float array, float
    alpha : float array
        The new multipliers.
    error : float
        ``½‖w - Σ α y x‖²``, and what the imbalance of the multipliers can make of the dual value.
    rest : float
        ``Σ c max(0, t) - α t``: what is left of the gap beside that.
    steps : int
        Steps of Newton's method; if there are `STEPS` of them, they were not enough.
    """

    w: Floats
    b: float
    alpha: Floats
    error: float
    rest: float
    steps: int


def improve(live: Live, w: Floats, b: float, mu: float, tol: float) -> Round:
    """Minimise the rounded-off objective from (w, b).

    Parameters
    ----------
    live : Live
    w, b : float array, float
        The start.
    mu : float
        The μ above.
    tol : float
        The gap that is asked for in the end, as a share of the objective: a tenth of it is good
        enough here, and so is a tenth of the gap that this round cannot close.
    """
    state, steps = _State(live, w, b, mu), 0
    while True:
        live.samples.clock.look_up()
        error, wanted = state.error(), tol * state.objective()
        left = min(state.rest, state.total + live.constant)
        if error <= 0.1 * wanted and (steps or state.rest <= 0.8 * wanted):
            break
        if (steps and error <= 0.1 * left) or steps == STEPS or not state.step():
            break
        steps += 1
    return Round(state.w, state.b, state.a, error, state.rest, steps)


class _State:
    """An iterate and everything that is known there."""

    def __init__(self, live: Live, w: Floats, b: float, mu: float) -> None:
        self.live, self.mu, self.w, self.b = live, mu, w, b
        self.samples, self.m = live.samples, live.multipliers
        self.a, self._band = np.empty(self.samples.n), np.empty(self.samples.n, np.int64)
        self.s = self.samples.values(np.append(w, 0.0))
        self.measure()

    def measure(self) -> None:
        """The multipliers at this point, and the gradient."""
        found = slack.clip(self.m, self.s, self.mu, self.b, self.a, self._band)
        count, self.total, balance, self.loss, self.rest = found
        self.band = self._band[:count]
        self.gradient = self.w - self.live.pull - self.samples.total(self.a)
        self.slope_b = -self.live.balance - balance

    def error(self) -> float:
        """How far the multipliers are from satisfying their equations, in the gap's units."""
        length = 0.5 * float(self.gradient @ self.gradient)
        return length + abs(self.slope_b) * (1.0 + abs(self.b))

    def objective(self) -> float:
        """A bound on the soft-margin objective, the slack of the others left as it was."""
        live, w = self.live, self.w
        others = live.constant - float(live.pull @ w) - live.balance * self.b
        return max(0.5 * float(w @ w) + self.loss + others, 0.5 * float(w @ w), 1e-300)

    def step(self) -> bool:
        """One step of Newton's method; False where rounding has left nothing to gain."""
        curvature = self.m.scale[self.band] / self.mu
        least = 1e-6 * float(self.m.scale.max()) / self.mu
        x = self.samples.take(self.band)
        dw, db = direction(x, curvature, self.gradient, self.slope_b, least)
        if not (np.isfinite(db) and np.isfinite(dw).all()):
            return False
        ds = self.samples.values(np.append(dw, 0.0))
        at_zero = float((self.w - self.live.pull) @ dw) - self.live.balance * db
        per_step = float(dw @ dw)

        def slope(step: float) -> float:
            moved = slack.slope(self.m, self.s, ds, self.mu, self.b, db, step)
            return at_zero + step * per_step - moved

        length = _line(slope, float(self.gradient @ dw) + self.slope_b * db)
        if length == 0.0:
            return False
        self.w, self.b = self.w + length * dw, self.b + length * db
        self.s += length * ds
        self.measure()
        return True


def _line(slope: Callable[[float], float], first: float) -> float:
    """A step from 0 to where the slope, `first` at 0 and rising, is all but zero."""
    if not first < 0:
        return 0.0
    low, at_low, high = 0.0, first, 1.0
    at_high = slope(high)
    while at_high < 0.3 * first and high < 1e8:
        low, at_low, high = high, at_high, 4 * high
        at_high = slope(high)
    if at_high <= -0.1 * first:
        return high
    step = high
    for k in range(60):
        share = at_low / (at_low - at_high) if k % 3 < 2 else 0.5
        step = low + share * (high - low)
        value = slope(step)
        if abs(value) <= -0.1 * first:
            break
        if value < 0:
            low, at_low = step, value
        else:
            high, at_high = step, value
    return step


def direction(
    X: Any, weight: Floats, gradient: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """Newton's step for ``½‖w‖² + ½ Σ weight_i (w·x_i + b)²`` and a gradient.

    By normal equations of the size of w, or of the number of rows where these are fewer, or by
    conjugate gradients where both are many. `least` is a curvature along b that is there at least.

    Parameters
    ----------
    X : array or CSR matrix of shape (k, d)
        An array is changed.
    weight : float array of shape (k,)
    gradient, slope_b : float array of shape (d,), float
    least : float
    """
    k, d = X.shape
    if not k:
        return -gradient, -slope_b / least
    with ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        if min(k, d) ** 2 * (k if isinstance(X, np.ndarray) else min(k, d)) < SMALL:
            stack.enter_context(one_blas_thread())
        few = min(k, d)
        if not isinstance(X, np.ndarray) and X.size > FULL * k * d and k * d < MANY:
            X = X.toarray()
        if few > DIRECT or (few > SPARSE and 4 * CONJUGATE_STEPS * X.size < few**3):
            return _by_conjugate_gradients(X, weight, gradient, slope_b, least)
        # Around their mean the rows have w and b apart, and lose no digits to a distant origin.
        total = float(weight.sum())
        centre = (X.T @ weight) / total
        about = gradient - centre * slope_b
        try:
            if isinstance(X, np.ndarray) and not _alike(X):
                dw = _by_least_squares(X, weight, centre, about)
            elif k < d:
                return _by_rows(X, weight, centre, about, slope_b, least)
            else:
                dw = -_solve(_curvature(X, weight, centre, total), about)
        except LinAlgError:
            return _by_conjugate_gradients(X, weight, gradient, slope_b, least)
        return dw, -slope_b / (total + least) - float(centre @ dw)


def _alike(X: Floats) -> bool:
    """Whether the columns are of similar sizes, so that a sum over them has digits of all."""
    sizes = np.maximum(X.max(axis=0), -X.min(axis=0))
    return bool(sizes.max() <= ALIKE * sizes[sizes > 0].min(initial=np.inf))


def _by_least_squares(X: Floats, weight: Floats, centre: Floats, about: Floats) -> Floats:
    """The same step from ``min ‖dw + about‖² + Σ weight_i (dw·(x_i - centre))²``.

    Slower, but columns of very different sizes keep twice the digits.
    """
    d = X.shape[1]
    X -= centre
    X *= np.sqrt(weight)[:, np.newaxis]
    X = X[np.argsort(-np.abs(X).max(axis=1))]  # the method of Householder wants large rows first
    A, right = np.vstack([X, np.eye(d)]), np.concatenate([np.zeros(len(X)), -about])
    solved: Floats = lstsq(A, right, lapack_driver="gelsy", check_finite=False)[0]
    return solved


def _curvature(X: Any, weight: Floats, centre: Floats, total: float) -> Floats:
    """``I + Σ weight_i (x_i - centre)(x_i - centre)ᵀ``: the lower triangle of it."""
    d = X.shape[1]
    if isinstance(X, np.ndarray):
        X -= centre
        X *= np.sqrt(weight)[:, np.newaxis]
        H: Floats = dsyrk(1.0, X.T, lower=1)
    else:
        H = np.zeros((d, d))
        slack.gram(as_rows(X), weight, H)  # type: ignore[arg-type]
        H -= total * np.outer(centre, centre)
    H.flat[:: d + 1] += 1.0
    return H


def _solve(H: Floats, right: Floats) -> Floats:
    """Cholesky's method on the lower triangle, which is lost."""
    factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    solved: Floats = cho_solve(factor, right, check_finite=False)
    return solved


def _by_rows(
    X: Any, weight: Floats, centre: Floats, about: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """The same step from a system of the size of the number of rows, by Woodbury's formula."""
    dense = isinstance(X, np.ndarray)
    if dense:
        X -= centre
        K = X @ X.T
        seen = X @ about
    else:
        K = (X @ X.T).toarray()
        across = X @ centre
        K += float(centre @ centre) - across - across[:, np.newaxis]
        seen = X @ about - float(centre @ about)
    K.flat[:: len(K) + 1] += 1.0 / weight
    sides = np.column_stack([np.ones(len(K)), -seen])
    one, other = _solve(K, sides).T
    db = (-slope_b - float(other.sum())) / (float(one.sum()) + least)
    pulls = other + one * db
    dw = -about - X.T @ pulls
    if not dense:
        dw += centre * pulls.sum()
    return dw, db - float(centre @ dw)


def _by_conjugate_gradients(
    X: Any, weight: Floats, gradient: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """The same step roughly; every iterate of the method is a direction of descent."""
    p, r = np.zeros(len(gradient) + 1), -np.append(gradient, slope_b)
    square = (X**2).T @ weight if isinstance(X, np.ndarray) else X.multiply(X).T @ weight
    inverse = 1.0 / np.append(1.0 + square, weight.sum() + least)
    z = inverse * r
    v, rz = z, float(r @ z)
    enough = 1e-4 * rz
    across = X.T  # of a sparse matrix this is an object to make once
    for _ in range(CONJUGATE_STEPS):
        curved = weight * (X @ v[:-1] + v[-1])
        product = np.append(v[:-1] + across @ curved, curved.sum() + least * v[-1])
        step = rz / float(v @ product)
        p, r = p + step * v, r - step * product
        z = inverse * r
        rz, before = float(r @ z), rz
        if not rz > enough:
            break
        v = z + rz / before * v
    return p[:-1], float(p[-1])


def polished(samples: Samples, alpha: Floats, c: Floats) -> Floats | None:
    """Multipliers without the rounding that small μ bring, if it is clear which are not clipped.

    The samples with ``0 < α < c`` are taken to be exactly on the edges of the margin. With the
    other multipliers as they are, that determines w, and these multipliers, by two linear
    systems. None if one of them then leaves its bounds.
    """
    free = np.flatnonzero((alpha > 0) & (alpha < c))
    if not 1 < free.size <= samples.d + 1 or free.size * samples.d > MANY:
        return None
    X, y, others = samples.take(free), samples.y[free], alpha.copy()
    X = X if isinstance(X, np.ndarray) else X.toarray()
    others[free] = 0.0
    missing, centre = -float(others @ samples.y), X.mean(axis=0)
    X -= centre
    there = samples.total(others) + missing * centre
    size = float(np.abs(X).max()) or 1.0
    with np.errstate(all="ignore"):
        seen = X @ there
        more = lstsq(X / size, (y - y.mean() - seen + seen.mean()) / size, check_finite=False)[0]
        A, right = np.vstack([X.T / size, np.ones(len(X))]), np.append(more / size, missing)
        new = y * lstsq(A, right, check_finite=False)[0]
    if not ((new > 0).all() and (new < c[free]).all()):
        return None
    others[free] = new
    return others

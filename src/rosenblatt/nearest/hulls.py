"""The shortest weighted sum of vectors: the one small problem under every margin.

For vectors ``z_i`` and groups of them::

    minimise   r·λ + (M/2)‖Σ λ_i z_i‖²     over λ >= 0 that sum to 1 in each group

Its dual, solved along with it, is a hyperplane through the origin::

    maximise   Σ_g t_g - ‖θ‖²/(2M)         with z_i·θ + r_i = t_g(i) + s_i,  s_i >= 0

and at the optimum ``θ = M Σ λ_i z_i`` and ``λ_i s_i = 0``. With ``r = 0``:

- one group, signed augmented samples: ``θ/‖θ‖`` is the unit vector with the widest margin;
- two groups, the classes, and samples signed but not augmented: θ is the normal of the
  maximum-margin hyperplane, its bias is free, and the sum joins the nearest points of the two
  convex hulls; it is zero exactly if the hulls meet.

With a random ``r > 0`` and a large ``M`` the sum is all but zero where it can be, and λ is a
vertex: as few samples as possible that meet.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.linalg.blas import dsyrk

from rosenblatt.running.threads import blas_threads_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats


ROTATION = 4  # times the products of a step
TINY = 1e-300
VANISHES = 1e-12  # a sum this small beside its terms is zero as far as floats can tell


class Nearest(NamedTuple):
    """Where the method ended.

    `theta` is ``M Σ λ_i z_i``, and ``z_i·θ + r_i >= t`` for the samples of each group. `weights`
    and `slack` are λ and s, all positive: of the two, the one that tends to zero is the smaller,
    and `gap` is what ``λ·s`` has come down to. `meets` says that the sum vanishes, as far as
    floats can tell.
    """

    theta: Floats
    t: Floats
    weights: Floats
    slack: Floats
    meets: bool
    gap: float


def shortest_sum(
    Z: Floats,
    groups: Floats,
    offsets: Floats | None = None,
    stiffness: float = 1.0,
    tol: float = 1e-9,
    look_up: Callable[[float], None] | None = None,
) -> Nearest:
    """Solve the problem above by a primal-dual interior-point method.

    Mehrotra's predictor and corrector [1]_, on normal equations of the size of θ, or of the
    number of samples if that is smaller. Every iteration costs one product ``Zᵀ D Z``; there
    are 10 to 25.

    Parameters
    ----------
    Z : float array of shape (m, d)
    groups : float array of shape (m, G)
        1 where a sample belongs to a group, otherwise 0. A sample may belong to none: then its
        weight is only at least 0.
    offsets : float array of shape (m,), optional
        The ``r`` above.
    stiffness : float
        The ``M`` above.
    tol : float
        Stop when the gap ``λ·s`` is below this share of the objective.
    look_up : function, optional
        Called before every iteration, and whatever else takes long, with the number of products
        that it takes; may raise to end the work.

    References
    ----------
    .. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
       Journal on Optimization 2(4), 1992.
    """
    products = Z.size * min(Z.shape)
    with ExitStack() as stack:
        # Where rounding spoils a step, the one before it counts.
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(blas_threads_for(products))
        if Z.shape[0] < Z.shape[1]:  # rotate into the space that the samples span
            if look_up is not None:
                look_up(ROTATION * products)
            Q, R = qr(Z.T, mode="economic", check_finite=False)
            found = shortest_sum(
                np.ascontiguousarray(R.T), groups, offsets, stiffness, tol, look_up
            )
            return found._replace(theta=Q @ found.theta)
        if look_up is not None:
            look_up(products)
        state = _Iterate(Z, groups, offsets, stiffness)
        result = state.result()
        for k in range(100):
            if k and look_up is not None:
                look_up(products)
            if state.meets() or state.is_optimal(tol) or not state.step():
                break
            result = state.result()
    return result


class _Iterate:
    """An iterate, in the symbols of the problem above."""

    def __init__(self, Z: Floats, A: Floats, offsets: Floats | None, stiffness: float) -> None:
        self.Z, self.A, self.M = Z, A, stiffness
        self.r = np.zeros(len(Z)) if offsets is None else offsets
        self.perturbed = offsets is not None
        self.size = np.abs(Z).max(axis=1)
        sums = A.sum(axis=0)
        self.weights = A @ (1 / sums)
        self.weights[self.weights == 0] = 1 / len(Z)
        self.theta = self.M * (Z.T @ self.weights)
        values = Z @ self.theta + self.r
        grouped = [values[A[:, g] > 0].min() for g in range(A.shape[1])]
        start = values - A @ np.array(grouped)
        lift = 1e-3 * max(np.abs(values).max(), start.max(), 1e-300)
        self.t = np.array(grouped) - lift
        self.s = np.maximum(values - A @ self.t, lift)
        self.measure()

    def measure(self) -> None:
        """How far the iterate is from satisfying each equation."""
        self.sum = self.Z.T @ self.weights
        self.off_sum = self.sum - self.theta / self.M
        self.off_groups = 1 - self.A.T @ self.weights
        self.off_slack = self.Z @ self.theta + self.r - self.A @ self.t - self.s
        self.gap = float(self.weights @ self.s)

    def meets(self) -> bool:
        """Whether the weighted sum vanishes beside its terms."""
        if self.perturbed:
            return False
        return bool(np.abs(self.sum).max() <= VANISHES * (self.weights @ self.size))

    def is_optimal(self, tol: float) -> bool:
        """Whether the gap is small beside the objective, and the equations hold."""
        if self.perturbed:
            return self.gap <= tol * float(self.r @ self.weights)
        objective = float(self.sum @ self.sum)
        close = np.abs(self.off_sum).max() <= 1e-6 * np.abs(self.sum).max()
        return self.gap <= tol * self.M * objective and bool(close)

    def result(self) -> Nearest:
        """The iterate as it stands."""
        return Nearest(self.theta, self.t, self.weights, self.s, self.meets(), self.gap)

    def step(self) -> bool:
        """One iteration; False where rounding has left nothing to gain."""
        Z, A = self.Z, self.A
        if not self.gap > 0:
            return False
        D = self.weights / self.s
        root = np.sqrt(D)
        root[root < 1e-20 * root.max()] = 0.0  # numbers below the normal ones are slow
        H = dsyrk(1.0, (Z * root[:, np.newaxis]).T)  # the upper triangle of ZᵀDZ
        H.flat[:: len(H) + 1] += 1 / self.M
        B = Z.T @ (A * D[:, np.newaxis])
        try:
            factor = cho_factor(H, overwrite_a=True, check_finite=False)
            across = cho_solve(factor, B, check_finite=False)
            schur = np.diag(D @ A) - B.T @ across

            def direction(target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
                q = (target - self.weights * self.off_slack) / self.s
                x = cho_solve(factor, self.off_sum + Z.T @ q, check_finite=False)
                dt = np.linalg.solve(schur, self.off_groups - A.T @ q + B.T @ x)
                dtheta = x + across @ dt
                ds = Z @ dtheta - A @ dt + self.off_slack
                return dtheta, dt, ds, (target - self.weights * ds) / self.s

            _, _, ds, dw = direction(-self.weights * self.s)
            a = min(_length(self.s, ds), _length(self.weights, dw))
            reached = float((self.weights + a * dw) @ (self.s + a * ds))
            centre = (reached / self.gap) ** 3 * self.gap / len(Z)
            dtheta, dt, ds, dw = direction(centre - self.weights * self.s - dw * ds)
        except np.linalg.LinAlgError:
            return False
        a = min(_length(self.s, ds), _length(self.weights, dw))
        a = 1.0 if a == 1.0 else 0.995 * a
        if not (a > 1e-8 and np.isfinite(dtheta @ dtheta + dw @ dw)):
            return False
        self.theta, self.t = self.theta + a * dtheta, self.t + a * dt
        # What rounding has made zero would stay zero, and divide by it.
        self.s = np.maximum(self.s + a * ds, TINY)
        self.weights = np.maximum(self.weights + a * dw, TINY)
        self.measure()
        return True


def _length(x: Floats, dx: Floats) -> float:
    """The longest step, at most 1, that keeps x positive."""
    shrinking = dx < 0
    return min(1.0, float((x[shrinking] / -dx[shrinking]).min())) if shrinking.any() else 1.0

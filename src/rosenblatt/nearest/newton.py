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

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq

from rosenblatt.exact import solve
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.directions import MANY, newton_step
from rosenblatt.nearest.slacks import count, filled, largest, sides_of
from rosenblatt.running.clock import Kind
from rosenblatt.tree_sums import TILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Signs
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece
    from rosenblatt.nearest.slacks import Pull
    from rosenblatt.nearest.sums import Adding
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.threads import Team


EXACT = 300  # unknowns up to which a system may be solved without rounding
STEPS = 60  # of Newton's method in a round, at most


class Live(NamedTuple):
    """The samples that take part in a round, and what the others add up to.

    Attributes
    ----------
    samples : Samples
    c : column
        The bounds of their multipliers.
    most : float
        The largest of these.
    alpha : column
        Where their multipliers begin.
    reach : float
        k is this, or half of c if that is less.
    pull : Pull
        The others.
    """

    samples: Samples
    c: Column
    most: float
    alpha: Column
    reach: float
    pull: Pull


class Round(NamedTuple):
    """Where a round ended.

    Attributes
    ----------
    w, b : float array, float
    alpha : column
        The new multipliers.
    total, largest : float
        What they sum to, and the largest of them.
    error : float
        ``½‖w - Σ α y x‖²``, and what the imbalance of the multipliers can make of the dual value.
    rest : float
        ``Σ c max(0, t) - α t``: what is left of the gap beside that.
    steps : int
        Steps of Newton's method; if there are `STEPS` of them, they were not enough.
    """

    w: Floats
    b: float
    alpha: Any
    total: float
    largest: float
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
    look_up, numbers = live.samples.clock.pieces(Kind.NEWTON), live.samples.source.n_entries
    look_up(numbers)
    state, steps = _State(live, w, b, mu), 0
    while True:
        look_up(numbers)
        error, wanted = state.error(), tol * state.objective()
        left = min(state.rest, state.total + live.pull.total)
        if error <= 0.1 * wanted and (steps or state.rest <= 0.8 * wanted):
            break
        if (steps and error <= 0.1 * left) or steps == STEPS or not state.step():
            break
        steps += 1
    most = largest(live.samples, state.a)
    return Round(state.w, state.b, state.a, state.total, most, error, state.rest, steps)


class _State:
    """An iterate and everything that is known there."""

    def __init__(self, live: Live, w: Floats, b: float, mu: float) -> None:
        self.live, self.samples, self.mu, self.w, self.b = live, live.samples, mu, w, b
        self.s = self.samples.products(w)
        self.measure()

    def measure(self) -> None:
        """The multipliers at this point, and the gradient."""
        live, samples, sign = self.live, self.samples, self.samples.sign
        clipped = partial(filled, slack.clip, (live.reach, self.mu, self.b))
        self.a = samples.written(clipped, sign, self.s, live.c, live.alpha)
        sizes = [(5, TILE), (2 * samples.d, samples.tile)]
        task = partial(_measure, self.b, samples.width)
        (found, sums), _ = samples.added(sizes, task, sign, self.s, live.c, self.a)
        band, self.total, balance, self.loss, self.rest = map(float, found)
        self.band, d = int(band), samples.d
        self.gradient = self.w - live.pull.w - (sums[d:] - sums[:d])
        self.slope_b = -live.pull.balance - balance

    def error(self) -> float:
        """How far the multipliers are from satisfying their equations, in the gap's units."""
        length = 0.5 * float(self.gradient @ self.gradient)
        return length + abs(self.slope_b) * (1.0 + abs(self.b))

    def objective(self) -> float:
        """A bound on the soft-margin objective, the slack of the others left as it was."""
        pull, w = self.live.pull, self.w
        others = pull.total - float(pull.w @ w) - pull.balance * self.b
        return max(0.5 * float(w @ w) + self.loss + others, 0.5 * float(w @ w), 1e-300)

    def step(self) -> bool:
        """One step of Newton's method; False where rounding has left nothing to gain."""
        live, samples = self.live, self.samples
        bent = partial(filled, slack.bend, (live.reach, self.mu))
        weight = samples.written(bent, live.c, self.a)
        least = 1e-6 * min(0.5 * live.most, live.reach) / self.mu
        args = weight, self.band, self.gradient, self.slope_b, least
        try:
            dw, db = newton_step(samples, *args)
        except np.linalg.LinAlgError:
            return False
        if not (np.isfinite(db) and np.isfinite(dw).all()):
            return False
        ds, pull = samples.products(dw), live.pull
        at_zero = float((self.w - pull.w) @ dw) - pull.balance * db
        per_step = float(dw @ dw)
        columns = samples.sign, self.s, ds, live.c, live.alpha

        def rise(step: float) -> float:
            task = partial(_slope, (live.reach, self.mu, self.b, db, step))
            (moved,), _ = samples.added([(1, TILE)], task, *columns)
            return at_zero + step * per_step - float(moved[0])

        length = _line(rise, float(self.gradient @ dw) + self.slope_b * db)
        if length == 0.0:
            return False
        self.w, self.b = self.w + length * dw, self.b + length * db
        self.s = samples.written(partial(filled, slack.shift, (length,)), self.s, ds)
        self.measure()
        return True


def _measure(
    b: float, width: int, piece: Piece, team: Team, add: Adding, y: Any, s: Any, c: Any, a: Any
) -> None:
    add(0, slack.measure, y, s, c, a, b)
    add(1, slack.pulls, piece.block.rows, y, a, width=width)


def _slope(
    numbers: tuple[float, ...], piece: Piece, team: Team, add: Adding, *columns: Any
) -> None:
    add(0, slack.slopes, *columns, *numbers)


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


def polished(samples: Samples, alpha: Column, c: Column) -> Any:
    """Multipliers without the rounding that small μ bring, if it is clear which are not clipped.

    The samples with ``0 < α < c`` are taken to be exactly on the edges of the margin. With the
    other multipliers as they are, that determines w, b and these multipliers by a linear system,
    which is solved without rounding if it is small, otherwise by least squares. None if one of
    them then leaves its bounds.
    """
    mask = samples.written(_between, alpha, c, dtype=np.bool_)
    free = count(samples, mask)
    if not 1 < free <= samples.d + 1 or free * samples.d > MANY:
        return None
    rows = samples.listed(mask)
    X, (y, high) = samples.take(rows), samples.at(rows, samples.sign, c)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    others = sides_of(samples, samples.replaced(alpha, mask, np.zeros(free))).pull()
    if sum(X.shape) <= EXACT:
        new = _exactly(X, y, others.w, -others.balance)
    else:
        new = _by_two_systems(X, y, others.w, -others.balance)
    if new is None or not ((new > 0).all() and (new < high).all()):
        return None
    return samples.replaced(alpha, mask, new)


def _between(piece: Piece, team: Team, out: Any, alpha: Any, c: Any) -> None:
    out[:] = (alpha > 0) & (alpha < c)


def _exactly(X: Floats, y: Signs, pull: Floats, missing: float) -> Floats | None:
    """The α with ``w = pull + Σ α y x``, ``w·x + b = y`` and ``Σ α y = missing``, rounded once."""
    k, d = X.shape
    A = np.zeros((d + k + 1, d + k + 1))
    A[:d, :d], A[:d, d:-1], A[d:-1, :d] = np.eye(d), -X.T, X
    A[d:-1, -1] = A[-1, d:-1] = 1.0
    try:
        solution = solve(A, np.concatenate([pull, y, [missing]]))
    except ValueError:  # not unique
        return None
    return None if solution is None else y * solution.floats()[d:-1]


def _by_two_systems(X: Floats, y: Signs, pull: Floats, missing: float) -> Floats:
    """The same in floats: first w, which is easier to have precisely, then α."""
    centre = X.mean(axis=0)
    X = X - centre
    there = pull + missing * centre
    seen, size = X @ there, float(np.abs(X).max()) or 1.0
    right = (y - y.mean() - seen + seen.mean()) / size
    more = lstsq(X / size, right, check_finite=False)[0]
    # Every equation may be scaled: with columns of all sizes, that saves digits.
    scale = 1.0 / np.maximum(np.abs(X).max(axis=0), 1e-300)
    A = np.vstack([X.T * scale[:, np.newaxis], np.ones(len(X))])
    solved: Floats = y * lstsq(A, np.append(more * scale, missing), check_finite=False)[0]
    return solved

"""The widest margin in feature space: its dual problem, in kernel values, on a working set.

::

    minimise   ½ α·Qα - Σ α_i     over α >= 0,     Q_ij = z_i·z_j

The solution is the shortest ``θ = Σ α_i z_i`` with ``z_i·θ >= 1`` for all i, so that the widest
margin is ``1/‖θ‖``. Only samples that θ has at 1 have weight. So the problem is solved on a few;
one pass over all samples finds those that the answer has below 1; the worst of them join; and so
on until there are none. Any α tells something: the widest margin is at least that of θ, and at
most ``‖θ‖/Σα``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rosenblatt.nearest.scans import worst
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.separation.kernel_vectors import KernelVectors

FIRST = 50  # samples of each class to begin with
JOIN = 100  # samples that join at a time, at least
NEAR = 1.5  # what z·θ may be for a sample to stay without weight
TOL = 1e-9  # of the margin
FAINT = 5e-8  # a margin, beside R, that rounding hides
MOST = 10  # times that weights become positive, for each there is
ENTER = 50  # weights that become positive at a time
PROXIMAL = 1e-12  # added to the diagonal, beside the largest number there
ROUNDS = 3  # after which what was added has been taken away again


class DualMargin(NamedTuple):
    """What is known of the widest margin.

    `theta` has the widest margin that was found, `low`, which rounding may have made to look
    better or worse, and no vector has a wider one than `high`, which is rounded up.
    """

    theta: Floats
    low: float
    high: float


def widest(z: KernelVectors, R: float, first: bool = False) -> DualMargin:
    """The vector with the widest margin, as far as floats can tell.

    Or the `first` that separates the samples by more than rounding.
    """
    best = DualMargin(np.zeros(z.size), -math.inf, R)
    if not (0 < R < 1e150):
        return best
    rows = _begin(z)
    alpha = np.zeros(len(rows))
    while rows.size:
        z.clock.look_up()
        alpha = dual_weights(z.gram(rows), alpha, z.clock.look_up)
        theta = np.zeros(z.size)
        theta[rows] = alpha
        values, off, length = z.scores(theta)
        total = float(alpha.sum())
        if not (length > 0 and math.isfinite(total)):
            return best
        low, high = float(values[z.used].min()) / length, length / total * (1 + 1e-12)
        certain = first and bool((values > off)[z.used].all())
        if certain or low > best.low:
            best = best._replace(theta=theta, low=low)
        best = best._replace(high=min(high, best.high))
        if certain or best.low >= best.high * (1 - TOL) or best.high < FAINT * R:
            return best
        values[z.sign == 0] = np.inf
        new = worst(values, 1 - TOL, max(JOIN, int((alpha > 0).sum())), rows)
        if not new.size:
            return best
        stay = (alpha > 0) | (values[rows] < NEAR)
        rows = np.concatenate([rows[stay], new])
        alpha = np.concatenate([alpha[stay], np.zeros(len(new))])
    return best


def _begin(z: KernelVectors) -> Ints:
    """A few samples of either class, at random: in order they may all be alike."""
    chosen, rng = [], np.random.default_rng(FIRST)
    for members in (np.flatnonzero(z.sign < 0), np.flatnonzero(z.sign > 0)):
        few = len(members) <= FIRST
        chosen.append(members if few else rng.choice(members, FIRST, replace=False))
    return np.sort(np.concatenate(chosen))


def dual_weights(Q: Floats, alpha: Floats, look_up: Callable[[], None]) -> Floats:
    """The α that solves the problem above, from a first guess, as far as floats can tell.

    The method of Lawson and Hanson [1]_: of the weights that are 0 those of samples farthest below
    1 may become positive, and then none may fall below 0. Samples may be dependent; so a little is
    added to the diagonal, and on the right, too, times the last solution: in a few rounds it has
    no effect [2]_. `look_up` is called now and then, and may raise to end the work.

    References
    ----------
    .. [1] C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", chapter 23, 1974.
    .. [2] R. T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM Journal
       on Control and Optimization 14(5), 1976.
    """
    size = float(Q.diagonal().max())
    if not 0 < size < math.inf:
        return np.zeros(len(Q))
    Q, alpha = Q / size, alpha * size
    Q.flat[:: len(Q) + 1] += PROXIMAL
    with one_blas_thread():
        for _ in range(ROUNDS):
            before, alpha = alpha, _pivoted(Q, 1 + PROXIMAL * alpha, alpha, look_up)
            if np.array_equal(before, alpha):
                break
    return alpha / size


def _pivoted(Q: Floats, right: Floats, alpha: Floats, look_up: Callable[[], None]) -> Floats:
    """``½ α·Qα - right·α`` made as small as it can be over ``α >= 0``."""
    alpha, enter = _downhill(Q, right, alpha.copy(), alpha > 0, look_up), ENTER
    for _ in range(MOST * len(Q)):
        used = np.flatnonzero(alpha)
        short = right - Q[:, used] @ alpha[used]
        short[used] = 0.0
        new = np.flatnonzero(short > 0.1 * TOL)
        if not new.size:
            return alpha
        new = new[np.argsort(-short[new], kind="stable")[:enter]]
        positive = alpha > 0
        positive[new] = True
        alpha = _downhill(Q, right, alpha, positive, look_up)
        if not alpha[new].any():  # together they were too many
            if enter == 1:
                break
            enter = 1
    return alpha


def _downhill(
    Q: Floats,
    right: Floats,
    alpha: Floats,
    positive: np.ndarray,
    look_up: Callable[[], None],
) -> Floats:
    """From α to where the weights that may be positive are best, and back where one would not be.

    There that one stays 0, and the others go on.
    """
    chosen = np.flatnonzero(positive)
    while chosen.size:
        look_up()
        try:
            factor = cho_factor(Q[np.ix_(chosen, chosen)], overwrite_a=True, check_finite=False)
        except LinAlgError:
            return alpha
        here, aim = alpha[chosen], cho_solve(factor, right[chosen], check_finite=False)
        low = aim <= 0
        if not low.any():
            alpha[chosen] = aim
            return alpha
        if here[low].all():  # otherwise one is at its end already
            here += float((here[low] / (here[low] - aim[low])).min()) * (aim - here)
        gone = low & (here <= 1e-14 * here.max())
        here[gone] = 0.0
        alpha[chosen] = here
        chosen = chosen[~gone]
    return alpha

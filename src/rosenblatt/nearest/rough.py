"""A rough soft margin from nothing, by way of lower prices where these are beyond the usual."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.nearest.newton import Live, improve
from rosenblatt.nearest.slacks import nobody, sides_of
from rosenblatt.nearest.standing import Start

if TYPE_CHECKING:
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.slacks import Prices
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.notes import Notes
    from rosenblatt.running.threads import Team

ROUGH, FINER = 1.5, 0.3  # the first μ, and what it is multiplied by after a round
ROUNDS = 10  # most rounds where a rough answer will do
USUAL, DEARER, ENOUGH = 3000.0, 30.0, 1e-2  # prices in a usual one; how they rise; a rough gap
STUCK = 4  # prices without a rough answer after which rounding is too much for them


def one_round(
    samples: Samples, c: Column, most: float, alpha: Column, at: Start, mu: float, tol: float
) -> Round:
    """A round on all of some samples."""
    live = Live(samples, c, most, alpha, at.reach, nobody(samples.d))
    return improve(live, at.w, at.b, mu, tol)


def usual_price(samples: Samples) -> float:
    """The highest price of slack that is still a usual one, by how far apart the classes are."""
    hefts, sums = sides_of(samples, samples.constant(1.0))
    means = sums / np.maximum(hefts, 1.0)[:, np.newaxis]
    apart = means[1] - means[0]
    return USUAL * 4.0 / (samples.n * max(float(apart @ apart), 1e-300))


def from_nothing(samples: Samples, prices: Prices, notes: Notes) -> tuple[Start, float]:
    """A rough solution, by way of lower prices if these are far above what is usual; and a μ.

    Where no price is too high, the multipliers stay at the size that the margin gives them; a
    method that expects them to be as large as their bounds would be lost.
    """
    c, most = prices.c, prices.most
    low = min(1.0, max(usual_price(samples) / most, 1e-30))
    at = Start(np.zeros(samples.d), 0.0, low * most, samples.written(partial(_half, low), c))
    mu, stuck, count = ROUGH, 0, 0
    saved = notes.page("nothing")
    if saved is not None:
        start, mu, low, stuck, count = saved
        at = Start(*start)._replace(alpha=samples.column(start[-1]))
    while low < 1.0 and stuck < STUCK:
        now = samples.written(partial(_share, low), c)
        for number in range(count, ROUNDS):
            notes.note("nothing", (at, mu, low, stuck, number))
            alpha = at.multipliers(samples, now)
            done = one_round(samples, now, low * most, alpha, at, mu, ENOUGH)
            at, mu = at.moved(done), mu * FINER
            if done.error + done.rest <= ENOUGH * (0.5 * float(at.w @ at.w) + done.total):
                break
        else:
            stuck += 1
        if not any(samples.asked(_dear, done.alpha, now)):  # higher prices change nothing
            return at, mu
        low = min(1.0, DEARER * low)
        at = at._replace(alpha=samples.written(partial(_raised, low), done.alpha, now, c))
        mu, count = ROUGH, 0
    return at, ROUGH


def _half(low: float, piece: Piece, team: Team, out: Any, c: Any) -> None:
    out[:] = low * c / 2


def _share(low: float, piece: Piece, team: Team, out: Any, c: Any) -> None:
    np.multiply(c, low, out=out)


def _dear(piece: Piece, team: Team, alpha: Any, now: Any) -> bool:
    """Whether a multiplier is far on the way to its price."""
    return bool((alpha >= now / 2).any())


def _raised(low: float, piece: Piece, team: Team, out: Any, alpha: Any, now: Any, c: Any) -> None:
    """Those to half of the next price."""
    out[:] = np.where(alpha >= now / 2, low * c / 2, alpha)

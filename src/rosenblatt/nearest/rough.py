"""A rough soft margin from nothing, by way of lower prices where these are beyond the usual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.nearest.loops import Multipliers
from rosenblatt.nearest.newton import Live, improve
from rosenblatt.nearest.slacks import nobody
from rosenblatt.nearest.standing import Start

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.notes import Notes

ROUGH, FINER = 1.5, 0.3  # the first μ, and what it is multiplied by after a round
ROUNDS = 10  # most rounds where a rough answer will do
USUAL, DEARER, ENOUGH = 3000.0, 30.0, 1e-2  # prices in a usual one; how they rise; a rough gap
STUCK = 4  # prices without a rough answer after which rounding is too much for them


def one_round(
    samples: Samples, c: Floats, alpha: Floats, at: Start, mu: float, tol: float
) -> Round:
    """A round on all of some samples."""
    live = Live(samples, Multipliers(samples.y, c, at.steps(c), alpha), nobody(samples.d))
    return improve(live, at.w, at.b, mu, tol)


def usual_price(samples: Samples) -> float:
    """The highest price of slack that is still a usual one, by how far apart the classes are."""
    y = samples.y
    apart = samples.total(np.where(y > 0, 1 / max((y > 0).sum(), 1), 1 / max((y < 0).sum(), 1)))
    return USUAL * 4.0 / (samples.n * max(float(apart @ apart), 1e-300))


def from_nothing(samples: Samples, c: Floats, notes: Notes) -> tuple[Start, float]:
    """A rough solution, by way of lower prices if these are far above what is usual; and a μ.

    Where no price is too high, the multipliers stay at the size that the margin gives them; a
    method that expects them to be as large as their bounds would be lost.
    """
    low = min(1.0, max(usual_price(samples) / float(c.max()), 1e-30))
    at = Start(np.zeros(samples.d), 0.0, low * float(c.max()), low * c / 2)
    mu, stuck, count = ROUGH, 0, 0
    saved = notes.page("nothing")
    if saved is not None:
        start, mu, low, stuck, count = saved
        at = Start(*start)
    while low < 1.0 and stuck < STUCK:
        now = low * c
        for number in range(count, ROUNDS):
            notes.note("nothing", (at, mu, low, stuck, number))
            done = one_round(samples, now, at.multipliers(now), at, mu, ENOUGH)
            at, mu = at.moved(done), mu * FINER
            if done.error + done.rest <= ENOUGH * (0.5 * float(at.w @ at.w) + done.alpha.sum()):
                break
        else:
            stuck += 1
        if not (done.alpha >= now / 2).any():  # higher prices change nothing
            return at, mu
        low = min(1.0, DEARER * low)
        at = at._replace(alpha=np.where(done.alpha >= now / 2, low * c / 2, done.alpha))
        mu, count = ROUGH, 0
    return at, ROUGH

"""The soft-margin hyperplane: the method of multipliers, on as few rows as will do.

::

    minimise   ½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))

First on a few rows drawn at random, roughly; then from there on eight times as many; and so on up
to all of them. On all rows every round (see `newton`) is followed by one scan, which gives the
objective and the dual value, and tells which rows may still change: the others, far on either
side of the margin for how much their values moved last, *sleep* through the next round as a
single vector, the sum that their multipliers make of them. A row that should have been awake
shows at the next scan; the gap, computed from all rows, does not depend on who slept.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.nearest.coordinates import Pull, descend
from rosenblatt.nearest.loops import Multipliers
from rosenblatt.nearest.newton import STEPS, Live, improve, polished
from rosenblatt.nearest.standing import Best, Progress, Stand, Start, standing_from
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Clock, Halt
from rosenblatt.running.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.working_set import Samples


FIRST, PER_FEATURE, GROWTH = 2000, 20, 8  # rows to begin with, and how many more each time
RARE = 50  # rows of each class that are among them
ROUGH, FINER = 1.5, 0.3  # the first μ, and what it is multiplied by after a round
NEARBY = 1.5  # μ in units of how far values are off after a part of the rows
WARM = 0.03  # μ for a start that may be close
ROUNDS, QUICK = 10, 3  # most rounds where a rough answer will do; steps of a round that is easy
USUAL, DEARER, ENOUGH = 3000.0, 30.0, 1e-2  # prices in a usual one; how they rise; a rough gap
AWAKE = 3.0  # moves of its value by which a row may be from the margin and stay awake
STUCK = 4  # prices without a rough answer after which rounding is too much for them
SHARP, PATIENCE = 1e-8, 4  # below this μ, rounds without much progress after which to stop
REACH, INNER, LOOSE, DEBUG = float(__import__("os").environ.get("REACH",1)), 0.5, float(__import__("os").environ.get("LOOSE",0.03)), __import__("os").environ.get("DEBUG")
VISITS = 5
NOBODY = np.empty(0, np.bool_)


class SoftMargin:
    """A soft-margin problem on its way to being solved.

    Parameters
    ----------
    samples : Samples
    c : float array
        The price of every sample's slack; some of both classes are positive.
    tol : float
        The gap, as a share of the objective, at which to stop.
    report : function, optional
        Called with the number of the round, `Best` and `Progress`. May raise KeyboardInterrupt.
    notes : Notes, optional
        Where the state is noted after every round; if there is one, `run` goes on from it.
    """

    def __init__(
        self,
        samples: Samples,
        c: Floats,
        tol: float,
        report: Callable[[int, Best, Progress], None] | None = None,
        notes: Notes | None = None,
    ) -> None:
        self.samples, self.c, self.tol, self.report = samples, c, tol, report
        self.notes = notes or Notes()
        self.began = time.perf_counter()
        self.trace: list[Progress] = []
        w = np.zeros(samples.d)
        s = np.zeros(samples.n)
        b = best_bias(s, samples.y, c)
        self.best = Best(w, b, loss(s, samples.y, c, b), np.zeros(samples.n), 0.0)
        self.rough = w

    def run(self, start: Start | None = None) -> StopReason:
        """Solve it, from a hyperplane that may be close or from nothing; `best` is the answer."""
        try:
            with np.errstate(all="ignore"):  # what overflows counts for nothing
                ended = self.notes.restored("ended", self._restored)
                if ended is not None:
                    return StopReason(ended["reason"])
                reason = self._on_all_rows(self._begin(start))
                self._note("ended", reason=reason)
                return reason
        except Halt as halt:
            reason = halt.reason
        except KeyboardInterrupt:
            reason = StopReason.INTERRUPTED
        if not self.trace and self.rough.any():  # better one that some rows were asked about
            self.samples.clock = Clock()
            self._offer(self.rough)
        return reason

    def _note(self, page: str, **more: Any) -> None:
        """Note how all rows stand; what was noted about a part of them is of no use any more."""
        self.notes.done(page, {"best": self.best, "trace": self.trace, **more})

    def _restored(self, saved: dict[str, Any]) -> dict[str, Any]:
        """What was noted, which is how it stands now."""
        best = Best(*saved["best"])
        if best.alpha.shape != self.c.shape or best.w.shape != self.rough.shape:
            raise ValueError(best.alpha.shape)
        self.best, self.trace = best, [Progress(*one) for one in saved["trace"]]
        self.began = time.perf_counter() - max((one.seconds for one in self.trace), default=0.0)
        return saved

    def _begin(self, start: Start | None) -> Stand:
        """Where the rounds on all rows begin, or go on."""
        saved = self.notes.restored("all", self._restored)
        if saved is not None:
            return standing_from(saved["stand"])
        found = None if start else self._by_coordinates()
        if found is not None:
            return found
        at, mu = (start, WARM) if start else self._on_few_rows()
        alpha = at.multipliers(self.c)
        return Stand(at._replace(alpha=None), mu, alpha, self.c > 0, 0)

    def _by_coordinates(self) -> Stand | None:
        """Where coordinate descent on a part of the rows leads; None if that is not quick."""
        if self.notes.page("few") is not None or self.notes.page("nothing") is not None:
            return None
        self.samples.clock.look_up()
        order, c, none = self._order(), self.c, np.zeros(self.samples.d)
        size = max(len(order) // GROWTH, 4 * self.samples.d, FIRST)
        if 2 * size >= len(order):
            return Stand(Start(none, 0.0, 0.0), ROUGH, np.zeros(self.samples.n), c > 0, 0, True)
        rows = np.sort(order[:size])
        tol = max(self.tol, 0.1 * self.samples.d / size)
        done = descend(self.samples, rows, self._as_if_all(rows), np.zeros(size), Pull(none), 0.0, tol, VISITS)
        if not done.closed:
            return None
        t = 1.0 - self.samples.values(np.append(done.w, done.b))
        near = np.abs(t) <= REACH * (self.samples.d / size) ** 0.5
        alpha = np.where(t > 0, c, 0.0)
        awake = near & (c > 0)
        at = Start(done.w, done.b, float(done.alpha.max()))
        return Stand(at, ROUGH, alpha, awake if awake.any() else c > 0, 0, True)

    def _on_few_rows(self) -> tuple[Start, float]:
        """A hyperplane from a part of the rows, and how much rounding off suits it."""
        self.samples.clock.look_up()
        order = self._order()
        d, size = self.samples.d, max(PER_FEATURE * self.samples.d, FIRST)
        if 2 * size >= len(order):
            return _from_nothing(self.samples, self.c, self.notes)
        saved = self.notes.page("few")
        size, saved = (size, None) if saved is None else saved
        part, c = self._some(order[:size])
        if saved is None:
            at, mu = _from_nothing(part, c, self.notes)
            alpha, count = at.multipliers(c), 0
        else:
            at, mu, alpha, _, count = standing_from(saved)
        self.rough = at.w
        while True:
            tol = max(self.tol, d / size)
            for number in range(count, ROUNDS):
                self.notes.note("few", (size, Stand(at, mu, alpha, NOBODY, number)))
                done = _round(part, c, alpha, at, mu, tol)
                alpha, mu, at = done.alpha, mu * FINER, at.moved(done)
                self.rough = at.w
                if done.rest <= tol * (0.5 * float(at.w @ at.w) + float(alpha.sum())):
                    break
            at = at._replace(alpha=None)
            mu, size = min(ROUGH, NEARBY * (d / size) ** 0.5), GROWTH * size
            if 2 * size >= len(order):
                return at, mu
            part, c = self._some(order[:size])
            alpha, count = at.multipliers(c), 0

    def _order(self) -> Ints:
        """All rows at random, but some of both classes among the first."""
        order = np.random.default_rng(0).permutation(np.flatnonzero(self.c > 0))
        side = self.samples.y[order]
        late = np.ones(len(order), bool)
        for sign in (-1.0, 1.0):
            late[np.flatnonzero(side == sign)[:RARE]] = False
        return order[np.argsort(late, kind="stable")]

    def _some(self, rows: Ints) -> tuple[Samples, Floats]:
        """The samples of some rows, with prices as if they were all of their classes."""
        rows = np.sort(rows)
        return self.samples.part(rows), self._as_if_all(rows)

    def _as_if_all(self, rows: Ints) -> Floats:
        """Prices of some rows as if they were all of their classes."""
        c, y = self.c[rows], self.samples.y
        for sign in (-1.0, 1.0):
            mine = y[rows] == sign
            c[mine] *= self.c[y == sign].sum() / c[mine].sum()
        return c

    def _on_all_rows(self, stand: Stand) -> StopReason:
        c = self.c
        at, mu, alpha, awake, late, descent = stand
        s = self.samples.values(np.append(at.w, 0.0))
        while True:
            self._note("all", stand=Stand(at, mu, alpha, awake, late, descent))
            before, largest, gap = s, at.largest, self.best.gap
            if descent:
                rows, others = np.flatnonzero(awake), np.where(awake, 0.0, alpha)
                pull = Pull(self.samples.total(others), float(others @ self.samples.y), float(others.sum()))
                found = descend(self.samples, rows, c[rows], alpha[rows], pull, at.b, INNER * max(self.tol, LOOSE * gap), VISITS)
                alpha = alpha.copy()
                alpha[rows] = found.alpha
                even = evened(alpha, self.samples.y)
                w = self.samples.total(even)
                at = Start(w, found.b, float(alpha.max()) or largest)
                s = self.samples.values(np.append(w, 0.0))
                self._judge(s, w, alpha, int(np.count_nonzero(awake)))
                if DEBUG: print("descent", len(rows), found.farthest, found.closed, self.best.gap)
                if self.best.gap <= self.tol:
                    return StopReason.GAP_CLOSED
                descent = found.closed
                mu = min(ROUGH, found.farthest)
                awake = self._awake(alpha, s, np.abs(s - before), at.b)
                continue
            done = improve(self._live(alpha, awake, at.steps(c)), at.w, at.b, mu, self.tol)
            if DEBUG: print("newton", mu, done.steps, np.count_nonzero(awake), self.best.gap)
            if done.steps < STEPS:
                alpha = alpha.copy()  # as noted it stays
                alpha[awake] = done.alpha
            at = Start(done.w, done.b, float(alpha.max()) or largest)
            s = self.samples.values(np.append(at.w, 0.0))
            self._judge(s, at.w, alpha, int(np.count_nonzero(awake)))
            if self.best.gap <= self.tol:
                self._from_multipliers()
                return StopReason.GAP_CLOSED
            late = 0 if self.best.gap < 0.5 * gap else late + 1
            if late >= PATIENCE and (mu < SHARP or late == 4 * PATIENCE):
                return self._polish()
            mu = _next(mu, done, late, at.largest / largest)
            awake = self._awake(alpha, s, np.abs(s - before), at.b)

    def _awake(self, alpha: Floats, s: Floats, moved: Floats, b: float) -> NDArray[np.bool_]:
        """The rows whose multipliers may change, after a round that moved each value so far."""
        y, c = self.samples.y, self.c
        t = 1.0 - s - y * b
        off = np.where(alpha == 0.0, -t, np.where(alpha == c, t, 0.0))
        awake = (off <= AWAKE * np.maximum(moved, moved.mean())) & (c > 0)
        return awake if awake.any() else c > 0

    def _live(self, alpha: Floats, awake: NDArray[np.bool_], steps: Floats) -> Live:
        """The rows that are awake, and what the others sum to."""
        y, c = self.samples.y, self.c
        if awake.all():
            multipliers = Multipliers(y, c, steps, alpha)
            return Live(self.samples, multipliers, np.zeros(self.samples.d))
        rows, others = np.flatnonzero(awake), np.where(awake, 0.0, alpha)
        multipliers = Multipliers(y[rows], c[rows], steps[rows], alpha[rows])
        pull, balance = self.samples.total(others), float(others @ y)
        return Live(self.samples.part(rows), multipliers, pull, balance, float(others.sum()))

    def _judge(self, s: Floats, w: Floats, alpha: Floats, awake: int) -> None:
        """The gap after a round, from all rows."""
        y, c = self.samples.y, self.c
        b = best_bias(s, y, c)
        primal = 0.5 * float(w @ w) + loss(s, y, c, b)
        even = evened(alpha, y)
        pull = self.samples.total(even)
        dual = float(even.sum()) - 0.5 * float(pull @ pull)
        best = self.best
        if primal < best.primal:
            best = best._replace(w=w, b=b, primal=primal)
        if dual > best.dual:
            best = best._replace(alpha=even, dual=dual)
        self.best = best
        seconds = time.perf_counter() - self.began
        self.trace = [*self.trace, Progress(primal, dual, awake, seconds)]
        if self.report is not None:
            self.report(len(self.trace), best, self.trace[-1])

    def _polish(self) -> StopReason:
        """What is left to try where rounding stands in the way."""
        alpha = polished(self.samples, self.best.alpha, self.c)
        if alpha is not None:
            w = self.samples.total(alpha)
            self._judge(self.samples.values(np.append(w, 0.0)), w, alpha, 0)
        return StopReason.GAP_CLOSED if self.best.gap <= self.tol else StopReason.ROUNDING

    def _from_multipliers(self) -> None:
        """Take the w that the multipliers make, if it is good enough: it is the cleaner one."""
        best = self.best
        self._offer(self.samples.total(best.alpha), np.inf)
        if self.best.gap > self.tol:
            self.best = best

    def _offer(self, w: Floats, most: float | None = None) -> None:
        """Take w if its objective is not above the best one's, or `most`."""
        y, c = self.samples.y, self.c
        s = self.samples.values(np.append(w, 0.0))
        b = best_bias(s, y, c)
        primal = 0.5 * float(w @ w) + loss(s, y, c, b)
        if primal <= (self.best.primal if most is None else most):
            self.best = self.best._replace(w=w, b=b, primal=primal)


def _round(samples: Samples, c: Floats, alpha: Floats, at: Start, mu: float, tol: float) -> Round:
    """A round on all of some samples."""
    live = Live(samples, Multipliers(samples.y, c, at.steps(c), alpha), np.zeros(samples.d))
    return improve(live, at.w, at.b, mu, tol)


def _next(mu: float, done: Round, late: int, growth: float) -> float:
    """The μ of the next round."""
    if done.steps == STEPS:
        return min(ROUGH, 4 * mu)
    # Many short rounds gain little; after one that was work, the next should not be harder.
    mu *= FINER**3 if late and done.steps <= QUICK else FINER
    # Larger multipliers may move farther for their slack: no more than this much more.
    return min(ROUGH, mu * max(1.0, growth))


def _from_nothing(samples: Samples, c: Floats, notes: Notes) -> tuple[Start, float]:
    """A rough solution, by way of lower prices if these are far above what is usual; and a μ.

    Where no price is too high, the multipliers stay at the size that the margin gives them; a
    method that expects them to be as large as their bounds would be lost.
    """
    y = samples.y
    apart = samples.total(np.where(y > 0, 1 / max((y > 0).sum(), 1), 1 / max((y < 0).sum(), 1)))
    usual = 4.0 / (samples.n * max(float(apart @ apart), 1e-300))
    low = min(1.0, max(USUAL * usual / float(c.max()), 1e-30))
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
            done = _round(samples, now, at.multipliers(now), at, mu, ENOUGH)
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


def loss(s: Floats, y: Floats, c: Floats, b: float) -> float:
    """``Σ c_i max(0, 1 - s_i - y_i b)``."""
    return float(np.maximum(1.0 - s - y * b, 0.0) @ c)


def evened(alpha: Floats, y: Floats) -> Floats:
    """The multipliers with ``Σ α_i y_i = 0``: the heavier class's are scaled down."""
    positive, negative = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    if positive == negative or min(positive, negative) <= 0:
        return alpha if positive == negative else np.zeros_like(alpha)
    ratio = min(positive, negative) / max(positive, negative)
    return np.where((y > 0) == (positive > negative), ratio * alpha, alpha)


def best_bias(s: Floats, y: Floats, c: Floats) -> float:
    """The b with the smallest loss; the middle one where there are more.

    A slack begins at ``b_i = y_i - y_i s_i``. As b grows through it, a sample of class +1 stops
    adding to the loss and one of class -1 begins to: the slope rises by c_i either way. It starts
    at ``-Σ c`` over class +1, so the minimum is where the c of the b_i passed reach that sum.
    """
    edges, wanted = y - y * s, float(c[y > 0].sum())
    if (c == c[0]).all():
        k = int(np.count_nonzero(y > 0))
        edges = np.partition(edges, (k - 1, k))
        return float(edges[k - 1] + edges[k]) / 2
    order = np.argsort(edges[c > 0])
    edges, passed = edges[c > 0][order], np.cumsum(c[c > 0][order])
    few = 1e-12 * float(passed[-1])  # what rounding can do to these sums
    first = int(np.searchsorted(passed, wanted - few))
    last = int(np.searchsorted(passed, wanted + few, side="right"))
    return float(edges[first] + edges[min(last, len(edges) - 1)]) / 2

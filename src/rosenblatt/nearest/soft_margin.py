"""The soft-margin hyperplane: the method of multipliers, on as few rows as will do.

::

    minimise   ½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))

First on a few rows drawn at random, roughly; then from there on eight times as many; and so on up
to all of them. On all rows every round is followed by one scan, which gives the objective and the
dual value, and tells which rows may still change: the others, far on either side of the margin for
how much their values moved last, *sleep* through the next round as a single vector, the sum that
their multipliers make of them. A row that should have been awake shows at the next scan; the gap,
computed from all rows, does not depend on who slept.

Where slack is cheap, rounds are those of `coordinates`, as long as they are quick and the rows that
take part are not too many to be in one place; otherwise they are those of `newton`.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.nearest.coordinates import descend
from rosenblatt.nearest.loops import Multipliers
from rosenblatt.nearest.newton import STEPS, Live, improve, polished
from rosenblatt.nearest.rough import FINER, ROUGH, ROUNDS, from_nothing, one_round, usual_price
from rosenblatt.nearest.slacks import (
    awakened,
    best_bias,
    evened,
    loss,
    moved,
    nobody,
    pull_of,
    settled,
    size_of,
)
from rosenblatt.nearest.standing import Best, Progress, Stand, Start, standing_from
from rosenblatt.nearest.sums import are_many
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Clock, Halt
from rosenblatt.running.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.nearest.coordinates import Descent
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.working_set import Samples


FIRST, PER_FEATURE, GROWTH = 2000, 20, 8  # rows to begin with, and how many more each time
RARE = 50  # rows of each class that are among them
NEARBY = 1.5  # μ in units of how far values are off after a part of the rows
WARM = 0.03  # μ for a start that may be close
NEAR = 2.0  # times that μ, and the size of values, by which a row may be from the margin at first
ASTRAY = 4.0  # times that μ, and that size, by which values move if too few rows were awake
FEWER = 4  # as few as one row in so many
DESCENT = (
    4  # rows for each feature on which coordinate descent begins, unless all are not many more
)
VISITS = 3  # of each row, on average, in which it should halve the gap
ASKED = 500  # rows that tell whether slack is cheap
EASIER, EASY = 0.5, 0.015  # the gap that it is to reach: of the one wanted; of the one before
QUICK = 3  # steps of a round that is easy
AWAKE = 3.0  # moves of its value by which a row may be from the margin and stay awake
SHARP, PATIENCE = 1e-8, 4  # below this μ, rounds without much progress after which to stop
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
        self.rough = np.zeros(samples.d)
        others, own = self._prices.values()
        # Without w all of a class have the same slack, and the bias removes that of the dearer one.
        b = 0.0 if abs(own - others) <= 1e-12 * own else float(np.sign(own - others))
        self.best = Best(self.rough, b, 2 * min(own, others), np.zeros(samples.n), 0.0)
        self._seen: tuple[Floats, Floats] | None = None
        self._drawn: Ints | None = None

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
        if start is not None:
            at, alpha = start._replace(alpha=None), start.multipliers(self.c)
            return Stand(at, WARM, alpha, self.c > 0, 0, self._is_cheap())
        found = self._by_coordinates() if self.notes.blank() and self._is_cheap() else None
        if found is not None:
            return found
        at, mu, part = self._on_few_rows()
        alpha = at.multipliers(self.c)
        stand = Stand(at._replace(alpha=None), mu, alpha, self.c > 0, 0)
        return self._near_first(stand) if part else stand

    def _is_cheap(self) -> bool:
        """Whether slack is not dearer than usual, as far as a few rows tell."""
        few, c = self._some(self._order()[:ASKED])
        return usual_price(few) >= float(c.max())

    def _by_coordinates(self) -> Stand | None:
        """Where coordinate descent on a part of the rows leads; None where it is slow."""
        samples, c, order, d = self.samples, self.c, self._order(), self.samples.d
        size, alpha = max(len(order) // GROWTH, DESCENT * d, FIRST), np.zeros(samples.n)
        if are_many(samples.source, size):
            return None
        if FEWER * size >= len(order):
            return Stand(Start(np.zeros(d), 0.0, float(c.max())), ROUGH, alpha, c > 0, 0, True)
        rows, rough = np.sort(order[:size]), d / size
        prices, tol = self._as_if_all(rows), max(self.tol, 0.1 * rough)
        done = descend(samples, rows, prices, alpha[rows], nobody(d), 0.0, tol, VISITS)
        self.rough = done.w
        if not done.closed:
            return None
        at = Start(done.w, done.b, float(c.max()))
        stand = Stand(at, min(ROUGH, NEARBY * rough**0.5), alpha, c > 0, 0, True)
        stand, shares = self._only_near(stand), done.alpha / prices
        # Those near the margin as they are in the part: nearly all of the price, or hardly any.
        t = 1.0 - self._values(at.w) - at.b * samples.y
        for some in (stand.awake & (t > 0), stand.awake & (t <= 0)):
            of_part = shares[some[rows]]
            stand.alpha[some] = (float(of_part.mean()) if of_part.size else 0.5) * c[some]
        return stand

    def _only_near(self, stand: Stand) -> Stand:
        """Rows far from the margin at its bounds, and asleep, for how rough the hyperplane is."""
        at, s = stand.at, self._values(stand.at.w)
        size = 1.0 if stand.descent else size_of(s)
        m = Multipliers(self.samples.y, self.c, self.c, stand.alpha.copy())
        near = settled(m, s, at.b, NEAR * stand.mu * size, self.samples.team)
        return stand._replace(alpha=m.alpha, awake=near) if near.any() else stand

    def _near_first(self, stand: Stand) -> Stand:
        """After a round on the rows near the margin, if they are few and do not lead astray."""
        at, mu, alpha, near, *_ = self._only_near(stand)
        if FEWER * np.count_nonzero(near) >= len(near):
            return stand
        before = self._values(at.w)
        far = ASTRAY * mu * size_of(before)
        done = improve(self._live(alpha, near, at.steps(self.c)), at.w, at.b, mu, self.tol)
        s = self._values(done.w)
        if done.steps == STEPS or moved(s, before, self.samples.team) > far:
            return stand
        alpha[near] = done.alpha
        largest = float(alpha.max()) or at.largest
        awake = self._awake(alpha, s, before, done.b)
        return Stand(Start(done.w, done.b, largest), FINER * mu, alpha, awake, 0)

    def _on_few_rows(self) -> tuple[Start, float, bool]:
        """A hyperplane, how much rounding off suits it, and whether some rows were left out."""
        self.samples.clock.look_up()
        order = self._order()
        d, size = self.samples.d, max(PER_FEATURE * self.samples.d, FIRST)
        if 2 * size >= len(order):
            return *from_nothing(self.samples, self.c, self.notes), False
        saved = self.notes.page("few")
        size, saved = (size, None) if saved is None else saved
        part, c = self._some(order[:size])
        if saved is None:
            at, mu = from_nothing(part, c, self.notes)
            alpha, count = at.multipliers(c), 0
        else:
            at, mu, alpha, _, count, _ = standing_from(saved)
        self.rough = at.w
        while True:
            tol = max(self.tol, d / size)
            for number in range(count, ROUNDS):
                self.notes.note("few", (size, Stand(at, mu, alpha, NOBODY, number)))
                done = one_round(part, c, alpha, at, mu, tol)
                alpha, mu, at = done.alpha, mu * FINER, at.moved(done)
                self.rough = at.w
                if done.rest <= tol * (0.5 * float(at.w @ at.w) + float(alpha.sum())):
                    break
            at = at._replace(alpha=None)
            mu, size = min(ROUGH, NEARBY * (d / size) ** 0.5), GROWTH * size
            if 2 * size >= len(order):
                return at, mu, True
            part, c = self._some(order[:size])
            alpha, count = at.multipliers(c), 0

    def _order(self) -> Ints:
        """All rows at random, but some of both classes among the first."""
        if self._drawn is None:
            y, used = self.samples.y, self.c > 0
            order = np.random.default_rng(0).permutation(np.flatnonzero(used))
            for sign in (-1.0, 1.0):
                if np.count_nonzero(y[order[:ASKED]] == sign) < RARE:
                    late = np.ones(len(order), bool)
                    late[np.flatnonzero(y[order] == sign)[:RARE]] = False
                    order = order[np.argsort(late, kind="stable")]
            self._drawn = order
        return self._drawn

    def _some(self, rows: Ints) -> tuple[Samples, Floats]:
        """The samples of some rows, with prices as if they were all of their classes."""
        rows = np.sort(rows)
        return self.samples.part(rows), self._as_if_all(rows)

    def _as_if_all(self, rows: Ints) -> Floats:
        """Prices of some rows as if they were all of their classes."""
        c, y = self.c[rows], self.samples.y[rows]
        for sign, total in self._prices.items():
            c[y == sign] *= total / c[y == sign].sum()
        return c

    @cached_property
    def _prices(self) -> dict[float, float]:
        """The prices of each class in all."""
        return {sign: float(self.c[self.samples.y == sign].sum()) for sign in (-1.0, 1.0)}

    def _on_all_rows(self, stand: Stand) -> StopReason:
        c = self.c
        at, mu, alpha, awake, late, descent = stand
        s = self._values(at.w)
        while True:
            self._note("all", stand=Stand(at, mu, alpha, awake, late, descent))
            before, largest, gap = s, at.largest, self.best.gap
            descent = descent and not are_many(self.samples.source, int(np.count_nonzero(awake)))
            if descent:
                found = self._descend(alpha, awake, at.b, mu)
                changed, w, b = found.alpha, None, found.b
            else:
                done = improve(self._live(alpha, awake, at.steps(c)), at.w, at.b, mu, self.tol)
                changed, w, b = done.alpha, done.w, done.b
            if descent or done.steps < STEPS:
                alpha = alpha.copy()  # as noted it stays
                alpha[awake] = changed
            w, s = self._judge(w, alpha, int(np.count_nonzero(awake)))
            at = Start(w, b, float(alpha.max()) or largest)
            if self.best.gap <= self.tol:
                if not descent:
                    self._from_multipliers()
                return StopReason.GAP_CLOSED
            late = 0 if self.best.gap < 0.5 * gap else late + 1
            if descent:
                mu, descent = min(ROUGH, max(found.farthest, SHARP)), found.closed and not late
            elif late >= PATIENCE and (mu < SHARP or late == 4 * PATIENCE):
                return self._polish()
            else:
                mu = _next(mu, done, late, at.largest / largest)
            awake = self._awake(alpha, s, before, at.b)

    def _descend(self, alpha: Floats, awake: NDArray[np.bool_], b: float, edge: float) -> Descent:
        """A round of coordinate descent, to a small share of the gap that there is."""
        samples, c, rows = self.samples, self.c, np.flatnonzero(awake)
        pull = pull_of(samples, np.where(awake, 0.0, alpha))
        tol = EASIER * self.tol
        if len(rows) < samples.n:  # others may have to wake up
            tol = max(tol, EASY * self.best.gap)
        return descend(samples, rows, c[rows], alpha[rows], pull, b, tol, VISITS, edge)

    def _awake(self, alpha: Floats, s: Floats, before: Floats, b: float) -> NDArray[np.bool_]:
        """The rows whose multipliers may change, after a round that moved values from `before`."""
        m = Multipliers(self.samples.y, self.c, self.c, alpha)
        found = awakened(m, s, before, b, AWAKE, self.samples.team)
        return found if found.any() else self.c > 0

    def _live(self, alpha: Floats, awake: NDArray[np.bool_], steps: Floats) -> Live:
        """The rows that are awake, and what the others sum to."""
        y, c = self.samples.y, self.c
        if awake.all():
            multipliers = Multipliers(y, c, steps, alpha)
            return Live(self.samples, multipliers, nobody(self.samples.d))
        rows, pull = np.flatnonzero(awake), pull_of(self.samples, np.where(awake, 0.0, alpha))
        multipliers = Multipliers(y[rows], c[rows], steps[rows], alpha[rows])
        return Live(self.samples.part(rows), multipliers, pull)

    def _values(self, w: Floats) -> Floats:
        """``y(w·x)`` of all rows; the last are kept."""
        if self._seen is None or self._seen[0] is not w:
            self._seen = w, self.samples.values(np.append(w, 0.0))
        return self._seen[1]

    def _judge(self, w: Floats | None, alpha: Floats, awake: int) -> tuple[Floats, Floats]:
        """The gap after a round, from all rows; returned are w and ``y(w·x)``.

        Without a w it is what the multipliers make, with equal sums in both classes.
        """
        y, c = self.samples.y, self.c
        even = evened(alpha, y)
        pull = self.samples.total(even)
        w = pull if w is None else w
        s = self._values(w)
        b = best_bias(s, y, c, self.samples.team)
        primal = 0.5 * float(w @ w) + loss(s, y, c, b, self.samples.team)
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
        return w, s

    def _polish(self) -> StopReason:
        """What is left to try where rounding stands in the way."""
        alpha = polished(self.samples, self.best.alpha, self.c)
        if alpha is not None:
            self._judge(self.samples.total(alpha), alpha, 0)
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
        s = self._values(w)
        b = best_bias(s, y, c, self.samples.team)
        primal = 0.5 * float(w @ w) + loss(s, y, c, b, self.samples.team)
        if primal <= (self.best.primal if most is None else most):
            self.best = self.best._replace(w=w, b=b, primal=primal)


def _next(mu: float, done: Round, late: int, growth: float) -> float:
    """The μ of the next round."""
    if done.steps == STEPS:
        return min(ROUGH, 4 * mu)
    # Many short rounds gain little; after one that was work, the next should not be harder.
    mu *= FINER**3 if late and done.steps <= QUICK else FINER
    # Larger multipliers may move farther for their slack: no more than this much more.
    return min(ROUGH, mu * max(1.0, growth))

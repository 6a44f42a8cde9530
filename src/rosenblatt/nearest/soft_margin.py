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
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.columns import There
from rosenblatt.nearest import loops
from rosenblatt.nearest.coordinates import descend
from rosenblatt.nearest.drawing import drawn
from rosenblatt.nearest.newton import STEPS, Live, improve, polished
from rosenblatt.nearest.rough import FINER, ROUGH, ROUNDS, from_nothing, one_round, usual_price
from rosenblatt.nearest.slacks import (
    as_if_all,
    awakened,
    best_bias,
    close_to,
    count,
    evened,
    filled,
    largest,
    losses,
    nobody,
    prices_of,
    settled,
    sides_of,
    size_of,
)
from rosenblatt.nearest.standing import Best, Progress, Stand, Start, standing_from
from rosenblatt.nearest.sums import are_many
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Clock, Halt
from rosenblatt.running.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece
    from rosenblatt.nearest.coordinates import Descent
    from rosenblatt.nearest.newton import Round
    from rosenblatt.nearest.slacks import Prices, Pull
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.threads import Team


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


class SoftMargin:
    """A soft-margin problem on its way to being solved.

    What it knows of each row, its value and its multiplier, stays where the row is.

    Parameters
    ----------
    samples : Samples
    c : column
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
        c: Column,
        tol: float,
        report: Callable[[int, Best, Progress], None] | None = None,
        notes: Notes | None = None,
    ) -> None:
        self.samples, self.c, self.tol, self.report = samples, c, tol, report
        self.prices, self.notes = prices_of(samples, c), notes or Notes()
        self.began = time.perf_counter()
        self.trace: list[Progress] = []
        self.rough = np.zeros(samples.d)
        others, own = self.prices.totals.tolist()
        # Without w all of a class have the same slack, and the bias removes that of the dearer one.
        b = 0.0 if abs(own - others) <= 1e-12 * own else float(np.sign(own - others))
        nothing = samples.constant(0.0)
        self.best = Best(self.rough, b, 2 * min(own, others), nothing, 0.0)
        self._seen: tuple[Floats, Column] | None = None

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
        self._seen = None  # which some may still be at
        if not self.trace and self.rough.any():  # better one that some rows were asked about
            self.samples.clock = Clock()
            self._offer(self.rough)
        return reason

    def multipliers(self) -> tuple[Ints, Floats]:
        """The rows whose multipliers prove the dual value, ascending, and these."""
        alpha = self.best.alpha
        if isinstance(alpha, There):
            return alpha.listed()
        rows = np.flatnonzero(alpha)
        return rows, alpha[rows]

    def _note(self, page: str, **more: Any) -> None:
        """Note how all rows stand; what was noted about a part of them is of no use any more."""
        self.notes.done(page, {"best": self.best, "trace": self.trace, **more})

    def _restored(self, saved: dict[str, Any]) -> dict[str, Any]:
        """What was noted, which is how it stands now."""
        best = Best(*saved["best"])
        if len(best.alpha) != self.samples.n or best.w.shape != self.rough.shape:
            raise ValueError(len(best.alpha))
        self.best = best._replace(alpha=self.samples.column(best.alpha))
        self.trace = [Progress(*one) for one in saved["trace"]]
        self.began = time.perf_counter() - max((one.seconds for one in self.trace), default=0.0)
        return saved

    # Where to begin ------------------------------------------------------------------------------

    def _begin(self, start: Start | None) -> Stand:
        """Where the rounds on all rows begin, or go on."""
        saved = self.notes.restored("all", self._restored)
        if saved is not None:
            return standing_from(self.samples, saved["stand"])
        if start is not None:
            at, alpha = start._replace(alpha=None), start.multipliers(self.samples, self.c)
            return Stand(at, WARM, alpha, self._priced(), 0, self._is_cheap())
        found = self._by_coordinates() if self.notes.blank() and self._is_cheap() else None
        if found is not None:
            return found
        at, mu, part = self._on_few_rows()
        alpha = at.multipliers(self.samples, self.c)
        stand = Stand(at._replace(alpha=None), mu, alpha, self._priced(), 0)
        return self._near_first(stand) if part else stand

    def _priced(self) -> Column:
        """The rows that take part at all."""
        return self.samples.written(_positive, self.c, dtype=np.bool_)

    def _is_cheap(self) -> bool:
        """Whether slack is not dearer than usual, as far as a few rows tell."""
        few, prices = self._some(ASKED)
        return usual_price(few) >= prices.most

    def _by_coordinates(self) -> Stand | None:
        """Where coordinate descent on a part of the rows leads; None where it is slow."""
        samples, n, d = self.samples, self.prices.n, self.samples.d
        size, alpha, most = max(n // GROWTH, DESCENT * d, FIRST), self.best.alpha, self.prices.most
        if are_many(samples.source, size):
            return None
        if FEWER * size >= n:
            return Stand(Start(np.zeros(d), 0.0, most), ROUGH, alpha, self._priced(), 0, True)
        rows, rough, tol = samples.listed(self._drawn(size)), d / size, self.tol
        sign, c = samples.at(rows, samples.sign, self.c)
        for side, total in zip((-1, 1), self.prices.totals.tolist(), strict=True):
            c[sign == side] *= total / c[sign == side].sum()
        nothing, tol = np.zeros(len(rows)), max(tol, 0.1 * rough)
        done = descend(samples, rows, c, nothing, nobody(d), 0.0, tol, VISITS)
        self.rough = done.w
        if not done.closed:
            return None
        at, mu = Start(done.w, done.b, most), min(ROUGH, NEARBY * rough**0.5)
        stand = self._only_near(Stand(at, mu, alpha, self._priced(), 0, True))
        # Those near the margin as they are in the part: nearly all of the price, or hardly any.
        awake, s = samples.at(rows, stand.awake, self._values(at.w))
        inside, shares = 1.0 - s - at.b * sign > 0, done.alpha / c
        asked = [shares[awake & side] for side in (inside, ~inside)]
        means = [float(one.mean()) if one.size else 0.5 for one in asked]
        task = partial(filled, loops.as_elsewhere, (at.b, *means))
        columns = samples.sign, self._values(at.w), self.c, stand.alpha, stand.awake
        return stand._replace(alpha=samples.written(task, *columns))

    def _only_near(self, stand: Stand) -> Stand:
        """Rows far from the margin at its bounds, and asleep, for how rough the hyperplane is."""
        samples, s, b = self.samples, self._values(stand.at.w), stand.at.b
        size = 1.0 if stand.descent else size_of(samples, s)
        near = close_to(samples, s, self.c, b, NEAR * stand.mu * size)
        if not count(samples, near):
            return stand
        return stand._replace(alpha=settled(samples, s, self.c, stand.alpha, near, b), awake=near)

    def _near_first(self, stand: Stand) -> Stand:
        """After a round on the rows near the margin, if they are few and do not lead astray."""
        samples, (at, mu, alpha, near, *_) = self.samples, self._only_near(stand)
        n_near = count(samples, near)
        if FEWER * n_near >= samples.n:
            return stand
        before = self._values(at.w)
        far = ASTRAY * mu * size_of(samples, before)
        done = improve(self._live(alpha, near, n_near, at.reach), at.w, at.b, mu, self.tol)
        s = self._values(done.w)
        _, moved = losses(samples, s, before, self.c, done.b)
        if done.steps == STEPS or moved > far:
            return stand
        alpha = samples.replaced(alpha, near, done.alpha)
        most = largest(samples, alpha) or at.largest
        awake = self._awake(alpha, s, before, done.b, moved)
        return Stand(Start(done.w, done.b, most), FINER * mu, alpha, awake, 0)

    def _on_few_rows(self) -> tuple[Start, float, bool]:
        """A hyperplane, how much rounding off suits it, and whether some rows were left out."""
        self.samples.clock.look_up()
        d, n, size = self.samples.d, self.prices.n, max(PER_FEATURE * self.samples.d, FIRST)
        if 2 * size >= n:
            return *from_nothing(self.samples, self.prices, self.notes), False
        saved = self.notes.page("few")
        size, saved = (size, None) if saved is None else saved
        part, prices = self._some(size)
        if saved is None:
            at, mu = from_nothing(part, prices, self.notes)
            alpha, number = at.multipliers(part, prices.c), 0
        else:
            at, mu, alpha, _, number, _ = standing_from(part, saved)
        self.rough = at.w
        while True:
            tol = max(self.tol, d / size)
            for k in range(number, ROUNDS):
                self.notes.note("few", (size, Stand(at, mu, alpha, part.constant(True), k)))
                done = one_round(part, prices.c, prices.most, alpha, at, mu, tol)
                alpha, mu, at = done.alpha, mu * FINER, at.moved(done)
                self.rough = at.w
                if done.rest <= tol * (0.5 * float(at.w @ at.w) + done.total):
                    break
            at = at._replace(alpha=None)
            mu, size = min(ROUGH, NEARBY * (d / size) ** 0.5), GROWTH * size
            if 2 * size >= n or are_many(self.samples.source, size):
                return at, mu, True
            part, prices = self._some(size)
            alpha, number = at.multipliers(part, prices.c), 0

    def _drawn(self, size: int) -> Column:
        """About so many rows at random, but some of both classes."""
        share, few = size / self.prices.n, RARE / np.maximum(self.prices.counts, 1)
        steps = np.maximum(1.0 / np.maximum(share, few), 1.0).astype(np.int64).tolist()
        columns = self.samples.sign, self.c
        return self.samples.written(partial(_draw, steps), *columns, dtype=np.bool_)

    def _some(self, size: int) -> tuple[Samples, Prices]:
        """About so many rows at random, with prices as if they were all of their classes."""
        part, (c,) = self.samples.chosen(self._drawn(size), self.c)
        return part, as_if_all(part, c, self.prices.totals)

    # Rounds on all rows --------------------------------------------------------------------------

    def _on_all_rows(self, stand: Stand) -> StopReason:
        samples = self.samples
        at, mu, alpha, awake, late, descent = stand
        s = self._values(at.w)
        while True:
            self._note("all", stand=Stand(at, mu, alpha, awake, late, descent))
            before, most, gap = s, at.largest, self.best.gap
            n_awake = count(samples, awake)
            descent = descent and not are_many(samples.source, n_awake)
            if descent:
                found = self._descend(alpha, awake, at.b, mu, n_awake)
                alpha, w, b = samples.replaced(alpha, awake, found.alpha), None, found.b
            else:
                live = self._live(alpha, awake, n_awake, at.reach)
                done = improve(live, at.w, at.b, mu, self.tol)
                w, b = done.w, done.b
                if done.steps < STEPS:
                    whole = live.samples is samples
                    alpha = done.alpha if whole else samples.replaced(alpha, awake, done.alpha)
            w, s, moved = self._judge(w, alpha, before, n_awake)
            at = Start(w, b, largest(samples, alpha) or most)
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
                mu = _next(mu, done, late, at.largest / most)
            awake = self._awake(alpha, s, before, at.b, moved)

    def _descend(
        self, alpha: Column, awake: Column, b: float, edge: float, n_awake: int
    ) -> Descent:
        """A round of coordinate descent, to a small share of the gap that there is."""
        samples, rows = self.samples, self.samples.listed(awake)
        c, begin = samples.at(rows, self.c, alpha)
        pull, tol = self._asleep(alpha, awake), EASIER * self.tol
        if n_awake < samples.n:  # others may have to wake up
            tol = max(tol, EASY * self.best.gap)
        return descend(samples, rows, c, begin, pull, b, tol, VISITS, edge)

    def _asleep(self, alpha: Column, awake: Column) -> Pull:
        """What the rows that are not awake add up to."""
        others = self.samples.written(_only_others, alpha, awake)
        return sides_of(self.samples, others).pull()

    def _awake(self, alpha: Column, s: Column, before: Column, b: float, moved: float) -> Column:
        """The rows whose multipliers may change, after a round that moved values from `before`."""
        found = awakened(self.samples, s, before, self.c, alpha, b, AWAKE, moved)
        return found if count(self.samples, found) else self._priced()

    def _live(self, alpha: Column, awake: Column, n_awake: int, reach: float) -> Live:
        """The rows that are awake, and what the others sum to; all, if a copy of them is large."""
        samples, most = self.samples, self.prices.most
        if n_awake == samples.n or (2 * n_awake > samples.n and are_many(samples.source, n_awake)):
            return Live(samples, self.c, most, alpha, reach, nobody(samples.d))
        pull = self._asleep(alpha, awake)
        part, (c, begin) = samples.chosen(awake, self.c, alpha)
        return Live(part, c, most, begin, reach, pull)

    def _values(self, w: Floats) -> Column:
        """``y(w·x)`` of all rows; the last are kept."""
        if self._seen is None or self._seen[0] is not w:
            self._seen = w, self.samples.products(w)
        return self._seen[1]

    def _judge(
        self, w: Floats | None, alpha: Column, before: Column | None, n_awake: int
    ) -> tuple[Floats, Column, float]:
        """The gap after a round, from all rows; returned are w, ``y(w·x)`` and how far that moved.

        Without a w it is what the multipliers make, with equal sums in both classes.
        """
        even, (pull, _, total) = evened(self.samples, alpha)
        w = pull if w is None else w
        b, primal, moved = self._measured(w, before)
        dual = total - 0.5 * float(pull @ pull)
        best = self.best
        if primal < best.primal:
            best = best._replace(w=w, b=b, primal=primal)
        if dual > best.dual:
            best = best._replace(alpha=even, dual=dual)
        self.best = best
        seconds = time.perf_counter() - self.began
        self.trace = [*self.trace, Progress(primal, dual, n_awake, seconds)]
        if self.report is not None:
            self.report(len(self.trace), best, self.trace[-1])
        return w, self._values(w), moved

    def _measured(self, w: Floats, before: Column | None = None) -> tuple[float, float, float]:
        """The best b for w, the objective there, and how far values have moved since `before`."""
        s = self._values(w)
        b = best_bias(self.samples, s, self.prices)
        lost, moved = losses(self.samples, s, s if before is None else before, self.c, b)
        return b, 0.5 * float(w @ w) + lost, moved

    def _polish(self) -> StopReason:
        """What is left to try where rounding stands in the way."""
        alpha = polished(self.samples, self.best.alpha, self.c)
        if alpha is not None:
            self._judge(self.samples.total(alpha), alpha, None, 0)
        return StopReason.GAP_CLOSED if self.best.gap <= self.tol else StopReason.ROUNDING

    def _from_multipliers(self) -> None:
        """Take the w that the multipliers make, if it is good enough: it is the cleaner one."""
        best = self.best
        self._offer(self.samples.total(best.alpha), np.inf)
        if self.best.gap > self.tol:
            self.best = best

    def _offer(self, w: Floats, most: float | None = None) -> None:
        """Take w if its objective is not above the best one's, or `most`."""
        b, primal, _ = self._measured(w)
        if primal <= (self.best.primal if most is None else most):
            self.best = self.best._replace(w=w, b=b, primal=primal)


def _positive(piece: Piece, team: Team, out: Any, column: Any) -> None:
    np.greater(column, 0.0, out=out)


def _only_others(piece: Piece, team: Team, out: Any, alpha: Any, awake: Any) -> None:
    np.multiply(alpha, ~awake, out=out)


def _draw(steps: list[int], piece: Piece, team: Team, out: Any, y: Any, c: Any) -> None:
    out[:] = False
    for side, step in zip((-1, 1), steps, strict=True):
        rows = drawn(piece.start, piece.start + piece.length, step)
        out[rows[(y[rows] == side) & (c[rows] > 0)]] = True


def _next(mu: float, done: Round, late: int, growth: float) -> float:
    """The μ of the next round."""
    if done.steps == STEPS:
        return min(ROUGH, 4 * mu)
    # Many short rounds gain little; after one that was work, the next should not be harder.
    mu *= FINER**3 if late and done.steps <= QUICK else FINER
    # Larger multipliers may move farther for their slack: no more than this much more.
    return min(ROUGH, mu * max(1.0, growth))

"""The maximum-margin hyperplane: the method of multipliers on a working set.

::

    minimise   ½‖w‖²     with y_i(w·x_i + b) >= 1

This is the soft margin with a price of slack beyond all bounds. Almost all rows have the
multiplier 0, so that only a working set takes part in the rounds (see `newton`); one scan of the
data finds the rows that are closer to the hyperplane than the set, and they join it. A set that is
small, or has few features, is rather solved by an interior-point method (see `hulls`), and another
one multiplier at a time (see `coordinates`), if that is quick.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.nearest.coordinates import descend
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.nearest.loops import least as least_of
from rosenblatt.nearest.newton import Live, improve, polished
from rosenblatt.nearest.slacks import evened, nobody
from rosenblatt.nearest.soft_margin import PATIENCE
from rosenblatt.nearest.standing import Best, Progress
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Halt, Kind
from rosenblatt.running.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints, Signs
    from rosenblatt.nearest.working_set import Samples


FINER = 0.2  # what μ is multiplied by after a round
ROUGH = 1e-2  # the first gap that is asked of a working set
FEW, MOST = 300, 4000  # rows that join the working set at a time, and two for each feature
SMALL = 1000  # rows or features up to which a working set is solved from nothing
FAR = 3.0  # what y(w·x + b) may be in a working set; the closest have 1
SHARP = 1e-15  # the smallest μ
SET_UP = 6  # passes over a working set before it can be solved
VISITS = 50  # of each row, on average, in which coordinate descent should halve the gap
HOPEFUL = 10  # rounds after which a working set should be separated
# What the rest of a run follows from, beside the samples.
STATE = (
    "rows", "alpha", "proof_rows", "proof_alpha", "w", "b", "mu", "scale", "hopeful", "grown",
    "clean", "target", "late",
)  # fmt: skip


class Near(NamedTuple):
    """What a scan has found for a working set.

    Attributes
    ----------
    rows, values : int array, float array
        Rows that are too close, and ``y(w·x + b)`` of each, at least 1 on the working set.
    own : float array
        The same of the working set.
    """

    rows: Ints
    values: Floats
    own: Floats


class MaxMargin:
    """A maximum-margin problem on its way to being solved.

    Parameters
    ----------
    samples : Samples
    used : bool array or None
        The rows that count, of both classes; None: all.
    tol : float
        The gap, as a share of the objective, at which to stop.
    report : function, optional
        Called with the number of the scan, `Best` and `Progress`. May raise KeyboardInterrupt.
    notes : Notes, optional
        Where the state is noted at every scan; if there is one, `run` goes on from it.
    """

    def __init__(
        self,
        samples: Samples,
        used: NDArray[np.bool_] | None,
        tol: float,
        report: Callable[[int, Best, Progress], None] | None = None,
        notes: Notes | None = None,
    ) -> None:
        self.samples, self.used, self.tol, self.report = samples, used, tol, report
        self.notes, self.runs, self.target, self.late = notes or Notes(), 0, ROUGH, 0
        self.began = time.perf_counter()
        self.trace: list[Progress] = []
        self.many = min(2 * samples.d + FEW, MOST)
        self.best = Best(np.zeros(samples.d), 0.0, np.inf, np.empty(0), 0.0)
        # What proves the dual value: rows, and their multipliers.
        self.proof_rows, self.proof_alpha = np.empty(0, np.int64), np.empty(0)
        self.hopeful, self.grown, self.clean = True, True, False
        self.rows = samples.some(self.many // 2, used)
        self.part, self.alpha = samples.part(self.rows), np.zeros(len(self.rows))
        self.w, self.b, self.mu, self.scale = self.best.w, 0.0, 1.0, 0.0

    def _begin(self) -> None:
        """Measure the data."""
        part, y = self.part, self.part.y
        apart = part.total(np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum()))
        # As large as multipliers are in the end if the means of the classes are typical of them.
        self.scale = 4.0 / (part.n * max(float(apart @ apart), 1e-300))

    def run(self) -> StopReason:
        """Solve it; `best` is the answer.

        Once it may stop as INSEPARABLE: a working set is not separated when it should have been.
        Whether it can be is for others to find out; the next call goes on.
        """
        self.runs, self.target, self.late = self.runs + 1, ROUGH, 0
        try:
            with np.errstate(all="ignore"):  # what overflows counts for nothing
                saved = self.notes.restored(self._page, self._restored) or {}
                if "reason" in saved:
                    return StopReason(saved["reason"])
                if not self.scale:
                    self._begin()
                try:
                    reason = self._run()
                except Halt as halt:
                    if halt.reason is not StopReason.INSEPARABLE:
                        raise
                    reason = halt.reason
                self._note(reason=reason)
                return reason
        except Halt as halt:
            return halt.reason
        except KeyboardInterrupt:
            return StopReason.INTERRUPTED
        finally:
            if not self.best.primal < np.inf:  # the best there is, although it does not separate
                self.best = self.best._replace(w=self.w, b=self.b)

    @property
    def _page(self) -> str:
        """Where the state of this run is noted."""
        return f"solver {self.runs}"

    def _note(self, **more: StopReason) -> None:
        """Note all that the rest of the run follows from."""
        state = {name: getattr(self, name) for name in STATE}
        self.notes.note(self._page, {**state, "best": self.best, "trace": self.trace, **more})

    def _restored(self, saved: dict[str, Any]) -> dict[str, Any]:
        """What was noted, which is how it stands now."""
        rows, proof = saved["rows"], saved["proof_rows"]
        shapes = saved["alpha"].shape, saved["proof_alpha"].shape, saved["w"].shape
        if shapes != (rows.shape, proof.shape, self.w.shape):
            raise ValueError(shapes)
        for name in STATE:
            setattr(self, name, saved[name])
        self.part = self.samples.part(rows)
        self.best = Best(*saved["best"])
        self.trace = [Progress(*one) for one in saved["trace"]]
        self.began = time.perf_counter() - max((one.seconds for one in self.trace), default=0.0)
        return saved

    def begin_at(self, w: Floats) -> None:
        """Start over with the direction of a hyperplane that separates."""
        if self.notes.page(f"solver {self.runs + 1}") is not None:
            return
        part = self.part
        self.w, self.b, square = centred(part.values(np.append(w, 0.0)), part.y, w)
        self.alpha, self.mu = np.zeros(part.n), 1.0
        self.scale = square / (min(part.n, part.d) + 1)
        self._judge()

    def _run(self) -> StopReason:
        while True:
            self.samples.clock.look_up()
            self._note()
            target = self.target
            if not (
                (self.grown and self._by_interior_points(0.1 * target))
                or self._by_coordinates(0.5 * target)
            ):
                self._by_rounds(target)
            gap, dual = self.best.gap, self.best.dual
            near = self._judge()
            if self.best.gap <= self.tol and self.clean:
                self._from_multipliers()
                return StopReason.GAP_CLOSED
            closed = self.best.gap <= self.tol
            if not closed and not near.rows.size and self.clean and target <= 0.5 * self.tol:
                return self._give_up()
            moved = self.best.gap < 0.5 * gap or self.best.dual > (1 + 1e-3) * dual
            self.late = 0 if moved else self.late + 1
            if self.late > 2 * PATIENCE:
                return self._give_up()
            self.target = max(0.5 * self.tol, 0.1 * min(target, self.best.gap))
            self._join(near, closed)

    def _give_up(self) -> StopReason:
        """Rounding stands in the way, or that there is no solution."""
        if self.hopeful and not self.best.primal < np.inf:
            self.hopeful = False
            raise Halt(StopReason.INSEPARABLE)
        part, best = self.part, self.best
        s = part.values(np.append(best.w, best.b))
        used = (
            self.alpha > 0,
            np.isin(self.rows, self.proof_rows[self.proof_alpha > 0]),
            s < 1 + 1e-9,
            s < 1 + 1e-6,
        )
        for close in used:
            alpha = polished(part, close.astype(np.float64), np.full(part.n, np.inf))
            if alpha is not None and self.best.gap > self.tol:
                self.alpha, self.w, self.clean = alpha, part.total(alpha), True
                self._judge()
        return StopReason.GAP_CLOSED if self.best.gap <= self.tol else StopReason.ROUNDING

    def _join(self, near: Near, closed: bool) -> None:
        """More rows for the working set, unless the gap is closed; those far away have to leave."""
        self.grown = near.rows.size > 0 and not closed
        if not self.grown:
            return
        stay = (near.own < FAR) | (self.alpha > 1e-6 * self.alpha.max())
        rows = np.concatenate([self.rows[stay], near.rows])
        alpha = np.concatenate([self.alpha[stay], np.zeros(len(near.rows))])
        order = np.argsort(rows)
        self.rows, self.alpha = rows[order], alpha[order]
        self.part = self.samples.part(self.rows)
        self.mu = max(self.mu, 1.0 - float(near.values.min()))

    def _by_rounds(self, target: float) -> None:
        """Rounds until the working set's own gap is small."""
        part, late, least = self.part, 0, np.inf
        c = np.full(part.n, np.inf)
        self.clean = True
        for count in range(1, 100):
            live = Live(part, c, np.inf, self.alpha, self.scale, nobody(part.d))
            done = improve(live, self.w, self.b, self.mu, target)
            self.w, self.b, self.alpha = done.w, done.b, done.alpha
            self.mu = max(self.mu * FINER, SHARP)
            dual = _bound(part, self.alpha)[1]
            primal = centred(part.values(np.append(self.w, 0.0)), part.y, self.w)[2]
            if primal - dual <= target * primal < np.inf:
                return
            if not primal < np.inf:
                if count >= HOPEFUL and self.hopeful:
                    self._give_up()
                if count >= 3 * HOPEFUL:
                    return
                continue
            late = 0 if primal - dual < 0.3 * least else late + 1
            least = min(least, primal - dual)
            if late == PATIENCE:
                return
            self.mu = max(self.mu * FINER, SHARP) if late else self.mu

    def _by_interior_points(self, tol: float) -> bool:
        """Solve the working set's problem afresh, if it is small enough for that.

        Quick from nothing, but every multiplier ends up positive, if only just.
        """
        part = self.part
        if min(part.n, part.d) > SMALL or not self.hopeful:
            return False
        with part.clock.task(Kind.READING, SET_UP * part.n * part.d):
            Z, y = part.gather(np.arange(part.n))[:, :-1], part.y
            if part.dense:
                Z -= Z.mean(axis=0)  # the bias is free: the origin may be anywhere
            size = float(np.abs(Z).max()) or 1.0
            Z *= (y / size)[:, np.newaxis]
        groups = np.column_stack([y < 0, y > 0]).astype(np.float64)
        found = shortest_sum(Z, groups, tol=tol, look_up=part.clock.pieces())
        square = float(found.theta @ found.theta)
        if found.meets or not square > 0:
            self._give_up()
            return False
        self.alpha = found.weights * (2 / square / size / size)
        self.w = part.total(self.alpha)
        self.w, self.b, _ = centred(part.values(np.append(self.w, 0.0)), y, self.w)
        self.scale, self.mu, self.clean = float(self.alpha.max()), 1e-3, False
        return True

    def _by_coordinates(self, tol: float) -> bool:
        """Solve the working set's problem one multiplier at a time, if it is large: often quick."""
        part = self.part
        if min(part.n, part.d) <= SMALL or not self.hopeful:
            return False
        c, rows, others = np.full(part.n, np.inf), np.arange(part.n), nobody(part.d)
        done = descend(part, rows, c, self.alpha, others, self.b, tol, VISITS)
        if not done.closed:
            return False
        self.w, self.b, self.alpha = done.w, done.b, done.alpha
        self.scale, self.mu, self.clean = float(self.alpha.max()), max(done.farthest, SHARP), True
        return True

    def _judge(self) -> Near:
        """The gap from all rows; returned is which of these are too close for the working set."""
        samples, part = self.samples, self.part
        w, b, _ = centred(part.values(np.append(self.w, 0.0)), part.y, self.w)
        args = self.used, 1.0 - 0.1 * self.tol, self.many, self.rows
        least, rows, values = samples.nearest(w, b, *args)
        best = centred_by(least, w)
        if best[2] < self.best.primal:
            self.best = self.best._replace(w=best[0], b=best[1], primal=best[2])
        even, dual = _bound(part, self.alpha)
        if dual > self.best.dual * (1 - 0.25 * self.tol * self.clean):
            self.proof_rows, self.proof_alpha = self.rows, even
            self.best = self.best._replace(dual=dual)
        seconds = time.perf_counter() - self.began
        self.trace = [*self.trace, Progress(best[2], dual, part.n, seconds)]  # as noted it stays
        if self.report is not None:
            self.report(len(self.trace), self.best, self.trace[-1])
        return Near(rows, values, part.values(np.append(w, 0.0)) + part.y * b)

    def multipliers(self) -> tuple[Ints, Floats]:
        """The rows whose multipliers prove the dual value, ascending, and these."""
        return self.proof_rows, self.proof_alpha

    def _from_multipliers(self) -> None:
        """Take the w that the multipliers make, if it is as good: it is the cleaner one."""
        w = self.samples.part(self.proof_rows).total(self.proof_alpha)
        least, _, _ = self.samples.nearest(w, 0.0, self.used, -np.inf, 1, self.rows)
        w, b, primal = centred_by(least, w)
        if primal - self.best.dual <= self.tol * primal < np.inf:
            self.best = self.best._replace(w=w, b=b, primal=primal)


def centred(s: Floats, y: Signs, w: Floats) -> tuple[Floats, float, float]:
    """The best hyperplane (w, b) with the direction of w, for ``s = y(w·x)``, and its ``½‖w‖²``.

    Scaled so that the smallest ``y(w·x + b)`` is 1; where w separates nothing its scale stays and
    the last number is infinite.
    """
    return centred_by(least_of(s, y), w)


def centred_by(closest: tuple[float, float], w: Floats) -> tuple[Floats, float, float]:
    """The same from the smallest ``y(w·x)`` of class +1, and of class -1."""
    positive, negative = closest
    least, b = (positive + negative) / 2, (negative - positive) / 2
    if not least > 0:
        return w, b, np.inf
    w = w / least
    return w, b / least, 0.5 * float(w @ w)


def _bound(samples: Samples, alpha: Floats) -> tuple[Floats, float]:
    """The multipliers, evened and scaled as they prove the most, and what they prove."""
    even, (pull, _, total) = evened(samples, alpha)
    square = float(pull @ pull)
    if not square > 0:
        return even, np.inf if total > 0 else 0.0
    return even * (total / square), 0.5 * total * total / square

"""Several classes as one problem: every class has a hyperplane, and the highest value wins.

A sample is a mistake if another class's value is as high as its own class's or higher. Then the
hyperplane of its own class moves toward it, and that of the strongest rival away from it. This is
the perceptron itself on the vectors of Kesler's construction [1]_ [2]_, and of the updates that
change none but the classes in error [3]_ it is the one that blames the strongest alone.

References
----------
.. [1] N. J. Nilsson, "Learning Machines", McGraw-Hill, 1965, section 4.
.. [2] R. O. Duda and P. E. Hart, "Pattern Classification and Scene Analysis", Wiley, 1973,
   section 5.12.
.. [3] K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass problems",
   Journal of Machine Learning Research 3, 2003.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.rows import as_matrix, row_weights
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.exact import signs
from rosenblatt.perceptron.joint_loops import (
    JointLog,
    joint_errors,
    joint_minibatch,
    joint_mistakes,
    joint_online,
    joint_path,
)
from rosenblatt.perceptron.linear_rule import LinearRule
from rosenblatt.perceptron.loops import Visit
from rosenblatt.perceptron.pocket import Pocket
from rosenblatt.perceptron.updates import InBatches, catch_up
from rosenblatt.results import JointFit, JointUpdates, StopReason
from rosenblatt.running.problems import NO_RECORD, joined
from rosenblatt.running.scanner import decision_values

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Order, Piece, Source
    from rosenblatt.perceptron.linear_rule import LinearProblem
    from rosenblatt.running.problems import Settings
    from rosenblatt.running.scanner import Scanner
    from rosenblatt.running.threads import Team

ALL = -1  # in the place of a class: all of them are one problem
NO_SIDES = np.empty(0, np.int64), np.empty(0, np.int64)


class JointRule(LinearRule):
    """What the rules share; a subclass says what an epoch does."""

    def __init__(self, source: Source, settings: Settings, team: Team) -> None:
        super().__init__(source, settings, team)
        self.size = source.n_features + 1  # numbers for each class

    def log(self, *shape: int) -> JointLog:
        """Room for mistakes, if anyone wants to know them."""
        log = super().log(*shape)
        sides = np.empty((2, *log.row.shape), np.int64)
        return JointLog(log.row, log.value, log.step, *sides)

    def new_pocket(self, p: LinearProblem) -> Pocket:
        """A pocket that holds the start vector."""
        return JointPocket(self.scanner, p.n_planes, p.theta, self.look_up, self.pause)

    def mistakes(self, p: LinearProblem) -> tuple[Ints, Floats]:
        """All rows that are mistakes now, in order, and their leads."""
        found = []
        for piece in self.source.pieces():

            def look(part: tuple[int, int], piece: Piece = piece) -> tuple[Ints, Floats]:
                rows, leads = np.empty(part[1] - part[0], np.int64), np.empty(part[1] - part[0])
                count = joint_mistakes(piece.block, self.size, p.theta, *part, rows, leads)
                return rows[:count] + piece.start, leads[:count]

            found += self.team.each(look, self.scanner.ranges(piece.length))
            self.look_up()
        rows, leads = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(leads)

    def separates(self, p: LinearProblem) -> bool:
        """Whether an epoch without mistakes proves that no row is one."""
        if p.mistakes[-1] or self.settings.order != "sampled":
            return p.mistakes[-1] == 0
        return not self.mistakes(p)[0].size

    def _without_mistakes(self, p: LinearProblem) -> StopReason:
        """Whether every row's own class has the highest value in exact arithmetic as well."""
        thetas = p.theta.reshape(p.n_planes, self.size)
        for piece, a, z in self.parts(IN_ORDER, share=p.n_planes):
            block, label = piece.block, piece.block.label[a:z].astype(np.intp)
            values = decision_values(block.rows, thetas, (a, z), self.team)
            leads = values[np.arange(z - a), label][:, np.newaxis] - values
            norms = self.scanner.norms[piece.start + a : piece.start + z].astype(np.float64)
            doubtful = ~(leads > rounding(thetas, norms)[:, np.newaxis])
            doubtful[np.arange(z - a), label] = False
            doubtful[row_weights(block, block.label[a:z], slice(a, z)) == 0] = False
            at, others = np.nonzero(doubtful)
            for own, rival in np.unique(np.column_stack([label[at], others]), axis=0):
                rows = a + np.flatnonzero(doubtful[:, rival] & (label == own))
                x = as_matrix(block.rows, self.size - 1)[rows]
                if (signs(x, difference(thetas[own], thetas[rival])) <= 0).any():
                    return StopReason.ROUNDING
        return StopReason.SEPARATED


def rounding(thetas: Floats, norms: Floats) -> Floats:
    """What rounding can have done to the leads of rows of these lengths.

    Each value is off by at most ``(d + 8)u(‖w‖‖x‖ + |b|)``, as in `exact_decisions`.
    """
    with np.errstate(over="ignore"):
        longest = np.sqrt((thetas**2).sum(axis=1)).max() + 1e-150
        bound: Floats = 4 * (thetas.shape[1] + 8) * 2.0**-52 * longest * norms + 1e-290
    return bound


def difference(a: Floats, b: Floats) -> list[Fraction]:
    """``a - b`` in rational numbers."""
    return [Fraction(x) - Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


class JointOnline(JointRule):
    """``order`` cyclic, shuffled or sampled: the rows in turn."""

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Visit the rows in the given order."""
        (p,) = problems
        catch_up(problems)
        for piece, a, z in self.parts(order, p.within, p.n_planes):
            log, before = self.log(z - a), p.theta.copy()
            visit = Visit(piece.order, IN_ORDER, a, z, p.visits + piece.offset)
            count = joint_online(piece.block, self.size, visit, p.theta, self.step, p.lag, log)
            p.within = piece.offset + z
            self.book(p, piece, before, log, count)
            self.pause()
        p.visits, p.within = p.visits + self.n_rows, 0


class JointPicked(JointRule):
    """``order`` random-mistake or worst-mistake: an epoch picks one of the current mistakes."""

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Find the mistakes, pick one, update."""
        (p,) = problems
        catch_up(problems)
        picked = p.within > 0  # before the run was killed
        rows, leads = (IN_ORDER, np.empty(0)) if picked else self.mistakes(p)
        if rows.size:
            worst = self.settings.order == "worst-mistake"
            chosen = int(rows[np.argmin(leads) if worst else p.rng.integers(rows.size)])
            piece = next(q for q in self.source.pieces() if q.start + q.length > chosen)
            here = np.array([chosen - piece.start])
            log, before = self.log(1), p.theta.copy()
            visit = Visit(here, IN_ORDER, 0, 1, p.visits)
            joint_online(piece.block, self.size, visit, p.theta, self.step, p.lag, log)
            p.within = 1
            self.book(p, piece, before, log, 1)
        p.within = 1
        if not picked:
            self.pause()
        p.visits, p.within = p.visits + 1, 0


class JointInBatches(JointRule, InBatches):
    """``update`` batch or minibatch."""

    loop: Any = staticmethod(joint_minibatch)
    lists = False

    def of_problem(self, p: LinearProblem) -> int:
        """The numbers for each class."""
        return self.size


def joint_fit(p: LinearProblem, settings: Settings) -> JointFit:
    """What came of a problem of all classes."""
    kept = p.average() if p.keeps_average(settings) else p.theta
    if p.pocket is not None:
        kept = p.pocket.theta
    return JointFit(
        hyperplanes=p.planes(kept),
        last=p.planes(p.theta),
        **p.outcome(settings, _updates(p, settings) if settings.record else None),
    )


def _updates(p: LinearProblem, settings: Settings) -> JointUpdates:
    whole = joined((*NO_RECORD, *NO_SIDES), p.records)
    made = whole[4] < p.n_updates  # a run that is halted in a batch does not make its update
    p.records = [tuple(column[made] for column in whole)]
    epoch, sample, value, step, update, own, rival = p.records[0]
    return JointUpdates(
        *(epoch, sample, value, step, update, own, rival),
        start=p.planes(p.start),
        eta=1.0 if settings.update == "online" else settings.eta,
        fit_intercept=settings.fit_intercept,
    )


class JointPocket(Pocket):
    """The pocket where a vector is a hyperplane for each class: errors are those of `predict`.

    What it counts are rows whose own class is surely behind another.
    """

    log: Any = JointLog

    def __init__(self, scanner: Scanner, n_classes: int, *more: Any) -> None:
        super().__init__(scanner, ALL, *more)
        self._together = max(1, self._together // n_classes)

    def _write_path(self, rows: Rows, log: Any, done: int, theta: Floats, out: Floats) -> None:
        joint_path(rows, log, done, self.scanner.bias, theta, self.size, out)

    def _all_errors(self, theta: Floats) -> float:
        errors = 0.0
        for piece in self.source.pieces():
            errors = joint_errors(piece.block, self.size, theta, errors)
        return errors

"""The delta rule: one step towards the targets for every batch, and how large it may be."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from rosenblatt.data.sources import IN_ORDER, map_pieces, through_pieces
from rosenblatt.perceptron.linear_rule import LinearRule
from rosenblatt.perceptron.loops import (
    Visit,
    add_gram_product,
    add_mean,
    add_weights,
    delta,
    largest_norm2,
)
from rosenblatt.running.problems import saved_array, saved_number

if TYPE_CHECKING:
    from contextlib import ExitStack

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Order, Piece, Source
    from rosenblatt.perceptron.linear_rule import LinearProblem
    from rosenblatt.perceptron.loops import Step
    from rosenblatt.running.problems import Settings
    from rosenblatt.running.run import Run
    from rosenblatt.running.threads import Team

HOPELESS = 1e6  # times the first epoch's loss


class DivergenceError(ValueError):
    """The delta rule was given a learning rate too large for the data."""


class Made(NamedTuple):
    """What is done of an epoch: positions; and of each problem the batch in the making, the loss.

    `sums` are ``Σ (t - o)(x, 1)`` over the rows that the batch holds.
    """

    at: int
    sums: Floats
    held: Ints
    losses: Floats


class Delta(LinearRule):
    """``w += eta * mean (t - o)x`` over a batch, with ``o = w·x + b`` itself as the output.

    The targets t are ±1, or `numbers`: then the label of a row is its place among these. Sample
    weights count relative to their mean.
    """

    looks_for_cycles = False  # here, weights that repeat have converged

    def __init__(
        self, source: Source, settings: Settings, team: Team, numbers: Floats | None = None
    ) -> None:
        super().__init__(source, settings, team)
        self.numbers = numbers

    def prepare(
        self, problems: list[LinearProblem], run: Run[LinearProblem], stack: ExitStack
    ) -> None:
        """Find weights and targets, and which epoch is the first that errors are compared with."""
        super().prepare(problems, run, stack)
        self.masses = {k: total_weight(self.source, k) for k in self.positives}
        if self.numbers is not None:
            # They may be of any size, and in the next call of partial_fit of another.
            self.targets = {p.positive: self.numbers for p in problems}
            self.first, self.least = len(problems[0].losses), 0.0
            return
        largest = max(map_pieces(self.source, _largest_label, self.team))
        labels = np.arange(1 + max(largest, *self.positives))
        self.targets = {k: np.where(labels == k, 1.0, -1.0) for k in self.positives}
        self.first, self.least = 0, 1.0

    def state(self, running: list[LinearProblem]) -> dict[str, Any]:
        """What an epoch that has begun needs to go on: its batch in the making, too."""
        return super().state(running) | self.made._asdict()

    def restore(self, running: list[LinearProblem], state: Any) -> None:
        """Go on from such a state."""
        super().restore(running, state)
        k, size = len(running), len(running[0].theta)
        saved_number(state["at"], self.n_rows)
        saved_array(state["sums"], np.float64, (k, size))
        saved_array(state["held"], np.int64, (k,))
        saved_array(state["losses"], np.float64, (k,))

    def epoch(self, problems: list[LinearProblem], order: Order) -> None:
        """Go through the batches (online: of one); the last one may be shorter."""
        masses, steps = self._lengths(problems)
        self.made, size = self._begun(problems), self.batch_size
        for piece, a, z in self.parts(order, self.made.at):
            _, sums, held, losses = self.made
            found = self.team.mapper(len(problems))(
                delta,
                repeat(piece.block),
                [p.positive for p in problems],
                repeat(Visit(piece.order, IN_ORDER, a, z, 0)),
                [self.targets[p.positive] for p in problems],
                [p.theta for p in problems],
                steps,
                repeat(size),
                sums,
                held.tolist(),
                losses.tolist(),
            )
            for k, (p, (rest, mistakes, loss)) in enumerate(zip(problems, found, strict=True)):
                p.n_updates += (int(held[k]) + z - a) // size
                p.losses[-1] = loss / masses[k]
                p.mistakes[-1] += mistakes if self.numbers is None else 0
                held[k], losses[k] = rest, loss
            self.made = self.made._replace(at=piece.offset + z)
            self.pause()
        self._end(problems, steps)

    def _lengths(self, problems: list[LinearProblem]) -> tuple[list[float], list[Step]]:
        """The weight of all samples in each problem, and the steps, for these count by the mean."""
        masses = [self.masses[p.positive] for p in problems]
        rates = [self.settings.eta * (self.n_rows / mass) for mass in masses]
        return masses, [self.step._replace(eta=rate) for rate in rates]

    def _end(self, problems: list[LinearProblem], steps: list[Step]) -> None:
        """End the last batch, if it is shorter, and see what became of the error."""
        for k, p in enumerate(problems):
            if self.made.held[k]:
                add_mean(p.theta, steps[k].eta, self.made.sums[k], int(self.made.held[k]))
                p.n_updates += 1
            self._check(p)

    def _begun(self, problems: list[LinearProblem]) -> Made:
        """Where the epoch begins."""
        if self.middle is not None:
            state, self.middle = self.middle, None
            return Made(*(state[name] for name in Made._fields))
        for p in problems:
            p.losses.append(0.0)
        k, size = len(problems), len(problems[0].theta)
        return Made(0, np.zeros((k, size)), np.zeros(k, np.int64), np.zeros(k))

    def separates(self, p: LinearProblem) -> bool:
        """No: the delta rule does not stop at the last mistake but at the least error."""
        return False

    def _check(self, p: LinearProblem) -> None:
        most = HOPELESS * max(p.losses[self.first], self.least)
        if np.isfinite(p.theta).all() and p.losses[-1] <= most:
            return
        safe = largest_safe_rate(
            self.source, self.positives, self.settings.update, self.settings.fit_intercept
        )
        msg = (
            f"eta0={self.settings.eta:g} is too large for these data: the delta rule diverged in "
            f"epoch {len(p.losses)}. Give eta0 below {0.995 * safe:.3g}, or 'auto', "
            "or scale the features"
        )
        raise DivergenceError(msg)


def total_weight(source: Source, positive: int) -> float:
    """Sum of the weights of a problem's rows."""
    if not source.weighted:
        return float(source.n_rows)
    return float(through_pieces(source, partial(_add_weights, positive), 0.0))


def _add_weights(positive: int, piece: Piece, total: float) -> float:
    return add_weights(piece.block, positive, total)


def _largest_label(piece: Piece, team: Team) -> int:
    return int(piece.block.label.max())


def _largest_norm2(positive: int, bias: float, piece: Piece, team: Team | None) -> float:
    return largest_norm2(piece.block, positive, bias)


def _add_gram_product(positive: int, bias: float, v: Floats, piece: Piece, out: Floats) -> Floats:
    add_gram_product(piece.block, positive, bias, v, out)
    return out


def largest_safe_rate(
    source: Source, positives: list[int], update: str, fit_intercept: bool
) -> float:
    """The rate below which a step of the delta rule cannot increase the error it acts on.

    For the whole batch it is ``2/λ``, λ the largest eigenvalue of the weighted mean of ``x̃x̃ᵀ``,
    and exact: above it the rule diverges. For smaller batches ``2/R²``, R the largest ``‖x̃‖``,
    which bounds λ of every batch. Of several problems the one with the smallest rate decides.
    """
    bias, largest = float(fit_intercept), 0.0
    for positive in positives if source.weighted else positives[:1]:
        mass = total_weight(source, positive)
        if update == "batch":
            curvature = _largest_eigenvalue(source, positive, bias) / mass
        else:
            norms = map_pieces(source, partial(_largest_norm2, positive, bias), None)
            curvature = max(norms) * source.n_rows / mass
        largest = max(largest, curvature)
    if not np.isfinite(largest):
        msg = "X holds numbers whose squares overflow: scale the features"
        raise ValueError(msg)
    return 2.0 / max(largest, float(np.finfo(float).tiny))


def _largest_eigenvalue(source: Source, positive: int, bias: float) -> float:
    """The largest eigenvalue of ``Σ x̃x̃ᵀ`` (weighted), by Lanczos iteration over the blocks."""
    d = source.n_features
    if not max(map_pieces(source, partial(_largest_norm2, positive, bias), None)) > 0:
        return 0.0  # nothing to iterate on

    def times(v: Floats) -> Floats:
        v = np.ascontiguousarray(v).reshape(d + 1)
        add = partial(_add_gram_product, positive, bias, v)
        total: Floats = through_pieces(source, add, np.zeros(d + 1))
        return total

    if d < 3:
        gram = np.column_stack([times(e) for e in np.eye(d + 1)])
        return float(np.linalg.eigvalsh(gram)[-1])
    operator = LinearOperator((d + 1, d + 1), matvec=times, dtype=np.float64)
    start = np.ones(d + 1)
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])

"""Scores of samples: while a rule is trained, and the decision values of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rosenblatt.data.rows import row_weights
from rosenblatt.kernel.device import DeviceValues, is_on_device, pick_rows
from rosenblatt.kernel.given_values import values_for
from rosenblatt.kernel.loops import Doubt, votes
from rosenblatt.kernel.measured import WeightRange
from rosenblatt.kernel.registers import exact_votes, rounded_sum, signed_sum
from rosenblatt.kernels import Precomputed
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block
    from rosenblatt.kernel.expansion import DualProblem, Expansion
    from rosenblatt.kernel.kernel_values import Values
    from rosenblatt.kernels import Kernel
    from rosenblatt.running.threads import Team


class Scores:
    """Scores of the samples with the support vectors of an expansion.

    Attributes
    ----------
    sums : float64 array
        For each sample, side by side: the scores in all problems, their lags where an average is
        wanted, and the sums of the sizes of all terms that the scores were ever given.
    total : float64 array
        The sum of the sizes of all steps, in each problem.
    additions : int
        How many terms the sums can have been made of.
    """

    def __init__(
        self, values: Values, block: Block, positives: list[int], expansion: Expansion
    ) -> None:
        self.values, self.block, self.expansion = values, block, expansion
        self.n, self.k, self.positives = values.n, len(positives), np.array(positives)
        self.columns = 2 * self.k + expansion.arrays.lag.shape[1]
        self.sums = np.zeros((self.n, self.columns))
        self.total = np.zeros(self.k)
        self.additions = 64
        self.twins: NDArray[np.intp] | None = None

    @property
    def now(self) -> Floats:
        """The scores of all samples, a column for each problem."""
        return self.sums[:, : self.k]

    @property
    def sizes(self) -> Floats:
        """The sums of the sizes of all terms that the scores were ever given."""
        return self.sums[:, -self.k :]

    def average(self, problems: list[DualProblem]) -> Floats:
        """The scores with the mean of the vectors after every visit."""
        scores: Floats = self.now - self.sums[:, self.k : -self.k] / visits_of(problems)
        return scores

    def blocks(self, order: Ints) -> Iterator[Ints]:
        """The samples in this order, a wide block at a time."""
        m = self.values.wide_rows
        return (order[a : a + m] for a in range(0, len(order), m))

    def add_all(self) -> None:
        """Give all samples their share of all support vectors."""
        a, size = self.expansion.arrays, self.expansion.size
        sizes = np.abs(a.coef[:size])
        self.total[:] = sizes.sum(axis=0)
        factors = np.hstack([a.coef[:size], a.lag[:size], sizes])
        for sample in self.blocks(np.arange(self.n)):
            batch = self.values.batch(sample)
            self.sums[sample] += self.values.sums(batch, np.arange(size), factors, self.k)

    def doubt_while(self, sample: Ints) -> Doubt:
        """How far scores can be off while these samples are visited."""
        m = len(sample)
        total = float(self.total.max(initial=0.0)) + self.values.weights.heaviest * m
        rounding = self.values.rounding(sample, total, self.additions + 2 * m)
        return Doubt(rounding.relative, rounding.absolute, self.total)

    def doubts(self, sample: Ints) -> Floats:
        """How far the scores of some samples can be off, in each problem."""
        total = float(self.total.max(initial=0.0))
        rounding = self.values.rounding(sample, total, self.additions)
        with np.errstate(invalid="ignore"):  # endless doubt about nothing is doubt
            off: Floats = (
                rounding.relative[:, np.newaxis] * self.sizes[sample]
                + rounding.absolute[:, np.newaxis] * self.total
            )
        return off

    def settled(self, sample: int, c: int, *, exactly: bool = True) -> float:
        """``Σ a_s K(x_s, x)`` for a sample, rounded once: what any blocking must agree with.

        Unless it is wanted exactly, only its sign has to be right.
        """
        coef = self.expansion.arrays.coef[:, c]
        slots = np.flatnonzero(coef)
        terms = coef[slots], self.values.exact(sample, slots)
        return rounded_sum(*terms) if exactly else signed_sum(*terms)

    def mistakes(self, c: int, blocks: Iterable[Ints]) -> tuple[Ints, Floats, Floats]:
        """Rows that are mistakes now, exactly, ``y`` times their scores, and doubt in these."""
        parts = []
        for sample in blocks:
            y, weight = self.signs(c, sample)
            scores, off = self.now[sample, c], self.doubts(sample)[:, c]
            doubtful = (off != 0) & ~(np.abs(scores) > off) & (weight > 0)
            self.values.fetch(sample[doubtful])
            for k in np.flatnonzero(doubtful):
                scores[k], off[k] = self.settled(int(sample[k]), c), 0.0
            wrong = ~(y * scores > 0) & (weight > 0)
            parts.append((sample[wrong], (y * scores)[wrong], off[wrong]))
        rows, values, offs = (np.concatenate(column) for column in zip(*parts, strict=True))
        return rows, values, offs

    def signs(self, c: int, sample: Ints, *, dropped: bool = False) -> tuple[Floats, Floats]:
        """Labels and weights of some rows; dropped ones have no weight, unless wanted."""
        positive = int(self.positives[c])
        y = np.where(self.block.label[sample] == positive, 1.0, -1.0)
        weight = row_weights(self.block, positive, sample).astype(np.float64)
        gone = self.expansion.arrays.dropped
        return y, weight if dropped or not gone.size else np.where(gone[sample, c], 0.0, weight)

    def all_that_matters(self, c: int, scores: Floats, coef: Floats) -> Floats | None:
        """What the rest of the run depends on, exactly; None if it cannot come twice."""
        if self.values.exact_sums(float(self.total.max(initial=0.0))):
            return scores[:, c]
        if self.twins is None:
            self.twins, nothing = self.values.twins(), self.values.nothings()
            if nothing.any():
                self.twins = self.twins if self.twins.size else np.arange(self.n)
                self.twins[nothing] = -1
        if not self.twins.size:
            return None
        sample = self.expansion.arrays.sample[: len(coef)]
        mine = np.flatnonzero((sample >= 0) & (self.twins[sample] >= 0))
        sums: Floats = np.bincount(self.twins[sample[mine]], coef[mine, c], self.n).astype(
            np.float64
        )
        return sums


def visits_of(problems: list[DualProblem]) -> Ints:
    """The visits that each problem has had."""
    return np.array([max(p.visits + p.within, 1) for p in problems])


def kernel_values(kernel: Kernel, bias: float, X: Any, team: Team, **options: Any) -> Values:
    """The kernel's values with X, wherever X is."""
    if is_on_device(X):
        return DeviceValues(kernel, bias, X, team, **options)
    return values_for(kernel, bias, X, team, **options)


def vectors_for(model: Any, X: Any) -> Any:
    """What stands for the support vectors, in the form of X: themselves, or given columns."""
    if isinstance(model.kernel_, Precomputed):
        return model.support_
    V = model.support_vectors_
    if issparse(X) or getattr(X, "sparse", False):
        return csr_array(V)
    return V.toarray() if issparse(V) else V


def decide_by_vectors(model: Any, X: Any, team: Team, precision: Any = np.float64) -> Floats:
    """The decision values, a column for each problem.

    Where rounding could change a decision it is made by the exact value, so that it depends
    neither on the other rows nor on threads. With None as the precision, which may be single
    then, only the decisions are right.
    """
    voting = model.fits_[0].path is not None  # for which a long row of signs has to be right
    values = kernel_values(
        model.kernel_,
        float(model._fitted_with["fit_intercept"]),
        X,
        team,
        vectors=vectors_for(model, X),
        weights=WeightRange(whole=False),
        kind=np.float64 if voting else precision,
    )
    slots, coef = np.arange(len(model.support_)), model.dual_coef_.T
    factors, k = np.hstack([coef, np.abs(coef)]), len(model.fits_)
    out, unsure = np.empty((values.n, k)), [np.empty(0, np.int64)]
    with one_blas_thread():
        for a in range(0, values.n, values.wide_rows):
            sample = np.arange(a, min(a + values.wide_rows, values.n))
            batch = values.batch(sample)
            if voting:
                out[sample] = _vote(model, values, batch, slots)
                continue
            sums = values.sums(batch, slots, factors, k)
            out[sample] = sums[:, :k]
            unsure.append(sample[_in_doubt(model, values, sample, sums)])
    rows = np.concatenate(unsure)
    if len(rows) and values.kind != np.float64:
        out[rows] = decide_by_vectors(model, pick_rows(X, rows), team)
    elif len(rows):
        K = (values.exact(i, slots) for i in rows.tolist())
        out[rows] = [[rounded_sum(one, exact) for one in model.dual_coef_] for exact in K]
    return out


def _in_doubt(model: Any, values: Values, sample: Ints, sums: Floats) -> NDArray[np.bool_]:
    """Which decisions rounding could change, for scores and the sizes of their terms.

    In double precision, where they are shown, the signs of all scores as well.
    """
    k, total = len(model.fits_), np.abs(model.dual_coef_).sum(axis=1)
    relative, absolute = values.rounding(sample, float(total.max()), len(model.support_))
    with np.errstate(invalid="ignore"):
        off = relative[:, np.newaxis] * sums[:, k:] + absolute[:, np.newaxis] * total
    most = off.max(axis=1)
    doubtful: NDArray[np.bool_] = np.zeros(len(sums), np.bool_)
    if k > 1:
        two = np.partition(sums[:, :k], -2, axis=1)[:, -2:]
        doubtful = ~((two[:, 1] - two[:, 0]) / 2.0 > most) & (most != 0)
    if k == 1 or values.kind == np.float64:
        doubtful |= (~(np.abs(sums[:, :k]) > off) & (off != 0)).any(axis=1)
    return doubtful


def _vote(model: Any, values: Values, batch: Any, slots: Ints) -> Floats:
    """Votes of all vectors of the runs, for the samples of a batch."""
    K, n = np.ascontiguousarray(values.matrix(batch, slots)), len(batch.sample)
    out = np.empty((len(model.fits_), n))
    for c, fit in enumerate(model.fits_):
        path, doubtful = fit.path, np.zeros(n, np.bool_)
        assert path is not None
        rounding = values.rounding(batch.sample, float(np.abs(path.step).sum()), len(path.step))
        steps = path.vector, path.step, path.lives, path.first
        votes(K, *steps, rounding.relative, rounding.absolute, out[c], doubtful)
        for i in np.flatnonzero(doubtful):
            exact = values.exact(int(batch.sample[i]), slots)[path.vector]
            out[c, i] = exact_votes(path.step, exact, path.lives, path.first)
        out[c] /= max(1, path.first + int(path.lives.sum()))
    return out.T

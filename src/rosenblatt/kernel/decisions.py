"""The decision values of a fitted kernel perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rosenblatt.kernel.device import kernel_values, pick_rows
from rosenblatt.kernel.loops import votes
from rosenblatt.kernel.measured import WeightRange
from rosenblatt.kernel.registers import exact_votes, rounded_sum
from rosenblatt.kernel.scores import MANY
from rosenblatt.kernels import Precomputed
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.kernel.kernel_values import Values
    from rosenblatt.running.threads import Team


FEW_ROWS = 128  # rows in doubt that are decided exactly at once, not in double precision first


def vectors_for(model: Any, X: Any) -> Any:
    """What stands for the support vectors, in the form of X: themselves, or given columns."""
    if isinstance(model.kernel_, Precomputed):
        return model.support_[:, np.newaxis]
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
        step = values.wide_rows * (1 if voting or not values.side_by_side else MANY)
        for a in range(0, values.n, step):
            sample = np.arange(a, min(a + step, values.n))
            if voting:
                out[sample] = _vote(model, values, values.batch(sample), slots)
                continue
            sums = values.sums_of(sample, slots, factors, k)
            out[sample] = sums[:, :k]
            unsure.append(sample[_in_doubt(model, values, sample, sums)])
    rows = np.concatenate(unsure)
    if len(rows) > FEW_ROWS and values.kind != np.float64:
        out[rows] = decide_by_vectors(model, pick_rows(X, rows), team)
    else:
        out[rows] = exact_decisions(model, values, rows, slots)
    return out


def exact_decisions(model: Any, values: Values, rows: Ints, slots: Ints) -> Floats:
    """The decision values of some rows, rounded once; `slots` are those of the support vectors."""

    def decide(i: int) -> list[float]:
        exact = values.exact(i, slots)
        return [rounded_sum(one, exact) for one in model.dual_coef_]

    values.fetch(rows)
    each = values.team.mapper(len(rows)) if values.side_by_side else map
    return np.array(list(each(decide, rows.tolist()))).reshape(len(rows), len(model.fits_))


def _in_doubt(model: Any, values: Values, sample: Ints, sums: Floats) -> NDArray[np.bool_]:
    """Which decisions rounding could change, for scores and the sizes of their terms.

    In double precision, where they are shown, the signs of all scores as well.
    """
    k, total = len(model.fits_), np.abs(model.dual_coef_).sum(axis=1)
    rounding = values.rounding(sample, float(total.max()), len(model.support_))
    scores, off = sums[:, :k], rounding.off(sums[:, k:], total)
    doubtful: NDArray[np.bool_] = close_calls(scores, off) & (off != 0).any(axis=1)
    if values.kind == np.float64:
        doubtful |= (~(np.abs(scores) > off) & (off != 0)).any(axis=1)
    return doubtful


def close_calls(scores: Floats, off: Floats) -> NDArray[np.bool_]:
    """Which decisions are not certain, if scores can be off by so much."""
    certain: NDArray[np.bool_] = np.abs(scores[:, 0]) > off[:, 0]
    if scores.shape[1] > 1:
        two = np.partition(scores, -2, axis=1)[:, -2:]
        certain = (two[:, 1] - two[:, 0]) / 2.0 > off.max(axis=1)
    return ~certain


def _vote(model: Any, values: Values, batch: Any, slots: Ints) -> Floats:
    """Votes of all vectors of the runs, for the samples of a batch."""
    K, n = np.ascontiguousarray(values.matrix(batch, slots)), len(batch.sample)
    out = np.empty((len(model.fits_), n))
    for c, fit in enumerate(model.fits_):
        path, doubtful = fit.path, np.zeros(n, np.bool_)
        assert path is not None
        rounding = values.rounding(batch.sample, float(np.abs(path.step).sum()), len(path.step))
        votes(K, path.vector, path.step, path.lives, path.first, *rounding, out[c], doubtful)
        for i in np.flatnonzero(doubtful):
            exact = values.exact(int(batch.sample[i]), slots)[path.vector]
            out[c, i] = exact_votes(path.step, exact, path.lives, path.first)
        out[c] /= max(1, path.first + int(path.lives.sum()))
    return out.T

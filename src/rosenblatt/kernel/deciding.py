"""The decision values of a fitted kernel perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rosenblatt.kernel.device import DeviceValues, is_on_device
from rosenblatt.kernel.device_arrays import pick_rows
from rosenblatt.kernel.given_values import values_for
from rosenblatt.kernel.loops import votes
from rosenblatt.kernel.sums import exact_votes, rounded_sum
from rosenblatt.kernel.values import WeightRange
from rosenblatt.kernels import Precomputed
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.kernel.values import Values
    from rosenblatt.kernels import Kernel
    from rosenblatt.running.threads import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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

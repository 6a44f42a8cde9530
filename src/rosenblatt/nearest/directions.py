"""Newton's step for a margin with slack: the linear systems of `newton`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, lstsq
from scipy.linalg.lapack import dpotrf, dpotrs

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import Elsewhere, some_rows
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.sums import are_many
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.columns import Column
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.nearest.sums import Adding
    from rosenblatt.nearest.working_set import Samples


ALONE = Team(1)
DIRECT = 3000  # unknowns up to which systems are solved by Cholesky's method
SPARSE = 600  # unknowns from which few entries make conjugate gradients quicker
NARROW = 100  # features up to which sums over many rows may take no matrix product
FULL, MANY = 0.3, 10**7  # entries, as a share, and in all, to make a sparse matrix an array
CONJUGATE_STEPS = 200
PANEL = 128  # rows of a matrix that a thread computes at a time


def newton_step(
    samples: Samples, weight: Column, k: int, gradient: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """Newton's step for ``½‖w‖² + ½ Σ weight_i (w·x_i + b)²``, and a gradient.

    The weights of all but k samples are 0; `least` is a curvature along b that is there at least.
    """
    d = samples.d
    if not k:
        return -gradient, -slope_b / least
    if samples.dense and samples.alike and d <= NARROW and are_many(samples.source, k):
        return _where_they_are(samples, weight, gradient, slope_b, least)
    rows = samples.listed(weight)
    (few,) = samples.at(rows, weight)
    few_entries = samples.source.n_entries <= FULL * samples.n * d
    if not samples.dense and few_entries and d <= min(k, SPARSE):
        return _without_copies(samples.source, rows, few, gradient, slope_b, least)
    X = some_rows(samples.source, rows)
    if not samples.dense and not few_entries and k * d < MANY:
        X = X.toarray()
    alike = samples.alike or not isinstance(X, np.ndarray)
    return direction(X, few, gradient, slope_b, least, samples.team, alike=alike)


def _where_they_are(
    samples: Samples, weight: Column, gradient: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """The step from many dense rows, wherever they are, by sums over tiles of them."""
    centre, total, H = curvature(samples, weight)
    H.flat[:: samples.d + 1] += 1.0
    dw = -_solve(H.T, gradient - centre * slope_b)
    return dw, -slope_b / (total + least) - float(centre @ dw)


def curvature(samples: Samples, weight: Column) -> tuple[Floats, float, Floats]:
    """The mean of dense samples with weights, the sum of these, and how the samples are spread.

    That is the lower triangle of ``Σ weight_i (x_i - mean)(x_i - mean)ᵀ``.
    """
    d = samples.d
    (sums,), _ = samples.added([(d + 1, samples.tile)], partial(_centre, d), weight)
    total = float(sums[d])
    centre, H = sums[:d] / total, np.zeros((d, d))
    size = d * (d + 1) // 2
    (found,), _ = samples.added([(size, samples.tile)], partial(_curve, centre), weight)
    H[np.tril_indices(d)] = found
    return centre, total, H


def _centre(d: int, piece: Piece, team: Team, add: Adding, weight: Any) -> None:
    add(0, slack.centres, piece.block.rows, weight, width=d)


def _curve(centre: Floats, piece: Piece, team: Team, add: Adding, weight: Any) -> None:
    add(0, slack.curvatures, piece.block.rows, weight, centre, width=len(centre) ** 2)


def _without_copies(
    source: Source | Elsewhere, rows: Ints, weight: Floats, gradient: Floats, slope_b: float,
    least: float,
) -> tuple[Floats, float]:  # fmt: skip
    """The step from some sparse rows, in order, by normal equations of the size of w."""
    d, total = len(gradient), float(weight.sum())
    H, centre = np.zeros((d, d)), np.zeros(d)
    if isinstance(source, Elsewhere):
        slack.gram(source.rows(rows).rows, np.arange(len(rows)), weight, centre, H)  # type: ignore[arg-type]
    else:
        for piece in source.pieces():
            part = slice(*np.searchsorted(rows, [piece.start, piece.start + piece.length]))
            sparse: Any = piece.block.rows
            slack.gram(sparse, rows[part] - piece.start, weight[part], centre, H)
    centre /= total
    H -= total * np.outer(centre, centre)
    H.flat[:: d + 1] += 1.0
    dw = -_solve(H.T, gradient - centre * slope_b)
    return dw, -slope_b / (total + least) - float(centre @ dw)


def direction(
    X: Any,
    weight: Floats,
    gradient: Floats,
    slope_b: float,
    least: float,
    team: Team = ALONE,
    *,
    alike: bool = True,
) -> tuple[Floats, float]:
    """The step of `newton_step` for the rows of a matrix.

    By normal equations of the size of w, or of the number of rows where these are fewer, or by
    conjugate gradients where both are many. An array is changed, and gets a more precise treatment
    unless its columns are `alike`, of similar sizes.
    """
    k, d = X.shape
    few = min(k, d)
    if few > DIRECT or (few > SPARSE and 4 * CONJUGATE_STEPS * X.size < few**3):
        return _by_conjugate_gradients(X, weight, gradient, slope_b, least)
    # Around their mean the rows have w and b apart, and lose no digits to a distant origin.
    total = float(weight.sum())
    centre = (X.T @ weight) / total
    about = gradient - centre * slope_b
    try:
        if not alike:
            dw = _by_least_squares(X, weight, centre, about)
        elif k < d:
            return _by_rows(X, weight, centre, about, slope_b, least, team)
        else:
            dw = -_solve(_curvature(X, weight, centre, total, team), about)
    except LinAlgError:
        return _by_conjugate_gradients(X, weight, gradient, slope_b, least)
    return dw, -slope_b / (total + least) - float(centre @ dw)


def _by_least_squares(X: Floats, weight: Floats, centre: Floats, about: Floats) -> Floats:
    """The same step from ``min ‖dw + about‖² + Σ weight_i (dw·(x_i - centre))²``.

    Slower, but columns of very different sizes keep twice the digits.
    """
    d = X.shape[1]
    X -= centre
    X *= np.sqrt(weight)[:, np.newaxis]
    X = X[np.argsort(-np.abs(X).max(axis=1))]  # the method of Householder wants large rows first
    A, right = np.vstack([X, np.eye(d)]), np.concatenate([np.zeros(len(X)), -about])
    solved: Floats = lstsq(A, right, lapack_driver="gelsy", check_finite=False)[0]
    return solved


def _gram(X: Floats, team: Team) -> Floats:
    """The lower triangle of ``XᵀX``, by the threads of a team.

    Its panels do not depend on how many these are, so that neither does a bit of it.
    """
    d = X.shape[1]
    H = np.zeros((d, d))

    def panel(a: int) -> None:
        z = min(a + PANEL, d)
        np.matmul(X[:, a:z].T, X[:, :z], out=H[a:z, :z])

    team.each_product(panel, range(0, d, PANEL)[::-1])  # the longest ones first
    return H


def _curvature(X: Any, weight: Floats, centre: Floats, total: float, team: Team) -> Floats:
    """``I + Σ weight_i (x_i - centre)(x_i - centre)ᵀ``: the upper triangle of it."""
    d = X.shape[1]
    if isinstance(X, np.ndarray):
        X -= centre
        X *= np.sqrt(weight)[:, np.newaxis]
        H = _gram(X, team).T
    else:
        H = np.zeros((d, d))
        slack.gram(as_rows(X), np.arange(len(weight)), weight, np.zeros(d), H)  # type: ignore[arg-type]
        H = (H - total * np.outer(centre, centre)).T
    H[np.diag_indices(d)] += 1.0
    return H


def _solve(H: Floats, right: Floats) -> Floats:
    """Cholesky's method on the upper triangle of a matrix in the order of Fortran, now lost."""
    factor, wrong = dpotrf(H, overwrite_a=1, clean=0)
    if wrong:
        raise LinAlgError
    solved: Floats = dpotrs(factor, right)[0]
    return solved


def _by_rows(
    X: Any,
    weight: Floats,
    centre: Floats,
    about: Floats,
    slope_b: float,
    least: float,
    team: Team,
) -> tuple[Floats, float]:
    """The same step from a system of the size of the number of rows, by Woodbury's formula."""
    dense = isinstance(X, np.ndarray)
    if dense:
        X -= centre
        K = _gram(X.T, team)
        seen = X @ about
    else:
        K = (X @ X.T).toarray()
        across = X @ centre
        K += float(centre @ centre) - across - across[:, np.newaxis]
        seen = X @ about - float(centre @ about)
    K.flat[:: len(K) + 1] += 1.0 / weight
    sides = np.column_stack([np.ones(len(K)), -seen])
    one, other = _solve(K.T, sides).T
    db = (-slope_b - float(other.sum())) / (float(one.sum()) + least)
    pulls = other + one * db
    dw = -about - X.T @ pulls
    if not dense:
        dw += centre * pulls.sum()
    return dw, db - float(centre @ dw)


def _by_conjugate_gradients(
    X: Any, weight: Floats, gradient: Floats, slope_b: float, least: float
) -> tuple[Floats, float]:
    """The same step roughly."""
    square = (X**2).T @ weight if isinstance(X, np.ndarray) else X.multiply(X).T @ weight
    inverse = 1.0 / np.append(1.0 + square, weight.sum() + least)
    across = X.T  # of a sparse matrix this is an object to make once

    def times(v: Floats) -> Floats:
        curved = weight * (X @ v[:-1] + v[-1])
        return np.append(v[:-1] + across @ curved, curved.sum() + least * v[-1])

    p = conjugate_gradients(times, -np.append(gradient, slope_b), inverse, CONJUGATE_STEPS)
    return p[:-1], float(p[-1])


def conjugate_gradients(
    times: Callable[[Floats], Floats], right: Floats, inverse: Floats | float, steps: int
) -> Floats:
    """An approximate solution; every iterate of the method is a direction of descent.

    `inverse` is that of the diagonal: the steps are then fewer; 1.0 does without.
    """
    p, r, z = np.zeros_like(right), right, inverse * right
    v, rz = z, float(r @ z)
    enough = 1e-4 * rz
    for _ in range(steps):
        product = times(v)
        bend = float(v @ product)
        if not bend > 0:  # rounding, or nothing to solve
            break
        step = rz / bend
        p, r = p + step * v, r - step * product
        z = inverse * r
        rz, before = float(r @ z), rz
        if not rz > enough:
            break
        v = z + rz / before * v
    return p

"""What carries a separation or stands in its way: features, coefficients, twins, chance."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.identical import distinct
from rosenblatt.exact import independent_rows, null_basis, solve, spanning_rows
from rosenblatt.exact.rationals import exact_product
from rosenblatt.exact.sides import first_not_annihilated
from rosenblatt.theory import cover_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask
    from rosenblatt.results import QuasiSeparable

BLOCK = 1 << 20  # numbers at a time
MOST_WORK = 10**8  # steps, roughly, that looking for forced signs may take
MOST_ELIMINATION = 10**9  # the same for a rank
NEGLIGIBLE = 1e-6  # a chance that need not be told


class SingleFeature(NamedTuple):
    """A feature that separates two classes alone: no sample is on the wrong side of a threshold."""

    feature: int
    threshold: float  # between the classes or, where they touch, the one value that both have
    above: int  # the class, -1 or +1, of the samples above the threshold
    complete: bool  # whether no sample is on the threshold
    n_above: int  # how many samples are strictly above
    n_below: int


def single_features(X: Any, y: NDArray[Any]) -> list[SingleFeature]:
    """The features that separate two classes alone, completely or but for ties.

    Feature j does if ``max x_j`` over one class is at most ``min x_j`` over the other, and some
    sample is off that value. Those that separate completely come first, then by how many samples
    are off the threshold. X is an array or CSR matrix, y has -1 and +1: here and below.
    """
    y = np.asarray(y)
    (low_minus, high_minus), (low_plus, high_plus) = (_ranges(X, y == label) for label in (-1, 1))
    varies = np.minimum(low_minus, low_plus) < np.maximum(high_minus, high_plus)
    found = []
    for below, above, label in ((high_minus, low_plus, 1), (high_plus, low_minus, -1)):
        features = np.flatnonzero((below <= above) & varies)
        below, above = below[features], above[features]
        complete, middle = below < above, below / 2 + above / 2
        # Where the classes touch, or no float lies between them, the lower value stands for it.
        thresholds = np.where((below < middle) & (middle < above), middle, below)
        n_above, n_below = _sides(X, features, below)
        n_below = np.where(complete, len(y) - n_above, n_below)
        columns = (features, thresholds, complete, n_above, n_below)
        for j, t, whole, up, down in zip(*(c.tolist() for c in columns), strict=True):
            found.append(SingleFeature(j, t, label, whole, up, down))
    return sorted(found, key=lambda one: (not one.complete, -one.n_above - one.n_below))


def _ranges(X: Any, chosen: Mask) -> tuple[Floats, Floats]:
    """The smallest and the largest value of each feature over the chosen samples."""
    if hasattr(X, "tocsr"):
        rows = X.tocsr()[chosen]
        return tuple(np.ravel(f(axis=0).toarray()) for f in (rows.min, rows.max))  # type: ignore[return-value]
    these = chosen[:, np.newaxis]
    return X.min(axis=0, initial=np.inf, where=these), X.max(axis=0, initial=-np.inf, where=these)


def _sides(X: Any, features: Ints, thresholds: Floats) -> tuple[Ints, Ints]:
    """How many samples are strictly above and below the threshold of each feature."""
    if hasattr(X, "tocsr"):
        entries = X.tocsr()[:, features].tocoo()
        size = len(features)
        limit = thresholds[entries.col]
        above = np.bincount(entries.col[entries.data > limit], minlength=size)
        below = np.bincount(entries.col[entries.data < limit], minlength=size)
        zeros = X.shape[0] - np.bincount(entries.col, minlength=size)
        return above + zeros * (thresholds < 0), below + zeros * (thresholds > 0)
    columns = [(X[:, j], t) for j, t in zip(features, thresholds, strict=True)]
    counts = [[(column > t).sum(), (column < t).sum()] for column, t in columns]
    above, below = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    return above, below


class Twins(NamedTuple):
    """Identical samples with different labels."""

    pairs: list[tuple[int, int]]  # the first of -1 and of +1 for each set of identical ones
    n_samples: int  # how many all these sets have together


def twins(X: Any, y: NDArray[Any]) -> Twins:
    """Identical samples with different labels: no function of the features tells them apart."""
    _, kind = distinct(X)
    order = np.lexsort((y, kind))
    edges = np.flatnonzero(np.diff(kind[order])) + 1
    starts, stops = np.append(0, edges), np.append(edges, len(kind))
    pairs, n_samples = [], 0
    for k in np.flatnonzero(y[order[starts]] != y[order[stops - 1]]).tolist():
        members = order[starts[k] : stops[k]]
        minus, plus = members[y[members] == -1].min(), members[y[members] == 1].min()
        pairs.append((int(minus), int(plus)))
        n_samples += members.size
    return Twins(sorted(pairs, key=max), n_samples)


class Estimates(NamedTuple):
    """What a logistic regression comes to where the classes are quasi-separable.

    The `running` coefficients, pairs of a feature (d is the bias) and a sign, are those that some
    hyperplane with no sample on its wrong side moves. With a sign they have no finite estimate and
    run that way: all hyperplanes with as few samples as possible on them agree in it. With 0 that
    is not proved, and they may run either way or settle. Features that are sums of multiples of
    others, beyond one of each text column, are `left_out`: their coefficients count as 0.
    """

    running: list[tuple[int, int]]
    left_out: list[int]


def estimates(
    certificate: QuasiSeparable, X: Any, y: NDArray[Any], groups: Sequence[Sequence[int]]
) -> Estimates:
    """Which coefficients of a logistic regression have a finite estimate.

    Along a hyperplane with no sample on its wrong side the likelihood never falls [1]_. What is
    zero in all such hyperplanes has a finite estimate: what the samples on all of them settle.
    What has one sign in all of them has none. Both are decided exactly.

    The features of a text column sum to 1, which the bias is too. Their coefficients therefore
    have a meaning only relative to each other: to the first of them, as regression programs do.
    `groups` has for each text column the numbers of its features.

    References
    ----------
    .. [1] A. Albert and J. A. Anderson, "On the existence of maximum likelihood estimates in
       logistic regression models", Biometrika 71, 1984.
    """
    d = X.shape[1]
    firsts = {group[0] for group in groups}
    order = np.array([d, *(j for j in range(d) if j not in firsts)])
    spanning = _augmented(X, certificate.spanning_support)
    basis = _spanning_all(certificate, X, spanning, order.size)
    # The bias first, then features in order: what is taken does not depend on those before.
    kept = order[independent_rows(basis[:, order].T)[0]]
    plane = certificate.hyperplane
    theta: Sequence[Any] = certificate.exact or [*plane.w.tolist(), plane.b]
    beta = _solution(basis[:, kept], exact_product(basis, theta))
    moved = ~_are_settled(spanning[:, kept])
    signs = np.where(moved, [(x > 0) - (x < 0) for x in beta], 0)
    off = np.setdiff1d(np.arange(X.shape[0]), certificate.on)
    signs = _forced(signs, spanning[:, kept], X, y, off, kept)
    running = sorted(zip(kept[moved].tolist(), signs[moved].tolist(), strict=True))
    left_out = sorted(set(order.tolist()) - set(kept.tolist()))
    return Estimates(running, left_out)


def _forced(
    signs: NDArray[Any], on: Floats, X: Any, y: NDArray[Any], off: Any, kept: Any
) -> NDArray[Any]:
    """Those of the signs that all weak hyperplanes share, 0 for the others.

    Coefficient k is never negative if its unit vector is a sum of positive multiples of signed
    samples off the hyperplane, and of any multiples of samples on it (Farkas). Linear programming
    finds such a sum in floating point, and it is then solved for exactly.
    """
    on = on[independent_rows(on)[0]]
    freedom, wanted = len(kept) - len(on), np.flatnonzero(signs)
    if freedom == 1:
        return signs
    found = np.zeros_like(signs)
    if off.size * len(kept) * max(wanted.size, 10) > MOST_WORK or len(kept) ** 3 > MOST_ELIMINATION:
        return found
    Z = _augmented(X, off)[:, kept] * y[off, np.newaxis]
    scale = np.maximum(np.abs(Z).max(axis=0), np.abs(on).max(axis=0, initial=0))
    lengths = np.abs(on / scale).max(axis=1, keepdims=True)
    free = np.linalg.svd(on / scale / lengths, full_matrices=True)[2][len(on) :]
    directions = (Z / scale) @ free.T
    norms = np.linalg.norm(directions, axis=1, keepdims=True)
    directions /= np.where(norms > 0, norms, 1)
    for k in wanted.tolist():
        if _is_sum(k, signs[k], directions, free[:, k], Z, on):
            found[k] = signs[k]
    return found


def _is_sum(k: int, sign: int, directions: Floats, target: Floats, Z: Floats, on: Floats) -> bool:
    """Whether ``sign`` times the unit vector k is such a sum, proved."""
    from scipy.optimize import linprog

    norm = float(np.linalg.norm(target))
    b = sign * target / (norm or 1)
    result = linprog(np.ones(len(directions)), A_eq=directions.T, b_eq=b, method="highs-ds")
    if result.x is None or not result.success:
        return False
    support = np.flatnonzero(result.x > 1e-9 * result.x.max())
    unit = [int(sign) * (j == k) for j in range(Z.shape[1])]
    try:
        solution = solve(np.vstack([Z[support], on]).T, unit)
    except ValueError:  # dependent, so there is more than one
        return False
    return solution is not None and min(solution.numerators[: support.size], default=0) >= 0


def _augmented(X: Any, rows: NDArray[Any]) -> Floats:
    """``(x, 1)`` for these rows, dense."""
    chosen = X[rows]
    chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
    return np.column_stack([chosen, np.ones(len(chosen))])


def _spanning_all(certificate: QuasiSeparable, X: Any, spanning: Floats, most: int) -> Floats:
    """Independent ``(x, 1)`` that span those of all samples; there are at `most` so many."""
    off = np.setdiff1d(np.arange(X.shape[0]), certificate.on)
    basis = spanning[independent_rows(spanning)[0]]
    step = max(64, BLOCK // (X.shape[1] + 1))
    for start in range(0, off.size, step):
        if len(basis) == most:
            break
        rows = np.vstack([basis, _augmented(X, off[start : start + step])])
        basis = rows[independent_rows(rows)[0]]
    while len(basis) < most:
        missed = first_not_annihilated(X, null_basis(basis))
        if missed is None:
            break
        basis = np.vstack([basis, _augmented(X, np.array([missed]))])
    return basis


def _solution(A: Floats, b: list[Fraction]) -> tuple[Fraction, ...]:
    solution = solve(A, b)
    assert solution is not None  # the columns of A span all that b can be
    return solution.fractions()


def _are_settled(Z: Floats) -> Mask:
    """Which coefficients are zero in every θ with ``Zθ = 0``: those of one taken at random."""
    rows, columns = independent_rows(Z)
    free = np.setdiff1d(np.arange(Z.shape[1]), columns)
    chosen = np.random.default_rng(0).integers(1, 1 << 30, free.size).tolist()
    rest = _solution(Z[np.ix_(rows, columns)], exact_product(Z[np.ix_(rows, free)], chosen))
    settled = np.zeros(Z.shape[1], dtype=np.bool_)
    settled[columns] = [x == 0 for x in rest]
    return settled


class Chance(NamedTuple):
    """How likely hyperplanes are to separate these samples with labels at random."""

    at_most: float  # an upper bound on that probability
    any_labels: bool  # whether the samples are affinely independent: all labels are separable
    n_distinct: int  # how many samples are different
    rank: int | None  # of their affine hull; None if that was too much work, or not needed


def chance(X: Any, n_groups: int) -> Chance:
    """A bound on the probability that random labels are separable.

    Cover's count is that of points in general position [1]_. Of others with the same affine
    hull hyperplanes realise at most as many labelings, and identical samples need equal labels.
    Each of `n_groups` groups of features sums to 1, which takes a dimension.

    References
    ----------
    .. [1] T. M. Cover, "Geometrical and statistical properties of systems of linear
       inequalities", IEEE Transactions on Electronic Computers 14, 1965.
    """
    n, d = X.shape
    different = len(distinct(X)[0])
    alike = 2.0 ** (different - n)
    most = min(d - n_groups, different - 1)
    at_most = cover_probability(different, most) * alike
    if at_most <= NEGLIGIBLE or n * d * min(n, d) > MOST_ELIMINATION:
        return Chance(at_most, False, different, None)
    rank = len(spanning_rows(_augmented(X, np.arange(n)))) - 1
    return Chance(cover_probability(different, rank) * alike, rank == n - 1, different, rank)

"""How many ways hyperplanes can part a set of points: counted exactly."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import whole_number, yes_or_no
from rosenblatt.boolean.truth_tables import cube
from rosenblatt.exact.rationals import rows_as_integers
from rosenblatt.matrices import matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Vectors = Any  # rows of whole numbers: int64, or Python's own where these are too small

MOST_STEPS, MOST_ROWS = 2_000_000, 100_000_000  # a few minutes of either
MOST_VARIABLES = 6
SMALL = 2**30  # a difference of two products of such numbers still fits in 64 bits


def count_dichotomies(X: ArrayLike, *, fit_intercept: bool = True) -> int:
    """How many of the 2ⁿ labelings of n points some hyperplane realises.

    Realised is a labeling with ``y_i(w·x_i + b) > 0`` for every point; those with one label only
    count, too. Points may be in any position, also on one line or several times the same. The
    count is exact: floats are taken as the rational numbers they are.

    A labeling is a region into which the hyperplanes ``{θ : x̃_i·θ = 0}`` cut the space of all
    ``θ = (w, b)``. Adding them one at a time, each new one is itself cut into regions by those
    before it, and adds as many as it has: the same problem with one dimension less, down to the
    plane, where m lines through the origin make 2m. This is Schläfli's count, which Cover [1]_
    gave its meaning, without his assumption of general position.

    With n points in d dimensions that is up to ``binom(n - 3, d - 1)`` steps. What would take
    more than two million of them, a few minutes, is refused; `rosenblatt.theory.cover_count` knows
    the number for any points in general position.

    Parameters
    ----------
    X : array of shape (n, d)
        The points.
    fit_intercept : bool
        Whether hyperplanes may have a bias; otherwise all go through the origin.

    Raises
    ------
    ValueError
        If X is no table of numbers, or counting would take too long.

    References
    ----------
    .. [1] T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities
       with applications in pattern recognition", IEEE Transactions on Electronic Computers
       EC-14, 1965.

    Examples
    --------
    >>> from rosenblatt import boolean
    >>> boolean.count_dichotomies([[0, 0], [0, 1], [1, 0], [1, 1]])  # all but XOR and its opposite
    14
    """
    return _count(_integers(X, fit_intercept))


def _count(V: Vectors, *, at_any_cost: bool = False) -> int:
    """How many labelings of vectors, hyperplanes through the origin realise."""
    if any(not row.any() for row in V):  # a point in the origin is on every hyperplane through it
        return 0
    V = _distinct(V)
    rank = len(_basis(V))
    if not at_any_cost:
        _check_work(len(V), rank)
    V = _independent_first(V)
    # Columns in which the first rows, which are independent, stay independent.
    columns = _basis(_reduced(V[:rank].T.copy())) if rank else []
    return _regions(V[:, columns], rank)


def _check_work(m: int, rank: int) -> None:
    """Refuse what would run for very long; in general position this is what `_regions` does."""
    if m == rank or rank <= 2:
        return
    steps, rows = comb(m - 3, rank - 2), comb(m - 2, rank - 1)
    if steps > MOST_STEPS or rows > MOST_ROWS:
        msg = (
            f"{m} points whose hyperplanes have {rank} free parameters are too many to count "
            f"their labelings one by one ({steps:.1e} steps): give fewer points or features, or "
            "use rosenblatt.theory.cover_count, for points in general position"
        )
        raise ValueError(msg)


def shatters(X: ArrayLike, *, fit_intercept: bool = True) -> bool:
    """Whether hyperplanes realise every labeling of these points.

    They do exactly when the points are affinely independent: otherwise some of them split into
    two groups whose convex hulls meet, as Radon showed, and that labeling is not realised. So d + 1
    points can be shattered in d dimensions and d + 2 never: the Vapnik-Chervonenkis dimension of
    hyperplanes is d + 1.

    Parameters
    ----------
    X : array of shape (n, d)
        The points.
    fit_intercept : bool
        Whether hyperplanes may have a bias; otherwise linear independence decides.
    """
    V = _integers(X, fit_intercept)
    return len(_basis(V)) == len(V)


def count_threshold_functions(n: int) -> int:
    """How many of the boolean functions of n variables one unit computes.

    2, 4, 14, 104, 1882, 94 572, 15 028 134, …: `count_dichotomies` of the corners of the cube. It
    takes a second for n = 5, and minutes for n = 6; more variables are refused.

    Parameters
    ----------
    n : int
        The number of variables, 0 to 6.
    """
    n = whole_number("n", n, 0, f"give a number of variables, 0 to {MOST_VARIABLES}")
    if n > MOST_VARIABLES:
        msg = f"n={n} takes too long to count: give at most {MOST_VARIABLES} variables"
        raise ValueError(msg)
    return _count(_integers(cube(n), True), at_any_cost=True)


def _integers(X: ArrayLike, fit_intercept: bool) -> Vectors:
    """Rows ``(x, 1)``, each scaled to the least whole numbers."""
    fit_intercept = yes_or_no("fit_intercept", fit_intercept)
    points = matrix("X", X, "give a table of numbers with one row per point")
    points = points.toarray() if hasattr(points, "toarray") else points
    if not np.isfinite(points).all():
        msg = "X holds values that are not finite numbers"
        raise ValueError(msg)
    if fit_intercept:
        points = np.column_stack([points, np.ones(len(points))])
    return _reduced(rows_as_integers(points)[0])


def _reduced(V: Vectors) -> Vectors:
    """Rows without common factors; as int64 where they are small enough to reckon with."""
    divisors = np.gcd.reduce(V, axis=1, initial=0) if V.size else np.zeros(len(V), dtype=object)
    divisors[divisors == 0] = 1
    V = V // divisors[:, None]
    if V.dtype == object and (not V.size or abs(V).max() < SMALL):
        return V.astype(np.int64)
    return V if V.dtype == object or abs(V).max(initial=0) < SMALL else V.astype(object)


def _distinct(V: Vectors) -> Vectors:
    """One row of each direction, whichever way it points."""
    if not V.size:
        return V[:0]
    first = np.argmax(V != 0, axis=1)
    V = np.where(V[np.arange(len(V)), first] < 0, -1, 1)[:, None] * V
    keys = dict.fromkeys(map(tuple, V.tolist()))
    return np.array(list(keys), dtype=V.dtype).reshape(len(keys), V.shape[1])


def _modulo(V: Vectors, v: Vectors) -> Vectors:
    """The rows of V seen within the hyperplane of v, one coordinate less; none of them zero."""
    p = int(np.argmax(v != 0))
    rest = np.delete(v[p] * V - V[:, p, None] * v, p, axis=1)
    return _reduced(rest)


def _basis(V: Vectors) -> list[int]:
    """The first rows that are linearly independent of those before them."""
    found, at = [], np.arange(len(V))
    while V.size:
        kept = (V != 0).any(axis=1)
        V, at = V[kept], at[kept]
        if not len(V):
            break
        found.append(int(at[0]))
        V, at = _modulo(V[1:], V[0]), at[1:]
    return found


def _regions(V: Vectors, rank: int) -> int:
    """Into how many regions these distinct hyperplanes cut the space; the first ones independent.

    `rank` is the rank of V and the number of its columns.
    """
    m = len(V)
    if m == rank:
        return int(2**m)
    if rank <= 2:
        return 2 * m
    total = int(2**rank)  # of the first ones alone
    for i in range(rank, m):
        before = _distinct(_modulo(V[:i], V[i]))
        total += _regions(_independent_first(before), rank - 1)
    return total


def _independent_first(V: Vectors) -> Vectors:
    """The same rows, a basis of them first."""
    basis = _basis(V)
    return V[basis + sorted(set(range(len(V))) - set(basis))]

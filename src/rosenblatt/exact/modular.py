"""Elimination modulo a prime: proves linear independence.

Residues are kept between -p/2 and p/2 in float64, where a matrix product of residues is exact
as long as every sum stays below 2**53: then the work is done by BLAS.
"""

from __future__ import annotations

from math import isqrt
from random import SystemRandom
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.exact.integers import decompose, residues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

RANDOM = SystemRandom()


def primes(terms: int) -> Iterator[int]:
    """Primes at random for which sums of `terms` products of residues are exact, without end.

    Nobody can know them before, and so prepare data that they are all wrong for.
    """
    most = 2 * (isqrt(2**53 // (terms + 2)) - 1)
    small = np.arange(3, isqrt(most) + 1, 2)
    while True:
        candidate = RANDOM.randrange(most // 2, most) | 1
        if pow(2, candidate - 1, candidate) == 1 and (candidate % small).all():
            yield candidate


def reduce(values: Floats, p: int) -> Floats:
    """Bring integers below 2**53 modulo `p` between -p/2 and p/2, in place."""
    quotients = values * (1 / p)
    np.rint(quotients, out=quotients)
    quotients *= p
    values -= quotients
    return values


def _eliminate(R: Floats, p: int, width: int) -> tuple[list[int], list[int], Floats]:
    """Gauss-Jordan elimination of a few rows."""
    rows: list[int] = []
    columns: list[int] = []
    for i in range(len(R)):
        j = int(np.argmax(R[i, :width] != 0))
        if R[i, j] == 0:
            continue
        R[i] *= pow(int(R[i, j]), -1, p)
        reduce(R[i], p)
        factors = R[:, j].copy()
        factors[i] = 0
        R -= np.multiply.outer(factors, R[i])
        reduce(R, p)
        rows.append(i)
        columns.append(j)
    return rows, columns, R[rows]


def echelon(R: Floats, p: int, width: int) -> tuple[list[int], list[int], Floats]:
    """``(rows, columns, U)``: the reduced echelon form of residues; R is overwritten.

    `rows` are taken greedily in order, each with its pivot among the first `width` columns;
    ``U[:, columns]`` is the identity, and the rows of U span those of R (in these columns).
    """
    if len(R) <= 8:
        return _eliminate(R, p, width) if width else ([], [], R[:0])
    half = len(R) // 2
    rows, columns, top = echelon(R[:half], p, width)
    if len(rows) == width:
        return rows, columns, top
    low = reduce(R[half:] - R[half:, columns] @ top, p)
    if not low[:, :width].any():
        return rows, columns, top
    more, pivots, bottom = echelon(low, p, width)
    top = reduce(top - top[:, pivots] @ bottom, p)
    return rows + [half + i for i in more], columns + pivots, np.vstack([top, bottom])


def _independent(Z: Floats, p: int) -> tuple[list[int], list[int]]:
    """Rows independent modulo `p`, greedily, in chunks: few are needed of a tall matrix."""
    width = Z.shape[1]
    rows: list[int] = []
    columns: list[int] = []
    U = np.zeros((0, width))
    step = max(256, 2 * width)
    for start in range(0, len(Z), step):
        R = residues(*decompose(Z[start : start + step]), p)
        R = reduce(R - R[:, columns] @ U, p)
        more, pivots, low = echelon(R, p, width)
        U = np.vstack([reduce(U - U[:, pivots] @ low, p), low])
        rows += [start + i for i in more]
        columns += pivots
        if len(rows) == width:
            break
    return rows, columns


def independent_rows(Z: ArrayLike) -> tuple[Ints, Ints]:
    """A maximal set of linearly independent rows, and columns that make it a regular matrix.

    Rows are taken greedily in order: row i exactly if it is not in the span of those before.
    Independence is proved: the rank modulo a prime is never larger than the true one (powers of
    two, and so all floats, are units modulo an odd prime). That no row is missing holds unless
    two primes drawn at random are misled in the same way; `spanning_rows` proves it.

    Parameters
    ----------
    Z : float array of shape (m, D)

    Returns
    -------
    rows, columns : int arrays
        ``Z[rows][:, columns]`` is regular.
    """
    Z = np.asarray(Z, dtype=np.float64)
    draw = primes(min(Z.shape))
    rows, columns = _independent(Z, next(draw))
    while _doubtful(rows, *Z.shape):
        again = _independent(Z, next(draw))
        if again[0] == rows:
            break
        # At the first difference the set that took the row is right: it proved independence.
        if _earlier(again[0], rows):
            rows, columns = again
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)


def _doubtful(rows: list[int], m: int, width: int) -> bool:
    """Whether a row was passed over before the rank was full."""
    passed = rows[-1] + 1 - len(rows) if len(rows) == width and rows else m - len(rows)
    return width > 0 and passed > 0


def _earlier(rows: list[int], others: list[int]) -> bool:
    """Whether the first row in one of the lists only is in `rows`."""
    for a, b in zip(rows, others, strict=False):
        if a != b:
            return a < b
    return len(rows) > len(others)

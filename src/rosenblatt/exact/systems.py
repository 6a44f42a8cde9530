"""Linear algebra without rounding: independence, systems and null spaces; and what they cost.

Rows that are independent modulo a prime are independent: that much is proved quickly. Systems are
solved in rational numbers by FLINT (the FLINT team, "FLINT: Fast Library for Number Theory"), which
lifts a solution modulo a prime; it is the quickest of what was measured, for few and for many
unknowns. What seems to be dependent is proved to be by null vectors, on every row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.rationals import (
    Scaled,
    as_objects,
    decompose,
    nearest_float,
    over_one_denominator,
    residues,
    scaled,
)
from rosenblatt.exact.sides import first_not_annihilated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flint import fmpz_mat
    from numpy.typing import ArrayLike

    from rosenblatt.array_types import Floats, Ints

DEPENDENT = "the columns of A are linearly dependent: keep independent ones only"
RANDOM = SystemRandom()
WORD = 64  # bits
LONG = 256  # words from which on the time of a product is more than that of its words

# Independence, modulo a prime --------------------------------------------------------------------
#
# Residues are kept between -p/2 and p/2 in float64, where a matrix product of residues is exact
# as long as every sum stays below 2**53: then the work is done by BLAS.


def independent_rows(Z: ArrayLike, again: bool = True) -> tuple[Ints, Ints]:
    """A maximal set of linearly independent rows, and columns that make it a regular matrix.

    Rows are taken greedily in order: row i exactly if it is not in the span of those before.
    Independence is proved: the rank modulo a prime is never larger than the true one (powers of
    two, and so all floats, are units modulo an odd prime). That no row is missing holds unless
    two primes drawn at random are misled in the same way, or one if it need not be looked for
    `again`; `spanning_rows` proves it.
    """
    Z = np.asarray(Z, dtype=np.float64)
    draw = primes(min(Z.shape))
    rows, columns = _independent(Z, next(draw))
    while again and _doubtful(rows, *Z.shape):
        other = _independent(Z, next(draw))
        if other[0] == rows:
            break
        # At the first difference the set that took the row is right: it proved independence.
        if [*other[0], math.inf] < [*rows, math.inf]:
            rows, columns = other
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)


def primes(terms: int) -> Iterator[int]:
    """Primes at random for which sums of `terms` products of residues are exact, without end.

    Nobody can know them before, and so prepare data that they are all wrong for.
    """
    most = 2 * (math.isqrt(2**53 // (terms + 2)) - 1)
    small = np.arange(3, math.isqrt(most) + 1, 2)
    while True:
        candidate = RANDOM.randrange(most // 2, most) | 1
        if pow(2, candidate - 1, candidate) == 1 and (candidate % small).all():
            yield candidate


def _reduce(values: Floats, p: int) -> Floats:
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
        _reduce(R[i], p)
        factors = R[:, j].copy()
        factors[i] = 0
        R -= np.multiply.outer(factors, R[i])
        _reduce(R, p)
        rows.append(i)
        columns.append(j)
    return rows, columns, R[rows]


def _echelon_modulo(R: Floats, p: int, width: int) -> tuple[list[int], list[int], Floats]:
    """``(rows, columns, U)``: the reduced echelon form of residues; R is overwritten.

    `rows` are taken greedily in order, each with its pivot among the first `width` columns;
    ``U[:, columns]`` is the identity, and the rows of U span those of R (in these columns).
    """
    if len(R) <= 8:
        return _eliminate(R, p, width) if width else ([], [], R[:0])
    half = len(R) // 2
    rows, columns, top = _echelon_modulo(R[:half], p, width)
    if len(rows) == width:
        return rows, columns, top
    low = _reduce(R[half:] - R[half:, columns] @ top, p)
    if not low[:, :width].any():
        return rows, columns, top
    more, pivots, bottom = _echelon_modulo(low, p, width)
    top = _reduce(top - top[:, pivots] @ bottom, p)
    return rows + [half + i for i in more], columns + pivots, np.vstack([top, bottom])


def _independent(Z: Floats, p: int) -> tuple[list[int], list[int]]:
    """Rows independent modulo `p`, greedily, in chunks: few are needed of a tall matrix.

    What is zero along a random vector that all rows so far are zero along is taken for dependent.
    """
    width = Z.shape[1]
    rows: list[int] = []
    columns: list[int] = []
    U = np.zeros((0, width))
    step = max(256, 2 * width)
    left = np.arange(len(Z))
    while left.size:
        chunk, left = left[:step], left[step:]
        R = _residues(Z[chunk], p)
        R = _reduce(R - R[:, columns] @ U, p)
        more, pivots, low = _echelon_modulo(R, p, width)
        U = np.vstack([_reduce(U - U[:, pivots] @ low, p), low])
        rows += chunk[more].tolist()
        columns += pivots
        if len(rows) == width:
            break
        if left.size:
            probe = _null_vector(U, columns, p)
            left = left[_reduce(_residues(Z[left], p) @ probe, p) != 0]
    return rows, columns


def _residues(Z: Floats, p: int) -> Floats:
    """A matrix of floats modulo `p`, between -p/2 and p/2: itself if it has small integers."""
    if np.abs(Z).max(initial=0.0) < p // 2 and (np.rint(Z) == Z).all():
        return Z
    return residues(*decompose(Z), p)


def _null_vector(U: Floats, columns: list[int], p: int) -> Floats:
    """A random vector that the rows of a reduced echelon form are zero along, modulo `p`."""
    v = np.array([float(RANDOM.randrange(p) - p // 2) for _ in range(U.shape[1])])
    v[columns] = 0.0
    v[columns] = -_reduce(U @ v, p)
    return v


def _doubtful(rows: list[int], m: int, width: int) -> bool:
    """Whether a row was passed over before the rank was full."""
    passed = rows[-1] + 1 - len(rows) if len(rows) == width and rows else m - len(rows)
    return width > 0 and passed > 0


# Systems ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """Rational numbers over one common denominator."""

    numerators: list[int]
    denominator: int  # positive; has no factor in common with all numerators

    def fractions(self) -> tuple[Fraction, ...]:
        """The numbers themselves."""
        return tuple(Fraction(n, self.denominator) for n in self.numerators)

    def floats(self) -> Floats:
        """The nearest floats; infinite where the number is too large for one."""
        floats = [nearest_float(n, self.denominator) for n in self.numerators]
        return np.array(floats, dtype=np.float64)


def solve(A: ArrayLike, b: Any) -> Solution | None:
    """The exact solution of ``A x = b`` in rational numbers; None if there is none.

    A has floats, and may have more equations than unknowns; b has floats, ints or Fractions.
    ValueError if the columns of A are linearly dependent: there may be more than one.
    """
    from flint import fmpz_mat

    A = np.asarray(A, dtype=np.float64)
    integers = scaled(A)
    numbers = b.tolist() if isinstance(b, np.ndarray) else list(b)
    if len(numbers) != len(A):
        msg = f"b has {len(numbers)} entries but A has {len(A)} rows"
        raise ValueError(msg)
    side = over_powers(*over_one_denominator(numbers), integers.r)
    sides = side.numerators
    if not A.shape[1]:
        return None if any(sides) else Solution([], 1)
    rows = _regular_rows(A)
    right = fmpz_mat(rows.size, 1, [sides[i] for i in rows])
    try:
        found: Any = integer_matrix(integers.take(rows)).solve(right)
    except ZeroDivisionError:
        raise ValueError(DEPENDENT) from None
    left, factor = found.numer_denom()
    others = np.setdiff1d(np.arange(len(A)), rows)
    expected = fmpz_mat(others.size, 1, [sides[i] for i in others]) * factor
    if integer_matrix(integers.take(others)) * left != expected:
        return None
    numerators = [int(n) for n in left.entries()]
    return over_powers(numerators, int(factor) * side.denominator, integers.c)


def _regular_rows(A: Floats) -> Ints:
    """As many rows as A has columns that form a regular matrix, for a matrix of full column rank.

    A square matrix is taken as it is. ValueError if it is proved that there are none.
    """
    D, k = A.shape
    if k == D:
        return np.arange(k)
    rows = independent_rows(A.T)[1]
    if len(rows) < k:
        R, _, rank = integer_matrix(scaled(A.T)).rref()
        if rank < k:
            raise ValueError(DEPENDENT)
        rows = np.array(pivots(R, rank))
    return rows


def integer_matrix(integers: Scaled) -> fmpz_mat:
    """The integers of a scaled matrix, for FLINT."""
    from flint import fmpz_mat  # late: most programs never need it

    m, k = integers.M.shape
    return fmpz_mat(m, k, as_objects(integers.M, integers.E).ravel().tolist())


def over_powers(numerators: Iterable[int], denominator: int, c: Ints) -> Solution:
    """``numerators[j] / denominator * 2**c[j]``, over the smallest positive denominator."""
    low = min(0, int(c.min(initial=0)))
    shifted = [n << e - low for n, e in zip(numerators, c.tolist(), strict=True)]
    denominator <<= -low
    common = math.gcd(denominator, *shifted) * (1 if denominator > 0 else -1)
    return Solution([n // common for n in shifted], denominator // common)


def pivots(R: fmpz_mat, rank: int) -> list[int]:
    """The columns of the first entries that are not 0 in a matrix in echelon form."""
    columns = [-1]
    for i in range(rank):
        columns.append(next(j for j in range(columns[-1] + 1, R.ncols()) if R[i, j]))
    return columns[1:]


# Null spaces and ranks --------------------------------------------------------------------------


def null_basis(Z: ArrayLike) -> list[list[int]]:
    """Integer vectors that span ``{θ : Zθ = 0}`` exactly; empty if Z has full column rank.

    They come in reduced echelon form, one for each column that depends on those before it: it
    has a positive entry there and zeros at the other dependent columns. Each vector is
    primitive, its entries have no common factor.
    """
    Z = np.asarray(Z, dtype=np.float64)
    return _reduced(Z, independent_rows(Z)[0])[2]


def spanning_rows(Z: ArrayLike) -> Ints:
    """Independent rows that span all rows: what `independent_rows` finds, proved in integers."""
    Z = np.asarray(Z, dtype=np.float64)
    m, D = Z.shape
    rows, columns = independent_rows(Z)
    if len(rows) == min(m, D):
        return rows
    return np.sort(_reduced(Z, rows)[0]) if m > D else _reduced(Z.T, columns)[1]


def row_space(Z: ArrayLike) -> tuple[Ints, list[list[int]]]:
    """`spanning_rows` and `null_basis` in one."""
    Z = np.asarray(Z, dtype=np.float64)
    rows, _, null = _reduced(Z, independent_rows(Z)[0])
    return np.sort(rows), null


def _reduced(Z: Floats, rows: Ints) -> tuple[Ints, Ints, list[list[int]]]:
    """Independent rows that span all, proved on every row; independent columns; null vectors.

    Begins with rows that should span all. The columns are taken greedily in order, each exactly
    if it does not depend on those before; there is a null vector for each of the others.
    """
    while True:
        columns, null = _echelon(Z[rows])
        others = np.setdiff1d(np.arange(len(Z)), rows)  # the rows themselves made the null vectors
        vectors = [[*vector, 0] for vector in null] if others.size else []
        missed = first_not_annihilated(Z[others], vectors)
        if missed is None:
            return rows, columns, null
        # All primes took this row for dependent. It is not, so the rank is larger.
        rows = np.append(rows, others[missed])


def _echelon(Z: Floats) -> tuple[Ints, list[list[int]]]:
    """The pivot columns and the null vectors of a matrix of full row rank."""
    r, D = Z.shape
    if r == D:
        return np.arange(D), []
    integers = scaled(Z)
    R, denominator, rank = integer_matrix(integers).rref()
    columns = pivots(R, rank)
    null: list[list[int]] = []
    for free in sorted({*range(D)}.difference(columns)):
        numbers = {free: int(denominator)}
        numbers |= {column: -int(n) for i, column in enumerate(columns) if (n := R[i, free])}
        used = np.array([*numbers])
        numerators = over_powers(numbers.values(), 1, integers.c[used]).numerators
        common = math.gcd(*numerators) * (1 if numerators[0] > 0 else -1)
        vector = [0] * D
        for column, numerator in zip(numbers, numerators, strict=True):
            vector[column] = numerator // common
        null.append(vector)
    return np.array(columns, dtype=np.int64), null


# What it costs ----------------------------------------------------------------------------------
#
# A unit is about what a few words of 64 bits take to be multiplied; the formulas are what was
# measured of `solve` and `null_basis`, within a factor of two or so, for 20 to 200 unknowns and
# numbers of 53 to 2000 bits. They count operations and know no clock: the same on every machine.


def bits(A: Floats) -> int:
    """How long the numbers of a matrix are as integers, rows and columns scaled to shorten them."""
    integers = scaled(A)
    lengths = np.frexp(np.abs(integers.M).astype(np.float64))[1] + integers.E
    return int(lengths.max(initial=1))


def cost_of_solving(A: Floats) -> float:
    """Units that ``solve(A, b)`` takes: the solution has k times as many digits as A."""
    return float(A.shape[1] ** 3 * (1 + bits(A) / WORD) ** 2 / 3)


def cost_of_reducing(Z: Floats) -> float:
    """Units that ``null_basis(Z)`` takes for independent rows: a system for each null vector."""
    r, D = Z.shape
    return float(max(D - r, 0) * r**3 * (1 + bits(Z) / WORD) ** 2 / 3)


def cost_of_products(products: float, length: float) -> float:
    """Units that products of numbers of so many bits take."""
    words = length // WORD
    return products * (8 + words + words * words // LONG)

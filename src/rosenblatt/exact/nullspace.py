"""The vectors that a matrix takes to zero, in integers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.exact.lifting import Solution, System, over_powers, scaled_side
from rosenblatt.exact.modular import independent_rows
from rosenblatt.exact.sides import first_not_annihilated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def null_basis(Z: ArrayLike) -> list[list[int]]:
    """Integer vectors that span ``{θ : Zθ = 0}`` exactly; empty if Z has full column rank.

    They come in reduced echelon form, one for each column that depends on those chosen before:
    it has a positive entry there and zeros at the other dependent columns. Each vector is
    primitive, its entries have no common factor.
    """
    Z = np.asarray(Z, dtype=np.float64)
    rows, columns = independent_rows(Z)
    while True:
        basis = _basis(Z[rows], columns)
        missed = first_not_annihilated(Z, [[*vector, 0] for vector in basis])
        if missed is None:
            return basis
        # A row was taken for dependent by all primes tried: it is not, so the rank is larger.
        rows = np.append(rows, missed)
        found, columns = independent_rows(Z[rows])
        if len(found) < len(rows):
            msg = f"row {missed} is not annihilated, but depends on rows that are"
            raise ArithmeticError(msg)


def _basis(Z: Floats, columns: Ints) -> list[list[int]]:
    """The null vectors of a matrix of full row rank, regular in `columns`."""
    free = np.setdiff1d(np.arange(Z.shape[1]), columns)
    if not free.size:
        return []
    simple = _simple(Z, columns, free)
    hard = np.array([j for j in free.tolist() if j not in simple], dtype=np.int64)
    solutions = _expressed(Z, columns, hard) if hard.size else []
    found = simple | {
        column: ([-n for n in x.numerators], x.denominator)
        for column, x in zip(hard.tolist(), solutions, strict=True)
    }
    basis = []
    for column in free.tolist():
        numerators, denominator = found[column]
        vector = [0] * Z.shape[1]
        vector[column] = denominator
        for j, n in zip(columns, numerators, strict=True):
            vector[j] = n
        common = math.gcd(*vector)
        basis.append([n // common for n in vector])
    return basis


def _simple(Z: Floats, columns: Ints, free: Ints) -> dict[int, tuple[list[int], int]]:
    """The null vectors with small entries of a matrix of small integers, by free column.

    Floating point guesses them; the proof is a product in which no sum can be rounded.
    """
    largest = float(np.abs(Z).max(initial=0.0))
    if largest > 2**20 or (np.rint(Z) != Z).any():
        return {}
    try:
        guess = -np.linalg.solve(Z[:, columns], Z[:, free])
    except np.linalg.LinAlgError:
        return {}
    found: dict[int, tuple[list[int], int]] = {}
    for denominator in range(1, 13):
        numerators = np.rint(guess * denominator)
        exact = (np.abs(numerators).sum(axis=0) + denominator) * largest < 2**53
        numerators[:, ~exact] = 0
        proved = exact & ~(Z[:, columns] @ numerators + denominator * Z[:, free]).any(axis=0)
        for k in np.flatnonzero(proved):
            vector = [int(n) for n in numerators[:, k]]
            found.setdefault(int(free[k]), (vector, denominator))
    return found


def _expressed(Z: Floats, columns: Ints, free: Ints) -> list[Solution]:
    """Each free column of Z as a combination of those in `columns`."""
    system = System(Z[:, columns])
    sides = [scaled_side(Z[:, column], system.A.r) for column in free]
    B = np.empty((len(Z), free.size), dtype=object)
    for j, (numerators, _) in enumerate(sides):
        B[:, j] = numerators
    solutions = system.solve(B)
    assert solutions is not None  # a regular matrix reaches every side
    return [
        over_powers(y.numerators, y.denominator * denominator, system.A.c)
        for y, (_, denominator) in zip(solutions, sides, strict=True)
    ]

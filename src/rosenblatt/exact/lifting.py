"""Linear systems in rational numbers, by p-adic lifting.

J. D. Dixon, "Exact solution of linear equations using p-adic expansions", Numerische Mathematik
40 (1982): with the inverse of the matrix modulo a prime p known, each further digit of the
solution in base p costs two products of a matrix and a vector. Enough digits determine the
rational numbers (P. S. Wang's reconstruction), and these are then put into the equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.integers import Scaled, as_objects, limbs, residues, scaled, split
from rosenblatt.exact.modular import echelon, primes, reduce

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Objects = NDArray[np.object_]

# A fraction is believed (and then verified) when it has this many bits fewer than the digits
# it was found from: a wrong one would by chance be so short with probability 2**-SLACK.
SLACK = 40


@dataclass(frozen=True)
class Solution:
    """Rational numbers over one common denominator.

    Attributes
    ----------
    numerators : list of int
    denominator : int
        Positive; has no factor in common with all numerators.
    """

    numerators: list[int]
    denominator: int

    def fractions(self) -> tuple[Fraction, ...]:
        """The numbers themselves."""
        return tuple(Fraction(n, self.denominator) for n in self.numerators)

    def floats(self) -> Floats:
        """The nearest floats; infinite where the number is too large for one."""
        return np.array([nearest(n, self.denominator) for n in self.numerators], dtype=np.float64)


def nearest(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction, ±inf if it is beyond all floats."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf


def primitive(numerators: list[int], denominator: int) -> Solution:
    """The same numbers with the smallest positive denominator."""
    common = math.gcd(denominator, *numerators) * (1 if denominator > 0 else -1)
    return Solution([n // common for n in numerators], denominator // common)


def over_powers(numerators: Sequence[int], denominator: int, c: Ints) -> Solution:
    """``numerators[j] / denominator * 2**c[j]``."""
    low = min(0, int(c.min(initial=0)))
    shifted = [n << int(e) - low for n, e in zip(numerators, c, strict=True)]
    return primitive(shifted, denominator << -low)


def _fraction(t: int, modulus: int) -> tuple[int, int] | None:
    """The short fraction ``n/d ≡ t`` modulo `modulus`, by Euclid's algorithm; None if none is."""
    bound = math.isqrt(modulus >> SLACK)
    r0, r1, s0, s1 = modulus, t % modulus, 0, 1
    while r1 > bound:
        q, r = divmod(r0, r1)
        r0, r1, s0, s1 = r1, r, s1, s0 - q * s1
    if r1 * abs(s1) << SLACK >= modulus or math.gcd(r1, s1) != 1:
        return None
    return (r1, s1) if s1 > 0 else (-r1, -s1)


def _reconstruct(values: Sequence[int], modulus: int, denominator: int) -> Solution | None:
    """Short fractions over a common denominator, equal to `values` modulo `modulus`.

    `denominator` is a guess to start with; the common one becomes a multiple of it.
    """
    numerators: list[int] = []
    limit = modulus >> SLACK
    for value in values:
        t = value * denominator % modulus
        if 2 * t > modulus:
            t -= modulus
        if abs(t) * denominator >= limit:
            short = _fraction(t, modulus)
            if short is None:
                return None
            t, factor = short
            denominator *= factor
            numerators = [n * factor for n in numerators]
        numerators.append(t)
    if max(map(abs, numerators), default=0) * denominator >= limit:
        return None
    return Solution(numerators, denominator)


def times(A: Scaled, numbers: Objects) -> Objects:
    """The integer matrix times integers of any length, a vector or the columns of a matrix."""
    products = np.zeros((len(A.M), *numbers.shape[1:]), dtype=object)
    for i, row in enumerate(A.M):
        entries = np.flatnonzero(row)
        if entries.size:
            products[i] = as_objects(row[entries], A.E[i, entries]) @ numbers[entries]
    return products


class System:
    """A matrix of full column rank, made ready for solving with any right-hand sides.

    Parameters
    ----------
    A : float array of shape (D, k)
    pivots : int array, optional
        k rows of A that form a regular matrix, if they are known.

    Raises
    ------
    ValueError
        If the columns of A (or the rows named) are linearly dependent.
    """

    def __init__(self, A: ArrayLike, pivots: ArrayLike | None = None) -> None:
        self.A = scaled(A)
        k = self.A.M.shape[1]
        known = None if pivots is None else np.asarray(pivots, dtype=np.int64)
        if known is None and len(self.A.M) == k:
            known = np.arange(k)
        part = self.A if known is None else self.A.take(known)
        width = len(part.M)
        for self.p in primes(k)[:6]:
            R = np.hstack([residues(part.M.T, part.E.T, self.p), np.eye(k)])
            rows, columns, U = echelon(R, self.p, width)
            if len(rows) == k:
                break
        else:
            msg = "the columns of A are linearly dependent: keep independent ones only"
            raise ValueError(msg)
        self.pivots: Ints = np.array(columns, dtype=np.int64) if known is None else known[columns]
        self.inverse: Floats = np.ascontiguousarray(U[:, width:].T)
        self.block = self.A.take(self.pivots)
        self.width = int(math.log2(2**53 // (max(k, 1) * (self.p // 2 + 1))))
        self.planes = limbs(self.block, self.width)

    def _lift(self, B: Objects) -> Iterator[Floats]:
        """Digits in base p of the solution of ``block @ Y == B``, lowest first.

        The rest is kept as a sum of limbs. They may grow past their width, but never out of
        int64: each step divides by p what it adds.
        """
        rest = split(B, self.width)
        missing = max((index + 1 for index, _ in self.planes), default=0) - len(rest)
        if missing > 0:
            rest = np.concatenate([rest, np.zeros((missing, *B.shape), dtype=np.int64)])
        p, weights = self.p, [pow(2, self.width * i, self.p) for i in range(len(rest))]
        while True:
            total = np.zeros(B.shape, dtype=np.int64)
            for limb, weight in zip(rest, weights, strict=False):
                total += limb % p * weight % p
            digits = reduce(self.inverse @ reduce(total.astype(np.float64), p), p)
            yield digits
            for index, plane in self.planes:
                rest[index] -= (plane @ digits).astype(np.int64)
            carry = np.zeros(B.shape, dtype=np.int64)
            for limb in rest[::-1]:
                carry <<= self.width
                carry += limb
                np.floor_divide(carry, p, out=limb)
                carry -= limb * p
            while len(rest) > 1 and len(rest) > self.planes[-1][0] + 1 and not rest[-1].any():
                rest = rest[:-1]

    def solve(self, B: Objects) -> list[Solution] | None:
        """Integer right-hand sides B, as columns: the solutions Y of ``A @ Y == B``, or None.

        A here is the integer matrix; None if a column of B is not in its column space.
        """
        if not self.pivots.size:
            return None if B.any() else [Solution([], 1)] * B.shape[1]
        others = np.setdiff1d(np.arange(len(self.A.M)), self.pivots)
        rest = self.A.take(others)
        digits = self._lift(B[self.pivots])
        values, modulus, most = np.zeros((self.pivots.size, B.shape[1]), object), 1, self._most(B)
        solved: dict[int, Solution] = {}
        count = 8
        while True:
            new = np.array(list(islice(digits, count)))
            if modulus == 1 and others.size and not self._consistent(rest, B[others], new[0]):
                return None
            values = values + modulus * _assemble(new, self.p)
            modulus *= self.p**count
            self._attempt(values, modulus, B, solved)
            if len(solved) == B.shape[1]:
                break
            if modulus > most**2:
                msg = "p-adic lifting did not end within Hadamard's bound"
                raise ArithmeticError(msg)
            count *= 2
            if modulus < most:
                count = min(count, self._digits(most // modulus))
        solutions = [solved[column] for column in range(B.shape[1])]
        for column, y in enumerate(solutions):
            left = times(rest, np.array(y.numerators, dtype=object))
            if (left != y.denominator * B[others, column]).any():
                return None
        return solutions

    def _digits(self, number: int) -> int:
        """Digits in base p that hold any number up to `number`, and one more."""
        return number.bit_length() // (self.p.bit_length() - 1) + 2

    def _most(self, B: Objects) -> int:
        """A modulus that is certainly large enough, by Hadamard's bound on determinants."""
        lengths = np.frexp(self.block.M.astype(np.float64))[1] + self.block.E
        bits = np.where(self.block.M == 0, 0, lengths)
        k = len(bits)
        longest = max((int(b).bit_length() for b in B[self.pivots].ravel()), default=0)
        norms = min(int(bits.max(axis=axis).sum()) for axis in (0, 1))
        determinant = norms + k * k.bit_length() // 2 + k
        return 1 << 2 * (determinant + longest) + SLACK + 4

    def _consistent(self, rest: Scaled, B: Objects, digit: Floats) -> bool:
        """Whether the other equations hold modulo p, where the first digit is all that counts."""
        p = self.p
        left = residues(rest.M, rest.E, p) @ digit
        return not reduce(left - (B % p).astype(np.float64), p).any()

    def _attempt(
        self, values: Objects, modulus: int, B: Objects, solved: dict[int, Solution]
    ) -> None:
        """Reconstruct columns of the solution, and keep those that satisfy the pivot equations."""
        guess = 1
        for column in range(values.shape[1]):
            if column not in solved:
                y = _reconstruct(values[:, column].tolist(), modulus, guess)
                if y is None and guess > 1:
                    y = _reconstruct(values[:, column].tolist(), modulus, 1)
                if y is None:
                    return
                left = times(self.block, np.array(y.numerators, dtype=object))
                if (left != y.denominator * B[self.pivots, column]).any():
                    return
                solved[column] = y
            guess = solved[column].denominator


def _assemble(digits: Floats, p: int) -> Objects:
    """``Σ_i digits[i] * p**i`` in integers of any length, by halving."""
    numbers, power = digits.astype(np.int64).astype(object), p
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers = np.concatenate([numbers, np.zeros((1, *numbers.shape[1:]), dtype=object)])
        numbers = numbers[::2] + power * numbers[1::2]
        power *= power
    total: Objects = numbers[0]
    return total


def solve(A: ArrayLike, b: Any, *, columns: ArrayLike | None = None) -> Solution | None:
    """The exact solution of ``A x = b`` in rational numbers.

    Parameters
    ----------
    A : float array of shape (D, k)
        Of full column rank; more equations than unknowns are fine.
    b : float array of shape (D,), or a sequence of D ints or Fractions
    columns : int array of k row numbers of A, optional
        Rows that form a regular matrix, if known: for ``A = Z[rows].T`` the second answer of
        `independent_rows`.

    Returns
    -------
    Solution or None
        None if no x satisfies all equations.

    Raises
    ------
    ValueError
        If the columns of A are linearly dependent.
    """
    system = System(A, columns)
    numerators, denominator = scaled_side(b, system.A.r)
    solutions = system.solve(np.array([numerators], dtype=object).reshape(1, -1).T)
    if solutions is None:
        return None
    y = solutions[0]
    return over_powers(y.numerators, y.denominator * denominator, system.A.c)


def scaled_side(b: Any, r: Ints) -> tuple[list[int], int]:
    """Integers and their denominator, equal to ``b[i] * 2**r[i]``."""
    numbers = b.tolist() if isinstance(b, np.ndarray) else list(b)
    if len(numbers) != len(r):
        msg = f"b has {len(numbers)} entries but A has {len(r)} rows"
        raise ValueError(msg)
    sides = []
    for number, e in zip(numbers, r.tolist(), strict=True):
        n, d = number.as_integer_ratio()
        sides.append(Fraction(n << e, d) if e >= 0 else Fraction(n, d << -e))
    denominator = math.lcm(*(side.denominator for side in sides))
    return [side.numerator * (denominator // side.denominator) for side in sides], denominator

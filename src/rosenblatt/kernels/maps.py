"""The feature map of the polynomial kernel, spelled out: ``φ(u)·φ(v) = (gamma*u·v + coef0)^p``.

The features are the monomials of degree up to p, each times a constant. They stand in this order:
by degree; within a degree by their pattern, the exponents in the order of the features, those with
the smallest largest exponent first (products of different features, then squares, and so on up to
the pure powers); and within a pattern by the features, as in a dictionary. For two features and
degree 2 these are 1, u1, u2, u1·u2, u1², u2².

All monomials of one pattern are made at once from those of a shorter one, by one product each.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, csr_matrix, vstack

from rosenblatt.exact.enclosure import two_product
from rosenblatt.matrices import matrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints

    Pattern = tuple[int, ...]

MOST = 1 << 31  # numbers in a result
WIDEST = 1 << 62  # columns of a sparse one
CHUNK = 1 << 18  # numbers to make at a time, so that they stay in the cache


def n_monomials(d: int, degree: int, lowest: int = 0) -> int:
    """How many monomials of a degree from `lowest` to `degree` there are in d variables."""
    below = math.comb(d + lowest - 1, d) if lowest else 0
    return math.comb(d + degree, d) - below


def patterns(d: int, degree: int, lowest: int = 0) -> list[Pattern]:
    """The exponents that monomials have, in their order; each stands for every choice of features.

    >>> patterns(2, 2)
    [(), (1,), (1, 1), (2,)]
    """
    found = []
    for k in range(lowest, degree + 1):
        found += sorted(_compositions(k, d), key=lambda pattern: (max(pattern, default=0), pattern))
    return found


def _compositions(k: int, parts: int) -> Iterator[Pattern]:
    """Every way to write k as a sum of up to `parts` positive numbers, in order."""
    if k == 0:
        yield ()
    elif parts:
        for last in range(1, k + 1):
            for rest in _compositions(k - last, parts - 1):
                yield (*rest, last)


def exponents(d: int, degree: int, lowest: int = 0) -> Ints:
    """The exponents of every monomial, a row for each.

    >>> exponents(2, 2).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [0, 2]]
    """
    refuse_too_many(d * n_monomials(d, degree, lowest), d, degree)
    out = np.zeros((n_monomials(d, degree, lowest), d), dtype=np.int64)
    first = 0
    for pattern in patterns(d, degree, lowest):
        chosen = list(combinations(range(d), len(pattern)))
        rows = np.arange(first, first + len(chosen))[:, np.newaxis]
        out[rows, np.array(chosen, np.int64)] = pattern
        first += len(chosen)
    return out


def coefficients(d: int, degree: int, gamma: float = 1.0, coef0: float = 1.0) -> Floats:
    """What the monomials of `features` are multiplied by, one number for each.

    The square root of ``degree!/((degree - k)! e1! e2! …) gamma^k coef0^(degree - k)`` for one of
    degree k with the exponents e.
    """
    return _spread(d, _coefficients(d, degree, gamma, coef0))


def _spread(d: int, factors: dict[Pattern, float]) -> Floats:
    """The coefficient of each pattern for all of its monomials."""
    sizes = [math.comb(d, len(pattern)) for pattern in factors]
    return np.repeat(np.array(list(factors.values())), sizes)


def _coefficients(d: int, degree: int, gamma: float, coef0: float) -> dict[Pattern, float]:
    """The coefficient of every pattern, in their order."""
    if coef0 < 0:
        msg = f"coef0={coef0:g} is not allowed: a kernel with a negative one has no real map"
        raise ValueError(msg)
    found = {
        pattern: _coefficient(pattern, degree, gamma, coef0)
        for pattern in patterns(d, degree, 0 if coef0 else degree)
    }
    if math.inf in found.values():
        msg = f"degree={degree}, gamma={gamma:g}, coef0={coef0:g} overflow: take smaller ones"
        raise ValueError(msg)
    return found


def features(X: Any, degree: int, gamma: float = 1.0, coef0: float = 1.0) -> Any:
    """The matrix of ``φ(x)`` for the rows x of X, with ``φ(u)·φ(v) = (gamma*u·v + coef0)^degree``.

    With ``coef0 = 0`` only the monomials of exactly this degree are there. An array gives an array,
    a CSR matrix a CSR matrix. Each number is within ``(degree + 3)*2⁻⁵³`` of its true size.

    >>> import numpy as np
    >>> features(np.array([[3.0, 5.0]]), 2).round(3).tolist()
    [[1.0, 4.243, 7.071, 21.213, 9.0, 25.0]]
    """
    X = matrix("X", X)
    factors = _coefficients(X.shape[1], degree, gamma, coef0)
    return _products(X, degree, 0 if coef0 else degree, factors).values


class Monomials(NamedTuple):
    """Monomials of the rows of a matrix, and whether every number is exact."""

    values: Any
    exact: bool


def monomials(X: Any, degree: int, lowest: int = 0) -> Monomials:
    """The monomials of degree `lowest` to `degree` of the rows of X, without any coefficients.

    It also tells whether no product was rounded: then a hyperplane's signs on these numbers are
    those in the space of the kernel, as coefficients only scale the axes. Products that are
    rounded and end in an exact one count as rounded.
    """
    return _products(matrix("X", X), degree, lowest, None)


def _coefficient(pattern: Pattern, degree: int, gamma: float, coef0: float) -> float:
    k = sum(pattern)
    ways = math.factorial(degree) // math.factorial(degree - k)
    for exponent in pattern:
        ways //= math.factorial(exponent)
    square = ways * Fraction(gamma) ** k * Fraction(coef0) ** (degree - k)
    # The root of a number beyond floats may be within them.
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    root = math.sqrt(square / Fraction(4) ** shift)
    try:
        return math.ldexp(root, shift)
    except OverflowError:
        return math.inf


def refuse_too_many(numbers: int, d: int, degree: int) -> None:
    """An error where a result would hold more numbers than is allowed."""
    if numbers > MOST:
        msg = (
            f"degree {degree} makes {numbers:.2g} numbers of {d} features, more than {MOST:.2g}: "
            "use the kernel itself, or a smaller degree"
        )
        raise ValueError(msg)


def _products(X: Any, degree: int, lowest: int, factors: dict[Pattern, float] | None) -> Monomials:
    """The monomials, chunk by chunk, times their factors; if there are none, whether exact."""
    X, (n, d) = X.astype(np.float64, copy=False), X.shape
    dense = isinstance(X, np.ndarray)
    if not dense:
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    small = _are_small_integers(X if dense else X.data, degree)
    check, exact = factors is None and not small, True
    width = n_monomials(d, degree, lowest)
    made: list[Any] = []
    if dense:
        refuse_too_many(n * width, d, degree)
        made.append(np.empty((n, width)))
        spread = None if factors is None else _spread(d, factors)
    for a, z in _chunks(X, degree, width):
        if dense:
            exact &= _fill(X[a:z], degree, lowest, made[0][a:z], check)
            if spread is not None:
                made[0][a:z] *= spread
        else:
            part, right = _sparse(X[a:z], degree, lowest, check, factors)
            made.append(part)
            exact &= right
    kind = csr_matrix if isinstance(X, csr_matrix) else csr_array
    return Monomials(made[0] if dense else kind(vstack(made, format="csr")), exact)


def _are_small_integers(values: Floats, degree: int) -> bool:
    if not values.size:
        return True
    most = max(1.0, -float(values.min()), float(values.max()))
    return degree * math.log2(most) < 52.9 and bool((np.rint(values) == values).all())


def _chunks(X: Any, degree: int, width: int) -> Iterator[tuple[int, int]]:
    """Rows to do at a time."""
    n, d = X.shape
    if isinstance(X, np.ndarray):
        step = max(1, CHUNK // max(width, 1))
        yield from ((a, min(a + step, n)) for a in range(0, n, step))
        return
    counts = np.diff(X.indptr)
    sizes = np.array([n_monomials(int(k), degree) for k in range(int(counts.max(initial=0)) + 1)])
    total = np.cumsum(sizes[counts].astype(np.float64))
    refuse_too_many(int(total[-1]) if n else 0, d, degree)
    refuse_too_many(width if width > WIDEST else 0, d, degree)
    edges = np.searchsorted(total, np.arange(CHUNK, total[-1] if n else 0, CHUNK))
    yield from pairwise(np.unique([0, *edges, n]).tolist())


# Dense ------------------------------------------------------------------------------------------


def _fill(X: Floats, degree: int, lowest: int, out: Floats, check: bool) -> bool:
    """Write the monomials of a few rows, and tell whether they are exact."""
    d, exact, at = X.shape[1], True, 0
    before: dict[Pattern, Floats] = {(): np.ones((len(X), 1))}
    for k in range(degree + 1):
        now: dict[Pattern, Floats] = {} if k else before
        for pattern in patterns(d, k, k):
            columns = math.comb(d, len(pattern))
            place = out[:, at : at + columns] if k >= lowest else np.empty((len(X), columns))
            at += columns if k >= lowest else 0
            if k:
                parent, factor = _factors(X, before, pattern)
                np.multiply(parent, factor, out=place)
                exact &= not check or _exact(parent, factor, place)
            else:
                place[:] = 1.0
            now[pattern] = place
        before = now
    return exact


def _factors(X: Floats, before: dict[Pattern, Floats], pattern: Pattern) -> tuple[Floats, Floats]:
    """The monomials of one degree less, and the feature that each is multiplied by."""
    feature, without = _last(X.shape[1], len(pattern))
    if pattern[-1] > 1:
        return before[(*pattern[:-1], pattern[-1] - 1)], X[:, feature]
    return before[pattern[:-1]][:, without], X[:, feature]


@lru_cache(16)  # the same for every chunk
def _last(d: int, s: int) -> tuple[Ints, Ints]:
    """Of every choice of s of d features the last one, and the number of the choice without it."""
    if s == 1:
        return np.arange(d), np.zeros(d, np.int64)
    ends, _ = _last(d, s - 1)  # each may be followed by any later feature
    without, step = _spans(d - 1 - ends)
    return ends[without] + 1 + step, without


def _spans(counts: Ints) -> tuple[Ints, Ints]:
    """For spans of so many places: the number of the span, and the place within it."""
    span = np.repeat(np.arange(len(counts)), counts)
    return span, np.arange(len(span)) - np.repeat(np.cumsum(counts) - counts, counts)


def _exact(a: Floats, b: Floats, product: Floats) -> bool:
    """Whether no product was rounded, nor lost at either end of the range of floats."""
    x, y = np.frexp(a)[0], np.frexp(b)[0]
    p, error = two_product(x, y)
    return bool((error == 0).all() and (np.frexp(p)[0] == np.frexp(product)[0]).all())


# Sparse -----------------------------------------------------------------------------------------


class _Terms(NamedTuple):
    """Monomials of one pattern: row, features, where the last feature is stored, and value."""

    row: Ints
    chosen: tuple[Ints, ...]
    last: Ints
    value: Floats


def _sparse(
    X: Any, degree: int, lowest: int, check: bool, factors: dict[Pattern, float] | None
) -> tuple[Any, bool]:
    """The monomials of a few rows that have no zero among their factors."""
    n, d = X.shape
    first, ways = _offsets(d, degree, lowest), _ways(d, degree)
    starts, ends = X.indptr[:-1].astype(np.int64), X.indptr[1:].astype(np.int64)
    rows, none = np.arange(n), np.empty(0, np.int64)
    todo: list[tuple[Pattern, _Terms]] = [((), _Terms(rows, (), starts - 1, np.ones(n)))]
    parts, exact = [(none, none, np.empty(0))], True
    while todo:
        pattern, terms = todo.pop()
        if pattern in first:
            column = first[pattern] + _rank(terms.chosen, ways, len(terms.row))
            value = terms.value if factors is None else terms.value * factors[pattern]
            parts.append((terms.row, column, value))
        if sum(pattern) == degree or not len(terms.row):
            continue
        grown = [((*pattern, 1), _appended(X, terms, ends))]
        if pattern:
            more = terms.value * X.data[terms.last]
            grown.append(((*pattern[:-1], pattern[-1] + 1), terms._replace(value=more)))
        for child, made in grown:
            if check and len(made.row):
                source = terms.value
                if child[:-1] == pattern:
                    source = np.repeat(source, ends[terms.row] - 1 - terms.last)
                exact &= _exact(source, X.data[made.last], made.value)
        todo += grown
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    shape = (n, n_monomials(d, degree, lowest))
    made = csr_array((value, (row, column)), shape=shape)
    made.sort_indices()
    return made, exact


def _appended(X: Any, terms: _Terms, ends: Ints) -> _Terms:
    """Every monomial times every later feature of its row."""
    each, step = _spans(ends[terms.row] - 1 - terms.last)
    last = terms.last[each] + 1 + step
    chosen = tuple(feature[each] for feature in terms.chosen)
    value = terms.value[each] * X.data[last]
    return _Terms(terms.row[each], (*chosen, X.indices[last].astype(np.int64)), last, value)


def _offsets(d: int, degree: int, lowest: int) -> dict[Pattern, int]:
    """The column of the first monomial of each pattern."""
    found = patterns(d, degree, lowest)
    starts = accumulate((math.comb(d, len(pattern)) for pattern in found), initial=0)
    return dict(zip(found, starts, strict=False))


def _ways(d: int, degree: int) -> list[Ints]:
    """Binomial coefficients: how many choices of t of m features there are, ``[t][m]``."""
    return [
        np.array([math.comb(m, t) for m in range(d + 1)], dtype=np.int64)
        for t in range(min(d, degree) + 1)
    ]


def _rank(chosen: tuple[Ints, ...], ways: list[Ints], n: int) -> Ints:
    """The number of each of n choices of features among those of its size, as in a dictionary."""
    s, d = len(chosen), len(ways[0]) - 1
    rank = np.full(n, ways[s][d] - 1)
    for j, feature in enumerate(chosen):
        rank -= ways[s - j][d - 1 - feature]
    return rank

"""Boolean functions as sums of few products: prime implicants, and a cover by few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

MOST_ENTRIES = 2500  # ones in a table of products by inputs that is still solved exactly


class Cover(NamedTuple):
    """Products whose sum is the function: per variable 0 (negated), 1 (plain) or 2 (absent)."""

    products: Ints
    fewest: bool  # whether no sum of fewer products is the function; proved, not guessed


def prime_implicants(values: Bools) -> Ints:
    """All products that imply the function and that no shorter product implies, one per row.

    Quine and McCluskey's method on whole arrays: of each variable a product may have the
    negation, the variable or neither (0, 1, 2), and it implies the function without a variable
    if it does both with it and with its negation.
    """
    n = values.size.bit_length() - 1
    implies = values.reshape((2,) * n)
    for j in range(n):
        both = np.logical_and(*np.moveaxis(implies, j, 0))
        implies = np.concatenate([implies, np.expand_dims(both, j)], axis=j)
    prime = implies.copy()
    for j in range(n):
        shorter = np.moveaxis(implies, j, 0)[2]
        np.moveaxis(prime, j, 0)[:2] &= ~shorter
    return np.argwhere(prime)


def few_products(values: Bools) -> Cover:
    """A sum of prime implicants that is the function: the fewest, or few where that is too hard."""
    from scipy.sparse.csgraph import connected_components

    primes = prime_implicants(values)
    covers = _covers(primes, values)
    # A product that alone makes the function 1 somewhere is in every sum.
    alone = _ones(covers, 0) == 1
    chosen = _ones(covers[:, alone], 1) > 0
    open_ = _ones(covers[chosen], 0) == 0
    rest = covers[:, open_]
    useful = np.flatnonzero(_ones(rest, 1))
    rest, fewest = rest[useful], True
    # What is left may fall apart into problems that have nothing to do with each other.
    _, of = connected_components(rest @ rest.T, directed=False)
    for part in range(of.max(initial=-1) + 1):
        members = np.flatnonzero(of == part)
        block = rest[members]
        block = block[:, np.flatnonzero(_ones(block, 0))]
        picked, proved = _greedy(block), False
        if block.nnz <= MOST_ENTRIES:
            picked, proved = _exact(block, picked)
        chosen[useful[members[picked]]] = True
        fewest &= proved
    return Cover(primes[chosen], fewest)


def _covers(primes: Ints, values: Bools) -> Any:
    """A sparse table, products by inputs on which the function is 1: 1 where the product is 1."""
    from scipy.sparse import csr_array

    n = primes.shape[1]
    number = np.cumsum(values) - 1
    places = 1 << np.arange(n, dtype=np.int64)[::-1]
    rows, columns = [], []
    free = primes == 2
    for pattern in np.unique(free, axis=0):
        members = np.flatnonzero((free == pattern).all(axis=1))
        corners = np.zeros(1, dtype=np.int64)
        for place in places[pattern]:
            corners = np.concatenate([corners, corners + place])
        start = np.where(pattern, 0, primes[members]) @ places
        rows.append(np.repeat(members, corners.size))
        columns.append((start[:, None] + corners).ravel())
    at = np.concatenate(rows), number[np.concatenate(columns)]
    shape = (len(primes), int(values.sum()))
    return csr_array((np.ones(at[0].size, dtype=np.int64), at), shape=shape)


def _ones(table: Any, axis: int) -> Ints:
    """How many ones each column (axis 0) or row (axis 1) has."""
    return np.asarray(table.sum(axis=axis), dtype=np.int64).ravel()


def _exact(block: Any, known: Ints) -> tuple[Ints, bool]:
    """The fewest rows that together have a 1 in every column, and whether that is proved.

    If it takes too long it may be no better than the rows known.
    """
    from scipy.optimize import LinearConstraint, milp

    rows = block.shape[0]
    matrix = block.T.astype(np.float64).tocsc()
    matrix.indices, matrix.indptr = (  # older versions of HiGHS take no others
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int32),
    )
    answer = milp(
        np.ones(rows),
        integrality=np.ones(rows),
        bounds=(0, 1),
        constraints=LinearConstraint(matrix, 1, np.inf),
        # Counted in nodes, not in seconds, so that the answer is the same on every machine.
        options={"mip_rel_gap": 0.0, "node_limit": 100},
    )
    found = known if answer.x is None else np.flatnonzero(answer.x > 0.5)
    return found if len(found) < len(known) else known, answer.status == 0


def _greedy(block: Any) -> Ints:
    """Rows that together cover every column: always the one that adds most, then none too many."""
    by_column = block.tocsc()
    gains = _ones(block, 1)
    times = np.zeros(block.shape[1], dtype=np.int64)
    picked = []
    while (best := int(np.argmax(gains))) >= 0 and gains[best] > 0:
        picked.append(best)
        columns = block.indices[block.indptr[best] : block.indptr[best + 1]]
        fresh = columns[times[columns] == 0]
        times[columns] += 1
        for column in fresh:
            gains[by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]] -= 1
    needed = []
    for row in reversed(picked):  # what was picked early may be covered by what came later
        columns = block.indices[block.indptr[row] : block.indptr[row + 1]]
        if (times[columns] > 1).all():
            times[columns] -= 1
        else:
            needed.append(row)
    return np.array(sorted(needed), dtype=np.int64)

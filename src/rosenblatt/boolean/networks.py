"""Networks of threshold units, two levels deep: every boolean function is one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.boolean.truth_tables import TruthTable, as_inputs, as_rows, plain, truth_table
from rosenblatt.boolean.units import Unit, smallest_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from rosenblatt.array_types import Bools, Ints


FORMS = {
    "one unit": "the function is a threshold function",
    "sum of products": "hidden units are ANDs, the output is their OR",
    "product of sums": "hidden units are ORs, the output is their AND",
    "counting": "hidden units count the inputs that are on, the output adds and subtracts",
}
MOST_ENTRIES = 2500  # ones in a table of products by inputs that is still solved exactly
CHUNK = 2**10  # inputs evaluated at a time


@dataclass(frozen=True)
class Network:
    """Threshold units on two levels: hidden units see the inputs, the output sees the hidden.

    Attributes
    ----------
    hidden : tuple of Unit
        The first level; empty if the output sees the inputs themselves.
    output : Unit
        The second level.
    form : str
        How it is built: "one unit", "sum of products", "product of sums" or "counting".
    fewest : bool
        Whether it is proved that no other sum of products and no other product of sums has fewer
        hidden units. Hidden units of other kinds might do with fewer still.
    """

    hidden: tuple[Unit, ...]
    output: Unit
    form: str
    fewest: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs."""
        return self.hidden[0].names if self.hidden else self.output.names

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.names)

    def __call__(self, *inputs: Any) -> Any:
        """The answer for inputs given one by one, each a 0 or 1 or an array of them."""
        return plain(self.fires(as_rows(inputs, self.n)))

    def fires(self, X: ArrayLike) -> Bools:
        """The answer for each row of 0/1 inputs."""
        rows = as_inputs("X", X, self.n)
        if not self.hidden:
            return self.output.fires(rows)
        W = np.array([unit.w for unit in self.hidden], dtype=np.float64).T
        k = np.array([unit.k for unit in self.hidden], dtype=np.float64)
        flat = rows.reshape(-1, self.n).astype(np.float64)
        answers = np.empty(len(flat), dtype=bool)
        for start in range(0, len(flat), CHUNK):
            part = slice(start, start + CHUNK)
            answers[part] = self.output.fires(flat[part] @ W >= k)
        return answers.reshape(rows.shape[:-1])

    def __str__(self) -> str:
        lines = [
            f"{name} {unit}" for name, unit in zip(self.output.names, self.hidden, strict=False)
        ]
        return "\n".join([*lines, f"output {self.output}"])


def two_level_network(table: Any) -> Network:
    """Threshold units on two levels that compute a boolean function, with few hidden units.

    A threshold function is one unit. Any other is written as a sum of products, the OR of ANDs
    of inputs and negated inputs, or as a product of sums, whichever is shorter; every AND and
    every OR is a hidden unit. These are the fewest where integer programming proves it (up to
    about 8 variables, often more) and few otherwise: `Network.fewest` says which. A function
    that depends only on how many inputs are on gets at most n hidden units that count, if that
    is fewer. The network is tried on every input before it is returned.

    Parameters
    ----------
    table : TruthTable, str or array
        The function, as `truth_table` takes it.

    Examples
    --------
    >>> from rosenblatt import boolean
    >>> print(boolean.two_level_network("x1 ^ x2"))
    h1 fires where x1 - x2 >= 1
    h2 fires where -x1 + x2 >= 1
    output fires where h1 + h2 >= 1
    """
    function = truth_table(table)
    unit = smallest_unit(function)
    if unit is not None:
        return Network((), unit, "one unit", fewest=True)
    network = min(_candidates(function), key=lambda network: len(network.hidden))
    if not np.array_equal(network.fires(function.inputs), function.values):
        msg = f"the network found for {function!r} is wrong; please report it"
        raise RuntimeError(msg)
    return network


def _candidates(table: TruthTable) -> Iterable[Network]:
    """Networks that compute the function, in order of preference among the equally large."""
    (ands, fewest_ands), (ors, fewest_ors) = map(_few_products, (table.values, ~table.values))
    fewest = fewest_ands and fewest_ors
    hidden = [_literals(row, all_of=True) for row in _in_order(ands)]
    yield _network(table, hidden, (1,) * len(hidden), 1, "sum of products", fewest)
    # The function is 0 where one of these products is 1: it is 1 where each of them fails.
    hidden = [_literals(1 - row, all_of=False) for row in _in_order(ors)]
    yield _network(table, hidden, (1,) * len(hidden), len(hidden), "product of sums", fewest)
    yield from _counting(table, fewest)


def _in_order(products: Any) -> Any:
    """Products of early variables first, so that few lines cross in a diagram."""
    where = [float(np.mean(np.flatnonzero(row < 2))) for row in products]
    ranks = np.array([1, 0, 2])[products]  # the variable itself before its negation
    return products[np.lexsort((*ranks.T[::-1], where))]


def _literals(row: Any, *, all_of: bool) -> tuple[tuple[int, ...], int]:
    """Weights and threshold of the AND or the OR of inputs (1) and negated inputs (0)."""
    w = tuple({1: 1, 0: -1}.get(int(entry), 0) for entry in row)
    return w, w.count(1) if all_of else 1 - w.count(-1)


def _counting(table: TruthTable, fewest: bool) -> Iterable[Network]:
    """A hidden unit for each number of inputs on at which the value changes, if only that counts.

    The output adds 1 where it rises and subtracts 1 where it falls.
    """
    on = table.inputs.sum(axis=1)
    by_number = table.values[2 ** np.arange(table.n + 1) - 1]
    if not np.array_equal(table.values, by_number[on]):
        return
    steps = np.diff(by_number.astype(np.int64))
    changes = np.flatnonzero(steps)
    hidden = [((1,) * table.n, int(j) + 1) for j in changes]
    k = 1 - int(by_number[0])
    yield _network(table, hidden, tuple(steps[changes].tolist()), k, "counting", fewest)


def _network(
    table: TruthTable,
    hidden: Sequence[tuple[tuple[int, ...], int]],
    w: tuple[int, ...],
    k: int,
    form: str,
    fewest: bool,
) -> Network:
    letter = "unit" if any(re.fullmatch(r"h\d+", name) for name in table.names) else "h"
    names = tuple(f"{letter}{j + 1}" for j in range(len(hidden)))
    units = tuple(Unit(*pair, names=table.names) for pair in hidden)
    return Network(units, Unit(w, k, names=names), form, fewest)


# Sums of few products -----------------------------------------------------------------------------


def _prime_implicants(values: Bools) -> Ints:
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


def _few_products(values: Bools) -> tuple[Ints, bool]:
    """A sum of prime implicants that is the function: the fewest, or few where that is too hard.

    And whether it is proved that no sum of fewer products is the function.
    """
    from scipy.sparse.csgraph import connected_components

    primes = _prime_implicants(values)
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
    return primes[chosen], fewest


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

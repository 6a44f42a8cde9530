"""Networks of threshold units, two levels deep: every boolean function is one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.boolean import _products
from rosenblatt.boolean.tables import TruthTable, as_inputs, as_rows, plain, truth_table
from rosenblatt.boolean.units import Unit, smallest_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Bools = NDArray[np.bool_]

FORMS = {
    "one unit": "the function is a threshold function",
    "sum of products": "hidden units are ANDs, the output is their OR",
    "product of sums": "hidden units are ORs, the output is their AND",
    "counting": "hidden units count the inputs that are on, the output adds and subtracts",
}
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
    ands, ors = _products.few_products(table.values), _products.few_products(~table.values)
    fewest = ands.fewest and ors.fewest
    hidden = [_literals(row, all_of=True) for row in _in_order(ands.products)]
    yield _network(table, hidden, (1,) * len(hidden), 1, "sum of products", fewest)
    # The function is 0 where one of these products is 1: it is 1 where each of them fails.
    hidden = [_literals(1 - row, all_of=False) for row in _in_order(ors.products)]
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

"""Threshold units, and which boolean functions one of them computes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief, names_of, whole_number
from rosenblatt.boolean.truth_tables import TruthTable, as_inputs, as_rows, cube, plain, truth_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Bools, Ints
    from rosenblatt.results import Inseparable, QuasiSeparable

    Proof = Inseparable | QuasiSeparable

MOST_FOR_SUMS = 8  # variables; with so few, equal sums are there unless one unit does it


@dataclass(frozen=True)
class Unit:
    """A threshold unit: it fires where ``w·x >= k``.

    McCulloch and Pitts' model of a nerve cell [1]_, with weights. Call it with its inputs, each
    a 0 or 1 or an array of them.

    Parameters
    ----------
    w : sequence of numbers
        The weights.
    k : number
        The threshold.
    names : sequence of str, optional
        What the inputs are called; None: ``x1, x2, …``. Units that differ only in this are equal.

    References
    ----------
    .. [1] W. S. McCulloch and W. Pitts, "A logical calculus of the ideas immanent in nervous
       activity", Bulletin of Mathematical Biophysics 5, 1943.

    Examples
    --------
    >>> from rosenblatt.boolean import Unit
    >>> two_of_three = Unit((1, 1, 1), 2)
    >>> two_of_three(1, 0, 1)
    True
    >>> print(two_of_three)
    fires where x1 + x2 + x3 >= 2
    """

    w: tuple[float, ...]
    k: float
    names: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        w, k = _array(self.w), _array(self.k)
        numbers = (w.dtype.kind in "iuf" or not w.size) and k.dtype.kind in "biuf"
        if w.ndim != 1 or k.ndim or not numbers or not np.isfinite([*w.tolist(), k.item()]).all():
            what = f"w={brief(self.w)}, k={brief(self.k)} make no unit"
            msg = f"{what}: give a vector of weights and a number"
            raise ValueError(msg)
        object.__setattr__(self, "w", tuple(w.tolist()))
        object.__setattr__(self, "k", k.item())
        names = names_of("names", self.names) or tuple(f"x{j + 1}" for j in range(self.n))
        if len(names) != self.n:
            msg = f"{len(names)} names for {self.n} weights: give one per input"
            raise ValueError(msg)
        object.__setattr__(self, "names", names)

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.w)

    def __call__(self, *inputs: Any) -> Any:
        """Whether it fires, for inputs given one by one."""
        return plain(self.fires(as_rows(inputs, self.n)))

    def fires(self, X: ArrayLike) -> Bools:
        """Whether it fires, for each row of 0/1 inputs."""
        answers: Bools = as_inputs("X", X, self.n) @ np.array(self.w) >= self.k
        return answers

    def __repr__(self) -> str:
        return f"Unit(w={self.w}, k={self.k})"

    def __str__(self) -> str:
        if not any(self.w):
            return f"{'always' if self.k <= 0 else 'never'} fires (w = 0, k = {self.k:g})"
        return f"fires where {weighted_sum(self.w, self.names)} >= {self.k:g}"


def _array(given: Any) -> NDArray[Any]:
    """What was given as an array; of objects, if it cannot be one of numbers."""
    try:
        return np.asarray(given)
    except ValueError:  # rows of different lengths
        return np.array(None)


def weighted_sum(w: Iterable[float], names: Sequence[str]) -> str:
    """A sum as people write it: ``2 x1 + x2 - x3``."""
    terms = []
    for weight, name in zip(w, names, strict=True):
        if weight:
            size = "" if abs(weight) == 1 else f"{abs(weight):g} "
            terms.append(f"{'-' if weight < 0 else '+'} {size}{name}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)


def and_unit(n: int = 2) -> Unit:
    """The unit that fires where all n inputs are on: ``w = (1, …, 1)``, ``k = n - 1/2``."""
    return Unit((1,) * _number(n), n - 0.5)


def or_unit(n: int = 2) -> Unit:
    """The unit that fires where at least one of n inputs is on: ``w = (1, …, 1)``, ``k = 1``."""
    return Unit((1,) * _number(n), 1)


def not_unit() -> Unit:
    """The unit that fires where its input is off: ``w = -1``, ``k = 0``."""
    return Unit((-1,), 0)


def _number(n: int) -> int:
    return whole_number("n", n, 1, "give a number of inputs, 1 or more")


def threshold_unit(table: Any) -> Unit | Inseparable | QuasiSeparable:
    """The smallest unit that computes a boolean function, or the proof that there is none.

    Smallest: whole numbers with the least ``Σ|w|``, then the least ``|k|``, then the largest
    ``|w1|``, ``|w2|`` and so on. It is tried on every input before it is returned.

    Parameters
    ----------
    table : TruthTable, str or array
        The function, as `truth_table` takes it.

    Returns
    -------
    Unit, or the certificate of `rosenblatt.separability` on the rows of ``table.inputs`` with
    ``table.values`` as labels: inputs of both kinds whose convex hulls meet. Where two of each
    kind have the same sum, which is always so up to 8 variables, it is those four.

    Examples
    --------
    >>> from rosenblatt import boolean
    >>> print(boolean.threshold_unit("x1 & (x2 | ~x3)"))
    fires where 2 x1 + x2 - x3 >= 2
    >>> boolean.threshold_unit("x1 ^ x2").verdict
    Verdict.INSEPARABLE
    """
    function = truth_table(table)
    if (found := smallest_unit(function)) is not None:
        return found
    from rosenblatt.results import Inseparable, QuasiSeparable
    from rosenblatt.separation.function import separability

    answer = separability(function.inputs.astype(np.float64), function.values)
    if isinstance(answer, Inseparable | QuasiSeparable):
        return _shortest(answer, function)
    msg = f"no unit was found for {function!r}, nor a proof that there is none; please report it"
    raise RuntimeError(msg)


def _shortest(proof: Proof, table: TruthTable) -> Proof:
    """The same certificate with four inputs as its support, if there are such four."""
    from rosenblatt.proofs import check

    support = sorted(_equal_sums(table.values) or ())
    if not support:
        return proof
    inputs = table.inputs.astype(np.float64)
    parts: Any = {"support": support, "weights": [0.5] * 4, "point": inputs[support].mean(axis=0)}
    shorter = replace(proof, **parts)
    return shorter if check(shorter, inputs, table.values) else proof


def is_threshold(table: Any) -> bool:
    """Whether one unit computes a boolean function.

    Yes is said of a unit that was found and tried on every input; no, of a function that both
    rises and falls with one of its variables, or where two inputs of each kind have the same
    sum, or for which `threshold_unit` has a certificate.

    Parameters
    ----------
    table : TruthTable, str or array
        The function, as `truth_table` takes it.
    """
    function = truth_table(table)
    if _equal_sums(function.values):
        return False
    found = _tried(function, _weights(function.values, smallest=False))
    return found is not None or isinstance(threshold_unit(function), Unit)


def smallest_unit(table: TruthTable) -> Unit | None:
    """The smallest unit that computes a function; None if none is found."""
    return _tried(table, _weights(table.values))


def _tried(table: TruthTable, found: tuple[tuple[int, ...], int] | None) -> Unit | None:
    """The unit with these weights, if it computes the function on every input."""
    if found is None:
        return None
    unit = Unit(*found, names=table.names)
    return unit if np.array_equal(unit.fires(table.inputs), table.values) else None


# Weights ------------------------------------------------------------------------------------------


def _directions(values: Bools) -> Ints | None:
    """For each variable +1 where the function rises with it, -1 where it falls, 0 where neither.

    None where a function does both with one variable: then no unit computes it, because a unit
    rises with an input if its weight is positive and falls if it is negative.
    """
    n = values.size.bit_length() - 1
    found = np.zeros(n, dtype=np.int64)
    for j in range(n):
        off, on = np.moveaxis(values.reshape(2**j, 2, -1), 1, 0)
        rises, falls = bool((on & ~off).any()), bool((off & ~on).any())
        if rises and falls:
            return None
        found[j] = rises - falls
    return found


def _equal_sums(values: Bools) -> list[int] | None:
    """Two inputs on which it is 0 and two on which it is 1 that have the same sum, if found.

    Then no unit computes it: both pairs have the same mean, and a hyperplane cannot have it on
    both sides. A function that both rises and falls with a variable always has them; for others
    they are not looked for where there are many variables.
    """
    n = values.size.bit_length() - 1
    found = _rise_and_fall(values)
    if found or n > MOST_FOR_SUMS:
        return found
    codes = cube(n) @ 3 ** np.arange(n)[::-1]  # digits 0, 1, 2 of a sum of two do not carry
    zeros, ones = np.flatnonzero(~values), np.flatnonzero(values)
    below, above = (codes[i][:, None] + codes[i] for i in (zeros, ones))
    common = np.intersect1d(below, above)
    if not common.size:
        return None
    first, second = np.argwhere(below == common[0])[0], np.argwhere(above == common[0])[0]
    return [*zeros[first].tolist(), *ones[second].tolist()]


def _rise_and_fall(values: Bools) -> list[int] | None:
    """The four inputs where it rises with a variable and where it falls with the same one.

    What is 0 before the rise and after the fall has the same sum as what is 1.
    """
    n = values.size.bit_length() - 1
    for place in (1 << j for j in reversed(range(n))):
        at = np.flatnonzero(np.arange(values.size) & place == 0)
        change = values[at + place].astype(np.int64) - values[at]
        if change.max() - change.min() == 2:
            rise, fall = int(at[np.argmax(change)]), int(at[np.argmin(change)])
            return [rise, fall + place, rise + place, fall]
    return None


def _weights(values: Bools, *, smallest: bool = True) -> tuple[tuple[int, ...], int] | None:
    """``(w, k)`` with the least ``Σ|w|``, or None if the solver finds that there are none.

    `smallest` also chooses among those of the same sum: least ``|k|``, then largest ``|w1|``, …
    """
    signs = _directions(values)
    if signs is None:
        return None
    n = signs.size
    if not signs.any():
        return (0,) * n, int(not values.any())
    # With inputs mirrored where the function falls it only rises, and no weight is negative.
    falling = signs < 0
    rising = np.flip(values.reshape((2,) * n), tuple(np.flatnonzero(falling)))
    A, low = _constraints(rising, falling)
    # Σw; |k| of the function as it was given; then the weights one by one
    stages = [np.r_[np.ones(n), 0, 0], np.eye(n + 2)[n + 1], *-np.eye(n + 2)[:n]]
    solution = _solved(stages[0], A, low)
    for before, cost in pairwise(stages if smallest else ()):
        if solution is None:
            break
        A, low = np.vstack([A, -before]), np.r_[low, -(before @ solution)]
        solution = _solved(cost, A, low)
    if solution is None:
        return None
    w = np.where(falling, -solution[:n], solution[:n])
    return tuple(w.tolist()), int(solution[n] - solution[:n][falling].sum())


def _constraints(rising: Bools, falling: Bools) -> tuple[Any, Any]:
    """``A v >= low`` for ``v = (w, k, t)`` with ``t >= |k - Σ w over falling|``.

    If the smallest inputs that make it 1 and the largest that make it 0 are on their sides, so
    are all the others, because no weight is negative.
    """
    n = rising.ndim
    least, most = rising.copy(), ~rising
    for j in range(n):
        view, full = np.moveaxis(least, j, 0), np.moveaxis(rising, j, 0)
        view[1] &= ~full[0]
        view, full = np.moveaxis(most, j, 0), np.moveaxis(~rising, j, 0)
        view[0] &= ~full[1]
    on, off = np.argwhere(least), np.argwhere(most)
    above = np.column_stack([on, -np.ones(len(on)), np.zeros(len(on))])
    below = np.column_stack([-off, np.ones(len(off)), np.zeros(len(off))])
    threshold = np.r_[-falling.astype(float), 1, 0]
    size = np.eye(n + 2)[n + 1]
    A = np.vstack([above, below, size - threshold, size + threshold])
    return A, np.r_[np.zeros(len(on)), np.ones(len(off)), 0, 0]


def _solved(cost: Any, A: Any, low: Any) -> Ints | None:
    """The whole numbers with least cost, the first ones and the last not negative."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    least = np.r_[np.zeros(cost.size - 2), -np.inf, 0]
    answer = milp(
        cost,
        integrality=np.ones(cost.size),
        bounds=Bounds(least, np.inf),
        constraints=LinearConstraint(A, low, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    return None if answer.x is None else np.rint(answer.x).astype(np.int64)

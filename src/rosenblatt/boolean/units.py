"""Threshold units, and which boolean functions one of them computes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief, names_of, whole_number
from rosenblatt.boolean import _smallest
from rosenblatt.boolean.tables import TruthTable, as_inputs, as_rows, plain, truth_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.results import Inseparable, QuasiSeparable

    Bools = NDArray[np.bool_]


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
    from rosenblatt.separation.function import separability

    answer: Any = separability(function.inputs.astype(np.float64), function.values)
    if hasattr(answer, "support"):
        return _shortest(answer, function)
    msg = f"no unit was found for {function!r}, nor a proof that there is none; please report it"
    raise RuntimeError(msg)


def _shortest(proof: Any, table: TruthTable) -> Inseparable | QuasiSeparable:
    """The same certificate with four inputs as its support, if there are such four."""
    from rosenblatt.certify import check

    support = sorted(_smallest.equal_sums(table.values) or ())
    if support:
        inputs = table.inputs[support].astype(np.float64)
        parts = {"support": support, "weights": [0.5] * 4, "point": inputs.mean(axis=0)}
        shorter = replace(proof, **parts)
        if check(shorter, table.inputs.astype(np.float64), table.values):
            proof = shorter
    certificate: Inseparable | QuasiSeparable = proof
    return certificate


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
    if _smallest.equal_sums(function.values):
        return False
    found = _tried(function, _smallest.weights(function.values, smallest=False))
    return found is not None or isinstance(threshold_unit(function), Unit)


def smallest_unit(table: TruthTable) -> Unit | None:
    """The smallest unit that computes a function; None if none is found."""
    return _tried(table, _smallest.weights(table.values))


def _tried(table: TruthTable, found: tuple[tuple[int, ...], int] | None) -> Unit | None:
    """The unit with these weights, if it computes the function on every input."""
    if found is None:
        return None
    unit = Unit(*found, names=table.names)
    return unit if np.array_equal(unit.fires(table.inputs), table.values) else None

"""Verdicts on linear separability, each with the evidence for it.

Samples are signed and augmented throughout: ``z_i = y_i (x_i, 1)``, bias last, so that a
hyperplane ``θ = (w, b)`` has sample i on its right side exactly when ``z_i·θ > 0``. Labels are
-1 for the first class in sorted order, +1 for the second.

`rosenblatt.certify.check` tests every one of these again from the data alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Verdict(enum.Enum):
    """Whether a hyperplane separates two classes."""

    SEPARABLE = "a hyperplane has every sample strictly on its right side"
    QUASI_SEPARABLE = "a hyperplane has no sample on its wrong side, but never all off it"
    INSEPARABLE = "the classes overlap: no hyperplane has them on its two sides"
    UNDECIDED = "time ran out before the question was settled"

    def __repr__(self) -> str:
        return f"Verdict.{self.name}"


def _kept(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """A read-only copy, so that a certificate cannot change under its owner."""
    array: NDArray[Any] = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


class _Frozen:
    """Makes the arrays of a certificate read-only copies."""

    def __post_init__(self) -> None:
        for name in ("support", "on", "spanning_support"):
            if hasattr(self, name):
                object.__setattr__(self, name, _kept(getattr(self, name), np.int64))
        for name in ("weights", "point", "spanning_weights"):
            if hasattr(self, name):
                object.__setattr__(self, name, _kept(getattr(self, name), np.float64))


@dataclass(frozen=True, eq=False)
class Separable(_Frozen):
    """A hyperplane with every sample strictly on its right side.

    Attributes
    ----------
    hyperplane : Hyperplane
    margin : float
        Of this hyperplane, ``min_i y_i(w·x_i + b)/‖w‖``.
    exact : tuple of Fraction or None
        ``(w, b)`` in rational numbers, bias last, where its nearest floats, `hyperplane`, do
        not separate. None: the floats themselves do.
    """

    hyperplane: Hyperplane
    margin: float
    exact: tuple[Fraction, ...] | None = None
    verdict: Verdict = field(default=Verdict.SEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class QuasiSeparable(_Frozen):
    """The classes touch, but do not cross: a hyperplane with no sample on its wrong side.

    Attributes
    ----------
    support, weights, point : int array, float array, float array
        One point in both convex hulls, as in `Inseparable`: why nothing separates strictly.
    hyperplane : Hyperplane
        No sample on its wrong side, as few as possible on it, at least one off it.
    on : int array
        The samples on the hyperplane; every such hyperplane has at least these on it.
    spanning_support, spanning_weights : int array, float array
        Samples among `on` whose signed vectors span those of all of `on`, and positive weights
        with which they cancel: why no such hyperplane has fewer samples on it.
    exact : tuple of Fraction or None
        ``(w, b)`` in rational numbers where floats would not do, as in `Separable`.
    """

    support: Ints
    weights: Floats
    point: Floats
    hyperplane: Hyperplane
    on: Ints
    spanning_support: Ints
    spanning_weights: Floats
    exact: tuple[Fraction, ...] | None = None
    verdict: Verdict = field(default=Verdict.QUASI_SEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class Inseparable(_Frozen):
    """The classes overlap.

    Attributes
    ----------
    support : int array
        At most d + 2 samples of both classes whose convex hulls meet; without any one of them
        they would not.
    weights : float array
        The shares of these samples in the meeting point, summing to 1 in each class. They are
        the only such shares; the exact ones are rational numbers, these the nearest floats.
    point : float array
        The meeting point, the weighted mean of the support in either class.
    spanning_support, spanning_weights : int array, float array
        At most 2(d + 1) samples whose signed vectors ``y_i(x_i, 1)`` span those of all samples,
        and positive weights with which they cancel. A hyperplane with none of these samples on
        its wrong side therefore has all samples on it.
    """

    support: Ints
    weights: Floats
    point: Floats
    spanning_support: Ints
    spanning_weights: Floats
    verdict: Verdict = field(default=Verdict.INSEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class Undecided(_Frozen):
    """Time ran out.

    Attributes
    ----------
    bracket : tuple of float
        Between these lies the largest margin of any hyperplane (negative or zero: it does not
        separate).
    """

    bracket: tuple[float, float]
    verdict: Verdict = field(default=Verdict.UNDECIDED, init=False)


Certificate = Separable | QuasiSeparable | Inseparable | Undecided


@dataclass(frozen=True)
class CheckResult:
    """Whether a certificate proves its verdict, and why (not)."""

    valid: bool
    why: str

    def __bool__(self) -> bool:
        return self.valid

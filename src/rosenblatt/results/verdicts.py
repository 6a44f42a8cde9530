"""Verdicts on linear separability, each with the evidence for it.

Samples are signed and augmented throughout: ``z_i = y_i (x_i, 1)``, bias last, so that a
hyperplane ``θ = (w, b)`` has sample i on its right side exactly when ``z_i·θ > 0``. Labels are
-1 for the first class in sorted order, +1 for the second.

`rosenblatt.certify.check` tests every one of these again from the data alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints


class Verdict(enum.Enum):
    """Whether a hyperplane separates two classes."""

    SEPARABLE = "a hyperplane has every sample strictly on its right side"
    QUASI_SEPARABLE = "a hyperplane has no sample on its wrong side, but never all off it"
    INSEPARABLE = "the classes overlap: no hyperplane has them on its two sides"
    UNDECIDED = "time, or the limit of exact arithmetic, ended before the question was settled"

    def __repr__(self) -> str:
        return f"Verdict.{self.name}"


class Evidence:
    """Base of the certificates: their arrays become read-only copies of these types."""

    arrays: ClassVar[dict[str, type]] = {
        **dict.fromkeys(("support", "on", "spanning_support"), np.int64),
        **dict.fromkeys(("weights", "point", "spanning_weights", "multipliers"), np.float64),
    }

    def __post_init__(self) -> None:
        for name, dtype in self.arrays.items():
            if hasattr(self, name):
                array: NDArray[Any] = np.array(getattr(self, name), dtype=dtype)
                array.setflags(write=False)
                object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False)
class Separable(Evidence):
    """A hyperplane with every sample strictly on its right side.

    Attributes
    ----------
    hyperplane : Hyperplane
    margin : float
        Of this hyperplane, or of the exact one, ``min_i y_i(w·x_i + b)/‖w‖``.
    exact : tuple of Fraction or None
        ``(w, b)`` in rational numbers, bias last, where its nearest floats, `hyperplane`, do
        not separate. None: the floats themselves do.
    verdict : Verdict
        ``Verdict.SEPARABLE``.
    """

    hyperplane: Hyperplane
    margin: float
    exact: tuple[Fraction, ...] | None = None
    verdict: Verdict = field(default=Verdict.SEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class QuasiSeparable(Evidence):
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
    exact_weights, exact_spanning_weights : tuple of Fraction or None
        The weights in rational numbers where floats would not do, as in `Inseparable`.
    verdict : Verdict
        ``Verdict.QUASI_SEPARABLE``.
    """

    support: Ints
    weights: Floats
    point: Floats
    hyperplane: Hyperplane
    on: Ints
    spanning_support: Ints
    spanning_weights: Floats
    exact: tuple[Fraction, ...] | None = None
    exact_weights: tuple[Fraction, ...] | None = None
    exact_spanning_weights: tuple[Fraction, ...] | None = None
    verdict: Verdict = field(default=Verdict.QUASI_SEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class Inseparable(Evidence):
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
    exact_weights, exact_spanning_weights : tuple of Fraction or None
        The same weights in rational numbers where some are too small, or too far apart, for
        floats. None: the floats will do.
    verdict : Verdict
        ``Verdict.INSEPARABLE``.
    """

    support: Ints
    weights: Floats
    point: Floats
    spanning_support: Ints
    spanning_weights: Floats
    exact_weights: tuple[Fraction, ...] | None = None
    exact_spanning_weights: tuple[Fraction, ...] | None = None
    verdict: Verdict = field(default=Verdict.INSEPARABLE, init=False)


@dataclass(frozen=True, eq=False)
class Undecided(Evidence):
    """The question was not settled.

    Attributes
    ----------
    bracket : tuple of float
        Between these lies the largest margin of any hyperplane (negative or zero: it does not
        separate), whatever was rounded; infinite where nothing is known.
    why : str
        ``Undecided.TIME``, and another run may come to an answer; or ``Undecided.WORK``: exact
        arithmetic would have taken too long, which is the same in every run.
    verdict : Verdict
        ``Verdict.UNDECIDED``.
    """

    TIME: ClassVar[str] = "time ran out"
    WORK: ClassVar[str] = "the limit of exact arithmetic was reached"

    bracket: tuple[float, float]
    why: str = TIME
    verdict: Verdict = field(default=Verdict.UNDECIDED, init=False)


Certificate = Separable | QuasiSeparable | Inseparable | Undecided


@dataclass(frozen=True)
class CheckResult:
    """Whether a certificate proves its verdict, and why (not).

    `sample` is the one that refutes it, if one does, and `where` it lies; `proved` is what a valid
    one proves.
    """

    valid: bool
    why: str
    sample: int | None = field(default=None, repr=False)
    where: str = field(default="", repr=False)
    proved: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return self.valid

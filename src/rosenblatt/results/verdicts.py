"""Verdicts on linear separability, and best hyperplanes, each with the evidence for it.

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

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Verdict(enum.Enum):
    """Whether a hyperplane separates two classes."""

    SEPARABLE = "a hyperplane has every sample strictly on its right side"
    QUASI_SEPARABLE = "a hyperplane has no sample on its wrong side, but never all off it"
    INSEPARABLE = "the classes overlap: no hyperplane has them on its two sides"
    UNDECIDED = "time, or the limit of exact arithmetic, ended before the question was settled"

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
        for name in ("weights", "point", "spanning_weights", "multipliers"):
            if hasattr(self, name):
                object.__setattr__(self, name, _kept(getattr(self, name), np.float64))


@dataclass(frozen=True, eq=False)
class Separable(_Frozen):
    """A hyperplane with every sample strictly on its right side.

    Attributes
    ----------
    hyperplane : Hyperplane
    margin : float
        Of this hyperplane, or of the exact one, ``min_i y_i(w·x_i + b)/‖w‖``.
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
    exact_weights, exact_spanning_weights : tuple of Fraction or None
        The weights in rational numbers where floats would not do, as in `Inseparable`.
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
    exact_weights, exact_spanning_weights : tuple of Fraction or None
        The same weights in rational numbers where some are too small, or too far apart, for
        floats. None: the floats will do.
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
class Undecided(_Frozen):
    """The question was not settled.

    Attributes
    ----------
    bracket : tuple of float
        Between these lies the largest margin of any hyperplane (negative or zero: it does not
        separate), whatever was rounded; infinite where nothing is known.
    why : str
        ``Undecided.TIME``, and another run may come to an answer; or ``Undecided.WORK``: exact
        arithmetic would have taken too long, which is the same in every run.
    """

    TIME: ClassVar[str] = "time ran out"
    WORK: ClassVar[str] = "the limit of exact arithmetic was reached"

    bracket: tuple[float, float]
    why: str = TIME
    verdict: Verdict = field(default=Verdict.UNDECIDED, init=False)


Certificate = Separable | QuasiSeparable | Inseparable | Undecided


@dataclass(frozen=True, eq=False)
class Optimum(_Frozen):
    """A hyperplane and multipliers that prove how close it is to the best there is.

    Of the soft-margin problem, ``c_i = C s_i/N`` with sample weights ``s_i`` that sum to ``N``::

        primal = ½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))
        dual   = Σ α_i - ½‖Σ α_i y_i x_i‖²       with 0 <= α_i <= c_i, Σ α_i y_i = 0

    or, with ``C=None``, of the maximum-margin problem: ``primal = ½‖w‖²`` with every
    ``y_i(w·x_i + b) >= 1``, and no upper bound on the multipliers. No hyperplane has a primal
    value below the dual value of any such multipliers.

    Attributes
    ----------
    hyperplane : Hyperplane
        ``(w, b)``; for the maximum margin in canonical form, the smallest ``y(w·x + b)`` is 1 as
        nearly as floats can bring it.
    support, multipliers : int array, float array
        The samples with ``α_i > 0``, in ascending order, and these.
    C : float or None
        None: the maximum margin.
    primal, dual : float
        The two values: of the very hyperplane, its rounding included, and of the multipliers. For
        the maximum margin ``primal = ½/margin²``, with the margin that this hyperplane has.
    gap : float
        ``(primal - dual)/primal``: by how much, at most, the objective could be smaller. It is 1
        where a maximum margin was asked for and the hyperplane does not separate. Not given: what
        the two values make of it.
    exact_multipliers : tuple of Fraction or None
        The multipliers in rational numbers, where their nearest floats, `multipliers`, would
        prove less.
    margin : float
        How far from the hyperplane ``w·x + b`` is 1 or -1, ``1/‖w‖``, infinite if w is zero; for
        the maximum margin that of this very hyperplane, its rounding included.
    """

    hyperplane: Hyperplane
    support: Ints
    multipliers: Floats
    C: float | None
    primal: float
    dual: float
    gap: float = np.nan
    exact_multipliers: tuple[Fraction, ...] | None = None
    margin: float = np.nan

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin != self.margin:
            plane = self.hyperplane
            margin = 1.0 / plane.norm if plane.w.any() else np.inf
            object.__setattr__(self, "margin", margin)
        if self.gap != self.gap:
            share = (self.primal - self.dual) / self.primal if self.primal < np.inf else 1.0
            object.__setattr__(self, "gap", min(max(0.0, share), 1.0))


@dataclass(frozen=True)
class Conditions:
    """How well a hyperplane and multipliers meet the conditions of an optimum; all are 0 there.

    Attributes
    ----------
    feasibility : float
        The largest of the multipliers' excesses over ``c_i`` as a share of it, and, for the
        maximum margin, of ``1 - y_i(w·x_i + b)``.
    balance : float
        ``|Σ α_i y_i|`` as a share of ``Σ α_i``.
    stationarity : float
        ``‖w - Σ α_i y_i x_i‖`` as a share of ``‖w‖``.
    complementarity : float
        ``Σ α_i |y_i(w·x_i + b) - 1 + ξ_i| + Σ (c_i - α_i) ξ_i`` as a share of the primal value,
        with the slack ``ξ_i = max(0, 1 - y_i(w·x_i + b))``.
    gap : float
        ``(primal - dual)/primal``.
    """

    feasibility: float
    balance: float
    stationarity: float
    complementarity: float
    gap: float


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

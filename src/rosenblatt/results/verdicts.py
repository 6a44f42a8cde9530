"""Verdicts on linear separability, each with the evidence for it.

Samples are signed and augmented throughout: ``z_i = y_i (x_i, 1)``, bias last, so that a
hyperplane ``θ = (w, b)`` has sample i on its right side exactly when ``z_i·θ > 0``. Labels are
-1 for the first class in sorted order, +1 for the second.

`rosenblatt.certify.check` tests every one of these again from the data alone.
"""

from __future__ import annotations

import enum
import math
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane
from rosenblatt.results.words import Shown, equation, identical, number, numbered, weighed
from rosenblatt.visible import count, visible

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

    @property
    def word(self) -> str:
        """``separable``, ``quasi-separable``, ``inseparable`` or ``undecided``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Problem:
    """What a certificate is about, in the words of whoever asked.

    Attributes
    ----------
    positive : label
        The class that is +1.
    negative : label or None
        The class that is -1; None: all others, the rest.
    features : tuple of str or None
        The names of the features; None: they have none.
    left_out : tuple of str
        Columns of the table that are not among the features, because they are the same
        everywhere or name the rows.
    """

    positive: Any
    negative: Any = None
    features: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        rest = "the rest" if self.negative is None else visible(str(self.negative))
        return f"{visible(str(self.positive))} against {rest}"


class Evidence(Shown):
    """Base of the certificates: their arrays become read-only copies of these types.

    `problem` says what it is about, where somebody has told: it is no part of the evidence.
    """

    problem: ClassVar[Problem | None] = None

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

    def about(self, problem: Problem) -> Self:
        """The same certificate, which knows what it is about."""
        other = copy(self)
        object.__setattr__(other, "problem", problem)
        return other

    def _told(self, *sentences: str) -> str:
        """What is proved of what, and how."""
        verdict: Verdict = self.verdict  # type: ignore[attr-defined]
        about = "" if self.problem is None else f" ({self.problem})"
        told = "; ".join([f"{verdict.word}{about}: {sentences[0]}", *sentences[1:]])
        if self.problem is None or not self.problem.left_out:
            return told
        names = [visible(name) for name in self.problem.left_out]
        shown = [*names[:3], f"and {len(names) - 3} more"] if len(names) > 3 else names
        return f"{told}; without {count(len(names), 'column')} of the table: {', '.join(shown)}"

    def _equation(self, plane: Hyperplane) -> str:
        names = None if self.problem is None else self.problem.features
        return equation(plane.w, plane.b, names)


@dataclass(frozen=True, eq=False, repr=False)
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

    def __str__(self) -> str:
        margin = f"margin {number(self.margin)}"
        if self.exact is not None:
            margin += ", so narrow that only fractions tell the sides apart, not floats"
        by = f"proved by the hyperplane {self._equation(self.hyperplane)} with {margin}"
        return self._told("every sample can be strictly on its side", by)


@dataclass(frozen=True, eq=False, repr=False)
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

    def __str__(self) -> str:
        on = numbered("sample", self.on)
        there = f"{on} {'is' if len(self.on) == 1 else 'are'} on every such hyperplane"
        by = f"proved by {self._equation(self.hyperplane)}, and because {_meeting(self, 'touch')}"
        return self._told(f"no sample need be on the wrong side, but {there}", by)


@dataclass(frozen=True, eq=False, repr=False)
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

    def __str__(self) -> str:
        overlap = "the classes overlap, and no hyperplane has them on its two sides"
        return self._told(overlap, f"proved, because {_meeting(self, 'meet')}")


def _meeting(certificate: QuasiSeparable | Inseparable, touch: str) -> str:
    """Why nothing separates: the samples, with their shares of the point they have in common."""
    if len(certificate.support) == 2:
        return identical(numbered("sample", certificate.support))
    which = weighed(certificate.support, certificate.weights, "weight")
    return f"the convex hulls of {which} {touch}"


@dataclass(frozen=True, eq=False, repr=False)
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

    @property
    def known(self) -> str:
        """What is known of the largest margin, in a sentence."""
        low, high = self.bracket
        if (low, high) == (-math.inf, math.inf):
            return "nothing is known yet about the largest margin"
        between = f"between {low:.4g} and {high:.4g}"
        return f"the largest margin is {between} (0 or less: none separates)"

    def __str__(self) -> str:
        return self._told(f"{self.why} before the question was settled", self.known)


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

    def __str__(self) -> str:
        return self.why if self.valid else f"not proved: {self.why}"


class CheckResults(tuple[CheckResult, ...]):
    """A result for each class against the rest; true in an ``if`` if all are."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return self.valid

    @property
    def valid(self) -> bool:
        """Whether every certificate proves its verdict."""
        return all(one.valid for one in self)

    @property
    def why(self) -> str:
        """What is proved, or what the first that is not valid does not prove."""
        wrong = [(k, one) for k, one in enumerate(self) if not one.valid]
        if not wrong:
            return f"proved for each of {len(self)} classes"
        k, first = wrong[0]
        return f"class number {k}: {first.why}"

    def __str__(self) -> str:
        return self.why if self.valid else f"not proved: {self.why}"

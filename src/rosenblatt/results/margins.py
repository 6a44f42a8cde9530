"""Best hyperplanes with the evidence for them, and what a fit that looks for one returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane
from rosenblatt.results.runs import StopReason
from rosenblatt.results.updates import Frozen
from rosenblatt.results.verdicts import Evidence, Inseparable, QuasiSeparable
from rosenblatt.results.words import Shown, near_the_best, number, places, weighed
from rosenblatt.visible import count

if TYPE_CHECKING:
    from fractions import Fraction

    from rosenblatt.array_types import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Evidence):
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

    def __str__(self) -> str:
        by = weighed(self.support, self.multipliers, "multiplier")
        if self.C is None and not self.margin > 0:
            return "no maximum margin: no hyperplane of floats that separates was found"
        what = "maximum margin" if self.C is None else f"soft margin with C = {self.C:g}:"
        told = f"{what} {number(self.margin)} (1/‖w‖), carried by {by}"
        objective = "½‖w‖²" if self.C is None else "½‖w‖² + C/N Σ sξ"
        return f"{told}; {near_the_best(objective, number(self.primal), self.gap)}"


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

    def __str__(self) -> str:
        told = [f"{name} {value:.2g}" for name, value in vars(self).items()]
        return f"{', '.join(told)} (all 0 at an optimum)"


@dataclass(frozen=True, eq=False, repr=False)
class MarginTrace(Frozen):
    """The record of a fit, with an entry for every scan of all the data.

    Attributes
    ----------
    primal : float array
        The objective of the hyperplane found by then. Infinite: a maximum margin was asked for,
        and the hyperplane did not separate all samples yet.
    dual : float array
        What the multipliers proved it to be at least.
    rows : int array
        Samples that took part in the round before the scan.
    seconds : float array
        Time since the fit began.
    """

    primal: Floats
    dual: Floats
    rows: Ints
    seconds: Floats

    def __len__(self) -> int:
        """Return the number of scans."""
        return len(self.primal)

    def __repr__(self) -> str:
        return f"<MarginTrace: {self}>"

    def __str__(self) -> str:
        if not len(self):
            return "no scans of the data"
        last = f"at the end {number(self.primal[-1])} and {number(self.dual[-1])}"
        return f"{count(len(self), 'scan')} of the data, objective and its bound {last}"


@dataclass(frozen=True, eq=False, repr=False)
class MarginRound(Shown):
    """What a callback is told after every scan of the data.

    Attributes
    ----------
    problem : int
        Which two-class problem, from 0.
    number : int
        Of the scan, from 1.
    hyperplane : Hyperplane
        The best one so far.
    primal, dual, gap : float
        Its objective, what is proved of it, and ``(primal - dual)/primal``.
    rows : int
        Samples that took part in the round before the scan.
    seconds : float
        Time since the fit of this problem began.
    """

    problem: int
    number: int
    hyperplane: Hyperplane
    primal: float
    dual: float
    gap: float
    rows: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"scan {self.number} of problem {self.problem}: objective {number(self.primal)}, "
            f"gap {self.gap:.2g}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class MarginFit(Shown):
    """The outcome of one two-class problem.

    Attributes
    ----------
    hyperplane : Hyperplane
    stop_reason : StopReason
    optimum : Optimum
        The hyperplane with the multipliers that prove how good it is.
    dual_coef : float array
        ``y_i α_i`` of the support.
    conditions : Conditions
        How well the two meet the conditions of an optimum.
    nearest : float array of shape (2, d) or None
        For the maximum margin: the points of the convex hulls of class -1 and of class +1 that
        are closest to each other. The hyperplane lies half-way, at a right angle to their line.
    trace : MarginTrace
    certificate : Optimum, Inseparable, QuasiSeparable or None
        The evidence for the stop reason: the optimum where the gap was closed, the proof where
        no hyperplane separates the classes, otherwise None.
    """

    hyperplane: Hyperplane
    stop_reason: StopReason
    optimum: Optimum
    dual_coef: Floats
    conditions: Conditions
    nearest: Floats | None
    trace: MarginTrace
    certificate: Optimum | Inseparable | QuasiSeparable | None

    def __repr__(self) -> str:
        optimum = self.optimum
        told = f"margin {number(optimum.margin)}, gap {optimum.gap:.2g}"
        vectors = count(len(optimum.support), "support vector")
        return f"<MarginFit: {self.stop_reason.name}, {told}, {vectors}>"

    def __str__(self) -> str:
        scans = count(len(self.trace), "scan")
        told = [f"{self.stop_reason.name} after {scans} of the data ({self.stop_reason.value})"]
        if isinstance(self.certificate, Inseparable | QuasiSeparable):
            told.append(str(self.certificate))
        return "; ".join([*told, str(self.optimum)])


@dataclass(frozen=True, eq=False, repr=False)
class Sides(Frozen):
    """Where samples lie with respect to a hyperplane and its margin.

    Attributes
    ----------
    slack : float array
        ``max(0, 1 - y(w·x + b))`` of every sample.
    outside, on, inside, wrong : int arrays
        Row numbers: beyond the margin on the right side (no slack); on the edge of the margin;
        inside the margin, on the right side (slack below 1); on the wrong side of the hyperplane
        or on it (slack 1 or more). Together all samples.
    """

    slack: Floats
    outside: Ints
    on: Ints
    inside: Ints
    wrong: Ints

    def __str__(self) -> str:
        sizes = map(len, (self.outside, self.on, self.inside, self.wrong))
        return f"{places(*sizes)}; total slack {number(float(self.slack.sum()))}"


@dataclass(frozen=True, eq=False, repr=False)
class SoftMarginPath(Frozen):
    """Soft-margin hyperplanes as C varies; every array has an entry for each C.

    Attributes
    ----------
    Cs : float array
    hyperplanes : tuple of Hyperplane
    margin : float array
        ``1/‖w‖``, half the width of the margin; infinite where w is zero.
    slack : float array
        The sum of ``s_i max(0, 1 - y_i(w·x_i + b))`` with the weights ``s_i`` of the samples.
    errors : int array
        Training errors.
    n_support : int array
        Samples with a positive multiplier.
    primal, dual, gap : float arrays
        The objective, what is proved of it, and the share between them.
    optima : tuple of Optimum
        The whole evidence for each.
    """

    Cs: Floats
    hyperplanes: tuple[Hyperplane, ...] = field(repr=False)
    margin: Floats = field(repr=False)
    slack: Floats = field(repr=False)
    errors: Ints = field(repr=False)
    n_support: Ints = field(repr=False)
    primal: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    optima: tuple[Optimum, ...] = field(repr=False)

    @property
    def gap(self) -> Floats:
        """``(primal - dual)/primal`` of each."""
        return np.array([optimum.gap for optimum in self.optima])

    def __len__(self) -> int:
        """Return the number of hyperplanes."""
        return len(self.Cs)

    def __str__(self) -> str:
        if not len(self):
            return "no values of C"
        ends = [
            f"C = {self.Cs[k]:g}: margin {number(self.margin[k])}, "
            f"{count(int(self.errors[k]), 'training error')}"
            for k in (0, -1)[: len(self)]
        ]
        return f"{count(len(self), 'hyperplane')}, from {' to '.join(ends)}"

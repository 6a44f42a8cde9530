"""What a fit to a best hyperplane returns. Frozen, and free of any solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane
from rosenblatt.results.runs import StopReason
from rosenblatt.results.verdicts import Conditions, Inseparable, Optimum, QuasiSeparable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def _freeze(*arrays: NDArray[np.generic]) -> None:
    for array in arrays:
        array.setflags(write=False)


@dataclass(frozen=True, eq=False)
class MarginTrace:
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

    def __post_init__(self) -> None:
        _freeze(self.primal, self.dual, self.rows, self.seconds)

    def __len__(self) -> int:
        """Return the number of scans."""
        return len(self.primal)


@dataclass(frozen=True, eq=False)
class MarginRound:
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


@dataclass(frozen=True, eq=False)
class MarginFit:
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


@dataclass(frozen=True, eq=False)
class Sides:
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

    def __post_init__(self) -> None:
        _freeze(self.slack, self.outside, self.on, self.inside, self.wrong)


@dataclass(frozen=True, eq=False)
class SoftMarginPath:
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

    def __post_init__(self) -> None:
        _freeze(
            self.Cs, self.margin, self.slack, self.errors, self.n_support, self.primal, self.dual
        )

    @property
    def gap(self) -> Floats:
        """``(primal - dual)/primal`` of each."""
        return np.array([optimum.gap for optimum in self.optima])

    def __len__(self) -> int:
        """Return the number of hyperplanes."""
        return len(self.Cs)

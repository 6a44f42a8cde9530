"""What the maximum-margin and the soft-margin classifier share."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.arguments import positive_number
from rosenblatt.cluster.engine import released
from rosenblatt.contract.classifier import LinearClassifier
from rosenblatt.contract.parameters import (
    check_callback,
    checkpoint_of,
    count_threads,
    time_limit,
)
from rosenblatt.contract.resuming import identify, keeper_of
from rosenblatt.data.sources import labels
from rosenblatt.margin.proving import keep_time, proved_again
from rosenblatt.margin.solver import MarginProblem, placed, rounds
from rosenblatt.results import (
    Conditions,
    Inseparable,
    MarginFit,
    MarginTrace,
    Optimum,
    QuasiSeparable,
    Sides,
    StopReason,
)
from rosenblatt.running.clock import Clock, catch_interrupts
from rosenblatt.running.notes import Notes, written_at_the_end
from rosenblatt.running.threads import Team, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.contract.classifier import Data
    from rosenblatt.margin.solver import Report
    from rosenblatt.running.checkpoints import Keeper


MANY = 1 << 19  # numbers below which others have passed over them before a thread has woken up
ON = 1e-6  # at least so far from 1 is y(w·x + b) taken to be on the edge of the margin


class MarginClassifier(LinearClassifier):
    """A classifier that ends in hyperplanes which are proved to be the best, or nearly."""

    fits_: tuple[MarginFit, ...]

    _parts = (
        *LinearClassifier._parts,
        MarginFit,
        MarginTrace,
        Optimum,
        Conditions,
        Inseparable,
        QuasiSeparable,
    )

    def _check(self) -> None:
        """Check the parameters that both have."""
        positive_number("tol", self.tol, hint=", the gap at which to stop")
        time_limit(self.max_time)
        check_callback(self.callback)
        count_threads(self.n_jobs)
        checkpoint_of(self.checkpoint)

    def check_parameters(self) -> None:
        """Raise ValueError for a parameter that `fit` would not take."""
        self._check()

    def _solve(
        self, problem: MarginProblem, names: str, report: Report | None, notes: Notes
    ) -> MarginFit:
        """Solve one two-class problem, or go on where the notes of this end."""
        raise NotImplementedError

    def _start(self) -> str | None:
        """A digest of what the solver begins with, if that is something."""
        return None

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the best hyperplane, or one for each class.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), or what `rosenblatt.open` gives
        y : array of n labels of any kind, two or more different ones; not with an opened source
        sample_weight : array of n weights >= 0, optional

        Returns
        -------
        self
        """
        began = time.perf_counter()
        self._check()
        keeper = keeper_of(self)
        with released():
            self._fit(self._read(X, y, sample_weight), keeper, began)
        self._warn()
        return self

    def _fit(self, data: Data, keeper: Keeper | None, began: float) -> None:
        """Solve each problem, and set everything that a fitted model has."""
        threads = count_threads(self.n_jobs) if data.source.n_entries >= MANY else 1
        with (
            Team(threads) as team,
            catch_interrupts() as interrupts,
            one_blas_thread(),  # with more of them the order of additions depends on how many
            self._noting(keeper, data, team) as notes,
        ):
            clock = Clock(self.max_time, interrupts, began)
            place, fits = placed(data.source, team), []
            for number, positive in enumerate(data.positives):
                problem = MarginProblem.of(place, positive, team, clock)
                _require_both_sides(problem, data.classes)
                if number == 0:
                    keep_time(problem, self.C, len(data.positives))
                names = sides_named(data.classes, positive)
                report = rounds(self.callback, number, problem)
                fits.append(self._solved(problem, names, report, notes.of(number)))
            self._set_results(data, tuple(fits), team)

    @contextmanager
    def _noting(self, keeper: Keeper | None, data: Data, team: Team) -> Iterator[Notes]:
        """The notes of a fit, which are written at the end however it comes."""
        if keeper is not None:
            identify(keeper, self, 0, data.source, team, start=self._start())
        with written_at_the_end(Notes(keeper)) as notes:
            yield notes

    def _solved(
        self, problem: MarginProblem, names: str, report: Report | None, notes: Notes
    ) -> MarginFit:
        """A problem solved, now or in the run that this one goes on with."""
        known = notes.restored("fit", partial(proved_again, problem))
        if known is not None:
            return known
        fit = self._solve(problem, names, report, notes)
        closed, limited = fit.stop_reason is StopReason.GAP_CLOSED, self.max_time is not None
        # Others may have been cut short: what they end with follows from their notes.
        if closed or (fit.stop_reason is StopReason.ROUNDING and not limited):
            notes.done("fit", replace(fit, certificate=None))  # that is the optimum, if any
        return fit

    def _warn(self) -> None:
        """Say what fell short, and what to do about it."""
        cut = [fit for fit in self.fits_ if fit.stop_reason in REMEDIES]
        if cut:
            worst = max(cut, key=lambda fit: fit.optimum.gap)
            closed = worst.optimum.gap <= self.tol
            warnings.warn(
                f"{type(self).__name__} stopped with a gap of {worst.optimum.gap:.2g}, "
                f"{'which was not checked again' if closed else f'not tol={self.tol:g}'}: "
                f"{worst.stop_reason.value}. {REMEDIES[worst.stop_reason]}",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def optimum_(self) -> Any:
        """Hyperplane and multipliers with the values they prove (a tuple for K > 2 classes)."""
        return self._view("optimum")

    @property
    def conditions_(self) -> Any:
        """How well the conditions of an optimum are met (a tuple for K > 2 classes)."""
        return self._view("conditions")

    @property
    def gap_(self) -> Any:
        """``(primal - dual)/primal`` (an array for K > 2 classes)."""
        return self._of_optima("gap", np.array)

    @property
    def margin_(self) -> Any:
        """``1/‖w‖``, half the width of the margin (an array for K > 2 classes)."""
        return self._of_optima("margin", np.array)

    @property
    def support_(self) -> Any:
        """Row numbers of the support vectors (a tuple of arrays for K > 2 classes)."""
        return self._of_optima("support", tuple)

    def _of_optima(self, name: str, gathered: Callable[[list[Any]], Any]) -> Any:
        check_is_fitted(self)
        values = [getattr(fit.optimum, name) for fit in self.fits_]
        return gathered(values) if len(values) > 1 else values[0]

    @property
    def dual_coef_(self) -> Any:
        """``y_i α_i`` of the support vectors, of shape (1, n) (a tuple of these for K > 2 classes).

        ``coef_ = dual_coef_ @ X[support_]`` at the optimum.
        """
        check_is_fitted(self)
        rows = tuple(fit.dual_coef[np.newaxis] for fit in self.fits_)
        return rows if len(rows) > 1 else rows[0]

    def sides(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Slack of samples, and which of them are outside, on or inside the margin, or wrong.

        A sample is on the edge if ``y(w·x + b)`` is 1 as far as the fit tells: up to the root of
        its gap, or 1e-6.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), or an opened source
            The training data, or others.
        y : array of n labels, known ones; not with an opened source

        Returns
        -------
        Sides, or a tuple of them, one for each class, for K > 2 classes
        """
        check_is_fitted(self)
        data = self._read(X, y, None, self.classes_, reset=False)
        values = np.asarray(self.decision_function(X)).reshape(-1, len(self.fits_))
        label = labels(data.source)
        found = tuple(
            _sides(np.where(label == positive, 1.0, -1.0) * values[:, k], self.fits_[k])
            for k, positive in enumerate(data.positives)
        )
        return found if len(found) > 1 else found[0]


REMEDIES = {
    StopReason.TIME_LIMIT: "Raise max_time, or tol.",
    StopReason.INTERRUPTED: "Fit again to reach it.",
    StopReason.ROUNDING: "Raise tol, or bring the features to similar scales around 0.",
}


def _require_both_sides(problem: MarginProblem, classes: NDArray[Any]) -> None:
    """Refuse weights that leave one side without samples."""
    if problem.weights is None:
        return
    for side in (1.0, -1.0):
        if not problem.weights[problem.samples.y == side].any():
            name = classes.tolist()[problem.positive if side > 0 or len(classes) > 2 else 0]
            who = "the others than" if side < 0 and len(classes) > 2 else "class"
            msg = (
                f"every sample of {who} {name!r} has weight 0: a margin needs samples of both sides"
            )
            raise ValueError(msg)


def sides_named(classes: NDArray[Any], positive: int) -> str:
    """What is told apart, for a message."""
    names = [repr(name) for name in classes.tolist()]
    if len(names) == 2:
        return f"{names[0]} from {names[1]}"
    return f"{names[positive]} from the other classes"


def _sides(values: Floats, fit: MarginFit) -> Sides:
    """The sides for values ``y(w·x + b)``, which are as precise as the root of the gap."""
    edge = np.abs(values - 1.0) <= max(ON, np.sqrt(fit.optimum.gap))
    return Sides(
        np.maximum(1.0 - values, 0.0),
        np.flatnonzero((values > 1.0) & ~edge),
        np.flatnonzero(edge),
        np.flatnonzero((values < 1.0) & (values > 0.0) & ~edge),
        np.flatnonzero(values <= 0.0),
    )

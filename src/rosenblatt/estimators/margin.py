"""The best hyperplanes as scikit-learn classifiers: maximum margin and soft margin."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.certificates import Conditions, Inseparable, Optimum, QuasiSeparable
from rosenblatt.estimators._base import LinearClassifier
from rosenblatt.estimators._validation import count_threads, one_of, positive_number, yes_or_no
from rosenblatt.estimators.optima import Overlap, Problem, distant, max_margin, rounds, soft_margin
from rosenblatt.margins import MarginFit, MarginTrace, Sides
from rosenblatt.results import StopReason
from rosenblatt.solvers.soft_margin import Start
from rosenblatt.solvers.stopping import catch_interrupts
from rosenblatt.solvers.threads import Team, one_blas_thread
from rosenblatt.solvers.working_set import Clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.estimators.optima import Report
    from rosenblatt.margins import MarginRound

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SOFT = 1e-6  # the gap of a soft margin that stands in for a maximum margin
WIDE = 400  # features from which matrix products are worth more than one thread
ON = 1e-6  # at least so far from 1 is y(w·x + b) taken to be on the edge of the margin


class NotSeparableError(ValueError):
    """A maximum margin was asked for, but no hyperplane separates the classes.

    Attributes
    ----------
    certificate : Inseparable or QuasiSeparable
        The proof.
    """

    def __init__(self, message: str, certificate: Inseparable | QuasiSeparable) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.certificate)


class NotSeparableWarning(ConvergenceWarning):  # type: ignore[misc]
    """A maximum margin was asked for; there is none, and the answer is a soft margin."""


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
        if self.max_time is not None:
            positive_number("max_time", self.max_time, hint=" of seconds, or None for no limit")
        if self.callback is not None and not callable(self.callback):
            msg = f"callback={self.callback!r} cannot be called: give a function, or None"
            raise ValueError(msg)
        count_threads(self.n_jobs)

    def _solve(self, problem: Problem, names: str, report: Report | None) -> MarginFit:
        """Solve one two-class problem."""
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best hyperplane, or one for each class.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        y : array of n labels of any kind, two or more different ones
        sample_weight : array of n weights >= 0, optional

        Returns
        -------
        self
        """
        self._check()
        data = self._read(X, y, sample_weight)
        near, origin = distant(data)
        threads = count_threads(self.n_jobs)
        # The threads of small matrix products, and a few of any, mostly wait for each other.
        many = threads >= 4 and isinstance(data.X, np.ndarray) and data.X.shape[1] >= WIDE
        with (
            Team(threads) as team,
            catch_interrupts() as interrupts,
            nullcontext() if many else one_blas_thread(),
        ):
            clock = Clock(self.max_time, interrupts)
            fits = []
            for number, positive in enumerate(data.positives):
                problem = Problem.of(near, origin, positive, team, clock)
                names = _shown_sides(data.classes, positive)
                fits.append(self._solve(problem, names, rounds(self.callback, number, problem)))
            self._set_results(data, tuple(fits), team)
        self._warn()
        return self

    def _warn(self) -> None:
        """Say what fell short, and what to do about it."""
        cut = [fit for fit in self.fits_ if fit.stop_reason in REMEDIES]
        if cut:
            worst = max(cut, key=lambda fit: fit.optimum.gap)
            warnings.warn(
                f"{type(self).__name__} stopped with a gap of {worst.optimum.gap:.2g}, not "
                f"tol={self.tol:g}: {worst.stop_reason.value}. {REMEDIES[worst.stop_reason]}",
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
        check_is_fitted(self)
        gaps = [fit.optimum.gap for fit in self.fits_]
        return np.array(gaps) if len(gaps) > 1 else gaps[0]

    @property
    def margin_(self) -> Any:
        """``1/‖w‖``, half the width of the margin (an array for K > 2 classes)."""
        check_is_fitted(self)
        margins = [fit.optimum.margin for fit in self.fits_]
        return np.array(margins) if len(margins) > 1 else margins[0]

    @property
    def support_(self) -> Any:
        """Row numbers of the support vectors (a tuple of arrays for K > 2 classes)."""
        check_is_fitted(self)
        rows = tuple(fit.optimum.support for fit in self.fits_)
        return rows if len(rows) > 1 else rows[0]

    @property
    def dual_coef_(self) -> Any:
        """``y_i α_i`` of the support vectors, of shape (1, n) (a tuple of these for K > 2 classes).

        ``coef_ = dual_coef_ @ X[support_]`` at the optimum.
        """
        check_is_fitted(self)
        rows = tuple(fit.dual_coef[np.newaxis] for fit in self.fits_)
        return rows if len(rows) > 1 else rows[0]

    def sides(self, X: Any, y: ArrayLike) -> Any:
        """Slack of samples, and which of them are outside, on or inside the margin, or wrong.

        A sample is on the edge if ``y(w·x + b)`` is 1 as far as the fit tells: up to the root of
        its gap, or 1e-6.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
            The training data, or others.
        y : array of n labels, known ones

        Returns
        -------
        Sides, or a tuple of them, one for each class, for K > 2 classes
        """
        check_is_fitted(self)
        data = self._read(X, y, None, self.classes_, reset=False)
        values = self.decision_function(X).reshape(-1, len(self.fits_))
        label = np.concatenate([piece.block.label for piece in data.source.pieces()])
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


def _shown_sides(classes: NDArray[Any], positive: int) -> str:
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


class SoftMarginClassifier(MarginClassifier):
    """The soft-margin hyperplane, to a proved gap.

    ::

        minimise   ½‖w‖² + C/N Σ s_i ξ_i     with y_i(w·x_i + b) >= 1 - ξ_i,  ξ_i >= 0

    over w, the bias b, which is not regularised, and the slacks ξ; the ``s_i`` are the weights of
    the samples and N is their sum (all 1, and the number of samples, if none are given). The
    objective of the hyperplane found is at most a share of `tol` above the best there is, which
    multipliers prove: see `optimum_` and `rosenblatt.certify.check`.

    In scikit-learn's `SVC(kernel="linear")` the slacks are summed, not averaged:
    ``C_sklearn = C/N``.

    Parameters
    ----------
    C : float
        The price of slack: small, a wide margin that ignores a few samples on the wrong side;
        large, as few and as little wrong as possible.
    tol : float
        Stop when the gap ``(primal - dual)/primal`` is this small.
    class_weight : dict or "balanced", optional
        Weights of the classes; they multiply `sample_weight`. For more than two classes the weight
        of a class counts in its own problem and not where it belongs to the rest.
    max_time : float, optional
        Seconds after which to stop with what there is; the gap reached is reported.
    callback : callable, optional
        Called with a `rosenblatt.margins.MarginRound` after each scan of the data. If it raises
        KeyboardInterrupt, the fit stops and keeps what it has.
    warm_start : bool
        Begin at the present hyperplane when fitted again.
    n_jobs : int, optional
        Threads; None: one per core. The result does not depend on it.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (k, d) and (k,)
        One hyperplane per two-class problem: k = 1 for two classes, otherwise one per class.
    classes_ : array
    stop_reason_ : StopReason
        GAP_CLOSED, or why the gap is larger: TIME_LIMIT, INTERRUPTED, ROUNDING.
    gap_, margin_ : float
        The gap reached, and ``1/‖w‖``, half the width of the margin.
    support_, dual_coef_ : int array, float array of shape (1, n)
        The samples with a positive multiplier α, and ``y α`` of each.
    optimum_, conditions_ : Optimum, Conditions
        The evidence, and how well it meets the conditions of an optimum.
    certificate_ : Optimum or None
        The optimum if the gap was closed.
    n_iter_, n_errors_ : int
        Scans of all the data, and ``sum(predict(X) != y)`` on the training data.
    trace_ : MarginTrace
        What each scan found.
    fits_ : tuple of MarginFit
        The whole outcome of each two-class problem. For more than two classes the attributes
        above are tuples or arrays with an entry per class.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> model = rb.SoftMarginClassifier(C=10).fit(X, y)
    >>> model.stop_reason_, model.n_errors_
    (StopReason.GAP_CLOSED, 0)
    >>> bool(rb.certify.check(model.certificate_, X, y))
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-6,
        class_weight: Any = None,
        max_time: float | None = None,
        callback: Callable[[MarginRound], None] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.max_time = max_time
        self.callback = callback
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        positive_number("C", self.C, hint=", the price of slack")
        yes_or_no("warm_start", self.warm_start)

    def _solve(self, problem: Problem, names: str, report: Report | None) -> MarginFit:
        start = None
        if self.warm_start and hasattr(self, "fits_"):
            same = [
                fit for fit, name in zip(self.fits_, self._names(), strict=True) if name == names
            ]
            if same and same[0].hyperplane.w.shape == (problem.samples.d,):
                plane, largest = same[0].hyperplane, same[0].optimum.multipliers.max(initial=0.0)
                start = Start(plane.w, plane.b, float(largest)) if largest > 0 else None
        return soft_margin(problem, float(self.C), float(self.tol), start, report)

    def _names(self) -> list[str]:
        positives = range(len(self.classes_)) if len(self.fits_) > 1 else [1]
        return [_shown_sides(self.classes_, positive) for positive in positives]


class MaxMarginClassifier(MarginClassifier):
    """The maximum-margin hyperplane, to a proved gap.

    ::

        minimise   ½‖w‖²     with y_i(w·x_i + b) >= 1

    The bias b is not regularised. Where no hyperplane separates the classes there is no such
    hyperplane; that is proved, and the answer is the soft margin with ``C = N``, the number of
    samples (scikit-learn's C = 1).

    Parameters
    ----------
    tol : float
        Stop when the gap ``(primal - dual)/primal`` is this small.
    on_inseparable : {"warn", "raise"}
        What to do if no hyperplane separates the classes: a `NotSeparableWarning` and the soft
        margin, or a `NotSeparableError`, which has the proof as its `certificate`.
    max_time, callback, n_jobs
        As for `SoftMarginClassifier`.

    Attributes
    ----------
    stop_reason_ : StopReason
        GAP_CLOSED; INSEPARABLE; or why the gap is larger: TIME_LIMIT, INTERRUPTED, ROUNDING.
    certificate_ : Optimum, Inseparable, QuasiSeparable or None
        The optimum if the gap was closed, the proof that no hyperplane separates the classes, or
        neither.
    nearest_points_ : float array of shape (2, d) or None
        The points of the two convex hulls that are nearest to each other, of the first class and
        of the second; the hyperplane lies half-way. None if the answer is a soft margin.
    coef_, intercept_, gap_, margin_, support_, dual_coef_, optimum_, conditions_ and the others
        As for `SoftMarginClassifier`. The hyperplane is in canonical form: the smallest
        ``y(w·x + b)`` is 1.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> model = rb.MaxMarginClassifier().fit(X, y)
    >>> model.stop_reason_, round(model.margin_, 6)
    (StopReason.GAP_CLOSED, 1.414214)
    """

    class_weight = None  # weights cannot move a maximum margin

    def __init__(
        self,
        *,
        tol: float = 1e-8,
        on_inseparable: str = "warn",
        max_time: float | None = None,
        callback: Callable[[MarginRound], None] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tol = tol
        self.on_inseparable = on_inseparable
        self.max_time = max_time
        self.callback = callback
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        one_of("on_inseparable", self.on_inseparable, ("warn", "raise"))

    def _solve(self, problem: Problem, names: str, report: Report | None) -> MarginFit:
        try:
            return max_margin(problem, float(self.tol), report)
        except Overlap as overlap:
            certificate = overlap.certificate
        if self.on_inseparable == "raise":
            rows = ", ".join(map(str, certificate.support[:10].tolist()))
            more = ", ..." if len(certificate.support) > 10 else ""
            msg = (
                f"no hyperplane separates {names}: the convex hulls of samples {rows}{more} meet. "
                "Use SoftMarginClassifier"
            )
            raise NotSeparableError(msg, certificate)
        soft = soft_margin(problem, problem.total, max(float(self.tol), SOFT), None, report)
        stopped = soft.stop_reason is StopReason.INTERRUPTED
        reason = soft.stop_reason if stopped else StopReason.INSEPARABLE
        return replace(soft, stop_reason=reason, certificate=certificate)

    def _warn(self) -> None:
        super()._warn()
        positives = range(len(self.classes_)) if len(self.fits_) > 1 else [1]
        pairs = list(zip(self.fits_, positives, strict=True))
        stuck = [(fit, k) for fit, k in pairs if fit.stop_reason is StopReason.INSEPARABLE]
        if stuck:
            fit, positive = stuck[0]
            more = f" (and so for {len(stuck) - 1} more)" if len(stuck) > 1 else ""
            warnings.warn(
                f"no hyperplane separates {_shown_sides(self.classes_, positive)}{more}, which is "
                f"proved by certificate_: the answer is the soft margin with C={fit.optimum.C:g}. "
                "Choose C with SoftMarginClassifier",
                NotSeparableWarning,
                stacklevel=3,
            )

    @property
    def nearest_points_(self) -> Any:
        """The nearest points of the convex hulls (a tuple for K > 2 classes)."""
        return self._view("nearest")

"""The best hyperplanes as scikit-learn classifiers: maximum margin and soft margin."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.arguments import one_of, positive_number, yes_or_no
from rosenblatt.margin.classifiers import REMEDIES, MarginClassifier, sides_named
from rosenblatt.margin.solver import max_margin, soft_margin, warm
from rosenblatt.results import MarginFit, StopReason
from rosenblatt.running.checkpoints import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.margin.solver import MarginProblem, Report
    from rosenblatt.results import Inseparable, MarginRound, QuasiSeparable
    from rosenblatt.running.notes import Notes

SOFT = 1e-6  # the gap of a soft margin that stands in for a maximum margin


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
        Called with a `rosenblatt.results.MarginRound` after each scan of the data. If it raises
        KeyboardInterrupt, the fit stops and keeps what it has.
    warm_start : bool
        Begin at the present hyperplane when fitted again.
    n_jobs : int, optional
        Threads; None: one per core. The result does not depend on it.
    checkpoint : path or rosenblatt.Checkpoint, optional
        Where `fit` keeps its state, so that one which was killed, or ended early, goes on where it
        was and ends with the same hyperplane and the same evidence. It is noted at every scan of
        the data: multipliers, the best so far, the rows that take part, about 17 bytes for each
        sample. Of several classes those that are done are not solved again, only their evidence is
        checked.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (k, d) and (k,)
        One hyperplane per two-class problem: k = 1 for two classes, otherwise one per class.
    classes_ : array
    stop_reason_ : StopReason
        GAP_CLOSED, or why the gap is larger, or was not checked: TIME_LIMIT, INTERRUPTED,
        ROUNDING.
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
        checkpoint: Any = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.max_time = max_time
        self.callback = callback
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def _check(self) -> None:
        super()._check()
        positive_number("C", self.C, hint=", the price of slack")
        yes_or_no("warm_start", self.warm_start)

    def _solve(
        self, problem: MarginProblem, names: str, report: Report | None, notes: Notes
    ) -> MarginFit:
        start = None
        if self.warm_start and hasattr(self, "fits_"):
            fits = zip(self.fits_, self._names(), strict=True)
            same = [fit for fit, name in fits if name == names]
            start = warm(problem, same[0], float(self.C)) if same else None
        return soft_margin(problem, float(self.C), float(self.tol), start, report, notes)

    def _start(self) -> str | None:
        if not (self.warm_start and hasattr(self, "fits_")):
            return None
        optima = [fit.optimum for fit in self.fits_]
        parts = [(o.hyperplane.w, [o.hyperplane.b], o.support, o.multipliers) for o in optima]
        return digest_of(np.concatenate([number for part in parts for number in part]))

    def _names(self) -> list[str]:
        positives = range(len(self.classes_)) if len(self.fits_) > 1 else [1]
        return [sides_named(self.classes_, positive) for positive in positives]


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
    max_time, callback, n_jobs, checkpoint
        As for `SoftMarginClassifier`.

    Attributes
    ----------
    stop_reason_ : StopReason
        GAP_CLOSED; INSEPARABLE; or why the gap is larger, or was not checked: TIME_LIMIT,
        INTERRUPTED, ROUNDING.
    certificate_ : Optimum, Inseparable, QuasiSeparable or None
        The optimum if the gap was closed, the proof that no hyperplane separates the classes, or
        neither.
    nearest_points_ : float array of shape (2, d) or None
        The points of the two convex hulls that are nearest to each other, of the first class and
        of the second; the hyperplane lies half-way. None if the answer is a soft margin.
    coef_, intercept_, classes_, gap_, margin_, support_, dual_coef_, optimum_, conditions_, \
n_iter_, n_errors_, trace_, fits_
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

    C = None  # as in an Optimum: no price of slack
    class_weight = None  # weights cannot move a maximum margin

    def __init__(
        self,
        *,
        tol: float = 1e-8,
        on_inseparable: str = "warn",
        max_time: float | None = None,
        callback: Callable[[MarginRound], None] | None = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.tol = tol
        self.on_inseparable = on_inseparable
        self.max_time = max_time
        self.callback = callback
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def _check(self) -> None:
        super()._check()
        one_of("on_inseparable", self.on_inseparable, ("warn", "raise"))

    def _solve(
        self, problem: MarginProblem, names: str, report: Report | None, notes: Notes
    ) -> MarginFit:
        found = max_margin(problem, float(self.tol), report, notes)
        if isinstance(found, MarginFit):
            return found
        if self.on_inseparable == "raise":
            rows = ", ".join(map(str, found.support[:10].tolist()))
            more = ", ..." if len(found.support) > 10 else ""
            msg = (
                f"no hyperplane separates {names}: the convex hulls of samples {rows}{more} meet. "
                "Use SoftMarginClassifier"
            )
            raise NotSeparableError(msg, found)
        tol = max(float(self.tol), SOFT)
        soft = soft_margin(problem, problem.total, tol, None, report, notes.of("soft"))
        stopped = soft.stop_reason is StopReason.INTERRUPTED
        reason = soft.stop_reason if stopped else StopReason.INSEPARABLE
        return replace(soft, stop_reason=reason, certificate=found)

    def _warn(self) -> None:
        positives = range(len(self.classes_)) if len(self.fits_) > 1 else [1]
        pairs = list(zip(self.fits_, positives, strict=True))
        stuck = [(fit, k) for fit, k in pairs if fit.stop_reason is StopReason.INSEPARABLE]
        unknown = [(fit, k) for fit, k in pairs if fit.optimum.C and (fit, k) not in stuck]
        rounded = [(fit, k) for fit, k in pairs if fit.stop_reason is StopReason.ROUNDING]
        beyond = [(fit, k) for fit, k in rounded if not (fit.optimum.C or fit.optimum.margin > 0)]
        if not unknown and not beyond:
            super()._warn()
        for fit, _ in unknown[:1]:
            warnings.warn(
                f"whether a hyperplane separates {self._told(unknown)} was not settled: "
                f"{fit.stop_reason.value}. The answer is the soft margin with C={fit.optimum.C:g}. "
                "Choose C with SoftMarginClassifier, or bring the features to similar scales",
                NotSeparableWarning,
                stacklevel=3,
            )
        for fit, _ in beyond[:1]:
            warnings.warn(
                f"no hyperplane that separates {self._told(beyond)} was found in floats: "
                f"{fit.stop_reason.value}. {REMEDIES[fit.stop_reason]}",
                ConvergenceWarning,
                stacklevel=3,
            )
        for fit, _ in stuck[:1]:
            gap = max(fit.optimum.gap for fit, _ in stuck)
            short = f", only to a gap of {gap:.2g}" if gap > max(self.tol, SOFT) else ""
            warnings.warn(
                f"no hyperplane separates {self._told(stuck)}, which is proved by certificate_: "
                f"the answer is the soft margin with C={fit.optimum.C:g}{short}. "
                "Choose C with SoftMarginClassifier",
                NotSeparableWarning,
                stacklevel=3,
            )

    def _told(self, pairs: list[tuple[MarginFit, int]]) -> str:
        """What is told apart in the first of some problems, and how many more there are."""
        more = f" (nor {len(pairs) - 1} more)" if len(pairs) > 1 else ""
        return f"{sides_named(self.classes_, pairs[0][1])}{more}"

    @property
    def nearest_points_(self) -> Any:
        """The nearest points of the convex hulls (a tuple for K > 2 classes)."""
        return self._view("nearest")

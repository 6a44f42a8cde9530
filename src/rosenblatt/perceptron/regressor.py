"""The delta rule as a scikit-learn regressor: the targets are numbers."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.arguments import floats
from rosenblatt.contract.clustered import refuse_clustered
from rosenblatt.contract.epochs import TrainedInEpochs, reporting, way_on
from rosenblatt.contract.estimator import Estimator, are_floats
from rosenblatt.contract.parameters import count_threads, sample_weights, start_vectors
from rosenblatt.contract.resuming import (
    identify,
    keeper_of,
    saved_rate,
    seeded_alike,
    start_setting,
)
from rosenblatt.contract.samples import read_labelled_samples
from rosenblatt.data.opened import OpenedSource
from rosenblatt.data.rows import as_rows, n_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.perceptron.adaline import delta_rate, delta_settings
from rosenblatt.perceptron.delta import Delta
from rosenblatt.perceptron.linear_rule import LinearProblem, fit_of
from rosenblatt.perceptron.whole_batches import WholeDelta
from rosenblatt.results import Cycle, Fit, Hyperplane, StopReason, Trace
from rosenblatt.running.run import Run
from rosenblatt.running.scanner import decision_values
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import ArrayLike

    from rosenblatt.array_types import Floats
    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Source
    from rosenblatt.results import Epoch
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.running.problems import Settings

NO_CLASS = -1


class AdalineRegressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """A linear unit that learns numbers by the delta rule (Widrow and Hoff 1960).

    Gradient descent on the mean of ``(t - o)²/2`` with real targets ``t`` and output
    ``o = w·x + b``: a batch moves the weights by ``eta0 * mean((t - o)x)``. `Adaline` is the same
    with targets ±1. The minimum is that of least squares, to which ``update="batch"`` comes as near
    as `tol` says; online the weights go on moving around it, unless all targets can be met.

    Parameters
    ----------
    update, batch_size, order, eta0, fit_intercept, init, max_epochs, max_time, tol, progress, \
callback, checkpoint, warm_start, random_state, n_jobs
        As for `Adaline`. `init` is one vector.

    Attributes
    ----------
    coef_ : array of shape (d,)
    intercept_ : float
    stop_reason_ : StopReason
        SMALL_CHANGE: an epoch moved the weights by less than `tol`.
    n_updates_, n_iter_ : int
        Updates and epochs.
    trace_ : Trace
        ``trace_.loss`` is the mean of ``(t - o)²/2`` over the visits of each epoch.
    eta_ : float
        The learning rate used.
    fits_ : tuple of Fit
        The whole outcome.

    Examples
    --------
    >>> import numpy as np
    >>> import rosenblatt as rb
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = rb.AdalineRegressor(update="batch").fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_.round(3), round(model.intercept_, 3), round(model.score(X, [1, 3, 5, 7]), 3)
    (array([2.]), 1.0, 1.0)
    """

    _exempt_checks = TrainedInEpochs._exempt_checks
    _parts = (StopReason, Trace, Cycle, Hyperplane, Fit, LinearProblem)
    _state: LinearProblem
    coef_: Floats
    intercept_: float

    def __init__(
        self,
        *,
        update: str = "online",
        batch_size: int | None = None,
        order: str = "cyclic",
        eta0: float | str = "auto",
        fit_intercept: bool = True,
        init: Any = "zeros",
        max_epochs: int = 1000,
        max_time: float | None = None,
        tol: float | None = 1e-6,
        progress: bool = False,
        callback: Callable[[Epoch], None] | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.update = update
        self.batch_size = batch_size
        self.order = order
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.init = init
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.tol = tol
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on all the data.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), or what `rosenblatt.open` gives
        y : array of n numbers; not with an opened source
        sample_weight : array of n weights >= 0, optional
            They count relative to their mean.

        Returns
        -------
        self
        """
        settings, keeper = self._settings(), keeper_of(self)
        settings = seeded_alike(self, settings, keeper)
        again = self.warm_start and hasattr(self, "fits_")
        data = self._read(X, y, sample_weight, reset=not again)
        self._train(*data, settings, self._begin(settings, again), keeper)
        self._warn_of_limits()
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go on with one epoch over these data. Counts and trace go on too.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        self
        """
        settings, first = self._settings().with_changes(max_epochs=1), not hasattr(self, "fits_")
        data = self._read(X, y, sample_weight, reset=first)
        self._train(*data, settings, self._begin(settings) if first else self._state)
        return self

    def predict(self, X: Any) -> Floats:
        """``w·x + b`` for each row of X."""
        check_is_fitted(self)
        rows = as_rows(self._rows_of(X))
        theta = np.append(self.coef_, self.intercept_)[np.newaxis]
        with Team(count_threads(self.n_jobs)) as team:
            return decision_values(rows, theta, (0, n_rows(rows)), team)[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination on X and y, or on an opened source."""
        if isinstance(X, OpenedSource):
            y = targets_of(X, y)
        return float(super().score(X, y, sample_weight))

    @property
    def n_updates_(self) -> int:
        """Updates of the weights in training."""
        return int(self._view("n_updates"))

    def _settings(self) -> Settings:
        return delta_settings(self)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Source, Floats]:
        """Validate the data, once. A C-ordered float X is not copied."""
        refuse_clustered(X, type(self).__name__)
        if isinstance(X, OpenedSource):
            rows, targets = as_rows(self._opened(X, reset=reset)), targets_of(X, y)
            return self._source(rows, X.shape[1], targets, sample_weight), targets
        validate = partial(validate_data, self, reset=reset, y_numeric=True)
        X, y = read_labelled_samples(X, y, validate, self.n_jobs)
        targets = np.require(floats("y", y), requirements=["C", "W"])
        return self._source(as_rows(X), X.shape[1], targets, sample_weight), targets

    def _source(self, rows: Rows, d: int, targets: Floats, sample_weight: Any) -> Source:
        places = np.arange(len(targets), dtype=np.int32)
        return MemorySource(rows, places, d, sample_weights(sample_weight, targets))

    def _begin(self, settings: Settings, again: bool = False) -> LinearProblem:
        """Where a run begins: as `init` says or (`again`) where the last fit ended."""
        if again:
            theta = np.append(self.coef_, self.intercept_ * settings.fit_intercept)
        else:
            theta = start_vectors(self.init, 1, self.n_features_in_, settings)[0]
        rng = np.random.default_rng([settings.seed, 2])
        return LinearProblem(positive=NO_CLASS, theta=theta, start=theta.copy(), rng=rng)

    def _train(
        self,
        source: Source,
        targets: Floats,
        settings: Settings,
        begun: LinearProblem,
        keeper: Keeper | None = None,
    ) -> None:
        """A run from where another stands; then the fitted attributes, unless it has failed."""
        problem = begun.ready_for(settings)
        with (
            Team(count_threads(self.n_jobs)) as team,
            reporting(self, settings.max_epochs, lambda ps: ps[0].planes(ps[0].theta)) as report,
        ):
            if keeper is not None:
                init = start_setting(self.init, begun.start)
                identify(keeper, self, settings.seed, source, team, targets, init=init)
            rate = saved_rate(keeper) or delta_rate(self, source, [NO_CLASS])
            settings = settings.with_changes(eta=rate)
            kind = WholeDelta if settings.update == "batch" else Delta
            rule = kind(source, settings, team, targets)
            Run(rule, [problem], settings, report, keeper).run()
        fit = fit_of(problem, settings)
        self.eta_, self.fits_, self._state = rate, (fit,), problem.at_rest()
        self.coef_, self.intercept_ = np.array(fit.last.w), fit.last.b
        self.n_iter_ = len(fit.trace)

    def _warn_of_limits(self) -> None:
        """Say if `fit` was cut off before the weights came to rest."""
        reason = self.fits_[0].stop_reason
        if reason is StopReason.SMALL_CHANGE or self.tol is None:
            return
        interrupted = reason is StopReason.INTERRUPTED
        limit = "max_time" if reason is StopReason.TIME_LIMIT else "max_epochs"
        advice = way_on(self)
        if not interrupted:
            advice = f"Raise {limit}, or tol, or scale the features, to come nearer the minimum."
        moved = self.fits_[0].trace.change[-1]
        warnings.warn(
            f"{type(self).__name__} stopped after {self.n_iter_} epochs, the last of which moved "
            f"the weights by {moved:.3g}. {advice}",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _fits_together(self) -> bool:
        d, p = self.n_features_in_, self._state
        return (
            len(self.fits_) == 1
            and self.fits_[0].last.w.shape == (d,)
            and are_floats(self.coef_, (d,))
            and isinstance(self.intercept_, float)
            and p.positive == NO_CLASS
            and p.n_planes == 1
            and all(are_floats(v, (d + 1,)) for v in (p.theta, p.start))
            and are_floats(p.lag, (0,))
        )


def targets_of(source: OpenedSource, y: Any) -> Floats:
    """The numbers that an opened source has as its target."""
    source.refuse(y)
    if source.targets is None:
        msg = f"{source!r} has no numbers as its target: open it with target=, a column of numbers"
        raise ValueError(msg)
    return np.array(source.targets)

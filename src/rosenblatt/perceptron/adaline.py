"""The delta rule as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.arguments import one_of, positive_number
from rosenblatt.contract.epochs import shared_settings
from rosenblatt.contract.parameters import batches
from rosenblatt.perceptron.delta import Delta, largest_safe_rate
from rosenblatt.perceptron.estimator import LinearUnit
from rosenblatt.perceptron.whole_batches import WholeDelta
from rosenblatt.results import StopReason
from rosenblatt.running.orders import IN_TURN

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.data.sources import Source
    from rosenblatt.perceptron.linear_rule import LinearRule
    from rosenblatt.results import Epoch, Fit
    from rosenblatt.running.problems import Settings


def delta_settings(model: Any) -> Settings:
    """The parameters of the delta rule, checked, as settings."""
    if isinstance(model.eta0, str):
        one_of("eta0", model.eta0, ("auto",))
    else:
        positive_number("eta0", model.eta0, hint=", or 'auto'")
    update, size = batches(model.update, model.batch_size)
    return shared_settings(model, ", or None to run until a limit").with_changes(
        update=update, batch_size=size, order=one_of("order", model.order, IN_TURN)
    )


def delta_rate(model: Any, source: Source, positives: list[int]) -> float:
    """The learning rate: half the largest safe one, unless it is given."""
    if isinstance(model.eta0, str):
        return largest_safe_rate(source, positives, model.update, model.fit_intercept) / 2
    return float(model.eta0)


class Adaline(LinearUnit):
    """A linear unit trained by the delta rule (Widrow and Hoff 1960).

    Gradient descent on the mean of ``(t - o)²/2`` with target ``t = ±1`` and output
    ``o = w·x + b``: a batch moves the weights by ``eta0 * mean((t - o)x)``. Unlike the perceptron
    it also moves for samples that are on the right side, so it does not stop where the classes
    are separated, but where the squared error is least. `AdalineRegressor` is the same for targets
    that are any numbers.

    Parameters
    ----------
    update : {"online", "batch", "minibatch"}
        Batches of one sample, of all, or of `batch_size`.
    batch_size : int, optional
        Samples per update, for ``update="minibatch"``.
    order : {"cyclic", "shuffled", "sampled", "blocks"}
        As given; in a new random order each epoch; drawn with replacement; or tiles of rows in a
        new random order each epoch, with their rows shuffled, for data that do not fit in memory.
    eta0 : float or "auto"
        The learning rate; "auto" is half the largest safe one: ``1/λ`` with λ the largest
        eigenvalue of the mean of ``(x, 1)(x, 1)ᵀ`` for ``update="batch"``, otherwise
        ``1/max ‖(x, 1)‖²``. At a rate that makes the weights grow without end, `fit` raises a
        `DivergenceError` that names the largest safe one.
    fit_intercept, init, max_epochs, max_time, class_weight, progress, callback, checkpoint, \
warm_start, random_state, n_jobs
        As for `Perceptron`. Weights count relative to their mean.
    tol : float, optional
        Stop when (w, b) moved by less than this over an epoch; None: only at a limit.

    Attributes
    ----------
    coef_, intercept_, classes_, stop_reason_, n_updates_, n_iter_, n_errors_, trace_, fits_
        As for `Perceptron`. ``trace_.loss`` is the mean of ``(t - o)²/2`` over the visits of each
        epoch, ``n_mistakes_`` counts visits with ``t·o <= 0``. ``certificate_`` is None.
    eta_ : float
        The learning rate used.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> model = rb.Adaline(update="batch").fit(X, y)
    >>> model.stop_reason_, model.n_errors_
    (StopReason.SMALL_CHANGE, 0)
    """

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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self) -> Settings:
        return delta_settings(self)

    def _rate(self, source: Source, positives: list[int]) -> float:
        return delta_rate(self, source, positives)

    def _use_rate(self, rate: float) -> None:
        self.eta_ = rate

    def _rule(self, settings: Settings) -> type[LinearRule]:
        return WholeDelta if settings.update == "batch" else Delta

    def _advice(self, fit: Fit) -> str | None:
        if fit.stop_reason is StopReason.SMALL_CHANGE:
            return None  # this is the least squared error; more epochs would not help
        return "Raise max_epochs or max_time, or scale the features, to come nearer the minimum."
